// Reductions over a tile.
#pragma once

#include "../cooperative_groups.h"

namespace cooperative_groups {

#define GEVOLVE_OPERATION(name, expression)                                                           \
  template <class T> struct name {                                                                 \
    __device__ inline __attribute__((always_inline, nodebug)) T operator()(T a, T b) const {       \
      return expression;                                                                           \
    }                                                                                              \
  };
GEVOLVE_OPERATION(plus, a + b)
GEVOLVE_OPERATION(less, b < a ? b : a)
GEVOLVE_OPERATION(greater, a < b ? b : a)
GEVOLVE_OPERATION(bit_and, a & b)
GEVOLVE_OPERATION(bit_or, a | b)
GEVOLVE_OPERATION(bit_xor, a ^ b)
#undef GEVOLVE_OPERATION

template <unsigned SIZE, class PARENT, class T, class F>
GEVOLVE_DEVICE T reduce(const thread_block_tile<SIZE, PARENT> &tile, T v, F f) {
#pragma unroll
  for (unsigned d = SIZE / 2; d > 0; d /= 2) v = f(v, tile.shfl_xor(v, d));
  return v;
}

}  // namespace cooperative_groups
