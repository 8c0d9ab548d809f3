// grid 2, block 64, shared 256
// Dynamic shared memory, used twice for different things.
extern "C" __global__ void kernel(const int *in, int *out, int n)
{
    extern __shared__ int memory[];
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    memory[t] = in[i];
    __syncthreads();
    int first = memory[63 - t];
    __syncthreads();
    unsigned char *bytes = (unsigned char *)memory;
    bytes[t] = (unsigned char)first;
    bytes[64 + t] = (unsigned char)t;
    __syncthreads();
    out[i] = bytes[63 - t] + bytes[127 - t];
}
