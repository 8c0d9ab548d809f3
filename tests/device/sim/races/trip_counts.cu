// grid 2, block 64
// Lanes go round a loop different numbers of times and meet at a barrier.
extern "C" __global__ void kernel(const int *in, int *out, int n)
{
    __shared__ int tile[64];
    int t = threadIdx.x, i = blockIdx.x * 64 + t, sum = 0;
    for (int k = 0; k < in[i]; ++k) sum += in[k] ^ k;
    tile[t] = sum;
    __syncthreads();
    out[i] = tile[t ^ 33];
}
