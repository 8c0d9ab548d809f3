// Barriers, fences, and what the lanes of a warp tell one another.
#pragma once

// `__syncthreads` is a builtin of clang.
GEVOLVE_DEVICE int __syncthreads_count(int p) { return __nvvm_bar0_popc(p); }
GEVOLVE_DEVICE int __syncthreads_and(int p) { return __nvvm_bar0_and(p); }
GEVOLVE_DEVICE int __syncthreads_or(int p) { return __nvvm_bar0_or(p); }
GEVOLVE_DEVICE void __syncwarp(unsigned mask = 0xffffffffu) { __nvvm_bar_warp_sync(mask); }

GEVOLVE_DEVICE void __threadfence_block() { __nvvm_membar_cta(); }
GEVOLVE_DEVICE void __threadfence() { __nvvm_membar_gl(); }
GEVOLVE_DEVICE void __threadfence_system() { __nvvm_membar_sys(); }

GEVOLVE_DEVICE unsigned __activemask() { return __nvvm_activemask(); }
GEVOLVE_DEVICE int __all_sync(unsigned mask, int p) { return __nvvm_vote_all_sync(mask, p != 0); }
GEVOLVE_DEVICE int __any_sync(unsigned mask, int p) { return __nvvm_vote_any_sync(mask, p != 0); }
GEVOLVE_DEVICE int __uni_sync(unsigned mask, int p) { return __nvvm_vote_uni_sync(mask, p != 0); }
GEVOLVE_DEVICE unsigned __ballot_sync(unsigned mask, int p) {
  return __nvvm_vote_ballot_sync(mask, p != 0);
}
GEVOLVE_DEVICE int __all(int p) { return __all_sync(__activemask(), p); }
GEVOLVE_DEVICE int __any(int p) { return __any_sync(__activemask(), p); }
GEVOLVE_DEVICE unsigned __ballot(int p) { return __ballot_sync(__activemask(), p); }

GEVOLVE_DEVICE unsigned __lane_id() { return __nvvm_read_ptx_sreg_laneid(); }

// The last operand of shfl holds the bound of a segment and the mask that finds its first lane.
#define GEVOLVE_SHUFFLE(name, mode, bound)                                                            \
  GEVOLVE_DEVICE int name##_sync(unsigned mask, int v, int lane, int width = 32) {                    \
    return __nvvm_shfl_sync_##mode##_i32(mask, v, lane, ((32 - width) << 8) | bound);              \
  }                                                                                                \
  GEVOLVE_DEVICE float name##_sync(unsigned mask, float v, int lane, int width = 32) {                \
    return __nvvm_shfl_sync_##mode##_f32(mask, v, lane, ((32 - width) << 8) | bound);              \
  }                                                                                                \
  GEVOLVE_DEVICE unsigned name##_sync(unsigned mask, unsigned v, int lane, int width = 32) {          \
    return (unsigned)name##_sync(mask, (int)v, lane, width);                                       \
  }                                                                                                \
  GEVOLVE_DEVICE unsigned long long name##_sync(unsigned mask, unsigned long long v, int lane,        \
                                             int width = 32) {                                     \
    unsigned lo = name##_sync(mask, (unsigned)v, lane, width);                                     \
    unsigned hi = name##_sync(mask, (unsigned)(v >> 32), lane, width);                             \
    return (unsigned long long)hi << 32 | lo;                                                      \
  }                                                                                                \
  GEVOLVE_DEVICE long long name##_sync(unsigned mask, long long v, int lane, int width = 32) {        \
    return (long long)name##_sync(mask, (unsigned long long)v, lane, width);                       \
  }                                                                                                \
  GEVOLVE_DEVICE long name##_sync(unsigned mask, long v, int lane, int width = 32) {                  \
    return (long)name##_sync(mask, (unsigned long long)v, lane, width);                            \
  }                                                                                                \
  GEVOLVE_DEVICE unsigned long name##_sync(unsigned mask, unsigned long v, int lane, int width = 32) {\
    return (unsigned long)name##_sync(mask, (unsigned long long)v, lane, width);                   \
  }                                                                                                \
  GEVOLVE_DEVICE double name##_sync(unsigned mask, double v, int lane, int width = 32) {              \
    return __builtin_bit_cast(                                                                     \
        double, name##_sync(mask, __builtin_bit_cast(unsigned long long, v), lane, width));        \
  }                                                                                                \
  template <class T>                                                                               \
  GEVOLVE_DEVICE T name(T v, int lane, int width = 32) {                                              \
    return name##_sync(__activemask(), v, lane, width);                                            \
  }

GEVOLVE_SHUFFLE(__shfl, idx, 31)
GEVOLVE_SHUFFLE(__shfl_up, up, 0)
GEVOLVE_SHUFFLE(__shfl_down, down, 31)
GEVOLVE_SHUFFLE(__shfl_xor, bfly, 31)
#undef GEVOLVE_SHUFFLE

#define GEVOLVE_MATCH(type, wide, bits)                                                               \
  GEVOLVE_DEVICE unsigned __match_any_sync(unsigned mask, type v) {                                   \
    return __nvvm_match_any_sync_##bits(mask, __builtin_bit_cast(wide, v));                        \
  }                                                                                                \
  GEVOLVE_DEVICE unsigned __match_all_sync(unsigned mask, type v, int *all) {                         \
    return __nvvm_match_all_sync_##bits##p(mask, __builtin_bit_cast(wide, v), all);                \
  }

GEVOLVE_MATCH(int, unsigned, i32)
GEVOLVE_MATCH(unsigned, unsigned, i32)
GEVOLVE_MATCH(float, unsigned, i32)
GEVOLVE_MATCH(long, unsigned long long, i64)
GEVOLVE_MATCH(unsigned long, unsigned long long, i64)
GEVOLVE_MATCH(long long, unsigned long long, i64)
GEVOLVE_MATCH(unsigned long long, unsigned long long, i64)
GEVOLVE_MATCH(double, unsigned long long, i64)
#undef GEVOLVE_MATCH

// redux.sync needs sm_80; here every named lane is read in turn.
#define GEVOLVE_REDUCE(name, type, step)                                                              \
  GEVOLVE_DEVICE type __reduce_##name##_sync(unsigned mask, type v) {                                 \
    type r = __shfl_sync(mask, v, __builtin_ctz(mask));                                            \
    for (unsigned rest = mask & (mask - 1); rest; rest &= rest - 1) {                              \
      type o = __shfl_sync(mask, v, __builtin_ctz(rest));                                          \
      r = step;                                                                                    \
    }                                                                                              \
    return r;                                                                                      \
  }

GEVOLVE_REDUCE(add, int, r + o)
GEVOLVE_REDUCE(add, unsigned, r + o)
GEVOLVE_REDUCE(min, int, o < r ? o : r)
GEVOLVE_REDUCE(min, unsigned, o < r ? o : r)
GEVOLVE_REDUCE(max, int, o > r ? o : r)
GEVOLVE_REDUCE(max, unsigned, o > r ? o : r)
GEVOLVE_REDUCE(and, unsigned, r & o)
GEVOLVE_REDUCE(or, unsigned, r | o)
GEVOLVE_REDUCE(xor, unsigned, r ^ o)
#undef GEVOLVE_REDUCE

GEVOLVE_DEVICE clock_t clock() { return __nvvm_read_ptx_sreg_clock(); }
GEVOLVE_DEVICE long long clock64() { return __nvvm_read_ptx_sreg_clock64(); }
GEVOLVE_DEVICE unsigned long long __globaltimer() { return __nvvm_read_ptx_sreg_globaltimer(); }
GEVOLVE_DEVICE void __nanosleep(unsigned ns) { asm volatile("nanosleep.u32 %0;" ::"r"(ns)); }
GEVOLVE_DEVICE void __trap() { __builtin_trap(); }
GEVOLVE_DEVICE void __brkpt() { asm volatile("brkpt;"); }
GEVOLVE_DEVICE void __prof_trigger(int) {}
