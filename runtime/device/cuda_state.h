/* The state of device cuda, shared by the files of its name. */
#ifndef NEREID_RUNTIME_DEVICE_CUDA_STATE_H
#define NEREID_RUNTIME_DEVICE_CUDA_STATE_H

#include "runtime/device/cuda_api.h"
#include "runtime/device/device.h"

/* cuMemAllocAsync and cuMemFreeAsync; drivers before CUDA 11.2 lack them. */
typedef CuResult CuAllocAsync(CuPointer *out, size_t size, CuStream s);
typedef CuResult CuFreeAsync(CuPointer p, CuStream s);
enum { CU_HAS_POOLS = 115 }; /* a device attribute */
/* cuThreadExchangeStreamCaptureMode, and cuStreamIsCapturing, whose state 0 is no. */
typedef CuResult CuExchangeCaptureMode(int *mode);
typedef CuResult CuIsCapturing(CuStream s, int *state);
enum { CU_CAPTURE_RELAXED = 2 };
enum { CU_CAPTURE_UNSUPPORTED = 900, CU_CAPTURE_INVALIDATED = 901, CU_CAPTURE_IMPLICIT = 906 };
enum { CU_NOT_INITIALIZED = 3 };

/* Work that a library starts, as a graph within a graph; drivers before CUDA 11.1 lack some. */
#define CUDA_CAPTURE_FUNCTIONS(X)                                                                 \
  X(begin, cuStreamBeginCapture_v2, (CuStream s, int mode))                                       \
  X(end, cuStreamEndCapture, (CuStream s, CuGraph *out))                                          \
  X(add_graph, cuGraphAddChildGraphNode, (CuGraphNode * out, CuGraph g,                           \
                                          const CuGraphNode *before, size_t nbefore,              \
                                          CuGraph child))                                         \
  X(set_graph, cuGraphExecChildGraphNodeSetParams, (CuGraphExec e, CuGraphNode n, CuGraph child))

typedef struct {
#define X(name, symbol, params) CuResult(*name) params;
  CUDA_CAPTURE_FUNCTIONS(X)
#undef X
} CudaCaptureApi;

/* A map that was made before. */
typedef struct {
  BoxedTensor tensor; /* rank 0: none */
  char map[MAP_BYTES];
} KnownMap;
enum { KNOWN_MAPS = 64 };

typedef struct {
  CudaApi api;
  CudaGraphApi graphs;
  CudaCaptureApi capture;
  bool has_graphs; /* drivers before CUDA 11.4 lack some of these functions */
  bool has_capture;
  CuLaunchEx *launch_ex; /* NULL: the driver lacks it */
  MakeMap *make_map;   /* NULL: the driver lacks it */
  pthread_mutex_t map_lock;
  KnownMap *known_maps;  /* KNOWN_MAPS of them, by a hash; NULL before the first */
  CuAddDependencies *add_dependencies; /* NULL: the driver lacks it */
  CuAllocAsync *alloc_async; /* NULL: the driver lacks it */
  CuFreeAsync *free_async;
  CuExchangeCaptureMode *exchange_mode; /* NULL: the driver lacks it */
  CuIsCapturing *is_capturing;
  bool pools; /* the device has memory in the order of streams */
  const char *here; /* 0 in a process that was forked since */
  void *library;
  CuDevice device;
  CuContext context;
  int sm, max_threads, max_grid[3];
  struct {
    int threads, registers, shared_bytes; /* 0: the driver does not say */
    int reserved_bytes; /* of that shared memory, a program */
  } processor; /* what a multiprocessor has */
} Cuda;

/* 0 if all is well.  `what` was being done. */
int cuda_failed(const CudaApi *api, CuResult r, const char *what);

/* The driver's functions, while the device's context is current in this thread. */
typedef struct {
  const CudaApi *api;
  CuContext before;
  bool restore;
} CudaEntry;

/* A thread that has no context keeps that of GPU 0, the one that NVIDIA's runtime would give it. */
static inline CudaEntry cuda_enter(const nereid_device *d) {
  const Cuda *c = d->state;
  CudaEntry e = {&c->api, NULL, false};
  bool known = c->api.context_current(&e.before) == CU_OK;
  if (__builtin_expect(known && e.before == c->context, 1)) return e;
  c->api.context_set(c->context);
  e.restore = e.before || c->device;
  return e;
}

static inline void cuda_leave(CudaEntry *e) {
  if (__builtin_expect(e->restore, 0)) e->api->context_set(e->before);
}

/* CUDA's contexts don't outlive a fork: calls of the driver fail there, or worse. */
static inline bool cuda_is_forked(const nereid_device *d) {
  return __builtin_expect(!*((const Cuda *)d->state)->here, 0);
}
int cuda_forked(void); /* sets the error */

/* Until the end of the block, `api` has the driver's functions, and the device's context is
 * current; afterwards the caller's is.  The function returns an error, or `result`, in a forked
 * process. */
#define CUDA_ENTER(d) CUDA_ENTER_OR(d, cuda_forked())
#define CUDA_ENTER_OR(d, result)                                        \
  if (cuda_is_forked(d)) return result;                                 \
  __attribute__((cleanup(cuda_leave))) CudaEntry entry = cuda_enter(d); \
  const CudaApi *api = entry.api

/* While a stream is captured, the driver refuses calls that might wait for it, such as allocating
 * memory and loading code, and gives the capture up, unless the calling thread says that it knows
 * what it does. */
typedef struct {
  CuExchangeCaptureMode *exchange;
  int mode;
} CaptureMode;

static inline CaptureMode cuda_relax(const nereid_device *d) {
  CaptureMode m = {((const Cuda *)d->state)->exchange_mode, CU_CAPTURE_RELAXED};
  if (m.exchange && m.exchange(&m.mode) != CU_OK) m.exchange = NULL;
  return m;
}

static inline void cuda_restrict(CaptureMode *m) {
  if (m->exchange) m->exchange(&m->mode);
}

/* Until the end of the block, calls have no effect on streams that others capture. */
#define CUDA_RELAX(d) \
  __attribute__((cleanup(cuda_restrict), unused)) CaptureMode relaxed = cuda_relax(d)

/* Takes PTX and machine code; the message is kept. */
int cuda_load(nereid_device *d, const nereid_image *image, const ImageVariant *v, Loaded *out);

/* ---- cuda_load.c ---- */

/* Each item gets its code, and a failure its message. */
int cuda_load_all(nereid_device *d, LoadItem *items, int n);

/* ---- cuda_map.c ---- */

int cuda_make_map(nereid_device *d, void *out, const BoxedTensor *t);

/* ---- cuda_upload.c ---- */

int cuda_upload(nereid_device *d, const Upload *uploads, int n);

#endif
