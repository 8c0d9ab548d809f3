// A kernel with work to leave out: each element is scaled twice, and a barrier guards nothing.

extern "C" __global__ void smooth(const float *in, float *out, int n) {
    __shared__ float tile[66];
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    tile[t + 1] = i < n ? in[i] : 0.0f;
    if (t == 0) tile[0] = i > 0 ? in[i - 1] : 0.0f;
    if (t == 63) tile[65] = i + 1 < n ? in[i + 1] : 0.0f;
    __syncthreads();
    float sum = 0.0f;
    for (int k = 0; k < 3; k++) sum += tile[t + k];
    __syncthreads();
    if (i < n) out[i] = sum * 0.5f / 1.5f;
}
