// One layer of a neural network: its forward pass, and the update of its weights.
//
// A block takes ROWS inputs and all UNITS hidden units: thread (x, y) multiplies input y with its weight
// to unit x, and the products of each unit are added up in a tree. The host adds the blocks' sums.

#define UNITS 16
#define ROWS 16
#define RATE 0.3
#define MOMENTUM 0.3

extern "C" __global__ void forward(float *input, float *weights, float *partial)
{
    __shared__ float node[ROWS];
    __shared__ float product[ROWS][UNITS];

    int tx = threadIdx.x;
    int ty = threadIdx.y;
    int row = blockIdx.y * ROWS + ty;

    if (tx == 0)
        node[ty] = input[row + 1];
    __syncthreads();

    product[ty][tx] = weights[(row + 1) * (UNITS + 1) + tx + 1];
    __syncthreads();

    product[ty][tx] = product[ty][tx] * node[ty];
    __syncthreads();

    for (int level = 1; level <= 4; level++) {
        int width = (int)powf(2.0, level);
        if (ty % width == 0)
            product[ty][tx] = product[ty][tx] + product[ty + width / 2][tx];
        __syncthreads();
    }

    if (ty == 0)
        partial[blockIdx.y * UNITS + tx] = product[0][tx];
}

// Each weight follows its unit's error, and keeps some of the direction that it moved in before.
extern "C" __global__ void adjust(float *delta, float *input, float *weights, float *previous)
{
    int tx = threadIdx.x;
    int ty = threadIdx.y;
    int row = blockIdx.y * ROWS + ty + 1;
    int index = row * (UNITS + 1) + tx + 1;

    weights[index] += (RATE * delta[tx + 1] * input[row]) + (MOMENTUM * previous[index]);
    previous[index] = (RATE * delta[tx + 1] * input[row]) + (MOMENTUM * previous[index]);
    __syncthreads();

    // Row 0 holds the weights of the constant input.
    if (ty == 0 && blockIdx.y == 0) {
        weights[tx + 1] += (RATE * delta[tx + 1]) + (MOMENTUM * previous[tx + 1]);
        previous[tx + 1] = (RATE * delta[tx + 1]) + (MOMENTUM * previous[tx + 1]);
    }
}
