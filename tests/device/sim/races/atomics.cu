// grid 3, block 64
// All blocks meet in atomics: add, max, compare-and-swap, exchange.
extern "C" __global__ void kernel(const int *in, int *out, int n)
{
    int i = blockIdx.x * 64 + threadIdx.x;
    atomicAdd(&out[in[i] & 7], 1);
    atomicMax(&out[8], in[i]);
    int old = out[100], seen;
    do {
        seen = old;
        old = atomicCAS(&out[9], seen, seen + 2);
    } while (old != seen);
    atomicExch(&out[10], 5);
}
