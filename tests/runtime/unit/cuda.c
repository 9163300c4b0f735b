/* Device cuda against a fake driver: errors, what a launch hands over, and the cache. */
#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/device/assembler.h"
#include "runtime/device/cuda_state.h"
#include "runtime/device/device.h"
#include "runtime/device/peaks.h"
#include "runtime/support/tool.h"
#include "tests/support/calls.h"

/* ---- the fake driver ---- */

typedef struct {
  TempFolder folder;
  char log[TOOL_PATH + 64];
} Fake;

static bool build(const Fake *f, const char *name, const char *define) {
  char cc[TOOL_PATH], options[TOOL_PATH], out[TOOL_PATH + 64], output[4096];
  if (!tool_find_cc(cc, options)) return false;
  temp_name(out, sizeof out, &f->folder, name);
  const char *argv[] = {
      cc, "-shared", "-fPIC", "-O1", define, "-o", out, "tests/support/fake_cuda.c", NULL};
  if (tool_run(argv, output, sizeof output) == 0) return true;
  printf("%s\n", output);
  return false;
}

static void use(const Fake *f, const char *library, const char *settings) {
  char path[TOOL_PATH + 64];
  temp_name(path, sizeof path, &f->folder, library);
  setenv("NEREID_LIBCUDA", path, 1);
  setenv("FAKE_CUDA", settings, 1);
  unlink(f->log);
}

/* True if a line of the log begins with `text`. */
static bool logged(const Fake *f, const char *text) {
  char line[1024];
  FILE *file = fopen(f->log, "r");
  bool found = false;
  while (file && fgets(line, sizeof line, file)) found |= !strncmp(line, text, strlen(text));
  if (file) fclose(file);
  return found;
}

/* ---- a kernel ---- */

static const char PTX[] =
    ".visible .entry k(.param .u64 x, .param .u32 n, .param .f32 s,"
    " .param .u64 extra) { ret; }";

static nereid_image *make_image(int threads, int64_t shared) {
  ImageParam params[] = {{"x", type_ptr(DT_F32), true},
                         {"n", type_scalar(DT_I32), false},
                         {"s", type_scalar(DT_BF16), false}};
  IntExpr guards[] = {{"x % 16 == 0", NULL, 0}, {"n > 1", NULL, 0}};
  ImageSlot slots[] = {{.kind = SLOT_ARG, .param = 0},
                       {.kind = SLOT_ARG, .param = 1},
                       {.kind = SLOT_ARG, .param = 2},
                       {.kind = SLOT_VALUE, .expr.text = "n * 2 + grid_x"}};
  ImageVariant v = {.target = "sm_80",
                    .entry = "k",
                    .kind = NEREID_PTX,
                    .code = PTX,
                    .size = sizeof PTX - 1,
                    .threads = threads,
                    .shared = shared,
                    .guards = guards,
                    .nguards = 2,
                    .slots = slots,
                    .nslots = 4};
  nereid_image *image;
  if (image_new(&image, "k", params, 3) || image_add_variant(image, &v, true)) abort();
  return image;
}

/* ---- tests ---- */

static void test_opening(const Fake *f) {
  nereid_device *d;
  nereid_device_info info;
  use(f, "missing.so", "");
  X(nereid_device_open(&d, "cuda"), NEREID_E_DEVICE,
    "no GPU driver: * can't be loaded (*); install NVIDIA's driver, or use device cpu");
  check_call(nereid_device_count("cuda") == 0, "count without a library");
  use(f, "old.so", "");
  X(nereid_device_open(&d, "cuda"), NEREID_E_DEVICE,
    "the GPU driver is too old: * lacks cuLaunchKernel; update it");
  use(f, "fake.so", "init=100");
  X(nereid_device_open(&d, "cuda"), NEREID_E_DEVICE,
    "starting the driver: CUDA_ERROR (a fake error); no NVIDIA GPU is visible "
    "(CUDA_VISIBLE_DEVICES may hide it)");
  use(f, "fake.so", "devices=0");
  X(nereid_device_open(&d, "cuda"), NEREID_E_DEVICE,
    "opening the device: CUDA_ERROR (a fake error); no NVIDIA GPU is visible (CUDA_VISIBLE_DEVICES "
    "may hide it)");
  use(f, "fake.so", "devices=2");
  check_call(nereid_device_count("cuda") == 2, "count");
  X(nereid_device_open(&d, "cuda:2"), NEREID_E_DEVICE,
    "there is no device cuda:2; this machine has 2, counted from 0");
  X(nereid_device_open(&d, "cuda:x"), NEREID_E_USAGE,
    "unknown device `cuda:x`; devices are cuda, cuda:1 ..., cpu, nest, interp");
  X(nereid_device_open(&d, "gpu"), NEREID_E_USAGE,
    "unknown device `gpu`; devices are cuda, cuda:1 ..., cpu, nest, interp");
  use(f, "fake.so", "sm=75");
  X(nereid_device_open(&d, "cuda"), NEREID_E_DEVICE,
    "Fake GPU 0 (compute capability 7.5) is too old: the minimum is 8.0");
  static const struct {
    const char *settings, *target;
  } targets[] = {{"sm=80", "sm_80"}, {"sm=87", "sm_86"}, {"sm=89", "sm_89"}, {"sm=90", "sm_90a"}};
  for (int i = 0; i < 4; i++) {
    use(f, "fake.so", targets[i].settings);
    check_call(!nereid_device_open(&d, "cuda") && !nereid_device_get_info(&info, d) &&
                   !strcmp(info.target, targets[i].target),
               targets[i].target);
    nereid_device_close(d);
  }
}

static void test_memory(const Fake *f) {
  nereid_device *d;
  void *p;
  use(f, "fake.so", "");
  if (nereid_device_open(&d, "cuda")) abort();
  int in = 7, out = 0;
  check_call(!nereid_alloc(&p, d, 4) && !nereid_copy_in(d, p, &in, 4, NULL) &&
                 !nereid_copy_out(d, &out, p, 4, NULL) && out == 7,
             "copies");
  check_call(
      !nereid_fill(d, p, 1, 4, NULL) && !nereid_copy_out(d, &out, p, 4, NULL) && out == 0x01010101,
      "fill");
  nereid_free(d, p);
  use(f, "fake.so", "alloc=2");
  X(nereid_alloc(&p, d, 64 << 20), NEREID_E_MEMORY,
    "out of memory on cuda:0: 64 MiB requested, 3 MiB of 1024 MiB free");
  nereid_event *a, *b;
  double us = 0;
  check_call(!nereid_event_new(&a, d) && !nereid_event_new(&b, d) &&
                 !nereid_event_record(a, NULL) && !nereid_event_record(b, NULL) &&
                 !nereid_event_elapsed_us(&us, a, b) && fabs(us - 1) < 1e-6,
             "events");
  nereid_event_free(a);
  nereid_event_free(b);
  DevicePeaks r;
  peaks_of_device(&r, d);
  check_call(r.clock > 0 && r.bandwidth > 0, "what a driver does not tell is its architecture's");
  nereid_device_close(d);
}

enum { UPLOADS = 201 };

static size_t upload_size(int i) {
  return i == 0 ? (20 << 20) + 5 : i % 3 ? 1000 : i == 3 ? 0 : 65537;
}

static void free_uploads(nereid_device *d, Upload *uploads) {
  for (int i = 0; i < UPLOADS; i++) {
    nereid_free(d, uploads[i].to);
    free((void *)(uintptr_t)uploads[i].from);
  }
}

static void make_uploads(nereid_device *d, Upload *uploads) {
  uint32_t noise = 1;
  for (int i = 0; i < UPLOADS; i++) {
    size_t size = upload_size(i);
    unsigned char *from = malloc(size + 1);
    for (size_t j = 0; j < size; j++) from[j] = (noise = noise * 1664525 + 1013904223) >> 24;
    uploads[i] = (Upload){NULL, from, size};
    if (nereid_alloc(&uploads[i].to, d, size)) abort();
  }
}

static bool arrived(nereid_device *d, const Upload *u) {
  char *out = malloc(u->size + 1);
  bool same = !nereid_copy_out(d, out, u->to, u->size, NULL) && !memcmp(out, u->from, u->size);
  free(out);
  return same;
}

static bool all_arrived(nereid_device *d, const Upload *uploads) {
  bool all = true;
  for (int i = 0; i < UPLOADS; i++) all &= arrived(d, &uploads[i]);
  return all;
}

static bool upload_arrives(const Fake *f, const char *settings) {
  nereid_device *d;
  Upload uploads[UPLOADS];
  use(f, "fake.so", settings);
  if (nereid_device_open(&d, "cuda")) abort();
  make_uploads(d, uploads);
  bool good = !device_upload(d, uploads, UPLOADS) && all_arrived(d, uploads);
  free_uploads(d, uploads);
  nereid_device_close(d);
  return good;
}

/* The fake driver copies from pinned memory as late as it may. */
static void test_upload(const Fake *f) {
  check_call(upload_arrives(f, "") && logged(f, "copies") && !logged(f, "copies at once 1\n"),
             "uploads through pinned memory, more than one at a time");
  check_call(upload_arrives(f, "pinned=2") && !logged(f, "copies"),
             "uploads without pinned memory");
  nereid_device *d;
  void *p;
  char *from = calloc(32, 1 << 20);
  use(f, "fake.so", "");
  if (nereid_device_open(&d, "cuda") || nereid_alloc(&p, d, 32 << 20)) abort();
  check_call(!nereid_copy_in(d, p, from, 1 << 20, NULL) && !logged(f, "copies"),
             "small ones go as they are");
  setenv("FAKE_CUDA", "copy=700", 1);
  X(nereid_copy_in(d, p, from, 32 << 20, NULL), NEREID_E_LOST, "copying memory: *");
  check_call(logged(f, "copies"), "and no pinned memory is left behind");
  nereid_free(d, p);
  nereid_device_close(d);
  free(from);
}

static void set_all(nereid_launch *l, uintptr_t x, int64_t n) {
  nereid_launch_set_pointer(l, 0, (void *)x);
  nereid_launch_set_int(l, 1, n);
  nereid_launch_set_float(l, 2, 1.0);
}

static void test_arguments(nereid_launch *l) {
  nereid_tensor t = {.dtype = {2, 32, 1}, .device = {1, 0}};
  X(nereid_launch_run(l, NULL), NEREID_E_USAGE, "argument x of kernel k has no value");
  X(nereid_launch_set_int(l, 1, 1LL << 31), NEREID_E_USAGE,
    "argument n: 2147483648 does not fit i32");
  X(nereid_launch_set_int(l, 0, 1), NEREID_E_USAGE, "argument x is of type *f32, not an integer");
  X(nereid_launch_set_int(l, 3, 1), NEREID_E_USAGE, "parameter 3 does not exist in kernel k");
  X(nereid_launch_set_tensor(l, 0, &t), NEREID_E_USAGE,
    "the tensor for x is not in the memory of cuda:0");
  t = (nereid_tensor){.dtype = {2, 16, 1}, .device = {2, 0}};
  X(nereid_launch_set_tensor(l, 0, &t), NEREID_E_USAGE, "the tensor for x is not of dtype f32");
  set_all(l, 0x1008, 5);
  X(nereid_launch_run(l, NULL), NEREID_E_USAGE,
    "kernel k was specialized for x % 16 == 0, which is false for these arguments: compile it for "
    "them");
  uint32_t zero[3] = {1, 0, 1}, large[3] = {1, 65536, 1};
  X(nereid_launch_set_grid(l, zero), NEREID_E_USAGE,
    "a grid has at least one program on every axis; this one is 1 x 0 x 1");
  nereid_launch_set_grid(l, large);
  set_all(l, 0x1000, 5);
  X(nereid_launch_run(l, NULL), NEREID_E_RESOURCES,
    "the grid's y extent 65536 exceeds the limit of cuda:0, 65535");
}

/* Times as many pieces as there are events, and one more. */
static void time_pieces(nereid_device *d, nereid_launch *l) {
  enum { PIECES = 201 };
  nereid_timer *t;
  const double *us;
  int n = 0;
  bool good = !nereid_timer_new(&t, d, 0);
  for (int i = 0; i < PIECES && good; i++)
    good =
        !nereid_timer_begin(t, NULL) && !nereid_launch_run(l, NULL) && !nereid_timer_end(t, NULL);
  good = good && !nereid_timer_read(&us, &n, t) && n == PIECES;
  for (int i = 0; i < n; i++) good &= us[i] == 1000;
  check_call(good, "pieces of work");
  nereid_timer_free(t);
}

static void test_launch(const Fake *f) {
  nereid_device *d;
  nereid_kernel *k;
  nereid_launch *l;
  nereid_image *image = make_image(128, 100000);
  uint32_t grid[3] = {7, 2, 3};
  use(f, "fake.so", "");
  if (nereid_device_open(&d, "cuda")) abort();
  check_call(
      !nereid_kernel_load(&k, d, image) && logged(f, "module") && logged(f, "dynamic 100000"),
      "load");
  nereid_image_free(image);
  check_call(!nereid_launch_new(&l, k, grid), "new launch");
  test_arguments(l);
  nereid_launch_set_grid(l, grid);
  set_all(l, 0x1000, -3);
  X(nereid_launch_run(l, NULL), NEREID_E_USAGE,
    "kernel k was specialized for n > 1, which is false for these arguments: compile it for them");
  set_all(l, 0x1000, 5);
  check_call(!nereid_launch_run(l, NULL) &&
                 logged(f,
                        "launch 7 2 3 block 128 1 1 shared 100000 stream 0 extra 0 :"
                        " 1000 5 3f80 11\n"),
             "what a launch hands over");
  X(nereid_launch_set_flags(l, 4), NEREID_E_USAGE, "4 has flags that no launch has");
  check_call(!nereid_launch_set_flags(l, NEREID_LAUNCH_PDL | NEREID_LAUNCH_COOPERATIVE) &&
                 !nereid_launch_run(l, NULL) && logged(f, "attribute 6 1\n") &&
                 logged(f, "attribute 2 1\n"),
             "a launch with flags");
  check_call(!nereid_launch_set_flags(l, 0), "no flags");
  uint64_t args[] = {0x2000, 6, 0x4000};
  check_call(!nereid_launch_run_with(l, NULL, args, (uint32_t[]){1, 1, 1}) &&
                 logged(f,
                        "launch 1 1 1 block 128 1 1 shared 100000 stream 0 extra 0 :"
                        " 2000 6 4000 d\n"),
             "arguments from a table");
  nereid_timing t;
  setenv("FAKE_CUDA", "cost=999", 1);
  check_call(!nereid_launch_time(&t, l, NULL, NULL) && t.median_us == 1000 && t.runs >= 5,
             "timing");
  time_pieces(d, l);
  setenv("FAKE_CUDA", "", 1);
  use(f, "fake.so", "launch=701");
  X(nereid_launch_run(l, NULL), NEREID_E_RESOURCES,
    "launching the kernel: CUDA_ERROR (a fake error); too many registers or threads; use fewer "
    "warps");
  use(f, "fake.so", "sync=700");
  X(nereid_device_sync(d), NEREID_E_LOST,
    "running the kernel: CUDA_ERROR_ILLEGAL_ADDRESS (an illegal memory access was encountered); "
    "the kernel touched memory that is not allocated; device interp says where");
  nereid_launch_free(l);
  nereid_kernel_free(k);
  nereid_device_close(d);
}

/* Drivers before CUDA 11.8 launch without flags only. */
static void test_old_launch(const Fake *f) {
  nereid_device *d;
  nereid_kernel *k;
  nereid_launch *l;
  nereid_image *image = make_image(128, 0);
  use(f, "plain.so", "");
  if (nereid_device_open(&d, "cuda") || nereid_kernel_load(&k, d, image)) abort();
  check_call(!nereid_launch_new(&l, k, (uint32_t[]){1, 1, 1}), "new launch");
  set_all(l, 0x1000, 5);
  check_call(!nereid_launch_run(l, NULL), "launch by an old driver");
  nereid_launch_set_flags(l, NEREID_LAUNCH_PDL);
  check_call(!nereid_launch_run(l, NULL), "a launch that could overlap");
  nereid_launch_set_flags(l, NEREID_LAUNCH_COOPERATIVE);
  X(nereid_launch_run(l, NULL), NEREID_E_DEVICE,
    "the GPU driver is too old for launch flags: it lacks cuLaunchKernelEx; update it");
  nereid_launch_free(l);
  nereid_kernel_free(k);
  nereid_image_free(image);
  nereid_device_close(d);
}

/* Launches of so many programs ask for so much shared memory. */
static bool asks(const Fake *f, nereid_launch *l, uint32_t programs, int bytes) {
  char text[64];
  snprintf(text, sizeof text, "launch %u 1 1 block 128 1 1 shared %d ", programs, bytes);
  unlink(f->log);
  nereid_launch_set_grid(l, (uint32_t[]){programs, 1, 1});
  return !nereid_launch_run(l, NULL) && logged(f, text);
}

/* Launches that may overlap are spread evenly by the shared memory that they ask for: by a program
 * more than the even share, a multiprocessor would need more than its 233,472 bytes. */
static void test_even(const Fake *f) {
  enum { PROCESSORS = 132, NEEDED = 20000, FIT = 11 };
  nereid_device *d;
  nereid_kernel *k;
  nereid_launch *l;
  nereid_image *image = make_image(128, NEEDED);
  use(f, "fake.so", "whole=233472");
  if (nereid_device_open(&d, "cuda") || nereid_kernel_load(&k, d, image)) abort();
  check_call(logged(f, "dynamic 232448"), "it may ask for all");
  if (nereid_launch_new(&l, k, (uint32_t[]){1, 1, 1})) abort();
  set_all(l, 0x1000, 5);
  check_call(asks(f, l, 2 * PROCESSORS, NEEDED), "one that waits");
  nereid_launch_set_flags(l, NEREID_LAUNCH_PDL);
  check_call(asks(f, l, PROCESSORS, NEEDED), "one program a multiprocessor");
  check_call(asks(f, l, PROCESSORS + 1, 76928), "two at most: 3 * (76,928 + 1,024)");
  check_call(asks(f, l, 2 * PROCESSORS, 76928), "two each");
  check_call(asks(f, l, (FIT - 1) * PROCESSORS, 20224), "all but one that fits");
  check_call(asks(f, l, FIT * PROCESSORS, NEEDED), "as many as fit");
  check_call(asks(f, l, 1000000, NEEDED), "more than fit");
  nereid_launch_free(l);
  nereid_kernel_free(k);
  nereid_image_free(image);
  nereid_device_close(d);
}

static void test_limits(const Fake *f) {
  nereid_device *d;
  nereid_kernel *k;
  nereid_launch *l;
  use(f, "fake.so", "shared=1000");
  if (nereid_device_open(&d, "cuda")) abort();
  nereid_image *image = make_image(2048, 0), *shared = make_image(32, 1001);
  X(nereid_kernel_load(&k, d, shared), NEREID_E_RESOURCES,
    "kernel k needs 1001 bytes of shared memory, Fake GPU 0 has 1000: use smaller blocks or fewer "
    "stages");
  check_call(!nereid_kernel_load(&k, d, image), "load what fits");
  nereid_kernel_resources r;
  check_call(!nereid_kernel_get_resources(&r, k) && r.threads == 2048 && r.registers == 32,
             "resources");
  nereid_launch_new(&l, k, (uint32_t[]){1, 1, 1});
  set_all(l, 0, 5);
  X(nereid_launch_run(l, NULL), NEREID_E_RESOURCES,
    "kernel k needs 2048 threads a program, cuda:0 has at most 1024: use fewer warps");
  nereid_launch_free(l);
  nereid_kernel_free(k);
  nereid_image_free(image);
  nereid_image_free(shared);
  nereid_device_close(d);
}

static int spills_by(const Fake *f, nereid_device *d, const nereid_image *image,
                     const char *settings) {
  nereid_kernel *k;
  nereid_kernel_resources r = {.spill_bytes = -1};
  use(f, "fake.so", settings);
  if (nereid_kernel_load(&k, d, image)) abort();
  nereid_kernel_get_resources(&r, k);
  nereid_kernel_free(k);
  return r.spill_bytes;
}

/* PTX that spills, as the driver assembles it, gets the registers of a multiprocessor. */
static void test_spills(const Fake *f) {
  static const char head[] = ".visible .entry k()\n.reqntid 128, 1, 1\n", body[] = "{ ret; }";
  char text[256];
  nereid_device *d;
  use(f, "fake.so", "");
  if (nereid_device_open(&d, "cuda")) abort();
  for (int limit = 0; limit < 2; limit++) {
    snprintf(text, sizeof text, "%s%s%s", head, limit ? ".maxnreg 40\n" : "", body);
    ImageVariant v = {.target = "sm_80",
                      .entry = "k",
                      .kind = NEREID_PTX,
                      .code = text,
                      .size = strlen(text),
                      .threads = 128};
    nereid_image *image;
    if (image_new(&image, "k", NULL, 0) || image_add_variant(image, &v, true)) abort();
    check(spills_by(f, d, image, "spill=96,still=8") == (limit ? 64 : 8),
          "more registers, unless the kernel has a limit");
    check(spills_by(f, d, image, "spill=96,still=104") == (limit ? 64 : 96),
          "the first code where the second spills more");
    nereid_image_free(image);
  }
  nereid_device_close(d);
}

static void test_assembler(const Fake *f) {
  nereid_device *d;
  nereid_kernel *k;
  setenv("NEREID_CACHE_DIR", "", 1);
  use(f, "fake.so", "module=218");
  if (nereid_device_open(&d, "cuda")) abort();
  nereid_image *image = make_image(32, 0);
  X(nereid_kernel_load(&k, d, image), NEREID_E_TOOL,
    "assembling PTX: ptxas fatal: as you wished: CUDA_ERROR (a fake error); the driver refused the "
    "PTX; this is a bug of the compiler");
  use(f, "fake.so", "module=222");
  X(nereid_kernel_load(&k, d, image), NEREID_E_DEVICE,
    "assembling PTX: ptxas fatal: as you wished: CUDA_ERROR (a fake error); the driver is older "
    "than the PTX; update it");
  nereid_image_free(image);
  static const char ptx[] = ".visible .entry k() { ret; }";
  char *cubin;
  size_t size;
  use(f, "fake.so", "");
  check_call(!cuda_assemble(d, &cubin, &size, ptx, sizeof ptx - 1, "sm_90a") && logged(f, "link") &&
                 !strcmp(cubin, ptx),
             "a cubin by the driver's linker");
  free(cubin);
  use(f, "fake.so", "link=218");
  X(cuda_assemble(d, &cubin, &size, ptx, sizeof ptx - 1, "sm_90a"), NEREID_E_TOOL,
    "assembling PTX: ptxas fatal: as you wished: CUDA_ERROR (a fake error); the driver refused the "
    "PTX; this is a bug of the compiler");
  nereid_device_close(d);
}

static void *run_launch(void *l) { return (void *)(intptr_t)nereid_launch_run(l, NULL); }

/* A map that a thread makes before it has made another call: no context is current there. */
static void launch_in_thread(nereid_launch *l, int n) {
  pthread_t thread;
  void *status;
  nereid_launch_set_int(l, 1, n);
  if (pthread_create(&thread, NULL, run_launch, l) || pthread_join(thread, &status)) abort();
  check_call(!status, "a map that a new thread makes");
}

/* A kernel of a tensor's map: made once for a tensor, refused where the hardware can't. */
static void test_maps(const Fake *f) {
  nereid_device *d;
  nereid_kernel *k;
  nereid_launch *l;
  nereid_image *image, *again;
  char *bytes;
  size_t size;
  static const char ptx[] = ".visible .entry k(.param .u64 x, .param .u64 map) { ret; }";
  ImageParam params[] = {{"x", type_ptr(DT_BF16), false}, {"n", type_scalar(DT_I32), false}};
  ImageMap map = {.bytes = 2, .rank = 2, .box = {64, 128}};
  map.extent[0].text = "n";
  map.extent[1].text = "n * n";
  map.stride[0].text = "2";
  map.stride[1].text = "2 * n";
  ImageSlot slots[] = {{.kind = SLOT_ARG, .param = 0}, {.kind = SLOT_MAP, .map = &map}};
  ImageVariant v = {.target = "sm_90a",
                    .entry = "k",
                    .kind = NEREID_PTX,
                    .code = ptx,
                    .size = sizeof ptx - 1,
                    .threads = 32,
                    .slots = slots,
                    .nslots = 2};
  use(f, "fake.so", "");
  if (nereid_device_open(&d, "cuda") || image_new(&image, "k", params, 2)) abort();
  if (image_add_variant(image, &v, true) || nereid_image_bytes(&bytes, &size, image)) abort();
  if (nereid_image_from_bytes(&again, bytes, size) || nereid_kernel_load(&k, d, again)) abort();
  if (nereid_launch_new(&l, k, (uint32_t[]){1, 1, 1})) abort();
  nereid_launch_set_pointer(l, 0, (void *)0x4000);
  nereid_launch_set_int(l, 1, 72);
  check_call(!nereid_launch_run(l, NULL), "a launch with a map");
  check_call(logged(f, "map of 1, rank 2, swizzle 3, 64 of 72 by 0, 128 of 5184 by 144\n"),
             "a map");
  check_call(logged(f, "launch 1 1 1 block 32 1 1 shared 0 stream 0 extra 0 : 4000 4000\n"),
             "the map of that address");
  unlink(f->log);
  nereid_launch_set_int(l, 1, 80);
  nereid_launch_set_int(l, 1, 72);
  check_call(!nereid_launch_run(l, NULL) && !logged(f, "map"), "a map that is known");
  launch_in_thread(l, 88);
  const int64_t refused[] = {73, 48000, -8, 0}; /* rows apart, 2^31 rows, fewer than one */
  for (int i = 0; i < 4; i++) {
    nereid_launch_set_int(l, 1, refused[i]);
    X(nereid_launch_run(l, NULL), NEREID_E_USAGE,
      "kernel `k` was compiled for tensors whose rows begin at multiples of 16 bytes; compile it "
      "with no_tensor_maps");
  }
  nereid_launch_free(l);
  nereid_kernel_free(k);
  nereid_device_close(d);
  use(f, "plain.so", "");
  if (nereid_device_open(&d, "cuda") || nereid_kernel_load(&k, d, image)) abort();
  if (nereid_launch_new(&l, k, (uint32_t[]){1, 1, 1})) abort();
  nereid_launch_set_pointer(l, 0, (void *)0x4000);
  nereid_launch_set_int(l, 1, 72);
  X(nereid_launch_run(l, NULL), NEREID_E_DEVICE,
    "the GPU driver is too old for tensor maps: it lacks cuTensorMapEncodeTiled; update it");
  nereid_launch_free(l);
  nereid_kernel_free(k);
  nereid_text_free(bytes);
  nereid_image_free(again);
  nereid_image_free(image);
  nereid_device_close(d);
}

static nereid_image *product(void) {
  static const char source[] =
      "import triton\n"
      "import triton.language as tl\n"
      "@triton.jit\n"
      "def product(a, b, c, m, n, k, sa, sb, first):\n"
      "    i, s = tl.arange(0, 64), tl.arange(0, 32)\n"
      "    acc = tl.zeros((64, 64), tl.float32)\n"
      "    for start in range(0, k, 32):\n"
      "        x = tl.load(a + (first + i)[:, None] * sa + (start + s)[None, :],\n"
      "                    mask=(first + i < m)[:, None] & (start + s < k)[None, :], other=0.0)\n"
      "        y = tl.load(b + (start + s)[:, None] * sb + i[None, :],\n"
      "                    mask=(start + s < k)[:, None] & (i < n)[None, :], other=0.0)\n"
      "        acc = tl.dot(x, y, acc)\n"
      "    tl.store(c + i[:, None] * 64 + i[None, :], acc)\n";
  static const nereid_arg args[] = {{"a", "*bf16:16", NULL}, {"b", "*bf16:16", NULL},
                                    {"c", "*fp32:16", NULL}, {"m", "i32", NULL},
                                    {"n", "i32", NULL},      {"k", "i32", NULL},
                                    {"sa", "i32", NULL},     {"sb", "i32", NULL},
                                    {"first", "i32", NULL}};
  nereid_request r = {.source.text = source,
                      .source.size = sizeof source - 1,
                      .args = args,
                      .nargs = 9,
                      .target = "sm_90a",
                      .alias = NEREID_ALIAS_DISJOINT};
  nereid_image *image;
  if (nereid_compile(&image, &r, NEREID_PTX)) abort();
  return image;
}

/* The number of maps that are made for a launch. */
static int maps_of_launch(const Fake *f, nereid_launch *l, int k, int sa, int sb) {
  static const char map[] = "map of";
  char line[1024];
  int n = 0;
  unlink(f->log);
  nereid_launch_set_int(l, 5, k);
  nereid_launch_set_int(l, 6, sa);
  nereid_launch_set_int(l, 7, sb);
  if (nereid_launch_run(l, NULL)) return -1;
  FILE *file = fopen(f->log, "r");
  while (file && fgets(line, sizeof line, file)) n += !strncmp(line, map, sizeof map - 1);
  if (file) fclose(file);
  return n;
}

/* Strides and a row of which nothing is known when the kernel is compiled: a launch for which maps
 * can't be made runs code for its divisors, with boxes of the other operand. */
static void test_strides(const Fake *f) {
  nereid_device *d;
  nereid_kernel *k;
  nereid_launch *l;
  nereid_image *image = product();
  use(f, "fake.so", "");
  if (nereid_device_open(&d, "cuda") || nereid_kernel_load(&k, d, image)) abort();
  if (nereid_launch_new(&l, k, (uint32_t[]){1, 1, 1})) abort();
  for (int i = 0; i < 3; i++) nereid_launch_set_pointer(l, i, (void *)(0x10000 * (i + 1L)));
  nereid_launch_set_int(l, 3, 64);
  nereid_launch_set_int(l, 4, 64);
  nereid_launch_set_int(l, 8, 0);
  const Loaded *own = &k->loaded[0];
  check_call(maps_of_launch(f, l, 72, 72, 64) == 2 && l->start.chosen == own, "both are boxes");
  check_call(maps_of_launch(f, l, 76, 76, 64) == 1, "rows of A at multiples of 8 bytes");
  const Loaded *eighths = l->start.chosen;
  check_call(eighths != own && eighths->variant->nslots == 10, "one map in that code");
  check_call(maps_of_launch(f, l, 84, 84, 64) == 1 && l->start.chosen == eighths,
             "the same code for others of these");
  check_call(maps_of_launch(f, l, 77, 77, 64) == 1 && l->start.chosen != eighths,
             "rows of A at multiples of 2 bytes");
  check_call(maps_of_launch(f, l, 72, 76, 66) == 0, "no rows are aligned");
  check_call(maps_of_launch(f, l, 0, 72, 64) == 0 && l->start.chosen != own, "no rows at all");
  const Loaded *plain = l->start.chosen;
  check_call(maps_of_launch(f, l, 72, 0, 64) == 0 && l->start.chosen == plain,
             "one row many times");
  check_call(maps_of_launch(f, l, 72, 72, 64) == 0 && l->start.chosen == own, "known maps");
  nereid_launch_set_int(l, 8, -1);
  check_call(maps_of_launch(f, l, 72, 72, 64) == 0 && l->start.chosen != own,
             "rows before the first");
  nereid_launch_set_int(l, 8, 1);
  check_call(maps_of_launch(f, l, 72, 72, 64) == 0 && l->start.chosen == own, "the second row on");
  nereid_launch_free(l);
  nereid_kernel_free(k);
  nereid_image_free(image);
  nereid_device_close(d);
}

/* Launches of few programs with many iterations run code with deeper rings. */
static void test_deep(const Fake *f) {
  nereid_device *d;
  nereid_kernel *k;
  nereid_image *image = product(), *copy;
  char *bytes;
  size_t size;
  use(f, "fake.so", "");
  if (nereid_image_bytes(&bytes, &size, image) || nereid_image_from_bytes(&copy, bytes, size))
    abort();
  if (nereid_device_open(&d, "cuda") || nereid_kernel_load(&k, d, copy)) abort();
  const Loaded *own = &k->loaded[0];
  const struct {
    uint32_t programs;
    int k;
    bool deep;
  } launches[] = {{132, 1024, true}, {133, 1024, false}, {66, 352, false}, {1, 384, true}};
  check_call(own->variant->deep == 12, "twelve slots");
  for (size_t i = 0; i < sizeof launches / sizeof *launches; i++) {
    nereid_launch *l;
    int64_t shared = own->variant->shared;
    if (nereid_launch_new(&l, k, (uint32_t[]){launches[i].programs, 1, 1})) abort();
    for (int p = 0; p < 3; p++) nereid_launch_set_pointer(l, p, (void *)(0x1000000 * (p + 1L)));
    for (int p = 3; p < 9; p++) nereid_launch_set_int(l, (size_t)p, p < 5 ? 64 : 0);
    check_call(maps_of_launch(f, l, launches[i].k, 1024, 64) >= 0, "the launch");
    check_call((l->start.chosen != own) == launches[i].deep, "its rings");
    if (launches[i].deep)
      check_call(l->start.chosen->variant->shared > 3 * shared, "four times as deep");
    nereid_launch_free(l);
  }
  nereid_kernel_free(k);
  nereid_text_free(bytes);
  nereid_image_free(copy);
  nereid_image_free(image);
  nereid_device_close(d);
}

/* A product of a grid of tiles, of which a multiprocessor has one at a time. */
static nereid_image *tiled_product(void) {
  static const char source[] =
      "import triton\n"
      "import triton.language as tl\n"
      "@triton.jit\n"
      "def tiled(a, b, c, m, n, k):\n"
      "    tiles = tl.cdiv(n, 256)\n"
      "    i = tl.program_id(0) // tiles * 128 + tl.arange(0, 128)\n"
      "    j = tl.program_id(0) % tiles * 256 + tl.arange(0, 256)\n"
      "    s = tl.arange(0, 64)\n"
      "    acc = tl.zeros((128, 256), tl.float32)\n"
      "    for start in range(0, k, 64):\n"
      "        x = tl.load(a + i[:, None] * k + (start + s)[None, :],\n"
      "                    mask=(i < m)[:, None] & (start + s < k)[None, :], other=0.0)\n"
      "        y = tl.load(b + (start + s)[:, None] * n + j[None, :],\n"
      "                    mask=(start + s < k)[:, None] & (j < n)[None, :], other=0.0)\n"
      "        acc = tl.dot(x, y, acc)\n"
      "    tl.store(c + i[:, None] * n + j[None, :], acc.to(tl.bfloat16),\n"
      "             mask=(i < m)[:, None] & (j < n)[None, :])\n";
  static const nereid_arg args[] = {{"a", "*bf16:16", NULL}, {"b", "*bf16:16", NULL},
                                    {"c", "*bf16:16", NULL}, {"m", "i32:16", NULL},
                                    {"n", "i32:16", NULL},   {"k", "i32:16", NULL}};
  nereid_request r = {.source.text = source,
                      .source.size = sizeof source - 1,
                      .args = args,
                      .nargs = 6,
                      .target = "sm_90a",
                      .num_warps = 8,
                      .num_stages = 3};
  nereid_image *image;
  if (nereid_compile(&image, &r, NEREID_PTX)) abort();
  return image;
}

/* A program does the work of several where a launch has many programs with few iterations. */
static void test_loops(const Fake *f) {
  nereid_device *d;
  nereid_kernel *k;
  nereid_image *image = tiled_product(), *copy;
  char *bytes;
  size_t size;
  use(f, "fake.so", "");
  if (nereid_image_bytes(&bytes, &size, image) || nereid_image_from_bytes(&copy, bytes, size))
    abort();
  if (nereid_device_open(&d, "cuda") || nereid_kernel_load(&k, d, copy)) abort();
  check_call(k->loaded[0].variant->loops, "a loop may be made");
  const struct {
    uint32_t grid[3];
    int k;
    bool loops;
  } launches[] = {{{264, 1, 1}, 512, true},   {{263, 1, 1}, 512, false},
                  {{264, 1, 1}, 2048, true},  {{264, 1, 1}, 2064, false},
                  {{264, 2, 1}, 512, false},  {{4096, 1, 1}, 64, true}};
  for (size_t i = 0; i < sizeof launches / sizeof *launches; i++) {
    nereid_launch *l;
    char line[64];
    if (nereid_launch_new(&l, k, launches[i].grid)) abort();
    for (int p = 0; p < 3; p++) nereid_launch_set_pointer(l, p, (void *)(0x10000000 * (p + 1L)));
    nereid_launch_set_int(l, 3, 128 * 264);
    nereid_launch_set_int(l, 4, 256);
    nereid_launch_set_int(l, 5, launches[i].k);
    unlink(f->log);
    check_call(!nereid_launch_run(l, NULL), "the launch");
    snprintf(line, sizeof line, "launch %u %u 1 block",
             launches[i].loops ? 132 : launches[i].grid[0], launches[i].grid[1]);
    check_call(logged(f, line), "its programs");
    check_call((l->start.chosen != &k->loaded[0]) == launches[i].loops, "its code");
    const ImageVariant *v = l->start.chosen->variant;
    for (int s = 0; s < v->nslots && launches[i].loops; s++)
      if (v->slots[s].kind == SLOT_VALUE)
        check_call(l->start.slots[s] == launches[i].grid[0], "the grid's programs");
    nereid_launch_free(l);
  }
  nereid_kernel_free(k);
  nereid_text_free(bytes);
  nereid_image_free(copy);
  nereid_image_free(image);
  nereid_device_close(d);
}

/* Images without code for the device, grids and scratch memory that make no sense. */
static void test_image(const Fake *f) {
  nereid_device *d;
  nereid_kernel *k;
  nereid_launch *l;
  nereid_image *image;
  ImageParam params[] = {{"n", type_scalar(DT_I32), false}};
  ImageSlot slots[] = {{.kind = SLOT_SCRATCH, .expr.text = "n - 8"}};
  static const char one[] = ".visible .entry k(.param .u64 scratch) { ret; }";
  ImageVariant v = {.target = "sm_100a",
                    .entry = "k",
                    .kind = NEREID_PTX,
                    .code = one,
                    .size = sizeof one - 1,
                    .threads = 32,
                    .slots = slots,
                    .nslots = 1,
                    .has_grid = true,
                    .grid = {{"n // 2", NULL, 0}, {"1", NULL, 0}, {"1", NULL, 0}}};
  use(f, "fake.so", "");
  if (nereid_device_open(&d, "cuda") || image_new(&image, "k", params, 1)) abort();
  if (image_add_variant(image, &v, true)) abort();
  X(nereid_kernel_load(&k, d, image), NEREID_E_USAGE,
    "the image of k has no code for cuda:0 (sm_90a)");
  v.target = "sm_80";
  if (image_add_variant(image, &v, true) || nereid_kernel_load(&k, d, image)) abort();
  if (nereid_launch_new(&l, k, (uint32_t[]){1, 1, 1})) abort();
  nereid_launch_set_int(l, 0, 1);
  X(nereid_launch_run(l, NULL), NEREID_E_USAGE, "the grid expression `n // 2` gives 0");
  nereid_launch_set_int(l, 0, 4);
  X(nereid_launch_run(l, NULL), NEREID_E_USAGE, "-4 bytes of scratch memory can't be allocated");
  nereid_launch_set_int(l, 0, 40);
  check_call(!nereid_launch_run(l, NULL) && logged(f, "launch 20 1 1 block 32"),
             "scratch, grid map");
  nereid_launch_free(l);
  nereid_kernel_free(k);
  nereid_image_free(image);
  nereid_device_close(d);
}

/* ---- nereid_kernel_run() ---- */

/* Which context the fake driver has current in this thread, and another one there. */
static CuResult (*get_context)(CuContext *out), (*set_context)(CuContext c);

static void find_contexts(const nereid_device *d) {
  const Cuda *c = d->state;
  get_context = c->api.context_current;
  set_context = c->api.context_set;
}

static CuContext current_context(void) {
  CuContext now;
  get_context(&now);
  return now;
}

static int run_image(nereid_kernel *k, void *stream, const nereid_run_options *o) {
  const uint64_t args[] = {0x2000, 6, 0x4000};
  return nereid_kernel_run(k, stream, (uint32_t[]){3, 1, 1}, args, NULL, o);
}

/* Launches on the second GPU by a thread that uses the first, which it still does afterwards. */
static void test_run(const Fake *f) {
  nereid_device *first, *d;
  nereid_kernel *k;
  nereid_image *image = make_image(128, 0);
  char stream;
  use(f, "fake.so", "devices=2");
  if (nereid_device_open(&first, "cuda") || nereid_device_open(&d, "cuda:1")) abort();
  find_contexts(d);
  set_context(NULL);
  check_call(!nereid_kernel_load(&k, d, image) && !run_image(k, NULL, NULL) && !current_context(),
             "a thread without a context");
  CuContext mine = nereid_device_native(first);
  set_context(mine);
  check_call(!run_image(k, &stream, NULL) && current_context() == mine &&
                 logged(f, "launch 3 1 1 block 128 1 1 shared 0 stream 1 extra 0 : 2000 6 4000 f"),
             "a launch on the caller's stream, in another context");
  nereid_run_options o = {.flags = NEREID_LAUNCH_PDL};
  check_call(!run_image(k, &stream, &o) && logged(f, "attribute 6 1\n"), "with flags");
  use(f, "fake.so", "launch=701");
  X(run_image(k, NULL, NULL), NEREID_E_RESOURCES, "launching the kernel: *");
  check(current_context() == mine, "the caller's context after a failure");
  nereid_kernel_free(k);
  nereid_image_free(image);
  nereid_device_close(d);
  check(current_context() == mine, "and after closing");
  set_context(NULL);
  nereid_device_close(first);
}

/* A forked process is told, and ends in peace. */
static bool is_refused_in_child(nereid_device *d, nereid_kernel *k) {
  void *p;
  bool refused = run_image(k, NULL, NULL) == NEREID_E_DEVICE &&
                 matches(
                     "this process was forked from one that uses the GPU, and can't use it: "
                     "start it by spawn, or open the device in it alone",
                     nereid_error_message());
  refused &= nereid_alloc(&p, d, 4) == NEREID_E_DEVICE;
  refused &= nereid_device_sync(d) == NEREID_E_DEVICE;
  nereid_kernel_free(k);
  nereid_device_close(d);
  return refused;
}

static void test_fork(const Fake *f) {
  nereid_device *d;
  nereid_kernel *k;
  nereid_image *image = make_image(128, 0);
  int status = 1;
  use(f, "fake.so", "");
  if (nereid_device_open(&d, "cuda") || nereid_kernel_load(&k, d, image)) abort();
  pid_t child = fork();
  if (!child) _exit(!is_refused_in_child(d, k));
  check(waitpid(child, &status, 0) == child && !status, "a GPU in a forked process");
  check_call(!run_image(k, NULL, NULL), "and in the one it was forked from");
  nereid_kernel_free(k);
  nereid_image_free(image);
  nereid_device_close(d);
  use(f, "fake.so", "init=3");
  X(nereid_device_open(&d, "cuda"), NEREID_E_DEVICE, "starting the driver: *start it by spawn");
}

/* Scratch memory in the order of the stream, or, with an old driver, until the launch is over. */
static void test_run_scratch(const Fake *f, const char *settings, bool pools) {
  nereid_device *d;
  nereid_kernel *k;
  nereid_image *image;
  ImageParam params[] = {{"n", type_scalar(DT_I32), false}};
  ImageSlot slots[] = {{.kind = SLOT_ZEROED, .expr.text = "n * grid_x"}};
  static const char one[] = ".visible .entry k(.param .u64 scratch) { ret; }";
  ImageVariant v = {.target = "sm_80",
                    .entry = "k",
                    .kind = NEREID_PTX,
                    .code = one,
                    .size = sizeof one - 1,
                    .threads = 32,
                    .slots = slots,
                    .nslots = 1};
  const uint64_t args[] = {40};
  const uint32_t grid[] = {5, 1, 1};
  char stream;
  use(f, "fake.so", settings);
  if (nereid_device_open(&d, "cuda") || image_new(&image, "k", params, 1)) abort();
  if (image_add_variant(image, &v, true) || nereid_kernel_load(&k, d, image)) abort();
  check_call(!nereid_kernel_run(k, &stream, grid, args, NULL, NULL) && logged(f, "launch 5 1 1") &&
                 logged(f, "alloc async 200 stream 1\n") == pools &&
                 logged(f, "free async 0 stream 1\n") == pools,
             "scratch memory");
  check(!d->allocations, "of which the device keeps nothing");
  nereid_kernel_free(k);
  nereid_image_free(image);
  nereid_device_close(d);
}

/* `--emit cubin`: by ptxas, or by the driver. */
static void test_cubin(const Fake *f) {
  char *out;
  size_t size;
  char path[TOOL_PATH + 64];
  const char *script = "#!/bin/sh\necho no register left\nexit 1\n";
  use(f, "fake.so", "");
  setenv("NEREID_PTXAS", "", 1);
  check_call(!cubin_assemble(&out, &size, PTX, sizeof PTX - 1, "sm_90a", NULL, NULL) &&
                 size == sizeof PTX && !strcmp(out, PTX),
             "machine code by the driver");
  free(out);
  X(cubin_assemble(&out, &size, PTX, sizeof PTX - 1, "sm_80", NULL, NULL), NEREID_E_TOOL,
    "the driver can't assemble for sm_80, only for its own sm_90a: install NVIDIA's ptxas");
  use(f, "missing.so", "");
  X(cubin_assemble(&out, &size, PTX, sizeof PTX - 1, "sm_80", NULL, NULL), NEREID_E_TOOL,
    "no ptxas to assemble with, and no GPU driver: install NVIDIA's ptxas, or set NEREID_PTXAS to "
    "it");
  if (temp_write(&f->folder, "myptxas", script, strlen(script))) abort();
  temp_name(path, sizeof path, &f->folder, "myptxas");
  chmod(path, 0755);
  setenv("NEREID_PTXAS", path, 1);
  X(cubin_assemble(&out, &size, PTX, sizeof PTX - 1, "sm_80", NULL, NULL), NEREID_E_TOOL,
    "*myptxas failed:\nno register left");
}

/* A ptxas that notes each call, and does `what` with files $in and $out. */
static void write_ptxas(const Fake *f, const char *what) {
  char script[TOOL_PATH + 512], path[TOOL_PATH + 64];
  snprintf(script, sizeof script, "#!/bin/sh\necho ptxas $1 >>%s\nout=$4 in=$5\n%s\n", f->log,
           what);
  if (temp_write(&f->folder, "manyptxas", script, strlen(script))) abort();
  temp_name(path, sizeof path, &f->folder, "manyptxas");
  chmod(path, 0755);
  setenv("NEREID_PTXAS", path, 1);
  unlink(f->log);
}

/* Loads n kernels, at most 2: are they there, and was their machine code in the cache? */
static bool load_some(nereid_device *d, int n, bool cached) {
  nereid_image *image = make_image(32, 0);
  const nereid_image *images[] = {image, image};
  nereid_kernel *kernels[2];
  nereid_kernel_resources r = {.from_cache = -1};
  bool loaded = !nereid_kernel_load_all(kernels, d, images, n);
  for (int i = 0; i < n && loaded; i++) {
    nereid_kernel_get_resources(&r, kernels[i]);
    loaded &= !!r.from_cache == cached;
    nereid_kernel_free(kernels[i]);
  }
  nereid_image_free(image);
  return loaded;
}

static void test_many(const Fake *f) {
  nereid_device *d;
  use(f, "fake.so", "");
  if (nereid_device_open(&d, "cuda")) abort();
  write_ptxas(f, "cp $in $out");
  check_call(load_some(d, 1, false) && !logged(f, "ptxas"), "the driver assembles one");
  check_call(load_some(d, 2, false) && logged(f, "ptxas -arch=sm_90a"),
             "ptxas assembles what are many");
  unlink(f->log);
  check_call(load_some(d, 2, true) && !logged(f, "ptxas"), "and is not asked again");
  check_call(load_some(d, 1, true) && !logged(f, "ptxas"), "one finds what many left");
  write_ptxas(f, "echo nonsense >$out");
  check_call(load_some(d, 2, false) && logged(f, "ptxas"), "code that the driver refuses");
  write_ptxas(f, "exit 1 # it has no such target");
  check_call(load_some(d, 2, false) && logged(f, "ptxas"), "a ptxas that fails");
  setenv("NEREID_PTXAS", "", 1);
  unlink(f->log);
  check_call(load_some(d, 2, false) && !logged(f, "ptxas") && logged(f, "module"), "no ptxas");
  nereid_device_close(d);
}

int main(void) {
  Fake f;
  if (temp_new(&f.folder)) abort();
  temp_name(f.log, sizeof f.log, &f.folder, "log");
  setenv("FAKE_CUDA_LOG", f.log, 1);
  setenv("NEREID_CACHE_DIR", f.folder.path, 1);
  setenv("NEREID_PTXAS", "", 1);
  if (build(&f, "fake.so", "-DWITH_ALL") && build(&f, "old.so", "-DWITHOUT_LAUNCH") &&
      build(&f, "plain.so", "-DWITHOUT_LAUNCH_EX")) {
    test_opening(&f);
    test_memory(&f);
    test_upload(&f);
    test_launch(&f);
    test_old_launch(&f);
    test_even(&f);
    test_limits(&f);
    test_maps(&f);
    test_strides(&f);
    test_deep(&f);
    test_loops(&f);
  test_image(&f);
    test_run(&f);
    test_fork(&f);
    test_run_scratch(&f, "", true);
    test_run_scratch(&f, "pools=0", false);
    test_many(&f);
    test_cubin(&f);
    test_spills(&f);
    test_assembler(&f);
  } else {
    printf("1 skipped: no C compiler for tests/support/fake_cuda.c\n");
  }
  temp_free(&f.folder);
  return report();
}
