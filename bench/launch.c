/* The host's cost of a launch: on a GPU the driver's own call beside nereid_launch_run and its
 * variants, with the same kernel, arguments and stream; on the CPU the same without the driver's.
 *
 * Ways take turns in batches short enough for the driver's queue, each batch waiting for the device
 * outside of the clock; medians over the batches, in ns a launch.  Where there is no GPU it says
 * so. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "runtime/device/cuda_api.h"
#include "runtime/nereid.h"

enum { BATCH = 64, BATCHES = 401, WARM_UP = 20, WAYS = 6, THREADS = 128 };

typedef struct {
  CudaApi cu; /* as far as the raw call needs it */
  CuFunction function;
  CuStream native;
  nereid_device *device;
  nereid_stream *stream;
  nereid_kernel *kernel;
  nereid_launch *launch;
  uint64_t args[4]; /* x, y, out, n */
  nereid_extent extents[4];
} Bench;

static void fail(const char *what, const char *why) {
  fprintf(stderr, "%s: %s\n", what, why);
  exit(1);
}

static void must(int code, const char *what) {
  if (code) fail(what, nereid_error_message());
}

static void must_cu(CuResult r, const char *what) {
  char number[32];
  snprintf(number, sizeof number, "the driver's error %d", r);
  if (r) fail(what, number);
}

static double now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

static int by_size(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* ---- ways to launch ---- */

static void raw(Bench *b) {
  void *params[] = {&b->args[0], &b->args[1], &b->args[2], &b->args[3]};
  b->cu.launch(b->function, 1, 1, 1, THREADS, 1, 1, 0, b->native, params, NULL);
}

static void prepared(Bench *b) { nereid_launch_run(b->launch, b->stream); }

static void with_table(Bench *b) { nereid_launch_run_with(b->launch, b->stream, b->args, NULL); }

static void new_pointer(Bench *b) {
  nereid_launch_set_pointer(b->launch, 2, (void *)(uintptr_t)b->args[2]);
  nereid_launch_run(b->launch, b->stream);
}

static void of_kernel(Bench *b) {
  nereid_kernel_run(b->kernel, b->native, (uint32_t[]){1, 1, 1}, b->args, b->extents, NULL);
}

static void without_extents(Bench *b) {
  nereid_kernel_run(b->kernel, b->native, (uint32_t[]){1, 1, 1}, b->args, NULL, NULL);
}

static const struct {
  const char *name;
  void (*run)(Bench *);
} ways[WAYS] = {{"cuLaunchKernel", raw},
                {"nereid_launch_run", prepared},
                {"nereid_launch_run_with, the same arguments", with_table},
                {"nereid_launch_set_pointer, then _run", new_pointer},
                {"nereid_kernel_run", of_kernel},
                {"nereid_kernel_run, extents unknown", without_extents}};

static double batch_ns(Bench *b, int way) {
  double start = now_ns();
  for (int i = 0; i < BATCH; i++) ways[way].run(b);
  double ns = (now_ns() - start) / BATCH;
  must(nereid_stream_sync(b->stream), "nereid_stream_sync");
  return ns;
}

/* The ways from `first` on. */
static void measure(Bench *b, int first, double median[WAYS]) {
  static double ns[WAYS][BATCHES];
  for (int i = -WARM_UP; i < BATCHES; i++)
    for (int way = first; way < WAYS; way++) {
      double x = batch_ns(b, way);
      if (i >= 0) ns[way][i] = x;
    }
  for (int way = first; way < WAYS; way++) {
    qsort(ns[way], BATCHES, sizeof *ns[way], by_size);
    median[way] = ns[way][BATCHES / 2];
  }
}

/* ---- the kernel ---- */

static void *symbol(void *lib, const char *name) {
  void *p = dlsym(lib, name);
  if (!p) fail(name, "not in libcuda.so.1");
  return p;
}

/* Function pointers by way of memcpy: ISO C has no cast from an object's. */
#define FIND(lib, cu, member, name)                \
  do {                                             \
    void *found_ = symbol((lib), (name));          \
    memcpy(&(cu)->member, &found_, sizeof found_); \
  } while (0)

/* The same PTX, loaded by the driver's own calls. */
static void load_raw(Bench *b, const nereid_image *image) {
  void *lib = dlopen("libcuda.so.1", RTLD_NOW);
  if (!lib) fail("libcuda.so.1", dlerror());
  FIND(lib, &b->cu, context_set, "cuCtxSetCurrent");
  FIND(lib, &b->cu, module_load, "cuModuleLoadDataEx");
  FIND(lib, &b->cu, module_function, "cuModuleGetFunction");
  FIND(lib, &b->cu, launch, "cuLaunchKernel");
  nereid_variant v;
  CuModule module;
  must(nereid_image_get_variant(&v, image, 0), "nereid_image_get_variant");
  must_cu(b->cu.context_set(nereid_device_native(b->device)), "cuCtxSetCurrent");
  must_cu(b->cu.module_load(&module, v.code, 0, NULL, NULL), "cuModuleLoadDataEx");
  must_cu(b->cu.module_function(&b->function, module, v.entry), "cuModuleGetFunction");
  if (v.threads != THREADS || v.shared_bytes) fail("vector_add", "another launch than expected");
}

static void prepare(Bench *b) {
  enum { N = 1024 };
  nereid_arg args[] = {{"x_ptr", "*fp32:16", NULL},
                       {"y_ptr", "*fp32:16", NULL},
                       {"out_ptr", "*fp32:16", NULL},
                       {"n", "i32:16", NULL},
                       {"BLOCK", NULL, "1024"}};
  nereid_request r = {.source.path = "examples/kernels/vector_add.py",
                      .args = args,
                      .nargs = 5,
                      .num_warps = THREADS / 32};
  nereid_image *image;
  must(nereid_compile_for(&image, b->device, &r), "vector_add.py");
  must(nereid_kernel_load(&b->kernel, b->device, image), "nereid_kernel_load");
  must(nereid_launch_new(&b->launch, b->kernel, (uint32_t[]){1, 1, 1}), "nereid_launch_new");
  must(nereid_stream_new(&b->stream, b->device), "nereid_stream_new");
  b->native = nereid_stream_native(b->stream);
  for (int i = 0; i < 3; i++) {
    void *p;
    must(nereid_alloc(&p, b->device, N * sizeof(float)), "nereid_alloc");
    must(nereid_fill(b->device, p, 0, N * sizeof(float), b->stream), "nereid_fill");
    b->args[i] = (uintptr_t)p;
    b->extents[i] = (nereid_extent){0, N * sizeof(float)};
    must(nereid_launch_set_pointer(b->launch, i, p), "nereid_launch_set_pointer");
  }
  b->args[3] = N;
  must(nereid_launch_set_int(b->launch, 3, N), "nereid_launch_set_int");
  if (b->native) load_raw(b, image);
  nereid_image_free(image);
}

/* A table's rows, beside those of the driver, or of the prepared launch where there is none. */
static void print_table(const nereid_device_info *info, int first, const double ns[WAYS]) {
  printf("%s, driver %d, Nereid %s\n\n", info->description, info->driver_version, nereid_version());
  printf("| launch | ns | over %s |\n| --- | ---: | ---: |\n",
         first ? "a prepared one" : "the driver's call");
  for (int i = first; i < WAYS; i++)
    printf("| %s | %.0f | %+.0f |\n", ways[i].name, ns[i], ns[i] - ns[first]);
}

static void bench_device(const char *name) {
  Bench b = {0};
  nereid_device_info info;
  double ns[WAYS];
  must(nereid_device_open(&b.device, name), name);
  must(nereid_device_get_info(&info, b.device), name);
  prepare(&b);
  int first = b.native ? 0 : 1;
  measure(&b, first, ns);
  print_table(&info, first, ns);
  nereid_launch_free(b.launch);
  nereid_kernel_free(b.kernel);
  nereid_stream_free(b.stream);
  nereid_device_close(b.device);
}

int main(void) {
  if (nereid_device_count("cuda")) bench_device("cuda");
  else printf("skipped cuda: %s\n", nereid_error_message());
  printf("\n");
  bench_device("cpu");
  return 0;
}
