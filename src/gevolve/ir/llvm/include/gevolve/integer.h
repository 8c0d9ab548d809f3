// Bits, wide products and the other integer functions.
#pragma once

GEVOLVE_DEVICE int __popc(unsigned x) { return __builtin_popcount(x); }
GEVOLVE_DEVICE int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
GEVOLVE_DEVICE int __clz(int x) { return x ? __builtin_clz(x) : 32; }
GEVOLVE_DEVICE int __clzll(long long x) { return x ? __builtin_clzll(x) : 64; }
GEVOLVE_DEVICE int __ffs(int x) { return __builtin_ffs(x); }
GEVOLVE_DEVICE int __ffsll(long long x) { return __builtin_ffsll(x); }
GEVOLVE_DEVICE unsigned __brev(unsigned x) { return __builtin_bitreverse32(x); }
GEVOLVE_DEVICE unsigned long long __brevll(unsigned long long x) { return __builtin_bitreverse64(x); }
GEVOLVE_DEVICE unsigned __byte_perm(unsigned a, unsigned b, unsigned s) {
  return __nvvm_prmt(a, b, s & 0x7777);
}

// The n-th set bit from `base` upwards (or downwards, for a negative n); all ones if there is none.
GEVOLVE_DEVICE unsigned __fns(unsigned mask, unsigned base, int n) {
  int step = n < 0 ? -1 : 1;
  int left = n < 0 ? -n : n == 0 ? 1 : n;
  if (n == 0) return mask >> (base & 31) & 1 ? base & 31 : ~0u;
  for (int bit = (int)base; bit >= 0 && bit < 32; bit += step)
    if (mask >> bit & 1 && --left == 0) return (unsigned)bit;
  return ~0u;
}

GEVOLVE_DEVICE unsigned __funnelshift_l(unsigned lo, unsigned hi, unsigned n) {
  return __builtin_elementwise_fshl(hi, lo, n);
}
GEVOLVE_DEVICE unsigned __funnelshift_r(unsigned lo, unsigned hi, unsigned n) {
  return __builtin_elementwise_fshr(hi, lo, n);
}
GEVOLVE_DEVICE unsigned __funnelshift_lc(unsigned lo, unsigned hi, unsigned n) {
  return n >= 32 ? lo : __builtin_elementwise_fshl(hi, lo, n);
}
GEVOLVE_DEVICE unsigned __funnelshift_rc(unsigned lo, unsigned hi, unsigned n) {
  return n >= 32 ? hi : __builtin_elementwise_fshr(hi, lo, n);
}

GEVOLVE_DEVICE int __mul24(int a, int b) { return (a << 8 >> 8) * (b << 8 >> 8); }
GEVOLVE_DEVICE unsigned __umul24(unsigned a, unsigned b) { return (a & 0xffffff) * (b & 0xffffff); }
GEVOLVE_DEVICE int mul24(int a, int b) { return __mul24(a, b); }
GEVOLVE_DEVICE unsigned umul24(unsigned a, unsigned b) { return __umul24(a, b); }
GEVOLVE_DEVICE int __mulhi(int a, int b) { return (int)((long long)a * b >> 32); }
GEVOLVE_DEVICE unsigned __umulhi(unsigned a, unsigned b) {
  return (unsigned)((unsigned long long)a * b >> 32);
}
GEVOLVE_DEVICE int mulhi(int a, int b) { return __mulhi(a, b); }
GEVOLVE_DEVICE unsigned umulhi(unsigned a, unsigned b) { return __umulhi(a, b); }
GEVOLVE_DEVICE long long __mul64hi(long long a, long long b) { return __nvvm_mulhi_ll(a, b); }
GEVOLVE_DEVICE unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
  return __nvvm_mulhi_ull(a, b);
}
GEVOLVE_DEVICE long long mul64hi(long long a, long long b) { return __mul64hi(a, b); }
GEVOLVE_DEVICE unsigned long long umul64hi(unsigned long long a, unsigned long long b) {
  return __umul64hi(a, b);
}
GEVOLVE_DEVICE int __hadd(int a, int b) { return (int)(((long long)a + b) >> 1); }
GEVOLVE_DEVICE unsigned __uhadd(unsigned a, unsigned b) { return (a & b) + ((a ^ b) >> 1); }
GEVOLVE_DEVICE int __rhadd(int a, int b) { return (int)(((long long)a + b + 1) >> 1); }
GEVOLVE_DEVICE unsigned __urhadd(unsigned a, unsigned b) { return (a | b) - ((a ^ b) >> 1); }
GEVOLVE_DEVICE unsigned __sad(int a, int b, unsigned c) {
  return c + (a < b ? (unsigned)b - (unsigned)a : (unsigned)a - (unsigned)b);
}
GEVOLVE_DEVICE unsigned __usad(unsigned a, unsigned b, unsigned c) {
  return c + (a < b ? b - a : a - b);
}

GEVOLVE_DEVICE int __dp4a(int a, int b, int c) {
  for (int i = 0; i < 32; i += 8) c += (signed char)(a >> i) * (signed char)(b >> i);
  return c;
}
GEVOLVE_DEVICE unsigned __dp4a(unsigned a, unsigned b, unsigned c) {
  for (int i = 0; i < 32; i += 8) c += (a >> i & 255) * (b >> i & 255);
  return c;
}
GEVOLVE_DEVICE int __dp2a_lo(int a, int b, int c) {
  return c + (short)a * (signed char)b + (short)(a >> 16) * (signed char)(b >> 8);
}
GEVOLVE_DEVICE int __dp2a_hi(int a, int b, int c) { return __dp2a_lo(a, b >> 16, c); }

// The smaller and the larger, for every pair of integers that CUDA accepts.
#define GEVOLVE_MINMAX(type)                                                                          \
  GEVOLVE_BOTH constexpr type min(type a, type b) { return b < a ? b : a; }                           \
  GEVOLVE_BOTH constexpr type max(type a, type b) { return a < b ? b : a; }
#define GEVOLVE_MINMAX_MIXED(result, other)                                                           \
  GEVOLVE_BOTH constexpr result min(result a, other b) { return min(a, (result)b); }                  \
  GEVOLVE_BOTH constexpr result min(other a, result b) { return min((result)a, b); }                  \
  GEVOLVE_BOTH constexpr result max(result a, other b) { return max(a, (result)b); }                  \
  GEVOLVE_BOTH constexpr result max(other a, result b) { return max((result)a, b); }

GEVOLVE_MINMAX(int)
GEVOLVE_MINMAX(unsigned int)
GEVOLVE_MINMAX(long)
GEVOLVE_MINMAX(unsigned long)
GEVOLVE_MINMAX(long long)
GEVOLVE_MINMAX(unsigned long long)
GEVOLVE_MINMAX_MIXED(unsigned int, int)
GEVOLVE_MINMAX_MIXED(unsigned long, long)
GEVOLVE_MINMAX_MIXED(unsigned long long, long long)
#undef GEVOLVE_MINMAX
#undef GEVOLVE_MINMAX_MIXED

GEVOLVE_DEVICE unsigned umin(unsigned a, unsigned b) { return min(a, b); }
GEVOLVE_DEVICE unsigned umax(unsigned a, unsigned b) { return max(a, b); }
GEVOLVE_DEVICE long long llmin(long long a, long long b) { return min(a, b); }
GEVOLVE_DEVICE long long llmax(long long a, long long b) { return max(a, b); }
GEVOLVE_DEVICE unsigned long long ullmin(unsigned long long a, unsigned long long b) {
  return min(a, b);
}
GEVOLVE_DEVICE unsigned long long ullmax(unsigned long long a, unsigned long long b) {
  return max(a, b);
}
GEVOLVE_DEVICE int abs(int x) { return __builtin_abs(x); }
GEVOLVE_DEVICE long abs(long x) { return __builtin_labs(x); }
GEVOLVE_DEVICE long long abs(long long x) { return __builtin_llabs(x); }
GEVOLVE_DEVICE long labs(long x) { return __builtin_labs(x); }
GEVOLVE_DEVICE long long llabs(long long x) { return __builtin_llabs(x); }
