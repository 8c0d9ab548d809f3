// Training of a support vector machine with a Gaussian kernel, by sequential minimal optimisation: the host
// picks a working set of the worst violators, `solve` optimises those alone, `update` tells all others.
//
// f[i] is how far point i is from where it should be: sum over j of alpha[j] y[j] K(i, j), minus y[i].
// Features are stored one after the other: x[feature * n + point].

#define WORKING 32

extern "C" __global__ void squares(float *x, float *norms, int n, int d)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float sum = 0;
        for (int k = 0; k < d; k++)
            sum += x[k * n + i] * x[k * n + i];
        norms[i] = sum;
    }
}

// One row of the kernel matrix for each point of the working set.
extern "C" __global__ void kernel_rows(float *x, float *norms, int *working, float *rows, int n, int d,
                                       float gamma)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    int i = working[blockIdx.y];
    if (j < n) {
        float dot = 0;
        for (int k = 0; k < d; k++)
            dot += x[k * n + i] * x[k * n + j];
        rows[blockIdx.y * n + j] = exp(-gamma * (norms[i] + norms[j] - 2.0 * dot));
    }
}

// Steps on pairs of the working set, until no pair violates by more than eps; a thread for each point.
extern "C" __global__ void solve(float *y, float *f, float *alpha, int *working, float *rows,
                                 float *change, int n, float c, float eps, int most)
{
    __shared__ float value[WORKING];
    __shared__ int index[WORKING];
    __shared__ float f_here[WORKING];
    __shared__ float row_i[WORKING];
    __shared__ float step_shared;

    int t = threadIdx.x;
    int me = working[t];
    float y_t = y[me];
    float f_t = f[me];
    float a_t = alpha[me];
    float a_old = a_t;

    for (int iteration = 0; iteration < most; iteration++) {
        // i: the least f among those that may go up.
        bool up = (y_t > 0 && a_t < c) || (y_t < 0 && a_t > 0);
        bool low = (y_t > 0 && a_t > 0) || (y_t < 0 && a_t < c);
        value[t] = up ? f_t : 1e30;
        index[t] = t;
        f_here[t] = low ? f_t : -1e30;
        __syncthreads();
        for (int s = WORKING / 2; s > 0; s = s / 2) {
            if (t < s && value[t + s] < value[t]) {
                value[t] = value[t + s];
                index[t] = index[t + s];
            }
            __syncthreads();
        }
        int i = index[0];
        float f_i = value[0];
        __syncthreads();

        // The largest f among those that may go down says whether there is anything left to do.
        value[t] = f_here[t];
        __syncthreads();
        for (int s = WORKING / 2; s > 0; s = s / 2) {
            if (t < s && value[t + s] > value[t])
                value[t] = value[t + s];
            __syncthreads();
        }
        float worst = value[0];
        __syncthreads();
        if (worst - f_i < eps)
            break;

        // j: where the step gains most.
        row_i[t] = rows[i * n + me];
        float bend = 2.0 - 2.0 * row_i[t];
        if (bend < 1e-6)
            bend = 1e-6;
        float gap = f_t - f_i;
        value[t] = (low && gap > 0) ? gap * gap / bend : -1e30;
        index[t] = t;
        __syncthreads();
        for (int s = WORKING / 2; s > 0; s = s / 2) {
            if (t < s && value[t + s] > value[t]) {
                value[t] = value[t + s];
                index[t] = index[t + s];
            }
            __syncthreads();
        }
        int j = index[0];
        __syncthreads();

        // How far both may go.
        if (t == i)
            value[0] = y_t > 0 ? c - a_t : a_t;
        if (t == j) {
            value[1] = y_t > 0 ? a_t : c - a_t;
            value[2] = gap / bend;
        }
        __syncthreads();
        if (t == 0) {
            float step = value[0];
            if (value[1] < step)
                step = value[1];
            if (value[2] < step)
                step = value[2];
            step_shared = step;
        }
        __syncthreads();
        float step = step_shared;
        if (t == i)
            a_t += y_t * step;
        if (t == j)
            a_t -= y_t * step;
        f_t += step * (row_i[t] - rows[j * n + me]);
        __syncthreads();
    }

    alpha[me] = a_t;
    change[t] = (a_t - a_old) * y_t;
}

extern "C" __global__ void update(float *f, float *change, float *rows, int n)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    if (j < n) {
        for (int k = 0; k < WORKING; k++)
            f[j] += change[k] * rows[k * n + j];
    }
}

// On which side of the boundary new points lie, and how far from it.
extern "C" __global__ void decide(float *x, float *norms, float *y, float *alpha, int n, int d,
                                  float *z, int m, float gamma, float rho, float *decisions)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    if (j < m) {
        float norm = 0;
        for (int k = 0; k < d; k++)
            norm += z[k * m + j] * z[k * m + j];
        float sum = 0;
        for (int i = 0; i < n; i++) {
            if (alpha[i] > 0) {
                float dot = 0;
                for (int k = 0; k < d; k++)
                    dot += x[k * n + i] * z[k * m + j];
                sum += alpha[i] * y[i] * exp(-gamma * (norms[i] + norm - 2.0 * dot));
            }
        }
        decisions[j] = sum - rho;
    }
}
