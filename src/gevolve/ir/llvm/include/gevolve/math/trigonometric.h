// Sine, cosine and tangent.
#pragma once

GEVOLVE_MATH_BEGIN

// 2/π as a fixed-point number, after one word of zeros.
GEVOLVE_TABLE u32 two_over_pi_32[] = {
    0,           0xa2f9836eu, 0x4e441529u, 0xfc2757d1u, 0xf534ddc0u,
    0xdb629599u, 0x3c439041u, 0xfe5163abu, 0xdebbc561u};
GEVOLVE_TABLE u64 two_over_pi_64[] = {
    0,                     0xa2f9836e4e441529ull, 0xfc2757d1f534ddc0ull, 0xdb6295993c439041ull,
    0xfe5163abdebbc561ull, 0xb7246e3a424dd2e0ull, 0x06492eea09d1921cull, 0xfe1deb1cb129a73eull,
    0xe88235f52ebb4484ull, 0xe99c7026b45f7e41ull, 0x3991d639835339f4ull, 0x9c845f8bbdf9283bull,
    0x1ff897ffde05980full, 0xef2f118b5a0a6d1full, 0x6d367ecf27cb09b7ull, 0x4f463f669e5fea2dull,
    0x7527bac7ebe5f17bull, 0x3d0739f78a5292eaull, 0x6bfb5fb11f8d5d08ull, 0x56033046fc7b6babull,
    0xf0cfbc209af4361dull};

// x = n π/2 + r with |r| ≤ π/4; only the last two bits of n are meant. For large arguments: the
// product of the mantissa with those bits of 2/π that matter, in fixed point modulo 4.
GEVOLVE_MATH int reduce_large(float x, float *r) {
  u32 b = bits(x);
  u64 m = (b & 0x7fffff) | 0x800000;
  int at = (int)(b >> 23 & 255) - 127 - 23 + 30;
  const u32 *w = two_over_pi_32 + (at >> 5);
  int shift = at & 31;
  u64 high = (u64)w[0] << 32 | w[1], low = (u64)w[2] << 32 | w[3];
  if (shift) {
    high = high << shift | low >> (64 - shift);
    low <<= shift;
  }
  u64 fraction = (m * (high >> 32) << 32) + m * (high & 0xffffffffu) + (m * (low >> 32) >> 32);
  int n = (int)((fraction + (1ull << 61)) >> 62);
  long long rest = (long long)(fraction - ((u64)n << 62));
  float y = (float)rest * 3.40612167e-19f;  // π/2 · 2^-62
  *r = b >> 31 ? -y : y;
  return b >> 31 ? -n : n;
}
GEVOLVE_MATH int reduce_large(double x, double *r) {
  u64 b = bits(x);
  u64 m = (b & ((1ull << 52) - 1)) | 1ull << 52;
  int at = (int)(b >> 52 & 2047) - 1023 - 52 + 62;
  const u64 *w = two_over_pi_64 + (at >> 6);
  int shift = at & 63;
  u64 w0 = w[0], w1 = w[1], w2 = w[2];
  if (shift) {
    w0 = w0 << shift | w1 >> (64 - shift);
    w1 = w1 << shift | w2 >> (64 - shift);
    w2 = w2 << shift | w[3] >> (64 - shift);
  }
  u128 fraction = ((u128)(m * w0) << 64) + (u128)m * w1 + ((u128)m * w2 >> 64);
  int n = (int)(((u64)(fraction >> 64) + (1ull << 61)) >> 62);
  u128 rest = fraction - ((u128)n << 126);
  bool negative = (u64)(rest >> 127);
  if (negative) rest = -rest;
  u64 top = (u64)(rest >> 64), bottom = (u64)rest;
  // At most 2^125, closest to 0 about 2^65: the first 53 bits and the next 53.
  double hi = (double)(top >> 11) * 2048.0 * 18446744073709551616.0;
  double lo = (double)((top & 2047) << 53 | bottom >> 11) * 2048.0;
  pair<double> y = fast_sum(hi, lo);
  const double scale = 1.1754943508222875e-38;  // 2^-126
  pair<double> scaled = {y.hi * scale, y.lo * scale};
  pair<double> half_pi = {1.5707963267948966, 6.123233995736766e-17};
  pair<double> p = product(scaled, half_pi);
  double result = p.hi + p.lo;
  *r = negative != (bool)(b >> 63) ? -result : result;
  return b >> 63 ? -n : n;
}

// For other arguments three parts of π/2 do: the first difference is exact.
GEVOLVE_MATH int trig_reduce(float x, float *r) {
  if (__builtin_expect(fabs(x) >= 105615.0f, 0)) {
    if (isfinite(x)) return reduce_large(x, r);
    *r = nan<float>();
    return 0;
  }
  float n = rint(x * 0.636619747f);
  *r = fma(n, 1.71512451e-15f, fma(n, 4.37113883e-08f, fma(n, -1.57079637f, x)));
  return (int)n;
}
GEVOLVE_MATH int trig_reduce(double x, double *r) {
  if (__builtin_expect(fabs(x) >= 134217728.0, 0)) {
    if (isfinite(x)) return reduce_large(x, r);
    *r = nan<double>();
    return 0;
  }
  double n = rint(x * 0.6366197723675814);
  *r = fma(n, 1.4973849048591698e-33,
           fma(n, -6.123233995736766e-17, fma(n, -1.5707963267948966, x)));
  return (int)n;
}

// On |r| ≤ π/4; minimax.
GEVOLVE_MATH float sin_core(float r) {
  float z = r * r;
  return fma(r * z, polynomial(z, -0.166666672f, 0.00833332911f, -0.00019839326f, 2.71821978e-06f), r);
}
GEVOLVE_MATH double sin_core(double r) {
  double z = r * r;
  double p = polynomial(z, -0.16666666666666666, 0.008333333333333323, -0.00019841269841254966,
                        2.7557319214135094e-06, -2.5052104896565884e-08, 1.6058364647403785e-10,
                        -7.578596810178045e-13);
  return fma(r * z, p, r);
}
GEVOLVE_MATH float cos_core(float r) {
  float z = r * r;
  return polynomial(z, 1.0f, -0.5f, 0.0416666456f, -0.00138873607f, 2.44376679e-05f);
}
GEVOLVE_MATH double cos_core(double r) {
  double z = r * r;
  return polynomial(z, 1.0, -0.5, 0.041666666666666664, -0.0013888888888888874,
                    2.4801587301571493e-05, -2.7557319215363696e-07, 2.0876754361634436e-09,
                    -1.1470292590170208e-11, 4.73807248627006e-14);
}

// The sine of n π/2 + r. Of doubles one polynomial is computed, whose coefficients are chosen: the same
// result as that of the core, for half of the arithmetic.
GEVOLVE_MATH float sin_of(int n, float r) {
  float y = n & 1 ? cos_core(r) : sin_core(r);
  return n & 2 ? -y : y;
}
GEVOLVE_TABLE double sin_and_cos[] = {
    -0.16666666666666666,   0.008333333333333323, -0.00019841269841254966, 2.7557319214135094e-06,
    -2.5052104896565884e-08, 1.6058364647403785e-10, -7.578596810178045e-13, 0.0,
    -0.5, 0.041666666666666664, -0.0013888888888888874, 2.4801587301571493e-05,
    -2.7557319215363696e-07, 2.0876754361634436e-09, -1.1470292590170208e-11, 4.73807248627006e-14};
GEVOLVE_MATH double sin_of(int n, double r) {
  bool odd = n & 1;
  const double *c = sin_and_cos + (odd ? 8 : 0);
  double z = r * r;
  double p = polynomial(z, c[0], c[1], c[2], c[3], c[4], c[5], c[6], c[7]);
  double y = fma(odd ? z : r * z, p, odd ? 1.0 : r);
  return n & 2 ? -y : y;
}

template <class T> GEVOLVE_MATH T sin(T x) {
  T r;
  int n = trig_reduce(x, &r);
  return x == 0 ? x : sin_of(n, r);
}
template <class T> GEVOLVE_MATH T cos(T x) {
  T r;
  int n = trig_reduce(x, &r);
  return sin_of(n + 1, r);
}
template <class T> GEVOLVE_MATH void sincos(T x, T *s, T *c) {
  T r;
  int n = trig_reduce(x, &r);
  T sine = sin_core(r), cosine = cos_core(r);
  T a = n & 1 ? cosine : sine, b = n & 1 ? sine : cosine;
  *s = x == 0 ? x : n & 2 ? -a : a;
  *c = (n + 1) & 2 ? -b : b;
}
template <class T> GEVOLVE_MATH T tan(T x) {
  T r;
  int n = trig_reduce(x, &r);
  T s = sin_core(r), c = cos_core(r);
  return x == 0 ? x : n & 1 ? -c / s : s / c;
}

// x = n/2 + r, exactly; the result is r π.
template <class T> GEVOLVE_MATH int pi_reduce(T x, T *r) {
  T y = fma(T(-2), rint(x * T(0.5)), x);
  T n = rint(y + y), t = fma(n, T(-0.5), y);
  const T pi = T(3.141592653589793);
  const T low = sizeof(T) == 4 ? T(-8.74227766e-08) : T(1.2246467991473532e-16);
  *r = fma(t, pi, t * low);
  return (int)n;
}
template <class T> GEVOLVE_MATH T sinpi(T x) {
  T r;
  if (!isfinite(x)) return nan<T>();
  int n = pi_reduce(x, &r);
  return rint(x) == x ? copysign(T(0), x) : sin_of(n, r);
}
template <class T> GEVOLVE_MATH T cospi(T x) {
  T r;
  if (!isfinite(x)) return nan<T>();
  int n = pi_reduce(x, &r);
  return n & 1 && r == 0 ? T(0) : sin_of(n + 1, r);
}
template <class T> GEVOLVE_MATH void sincospi(T x, T *s, T *c) {
  *s = sinpi(x);
  *c = cospi(x);
}

GEVOLVE_MATH_END
