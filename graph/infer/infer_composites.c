/* Ops that PyTorch defines by others: views, distances, losses, quantization. */
#include <string.h>

#include "graph/messages.h"
#include "graph/ops/infer_rules.h"

/* ---- views ---- */

void infer_ravel(Infer *in) {
  const ValueType *x = infer_self(in);
  Dim n = value_numel(in->g, x);
  infer_set(in, x->dtype, 1, &n);
}

/* atleast_Nd: new axes come first, but the third one last. */
void infer_atleast(Infer *in) {
  ValueType t = *infer_self(in);
  OpId id = in->n->op->id;
  uint32_t least = id == OP_aten_atleast_1d_default ? 1 : id == OP_aten_atleast_2d_default ? 2 : 3;
  while (t.rank < least) {
    infer_insert_axis(in, &t, t.rank == 2 ? 2 : 0, infer_const(in, 1));
    t = in->result;
  }
  in->result = t;
}

void infer_take(Infer *in) {
  const ValueType *index = infer_tensor(in, "index");
  if (index->dtype != DT_I64) infer_fail(in, E_GRAPH_INDEX_DTYPE, dtype_name(index->dtype));
  infer_set_like(in, infer_self(in)->dtype, index);
}

/* The number of elements of a matrix below a diagonal, or above it. */
static int64_t count_triangle(int64_t rows, int64_t columns, int64_t offset, bool lower) {
  int64_t n = 0;
  for (int64_t i = 0; i < rows; i++) {
    int64_t below = i + offset + lower; /* columns before the first one above the diagonal */
    below = below < 0 ? 0 : below > columns ? columns : below;
    n += lower ? below : columns - below;
  }
  return n;
}

void infer_triangle_indices(Infer *in) {
  enum { ROWS_MAX = 4096 };
  int64_t rows = infer_int(in, "row"), columns = infer_int(in, "col");
  if (rows < 0 || rows > ROWS_MAX) infer_fail(in, E_GRAPH_PARTS, (long long)rows, (int)ROWS_MAX);
  bool lower = in->n->op->id == OP_aten_tril_indices_default;
  int64_t offset = infer_int(in, "offset"), far = (int64_t)1 << 32;
  if (columns < 0 || columns > far || offset < -far || offset > far)
    infer_fail(in, E_GRAPH_NEGATIVE, infer_dim_text(in, infer_const(in, columns)));
  Dim shape[] = {infer_const(in, 2), infer_const(in, count_triangle(rows, columns, offset, lower))};
  infer_set(in, infer_dtype(in, "dtype", DT_I64), 2, shape);
}

/* ---- products ---- */

/* The axes that a list names, in its order. */
static uint32_t listed_axes(Infer *in, const char *param, uint32_t rank, uint32_t *axes) {
  int64_t dims[GRAPH_RANK_MAX];
  uint32_t n = infer_ints(in, param, dims), set = 0;
  for (uint32_t i = 0; i < n; i++) {
    axes[i] = infer_axis(in, dims[i], rank);
    if (set >> axes[i] & 1) infer_fail(in, E_GRAPH_AXIS_TWICE, (long long)dims[i]);
    set |= 1u << axes[i];
  }
  return n;
}

static uint32_t add_free_axes(Dim *shape, uint32_t n, const ValueType *x, const uint32_t *axes,
                              uint32_t naxes) {
  uint32_t set = 0;
  for (uint32_t i = 0; i < naxes; i++) set |= 1u << axes[i];
  for (uint32_t i = 0; i < x->rank; i++)
    if (!(set >> i & 1)) shape[n++] = x->shape[i];
  return n;
}

void infer_tensordot(Infer *in) {
  const ValueType *x = infer_self(in), *y = infer_tensor(in, "other");
  uint32_t ax[GRAPH_RANK_MAX], ay[GRAPH_RANK_MAX];
  uint32_t n = listed_axes(in, "dims_self", x->rank, ax);
  if (n != listed_axes(in, "dims_other", y->rank, ay)) infer_fail(in, E_GRAPH_PERMUTE, n, "other");
  infer_same_dtype(in, x, y);
  infer_rank(in, x, n > 0, GRAPH_RANK_MAX);
  infer_rank(in, y, n > 0, GRAPH_RANK_MAX);
  for (uint32_t i = 0; i < n; i++)
    infer_same_size(in, x->shape[ax[i]], y->shape[ay[i]], "the sizes of what is summed up");
  Dim shape[2 * GRAPH_RANK_MAX];
  uint32_t rank = add_free_axes(shape, add_free_axes(shape, 0, x, ax, n), y, ay, n);
  if (rank > GRAPH_RANK_MAX) infer_fail(in, E_GRAPH_RANK, (int)GRAPH_RANK_MAX);
  infer_set(in, x->dtype, rank, shape);
}

void infer_bilinear(Infer *in) {
  const ValueType *x = infer_self(in), *weight = infer_tensor(in, "weight");
  infer_rank(in, x, 1, GRAPH_RANK_MAX);
  infer_rank(in, weight, 3, 3);
  infer_set_axis(in, x, x->rank - 1, weight->shape[0]);
}

/* ---- distances: the broadcast shape of both without an axis ---- */

static void set_distance(Infer *in) {
  Operand x[] = {infer_operand(in, "x1"), infer_operand(in, "x2")};
  Dim shape[GRAPH_RANK_MAX];
  uint32_t rank = infer_broadcast(in, x, 2, shape);
  infer_set(in, infer_to_float(infer_promote(in, x, 2)), rank, shape);
}

void infer_cosine_similarity(Infer *in) {
  set_distance(in);
  ValueType t = in->result;
  infer_remove_axes(in, &t, 1u << infer_axis_arg(in, "dim", t.rank));
}

void infer_pairwise_distance(Infer *in) {
  set_distance(in);
  ValueType t = in->result;
  infer_rank(in, &t, 1, GRAPH_RANK_MAX);
  if (infer_bool(in, "keepdim")) infer_set_axis(in, &t, t.rank - 1, infer_const(in, 1));
  else infer_remove_axes(in, &t, 1u << (t.rank - 1));
}

/* ---- losses ---- */

/* Classes stand along axis 1 of self, of a vector along its axis; the target has the others, or is
 * as self with a number for each class. */
void infer_cross_entropy(Infer *in) {
  const ValueType *x = infer_self(in), *target = infer_tensor(in, "target");
  infer_rank(in, x, 1, GRAPH_RANK_MAX);
  infer_need_float(in, x->dtype);
  infer_remove_axes(in, x, 1u << (x->rank > 1));
  bool index = !dtype_is_float(target->dtype);
  const ValueType *expected = index ? &in->result : x;
  infer_rank(in, target, expected->rank, expected->rank);
  for (uint32_t i = 0; i < target->rank; i++)
    infer_same_size(in, target->shape[i], expected->shape[i], "sizes of self and target");
  if (infer_reduces(in)) infer_set(in, x->dtype, 0, NULL);
}

/* ---- recurrent cells ---- */

static void check_cell(Infer *in, const ValueType *state, uint32_t gates) {
  const ValueType *x = infer_tensor(in, "input");
  const ValueType *w = infer_tensor(in, "w_ih"), *u = infer_tensor(in, "w_hh");
  infer_rank(in, x, 2, 2);
  infer_rank(in, state, 2, 2);
  infer_rank(in, w, 2, 2);
  infer_rank(in, u, 2, 2);
  infer_same_size(in, x->shape[0], state->shape[0], "the rows of input and state");
  infer_same_size(in, x->shape[1], w->shape[1], "the sizes of input and weight");
  infer_same_size(in, state->shape[1], u->shape[1], "the sizes of state and weight");
  infer_same_size(in, infer_exact_div(in, w->shape[0], gates), state->shape[1],
                  "the rows of a gate's weight and the size of the state");
}

void infer_cell(Infer *in) {
  const ValueType *state = infer_tensor(in, "hx");
  check_cell(in, state, in->n->op->id != OP_aten_gru_cell_default ? 1 : 3);
  in->result = *state;
}

void infer_lstm_cell(Infer *in) {
  uint32_t n;
  const ValueType **hx = infer_tensors(in, "hx", &n);
  if (n != 2 || !hx[0] || !hx[1]) infer_fail(in, E_GRAPH_RNN_PARAMS, n, 2u);
  check_cell(in, hx[0], 4);
  infer_set_pair(in, *hx[0], *hx[1]);
}

/* ---- quantization ---- */

void infer_quantize(Infer *in) {
  const ValueType *x = infer_self(in);
  infer_need_float(in, x->dtype);
  infer_set_like(in, infer_dtype(in, "dtype", DT_I8), x);
}

void infer_dequantize(Infer *in) {
  infer_set_like(in, infer_dtype(in, "out_dtype", DT_F32), infer_self(in));
}
