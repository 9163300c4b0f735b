/* Running plans that are written by hand, on the reference interpreter and on the CPU: symbolic
 * sizes, weights, updates, outputs in the caller's memory and in ours, and each message. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/execute/execute_state.h"
#include "planner/plan/plan.h"
#include "runtime/support/array.h"
#include "tests/support/tally.h"

#define KERNELS                                               \
  "source\n"                                                  \
  "import triton\n"                                           \
  "import triton.language as tl\n"                            \
  "@triton.jit\n"                                             \
  "def add(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):\n" \
  "    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)\n"  \
  "    x = tl.load(x_ptr + i, mask=i < n)\n"                  \
  "    y = tl.load(y_ptr + i, mask=i < n)\n"                  \
  "    tl.store(out_ptr + i, x + y, mask=i < n)\n"            \
  "@triton.jit\n"                                             \
  "def scale(x_ptr, n, by, BLOCK: tl.constexpr):\n"           \
  "    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)\n"  \
  "    x = tl.load(x_ptr + i, mask=i < n)\n"                  \
  "    tl.store(x_ptr + i, x * by, mask=i < n)\n"

/* out = (x + w) + w, of 2*s0 elements; w becomes x + w. */
static const char SYMBOLIC[] =
    "plan Twice\n"
    "symbol s0 2..64\n"
    "input %x 0 \"f32[s0, 2]\"\n"
    "input %y 1 \"f32[2*s0]\"\n"
    "temporary %t \"f32[s0, 2]\" 0..1\n"
    "output %out 0 \"f32[2*s0]\"\n"
    "return %out, %y\n"
    "update %y = %out\n"
    "step add(x_ptr = %x, y_ptr = %y, out_ptr = %t, n = \"2*s0\", BLOCK: 16)"
    " grid \"(2*s0 + 15)//16\", 1, 1 warps 1 stages 1\n"
    "step add(x_ptr = %t, y_ptr = %y, out_ptr = %out, n = \"2*s0\", BLOCK: 16)"
    " grid \"(2*s0 + 15)//16\", 1, 1 warps 1 stages 1\n" KERNELS;

/* out = x + x; whether its rows begin at multiples of 16 decides s0. */
static const char ROWS[] =
    "plan Rows\n"
    "symbol s0 1..64\n"
    "input %x 0 \"f32[2, s0]\"\n"
    "output %out 0 \"f32[2, s0]\"\n"
    "return %out\n"
    "step add(x_ptr = %x, y_ptr = %x, out_ptr = %out, n = \"2*s0\", BLOCK: 16)"
    " grid \"(2*s0 + 15)//16\", 1, 1 warps 1 stages 1\n" KERNELS;

/* out = (x + w) * 0.5, with w in place and v, which the plan changes, copied. */
static const char WEIGHTS[] =
    "plan Weights\n"
    "input %x 0 \"f32[20]\"\n"
    "weight %p_w \"w\" \"f32[20]\"\n"
    "weight %b_v \"v\" \"f32[20]\"\n"
    "temporary %t \"f32[20]\" 0..1 at 0\n"
    "output %out 0 \"f32[20]\"\n"
    "pool 256\n"
    "return %out\n"
    "step add(x_ptr = %x, y_ptr = %p_w, out_ptr = %t, n = 20, BLOCK: 32)"
    " grid 1, 1, 1 warps 1 stages 1\n"
    "step scale(x_ptr = %b_v, n = 20, by = 0.5, BLOCK: 32) grid 1, 1, 1 warps 1 stages 1\n"
    "step add(x_ptr = %t, y_ptr = %b_v, out_ptr = %out, n = 20, BLOCK: 32)"
    " grid 1, 1, 1 warps 1 stages 1\n" KERNELS;

/* out = x + (w + w), the sum once: w is gone from the device after that, t shares the pool. */
static const char CONSTANT[] =
    "plan Constant\n"
    "input %x 0 \"f32[20]\"\n"
    "weight %p_w \"w\" \"f32[20]\"\n"
    "constant %c \"f32[20]\"\n"
    "temporary %t \"f32[20]\" 0..1 at 0\n"
    "output %out 0 \"f32[20]\"\n"
    "pool 256\n"
    "return %out\n"
    "once add(x_ptr = %p_w, y_ptr = %p_w, out_ptr = %t, n = 20, BLOCK: 32)"
    " grid 1, 1, 1 warps 1 stages 1\n"
    "once add(x_ptr = %t, y_ptr = %t, out_ptr = %c, n = 20, BLOCK: 32)"
    " grid 1, 1, 1 warps 1 stages 1\n"
    "once scale(x_ptr = %c, n = 20, by = 0.5, BLOCK: 32) grid 1, 1, 1 warps 1 stages 1\n"
    "step add(x_ptr = %x, y_ptr = %c, out_ptr = %out, n = 20, BLOCK: 32)"
    " grid 1, 1, 1 warps 1 stages 1\n" KERNELS;

/* ---- a plan on a device ---- */

typedef struct {
  Arena *arena;
  Pool *names;
  Diags *diags;
  Plan *plan;
  Weights *weights;
  nereid_device *device;
  Executable *e;
  ExecuteOptions options;
  int code;
} Case;

static Case open_plan(const char *device, const char *text) {
  Case c = {.arena = arena_new()};
  c.names = pool_new(c.arena);
  c.diags = diags_new(c.arena);
  c.weights = weights_new(c.arena);
  uint32_t file = diag_source(c.diags, pool_name(c.names, "p.plan"), text, strlen(text));
  c.plan = plan_read(c.arena, c.names, c.diags, file);
  if (nereid_device_open(&c.device, device)) check_got(false, device, nereid_error_message());
  return c;
}

static void start(Case *c) {
  Text t = text_new(c->arena);
  diag_print(c->diags, &t);
  c->code = c->plan ? 0 : error_set(NEREID_E_FILE, "%s", t.data);
  if (c->plan) c->code = executable_new(&c->e, c->plan, c->weights, c->device, &c->options);
}

static Case start_plan(const char *device, const char *text) {
  Case c = open_plan(device, text);
  start(&c);
  check_got(c.code == 0, "the plan is compiled", nereid_error_message());
  return c;
}

static void close_plan(Case *c) {
  executable_free(c->e);
  nereid_device_close(c->device);
  arena_free(c->arena);
}

static nereid_tensor tensor(void *data, int ndim, int64_t *shape) {
  return (nereid_tensor){.data = data,
                         .device = {1, 0},
                         .ndim = ndim,
                         .dtype = array_dl_dtype(DT_F32),
                         .shape = shape};
}

static int run_plan(Executable *e, const nereid_tensor *in, int n, nereid_tensor *out, int nout) {
  ExecutionCall c = {.inputs = in, .ninputs = n, .outputs = out, .noutputs = nout};
  return execution_run(executable_main(e), &c);
}

static void count(float *x, int n, float from) {
  for (int i = 0; i < n; i++) x[i] = from + (float)i;
}

/* ---- symbols ---- */

static void run_sizes(Case *c, int64_t rows) {
  _Alignas(16) float x[128], y[128], out[128];
  int64_t xs[] = {rows, 2}, ys[] = {2 * rows};
  int n = (int)rows * 2;
  count(x, n, 0);
  count(y, n, 1);
  nereid_tensor in[] = {tensor(x, 2, xs), tensor(y, 1, ys)};
  nereid_tensor results[] = {tensor(out, 1, ys), {0}};
  int code = run_plan(c->e, in, 2, results, 2);
  check_got(code == 0, "a run", nereid_error_message());
  bool right = true;
  for (int i = 0; i < n; i++) right &= out[i] == (float)(3 * i + 2) && y[i] == out[i];
  check_got(right, "outputs and the updated input", "");
  check_got(results[1].data == y && results[1].shape[0] == n, "an input that is returned", "");
}

static void symbols(const char *device) {
  Case c = start_plan(device, SYMBOLIC);
  if (!c.code) {
    run_sizes(&c, 5);
    run_sizes(&c, 64);
    run_sizes(&c, 2);
    run_sizes(&c, 2);
    ExecutionStatistics s = execution_statistics(executable_main(c.e));
    check_got(s.kernels == 1 && s.launches == 2, "one kernel for all sizes", "");
    check_got(s.pool == (strcmp(device, "cpu") ? 0 : 256) && s.temporaries == 16, "the pool", "");
    int64_t shape[2];
    check_got(!execution_input_shape(executable_main(c.e), NULL, 0, 1, shape) && shape[0] == 32,
              "a chosen size", "");
  }
  close_plan(&c);
}

/* A kernel has a variant for multiples of 16, and one for all sizes. */
static void variants(const char *device) {
  Case c = start_plan(device, ROWS);
  _Alignas(16) float x[128], out[128];
  int two = strcmp(device, "cpu") != 0;
  bool chosen = true, right = true;
  for (int64_t n = 1; n <= 64 && !c.code; n++) {
    int64_t shape[] = {2, n};
    count(x, (int)n * 2, 0);
    nereid_tensor in = tensor(x, 2, shape), result = tensor(out, 2, shape);
    c.code = run_plan(c.e, &in, 1, &result, 1);
    check_got(!c.code, "a run of a variant", nereid_error_message());
    const Start *l = &c.e->main->steps[0].launch->start;
    chosen &= c.code || l->chosen == &l->kernel->loaded[two && n * 2 % 16 != 0];
    for (int i = 0; i < 2 * n; i++) right &= out[i] == (float)(2 * i);
  }
  check_got(chosen, "the variant that is chosen", device);
  check_got(right, "what variants give", device);
  if (c.e)
    check_got(execution_statistics(executable_main(c.e)).kernels == 1, "one kernel for all rows",
              device);
  if (c.e)
    check_got(c.e->main->steps[0].kernel->kernel->nloaded == two + 1, "two variants", device);
  close_plan(&c);
}

/* A tensor that must be copied to be used: off its alignment, or strided. */
static void odd_tensors(void) {
  Case c = start_plan("cpu", SYMBOLIC);
  float x[64], y[16], out[16];
  int64_t xs[] = {4, 2}, strides[] = {8, 4}, ys[] = {8};
  count(x, 64, 0);
  count(y, 16, 0);
  char *odd = (char *)y;
  while ((uintptr_t)odd % 16 != 4) odd += 4;
  nereid_tensor in[] = {tensor(x, 2, xs), tensor(odd, 1, ys)}, results[] = {{0}, {0}};
  in[0].strides = strides;
  float first = *(float *)odd;
  int code = c.code ? c.code : run_plan(c.e, in, 2, results, 2);
  check_got(code == 0, "odd tensors", nereid_error_message());
  const float *got = results[0].data;
  bool right = code == 0;
  for (int i = 0; i < 8 && right; i++) right = got[i] == (float)(4 * i) + 2 * (first + (float)i);
  check_got(right, "a strided input", "");
  check_got(code == 0 && *(float *)odd == 2 * first, "an update written back", "");
  results[0] = tensor((char *)out + ((uintptr_t)out % 16 ? 0 : 4), 1, ys);
  code = code ? code : run_plan(c.e, in, 2, results, 2);
  check_got(code == 0 && *(float *)results[0].data == 4 * first, "an output off its alignment", "");
  in[0].strides = NULL;
  in[1].strides = (int64_t[]){2};
  code = run_plan(c.e, in, 2, results, 2);
  check_got(code == NEREID_E_USAGE &&
                strstr(nereid_error_message(),
                       "input 1 (y) is written by the model; pass a contiguous tensor"),
            "a strided input that is written", nereid_error_message());
  close_plan(&c);
}

/* No elements are in order with any strides. */
static void empty_tensors(void) {
  Case c = start_plan("cpu", "plan P\ninput %x 0 \"f32[s0, 3]\"\nreturn %x\nsource\n");
  int64_t empty[] = {0, 3}, some[] = {1, 3}, strides[] = {1, 2};
  float x[8] = {0};
  nereid_tensor in = tensor(x, 2, empty), out = tensor(x, 2, empty);
  in.strides = out.strides = strides;
  check_got(!run_plan(c.e, &in, 1, &out, 1), "no elements", nereid_error_message());
  in.shape = out.shape = some;
  check_got(run_plan(c.e, &in, 1, &out, 1) == NEREID_E_USAGE &&
                strstr(nereid_error_message(), "output 0 (x) is strided"),
            "a row", nereid_error_message());
  close_plan(&c);
}

/* ---- weights ---- */

static void add_weight(Case *c, const char *name, void *data, int64_t n) {
  Weight w = {.name = pool_name(c->names, name), .dtype = DT_F32, .rank = 1};
  w.shape = &n;
  w.strides = (int64_t[]){1};
  WeightBytes bytes = {data, (size_t)n * 4, w.name};
  check_got(weights_add(c->weights, c->diags, (Span){0}, w, 0, bytes) != NULL, "a weight", name);
}

static void weights(const char *device) {
  _Alignas(16) float w[20], v[20], x[20];
  int64_t shape[] = {20};
  count(w, 20, 100);
  count(v, 20, 0);
  count(x, 20, 0);
  Case c = open_plan(device, WEIGHTS);
  add_weight(&c, "w", w, 20);
  add_weight(&c, "v", v, 20);
  start(&c);
  nereid_tensor in = tensor(x, 1, shape), out = {0};
  for (int run = 1; run <= 2; run++) {
    out.data = NULL;
    int code = c.code ? c.code : run_plan(c.e, &in, 1, &out, 1);
    check_got(code == 0, "a run with weights", nereid_error_message());
    const float *got = out.data;
    check_got(!code && got[4] == 4 + 104 + 4.0F / (float)(1 << run),
              "weights keep what was written", "");
  }
  check_got(v[4] == 4, "the file stays as it is", "");
  ExecutionStatistics s = execution_statistics(executable_main(c.e));
  check_got(s.mapped == 80 && s.weights == 80, "what is mapped and what copied", "");
  close_plan(&c);
}

/* What runs once does so before the first run: weights may change behind that. */
static void constants(const char *device) {
  _Alignas(16) float w[20], x[20];
  int64_t shape[] = {20};
  count(w, 20, 100);
  count(x, 20, 0);
  Case c = open_plan(device, CONSTANT);
  add_weight(&c, "w", w, 20);
  start(&c);
  nereid_tensor in = tensor(x, 1, shape), out = {0};
  for (int run = 0; run < 2; run++) {
    out.data = NULL;
    int code = c.code ? c.code : run_plan(c.e, &in, 1, &out, 1);
    check_got(code == 0, "a run with constants", nereid_error_message());
    check_got(!code && ((float *)out.data)[4] == 4 + 2 * 104, "constants", device);
    count(w, 20, 0);
  }
  ExecutionStatistics s = execution_statistics(executable_main(c.e));
  check_got(s.launches == 1, "one step a run", device);
  check_got(s.mapped == 0 && s.weights == 80, "the constant stays, the weight goes", device);
  close_plan(&c);
}

/* ---- messages ---- */

static void fails_on(const char *device, const char *text, const char *part, const char *by,
                     const char *message) {
  Arena *a = arena_new();
  const char *at = strstr(text, part);
  Case c =
      open_plan(device, arena_printf(a, "%.*s%s%s", (int)(at - text), text, by, at + strlen(part)));
  _Alignas(16) static float v[64], w[64], x[64];
  add_weight(&c, "w", w, 20);
  add_weight(&c, "v", v, 20);
  start(&c);
  int64_t xs[] = {20};
  nereid_tensor in[] = {tensor(x, 1, xs), tensor(x, 1, xs)}, out = {0};
  if (!c.code) c.code = run_plan(c.e, in, 1, &out, 1);
  check_got(c.code != 0 && strstr(nereid_error_message(), message), message,
            nereid_error_message());
  close_plan(&c);
  arena_free(a);
}

static void fails(const char *text, const char *part, const char *by, const char *message) {
  fails_on("interp", text, part, by, message);
}

static void plan_messages(void) {
  fails(WEIGHTS, "\"w\"", "\"u\"",
        "the model needs tensor u, which no file gives: name one by --weights");
  fails(WEIGHTS, "\"v\" \"f32[20]\"", "\"v\" \"f32[21]\"",
        "tensor v does not fit parameter b_v of type f32[21]; export the model again");
  fails_on("cpu", WEIGHTS, "at 0", "at 240", "temporary t is outside of the plan's pool");
  fails_on("cpu", WEIGHTS, "at 0", "", "temporary t is outside of the plan's pool");
  fails_on("cpu", WEIGHTS, "pool 256", "pool 64", "temporary t is outside of the plan's pool");
  fails(WEIGHTS, "f32[20]\" 0..1 at 0\n", "f32[562949953421312]\" 0..1 at 0\n",
        "t is too large: its 1 axes have more than 2^48 bytes");
  fails(WEIGHTS, "out_ptr = %out", "out_ptr = %t", "no step of the plan writes out");
  fails(WEIGHTS, "out_ptr = %t", "out_ptr = %out", "no step of the plan writes t");
  fails(WEIGHTS, "grid 1,", "grid -1,",
        "kernel add: the grid's axis 0 is -1 for inputs of these shapes");
  fails(WEIGHTS, "n = 20", "n = \"20//(0*s1)\"", "a size in a plan");
  fails(WEIGHTS, "n = 20", "n = \"s1\"", "kernel add: n has no value for inputs of these shapes");
  fails(WEIGHTS, "f32[20]\" 0..1 at 0\n", "f32[s1]\" 0..1 at 0\n",
        "t: axis 0 is s1, which has no value for inputs of these shapes");
  fails(WEIGHTS, "step add", "step ad", "ad");
  fails(WEIGHTS, "return %out", "return %out, %x", "the model has 2 outputs, not 1");
}

static void message(Executable *e, nereid_tensor a, nereid_tensor b, int n, const char *wanted) {
  nereid_tensor in[] = {a, b}, out[2] = {{0}, {0}};
  int code = run_plan(e, in, n, out, 2);
  check_got(code == NEREID_E_USAGE && !strcmp(nereid_error_message(), wanted), wanted,
            nereid_error_message());
}

static void input_messages(void) {
  Case c = start_plan("interp", SYMBOLIC);
  _Alignas(16) float x[64] = {0};
  int64_t four[] = {4, 2}, wide[] = {4, 3}, one[] = {1, 2}, many[] = {65, 2}, eight[] = {8},
          nine[] = {9};
  nereid_tensor a = tensor(x, 2, four), b = tensor(x, 1, eight), bad = b;
  message(c.e, a, b, 1, "the model takes 2 inputs, not 1");
  message(c.e, a, a, 2, "input 1 (y) has 2 axes, not 1");
  message(c.e, tensor(x, 2, wide), b, 2,
          "input 0 (x): axis 1 is 3, not 2, which is fixed in the file; export the model again "
          "with a dynamic size there");
  message(c.e, tensor(x, 2, one), b, 2, "input 0 (x): axis 0 is 1, but s0 is from 2 to 64");
  message(c.e, tensor(x, 2, many), b, 2, "input 0 (x): axis 0 is 65, but s0 is from 2 to 64");
  message(c.e, a, tensor(x, 1, nine), 2,
          "input 1 (y): axis 0 is 9, but 2*s0 is 8, where s0 is 4 as axis 0 of input 0 (x) has it");
  bad.dtype = array_dl_dtype(DT_I64);
  message(c.e, a, bad, 2, "input 1 (y) is of dtype i64, not f32");
  bad = b;
  bad.device.device_type = 2;
  message(c.e, a, bad, 2, "input 1 (y) is in the memory of another device");
  message(c.e, a, tensor(NULL, 1, eight), 2, "input 1 (y) has no data");
  nereid_tensor in[] = {a, b}, out[] = {tensor(x, 2, four), {0}};
  run_plan(c.e, in, 2, out, 2);
  check_got(!strcmp(nereid_error_message(),
                    "output 0 (out) is f32[8]; the tensor for it has another dtype or shape"),
            "an output of another shape", nereid_error_message());
  out[0] = tensor(x, 1, eight);
  out[0].strides = (int64_t[]){2};
  run_plan(c.e, in, 2, out, 2);
  check_got(!strcmp(nereid_error_message(), "output 0 (out) is strided; pass a contiguous tensor"),
            "a strided output", nereid_error_message());
  close_plan(&c);
}

/* What decided a shape may be no other when the plan runs. */
static void fixed_inputs(void) {
  Case c = start_plan("interp",
                      "plan P\ninput %x 0 \"f32[s0]\"\ninput %n 1 \"i64[2]\" is (3, -1)\n"
                      "input %s 2 \"f32[s1]\" is (0.5)\nreturn %x\nsource\n");
  float x[4] = {0}, scale[2] = {0.5f, 0.5f};
  int64_t n[3] = {3, 0, -1}, one[] = {1}, two[] = {2}, step[] = {2};
  nereid_tensor ints = tensor(n, 1, two), out = {0};
  ints.dtype = array_dl_dtype(DT_I64);
  ints.strides = step;
  nereid_tensor in[] = {tensor(x, 1, two), ints, tensor(scale, 1, one)};
  check_got(!run_plan(c.e, in, 3, &out, 1), "the same values", nereid_error_message());
  const char *scale_wanted =
      "input 2 (s) determines shapes, and had another value when the model was read: read it again";
  const char *wanted =
      "input 1 (n) determines shapes, and had another value when the model was read: read it again";
  in[2].shape = two;
  check_got(run_plan(c.e, in, 3, &out, 1) && !strcmp(nereid_error_message(), scale_wanted),
            "another number of elements", nereid_error_message());
  in[2].shape = one;
  in[1].strides = NULL;
  check_got(run_plan(c.e, in, 3, &out, 1) && !strcmp(nereid_error_message(), wanted),
            "another value", nereid_error_message());
  close_plan(&c);
}

/* Symbols that two inputs have, and one that stands in an expression alone. */
static void symbol_messages(void) {
  static const char TEXT[] =
      "plan P\nsymbol s0 4..\ninput %x 0 \"f32[s0]\"\ninput %y 1 \"f32[s0]\"\n"
      "input %z 2 \"f32[3*s1 + 1]\"\nreturn %x\nsource\n";
  Case c = start_plan("interp", TEXT);
  float x[16] = {0};
  int64_t four[] = {4}, five[] = {5}, seven[] = {7};
  nereid_tensor out = {0};
  nereid_tensor in[] = {tensor(x, 1, five), tensor(x, 1, four), tensor(x, 1, seven)};
  run_plan(c.e, in, 3, &out, 1);
  check_got(!strcmp(nereid_error_message(),
                    "input 1 (y): axis 0 is 4, but s0 is 5 as axis 0 of input 0 (x) has it"),
            "two sizes of one symbol", nereid_error_message());
  in[1].shape = five;
  check_got(!run_plan(c.e, in, 3, &out, 1) && out.data == x, "3*s1 + 1 is 7",
            nereid_error_message());
  in[2].shape = five;
  run_plan(c.e, in, 3, &out, 1);
  check_got(!strcmp(nereid_error_message(), "input 2 (z): axis 0 is 5, but 3*s1 + 1 is 4"),
            "3*s1 + 1 is 5", nereid_error_message());
  in[0].shape = (int64_t[]){3};
  run_plan(c.e, in, 3, &out, 1);
  check_got(!strcmp(nereid_error_message(), "input 0 (x): axis 0 is 3, but s0 is at least 4"),
            "below the range", nereid_error_message());
  close_plan(&c);
}

static void too_large(void) {
  static const char TEXT[] =
      "plan P\ninput %x 0 \"f32[s0]\"\n"
      "temporary %a \"f32[70368744177664*s0]\" 0..0\n"
      "temporary %b \"f32[70368744177664*s0]\" 0..0\nreturn %x\nsource\n";
  Case c = start_plan("cpu", TEXT);
  float x[16] = {0};
  int64_t one[] = {1};
  nereid_tensor in = tensor(x, 1, one), out = {0};
  int code = run_plan(c.e, &in, 1, &out, 1);
  check_got(code == NEREID_E_MEMORY &&
                strstr(nereid_error_message(),
                       "the temporaries are too large: more than 2^48 bytes at once"),
            "temporaries past the limit", nereid_error_message());
  close_plan(&c);
}

/* Only on a GPU is there memory that the host can't read. */
static void strided_on_gpu(void) {
  if (nereid_device_count("cuda") == 0) return;
  Case c = start_plan("cuda", "plan P\ninput %x 0 \"f32[4]\"\nreturn %x\nsource\n");
  int64_t shape[] = {4}, strides[] = {2};
  void *data;
  nereid_alloc(&data, c.device, 64);
  nereid_tensor in = tensor(data, 1, shape), out = {0};
  in.device.device_type = 2;
  in.strides = strides;
  int code = run_plan(c.e, &in, 1, &out, 1);
  check_got(code == NEREID_E_USAGE &&
                strstr(nereid_error_message(),
                       "input 0 (x) is strided, which is read from host memory only; "
                       "pass a contiguous tensor"),
            "a strided input on a GPU", nereid_error_message());
  close_plan(&c);
}

int main(void) {
  symbols("interp");
  symbols("cpu");
  variants("interp");
  variants("cpu");
  odd_tensors();
  empty_tensors();
  weights("interp");
  weights("cpu");
  constants("interp");
  constants("cpu");
  plan_messages();
  input_messages();
  symbol_messages();
  fixed_inputs();
  too_large();
  strided_on_gpu();
  return report();
}
