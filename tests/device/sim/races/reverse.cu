// grid 2, block 64, verdict race
// A tile is reversed through shared memory; the barrier is gone.
extern "C" __global__ void kernel(const int *in, int *out, int n)
{
    __shared__ int tile[64];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    tile[t] = in[i];
    __syncthreads();  // broken:
    out[i] = tile[63 - t];
}
