// grid 2, block 64
// Warps reduce by shuffles and meet in shared memory.
extern "C" __global__ void kernel(const int *in, int *out, int n)
{
    __shared__ int sums[2];
    int t = threadIdx.x, value = in[blockIdx.x * 64 + t];
    for (int d = 16; d > 0; d /= 2) value += __shfl_down_sync(0xffffffffu, value, d);
    if (t % 32 == 0) sums[t / 32] = value;
    __syncthreads();
    if (t == 0) out[blockIdx.x] = sums[0] + sums[1];
}
