// grid 2, block 64
// Neighbours write neighbouring bytes, in shared and in global memory.
extern "C" __global__ void kernel(const int *in, int *out, int n)
{
    __shared__ unsigned char tile[64];
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    tile[t] = (unsigned char)in[i];
    __syncthreads();
    ((unsigned char *)out)[i] = tile[63 - t];
    ((short *)out)[1000 + i] = tile[t];
}
