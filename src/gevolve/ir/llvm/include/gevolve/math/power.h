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

// 1 / x for x from 1 to 4, to about the precision of the type.
GEVOLVE_MATH float rough_reciprocal(float x) {
#ifdef GEVOLVE_MATH_ON_HOST
  return 1.0f / x;
#else
  return __nvvm_rcp_approx_ftz_f(x);
#endif
}
GEVOLVE_MATH double rough_reciprocal(double x) {
  double y = rough_reciprocal((float)x);
  double e = fma(-x, y, 1.0);
  return fma(y, fma(e, e, e), y);
}

// log(x) as a pair, for a positive and finite x: with s = (m - 1) / (m + 1), log(m) = 2 atanh(s).
template <class T> GEVOLVE_MATH pair<T> log_pair(T x) {
  typedef constants<T> c;
  reduced<T> r = log_reduce(x, T(0.7071067811865476));
  T f = r.m - 1;
  pair<T> d = fast_sum(T(1), r.m);  // exact: m is less than 2, so its exponent is no greater
  T over = rough_reciprocal(d.hi), q = f * over;
  pair<T> s = {q, fma(-q, d.lo, fma(-q, d.hi, f)) * over};
  pair<T> z = {q * q, 0}, k = two_thirds(f);
  z.lo = fma(q + q, s.lo, fma(q, q, -z.hi));
  pair<T> p = fast_sum(k.hi, z.hi * pow_tail(z.hi));
  p.lo += k.lo;
  // s z p, the part of the series beyond 2 s
  T cube = q * z.hi, beyond = cube * p.hi;
  T lost = fma(q, z.lo, fma(s.lo, z.hi, fma(q, z.hi, -cube)));
  lost = fma(lost, p.hi, fma(cube, p.lo, fma(cube, p.hi, -beyond)));
  pair<T> y = fast_sum(q + q, beyond), e = fast_sum(r.e * c::ln2_short, r.e * c::ln2_rest);
  y.lo += lost + (s.lo + s.lo);
  pair<T> l = fast_sum(e.hi, y.hi);  // as is this: |y| < 0.35, and e is 0 or at least ln 2
  return fast_sum(l.hi, l.lo + (e.lo + y.lo));
}

// a^y for a positive and finite a and a finite y.
template <class T> GEVOLVE_MATH T pow_core(T a, T y) {
  pair<T> l = log_pair(a);
  T p = y * l.hi, rest = fma(y, l.lo, fma(y, l.hi, -p));
  T result = exp_sum(p, rest);
  T bound = T(1.5) * constants<T>::largest_exponent;
  return fabs(p) < bound ? result : p > 0 ? infinity<T>() : T(0);
}

// Numbers that are known when the kernel is compiled, and with which a power needs no logarithm.
template <class T> GEVOLVE_MATH bool known(T x, T value) {
  return __builtin_constant_p(x) && x == value;
}

// x^y where x or y is no positive or finite number; `core` is |x|^y if these are.
template <class T> GEVOLVE_MATH T pow_beyond(T x, T y, T core) {
  if (x == 1 || y == 0) return T(1);
  if (isnan(x) || isnan(y)) return nan<T>();
  T a = fabs(x), result = core;
  bool whole = trunc(y) == y, odd = whole && trunc(y * T(0.5)) != y * T(0.5);
  if (isinf(y))
    result = a == 1 ? T(1) : (a > 1) == (y > 0) ? infinity<T>() : T(0);
  else if (a == 0 || isinf(a))
    result = (a == 0) == (y < 0) ? infinity<T>() : T(0);
  else if (x < 0 && !whole)
    return nan<T>();
  return signbit(x) && odd ? -result : result;
}

// What is usual is done without a branch, and one test finds the rest.
template <class T> GEVOLVE_MATH T pow(T x, T y) {
  if (known(y, T(2))) return x * x;
  if (known(y, T(1))) return x;
  if (known(y, T(3))) return x * x * x;
  if (known(y, T(-1))) return T(1) / x;
  if (known(x, T(2))) return exp2(y);
  T result = pow_core(fabs(x), y);
  bool usual = x > 0 && x < infinity<T>() && fabs(y) < infinity<T>();
  if (__builtin_expect(!usual, 0)) result = pow_beyond(x, y, result);
  return result;
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
