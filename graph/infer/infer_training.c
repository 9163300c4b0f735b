/* Operators of training: gradients, and losses as their gradients need them. */
#include "graph/messages.h"
#include "graph/ops/infer_rules.h"

/* ---- element by element ---- */

/* The tensors broadcast; a gradient is a float. */
void infer_backward(Infer *in) {
  Operand x[8];
  Dim shape[GRAPH_RANK_MAX];
  uint32_t n = 0;
  for (uint32_t i = 0; i < in->schema->nparams; i++) {
    const OpParam *p = &in->schema->params[i];
    if (p->type == PARAM_TENSOR && infer_has(in, p->name)) x[n++] = infer_operand(in, p->name);
  }
  DType t = infer_promote(in, x, n);
  infer_need_float(in, t);
  infer_set(in, t, infer_broadcast(in, x, n, shape), shape);
}

/* The result has the gradient's type; the mask marks the elements that were kept. */
void infer_dropout_backward(Infer *in) {
  const ValueType *grad = infer_self(in);
  Operand mask = infer_operand(in, "mask");
  infer_need_float(in, grad->dtype);
  infer_fits(in, &mask, grad->shape, grad->rank);
  in->result = *grad;
}

/* There is a gradient for the operand and one for the weight, which was broadcast to it. */
void infer_prelu_backward(Infer *in) {
  infer_backward(in);
  infer_set_pair(in, in->result, in->result);
}

void infer_log_sigmoid_forward(Infer *in) {
  infer_need_float(in, infer_self(in)->dtype);
  infer_set_pair(in, *infer_self(in), *infer_self(in));
}

/* The operand has two halves along an axis, of the gradient's size each. */
void infer_glu_backward(Infer *in) {
  const ValueType *grad = infer_self(in), *x = infer_tensor(in, "self");
  infer_rank(in, x, 1, GRAPH_RANK_MAX);
  infer_rank(in, grad, x->rank, x->rank);
  infer_need_float(in, x->dtype);
  infer_same_dtype(in, grad, x);
  uint32_t axis = infer_axis_arg(in, "dim", x->rank);
  for (uint32_t i = 0; i < x->rank; i++)
    infer_same_size(in, grad->shape[i],
                    i == axis ? infer_exact_div(in, x->shape[i], 2) : x->shape[i],
                    "sizes of the gradient and of a half");
  in->result = *x;
}

/* ---- softmax ---- */

void infer_softmax_backward(Infer *in) {
  const ValueType *grad = infer_self(in);
  Operand y = infer_operand(in, "output");
  infer_axis_arg(in, "dim", grad->rank);
  infer_need_float(in, grad->dtype);
  infer_fits(in, &y, grad->shape, grad->rank);
  infer_set_like(in, infer_dtype(in, "input_dtype", grad->dtype), grad);
}

/* ---- losses ---- */

/* The loss, and the sum of the weights of all rows that count. */
void infer_nll_loss_forward(Infer *in) {
  infer_cross_entropy(in);
  infer_set_pair(in, in->result, infer_type(in, infer_self(in)->dtype, 0, NULL));
}

void infer_nll_loss_backward(Infer *in) {
  const ValueType *x = infer_tensor(in, "self"), *target = infer_tensor(in, "target");
  infer_rank(in, x, 1, GRAPH_RANK_MAX);
  infer_need_float(in, x->dtype);
  uint32_t axis = x->rank > 1;
  infer_rank(in, target, x->rank - 1, x->rank - 1);
  for (uint32_t i = 0; i < target->rank; i++)
    infer_same_size(in, target->shape[i], x->shape[i < axis ? i : i + 1],
                    "sizes of self and target");
  Operand grad = infer_operand(in, "grad_output");
  infer_fits(in, &grad, target->shape, target->rank);
  in->result = *x;
}

/* ---- normalizations ---- */

/* The type of gradient i: that of `of`, or nothing where the mask says that it is not wanted. */
static ValueType wanted_type(Infer *in, uint32_t i, ValueType of) {
  Arg mask = graph_arg(in->g, in->n, "output_mask");
  if (mask.kind != ARG_LIST || i >= mask.n) infer_fail(in, E_GRAPH_MASK, i + 1);
  Dim none = infer_const(in, 0);
  return mask.items[i].flag ? of : infer_type(in, of.dtype, 1, &none);
}

/* The gradient has the operand's shape. */
static const ValueType *operand_of_gradient(Infer *in, const char *param) {
  const ValueType *grad = infer_self(in), *x = infer_tensor(in, param);
  infer_need_float(in, x->dtype);
  infer_rank(in, grad, x->rank, x->rank);
  for (uint32_t i = 0; i < x->rank; i++)
    infer_same_size(in, grad->shape[i], x->shape[i], "sizes of the gradient and the operand");
  return x;
}

/* Statistics have so many numbers. */
static void check_statistic(Infer *in, const char *param, Dim n) {
  if (!infer_takes(in, param)) return;
  const ValueType *s = infer_optional_tensor(in, param);
  if (s)
    infer_same_size(in, infer_product(in, s->shape, s->rank), n,
                    "the statistics and what they are of");
}

static DType weight_dtype(Infer *in, DType otherwise) {
  const ValueType *w = infer_optional_tensor(in, "weight");
  return w ? w->dtype : otherwise;
}

void infer_layer_norm_backward(Infer *in) {
  const ValueType *x = operand_of_gradient(in, "input");
  Dim shape[GRAPH_RANK_MAX];
  uint32_t n = infer_sizes(in, "normalized_shape", shape), first = x->rank - n;
  infer_rank(in, x, n, GRAPH_RANK_MAX);
  for (uint32_t i = 0; i < n; i++)
    infer_same_size(in, x->shape[first + i], shape[i], "the axis and normalized_shape");
  check_statistic(in, "mean", infer_product(in, x->shape, first));
  check_statistic(in, "rstd", infer_product(in, x->shape, first));
  DType t = weight_dtype(in, x->dtype);
  ValueType w = infer_type(in, t, n, x->shape + first);
  ValueType items[] = {wanted_type(in, 0, *x), wanted_type(in, 1, w)};
  if (!infer_takes(in, "bias")) infer_set_list(in, 2, items);
  else infer_set_list(in, 3, (ValueType[]){items[0], items[1], wanted_type(in, 2, w)});
}

/* Gradients of the operand, and of a weight and a bias for each channel. */
static void set_channel_gradients(Infer *in, const ValueType *x) {
  ValueType w = infer_type(in, weight_dtype(in, x->dtype), 1, &x->shape[1]);
  infer_set_list(
      in, 3, (ValueType[]){wanted_type(in, 0, *x), wanted_type(in, 1, w), wanted_type(in, 2, w)});
}

void infer_group_norm_backward(Infer *in) {
  const ValueType *x = operand_of_gradient(in, "input");
  int64_t groups = infer_int(in, "group");
  infer_rank(in, x, 2, GRAPH_RANK_MAX);
  if (groups <= 0) infer_fail(in, E_GRAPH_STEP, (long long)groups);
  infer_exact_div(in, x->shape[1], groups);
  Dim n = dim_mul(in->g->dims, x->shape[0], infer_const(in, groups));
  check_statistic(in, "mean", n);
  check_statistic(in, "rstd", n);
  set_channel_gradients(in, x);
}

void infer_batch_norm_backward(Infer *in) {
  const ValueType *x = operand_of_gradient(in, "input");
  infer_rank(in, x, 2, GRAPH_RANK_MAX);
  bool native = infer_takes(in, "train");
  bool train = infer_bool(in, native ? "train" : "update");
  const char *used[] = {train ? "save_mean" : "running_mean", !train   ? "running_var"
                                                              : native ? "save_invstd"
                                                                       : "save_var"};
  for (int i = 0; i < 2; i++) {
    infer_tensor(in, used[i]);
    check_statistic(in, used[i], x->shape[1]);
  }
  set_channel_gradients(in, x);
}

/* ---- convolutions ---- */

void infer_convolution_backward(Infer *in) {
  const ValueType *grad = infer_self(in), *x = infer_tensor(in, "input");
  const ValueType *w = infer_tensor(in, "weight");
  infer_rank(in, w, 3, 5);
  infer_rank(in, x, w->rank, w->rank);
  infer_rank(in, grad, w->rank, w->rank);
  infer_need_float(in, x->dtype);
  infer_same_dtype(in, grad, x);
  infer_same_dtype(in, grad, w);
  infer_same_size(in, grad->shape[0], x->shape[0], "sizes of the gradient and the operand");
  bool transposed = infer_bool(in, "transposed");
  Dim groups = infer_size(in, "groups");
  Dim channels = dim_mul(in->g->dims, w->shape[1], groups);
  infer_same_size(in, (transposed ? grad : x)->shape[1], channels,
                  "the channels of input and weight");
  infer_same_size(in, (transposed ? x : grad)->shape[1], w->shape[0],
                  "the channels of the gradient and of weight");
  ValueType bias = infer_type(in, grad->dtype, 1, &grad->shape[1]);
  infer_set_list(
      in, 3,
      (ValueType[]){wanted_type(in, 0, *x), wanted_type(in, 1, *w), wanted_type(in, 2, bias)});
}

/* ---- pooling ---- */

/* Over the last n axes; as many planes as the operand has. */
static void check_pool_gradient(Infer *in, uint32_t n) {
  const ValueType *grad = infer_self(in), *x = infer_tensor(in, "self");
  infer_rank(in, x, n + 1, n + 2);
  infer_rank(in, grad, x->rank, x->rank);
  infer_need_float(in, x->dtype);
  infer_same_dtype(in, grad, x);
  for (uint32_t i = 0; i + n < x->rank; i++)
    infer_same_size(in, grad->shape[i], x->shape[i], "sizes of the gradient and the operand");
  in->result = *x;
}

static void check_max_pool_gradient(Infer *in, uint32_t n) {
  check_pool_gradient(in, n);
  const ValueType *grad = infer_self(in), *indices = infer_tensor(in, "indices");
  if (indices->dtype != DT_I64) infer_fail(in, E_GRAPH_INDEX_DTYPE, dtype_name(indices->dtype));
  infer_rank(in, indices, grad->rank, grad->rank);
  for (uint32_t i = 0; i < grad->rank; i++)
    infer_same_size(in, grad->shape[i], indices->shape[i], "the gradient and indices");
}

void infer_pool2d_backward(Infer *in) { check_pool_gradient(in, 2); }
void infer_pool3d_backward(Infer *in) { check_pool_gradient(in, 3); }
void infer_max_pool2d_backward(Infer *in) { check_max_pool_gradient(in, 2); }
void infer_max_pool3d_backward(Infer *in) { check_max_pool_gradient(in, 3); }

/* ---- rows of tables ---- */

/* The result has as many rows as the table; the gradient has a row for each index. */
void infer_embedding_backward(Infer *in) {
  const ValueType *grad = infer_self(in), *index = infer_tensor(in, "indices");
  infer_need_float(in, grad->dtype);
  infer_rank(in, grad, index->rank + 1, index->rank + 1);
  for (uint32_t i = 0; i < index->rank; i++)
    infer_same_size(in, grad->shape[i], index->shape[i], "the gradient and indices");
  infer_set(in, grad->dtype, 2, (Dim[]){infer_size(in, "num_weights"), grad->shape[index->rank]});
}

void infer_bag_backward(Infer *in) {
  const ValueType *grad = infer_self(in);
  infer_need_float(in, grad->dtype);
  infer_rank(in, grad, 2, 2);
  infer_rank(in, infer_tensor(in, "indices"), 1, 1);
  infer_set(in, grad->dtype, 2, (Dim[]){infer_size(in, "num_weights"), grad->shape[1]});
}

void infer_bag_weights_backward(Infer *in) {
  const ValueType *grad = infer_self(in), *index = infer_tensor(in, "indices");
  infer_need_float(in, grad->dtype);
  infer_rank(in, grad, 2, 2);
  infer_rank(in, infer_tensor(in, "weight"), 2, 2);
  infer_rank(in, index, 1, 1);
  infer_set(in, grad->dtype, 1, index->shape);
}

/* ---- parts and copies ---- */

static void set_sized(Infer *in, const char *param) {
  Dim shape[GRAPH_RANK_MAX];
  uint32_t rank = infer_sizes(in, param, shape);
  infer_set(in, infer_self(in)->dtype, rank, shape);
}

void infer_part_backward(Infer *in) { set_sized(in, "input_sizes"); }

void infer_masked_scatter_backward(Infer *in) {
  const ValueType *grad = infer_self(in), *mask = infer_tensor(in, "mask");
  if (mask->dtype != DT_I1) infer_fail(in, E_GRAPH_CONDITION, dtype_name(mask->dtype));
  Operand of = infer_operand(in, "mask");
  infer_fits(in, &of, grad->shape, grad->rank);
  set_sized(in, "sizes");
}

/* The gradient is longer by the padding. */
void infer_pad_backward(Infer *in) {
  const ValueType *grad = infer_self(in), *x = infer_tensor(in, "self");
  Arg list = graph_arg(in->g, in->n, "padding");
  uint32_t n = in->schema->params[2].repeat / 2;
  infer_need_float(in, x->dtype);
  infer_same_dtype(in, grad, x);
  infer_rank(in, x, n + 1, n + 2);
  infer_rank(in, grad, x->rank, x->rank);
  for (uint32_t i = 0; i < x->rank; i++) {
    Dim size = x->shape[i];
    uint32_t at = x->rank - 1 - i;
    for (uint32_t k = 2 * at; k < 2 * at + 2 && k < list.n; k++)
      size = dim_add(in->g->dims, size, infer_dim_of(in, &list.items[k]));
    infer_same_size(in, grad->shape[i], size, "sizes of the gradient and the padded operand");
  }
  in->result = *x;
}

void infer_cdist_backward(Infer *in) {
  const ValueType *grad = infer_self(in), *x = infer_tensor(in, "x1"), *y = infer_tensor(in, "x2");
  infer_need_float(in, x->dtype);
  infer_rank(in, x, 2, GRAPH_RANK_MAX - 1);
  infer_rank(in, y, x->rank, x->rank);
  infer_rank(in, grad, x->rank, x->rank);
  Operand dist = infer_operand(in, "cdist");
  infer_fits(in, &dist, grad->shape, grad->rank);
  infer_same_size(in, grad->shape[x->rank - 2], x->shape[x->rank - 2], "rows of x1");
  infer_same_size(in, grad->shape[x->rank - 1], y->shape[x->rank - 2], "rows of x2");
  infer_same_size(in, x->shape[x->rank - 1], y->shape[x->rank - 1], "columns of both");
  for (uint32_t i = 0; i + 2 < x->rank; i++) {
    infer_same_size(in, grad->shape[i], x->shape[i], "sizes of the gradient and x1");
    infer_same_size(in, grad->shape[i], y->shape[i], "sizes of the gradient and x2");
  }
  in->result = *x;
}

void infer_weight_norm_backward(Infer *in) {
  const ValueType *grad = infer_self(in), *v = infer_tensor(in, "saved_v");
  Operand g = infer_operand(in, "saved_g"), lengths = infer_operand(in, "saved_norms");
  infer_need_float(in, v->dtype);
  infer_axis_arg(in, "dim", v->rank);
  infer_rank(in, grad, v->rank, v->rank);
  for (uint32_t i = 0; i < v->rank; i++)
    infer_same_size(in, grad->shape[i], v->shape[i], "sizes of the gradient and the operand");
  infer_fits(in, &g, v->shape, v->rank);
  infer_fits(in, &lengths, v->shape, v->rank);
  infer_set_pair(in, *v, *infer_tensor(in, "saved_g"));
}
