// grid 3, block 64
// As so often: threads beyond the end return before the barrier. The original may.
extern "C" __global__ void kernel(const int *in, int *out, int n)
{
    __shared__ int tile[64];
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    tile[t] = 0;
    if (i >= n - 10) return;
    tile[t] = in[i];
    __syncthreads();
    out[i] = tile[t];
}
