// grid 2, block 32
// Four values at a time, and some of them again one by one.
extern "C" __global__ void kernel(const int *in, int *out, int n)
{
    __shared__ int4 tile[32];
    int t = threadIdx.x, i = blockIdx.x * 32 + t;
    tile[t] = make_int4(in[i], i, t, 1);
    tile[t].z += 5;
    __syncthreads();
    ((int4 *)out)[i] = tile[31 - t];
    out[4 * i] += tile[31 - t].y;
}
