// grid 2, block 128, verdict divergent-barrier
// Only half of the threads come to the barrier.
extern "C" __global__ void kernel(const int *in, int *out, int n)
{
    __shared__ int tile[128];
    int t = threadIdx.x, i = blockIdx.x * 128 + t;
    tile[t] = in[i];
    __syncthreads();  // broken: if (t < 64) __syncthreads();
    out[i] = tile[t ^ 1];
}
