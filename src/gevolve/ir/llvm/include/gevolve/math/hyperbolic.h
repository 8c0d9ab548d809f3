// Hyperbolic functions and their inverses.
#pragma once

GEVOLVE_MATH_BEGIN

template <class T> GEVOLVE_MATH T sinh(T x) {
  T a = fabs(x), y;
  if (a < 1) {
    T e = expm1(a);
    y = T(0.5) * (e + e / (e + T(1)));
  } else {
    T e = half_exp(a);
    y = fma(T(-0.25), near_reciprocal(e), e);
  }
  return copysign(y, x);
}
template <class T> GEVOLVE_MATH T cosh(T x) {
  T e = half_exp(fabs(x));
  return fma(T(0.25), near_reciprocal(e), e);
}

GEVOLVE_MATH float tanh(float x) {
  float a = fabs(x), z = x * x, y;
  if (a < 0.55f)
    y = fma(a * z, polynomial(z, -0.333333164f, 0.133325011f, -0.0538424216f, 0.0210276861f,
                              -0.00620796066f), a);
  else
    y = 1.0f - 2.0f * reciprocal(exp(a > 20.0f ? 40.0f : a + a) + 1.0f);
  return copysign(y, x);
}
GEVOLVE_MATH double tanh(double x) {
  double a = fabs(x), y;
  if (a < 0.55) {
    double e = expm1(a + a);
    y = e / (e + 2.0);
  } else {
    y = 1.0 - 2.0 / (exp(a + a) + 1.0);
  }
  return copysign(y, x);
}

// Where the square would overflow, asinh(x) and acosh(x) are log(2 x).
template <class T> GEVOLVE_MATH T asinh(T x) {
  T a = fabs(x), y;
  if (a > power_of_two<T>(traits<T>::mantissa / 2 + 2))
    y = log(a) + constants<T>::ln2;
  else
    y = log1p(a + a * a / (T(1) + sqrt(fma(a, a, T(1)))));
  return copysign(y, x);
}
template <class T> GEVOLVE_MATH T acosh(T x) {
  if (x > power_of_two<T>(traits<T>::mantissa / 2 + 2)) return log(x) + constants<T>::ln2;
  T t = x - 1;
  return log1p(t + sqrt(fma(t, t, t + t)));
}
template <class T> GEVOLVE_MATH T atanh(T x) {
  T a = fabs(x);
  return copysign(T(0.5) * log1p((a + a) / (T(1) - a)), x);
}

GEVOLVE_MATH_END
