// Arcus functions.
#pragma once

GEVOLVE_MATH_BEGIN

GEVOLVE_MATH pair<float> half_pi(float) { return {1.57079637f, -4.37113883e-08f}; }
GEVOLVE_MATH pair<double> half_pi(double) { return {1.5707963267948966, 6.123233995736766e-17}; }

// atan(t) for 0 ≤ t ≤ 1; minimax.
GEVOLVE_MATH float atan_core(float t) {
  float z = t * t;
  float p = polynomial(z, -0.333333015f, 0.199986413f, -0.142652705f, 0.109576933f, -0.0841977894f,
                       0.0582397282f, -0.0314606205f, 0.0110669779f, -0.00182776072f);
  return fma(t * z, p, t);
}
GEVOLVE_MATH double atan_core(double t) {
  double z = t * t;
  double p = polynomial(
      z, -0.3333333333333329, 0.19999999999991339, -0.1428571428509172, 0.11111111088199507,
      -0.09090908580973595, 0.07692300142277089, -0.0666658759067154, 0.05881741606739571,
      -0.05259559947558653, 0.047454064686878586, -0.042878147838747264, 0.038243194452732165,
      -0.03284616185208287, 0.026239301437513074, -0.01871314661663281, 0.011404013876053738,
      -0.005669456790032031, 0.0021791745561427957, -0.0006020903818257111, 0.00010576126132707786,
      -8.834389665543963e-06);
  return fma(t * z, p, t);
}

template <class T> GEVOLVE_MATH T atan(T x) {
  T a = fabs(x);
  bool large = a > 1;
  const T most = power_of_two<T>(99);
  T p = atan_core(large ? reciprocal(a > most ? most : a) : a);
  if (large) p = (half_pi(x).hi - p) + half_pi(x).lo;
  return copysign(p, x);
}

template <class T> GEVOLVE_MATH T atan2(T y, T x) {
  if (isnan(x) || isnan(y)) return nan<T>();
  T a = fabs(x), b = fabs(y), big = fmax(a, b), small = fmin(a, b);
  T t = small == big ? (big == 0 ? T(0) : T(1)) : small / big;
  T p = atan_core(t);
  if (b > a) p = (half_pi(x).hi - p) + half_pi(x).lo;
  if (signbit(x)) p = (T(2) * half_pi(x).hi - p) + T(2) * half_pi(x).lo;
  return copysign(p, y);
}

// (asin(s) - s) / s^3 for z = s² ≤ 1/4; minimax.
GEVOLVE_MATH float asin_tail(float z) {
  return polynomial(z, 0.166666597f, 0.0750050917f, 0.0445160642f, 0.0318151228f, 0.014410913f,
                    0.0375547856f);
}
GEVOLVE_MATH double asin_tail(double z) {
  return polynomial(z, 0.1666666666666676, 0.07499999999970781, 0.04464285717471493,
                    0.030381942700328905, 0.022372215244398735, 0.017351606823385022,
                    0.013980887674317457, 0.011398334064197742, 0.010783611446445839,
                    0.0036933959100359254, 0.02173968798476399, -0.021045280709001753,
                    0.03265778921918771);
}

// Near ±1, asin(x) = π/2 - 2 asin(sqrt((1 - x) / 2)).
template <class T> GEVOLVE_MATH T asin(T x) {
  T a = fabs(x);
  bool large = a > T(0.5);
  T z = large ? fma(a, T(-0.5), T(0.5)) : a * a;
  T s = large ? sqrt(z) : a;
  T p = fma(s * z, asin_tail(z), s);
  if (large) p = fma(T(-2), p, half_pi(x).hi) + half_pi(x).lo;
  return copysign(p, x);
}
template <class T> GEVOLVE_MATH T acos(T x) {
  T a = fabs(x);
  bool large = a > T(0.5);
  T z = large ? fma(a, T(-0.5), T(0.5)) : a * a;
  T s = large ? sqrt(z) : x;
  T tail = s * z * asin_tail(z);
  if (!large) return half_pi(x).hi - (s - (half_pi(x).lo - tail));
  T p = T(2) * (s + tail);
  return x > 0 ? p : (T(2) * half_pi(x).hi - p) + T(2) * half_pi(x).lo;
}

GEVOLVE_MATH_END
