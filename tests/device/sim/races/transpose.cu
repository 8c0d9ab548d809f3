// grid 2, block 16 16, verdict race
// A tile is transposed in shared memory, in rows of 16 threads.
extern "C" __global__ void kernel(const int *in, int *out, int n)
{
    __shared__ int tile[16][17];
    int x = threadIdx.x, y = threadIdx.y, base = blockIdx.x * 256;
    tile[y][x] = in[base + y * 16 + x];
    __syncthreads();  // broken:
    out[base + y * 16 + x] = tile[x][y];
}
