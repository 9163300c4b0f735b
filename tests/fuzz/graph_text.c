/* Graphs and plans as text: read, run through all passes to a plan, and printed and read again
 * after each. */
#include <string.h>

#include "graph/ops/graph_text.h"
#include "graph/ops/infer.h"
#include "import/text/text_forms.h"
#include "planner/compile/compile_plan.h"
#include "planner/passes.h"
#include "planner/plan/plan.h"
#include "tests/fuzz/common/fuzz.h"
#include "tests/fuzz/common/pipeline.h"

static const char *const corpus[] = {"tests/fuzz/graph_text/*",   "tests/graph/passes/*/*.py",
                                     "tests/graph/calls/*.py",    "tests/models/*/readable.txt",
                                     "tests/graph/commands/*.py", NULL};
static const char *const words[] = {": \"f32[s0, 4]\"",
                                    ": \"i64[2]\"",
                                    ": \"b8[]\"",
                                    ": \"bf16[8, 1, s1//2]\"",
                                    ": \"Sym(s0 + 1)\"",
                                    "torch.ops.aten.add.Tensor(",
                                    "torch.ops.aten.reshape.default(x, [-1])",
                                    "torch.ops.aten.permute.default(x, [1, 0])",
                                    "torch.ops.aten.slice.Tensor(x, 0, 1, 9223372036854775807)",
                                    "torch.ops.aten.cat.default([x, x], 1)",
                                    "torch.ops.aten.sum.dim_IntList(x, [-1], True)",
                                    "torch.ops.aten.softmax.int(x, -1)",
                                    "torch.ops.aten.mm.default(x, x)",
                                    "torch.ops.aten.convolution.default(",
                                    "torch.ops.aten.index.Tensor(x, [None, i])",
                                    "torch.ops.aten.copy_.default(",
                                    "torch.ops.aten.sym_size.int(x, 0)",
                                    ";  x = None",
                                    "dtype = torch.float16",
                                    "device = device(type='cuda', index=0)",
                                    "-9223372036854775808",
                                    "9223372036854775807",
                                    "1e400",
                                    "inf",
                                    "[0]",
                                    "(",
                                    ")",
                                    ", ",
                                    "None",
                                    "# File: a.py:1 in f, code: x",
                                    "def forward(self, x):",
                                    "return (x,)",
                                    "\n        ",
                                    "%x : [num_users=1] = placeholder[target=x]",
                                    "call_function[target=torch.ops.aten.relu.default]",
                                    "(args = (%x, 1), kwargs = {dim: 0})",
                                    "plan GraphModule\n",
                                    "step k0(x_ptr = %x) grid 1, 1, 1 warps 4 stages 1",
                                    "input %n 1 \"i64[]\" gives \"s0\"",
                                    "torch.ops.aten.to.dtype(x, torch.float32)",
                                    "temporary %t \"f32[4]\" 0..1 at 0",
                                    NULL};

const FuzzTarget fuzz_target = {"graph_text", corpus, words, 20000, 2000};

enum { MOST_TEXT = 1 << 18 }; /* longer ones are not read again */

/* ---- printed and read again ---- */

static Graph *read_graph(Arena *a, const Text *t, Diags *d) {
  Pool *names = pool_new(a);
  return graph_read_text(a, names, d, diag_source(d, pool_name(names, "printed"), t->data, t->len));
}

static void round_trip(Arena *a, const Graph *g, const char *after) {
  Text once = text_new(a), twice = text_new(a);
  Diags *d = diags_new(a);
  graph_print(&once, g);
  if (once.len > MOST_TEXT) return;
  const Graph *read = read_graph(a, &once, d);
  if (read) graph_print(&twice, read);
  else diag_print(d, &twice);
  if (!read || strcmp(once.data, twice.data))
    fuzz_fail("-- printed after %s\n%s\n-- read back\n%s", after, once.data, twice.data);
}

static void round_trip_plan(Arena *a, const Plan *p) {
  Text once = text_new(a), twice = text_new(a);
  Pool *names = pool_new(a);
  Diags *d = diags_new(a);
  plan_print(&once, p);
  if (once.len > MOST_TEXT) return;
  const Plan *read = plan_read(a, names, d, diag_source(d, "printed", once.data, once.len));
  if (read) plan_print(&twice, read);
  else diag_print(d, &twice);
  if (!read || strcmp(once.data, twice.data))
    fuzz_fail("-- printed\n%s\n-- read back\n%s", once.data, twice.data);
}

/* ---- one input ---- */

static bool run_passes(Arena *a, Graph *g) {
  PassList list = graph_passes();
  for (int i = 0; i < list.n; i++) {
    bool good = list.rows[i].run.on_graph(g);
    if (good == (diag_errors(g->diags) > 0))
      fuzz_fail("%s: %s", list.rows[i].name, good ? "errors, but it goes on" : "no message");
    if (!good) return false;
    round_trip(a, g, list.rows[i].name);
  }
  return true;
}

/* Types in another dtype are still those that inference gives. */
static bool retype(Arena *a, Graph *g, DType dtype) {
  if (dtype == DT_NONE) return true;
  bool good = graph_retype(g, dtype);
  if (good == (diag_errors(g->diags) > 0))
    fuzz_fail("retype: %s", good ? "errors, but it goes on" : "no message");
  if (!good) return false;
  if (!infer_graph(g)) {
    Text out = text_new(a);
    diag_print(g->diags, &out);
    fuzz_fail("types do not hold in %s: %s", dtype_name(dtype), out.data);
  }
  round_trip(a, g, "retype");
  return true;
}

static void compile(Arena *a, Graph *g, DType dtype) {
  if (!ops_all_known(g)) return;
  if (!infer_graph(g)) {
    if (!diag_errors(g->diags)) fuzz_fail("no types, and no word about it");
    return;
  }
  round_trip(a, g, "inference");
  if (!retype(a, g, dtype) || !run_passes(a, g)) return;
  Plan plan;
  CompileOptions options = {.target = TARGET_CPU, .fuse = true};
  bool planned = graph_compile(g, &options, &plan);
  if (!planned && !diag_errors(g->diags)) fuzz_fail("no plan, and no word about it");
  if (planned) round_trip_plan(a, &plan);
}

static void read_input(Arena *a, const uint8_t *data, size_t size) {
  const char *text = arena_strndup(a, (const char *)data, size);
  Pool *names = pool_new(a);
  Diags *d = diags_new(a);
  Text out = text_new(a);
  uint32_t file = diag_source(d, "fuzz.py", text, size);
  bool is_plan = plan_is_text(text, size);
  Plan *p = is_plan ? plan_read(a, names, d, file) : NULL;
  Graph *g = is_plan ? NULL : graph_read_text(a, names, d, file);
  if (!g && !p && !diag_errors(d)) fuzz_fail("nothing was read, and no word about it");
  if (p) round_trip_plan(a, p);
  if (g) round_trip(a, g, "reading");
  static const DType dtypes[] = {DT_NONE, DT_BF16, DT_F16, DT_F32};
  if (g) compile(a, g, dtypes[size % 4]);
  diag_print(d, &out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  fuzz_in_arena(read_input, data, size);
  return 0;
}
