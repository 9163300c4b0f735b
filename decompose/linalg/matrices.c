#include "decompose/linalg/matrices.h"

#include <string.h>

#include "decompose/messages.h"
#include "graph/ops/graph_text.h"
#include "graph/ops/matrix_functions.h"

Batch batch_of(Build *b, const Node *a) {
  Batch batch = {.rank = rank_of(a) - 2};
  for (uint32_t i = 0; i < batch.rank; i++) batch.shape[i] = a->type.shape[i];
  batch.n = infer_product(&b->in, batch.shape, batch.rank);
  return batch;
}

Batch batch_of_both(Build *b, const Node *x, const Node *y) {
  Batch batch = {0};
  Operand each[] = {infer_tensor_operand(&x->type), infer_tensor_operand(&y->type)};
  for (int i = 0; i < 2; i++) each[i].rank -= 2;
  batch.rank = infer_broadcast(&b->in, each, 2, batch.shape);
  batch.n = infer_product(&b->in, batch.shape, batch.rank);
  return batch;
}

int64_t matrix_size(Build *b, const Node *a, uint32_t back) {
  Dim n = size_from_end(a, back);
  if (!dim_is_int(n) || n->value > MATRIX_ROWS_MAX)
    infer_fail(&b->in, E_GRAPH_MATRIX_ROWS, infer_dim_text(&b->in, n), MATRIX_ROWS_MAX);
  return n->value;
}

/* The batch axes with `rank` sizes after them; returns the rank of all. */
static uint32_t shape_in_batch(Build *b, const Batch *batch, uint32_t rank, const int64_t *sizes,
                               Dim *shape) {
  memcpy(shape, batch->shape, batch->rank * sizeof *shape);
  for (uint32_t i = 0; i < rank; i++) shape[batch->rank + i] = build_const(b, sizes[i]);
  return batch->rank + rank;
}

Node *matrix_expand(Build *b, Node *x, const Batch *batch) {
  Dim shape[GRAPH_RANK_MAX];
  memcpy(shape, batch->shape, batch->rank * sizeof *shape);
  for (uint32_t i = 0; i < 2; i++) shape[batch->rank + i] = size_from_end(x, 2 - i);
  return build_expand(b, x, batch->rank + 2, shape);
}

/* A row for each matrix. */
static Node *flat_rows(Build *b, Node *x, const Batch *batch) {
  Dim size = infer_product(&b->in, x->type.shape + batch->rank, rank_of(x) - batch->rank);
  return build_view(b, x, 2, (Dim[]){batch->n, size});
}

Node *matrix_call(Build *b, const char *function, Node *a, Node *with, const Batch *batch,
                  int64_t count, DType t, uint32_t nsizes, const int64_t *sizes) {
  Dim shape[] = {batch->n, build_const(b, count)};
  Node *to = build_full(b, 2, shape, build_int(b, 0), t);
  a = flat_rows(b, a, batch);
  with = with ? flat_rows(b, with, batch) : a;
  if (dim_is(a->type.shape[1], 0) || dim_is(with->type.shape[1], 0)) return to;
  Dim dims[MATRIX_SIZES_MAX];
  for (uint32_t i = 0; i < nsizes; i++) dims[i] = build_const(b, sizes[i]);
  Arg name = {.kind = ARG_STRING, .name = pool_name(b->in.g->names, function)};
  return build(b, OP_nereid_matrix_default,
               ARGS(arg_node(to), arg_node(build_arange(b, batch->n)), arg_node(a), arg_node(with),
                    name, arg_dims(b->in.g, nsizes, dims)));
}

Node *matrix_part(Build *b, Node *packed, const Batch *batch, int64_t from, uint32_t rank,
                  const int64_t *sizes) {
  Dim shape[GRAPH_RANK_MAX];
  int64_t count = 1;
  for (uint32_t i = 0; i < rank; i++) count *= sizes[i];
  rank = shape_in_batch(b, batch, rank, sizes, shape);
  Node *part = build_slice(b, packed, 1, build_const(b, from), build_const(b, from + count), 1);
  return build_view(b, part, rank, shape);
}

Node *matrix_transpose(Build *b, Node *a) {
  return build_transpose(b, a, rank_of(a) - 2, rank_of(a) - 1);
}

Node *matrix_identity(Build *b, const Batch *batch, int64_t rows, int64_t columns, DType t) {
  Dim shape[GRAPH_RANK_MAX];
  uint32_t rank = shape_in_batch(b, batch, 2, (int64_t[]){rows, columns}, shape);
  Node *row = build_unsqueeze(b, build_arange(b, build_const(b, rows)), 1);
  Node *one = build_op2(b, OP_aten_eq_Tensor, row, build_arange(b, build_const(b, columns)));
  return build_expand(b, build_to(b, one, t), rank, shape);
}

Node *matrix_triangle(Build *b, Node *a, bool upper) {
  return build_op1(b, upper ? OP_aten_triu_default : OP_aten_tril_default, a);
}

Node *matrix_solve_triangle(Build *b, Node *a, Node *y, bool upper, bool unit) {
  Batch batch = batch_of(b, y);
  int64_t n = matrix_size(b, y, 2), count = matrix_size(b, y, 1);
  Node *x =
      matrix_call(b, "solve", a, y, &batch, n * count, y->type.dtype, SIZES(n, count, upper, unit));
  return matrix_part(b, x, &batch, 0, 2, (int64_t[]){n, count});
}
