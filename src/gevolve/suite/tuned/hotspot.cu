// How the temperature of a chip develops, given the power that each cell dissipates.
//
// One launch advances the whole grid by `steps` time steps. A block loads a tile that is `steps`
// cells wider on every side than what it will write, and lets the part of it that is still right
// shrink by one ring per step. Neighbouring blocks compute the overlap twice and need not talk to
// each other until the launch is over.

constexpr int TILE = 16;
constexpr float AMBIENT = 25.0f;

extern "C" __global__ void __launch_bounds__(TILE * TILE)
hotspot(const float* __restrict__ power, const float* __restrict__ before,
        float* __restrict__ after, int rows, int cols, int steps,
        float along_x, float along_y, float to_air, float capacity)
{
    __shared__ float now[TILE][TILE];
    __shared__ float next[TILE][TILE];
    __shared__ float heat[TILE][TILE];

    const int tx = threadIdx.x;
    const int ty = threadIdx.y;
    const int inner = TILE - 2 * steps;
    const int row = blockIdx.y * inner + ty - steps;
    const int col = blockIdx.x * inner + tx - steps;
    const bool inside = row >= 0 && row < rows && col >= 0 && col < cols;
    const int cell = row * cols + col;

    if (inside) {
        now[ty][tx] = before[cell];
        heat[ty][tx] = power[cell];
    }
    __syncthreads();

    // No heat flows over the edge of the chip: a missing neighbour is as warm as the cell itself.
    const int north = row > 0 ? ty - 1 : ty;
    const int south = row < rows - 1 ? ty + 1 : ty;
    const int west = col > 0 ? tx - 1 : tx;
    const int east = col < cols - 1 ? tx + 1 : tx;

    for (int step = 1; step <= steps; ++step) {
        const bool right = inside && tx >= step && tx < TILE - step &&
                           ty >= step && ty < TILE - step;
        if (right) {
            const float here = now[ty][tx];
            const float vertical = now[north][tx] + now[south][tx] - 2.0f * here;
            const float horizontal = now[ty][west] + now[ty][east] - 2.0f * here;
            next[ty][tx] = here + capacity * (heat[ty][tx] + along_y * vertical +
                                              along_x * horizontal + to_air * (AMBIENT - here));
        }
        __syncthreads();
        if (right) {
            now[ty][tx] = next[ty][tx];
        }
        __syncthreads();
    }

    const bool owned = inside && tx >= steps && tx < TILE - steps &&
                       ty >= steps && ty < TILE - steps;
    if (owned) {
        after[cell] = now[ty][tx];
    }
}
