// Many small dense systems at once, one block each: factor the matrix into triangles in place
// (no pivoting), then solve with either triangle of it, transposed or not.

enum Triangle { LOWER = 0, UPPER = 1, LOWER_TRANSPOSED = 2, UPPER_TRANSPOSED = 3 };

constexpr int MOST = 32; // rows of the largest system

__global__ void lu_factor(double* matrices, int n)
{
    __shared__ double a[MOST][MOST];
    double* mine = matrices + blockIdx.x * n * n;
    const int row = threadIdx.x;

    if (row < n) {
        for (int col = 0; col < n; ++col) {
            a[row][col] = mine[row * n + col];
        }
    }
    __syncthreads();

    for (int pivot = 0; pivot < n - 1; ++pivot) {
        if (row > pivot && row < n) {
            const double factor = a[row][pivot] / a[pivot][pivot];
            a[row][pivot] = factor;
            for (int col = pivot + 1; col < n; ++col) {
                a[row][col] -= factor * a[pivot][col];
            }
        }
        __syncthreads();
    }

    if (row < n) {
        for (int col = 0; col < n; ++col) {
            mine[row * n + col] = a[row][col];
        }
    }
}

// Element (row, col) of the chosen triangle; the lower one has ones on its diagonal.
__device__ double element(const double* lu, int n, int row, int col, int triangle)
{
    switch (triangle) {
    case LOWER:
        return row == col ? 1.0 : lu[row * n + col];
    case UPPER:
        return lu[row * n + col];
    case LOWER_TRANSPOSED:
        return row == col ? 1.0 : lu[col * n + row];
    case UPPER_TRANSPOSED:
        return lu[col * n + row];
    default:
        return 0.0;
    }
}

__global__ void triangular_solve(const double* __restrict__ factors, double* sides, int n,
                                 int triangle)
{
    __shared__ double x[MOST];
    const double* lu = factors + blockIdx.x * n * n;
    const int row = threadIdx.x;

    int first;
    int direction;
    switch (triangle) {
    case LOWER:
    case UPPER_TRANSPOSED:
        first = 0;
        direction = 1;
        break;
    case UPPER:
    case LOWER_TRANSPOSED:
        first = n - 1;
        direction = -1;
        break;
    default:
        return; // all threads of the block alike
    }

    if (row < n) {
        x[row] = sides[blockIdx.x * n + row];
    }
    __syncthreads();

    // Column by column: once an unknown is known, every row still open takes it off.
    int col = first;
    for (int done = 0; done < n; ++done, col += direction) {
        if (row == col) {
            x[col] /= element(lu, n, col, col, triangle);
        }
        __syncthreads();
        const bool open = direction > 0 ? row > col : row < col;
        if (open && row < n) {
            x[row] -= element(lu, n, row, col, triangle) * x[col];
        }
        __syncthreads();
    }

    if (row < n) {
        sides[blockIdx.x * n + row] = x[row];
    }
}
