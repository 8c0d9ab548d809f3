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
  GEVOLVE_MEMBER constexpr __half(_Float16 v) : __x(v) {}
  GEVOLVE_MEMBER constexpr __half(float v) : __x((_Float16)v) {}
  GEVOLVE_MEMBER constexpr __half(double v) : __x((_Float16)v) {}
  GEVOLVE_MEMBER constexpr __half(int v) : __x((_Float16)v) {}
  GEVOLVE_MEMBER constexpr __half(unsigned v) : __x((_Float16)v) {}
  GEVOLVE_MEMBER constexpr __half(long long v) : __x((_Float16)v) {}
  GEVOLVE_MEMBER constexpr __half(unsigned long long v) : __x((_Float16)v) {}
  GEVOLVE_MEMBER __half(__half_raw v) : __x(__builtin_bit_cast(_Float16, v.x)) {}
  GEVOLVE_MEMBER constexpr operator float() const { return (float)__x; }
  GEVOLVE_MEMBER operator __half_raw() const { return {__builtin_bit_cast(unsigned short, __x)}; }
  GEVOLVE_MEMBER explicit constexpr operator int() const { return (int)__x; }
  GEVOLVE_MEMBER explicit constexpr operator bool() const { return __x != (_Float16)0; }
};
typedef __half half;
typedef __half __nv_half;

struct __attribute__((aligned(4))) __half2 {
  __half x, y;
  __half2() = default;
  GEVOLVE_MEMBER constexpr __half2(__half x, __half y) : x(x), y(y) {}
};
typedef __half2 half2;
typedef __half2 __nv_half2;

#define GEVOLVE_HALF_OPERATOR(op)                                                                     \
  GEVOLVE_BOTH __half operator op(__half a, __half b) { return __half((_Float16)(a.__x op b.__x)); }  \
  GEVOLVE_BOTH __half &operator op##=(__half &a, __half b) { return a = a op b; }                     \
  GEVOLVE_BOTH __half2 operator op(__half2 a, __half2 b) { return __half2(a.x op b.x, a.y op b.y); }  \
  GEVOLVE_BOTH __half2 &operator op##=(__half2 &a, __half2 b) { return a = a op b; }
GEVOLVE_HALF_OPERATOR(+)
GEVOLVE_HALF_OPERATOR(-)
GEVOLVE_HALF_OPERATOR(*)
GEVOLVE_HALF_OPERATOR(/)
#undef GEVOLVE_HALF_OPERATOR
GEVOLVE_BOTH __half operator-(__half a) { return __half((_Float16)-a.__x); }
GEVOLVE_BOTH __half2 operator-(__half2 a) { return __half2(-a.x, -a.y); }

#define GEVOLVE_HALF_COMPARISON(op, name)                                                             \
  GEVOLVE_BOTH bool operator op(__half a, __half b) { return a.__x op b.__x; }                        \
  GEVOLVE_BOTH bool name(__half a, __half b) { return a.__x op b.__x; }                               \
  GEVOLVE_BOTH __half2 name##2(__half2 a, __half2 b) {                                                \
    return __half2(__half((float)(a.x op b.x)), __half((float)(a.y op b.y)));                      \
  }
GEVOLVE_HALF_COMPARISON(==, __heq)
GEVOLVE_HALF_COMPARISON(!=, __hne)
GEVOLVE_HALF_COMPARISON(<, __hlt)
GEVOLVE_HALF_COMPARISON(<=, __hle)
GEVOLVE_HALF_COMPARISON(>, __hgt)
GEVOLVE_HALF_COMPARISON(>=, __hge)
#undef GEVOLVE_HALF_COMPARISON

// Conversions.
GEVOLVE_BOTH __half __float2half(float x) { return __half(x); }
GEVOLVE_BOTH __half __float2half_rn(float x) { return __half(x); }
GEVOLVE_BOTH __half __double2half(double x) { return __half(x); }
GEVOLVE_BOTH float __half2float(__half x) { return (float)x.__x; }
GEVOLVE_BOTH __half __int2half_rn(int x) { return __half(x); }
GEVOLVE_BOTH __half __uint2half_rn(unsigned x) { return __half(x); }
GEVOLVE_BOTH int __half2int_rz(__half x) { return (int)x.__x; }
GEVOLVE_DEVICE int __half2int_rn(__half x) { return __float2int_rn((float)x.__x); }
GEVOLVE_DEVICE int __half2int_rd(__half x) { return __float2int_rd((float)x.__x); }
GEVOLVE_DEVICE int __half2int_ru(__half x) { return __float2int_ru((float)x.__x); }
GEVOLVE_BOTH unsigned short __half_as_ushort(__half x) {
  return __builtin_bit_cast(unsigned short, x.__x);
}
GEVOLVE_BOTH short __half_as_short(__half x) { return __builtin_bit_cast(short, x.__x); }
GEVOLVE_BOTH __half __ushort_as_half(unsigned short x) {
  return __half(__builtin_bit_cast(_Float16, x));
}
GEVOLVE_BOTH __half __short_as_half(short x) { return __half(__builtin_bit_cast(_Float16, x)); }
GEVOLVE_BOTH __half2 __float2half2_rn(float x) { return __half2(__half(x), __half(x)); }
GEVOLVE_BOTH __half2 __floats2half2_rn(float x, float y) { return __half2(__half(x), __half(y)); }
GEVOLVE_BOTH __half2 __float22half2_rn(float2 v) { return __half2(__half(v.x), __half(v.y)); }
GEVOLVE_BOTH float2 __half22float2(__half2 v) { return {(float)v.x.__x, (float)v.y.__x}; }
GEVOLVE_BOTH __half2 __half2half2(__half x) { return __half2(x, x); }
GEVOLVE_BOTH __half2 __halves2half2(__half x, __half y) { return __half2(x, y); }
GEVOLVE_BOTH __half2 make_half2(__half x, __half y) { return __half2(x, y); }
GEVOLVE_BOTH __half __low2half(__half2 v) { return v.x; }
GEVOLVE_BOTH __half __high2half(__half2 v) { return v.y; }
GEVOLVE_BOTH float __low2float(__half2 v) { return (float)v.x.__x; }
GEVOLVE_BOTH float __high2float(__half2 v) { return (float)v.y.__x; }
GEVOLVE_BOTH __half2 __low2half2(__half2 v) { return __half2(v.x, v.x); }
GEVOLVE_BOTH __half2 __high2half2(__half2 v) { return __half2(v.y, v.y); }
GEVOLVE_BOTH __half2 __lowhigh2highlow(__half2 v) { return __half2(v.y, v.x); }

// Arithmetic by name, for one and for two.
#define GEVOLVE_HALF_BINARY(name, expression)                                                         \
  GEVOLVE_DEVICE __half name(__half a, __half b) { return expression; }
#define GEVOLVE_HALF2(name, of)                                                                       \
  GEVOLVE_DEVICE __half2 name(__half2 a, __half2 b) { return __half2(of(a.x, b.x), of(a.y, b.y)); }
GEVOLVE_HALF_BINARY(__hadd, a + b)
GEVOLVE_HALF_BINARY(__hsub, a - b)
GEVOLVE_HALF_BINARY(__hmul, a * b)
GEVOLVE_HALF_BINARY(__hdiv, a / b)
GEVOLVE_HALF_BINARY(__hmin, __half((_Float16)__builtin_fminf((float)a.__x, (float)b.__x)))
GEVOLVE_HALF_BINARY(__hmax, __half((_Float16)__builtin_fmaxf((float)a.__x, (float)b.__x)))
GEVOLVE_HALF2(__hadd2, __hadd)
GEVOLVE_HALF2(__hsub2, __hsub)
GEVOLVE_HALF2(__hmul2, __hmul)
GEVOLVE_HALF2(__h2div, __hdiv)
GEVOLVE_HALF2(__hmin2, __hmin)
GEVOLVE_HALF2(__hmax2, __hmax)
#undef GEVOLVE_HALF2
#undef GEVOLVE_HALF_BINARY
GEVOLVE_DEVICE __half __hfma(__half a, __half b, __half c) {
  return __half((_Float16)__builtin_fmaf16(a.__x, b.__x, c.__x));
}
GEVOLVE_DEVICE __half2 __hfma2(__half2 a, __half2 b, __half2 c) {
  return __half2(__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y));
}
GEVOLVE_DEVICE __half __hneg(__half a) { return -a; }
GEVOLVE_DEVICE __half2 __hneg2(__half2 a) { return -a; }
GEVOLVE_DEVICE __half __habs(__half a) { return __half((_Float16)__builtin_fabsf((float)a.__x)); }
GEVOLVE_DEVICE __half2 __habs2(__half2 a) { return __half2(__habs(a.x), __habs(a.y)); }
GEVOLVE_DEVICE bool __hisnan(__half a) { return a.__x != a.__x; }
GEVOLVE_DEVICE int __hisinf(__half a) {
  return (float)a.__x == __builtin_huge_valf() ? 1 : (float)a.__x == -__builtin_huge_valf() ? -1 : 0;
}

// Math by way of float, whose rounding error is far below a half's.
#define GEVOLVE_HALF_MATH(name, of)                                                                   \
  GEVOLVE_DEVICE __half h##name(__half a) { return __half(of((float)a.__x)); }                        \
  GEVOLVE_DEVICE __half2 h2##name(__half2 a) { return __half2(h##name(a.x), h##name(a.y)); }
GEVOLVE_HALF_MATH(exp, expf)
GEVOLVE_HALF_MATH(exp2, exp2f)
GEVOLVE_HALF_MATH(exp10, exp10f)
GEVOLVE_HALF_MATH(log, logf)
GEVOLVE_HALF_MATH(log2, log2f)
GEVOLVE_HALF_MATH(log10, log10f)
GEVOLVE_HALF_MATH(sin, sinf)
GEVOLVE_HALF_MATH(cos, cosf)
GEVOLVE_HALF_MATH(sqrt, sqrtf)
GEVOLVE_HALF_MATH(rsqrt, rsqrtf)
GEVOLVE_HALF_MATH(rcp, 1.0f /)
GEVOLVE_HALF_MATH(floor, floorf)
GEVOLVE_HALF_MATH(ceil, ceilf)
GEVOLVE_HALF_MATH(trunc, truncf)
GEVOLVE_HALF_MATH(rint, rintf)
#undef GEVOLVE_HALF_MATH

// Between lanes, and from the read-only cache.
#define GEVOLVE_HALF_SHUFFLE(name)                                                                    \
  GEVOLVE_DEVICE __half name(unsigned mask, __half v, int lane, int width = 32) {                     \
    return __ushort_as_half((unsigned short)name(mask, (int)__half_as_ushort(v), lane, width));    \
  }                                                                                                \
  GEVOLVE_DEVICE __half2 name(unsigned mask, __half2 v, int lane, int width = 32) {                   \
    return __builtin_bit_cast(__half2, name(mask, __builtin_bit_cast(int, v), lane, width));       \
  }
GEVOLVE_HALF_SHUFFLE(__shfl_sync)
GEVOLVE_HALF_SHUFFLE(__shfl_up_sync)
GEVOLVE_HALF_SHUFFLE(__shfl_down_sync)
GEVOLVE_HALF_SHUFFLE(__shfl_xor_sync)
#undef GEVOLVE_HALF_SHUFFLE
GEVOLVE_DEVICE __half __ldg(const __half *p) {
  return __ushort_as_half(__ldg((const unsigned short *)p));
}
GEVOLVE_DEVICE __half2 __ldg(const __half2 *p) {
  return __builtin_bit_cast(__half2, __ldg((const unsigned *)p));
}
