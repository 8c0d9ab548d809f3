// grid 2, block 64
// One lane counts for all of its warp that agree.
extern "C" __global__ void kernel(const int *in, int *out, int n)
{
    int i = blockIdx.x * 64 + threadIdx.x;
    unsigned lane = threadIdx.x % 32, votes = __ballot_sync(0xffffffffu, in[i] & 1);
    if (lane == 0) atomicAdd(&out[0], __popc(votes));
    out[32 + i] = __popc(votes & ((1u << lane) - 1));
}
