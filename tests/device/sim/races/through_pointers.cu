// grid 2, block 64
// A function gets a pointer and does not know which memory it leads to.
__device__ __noinline__ void swap_ends(int *values, int t)
{
    int mine = values[t], other = values[63 - t];
    __syncthreads();
    values[t] = mine - other;
    __syncthreads();
}

extern "C" __global__ void kernel(const int *in, int *out, int n)
{
    __shared__ int tile[64];
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    tile[t] = in[i];
    out[i] = in[i] + 1;
    __syncthreads();
    swap_ends(tile, t);
    swap_ends(out + blockIdx.x * 64, t);
    out[i] += tile[t];
}
