// The cheapest way through a grid of costs, from its first row down. A launch takes several rows: a block
// starts with more columns than it can finish, and gives up one on each side with every row.

#define BLOCK_SIZE 256
#define HALO 1
#define IN_RANGE(x, min, max) ((x) >= (min) && (x) <= (max))
#define MIN(a, b) ((a) <= (b) ? (a) : (b))

extern "C" __global__ void pathfinder(int iteration, int *wall, int *before, int *after, int cols,
                                      int rows, int start_step, int border)
{
    __shared__ int prev[BLOCK_SIZE];
    __shared__ int result[BLOCK_SIZE];

    int bx = blockIdx.x;
    int tx = threadIdx.x;

    int small_cols = BLOCK_SIZE - iteration * HALO * 2;
    int first = small_cols * bx - border;
    int last = first + BLOCK_SIZE - 1;
    int x = first + tx;

    int valid_min = (first < 0) ? -first : 0;
    int valid_max = (last > cols - 1) ? BLOCK_SIZE - 1 - (last - cols + 1) : BLOCK_SIZE - 1;

    int w = tx - 1;
    int e = tx + 1;
    w = (w < valid_min) ? valid_min : w;
    e = (e > valid_max) ? valid_max : e;

    bool is_valid = IN_RANGE(tx, valid_min, valid_max);

    if (IN_RANGE(x, 0, cols - 1))
        prev[tx] = before[x];
    __syncthreads();

    bool computed;
    for (int i = 0; i < iteration; i++) {
        computed = false;
        if (IN_RANGE(tx, i + 1, BLOCK_SIZE - i - 2) && is_valid) {
            computed = true;
            int left = prev[w];
            int up = prev[tx];
            int right = prev[e];
            int shortest = MIN(left, up);
            shortest = MIN(shortest, right);
            int index = cols * (start_step + i) + x;
            result[tx] = shortest + wall[index];
        }
        __syncthreads();
        if (i == iteration - 1)
            break;
        if (computed)
            prev[tx] = result[tx];
        __syncthreads();
    }

    if (computed)
        after[x] = result[tx];
}
