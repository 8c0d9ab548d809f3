// Stars that attract each other: every thread adds up the pull of all the others on its own star.

#define SOFTENING 1e-3

extern "C" __global__ void accelerate(float *x, float *y, float *z, float *mass, float *vx, float *vy,
                                      float *vz, int count, float step)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count)
        return;
    float ax = 0;
    float ay = 0;
    float az = 0;
    for (int j = 0; j < count; j++) {
        float dx = x[j] - x[i];
        float dy = y[j] - y[i];
        float dz = z[j] - z[i];
        float r2 = dx * dx + dy * dy + dz * dz + SOFTENING;
        float pull = mass[j] / (r2 * sqrt(r2));
        ax += dx * pull;
        ay += dy * pull;
        az += dz * pull;
    }
    vx[i] += ax * step;
    vy[i] += ay * step;
    vz[i] += az * step;
}

extern "C" __global__ void move(float *x, float *y, float *z, float *vx, float *vy, float *vz,
                                int count, float step)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count)
        return;
    x[i] += vx[i] * step;
    y[i] += vy[i] * step;
    z[i] += vz[i] * step;
}
