// Cache hints, copies, printf and assert.
#include <assert.h>
#include <stdint.h>
#include <stdio.h>

template <class T>
__device__ void load(T *p) {
  p[0] = __ldg(p + 1);
  p[2] = __ldcg(p + 3);
  p[4] = __ldca(p + 5);
  p[6] = __ldcs(p + 7);
  p[8] = __ldcv(p + 9);
  __stcg(p + 10, p[11]);
  __stcs(p + 12, p[13]);
  __stwt(p + 14, p[15]);
}

__global__ void memory(char *a, unsigned char *b, short *c, unsigned short *d, int *e, unsigned *f,
                       long long *g, unsigned long long *h, float *i, double *j, int8_t *k,
                       uint64_t *l) {
  load(a);
  load(b);
  load(c);
  load(d);
  load(e);
  load(f);
  load(g);
  load(h);
  load(i);
  load(j);
  load(k);
  l[0] = __ldg(h);
  assert(e[0] >= 0);
  if (i[0] < 0) printf("%d %f %s\n", e[0], i[0], "negative");
  memcpy(a, b, 100);
  memset(c, 0, 64);
}

__global__ void vector_memory(char2 *a, uchar4 *b, short2 *c, ushort4 *d, int2 *e, uint4 *f,
                              longlong2 *g, float2 *h, float4 *i, double2 *j, int4 *k, uchar2 *l) {
  a[0] = __ldg(a + 1);
  b[0] = __ldg(b + 1);
  c[0] = __ldg(c + 1);
  d[0] = __ldg(d + 1);
  e[0] = __ldg(e + 1);
  f[0] = __ldg(f + 1);
  g[0] = __ldg(g + 1);
  h[0] = __ldg(h + 1);
  i[0] = __ldg(i + 1);
  j[0] = __ldg(j + 1);
  k[0] = __ldcg(k + 1);
  l[0] = __ldg(l + 1);
}
