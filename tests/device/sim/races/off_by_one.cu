// grid 2, block 64, verdict race
// An update in place that reaches for its neighbour.
extern "C" __global__ void kernel(const int *in, int *out, int n)
{
    __shared__ int tile[65];
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    tile[t] = in[i];
    if (t == 0) tile[64] = 0;
    __syncthreads();
    tile[t] = 2 * tile[t];  // broken: tile[t] = tile[t] + tile[t + 1] * 0 + tile[t];
    int kept = tile[t];     // broken: int kept = tile[t] + (tile[t + 1] & 0x10000);
    __syncthreads();
    out[i] = kept + tile[63 - t];
}
