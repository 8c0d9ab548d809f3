// Bit casts, conversions and arithmetic with a rounding mode in the name.
#pragma once

GEVO_DEVICE int __float_as_int(float x) { return __builtin_bit_cast(int, x); }
GEVO_DEVICE unsigned __float_as_uint(float x) { return __builtin_bit_cast(unsigned, x); }
GEVO_DEVICE float __int_as_float(int x) { return __builtin_bit_cast(float, x); }
GEVO_DEVICE float __uint_as_float(unsigned x) { return __builtin_bit_cast(float, x); }
GEVO_DEVICE long long __double_as_longlong(double x) { return __builtin_bit_cast(long long, x); }
GEVO_DEVICE double __longlong_as_double(long long x) { return __builtin_bit_cast(double, x); }
GEVO_DEVICE int __double2hiint(double x) { return (int)(__double_as_longlong(x) >> 32); }
GEVO_DEVICE int __double2loint(double x) { return (int)__double_as_longlong(x); }
GEVO_DEVICE double __hiloint2double(int hi, int lo) {
  return __longlong_as_double((long long)hi << 32 | (unsigned)lo);
}

#define GEVO_CONVERT(name, to, from, builtin)                                                      \
  GEVO_DEVICE to __##name##_rn(from x) { return __nvvm_##builtin##_rn(x); }                        \
  GEVO_DEVICE to __##name##_rz(from x) { return __nvvm_##builtin##_rz(x); }                        \
  GEVO_DEVICE to __##name##_ru(from x) { return __nvvm_##builtin##_rp(x); }                        \
  GEVO_DEVICE to __##name##_rd(from x) { return __nvvm_##builtin##_rm(x); }

GEVO_CONVERT(float2int, int, float, f2i)
GEVO_CONVERT(float2uint, unsigned, float, f2ui)
GEVO_CONVERT(float2ll, long long, float, f2ll)
GEVO_CONVERT(float2ull, unsigned long long, float, f2ull)
GEVO_CONVERT(double2int, int, double, d2i)
GEVO_CONVERT(double2uint, unsigned, double, d2ui)
GEVO_CONVERT(double2ll, long long, double, d2ll)
GEVO_CONVERT(double2ull, unsigned long long, double, d2ull)
GEVO_CONVERT(int2float, float, int, i2f)
GEVO_CONVERT(uint2float, float, unsigned, ui2f)
GEVO_CONVERT(ll2float, float, long long, ll2f)
GEVO_CONVERT(ull2float, float, unsigned long long, ull2f)
GEVO_CONVERT(ll2double, double, long long, ll2d)
GEVO_CONVERT(ull2double, double, unsigned long long, ull2d)
GEVO_CONVERT(double2float, float, double, d2f)
#undef GEVO_CONVERT
GEVO_DEVICE double __int2double_rn(int x) { return x; }
GEVO_DEVICE double __uint2double_rn(unsigned x) { return x; }
GEVO_DEVICE unsigned __float2uint_sat(float x) { return __float2uint_rz(x); }

#define GEVO_BINARY(name, op, type, letter)                                                        \
  GEVO_DEVICE type __##name##_rn(type a, type b) { return __nvvm_##op##_rn_##letter(a, b); }       \
  GEVO_DEVICE type __##name##_rz(type a, type b) { return __nvvm_##op##_rz_##letter(a, b); }       \
  GEVO_DEVICE type __##name##_ru(type a, type b) { return __nvvm_##op##_rp_##letter(a, b); }       \
  GEVO_DEVICE type __##name##_rd(type a, type b) { return __nvvm_##op##_rm_##letter(a, b); }
#define GEVO_UNARY(name, op, type, letter)                                                         \
  GEVO_DEVICE type __##name##_rn(type a) { return __nvvm_##op##_rn_##letter(a); }                  \
  GEVO_DEVICE type __##name##_rz(type a) { return __nvvm_##op##_rz_##letter(a); }                  \
  GEVO_DEVICE type __##name##_ru(type a) { return __nvvm_##op##_rp_##letter(a); }                  \
  GEVO_DEVICE type __##name##_rd(type a) { return __nvvm_##op##_rm_##letter(a); }
#define GEVO_FMA(name, type, letter)                                                               \
  GEVO_DEVICE type name##_rn(type a, type b, type c) { return __nvvm_fma_rn_##letter(a, b, c); }   \
  GEVO_DEVICE type name##_rz(type a, type b, type c) { return __nvvm_fma_rz_##letter(a, b, c); }   \
  GEVO_DEVICE type name##_ru(type a, type b, type c) { return __nvvm_fma_rp_##letter(a, b, c); }   \
  GEVO_DEVICE type name##_rd(type a, type b, type c) { return __nvvm_fma_rm_##letter(a, b, c); }
#define GEVO_SUBTRACT(name, add, type)                                                             \
  GEVO_DEVICE type name##_rn(type a, type b) { return add##_rn(a, -b); }                           \
  GEVO_DEVICE type name##_rz(type a, type b) { return add##_rz(a, -b); }                           \
  GEVO_DEVICE type name##_ru(type a, type b) { return add##_ru(a, -b); }                           \
  GEVO_DEVICE type name##_rd(type a, type b) { return add##_rd(a, -b); }

GEVO_BINARY(fadd, add, float, f)
GEVO_BINARY(fmul, mul, float, f)
GEVO_BINARY(fdiv, div, float, f)
GEVO_BINARY(dadd, add, double, d)
GEVO_BINARY(dmul, mul, double, d)
GEVO_BINARY(ddiv, div, double, d)
GEVO_SUBTRACT(__fsub, __fadd, float)
GEVO_SUBTRACT(__dsub, __dadd, double)
GEVO_UNARY(frcp, rcp, float, f)
GEVO_UNARY(fsqrt, sqrt, float, f)
GEVO_UNARY(drcp, rcp, double, d)
GEVO_UNARY(dsqrt, sqrt, double, d)
GEVO_FMA(__fmaf, float, f)
GEVO_FMA(__fma, double, d)
#undef GEVO_BINARY
#undef GEVO_UNARY
#undef GEVO_FMA
#undef GEVO_SUBTRACT

GEVO_DEVICE float __frsqrt_rn(float x) { return __nvvm_rsqrt_approx_f(x); }
GEVO_DEVICE float __saturatef(float x) { return __nvvm_saturate_f(x); }

// The hardware's fast approximations.
GEVO_DEVICE float __fdividef(float a, float b) { return __nvvm_div_approx_f(a, b); }
GEVO_DEVICE float __sinf(float x) { return __nvvm_sin_approx_f(x); }
GEVO_DEVICE float __cosf(float x) { return __nvvm_cos_approx_f(x); }
GEVO_DEVICE float __tanf(float x) { return __fdividef(__sinf(x), __cosf(x)); }
GEVO_DEVICE void __sincosf(float x, float *s, float *c) {
  *s = __sinf(x);
  *c = __cosf(x);
}
GEVO_DEVICE float __exp2f(float x) { return __nvvm_ex2_approx_f(x); }
GEVO_DEVICE float __expf(float x) { return __nvvm_ex2_approx_f(x * 1.44269504f); }
GEVO_DEVICE float __exp10f(float x) { return __nvvm_ex2_approx_f(x * 3.32192809f); }
GEVO_DEVICE float __log2f(float x) { return __nvvm_lg2_approx_f(x); }
GEVO_DEVICE float __logf(float x) { return __nvvm_lg2_approx_f(x) * 0.693147181f; }
GEVO_DEVICE float __log10f(float x) { return __nvvm_lg2_approx_f(x) * 0.301029996f; }
GEVO_DEVICE float __powf(float x, float y) {
  return __nvvm_ex2_approx_f(y * __nvvm_lg2_approx_f(x));
}
