// grid 2, block 64, verdict divergent-barrier
// The barrier has moved into a branch that some lanes of a warp take.
extern "C" __global__ void kernel(const int *in, int *out, int n)
{
    __shared__ int tile[64];
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    tile[t] = in[i];
    int sum = 1;
    if (t % 3 == 0) {
        sum += in[(i + 1) % n];
        // broken: __syncthreads();
    }
    __syncthreads();
    out[i] = sum + tile[63 - t];
}
