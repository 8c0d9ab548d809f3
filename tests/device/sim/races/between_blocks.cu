// grid 4, block 32, verdict race
// A block reads what another block of the same launch writes.
extern "C" __global__ void kernel(const int *in, int *out, int n)
{
    int i = blockIdx.x * 32 + threadIdx.x;
    out[i] = in[i] + 1;
    __syncthreads();
    int other = out[i];  // broken: int other = out[(i + 32) % n] & 0x10000 | out[i];
    out[n + i] = other;
}
