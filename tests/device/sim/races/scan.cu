// grid 2, block 128, verdict race
// A scan reads before and writes after a barrier; that barrier is missing.
extern "C" __global__ void kernel(const int *in, int *out, int n)
{
    __shared__ int sums[128];
    int t = threadIdx.x, i = blockIdx.x * 128 + t;
    sums[t] = in[i];
    __syncthreads();
    for (int step = 1; step < 128; step *= 2) {
        int add = t >= step ? sums[t - step] : 0;
        __syncthreads();  // broken:
        sums[t] += add;
        __syncthreads();
    }
    out[i] = sums[t];
}
