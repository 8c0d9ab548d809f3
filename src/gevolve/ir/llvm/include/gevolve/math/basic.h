// Rounding, parts of a number, remainders, roots and norms.
#pragma once

GEVOLVE_MATH_BEGIN

// Halves go away from zero; adding 0.5 would be wrong just below it.
template <class T> GEVOLVE_MATH T round(T x) {
  T t = trunc(x);
  T r = fabs(x - t) >= T(0.5) ? t + copysign(T(1), x) : t;
  return copysign(r, x);
}

template <class T> GEVOLVE_MATH T nearbyint(T x) { return rint(x); }
template <class T> GEVOLVE_MATH long lrint(T x) { return (long)rint(x); }
template <class T> GEVOLVE_MATH long long llrint(T x) { return (long long)rint(x); }
template <class T> GEVOLVE_MATH long lround(T x) { return (long)round(x); }
template <class T> GEVOLVE_MATH long long llround(T x) { return (long long)round(x); }

template <class T> GEVOLVE_MATH T fdim(T x, T y) {
  return isnan(x) || isnan(y) ? x + y : x > y ? x - y : T(0);
}

// The exponent of x as an integer, and x scaled into [1, 2); x is finite and not 0.
template <class T> GEVOLVE_MATH int split(T x, T *scaled) {
  typedef traits<T> t;
  int extra = 0;
  if (fabs(x) < power_of_two<T>(1 - t::bias)) {
    x *= power_of_two<T>(t::mantissa + 1);
    extra = t::mantissa + 1;
  }
  typename t::word b = bits(x);
  typename t::word one = (typename t::word)t::bias << t::mantissa;
  *scaled = from_bits((b & ~t::infinity) | one);
  return (int)((b & t::infinity) >> t::mantissa) - t::bias - extra;
}

// Three factors reach from the largest number to the smallest without double rounding.
template <class T> GEVOLVE_MATH T ldexp(T x, int n) {
  typedef traits<T> t;
  const int top = t::bias, step = t::bias - 1 - t::mantissa;
  if (n > top) {
    x *= power_of_two<T>(top);
    n -= top;
    if (n > top) {
      x *= power_of_two<T>(top);
      n = n - top > top ? top : n - top;
    }
  } else if (n < 1 - top) {
    x *= power_of_two<T>(-step);
    n += step;
    if (n < 1 - top) {
      x *= power_of_two<T>(-step);
      n = n + step < 1 - top ? 1 - top : n + step;
    }
  }
  return x * power_of_two<T>(n);
}

template <class T> GEVOLVE_MATH T scalbn(T x, int n) { return ldexp(x, n); }
template <class T> GEVOLVE_MATH T scalbln(T x, long n) {
  return ldexp(x, n > 5000 ? 5000 : n < -5000 ? -5000 : (int)n);
}

template <class T> GEVOLVE_MATH T frexp(T x, int *e) {
  *e = 0;
  if (x == 0 || !isfinite(x)) return x + x;
  T m;
  *e = split(x, &m) + 1;
  return m * T(0.5);
}

template <class T> GEVOLVE_MATH T modf(T x, T *whole) {
  *whole = trunc(x);
  return copysign(isinf(x) ? T(0) : x - *whole, x);
}

template <class T> GEVOLVE_MATH int ilogb(T x) {
  T m;
  if (x == 0) return -0x7fffffff - 1;
  if (!isfinite(x)) return isnan(x) ? -0x7fffffff - 1 : 0x7fffffff;
  return split(x, &m);
}

template <class T> GEVOLVE_MATH T logb(T x) {
  T m;
  if (x == 0) return -infinity<T>();
  if (!isfinite(x)) return x * x;
  return (T)split(x, &m);
}

template <class T> GEVOLVE_MATH T nextafter(T x, T y) {
  typedef typename traits<T>::integer integer;
  if (isnan(x) || isnan(y)) return x + y;
  if (x == y) return y;
  if (x == 0) return copysign(from_bits((typename traits<T>::word)1), y);
  integer i = (integer)bits(x);
  return from_bits((typename traits<T>::word)((x < y) == (x > 0) ? i + 1 : i - 1));
}

// x modulo y by long division, exact; `quotient` gets its last three bits. Both are positive.
template <class T> GEVOLVE_MATH T divide_long(T x, T y, u32 *quotient) {
  T mx, my;
  u32 q = 0;
  if (x >= y) {
    int ex = split(x, &mx), ey = split(y, &my);
    for (int e = ex - ey; e >= 0; --e) {
      q <<= 1;
      if (mx >= my) {
        mx -= my;
        ++q;
      }
      mx += mx;
    }
    x = mx == 0 ? T(0) : ldexp(mx, ey - 1);
  }
  *quotient = q;
  return x;
}

template <class T> GEVOLVE_MATH T fmod(T x, T y) {
  u32 q;
  if (isnan(x) || isnan(y) || isinf(x) || y == 0) return nan<T>();
  if (isinf(y)) return x;
  return copysign(divide_long(fabs(x), fabs(y), &q), x);
}

template <class T> GEVOLVE_MATH T remquo(T x, T y, int *quotient) {
  u32 q = 0;
  *quotient = 0;
  if (isnan(x) || isnan(y) || isinf(x) || y == 0) return nan<T>();
  if (isinf(y)) return x;
  T b = fabs(y), r = divide_long(fabs(x), b, &q);
  T rest = b - r;  // only compared with r: its rounding cannot change which is larger
  if (r > rest || (r == rest && q & 1)) {
    r -= b;
    ++q;
  }
  *quotient = (int)(q & 7) * (signbit(x) == signbit(y) ? 1 : -1);
  if (r == 0) return copysign(T(0), x);
  return signbit(x) ? -r : r;
}

template <class T> GEVOLVE_MATH T remainder(T x, T y) {
  int q;
  return remquo(x, y, &q);
}

// The hardware's approximation is good to 2 ulp; there is none for double.
GEVOLVE_MATH float rsqrt(float x) {
#ifdef GEVOLVE_MATH_ON_HOST
  return (float)(1.0 / __builtin_sqrt((double)x));
#else
  return __nvvm_rsqrt_approx_f(x);
#endif
}
GEVOLVE_MATH double rsqrt(double x) { return 1.0 / sqrt(x); }

// sqrt(x^2 + y^2) where no square overflows or vanishes: both are scaled by a power of two first.
template <class T> GEVOLVE_MATH T hypot(T x, T y) {
  typedef traits<T> t;
  T a = fabs(x), b = fabs(y), big = a > b ? a : b, small = a > b ? b : a;
  int up = 2 * t::bias - (int)(bits(big) >> t::mantissa);
  up = up < 1 ? 1 : up > 2 * t::bias - 1 ? 2 * t::bias - 1 : up;
  T scale = power_of_two<T>(up - t::bias), u = big * scale, v = small * scale;
  T h = sqrt(fma(v, v, u * u)) * power_of_two<T>(t::bias - up);
  return a == infinity<T>() || b == infinity<T>() ? infinity<T>() : h;
}

template <class T> GEVOLVE_MATH T rhypot(T x, T y) { return T(1) / hypot(x, y); }
template <class T> GEVOLVE_MATH T norm3d(T x, T y, T z) { return hypot(hypot(x, y), z); }
template <class T> GEVOLVE_MATH T rnorm3d(T x, T y, T z) { return T(1) / norm3d(x, y, z); }
template <class T> GEVOLVE_MATH T norm4d(T x, T y, T z, T w) { return hypot(hypot(x, y), hypot(z, w)); }

GEVOLVE_MATH_END
