/* Files of rewrite rules, applied to a graph; what comes out must have the types that it says. */
#include <string.h>

#include "graph/ops/graph_text.h"
#include "graph/ops/infer.h"
#include "import/text/text_forms.h"
#include "planner/passes.h"
#include "tests/fuzz/common/fuzz.h"

static const char *const corpus[] = {"tests/fuzz/rules/*", "planner/passes/rewrites/*.py", NULL};
static const char *const words[] = {"class a:\n    def pattern(x):\n        ",
                                    "    def replacement(x):\n        return ",
                                    "    def pattern_2(x, y: float):\n        ",
                                    "assert x.ndim == 2 and ",
                                    ": \"float[..., N, 4]\"",
                                    ": \"f32[D]\"",
                                    ": any",
                                    ": int",
                                    "aten.mul(",
                                    "aten.mul.Tensor(x, 2)",
                                    "torch.ops.aten.sum.dim_IntList(x, [-1], True)",
                                    "aten.relu(x)",
                                    "aten.chunk(x, 2)[1]",
                                    "cast(x)",
                                    "either(x, -x)",
                                    "x.shape[0]",
                                    "torch.float32",
                                    "x = x + x\n        ",
                                    "9223372036854775807",
                                    "1e308",
                                    "** 0.5",
                                    "// 0",
                                    "...",
                                    "None",
                                    "return ",
                                    NULL};

const FuzzTarget fuzz_target = {"rules", corpus, words, 8000, 1500};

static const char GRAPH[] =
    "def forward(self, x: \"f32[s0, 4]\", y: \"f32[4]\", z: \"f16[2, 3, 8, 8]\"):\n"
    "    a = torch.ops.aten.mul.Tensor(x, 3)\n"
    "    b = torch.ops.aten.add.Tensor(a, y)\n"
    "    c = torch.ops.aten.relu.default(b)\n"
    "    d = torch.ops.aten.sigmoid.default(c)\n"
    "    e = torch.ops.aten.mul.Tensor(c, d)\n"
    "    f = torch.ops.aten.neg.default(e)\n"
    "    l = torch.ops.aten.chunk.default(f, 2, 1)\n"
    "    g = l[0]\n"
    "    h = torch.ops.aten.sum.dim_IntList(g, [-1], True)\n"
    "    m = torch.ops.aten.pow.Tensor_Scalar(x, 2)\n"
    "    n = torch.ops.aten.mean.dim(m, [-1], True)\n"
    "    o = torch.ops.aten.add.Tensor(n, 1e-06)\n"
    "    p = torch.ops.aten.rsqrt.default(o)\n"
    "    q = torch.ops.aten.mul.Tensor(x, p)\n"
    "    r = torch.ops.aten.mul.Tensor(y, q)\n"
    "    k = torch.ops.aten.transpose.int(z, 2, 3)\n"
    "    s = torch.ops.aten.matmul.default(z, k)\n"
    "    t = torch.ops.aten.div.Tensor(s, 2.5)\n"
    "    u = torch.ops.aten.softmax.int(t, -1)\n"
    "    v = torch.ops.aten.matmul.default(u, z)\n"
    "    w = torch.ops.aten.to.dtype(v, torch.float32)\n"
    "    return (h, r, w)\n";

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  Arena *a = arena_new();
  Pool *names = pool_new(a);
  Diags *d = diags_new(a);
  uint32_t file = diag_source(d, pool_name(names, "graph.py"), GRAPH, sizeof GRAPH - 1);
  Graph *g = graph_read_text(a, names, d, file);
  if (!g || !infer_graph(g)) fuzz_fail("the graph of the target is none");
  const char *text = arena_strndup(a, (const char *)data, size);
  file = diag_source(d, pool_name(names, "rules.py"), text, strlen(text));
  vec_push(a, &g->rules, file);
  if (pass_rewrite(g) && !infer_graph(g)) {
    Text out = text_new(a);
    diag_print(d, &out);
    graph_print(&out, g);
    fuzz_fail("%s", out.data);
  }
  Text out = text_new(a);
  diag_print(d, &out);
  arena_free(a);
  return 0;
}
