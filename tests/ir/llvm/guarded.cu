// A convolution whose sums are stored only inside the picture: LLVM likes to compute them only there.
#define TILE 4
#define TAPS 9
#define WIDTH 16
#define HEIGHT 8
#define UNROLL _Pragma("unroll")

__constant__ float taps[TAPS * TAPS];

extern "C" __global__ void guarded(float *out, const float *in, int width, int height, int pitch) {
    __shared__ float tile[HEIGHT * TILE + TAPS - 1][WIDTH * TILE + TAPS - 1];
    int x = threadIdx.x, y = threadIdx.y;
    int left = blockIdx.x * WIDTH * TILE, top = blockIdx.y * HEIGHT * TILE;
    for (int i = y; i < HEIGHT * TILE + TAPS - 1; i += HEIGHT)
        for (int j = x; j < WIDTH * TILE + TAPS - 1; j += WIDTH)
            tile[i][j] = in[(top + i) * pitch + left + j];
    __syncthreads();
    float sum[TILE][TILE] = {};
    UNROLL for (int i = 0; i < TAPS; i++)
        UNROLL for (int j = 0; j < TAPS; j++)
            UNROLL for (int v = 0; v < TILE; v++)
                UNROLL for (int u = 0; u < TILE; u++)
                    sum[v][u] += tile[y + v * HEIGHT + i][x + u * WIDTH + j] * taps[i * TAPS + j];
    UNROLL for (int v = 0; v < TILE; v++)
        UNROLL for (int u = 0; u < TILE; u++)
            if (left + x + u * WIDTH < width && top + y + v * HEIGHT < height)
                out[(top + y + v * HEIGHT) * width + left + x + u * WIDTH] = sum[v][u];
}
