// grid 2, block 64
// The last steps of a reduction in the style from before __syncwarp: volatile, lanes in step.
extern "C" __global__ void kernel(const int *in, int *out, int n)
{
    __shared__ int sums[64];
    int t = threadIdx.x;
    sums[t] = in[blockIdx.x * 64 + t];
    __syncthreads();
    if (t < 32) {
        volatile int *mine = sums;
        mine[t] += mine[t + 32];
        mine[t] += mine[t + 16];
        mine[t] += mine[t + 8];
        mine[t] += mine[t + 4];
        mine[t] += mine[t + 2];
        mine[t] += mine[t + 1];
    }
    if (t == 0) out[blockIdx.x] = sums[0];
}
