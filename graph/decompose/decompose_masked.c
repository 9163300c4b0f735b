/* Writing where a mask holds: index_put by a mask, masked_scatter, masked_fill.  Each is a choice
 * between two values of each element, so nothing is scattered. */
#include <string.h>

#include "graph/decompose/decompose.h"
#include "graph/decompose/scatter.h"

bool scatter_is_mask(const Node *index) {
  return index && (index->type.dtype == DT_I1 || index->type.dtype == DT_U8);
}

/* The numbers of the elements where a mask of one axis holds; each needs one of `count` values. */
static Node *number_values(Build *b, Node *mask, Dim count) {
  Node *number = scatter_number(b, mask);
  Arg none = build_int(b, -1); /* before the first */
  if (!b->in.g->unchecked) build_check_index(b, number, count, false, none, b->in.n->name);
  return number;
}

static Node *select_values(Build *b, Node *values, uint32_t axis, Node *mask) {
  Node *number = number_values(b, mask, values->type.shape[axis]);
  return build(b, OP_aten_index_select_default,
               ARGS(arg_node(values), build_int(b, axis), arg_node(number)));
}

/* ---- index_put ---- */

/* The axes `first` ... of the operand, which a mask covers; the values have one axis for them. */
typedef struct {
  Node *x, *mask, *values;
  uint32_t first;
} Covered;

/* How many values there are for the elements of the mask; 1: one for all of them. */
static Dim count_values(Build *b, const Covered *c) {
  uint32_t after = rank_of(c->x) - rank_of(c->mask) - c->first;
  const Node *v = c->values;
  return rank_of(v) > after ? v->type.shape[rank_of(v) - 1 - after] : build_const(b, 1);
}

/* `of`, which has one axis for those of the mask, of that size. */
static Node *expand_values(Build *b, const Covered *c, Node *of, Dim size) {
  Dim shape[GRAPH_RANK_MAX];
  uint32_t rank = rank_of(c->x) - rank_of(c->mask) + 1;
  for (uint32_t i = 0; i < rank; i++)
    shape[i] = c->x->type.shape[i < c->first ? i : i + rank_of(c->mask) - 1];
  shape[c->first] = size;
  return build_expand(b, of, rank, shape);
}

/* One axis of the values becomes those of the mask, all of size 1 if that is the axis's. */
static Node *split_axis(Build *b, const Covered *c, Node *values) {
  Dim shape[GRAPH_RANK_MAX];
  bool one = dim_is(values->type.shape[c->first], 1);
  memcpy(shape, c->x->type.shape, rank_of(c->x) * sizeof *shape);
  for (uint32_t i = 0; one && i < rank_of(c->mask); i++) shape[c->first + i] = build_const(b, 1);
  return build_view(b, values, rank_of(c->x), shape);
}

static bool find_covered(Build *b, Covered *c) {
  uint32_t n;
  Node **index = build_inputs(b, "indices", &n);
  *c = (Covered){.x = build_input(b, "self"), .values = build_input(b, "values")};
  for (uint32_t i = 0; i < n; i++) {
    if (!index[i]) continue;
    if (c->mask || !scatter_is_mask(index[i]) || !rank_of(index[i])) return false;
    c->mask = index[i];
    c->first = i;
  }
  return c->mask;
}

/* The mask in the shape of the operand. */
static Node *expand_mask(Build *b, const Covered *c) {
  Dim shape[GRAPH_RANK_MAX];
  uint32_t rank = rank_of(c->x) - c->first, covered = rank_of(c->mask);
  for (uint32_t i = 0; i < rank; i++)
    shape[i] = i < covered ? c->mask->type.shape[i] : build_const(b, 1);
  Node *mask = build_view(b, build_to(b, c->mask, DT_I1), rank, shape);
  return build_expand(b, mask, rank_of(c->x), c->x->type.shape);
}

static bool put_by_mask(Build *b, MaskedPut *out) {
  Covered c;
  if (!find_covered(b, &c)) return false;
  Dim count = count_values(b, &c);
  Node *chosen = scatter_flat(b, build_to(b, c.mask, DT_I1));
  out->mask = expand_mask(b, &c);
  out->values = c.x;
  if (dim_is(count, 0)) {
    number_values(b, chosen, count); /* which must choose nothing */
    return true;
  }
  Node *values = expand_values(b, &c, c.values, count);
  if (!dim_is(count, 1)) values = select_values(b, values, c.first, chosen);
  values = split_axis(b, &c, values);
  out->values = build_expand(b, values, rank_of(c.x), c.x->type.shape);
  return true;
}

Node *decompose_masked_put(Build *b) {
  MaskedPut p;
  if (!put_by_mask(b, &p)) return NULL;
  Node *x = build_input(b, "self");
  if (infer_bool(&b->in, "accumulate")) p.values = build_add(b, x, p.values);
  return build_where(b, p.mask, arg_node(p.values), arg_node(x));
}

/* ---- masked_scatter, masked_fill ---- */

/* Where the mask holds, the elements of source in their order. */
static bool scatter_by_mask(Build *b, MaskedPut *out) {
  Node *x = build_input(b, "self"), *source = scatter_flat(b, build_input(b, "source"));
  out->mask = build_expand(b, build_input(b, "mask"), rank_of(x), x->type.shape);
  Node *chosen = scatter_flat(b, out->mask);
  out->values = x;
  if (dim_is(source->type.shape[0], 0)) {
    number_values(b, chosen, source->type.shape[0]);
    return true;
  }
  Node *values = select_values(b, source, 0, chosen);
  out->values = build_view(b, values, rank_of(x), x->type.shape);
  return true;
}

Node *decompose_masked_scatter(Build *b) {
  MaskedPut p;
  scatter_by_mask(b, &p);
  return build_where(b, p.mask, arg_node(p.values), arg_node(build_input(b, "self")));
}

static bool fill_by_mask(Build *b, MaskedPut *out) {
  Node *x = build_input(b, "self");
  const ValueType *t = &b->in.n->type;
  if (t->rank != rank_of(x) || memcmp(t->shape, x->type.shape, t->rank * sizeof *t->shape))
    return false;
  out->mask = build_expand(b, build_input(b, "mask"), t->rank, t->shape);
  out->values = build_expand(b, build_scalar_arg(b, "value", x->type.dtype), t->rank, t->shape);
  return true;
}

bool scatter_masked_put(Build *b, MaskedPut *out) {
  if (infer_takes(&b->in, "indices")) return put_by_mask(b, out);
  return infer_takes(&b->in, "source") ? scatter_by_mask(b, out) : fill_by_mask(b, out);
}
