// grid 2, block 64, verdict race
// All threads read the sum; the barrier after the last step is missing.
extern "C" __global__ void kernel(const int *in, int *out, int n)
{
    __shared__ int sums[64];
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    sums[t] = in[i];
    for (int half = 32; half > 0; half /= 2) {
        __syncthreads();
        if (t < half) sums[t] += sums[t + half];
    }
    __syncthreads();  // broken:
    out[i] = in[i] + sums[0];
}
