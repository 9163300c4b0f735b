/* Device cuda against a fake driver: errors, what a launch hands over, and the cache. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/device.h"
#include "runtime/tool.h"

static int passed, failed;

static void check(bool ok, const char *name) {
  if (ok) passed++;
  else failed++, printf("FAIL %s (last message: %s)\n", name, nereid_error_message());
}

/* The call failed so, and its message has these words. */
static void check_error(int got, int code, const char *words, const char *name) {
  check(got == code && strstr(nereid_error_message(), words), name);
}

/* ---- the fake driver ---- */

typedef struct {
  TempFolder folder;
  char log[TOOL_PATH + 64];
} Fake;

static bool build(const Fake *f, const char *name, const char *define) {
  char cc[TOOL_PATH], options[TOOL_PATH], out[TOOL_PATH + 64], output[4096];
  if (!tool_find_cc(cc, options)) return false;
  temp_name(out, sizeof out, &f->folder, name);
  const char *argv[] = {cc, "-shared", "-fPIC", "-O1", define, "-o", out,
                        "tests/runtime/fake_cuda.c", NULL};
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

static const char PTX[] = ".visible .entry k(.param .u64 x, .param .u32 n, .param .f32 s,"
                          " .param .u64 extra) { ret; }";

static nereid_image *make_image(int threads, int64_t shared) {
  ImageParam params[] = {{"x", type_ptr(DT_F32), true},
                         {"n", type_scalar(DT_I32), false},
                         {"s", type_scalar(DT_BF16), false}};
  IntExpr guards[] = {{"x % 16 == 0", NULL, 0}, {"n > 1", NULL, 0}};
  ImageSlot slots[] = {{SLOT_ARG, 0, {0}}, {SLOT_ARG, 1, {0}}, {SLOT_ARG, 2, {0}},
                       {SLOT_VALUE, 0, {"n * 2 + grid_x", NULL, 0}}};
  ImageVariant v = {.target = "sm_80", .entry = "k", .kind = NEREID_PTX, .code = PTX,
                    .size = sizeof PTX - 1, .threads = threads, .shared = shared,
                    .guards = guards, .nguards = 2, .slots = slots, .nslots = 4};
  nereid_image *image;
  if (image_new(&image, "k", params, 3) || image_add_variant(image, &v, true)) abort();
  return image;
}

/* ---- tests ---- */

static void test_opening(const Fake *f) {
  nereid_device *d;
  nereid_device_info info;
  use(f, "missing.so", "");
  check_error(nereid_device_open(&d, "cuda"), NEREID_E_DEVICE, "no GPU driver", "no library");
  check(nereid_device_count("cuda") == 0, "count without a library");
  use(f, "old.so", "");
  check_error(nereid_device_open(&d, "cuda"), NEREID_E_DEVICE, "the GPU driver is too old",
              "a library without a function");
  use(f, "fake.so", "init=100");
  check_error(nereid_device_open(&d, "cuda"), NEREID_E_DEVICE, "no NVIDIA GPU", "no device");
  use(f, "fake.so", "devices=0");
  check_error(nereid_device_open(&d, "cuda"), NEREID_E_DEVICE, "no NVIDIA GPU", "zero devices");
  use(f, "fake.so", "devices=2");
  check(nereid_device_count("cuda") == 2, "count");
  check_error(nereid_device_open(&d, "cuda:2"), NEREID_E_DEVICE, "there is no device cuda:2",
              "a device past the last");
  check_error(nereid_device_open(&d, "cuda:x"), NEREID_E_USAGE, "unknown device `cuda:x`",
              "a device with a bad number");
  check_error(nereid_device_open(&d, "gpu"), NEREID_E_USAGE, "unknown device `gpu`", "a bad name");
  use(f, "fake.so", "sm=75");
  check_error(nereid_device_open(&d, "cuda"), NEREID_E_DEVICE, "is too old: 8.0 is the first",
              "an old device");
  static const struct {
    const char *settings, *target;
  } targets[] = {{"sm=80", "sm_80"}, {"sm=87", "sm_86"}, {"sm=89", "sm_89"}, {"sm=90", "sm_90a"}};
  for (int i = 0; i < 4; i++) {
    use(f, "fake.so", targets[i].settings);
    check(!nereid_device_open(&d, "cuda") && !nereid_device_get_info(&info, d) &&
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
  check(!nereid_alloc(&p, d, 4) && !nereid_copy_in(d, p, &in, 4, NULL) &&
            !nereid_copy_out(d, &out, p, 4, NULL) && out == 7,
        "copies");
  check(!nereid_fill(d, p, 1, 4, NULL) && !nereid_copy_out(d, &out, p, 4, NULL) &&
            out == 0x01010101,
        "fill");
  nereid_free(d, p);
  use(f, "fake.so", "alloc=2");
  check_error(nereid_alloc(&p, d, 64 << 20), NEREID_E_MEMORY,
              "out of memory on cuda:0: 64 MiB asked for, 3 MiB of 1024 MiB free", "no memory left");
  nereid_event *a, *b;
  double us = 0;
  check(!nereid_event_new(&a, d) && !nereid_event_new(&b, d) && !nereid_event_record(a, NULL) &&
            !nereid_event_record(b, NULL) && !nereid_event_elapsed_us(&us, a, b) && us == 1000,
        "events");
  nereid_event_free(a);
  nereid_event_free(b);
  nereid_device_close(d);
}

static void set_all(nereid_launch *l, uintptr_t x, int64_t n) {
  nereid_launch_set_pointer(l, 0, (void *)x);
  nereid_launch_set_int(l, 1, n);
  nereid_launch_set_float(l, 2, 1.0);
}

static void test_arguments(nereid_launch *l) {
  nereid_tensor t = {.dtype = {2, 32, 1}, .device = {1, 0}};
  check_error(nereid_launch_run(l, NULL), NEREID_E_USAGE, "argument x of kernel k has no value",
              "an argument is missing");
  check_error(nereid_launch_set_int(l, 1, 1LL << 31), NEREID_E_USAGE,
              "argument n: 2147483648 does not fit i32", "an integer too large");
  check_error(nereid_launch_set_int(l, 0, 1), NEREID_E_USAGE,
              "argument x is of type *f32, not an integer", "an integer for a pointer");
  check_error(nereid_launch_set_int(l, 3, 1), NEREID_E_USAGE, "there is no parameter number 3",
              "no such parameter");
  check_error(nereid_launch_set_tensor(l, 0, &t), NEREID_E_USAGE,
              "does not lie in the memory of cuda:0", "a tensor on the host");
  t = (nereid_tensor){.dtype = {2, 16, 1}, .device = {2, 0}};
  check_error(nereid_launch_set_tensor(l, 0, &t), NEREID_E_USAGE,
              "the tensor for x is not of dtype f32", "a tensor of another dtype");
  set_all(l, 0x1008, 5);
  check_error(nereid_launch_run(l, NULL), NEREID_E_USAGE,
              "compiled for arguments with x % 16 == 0, which does not hold", "a guard");
  uint32_t zero[3] = {1, 0, 1}, large[3] = {1, 65536, 1};
  check_error(nereid_launch_set_grid(l, zero), NEREID_E_USAGE, "this one is 1 x 0 x 1",
              "a grid of zero");
  nereid_launch_set_grid(l, large);
  set_all(l, 0x1000, 5);
  check_error(nereid_launch_run(l, NULL), NEREID_E_RESOURCES,
              "the grid's y extent 65536 is past the limit of cuda:0, 65535", "a large grid");
}

static void test_launch(const Fake *f) {
  nereid_device *d;
  nereid_kernel *k;
  nereid_launch *l;
  nereid_image *image = make_image(128, 100000);
  uint32_t grid[3] = {7, 2, 3};
  use(f, "fake.so", "");
  if (nereid_device_open(&d, "cuda")) abort();
  check(!nereid_kernel_load(&k, d, image) && logged(f, "link") && logged(f, "dynamic 100000"),
        "load");
  nereid_image_free(image);
  check(!nereid_launch_new(&l, k, grid), "new launch");
  test_arguments(l);
  nereid_launch_set_grid(l, grid);
  set_all(l, 0x1000, -3);
  check_error(nereid_launch_run(l, NULL), NEREID_E_USAGE, "n > 1", "a second guard");
  set_all(l, 0x1000, 5);
  check(!nereid_launch_run(l, NULL) &&
            logged(f, "launch 7 2 3 block 128 1 1 shared 100000 stream 0 extra 0 :"
                      " 1000 5 3f80 11\n"),
        "what a launch hands over");
  uint64_t args[] = {0x2000, 6, 0x4000};
  check(!nereid_launch_run_with(l, NULL, args, (uint32_t[]){1, 1, 1}) &&
            logged(f, "launch 1 1 1 block 128 1 1 shared 100000 stream 0 extra 0 :"
                      " 2000 6 4000 d\n"),
        "arguments from a table");
  nereid_timing t;
  check(!nereid_launch_time(&t, l, NULL, NULL) && t.median_us == 1000 && t.runs >= 5, "timing");
  use(f, "fake.so", "launch=701");
  check_error(nereid_launch_run(l, NULL), NEREID_E_RESOURCES, "use fewer warps", "out of resources");
  use(f, "fake.so", "sync=700");
  check_error(nereid_device_sync(d), NEREID_E_LOST,
              "CUDA_ERROR_ILLEGAL_ADDRESS (an illegal memory access was encountered)",
              "an illegal address");
  nereid_launch_free(l);
  nereid_kernel_free(k);
  nereid_device_close(d);
}

static void test_limits(const Fake *f) {
  nereid_device *d;
  nereid_kernel *k;
  nereid_launch *l;
  use(f, "fake.so", "shared=1000");
  if (nereid_device_open(&d, "cuda")) abort();
  nereid_image *image = make_image(2048, 0), *shared = make_image(32, 1001);
  check_error(nereid_kernel_load(&k, d, shared), NEREID_E_RESOURCES,
              "kernel k needs 1001 bytes of shared memory, Fake GPU 0 has 1000", "shared memory");
  check(!nereid_kernel_load(&k, d, image), "load from the cache");
  nereid_kernel_resources r;
  nereid_kernel_get_resources(&r, k);
  check(r.from_cache && !logged(f, "link"), "nothing is assembled twice");
  nereid_launch_new(&l, k, (uint32_t[]){1, 1, 1});
  set_all(l, 0, 5);
  check_error(nereid_launch_run(l, NULL), NEREID_E_RESOURCES,
              "kernel k needs 2048 threads a program, cuda:0 has at most 1024", "threads");
  nereid_launch_free(l);
  nereid_kernel_free(k);
  nereid_image_free(image);
  nereid_image_free(shared);
  nereid_device_close(d);
}

static void test_assembler(const Fake *f) {
  nereid_device *d;
  nereid_kernel *k;
  setenv("NEREID_CACHE_DIR", "", 1);
  use(f, "fake.so", "link=218");
  if (nereid_device_open(&d, "cuda")) abort();
  nereid_image *image = make_image(32, 0);
  check_error(nereid_kernel_load(&k, d, image), NEREID_E_TOOL,
              "assembling PTX: ptxas fatal: as you wished: ", "the assembler's log");
  use(f, "fake.so", "link=222");
  check_error(nereid_kernel_load(&k, d, image), NEREID_E_DEVICE, "older than the PTX", "old driver");
  nereid_image_free(image);
  nereid_device_close(d);
}

int main(void) {
  Fake f;
  if (temp_new(&f.folder)) abort();
  temp_name(f.log, sizeof f.log, &f.folder, "log");
  setenv("FAKE_CUDA_LOG", f.log, 1);
  setenv("NEREID_CACHE_DIR", f.folder.path, 1);
  if (build(&f, "fake.so", "-DWITH_ALL") && build(&f, "old.so", "-DWITHOUT_LAUNCH")) {
    test_opening(&f);
    test_memory(&f);
    test_launch(&f);
    test_limits(&f);
    test_assembler(&f);
  } else {
    printf("1 skipped: no C compiler for tests/runtime/fake_cuda.c\n");
  }
  temp_free(&f.folder);
  printf("%d passed, %d failed\n", passed, failed);
  return failed != 0;
}
