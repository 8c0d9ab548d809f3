// Clustering: each point goes to the nearest of a few centres. The host moves the centres.

#define FLT_MAX 3.40282347e+38

// Features come point by point and are wanted feature by feature.
extern "C" __global__ void invert(float *input, float *output, int points, int features)
{
    int point = threadIdx.x + blockDim.x * blockIdx.x;
    if (point < points)
        for (int i = 0; i < features; i++)
            output[point + points * i] = input[point * features + i];
}

extern "C" __global__ void assign(float *features, int count, int points, int clusters,
                                  int *membership, float *centres)
{
    int point = blockIdx.x * blockDim.x + threadIdx.x;
    int index = -1;

    if (point < points) {
        float min_dist = FLT_MAX;
        for (int i = 0; i < clusters; i++) {
            int base = i * count;
            float ans = 0.0;
            for (int j = 0; j < count; j++) {
                int addr = point + j * points;
                float diff = features[addr] - centres[base + j];
                ans += diff * diff;
            }
            float dist = ans;
            if (dist < min_dist) {
                min_dist = dist;
                index = i;
            }
        }
        membership[point] = index;
    }
}
