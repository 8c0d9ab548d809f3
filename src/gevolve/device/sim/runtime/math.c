/* Instructions that are rare or intricate: directed rounding, half floats, bit fields, libm. */
#include <fenv.h>
#include <math.h>
#pragma STDC FENV_ACCESS ON

static const int modes[4] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD};

#define ROUNDED(type, name, args, expression)          \
  EXPORT type name args {                              \
    fesetround(modes[mode]);                           \
    volatile type result = expression;                 \
    fesetround(FE_TONEAREST);                          \
    return result;                                     \
  }
#define BOTH(name, params32, params64, e32, e64)       \
  ROUNDED(float, gevolve_##name##_f32, params32, e32)     \
  ROUNDED(double, gevolve_##name##_f64, params64, e64)
#define TWO(t) (volatile t a, volatile t b, int32_t mode)
#define ONE(t) (volatile t a, int32_t mode)

BOTH(add, TWO(float), TWO(double), a + b, a + b)
BOTH(sub, TWO(float), TWO(double), a - b, a - b)
BOTH(mul, TWO(float), TWO(double), a *b, a *b)
BOTH(div, TWO(float), TWO(double), a / b, a / b)
BOTH(rcp, ONE(float), ONE(double), 1.0f / a, 1.0 / a)
BOTH(sqrt, ONE(float), ONE(double), sqrtf(a), sqrt(a))
ROUNDED(float, gevolve_fma_f32, (volatile float a, volatile float b, volatile float c, int32_t mode),
        fmaf(a, b, c))
ROUNDED(double, gevolve_fma_f64, (volatile double a, volatile double b, volatile double c, int32_t mode),
        fma(a, b, c))
ROUNDED(float, gevolve_f64_to_f32, (volatile double a, int32_t mode), (float)a)
ROUNDED(float, gevolve_s64_to_f32, (volatile int64_t a, int32_t mode), (float)a)
ROUNDED(double, gevolve_s64_to_f64, (volatile int64_t a, int32_t mode), (double)a)

/* Compilers turn unsigned conversion into two roundings; halve with a sticky bit instead. */
EXPORT float gevolve_u64_to_f32(uint64_t a, int32_t mode) {
  if (a >> 63) return 2 * gevolve_s64_to_f32((int64_t)(a >> 1 | (a & 1)), mode);
  return gevolve_s64_to_f32((int64_t)a, mode);
}
EXPORT double gevolve_u64_to_f64(uint64_t a, int32_t mode) {
  if (a >> 63) return 2 * gevolve_s64_to_f64((int64_t)(a >> 1 | (a & 1)), mode);
  return gevolve_s64_to_f64((int64_t)a, mode);
}

#define WHOLE(name, f32, f64)                          \
  EXPORT float gevolve_##name##_f32(float a) { return f32(a); } \
  EXPORT double gevolve_##name##_f64(double a) { return f64(a); }
WHOLE(roundeven, rintf, rint)
WHOLE(trunc, truncf, trunc)
WHOLE(floor, floorf, floor)
WHOLE(ceil, ceilf, ceil)

/* Four of the approximate functions are further off on a GPU than a float's last place: sines, cosines, and logarithms
 * near 1 come in steps of a fixed size, and tanh has few places. Here they are off by as much as NVIDIA documents, so
 * that what is right here is right there. What is smaller than a step stays, so that none of it becomes 0. */
static double in_steps(double v, double step) { return fabs(v) < step ? v : rint(v / step) * step; }
static double sine(double x) { return in_steps(sin(x), 0x1p-21); }
static double cosine(double x) { return in_steps(cos(x), 0x1p-21); }
static double logarithm(double x) { return x > 0.5 && x < 2 ? in_steps(log2(x), 0x1p-21) : log2(x); }
static double tangent(double x) {
  int exponent;
  double v = tanh(x), part = frexp(v, &exponent);
  return isfinite(v) ? ldexp(rint(part * 0x1p11), exponent - 11) : v;
}

/* The approximate functions, in double, rounded once. */
#define SPECIAL(name, exact, near)                     \
  EXPORT double gevolve_##name##_f64(double x) { return exact; } \
  EXPORT float gevolve_##name##_f32(float a) { double x = a; return (float)(near); }
SPECIAL(rsqrt, 1 / sqrt(x), 1 / sqrt(x))
SPECIAL(sin, sin(x), sine(x))
SPECIAL(cos, cos(x), cosine(x))
SPECIAL(lg2, log2(x), logarithm(x))
SPECIAL(ex2, exp2(x), exp2(x))
SPECIAL(tanh, tanh(x), tangent(x))

static float nan32(void) { uint32_t b = 0x7FFFFFFF; float f; memcpy(&f, &b, 4); return f; }
static double nan64(void) { uint64_t b = ~0ull >> 1; double f; memcpy(&f, &b, 8); return f; }

#define EXTREMA(t, suffix, nan)                                                     \
  EXPORT t gevolve_minimumnum_##suffix(t a, t b) {                                     \
    if (isnan(a)) return isnan(b) ? nan() : b;                                      \
    if (isnan(b)) return a;                                                         \
    return a < b || (a == b && signbit(a)) ? a : b;                                 \
  }                                                                                 \
  EXPORT t gevolve_maximumnum_##suffix(t a, t b) {                                     \
    if (isnan(a)) return isnan(b) ? nan() : b;                                      \
    if (isnan(b)) return a;                                                         \
    return a > b || (a == b && signbit(b)) ? a : b;                                 \
  }                                                                                 \
  EXPORT t gevolve_minimum_##suffix(t a, t b) {                                        \
    return isnan(a) || isnan(b) ? nan() : gevolve_minimumnum_##suffix(a, b);           \
  }                                                                                 \
  EXPORT t gevolve_maximum_##suffix(t a, t b) {                                        \
    return isnan(a) || isnan(b) ? nan() : gevolve_maximumnum_##suffix(a, b);           \
  }
EXTREMA(float, f32, nan32)
EXTREMA(double, f64, nan64)

/* Half floats: `fraction` bits after the point, `exponent` bits before it. */
static uint16_t encode(double x, int fraction, int exponent, int mode) {
  const int bias = (1 << (exponent - 1)) - 1, least = 1 - bias;
  const uint32_t infinite = ((1u << exponent) - 1) << fraction;
  if (isnan(x)) return 0x7FFF;
  const uint16_t sign = signbit(x) ? 0x8000 : 0;
  double size = fabs(x);
  if (isinf(size)) return (uint16_t)(sign | infinite);
  if (size == 0) return sign;
  int e = ilogb(size);
  if (e < least) e = least;
  double scaled = scalbn(size, fraction - e), whole = floor(scaled), rest = scaled - whole;
  int up = 0;
  if (mode == 0) up = rest > 0.5 || (rest == 0.5 && fmod(whole, 2) != 0);
  else if (mode == 2) up = rest > 0 && sign;
  else if (mode == 3) up = rest > 0 && !sign;
  if (e > bias) return (uint16_t)(sign | (mode == 0 || (mode == 2 && sign) || (mode == 3 && !sign)
                                              ? infinite : infinite - 1));
  uint32_t bits = ((uint32_t)(e + bias - 1) << fraction) + (uint32_t)whole + (uint32_t)up;
  if (bits >= infinite && !up && mode) bits = infinite - 1;
  return (uint16_t)(sign | (bits > infinite ? infinite : bits));
}

EXPORT float gevolve_f16_to_f32(uint16_t h) {
  uint32_t sign = (uint32_t)(h & 0x8000) << 16, e = h >> 10 & 31, m = h & 1023, b;
  if (e == 31) b = sign | 0x7F800000 | m << 13;
  else if (e) b = sign | (e + 112) << 23 | m << 13;
  else {
    float f = (float)m * 0x1p-24f;
    return sign ? -f : f;
  }
  float f;
  memcpy(&f, &b, 4);
  return f;
}

static double bf16(uint16_t h) {
  uint32_t b = (uint32_t)h << 16;
  float f;
  memcpy(&f, &b, 4);
  return f;
}

EXPORT uint16_t gevolve_f64_to_f16(double x, int32_t mode) { return encode(x, 10, 5, mode); }
EXPORT uint16_t gevolve_f64_to_bf16(double x, int32_t mode) { return encode(x, 7, 8, mode); }
EXPORT uint16_t gevolve_f32_to_f16(float x, int32_t mode) { return encode(x, 10, 5, mode); }
EXPORT uint16_t gevolve_f32_to_bf16(float x, int32_t mode) { return encode(x, 7, 8, mode); }

EXPORT uint32_t gevolve_f32_to_tf32(float x) {
  uint32_t b;
  memcpy(&b, &x, 4);
  if (isnan(x)) return 0x7FFFFFFF;
  return isinf(x) ? b : (b + 0x1000) & ~0x1FFFu;
}

/* a*b + c rounded to odd: exact enough that a second rounding does no harm. */
static double fma_odd(double a, double b, double c) {
  double product = a * b, sum = product + c;
  if (!isfinite(sum) || sum == 0) return sum;
  double back = sum - product, error = (product - (sum - back)) + (c - back);
  uint64_t bits;
  memcpy(&bits, &sum, 8);
  if (error == 0 || bits & 1) return sum;
  bits += (error > 0) == (sum > 0) ? 1 : (uint64_t)-1;
  memcpy(&sum, &bits, 8);
  return sum;
}

EXPORT uint16_t gevolve_fma_f16(uint16_t a, uint16_t b, uint16_t c) {
  return encode(fma_odd(gevolve_f16_to_f32(a), gevolve_f16_to_f32(b), gevolve_f16_to_f32(c)), 10, 5, 0);
}
EXPORT uint16_t gevolve_fma_bf16(uint16_t a, uint16_t b, uint16_t c) {
  return encode(fma_odd(bf16(a), bf16(b), bf16(c)), 7, 8, 0);
}

/* Bit fields. */
#define FIELDS(bits, u, s)                                                            \
  EXPORT u gevolve_bfe_u##bits(u a, uint32_t b, uint32_t c) {                            \
    uint32_t pos = b & 255, len = c & 255;                                            \
    if (!len || pos >= bits) return 0;                                                \
    a >>= pos;                                                                        \
    return len >= bits ? a : a & (((u)1 << len) - 1);                                 \
  }                                                                                   \
  EXPORT u gevolve_bfe_s##bits(u a, uint32_t b, uint32_t c) {                            \
    uint32_t pos = b & 255, len = c & 255;                                            \
    if (!len) return 0;                                                               \
    uint32_t top = pos + len - 1 < bits - 1 ? pos + len - 1 : bits - 1;               \
    u sign = (a >> top & 1) ? ~(u)0 : 0;                                              \
    if (pos >= bits) return sign;                                                     \
    u field = a >> pos;                                                               \
    return len >= bits - pos ? (u)((s)a >> pos) : (field & (((u)1 << len) - 1)) | (sign << len); \
  }                                                                                   \
  EXPORT u gevolve_bfi_##bits(u a, u b, uint32_t c, uint32_t d) {                        \
    uint32_t pos = c & 255, len = d & 255;                                            \
    if (!len || pos >= bits) return b;                                                \
    u mask = (len >= bits ? ~(u)0 : ((u)1 << len) - 1) << pos;                        \
    return (b & ~mask) | (a << pos & mask);                                           \
  }
FIELDS(32, uint32_t, int32_t)
FIELDS(64, uint64_t, int64_t)

EXPORT uint32_t gevolve_prmt(uint32_t a, uint32_t b, uint32_t c) {
  uint64_t bytes = (uint64_t)b << 32 | a;
  uint32_t result = 0;
  for (int i = 0; i < 4; i++) {
    uint32_t pick = c >> (4 * i) & 15;
    uint32_t byte = (uint32_t)(bytes >> (8 * (pick & 7))) & 255;
    if (pick & 8) byte = byte & 128 ? 255 : 0;
    result |= byte << (8 * i);
  }
  return result;
}
static uint32_t pick4(uint32_t a, uint32_t b, int s0, int s1, int s2, int s3) {
  return gevolve_prmt(a, b, (uint32_t)((s0 & 7) | (s1 & 7) << 4 | (s2 & 7) << 8 | (s3 & 7) << 12));
}
EXPORT uint32_t gevolve_prmt_f4e(uint32_t a, uint32_t b, uint32_t c) {
  int s = c & 3; return pick4(a, b, s, s + 1, s + 2, s + 3);
}
EXPORT uint32_t gevolve_prmt_b4e(uint32_t a, uint32_t b, uint32_t c) {
  int s = c & 3; return pick4(a, b, s, s + 7, s + 6, s + 5);
}
EXPORT uint32_t gevolve_prmt_rc8(uint32_t a, uint32_t b, uint32_t c) {
  int s = c & 3; return pick4(a, b, s, s, s, s);
}
EXPORT uint32_t gevolve_prmt_ecl(uint32_t a, uint32_t b, uint32_t c) {
  int s = c & 3; return pick4(a, b, s, s > 1 ? s : 1, s > 2 ? s : 2, 3);
}
EXPORT uint32_t gevolve_prmt_ecr(uint32_t a, uint32_t b, uint32_t c) {
  int s = c & 3; return pick4(a, b, 0, s < 1 ? s : 1, s < 2 ? s : 2, s);
}
EXPORT uint32_t gevolve_prmt_rc16(uint32_t a, uint32_t b, uint32_t c) {
  int s = (c & 1) * 2; return pick4(a, b, s, s + 1, s, s + 1);
}

EXPORT uint32_t gevolve_bmsk_b_clamp(uint32_t a, uint32_t b) {
  if (a >= 32 || !b) return 0;
  uint32_t ones = b >= 32 ? ~0u : (1u << b) - 1;
  return ones << a;
}
EXPORT uint32_t gevolve_bmsk_b_wrap(uint32_t a, uint32_t b) {
  return gevolve_bmsk_b_clamp(a & 31, b & 31);
}
EXPORT uint32_t gevolve_szext_u_clamp(uint32_t a, uint32_t b) { return b >= 32 ? a : a & ((1u << b) - 1); }
EXPORT uint32_t gevolve_szext_u_wrap(uint32_t a, uint32_t b) { return gevolve_szext_u_clamp(a, b & 31); }
EXPORT uint32_t gevolve_szext_s_clamp(uint32_t a, uint32_t b) {
  if (b >= 32) return a;
  return b ? (uint32_t)((int32_t)(a << (32 - b)) >> (32 - b)) : 0;
}
EXPORT uint32_t gevolve_szext_s_wrap(uint32_t a, uint32_t b) { return gevolve_szext_s_clamp(a, b & 31); }

EXPORT uint32_t gevolve_fns(uint32_t mask, uint32_t base, uint32_t offset) {
  int32_t n = (int32_t)offset;
  if (n == 0) return base < 32 && mask >> base & 1 ? base : ~0u;
  int step = n > 0 ? 1 : -1;
  int32_t left = n > 0 ? n : -n;
  for (int64_t at = base; at >= 0 && at < 32; at += step)
    if (mask >> at & 1 && --left == 0) return (uint32_t)at;
  return ~0u;
}
