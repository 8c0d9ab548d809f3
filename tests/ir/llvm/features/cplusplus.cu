// Templates, lambdas, functors, constexpr, structured bindings, inline assembly, dynamic shared types.
#include <cuda_runtime.h>

constexpr int TILE = 16;

template <class T>
struct Shared {
  __device__ operator T *() const {
    extern __shared__ unsigned char bytes[];
    return reinterpret_cast<T *>(bytes);
  }
};

struct Plus {
  template <class T>
  __device__ T operator()(T a, T b) const {
    return a + b;
  }
};

template <int WIDTH, class T, class F>
__device__ __forceinline__ T reduce(T v, F f) {
#pragma unroll
  for (int d = WIDTH / 2; d > 0; d /= 2) v = f(v, __shfl_xor_sync(0xffffffffu, v, d));
  return v;
}

template <class T, int N = TILE>
__global__ void sums(const T *in, T *out) {
  T *rows = Shared<T>();
  rows[threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  auto add = [=](T a, T b) { return a + b; };
  T total = reduce<32>(rows[threadIdx.x], Plus()) + reduce<N>(rows[threadIdx.x], add);
  if constexpr (sizeof(T) == 8) total *= 2;
  unsigned lane;
  asm volatile("mov.u32 %0, %%laneid;" : "=r"(lane));
  if (lane == 0) out[threadIdx.x / 32] = total;
}

template __global__ void sums<float, 8>(const float *, float *);
template __global__ void sums<double>(const double *, double *);

static __global__ void hidden(int *x) { *x = 1; }
void launch(int *x) { hidden<<<1, 1>>>(x); }
