// Half precision.
#include <cuda_fp16.h>

__global__ void halves(half *x, __half2 *y, float *f) {
  int i = threadIdx.x;
  half a = x[i], b = __float2half(f[i]), c = __hfma(a, b, a);
  c = c + a * b - hexp(b) / a;
  c += hsqrt(a);
  if (a < b || __hgt(a, c)) c = __hmax(a, __hadd(b, c));
  c = __shfl_xor_sync(0xffffffff, c, 1);
  x[i] = __hmul(c, __ldg(x + i + 1));
  half2 v = __hfma2(y[i], y[i + 1], __float2half2_rn(2.0f));
  y[i] = __hadd2(v, __hmul2(v, __floats2half2_rn(1.0f, f[i])));
  float2 both = __half22float2(y[i]);
  f[i] = both.x + both.y + __half2float(c) + __low2float(y[i]) + __half2int_rn(a);
  x[i + 1] = __ushort_as_half(__half_as_ushort(a) ^ 0x8000);
}
