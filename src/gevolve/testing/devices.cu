// Kernels for the conformance suite: one for each thing that every kernel device must get right.

struct Shape {
    int width;
    double scale;
    float offset;
};

__constant__ float weights[4] = {1.0f, 2.0f, 3.0f, 4.0f};
__device__ int visits = 7;

extern "C" __global__ void saxpy(float a, const float *x, float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a * x[i] + y[i];
}

extern "C" __global__ void scaled(Shape shape, const float *in, float *out, unsigned char add, long long more,
                                  double half, bool on) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= shape.width) return;
    int i = y * shape.width + x;
    float base = in[i] * (float)shape.scale + shape.offset;
    out[i] = on ? base + add + (float)more + (float)half : 0.0f;
}

extern "C" __global__ void counts(float *out) {
    out[threadIdx.x] = weights[threadIdx.x & 3];
    atomicAdd(&visits, 1);
}

extern "C" __global__ void reversed(const int *in, int *out) {
    extern __shared__ int tile[];
    tile[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = tile[blockDim.x - 1 - threadIdx.x];
}

extern "C" __global__ void last_of(int *out, int words) {
    extern __shared__ int tile[];
    for (int i = threadIdx.x; i < words; i += blockDim.x) tile[i] = i;
    __syncthreads();
    if (threadIdx.x == 0) out[0] = tile[words - 1];
}

extern "C" __global__ void __launch_bounds__(64) small(int *out) { out[threadIdx.x] = threadIdx.x; }

extern "C" __global__ void writes_at(float *out, long long at) {
    if (threadIdx.x == 0) out[at] = 1.0f;
}

extern "C" __global__ void misaligned(char *out) { *(double *)(out + 4) = 1.0; }

extern "C" __global__ void traps(int *out) {
    if (out[0] == 0) __trap();
    out[0] = 1;
}
