/* What a caller can pass to a model and get from it, where text can't say it. */
#include "graph/compile.h"

#include <string.h>

#include "graph/infer.h"
#include "graph/text.h"
#include "tests/unit/tally.h"

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

int main(void) {
  refused(VALUE_NONE, NULL);
  refused(VALUE_FLOAT, "m.py:1:32: error: input n is neither a tensor nor an integer");
  refused(VALUE_BOOL, "export the model with a tensor in its place");
  refused(VALUE_INT,
          "input n is neither a tensor nor an integer; export the model with a tensor "
          "in its place");
  return report();
}
