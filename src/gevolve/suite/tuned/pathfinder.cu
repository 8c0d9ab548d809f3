// The cheapest way from the top of a grid of costs to each cell of its bottom row, going straight
// down or diagonally by one column at a time.
//
// One launch works through `height` rows. A block keeps the costs so far of its columns in shared
// memory, in two buffers that swap after every row. It starts with `height` columns too many on
// either side, because each row costs it one column of what it knows at each end.

constexpr int BLOCK = 256;

__global__ void __launch_bounds__(BLOCK)
pathfinder(const int* __restrict__ wall, const int* __restrict__ above, int* __restrict__ below,
           int cols, int first, int height)
{
    __shared__ int paths[2][BLOCK];

    const int tx = threadIdx.x;
    const int inner = BLOCK - 2 * height;
    const int col = blockIdx.x * inner + tx - height;
    const bool inside = col >= 0 && col < cols;

    if (inside) {
        paths[0][tx] = above[col];
    }
    __syncthreads();

    // At the ends of the grid a cell has only two neighbours above it.
    const int left = col > 0 ? tx - 1 : tx;
    const int right = col < cols - 1 ? tx + 1 : tx;

    int from = 0;
    for (int i = 0; i < height; ++i) {
        const int to = 1 - from;
        const bool known = inside && tx > i && tx < BLOCK - 1 - i;
        if (known) {
            const int cheapest = min(min(paths[from][left], paths[from][tx]), paths[from][right]);
            paths[to][tx] = cheapest + wall[(first + i) * cols + col];
        }
        __syncthreads();
        from = to;
    }

    if (inside && tx >= height && tx < BLOCK - height) {
        below[col] = paths[from][tx];
    }
}
