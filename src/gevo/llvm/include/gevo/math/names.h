// The names that kernels use: expf(float), exp(double), exp(float), exp(int).
#pragma once

// A function of an integer is that of the double.
template <class T, bool integral> struct __gevo_if_integer {};
template <class T> struct __gevo_if_integer<T, true> { typedef double type; };
#define GEVO_INTEGER(T) typename __gevo_if_integer<T, __is_integral(T)>::type

#define GEVO_NAME1(name)                                                                           \
  GEVO_DEVICE float name##f(float x) { return gevo_math::name(x); }                                \
  GEVO_DEVICE float name(float x) { return gevo_math::name(x); }                                   \
  GEVO_DEVICE double name(double x) { return gevo_math::name(x); }                                 \
  template <class T> GEVO_DEVICE GEVO_INTEGER(T) name(T x) { return gevo_math::name((double)x); }
#define GEVO_NAME2(name)                                                                           \
  GEVO_DEVICE float name##f(float x, float y) { return gevo_math::name(x, y); }                    \
  GEVO_DEVICE float name(float x, float y) { return gevo_math::name(x, y); }                       \
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
  GEVO_DEVICE float name##f(float x, float y, float z) { return gevo_math::name(x, y, z); }        \
  GEVO_DEVICE float name(float x, float y, float z) { return gevo_math::name(x, y, z); }           \
  GEVO_DEVICE double name(double x, double y, double z) { return gevo_math::name(x, y, z); }
#define GEVO_NAME_OUT(name, out)                                                                   \
  GEVO_DEVICE float name##f(float x, out) { return gevo_math::name(x, p); }                        \
  GEVO_DEVICE float name(float x, out) { return gevo_math::name(x, p); }                           \
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
GEVO_NAME1(logb)
GEVO_NAME2(fmin)
GEVO_NAME2(fmax)
GEVO_NAME2(fdim)
GEVO_NAME2(fmod)
GEVO_NAME2(remainder)
GEVO_NAME2(copysign)
GEVO_NAME2(nextafter)
GEVO_NAME2(hypot)
GEVO_NAME3(fma)
GEVO_NAME3(norm3d)
GEVO_NAME_OUT(frexp, int *p)
GEVO_NAME_OUT(ldexp, int p)


GEVO_DEVICE float nearbyintf(float x) { return gevo_math::rint(x); }
GEVO_DEVICE float nearbyint(float x) { return gevo_math::rint(x); }
GEVO_DEVICE double nearbyint(double x) { return gevo_math::rint(x); }
