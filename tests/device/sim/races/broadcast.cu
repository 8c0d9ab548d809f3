// grid 2, block 64, verdict race
// One thread prepares a value for all.
extern "C" __global__ void kernel(const int *in, int *out, int n)
{
    __shared__ int value;
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    if (t == 0) value = in[blockIdx.x] + 7;
    __syncthreads();  // broken:
    out[i] = in[i] * value;
}
