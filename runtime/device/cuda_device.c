/* Device cuda: NVIDIA's driver, loaded at run time.
 *
 * The device uses the primary context, so pointers and streams may come from other libraries of the
 * process.  A call makes that context current in its thread, and the one before it again when it
 * returns: other libraries tell by it which device is theirs. */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "lower/target/machine.h"
#include "runtime/device/cuda_state.h"
#include "runtime/device/device.h"
#include "runtime/device/gpu_target.h"
#include "runtime/device/ptx_registers.h"
#include "runtime/device/replay.h"
#include "runtime/messages.h"
#include "runtime/support/host_machine.h"

/* Replays on a GPU: a CUDA graph with a node for each item, each after the one before it.
 *
 * Nodes are added one by one, rather than by capturing a stream: so each has a handle by which its
 * arguments are changed, and no other use of the stream can get into it. */

typedef struct {
  CuGraph graph;
  CuGraphExec exec;
  CuGraphNode *nodes;
  CuStream captured; /* in which calls are captured; NULL: there was none yet */
} CudaReplay;

static const CudaGraphApi *graphs_of(const nereid_device *d) {
  return &((const Cuda *)d->state)->graphs;
}

static bool cuda_replay_supported(const nereid_device *d) {
  return ((const Cuda *)d->state)->has_graphs;
}

/* ---- nodes ---- */

/* Thread blocks: those of a cluster follow each other along the first axis. */
static uint64_t blocks_along(const Start *s, int axis) {
  int cluster = s->chosen->variant->cluster;
  return (uint64_t)s->launched[axis] * (!axis && cluster > 1 ? (uint64_t)cluster : 1);
}

/* ---- launches that overlap ---- */

/* Dependent launch came with sm_90. */
enum { LEAST_SM_OF_PDL = 90 };

static bool may_overlap(const Cuda *c, const Start *s) {
  return s->flags & NEREID_LAUNCH_PDL && c->sm >= LEAST_SM_OF_PDL;
}

/* A kernel that begins before the one before it has ended gets its programs placed one by one,
 * wherever there is room: some multiprocessors hold three while others have one, and the launch
 * ends with the fullest.  A program that asks for more shared memory than it needs fits as often as
 * the even share says, and no more.  Kernels that compute from shared memory, as products do, are
 * spread so; those with little of it fill gaps beside others (decision 870). */
static bool spreads(const Cuda *c, const ImageVariant *v) {
  enum { LEAST_BYTES = 16384 };
  return c->sm >= LEAST_SM_OF_PDL && c->processor.shared_bytes && v->shared >= LEAST_BYTES &&
         v->cluster <= 1;
}

/* How many programs of the kernel a multiprocessor has room for. */
static uint64_t room(const Cuda *c, const Loaded *k) {
  enum { UNIT = 8 }; /* registers of a thread are given in eights */
  int threads = k->resources.threads;
  int registers = (k->resources.registers + UNIT - 1) / UNIT * UNIT * threads;
  int most = c->processor.shared_bytes / ((int)k->variant->shared + c->processor.reserved_bytes);
  if (threads && c->processor.threads / threads < most) most = c->processor.threads / threads;
  if (registers && c->processor.registers / registers < most)
    most = c->processor.registers / registers;
  return most > 0 ? (uint64_t)most : 0;
}

/* The dynamic shared memory, in bytes, that this launch asks for. */
static unsigned shared_of_launch(const Start *s) {
  enum { UNIT = 128 }; /* bytes that shared memory is given in */
  const nereid_device *d = s->kernel->device;
  const Cuda *c = d->state;
  const Loaded *k = s->chosen;
  unsigned own = (unsigned)k->resources.shared_bytes;
  if (!may_overlap(c, s) || !spreads(c, k->variant) || d->info.processors < 1) return own;
  uint64_t programs = (uint64_t)s->launched[0] * s->launched[1] * s->launched[2];
  uint64_t processors = (uint64_t)d->info.processors;
  uint64_t share = (programs + processors - 1) / processors;
  /* With one each, a second one is of the next kernel, which begins its loads. */
  if (share < 2 || share >= room(c, k)) return own;
  /* The least with which one more than the share does not fit. */
  int64_t least = c->processor.shared_bytes / (int64_t)(share + 1) - c->processor.reserved_bytes;
  least = (least / UNIT + 1) * UNIT;
  if (least > d->info.shared_bytes) least = d->info.shared_bytes;
  return least > k->variant->shared ? own + (unsigned)(least - k->variant->shared) : own;
}

static CuKernelNode kernel_node(const Start *s) {
  const Loaded *k = s->chosen;
  return (CuKernelNode){.function = k->entry,
                        .grid = {(unsigned)blocks_along(s, 0), s->launched[1], s->launched[2]},
                        .block = {(unsigned)k->resources.threads, 1, 1},
                        .shared = shared_of_launch(s),
                        .params = s->pointers};
}

static CuCopyNode graph_copy_node(const ReplayItem *item) {
  return (CuCopyNode){.from_type = CU_MEMORY_DEVICE,
                      .from = (uintptr_t)item->from,
                      .to_type = CU_MEMORY_DEVICE,
                      .to = (uintptr_t)item->to,
                      .width = item->size,
                      .height = 1,
                      .depth = 1};
}

/* What the call starts, as a graph, which the caller frees. */
static CuResult capture_call(nereid_device *d, CudaReplay *r, const ReplayCall *call,
                             CuGraph *out) {
  enum { NON_BLOCKING = 1 };
  const Cuda *c = d->state;
  *out = NULL;
  if (!c->has_capture) return CU_UNAVAILABLE;
  CuResult result = r->captured ? CU_OK : c->api.stream_new(&r->captured, NON_BLOCKING);
  if (result != CU_OK) return result;
  result = c->capture.begin(r->captured, CU_CAPTURE_RELAXED);
  if (result != CU_OK) return result;
  int code = call->start(call->context, r->captured);
  result = c->capture.end(r->captured, out);
  return code && result == CU_OK ? CU_LAUNCH_FAILED : result;
}

static CuResult add_call(nereid_device *d, CudaReplay *r, int i, const ReplayCall *call) {
  const Cuda *c = d->state;
  CuGraph child;
  CuResult result = capture_call(d, r, call, &child);
  if (result == CU_OK)
    result =
        c->capture.add_graph(&r->nodes[i], r->graph, i ? &r->nodes[i - 1] : NULL, i ? 1 : 0, child);
  if (child) c->graphs.graph_free(child);
  return result;
}

static CuResult set_call(nereid_device *d, CudaReplay *r, int i, const ReplayCall *call) {
  const Cuda *c = d->state;
  CuGraph child;
  CuResult result = capture_call(d, r, call, &child);
  if (result == CU_OK) result = c->capture.set_graph(r->exec, r->nodes[i], child);
  if (child) c->graphs.graph_free(child);
  return result;
}

/* A kernel that may overlap the one before it. */
static CuResult add_overlapping(const Cuda *c, CudaReplay *r, int i, const CuKernelNode *kernel) {
  CuEdge edge = CU_EDGE_PROGRAMMATIC;
  CuResult result = c->graphs.add_kernel(&r->nodes[i], r->graph, NULL, 0, kernel);
  if (result != CU_OK) return result;
  return c->add_dependencies(r->graph, &r->nodes[i - 1], &r->nodes[i], &edge, 1);
}

static CuResult add_node(nereid_device *d, CudaReplay *r, int i, const ReplayItem *items) {
  const Cuda *c = d->state;
  const CudaGraphApi *api = graphs_of(d);
  const ReplayItem *item = &items[i];
  const CuGraphNode *before = i ? &r->nodes[i - 1] : NULL;
  size_t nbefore = i ? 1 : 0;
  if (item->launch) {
    CuKernelNode kernel = kernel_node(&item->launch->start);
    bool overlaps = i && items[i - 1].launch && c->add_dependencies;
    if (overlaps && may_overlap(c, &item->launch->start))
      return add_overlapping(c, r, i, &kernel);
    return api->add_kernel(&r->nodes[i], r->graph, before, nbefore, &kernel);
  }
  if (item->call) return add_call(d, r, i, item->call);
  CuCopyNode copy = graph_copy_node(item);
  CuContext context = ((const Cuda *)d->state)->context;
  return api->add_copy(&r->nodes[i], r->graph, before, nbefore, &copy, context);
}

/* ---- replays ---- */

static CuResult make_graph(nereid_device *d, CudaReplay *r, const ReplayItem *items, int n) {
  const CudaGraphApi *api = graphs_of(d);
  CuResult result = api->graph_new(&r->graph, 0);
  for (int i = 0; i < n && result == CU_OK; i++) result = add_node(d, r, i, items);
  return result == CU_OK ? api->instantiate(&r->exec, r->graph, 0) : result;
}

/* If the replay is running, the driver frees it after its end. */
static void cuda_replay_free(nereid_device *d, void *replay) {
  CudaReplay *r = replay;
  CUDA_ENTER_OR(d, );
  CUDA_RELAX(d);
  if (r->exec) graphs_of(d)->exec_free(r->exec);
  if (r->graph) graphs_of(d)->graph_free(r->graph);
  if (r->captured) api->stream_free(r->captured);
  free(r->nodes);
  free(r);
}

static int cuda_replay_new(nereid_device *d, void **out, const ReplayItem *items, int n) {
  CUDA_ENTER(d);
  CUDA_RELAX(d);
  CudaReplay *r = calloc(1, sizeof *r);
  if (!r) return error_out_of_memory();
  r->nodes = calloc((size_t)n + 1, sizeof(CuGraphNode));
  int code = r->nodes ? cuda_failed(api, make_graph(d, r, items, n), "recording a CUDA graph")
                      : error_out_of_memory();
  if (code) cuda_replay_free(d, r);
  else *out = r;
  return code;
}

static int cuda_replay_set(nereid_device *d, void *replay, int i, const ReplayItem *item) {
  CUDA_ENTER(d);
  const CudaGraphApi *graphs = graphs_of(d);
  CudaReplay *r = replay;
  CuResult result;
  if (item->launch) {
    CuKernelNode kernel = kernel_node(&item->launch->start);
    result = graphs->set_kernel(r->exec, r->nodes[i], &kernel);
  } else if (item->call) {
    result = set_call(d, r, i, item->call);
  } else {
    CuCopyNode copy = graph_copy_node(item);
    result = graphs->set_copy(r->exec, r->nodes[i], &copy, ((const Cuda *)d->state)->context);
  }
  return cuda_failed(api, result, "changing a CUDA graph");
}

static int cuda_replay_run(nereid_device *d, void *replay, void *stream) {
  CUDA_ENTER(d);
  const CudaReplay *r = replay;
  return cuda_failed(api, graphs_of(d)->graph_launch(r->exec, stream), "launching a CUDA graph");
}

enum { LOG_MAX = 8192 };

/* ---- errors ---- */

static const struct {
  CuResult result;
  int code;
  const char *advice;
} advices[] = {
    {CU_OUT_OF_MEMORY, NEREID_E_MEMORY, "free memory of this or other programs, or use less"},
    {CU_NOT_INITIALIZED, NEREID_E_DEVICE,
     "a process that was forked from one that uses the GPU can't use it: start it by spawn"},
    {CU_STUB_LIBRARY, NEREID_E_DEVICE, "this libcuda is a stub for linking; install the driver"},
    {CU_NEWER_DRIVER_NEEDED, NEREID_E_DEVICE, "update the NVIDIA driver"},
    {CU_UNAVAILABLE, NEREID_E_DEVICE, "another program has the device for itself"},
    {CU_NO_DEVICE, NEREID_E_DEVICE, "no NVIDIA GPU is visible (CUDA_VISIBLE_DEVICES may hide it)"},
    {CU_INVALID_IMAGE, NEREID_E_DEVICE, "the machine code is not for this device; compile anew"},
    {CU_NO_BINARY, NEREID_E_DEVICE, "the code was compiled for another target than this device"},
    {CU_ECC, NEREID_E_LOST, "the GPU's memory has an error; reset it"},
    {CU_INVALID_PTX, NEREID_E_TOOL, "the driver refused the PTX; this is a bug of the compiler"},
    {CU_NO_JIT, NEREID_E_TOOL, "the driver's libnvidia-ptxjitcompiler is not installed"},
    {CU_UNSUPPORTED_PTX, NEREID_E_DEVICE, "the driver is older than the PTX; update it"},
    {CU_ILLEGAL_ADDRESS, NEREID_E_LOST,
     "the kernel touched memory that is not allocated; device interp says where"},
    {CU_OUT_OF_RESOURCES, NEREID_E_RESOURCES, "too many registers or threads; use fewer warps"},
    {CU_TIMEOUT, NEREID_E_LOST, "the kernel ran too long for a GPU that drives a display"},
    {CU_CONTEXT_DESTROYED, NEREID_E_LOST, "the context is gone"},
    {CU_ASSERT, NEREID_E_LOST, "an assertion in the kernel failed"},
    {CU_HARDWARE_STACK, NEREID_E_LOST, "the kernel broke its stack"},
    {CU_ILLEGAL_INSTRUCTION, NEREID_E_LOST, "the kernel ran an illegal instruction"},
    {CU_MISALIGNED, NEREID_E_LOST,
     "the kernel used an address that is not aligned; device interp says where"},
    {CU_INVALID_SPACE, NEREID_E_LOST, "the kernel used an address of the wrong memory"},
    {CU_INVALID_PC, NEREID_E_LOST, "the kernel lost its way"},
    {CU_LAUNCH_FAILED, NEREID_E_LOST, "the kernel failed; device interp may say where"},
    {CU_CAPTURE_UNSUPPORTED, NEREID_E_DEVICE,
     "a stream that is captured can't wait, or be waited for; run once before the capture"},
    {CU_CAPTURE_INVALIDATED, NEREID_E_DEVICE, "an earlier call has ended the stream's capture"},
    {CU_CAPTURE_IMPLICIT, NEREID_E_DEVICE,
     "the default stream waits for a stream that is captured; run once before the capture, or "
     "capture a stream that is made as non-blocking"},
    {CU_NOT_READY, NEREID_E_DEVICE, "the driver's services (fabric manager) are not running yet"},
    {CU_DRIVER_MISMATCH, NEREID_E_DEVICE, "libcuda and the kernel module differ; restart"},
    {CU_COMPAT_NOT_SUPPORTED, NEREID_E_DEVICE, "this libcuda does not support the driver's GPU"},
};

int cuda_forked(void) { return error_set(NEREID_E_DEVICE, E_RUN_CUDA_FORKED); }

int cuda_failed(const CudaApi *api, CuResult r, const char *what) {
  if (__builtin_expect(r == CU_OK, 1)) return 0;
  const char *name = NULL, *text = NULL, *advice = NULL;
  int code = NEREID_E_DEVICE;
  api->error_name(r, &name);
  api->error_string(r, &text);
  for (size_t i = 0; i < sizeof advices / sizeof *advices; i++)
    if (advices[i].result == r) {
      advice = advices[i].advice;
      code = advices[i].code;
    }
  error_set(code, E_RUN_CUDA, what, name ? name : "unknown error", text ? text : "?",
            advice ? "; " : "", advice ? advice : "");
  return r == CU_OUT_OF_RESOURCES ? error_resource((Resource){.name = "registers"}) : code;
}

/* ---- the library ---- */

/* The functions of that names, into a struct of pointers; returns the first name that the library
 * lacks, NULL if it has all. */
static const char *find_driver_functions(const Cuda *c, const char *const *symbols, size_t n,
                                         void *out) {
  for (size_t i = 0; i < n; i++) {
    void *f = dlsym(c->library, symbols[i]);
    if (!f) return symbols[i];
    memcpy((char *)out + i * sizeof f, &f, sizeof f);
  }
  return NULL;
}

static void find_graphs(Cuda *c) {
  static const char *const symbols[] = {
#define X(name, symbol, params) #symbol,
      CUDA_GRAPH_FUNCTIONS(X)
#undef X
  };
  _Static_assert(sizeof symbols / sizeof *symbols * sizeof(void *) == sizeof(CudaGraphApi),
                 "functions only");
  c->has_graphs = !find_driver_functions(c, symbols, sizeof symbols / sizeof *symbols, &c->graphs);
  static const char *const capture[] = {
#define X(name, symbol, params) #symbol,
      CUDA_CAPTURE_FUNCTIONS(X)
#undef X
  };
  c->has_capture =
      !find_driver_functions(c, capture, sizeof capture / sizeof *capture, &c->capture);
}

static int load_driver(Cuda *c) {
  const char *own = getenv("NEREID_LIBCUDA");
  const char *path = own && *own ? own : "libcuda.so.1";
  c->library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!c->library) return error_set(NEREID_E_DEVICE, E_RUN_NO_LIBCUDA, path, dlerror());
  static const char *const symbols[] = {
#define X(name, symbol, params) #symbol,
      CUDA_FUNCTIONS(X)
#undef X
  };
  _Static_assert(sizeof symbols / sizeof *symbols * sizeof(void *) == sizeof(CudaApi),
                 "functions only");
  const char *lacks = find_driver_functions(c, symbols, sizeof symbols / sizeof *symbols, &c->api);
  if (lacks) return error_set(NEREID_E_DEVICE, E_RUN_LIBCUDA_OLD, path, lacks);
  find_graphs(c);
  static const char *const launch_ex[] = {"cuLaunchKernelEx"};
  find_driver_functions(c, launch_ex, 1, &c->launch_ex);
  static const char *const make_map[] = {"cuTensorMapEncodeTiled"};
  find_driver_functions(c, make_map, 1, &c->make_map);
  static const char *const add_dependencies[] = {"cuGraphAddDependencies_v2"};
  find_driver_functions(c, add_dependencies, 1, &c->add_dependencies);
  static const char *const alloc_async[] = {"cuMemAllocAsync"};
  static const char *const free_async[] = {"cuMemFreeAsync"};
  find_driver_functions(c, alloc_async, 1, &c->alloc_async);
  find_driver_functions(c, free_async, 1, &c->free_async);
  static const char *const exchange_mode[] = {"cuThreadExchangeStreamCaptureMode"};
  static const char *const is_capturing[] = {"cuStreamIsCapturing"};
  find_driver_functions(c, exchange_mode, 1, &c->exchange_mode);
  find_driver_functions(c, is_capturing, 1, &c->is_capturing);
  return cuda_failed(&c->api, c->api.init(0), "starting the driver");
}

int nereid_device_count(const char *kind) {
  REQUIRE(kind);
  if (strcmp(kind, "cuda"))
    return !strcmp(kind, "cpu") || !strcmp(kind, "interp") || !strcmp(kind, "nest");
  Cuda *c = calloc(1, sizeof *c);
  int n = 0;
  if (c && !load_driver(c) && cuda_failed(&c->api, c->api.device_count(&n), "counting devices"))
    n = 0;
  if (c && c->library) dlclose(c->library);
  free(c);
  return n;
}

/* ---- opening ---- */

static int device_attribute_value(const Cuda *c, int which) {
  int v = 0;
  return c->api.device_attribute(&v, which, c->device) ? 0 : v;
}

/* The best target that the device can run. */
static int find_best_target(const Cuda *c, nereid_device *d) {
  int best = 0;
  for (int i = 0; nereid_target(i); i++) {
    bool exact;
    int sm = gpu_target_sm(nereid_target(i), &exact);
    if (!gpu_target_runs_on(nereid_target(i), c->sm) || sm < best) continue;
    best = sm;
    snprintf(d->target, sizeof d->target, "%s", nereid_target(i));
  }
  if (best) return 0;
  return error_set(NEREID_E_DEVICE, E_RUN_GPU_OLD, d->description, c->sm / 10, c->sm % 10);
}

static void read_info(Cuda *c, nereid_device *d) {
  size_t memory = 0;
  c->api.device_name(d->description, sizeof d->description, c->device);
  c->api.device_memory(&memory, c->device);
  c->api.driver_version(&d->info.driver_version);
  d->info.memory = (int64_t)memory;
  d->info.l2_bytes = device_attribute_value(c, CU_L2_SIZE);
  d->info.shared_bytes = device_attribute_value(c, CU_MAX_SHARED_OPTIN);
  d->info.processors = device_attribute_value(c, CU_PROCESSORS);
  d->info.clock_khz = device_attribute_value(c, CU_CLOCK);
  d->info.memory_clock_khz = device_attribute_value(c, CU_MEMORY_CLOCK);
  d->info.memory_bus_bits = device_attribute_value(c, CU_BUS_WIDTH);
  c->sm = device_attribute_value(c, CU_MAJOR) * 10 + device_attribute_value(c, CU_MINOR);
  c->max_threads = device_attribute_value(c, CU_MAX_THREADS);
  c->pools = device_attribute_value(c, CU_HAS_POOLS);
  c->processor.threads = device_attribute_value(c, CU_PROCESSOR_THREADS);
  c->processor.registers = device_attribute_value(c, CU_PROCESSOR_REGISTERS);
  c->processor.shared_bytes = device_attribute_value(c, CU_PROCESSOR_SHARED);
  c->processor.reserved_bytes = device_attribute_value(c, CU_RESERVED_SHARED);
  for (int i = 0; i < 3; i++) c->max_grid[i] = device_attribute_value(c, CU_MAX_GRID_X + i);
}

static int open_ordinal(nereid_device *d, Cuda *c, int ordinal) {
  int n = 0;
  int code = load_driver(c);
  if (!code) code = cuda_failed(&c->api, c->api.device_count(&n), "counting devices");
  if (code) return code;
  if (n == 0) return cuda_failed(&c->api, CU_NO_DEVICE, "opening the device");
  if (ordinal >= n) return error_set(NEREID_E_DEVICE, E_RUN_NO_ORDINAL, ordinal, n);
  code = cuda_failed(&c->api, c->api.device_get(&c->device, ordinal), "opening the device");
  if (code) return code;
  snprintf(d->name, sizeof d->name, "cuda:%d", ordinal);
  read_info(c, d);
  code = find_best_target(c, d);
  if (!code && !d->described)
    code =
        cuda_failed(&c->api, c->api.context_retain(&c->context, c->device), "making the context");
  return code;
}

static int open_cuda(nereid_device *d, int ordinal) {
  if (d->described && cuda_known(d, ordinal)) return 0;
  Cuda *c = calloc(1, sizeof *c);
  if (!c) return error_out_of_memory();
  c->here = host_fork_mark();
  int code = c->here ? open_ordinal(d, c, ordinal) : error_out_of_memory();
  if (code) {
    host_free_fork_mark(c->here);
    if (c->library) dlclose(c->library);
    free(c);
    return code;
  }
  pthread_mutex_init(&c->map_lock, NULL);
  d->state = c;
  if (d->described) cuda_know(d, ordinal);
  return 0;
}

static void close_cuda(nereid_device *d) {
  Cuda *c = d->state;
  if (!c) return; /* it was known, and never opened */
  bool forked = cuda_is_forked(d);
  if (!d->described && !forked) c->api.context_release(c->device);
  if (!forked) dlclose(c->library);
  host_free_fork_mark(c->here);
  pthread_mutex_destroy(&c->map_lock);
  free(c->known_maps);
  free(c);
}

void *nereid_device_native(nereid_device *d) {
  REQUIRE_OR(d, NULL);
  return d->ops == &device_cuda ? (void *)((Cuda *)d->state)->context : NULL;
}

/* ---- memory ---- */

static int alloc_cuda(nereid_device *d, void **out, size_t size) {
  CUDA_ENTER(d);
  CUDA_RELAX(d);
  CuPointer p = 0;
  size_t free_bytes = 0, total = 0;
  *out = NULL;
  CuResult r = api->memory_alloc(&p, size ? size : 1);
  if (r == CU_OUT_OF_MEMORY && api->memory_info(&free_bytes, &total) == CU_OK)
    return error_set(NEREID_E_MEMORY, E_RUN_CUDA_MEMORY, d->name, size >> 20, free_bytes >> 20,
                     total >> 20);
  *out = (void *)(uintptr_t)p;
  return cuda_failed(api, r, "allocating memory");
}

static void free_cuda(nereid_device *d, void *p) {
  CUDA_ENTER_OR(d, );
  CUDA_RELAX(d);
  api->memory_free((uintptr_t)p);
}

static bool has_pools(const Cuda *c) { return c->pools && c->alloc_async && c->free_async; }

/* Allocates in the order of the stream, and as a part of the graph that the stream may be
 * capturing; without memory pools the memory lasts until the launch is over. */
static int alloc_scratch_cuda(nereid_device *d, void **out, size_t size, void *stream) {
  const Cuda *c = d->state;
  if (!has_pools(c)) return alloc_cuda(d, out, size);
  CUDA_ENTER(d);
  CuPointer p = 0;
  CuResult r = c->alloc_async(&p, size ? size : 1, stream);
  *out = (void *)(uintptr_t)p;
  return cuda_failed(api, r, "allocating scratch memory");
}

static void free_scratch_cuda(nereid_device *d, void *p, void *stream) {
  const Cuda *c = d->state;
  CUDA_ENTER_OR(d, );
  CUDA_RELAX(d);
  if (has_pools(c)) {
    c->free_async((uintptr_t)p, stream);
    return;
  }
  api->stream_sync(stream);
  api->memory_free((uintptr_t)p);
}

/* Pinned memory is mapped where there are unified addresses, which all GPUs have for which we
 * compile. */
static int alloc_shared_cuda(nereid_device *d, void **out, size_t size) {
  CUDA_ENTER(d);
  CUDA_RELAX(d);
  *out = NULL;
  return cuda_failed(api, api->pinned_alloc(out, size, 0), "allocating pinned memory");
}

static void free_shared_cuda(nereid_device *d, void *p) {
  CUDA_ENTER_OR(d, );
  CUDA_RELAX(d);
  api->pinned_free(p);
}

static int copy_cuda(nereid_device *d, void *to, const void *from, size_t size, int way,
                     void *stream) {
  CUDA_ENTER(d);
  CuPointer dt = (uintptr_t)to, df = (uintptr_t)from;
  if (size == 0) return 0;
  CuResult r = way == COPY_IN    ? api->copy_in(dt, from, size, stream)
               : way == COPY_OUT ? api->copy_out(to, df, size, stream)
                                 : api->copy(dt, df, size, stream);
  return cuda_failed(api, r, "copying memory");
}

static int fill_cuda(nereid_device *d, void *to, int byte, size_t size, void *stream) {
  CUDA_ENTER(d);
  if (size == 0) return 0;
  return cuda_failed(api, api->fill((uintptr_t)to, (unsigned char)byte, size, stream),
                     "filling memory");
}

/* ---- streams and events ---- */

static int sync_cuda(nereid_device *d, void *stream, bool all) {
  CUDA_ENTER(d);
  CUDA_RELAX(d);
  return cuda_failed(api, all ? api->context_sync() : api->stream_sync(stream),
                     "running the kernel");
}

static bool is_capturing_cuda(nereid_device *d, void *stream) {
  const Cuda *c = d->state;
  int state = 0;
  CUDA_ENTER_OR(d, false);
  (void)api;
  return c->is_capturing && c->is_capturing(stream, &state) == CU_OK && state;
}

static int stream_new_cuda(nereid_device *d, void **out) {
  CUDA_ENTER(d);
  CUDA_RELAX(d);
  return cuda_failed(api, api->stream_new((CuStream *)out, 0), "making a stream");
}

static void stream_free_cuda(nereid_device *d, void *stream) {
  CUDA_ENTER_OR(d, );
  CUDA_RELAX(d);
  api->stream_free(stream);
}

static int event_new_cuda(nereid_device *d, void **out) {
  CUDA_ENTER(d);
  CUDA_RELAX(d);
  return cuda_failed(api, api->event_new((CuEvent *)out, 0), "making an event");
}

static void event_free_cuda(nereid_device *d, void *event) {
  CUDA_ENTER_OR(d, );
  CUDA_RELAX(d);
  api->event_free(event);
}

static int event_record_cuda(nereid_device *d, void *event, void *stream) {
  CUDA_ENTER(d);
  return cuda_failed(api, api->event_record(event, stream), "recording an event");
}

static int event_sync_cuda(nereid_device *d, void *event) {
  CUDA_ENTER(d);
  CUDA_RELAX(d);
  return cuda_failed(api, api->event_sync(event), "running the kernel");
}

static int event_elapsed_cuda(nereid_device *d, double *us, void *from, void *to) {
  CUDA_ENTER(d);
  float ms = 0;
  int code = cuda_failed(api, api->event_elapsed(&ms, from, to), "reading an event");
  *us = (double)ms * 1e3;
  return code;
}

/* ---- machine code ---- */

static int link_ptx(const CudaApi *api, CuLink l, const char *ptx, size_t len, char **out,
                    size_t *size) {
  void *cubin = NULL;
  size_t n = 0;
  CuResult r = api->link_add(l, CU_INPUT_PTX, (void *)(uintptr_t)ptx, len, "kernel", 0, NULL, NULL);
  if (r == CU_OK) r = api->link_complete(l, &cubin, &n);
  if (r != CU_OK) return r;
  *out = malloc(n + 1);
  if (*out) memcpy(*out, cubin, n);
  *size = n;
  return CU_OK;
}

/* The action of an error message, with the first line of the assembler's log. */
static void describe_log(char *what, size_t size, char log[LOG_MAX]) {
  log[LOG_MAX - 1] = 0;
  log[strcspn(log, "\n")] = 0;
  snprintf(what, size, "assembling PTX%s%s", log[0] ? ": " : "", log);
}

/* PTX (NUL-terminated) to a cubin by the driver's linker.  Targets for one architecture alone have
 * to be named; others follow from the context. */
static int assemble_ptx(nereid_device *d, const char *target, const char *ptx, size_t len,
                        char **out, size_t *size) {
  CUDA_ENTER(d);
  CUDA_RELAX(d);
  char log[LOG_MAX] = "";
  bool exact;
  uintptr_t sm = (uintptr_t)gpu_target_sm(target, &exact) + CU_TARGET_EXACT;
  int options[] = {CU_JIT_ERROR_LOG, CU_JIT_ERROR_LOG_SIZE, CU_JIT_LINE_INFO, CU_JIT_TARGET};
  void *values[] = {log, (void *)(uintptr_t)sizeof log, (void *)(uintptr_t)1, (void *)sm};
  CuLink l;
  *out = NULL;
  /* Old drivers know their one target by themselves. */
  CuResult made = api->link_new(exact ? 4 : 3, options, values, &l);
  if (made != CU_OK && exact) made = api->link_new(3, options, values, &l);
  int code = cuda_failed(api, made, "starting the driver's assembler");
  if (code) return code;
  CuResult r = link_ptx(api, l, ptx, len + 1, out, size);
  api->link_free(l);
  char what[LOG_MAX + 64];
  describe_log(what, sizeof what, log);
  code = cuda_failed(api, r, what);
  return code || *out ? code : error_out_of_memory();
}

int cuda_assemble(nereid_device *d, char **out, size_t *size, const char *ptx, size_t len,
                  const char *target) {
  if (strcmp(d->target, target))
    return error_set(NEREID_E_TOOL, E_RUN_CUBIN_TARGET, target, d->target);
  return assemble_ptx(d, target, ptx, len, out, size);
}

/* ---- loading ---- */

static bool fits_cuda(const nereid_device *d, const ImageVariant *v) {
  const Cuda *c = d->state;
  bool exact;
  int sm = gpu_target_sm(v->target, &exact);
  if (v->kind == NEREID_PTX) return gpu_target_runs_on(v->target, c->sm);
  return v->kind == NEREID_CUBIN && gpu_target_runs_on(v->target, c->sm) && sm / 10 == c->sm / 10;
}

static int limit_shared(const nereid_device *d, const nereid_image *image, const ImageVariant *v) {
  if (v->shared <= d->info.shared_bytes) return 0;
  error_set(NEREID_E_RESOURCES, E_RUN_SHARED, image->name, (long long)v->shared, d->description,
            (long long)d->info.shared_bytes);
  error_of_kernel(image->name);
  return error_resource((Resource){"shared memory", v->shared, d->info.shared_bytes});
}

/* Attributes of the function, and leave for the shared memory that it needs. */
static int set_up(nereid_device *d, const ImageVariant *v, Loaded *l) {
  CUDA_ENTER(d);
  CUDA_RELAX(d);
  enum { ALLOWED_ANYWAY = 48 * 1024 };
  nereid_kernel_resources *r = &l->resources;
  int fixed = 0;
  api->function_get(&r->registers, CU_FUNC_REGS, l->entry);
  api->function_get(&r->spill_bytes, CU_FUNC_LOCAL, l->entry);
  api->function_get(&fixed, CU_FUNC_SHARED, l->entry);
  r->threads = v->threads;
  /* Attributes that the launch sets; the function has the rest by itself. */
  r->shared_bytes = v->shared > fixed ? v->shared - fixed : 0;
  int most = spreads(d->state, v) ? (int)d->info.shared_bytes - fixed : (int)r->shared_bytes;
  if (most + fixed <= ALLOWED_ANYWAY) return 0;
  CuResult set = api->function_set(l->entry, CU_FUNC_MAX_DYNAMIC_SHARED, most);
  return cuda_failed(api, set, "asking for shared memory");
}

static void unload_cuda(nereid_device *d, Loaded *l) {
  if (!l->code) return;
  CUDA_ENTER_OR(d, );
  CUDA_RELAX(d);
  api->module_unload(l->code);
}

/* The driver assembles PTX and keeps the result on disk, in a cache of its own (of many
 * kernels see cuda_load.c).  Its linker, whose result could be kept in ours, takes PTX for code to
 * be linked, and gives it up to a third more registers. */
static int load_text(nereid_device *d, const ImageVariant *v, const char *text, Loaded *l) {
  CUDA_ENTER(d);
  CUDA_RELAX(d);
  char log[LOG_MAX] = "", what[LOG_MAX + 64] = "loading the kernel";
  int options[] = {CU_JIT_ERROR_LOG, CU_JIT_ERROR_LOG_SIZE};
  void *values[] = {log, (void *)(uintptr_t)sizeof log};
  CuModule module = NULL;
  CuFunction function = NULL;
  bool ptx = v->kind == NEREID_PTX;
  CuResult r = api->module_load(&module, text, ptx ? 2 : 0, options, values);
  if (ptx) describe_log(what, sizeof what, log);
  int code = cuda_failed(api, r, what);
  if (code) return code;
  l->code = module;
  code = cuda_failed(api, api->module_function(&function, module, v->entry), "finding the kernel");
  l->entry = function;
  if (!code) code = set_up(d, v, l);
  if (code) api->module_unload(module);
  return code;
}

/* PTX that spills is assembled once more (ptx_registers.h). */
static int load_module(nereid_device *d, const ImageVariant *v, Loaded *l) {
  int code = load_text(d, v, v->code, l);
  if (code || v->kind != NEREID_PTX) return code;
  const nereid_kernel_resources *r = &l->resources;
  Loaded more = *l;
  size_t len;
  char *text = ptx_for_one_program(v->code, v->size, r->registers, r->spill_bytes, &len);
  if (text && !load_text(d, v, text, &more)) {
    Loaded worse = more.resources.spill_bytes < r->spill_bytes ? *l : more;
    if (worse.code == l->code) *l = more;
    unload_cuda(d, &worse);
  }
  free(text);
  return 0;
}

int cuda_load(nereid_device *d, const nereid_image *image, const ImageVariant *v, Loaded *out) {
  double begin = host_now();
  int code = limit_shared(d, image, v);
  if (!code) code = load_module(d, v, out);
  if (!code)
    LOG(d->log, LOG_COMPILE, "%s of %s for %s: loaded by the driver, %.0f ms",
        nereid_kind_name(v->kind), v->entry, v->target, (host_now() - begin) * 1e3);
  return code;
}

/* ---- launching ---- */

static int check_cuda(const Start *s) {
  const nereid_device *d = s->kernel->device;
  const Cuda *c = d->state;
  const char *kernel = s->kernel->image->name;
  int threads = s->chosen->variant->threads;
  for (int i = 0; i < 3; i++) {
    uint64_t extent = blocks_along(s, i);
    if (extent <= (uint64_t)c->max_grid[i]) continue;
    error_set(NEREID_E_RESOURCES, E_RUN_GRID_LIMIT, "xyz"[i], (unsigned long long)extent, d -> name,
              c -> max_grid[i]);
    error_of_kernel(kernel);
    return error_resource((Resource){"grid", (int64_t)extent, c->max_grid[i]});
  }
  if (threads <= c->max_threads) return 0;
  error_set(NEREID_E_RESOURCES, E_RUN_THREADS, kernel, threads, d->name, c->max_threads);
  error_of_kernel(kernel);
  return error_resource((Resource){"threads", threads, c->max_threads});
}

static int launch_with_flags(const Start *s, void *stream) {
  const Cuda *c = s->kernel->device->state;
  const Loaded *k = s->chosen;
  CuLaunchAttribute attributes[2] = {{0}};
  CuLaunchConfig how = {.block = {(unsigned)k->resources.threads, 1, 1},
                        .shared = shared_of_launch(s),
                        .stream = stream,
                        .attributes = attributes};
  for (int i = 0; i < 3; i++) how.grid[i] = (unsigned)blocks_along(s, i);
  if (may_overlap(c, s))
    attributes[how.nattributes++] = (CuLaunchAttribute){CU_LAUNCH_PDL, 0, {1}};
  if (s->flags & NEREID_LAUNCH_COOPERATIVE)
    attributes[how.nattributes++] = (CuLaunchAttribute){CU_LAUNCH_COOPERATIVE, 0, {1}};
  if (!c->launch_ex) return error_set(NEREID_E_DEVICE, E_RUN_NO_LAUNCH_FLAGS);
  return cuda_failed(&c->api, c->launch_ex(&how, k->entry, s->pointers, NULL),
                     "launching the kernel");
}

/* Kernels that could overlap start one after another by drivers that know of no flags. */
static bool needs_flags(const Start *s) {
  const Cuda *c = s->kernel->device->state;
  return s->flags && (c->launch_ex || s->flags != NEREID_LAUNCH_PDL);
}

static int launch_cuda(const Start *s, void *stream) {
  CUDA_ENTER(s->kernel->device);
  const Loaded *k = s->chosen;
  if (needs_flags(s)) return launch_with_flags(s, stream);
  CuResult r = api->launch(k->entry, (unsigned)blocks_along(s, 0), s->launched[1], s->launched[2],
                           (unsigned)k->resources.threads, 1, 1,
                           shared_of_launch(s), stream, s->pointers, NULL);
  return cuda_failed(api, r, "launching the kernel");
}

const DeviceOps device_cuda = {.name = "cuda",
                               .kind = NEREID_PTX,
                               .open = open_cuda,
                               .close = close_cuda,
                               .fits = fits_cuda,
                               .alloc = alloc_cuda,
                               .free = free_cuda,
                               .alloc_scratch = alloc_scratch_cuda,
                               .free_scratch = free_scratch_cuda,
                               .alloc_shared = alloc_shared_cuda,
                               .free_shared = free_shared_cuda,
                               .copy = copy_cuda,
                               .upload = cuda_upload,
                               .fill = fill_cuda,
                               .sync = sync_cuda,
                               .stream_new = stream_new_cuda,
                               .stream_free = stream_free_cuda,
                               .is_capturing = is_capturing_cuda,
                               .event_new = event_new_cuda,
                               .event_free = event_free_cuda,
                               .event_record = event_record_cuda,
                               .event_sync = event_sync_cuda,
                               .event_elapsed = event_elapsed_cuda,
                               .load = cuda_load,
                               .load_all = cuda_load_all,
                               .unload = unload_cuda,
                               .check = check_cuda,
                               .launch = launch_cuda,
                               .make_map = cuda_make_map,
                               .replay_supported = cuda_replay_supported,
                               .replay_new = cuda_replay_new,
                               .replay_set = cuda_replay_set,
                               .replay_run = cuda_replay_run,
                               .replay_free = cuda_replay_free};
