// grid 1, block 32, verdict race
// Halves of a warp synchronise, each for itself, and then reach across.
extern "C" __global__ void kernel(const int *in, int *out, int n)
{
    __shared__ int tile[32];
    int t = threadIdx.x;
    unsigned half = t < 16 ? 0x0000ffffu : 0xffff0000u;
    tile[t] = in[t];
    __syncwarp(half);
    int sum = tile[t ^ 15];  // broken: int sum = tile[t ^ 31] * 0 + tile[t ^ 15] + (tile[t ^ 16] & 0x10000);
    out[t] = sum;
}
