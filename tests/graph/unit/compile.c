/* What a caller can pass to a model and get from it, where text can't say it. */
#include "import/text/text_forms.h"
#include "planner/compile/compile_plan.h"

#include <stdlib.h>
#include <string.h>

#include "graph/ops/infer.h"
#include "model/api/model_api.h"
#include "tests/support/tally.h"

static const char MODEL[] =
    "def forward(self, x: \"f32[4]\", n: \"Sym(s0)\"):\n"
    "    mul: \"f32[4]\" = torch.ops.aten.mul.Tensor(x, 2.0)\n"
    "    return (mul,)\n";

/* Compiles the model with an input of another kind; the message has this in it. */
static void refused(ValueKind kind, const char *message) {
  Arena *a = arena_new();
  Pool *names = pool_new(a);
  Diags *d = diags_new(a);
  uint32_t file = diag_source(d, pool_name(names, "m.py"), MODEL, sizeof MODEL - 1);
  Graph *g = graph_read_text(a, names, d, file);
  CompileOptions options = {.fuse = true, .freeze = true};
  Plan plan;
  graph_find(g, pool_name(names, "n"))->type = (ValueType){.kind = kind};
  bool good = infer_graph(g) && graph_compile(g, &options, &plan);
  Text text = text_new(a);
  diag_print(d, &text);
  check_got(good == !message && (good || strstr(text.data, message)),
            message ? message : "compiles", text.data ? text.data : "");
  arena_free(a);
}

/* A plan within limits; the message has this in it, NULL: it is made. */
static void limited(ArenaUse limits, const char *message) {
  static const char model[] =
      "class M(torch.nn.Module):\n"
      "    def forward(self, x: \"f32[4]\"):\n"
      "        mul = torch.ops.aten.mul.Tensor(x, 2.0)\n"
      "        return (mul,)\n";
  nereid_graph_source s = {.path = "m.py", .data = model, .size = sizeof model - 1};
  CompileOptions o = {.target = TARGET_GPU, .fuse = true};
  Model *m;
  if (model_read(&m, &s)) abort();
  m->limits = limits;
  int code = model_plan(m, &o);
  check_got(message ? code == NEREID_E_RESOURCES && strstr(nereid_error_message(), message) : !code,
            message ? message : "within the limits", nereid_error_message());
  model_free(m);
}

int main(void) {
  limited((ArenaUse){.bytes = 1 << 24, .steps = 1000000}, NULL);
  limited((ArenaUse){.bytes = 1 << 24, .steps = 1000},
          "the plan of this model would take more than 0.001 million steps: it has too many nodes, "
          "split it into several");
  limited((ArenaUse){.bytes = 1 << 10, .steps = 1000000},
          "the plan of this model would take more than 0 MiB: it has too many nodes, split it into "
          "several");
  refused(VALUE_NONE, NULL);
  refused(VALUE_FLOAT, "m.py:1:32: error: input n is neither a tensor nor an integer");
  refused(VALUE_BOOL, "export the model with a tensor in its place");
  refused(VALUE_INT,
          "input n is neither a tensor nor an integer; export the model with a tensor "
          "in its place");
  return report();
}
