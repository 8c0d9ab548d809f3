// Local alignment of pairs of DNA sequences (Smith-Waterman with affine gaps). A warp takes one pair: each
// lane has a letter of the query and they move down the reference along a diagonal, passing their scores
// on to the next lane by shuffles. Longer queries are taken in stripes of 32 letters.

#define WARP 32
#define FULL 0xffffffff
#define LONGEST 512

__device__ short largest(short a, short b)
{
    return a > b ? a : b;
}

__device__ short best_of_warp(short value)
{
    for (int offset = WARP / 2; offset > 0; offset /= 2) {
        short other = __shfl_down_sync(FULL, value, offset);
        value = largest(value, other);
    }
    return __shfl_sync(FULL, value, 0);
}

extern "C" __global__ void align(char *queries, char *references, int *query_start,
                                 int *reference_start, short match, short mismatch, short open,
                                 short extend, short *scores, short *ends)
{
    __shared__ char query[LONGEST];
    __shared__ short border_h[LONGEST + 1];
    __shared__ short border_e[LONGEST + 1];

    int pair = blockIdx.x;
    int lane = threadIdx.x;
    int m = query_start[pair + 1] - query_start[pair];
    int n = reference_start[pair + 1] - reference_start[pair];
    char *reference = references + reference_start[pair];

    for (int i = lane; i < m; i += WARP)
        query[i] = queries[query_start[pair] + i];
    for (int j = lane; j <= n; j += WARP) {
        border_h[j] = 0;
        border_e[j] = -1000;
    }
    __syncthreads();

    short best = 0;
    short best_end = 0;

    for (int stripe = 0; stripe < m; stripe += WARP) {
        int i = stripe + lane;
        char letter = i < m ? query[i] : 0;
        short h = 0;            // the cell to the left in this row
        short f = -1000;        // the best that ends in a gap of the query
        short diagonal = 0;
        short e = -1000;

        for (int step = 0; step < n + WARP - 1; step++) {
            int j = step - lane;
            // What the lane above computed one step ago.
            short up_h = __shfl_up_sync(FULL, h, 1);
            short up_e = __shfl_up_sync(FULL, e, 1);
            if (lane == 0 && j < n) {
                up_h = border_h[j + 1];
                up_e = border_e[j + 1];
            }
            bool valid = j >= 0 && j < n && i < m;
            short next_h = 0;
            short next_e = -1000;
            if (valid) {
                short score = diagonal + (letter == reference[j] ? match : mismatch);
                f = largest(f + extend, h + open);
                next_e = largest(up_e + extend, up_h + open);
                next_h = largest(largest(score, 0), largest(next_e, f));
                if (next_h > best) {
                    best = next_h;
                    best_end = j + 1;
                }
            }
            // The last lane leaves its row for the next stripe.
            __syncthreads();
            if (valid && lane == WARP - 1) {
                border_h[j + 1] = next_h;
                border_e[j + 1] = next_e;
            }
            __syncthreads();
            diagonal = j >= 0 ? up_h : (short)0;
            h = next_h;
            e = next_e;
        }
        __syncthreads();
    }

    short winner = best_of_warp(best);
    short end = best_of_warp(best == winner ? (short)(LONGEST - best_end) : (short)0);
    if (lane == 0) {
        scores[pair] = winner;
        ends[pair] = LONGEST - end;
    }
}
