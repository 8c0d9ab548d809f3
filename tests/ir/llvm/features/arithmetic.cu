// Integer functions, bit casts, conversions and arithmetic with a rounding mode.
__global__ void integers(int *a, unsigned *b, long long *c, unsigned long long *d) {
  a[0] = __popc(b[0]) + __popcll(d[0]) + __clz(a[1]) + __clzll(c[0]) + __ffs(a[2]) + __ffsll(c[1]);
  b[1] = __brev(b[2]) + __byte_perm(b[3], b[4], b[5]) + __funnelshift_l(b[0], b[1], b[2]) +
         __funnelshift_r(b[0], b[1], b[2]) + __funnelshift_lc(b[0], b[1], b[2]) +
         __funnelshift_rc(b[0], b[1], b[2]) + __umul24(b[0], b[1]) + __umulhi(b[0], b[1]) +
         __sad(a[0], a[1], b[0]) + __usad(b[0], b[1], b[2]) + __uhadd(b[0], b[1]) +
         __dp4a(b[0], b[1], b[2]);
  a[3] = __mul24(a[0], a[1]) + __mulhi(a[0], a[1]) + __hadd(a[0], a[1]) + __rhadd(a[0], a[1]) +
         __dp4a(a[0], a[1], a[2]) + abs(a[0]);
  c[2] = __mul64hi(c[0], c[1]) + llabs(c[3]) + min(c[0], c[1]) + max(c[0], 1ll) + labs(4L);
  d[2] = __umul64hi(d[0], d[1]) + __brevll(d[3]) + min(d[0], d[1]) + max(d[0], 1ull);
  a[4] = min(a[0], a[1]) + max(a[0], 3);
  b[6] = min(b[0], b[1]) + max(b[0], 3u) + min(a[0], b[0]) + max(b[0], a[0]) + umin(b[0], b[1]);
}

__global__ void conversions(int *a, unsigned *b, long long *c, unsigned long long *d, float *e,
                            double *f) {
  a[0] = __float_as_int(e[0]) + __double2hiint(f[0]) + __double2loint(f[0]);
  b[0] = __float_as_uint(e[0]);
  c[0] = __double_as_longlong(f[0]);
  e[1] = __int_as_float(a[1]) + __uint_as_float(b[1]);
  f[1] = __longlong_as_double(c[1]) + __hiloint2double(a[0], a[1]);
  a[2] = __float2int_rn(e[0]) + __float2int_rz(e[0]) + __float2int_ru(e[0]) + __float2int_rd(e[0]) +
         __double2int_rn(f[0]) + __double2int_rz(f[0]);
  b[2] = __float2uint_rn(e[0]) + __double2uint_rz(f[0]);
  c[2] = __float2ll_rn(e[0]) + __double2ll_rd(f[0]);
  d[2] = __float2ull_rz(e[0]) + __double2ull_ru(f[0]);
  e[2] = __int2float_rn(a[0]) + __int2float_rz(a[0]) + __uint2float_ru(b[0]) + __ll2float_rd(c[0]) +
         __ull2float_rn(d[0]) + __double2float_rn(f[0]) + __double2float_rz(f[0]);
  f[2] = __int2double_rn(a[0]) + __uint2double_rn(b[0]) + __ll2double_rz(c[0]) +
         __ull2double_rn(d[0]);
}

__global__ void rounding(float *e, double *f) {
  float a = e[0], b = e[1], c = e[2];
  double x = f[0], y = f[1], z = f[2];
  e[3] = __fmaf_rn(a, b, c) + __fmaf_rz(a, b, c) + __fmaf_ru(a, b, c) + __fmaf_rd(a, b, c);
  e[4] = __fadd_rn(a, b) + __fadd_rz(a, b) + __fadd_ru(a, b) + __fadd_rd(a, b) + __fsub_rn(a, b);
  e[5] = __fmul_rn(a, b) + __fmul_rz(a, b) + __fdiv_rn(a, b) + __fdiv_rz(a, b) + __frcp_rn(a);
  e[6] = __fsqrt_rn(a) + __fsqrt_ru(b) + __frsqrt_rn(a) + __saturatef(b) + __fdividef(a, b);
  e[7] = __expf(a) + __exp10f(a) + __logf(a) + __log2f(a) + __log10f(a) + __powf(a, b) + __sinf(a) +
         __cosf(a) + __tanf(a);
  __sincosf(a, e + 8, e + 9);
  f[3] = __fma_rn(x, y, z) + __fma_rz(x, y, z) + __fma_ru(x, y, z) + __fma_rd(x, y, z);
  f[4] = __dadd_rn(x, y) + __dsub_rz(x, y) + __dmul_ru(x, y) + __ddiv_rd(x, y) + __drcp_rn(x) +
         __dsqrt_rn(x);
}
