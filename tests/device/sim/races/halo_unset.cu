// grid 2, block 64, verdict uninitialised
// One cell of the halo is never loaded.
extern "C" __global__ void kernel(const int *in, int *out, int n)
{
    __shared__ int tile[66];
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    tile[t + 1] = in[i];
    if (t == 0) tile[0] = 0;  // broken:
    if (t == 63) tile[65] = 0;
    __syncthreads();
    out[i] = tile[t] + tile[t + 2];
}
