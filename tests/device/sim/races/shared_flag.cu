// grid 2, block 64
// A flag in shared memory that many threads raise, all alike.
extern "C" __global__ void kernel(const int *in, int *out, int n)
{
    __shared__ bool found;
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    if (t == 0) found = false;
    __syncthreads();
    if (in[i] == in[0]) found = true;
    __syncthreads();
    out[i] = found ? in[i] : -in[i];
}
