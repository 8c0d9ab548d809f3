// Reductions over a tile.
#pragma once

#include "../cooperative_groups.h"

namespace cooperative_groups {

#define GEVO_OPERATION(name, expression)                                                           \
  template <class T> struct name {                                                                 \
    __device__ inline __attribute__((always_inline, nodebug)) T operator()(T a, T b) const {       \
      return expression;                                                                           \
    }                                                                                              \
  };
GEVO_OPERATION(plus, a + b)
GEVO_OPERATION(less, b < a ? b : a)
GEVO_OPERATION(greater, a < b ? b : a)
GEVO_OPERATION(bit_and, a & b)
GEVO_OPERATION(bit_or, a | b)
GEVO_OPERATION(bit_xor, a ^ b)
#undef GEVO_OPERATION

template <unsigned SIZE, class PARENT, class T, class F>
GEVO_DEVICE T reduce(const thread_block_tile<SIZE, PARENT> &tile, T v, F f) {
#pragma unroll
  for (unsigned d = SIZE / 2; d > 0; d /= 2) v = f(v, tile.shfl_xor(v, d));
  return v;
}

}  // namespace cooperative_groups
