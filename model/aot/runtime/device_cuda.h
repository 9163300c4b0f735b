/* Device cuda: declarations for device.c and replay.c. */
#ifndef MODEL_DEVICE_H
#define MODEL_DEVICE_H

#include "boxed_tensor.h"
#include "cuda.h"
#include "kernels.h"
#include "plan.h"
#include "registers.h"

/* The map of a launch's tensor, which is made anew where the tensor is another one. */
typedef struct {
  _Alignas(MAP_ALIGNMENT) char map[MAP_BYTES];
  BoxedTensor tensor; /* rank 0: none */
} LaunchMap;

typedef struct Loaded Loaded;
struct Loaded {
  CuModule module;
  CuFunction function;
  unsigned threads, shared; /* to be asked for with a launch */
  int cluster;              /* thread blocks of a program */
  LaunchMap *maps;          /* as many as the kernel has */
};

struct Device {
  CudaApi api;
  void *library;
  CuDevice device;
  CuContext context;
  char name[128];
  int sm, max_shared, max_grid[3];
  const Target *target;
  Loaded *kernels, *plain; /* `plain` of those that have maps */
  MakeMap *make_map;       /* NULL: the driver lacks it */
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

/* ---- maps.c ---- */

/* Room for the maps of a kernel. */
int model_maps_open(Loaded *l, const Kernel *k);
/* Makes the maps for these arguments.  False: the hardware or the driver does not take one. */
bool model_maps_fill(const Device *d, const Loaded *l, const Kernel *k, const uint64_t *args);

/* ---- replay.c ---- */

/* Launches and copies that are recorded; `k` is loaded. */
CuResult model_record_kernel(Device *d, const Loaded *k, const unsigned grid[3], void **params);
CuResult model_record_copy(Device *d, CuPointer to, CuPointer from, size_t n);
void model_forget_recording(Device *d);

#endif
