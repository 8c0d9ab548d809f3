// Running sums of a long vector: inside each block, over the blocks' totals, and both added up.

#define BLOCK_SIZE 256

extern "C" __global__ void scan_blocks(float *input, float *output, float *totals, int count)
{
    __shared__ float temp[2][BLOCK_SIZE];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int now = 0;

    temp[now][threadIdx.x] = i < count ? input[i] : 0;
    __syncthreads();

    for (int offset = 1; offset < BLOCK_SIZE; offset *= 2) {
        int next = 1 - now;
        if (threadIdx.x >= offset)
            temp[next][threadIdx.x] = temp[now][threadIdx.x] + temp[now][threadIdx.x - offset];
        else
            temp[next][threadIdx.x] = temp[now][threadIdx.x];
        now = next;
        __syncthreads();
    }

    if (i < count)
        output[i] = temp[now][threadIdx.x];
    if (threadIdx.x == BLOCK_SIZE - 1)
        totals[blockIdx.x] = temp[now][threadIdx.x];
}

extern "C" __global__ void add_totals(float *output, float *totals, int count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) {
        float before = 0;
        for (int block = 0; block < blockIdx.x; block++)
            before += totals[block];
        output[i] = output[i] + before;
    }
}
