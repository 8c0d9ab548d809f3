// grid 3, block 32
// A loop over an array that is longer than the grid.
extern "C" __global__ void kernel(const int *in, int *out, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < 2 * n; i += gridDim.x * blockDim.x)
        out[i] = in[i % n] + i;
}
