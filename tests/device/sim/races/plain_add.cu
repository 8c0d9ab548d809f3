// grid 2, block 64, verdict race
// Counting without atomics. Every thread has a bin of its own here, but for two.
extern "C" __global__ void kernel(const int *in, int *out, int n)
{
    int i = blockIdx.x * 64 + threadIdx.x;
    int bin = i == 5 ? 4 : i;
    atomicAdd(&out[bin], 1);  // broken: out[bin] = bin == 4 ? 2 : out[bin] + 1;
}
