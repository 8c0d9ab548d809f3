// Global alignment of two sequences (Needleman-Wunsch). The table of scores is filled tile by tile, one
// diagonal of tiles a launch; inside a tile, one diagonal of cells after the other.

#define BLOCK_SIZE 16

__device__ int maximum(int a, int b, int c)
{
    int k;
    if (a <= b)
        k = b;
    else
        k = a;
    if (k <= c)
        return c;
    else
        return k;
}

__device__ void fill(int *reference, int *scores, int cols, int penalty, int tile_x, int tile_y)
{
    __shared__ int temp[BLOCK_SIZE + 1][BLOCK_SIZE + 1];
    __shared__ int ref[BLOCK_SIZE][BLOCK_SIZE];

    int tx = threadIdx.x;
    int index = cols * BLOCK_SIZE * tile_y + BLOCK_SIZE * tile_x + tx + (cols + 1);
    int index_n = cols * BLOCK_SIZE * tile_y + BLOCK_SIZE * tile_x + tx + 1;
    int index_w = cols * BLOCK_SIZE * tile_y + BLOCK_SIZE * tile_x + cols;
    int index_nw = cols * BLOCK_SIZE * tile_y + BLOCK_SIZE * tile_x;

    if (tx == 0)
        temp[tx][0] = scores[index_nw];
    for (int ty = 0; ty < BLOCK_SIZE; ty++)
        ref[ty][tx] = reference[index + cols * ty];
    __syncthreads();

    temp[tx + 1][0] = scores[index_w + cols * tx];
    __syncthreads();

    temp[0][tx + 1] = scores[index_n];
    __syncthreads();

    for (int m = 0; m < BLOCK_SIZE; m++) {
        if (tx <= m) {
            int x = tx + 1;
            int y = m - tx + 1;
            temp[y][x] = maximum(temp[y - 1][x - 1] + ref[y - 1][x - 1], temp[y][x - 1] - penalty,
                                 temp[y - 1][x] - penalty);
        }
        __syncthreads();
    }

    for (int m = BLOCK_SIZE - 2; m >= 0; m--) {
        if (tx <= m) {
            int x = tx + BLOCK_SIZE - m;
            int y = BLOCK_SIZE - tx;
            temp[y][x] = maximum(temp[y - 1][x - 1] + ref[y - 1][x - 1], temp[y][x - 1] - penalty,
                                 temp[y - 1][x] - penalty);
        }
        __syncthreads();
    }

    for (int ty = 0; ty < BLOCK_SIZE; ty++)
        scores[index + ty * cols] = temp[ty + 1][tx + 1];
}

// Diagonals that grow, from the upper left corner.
extern "C" __global__ void upper(int *reference, int *scores, int cols, int penalty, int i)
{
    fill(reference, scores, cols, penalty, blockIdx.x, i - 1 - blockIdx.x);
}

// Diagonals that shrink, towards the lower right corner.
extern "C" __global__ void lower(int *reference, int *scores, int cols, int penalty, int i, int width)
{
    fill(reference, scores, cols, penalty, blockIdx.x + width - i, width - blockIdx.x - 1);
}
