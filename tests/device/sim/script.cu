// Every thread does as a script says: in each step it may read, write or count in one of four cells of
// shared or global memory; then all synchronise, or parts do, or nobody does.
extern "C" __global__ void script(const int *acts, const int *syncs, int *cells, int *out, int steps)
{
    __shared__ int tile[4];
    int t = threadIdx.x, i = blockIdx.x * 64 + t, sum = 0;
    if (t < 4) tile[t] = 0;
    __syncthreads();
    for (int step = 0; step < steps; ++step) {
        int act = acts[(blockIdx.x * steps + step) * 64 + t];
        int *cell = (act & 16 ? tile : cells) + (act >> 2 & 3);
        if ((act & 3) == 1) sum += *cell;
        if ((act & 3) == 2) *cell = t;
        if ((act & 3) == 3) atomicAdd(cell, 1);
        if (syncs[step] == 1) __syncthreads();
        if (syncs[step] == 2) __syncwarp();
        if (syncs[step] == 3) __syncwarp(t % 32 < 16 ? 0x0000ffffu : 0xffff0000u);
    }
    out[i] = sum;
}
