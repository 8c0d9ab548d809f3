// A picture filtered by a small window of weights. Beyond the edge, the picture is black.

extern "C" __global__ void conv2d(float *input, float *output, float *weights, int width, int height,
                                  int radius)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height)
        return;

    output[y * width + x] = 0.0;
    for (int dy = -radius; dy <= radius; dy++) {
        for (int dx = -radius; dx <= radius; dx++) {
            int other_x = x + dx;
            int other_y = y + dy;
            if (other_x >= 0 && other_x < width && other_y >= 0 && other_y < height)
                output[y * width + x] += input[other_y * width + other_x] *
                                         weights[(dy + radius) * (2 * radius + 1) + dx + radius];
        }
    }
}
