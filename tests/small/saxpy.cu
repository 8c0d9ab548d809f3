extern "C" __global__ void saxpy(float *y, const float *x, float a, int n)
{
    __shared__ float tile[128];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    tile[threadIdx.x] = i < n ? x[i] : 0.0f;
    __syncthreads();
    float value = tile[threadIdx.x];
    __syncthreads();
    if (i < n)
        y[i] = a * value + y[i];
}
