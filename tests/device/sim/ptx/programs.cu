#include <cuda_fp16.h>
#include <cuda_bf16.h>
#include <cooperative_groups.h>
#include <cstdio>
#include <cassert>
namespace cg = cooperative_groups;
struct S { int a; float b; double c; short d[5]; };
struct Big { float v[20]; };
__constant__ float table[16];
__constant__ int ctab[4] = {10,20,30,40};
__device__ int counter = 5;
__device__ float grid_buf[64];
__device__ int* dptr = &counter;

__global__ void byval(S s, Big big, int idx, float* out) {
  int i = threadIdx.x;
  out[i] = s.a + s.b + (float)s.c + s.d[i % 5] + big.v[(i + idx) % 20];
}
__global__ void consts(const int* in, float* out) {
  int i = threadIdx.x + blockIdx.x*blockDim.x;
  out[i] = table[in[i] & 15] + ctab[in[i] & 3];
  if (i == 0) { atomicAdd(dptr, 7); grid_buf[3] = 2.5f; }
}
__device__ __noinline__ int fact(int n) { return n <= 1 ? 1 : n * fact(n - 1); }
__device__ __noinline__ int fib(int n) { if (n < 2) return n; return fib(n-1) + fib(n-2); }
__global__ void recur(int* out) { int i = threadIdx.x; out[i] = fact(i % 10) + fib(i % 9); }

__device__ __noinline__ float f_add(float a, float b) { return a + b; }
__device__ __noinline__ float f_mul(float a, float b) { return a * b; }
__device__ __noinline__ float f_sync(float a, float b) { __syncthreads(); return __shfl_xor_sync(~0u, a, 1) - b; }
typedef float (*fn)(float, float);
__device__ fn fns[3] = {f_add, f_mul, f_sync};
__global__ void indirect(const int* sel, float* out) { int i = threadIdx.x; fn f = fns[sel[0]]; out[i] = f(i, 3.0f) + fns[i & 1](i, 2.f); }

struct Base { __device__ virtual float area() const = 0; float x; };
struct Sq : Base { __device__ Sq(float v) { x = v; } __device__ float area() const override { return x*x; } };
struct Tri : Base { __device__ Tri(float v) { x = v; } __device__ float area() const override { return x*x*0.5f; } };
__global__ void virt(float* out) { int i = threadIdx.x; Sq s(i); Tri t(i); Base* b = (i & 1) ? (Base*)&s : (Base*)&t; out[i] = b->area(); }

__global__ void localarr(const int* in, int* out, int n) {
  int buf[32]; int i = threadIdx.x;
  for (int k = 0; k < 32; k++) buf[k] = in[(i + k) % n];
  for (int a = 1; a < 32; a++) { int v = buf[a], j = a - 1; while (j >= 0 && buf[j] > v) { buf[j+1] = buf[j]; j--; } buf[j+1] = v; }
  out[i] = buf[in[i] & 31];
}
__global__ void sw(const int* in, int* out) {
  int i = threadIdx.x, v = in[i], r;
  switch (v) { case 0: r = 11; break; case 1: r = v * 77; break; case 2: r = i; break; case 3: r = -i; break; case 4: r = i*i; break; case 5: r = 99; break; case 6: r= in[0]; break; case 7: r = 5; break; default: r = -1; }
  out[i] = r;
}
__global__ void halfk(const __half* a, const __half2* b, __half* c, __half2* d, __nv_bfloat16* e) {
  int i = threadIdx.x; c[i] = __hfma(a[i], a[i], __float2half(1.5f)) / __float2half(3.f);
  d[i] = __hadd2(b[i], __hmul2(b[i], __float2half2_rn(2.f)));
  e[i] = __float2bfloat16(__half2float(a[i]) * 1.7f);
  if (__hgt(a[i], c[i])) c[i] = hsqrt(__habs(a[i]));
}
__global__ void coop(const float* in, float* out, int n) {
  auto block = cg::this_thread_block(); auto tile = cg::tiled_partition<16>(block);
  int i = block.thread_rank(); float v = i < n ? in[i] : 0;
  for (int o = tile.size()/2; o > 0; o /= 2) v += tile.shfl_down(v, o);
  __shared__ float s[64]; if (tile.thread_rank() == 0) s[i / 16] = v; block.sync();
  if (i == 0) { float t = 0; for (int k = 0; k < blockDim.x / 16; k++) t += s[k]; out[0] = t; }
  auto act = cg::coalesced_threads(); if (i % 3 == 0) { auto g = cg::coalesced_threads(); out[1 + i] = g.size() * 100 + g.thread_rank(); }
}
__global__ void warpsync_legacy(const float* in, float* out) {
  __shared__ volatile float s[64]; int t = threadIdx.x; s[t] = in[t]; 
  __syncthreads();
  if (t < 32) { s[t] += s[t+32]; s[t] += s[t+16]; s[t] += s[t+8]; s[t] += s[t+4]; s[t] += s[t+2]; s[t] += s[t+1]; }
  if (t == 0) out[0] = s[0];
}
__global__ void lock(int* mutex, int* value) {
  bool done = false;
  while (!done) { if (atomicCAS(mutex, 0, 1) == 0) { *value = *value + 1; __threadfence(); atomicExch(mutex, 0); done = true; } }
}
__global__ void lock2(int* mutex, volatile int* value) {
  while (atomicCAS(mutex, 0, 1) != 0) {} 
  *value = *value + 1; __threadfence(); atomicExch(mutex, 0);
}
__global__ void prints(int* out) { int i = threadIdx.x; printf("hello %d %f\n", i, 1.0f * i); out[i] = i + 1; assert(i >= 0); }
__global__ void asserts(int* out) { int i = threadIdx.x; assert(i < 5); out[i] = 1; }
__global__ void atoms(int* a, unsigned* u, float* f, double* d, unsigned long long* l) {
  int i = threadIdx.x; atomicMax(&a[0], i); atomicMin(&a[1], -i); atomicAnd(&u[0], ~(1u << (i & 31))); atomicOr(&u[1], 1u << (i & 31)); atomicXor(&u[2], i);
  atomicInc(&u[3], 10); atomicDec(&u[4], 10); atomicAdd(f, 0.5f); atomicAdd(d, 0.25); atomicAdd(l, (unsigned long long)i << 33); atomicSub(&a[2], 2);
  atomicMax((unsigned long long*)&l[1], (unsigned long long)i * 3); atomicExch(&a[3], 42);
}
__global__ void dims(int* out) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y, z = blockIdx.z * blockDim.z + threadIdx.z;
  int w = gridDim.x * blockDim.x, h = gridDim.y * blockDim.y; out[(z * h + y) * w + x] = x + 1000 * y + 1000000 * z;
}
extern __shared__ unsigned char raw[];
__global__ void dyn(const float* in, float* out, int n) { float* s = (float*)raw; int t = threadIdx.x; s[t] = in[t]; __syncthreads(); out[t] = s[n - 1 - t]; }
__global__ void div64(const long long* a, const long long* b, long long* q, unsigned long long* r, double* dd) {
  int i = threadIdx.x; q[i] = a[i] / b[i]; r[i] = (unsigned long long)a[i] % (unsigned long long)b[i]; dd[i] = (double)a[i] / (double)b[i] + sqrt(fabs((double)a[i])) + exp2(fmod((double)b[i],10.)) ;
}
__global__ void vec(const float4* a, float4* o, const char4* c, int* s, double2* d) { int i = threadIdx.x; float4 v = a[i]; o[i] = make_float4(v.w, v.z, v.y, v.x); char4 q = c[i]; s[i] = q.x + q.y * 2 + q.z * 3 + q.w * 4; d[i] = make_double2(v.x, v.y); }
__global__ void intr(const int* a, unsigned* o) { int i = threadIdx.x; unsigned x = a[i];
  o[i*8+0] = __brev(x); o[i*8+1] = __clz(x) + 100 * __ffs(x) + 10000 * __popc(x); o[i*8+2] = __byte_perm(x, ~x, 0x5410); o[i*8+3] = __funnelshift_l(x, ~x, i);
  o[i*8+4] = __vadd4(x, 0x01020304); o[i*8+5] = __sad(x, i, 5); o[i*8+6] = __mulhi((int)x, 12345); o[i*8+7] = __dp4a((int)x, 0x01020304, i); }
__global__ void match(const int* a, unsigned* o) { int i = threadIdx.x; o[i] = __match_any_sync(~0u, a[i]); int p; o[32 + i] = __match_all_sync(~0u, a[i] & 0, &p) + p; o[64+i] = __reduce_add_sync(~0u, a[i]); o[96+i] = __reduce_max_sync(~0u, a[i]); o[128+i] = __activemask(); if (i & 1) o[160+i] = __ballot_sync(0xAAAAAAAA, a[i] > 2); }
