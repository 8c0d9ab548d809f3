// A program against the driver API, as C code calls it: right use first, then wrong use and what that returns.
// It is built as a library without the C library, so that building it takes a second: `program` is its main.
typedef unsigned long long ptr;
typedef unsigned long size;
typedef void *handle;
int cuInit(unsigned), cuDeviceGet(int *, int), cuDeviceGetCount(int *), cuDeviceGetAttribute(int *, int, int);
int cuCtxCreate_v2(handle *, unsigned, int), cuCtxSynchronize(void), cuCtxGetCurrent(handle *), cuCtxDestroy_v2(handle);
int cuCtxSetCurrent(handle), cuCtxPushCurrent_v2(handle), cuCtxPopCurrent_v2(handle *);
int cuDevicePrimaryCtxRetain(handle *, int), cuDevicePrimaryCtxRelease_v2(int), cuDevicePrimaryCtxReset_v2(int);
int cuDevicePrimaryCtxGetState(int, unsigned *, int *);
int cuModuleLoad(handle *, const char *), cuModuleLoadData(handle *, const void *), cuModuleUnload(handle);
int cuModuleLoadDataEx(handle *, const void *, unsigned, int *, void **);
int cuModuleGetFunction(handle *, handle, const char *), cuModuleGetGlobal_v2(ptr *, size *, handle, const char *);
int cuMemAlloc_v2(ptr *, size), cuMemFree_v2(ptr), cuMemAllocManaged(ptr *, size, unsigned);
int cuMemHostAlloc(void **, size, unsigned), cuMemFreeHost(void *), cuMemHostRegister_v2(void *, size, unsigned);
int cuMemHostUnregister(void *), cuMemHostGetDevicePointer_v2(ptr *, void *, unsigned), cuMemGetInfo_v2(size *, size *);
int cuMemcpyHtoD_v2(ptr, const void *, size), cuMemcpyDtoH_v2(void *, ptr, size), cuMemsetD32_v2(ptr, unsigned, size);
int cuMemAllocAsync(ptr *, size, handle), cuMemFreeAsync(ptr, handle), cuMemcpyAsync(ptr, ptr, size, handle);
int cuStreamCreate(handle *, unsigned), cuStreamDestroy_v2(handle), cuStreamSynchronize(handle);
int cuStreamBeginCapture_v2(handle, int), cuStreamEndCapture(handle, handle *), cuStreamWaitEvent(handle, handle, unsigned);
int cuGraphInstantiateWithFlags(handle *, handle, ptr), cuGraphLaunch(handle, handle), cuGraphDestroy(handle);
int cuGraphExecDestroy(handle), cuGraphCreate(handle *, unsigned), cuGraphInstantiate_v2(handle *, handle, void *, char *, size);
int cuEventCreate(handle *, unsigned), cuEventRecord(handle, handle), cuEventElapsedTime(float *, handle, handle);
int cuEventDestroy_v2(handle), cuFuncGetAttribute(int *, int, handle), cuFuncSetAttribute(handle, int, int);
int cuLaunchKernel(handle, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, handle, void **, void **);
int cuLaunchHostFunc(handle, void (*)(void *), void *), cuGetProcAddress_v2(const char *, void **, int, ptr, int *);
int cuGetErrorName(int, const char **), cuMemAllocPitch_v2(ptr *, size *, size, size, unsigned), cuTexRefCreate(handle *);
int cuGraphAddKernelNode_v2(handle *, handle, const handle *, size, const void *), cuGraphGetNodes(handle, handle *, size *);
int cuGraphAddMemsetNode(handle *, handle, const handle *, size, const void *, handle);
int cuGraphAddDependencies(handle, const handle *, const handle *, size);
int cuGraphExecKernelNodeSetParams_v2(handle, handle, const void *), cuGraphKernelNodeSetParams_v2(handle, const void *);
int cuGraphExecMemsetNodeSetParams(handle, handle, const void *, handle), cuGraphExecUpdate_v2(handle, handle, void *);
int cuOccupancyMaxPotentialBlockSize(int *, int *, handle, unsigned long (*)(int), size, int);
int cuGetExportTable(const void **, const void *);
void *malloc(size);
void free(void *);

enum { INVALID_VALUE = 1, OUT_OF_MEMORY = 2, NOT_INITIALIZED = 3, INVALID_DEVICE = 101, INVALID_IMAGE = 200,
       INVALID_CONTEXT = 201, INVALID_PTX = 218, FILE_NOT_FOUND = 301, INVALID_HANDLE = 400, NOT_FOUND = 500,
       ILLEGAL_ADDRESS = 700, CONTEXT_IS_DESTROYED = 709, OUT_OF_RESOURCES = 701, MISALIGNED_ADDRESS = 716, ALREADY_REGISTERED = 712,
       NOT_REGISTERED = 713, NOT_SUPPORTED = 801, CAPTURE_UNSUPPORTED = 900, CAPTURE_INVALIDATED = 901,
       UPDATE_FAILURE = 910 };

/* Lines where something else came than was expected, and what came. */
int failed[64][2], failures;
static void expect(int line, long got, long wanted) {
  if (got != wanted && failures < 64) failed[failures][0] = line, failed[failures++][1] = (int)got;
}
#define IS(call, wanted) expect(__LINE__, (long)(call), (long)(wanted))
#define OK(call) IS(call, 0)

enum { N = 1000, BYTES = 4 * N };
static float x[N], y[N], z[N];
static _Alignas(4096) float pinned[2 * N];
static int told;
static void tell(void *by) { told += *(int *)by; }

static int launch(handle kernel, ptr a, ptr b, handle stream) {
  float two = 2;
  int n = N;
  void *params[] = {&two, &a, &b, &n};
  return cuLaunchKernel(kernel, 8, 1, 1, 128, 1, 1, 0, stream, params, 0);
}

/* What lies on the same page as registered memory, the notes of the allocator among it, stays as it is. */
static void heap(void) {
  enum { PIECES = 40, SIZE = 200 };
  unsigned char *pieces[PIECES];
  for (int round = 0; round < 8; round++) {
    for (int i = 0; i < PIECES; i++) {
      pieces[i] = malloc(SIZE);
      for (int j = 0; j < SIZE; j++) pieces[i][j] = (unsigned char)i;
    }
    for (int i = round; i < PIECES; i += 8) {
      OK(cuMemHostRegister_v2(pieces[i], SIZE, 2));
      OK(cuMemHostUnregister(pieces[i]));
    }
    for (int i = 0; i < PIECES; i++) {
      for (int j = 0; j < SIZE; j++) IS(pieces[i][j], i);
      free(pieces[i]);
    }
  }
}

static void fresh(ptr a, ptr b) {
  for (int i = 0; i < N; i++) x[i] = (float)i, y[i] = 1;
  OK(cuMemcpyHtoD_v2(a, x, BYTES));
  OK(cuMemcpyHtoD_v2(b, y, BYTES));
}

static unsigned long needs(int threads) { return 128ul * (unsigned long)threads; }

static void right(handle module) {
  handle saxpy, counts, stream, first, last, graph, exec, nodes[3];
  ptr a, b, managed, device, pooled, variable;
  size bytes, count = 3;
  int value, by = 5;
  float took;
  OK(cuModuleGetFunction(&saxpy, module, "saxpy"));
  OK(cuModuleGetFunction(&counts, module, "counts"));
  OK(cuMemAlloc_v2(&a, BYTES));
  OK(cuMemAlloc_v2(&b, BYTES));
  OK(cuStreamCreate(&stream, 1));
  OK(cuEventCreate(&first, 0));
  OK(cuEventCreate(&last, 0));
  fresh(a, b);
  OK(cuEventRecord(first, stream));
  OK(launch(saxpy, a, b, stream));
  OK(cuEventRecord(last, stream));
  OK(cuLaunchHostFunc(stream, tell, &by));
  OK(cuStreamSynchronize(stream));
  OK(cuEventElapsedTime(&took, first, last));
  OK(cuMemcpyDtoH_v2(z, b, BYTES));
  for (int i = 0; i < N; i++) IS(z[i], 2 * i + 1);
  IS(told, 5);
  IS(took > 0.0001f && took < 0.1f, 1); /* milliseconds of a small kernel, on any GPU */

  /* the block with which most threads are resident, at 0 and 128 bytes of shared memory for each thread */
  int blocks, threads, fewer, in_each;
  OK(cuOccupancyMaxPotentialBlockSize(&blocks, &threads, saxpy, 0, 0, 0));
  IS(blocks > 0 && threads > 256 && threads <= 1024, 1);
  OK(cuOccupancyMaxPotentialBlockSize(&fewer, &in_each, saxpy, needs, 0, 0));
  IS(fewer * in_each > 0 && fewer * in_each < blocks * threads, 1);

  /* a graph that is captured, launched twice, with a branch */
  fresh(a, b);
  handle other;
  OK(cuStreamCreate(&other, 1));
  OK(cuStreamBeginCapture_v2(stream, 0));
  OK(launch(saxpy, a, b, stream));
  OK(cuEventRecord(first, stream));
  OK(cuStreamWaitEvent(other, first, 0));
  OK(launch(saxpy, a, b, other));
  OK(cuEventRecord(last, other));
  OK(cuStreamWaitEvent(stream, last, 0));
  OK(cuStreamEndCapture(stream, &graph));
  OK(cuGraphGetNodes(graph, nodes, &count));
  IS(count, 2);
  OK(cuMemcpyDtoH_v2(z, b, 4));
  IS(z[0], 1);
  OK(cuGraphInstantiateWithFlags(&exec, graph, 0));
  OK(cuGraphDestroy(graph));
  OK(cuGraphLaunch(exec, stream));
  OK(cuGraphLaunch(exec, stream));
  OK(cuMemcpyDtoH_v2(z, b, BYTES));
  for (int i = 0; i < N; i++) IS(z[i], 8 * i + 1);
  OK(cuGraphExecDestroy(exec));

  /* a graph made by hand: nodes run in the order of their dependencies, not of their making */
  fresh(a, b);
  float two = 2;
  int n = N;
  void *params[] = {&two, &a, &b, &n};
  struct { handle kernel; unsigned shape[7]; void **params, **extra, *more[2]; } work =
      {saxpy, {8, 1, 1, 128, 1, 1, 0}, params, 0, {0}};
  struct { ptr to; size pitch; unsigned value, bytes; size width, height; } zero = {b, 0, 0, 4, N, 1};
  OK(cuGraphCreate(&graph, 0));
  OK(cuGraphAddKernelNode_v2(&nodes[0], graph, 0, 0, &work));
  OK(cuGraphAddMemsetNode(&nodes[1], graph, 0, 0, &zero, 0));
  OK(cuGraphAddDependencies(graph, &nodes[1], &nodes[0], 1));
  OK(cuGraphInstantiate_v2(&exec, graph, 0, 0, 0));
  OK(cuGraphLaunch(exec, stream));
  OK(cuMemcpyDtoH_v2(z, b, BYTES));
  for (int i = 0; i < N; i++) IS(z[i], 2 * i);

  /* other work in the same nodes, then that of another graph of the same shape */
  two = 3;
  zero.value = 0x3f800000;
  OK(cuGraphExecKernelNodeSetParams_v2(exec, nodes[0], &work));
  OK(cuGraphExecMemsetNodeSetParams(exec, nodes[1], &zero, 0));
  IS(cuGraphExecKernelNodeSetParams_v2(exec, nodes[1], &work), INVALID_VALUE);
  OK(cuGraphLaunch(exec, stream));
  OK(cuMemcpyDtoH_v2(z, b, BYTES));
  for (int i = 0; i < N; i++) IS(z[i], 3 * i + 1);
  struct { int why; handle nodes[2]; } update = {9, {0}};
  handle same, nodes_of_same[2];
  OK(cuGraphCreate(&same, 0));
  OK(cuGraphAddKernelNode_v2(&nodes_of_same[0], same, 0, 0, &work));
  IS(cuGraphExecUpdate_v2(exec, same, &update), UPDATE_FAILURE);
  IS(update.why, 2);
  two = 5;
  OK(cuGraphKernelNodeSetParams_v2(nodes_of_same[0], &work));
  OK(cuGraphAddMemsetNode(&nodes_of_same[1], same, 0, 0, &zero, 0));
  OK(cuGraphAddDependencies(same, &nodes_of_same[1], &nodes_of_same[0], 1));
  OK(cuGraphExecUpdate_v2(exec, same, &update));
  IS(update.why, 0);
  OK(cuGraphDestroy(same));
  OK(cuGraphLaunch(exec, stream));
  OK(cuMemcpyDtoH_v2(z, b, BYTES));
  for (int i = 0; i < N; i++) IS(z[i], 5 * i + 1);
  OK(cuGraphAddDependencies(graph, &nodes[0], &nodes[1], 1));
  IS(cuGraphInstantiate_v2(&exec, graph, 0, 0, 0), INVALID_VALUE);

  /* memory of the other kinds */
  OK(cuMemAllocManaged(&managed, BYTES, 1));
  float *host;
  OK(cuMemHostAlloc((void **)&host, BYTES, 2));
  for (int i = 0; i < N; i++) ((float *)managed)[i] = 1, host[i] = (float)i;
  OK(cuMemHostGetDevicePointer_v2(&device, host, 0));
  OK(launch(saxpy, device, managed, stream));
  OK(cuStreamSynchronize(stream));
  for (int i = 0; i < N; i++) IS(((float *)managed)[i], 2 * i + 1);
  OK(cuMemFreeHost(host));
  OK(cuMemFree_v2(managed));
  float *own = pinned + 3; /* not the beginning of a page */
  for (int i = 0; i < N; i++) own[i] = 1;
  pinned[2] = pinned[N + 3] = 77;
  OK(cuMemHostRegister_v2(own, BYTES, 2));
  IS(cuMemHostRegister_v2(own, BYTES, 2), ALREADY_REGISTERED);
  OK(cuMemHostGetDevicePointer_v2(&device, own, 0));
  OK(launch(saxpy, a, device, stream));
  for (int i = 0; i < N; i++) IS(own[i], 2 * i + 1);
  OK(cuMemHostUnregister(own));
  IS(cuMemHostUnregister(own), NOT_REGISTERED);
  for (int i = 0; i < N; i++) IS(own[i], 2 * i + 1);
  IS(pinned[2] + pinned[N + 3], 154);
  heap();
  OK(cuMemAllocAsync(&pooled, BYTES, stream));
  OK(cuMemcpyAsync(pooled, a, BYTES, stream));
  OK(cuMemcpyDtoH_v2(z, pooled, BYTES));
  IS(z[N - 1], N - 1);
  OK(cuMemFreeAsync(pooled, stream));

  /* variables of the module, which outlive a launch */
  OK(cuModuleGetGlobal_v2(&variable, &bytes, module, "visits"));
  IS(bytes, 4);
  void *one[] = {&b};
  OK(cuLaunchKernel(counts, 1, 1, 1, 32, 1, 1, 0, 0, one, 0));
  OK(cuMemcpyDtoH_v2(&value, variable, 4));
  IS(value, 7 + 32);
  float four[4] = {9, 8, 7, 6}; /* constants, which only the host may write */
  OK(cuModuleGetGlobal_v2(&variable, &bytes, module, "weights"));
  OK(cuMemcpyHtoD_v2(variable, four, 16));
  OK(cuLaunchKernel(counts, 1, 1, 1, 32, 1, 1, 0, 0, one, 0));
  OK(cuMemcpyDtoH_v2(z, b, 16));
  IS(z[0] + z[3], 15);
  OK(cuMemFree_v2(a));
  OK(cuMemFree_v2(b));
}

static void wrong(handle module, const char *ptx) {
  handle kernel, small, none = (handle)0x12345678, stream, graph, found;
  ptr a;
  size pitch, free, total;
  int value, status = -1;
  float took;
  OK(cuModuleGetFunction(&kernel, module, "saxpy"));
  OK(cuModuleGetFunction(&small, module, "small"));
  OK(cuMemAlloc_v2(&a, BYTES));
  OK(cuStreamCreate(&stream, 0));
  IS(cuInit(1), INVALID_VALUE);
  IS(cuDeviceGet(&value, 7), INVALID_DEVICE);
  IS(cuDeviceGetAttribute(&value, 1, 3), INVALID_DEVICE);
  IS(cuDeviceGetAttribute(0, 1, 0), INVALID_VALUE);
  IS(cuModuleLoad(&found, "/no/such/file"), FILE_NOT_FOUND);
  IS(cuModuleLoadData(&found, "what is this"), INVALID_IMAGE);
  IS(cuModuleLoadData(&found, ".version 7.0\n.target sm_70\n.address_size 64\n.entry f() { nonsense; }"), INVALID_PTX);
  IS(cuModuleGetFunction(&found, module, "no_such_kernel"), NOT_FOUND);
  IS(cuModuleGetFunction(&found, none, "saxpy"), INVALID_HANDLE);
  IS(cuModuleGetGlobal_v2(&a, 0, module, "no_such_variable"), NOT_FOUND);
  IS(cuMemAlloc_v2(&a, 0), INVALID_VALUE);
  ptr kept = a;
  IS(cuMemAlloc_v2(&a, 1ul << 46), OUT_OF_MEMORY);
  IS(a == kept, 1);
  OK(cuMemGetInfo_v2(&free, &total));
  IS(free <= total, 1);
  IS(cuMemFree_v2(a + 4), INVALID_VALUE);
  IS(cuMemFree_v2(0x1234500), INVALID_VALUE);
  IS(cuMemFreeHost(none), INVALID_VALUE);
  IS(cuMemcpyHtoD_v2(a, x, BYTES + 1), INVALID_VALUE);
  IS(cuMemcpyDtoH_v2(x, a - 4, 8), INVALID_VALUE);
  IS(cuMemsetD32_v2(a + 2, 0, 4), INVALID_VALUE);
  IS(cuMemAllocPitch_v2(&kept, &pitch, 100, 3, 5), INVALID_VALUE);
  IS(cuMemHostGetDevicePointer_v2(&kept, x, 0), INVALID_VALUE);
  IS(cuStreamSynchronize(none), INVALID_HANDLE);
  IS(cuStreamDestroy_v2(module), INVALID_HANDLE);
  IS(cuEventRecord(none, 0), INVALID_HANDLE);
  handle event, untimed;
  OK(cuEventCreate(&event, 0));
  OK(cuEventCreate(&untimed, 2));
  IS(cuEventElapsedTime(&took, event, event), INVALID_HANDLE);
  OK(cuEventRecord(event, 0));
  OK(cuEventRecord(untimed, 0));
  IS(cuEventElapsedTime(&took, event, untimed), INVALID_HANDLE);
  OK(cuEventDestroy_v2(event));
  IS(cuEventDestroy_v2(event), INVALID_HANDLE);
  IS(cuLaunchKernel(none, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0), INVALID_HANDLE);
  IS(cuLaunchKernel(kernel, 0, 1, 1, 1, 1, 1, 0, 0, 0, 0), INVALID_VALUE);
  IS(cuLaunchKernel(kernel, 1, 1, 1, 2048, 1, 1, 0, 0, 0, 0), INVALID_VALUE);
  IS(cuLaunchKernel(kernel, 1, 70000, 1, 1, 1, 1, 0, 0, 0, 0), INVALID_VALUE);
  IS(cuLaunchKernel(kernel, 1, 1, 1, 32, 1, 1, 0, 0, 0, 0), INVALID_VALUE); /* no parameters */
  IS(cuLaunchKernel(kernel, 1, 1, 1, 32, 1, 1, 60000, 0, 0, 0), INVALID_VALUE);
  void *one[] = {&a};
  IS(cuLaunchKernel(small, 1, 1, 1, 128, 1, 1, 0, 0, one, 0), OUT_OF_RESOURCES);
  char packed[24];
  size bytes = 20; /* what is laid out by hand is too short */
  void *extra[] = {(void *)1, packed, (void *)2, &bytes, 0};
  IS(cuLaunchKernel(kernel, 1, 1, 1, 32, 1, 1, 0, 0, 0, extra), INVALID_VALUE);
  IS(cuFuncGetAttribute(&value, 99, kernel), INVALID_VALUE);
  IS(cuFuncSetAttribute(kernel, 8, 1 << 20), INVALID_VALUE);
  OK(cuStreamBeginCapture_v2(stream, 0));
  IS(cuStreamSynchronize(stream), CAPTURE_UNSUPPORTED);
  IS(cuStreamEndCapture(stream, &graph), CAPTURE_INVALIDATED);
  IS(cuTexRefCreate(&found), NOT_SUPPORTED);
  IS(cuTexRefCreate(&found), NOT_SUPPORTED);
  static const unsigned char of_the_runtime[16] = {0x6b, 0xd5, 0xfb, 0x6c, 0x5b, 0xf4, 0xe7, 0x4a,
                                                   0x89, 0x87, 0xd9, 0x39, 0x12, 0xfd, 0x9d, 0xf9};
  const void *table;
  IS(cuGetExportTable(&table, of_the_runtime), NOT_FOUND);
  IS(cuGetExportTable(&table, pinned), NOT_FOUND);
  IS(cuGetExportTable(&table, 0), INVALID_VALUE);
  IS(cuGetProcAddress_v2("cuNoSuchThing", (void **)&found, 12000, 0, &status), NOT_FOUND);
  IS(status, 1);
  OK(cuGetProcAddress_v2("cuMemAlloc", (void **)&found, 12000, 0, &status));
  OK(((int (*)(ptr *, size))found)(&kept, 64));
  const char *text;
  OK(cuGetErrorName(700, &text));
  IS(text[11], 'I');
  IS(cuGetErrorName(12345, &text), INVALID_VALUE);
  OK(cuModuleUnload(module));
  IS(cuModuleGetFunction(&found, module, "saxpy"), INVALID_HANDLE);
  IS(cuLaunchKernel(kernel, 1, 1, 1, 32, 1, 1, 0, 0, 0, 0), INVALID_HANDLE);
  (void)ptx;
}

/* A kernel that faults ends its context: the launch is fine, and all that comes after it is not. */
static void faults(const char *ptx, const char *name, long at, int code) {
  handle context, module, kernel;
  ptr a, b;
  OK(cuCtxCreate_v2(&context, 0, 0));
  OK(cuModuleLoad(&module, ptx));
  OK(cuModuleGetFunction(&kernel, module, name));
  OK(cuMemAlloc_v2(&a, 64));
  void *params[] = {&a, &at};
  OK(cuLaunchKernel(kernel, 1, 1, 1, 32, 1, 1, 0, 0, params, 0));
  IS(cuCtxSynchronize(), code);
  IS(cuMemAlloc_v2(&b, 64), code);
  OK(cuCtxDestroy_v2(context));
}

/* The primary context is one for ever, and used by several at once; what is freed needs no current one. */
static void primary(const char *ptx) {
  handle context, again, module, popped;
  unsigned flags;
  int active;
  ptr a, b;
  OK(cuDevicePrimaryCtxGetState(0, &flags, &active));
  IS(active, 0);
  OK(cuDevicePrimaryCtxRetain(&context, 0));
  OK(cuDevicePrimaryCtxRetain(&again, 0));
  IS(again == context, 1);
  OK(cuCtxPushCurrent_v2(context));
  OK(cuMemAlloc_v2(&a, 64));
  OK(cuModuleLoad(&module, ptx));
  OK(cuCtxPopCurrent_v2(&popped));
  IS(popped == context, 1);
  IS(cuMemAlloc_v2(&b, 64), INVALID_CONTEXT);
  OK(cuMemFree_v2(a));
  OK(cuModuleUnload(module));
  OK(cuDevicePrimaryCtxRelease_v2(0));
  OK(cuDevicePrimaryCtxGetState(0, &flags, &active));
  IS(active, 1);
  OK(cuDevicePrimaryCtxRelease_v2(0));
  IS(cuDevicePrimaryCtxRelease_v2(0), INVALID_CONTEXT);
  OK(cuCtxPushCurrent_v2(context));
  IS(cuMemAlloc_v2(&a, 64), CONTEXT_IS_DESTROYED);
  OK(cuDevicePrimaryCtxRetain(&again, 0));
  IS(again == context, 1);
  OK(cuMemAlloc_v2(&a, 64));
  OK(cuMemFree_v2(a));
  OK(cuDevicePrimaryCtxReset_v2(0));
  IS(cuMemAlloc_v2(&a, 64), CONTEXT_IS_DESTROYED);
  OK(cuDevicePrimaryCtxRelease_v2(0));
  OK(cuCtxPopCurrent_v2(&popped));
}

int program(const char *ptx) {
  handle context, module;
  int count;
  IS(cuDeviceGetCount(&count), NOT_INITIALIZED);
  OK(cuInit(0));
  OK(cuDeviceGetCount(&count));
  IS(count, 1);
  ptr a;
  IS(cuMemAlloc_v2(&a, 64), INVALID_CONTEXT);
  primary(ptx);
  OK(cuCtxCreate_v2(&context, 0, 0));
  OK(cuModuleLoad(&module, ptx));
  right(module);
  wrong(module, ptx);
  OK(cuCtxDestroy_v2(context));
  IS(cuMemAlloc_v2(&a, 64), INVALID_CONTEXT);
  faults(ptx, "writes_at", 16, ILLEGAL_ADDRESS);
  faults(ptx, "misaligned", 0, MISALIGNED_ADDRESS);
  return failures;
}
