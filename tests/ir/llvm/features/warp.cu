// Barriers, fences, shuffles, votes, matches, reductions, clocks.
template <class T>
__device__ T mixed(T v) {
  v = __shfl_sync(0xffffffff, v, 3);
  v = __shfl_up_sync(0xffffffff, v, 1u, 16);
  v = __shfl_down_sync(0xffffffff, v, 2);
  return __shfl_xor_sync(0xffffffff, v, 8, 32);
}

__global__ void warp(int *a, unsigned *b, long long *c, unsigned long long *d, float *e, double *f,
                     long *g, unsigned long *h) {
  int i = threadIdx.x, all;
  a[i] = mixed(a[i]);
  b[i] = mixed(b[i]);
  c[i] = mixed(c[i]);
  d[i] = mixed(d[i]);
  e[i] = mixed(e[i]);
  f[i] = mixed(f[i]);
  g[i] = mixed(g[i]);
  h[i] = mixed(h[i]);
  __syncthreads();
  a[i] += __syncthreads_count(i) + __syncthreads_and(i) + __syncthreads_or(i);
  __syncwarp();
  __syncwarp(0xffff);
  __threadfence();
  __threadfence_block();
  __threadfence_system();
  b[i] += __ballot_sync(0xffffffff, a[i] > 0) + __activemask() + __all_sync(0xffffffff, i) +
          __any_sync(0xffffffff, i) + __uni_sync(0xffffffff, i);
  b[i] += __match_any_sync(0xffffffff, a[i]) + __match_any_sync(0xffffffff, d[i]) +
          __match_any_sync(0xffffffff, e[i]) + __match_any_sync(0xffffffff, f[i]);
  b[i] += __match_all_sync(0xffffffff, b[i], &all);
  c[i] = clock64() + clock() + all;
  __nanosleep(20);
  if (a[i] == 12345) __trap();
}
