/* NVIDIA GPUs, by the driver alone.
 *
 * The device's primary context is used, so that pointers and streams may come from other libraries
 * of the process.  A call makes it current in its thread and leaves it so. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device.h"

/* ---- errors ---- */

int model_cuda_failed(const Device *d, CuResult r, const char *what) {
  if (r == CU_OK) return 0;
  const char *name = NULL, *text = NULL;
  d->api.error_name(r, &name);
  d->api.error_string(r, &text);
  return model_fail(MODEL_E_DEVICE, "%s: %s (%s)", what, text ? text : "?", name ? name : "?");
}

/* ---- opening ---- */

/* The functions of `symbols`, n of them, into `table`; the first that is missing, else NULL. */
static const char *find_functions(const Device *d, const char *const *symbols, size_t n,
                                  void *table) {
  for (size_t i = 0; i < n; i++) {
    void *f = dlsym(d->library, symbols[i]);
    if (!f) return symbols[i];
    memcpy((char *)table + i * sizeof f, &f, sizeof f);
  }
  return NULL;
}

static int load_library(Device *d) {
#define X(name, symbol, params) #symbol,
  static const char *const needed[] = {CUDA_FUNCTIONS(X)};
  static const char *const graphs[] = {CUDA_GRAPH_FUNCTIONS(X)};
#undef X
  _Static_assert(sizeof needed / sizeof *needed * sizeof(void *) == sizeof(CudaApi) &&
                     sizeof graphs / sizeof *graphs * sizeof(void *) == sizeof(CudaGraphApi),
                 "functions only");
  d->library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!d->library)
    return model_fail(MODEL_E_DEVICE, "no NVIDIA driver here, which the model was built for: %s",
                      dlerror());
  const char *missing = find_functions(d, needed, sizeof needed / sizeof *needed, &d->api);
  if (missing) return model_fail(MODEL_E_DEVICE, "the NVIDIA driver is too old: no %s", missing);
  d->has_graphs = !find_functions(d, graphs, sizeof graphs / sizeof *graphs, &d->graphs);
  static const char *const make_map[] = {"cuTensorMapEncodeTiled"};
  find_functions(d, make_map, 1, &d->make_map);
  return model_cuda_failed(d, d->api.init(0), "starting the NVIDIA driver");
}

static int attribute(const Device *d, int which) {
  int v = 0;
  return d->api.device_attribute(&v, which, d->device) == CU_OK ? v : 0;
}

static int find_device(Device *d, int ordinal) {
  int n = 0;
  int code = model_cuda_failed(d, d->api.device_count(&n), "counting GPUs");
  if (!code && n == 0) return model_fail(MODEL_E_DEVICE, "no NVIDIA GPU is visible");
  if (!code && (ordinal < 0 || ordinal >= n))
    return model_fail(MODEL_E_DEVICE, "there is no GPU %d, only %d of them", ordinal, n);
  if (!code) code = model_cuda_failed(d, d->api.device_get(&d->device, ordinal), "opening the GPU");
  if (code) return code;
  d->api.device_name(d->name, sizeof d->name - 1, d->device);
  d->sm = attribute(d, CU_MAJOR) * 10 + attribute(d, CU_MINOR);
  d->max_shared = attribute(d, CU_MAX_SHARED_OPTIN);
  for (int i = 0; i < 3; i++) d->max_grid[i] = attribute(d, CU_MAX_GRID_X + i);
  return model_cuda_failed(d, d->api.context_retain(&d->context, d->device), "making the context");
}

static bool runs_on(const Target *t, int sm) { return t->exact ? t->sm == sm : t->sm <= sm; }

/* The highest target that runs here. */
static int find_target(Device *d) {
  for (const Target *t = model_targets; t->name; t++)
    if (runs_on(t, d->sm) && (!d->target || t->sm >= d->target->sm)) d->target = t;
  if (d->target) return 0;
  return model_fail(MODEL_E_DEVICE, "%s is a GPU of sm_%d, which the model was not built for",
                    d->name, d->sm);
}

const CudaApi *model_cuda_enter(const Device *d) {
  CuContext now = NULL;
  if (d->api.context_current(&now) != CU_OK || now != d->context) d->api.context_set(d->context);
  return &d->api;
}

/* ---- kernels ---- */

/* Machine code runs on GPUs of its major number from its minor number on; PTX on all later ones. */
static CuResult load_code(const Device *d, const Kernel *k, CuModule *out, bool *from_ptx,
                          char *log, size_t size) {
  int options[] = {CU_JIT_ERROR_LOG, CU_JIT_ERROR_LOG_SIZE};
  void *values[] = {log, (void *)(uintptr_t)size};
  const bool same = k->cubin && d->target->sm / 10 == d->sm / 10;
  *from_ptx = !same || d->api.module_load(out, k->cubin, 0, NULL, NULL) != CU_OK;
  if (!*from_ptx) return CU_OK;
  return d->api.module_load(out, k->ptx, 2, options, values);
}

static int allow_shared(const Device *d, const Kernel *k, Loaded *l) {
  enum { ALLOWED_ANYWAY = 48 * 1024 };
  int fixed = 0;
  if (k->shared > d->max_shared)
    return model_fail(MODEL_E_DEVICE, "kernel %s needs %d bytes of shared memory, %s has %d",
                      k->entry, k->shared, d->name, d->max_shared);
  d->api.function_get(&fixed, CU_FUNC_SHARED, l->function);
  l->shared = k->shared > fixed ? (unsigned)(k->shared - fixed) : 0;
  if ((int)l->shared + fixed <= ALLOWED_ANYWAY) return 0;
  return model_cuda_failed(
      d, d->api.function_set(l->function, CU_FUNC_MAX_DYNAMIC_SHARED, (int)l->shared),
      "asking for shared memory");
}

/* PTX that spills is assembled once more (registers.h). */
static void load_again(const Device *d, const Kernel *k, Loaded *l) {
  int registers = 0, spilled = 0, still = 0;
  size_t len;
  Loaded more = *l;
  d->api.function_get(&registers, CU_FUNC_REGS, l->function);
  d->api.function_get(&spilled, CU_FUNC_LOCAL, l->function);
  char *text = ptx_for_one_program(k->ptx, strlen(k->ptx), registers, spilled, &len);
  if (!text || d->api.module_load(&more.module, text, 0, NULL, NULL) != CU_OK) {
    free(text);
    return;
  }
  free(text);
  bool better = d->api.module_function(&more.function, more.module, k->entry) == CU_OK &&
                d->api.function_get(&still, CU_FUNC_LOCAL, more.function) == CU_OK &&
                still < spilled;
  d->api.module_unload(better ? l->module : more.module);
  if (better) *l = more;
}

static int load_kernel(Device *d, const Kernel *k, Loaded *l) {
  char log[512] = "", what[768];
  bool from_ptx;
  const CuResult r = load_code(d, k, &l->module, &from_ptx, log, sizeof log);
  log[strcspn(log, "\n")] = 0;
  snprintf(what, sizeof what, "loading kernel %s%s%s", k->entry, *log ? ": " : "", log);
  int code = model_cuda_failed(d, r, what);
  if (!code)
    code = model_cuda_failed(d, d->api.module_function(&l->function, l->module, k->entry),
                             "finding the kernel in its code");
  if (!code && from_ptx) load_again(d, k, l);
  l->threads = (unsigned)k->threads;
  l->cluster = k->cluster;
  if (!code) code = model_maps_open(l, k);
  return code ? code : allow_shared(d, k, l);
}

static int load_kernels(Device *d, int n) {
  int code = 0;
  for (int i = 0; i < n && !code; i++) {
    const Kernel *k = &d->target->kernels[i];
    code = load_kernel(d, k, &d->kernels[i]);
    if (!code && k->plain) code = load_kernel(d, k->plain, &d->plain[i]);
  }
  return code;
}

static int open_device(Device *d, const model_options *o) {
  int code = load_library(d);
  if (!code) code = find_device(d, o->device);
  if (!code) code = find_target(d);
  if (code) return code;
  const size_t n = (size_t)model_plan.nkernels;
  d->kernels = calloc(n + 1, sizeof *d->kernels);
  d->plain = calloc(n + 1, sizeof *d->plain);
  if (!d->kernels || !d->plain) return model_fail(MODEL_E_MEMORY, "out of memory");
  model_cuda_enter(d);
  return load_kernels(d, (int)n);
}

int model_device_open(Device **out, const model_options *o) {
  Device *d = calloc(1, sizeof *d);
  *out = NULL;
  if (!d) return model_fail(MODEL_E_MEMORY, "out of memory");
  const int code = open_device(d, o);
  if (code) model_device_close(d);
  else *out = d;
  return code;
}

static void unload_kernels(const Device *d, Loaded *kernels) {
  for (int i = 0; kernels && i < model_plan.nkernels; i++) {
    if (kernels[i].module) d->api.module_unload(kernels[i].module);
    free(kernels[i].maps);
  }
  free(kernels);
}

void model_device_close(Device *d) {
  if (!d) return;
  if (d->context) model_cuda_enter(d);
  unload_kernels(d, d->kernels);
  unload_kernels(d, d->plain);
  if (d->context) model_forget_recording(d);
  if (d->context) d->api.context_release(d->device);
  if (d->library) dlclose(d->library);
  free(d);
}

const char *model_device_target(const Device *d) { return d->target->name; }

/* ---- memory ---- */

bool model_device_is_host(void) { return false; }

int model_device_alloc(Device *d, char **out, int64_t bytes, const char *what) {
  const CudaApi *api = model_cuda_enter(d);
  CuPointer p = 0;
  size_t left = 0, total = 0;
  const CuResult r = api->memory_alloc(&p, bytes ? (size_t)bytes : 1);
  *out = (char *)(uintptr_t)p;
  if (r == CU_OUT_OF_MEMORY && api->memory_info(&left, &total) == CU_OK)
    return model_fail(MODEL_E_MEMORY,
                      "%s has no memory for %lld MiB of %s: %zu MiB of %zu are free", d->name,
                      (long long)(bytes >> 20), what, left >> 20, total >> 20);
  return model_cuda_failed(d, r, "allocating memory");
}

void model_device_free(Device *d, char *p) {
  if (p) model_cuda_enter(d)->memory_free((uintptr_t)p);
}

/* With unified addresses, as on all GPUs that models are built for, it is mapped where it is. */
int model_device_alloc_shared(Device *d, void **out, int64_t bytes) {
  return model_cuda_failed(d, model_cuda_enter(d)->pinned_alloc(out, (size_t)bytes, 0),
                           "allocating pinned memory");
}

void model_device_free_shared(Device *d, void *p) {
  if (p) model_cuda_enter(d)->pinned_free(p);
}

int model_device_copy(Device *d, void *to, const void *from, int64_t bytes, CopyWay way,
                      void *stream) {
  const CudaApi *api = model_cuda_enter(d);
  const size_t n = (size_t)bytes;
  if (n == 0) return 0;
  const CuResult r = d->recording      ? model_record_copy(d, (uintptr_t)to, (uintptr_t)from, n)
                     : way == COPY_IN  ? api->copy_in((uintptr_t)to, from, n, stream)
                     : way == COPY_OUT ? api->copy_out(to, (uintptr_t)from, n, stream)
                                       : api->copy((uintptr_t)to, (uintptr_t)from, n, stream);
  return model_cuda_failed(d, r, "copying memory");
}

int model_device_sync(Device *d, void *stream) {
  return model_cuda_failed(d, model_cuda_enter(d)->stream_sync(stream), "running the model");
}

/* ---- launching ---- */

int model_launch(const Run *r, int kernel, const uint64_t *args, int nargs, int64_t x, int64_t y,
                 int64_t z) {
  enum { ARGS_MAX = 1024 }; /* kernels with more of them, or with more maps, are not made */
  Device *d = r->device;
  const Kernel *of = &d->target->kernels[kernel];
  const Loaded *k = &d->kernels[kernel];
  void *params[2 * ARGS_MAX];
  if (x == 0 || y == 0 || z == 0) return 0;
  if (x < 0 || y < 0 || z < 0 || x > d->max_grid[0] / of->cluster || y > d->max_grid[1] ||
      z > d->max_grid[2])
    return model_fail(MODEL_E_USAGE, "kernel %s: a grid of %lld, %lld, %lld is not possible on %s",
                      model_plan.kernels[kernel], (long long)x, (long long)y, (long long)z,
                      d->name);
  const bool boxes = model_maps_fill(d, k, of, args);
  if (!boxes) k = &d->plain[kernel];
  const unsigned grid[3] = {(unsigned)(x * k->cluster), (unsigned)y, (unsigned)z};
  for (int i = 0; i < nargs; i++) params[i] = (void *)(uintptr_t)&args[i];
  for (int i = 0; boxes && i < of->nmaps; i++) params[nargs + i] = k->maps[i].map;
  const CudaApi *api = model_cuda_enter(d);
  if (d->recording)
    return model_cuda_failed(d, model_record_kernel(d, k, grid, params), "recording a kernel");
  return model_cuda_failed(d,
                           api->launch(k->function, grid[0], grid[1], grid[2], k->threads, 1, 1,
                                       k->shared, r->stream, params, NULL),
                           "starting a kernel");
}
