// A sparse matrix times a vector, in compressed rows: one thread for each row, or one warp.

extern "C" __global__ void spmv_scalar(int rows, int *begin, int *columns, float *values, float *x,
                                       float *y)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < rows) {
        y[row] = 0.0;
        for (int i = begin[row]; i < begin[row + 1]; i++)
            y[row] += values[i] * x[columns[i]];
    }
}

extern "C" __global__ void spmv_vector(int rows, int *begin, int *columns, float *values, float *x,
                                       float *y)
{
    __shared__ volatile float sums[128];
    int thread = blockIdx.x * blockDim.x + threadIdx.x;
    int row = thread / 32;
    int lane = threadIdx.x % 32;

    sums[threadIdx.x] = 0;
    if (row < rows)
        for (int i = begin[row] + lane; i < begin[row + 1]; i += 32)
            sums[threadIdx.x] += values[i] * x[columns[i]];
    __syncthreads();

    for (int width = 16; width > 0; width = width / 2) {
        if (lane < width)
            sums[threadIdx.x] += sums[threadIdx.x + width];
        __syncthreads();
    }
    if (lane == 0 && row < rows)
        y[row] = sums[threadIdx.x];
}
