// What real hardware has only from sm_80 on, or had only before sm_70; the header provides both.
__global__ void reductions(int *a, unsigned *b) {
  int i = threadIdx.x;
  a[i] = __reduce_add_sync(0xffffffff, a[i]) + __reduce_min_sync(0xffffffff, a[i]) +
         __reduce_max_sync(0xffffffff, a[i]);
  b[i] = __reduce_add_sync(0xff, b[i]) + __reduce_min_sync(0xff, b[i]) +
         __reduce_max_sync(0xff, b[i]) + __reduce_and_sync(0xff, b[i]) +
         __reduce_or_sync(0xff, b[i]) + __reduce_xor_sync(0xff, b[i]);
}
__global__ void before_sync(int *a, float *b) {
  int i = threadIdx.x;
  a[i] = __shfl(a[i], 0) + __shfl_up(a[i], 1) + __shfl_xor(a[i], 2, 16) + __any(a[i]) + __all(a[i]);
  b[i] = __shfl_down(b[i], 4) + __ballot(b[i] > 0);
}
