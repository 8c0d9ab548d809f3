// grid 2, block 64, verdict race
// A barrier that also votes has become a vote of one.
extern "C" __global__ void kernel(const int *in, int *out, int n)
{
    __shared__ int tile[64];
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    tile[t] = in[i];
    int any = __syncthreads_or(in[i] >= 0);  // broken: int any = in[i] >= 0;
    out[i] = any ? tile[63 - t] : -1;
}
