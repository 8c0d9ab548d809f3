// How the temperature of a chip develops, given the power that each cell dissipates.
//
// A launch advances the grid by several steps. A block loads a tile with a border as wide as there are
// steps; the part of the tile that is right shrinks by one cell on each side with every step.

#define BLOCK_SIZE 16
#define EXPAND_RATE 2
#define IN_RANGE(x, min, max) ((x) >= (min) && (x) <= (max))
#define MIN(a, b) ((a) <= (b) ? (a) : (b))

extern "C" __global__ void hotspot(int iteration, float *power, float *before, float *after,
                                   int cols, int rows, int border_cols, int border_rows, float cap,
                                   float rx, float ry, float rz, float step)
{
    __shared__ float temp_here[BLOCK_SIZE][BLOCK_SIZE];
    __shared__ float power_here[BLOCK_SIZE][BLOCK_SIZE];
    __shared__ float temp_next[BLOCK_SIZE][BLOCK_SIZE];

    float amb_temp = 80.0;
    float step_div_cap;
    float rx_1, ry_1, rz_1;

    int bx = blockIdx.x;
    int by = blockIdx.y;
    int tx = threadIdx.x;
    int ty = threadIdx.y;

    step_div_cap = step / cap;
    rx_1 = 1 / rx;
    ry_1 = 1 / ry;
    rz_1 = 1 / rz;

    // A block's own cells are fewer than its threads.
    int small_rows = BLOCK_SIZE - iteration * EXPAND_RATE;
    int small_cols = BLOCK_SIZE - iteration * EXPAND_RATE;

    int first_y = small_rows * by - border_rows;
    int first_x = small_cols * bx - border_cols;
    int last_y = first_y + BLOCK_SIZE - 1;
    int last_x = first_x + BLOCK_SIZE - 1;

    int y = first_y + ty;
    int x = first_x + tx;
    int index = cols * y + x;

    if (IN_RANGE(y, 0, rows - 1) && IN_RANGE(x, 0, cols - 1)) {
        temp_here[ty][tx] = before[index];
        power_here[ty][tx] = power[index];
    }
    __syncthreads();

    // The tile's cells that lie on the chip.
    int valid_y_min = (first_y < 0) ? -first_y : 0;
    int valid_y_max = (last_y > rows - 1) ? BLOCK_SIZE - 1 - (last_y - rows + 1) : BLOCK_SIZE - 1;
    int valid_x_min = (first_x < 0) ? -first_x : 0;
    int valid_x_max = (last_x > cols - 1) ? BLOCK_SIZE - 1 - (last_x - cols + 1) : BLOCK_SIZE - 1;

    int n = ty - 1;
    int s = ty + 1;
    int w = tx - 1;
    int e = tx + 1;
    n = (n < valid_y_min) ? valid_y_min : n;
    s = (s > valid_y_max) ? valid_y_max : s;
    w = (w < valid_x_min) ? valid_x_min : w;
    e = (e > valid_x_max) ? valid_x_max : e;

    bool computed;
    for (int i = 0; i < iteration; i++) {
        computed = false;
        if (IN_RANGE(tx, i + 1, BLOCK_SIZE - i - 2) && IN_RANGE(ty, i + 1, BLOCK_SIZE - i - 2) &&
            IN_RANGE(tx, valid_x_min, valid_x_max) && IN_RANGE(ty, valid_y_min, valid_y_max)) {
            computed = true;
            temp_next[ty][tx] =
                temp_here[ty][tx] +
                step_div_cap *
                    (power_here[ty][tx] +
                     (temp_here[s][tx] + temp_here[n][tx] - 2.0 * temp_here[ty][tx]) * ry_1 +
                     (temp_here[ty][e] + temp_here[ty][w] - 2.0 * temp_here[ty][tx]) * rx_1 +
                     (amb_temp - temp_here[ty][tx]) * rz_1);
        }
        __syncthreads();
        if (i == iteration - 1)
            break;
        if (computed)
            temp_here[ty][tx] = temp_next[ty][tx];
        __syncthreads();
    }

    if (computed)
        after[index] = temp_next[ty][tx];
}
