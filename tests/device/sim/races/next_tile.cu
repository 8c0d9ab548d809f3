// grid 2, block 64, verdict race
// The next tile is loaded while others still read the last one.
extern "C" __global__ void kernel(const int *in, int *out, int n)
{
    __shared__ int tile[64];
    int t = threadIdx.x, sum = 0;
    for (int start = 0; start < n; start += 64) {
        tile[t] = in[start + t];
        __syncthreads();
        for (int d = 0; d < 64; ++d) sum += tile[d] * (d ^ t);
        __syncthreads();  // broken:
    }
    out[blockIdx.x * 64 + t] = sum;
}
