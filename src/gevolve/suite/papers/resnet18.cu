// The layers of a residual network for images, one kernel each; the host runs them in turn.
//
// Arrays are [image][channel][row][column], and a thread makes one element of the output.

extern "C" __global__ void convolution(float *input, float *weights, float *output, int count, int channels,
                                       int size, int outputs, int side, int stride)
{
    int index = blockIdx.x * blockDim.x + threadIdx.x;
    if (index >= count)
        return;
    int result = size / stride;
    int x = index % result;
    int y = index / result % result;
    int feature = index / result / result % outputs;
    int image = index / result / result / outputs;

    float sum = 0.0;
    for (int c = 0; c < channels; c++) {
        for (int i = 0; i < side; i++) {
            for (int j = 0; j < side; j++) {
                int row = y * stride + i - side / 2;
                int column = x * stride + j - side / 2;
                if (row >= 0 && row < size && column >= 0 && column < size)
                    sum += input[((image * channels + c) * size + row) * size + column] *
                           weights[((feature * channels + c) * side + i) * side + j];
            }
        }
    }
    output[index] = sum;
}

extern "C" __global__ void batch_norm(float *data, float *scale, float *bias, float *mean, float *variance,
                                      int count, int channels, int pixels)
{
    int index = blockIdx.x * blockDim.x + threadIdx.x;
    if (index >= count)
        return;
    int c = index / pixels % channels;
    data[index] = scale[c] * (data[index] - mean[c]) / sqrt(variance[c] + 1e-5) + bias[c];
}

extern "C" __global__ void relu(float *data, int count)
{
    int index = blockIdx.x * blockDim.x + threadIdx.x;
    if (index < count)
        data[index] = fmaxf(data[index], 0.0);
}

extern "C" __global__ void add(float *data, float *other, int count)
{
    int index = blockIdx.x * blockDim.x + threadIdx.x;
    if (index < count)
        data[index] += other[index];
}

// The largest of the 3x3 pixels around every second one.
extern "C" __global__ void max_pool(float *input, float *output, int count, int size)
{
    int index = blockIdx.x * blockDim.x + threadIdx.x;
    if (index >= count)
        return;
    int result = size / 2;
    int x = index % result;
    int y = index / result % result;
    int plane = index / result / result;

    float largest = -INFINITY;
    for (int i = -1; i <= 1; i++) {
        for (int j = -1; j <= 1; j++) {
            int row = 2 * y + i;
            int column = 2 * x + j;
            if (row >= 0 && row < size && column >= 0 && column < size)
                largest = fmaxf(largest, input[(plane * size + row) * size + column]);
        }
    }
    output[index] = largest;
}

// The mean of each channel of each image.
extern "C" __global__ void mean_pool(float *input, float *output, int count, int pixels)
{
    int index = blockIdx.x * blockDim.x + threadIdx.x;
    if (index >= count)
        return;
    float sum = 0.0;
    for (int pixel = 0; pixel < pixels; pixel++)
        sum += input[index * pixels + pixel];
    output[index] = sum / pixels;
}

extern "C" __global__ void dense(float *input, float *weights, float *bias, float *output, int count,
                                 int inputs, int outputs)
{
    int index = blockIdx.x * blockDim.x + threadIdx.x;
    if (index >= count)
        return;
    int image = index / outputs;
    int feature = index % outputs;
    float sum = bias[feature];
    for (int i = 0; i < inputs; i++)
        sum += input[image * inputs + i] * weights[feature * inputs + i];
    output[index] = sum;
}
