// The error function and its kin.
#pragma once

GEVOLVE_MATH_BEGIN

// erf(x) / x - 1 for z = x² ≤ 1; minimax.
GEVOLVE_MATH float erf_tail(float z) {
  return polynomial(z, 0.128379166f, -0.37612626f, 0.112836003f, -0.0268544462f, 0.00518953661f,
                    -0.000802084571f, 7.8891193e-05f);
}
GEVOLVE_MATH double erf_tail(double z) {
  return polynomial(z, 0.1283791670955126, -0.3761263890318375, 0.11283791670954885,
                    -0.026866170645077875, 0.005223977624828431, -0.0008548326981425542,
                    0.0001205533113295582, -1.4925595772180906e-05, 1.64610084778027e-06,
                    -1.6350396222864617e-07, 1.466032872274226e-08, -1.137495573607015e-09,
                    5.960685338520971e-11);
}

// (1 + 2a) e^(a²) erfc(a) for a ≥ 0.8, which is almost constant, as a polynomial in (a - k)/(a + k).
GEVOLVE_MATH float erfcx_core(float a) {
  float t = (a - 2.0f) / (a + 2.0f);
  return polynomial(t, 1.27697837f, -0.0927638263f, -0.166030377f, 0.164051339f, -0.0542206913f,
                    -0.00803477038f, 0.0087321531f, 0.00127111492f, -0.00151199789f,
                    -0.000412774971f, 0.000320581021f);
}
GEVOLVE_MATH double erfcx_core(double a) {
  double t = (a - 4.0) / (a + 4.0);
  return polynomial(
      t, 1.2329951186255526, -0.1396211168405625, 0.015379652102620081, 0.06809705425469126,
      -0.1010390660363286, 0.09373283499841248, -0.06633036581152624, 0.037167515536222814,
      -0.016197734068063532, 0.005031969991921287, -0.0007577731985192038, -0.00019925678934287508,
      0.0001506211785366709, -2.4398790048665655e-05, -1.1220253992459485e-05,
      5.708425882254916e-06, 2.897024787505522e-07, -8.226419744101096e-07, 8.06014359383161e-08,
      1.0611473757870468e-07, -2.28896952822027e-08, -1.0774578224563845e-08,
      3.6544571016246958e-09);
}

// erfc(a) for a ≥ 0.8; the square is taken to twice the precision.
template <class T> GEVOLVE_MATH T erfc_large(T a) {
  a = fmin(a, sizeof(T) == 4 ? T(10.5) : T(28));
  pair<T> square = exact_product(a, a);
  T e = exp(-square.hi);
  e = fma(e, -square.lo, e);
  return e * (erfcx_core(a) / fma(T(2), a, T(1)));
}

template <class T> GEVOLVE_MATH T erf(T x) {
  T a = fabs(x);
  if (a < 1) return fma(x, erf_tail(x * x), x);
  if (isnan(x)) return x;
  return copysign(T(1) - erfc_large(a), x);
}
template <class T> GEVOLVE_MATH T erfc(T x) {
  T a = fabs(x);
  if (a < T(0.8)) return T(1) - fma(x, erf_tail(x * x), x);
  if (isnan(x)) return x;
  T y = erfc_large(a);
  return x < 0 ? T(2) - y : y;
}
// Far out, the rounding of x / sqrt(2) would be magnified: erfc'(z) ≈ -2 z erfc(z).
template <class T> GEVOLVE_MATH T normcdf(T x) {
  const T root = T(0.7071067811865476);
  const T low = sizeof(T) == 4 ? T(1.21016175e-08) : T(-4.833646656726457e-17);
  T z = x * -root;
  T lost = fma(x, -root, -z) - x * low;
  T y = T(0.5) * erfc(z);
  return z > 1 && isfinite(z) ? fma(T(-2) * z * lost, y, y) : y;
}

GEVOLVE_MATH_END
