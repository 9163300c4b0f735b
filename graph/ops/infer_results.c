/* Results that rules set. */
#include <string.h>

#include "graph/messages.h"
#include "graph/ops/infer_rules.h"

ValueType infer_type(Infer *in, DType dtype, uint32_t rank, const Dim *shape) {
  if (rank > GRAPH_RANK_MAX) infer_fail(in, E_GRAPH_RANK, (int)GRAPH_RANK_MAX);
  for (uint32_t i = 0; i < rank; i++)
    if (dim_is_int(shape[i]) && shape[i]->value < 0)
      infer_fail(in, E_GRAPH_NEGATIVE, infer_shape_text(in, shape, rank));
  return value_tensor(in->g, dtype, rank, shape);
}

void infer_set(Infer *in, DType dtype, uint32_t rank, const Dim *shape) {
  in->result = infer_type(in, dtype, rank, shape);
}

void infer_set_like(Infer *in, DType dtype, const ValueType *x) {
  in->result = *x;
  in->result.dtype = dtype;
}

void infer_set_list(Infer *in, uint32_t n, const ValueType *items) {
  ValueType *copy = ARENA_ARRAY(in->g->arena, ValueType, n);
  if (n) memcpy(copy, items, n * sizeof *copy);
  in->result = (ValueType){.kind = VALUE_LIST, .items = copy, .nitems = n};
}

void infer_set_pair(Infer *in, ValueType a, ValueType b) {
  infer_set_list(in, 2, (ValueType[]){a, b});
}

/* ---- like x ---- */

uint32_t infer_copy_shape(const ValueType *x, Dim *shape) {
  if (x->rank) memcpy(shape, x->shape, x->rank * sizeof *shape);
  return x->rank;
}

void infer_set_axis(Infer *in, const ValueType *x, uint32_t axis, Dim size) {
  Dim shape[GRAPH_RANK_MAX];
  infer_copy_shape(x, shape);
  if (x->rank) shape[axis] = size;
  infer_set(in, x->dtype, x->rank, shape);
}

void infer_insert_axis(Infer *in, const ValueType *x, uint32_t axis, Dim size) {
  Dim shape[GRAPH_RANK_MAX + 1];
  for (uint32_t i = 0; i < x->rank; i++) shape[i + (i >= axis)] = x->shape[i];
  shape[axis] = size;
  infer_set(in, x->dtype, x->rank + 1, shape);
}

void infer_remove_axes(Infer *in, const ValueType *x, uint32_t set) {
  Dim shape[GRAPH_RANK_MAX];
  uint32_t n = 0;
  for (uint32_t i = 0; i < x->rank; i++)
    if (!(set >> i & 1)) shape[n++] = x->shape[i];
  infer_set(in, x->dtype, n, shape);
}

Dim infer_axis_size(Infer *in, const ValueType *x, uint32_t axis) {
  return x->rank ? x->shape[axis] : infer_const(in, 1);
}
