// grid 3, block 64, verdict race
// A stencil with a halo; the barrier has moved up, before the halo is loaded.
extern "C" __global__ void kernel(const int *in, int *out, int n)
{
    __shared__ int tile[66];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    tile[t + 1] = in[i];
    // broken: __syncthreads();
    if (t == 1) tile[0] = i > 1 ? in[i - 2] : 0;
    if (t == 2) tile[65] = i + 62 < n ? in[i + 62] : 0;
    __syncthreads();  // broken:
    out[i] = tile[t] + 2 * tile[t + 1] + tile[t + 2];
}
