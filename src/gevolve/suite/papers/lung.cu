// An infection in a sheet of lung tissue. Virus diffuses and decays, cells are infected, produce virus and
// die; T cells walk about and kill infected cells. Random numbers are hashes of (seed, step, place), so
// that the same run comes out on every machine.

#define HEALTHY 0
#define INCUBATING 1
#define EXPRESSING 2
#define DYING 3
#define DEAD 4

__device__ unsigned int hashed(unsigned int seed, unsigned int step, unsigned int place)
{
    unsigned int h = seed * 747796405u + step * 2891336453u + place * 277803737u;
    h = ((h >> ((h >> 28) + 4)) ^ h) * 277803737u;
    return (h >> 22) ^ h;
}

__device__ float uniform(unsigned int seed, unsigned int step, unsigned int place)
{
    return (hashed(seed, step, place) >> 8) / 16777216.0;
}

extern "C" __global__ void diffuse(float *virus, float *next, float *signal, float *next_signal,
                                   int width, int height, float spread, float decay)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= width * height)
        return;
    int x = i % width;
    int y = i / width;

    float around = 0.0;
    float around_signal = 0.0;
    int near = 0;
    for (int dy = -1; dy <= 1; dy++) {
        for (int dx = -1; dx <= 1; dx++) {
            if (dx == 0 && dy == 0)
                continue;
            int other_x = x + dx;
            int other_y = y + dy;
            if (other_x < 0 || other_x >= width || other_y < 0 || other_y >= height)
                continue;
            around += virus[other_y * width + other_x];
            around_signal += signal[other_y * width + other_x];
            near++;
        }
    }
    next[i] = ((1.0 - spread) * virus[i] + spread * around / near) * (1.0 - decay);
    next_signal[i] = ((1.0 - spread) * signal[i] + spread * around_signal / near) * (1.0 - decay);
}

extern "C" __global__ void update_cells(int *state, int *timer, float *virus, float *signal,
                                        int *tcells, int count, float infectivity, float production,
                                        int incubation, int lifetime, unsigned int seed,
                                        unsigned int step)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count)
        return;

    if (state[i] == HEALTHY) {
        if (uniform(seed, step, i) < virus[i] * infectivity) {
            state[i] = INCUBATING;
            timer[i] = incubation + hashed(seed, step, i) % 3;
        }
    } else if (state[i] == INCUBATING) {
        timer[i] = timer[i] - 1;
        if (timer[i] <= 0) {
            state[i] = EXPRESSING;
            timer[i] = lifetime;
        }
    } else if (state[i] == EXPRESSING) {
        virus[i] = virus[i] + production;
        signal[i] = fminf(signal[i] + 0.5, 1.0);
        timer[i] = timer[i] - 1;
        if (timer[i] <= 0)
            state[i] = DEAD;
        else if (tcells[i] > 0)
            state[i] = DYING;
    } else if (state[i] == DYING) {
        state[i] = DEAD;
    }
}

// A T cell stays where it smells the infection, and else goes to a neighbouring place.
extern "C" __global__ void move_tcells(int *tcells, int *next, float *signal, int width, int height,
                                       unsigned int seed, unsigned int step)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= width * height)
        return;
    int x = i % width;
    int y = i / width;
    for (int t = 0; t < tcells[i]; t++) {
        int to_x = x;
        int to_y = y;
        if (signal[i] < 0.2) {
            unsigned int way = hashed(seed ^ 0x5bd1e995u, step, i * 16 + t) % 9;
            to_x = x + (int)(way % 3) - 1;
            to_y = y + (int)(way / 3) - 1;
            to_x = max(0, min(width - 1, to_x));
            to_y = max(0, min(height - 1, to_y));
        }
        atomicAdd(&next[to_y * width + to_x], 1);
    }
}

extern "C" __global__ void count_states(int *state, int *counts, int count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count)
        atomicAdd(&counts[state[i]], 1);
}
