// Every atomic function for every type that it has, on global and shared memory.
template <class T>
__device__ void bits(T *p, T v) {
  atomicAdd(p, v);
  atomicMin(p, v);
  atomicMax(p, v);
  atomicAnd(p, v);
  atomicOr(p, v);
  atomicXor(p, v);
  atomicExch(p, v);
  atomicCAS(p, v, v);
}

__global__ void atomics(int *a, unsigned *b, unsigned long long *c, float *d, double *e) {
  __shared__ int near[4];
  __shared__ float sums[4];
  bits(a, 1);
  bits(b, 2u);
  bits(c, 3ull);
  bits(near, 4);
  atomicSub(a, 5);
  atomicSub(b, 6u);
  atomicInc(b, 7u);
  atomicDec(b, 8u);
  atomicAdd(d, 1.5f);
  atomicExch(d, 2.5f);
  atomicAdd(e, 3.5);
  atomicAdd(sums + 1, 0.5f);
  atomicAdd_block(a, 1);
  atomicAdd_system(a, 1);
  atomicCAS_block(b, 1u, 2u);
  atomicMax_block(a, 3);
  atomicInc_block(b, 3u);
  atomicExch_system(a, 3);
  a[1] = near[threadIdx.x & 3] + sums[1];
}

__global__ void ordered(unsigned *p, float *sum, unsigned *out) {
  unsigned first = __nv_atomic_load_n(p, __NV_ATOMIC_RELAXED);
  unsigned ticket = __nv_atomic_fetch_add(p + 1, 1u, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
  unsigned expected = 0, was;
  bool mine = __nv_atomic_compare_exchange_n(p + 2, &expected, 7u, false, __NV_ATOMIC_ACQ_REL, __NV_ATOMIC_ACQUIRE);
  __nv_atomic_add(sum, 1.5f, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_BLOCK);
  __nv_atomic_max(p + 3, threadIdx.x, __NV_ATOMIC_RELAXED);
  __nv_atomic_exchange(p + 4, &first, &was, __NV_ATOMIC_RELAXED);
  __nv_atomic_thread_fence(__NV_ATOMIC_SEQ_CST, __NV_THREAD_SCOPE_DEVICE);
  __nv_atomic_store_n(out + 3 * threadIdx.x, first, __NV_ATOMIC_RELEASE);
  out[3 * threadIdx.x + 1] = ticket;
  out[3 * threadIdx.x + 2] = mine;
}
