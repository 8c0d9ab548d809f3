// Bit casts, conversions and arithmetic with a rounding mode in the name.
#pragma once

GEVOLVE_DEVICE int __float_as_int(float x) { return __builtin_bit_cast(int, x); }
GEVOLVE_DEVICE unsigned __float_as_uint(float x) { return __builtin_bit_cast(unsigned, x); }
GEVOLVE_DEVICE float __int_as_float(int x) { return __builtin_bit_cast(float, x); }
GEVOLVE_DEVICE float __uint_as_float(unsigned x) { return __builtin_bit_cast(float, x); }
GEVOLVE_DEVICE long long __double_as_longlong(double x) { return __builtin_bit_cast(long long, x); }
GEVOLVE_DEVICE double __longlong_as_double(long long x) { return __builtin_bit_cast(double, x); }
GEVOLVE_DEVICE int __double2hiint(double x) { return (int)(__double_as_longlong(x) >> 32); }
GEVOLVE_DEVICE int __double2loint(double x) { return (int)__double_as_longlong(x); }
GEVOLVE_DEVICE double __hiloint2double(int hi, int lo) {
  return __longlong_as_double((long long)hi << 32 | (unsigned)lo);
}

#define GEVOLVE_CONVERT(name, to, from, builtin)                                                      \
  GEVOLVE_DEVICE to __##name##_rn(from x) { return __nvvm_##builtin##_rn(x); }                        \
  GEVOLVE_DEVICE to __##name##_rz(from x) { return __nvvm_##builtin##_rz(x); }                        \
  GEVOLVE_DEVICE to __##name##_ru(from x) { return __nvvm_##builtin##_rp(x); }                        \
  GEVOLVE_DEVICE to __##name##_rd(from x) { return __nvvm_##builtin##_rm(x); }

GEVOLVE_CONVERT(float2int, int, float, f2i)
GEVOLVE_CONVERT(float2uint, unsigned, float, f2ui)
GEVOLVE_CONVERT(float2ll, long long, float, f2ll)
GEVOLVE_CONVERT(float2ull, unsigned long long, float, f2ull)
GEVOLVE_CONVERT(double2int, int, double, d2i)
GEVOLVE_CONVERT(double2uint, unsigned, double, d2ui)
GEVOLVE_CONVERT(double2ll, long long, double, d2ll)
GEVOLVE_CONVERT(double2ull, unsigned long long, double, d2ull)
GEVOLVE_CONVERT(int2float, float, int, i2f)
GEVOLVE_CONVERT(uint2float, float, unsigned, ui2f)
GEVOLVE_CONVERT(ll2float, float, long long, ll2f)
GEVOLVE_CONVERT(ull2float, float, unsigned long long, ull2f)
GEVOLVE_CONVERT(ll2double, double, long long, ll2d)
GEVOLVE_CONVERT(ull2double, double, unsigned long long, ull2d)
GEVOLVE_CONVERT(double2float, float, double, d2f)
#undef GEVOLVE_CONVERT
GEVOLVE_DEVICE double __int2double_rn(int x) { return x; }
GEVOLVE_DEVICE double __uint2double_rn(unsigned x) { return x; }
GEVOLVE_DEVICE unsigned __float2uint_sat(float x) { return __float2uint_rz(x); }

#define GEVOLVE_BINARY(name, op, type, letter)                                                        \
  GEVOLVE_DEVICE type __##name##_rn(type a, type b) { return __nvvm_##op##_rn_##letter(a, b); }       \
  GEVOLVE_DEVICE type __##name##_rz(type a, type b) { return __nvvm_##op##_rz_##letter(a, b); }       \
  GEVOLVE_DEVICE type __##name##_ru(type a, type b) { return __nvvm_##op##_rp_##letter(a, b); }       \
  GEVOLVE_DEVICE type __##name##_rd(type a, type b) { return __nvvm_##op##_rm_##letter(a, b); }
#define GEVOLVE_UNARY(name, op, type, letter)                                                         \
  GEVOLVE_DEVICE type __##name##_rn(type a) { return __nvvm_##op##_rn_##letter(a); }                  \
  GEVOLVE_DEVICE type __##name##_rz(type a) { return __nvvm_##op##_rz_##letter(a); }                  \
  GEVOLVE_DEVICE type __##name##_ru(type a) { return __nvvm_##op##_rp_##letter(a); }                  \
  GEVOLVE_DEVICE type __##name##_rd(type a) { return __nvvm_##op##_rm_##letter(a); }
#define GEVOLVE_FMA(name, type, letter)                                                               \
  GEVOLVE_DEVICE type name##_rn(type a, type b, type c) { return __nvvm_fma_rn_##letter(a, b, c); }   \
  GEVOLVE_DEVICE type name##_rz(type a, type b, type c) { return __nvvm_fma_rz_##letter(a, b, c); }   \
  GEVOLVE_DEVICE type name##_ru(type a, type b, type c) { return __nvvm_fma_rp_##letter(a, b, c); }   \
  GEVOLVE_DEVICE type name##_rd(type a, type b, type c) { return __nvvm_fma_rm_##letter(a, b, c); }
#define GEVOLVE_SUBTRACT(name, add, type)                                                             \
  GEVOLVE_DEVICE type name##_rn(type a, type b) { return add##_rn(a, -b); }                           \
  GEVOLVE_DEVICE type name##_rz(type a, type b) { return add##_rz(a, -b); }                           \
  GEVOLVE_DEVICE type name##_ru(type a, type b) { return add##_ru(a, -b); }                           \
  GEVOLVE_DEVICE type name##_rd(type a, type b) { return add##_rd(a, -b); }

GEVOLVE_BINARY(fadd, add, float, f)
GEVOLVE_BINARY(fmul, mul, float, f)
GEVOLVE_BINARY(fdiv, div, float, f)
GEVOLVE_BINARY(dadd, add, double, d)
GEVOLVE_BINARY(dmul, mul, double, d)
GEVOLVE_BINARY(ddiv, div, double, d)
GEVOLVE_SUBTRACT(__fsub, __fadd, float)
GEVOLVE_SUBTRACT(__dsub, __dadd, double)
GEVOLVE_UNARY(frcp, rcp, float, f)
GEVOLVE_UNARY(fsqrt, sqrt, float, f)
GEVOLVE_UNARY(drcp, rcp, double, d)
GEVOLVE_UNARY(dsqrt, sqrt, double, d)
GEVOLVE_FMA(__fmaf, float, f)
GEVOLVE_FMA(__fma, double, d)
#undef GEVOLVE_BINARY
#undef GEVOLVE_UNARY
#undef GEVOLVE_FMA
#undef GEVOLVE_SUBTRACT

GEVOLVE_DEVICE float __frsqrt_rn(float x) { return __nvvm_rsqrt_approx_f(x); }
GEVOLVE_DEVICE float __saturatef(float x) { return __nvvm_saturate_f(x); }

// The hardware's fast approximations.
GEVOLVE_DEVICE float __fdividef(float a, float b) { return __nvvm_div_approx_f(a, b); }
GEVOLVE_DEVICE float __sinf(float x) { return __nvvm_sin_approx_f(x); }
GEVOLVE_DEVICE float __cosf(float x) { return __nvvm_cos_approx_f(x); }
GEVOLVE_DEVICE float __tanf(float x) { return __fdividef(__sinf(x), __cosf(x)); }
GEVOLVE_DEVICE void __sincosf(float x, float *s, float *c) {
  *s = __sinf(x);
  *c = __cosf(x);
}
GEVOLVE_DEVICE float __exp2f(float x) { return __nvvm_ex2_approx_f(x); }
GEVOLVE_DEVICE float __expf(float x) { return __nvvm_ex2_approx_f(x * 1.44269504f); }
GEVOLVE_DEVICE float __exp10f(float x) { return __nvvm_ex2_approx_f(x * 3.32192809f); }
GEVOLVE_DEVICE float __log2f(float x) { return __nvvm_lg2_approx_f(x); }
GEVOLVE_DEVICE float __logf(float x) { return __nvvm_lg2_approx_f(x) * 0.693147181f; }
GEVOLVE_DEVICE float __log10f(float x) { return __nvvm_lg2_approx_f(x) * 0.301029996f; }
GEVOLVE_DEVICE float __powf(float x, float y) {
  return __nvvm_ex2_approx_f(y * __nvvm_lg2_approx_f(x));
}
