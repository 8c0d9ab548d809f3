// Clustering of a stream of points: what would be saved if a point became a new centre. Each thread takes
// one point and compares its present centre with the candidate.

struct Point {
    float weight;
    long assign;   // the point that is its centre
    float cost;    // its distance from there, times its weight
};

// Squared distance of two points; coordinates are stored dimension by dimension.
__device__ float distance(int p1, int p2, int num, int dim, float *coord)
{
    float sum = 0.0;
    for (int i = 0; i < dim; i++) {
        float tmp = coord[(i * num) + p1] - coord[(i * num) + p2];
        sum += tmp * tmp;
    }
    return sum;
}

extern "C" __global__ void gains(int num, int dim, long x, Point *points, int k, int stride,
                                 float *coord, float *work, int *table, bool *switches)
{
    const int bid = blockIdx.x + gridDim.x * blockIdx.y;
    const int tid = blockDim.x * bid + threadIdx.x;

    if (tid < num) {
        float *lower = &work[tid * stride];

        float x_cost = distance(tid, x, num, dim, coord) * points[tid].weight;
        float current_cost = points[tid].cost;

        if (x_cost < current_cost) {
            switches[tid] = true;
            lower[k] += x_cost - current_cost;
        } else {
            lower[table[points[tid].assign]] += current_cost - x_cost;
        }
    }
}
