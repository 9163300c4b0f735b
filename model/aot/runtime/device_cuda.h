/* Device cuda: declarations for device.c and replay.c. */
#ifndef MODEL_DEVICE_H
#define MODEL_DEVICE_H

#include "cuda.h"
#include "kernels.h"
#include "plan.h"
#include "registers.h"

typedef struct {
  CuModule module;
  CuFunction function;
  unsigned threads, shared; /* to be asked for with a launch */
} Loaded;

struct Device {
  CudaApi api;
  void *library;
  CuDevice device;
  CuContext context;
  char name[128];
  int sm, max_shared, max_grid[3];
  const Target *target;
  Loaded *kernels;
  CudaGraphApi graphs;
  bool has_graphs; /* the driver has these functions */
  CuGraph recording; /* NULL: launches and copies start at once */
  CuGraphNode last;  /* of the recording */
  CuGraphExec exec;  /* the last recording; NULL: none */
};

/* 0 if all is well.  `what` was being done. */
int model_cuda_failed(const Device *d, CuResult r, const char *what);
/* Makes the context current; the driver keeps it for each thread. */
const CudaApi *model_cuda_enter(const Device *d);

/* ---- replay.c ---- */

/* Launches and copies that are recorded; `k` is loaded. */
CuResult model_record_kernel(Device *d, const Loaded *k, const unsigned grid[3], void **params);
CuResult model_record_copy(Device *d, CuPointer to, CuPointer from, size_t n);
void model_forget_recording(Device *d);

#endif
