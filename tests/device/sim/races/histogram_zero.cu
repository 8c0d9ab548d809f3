// grid 2, block 64, verdict race
// Counting begins before all bins are zero.
extern "C" __global__ void kernel(const int *in, int *out, int n)
{
    __shared__ int bins[64];
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    bins[t] = 0;
    __syncthreads();  // broken:
    atomicAdd(&bins[in[i] & 63], 1);
    __syncthreads();
    atomicAdd(&out[t], bins[t]);
}
