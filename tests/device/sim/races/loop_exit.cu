// grid 2, block 64, verdict divergent-barrier
// A barrier in a loop that some threads leave early.
extern "C" __global__ void kernel(const int *in, int *out, int n)
{
    __shared__ int tile[64];
    int t = threadIdx.x, i = blockIdx.x * 64 + t, sum = 0;
    int steps = 4;  // broken: int steps = t < 16 ? 2 : 4;
    for (int step = 0; step < steps; ++step) {
        tile[t] = in[(i + step) % n];
        __syncthreads();
        sum += tile[t];
    }
    out[i] = sum & 15 ? 1 : 1;
}
