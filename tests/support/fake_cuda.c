/* A libcuda for tests: host memory, no GPU.  "Machine code" is the PTX text itself, and a launch
 * writes down what it was given.
 *
 * The variable FAKE_CUDA says what should happen, as key=number pairs separated by commas:
 *   init, alloc, link, launch, sync, graph, graph_launch   the result code of that call
 *   cost   a launch of n programs along x takes n times as many us (0); below 0, an n-th of -cost
 *   sleep  a launch takes so many ms indeed (0)
 *   copy, pinned  the result codes of copies and of pinned memory
 *   wrong  launches of so many programs write nonsense
 *   index  kernels with records of checks write there that index 7 at this place is out of range
 *   fault, hang, crash  such launches break the context, never end, or end the process
 *   spill  bytes of local memory of each kernel (0), unless its text allows one program a
 *          multiprocessor: then `still` (0)
 *   axis   along which programs are counted for these four: x (0), y (1) or z (2)
 *   devices (1), sm (90), shared (232448), fixed (0: static shared memory of a kernel)
 *   whole  bytes of shared memory of a multiprocessor (0: the driver does not say)
 *   pools  whether there is memory in the order of streams (1)
 *   unloads  whether unloading code is written down (0)
 * Work in a stream that is captured becomes a graph's nodes; what the driver refuses until its end
 * is refused here, and ends the capture.
 * FAKE_CUDA_LOG names the file to which calls are written. */
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define API __attribute__((visibility("default")))

static int setting(const char *key, int otherwise) {
  const char *s = getenv("FAKE_CUDA");
  size_t n = strlen(key);
  for (; s && *s; s += strcspn(s, ","), s += *s == ',')
    if (!strncmp(s, key, n) && s[n] == '=') return atoi(s + n + 1);
  return otherwise;
}

static FILE *open_log(void) {
  const char *path = getenv("FAKE_CUDA_LOG");
  return path ? fopen(path, "a") : NULL;
}

static void write_log(const char *what, long long value) {
  FILE *f = open_log();
  if (!f) return;
  fprintf(f, "%s %lld\n", what, value);
  fclose(f);
}

/* ---- errors and devices ---- */

API int cuGetErrorName(int r, const char **out) {
  *out = r == 2     ? "CUDA_ERROR_OUT_OF_MEMORY"
         : r == 700 ? "CUDA_ERROR_ILLEGAL_ADDRESS"
                    : "CUDA_ERROR";
  return 0;
}

API int cuGetErrorString(int r, const char **out) {
  *out = r == 700 ? "an illegal memory access was encountered" : "a fake error";
  return 0;
}

API int cuInit(unsigned flags) { return flags ? 1 : setting("init", 0); }
API int cuDriverGetVersion(int *out) { return *out = 12040, 0; }
API int cuDeviceGetCount(int *out) { return *out = setting("devices", 1), 0; }
API int cuDeviceGet(int *out, int ordinal) { return *out = ordinal, 0; }

API int cuDeviceGetName(char *out, int size, int d) {
  snprintf(out, (size_t)size, "Fake GPU %d", d);
  return 0;
}

API int cuDeviceTotalMem_v2(size_t *out, int d) { return (void)d, *out = 1u << 30, 0; }

API int cuDeviceGetAttribute(int *out, int attribute, int d) {
  int sm = setting("sm", 90);
  (void)d;
  switch (attribute) {
    case 1: *out = 1024; break;
    case 5: *out = 2147483647; break;
    case 6:
    case 7: *out = 65535; break;
    case 16: *out = 132; break;
    case 38: *out = 1 << 20; break;
    case 39: *out = 2048; break;
    case 81: *out = setting("whole", 0); break;
    case 82: *out = 65536; break;
    case 111: *out = 1024; break;
    case 75: *out = sm / 10; break;
    case 76: *out = sm % 10; break;
    case 97: *out = setting("shared", 232448); break;
    case 115: *out = setting("pools", 1); break;
    default: *out = 0;
  }
  return 0;
}

/* ---- contexts: one a device ---- */

enum { CONTEXTS = 8 };
static _Thread_local void *current;
static char contexts[CONTEXTS];

API int cuDevicePrimaryCtxRetain(void **out, int d) { return *out = &contexts[d % CONTEXTS], 0; }
API int cuDevicePrimaryCtxRelease_v2(int d) { return (void)d, 0; }
API int cuCtxGetCurrent(void **out) { return *out = current, 0; }
API int cuCtxSetCurrent(void *c) { return current = c, 0; }

static bool is_context(const void *c) {
  return (const char *)c >= contexts && (const char *)c < contexts + CONTEXTS;
}

/* What launches have done to it. */
static int broken; /* the result of all that follows; 0: nothing */
static bool hanging;

static int wait_for_all(void) {
  while (hanging) pause();
  return broken ? broken : setting("sync", 0);
}

/* What needs a context fails without. */
static int need(const char *call) {
  return !is_context(current) ? 201 : broken ? broken : setting(call, 0);
}

/* ---- captures: one at a time ---- */

enum { CAPTURE_GLOBAL, CAPTURE_OF_THREAD, CAPTURE_RELAXED };
enum { UNSUPPORTED = 900, INVALIDATED = 901, WRONG_THREAD = 908, IMPLICIT = 906 };

static struct {
  void *stream; /* NULL: nothing is captured */
  int mode;
  bool invalid;
  const void *thread; /* an address of its own */
  struct Graph *graph;
} capture;

static _Thread_local int thread_mode = CAPTURE_GLOBAL;

static int refuse(int code) {
  capture.invalid = true;
  write_log("refused", code);
  return code;
}

/* Checks a call that may wait for the device, such as one that allocates memory. */
static int unsafe(void) {
  bool own = capture.thread == &thread_mode && capture.mode != CAPTURE_RELAXED;
  bool all = thread_mode == CAPTURE_GLOBAL && capture.mode == CAPTURE_GLOBAL;
  if (!capture.stream || thread_mode == CAPTURE_RELAXED) return 0;
  return own || all ? refuse(UNSUPPORTED) : 0;
}

/* A stream is the flags with which it was made; those without CU_STREAM_NON_BLOCKING wait for the
 * default stream, and it for them. */
static bool is_blocking(const void *stream) { return !(*(const unsigned *)stream & 1); }

static bool is_captured(const void *stream) { return capture.stream && stream == capture.stream; }

/* Checks work in a stream that is not captured. */
static int default_stream(const void *stream) {
  return !stream && capture.stream && is_blocking(capture.stream) ? refuse(IMPLICIT) : 0;
}

static struct Graph *captured(const void *stream) {
  return is_captured(stream) && !capture.invalid ? capture.graph : NULL;
}

API int cuThreadExchangeStreamCaptureMode(int *mode) {
  int before = thread_mode;
  thread_mode = *mode;
  return *mode = before, 0;
}

API int cuStreamIsCapturing(void *stream, int *state) {
  *state = is_captured(stream) ? capture.invalid ? 2 : 1 : 0;
  return !stream && capture.stream && is_blocking(capture.stream) ? IMPLICIT : 0;
}

API int cuCtxSynchronize(void) { return capture.stream ? refuse(UNSUPPORTED) : wait_for_all(); }

/* ---- memory ---- */

API int cuMemGetInfo_v2(size_t *left, size_t *total) {
  return *left = 3 << 20, *total = 1 << 30, 0;
}

API int cuMemAlloc_v2(uint64_t *out, size_t size) {
  int r = unsafe() ? UNSUPPORTED : need("alloc");
  *out = r ? 0 : (uintptr_t)aligned_alloc(256, (size + 255) / 256 * 256);
  return r;
}

API int cuMemFree_v2(uint64_t p) {
  int r = unsafe();
  if (!r) free((void *)(uintptr_t)p);
  return r;
}

static void log_async(const char *what, size_t size, const void *stream) {
  FILE *f = open_log();
  if (!f) return;
  fprintf(f, "%s %zu stream %d\n", what, size, stream != NULL);
  fclose(f);
}

API int cuMemAllocAsync(uint64_t *out, size_t size, void *s) {
  log_async("alloc async", size, s);
  return cuMemAlloc_v2(out, size);
}

API int cuMemFreeAsync(uint64_t p, void *s) {
  log_async("free async", 0, s);
  return cuMemFree_v2(p);
}

static int capture_copy(uint64_t to, uint64_t from, size_t n);

/* Copies from pinned memory are done when somebody waits for them, and not before. */
typedef struct {
  void *to;
  const void *from;
  size_t n;
} Copy;

enum { COPIES_MAX = 4096 };
static Copy copies[COPIES_MAX];
static int ncopies, copied, copies_at_once;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char *pinned, *pinned_end;

static void finish_copies(int until) {
  pthread_mutex_lock(&lock);
  if (ncopies - copied > copies_at_once) copies_at_once = ncopies - copied;
  for (; copied < until; copied++) memcpy(copies[copied].to, copies[copied].from, copies[copied].n);
  pthread_mutex_unlock(&lock);
}

API int cuMemHostAlloc(void **out, size_t size, unsigned flags) {
  int r = flags ? 1 : unsafe() ? UNSUPPORTED : need("pinned");
  *out = pinned = r ? NULL : malloc(size);
  pinned_end = r ? NULL : pinned + size;
  return r;
}

API int cuMemFreeHost(void *p) {
  if (unsafe()) return UNSUPPORTED;
  write_log("copies", ncopies);
  write_log("copies at once", copies_at_once);
  return free(p), pinned = pinned_end = NULL, 0;
}

API int cuMemcpyHtoDAsync_v2(uint64_t to, const void *from, size_t n, void *s) {
  const char *source = from;
  if (is_captured(s)) return capture_copy(to, (uintptr_t)from, n);
  if (default_stream(s)) return IMPLICIT;
  bool later = source >= pinned && source < pinned_end;
  pthread_mutex_lock(&lock);
  if (later && ncopies < COPIES_MAX) copies[ncopies++] = (Copy){(void *)(uintptr_t)to, from, n};
  pthread_mutex_unlock(&lock);
  if (!later) memcpy((void *)(uintptr_t)to, from, n);
  return (void)s, need("copy");
}

API int cuMemcpyDtoHAsync_v2(void *to, uint64_t from, size_t n, void *s) {
  if (is_captured(s)) return capture_copy((uintptr_t)to, from, n);
  if (default_stream(s)) return IMPLICIT;
  finish_copies(ncopies);
  return (void)s, memcpy(to, (void *)(uintptr_t)from, n), need("copy");
}

API int cuMemcpyDtoDAsync_v2(uint64_t to, uint64_t from, size_t n, void *s) {
  if (is_captured(s)) return capture_copy(to, from, n);
  if (default_stream(s)) return IMPLICIT;
  return (void)s, memmove((void *)(uintptr_t)to, (void *)(uintptr_t)from, n), need("copy");
}

/* What a timer overwrites before each of many runs is as large as caches, and nobody reads it. */
enum { AS_CACHES = 64 << 20 };

API int cuMemsetD8Async(uint64_t to, unsigned char byte, size_t n, void *s) {
  if (is_captured(s)) return refuse(UNSUPPORTED); /* there are no nodes for it here */
  if (default_stream(s)) return IMPLICIT;
  return (void)s, memset((void *)(uintptr_t)to, byte, n < AS_CACHES ? n : 0), need("copy");
}

/* ---- streams and events: an event is a count, 1 us apart ---- */

API int cuStreamCreate(void **out, unsigned flags) {
  *out = malloc(sizeof flags);
  return memcpy(*out, &flags, sizeof flags), 0;
}

API int cuStreamDestroy_v2(void *s) { return free(s), 0; }

API int cuStreamSynchronize(void *s) {
  if (is_captured(s)) return refuse(UNSUPPORTED);
  if (default_stream(s)) return IMPLICIT;
  finish_copies(ncopies);
  return wait_for_all();
}

typedef struct {
  int us, copies;
} Event;

static int clock_us;

API int cuEventCreate(void **out, unsigned flags) {
  return (void)flags, *out = calloc(1, sizeof(Event)), 0;
}

API int cuEventDestroy_v2(void *e) { return free(e), 0; }
API int cuEventRecord(void *e, void *s) {
  pthread_mutex_lock(&lock);
  *(Event *)e = (Event){++clock_us, ncopies};
  pthread_mutex_unlock(&lock);
  return (void)s, 0;
}

API int cuEventSynchronize(void *e) {
  if (unsafe()) return UNSUPPORTED;
  finish_copies(((Event *)e)->copies);
  return wait_for_all();
}

API int cuEventElapsedTime(float *ms, void *from, void *to) {
  return *ms = (float)(((Event *)to)->us - ((Event *)from)->us) / 1000, 0;
}

/* ---- code ---- */

API int cuLinkCreate_v2(unsigned n, int *options, void **values, void **out) {
  for (unsigned i = 0; i < n; i++)
    if (options[i] == 5) snprintf(values[i], 64, "ptxas fatal: as you wished\nmore");
  *out = calloc(1, sizeof(char *));
  return need("link_new");
}

API int cuLinkAddData_v2(void *l, int type, void *data, size_t size, const char *name, unsigned n,
                         int *options, void **values) {
  (void)name, (void)n, (void)options, (void)values;
  if (type != 1 || ((char *)data)[size - 1]) return 1;
  *(char **)l = strdup(data);
  write_log("link", (long long)size);
  return need("link");
}

API int cuLinkComplete(void *l, void **cubin, size_t *size) {
  *cubin = *(char **)l;
  *size = strlen(*cubin) + 1;
  return 0;
}

API int cuLinkDestroy(void *l) {
  free(*(char **)l);
  free(l);
  return 0;
}

API int cuModuleLoadDataEx(void **out, const void *image, unsigned n, int *options, void **values) {
  for (unsigned i = 0; i < n; i++)
    if (options[i] == 5) snprintf(values[i], 64, "ptxas fatal: as you wished\nmore");
  write_log("module", (long long)strlen(image));
  int status = unsafe() ? UNSUPPORTED : need("module");
  if (status == 0) *out = strdup(image);
  return status;
}

API int cuModuleUnload(void *m) {
  if (unsafe()) return UNSUPPORTED;
  if (setting("unloads", 0)) write_log("unload", 1);
  free(m);
  return need("module");
}

API int cuModuleGetFunction(void **out, void *m, const char *name) {
  *out = m;
  return strstr(m, name) ? 0 : 500;
}

/* A kernel with few registers keeps 64 bytes in local memory. */
static int local_bytes(const char *f) {
  const char *most = strstr(f, ".maxnreg ");
  if (strstr(f, ".minnctapersm 1")) return setting("still", 0);
  return most && atoi(most + 9) < 64 ? 64 : setting("spill", 0);
}

API int cuFuncGetAttribute(int *out, int attribute, void *f) {
  *out = attribute == 1   ? setting("fixed", 0)
         : attribute == 3 ? local_bytes(f)
         : attribute == 4 ? 32
                          : 0;
  return 0;
}

API int cuFuncSetAttribute(void *f, int attribute, int value) {
  (void)f;
  write_log(attribute == 8 ? "dynamic" : "attribute", value);
  return 0;
}

/* How many parameters the text has. */
static int params_of(const char *f) {
  const char *end = strchr(f, ')');
  int n = 0;
  for (const char *p = f; (p = strstr(p, ".param .")) && p < end; p++) n++;
  return n;
}

/* Writes where each parameter of 64 bits, which is a pointer, points to. */
static void spoil(const char *f, void **params) {
  for (int i = 0, n = params_of(f); (f = strstr(f, ".param .")) && i < n; i++, f++)
    if (!strncmp(f, ".param .u64", 11)) **(float **)params[i] = 1e30f;
}

/* What is recorded of an index that is out of range; `args` is all parameters. */
static void record_index(const char *f, uint64_t *const *args) {
  const long long place = setting("index", -1);
  for (int i = 0, n = params_of(f); (f = strstr(f, ".param .")) && i < n && place >= 0; i++, f++) {
    const char *name = strstr(f, "records_ptr"), *end = strchr(f, '\n');
    if (!name || name > end) continue;
    int64_t *record = (int64_t *)(uintptr_t)*args[i];
    record[0] = place << 32 | 7;
    record[1] = place << 32;
  }
}

#ifndef WITHOUT_LAUNCH
static void misbehave(int programs) {
  if (setting("fault", -1) == programs) broken = 700;
  if (setting("hang", -1) == programs) hanging = true;
  if (setting("crash", -1) == programs) abort();
}

static int capture_kernel(void *f, const unsigned grid[3], const unsigned block[3], unsigned shared,
                          void **params);

API int cuLaunchKernel(void *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                       unsigned bz, unsigned shared, void *stream, void **params, void **extra) {
  if (is_captured(stream))
    return capture_kernel(f, (const unsigned[]){gx, gy, gz}, (const unsigned[]){bx, by, bz}, shared,
                          params);
  int r = default_stream(stream) ? IMPLICIT : need("launch");
  int cost = setting("cost", 0);
  usleep(1000 * (useconds_t)setting("sleep", 0));
  clock_us += cost < 0 ? -cost / (int)gx : cost * (int)gx;
  int programs = (int)(const unsigned[]){gx, gy, gz}[setting("axis", 0)];
  if (r == 0 && setting("wrong", -1) == programs) spoil(f, params);
  FILE *log = r ? NULL : open_log();
  if (log) {
    fprintf(log, "launch %u %u %u block %u %u %u shared %u stream %d extra %d :", gx, gy, gz, bx,
            by, bz, shared, stream != NULL, extra != NULL);
    for (int i = 0, n = params_of(f); i < n; i++)
      fprintf(log, " %llx", (unsigned long long)*(uint64_t *)params[i]);
    fputc('\n', log);
    fclose(log);
  }
  if (r == 0) record_index(f, (uint64_t *const *)params);
  if (r == 0) misbehave(programs);
  return r;
}

#ifndef WITHOUT_LAUNCH_EX
typedef struct {
  int id, pad, value[16];
} LaunchAttribute;

typedef struct {
  unsigned grid[3], block[3], shared;
  void *stream;
  LaunchAttribute *attributes;
  unsigned nattributes;
} LaunchConfig;

/* The map begins with the address; a rank of 5 is too much for this driver. */
API int cuTensorMapEncodeTiled(void *out, int dtype, unsigned rank, void *address,
                               const uint64_t *extents, const uint64_t *strides,
                               const unsigned *box, const unsigned *steps, int interleave,
                               int swizzle, int promotion, int fill) {
  if (!is_context(current)) return 201;
  FILE *log = open_log();
  if (log) {
    fprintf(log, "map of %d, rank %u, swizzle %d", dtype, rank, swizzle);
    for (unsigned i = 0; i < rank; i++)
      fprintf(log, ", %u of %llu by %llu", box[i], (unsigned long long)extents[i],
              i ? (unsigned long long)strides[i - 1] : 0);
    fputc('\n', log);
    fclose(log);
  }
  memset(out, 0, 128);
  memcpy(out, &address, sizeof address);
  return rank == 5 || steps[0] != 1 || interleave + fill || !promotion;
}

API int cuLaunchKernelEx(const LaunchConfig *c, void *f, void **params, void **extra) {
  FILE *log = open_log();
  for (unsigned i = 0; log && i < c->nattributes; i++)
    fprintf(log, "attribute %d %d\n", c->attributes[i].id, c->attributes[i].value[0]);
  if (log) fclose(log);
  return cuLaunchKernel(f, c->grid[0], c->grid[1], c->grid[2], c->block[0], c->block[1],
                        c->block[2], c->shared, c->stream, params, extra);
}
#endif
#endif

/* ---- graphs: nodes in the order in which they were added, each behind the one before ---- */

typedef struct {
  void *f;
  unsigned grid[3], block[3], shared;
  void **params, **extra;
} KernelNode;

typedef struct {
  size_t from_place[4];
  int from_type;
  void *from_host;
  uint64_t from;
  void *from_rest[2];
  size_t from_pitch[2], to_place[4];
  int to_type;
  void *to_host;
  uint64_t to;
  void *to_rest[2];
  size_t to_pitch[2], width, height, depth;
} CopyNode;

enum { NODES_MAX = 64, PARAMS_MAX = 16, CALL_MAX = 512 };

/* Work of a library (fake_libraries.c). */
typedef struct {
  void (*run)(const void *);
  char arg[CALL_MAX];
} CallNode;

typedef struct {
  int number, loose;
  CallNode call; /* run NULL: none */
  KernelNode kernel; /* f NULL: a copy */
  uint64_t args[PARAMS_MAX];
  CopyNode copy;
} Node;

typedef struct Graph {
  int n;
  Node nodes[NODES_MAX];
} Graph;

static void take_kernel(Node *node, const KernelNode *kernel) {
  node->kernel = *kernel;
  for (int i = 0, n = params_of(kernel->f); i < n && i < PARAMS_MAX; i++)
    node->args[i] = *(uint64_t *)kernel->params[i];
}

static Node *add(Graph *g, void *const *before, size_t nbefore) {
  Node *last = g->n ? &g->nodes[g->n - 1] : NULL;
  /* A kernel without a node before it gets one by cuGraphAddDependencies_v2. */
  int ordered = last ? nbefore == 0 || (nbefore == 1 && *before == last) : nbefore == 0;
  if (last && last->loose) ordered = 0;
  if (last && nbefore == 0) g->nodes[g->n].loose = 1;
  if (!ordered || g->n == NODES_MAX) return NULL;
  g->nodes[g->n].number = g->n;
  return &g->nodes[g->n++];
}

/* ---- what captures become ---- */

static Node *capture_node(void) {
  Graph *g = captured(capture.stream);
  return g ? add(g, (void *[]){&g->nodes[g->n - 1]}, g->n > 0) : NULL;
}

static int capture_copy(uint64_t to, uint64_t from, size_t n) {
  Node *node = capture_node();
  if (node) node->copy = (CopyNode){.from = from, .to = to, .width = n, .height = 1};
  return node ? 0 : INVALIDATED;
}

#ifndef WITHOUT_LAUNCH
static int capture_kernel(void *f, const unsigned grid[3], const unsigned block[3], unsigned shared,
                          void **params) {
  Node *node = capture_node();
  KernelNode kernel = {.f = f, .shared = shared, .params = params};
  memcpy(kernel.grid, grid, sizeof kernel.grid);
  memcpy(kernel.block, block, sizeof kernel.block);
  if (node) take_kernel(node, &kernel);
  return node ? 0 : INVALIDATED;
}
#endif

API int cuStreamBeginCapture_v2(void *stream, int mode) {
  if (!stream || capture.stream) return 1;
  capture.stream = stream;
  capture.mode = mode;
  capture.invalid = false;
  capture.thread = &thread_mode;
  capture.graph = calloc(1, sizeof(Graph));
  return 0;
}

API int cuStreamEndCapture(void *stream, Graph **out) {
  *out = NULL;
  if (!is_captured(stream)) return 1;
  if (capture.thread != &thread_mode && capture.mode != CAPTURE_RELAXED) return WRONG_THREAD;
  capture.stream = NULL;
  if (capture.invalid) return free(capture.graph), INVALIDATED;
  return *out = capture.graph, 0;
}

API int cuGraphCreate(void **out, unsigned flags) {
  *out = calloc(1, sizeof(Graph));
  return flags ? 1 : need("graph");
}

API int cuGraphDestroy(void *g) { return free(g), 0; }

API int cuGraphAddKernelNode(void **out, void *g, void *const *before, size_t nbefore,
                             const KernelNode *kernel) {
  Node *node = add(g, before, nbefore);
  if (!node) return 1;
  take_kernel(node, kernel);
  *out = node;
  return 0;
}

typedef struct {
  unsigned char from_port, to_port, type, reserved[5];
} Edge;

API int cuGraphAddDependencies_v2(void *g, void *const *from, void *const *to, const Edge *edges,
                                  size_t n) {
  const Graph *graph = g;
  Node *a = *from, *b = *to;
  if (n != 1 || !b->loose || b != a + 1 || b != &graph->nodes[graph->n - 1]) return 1;
  static const unsigned char zeros[5];
  if (edges->type > 1 || memcmp(edges->reserved, zeros, sizeof zeros)) return 1;
  if (edges->type == 1 && (!a->kernel.f || !b->kernel.f)) return 1;
  FILE *log = open_log();
  if (log) fprintf(log, "edge %d port %d\n", edges->type, edges->from_port), fclose(log);
  b->loose = 0;
  return 0;
}

API int cuGraphAddMemcpyNode(void **out, void *g, void *const *before, size_t nbefore,
                             const CopyNode *copy, void *c) {
  Node *node = add(g, before, nbefore);
  if (!node || !is_context(c) || copy->from_type != 2 || copy->to_type != 2) return 1;
  node->copy = *copy;
  *out = node;
  return 0;
}

API int cuGraphInstantiateWithFlags(void **out, const Graph *g, unsigned long long flags) {
  Graph *exec = malloc(sizeof *exec);
  *exec = *g;
  *out = exec;
  write_log("recorded", g->n);
  return flags ? 1 : 0;
}

API int cuGraphExecDestroy(Graph *exec) {
  write_log("forgotten", exec->n);
  return free(exec), 0;
}

API int cuGraphExecKernelNodeSetParams(Graph *exec, const Node *node, const KernelNode *kernel) {
  write_log("set kernel", node->number);
  return take_kernel(&exec->nodes[node->number], kernel), 0;
}

API int cuGraphExecMemcpyNodeSetParams(Graph *exec, const Node *node, const CopyNode *copy,
                                       void *c) {
  if (!is_context(c) || copy->width != exec->nodes[node->number].copy.width) return 1;
  write_log("set copy", node->number);
  exec->nodes[node->number].copy = *copy;
  return 0;
}

/* For a library: keeps the work if the stream is being captured; 0: do it now. */
API int fake_capture(void *stream, void (*run)(const void *), const void *arg, size_t size) {
  Node *node = is_captured(stream) && size <= CALL_MAX ? capture_node() : NULL;
  if (!node) return 0;
  node->call.run = run;
  memcpy(node->call.arg, arg, size);
  return 1;
}

API int cuGraphAddChildGraphNode(void **out, void *g, void *const *before, size_t nbefore,
                                 const Graph *child) {
  Node *node = add(g, before, nbefore);
  if (!node || child->n != 1) return 1;
  node->call = child->nodes[0].call;
  return *out = node, 0;
}

API int cuGraphExecChildGraphNodeSetParams(Graph *exec, const Node *node, const Graph *child) {
  write_log("set call", node->number);
  exec->nodes[node->number].call = child->nodes[0].call;
  return child->n != 1;
}

static void run_node(const Node *node) {
  if (node->call.run) {
    node->call.run(node->call.arg);
    write_log("called", 1);
    return;
  }
  const KernelNode *k = &node->kernel;
  const CopyNode *c = &node->copy;
  if (!k->f) memmove((void *)(uintptr_t)c->to, (void *)(uintptr_t)c->from, c->width * c->height);
  uint64_t *args[PARAMS_MAX];
  for (int i = 0; i < PARAMS_MAX; i++) args[i] = (uint64_t *)&node->args[i];
  if (k->f) record_index(k->f, args);
  FILE *log = open_log();
  if (!log) return;
  if (!k->f) {
    fprintf(log, "copied %zu\n", c->width);
  } else {
    fprintf(log, "replayed %u %u %u block %u :", k->grid[0], k->grid[1], k->grid[2], k->block[0]);
    for (int i = 0, n = params_of(k->f); i < n; i++)
      fprintf(log, " %llx", (unsigned long long)node->args[i]);
    fputc('\n', log);
  }
  fclose(log);
}

#ifndef WITHOUT_GRAPHS
API int cuGraphLaunch(const Graph *exec, void *stream) {
  if (is_captured(stream)) return refuse(UNSUPPORTED); /* there are no graphs in graphs here */
  for (int i = 0; i < exec->n; i++) run_node(&exec->nodes[i]);
  return need("graph_launch");
}
#endif
