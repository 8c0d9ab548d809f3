// x to the power y: a logarithm to twice the precision, and an exponential.
#pragma once

GEVOLVE_MATH_BEGIN

// The tail of (2 atanh(s) - 2 s) / s^3 after its first coefficient, 2/3.
GEVOLVE_MATH float pow_tail(float z) { return polynomial(z, 0.400003433f, 0.285367906f, 0.235932603f); }
GEVOLVE_MATH double pow_tail(double z) {
  return polynomial(z, 0.4000000000000636, 0.2857142856902555, 0.22222222658254995,
                    0.18181774616533997, 0.15387140883692063, 0.13248914021940966,
                    0.13262810888965915);
}
GEVOLVE_MATH pair<float> two_thirds(float) { return {0.666666627f, 0.0f}; }
GEVOLVE_MATH pair<double> two_thirds(double) { return {0.6666666666666666, 3.700743415417188e-17}; }

// log(x) as a pair, for a positive and finite x.
template <class T> GEVOLVE_MATH pair<T> log_pair(T x) {
  typedef constants<T> c;
  reduced<T> r = log_reduce(x, T(0.7071067811865476));
  T f = r.m - 1;
  pair<T> d = exact_sum(r.m, T(1));
  T q = f / d.hi;
  pair<T> s = fast_sum(q, (fma(-q, d.hi, f) - q * d.lo) / d.hi);
  pair<T> z = product(s, s), k = two_thirds(f);
  pair<T> p = fast_sum(k.hi, z.hi * pow_tail(z.hi));
  p.lo += k.lo;
  pair<T> twice = {s.hi + s.hi, s.lo + s.lo};
  pair<T> y = sum(twice, product(product(s, z), p));
  return sum(fast_sum(r.e * c::ln2_short, r.e * c::ln2_rest), y);
}

// a^y for a positive and finite a and a finite y.
template <class T> GEVOLVE_MATH T pow_core(T a, T y) {
  typedef constants<T> c;
  pair<T> l = log_pair(a);
  T p = y * l.hi, rest = fma(y, l.hi, -p);
  rest = fma(y, l.lo, rest);
  T bound = T(1.5) * c::largest_exponent;
  if (fabs(p) >= bound) return p > 0 ? infinity<T>() : T(0);
  T n = rint(p * c::log2_e);
  T r = fma(n, -c::ln2, p);
  r = fma(n, -c::ln2_low, r) + rest;
  // For float, 2^n is split: the hardware's power overflows one step before the result does.
  T k = n > c::largest_exponent ? T(1) : T(0);
  return exp_scaled(r, n - k) * (k + 1);
}

template <class T> GEVOLVE_MATH T pow(T x, T y) {
  if (x == 1 || y == 0) return T(1);
  if (isnan(x) || isnan(y)) return nan<T>();
  T a = fabs(x), result;
  bool whole = trunc(y) == y, odd = whole && trunc(y * T(0.5)) != y * T(0.5);
  if (isinf(y))
    result = a == 1 ? T(1) : (a > 1) == (y > 0) ? infinity<T>() : T(0);
  else if (a == 0 || isinf(a))
    result = (a == 0) == (y < 0) ? infinity<T>() : T(0);
  else if (x < 0 && !whole)
    return nan<T>();
  else
    result = pow_core(a, y);
  return signbit(x) && odd ? -result : result;
}

// The hardware's logarithm and power give a guess, which a step of Newton's method completes.
GEVOLVE_MATH float cbrt(float x) {
  float a = fabs(x);
  float y = hardware_exp2(hardware_log2(a) * 0.333333343f);
  y = fma(y - a / (y * y), -0.333333343f, y);
  return x == 0 || !isfinite(x) ? x + x : copysign(y, x);
}
// A line as a guess for the mantissa, and steps of Halley's method, which triple the good digits.
GEVOLVE_MATH double cbrt(double x) {
  if (x == 0 || !isfinite(x)) return x + x;
  double m;
  int e = split(fabs(x), &m);
  int third = (e + 3 * 1023) / 3 - 1023;
  m *= (double)(1 << (e - 3 * third));
  double y = m > 3.0 ? fma(0.1, m, 1.2) : fma(0.1658, m, 0.9);
  for (int i = 0; i < 3; ++i) {
    double c = y * y * y;
    y = y * ((c + (m + m)) / ((c + c) + m));
  }
  double square = y * y;
  double residual = fma(square, -y, m) - fma(y, y, -square) * y;
  y = y + residual / (3.0 * square);
  return copysign(y * power_of_two<double>(third), x);
}
template <class T> GEVOLVE_MATH T rcbrt(T x) { return T(1) / cbrt(x); }

GEVOLVE_MATH_END
