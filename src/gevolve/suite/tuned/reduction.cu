// The sum of a vector, in two launches of one kernel: each block leaves one partial sum, and a
// single block then adds the partial sums.
//
// Within a block the lanes of a warp add up by shuffles; the warps' sums meet in shared memory,
// where the first warp adds them the same way.

constexpr int WARP = 32;
constexpr unsigned ALL_LANES = 0xffffffffu;

template <typename T>
__device__ __forceinline__ T warp_sum(T value)
{
    for (int distance = WARP / 2; distance > 0; distance /= 2) {
        value += __shfl_down_sync(ALL_LANES, value, distance);
    }
    return value; // the whole sum in lane 0 only
}

extern "C" __global__ void reduce(const float* __restrict__ values, float* __restrict__ sums, int n)
{
    __shared__ float warp_sums[WARP];

    const int lane = threadIdx.x % WARP;
    const int warp = threadIdx.x / WARP;
    const int warps = blockDim.x / WARP;

    float sum = 0.0f;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        sum += values[i];
    }

    sum = warp_sum(sum);
    if (lane == 0) {
        warp_sums[warp] = sum;
    }
    __syncthreads();

    if (warp == 0) {
        sum = lane < warps ? warp_sums[lane] : 0.0f;
        sum = warp_sum(sum);
        if (lane == 0) {
            sums[blockIdx.x] = sum;
        }
    }
}
