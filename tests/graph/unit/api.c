/* The C API of graphs: from text to outputs, stages that read back, inputs that a model writes to,
 * and its messages. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "model/nereid_graph.h"
#include "tests/support/tally.h"

static const char ADD[] =
    "class GraphModule(torch.nn.Module):\n"
    "    def forward(self, p_w: \"f32[4]\", x: \"f32[s0, 4]\"):\n"
    "        add_: \"f32[s0, 4]\" = torch.ops.aten.add_.Tensor(x, p_w)\n"
    "        mul: \"f32[s0, 4]\" = torch.ops.aten.mul.Tensor(add_, 2.0)\n"
    "        return (mul, add_)\n";

static nereid_graph *open_text(const char *text, const char *weights) {
  nereid_graph *g;
  nereid_graph_source s = {.path = "g.py", .data = text, .size = strlen(text), .weights = weights};
  if (nereid_graph_open(&g, &s, NULL, NULL)) return NULL;
  return g;
}

static nereid_device *open_device(const char *name) {
  nereid_device *d;
  check_got(!nereid_device_open(&d, name), name, nereid_error_message());
  return d;
}

static nereid_tensor floats(float *data, int ndim, int64_t *shape) {
  return (nereid_tensor){
      .data = data, .device = {1, 0}, .ndim = ndim, .dtype = {2, 32, 1}, .shape = shape};
}

/* ---- running ---- */

static void examine(nereid_executable *e) {
  nereid_graph_value v;
  check_got(nereid_executable_ninputs(e) == 2 && nereid_executable_noutputs(e) == 2, "counts", "");
  check_got(!nereid_executable_input(&v, e, 1) && !strcmp(v.type, "f32[s0, 4]") && v.ndim == 2,
            "an input's type", v.type ? v.type : "");
  check_got(!strcmp(v.name, "x") && v.dl_dtype.code == 2 && v.dl_dtype.bits == 32, "its name",
            v.name);
  check_got(
      nereid_executable_output(&v, e, 2) == NEREID_E_USAGE && !v.name &&
          !strcmp(nereid_error_message(), "there is no output 2; the model has 2, counted from 0"),
      "no such output", nereid_error_message());
  int64_t shape[2] = {0, 0};
  check_got(!nereid_executable_input_shape(shape, e, NULL, 0, 1) && shape[0] == 16 && shape[1] == 4,
            "a chosen shape", nereid_error_message());
}

static void run_rows(nereid_executable *e, int64_t rows) {
  float w[] = {1, 2, 3, 4}, x[64], out[64];
  for (int i = 0; i < 64; i++) x[i] = (float)i;
  int64_t ws[] = {4}, xs[] = {rows, 4};
  nereid_tensor in[] = {floats(w, 1, ws), floats(x, 2, xs)}, results[2];
  check_got(!nereid_executable_prepare(e, in, 2, results, 2) && results[0].shape[0] == rows &&
                !results[0].data,
            "shapes of outputs", nereid_error_message());
  results[0].data = out;
  check_got(!nereid_executable_run(e, in, 2, results, 2, NULL), "a run", nereid_error_message());
  const float *second = results[1].data;
  bool right = second != NULL;
  for (int i = 0; i < rows * 4 && right; i++) {
    float sum = (float)i + w[i % 4];
    right = x[i] == sum && out[i] == 2 * sum && second[i] == sum;
  }
  check_got(right, "outputs, and the input that the model writes to", "");
}

/* ---- writing a part of an input ---- */

static const char CACHE[] =
    "class GraphModule(torch.nn.Module):\n"
    "    def forward(self, c: \"f32[2, s0, 4]\", v: \"f32[2, 2, 4]\", p: \"i64[2]\"):\n"
    "        old = torch.ops.aten.mul.Tensor(c, 2.0)\n"
    "        new = torch.ops.aten.index_copy_.default(c, 1, p, v)\n"
    "        sum_1 = torch.ops.aten.sum.dim_IntList(new, [1])\n"
    "        return (old, sum_1)\n";

/* Rows first and second of c get those of v; of the same row twice it has the second. */
static void run_cache(nereid_executable *e, int64_t rows, int64_t first, int64_t second) {
  float c[64], v[16], want[64], old[64], sum[8], sums[8] = {0};
  int64_t p[] = {first, second}, cs[] = {2, rows, 4}, vs[] = {2, 2, 4}, ps[] = {2};
  int64_t ss[] = {2, 4};
  for (int i = 0; i < 64; i++) c[i] = want[i] = (float)i;
  for (int i = 0; i < 16; i++) v[i] = (float)(100 + i);
  for (int b = 0; b < 2; b++)
    for (int i = 0; i < 8; i++) want[(b * rows + p[i / 4]) * 4 + i % 4] = v[b * 8 + i];
  for (int i = 0; i < 8 * rows; i++) sums[i / (4 * rows) * 4 + i % 4] += want[i];
  nereid_tensor in[] = {floats(c, 3, cs),
                        floats(v, 3, vs),
                        {.data = p, .device = {1, 0}, .ndim = 1, .dtype = {0, 64, 1}, .shape = ps}};
  nereid_tensor out[] = {floats(old, 3, cs), floats(sum, 2, ss)};
  check_got(!nereid_executable_run(e, in, 3, out, 2, NULL), "a run", nereid_error_message());
  check_got(!memcmp(c, want, sizeof c), "the rows of the input that are written", "");
  bool right = true;
  for (int i = 0; i < 8 * rows; i++) right &= old[i] == 2 * (float)i;
  check_got(right, "what was read before", "");
  check_got(!memcmp(sum, sums, sizeof sum), "what is read after", "");
}

static void run_caches(const char *device, const char *mode) {
  nereid_graph *g = open_text(CACHE, NULL);
  nereid_device *d = open_device(device);
  nereid_executable *e;
  char *text = NULL;
  size_t size;
  const nereid_graph_options o = {.mode = mode};
  check_got(g && !nereid_executable_new(&e, g, d, &o), "compiling", nereid_error_message());
  run_cache(e, 5, 1, 3);
  run_cache(e, 5, 2, 2);
  run_cache(e, 8, 7, 0);
  nereid_executable_free(e);
  check_got(!nereid_graph_emit(&text, &size, g, &o, NEREID_GRAPH_PLAN) && !strstr(text, "\nupdate"),
            "no copy of the whole input", text ? text : nereid_error_message());
  nereid_text_free(text);
  nereid_graph_free(g);
  nereid_device_close(d);
}

static void explain(nereid_executable *e, const char *mode) {
  float w[4] = {0}, x[8] = {0};
  int64_t ws[] = {4}, xs[] = {2, 4};
  nereid_tensor in[] = {floats(w, 1, ws), floats(x, 2, xs)}, out[2] = {0};
  char *text = NULL, want[64];
  size_t size;
  check_got(
      !nereid_executable_explain(&text, &size, e, in, 2, out, 2, NULL) && strlen(text) == size,
      "a table", nereid_error_message());
  snprintf(want, sizeof want, "mode %s", mode ? mode : "default");
  check_got(
      text && strstr(text, want) && strstr(text, "time us") && strstr(text, "sizes     s0 = 2"),
      "what the table has", text ? text : "");
  nereid_text_free(text);
  check_got(nereid_executable_explain(&text, &size, e, in, 1, out, 2, NULL) && !text,
            "an input is missing", "");
}

static void running(const char *device, const char *mode) {
  nereid_device *d = open_device(device);
  nereid_graph *g = open_text(ADD, NULL);
  nereid_graph_options o = {.mode = mode};
  nereid_executable *e = NULL, *other = NULL;
  check_got(g && !nereid_executable_new(&e, g, d, &o), "compiling", nereid_error_message());
  check_got(g && !nereid_executable_new(&other, g, d, NULL), "again", nereid_error_message());
  nereid_graph_free(g);
  if (e && other) {
    examine(e);
    run_rows(e, 3);
    run_rows(other, 16);
    run_rows(e, 16);
    run_rows(e, 2);
    explain(e, mode);
    nereid_executable_info info;
    nereid_executable_get_info(&info, e);
    check_got(info.inputs == 16 + 32 && info.outputs == 64, "what it takes", "");
    check_got(info.kernels > 0 && info.launches >= info.kernels, "kernels", "");
  }
  nereid_executable_free(e);
  nereid_executable_free(other);
  nereid_device_close(d);
}

static bool write_rules(char *path) {
  static const char text[] =
      "class minus:\n"
      "    def pattern(x, y):\n"
      "        return x + y\n"
      "    def replacement(x, y):\n"
      "        return x - -y\n";
  int fd = mkstemp(path);
  bool written = fd >= 0 && write(fd, text, sizeof text - 1) == sizeof text - 1;
  if (fd >= 0) close(fd);
  return written;
}

static void rules(void) {
  char path[] = "/tmp/nereid-rules-XXXXXX", *text = NULL;
  size_t size;
  check_got(write_rules(path), "a file of rules", path);
  const char *files[] = {path};
  nereid_graph *g = open_text(ADD, NULL);
  nereid_graph_options o = {
      .rewrites = files, .nrewrites = 1, .run_passes = "functionalize,simplify,rewrite"};
  int code = g ? nereid_graph_emit(&text, &size, g, &o, NEREID_GRAPH_TEXT) : -1;
  check_got(!code && strstr(text, "aten.sub.Tensor(") && strstr(text, "aten.neg.default("),
            "rules of the caller", code ? nereid_error_message() : text);
  nereid_text_free(text);
  nereid_graph_free(g);
  unlink(path);
}

/* No size in the ranges compiles anything. */
static void open_sizes(void) {
  static int64_t ids[3 * 40];
  nereid_device *d = open_device("interp");
  nereid_graph *g = NULL;
  nereid_graph_source s = {.path = "tests/models/dyn_gpt/model.pt2"};
  nereid_graph_range range = {.symbol = "s27", .lo = 2, .hi = 40};
  nereid_graph_options o = {.ranges = &range, .nranges = 1};
  nereid_executable *e = NULL;
  int code = nereid_graph_open(&g, &s, NULL, NULL);
  if (!code) code = nereid_executable_new(&e, g, d, &o);
  int kernels = 0;
  for (int64_t rows = 1; rows <= 3 && !code; rows++)
    for (int64_t n = 2; n <= 40 && !code; n += 7 * rows) {
      int64_t shape[] = {rows, n};
      nereid_tensor in = floats((float *)ids, 2, shape), out;
      in.dtype = (nereid_dl_dtype){0, 64, 1};
      nereid_executable_info info = {0};
      code = nereid_executable_prepare(e, &in, 1, &out, 1);
      if (!code) code = nereid_executable_get_info(&info, e);
      if (!kernels) kernels = info.kernels;
      check_got(!code && info.kernels == kernels && info.launches >= kernels, "kernels of a size",
                nereid_error_message());
    }
  int64_t shape[] = {1, 41};
  nereid_tensor in = floats((float *)ids, 2, shape), out;
  in.dtype = (nereid_dl_dtype){0, 64, 1};
  check_got(
      !code && nereid_executable_prepare(e, &in, 1, &out, 1) == NEREID_E_USAGE &&
          !strcmp(nereid_error_message(), "input 0 (ids): axis 1 is 41, but s27 is from 2 to 40"),
      "a size out of the range", nereid_error_message());
  nereid_executable_free(e);
  nereid_graph_free(g);
  nereid_device_close(d);
}

/* What a size is in most runs decides tiles and parts. */
static void likely_sizes(void) {
  static const char rows[] =
      "def forward(self, x: \"f32[s0, s1]\"):\n"
      "    y = torch.ops.aten._softmax.default(x, 1, False)\n"
      "    z = torch.ops.aten.sum.dim_IntList(x, [0])\n"
      "    return (y, z)\n";
  static const struct {
    int64_t rows, columns;
    const char *has, *lacks;
  } cases[] = {{0, 0, "RBLOCK: 2048", "RBLOCK: 256"},
               {4096, 200, "RBLOCK: 256", "RBLOCK: 2048"},
               {4096, 200, "z_sum", "RBLOCK: 4096"},
               {16, 200, "RBLOCK: 256", "z_sum"}};
  for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
    char *text = NULL;
    size_t size;
    nereid_graph_range ranges[] = {{"s0", 0, INT64_MAX, cases[i].rows},
                                   {"s1", 0, INT64_MAX, cases[i].columns}};
    nereid_graph_options o = {.ranges = ranges, .nranges = 2};
    nereid_graph *g = open_text(rows, NULL);
    int code = g ? nereid_graph_emit(&text, &size, g, &o, NEREID_GRAPH_PLAN) : -1;
    check_got(!code && strstr(text, cases[i].has) && !strstr(text, cases[i].lacks), cases[i].has,
              code ? nereid_error_message() : text);
    nereid_text_free(text);
    nereid_graph_free(g);
  }
}

/* ---- kernels that wait ---- */

static void check_refused(nereid_executable *e, nereid_tensor *in, int n, const char *message) {
  nereid_tensor out[2];
  check_got(nereid_executable_check(e, in, n, out, 2) == NEREID_E_USAGE &&
                !strcmp(nereid_error_message(), message),
            message, nereid_error_message());
  check_got(nereid_executable_run(e, in, n, out, 2, NULL) == NEREID_E_USAGE &&
                !strcmp(nereid_error_message(), message),
            "the same of a run", nereid_error_message());
}

/* Wrong inputs are refused while no kernel is compiled; right ones are described. */
static void deferred(const char *device) {
  float w[] = {1, 2, 3, 4}, x[8] = {0}, out0[8], out1[8];
  int64_t ws[] = {4}, xs[] = {2, 4}, wide[] = {2, 5};
  nereid_device *d = open_device(device);
  nereid_graph *g = open_text(ADD, NULL);
  nereid_graph_options o = {.defer_compile = 1};
  nereid_executable *e = NULL;
  nereid_executable_info info = {0};
  check_got(!nereid_executable_new(&e, g, d, &o), "a plan", nereid_error_message());
  nereid_tensor in[] = {floats(w, 1, ws), floats(x, 2, xs)}, out[2];
  check_refused(e, in, 1, "the model takes 2 inputs, not 1");
  in[1].shape = wide;
  check_refused(e, in, 2,
                "input 1 (x): axis 1 is 5, not 4, which is fixed in the file; export the model "
                "again with a dynamic size there");
  in[1] = floats(NULL, 2, xs);
  check_refused(e, in, 2, "input 1 (x) has no data");
  in[1] = floats(x, 2, xs);
  check_got(!nereid_executable_check(e, in, 2, out, 2) && out[1].shape[0] == 2 && !out[1].data,
            "outputs are described", nereid_error_message());
  check_got(!nereid_executable_get_info(&info, e) && info.kernels == 0, "nothing is compiled", "");
  out[0].data = out0, out[1].data = out1;
  check_got(!nereid_executable_run(e, in, 2, out, 2, NULL) && !nereid_device_sync(d) &&
                out1[7] == 4 && out0[7] == 8,
            "a run", nereid_error_message());
  nereid_executable_get_info(&info, e);
  check_got(info.kernels > 0, "kernels", "");
  nereid_executable_free(e);
  nereid_graph_free(g);
  nereid_device_close(d);
}

/* ---- stages ---- */

static char *emit(const char *text, nereid_graph_kind kind, const char *passes) {
  nereid_graph *g = open_text(text, NULL);
  nereid_graph_options o = {.run_passes = passes};
  char *out = NULL;
  size_t size;
  if (g && !nereid_graph_emit(&out, &size, g, &o, kind))
    check_got(strlen(out) == size, "the size of a text", out);
  nereid_graph_free(g);
  return out;
}

static bool reads_back(const char *text, nereid_graph_kind kind) {
  char *first = emit(text, kind, NULL), *second = first ? emit(first, kind, NULL) : NULL;
  bool same = second && !strcmp(first, second);
  nereid_text_free(first);
  nereid_text_free(second);
  return same;
}

static void stages(void) {
  check_got(reads_back(ADD, NEREID_GRAPH_TEXT), "the graph reads back", nereid_error_message());
  check_got(reads_back(ADD, NEREID_GRAPH_PLAN), "the plan reads back", nereid_error_message());
  char *kernels = emit(ADD, NEREID_GRAPH_KERNELS, NULL);
  check_got(kernels && strstr(kernels, "@triton.jit"), "kernels", nereid_error_message());
  char *table = emit(ADD, NEREID_GRAPH_EXPLAIN, NULL);
  check_got(table && strstr(table, "floor us") && !strstr(table, "time us"), "floors",
            table ? table : nereid_error_message());
  nereid_text_free(table);
  char *functional = emit(ADD, NEREID_GRAPH_TEXT, "functionalize");
  check_got(functional && strstr(functional, "aten.add.Tensor"), "a pass",
            functional ? functional : nereid_error_message());
  check_got(!emit(ADD, NEREID_GRAPH_TEXT, "functionalise") &&
                strstr(nereid_error_message(),
                       "unknown pass `functionalise`; passes are check_arguments, "),
            "an unknown pass", nereid_error_message());
  char *plan = emit(ADD, NEREID_GRAPH_PLAN, NULL);
  static const char ONLY[] = "the file is a plan, which does not contain its graph";
  check_got(plan && !emit(plan, NEREID_GRAPH_TEXT, NULL) && !strcmp(nereid_error_message(), ONLY),
            "no graph", nereid_error_message());
  check_got(
      plan && !emit(plan, NEREID_GRAPH_TEXT, "simplify") && !strcmp(nereid_error_message(), ONLY),
      "no graph for passes", nereid_error_message());
  nereid_text_free(kernels);
  nereid_text_free(functional);
  nereid_text_free(plan);
}

/* ---- messages ---- */

static void mode_fails(const char *mode, const char *message) {
  nereid_device *d = open_device("interp");
  nereid_graph *g = open_text(ADD, NULL);
  nereid_graph_options o = {.mode = mode};
  nereid_executable *e;
  int code = nereid_executable_new(&e, g, d, &o);
  check_got(code == NEREID_E_USAGE && !e && !strcmp(nereid_error_message(), message), message,
            nereid_error_message());
  nereid_graph_free(g);
  nereid_device_close(d);
}

static void on_message(void *context, const char *text) { *(char **)context = strdup(text); }

static void unsupported(void) {
  static const char TEXT[] =
      "def forward(self, x: \"f32[4]\"):\n"
      "    y: \"f32[4]\" = torch.ops.aten.frobnicate.default(x)\n"
      "    return (y,)\n";
  char *text = NULL, *printed;
  size_t size;
  nereid_graph_source s = {.path = "g.py", .data = TEXT, .size = sizeof TEXT - 1};
  nereid_graph *g;
  check_got(!nereid_graph_open(&g, &s, on_message, &text), "it is read", nereid_error_message());
  check_got(text && strstr(text, "unsupported operators: 1, in 1 node"), "it is told",
            text ? text : "");
  check_got(!nereid_graph_emit(&printed, &size, g, NULL, NEREID_GRAPH_TEXT), "it is printed",
            nereid_error_message());
  nereid_text_free(printed);
  check_got(nereid_graph_emit(&printed, &size, g, NULL, NEREID_GRAPH_PLAN) == NEREID_E_FILE &&
                text && !strcmp(text, nereid_error_message()),
            "it is not compiled", nereid_error_message());
  nereid_graph_free(g);
  free(text);
}

static void messages(void) {
  nereid_graph *g;
  nereid_graph_source none = {0}, gone = {.path = "no-such-file.pt2"};
  check_got(
      nereid_graph_open(&g, &none, NULL, NULL) == NEREID_E_USAGE && !g &&
          !strcmp(nereid_error_message(), "the source of a graph has neither a path nor data"),
      "no source", nereid_error_message());
  check_got(nereid_graph_open(&g, &gone, NULL, NULL) == NEREID_E_FILE &&
                strstr(nereid_error_message(), "no-such-file.pt2: No such file"),
            "no file", nereid_error_message());
  check_got(!open_text(ADD, "no-such-file.pt2") &&
                strstr(nereid_error_message(), "no-such-file.pt2: No such file"),
            "no weights", nereid_error_message());
  check_got(
      !open_text(ADD, "/dev/null") && !strcmp(nereid_error_message(),
                                              "/dev/null has no weights: name the file of the "
                                              "model that the graph was printed from (.pt2, "
                                              ".onnx), or of its tensors (.safetensors, .gguf)"),
      "weights of another kind", nereid_error_message());
  check_got(!open_text("def backward(): pass\n", NULL) &&
                strstr(nereid_error_message(), "g.py:1:1: error: the file is no model"),
            "no graph", nereid_error_message());
  check_got(!open_text("", NULL), "nothing", nereid_error_message());
  check_got(
      !open_text("plan P\n", NULL) && strstr(nereid_error_message(), "expected a line of a plan"),
      "no plan", nereid_error_message());
  check_got(!open_text("PK\3\4", NULL), "no archive", nereid_error_message());
  mode_fails(
      "eger",
      "unknown mode eger (did you mean eager?); modes are default, eager, reduce-overhead and "
      "max-autotune");
}

int main(void) {
  running("interp", NULL);
  running("interp", "eager");
  running("interp", "reduce-overhead");
  running("interp", "max-autotune");
  running("cpu", NULL);
  run_caches("interp", NULL);
  run_caches("interp", "eager");
  run_caches("cpu", NULL);
  open_sizes();
  likely_sizes();
  deferred("interp");
  deferred("cpu");
  rules();
  stages();
  unsupported();
  messages();
  return report();
}
