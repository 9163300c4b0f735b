/* The verifiers of graphs and plans find what a wrong pass would leave. */
#include <string.h>

#include "graph/ops/infer.h"
#include "graph/ops/verify_graph.h"
#include "import/text/text_forms.h"
#include "planner/compile/compile_plan.h"
#include "planner/fuse/fuse.h"
#include "planner/passes.h"
#include "planner/plan/plan.h"
#include "tests/support/tally.h"

static const char source[] =
    "def forward(self, x: \"f32[8, 64]\", y: \"f32[64, 64]\"):\n"
    "    a = torch.ops.aten.mm.default(x, y)\n"
    "    b = torch.ops.aten.sum.dim_IntList(a, [1])\n"
    "    c = torch.ops.aten.mul.Tensor(b, 2)\n"
    "    d = torch.ops.aten.mm.default(a, y)\n"
    "    e = torch.ops.aten.sum.dim_IntList(d, [1])\n"
    "    return (c, e)\n";

static Graph *read(Arena *a) {
  Diags *d = diags_new(a);
  Graph *g = graph_read_text(a, pool_new(a), d, diag_source(d, "g.py", source, strlen(source)));
  check(g && infer_graph(g), "the graph is read");
  return g;
}

static Node *node(Graph *g, const char *name) { return graph_find(g, pool_name(g->names, name)); }

static void expect(const char *fault, const char *part) {
  check_got(fault && strstr(fault, part), part, fault ? fault : "no fault");
}

static void test_graphs(Arena *a) {
  Graph *g = read(a);
  check(!graph_fault(g->arena, g), "a graph has no fault");
  graph_move(g, node(g, "c"), node(g, "b"));
  expect(graph_fault(g->arena, g), "`c` uses `b`, which is not computed before it");
  g = read(a);
  graph_remove(g, node(g, "b"));
  expect(graph_fault(g->arena, g), "`c` uses");
  g = read(a);
  node(g, "c")->id = node(g, "b")->id;
  expect(graph_fault(g->arena, g), "`c` has no id of its own");
  g = read(a);
  node(g, "c")->type.dtype = DT_F16;
  expect(graph_fault(g->arena, g), "c");
  g = read(a);
  graph_forget_name(g, node(g, "d"));
  expect(graph_fault(g->arena, g), "`d` is not found by its name");
}

static Fusion *fused(Graph *g) {
  check(pass_decompose(g) && pass_insert_copies(g), "primitives");
  return fuse_graph(g, g->arena, &(FuseOptions){.together = true});
}

static void test_groups(Arena *a) {
  Graph *g = read(a);
  Fusion *f = fused(g);
  check(!fusion_fault(g->arena, f), "groups have no fault");
  check(f->groups.len >= 2, "there are several groups");
  f->stored[f->groups.data[0]->nodes.data[0]->id] = false;
  expect(fusion_fault(g->arena, f), "which is not in memory");
  f = fused(g = read(a));
  Group *first = f->groups.data[0];
  f->groups.data[0] = f->groups.data[1];
  f->groups.data[1] = first;
  expect(fusion_fault(g->arena, f), "group 0 has number 1");
  f = fused(g = read(a));
  f->groups.data[0]->nodes.len = 0;
  expect(fusion_fault(g->arena, f), "is missing in its group");
}

static void test_plans(Arena *a) {
  Graph *g = read(a);
  Plan p;
  check(graph_compile(g, &(CompileOptions){.target = TARGET_GPU, .fuse = true}, &p), "a plan");
  check(!plan_fault(g->arena, &p, true), "a plan has no fault");
  uint32_t n = 0, temporary[2] = {0};
  for (uint32_t i = 0; i < p.nbuffers && n < 2; i++)
    if (p.buffers[i].kind == BUFFER_TEMPORARY) temporary[n++] = i;
  check(n > 0, "it has a temporary");
  PlanBuffer *b = &p.buffers[temporary[0]], kept = *b;
  b->last = b->first;
  expect(plan_fault(g->arena, &p, true), "which is dead");
  *b = kept;
  b->offset = dim_int(g->dims, 1 << 20);
  expect(plan_fault(g->arena, &p, true), "ends after the pool");
  *b = kept;
  Name own = p.functions[1].kernel;
  p.functions[1].kernel = p.functions[0].kernel;
  expect(plan_fault(g->arena, &p, true), "two functions are");
  p.functions[1].kernel = own;
  p.steps[0].args[0].buffer = p.nbuffers;
  expect(plan_fault(g->arena, &p, true), "has no buffer for");
}

int main(void) {
  Arena *a = arena_new();
  test_graphs(a);
  test_groups(a);
  test_plans(a);
  arena_free(a);
  return report();
}
