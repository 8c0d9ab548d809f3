// grid 2, block 64
// Groups of eight lanes synchronise each for themselves.
extern "C" __global__ void kernel(const int *in, int *out, int n)
{
    __shared__ int tile[64];
    int t = threadIdx.x, i = blockIdx.x * 64 + t, lane = t % 32;
    unsigned mine = 0xffu << (lane & ~7);
    tile[t] = in[i];
    __syncwarp(mine);
    for (int step = 0; step < 3; ++step) {
        int other = tile[t ^ 1 << step];
        __syncwarp(mine);
        tile[t] += other;
        __syncwarp(mine);
    }
    out[i] = tile[t];
}
