// All of math.h, by its C names, its C++ overloads and from namespace std.
#include <cfloat>
#include <climits>
#include <cmath>

__global__ void float_math(float *x) {
  float a = x[0], b = x[1], c = x[2];
  int n;
  x[3] = expf(a) + exp2f(a) + exp10f(a) + expm1f(a) + logf(a) + log2f(a) + log10f(a) + log1pf(a);
  x[4] = powf(a, b) + sinf(a) + cosf(a) + tanf(a) + sinpif(a) + cospif(a);
  x[5] = asinf(a) + acosf(a) + atanf(a) + atan2f(a, b) + sinhf(a) + coshf(a) + tanhf(a);
  x[6] = asinhf(a) + acoshf(a) + atanhf(a) + erff(a) + erfcf(a) + normcdff(a);
  x[7] = cbrtf(a) + rcbrtf(a) + hypotf(a, b) + rhypotf(a, b) + rsqrtf(a) + sqrtf(a) + norm3df(a, b, c);
  x[8] = fmodf(a, b) + remainderf(a, b) + remquof(a, b, &n) + floorf(a) + ceilf(a) + truncf(a);
  x[9] = roundf(a) + rintf(a) + nearbyintf(a) + lrintf(a) + llrintf(a) + lroundf(a) + llroundf(a);
  x[10] = fmaf(a, b, c) + fdimf(a, b) + copysignf(a, b) + ldexpf(a, 3) + scalbnf(a, 2) + logbf(a);
  x[11] = frexpf(a, &n) + modff(a, x + 12) + ilogbf(a) + nextafterf(a, b) + fminf(a, b) + n;
  x[13] = fmaxf(a, b) + fabsf(a) + isnan(a) + isinf(a) + isfinite(a) + signbit(a) + INFINITY + NAN;
  sincosf(a, x + 14, x + 15);
  sincospif(a, x + 16, x + 17);
  x[18] = min(a, b) + max(a, b) + FLT_MAX + FLT_EPSILON + INT_MAX + tgammaf(a) + lgammaf(a);
}

__global__ void double_math(double *x) {
  double a = x[0], b = x[1], c = x[2];
  int n;
  x[3] = exp(a) + exp2(a) + exp10(a) + expm1(a) + log(a) + log2(a) + log10(a) + log1p(a);
  x[4] = pow(a, b) + sin(a) + cos(a) + tan(a) + sinpi(a) + cospi(a);
  x[5] = asin(a) + acos(a) + atan(a) + atan2(a, b) + sinh(a) + cosh(a) + tanh(a);
  x[6] = asinh(a) + acosh(a) + atanh(a) + erf(a) + erfc(a) + normcdf(a);
  x[7] = cbrt(a) + rcbrt(a) + hypot(a, b) + rhypot(a, b) + rsqrt(a) + sqrt(a) + norm3d(a, b, c);
  x[8] = fmod(a, b) + remainder(a, b) + remquo(a, b, &n) + floor(a) + ceil(a) + trunc(a);
  x[9] = round(a) + rint(a) + nearbyint(a) + lrint(a) + llrint(a) + lround(a) + llround(a);
  x[10] = fma(a, b, c) + fdim(a, b) + copysign(a, b) + ldexp(a, 3) + scalbn(a, 2) + logb(a);
  x[11] = frexp(a, &n) + modf(a, x + 12) + ilogb(a) + nextafter(a, b) + fmin(a, b) + n;
  x[13] = fmax(a, b) + fabs(a) + isnan(a) + isinf(a) + isfinite(a) + signbit(a) + HUGE_VAL;
  sincos(a, x + 14, x + 15);
  sincospi(a, x + 16, x + 17);
  x[18] = min(a, b) + max(a, b) + DBL_MAX + M_PI + tgamma(a) + lgamma(a);
}

__global__ void overloads(float *x, double *y, int n) {
  x[0] = exp(x[1]) + log(x[2]) + pow(x[3], x[4]) + sqrt(x[5]) + fabs(x[6]) + abs(x[7]);
  x[8] = std::exp(x[1]) + std::max(x[2], x[3]) + std::abs(x[4]) + std::sqrt(x[5]) + std::floor(x[6]);
  y[0] = sqrt(n) + pow(y[1], n) + pow(x[1], y[2]) + fmin(x[1], y[3]) + cos(n) + std::pow(y[4], 2);
  y[5] = std::fma(y[6], y[7], y[8]) + std::atan2(y[1], y[2]) + std::tanh(y[3]) + std::hypot(y[1], 2);
  y[6] = std::isnan(y[1]) + std::isfinite(x[1]) + max(x[1], y[1]) + abs(y[2]) + std::round(y[3]);
}
