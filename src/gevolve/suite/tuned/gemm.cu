// C = alpha A B + beta C for row-major float matrices of any shape.
//
// A block of 16 x 16 threads computes a tile of 64 x 64, each thread 4 x 4 of it in registers.
// The tiles of A and B pass through shared memory, eight columns of A and rows of B at a time;
// what lies outside the matrices is loaded as zero, so the inner loop needs no bounds.

constexpr int TILE = 64;
constexpr int DEPTH = 8;
constexpr int SIDE = 16;          // threads along each side of the block
constexpr int EACH = TILE / SIDE; // rows and columns of C per thread

__device__ float at(const float* matrix, int row, int col, int rows, int cols)
{
    return row < rows && col < cols ? matrix[row * cols + col] : 0.0f;
}

__global__ void __launch_bounds__(SIDE * SIDE)
gemm(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c,
     int m, int n, int k, float alpha, float beta)
{
    // A is stored transposed, so that both inner loads walk along a row.
    __shared__ float tile_a[DEPTH][TILE + 1]; // one column more, against bank conflicts
    __shared__ float tile_b[DEPTH][TILE];

    const int tx = threadIdx.x;
    const int ty = threadIdx.y;
    const int thread = ty * SIDE + tx;
    const int top = blockIdx.y * TILE;
    const int left = blockIdx.x * TILE;

    float sum[EACH][EACH] = {};

    for (int start = 0; start < k; start += DEPTH) {
        for (int i = thread; i < TILE * DEPTH; i += SIDE * SIDE) {
            const int row = i / DEPTH;
            const int col = i % DEPTH;
            tile_a[col][row] = at(a, top + row, start + col, m, k);
        }
        for (int i = thread; i < TILE * DEPTH; i += SIDE * SIDE) {
            const int row = i / TILE;
            const int col = i % TILE;
            tile_b[row][col] = at(b, start + row, left + col, k, n);
        }
        __syncthreads();

        #pragma unroll
        for (int d = 0; d < DEPTH; ++d) {
            float column[EACH];
            float row[EACH];
            #pragma unroll
            for (int i = 0; i < EACH; ++i) {
                column[i] = tile_a[d][ty + i * SIDE];
                row[i] = tile_b[d][tx + i * SIDE];
            }
            #pragma unroll
            for (int i = 0; i < EACH; ++i) {
                #pragma unroll
                for (int j = 0; j < EACH; ++j) {
                    sum[i][j] += column[i] * row[j];
                }
            }
        }
        __syncthreads();
    }

    #pragma unroll
    for (int i = 0; i < EACH; ++i) {
        const int row = top + ty + i * SIDE;
        #pragma unroll
        for (int j = 0; j < EACH; ++j) {
            const int col = left + tx + j * SIDE;
            if (row < m && col < n) {
                c[row * n + col] = alpha * sum[i][j] + beta * c[row * n + col];
            }
        }
    }
}
