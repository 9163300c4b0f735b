/* What running a plan costs the host beside its launches: chains of small kernels on the CPU, as a
 * plan and as bare launches.  Medians over runs, in ns a run. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lang/base/strings.h"
#include "model/nereid_graph.h"

enum { ELEMENTS = 16, RUNS = 1000 };

#define KERNEL                                             \
  "import triton\n"                                        \
  "import triton.language as tl\n"                         \
  "@triton.jit\n"                                          \
  "def add(x_ptr, y_ptr, out_ptr, BLOCK: tl.constexpr):\n" \
  "    i = tl.arange(0, BLOCK)\n"                          \
  "    tl.store(out_ptr + i, tl.load(x_ptr + i) + tl.load(y_ptr + i))\n"

static void must(int code, const char *what) {
  if (!code) return;
  fprintf(stderr, "%s: %s\n", what, nereid_error_message());
  exit(1);
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

static double median(double *times) {
  qsort(times, RUNS, sizeof *times, by_size);
  return times[RUNS / 2];
}

/* t0 = x + x, t1 = t0 + x, ... */
static const char *plan_text(Arena *a, int steps) {
  Text t = text_new(a);
  text_puts(&t, "plan Chain\ninput %x 0 \"f32[16]\"\n");
  for (int i = 0; i < steps - 1; i++)
    text_printf(&t, "temporary %%t%d \"f32[16]\" %d..%d\n", i, i, i + 1);
  text_puts(&t, "output %out 0 \"f32[16]\"\nreturn %out\n");
  for (int i = 0; i < steps; i++) {
    text_printf(&t, "step add(x_ptr = %%%s", i ? "t" : "x");
    if (i) text_printf(&t, "%d", i - 1);
    text_puts(&t, ", y_ptr = %x, out_ptr = %");
    if (i < steps - 1) text_printf(&t, "t%d", i);
    else text_puts(&t, "out");
    text_puts(&t, ", BLOCK: 16) grid 1, 1, 1 warps 1 stages 1\n");
  }
  text_puts(&t, "source\n" KERNEL);
  return t.data;
}

static double time_plan(nereid_device *d, const char *text, const char *mode) {
  static _Alignas(16) float x[ELEMENTS], out[ELEMENTS];
  static double times[RUNS];
  int64_t shape[] = {ELEMENTS};
  nereid_tensor in = {.data = x, .device = {1, 0}, .ndim = 1, .dtype = {2, 32, 1}, .shape = shape};
  nereid_tensor result = in;
  result.data = out;
  nereid_graph_source s = {.path = "chain.plan", .data = text, .size = strlen(text)};
  nereid_graph_options o = {.mode = mode};
  nereid_graph *g;
  nereid_executable *e;
  must(nereid_graph_open(&g, &s, NULL, NULL), "reading the plan");
  must(nereid_executable_new(&e, g, d, &o), "compiling the plan");
  nereid_graph_free(g);
  for (int i = 0; i < RUNS; i++) {
    double start = now_ns();
    must(nereid_executable_run(e, &in, 1, &result, 1, NULL), "running the plan");
    times[i] = now_ns() - start;
    must(nereid_device_sync(d), "waiting");
  }
  nereid_executable_free(e);
  return median(times);
}

static double time_launches(nereid_device *d, int steps) {
  static _Alignas(16) float x[ELEMENTS], out[ELEMENTS];
  static double times[RUNS];
  nereid_source s = {.path = "add.py", .text = KERNEL, .size = sizeof KERNEL - 1};
  nereid_arg args[] = {{"x_ptr", "*f32:16", NULL},
                       {"y_ptr", "*f32:16", NULL},
                       {"out_ptr", "*f32:16", NULL},
                       {"BLOCK", NULL, "16"}};
  nereid_request r = {.source = s, .kernel = "add", .args = args, .nargs = 4, .num_warps = 1};
  nereid_image *image;
  nereid_kernel *k;
  nereid_launch *l;
  must(nereid_compile_for(&image, d, &r), "compiling the kernel");
  must(nereid_kernel_load(&k, d, image), "loading the kernel");
  must(nereid_launch_new(&l, k, (uint32_t[]){1, 1, 1}), "making the launch");
  nereid_launch_set_pointer(l, 0, x);
  nereid_launch_set_pointer(l, 1, x);
  nereid_launch_set_pointer(l, 2, out);
  for (int i = 0; i < RUNS; i++) {
    double start = now_ns();
    for (int j = 0; j < steps; j++) must(nereid_launch_run(l, NULL), "launching");
    times[i] = now_ns() - start;
  }
  nereid_launch_free(l);
  nereid_kernel_free(k);
  nereid_image_free(image);
  return median(times);
}

int main(void) {
  static const int lengths[] = {1, 20, 200};
  nereid_device *d;
  Arena *a = arena_new();
  must(nereid_device_open(&d, "cpu"), "opening the device");
  printf("| small kernels on the CPU | as launches, ns | as a plan, ns |\n| --- | --- | --- |\n");
  for (int i = 0; i < 3; i++)
    printf("| %d | %.0f | %.0f |\n", lengths[i], time_launches(d, lengths[i]),
           time_plan(d, plan_text(a, lengths[i]), NULL));
  nereid_device_close(d);
  arena_free(a);
}
