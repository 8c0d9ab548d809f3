// grid 2, block 64, verdict divergent-barrier
// Some threads return before the barrier.
extern "C" __global__ void kernel(const int *in, int *out, int n)
{
    __shared__ int tile[64];
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    // broken: if (t > 60) return;
    tile[t] = in[i];
    __syncthreads();
    if (t > 60) return;
    out[i] = tile[60 - t];
}
