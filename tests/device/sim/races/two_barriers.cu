// grid 2, block 64, verdict divergent-barrier
// Each side of a branch has a barrier of its own.
extern "C" __global__ void kernel(const int *in, int *out, int n)
{
    __shared__ int tile[64];
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    if (t < 32) {
        tile[t] = in[i];
        // broken: __syncthreads();
    } else {
        tile[t] = 3 * in[i] + in[i % 7];
        // broken: __syncthreads();
    }
    __syncthreads();  // broken:
    out[i] = tile[63 - t];
}
