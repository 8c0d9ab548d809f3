// A whole program in one file: host code must parse, and is left out.
#include <cuda_runtime.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <string>
#include <vector>

#define CHECK(call)                                                                                \
  do {                                                                                             \
    cudaError_t status = (call);                                                                   \
    if (status != cudaSuccess) {                                                                   \
      fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(status));              \
      exit(1);                                                                                     \
    }                                                                                              \
  } while (0)

__constant__ float scale[4];

__global__ void scaled(const float *x, float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i] * scale[i & 3] + std::min(1.0f, x[i]);
}

int main(int argc, char **argv) {
  int n = argc > 1 ? atoi(argv[1]) : 1 << 20;
  std::vector<float> host(n);
  std::generate(host.begin(), host.end(), [] { return rand() / (float)RAND_MAX; });
  float *x = nullptr, *y = nullptr;
  CHECK(cudaMalloc(&x, n * sizeof(float)));
  CHECK(cudaMalloc((void **)&y, n * sizeof(float)));
  CHECK(cudaMemcpy(x, host.data(), n * sizeof(float), cudaMemcpyHostToDevice));
  float values[4] = {1, 2, 3, 4};
  CHECK(cudaMemcpyToSymbol(scale, values, sizeof(values)));
  cudaEvent_t start, stop;
  cudaEventCreate(&start);
  cudaEventCreate(&stop);
  cudaEventRecord(start);
  dim3 block(256), grid((n + block.x - 1) / block.x);
  scaled<<<grid, block>>>(x, y, n);
  scaled<<<grid, block, 0, 0>>>(x, y, n);
  CHECK(cudaGetLastError());
  cudaEventRecord(stop);
  CHECK(cudaDeviceSynchronize());
  float ms = 0;
  cudaEventElapsedTime(&ms, start, stop);
  CHECK(cudaMemcpy(host.data(), y, n * sizeof(float), cudaMemcpyDeviceToHost));
  auto now = std::chrono::steady_clock::now();
  std::cout << "sum " << std::sqrt(host[0]) << " in " << ms << " ms " << std::string("done") << "\n";
  printf("%ld %g\n", (long)now.time_since_epoch().count(), pow(2.0, 0.5));
  cudaFree(x);
  cudaFree(y);
  return 0;
}
