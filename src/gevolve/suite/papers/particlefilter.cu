// A particle filter follows a target through a film: each particle is a guess where it is. A frame weighs
// the guesses by what the image shows there, and draws the next ones by weight.

#define PI 3.1415926535897932

__device__ double round_to_whole(double value)
{
    int whole = (int)(value);
    if (value - whole < .5)
        return whole;
    else
        return whole + 1;
}

// How well the image fits each guess, summed over the pixels of a disk around it.
extern "C" __global__ void likelihood(double *xs, double *ys, int *disk_x, int *disk_y, int ones,
                                      unsigned char *image, int rows, int cols, double *weights,
                                      int particles)
{
    int i = blockDim.x * blockIdx.x + threadIdx.x;
    if (i < particles) {
        double sum = 0.0;
        for (int k = 0; k < ones; k++) {
            int x = (int)round_to_whole(xs[i]) + disk_x[k];
            int y = (int)round_to_whole(ys[i]) + disk_y[k];
            int index = abs(y * cols + x);
            if (index >= rows * cols)
                index = 0;
            sum += (pow((double)(image[index] - 100), 2) - pow((double)(image[index] - 228), 2)) / 50.0;
        }
        weights[i] = weights[i] * exp(sum / ones);
    }
}

// A block adds up the weights of its particles.
extern "C" __global__ void sum(double *weights, double *partial, int particles)
{
    __shared__ double buffer[128];
    int i = blockDim.x * blockIdx.x + threadIdx.x;
    buffer[threadIdx.x] = i < particles ? weights[i] : 0.0;
    __syncthreads();
    for (unsigned int s = blockDim.x / 2; s > 0; s >>= 1) {
        if (threadIdx.x < s)
            buffer[threadIdx.x] += buffer[threadIdx.x + s];
        __syncthreads();
    }
    if (threadIdx.x == 0)
        partial[blockIdx.x] = buffer[0];
}

// Weights become shares, and each of the evenly spaced marks gets its offset.
extern "C" __global__ void normalize(double *weights, double *partial, int blocks, double *u,
                                     double start, int particles)
{
    int i = blockDim.x * blockIdx.x + threadIdx.x;
    if (i < particles) {
        double total = 0.0;
        for (int k = 0; k < blocks; k++)
            total += partial[k];
        weights[i] = weights[i] / total;
        u[i] = start + i / ((double)(particles));
    }
}

// A new particle is the first one at which the shares so far reach its mark.
extern "C" __global__ void find_index(double *xs, double *ys, double *cdf, double *u, double *new_x,
                                      double *new_y, int particles)
{
    int i = blockDim.x * blockIdx.x + threadIdx.x;
    if (i < particles) {
        int index = -1;
        for (int x = 0; x < particles; x++) {
            if (cdf[x] >= u[i]) {
                index = x;
                break;
            }
        }
        if (index == -1)
            index = particles - 1;
        new_x[i] = xs[index];
        new_y[i] = ys[index];
    }
}
