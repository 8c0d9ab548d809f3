// The names that kernels use: expf(float), exp(double), exp(float), exp(int).
#pragma once

// With -ffast-math the usual functions of a float are the hardware's approximations.
#ifdef __CLANG_GPU_APPROX_TRANSCENDENTALS__
GEVO_MATH_BEGIN
namespace fast {
GEVO_MATH float exp(float x) { return ::__expf(x); }
GEVO_MATH float exp10(float x) { return ::__exp10f(x); }
GEVO_MATH float log(float x) { return ::__logf(x); }
GEVO_MATH float log2(float x) { return ::__log2f(x); }
GEVO_MATH float log10(float x) { return ::__log10f(x); }
GEVO_MATH float sin(float x) { return ::__sinf(x); }
GEVO_MATH float cos(float x) { return ::__cosf(x); }
GEVO_MATH float tan(float x) { return ::__tanf(x); }
GEVO_MATH float pow(float x, float y) { return ::__powf(x, y); }
GEVO_MATH void sincos(float x, float *s, float *c) { ::__sincosf(x, s, c); }
using namespace gevo_math;
}  // namespace fast
GEVO_MATH_END
#define GEVO_FLOAT gevo_math::fast
#else
#define GEVO_FLOAT gevo_math
#endif

// A function of an integer is that of the double.
template <class T, bool integral> struct __gevo_if_integer {};
template <class T> struct __gevo_if_integer<T, true> { typedef double type; };
#define GEVO_INTEGER(T) typename __gevo_if_integer<T, __is_integral(T)>::type

#define GEVO_NAME1(name)                                                                           \
  GEVO_DEVICE float name##f(float x) { return GEVO_FLOAT::name(x); }                                \
  GEVO_DEVICE float name(float x) { return GEVO_FLOAT::name(x); }                                   \
  GEVO_DEVICE double name(double x) { return gevo_math::name(x); }                                 \
  template <class T> GEVO_DEVICE GEVO_INTEGER(T) name(T x) { return gevo_math::name((double)x); }
#define GEVO_NAME2(name)                                                                           \
  GEVO_DEVICE float name##f(float x, float y) { return GEVO_FLOAT::name(x, y); }                    \
  GEVO_DEVICE float name(float x, float y) { return GEVO_FLOAT::name(x, y); }                       \
  GEVO_DEVICE double name(double x, double y) { return gevo_math::name(x, y); }                    \
  GEVO_DEVICE double name(double x, float y) { return gevo_math::name(x, (double)y); }             \
  GEVO_DEVICE double name(float x, double y) { return gevo_math::name((double)x, y); }             \
  template <class T> GEVO_DEVICE GEVO_INTEGER(T) name(T x, double y) {                             \
    return gevo_math::name((double)x, y);                                                          \
  }                                                                                                \
  template <class T> GEVO_DEVICE GEVO_INTEGER(T) name(double x, T y) {                             \
    return gevo_math::name(x, (double)y);                                                          \
  }                                                                                                \
  template <class T> GEVO_DEVICE GEVO_INTEGER(T) name(T x, float y) {                              \
    return gevo_math::name((double)x, (double)y);                                                  \
  }                                                                                                \
  template <class T> GEVO_DEVICE GEVO_INTEGER(T) name(float x, T y) {                              \
    return gevo_math::name((double)x, (double)y);                                                  \
  }                                                                                                \
  template <class T, class U, class = GEVO_INTEGER(U)> GEVO_DEVICE GEVO_INTEGER(T) name(T x, U y) {\
    return gevo_math::name((double)x, (double)y);                                                  \
  }
#define GEVO_NAME3(name)                                                                           \
  GEVO_DEVICE float name##f(float x, float y, float z) { return GEVO_FLOAT::name(x, y, z); }        \
  GEVO_DEVICE float name(float x, float y, float z) { return GEVO_FLOAT::name(x, y, z); }           \
  GEVO_DEVICE double name(double x, double y, double z) { return gevo_math::name(x, y, z); }
#define GEVO_NAME_OUT(name, out)                                                                   \
  GEVO_DEVICE float name##f(float x, out) { return GEVO_FLOAT::name(x, p); }                        \
  GEVO_DEVICE float name(float x, out) { return GEVO_FLOAT::name(x, p); }                           \
  GEVO_DEVICE double name(double x, out) { return gevo_math::name(x, p); }

GEVO_NAME1(fabs)
GEVO_NAME1(sqrt)
GEVO_NAME1(rsqrt)
GEVO_NAME1(cbrt)
GEVO_NAME1(rcbrt)
GEVO_NAME1(floor)
GEVO_NAME1(ceil)
GEVO_NAME1(trunc)
GEVO_NAME1(round)
GEVO_NAME1(rint)
GEVO_NAME1(nearbyint)
GEVO_NAME1(logb)
GEVO_NAME1(exp)
GEVO_NAME1(exp2)
GEVO_NAME1(exp10)
GEVO_NAME1(expm1)
GEVO_NAME1(log)
GEVO_NAME1(log2)
GEVO_NAME1(log10)
GEVO_NAME1(log1p)
GEVO_NAME1(sin)
GEVO_NAME1(cos)
GEVO_NAME1(tan)
GEVO_NAME1(sinpi)
GEVO_NAME1(cospi)
GEVO_NAME1(asin)
GEVO_NAME1(acos)
GEVO_NAME1(atan)
GEVO_NAME1(sinh)
GEVO_NAME1(cosh)
GEVO_NAME1(tanh)
GEVO_NAME1(asinh)
GEVO_NAME1(acosh)
GEVO_NAME1(atanh)
GEVO_NAME1(erf)
GEVO_NAME1(erfc)
GEVO_NAME1(normcdf)
GEVO_NAME1(tgamma)
GEVO_NAME1(lgamma)
GEVO_NAME2(fmin)
GEVO_NAME2(fmax)
GEVO_NAME2(fdim)
GEVO_NAME2(fmod)
GEVO_NAME2(remainder)
GEVO_NAME2(copysign)
GEVO_NAME2(nextafter)
GEVO_NAME2(hypot)
GEVO_NAME2(rhypot)
GEVO_NAME2(pow)
GEVO_NAME2(atan2)
GEVO_NAME3(fma)
GEVO_NAME3(norm3d)
GEVO_NAME3(rnorm3d)

#define GEVO_OTHER(result32, result64, name, parameters, arguments)                                \
  GEVO_DEVICE result32 name##f(float x parameters(float)) { return GEVO_FLOAT::name arguments; }    \
  GEVO_DEVICE result32 name(float x parameters(float)) { return GEVO_FLOAT::name arguments; }       \
  GEVO_DEVICE result64 name(double x parameters(double)) { return gevo_math::name arguments; }
#define GEVO_NONE(T)
#define GEVO_INT(T) , int n
#define GEVO_INT_OUT(T) , int *n
#define GEVO_LONG(T) , long n
#define GEVO_OUT(T) , T *y
#define GEVO_OUT2(T) , T *y, T *z
#define GEVO_QUOTIENT(T) , T y, int *n
GEVO_OTHER(float, double, frexp, GEVO_INT_OUT, (x, n))
GEVO_OTHER(float, double, ldexp, GEVO_INT, (x, n))
GEVO_OTHER(float, double, scalbn, GEVO_INT, (x, n))
GEVO_OTHER(float, double, scalbln, GEVO_LONG, (x, n))
GEVO_OTHER(float, double, modf, GEVO_OUT, (x, y))
GEVO_OTHER(float, double, remquo, GEVO_QUOTIENT, (x, y, n))
GEVO_OTHER(void, void, sincos, GEVO_OUT2, (x, y, z))
GEVO_OTHER(void, void, sincospi, GEVO_OUT2, (x, y, z))
GEVO_OTHER(int, int, ilogb, GEVO_NONE, (x))
GEVO_OTHER(long, long, lrint, GEVO_NONE, (x))
GEVO_OTHER(long long, long long, llrint, GEVO_NONE, (x))
GEVO_OTHER(long, long, lround, GEVO_NONE, (x))
GEVO_OTHER(long long, long long, llround, GEVO_NONE, (x))

#define GEVO_TEST(name)                                                                            \
  GEVO_DEVICE bool name(float x) { return gevo_math::name(x); }                                    \
  GEVO_DEVICE bool name(double x) { return gevo_math::name(x); }                                   \
  GEVO_DEVICE int __##name##f(float x) { return gevo_math::name(x); }                              \
  GEVO_DEVICE int __##name##d(double x) { return gevo_math::name(x); }
GEVO_TEST(isnan)
GEVO_TEST(isinf)
GEVO_TEST(isfinite)
GEVO_TEST(signbit)

GEVO_DEVICE float abs(float x) { return gevo_math::fabs(x); }
GEVO_DEVICE double abs(double x) { return gevo_math::fabs(x); }
GEVO_DEVICE float norm4df(float x, float y, float z, float w) { return gevo_math::norm4d(x, y, z, w); }
GEVO_DEVICE double norm4d(double x, double y, double z, double w) {
  return gevo_math::norm4d(x, y, z, w);
}
GEVO_DEVICE float fdividef(float x, float y) { return x / y; }
GEVO_DEVICE float nanf(const char *) { return gevo_math::nan<float>(); }
GEVO_DEVICE double nan(const char *) { return gevo_math::nan<double>(); }

GEVO_DEVICE float min(float x, float y) { return gevo_math::fmin(x, y); }
GEVO_DEVICE double min(double x, double y) { return gevo_math::fmin(x, y); }
GEVO_DEVICE double min(float x, double y) { return gevo_math::fmin((double)x, y); }
GEVO_DEVICE double min(double x, float y) { return gevo_math::fmin(x, (double)y); }
GEVO_DEVICE float max(float x, float y) { return gevo_math::fmax(x, y); }
GEVO_DEVICE double max(double x, double y) { return gevo_math::fmax(x, y); }
GEVO_DEVICE double max(float x, double y) { return gevo_math::fmax((double)x, y); }
GEVO_DEVICE double max(double x, float y) { return gevo_math::fmax(x, (double)y); }

#undef GEVO_FLOAT
#undef GEVO_INT
#undef GEVO_INTEGER
#undef GEVO_INT_OUT
#undef GEVO_LONG
#undef GEVO_NAME1
#undef GEVO_NAME2
#undef GEVO_NAME3
#undef GEVO_NONE
#undef GEVO_OTHER
#undef GEVO_OUT
#undef GEVO_OUT2
#undef GEVO_QUOTIENT
#undef GEVO_TEST
