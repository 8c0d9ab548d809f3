// Transposes a row-major matrix through a shared tile, so that both the loads and the stores of a
// warp are of neighbouring addresses. A block has fewer rows of threads than its tile has rows.

template <typename T, int TILE, int ROWS>
__global__ void transpose(const T* __restrict__ in, T* __restrict__ out, int rows, int cols)
{
    __shared__ T tile[TILE][TILE + 1];

    int col = blockIdx.x * TILE + threadIdx.x;
    int row = blockIdx.y * TILE + threadIdx.y;
    for (int i = 0; i < TILE; i += ROWS) {
        if (col < cols && row + i < rows) {
            tile[threadIdx.y + i][threadIdx.x] = in[(row + i) * cols + col];
        }
    }
    __syncthreads();

    col = blockIdx.y * TILE + threadIdx.x;
    row = blockIdx.x * TILE + threadIdx.y;
    for (int i = 0; i < TILE; i += ROWS) {
        if (col < rows && row + i < cols) {
            out[(row + i) * rows + col] = tile[threadIdx.x][threadIdx.y + i];
        }
    }
}

template __global__ void transpose<float, 32, 8>(const float*, float*, int, int);
