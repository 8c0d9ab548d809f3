// grid 2, block 96, verdict race
// Two buffers that swap need one barrier a step, and have none.
extern "C" __global__ void kernel(const int *in, int *out, int n)
{
    __shared__ int rows[2][96];
    int t = threadIdx.x, i = blockIdx.x * 96 + t, from = 0;
    rows[0][t] = in[i];
    __syncthreads();
    for (int step = 0; step < 5; ++step) {
        int left = t > 0 ? t - 1 : 0, right = t < 95 ? t + 1 : 95;
        rows[1 - from][t] = min(rows[from][left], rows[from][right]) + in[(i + step) % n];
        __syncthreads();  // broken:
        from = 1 - from;
    }
    out[i] = rows[from][t];
}
