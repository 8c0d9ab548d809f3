// The transpose of a matrix: straight through, and by way of tiles in shared memory.

#define TILE 16

extern "C" __global__ void transpose_naive(float *input, float *output, int width, int height)
{
    int x = blockIdx.x * TILE + threadIdx.x;
    int y = blockIdx.y * TILE + threadIdx.y;
    if (x < width && y < height)
        output[x * height + y] = input[y * width + x];
}

extern "C" __global__ void transpose_tiled(float *input, float *output, int width, int height)
{
    __shared__ float tile[TILE][TILE];
    int x = blockIdx.x * TILE + threadIdx.x;
    int y = blockIdx.y * TILE + threadIdx.y;
    if (x < width && y < height)
        tile[threadIdx.y][threadIdx.x] = input[y * width + x];
    __syncthreads();
    x = blockIdx.y * TILE + threadIdx.x;
    y = blockIdx.x * TILE + threadIdx.y;
    if (x < height && y < width)
        output[y * height + x] = tile[threadIdx.x][threadIdx.y];
}
