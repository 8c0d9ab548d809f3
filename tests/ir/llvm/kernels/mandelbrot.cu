// How soon z -> z*z + c leaves a circle of radius two, for the points of a window of the plane,
// in double precision. Points of the two largest bulbs are known never to leave.

__device__ bool in_large_bulb(double x, double y)
{
    const double shifted = x - 0.25;
    const double q = shifted * shifted + y * y;
    if (q * (q + shifted) <= 0.25 * y * y) {
        return true; // the cardioid
    }
    const double beside = x + 1.0;
    return beside * beside + y * y <= 0.0625; // the disc to its left
}

__global__ void mandelbrot(unsigned short* __restrict__ escape, int width, int height,
                           double left, double top, double pitch, int limit)
{
    const int px = blockIdx.x * blockDim.x + threadIdx.x;
    const int py = blockIdx.y * blockDim.y + threadIdx.y;
    if (px >= width || py >= height) {
        return;
    }
    const double cx = left + px * pitch;
    const double cy = top - py * pitch;
    int steps = limit;
    if (!in_large_bulb(cx, cy)) {
        double x = 0.0;
        double y = 0.0;
        for (steps = 0; steps < limit; ++steps) {
            const double xx = x * x;
            const double yy = y * y;
            if (xx + yy > 4.0) {
                break;
            }
            y = 2.0 * x * y + cy;
            x = xx - yy + cx;
        }
    }
    escape[py * width + px] = static_cast<unsigned short>(steps);
}
