#include "model/report/dot.h"

#include <string.h>

#include "graph/ops/ops.h"

/* ---- nodes ---- */

/* "aten.add.Tensor" as "add". */
static void print_op_label(Text *out, const Node *n) {
  const char *dot = strchr(n->op->target, '.'), *name = dot ? dot + 1 : n->op->target;
  text_putn(out, name, strcspn(name, "."));
}

static void print_label(Text *out, const Node *n) {
  switch (n->kind) {
    case NODE_INPUT: text_puts(out, n->input.kind == INPUT_USER ? "input" : "weight"); break;
    case NODE_CALL: print_op_label(out, n); break;
    case NODE_GETITEM: text_puts(out, "getitem"); break;
    case NODE_OUTPUT: text_puts(out, "output"); break;
  }
}

static void print_dot_node(Text *out, const Node *n) {
  Arena *scratch = arena_child(out->arena);
  Text label = text_new(scratch);
  print_label(&label, n);
  if (n->kind != NODE_OUTPUT) text_printf(&label, "\n%s\n", n->name);
  value_type_print(&label, &n->type);
  text_printf(out, "  n%u [label=", n->id);
  text_quote(out, label.data);
  text_puts(out, n->kind == NODE_CALL ? "];\n" : ", shape=ellipse];\n");
  arena_free(scratch);
}

typedef struct {
  Text *out;
  const Node *user;
} Edges;

static void print_edge(Node **use, void *ctx) {
  const Edges *e = ctx;
  text_printf(e->out, "  n%u -> n%u;\n", (*use)->id, e->user->id);
}

/* ---- kernels ---- */

/* A node that several kernels compute is in the first one's box. */
static void print_kernel_box(Text *out, const PlanStep *s, uint32_t number, bool *printed) {
  text_printf(out,
              "  subgraph cluster_%u {\n  style=\"filled\"; color=\"#e8eef7\"; label=", number);
  text_quote(out, s->kernel);
  text_puts(out, ";\n");
  for (uint32_t i = 0; i < s->nnodes; i++) {
    if (printed[s->nodes[i]->id]) continue;
    printed[s->nodes[i]->id] = true;
    print_dot_node(out, s->nodes[i]);
  }
  text_puts(out, "  }\n");
}

void graph_print_dot(Text *out, const Graph *g, const Plan *p) {
  Arena *scratch = arena_child(g->arena);
  bool *printed = ARENA_ARRAY(scratch, bool, g->nids);
  text_puts(out,
            "digraph graph_ {\n  node [shape=box, style=filled, fillcolor=white, "
            "fontname=\"sans-serif\"];\n");
  for (uint32_t i = 0; p && i < p->nsteps; i++) print_kernel_box(out, &p->steps[i], i, printed);
  for (Node *n = g->first; n; n = n->next)
    if (!printed[n->id]) print_dot_node(out, n);
  for (Node *n = g->first; n; n = n->next) graph_each_use(n, print_edge, &(Edges){out, n});
  text_puts(out, "}\n");
  arena_free(scratch);
}
