// Cooperative groups within a block: thread blocks, tiles of a warp, the active lanes.
#pragma once

namespace cooperative_groups {

#define GEVOLVE_GROUP __device__ inline __attribute__((always_inline, nodebug))

struct thread_block {
  static GEVOLVE_GROUP void sync() { __syncthreads(); }
  static GEVOLVE_GROUP unsigned thread_rank() {
    return (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
  }
  static GEVOLVE_GROUP unsigned num_threads() { return blockDim.x * blockDim.y * blockDim.z; }
  static GEVOLVE_GROUP unsigned size() { return num_threads(); }
  static GEVOLVE_GROUP dim3 group_index() { return blockIdx; }
  static GEVOLVE_GROUP dim3 thread_index() { return threadIdx; }
  static GEVOLVE_GROUP dim3 group_dim() { return blockDim; }
  static GEVOLVE_GROUP dim3 dim_threads() { return blockDim; }
};
GEVOLVE_DEVICE thread_block this_thread_block() { return {}; }

// A grid can tell where a thread is; a barrier of the whole grid is not offered.
struct grid_group {
  static GEVOLVE_GROUP unsigned long long block_rank() {
    return ((unsigned long long)blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
  }
  static GEVOLVE_GROUP unsigned long long num_blocks() {
    return (unsigned long long)gridDim.x * gridDim.y * gridDim.z;
  }
  static GEVOLVE_GROUP unsigned long long thread_rank() {
    return block_rank() * thread_block::num_threads() + thread_block::thread_rank();
  }
  static GEVOLVE_GROUP unsigned long long num_threads() {
    return num_blocks() * thread_block::num_threads();
  }
  static GEVOLVE_GROUP unsigned long long size() { return num_threads(); }
  static GEVOLVE_GROUP dim3 group_dim() { return gridDim; }
};
GEVOLVE_DEVICE grid_group this_grid() { return {}; }

template <unsigned SIZE, class PARENT = thread_block> struct thread_block_tile {
  static_assert(SIZE <= 32 && (SIZE & (SIZE - 1)) == 0, "a tile has 1, 2, 4, 8, 16 or 32 threads");
  static GEVOLVE_GROUP unsigned mask() {
    return (unsigned)((1ull << SIZE) - 1) << (__lane_id() & ~(SIZE - 1));
  }
  static GEVOLVE_GROUP void sync() { __syncwarp(mask()); }
  static GEVOLVE_GROUP unsigned thread_rank() { return thread_block::thread_rank() & (SIZE - 1); }
  static constexpr GEVOLVE_GROUP unsigned num_threads() { return SIZE; }
  static constexpr GEVOLVE_GROUP unsigned size() { return SIZE; }
  static GEVOLVE_GROUP unsigned meta_group_rank() { return thread_block::thread_rank() / SIZE; }
  static GEVOLVE_GROUP unsigned meta_group_size() {
    return (thread_block::num_threads() + SIZE - 1) / SIZE;
  }
  template <class T> GEVOLVE_GROUP T shfl(T v, int lane) const {
    return __shfl_sync(mask(), v, lane, SIZE);
  }
  template <class T> GEVOLVE_GROUP T shfl_up(T v, int by) const {
    return __shfl_up_sync(mask(), v, by, SIZE);
  }
  template <class T> GEVOLVE_GROUP T shfl_down(T v, int by) const {
    return __shfl_down_sync(mask(), v, by, SIZE);
  }
  template <class T> GEVOLVE_GROUP T shfl_xor(T v, int with) const {
    return __shfl_xor_sync(mask(), v, with, SIZE);
  }
  static GEVOLVE_GROUP int any(int p) { return __ballot_sync(mask(), p) != 0; }
  static GEVOLVE_GROUP int all(int p) { return __ballot_sync(mask(), p) == mask(); }
  static GEVOLVE_GROUP unsigned ballot(int p) {
    return (__ballot_sync(mask(), p) & mask()) >> (__lane_id() & ~(SIZE - 1));
  }
};
template <unsigned SIZE, class PARENT> GEVOLVE_DEVICE thread_block_tile<SIZE, PARENT> tiled_partition(const PARENT &) {
  return {};
}

struct coalesced_group {
  unsigned lanes;
  GEVOLVE_GROUP void sync() const { __syncwarp(lanes); }
  GEVOLVE_GROUP unsigned num_threads() const { return __popc(lanes); }
  GEVOLVE_GROUP unsigned size() const { return num_threads(); }
  GEVOLVE_GROUP unsigned thread_rank() const { return __popc(lanes & ((1u << __lane_id()) - 1)); }
  GEVOLVE_GROUP int any(int p) const { return __ballot_sync(lanes, p) != 0; }
  GEVOLVE_GROUP int all(int p) const { return __ballot_sync(lanes, p) == lanes; }
  template <class T> GEVOLVE_GROUP T shfl(T v, unsigned rank) const {
    return __shfl_sync(lanes, v, __fns(lanes, 0, rank + 1));
  }
};
GEVOLVE_DEVICE coalesced_group coalesced_threads() { return {__activemask()}; }

template <class GROUP> GEVOLVE_DEVICE void sync(const GROUP &group) { group.sync(); }

#undef GEVOLVE_GROUP

}  // namespace cooperative_groups
