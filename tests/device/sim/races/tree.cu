// grid 2, block 128, verdict race
// A tree reduction whose steps are no longer kept apart.
extern "C" __global__ void kernel(const int *in, int *out, int n)
{
    __shared__ int sums[128];
    int t = threadIdx.x;
    sums[t] = in[blockIdx.x * 128 + t];
    __syncthreads();
    for (int half = 64; half > 0; half /= 2) {
        if (t < half) sums[t] += sums[t + half];
        __syncthreads();  // broken:
    }
    if (t == 0) out[blockIdx.x] = sums[0];
}
