/* Factors, inverses and solutions of matrices. */
#include "graph/messages.h"
#include "graph/ops/infer_rules.h"

static void need_squares(Infer *in, const ValueType *a) {
  infer_rank(in, a, 2, GRAPH_RANK_MAX);
  if (a->dtype != DT_F32 && a->dtype != DT_F64)
    infer_fail(in, E_GRAPH_DTYPE_WANTED, "f32 or f64", infer_type_text(in, a));
  infer_same_size(in, a->shape[a->rank - 2], a->shape[a->rank - 1], "both axes of a matrix");
}

/* A matrix for each matrix. */
void infer_of_square(Infer *in) {
  need_squares(in, infer_self(in));
  in->result = *infer_self(in);
}

void infer_det(Infer *in) {
  const ValueType *a = infer_self(in);
  need_squares(in, a);
  infer_set(in, a->dtype, a->rank - 2, a->shape);
}

/* As many right-hand sides as matrices: one each, or columns. */
void infer_solve(Infer *in) {
  const ValueType *a = infer_tensor(in, "A"), *x = infer_tensor(in, "B");
  need_squares(in, a);
  infer_same_dtype(in, a, x);
  if (!infer_bool(in, "left")) infer_fail(in, E_GRAPH_SOLVE);
  infer_rank(in, x, a->rank - 1, a->rank);
  for (uint32_t i = 0; i + 1 < a->rank; i++)
    infer_same_size(in, a->shape[i], x->shape[i], "matrices and right-hand sides");
  in->result = *x;
}
