// Inclusive prefix sums of any length: scan each block in (dynamic) shared memory, scan the blocks'
// totals in a single block, add to every block what came before it.

extern __shared__ unsigned scratch[];

// Sums up tree-wise, then hands the partial sums back down; scratch holds the exclusive scan after
// it. `count` is a power of two, with half as many threads.
__device__ unsigned sweep(int count)
{
    int offset = 1;
    for (int active = count >> 1; active > 0; active >>= 1) {
        __syncthreads();
        if (threadIdx.x < active) {
            const int left = offset * (2 * threadIdx.x + 1) - 1;
            const int right = offset * (2 * threadIdx.x + 2) - 1;
            scratch[right] += scratch[left];
        }
        offset <<= 1;
    }
    __syncthreads();
    const unsigned total = scratch[count - 1];
    __syncthreads();
    if (threadIdx.x == 0) {
        scratch[count - 1] = 0;
    }
    for (int active = 1; active < count; active <<= 1) {
        offset >>= 1;
        __syncthreads();
        if (threadIdx.x < active) {
            const int left = offset * (2 * threadIdx.x + 1) - 1;
            const int right = offset * (2 * threadIdx.x + 2) - 1;
            const unsigned kept = scratch[left];
            scratch[left] = scratch[right];
            scratch[right] += kept;
        }
    }
    __syncthreads();
    return total;
}

extern "C" __global__ void scan_blocks(const unsigned* in, unsigned* out, unsigned* totals, int n)
{
    const int count = 2 * blockDim.x;
    const int first = blockIdx.x * count + threadIdx.x;
    const int second = first + blockDim.x;
    const unsigned a = first < n ? in[first] : 0u;
    const unsigned b = second < n ? in[second] : 0u;
    scratch[threadIdx.x] = a;
    scratch[threadIdx.x + blockDim.x] = b;

    const unsigned total = sweep(count);

    if (first < n) {
        out[first] = scratch[threadIdx.x] + a;
    }
    if (second < n) {
        out[second] = scratch[threadIdx.x + blockDim.x] + b;
    }
    if (totals != nullptr && threadIdx.x == 0) {
        totals[blockIdx.x] = total;
    }
}

extern "C" __global__ void add_offsets(unsigned* out, const unsigned* scanned_totals, int n)
{
    if (blockIdx.x == 0) {
        return;
    }
    const unsigned before = scanned_totals[blockIdx.x - 1];
    const int start = blockIdx.x * 2 * blockDim.x;
    for (int i = threadIdx.x; i < 2 * blockDim.x && start + i < n; i += blockDim.x) {
        out[start + i] += before;
    }
}
