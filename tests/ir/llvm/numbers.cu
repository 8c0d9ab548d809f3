// Quotients of whole numbers, and lengths by which arrows are divided.
extern "C" __global__ void divide(const int *over, const int *by, const long long *large, float *out, int count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count)
        return;
    int divisor = by[i];
    out[i] = over[i] / divisor;
    out[count + i] = over[i] % divisor;
    out[2 * count + i] = large[i] / divisor;
    out[3 * count + i] = (unsigned)over[i] % (unsigned)divisor;
}

extern "C" __global__ void normalise(const float *x, const float *y, float *out, int count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count)
        return;
    float length = sqrtf(x[i] * x[i] + y[i] * y[i]);
    float sum = 0;
    for (int j = 1; j < 20; j++)
        sum += x[i] / (length + j);
    out[i] = sum;
}
