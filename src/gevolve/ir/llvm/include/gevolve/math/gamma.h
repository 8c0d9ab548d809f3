// The gamma function and its logarithm.
#pragma once

GEVOLVE_MATH_BEGIN

// log Γ(2 + t) / t for -1/2 ≤ t ≤ 1; minimax.
GEVOLVE_MATH float lgamma_tail(float t) {
  return polynomial(t, 0.422784328f, 0.322467029f, -0.0673523098f, 0.0205810107f, -0.00738549465f,
                    0.00288815983f, -0.00119122257f, 0.000519327121f, -0.000236689302f,
                    9.19525846e-05f, -1.89169659e-05f);
}
GEVOLVE_MATH double lgamma_tail(double t) {
  return polynomial(
      t, 0.42278433509846713, 0.3224670334241132, -0.06735230105319805, 0.020580808427784304,
      -0.007385551028678409, 0.002890510330757487, -0.0011927539115636095, 0.0005096695242428083,
      -0.00022315476050327368, 9.945752128909387e-05, -4.492622297749147e-05,
      2.0507130376273995e-05, -9.439502685677928e-06, 4.375316285953035e-06,
      -2.0395790314975656e-06, 9.53922120693325e-07, -4.470377471434597e-07, 2.12703430137992e-07,
      -1.0513889075740234e-07, 5.1514284311938205e-08, -2.1185890046035192e-08,
      5.821780336761969e-09, -7.538205013093956e-10);
}

// What Stirling's formula for log Γ(x) lacks, times x, for z = 1/x² and x ≥ 8.
GEVOLVE_MATH float lgamma_rest(float z) {
  return polynomial(z, 0.0833333358f, -0.00277769892f, 0.000780058326f);
}
GEVOLVE_MATH double lgamma_rest(double z) {
  return polynomial(z, 0.08333333333333333, -0.0027777777777741003, 0.0007936507898355585,
                    -0.0005952366071162396, 0.0008414728669380262, -0.0018905408298981376,
                    0.005069265392352649);
}

template <class T> GEVOLVE_MATH T lgamma_positive(T x) {
  if (x >= 8) {
    T r = T(1) / x, l = log(x) - T(1);
    T y = fma(x - T(0.5), l, T(0.4189385332046727) + r * lgamma_rest(r * r));
    return isinf(x) ? x : y;
  }
  if (x < T(0.5)) return fma(x, lgamma_tail(x), -log1p(x)) - log(x);
  if (x < T(1.5)) return fma(x - 1, lgamma_tail(x - 1), -log1p(x - 1));
  T p = 1;
  while (x >= 3) {
    x -= 1;
    p *= x;
  }
  T y = (x - 2) * lgamma_tail(x - 2);
  return p == 1 ? y : y + log(p);
}

template <class T> GEVOLVE_MATH T lgamma(T x) {
  if (isnan(x)) return x;
  T a = fabs(x);
  T y = lgamma_positive(a);
  if (x > 0) return y;
  if (trunc(x) == x) return infinity<T>();
  // Γ(x) Γ(-x) = -π / (x sin(π x))
  if (a < traits<T>::tiny) return -log(a);
  return T(1.1447298858494002) - log(a * fabs(sinpi(a))) - y;
}

// 1 / Γ(2 + t) for |t| ≤ 1/2; minimax.
GEVOLVE_MATH float rgamma_core(float t) {
  return polynomial(t, 1.0f, -0.422784358f, -0.233095169f, 0.19109264f, -0.0245237295f,
                    -0.0176643729f, 0.00783999264f, -0.00071405014f);
}
GEVOLVE_MATH double rgamma_core(double t) {
  return polynomial(t, 1.0, -0.4227843350984668, -0.23309373642178727, 0.19109110138763838,
                    -0.024552490005360042, -0.017645244547850464, 0.008023273021105701,
                    -0.0008043298192687458, -0.0003608377995097696, 0.00014559656870417263,
                    -1.7545991939479058e-05, -2.591225544881562e-06, 1.339083872851155e-06,
                    -1.9954252259250044e-07, -1.5045550804415627e-09);
}

// What Stirling's formula for Γ(x) lacks, times x and relative to it, for u = 1/x and x ≥ 12.
GEVOLVE_MATH float tgamma_rest(float u) {
  return polynomial(u, 0.0833333284f, 0.00347269443f, -0.00270013139f);
}
GEVOLVE_MATH double tgamma_rest(double u) {
  return polynomial(u, 0.08333333333333333, 0.0034722222222240066, -0.002681327161052328,
                    -0.00022947202655102474, 0.0007840352136454929, 6.986103385502549e-05,
                    -0.0005946917447486481, -2.534038280807107e-05, 0.0007179113724302043);
}

// Γ(x) times 2^-k for x ≥ 12: sqrt(2π) exp((x - 1/2) log(x) - x), the exponent to twice the
// precision. Where Γ(x) overflows, k keeps it in range for a reciprocal.
template <class T> GEVOLVE_MATH T tgamma_large(T x, T k) {
  typedef constants<T> c;
  pair<T> l = log_pair(x);
  T h = x - T(0.5);
  pair<T> e = exact_product(h, l.hi);
  e.lo = fma(h, l.lo, e.lo);
  pair<T> s = exact_sum(e.hi, -x);
  T rest = s.lo + e.lo;
  T n = rint(s.hi * c::log2_e);
  T r = fma(n, -c::ln2_low, fma(n, -c::ln2, s.hi)) + rest;
  T u = T(1) / x;
  T y = exp_scaled(r, n - k) * T(2.5066282746310007);
  return fma(y, u * tgamma_rest(u), y);
}

template <class T> GEVOLVE_MATH T tgamma(T x) {
  const T most = sizeof(T) == 4 ? T(35.05) : T(171.7), least = sizeof(T) == 4 ? T(-43) : T(-185);
  if (isnan(x) || x == -infinity<T>()) return nan<T>();
  if (x > most) return infinity<T>();
  if (x == 0) return copysign(infinity<T>(), x);
  if (x < 0 && trunc(x) == x) return nan<T>();
  if (x < least) return trunc(x * T(0.5)) == trunc(x) * T(0.5) ? T(-0.0) : T(0);
  const T k = sizeof(T) == 4 ? T(64) : T(128);
  if (x >= 12) return tgamma_large(x, T(2)) * T(4);
  if (x <= -12) {
    T y = tgamma_large(-x, k);
    return T(-3.141592653589793) / (x * sinpi(x) * y) * power_of_two<T>(-(int)k);
  }
  // Γ(2 + t) times or divided by the numbers between 2 + t and x.
  T whole = rint(x), t = x - whole, p = 1;
  for (T i = 2; i < whole; i += 1) p *= i + t;
  T q = rgamma_core(t);
  for (T i = whole; i < 2; i += 1) q *= i + t;
  return p / q;
}

GEVOLVE_MATH_END
