// How often each of the 256 byte values occurs in an array of bytes.
//
// Atomics on global memory from all threads would queue up, so every warp counts into a histogram
// of its own in shared memory; the block adds these up and touches each global bin at most once.

constexpr int BINS = 256;
constexpr int WARPS = 6;
constexpr int BLOCK = WARPS * 32;

__device__ void count_word(unsigned* bins, unsigned word)
{
    atomicAdd(&bins[word & 0xff], 1u);
    atomicAdd(&bins[(word >> 8) & 0xff], 1u);
    atomicAdd(&bins[(word >> 16) & 0xff], 1u);
    atomicAdd(&bins[word >> 24], 1u);
}

__global__ void __launch_bounds__(BLOCK)
histogram(const unsigned char* __restrict__ bytes, unsigned* __restrict__ counts, int n)
{
    __shared__ unsigned private_bins[WARPS][BINS];

    for (int i = threadIdx.x; i < WARPS * BINS; i += BLOCK) {
        private_bins[i / BINS][i % BINS] = 0;
    }
    __syncthreads();

    unsigned* mine = private_bins[threadIdx.x / 32];
    const int first = blockIdx.x * BLOCK + threadIdx.x;
    const int stride = gridDim.x * BLOCK;

    // Four bytes at a time, then the up to three that are left over.
    const unsigned* words = reinterpret_cast<const unsigned*>(bytes);
    const int whole = n / 4;
    for (int i = first; i < whole; i += stride) {
        count_word(mine, words[i]);
    }
    const int rest = 4 * whole + first;
    if (rest < n) {
        atomicAdd(&mine[bytes[rest]], 1u);
    }
    __syncthreads();

    for (int bin = threadIdx.x; bin < BINS; bin += BLOCK) {
        unsigned total = 0;
        for (int warp = 0; warp < WARPS; ++warp) {
            total += private_bins[warp][bin];
        }
        if (total > 0) {
            atomicAdd(&counts[bin], total);
        }
    }
}
