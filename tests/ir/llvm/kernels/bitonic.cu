// Sorts keys, each with a value, by bitonic merging; the length is a power of two. Stages that fit
// into a tile run in shared memory in one launch, wider ones in global memory with one launch each.

constexpr int TILE = 256;

struct Entry {
    unsigned key;
    unsigned value;
};

__device__ __forceinline__ void order(Entry& low, Entry& high, bool ascending)
{
    if ((low.key > high.key) == ascending) {
        const Entry kept = low;
        low = high;
        high = kept;
    }
}

// Sorts every tile from `first_span` on: from 2 it sorts from scratch, from more it only merges.
__global__ void __launch_bounds__(TILE / 2)
sort_tiles(unsigned* keys, unsigned* values, unsigned first_span, unsigned last_span)
{
    __shared__ Entry tile[TILE];

    const unsigned base = blockIdx.x * TILE;
    for (unsigned i = threadIdx.x; i < TILE; i += TILE / 2) {
        tile[i].key = keys[base + i];
        tile[i].value = values[base + i];
    }

    for (unsigned span = first_span; span <= last_span; span <<= 1) {
        unsigned distance = (span < TILE ? span : TILE) >> 1;
        do {
            __syncthreads();
            const unsigned low = 2 * threadIdx.x - (threadIdx.x & (distance - 1));
            const bool ascending = ((base + low) & span) == 0;
            order(tile[low], tile[low + distance], ascending);
            distance >>= 1;
        } while (distance > 0);
    }
    __syncthreads();

    for (unsigned i = threadIdx.x; i < TILE; i += TILE / 2) {
        keys[base + i] = tile[i].key;
        values[base + i] = tile[i].value;
    }
}

__global__ void merge_step(unsigned* keys, unsigned* values, unsigned pairs, unsigned span,
                           unsigned distance)
{
    const unsigned pair = blockIdx.x * blockDim.x + threadIdx.x;
    if (pair >= pairs) {
        return;
    }
    const unsigned low = 2 * pair - (pair & (distance - 1));
    const unsigned high = low + distance;
    Entry a = {keys[low], values[low]};
    Entry b = {keys[high], values[high]};
    order(a, b, (low & span) == 0);
    keys[low] = a.key;
    values[low] = a.value;
    keys[high] = b.key;
    values[high] = b.value;
}
