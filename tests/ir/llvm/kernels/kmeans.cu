// One round of k-means: the nearest centre of each point, then the sum and the number of the points
// of each centre. The centres are in constant memory; coordinates are stored one array per axis.

constexpr int AXES = 3;
constexpr int MOST = 16; // centres

__constant__ float centres[MOST * AXES];
__device__ unsigned moved_points;

__device__ float squared_distance(const float (&point)[AXES], int centre)
{
    float sum = 0.0f;
    #pragma unroll
    for (int axis = 0; axis < AXES; ++axis) {
        const float difference = point[axis] - centres[centre * AXES + axis];
        sum = fmaf(difference, difference, sum);
    }
    return sum;
}

extern "C" __global__ void assign(const float* __restrict__ points, short* __restrict__ cluster,
                                  int count, int centre_count)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    bool moved = false;
    if (i < count) {
        float point[AXES];
        #pragma unroll
        for (int axis = 0; axis < AXES; ++axis) {
            point[axis] = points[axis * count + i];
        }
        short nearest = 0;
        float least = squared_distance(point, 0);
        for (short centre = 1; centre < centre_count; ++centre) {
            const float distance = squared_distance(point, centre);
            if (distance < least) {
                least = distance;
                nearest = centre;
            }
        }
        moved = cluster[i] != nearest;
        cluster[i] = nearest;
    }
    // One atomic per warp: a lane that is first of the movers speaks for all of them.
    const unsigned movers = __ballot_sync(0xffffffffu, moved);
    if (moved && __ffs(movers) - 1 == threadIdx.x % 32) {
        atomicAdd(&moved_points, static_cast<unsigned>(__popc(movers)));
    }
}

extern "C" __global__ void accumulate(const float* __restrict__ points,
                                      const short* __restrict__ cluster, float* sums,
                                      int* members, int count, int centre_count)
{
    __shared__ float block_sums[MOST][AXES];
    __shared__ int block_members[MOST];

    for (int c = threadIdx.x; c < centre_count; c += blockDim.x) {
        block_members[c] = 0;
        for (int axis = 0; axis < AXES; ++axis) {
            block_sums[c][axis] = 0.0f;
        }
    }
    __syncthreads();

    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) {
        const int c = cluster[i];
        atomicAdd(&block_members[c], 1);
        for (int axis = 0; axis < AXES; ++axis) {
            atomicAdd(&block_sums[c][axis], points[axis * count + i]);
        }
    }
    __syncthreads();

    for (int c = threadIdx.x; c < centre_count; c += blockDim.x) {
        atomicAdd(&members[c], block_members[c]);
        for (int axis = 0; axis < AXES; ++axis) {
            atomicAdd(&sums[c * AXES + axis], block_sums[c][axis]);
        }
    }
}
