// The names that kernels use: expf(float), exp(double), exp(float), exp(int).
#pragma once

// With -ffast-math the usual functions of a float are the hardware's approximations.
#ifdef __CLANG_GPU_APPROX_TRANSCENDENTALS__
GEVOLVE_MATH_BEGIN
namespace fast {
GEVOLVE_MATH float exp(float x) { return ::__expf(x); }
GEVOLVE_MATH float exp10(float x) { return ::__exp10f(x); }
GEVOLVE_MATH float log(float x) { return ::__logf(x); }
GEVOLVE_MATH float log2(float x) { return ::__log2f(x); }
GEVOLVE_MATH float log10(float x) { return ::__log10f(x); }
GEVOLVE_MATH float sin(float x) { return ::__sinf(x); }
GEVOLVE_MATH float cos(float x) { return ::__cosf(x); }
GEVOLVE_MATH float tan(float x) { return ::__tanf(x); }
GEVOLVE_MATH float pow(float x, float y) { return ::__powf(x, y); }
GEVOLVE_MATH void sincos(float x, float *s, float *c) { ::__sincosf(x, s, c); }
using namespace gevolve_math;
}  // namespace fast
GEVOLVE_MATH_END
#define GEVOLVE_FLOAT gevolve_math::fast
#else
#define GEVOLVE_FLOAT gevolve_math
#endif

// A function of an integer is that of the double.
template <class T, bool integral> struct __gevolve_if_integer {};
template <class T> struct __gevolve_if_integer<T, true> { typedef double type; };
#define GEVOLVE_INTEGER(T) typename __gevolve_if_integer<T, __is_integral(T)>::type

#define GEVOLVE_NAME1(name)                                                                           \
  GEVOLVE_DEVICE float name##f(float x) { return GEVOLVE_FLOAT::name(x); }                                \
  GEVOLVE_DEVICE float name(float x) { return GEVOLVE_FLOAT::name(x); }                                   \
  GEVOLVE_DEVICE double name(double x) { return gevolve_math::name(x); }                                 \
  template <class T> GEVOLVE_DEVICE GEVOLVE_INTEGER(T) name(T x) { return gevolve_math::name((double)x); }
#define GEVOLVE_NAME2(name)                                                                           \
  GEVOLVE_DEVICE float name##f(float x, float y) { return GEVOLVE_FLOAT::name(x, y); }                    \
  GEVOLVE_DEVICE float name(float x, float y) { return GEVOLVE_FLOAT::name(x, y); }                       \
  GEVOLVE_DEVICE double name(double x, double y) { return gevolve_math::name(x, y); }                    \
  GEVOLVE_DEVICE double name(double x, float y) { return gevolve_math::name(x, (double)y); }             \
  GEVOLVE_DEVICE double name(float x, double y) { return gevolve_math::name((double)x, y); }             \
  template <class T> GEVOLVE_DEVICE GEVOLVE_INTEGER(T) name(T x, double y) {                             \
    return gevolve_math::name((double)x, y);                                                          \
  }                                                                                                \
  template <class T> GEVOLVE_DEVICE GEVOLVE_INTEGER(T) name(double x, T y) {                             \
    return gevolve_math::name(x, (double)y);                                                          \
  }                                                                                                \
  template <class T> GEVOLVE_DEVICE GEVOLVE_INTEGER(T) name(T x, float y) {                              \
    return gevolve_math::name((double)x, (double)y);                                                  \
  }                                                                                                \
  template <class T> GEVOLVE_DEVICE GEVOLVE_INTEGER(T) name(float x, T y) {                              \
    return gevolve_math::name((double)x, (double)y);                                                  \
  }                                                                                                \
  template <class T, class U, class = GEVOLVE_INTEGER(U)> GEVOLVE_DEVICE GEVOLVE_INTEGER(T) name(T x, U y) {\
    return gevolve_math::name((double)x, (double)y);                                                  \
  }
#define GEVOLVE_NAME3(name)                                                                           \
  GEVOLVE_DEVICE float name##f(float x, float y, float z) { return GEVOLVE_FLOAT::name(x, y, z); }        \
  GEVOLVE_DEVICE float name(float x, float y, float z) { return GEVOLVE_FLOAT::name(x, y, z); }           \
  GEVOLVE_DEVICE double name(double x, double y, double z) { return gevolve_math::name(x, y, z); }
#define GEVOLVE_NAME_OUT(name, out)                                                                   \
  GEVOLVE_DEVICE float name##f(float x, out) { return GEVOLVE_FLOAT::name(x, p); }                        \
  GEVOLVE_DEVICE float name(float x, out) { return GEVOLVE_FLOAT::name(x, p); }                           \
  GEVOLVE_DEVICE double name(double x, out) { return gevolve_math::name(x, p); }

GEVOLVE_NAME1(fabs)
GEVOLVE_NAME1(sqrt)
GEVOLVE_NAME1(rsqrt)
GEVOLVE_NAME1(cbrt)
GEVOLVE_NAME1(rcbrt)
GEVOLVE_NAME1(floor)
GEVOLVE_NAME1(ceil)
GEVOLVE_NAME1(trunc)
GEVOLVE_NAME1(round)
GEVOLVE_NAME1(rint)
GEVOLVE_NAME1(nearbyint)
GEVOLVE_NAME1(logb)
GEVOLVE_NAME1(exp)
GEVOLVE_NAME1(exp2)
GEVOLVE_NAME1(exp10)
GEVOLVE_NAME1(expm1)
GEVOLVE_NAME1(log)
GEVOLVE_NAME1(log2)
GEVOLVE_NAME1(log10)
GEVOLVE_NAME1(log1p)
GEVOLVE_NAME1(sin)
GEVOLVE_NAME1(cos)
GEVOLVE_NAME1(tan)
GEVOLVE_NAME1(sinpi)
GEVOLVE_NAME1(cospi)
GEVOLVE_NAME1(asin)
GEVOLVE_NAME1(acos)
GEVOLVE_NAME1(atan)
GEVOLVE_NAME1(sinh)
GEVOLVE_NAME1(cosh)
GEVOLVE_NAME1(tanh)
GEVOLVE_NAME1(asinh)
GEVOLVE_NAME1(acosh)
GEVOLVE_NAME1(atanh)
GEVOLVE_NAME1(erf)
GEVOLVE_NAME1(erfc)
GEVOLVE_NAME1(normcdf)
GEVOLVE_NAME1(tgamma)
GEVOLVE_NAME1(lgamma)
GEVOLVE_NAME2(fmin)
GEVOLVE_NAME2(fmax)
GEVOLVE_NAME2(fdim)
GEVOLVE_NAME2(fmod)
GEVOLVE_NAME2(remainder)
GEVOLVE_NAME2(copysign)
GEVOLVE_NAME2(nextafter)
GEVOLVE_NAME2(hypot)
GEVOLVE_NAME2(rhypot)
GEVOLVE_NAME2(pow)
GEVOLVE_NAME2(atan2)
GEVOLVE_NAME3(fma)
GEVOLVE_NAME3(norm3d)
GEVOLVE_NAME3(rnorm3d)

#define GEVOLVE_OTHER(result32, result64, name, parameters, arguments)                                \
  GEVOLVE_DEVICE result32 name##f(float x parameters(float)) { return GEVOLVE_FLOAT::name arguments; }    \
  GEVOLVE_DEVICE result32 name(float x parameters(float)) { return GEVOLVE_FLOAT::name arguments; }       \
  GEVOLVE_DEVICE result64 name(double x parameters(double)) { return gevolve_math::name arguments; }
#define GEVOLVE_NONE(T)
#define GEVOLVE_INT(T) , int n
#define GEVOLVE_INT_OUT(T) , int *n
#define GEVOLVE_LONG(T) , long n
#define GEVOLVE_OUT(T) , T *y
#define GEVOLVE_OUT2(T) , T *y, T *z
#define GEVOLVE_QUOTIENT(T) , T y, int *n
GEVOLVE_OTHER(float, double, frexp, GEVOLVE_INT_OUT, (x, n))
GEVOLVE_OTHER(float, double, ldexp, GEVOLVE_INT, (x, n))
GEVOLVE_OTHER(float, double, scalbn, GEVOLVE_INT, (x, n))
GEVOLVE_OTHER(float, double, scalbln, GEVOLVE_LONG, (x, n))
GEVOLVE_OTHER(float, double, modf, GEVOLVE_OUT, (x, y))
GEVOLVE_OTHER(float, double, remquo, GEVOLVE_QUOTIENT, (x, y, n))
GEVOLVE_OTHER(void, void, sincos, GEVOLVE_OUT2, (x, y, z))
GEVOLVE_OTHER(void, void, sincospi, GEVOLVE_OUT2, (x, y, z))
GEVOLVE_OTHER(int, int, ilogb, GEVOLVE_NONE, (x))
GEVOLVE_OTHER(long, long, lrint, GEVOLVE_NONE, (x))
GEVOLVE_OTHER(long long, long long, llrint, GEVOLVE_NONE, (x))
GEVOLVE_OTHER(long, long, lround, GEVOLVE_NONE, (x))
GEVOLVE_OTHER(long long, long long, llround, GEVOLVE_NONE, (x))

#define GEVOLVE_TEST(name)                                                                            \
  GEVOLVE_DEVICE bool name(float x) { return gevolve_math::name(x); }                                    \
  GEVOLVE_DEVICE bool name(double x) { return gevolve_math::name(x); }                                   \
  GEVOLVE_DEVICE int __##name##f(float x) { return gevolve_math::name(x); }                              \
  GEVOLVE_DEVICE int __##name##d(double x) { return gevolve_math::name(x); }
GEVOLVE_TEST(isnan)
GEVOLVE_TEST(isinf)
GEVOLVE_TEST(isfinite)
GEVOLVE_TEST(signbit)

GEVOLVE_DEVICE float abs(float x) { return gevolve_math::fabs(x); }
GEVOLVE_DEVICE double abs(double x) { return gevolve_math::fabs(x); }
GEVOLVE_DEVICE float norm4df(float x, float y, float z, float w) { return gevolve_math::norm4d(x, y, z, w); }
GEVOLVE_DEVICE double norm4d(double x, double y, double z, double w) {
  return gevolve_math::norm4d(x, y, z, w);
}
GEVOLVE_DEVICE float fdividef(float x, float y) { return x / y; }
GEVOLVE_DEVICE float nanf(const char *) { return gevolve_math::nan<float>(); }
GEVOLVE_DEVICE double nan(const char *) { return gevolve_math::nan<double>(); }

GEVOLVE_DEVICE float min(float x, float y) { return gevolve_math::fmin(x, y); }
GEVOLVE_DEVICE double min(double x, double y) { return gevolve_math::fmin(x, y); }
GEVOLVE_DEVICE double min(float x, double y) { return gevolve_math::fmin((double)x, y); }
GEVOLVE_DEVICE double min(double x, float y) { return gevolve_math::fmin(x, (double)y); }
GEVOLVE_DEVICE float max(float x, float y) { return gevolve_math::fmax(x, y); }
GEVOLVE_DEVICE double max(double x, double y) { return gevolve_math::fmax(x, y); }
GEVOLVE_DEVICE double max(float x, double y) { return gevolve_math::fmax((double)x, y); }
GEVOLVE_DEVICE double max(double x, float y) { return gevolve_math::fmax(x, (double)y); }

#undef GEVOLVE_FLOAT
#undef GEVOLVE_INT
#undef GEVOLVE_INTEGER
#undef GEVOLVE_INT_OUT
#undef GEVOLVE_LONG
#undef GEVOLVE_NAME1
#undef GEVOLVE_NAME2
#undef GEVOLVE_NAME3
#undef GEVOLVE_NONE
#undef GEVOLVE_OTHER
#undef GEVOLVE_OUT
#undef GEVOLVE_OUT2
#undef GEVOLVE_QUOTIENT
#undef GEVOLVE_TEST
