/* Objects of the C API are made and freed again and again: afterwards the process has the memory,
 * the mappings and the descriptors that it had before. */
#include <dirent.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/nereid_graph.h"
#include "tests/support/tally.h"

enum { WARM = 8, MANY = 500, FEW = 60 };
enum { OTHERS = 1024 }; /* bytes for each of MANY, that caches of SQLite and threads may take */

static const char MODEL[] =
    "class GraphModule(torch.nn.Module):\n"
    "    def forward(self, p_w: \"f32[4, 4]\", x: \"f32[s0, 4]\"):\n"
    "        mm: \"f32[s0, 4]\" = torch.ops.aten.mm.default(x, p_w)\n"
    "        sin: \"f32[s0, 4]\" = torch.ops.aten.sin.default(mm)\n"
    "        return (sin,)\n";

static const char KERNEL[] =
    "import triton\n"
    "import triton.language as tl\n"
    "@triton.jit\n"
    "def scale(x, n, N: tl.constexpr):\n"
    "    i = tl.arange(0, N)\n"
    "    tl.store(x + i, tl.load(x + i, mask=i < n) * 2, mask=i < n)\n";

/* ---- what the process has ---- */

typedef struct {
  size_t bytes; /* that malloc gave */
  int mappings, descriptors;
} Held;

static int count_mappings(void) {
  FILE *maps = fopen("/proc/self/maps", "r");
  int n = 0;
  if (!maps) return 0;
  for (int c; (c = fgetc(maps)) != EOF;) n += c == '\n';
  fclose(maps);
  return n;
}

static int count_descriptors(void) {
  DIR *folder = opendir("/proc/self/fd");
  int n = 0;
  if (!folder) return 0;
  while (readdir(folder)) n++;
  closedir(folder);
  return n;
}

static Held held(void) {
  malloc_trim(0);
  struct mallinfo2 m = mallinfo2();
  return (Held){m.uordblks + m.hblkhd, count_mappings(), count_descriptors()};
}

/* ---- what is made and freed ---- */

typedef int Round(nereid_device *d);

static nereid_tensor floats(float *data, int ndim, int64_t *shape) {
  return (nereid_tensor){
      .data = data, .device = {1, 0}, .ndim = ndim, .dtype = {2, 32, 1}, .shape = shape};
}

static int run_model(nereid_executable *e) {
  static _Alignas(16) float w[16] = {1}, x[12], out[12];
  static int64_t square[] = {4, 4}, rows[] = {3, 4};
  nereid_tensor in[] = {floats(w, 2, square), floats(x, 2, rows)};
  nereid_tensor result = floats(out, 2, rows);
  nereid_session *s = NULL;
  int code = nereid_executable_run(e, in, 2, &result, 1, NULL);
  if (!code) code = nereid_session_new(&s, e);
  if (!code) code = nereid_session_run(s, in, 2, &result, 1, NULL);
  nereid_session_free(s);
  return code;
}

static int open_model(nereid_graph **g) {
  nereid_graph_source s = {.data = MODEL, .size = sizeof MODEL - 1};
  return nereid_graph_open(g, &s, NULL, NULL);
}

static int model(nereid_device *d) {
  nereid_graph *g = NULL;
  nereid_executable *e = NULL;
  int code = open_model(&g);
  if (!code) code = nereid_executable_new(&e, g, d, NULL);
  if (!code) code = run_model(e);
  nereid_executable_free(e);
  nereid_graph_free(g);
  return code;
}

static int model_as_bytes(nereid_device *d) {
  nereid_graph *g = NULL;
  nereid_executable *e = NULL, *again = NULL;
  nereid_executable_source from = {0};
  char *data = NULL;
  int code = open_model(&g);
  if (!code) code = nereid_executable_new(&e, g, d, &(nereid_graph_options){.keep = 1});
  if (!code) code = nereid_executable_bytes(&data, &from.size, e, NULL);
  from.data = data;
  if (!code) code = nereid_executable_from_bytes(&again, &from, d);
  if (!code) code = run_model(again);
  nereid_executable_free(again);
  nereid_executable_free(e);
  nereid_text_free(data);
  nereid_graph_free(g);
  return code;
}

static int model_that_is_refused(nereid_device *d) {
  static const char text[] =
      "class GraphModule(torch.nn.Module):\n"
      "    def forward(self, x: \"f32[4]\"):\n"
      "        y: \"f32[4]\" = torch.ops.aten.no_such_operator.default(x)\n"
      "        return (y,)\n";
  nereid_graph *g = NULL;
  nereid_executable *e = NULL;
  nereid_graph_source s = {.data = text, .size = sizeof text - 1};
  int code = nereid_graph_open(&g, &s, NULL, NULL);
  if (!code) code = nereid_executable_new(&e, g, d, NULL);
  nereid_executable_free(e);
  nereid_graph_free(g);
  return code ? 0 : -1;
}

static int device(nereid_device *like) {
  nereid_device_info info;
  nereid_device *d = NULL;
  int code = nereid_device_get_info(&info, like);
  if (!code) code = nereid_device_open(&d, info.name);
  if (!code) code = model(d);
  nereid_device_close(d);
  return code;
}

static int run_kernel(nereid_device *d, nereid_kernel *k) {
  static const float zeros[16];
  void *x = NULL;
  nereid_launch *l = NULL;
  int code = nereid_alloc(&x, d, sizeof zeros);
  if (!code) code = nereid_copy_in(d, x, zeros, sizeof zeros, NULL);
  if (!code) code = nereid_launch_new(&l, k, (uint32_t[]){1, 1, 1});
  if (!code) code = nereid_launch_set_pointer(l, 0, x);
  if (!code) code = nereid_launch_set_int(l, 1, 16);
  if (!code) code = nereid_launch_run(l, NULL);
  nereid_launch_free(l);
  nereid_free(d, x);
  return code;
}

static int kernel(nereid_device *d) {
  static const nereid_arg args[] = {{"x", "*fp32", 0}, {"n", "i32", 0}, {"N", 0, "16"}};
  const nereid_request r = {
      .source = {.text = KERNEL, .path = "scale.py"}, .args = args, .nargs = 3};
  nereid_image *image = NULL;
  nereid_kernel *k = NULL;
  int code = nereid_compile_for(&image, d, &r);
  if (!code) code = nereid_kernel_load(&k, d, image);
  if (!code) code = run_kernel(d, k);
  nereid_kernel_free(k);
  nereid_image_free(image);
  return code;
}

/* ---- the test ---- */

static void again_and_again(const char *what, Round *round, const char *name, int rounds) {
  nereid_device *d = NULL;
  char title[128];
  snprintf(title, sizeof title, "%s on %s", what, name);
  int code = nereid_device_open(&d, name);
  for (int i = 0; i < WARM && !code; i++) code = round(d);
  Held before = held();
  for (int i = 0; i < rounds && !code; i++) code = round(d);
  Held after = held();
  check_got(!code, title, nereid_error_message());
  char got[160];
  snprintf(got, sizeof got, "%zu bytes, %d mappings, %d descriptors; before it were %zu, %d, %d",
           after.bytes, after.mappings, after.descriptors, before.bytes, before.mappings,
           before.descriptors);
  bool same = after.mappings <= before.mappings + 2 && after.descriptors <= before.descriptors;
  check_got(same && after.bytes <= before.bytes + (size_t)OTHERS * MANY, title, got);
  nereid_device_close(d);
}

int main(void) {
  static const char *const devices[] = {"interp", "nest", "cpu"};
  for (int i = 0; i < 3; i++) {
    int rounds = i < 2 ? FEW : MANY;
    again_and_again("models", model, devices[i], rounds);
    again_and_again("kernels", kernel, devices[i], rounds);
    again_and_again("devices", device, devices[i], FEW);
  }
  again_and_again("models as bytes", model_as_bytes, "cpu", MANY);
  again_and_again("models that are refused", model_that_is_refused, "cpu", MANY);
  return report();
}
