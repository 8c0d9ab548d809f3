// grid 2, block 96, verdict race
// One buffer needs two barriers a step: after reading and after writing. The first is missing.
extern "C" __global__ void kernel(const int *in, int *out, int n)
{
    __shared__ int row[96];
    int t = threadIdx.x, i = blockIdx.x * 96 + t;
    row[t] = in[i];
    __syncthreads();
    for (int step = 0; step < 5; ++step) {
        int sum = row[t] + row[(t + 1) % 96];
        __syncthreads();  // broken:
        row[t] = sum & 1023;
        __syncthreads();
    }
    out[i] = row[t];
}
