// Forces between particles that are near each other. Space is cut into boxes; a block takes one box and
// adds up what the particles of that box and of its neighbours do to its own.

#define PARTICLES 32
#define THREADS 32
#define DOT(a, b) ((a).x * (b).x + (a).y * (b).y + (a).z * (b).z)

typedef double real;

struct Four {
    real v, x, y, z;
};

struct Three {
    real x, y, z;
};

struct Box {
    int first;           // where its particles begin
    int neighbours;      // how many boxes are beside it
    int beside[26];
};

extern "C" __global__ void forces(real alpha, int boxes, Box *box, Four *position, real *charge,
                                  Four *force)
{
    __shared__ Four own[PARTICLES];
    __shared__ Four other[PARTICLES];
    __shared__ real other_charge[PARTICLES];

    int bx = blockIdx.x;
    int tx = threadIdx.x;
    int wtx = tx;

    if (bx < boxes) {
        real a2 = 2.0 * alpha * alpha;
        int first_i = box[bx].first;
        Four *rA = &position[first_i];
        Four *fA = &force[first_i];

        while (wtx < PARTICLES) {
            own[wtx] = rA[wtx];
            wtx = wtx + THREADS;
        }
        wtx = tx;
        __syncthreads();

        for (int k = 0; k < 1 + box[bx].neighbours; k++) {
            int pointer = (k == 0) ? bx : box[bx].beside[k - 1];
            int first_j = box[pointer].first;
            Four *rB = &position[first_j];
            real *qB = &charge[first_j];

            while (wtx < PARTICLES) {
                other[wtx] = rB[wtx];
                other_charge[wtx] = qB[wtx];
                wtx = wtx + THREADS;
            }
            wtx = tx;
            __syncthreads();

            while (wtx < PARTICLES) {
                for (int j = 0; j < PARTICLES; j++) {
                    real r2 = own[wtx].v + other[j].v - DOT(own[wtx], other[j]);
                    real u2 = a2 * r2;
                    real vij = exp(-u2);
                    real fs = 2 * vij;
                    Three d;
                    d.x = own[wtx].x - other[j].x;
                    d.y = own[wtx].y - other[j].y;
                    d.z = own[wtx].z - other[j].z;
                    real fxij = fs * d.x;
                    real fyij = fs * d.y;
                    real fzij = fs * d.z;
                    fA[wtx].v += other_charge[j] * vij;
                    fA[wtx].x += other_charge[j] * fxij;
                    fA[wtx].y += other_charge[j] * fyij;
                    fA[wtx].z += other_charge[j] * fzij;
                }
                wtx = wtx + THREADS;
            }
            wtx = tx;
            __syncthreads();
        }
    }
}
