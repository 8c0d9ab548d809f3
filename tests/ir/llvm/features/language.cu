// Qualifiers, built-in variables, vector types.
#include <cuda_runtime.h>
#include <device_launch_parameters.h>

__constant__ float coefficients[64];
__device__ int counter;
__device__ __constant__ int two = 2;

__host__ __device__ __forceinline__ int twice(int x) { return x + x; }
__device__ __noinline__ float far_away(float x) { return x * coefficients[3]; }
static __device__ __inline__ int thrice(int x) { return 3 * x; }

struct __align__(16) Particle {
  float3 position;
  float mass;
};

__global__ void __launch_bounds__(256) bounded(float *x) { x[threadIdx.x] = blockDim.x; }
__global__ void __launch_bounds__(256, 4) bounded_more(float *x) { x[threadIdx.x] = gridDim.x; }

__global__ void indices(int *out, Particle *__restrict__ particles) {
  extern __shared__ int dynamic[];
  __shared__ float4 quads[8];
  dim3 here = threadIdx, block(blockIdx.x, blockIdx.y);
  uint3 place = blockIdx;
  unsigned all = threadIdx.x + threadIdx.y + threadIdx.z + blockIdx.x + blockIdx.y + blockIdx.z +
                 blockDim.x + blockDim.y + blockDim.z + gridDim.x + gridDim.y + gridDim.z + warpSize;
  dynamic[threadIdx.x] = all + here.y + block.z + place.x;
  quads[threadIdx.x & 7] = make_float4(1, 2, 3, far_away(4));
  __syncthreads();
  particles[all].position.z = quads[dynamic[0] & 7].w;
  particles[all].mass += particles[all + 1].position.x;
  atomicAdd(&counter, two);
  out[all] = twice(dynamic[1]) + thrice(3);
}

__global__ void vectors(char1 *a, uchar4 *b, short2 *c, ushort3 *d, int4 *e, uint2 *f, long2 *g,
                        ulonglong2 *h, float3 *i, double2 *j, double4 *k, longlong4 *l) {
  *a = make_char1(1);
  *b = make_uchar4(1, 2, 3, 4);
  *c = make_short2(1, 2);
  *d = make_ushort3(1, 2, 3);
  *e = make_int4(1, 2, 3, 4);
  *f = make_uint2(1, 2);
  *g = make_long2(1, 2);
  *h = make_ulonglong2(1, 2);
  *i = make_float3(1, 2, 3);
  *j = make_double2(1, 2);
  *k = make_double4(1, 2, 3, 4);
  *l = make_longlong4(1, 2, 3, 4);
  float4 q = {1, 2, 3, 4};
  i->x = q.w + sizeof(float3) + alignof(float4) + sizeof(double3);
}
