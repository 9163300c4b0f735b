/* The state of device cuda, shared by cuda_device.c, cuda_load.c and cuda_upload.c. */
#ifndef NEREID_RUNTIME_DEVICE_CUDA_STATE_H
#define NEREID_RUNTIME_DEVICE_CUDA_STATE_H

#include "runtime/device/cuda_api.h"
#include "runtime/device/device.h"

typedef struct {
  CudaApi api;
  CudaGraphApi graphs;
  bool has_graphs; /* drivers before CUDA 11.4 lack some of these functions */
  CuLaunchEx *launch_ex; /* NULL: the driver lacks it */
  void *library;
  CuDevice device;
  CuContext context;
  int sm, max_threads, max_grid[3];
} Cuda;

/* 0 if all is well.  `what` was being done. */
int cuda_failed(const CudaApi *api, CuResult r, const char *what);

/* Makes the context current; the driver keeps it for each thread. */
static inline const CudaApi *cuda_enter(const nereid_device *d) {
  const Cuda *c = d->state;
  CuContext now = NULL;
  if (__builtin_expect(c->api.context_current(&now) != CU_OK || now != c->context, 0))
    c->api.context_set(c->context);
  return &c->api;
}

/* Takes PTX and machine code; the message is kept. */
int cuda_load(nereid_device *d, const nereid_image *image, const ImageVariant *v, Loaded *out);

/* ---- cuda_load.c ---- */

/* Each item gets its code, and a failure its message. */
int cuda_load_all(nereid_device *d, LoadItem *items, int n);

/* ---- cuda_upload.c ---- */

int cuda_upload(nereid_device *d, const Upload *uploads, int n);

/* ---- cuda_graph.c ---- */

#endif
