// Exponentials and logarithms.
#pragma once

GEVOLVE_MATH_BEGIN

// The hardware's 2^x for float: exact for integers, good to 2 ulp elsewhere, and no trouble with
// numbers too large or too small.
GEVOLVE_MATH float hardware_exp2(float x) {
#ifdef GEVOLVE_MATH_ON_HOST
  return (float)__builtin_exp2((double)x);
#else
  return __nvvm_ex2_approx_f(x);
#endif
}

// The same where a result too small for a normal number may become 0.
GEVOLVE_MATH float flushed_exp2(float x) {
#ifdef GEVOLVE_MATH_ON_HOST
  return hardware_exp2(x);
#else
  return __nvvm_ex2_approx_ftz_f(x);
#endif
}

// x, or the nearer end of 0 to 1; 0 for NaN.
GEVOLVE_MATH float saturate(float x) {
#ifdef GEVOLVE_MATH_ON_HOST
  return x > 0 ? fmin(x, 1.0f) : 0.0f;
#else
  return __nvvm_saturate_f(x);
#endif
}

// The hardware's log2(x) for float, whose absolute error is small.
GEVOLVE_MATH float hardware_log2(float x) {
#ifdef GEVOLVE_MATH_ON_HOST
  return (float)__builtin_log2((double)x);
#else
  return __nvvm_lg2_approx_f(x);
#endif
}

// 1/x to 1 ulp for float, where the rest of a function forgives that: a division that rounds rightly
// takes several times as long. It is 0 for what is too large.
GEVOLVE_MATH float near_reciprocal(float x) {
#ifdef GEVOLVE_MATH_ON_HOST
  return from_bits(bits(1.0f / x) + (bits(x) >> 3 & 1));  // off by an ulp, as it may be
#else
  return __nvvm_rcp_approx_ftz_f(x);
#endif
}
GEVOLVE_MATH double near_reciprocal(double x) { return 1.0 / x; }

// 1/x rounded rightly but for rare cases, of an x between 2^-100 and 2^100; quicker than a division.
GEVOLVE_MATH float reciprocal(float x) {
#ifdef GEVOLVE_MATH_ON_HOST
  return 1.0f / x;
#else
  float r = near_reciprocal(x);
  return fma(fma(-x, r, 1.0f), r, r);
#endif
}
GEVOLVE_MATH double reciprocal(double x) { return 1.0 / x; }

template <class T> struct constants;
template <> struct constants<float> {
  static constexpr float log2_e = 1.44269502f, log2_10 = 3.32192802f, log10_e = 0.434294492f;
  static constexpr float ln2 = 0.693147182f, ln2_low = -1.90465421e-09f;
  static constexpr float log10_2 = 0.30103001f, log10_2_low = -1.43209888e-08f;
  // The first has few enough bits for its product with an exponent to be exact.
  static constexpr float ln2_short = 0.693145752f, ln2_rest = 1.42860677e-06f;
  static constexpr float log10_2_short = 0.301025391f, log10_2_rest = 4.60503907e-06f;
  static constexpr float largest_exponent = 127;
  static constexpr float log_lowest = 0.6666667f;
};
template <> struct constants<double> {
  static constexpr double log2_e = 1.4426950408889634, log2_10 = 3.321928094887362;
  static constexpr double log10_e = 0.4342944819032518;
  static constexpr double ln2 = 0.6931471805599453, ln2_low = 2.3190468138462996e-17;
  static constexpr double log10_2 = 0.3010299956639812, log10_2_low = -2.8037281277851704e-18;
  static constexpr double ln2_short = 0.6931471805598903, ln2_rest = 5.497923018708371e-14;
  static constexpr double log10_2_short = 0.30102999566395283, log10_2_rest = 2.8363394551044964e-14;
  static constexpr double largest_exponent = 1023;
  static constexpr double log_lowest = 0.7071067811865476;
};

// (e^r - 1 - r) / r^2 for |r| ≤ ln(2) / 2; minimax.
GEVOLVE_MATH float exp_tail(float r) {
  return polynomial(r, 0.5f, 0.166666672f, 0.0416662656f, 0.00833326299f, 0.00139463646f,
                    0.000199189031f);
}
GEVOLVE_MATH double exp_tail(double r) {
  return polynomial(r, 0.5, 0.16666666666666666, 0.04166666666665131, 0.008333333333332154,
                    0.0013888888905922272, 0.00019841269854361092, 2.4801536307282965e-05,
                    2.755728001507298e-06, 2.761385204026354e-07, 2.5095585261108215e-08);
}

// The same to a few more digits, which e^x - 1 shows.
GEVOLVE_MATH float expm1_tail(float r) { return exp_tail(r); }
GEVOLVE_MATH double expm1_tail(double r) {
  return polynomial(r, 0.5, 0.16666666666666666, 0.04166666666666671, 0.008333333333333342,
                    0.0013888888888863582, 0.00019841269841236722, 2.480158736412875e-05,
                    2.755731928971012e-06, 2.7557241171332857e-07, 2.5052039736193284e-08,
                    2.0924635751049427e-09, 1.6095319245500784e-10);
}

GEVOLVE_MATH double exp_small(double r) { return fma(fma(exp_tail(r), r, 1.0), r, 1.0); }

// e^r 2^n. The power goes in two factors, so that neither leaves the range of normal numbers.
GEVOLVE_MATH float exp_scaled(float r, float n) {
  return hardware_exp2(r * constants<float>::log2_e) * hardware_exp2(n);
}
GEVOLVE_MATH double scaled(double p, int n) {
  int half = n >> 1;
  return p * power_of_two<double>(half) * power_of_two<double>(n - half);
}
GEVOLVE_MATH double exp_scaled(double r, double n) { return scaled(exp_small(r), (int)n); }

// x = n ln(2) + r with a small r, n in the range of exponents.
template <class T> GEVOLVE_MATH T exp_reduce(T x, T least, T most, T *r) {
  typedef constants<T> c;
  T n = fmin(fmax(rint(x * c::log2_e), least), most);
  *r = fma(n, -c::ln2_low, fma(n, -c::ln2, x));
  return n;
}

// x in parts for e^x = 2^n 2^t. Adding a large number rounds to the whole n, and leaves n in the lowest
// bits of the sum s, from where a shift makes 2^n.
GEVOLVE_MATH float exp_shift(float x) {
  // Where x stands between the exponents -126 and 127; beyond them t takes what is left.
  float place = saturate(fma(x, constants<float>::log2_e / 253, 126.0f / 253));
  return fma(place, 253.0f, 12582913.0f);
}
GEVOLVE_MATH float exp_rest(float x, float s) {
  return fma(x, 1.925963e-08f, fma(x, constants<float>::log2_e, 12583039.0f - s));
}
GEVOLVE_MATH float exp_join(float t, float s) { return flushed_exp2(t) * from_bits(bits(s) << 23); }

GEVOLVE_MATH double exp_shift(double x) {
  return fma(x, constants<double>::log2_e, 6755399441055744.0);
}
GEVOLVE_MATH double exp_rest(double x, double s) {
  typedef constants<double> c;
  double n = s - 6755399441055744.0;
  return fma(n, -c::ln2_low, fma(n, -c::ln2, x));
}
GEVOLVE_MATH double exp_join(double x, double r, double s) {
  double p = exp_small(r);
  // Up to 708 the exponent of the result is that of a normal number.
  if ((u32)(bits(x) >> 32 & 0x7fffffff) < 0x40862000) return from_bits(bits(p) + (bits(s) << 52));
  return x > 711.0 ? infinity<double>() : x < -746.0 ? 0.0 : scaled(p, (int)bits(s));
}

GEVOLVE_MATH float exp(float x) {
  float s = exp_shift(x);
  return exp_join(exp_rest(x, s), s);
}
GEVOLVE_MATH double exp(double x) {
  double s = exp_shift(x);
  return exp_join(x, exp_rest(x, s), s);
}

// e^(x + rest) with a small rest.
GEVOLVE_MATH float exp_sum(float x, float rest) {
  float s = exp_shift(x);
  return exp_join(fma(rest, constants<float>::log2_e, exp_rest(x, s)), s);
}
GEVOLVE_MATH double exp_sum(double x, double rest) {
  double s = exp_shift(x);
  return exp_join(x, exp_rest(x, s) + rest, s);
}

// e^x / 2, in range where e^x is not quite.
GEVOLVE_MATH float half_exp(float x) {
  float r, n = exp_reduce(x, -150.0f, 128.0f, &r);
  return exp_scaled(r, n - 1.0f);
}
GEVOLVE_MATH double half_exp(double x) {
  double r, n = exp_reduce(x, -1100.0, 1100.0, &r);
  return x > 712.0 ? infinity<double>() : x < -746.0 ? 0.0 : exp_scaled(r, n - 1.0);
}

GEVOLVE_MATH float exp2(float x) { return hardware_exp2(x); }
GEVOLVE_MATH double exp2(double x) {
  typedef constants<double> c;
  double n = fmin(fmax(rint(x), -1100.0), 1100.0), t = x - n;
  double y = exp_scaled(fma(t, c::ln2, t * c::ln2_low), n);
  return x >= 1024.0 ? infinity<double>() : x < -1076.0 ? 0.0 : y;
}

GEVOLVE_MATH float exp10(float x) {
  typedef constants<float> c;
  float n = fmin(fmax(rint(x * c::log2_10), -150.0f), 127.0f);
  float t = fma(n, -c::log10_2_low, fma(n, -c::log10_2, x));
  return hardware_exp2(fma(t, c::log2_10, t * 7.05953696e-08f)) * hardware_exp2(n);
}
GEVOLVE_MATH double exp10(double x) {
  typedef constants<double> c;
  double n = fmin(fmax(rint(x * c::log2_10), -1100.0), 1100.0);
  double t = fma(n, -c::log10_2_low, fma(n, -c::log10_2, x));
  double y = exp_scaled(fma(t, 2.302585092994046, t * -2.1707562233822494e-16), n);
  return x > 309.0 ? infinity<double>() : x < -324.0 ? 0.0 : y;
}

template <class T> GEVOLVE_MATH T expm1(T x) {
  typedef constants<T> c;
  const T range = c::largest_exponent + 1;
  T n = fmin(fmax(rint(x * c::log2_e), T(-60)), range);
  T r = fma(n, -c::ln2_low, fma(n, -c::ln2, x));
  // Half of 2^n, which is in range even where 2^n is not.
  T half = power_of_two<T>((int)n - 1);
  T e = fma(r * r, expm1_tail(r), r);
  T y = fma(half, e, half - T(0.5)) * T(2);
  if (n == 0) y = e;
  return x > c::ln2 * range ? infinity<T>() : x < T(-40) ? T(-1) : x == 0 ? x : y;
}

// x = m 2^e with m close to 1, for a positive and finite x.
template <class T> struct reduced { T m, e; };
template <class T> GEVOLVE_MATH reduced<T> log_reduce(T x, T lowest) {
  typedef traits<T> t;
  int e = 0;
  if (x < power_of_two<T>(1 - t::bias)) {
    x *= power_of_two<T>(t::mantissa + 1);
    e = -(t::mantissa + 1);
  }
  typename t::integer i = (typename t::integer)(bits(x) - bits(lowest)) >> t::mantissa;
  return {from_bits(bits(x) - ((typename t::word)i << t::mantissa)), (T)(e + (int)i)};
}

// log(1 + f) + c, for 1 + f in the reduced range and a small c.
GEVOLVE_MATH float log_core(float f, float c) {
  float p = polynomial(f, 0.333333373f, -0.249998197f, 0.199993074f, -0.166795954f, 0.143127918f,
                       -0.121955507f, 0.106617816f, -0.128460139f, 0.123566665f);
  return f + fma(f * f, fma(f, p, -0.5f), c);
}
// With s = f / (2 + f), log(1 + f) = 2 atanh(s) = f - f²/2 + s (f²/2 + s² P(s²)).
GEVOLVE_MATH double log_core(double f, double c) {
  double s = f / (2.0 + f), z = s * s, h = 0.5 * f * f;
  double p = z * polynomial(z, 0.6666666666666666, 0.4000000000000636, 0.2857142856902555,
                            0.22222222658254995, 0.18181774616533997, 0.15387140883692063,
                            0.13248914021940966, 0.13262810888965915);
  return f - (h - fma(s, h + p, c));
}

// A logarithm where its argument is positive and finite, and what it is elsewhere. One choice at the
// end is shorter than branches around the work, and bits are cheaper to compare than doubles.
template <class T> GEVOLVE_MATH T log_choose(T x, T y) {
  typedef traits<T> t;
  T other = x == 0 ? -infinity<T>() : x > 0 ? x : nan<T>();
  return (typename t::word)(bits(x) - 1) < t::infinity - 1 ? y : other;
}

template <class T> GEVOLVE_MATH T log(T x) {
  typedef constants<T> c;
  reduced<T> r = log_reduce(x, c::log_lowest);
  return log_choose(x, fma(r.e, c::ln2_short, log_core(r.m - 1, r.e * c::ln2_rest)));
}

template <class T> GEVOLVE_MATH T log2(T x) {
  typedef constants<T> c;
  reduced<T> r = log_reduce(x, c::log_lowest);
  return log_choose(x, fma(log_core(r.m - 1, T(0)), c::log2_e, r.e));
}

template <class T> GEVOLVE_MATH T log10(T x) {
  typedef constants<T> c;
  reduced<T> r = log_reduce(x, c::log_lowest);
  T low = fma(log_core(r.m - 1, T(0)), c::log10_e, r.e * c::log10_2_rest);
  return log_choose(x, fma(r.e, c::log10_2_short, low));
}

// log(1 + x); what 1 + x loses by rounding is put back.
template <class T> GEVOLVE_MATH T log1p(T x) {
  typedef constants<T> c;
  pair<T> u = exact_sum(T(1), x);
  reduced<T> r = log_reduce(u.hi, c::log_lowest);
  T y = log_core(r.m - 1, fma(r.e, c::ln2_rest, u.lo / u.hi));
  return u.hi == 1 ? x : log_choose(u.hi, fma(r.e, c::ln2_short, y));
}

GEVOLVE_MATH_END
