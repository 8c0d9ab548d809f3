// Half precision: __half, half2 and the usual functions on them.
#pragma once

struct __half_raw {
  unsigned short x;
};
struct __half2_raw {
  unsigned short x, y;
};

// The bits are kept in a native half, so that arithmetic on them is one instruction.
struct __half {
  _Float16 __x;
  __half() = default;
  GEVO_MEMBER constexpr __half(_Float16 v) : __x(v) {}
  GEVO_MEMBER constexpr __half(float v) : __x((_Float16)v) {}
  GEVO_MEMBER constexpr __half(double v) : __x((_Float16)v) {}
  GEVO_MEMBER constexpr __half(int v) : __x((_Float16)v) {}
  GEVO_MEMBER constexpr __half(unsigned v) : __x((_Float16)v) {}
  GEVO_MEMBER constexpr __half(long long v) : __x((_Float16)v) {}
  GEVO_MEMBER constexpr __half(unsigned long long v) : __x((_Float16)v) {}
  GEVO_MEMBER __half(__half_raw v) : __x(__builtin_bit_cast(_Float16, v.x)) {}
  GEVO_MEMBER constexpr operator float() const { return (float)__x; }
  GEVO_MEMBER operator __half_raw() const { return {__builtin_bit_cast(unsigned short, __x)}; }
  GEVO_MEMBER explicit constexpr operator int() const { return (int)__x; }
  GEVO_MEMBER explicit constexpr operator bool() const { return __x != (_Float16)0; }
};
typedef __half half;
typedef __half __nv_half;

struct __attribute__((aligned(4))) __half2 {
  __half x, y;
  __half2() = default;
  GEVO_MEMBER constexpr __half2(__half x, __half y) : x(x), y(y) {}
};
typedef __half2 half2;
typedef __half2 __nv_half2;

#define GEVO_HALF_OPERATOR(op)                                                                     \
  GEVO_BOTH __half operator op(__half a, __half b) { return __half((_Float16)(a.__x op b.__x)); }  \
  GEVO_BOTH __half &operator op##=(__half &a, __half b) { return a = a op b; }                     \
  GEVO_BOTH __half2 operator op(__half2 a, __half2 b) { return __half2(a.x op b.x, a.y op b.y); }  \
  GEVO_BOTH __half2 &operator op##=(__half2 &a, __half2 b) { return a = a op b; }
GEVO_HALF_OPERATOR(+)
GEVO_HALF_OPERATOR(-)
GEVO_HALF_OPERATOR(*)
GEVO_HALF_OPERATOR(/)
#undef GEVO_HALF_OPERATOR
GEVO_BOTH __half operator-(__half a) { return __half((_Float16)-a.__x); }
GEVO_BOTH __half2 operator-(__half2 a) { return __half2(-a.x, -a.y); }

#define GEVO_HALF_COMPARISON(op, name)                                                             \
  GEVO_BOTH bool operator op(__half a, __half b) { return a.__x op b.__x; }                        \
  GEVO_BOTH bool name(__half a, __half b) { return a.__x op b.__x; }                               \
  GEVO_BOTH __half2 name##2(__half2 a, __half2 b) {                                                \
    return __half2(__half((float)(a.x op b.x)), __half((float)(a.y op b.y)));                      \
  }
GEVO_HALF_COMPARISON(==, __heq)
GEVO_HALF_COMPARISON(!=, __hne)
GEVO_HALF_COMPARISON(<, __hlt)
GEVO_HALF_COMPARISON(<=, __hle)
GEVO_HALF_COMPARISON(>, __hgt)
GEVO_HALF_COMPARISON(>=, __hge)
#undef GEVO_HALF_COMPARISON

// Conversions.
GEVO_BOTH __half __float2half(float x) { return __half(x); }
GEVO_BOTH __half __float2half_rn(float x) { return __half(x); }
GEVO_BOTH __half __double2half(double x) { return __half(x); }
GEVO_BOTH float __half2float(__half x) { return (float)x.__x; }
GEVO_BOTH __half __int2half_rn(int x) { return __half(x); }
GEVO_BOTH __half __uint2half_rn(unsigned x) { return __half(x); }
GEVO_BOTH int __half2int_rz(__half x) { return (int)x.__x; }
GEVO_DEVICE int __half2int_rn(__half x) { return __float2int_rn((float)x.__x); }
GEVO_DEVICE int __half2int_rd(__half x) { return __float2int_rd((float)x.__x); }
GEVO_DEVICE int __half2int_ru(__half x) { return __float2int_ru((float)x.__x); }
GEVO_BOTH unsigned short __half_as_ushort(__half x) {
  return __builtin_bit_cast(unsigned short, x.__x);
}
GEVO_BOTH short __half_as_short(__half x) { return __builtin_bit_cast(short, x.__x); }
GEVO_BOTH __half __ushort_as_half(unsigned short x) {
  return __half(__builtin_bit_cast(_Float16, x));
}
GEVO_BOTH __half __short_as_half(short x) { return __half(__builtin_bit_cast(_Float16, x)); }
GEVO_BOTH __half2 __float2half2_rn(float x) { return __half2(__half(x), __half(x)); }
GEVO_BOTH __half2 __floats2half2_rn(float x, float y) { return __half2(__half(x), __half(y)); }
GEVO_BOTH __half2 __float22half2_rn(float2 v) { return __half2(__half(v.x), __half(v.y)); }
GEVO_BOTH float2 __half22float2(__half2 v) { return {(float)v.x.__x, (float)v.y.__x}; }
GEVO_BOTH __half2 __half2half2(__half x) { return __half2(x, x); }
GEVO_BOTH __half2 __halves2half2(__half x, __half y) { return __half2(x, y); }
GEVO_BOTH __half2 make_half2(__half x, __half y) { return __half2(x, y); }
GEVO_BOTH __half __low2half(__half2 v) { return v.x; }
GEVO_BOTH __half __high2half(__half2 v) { return v.y; }
GEVO_BOTH float __low2float(__half2 v) { return (float)v.x.__x; }
GEVO_BOTH float __high2float(__half2 v) { return (float)v.y.__x; }
GEVO_BOTH __half2 __low2half2(__half2 v) { return __half2(v.x, v.x); }
GEVO_BOTH __half2 __high2half2(__half2 v) { return __half2(v.y, v.y); }
GEVO_BOTH __half2 __lowhigh2highlow(__half2 v) { return __half2(v.y, v.x); }

// Arithmetic by name, for one and for two.
#define GEVO_HALF_BINARY(name, expression)                                                         \
  GEVO_DEVICE __half name(__half a, __half b) { return expression; }
#define GEVO_HALF2(name, of)                                                                       \
  GEVO_DEVICE __half2 name(__half2 a, __half2 b) { return __half2(of(a.x, b.x), of(a.y, b.y)); }
GEVO_HALF_BINARY(__hadd, a + b)
GEVO_HALF_BINARY(__hsub, a - b)
GEVO_HALF_BINARY(__hmul, a * b)
GEVO_HALF_BINARY(__hdiv, a / b)
GEVO_HALF_BINARY(__hmin, __half((_Float16)__builtin_fminf((float)a.__x, (float)b.__x)))
GEVO_HALF_BINARY(__hmax, __half((_Float16)__builtin_fmaxf((float)a.__x, (float)b.__x)))
GEVO_HALF2(__hadd2, __hadd)
GEVO_HALF2(__hsub2, __hsub)
GEVO_HALF2(__hmul2, __hmul)
GEVO_HALF2(__h2div, __hdiv)
GEVO_HALF2(__hmin2, __hmin)
GEVO_HALF2(__hmax2, __hmax)
#undef GEVO_HALF2
#undef GEVO_HALF_BINARY
GEVO_DEVICE __half __hfma(__half a, __half b, __half c) {
  return __half((_Float16)__builtin_fmaf16(a.__x, b.__x, c.__x));
}
GEVO_DEVICE __half2 __hfma2(__half2 a, __half2 b, __half2 c) {
  return __half2(__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y));
}
GEVO_DEVICE __half __hneg(__half a) { return -a; }
GEVO_DEVICE __half2 __hneg2(__half2 a) { return -a; }
GEVO_DEVICE __half __habs(__half a) { return __half((_Float16)__builtin_fabsf((float)a.__x)); }
GEVO_DEVICE __half2 __habs2(__half2 a) { return __half2(__habs(a.x), __habs(a.y)); }
GEVO_DEVICE bool __hisnan(__half a) { return a.__x != a.__x; }
GEVO_DEVICE int __hisinf(__half a) {
  return (float)a.__x == __builtin_huge_valf() ? 1 : (float)a.__x == -__builtin_huge_valf() ? -1 : 0;
}

// Math by way of float, whose rounding error is far below a half's.
#define GEVO_HALF_MATH(name, of)                                                                   \
  GEVO_DEVICE __half h##name(__half a) { return __half(of((float)a.__x)); }                        \
  GEVO_DEVICE __half2 h2##name(__half2 a) { return __half2(h##name(a.x), h##name(a.y)); }
GEVO_HALF_MATH(exp, expf)
GEVO_HALF_MATH(exp2, exp2f)
GEVO_HALF_MATH(exp10, exp10f)
GEVO_HALF_MATH(log, logf)
GEVO_HALF_MATH(log2, log2f)
GEVO_HALF_MATH(log10, log10f)
GEVO_HALF_MATH(sin, sinf)
GEVO_HALF_MATH(cos, cosf)
GEVO_HALF_MATH(sqrt, sqrtf)
GEVO_HALF_MATH(rsqrt, rsqrtf)
GEVO_HALF_MATH(rcp, 1.0f /)
GEVO_HALF_MATH(floor, floorf)
GEVO_HALF_MATH(ceil, ceilf)
GEVO_HALF_MATH(trunc, truncf)
GEVO_HALF_MATH(rint, rintf)
#undef GEVO_HALF_MATH

// Between lanes, and from the read-only cache.
#define GEVO_HALF_SHUFFLE(name)                                                                    \
  GEVO_DEVICE __half name(unsigned mask, __half v, int lane, int width = 32) {                     \
    return __ushort_as_half((unsigned short)name(mask, (int)__half_as_ushort(v), lane, width));    \
  }                                                                                                \
  GEVO_DEVICE __half2 name(unsigned mask, __half2 v, int lane, int width = 32) {                   \
    return __builtin_bit_cast(__half2, name(mask, __builtin_bit_cast(int, v), lane, width));       \
  }
GEVO_HALF_SHUFFLE(__shfl_sync)
GEVO_HALF_SHUFFLE(__shfl_up_sync)
GEVO_HALF_SHUFFLE(__shfl_down_sync)
GEVO_HALF_SHUFFLE(__shfl_xor_sync)
#undef GEVO_HALF_SHUFFLE
GEVO_DEVICE __half __ldg(const __half *p) {
  return __ushort_as_half(__ldg((const unsigned short *)p));
}
GEVO_DEVICE __half2 __ldg(const __half2 *p) {
  return __builtin_bit_cast(__half2, __ldg((const unsigned *)p));
}
