// Points of a moving wall, followed from one image to the next. A block takes one point: it compares the
// template around the point with the new image at every shift, by normalised cross-correlation, and
// moves the point to the best.

#define TEMPLATE 11
#define REACH 6
#define SHIFTS (2 * REACH + 1)
#define THREADS 192

extern "C" __global__ void track(float *image, int rows, int cols, float *templates, int *at_row,
                                 int *at_col, float *scores, int *new_row, int *new_col)
{
    __shared__ float own[TEMPLATE * TEMPLATE];
    __shared__ float deviation[TEMPLATE * TEMPLATE];
    __shared__ float score[SHIFTS * SHIFTS];
    __shared__ float mean;
    __shared__ float norm;

    int point = blockIdx.x;
    int thread = threadIdx.x;
    const int area = TEMPLATE * TEMPLATE;

    for (int i = thread; i < area; i += THREADS)
        own[i] = templates[point * area + i];
    __syncthreads();

    if (thread == 0) {
        float sum = 0;
        for (int i = 0; i < area; i++)
            sum += own[i];
        mean = sum / area;
    }
    __syncthreads();

    for (int i = thread; i < area; i += THREADS)
        deviation[i] = own[i] - mean;
    __syncthreads();

    if (thread == 0) {
        float sum = 0;
        for (int i = 0; i < area; i++)
            sum += pow(deviation[i], 2);
        norm = sqrt(sum);
    }
    __syncthreads();

    for (int shift = thread; shift < SHIFTS * SHIFTS; shift += THREADS) {
        int top = at_row[point] + shift / SHIFTS - REACH - TEMPLATE / 2;
        int left = at_col[point] + shift % SHIFTS - REACH - TEMPLATE / 2;

        float sum = 0;
        float squares = 0;
        for (int y = 0; y < TEMPLATE; y++) {
            for (int x = 0; x < TEMPLATE; x++) {
                float value = image[(top + y) * cols + left + x];
                sum += value;
                squares += value * value;
            }
        }
        float correlation = 0;
        for (int y = 0; y < TEMPLATE; y++) {
            for (int x = 0; x < TEMPLATE; x++) {
                float value = image[(top + y) * cols + left + x];
                correlation += deviation[y * TEMPLATE + x] * (value - sum / area);
            }
        }
        float spread = squares - sum * sum / area;
        score[shift] = correlation / (norm * sqrt(spread + 1e-6));
        scores[point * SHIFTS * SHIFTS + shift] = score[shift];
    }
    __syncthreads();

    if (thread == 0) {
        int best = 0;
        for (int i = 1; i < SHIFTS * SHIFTS; i++)
            if (score[i] > score[best])
                best = i;
        new_row[point] = at_row[point] + best / SHIFTS - REACH;
        new_col[point] = at_col[point] + best % SHIFTS - REACH;
    }
}
