/* Expansion of operators that write several tensors, or lists of them: the operator that computes
 * the values, whose last results are the new values of the written tensors, in the order of
 * parameters. */
#include "graph/expand/expansion.h"
#include "graph/messages.h"

static void write_tensor(Build *b, Node *to, Node *value) {
  DType from = value->type.dtype, t = to->type.dtype;
  if (dtype_is_float(from) && !dtype_is_float(t))
    infer_fail(&b->in, E_GRAPH_IN_PLACE, dtype_name(from), dtype_name(t));
  build_op2(b, OP_aten_copy__default, to, value);
}

static void write_param(Build *b, const OpParam *p, Node *value) {
  uint32_t n;
  if (p->type == PARAM_TENSOR) {
    write_tensor(b, build_input(b, p->name), value);
    return;
  }
  Node **to = build_inputs(b, p->name, &n);
  for (uint32_t i = 0; i < n; i++) write_tensor(b, to[i], build_item(b, value, i));
}

static uint32_t count_written(const OpSchema *s) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < s->nparams; i++) n += s->params[i].written;
  return n;
}

Node *expand_writes(Build *b) {
  const Node *n = b->in.n;
  const OpSchema *s = b->in.schema, *to = ops_schema(b->in.g, n->op->functional);
  Node *values = build_with_all(b, n->op->functional->id, n->nargs, n->args, n->nnamed, n->named);
  uint32_t own = to->nresults - count_written(s), at = own;
  for (uint32_t i = 0; i < s->nparams; i++) {
    if (!s->params[i].written) continue;
    write_param(b, &s->params[i], to->nresults == 1 ? values : build_item(b, values, at));
    at++;
  }
  if (s->nresults && !own) return build_self(b);
  b->nitems = own;
  b->items = ARENA_ARRAY(b->in.g->arena, Node *, own + 1);
  for (uint32_t i = 0; i < own; i++) b->items[i] = build_item(b, values, i);
  return NULL;
}
