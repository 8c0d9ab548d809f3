// Keywords and built-in variables of CUDA C++.
#pragma once

#define __host__ __attribute__((host))
#define __device__ __attribute__((device))
#define __global__ __attribute__((global))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __managed__ __attribute__((device))
#define __grid_constant__
#define __forceinline__ inline __attribute__((always_inline))
#define __inline__ inline
#define __align__(n) __attribute__((aligned(n)))
#define __builtin_align__(n) __align__(n)
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
#define __maxnreg__(n) __attribute__((annotate("gevolve.maxnreg", n)))
#define __CUDACC__ 1
#define __NVCC__ 1
#define __CUDACC_VER_MAJOR__ 12
#define __CUDACC_VER_MINOR__ 9
#define __CUDACC_VER_BUILD__ 0
#define CUDART_VERSION 12090
#define CUDA_VERSION 12090

// `__noinline__` is a keyword of clang's CUDA; `__restrict__` of every GNU dialect.

#define GEVOLVE_DEVICE static __device__ inline __attribute__((always_inline, nodebug))
#define GEVOLVE_BOTH static __host__ __device__ inline __attribute__((always_inline, nodebug))
#define GEVOLVE_MEMBER __host__ __device__ inline __attribute__((always_inline, nodebug))

typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned int uint;
typedef unsigned long ulong;
