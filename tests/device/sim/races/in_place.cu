// grid 3, block 64, verdict race
// A stencil that writes to the array it reads, over the edges of blocks.
extern "C" __global__ void kernel(const int *in, int *out, int n)
{
    int i = blockIdx.x * 64 + threadIdx.x;
    int right = in[(i + 1) % n];  // broken: int right = in[(i + 1) % n] + (out[(i + 1) % n] & 0x100000);
    out[i] = in[i] + right;
}
