// What all math functions share: bits, polynomials, error-free sums and products.
#pragma once

#ifdef GEVOLVE_MATH_ON_HOST
#define GEVOLVE_MATH static inline
#define GEVOLVE_TABLE static constexpr
#else
#define GEVOLVE_MATH static __device__ inline __attribute__((always_inline, nodebug))
#define GEVOLVE_TABLE static __device__ constexpr
#endif

// Error-free transformations need each operation as written, whatever the user's options say. There
// is no pragma to go back to those options, so whoever calls clang passes on `-ffp-contract`.
#ifndef GEVOLVE_CONTRACT
#define GEVOLVE_CONTRACT fast
#endif
#define GEVOLVE_PRAGMA(text) _Pragma(#text)
#define GEVOLVE_CONTRACTION(mode) GEVOLVE_PRAGMA(clang fp contract(mode))
#ifdef __FAST_MATH__
#define GEVOLVE_REASSOCIATION(mode) GEVOLVE_PRAGMA(clang fp reassociate(mode))
#else
#define GEVOLVE_REASSOCIATION(mode)
#endif
#define GEVOLVE_MATH_BEGIN GEVOLVE_CONTRACTION(off) GEVOLVE_REASSOCIATION(off) namespace gevolve_math {
#define GEVOLVE_MATH_END } GEVOLVE_CONTRACTION(GEVOLVE_CONTRACT) GEVOLVE_REASSOCIATION(on)

GEVOLVE_MATH_BEGIN

typedef unsigned int u32;
typedef unsigned long long u64;
typedef unsigned __int128 u128;

GEVOLVE_MATH u32 bits(float x) { return __builtin_bit_cast(u32, x); }
GEVOLVE_MATH u64 bits(double x) { return __builtin_bit_cast(u64, x); }
GEVOLVE_MATH float from_bits(u32 x) { return __builtin_bit_cast(float, x); }
GEVOLVE_MATH double from_bits(u64 x) { return __builtin_bit_cast(double, x); }

GEVOLVE_MATH float fma(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
GEVOLVE_MATH double fma(double a, double b, double c) { return __builtin_fma(a, b, c); }
GEVOLVE_MATH float fabs(float x) { return __builtin_fabsf(x); }
GEVOLVE_MATH double fabs(double x) { return __builtin_fabs(x); }
GEVOLVE_MATH float copysign(float x, float s) { return __builtin_copysignf(x, s); }
GEVOLVE_MATH double copysign(double x, double s) { return __builtin_copysign(x, s); }
GEVOLVE_MATH float rint(float x) { return __builtin_rintf(x); }
GEVOLVE_MATH double rint(double x) { return __builtin_rint(x); }
GEVOLVE_MATH float trunc(float x) { return __builtin_truncf(x); }
GEVOLVE_MATH double trunc(double x) { return __builtin_trunc(x); }
GEVOLVE_MATH float floor(float x) { return __builtin_floorf(x); }
GEVOLVE_MATH double floor(double x) { return __builtin_floor(x); }
GEVOLVE_MATH float ceil(float x) { return __builtin_ceilf(x); }
GEVOLVE_MATH double ceil(double x) { return __builtin_ceil(x); }
GEVOLVE_MATH float sqrt(float x) { return __builtin_sqrtf(x); }
GEVOLVE_MATH double sqrt(double x) { return __builtin_sqrt(x); }
GEVOLVE_MATH float fmin(float x, float y) { return __builtin_fminf(x, y); }
GEVOLVE_MATH double fmin(double x, double y) { return __builtin_fmin(x, y); }
GEVOLVE_MATH float fmax(float x, float y) { return __builtin_fmaxf(x, y); }
GEVOLVE_MATH double fmax(double x, double y) { return __builtin_fmax(x, y); }

template <class T> struct traits;
template <> struct traits<float> {
  typedef u32 word;
  typedef int integer;
  static constexpr int mantissa = 23, bias = 127;
  static constexpr float tiny = 1e-15f;
  static constexpr u32 sign = 0x80000000u, infinity = 0x7f800000u;
};
template <> struct traits<double> {
  typedef u64 word;
  typedef long long integer;
  static constexpr int mantissa = 52, bias = 1023;
  static constexpr double tiny = 1e-30;
  static constexpr u64 sign = 1ull << 63, infinity = 0x7ffull << 52;
};

template <class T> GEVOLVE_MATH T infinity() { return from_bits(traits<T>::infinity); }
template <class T> GEVOLVE_MATH T nan() { return from_bits(traits<T>::infinity | traits<T>::infinity >> 1); }
template <class T> GEVOLVE_MATH bool isnan(T x) { return x != x; }
template <class T> GEVOLVE_MATH bool isinf(T x) { return fabs(x) == infinity<T>(); }
template <class T> GEVOLVE_MATH bool isfinite(T x) { return fabs(x) < infinity<T>(); }
template <class T> GEVOLVE_MATH bool signbit(T x) { return bits(x) & traits<T>::sign; }

// 2 to the power n, for n in the range of normal numbers.
template <class T> GEVOLVE_MATH T power_of_two(int n) {
  typedef traits<T> t;
  return from_bits((typename t::word)(n + t::bias) << t::mantissa);
}

// c0 + c1 x + c2 x^2 + …, by Horner's rule.
template <class T> GEVOLVE_MATH T polynomial(T, T c) { return c; }
template <class T, class... C> GEVOLVE_MATH T polynomial(T x, T c, C... more) {
  return fma(polynomial<T>(x, more...), x, c);
}

// A number as the sum of two, the second at most half a unit in the last place of the first.
template <class T> struct pair { T hi, lo; };

// Exact, if |a| ≥ |b| or a is 0.
template <class T> GEVOLVE_MATH pair<T> fast_sum(T a, T b) {
  T s = a + b;
  return {s, b - (s - a)};
}
template <class T> GEVOLVE_MATH pair<T> exact_sum(T a, T b) {
  T s = a + b, t = s - a;
  return {s, (a - (s - t)) + (b - t)};
}
template <class T> GEVOLVE_MATH pair<T> exact_product(T a, T b) {
  T p = a * b;
  return {p, fma(a, b, -p)};
}
template <class T> GEVOLVE_MATH pair<T> sum(pair<T> a, pair<T> b) {
  pair<T> s = exact_sum(a.hi, b.hi);
  return fast_sum(s.hi, s.lo + (a.lo + b.lo));
}
template <class T> GEVOLVE_MATH pair<T> product(pair<T> a, pair<T> b) {
  pair<T> p = exact_product(a.hi, b.hi);
  return fast_sum(p.hi, p.lo + fma(a.hi, b.lo, a.lo * b.hi));
}

GEVOLVE_MATH_END
