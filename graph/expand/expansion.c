#include "graph/expand/expansion.h"

static const struct {
  ExpansionRule *rule;
} rows[OP_COUNT] = {
#define OP(library, name, overload, rule, schema, ...) \
  [OP_##library##_##name##_##overload] = {__VA_ARGS__},
#define EXPAND(name) .rule = expand_##name,
#include "graph/ops/op_table.def"
};

ExpansionRule *expansion_rule(const GraphOp *op) { return rows[ops_renamed(op)->id].rule; }

/* The nodes before n from that id on. */
static void remove_new(Graph *g, const Node *n, uint32_t first_new) {
  for (Node *x = n->prev; x && x->id >= first_new; x = n->prev) {
    graph_forget_name(g, x);
    graph_remove(g, x);
  }
}

static void set_type_of_built(Infer *in, const Build *b, const Node *by) {
  if (by) {
    in->result = by->type;
    return;
  }
  if (!in->schema->nresults) {
    infer_nothing(in);
    return;
  }
  ValueType *items = ARENA_ARRAY(in->g->arena, ValueType, b->nitems);
  for (uint32_t i = 0; i < b->nitems; i++) items[i] = b->items[i]->type;
  infer_set_list(in, b->nitems, items);
}

void infer_expansion(Infer *in) {
  uint32_t first_new = in->g->nids;
  Build b = build_at(in->g, in->n);
  if (setjmp(b.in.failed)) {
    remove_new(in->g, in->n, first_new);
    longjmp(in->failed, 1);
  }
  set_type_of_built(in, &b, expansion_rule(in->n->op)(&b));
  remove_new(in->g, in->n, first_new);
}
