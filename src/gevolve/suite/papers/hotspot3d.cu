// The temperature of a chip of several layers. A thread takes a column of cells and walks up through the
// layers.

extern "C" __global__ void hotspot3d(float *power, float *before, float *after, float step_div_cap,
                                     int nx, int ny, int nz, float ce, float cw, float cn, float cs,
                                     float ct, float cb, float cc)
{
    float amb_temp = 80.0;

    int i = blockDim.x * blockIdx.x + threadIdx.x;
    int j = blockDim.y * blockIdx.y + threadIdx.y;
    if (i >= nx || j >= ny)
        return;

    int c = i + j * nx;
    int layer = nx * ny;

    int w = (i == 0) ? c : c - 1;
    int e = (i == nx - 1) ? c : c + 1;
    int n = (j == 0) ? c : c - nx;
    int s = (j == ny - 1) ? c : c + nx;

    float below, here, above;
    below = here = before[c];
    above = before[c + layer];
    after[c] = cc * here + cw * before[w] + ce * before[e] + cs * before[s] + cn * before[n] +
               cb * below + ct * above + step_div_cap * power[c] + ct * amb_temp;
    c += layer;
    w += layer;
    e += layer;
    n += layer;
    s += layer;

    for (int k = 1; k < nz - 1; ++k) {
        below = here;
        here = above;
        above = before[c + layer];
        after[c] = cc * here + cw * before[w] + ce * before[e] + cs * before[s] + cn * before[n] +
                   cb * below + ct * above + step_div_cap * power[c] + ct * amb_temp;
        c += layer;
        w += layer;
        e += layer;
        n += layer;
        s += layer;
    }

    below = here;
    here = above;
    after[c] = cc * here + cw * before[w] + ce * before[e] + cs * before[s] + cn * before[n] +
               cb * below + ct * above + step_div_cap * power[c] + ct * amb_temp;
}
