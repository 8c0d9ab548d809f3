// Cooperative groups within a block.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;

__global__ void groups(const float *in, float *out, int *counts) {
  cg::thread_block block = cg::this_thread_block();
  auto warp = cg::tiled_partition<32>(block);
  cg::thread_block_tile<8> eight = cg::tiled_partition<8>(block);
  unsigned i = cg::this_grid().thread_rank();
  float v = in[i];
  float sum = cg::reduce(warp, v, cg::plus<float>());
  float most = cg::reduce(eight, v, cg::greater<float>());
  block.sync();
  cg::sync(warp);
  float left = eight.shfl_up(v, 1);
  out[4 * i] = sum;
  out[4 * i + 1] = most;
  out[4 * i + 2] = eight.thread_rank() == 0 ? -1.0f : left;
  out[4 * i + 3] = warp.meta_group_rank() + 100 * eight.meta_group_rank() + 10000 * block.size();
  if (v > 0.5f) {
    cg::coalesced_group active = cg::coalesced_threads();
    if (active.thread_rank() == 0) atomicAdd(counts, active.size());
  }
  if (warp.any(v > 2.0f)) counts[1] = warp.ballot(v > 2.0f);
}
