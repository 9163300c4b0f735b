/* A CUDA runtime for tests that says yes: with it, and FakeTensorMode, a PyTorch that was built for
 * GPUs traces as on an H200 (absent_gpu.py).  Nothing runs.  The layout of properties is that of
 * CUDA 13. */
#include <string.h>

int cudaGetDeviceCount(int *n) { return *n = 1, 0; }
int cudaGetDevice(int *n) { return *n = 0; }
int cudaSetDevice(int n) { return n; }
int cudaDriverGetVersion(int *v) { return *v = 13000, 0; }
int cudaGetLastError(void) { return 0; }
int cudaPeekAtLastError(void) { return 0; }
int cudaDeviceGetStreamPriorityRange(int *least, int *most) { return *least = 0, *most = -3, 0; }
int cudaStreamIsCapturing(void *stream, int *is) { return (void)stream, *is = 0; }
int cudaStreamGetCaptureInfo(void *stream, int *is) { return (void)stream, *is = 0; }
int cudaStreamQuery(void *stream) { return (void)stream, 0; }
int cudaStreamSynchronize(void *stream) { return (void)stream, 0; }
int cudaDeviceSynchronize(void) { return 0; }
int cuDevicePrimaryCtxGetState(int d, unsigned *flags, int *on) { return *flags = 0, *on = d; }

int cudaMemGetInfo(size_t *unused, size_t *all) {
  *unused = *all = (size_t)64 << 30;
  return 0;
}

int cudaGetDeviceProperties(char *p, int device) {
  static const struct {
    int at, value;
  } known[] = {{296, 49152}, {304, 65536}, {308, 32}, {320, 1024}, {360, 9}, {384, 132}};
  const size_t memory = (size_t)64 << 30;
  memset(p, 0, 900);
  memcpy(p, "NVIDIA H200", sizeof "NVIDIA H200");
  memcpy(p + 288, &memory, sizeof memory);
  for (size_t i = 0; i < sizeof known / sizeof *known; i++)
    memcpy(p + known[i].at, &known[i].value, sizeof(int));
  return device;
}
