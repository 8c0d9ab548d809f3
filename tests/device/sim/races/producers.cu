// grid 2, block 64
// One warp fills a buffer, the other empties it; two barriers with names take turns.
extern "C" __global__ void kernel(const int *in, int *out, int n)
{
    __shared__ int buffer[32];
    int lane = threadIdx.x % 32, sum = 0;
    bool producer = threadIdx.x < 32;
    for (int step = 0; step < 4; ++step) {
        if (producer) {
            buffer[lane] = in[(blockIdx.x * 64 + lane + step) % n];
            asm volatile("bar.arrive 1, 64;" ::: "memory");
            asm volatile("bar.sync 2, 64;" ::: "memory");
        } else {
            asm volatile("bar.sync 1, 64;" ::: "memory");
            sum += buffer[31 - lane];
            asm volatile("bar.arrive 2, 64;" ::: "memory");
        }
    }
    if (!producer) out[blockIdx.x * 32 + lane] = sum;
}
