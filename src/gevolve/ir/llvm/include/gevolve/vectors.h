// char1 to double4, dim3, and the indices of a thread.
#pragma once

#define GEVOLVE_VECTORS(name, type, align2, align4)                                                   \
  struct name##1 { type x; };                                                                      \
  struct __attribute__((aligned(align2))) name##2 { type x, y; };                                  \
  struct name##3 { type x, y, z; };                                                                \
  struct __attribute__((aligned(align4))) name##4 { type x, y, z, w; };                            \
  GEVOLVE_BOTH constexpr name##1 make_##name##1(type x) { return {x}; }                               \
  GEVOLVE_BOTH constexpr name##2 make_##name##2(type x, type y) { return {x, y}; }                    \
  GEVOLVE_BOTH constexpr name##3 make_##name##3(type x, type y, type z) { return {x, y, z}; }         \
  GEVOLVE_BOTH constexpr name##4 make_##name##4(type x, type y, type z, type w) { return {x, y, z, w}; }

GEVOLVE_VECTORS(char, signed char, 2, 4)
GEVOLVE_VECTORS(uchar, unsigned char, 2, 4)
GEVOLVE_VECTORS(short, short, 4, 8)
GEVOLVE_VECTORS(ushort, unsigned short, 4, 8)
GEVOLVE_VECTORS(int, int, 8, 16)
GEVOLVE_VECTORS(uint, unsigned int, 8, 16)
GEVOLVE_VECTORS(long, long, 16, 16)
GEVOLVE_VECTORS(ulong, unsigned long, 16, 16)
GEVOLVE_VECTORS(longlong, long long, 16, 16)
GEVOLVE_VECTORS(ulonglong, unsigned long long, 16, 16)
GEVOLVE_VECTORS(float, float, 8, 16)
GEVOLVE_VECTORS(double, double, 16, 16)

struct dim3 {
  unsigned int x, y, z;
  GEVOLVE_MEMBER constexpr dim3(unsigned int x = 1, unsigned int y = 1, unsigned int z = 1)
      : x(x), y(y), z(z) {}
  GEVOLVE_MEMBER constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
  GEVOLVE_MEMBER constexpr operator uint3() const { return {x, y, z}; }
};

// A read of `threadIdx.x` is a call of an intrinsic; there is no object behind the name.
#define GEVOLVE_INDEX(name, sreg)                                                                     \
  struct __gevolve_##name {                                                                           \
    __declspec(property(get = get_x)) unsigned int x;                                              \
    __declspec(property(get = get_y)) unsigned int y;                                              \
    __declspec(property(get = get_z)) unsigned int z;                                              \
    static GEVOLVE_DEVICE_MEMBER unsigned int get_x() { return __nvvm_read_ptx_sreg_##sreg##_x(); }   \
    static GEVOLVE_DEVICE_MEMBER unsigned int get_y() { return __nvvm_read_ptx_sreg_##sreg##_y(); }   \
    static GEVOLVE_DEVICE_MEMBER unsigned int get_z() { return __nvvm_read_ptx_sreg_##sreg##_z(); }   \
    GEVOLVE_DEVICE_MEMBER operator dim3() const { return dim3(get_x(), get_y(), get_z()); }           \
    GEVOLVE_DEVICE_MEMBER operator uint3() const { return {get_x(), get_y(), get_z()}; }              \
  };                                                                                               \
  extern const __device__ __attribute__((weak)) __gevolve_##name name;

#define GEVOLVE_DEVICE_MEMBER __device__ inline __attribute__((always_inline, nodebug))

GEVOLVE_INDEX(threadIdx, tid)
GEVOLVE_INDEX(blockIdx, ctaid)
GEVOLVE_INDEX(blockDim, ntid)
GEVOLVE_INDEX(gridDim, nctaid)

constexpr int warpSize = 32;

#undef GEVOLVE_INDEX
#undef GEVOLVE_VECTORS
