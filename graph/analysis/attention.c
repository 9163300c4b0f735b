#include "graph/analysis/attention.h"

static bool width_fits(const Node *x) {
  Dim w = x->type.shape[x->type.rank - 1];
  return dim_is_int(w) && w->value >= 1 && w->value <= ATTENTION_WIDTH_MAX;
}

bool attention_fits(const Node *query, const Node *value) {
  DType t = query->type.dtype;
  bool dtype = t == DT_F32 || t == DT_F16 || t == DT_BF16;
  return dtype && width_fits(query) && width_fits(value);
}

static Dim given(Graph *g, const Node *n, const char *param) {
  Arg a = graph_arg(g, n, param);
  if (a.kind == ARG_NODE) return a.node->type.value;
  return a.kind == ARG_INT ? a.dim : NULL;
}

static double literal_value(const Arg *a) {
  return a->kind == ARG_FLOAT ? a->number : (double)a->dim->value;
}

Attention attention_of(Graph *g, const Node *n) {
  Arg mask = graph_arg(g, n, "mask"), scale = graph_arg(g, n, "scale");
  Attention x = {.query = graph_arg(g, n, "query").node,
                 .key = graph_arg(g, n, "key").node,
                 .value = graph_arg(g, n, "value").node,
                 .mask = mask.kind == ARG_NODE ? mask.node : NULL,
                 .scale = literal_value(&scale),
                 .low = given(g, n, "low"),
                 .high = given(g, n, "high"),
                 .splits = graph_arg(g, n, "splits").dim->value};
  const Dim *q = x.query->type.shape, *v = x.value->type.shape;
  x.batches = dim_mul(g->dims, q[0], q[1]);
  x.heads = q[1];
  x.rows = q[2];
  x.keys = v[2];
  x.width = q[3];
  x.columns = v[3];
  return x;
}

bool attention_reads(Graph *g, const Node *n, const Node *operand) {
  static const char *const read[] = {"query", "key", "value"};
  for (size_t i = 0; i < sizeof read / sizeof *read; i++)
    if (graph_arg(g, n, read[i]).node == operand) return true;
  return false;
}

void attention_operand_place(Graph *g, const Attention *x, Dim batch, Dim row, Dim column,
                             Dim *place) {
  Dim leading[] = {x->query->type.shape[0], x->heads};
  place_of_linear(g->dims, batch, leading, 2, place);
  place[2] = row;
  place[3] = column;
}

bool attention_limits_leave(Dims *d, Dim low, Dim high, Dim rows, Dim keys) {
  Dim zero = dim_int(d, 0);
  if (!dim_at_most(d, dim_int(d, 1), keys)) return false;
  if (high && !dim_at_most(d, zero, high)) return false;
  /* With a lower limit, the key at the row's own place must be there. */
  return !low || (dim_at_most(d, low, zero) && dim_at_most(d, rows, keys));
}

void attention_mask_place(Graph *g, const Attention *x, const Dim *at, Dim *place) {
  const ValueType *t = &x->mask->type;
  for (uint32_t i = 0; i < t->rank; i++)
    place[i] = dim_is(t->shape[i], 1) ? dim_int(g->dims, 0) : at[4 - t->rank + i];
}

void attention_result_place(Graph *g, const Attention *x, Dim split, Dim batch, Dim row, Dim column,
                            Dim *place) {
  Dim at[4];
  attention_operand_place(g, x, batch, row, column, at);
  if (split) *place++ = split;
  place[0] = at[0];
  place[1] = at[2];
  place[2] = at[1];
  place[3] = at[3];
}
