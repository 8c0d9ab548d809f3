// Speckle reducing anisotropic diffusion: an ultrasound image loses its speckles and keeps its edges.
// Images are stored column by column; iN, iS, jW, jE hold the neighbours of each row and column.

extern "C" __global__ void extract(long count, float *image)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count)
        image[i] = exp(image[i] / 255);
}

extern "C" __global__ void prepare(long count, float *image, float *sums, float *sums2)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) {
        sums[i] = image[i];
        sums2[i] = image[i] * image[i];
    }
}

// Each block adds up as many values as it has threads; the host launches it until one is left.
extern "C" __global__ void reduce(long count, float *sums, float *sums2, float *out, float *out2)
{
    __shared__ float psum[256];
    __shared__ float psum2[256];
    int tx = threadIdx.x;
    int i = blockIdx.x * blockDim.x + tx;

    psum[tx] = i < count ? sums[i] : 0;
    psum2[tx] = i < count ? sums2[i] : 0;
    __syncthreads();

    for (int width = 2; width <= blockDim.x; width = 2 * width) {
        if ((tx + 1) % width == 0) {
            psum[tx] = psum[tx] + psum[tx - width / 2];
            psum2[tx] = psum2[tx] + psum2[tx - width / 2];
        }
        __syncthreads();
    }
    if (tx == blockDim.x - 1) {
        out[blockIdx.x] = psum[tx];
        out2[blockIdx.x] = psum2[tx];
    }
}

// The four differences to the neighbours, and how freely the pixel diffuses.
extern "C" __global__ void srad(int rows, int cols, int *iN, int *iS, int *jE, int *jW, float *dN,
                                float *dS, float *dE, float *dW, float q0sqr, float *c, float *image)
{
    int ei = blockIdx.x * blockDim.x + threadIdx.x;
    int row = (ei + 1) % rows - 1;
    int col = (ei + 1) / rows + 1 - 1;
    if ((ei + 1) % rows == 0) {
        row = rows - 1;
        col = col - 1;
    }

    if (ei < rows * cols) {
        float here = image[ei];
        float n = image[iN[row] + rows * col] - here;
        float s = image[iS[row] + rows * col] - here;
        float w = image[row + rows * jW[col]] - here;
        float e = image[row + rows * jE[col]] - here;

        float g2 = (n * n + s * s + w * w + e * e) / (here * here);
        float l = (n + s + w + e) / here;
        float num = (0.5 * g2) - ((1.0 / 16.0) * (l * l));
        float den = 1 + (0.25 * l);
        float qsqr = num / (den * den);
        den = (qsqr - q0sqr) / (q0sqr * (1 + q0sqr));
        float free = 1.0 / (1.0 + den);
        if (free < 0)
            free = 0;
        else if (free > 1)
            free = 1;

        dN[ei] = n;
        dS[ei] = s;
        dW[ei] = w;
        dE[ei] = e;
        c[ei] = free;
    }
}

extern "C" __global__ void srad2(float lambda, int rows, int cols, int *iS, int *jE, float *dN,
                                 float *dS, float *dE, float *dW, float *c, float *image)
{
    int ei = blockIdx.x * blockDim.x + threadIdx.x;
    int row = (ei + 1) % rows - 1;
    int col = (ei + 1) / rows + 1 - 1;
    if ((ei + 1) % rows == 0) {
        row = rows - 1;
        col = col - 1;
    }

    if (ei < rows * cols) {
        float cN = c[ei];
        float cS = c[iS[row] + rows * col];
        float cW = c[ei];
        float cE = c[row + rows * jE[col]];
        float divergence = cN * dN[ei] + cS * dS[ei] + cW * dW[ei] + cE * dE[ei];
        image[ei] = image[ei] + 0.25 * lambda * divergence;
    }
}

extern "C" __global__ void compress(long count, float *image)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count)
        image[i] = log(image[i]) * 255;
}
