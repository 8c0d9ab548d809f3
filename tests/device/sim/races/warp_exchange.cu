// grid 1, block 64, verdict race
// Lanes of a warp exchange values through shared memory without __syncwarp.
extern "C" __global__ void kernel(const int *in, int *out, int n)
{
    __shared__ int tile[64];
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    tile[t] = in[i];
    __syncwarp();  // broken:
    out[i] = tile[t ^ 5];
}
