// grid 4, block 64, verdict race
// The last block to finish adds up what the others left; it is found by counting, without atomics.
__device__ unsigned finished;

extern "C" __global__ void kernel(const int *in, int *out, int n)
{
    __shared__ bool last;
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    int *partial = out + n;
    atomicAdd(&partial[blockIdx.x], in[i]);
    __threadfence();
    __syncthreads();
    if (t == 0) {
        unsigned before = atomicAdd(&finished, 1u);  // broken: unsigned before = finished++;
        last = before == gridDim.x - 1;
    }
    __syncthreads();
    if (last && t == 0) {
        int sum = 0;
        for (unsigned b = 0; b < gridDim.x; ++b) sum += atomicAdd(&partial[b], 0);
        out[0] = sum;
        finished = 0;
    }
}
