// y = A x for a sparse matrix in compressed rows: one thread per row, or one warp per row.
// The product of a row is a function of its own, kept out of line.

template <typename T>
struct Rows {
    const int* begin;
    const int* column;
    const T* value;
};

template <typename T>
__device__ __noinline__ T row_product(Rows<T> rows, const T* x, int row, int lane, int lanes)
{
    T sum = 0;
    const int end = rows.begin[row + 1];
    for (int i = rows.begin[row] + lane; i < end; i += lanes) {
        sum += rows.value[i] * __ldg(&x[rows.column[i]]);
    }
    return sum;
}

__device__ __noinline__ long long biased(long long count, int row)
{
    return row % 3 == 0 ? count + row : count - row;
}

__global__ void spmv_scalar(const int* begin, const int* column, const float* value,
                            const float* x, float* y, int n)
{
    const Rows<float> rows = {begin, column, value};
    const int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < n) {
        y[row] = row_product(rows, x, row, 0, 1);
    }
}

template <typename T, int LANES>
__global__ void spmv_vector(const int* begin, const int* column, const T* value, const T* x, T* y,
                            int n)
{
    const Rows<T> rows = {begin, column, value};
    const int thread = blockIdx.x * blockDim.x + threadIdx.x;
    const int row = thread / LANES;
    const int lane = thread % LANES;
    T sum = row < n ? row_product(rows, x, row, lane, LANES) : T(0);
    #pragma unroll
    for (int distance = LANES / 2; distance > 0; distance /= 2) {
        sum += __shfl_xor_sync(0xffffffffu, sum, distance);
    }
    if (lane == 0 && row < n) {
        y[row] = sum;
    }
}

template __global__ void spmv_vector<double, 8>(const int*, const int*, const double*,
                                                const double*, double*, int);

// A checksum of the structure of each row: 64-bit integers through a call.
extern "C" __global__ void row_checksum(const int* begin, const int* column, long long* sums, int n)
{
    const int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= n) {
        return;
    }
    long long sum = 0;
    for (int i = begin[row]; i < begin[row + 1]; ++i) {
        sum = biased(sum * 31 + column[i], row);
    }
    sums[row] = sum;
}
