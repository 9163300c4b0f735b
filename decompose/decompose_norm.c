/* Normalizations: mean and variance over some axes, scale and shift.  All in f32 for 16-bit
 * floats, weights too; the result is rounded once. */
#include <float.h>
#include <string.h>

#include "decompose/decompose.h"
#include "decompose/messages.h"

static Node *rsqrt_of(Build *b, Node *var, double eps) {
  return build_op1(b, OP_aten_rsqrt_default,
                   build_with(b, OP_aten_add_Tensor, var, arg_float(eps)));
}

/* ---- x less its mean, over its deviation ---- */

typedef struct {
  Node *y, *mean, *var, *rstd; /* statistics with axes of size 1 */
} Normal;

static Normal normalize(Build *b, Node *x, uint32_t set, double eps) {
  Node *mean = build_mean(b, x, set, true);
  Node *rest = build_sub(b, x, mean);
  Node *var = build_mean(b, build_mul(b, rest, rest), set, true);
  Node *rstd = rsqrt_of(b, var, eps);
  return (Normal){build_mul(b, rest, rstd), mean, var, rstd};
}

/* y * weight + bias, as far as they are there. */
static Node *scale_shift(Build *b, Node *y) {
  Node *weight = build_wide_input(b, "weight");
  if (weight) y = build_mul(b, y, weight);
  Node *bias = infer_takes(&b->in, "bias") ? build_wide_input(b, "bias") : NULL;
  return bias ? build_add(b, y, bias) : y;
}

static uint32_t last_axes(uint32_t rank, uint32_t n) { return ((1u << n) - 1) << (rank - n); }

/* ---- over the last axes ---- */

static uint32_t normalized_axes(Build *b) {
  uint32_t rank = rank_of(build_input(b, "input"));
  return last_axes(rank, build_arg(b, "normalized_shape").n);
}

Node *decompose_layer_norm(Build *b) {
  Normal n =
      normalize(b, build_wide_input(b, "input"), normalized_axes(b), infer_number(&b->in, "eps"));
  Node *y = scale_shift(b, n.y);
  if (b->in.n->type.kind == VALUE_LIST) return build_results(b, 3, (Node *[]){y, n.mean, n.rstd});
  return build_to_result(b, y);
}

/* x over the root of the mean of its squares. */
Node *decompose_rms_norm(Build *b) {
  Node *x = build_wide_input(b, "input");
  double least = x->type.dtype == DT_F64 ? DBL_EPSILON : FLT_EPSILON;
  double eps = infer_has(&b->in, "eps") ? infer_number(&b->in, "eps") : least;
  Node *mean = build_mean(b, build_mul(b, x, x), normalized_axes(b), true);
  Node *rstd = rsqrt_of(b, mean, eps);
  Node *y = scale_shift(b, build_mul(b, x, rstd));
  if (b->in.n->type.kind != VALUE_LIST) return build_to_result(b, y);
  return build_results(b, 2, (Node *[]){y, rstd});
}

/* ---- over groups of channels ---- */

/* A vector over the channels, axis 1 of `rank`. */
static Node *over_channels(Build *b, Node *x, uint32_t rank) {
  Dim shape[GRAPH_RANK_MAX];
  for (uint32_t i = 0; i < rank; i++) shape[i] = build_const(b, 1);
  shape[1] = x->type.shape[0];
  return build_view(b, x, rank, shape);
}

/* y * weight + bias with a number of both for each channel. */
static Node *scale_shift_channels(Build *b, Node *y) {
  Node *weight = build_wide_input(b, "weight"), *bias = build_wide_input(b, "bias");
  if (weight) y = build_mul(b, y, over_channels(b, weight, rank_of(y)));
  return bias ? build_add(b, y, over_channels(b, bias, rank_of(y))) : y;
}

Node *decompose_channels_in_groups(Build *b, Node *x, Dim groups) {
  uint32_t rank = rank_of(x);
  Dim shape[GRAPH_RANK_MAX + 1] = {x->type.shape[0], groups,
                                   dim_floordiv(b->in.g->dims, x->type.shape[1], groups)};
  memcpy(shape + 3, x->type.shape + 2, (rank - 2) * sizeof *shape);
  return build_view(b, x, rank + 1, shape);
}

static Node *group_norm(Build *b, Dim groups) {
  Node *x = build_wide_input(b, "input"), *in_groups = decompose_channels_in_groups(b, x, groups);
  uint32_t rank = rank_of(in_groups);
  Normal n = normalize(b, in_groups, last_axes(rank, rank - 2), infer_number(&b->in, "eps"));
  Node *y = scale_shift_channels(b, build_view(b, n.y, rank_of(x), x->type.shape));
  if (b->in.n->type.kind == VALUE_LIST) return build_results(b, 3, (Node *[]){y, n.mean, n.rstd});
  return build_to_result(b, y);
}

Node *decompose_group_norm(Build *b) { return group_norm(b, infer_size(&b->in, "num_groups")); }
Node *decompose_native_group_norm(Build *b) { return group_norm(b, infer_size(&b->in, "group")); }

/* Each channel of each sample: groups of one channel. */
static Node *instance_norm(Build *b) {
  return group_norm(b, build_input(b, "input")->type.shape[1]);
}

/* ---- over the batch ---- */

/* x * alpha + beta with one alpha and beta for each channel, so that they fold into weights. */
static Node *by_statistics(Build *b, Node *x, Node *mean, Node *rstd) {
  uint32_t rank = rank_of(x);
  Node *weight = build_wide_input(b, "weight"), *bias = build_wide_input(b, "bias");
  Node *alpha = weight ? build_mul(b, rstd, weight) : rstd;
  Node *shift = build_mul(b, mean, alpha);
  Node *beta = bias ? build_sub(b, bias, shift) : build_op1(b, OP_aten_neg_default, shift);
  Node *y = build_mul(b, x, over_channels(b, alpha, rank));
  return build_add(b, y, over_channels(b, beta, rank));
}

/* Numbers of channels that come with each call are computed where x is scaled: to fold them first
 * would be a kernel of few elements for each layer. */
static bool comes_with_call(const Node *n) {
  return n->kind == NODE_INPUT && n->input.kind == INPUT_USER;
}

static Node *with_running(Build *b) {
  Node *x = build_wide_input(b, "input"), *mean = build_wide_input(b, "running_mean");
  Node *rstd = rsqrt_of(b, build_wide_input(b, "running_var"), infer_number(&b->in, "eps"));
  if (!comes_with_call(build_input(b, "running_var"))) return by_statistics(b, x, mean, rstd);
  uint32_t rank = rank_of(x);
  Node *rest = build_sub(b, x, over_channels(b, mean, rank));
  return scale_shift_channels(b, build_mul(b, rest, over_channels(b, rstd, rank)));
}

/* The statistics of the batch itself. */
static Normal of_batch(Build *b) {
  Node *x = build_wide_input(b, "input");
  Normal n = normalize(b, x, all_axes(x) & ~(1u << 1), infer_number(&b->in, "eps"));
  n.y = scale_shift_channels(b, n.y);
  return n;
}

static bool has_running(Build *b) {
  return infer_takes(&b->in, "running_mean") && infer_has(&b->in, "running_mean") &&
         infer_has(&b->in, "running_var");
}

/* New running statistics would have to be written. */
static void refuse_training(Build *b, bool training) {
  if (training && has_running(b)) infer_fail(&b->in, E_GRAPH_TRAINING);
}

static bool from_batch(Build *b) {
  const char *param = infer_takes(&b->in, "use_input_stats") ? "use_input_stats" : "training";
  bool training = infer_takes(&b->in, param) && infer_bool(&b->in, param);
  refuse_training(b, training);
  return training || !has_running(b);
}

Node *decompose_batch_norm(Build *b) {
  return build_to_result(b, from_batch(b) ? of_batch(b).y : with_running(b));
}

/* The saved statistics are empty in inference. */
Node *decompose_native_batch_norm(Build *b) {
  if (!from_batch(b)) return build_results(b, 3, (Node *[]){with_running(b), NULL, NULL});
  Normal n = of_batch(b);
  return build_results(b, 3, (Node *[]){n.y, n.mean, n.rstd});
}

/* The fourth result is memory of another library's. */
Node *decompose_batch_norm_no_update(Build *b) {
  return build_results(b, 4, (Node *[]){with_running(b), NULL, NULL, NULL});
}

/* A running statistic after a batch whose own is x. */
static Node *moved_statistic(Build *b, const char *param, Node *x) {
  double share = infer_number(&b->in, "momentum");
  Node *before = build_wide_input(b, param);
  before = build_with(b, OP_aten_mul_Tensor, before, arg_float(1 - share));
  x = build_with(b, OP_aten_mul_Tensor, x, arg_float(share));
  return build_add(b, before, build_view(b, x, 1, before->type.shape));
}

/* The variance of which the batch is a sample: a divisor less by one. */
static Node *unbiased(Build *b, Node *var, const Node *x) {
  Dim n = build_count(b, x, all_axes(x) & ~(1u << 1));
  var = build_with(b, OP_aten_mul_Tensor, var, arg_dim(n));
  return build_with(b, OP_aten_div_Tensor, var,
                    arg_dim(dim_sub(build_dims(b), n, build_const(b, 1))));
}

/* The new running statistics are results, the last two. */
Node *decompose_batch_norm_update(Build *b) {
  uint32_t count = b->in.n->type.nitems;
  Node *results[6] = {NULL};
  if (infer_takes(&b->in, "training") && !infer_bool(&b->in, "training")) {
    results[0] = with_running(b);
    results[count - 2] = build_input(b, "running_mean");
    results[count - 1] = build_input(b, "running_var");
    return build_results(b, count, results);
  }
  Normal n = of_batch(b);
  results[0] = n.y;
  results[1] = n.mean;
  results[2] = n.rstd;
  results[count - 2] = moved_statistic(b, "running_mean", n.mean);
  results[count - 1] =
      moved_statistic(b, "running_var", unbiased(b, n.var, build_input(b, "input")));
  return build_results(b, count, results);
}

Node *decompose_instance_norm(Build *b) {
  return build_to_result(b, from_batch(b) ? instance_norm(b) : with_running(b));
}

/* v as long as g says, for each index along the axis. */
Node *decompose_weight_norm(Build *b) {
  Node *v = build_input(b, "v"), *x = build_widen(b, v);
  uint32_t axis = infer_axis_arg(&b->in, "dim", rank_of(v));
  Node *square = build_sum(b, build_mul(b, x, x), all_axes(v) & ~(1u << axis), true);
  Node *length = build_op1(b, OP_aten_sqrt_default, square);
  Node *factor = build_div(b, build_widen(b, build_input(b, "g")), length);
  Node *y = build_mul(b, x, factor);
  if (b->in.n->type.kind == VALUE_LIST) return build_results(b, 2, (Node *[]){y, length});
  return build_to_result(b, y);
}
