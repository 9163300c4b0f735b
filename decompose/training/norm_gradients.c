/* Gradients of normalizations, from the mean and the reciprocal of the deviation that the forward
 * pass has saved:
 *
 *   y  = (x - mean) * rstd
 *   dx = rstd * (dy - mean(dy) - y * mean(dy * y))      means over the normalized axes
 *   dweight, dbias: sums of grad * y and of grad over the other axes, dy being grad * weight
 *
 * All in f32 for 16-bit floats. */
#include "decompose/decompose.h"

/* ---- what all have ---- */

typedef struct {
  Node *grad, *y; /* of the result before the weight; the normalized values */
  Node *rstd;     /* broadcasts to them */
  uint32_t axes;  /* a bit for each axis that is normalized */
  bool centred;   /* the mean was subtracted */
} NormGradient;

static Node *normalized_gradient(Build *b, const NormGradient *n) {
  Node *grad = n->grad;
  Node *along = build_mean(b, build_mul(b, grad, n->y), n->axes, true);
  Node *dx = build_sub(b, grad, build_mul(b, n->y, along));
  if (n->centred) dx = build_sub(b, dx, build_mean(b, grad, n->axes, true));
  return build_mul(b, dx, n->rstd);
}

static Node *normal_of(Build *b, Node *x, Node *mean, Node *rstd) {
  return build_mul(b, mean ? build_sub(b, x, mean) : x, rstd);
}

/* ---- over the last axes ---- */

Node *decompose_layer_norm_backward(Build *b) {
  Node *grad = build_wide_input(b, "grad_out"), *x = build_wide_input(b, "input");
  Node *weight = build_wide_input(b, "weight"), *rstd = build_wide_input(b, "rstd");
  bool centred = infer_takes(&b->in, "mean");
  uint32_t last = build_arg(b, "normalized_shape").n, rank = rank_of(x);
  uint32_t first = (1u << (rank - last)) - 1; /* the other axes */
  Node *y = normal_of(b, x, centred ? build_wide_input(b, "mean") : NULL, rstd);
  Node *items[3] = {NULL};
  if (build_flag(b, "output_mask", 0)) {
    NormGradient n = {weight ? build_mul(b, grad, weight) : grad, y, rstd, all_axes(x) & ~first,
                      centred};
    items[0] = normalized_gradient(b, &n);
  }
  if (build_flag(b, "output_mask", 1)) items[1] = build_sum(b, build_mul(b, grad, y), first, false);
  if (centred && build_flag(b, "output_mask", 2)) items[2] = build_sum(b, grad, first, false);
  return build_results(b, b->in.n->type.nitems, items);
}

/* ---- over groups of channels ---- */

/* A value for each of some axes of x, which are one after another, as it broadcasts to x. */
static Node *along_axes(Build *b, Node *s, const Node *x, uint32_t first, uint32_t n) {
  Dim shape[GRAPH_RANK_MAX];
  for (uint32_t i = 0; i < rank_of(x); i++)
    shape[i] = i >= first && i < first + n ? x->type.shape[i] : build_const(b, 1);
  return build_view(b, s, rank_of(x), shape);
}

Node *decompose_group_norm_backward(Build *b) {
  Dim groups = infer_size(&b->in, "group");
  Node *grad = decompose_channels_in_groups(b, build_wide_input(b, "grad_out"), groups);
  Node *x = decompose_channels_in_groups(b, build_wide_input(b, "input"), groups);
  Node *weight = build_wide_input(b, "weight");
  Node *mean = along_axes(b, build_wide_input(b, "mean"), x, 0, 2);
  Node *rstd = along_axes(b, build_wide_input(b, "rstd"), x, 0, 2);
  Node *y = normal_of(b, x, mean, rstd);
  const uint32_t normalized = all_axes(x) & ~3u, per_channel = all_axes(x) & ~(1u << 1 | 1u << 2);
  Node *items[3] = {NULL};
  if (build_flag(b, "output_mask", 0)) {
    Node *dy = weight ? build_mul(b, grad, along_axes(b, weight, x, 1, 2)) : grad;
    items[0] = normalized_gradient(b, &(NormGradient){dy, y, rstd, normalized, true});
  }
  if (build_flag(b, "output_mask", 1))
    items[1] = build_sum(b, build_mul(b, grad, y), per_channel, false);
  if (build_flag(b, "output_mask", 2)) items[2] = build_sum(b, grad, per_channel, false);
  return build_results(b, 3, items);
}

/* ---- over the batch ---- */

static Node *reciprocal_deviation(Build *b, Node *var) {
  Node *sum = build_with(b, OP_aten_add_Tensor, var, build_arg(b, "eps"));
  return build_op1(b, OP_aten_rsqrt_default, sum);
}

/* Running statistics are constants: only the deviation scales the gradient then. */
Node *decompose_batch_norm_backward(Build *b) {
  Node *grad = build_wide_input(b, "grad_out"), *x = build_wide_input(b, "input");
  Node *weight = build_wide_input(b, "weight"), *mean, *rstd;
  bool native = infer_takes(&b->in, "train");
  bool train = infer_bool(&b->in, native ? "train" : "update");
  if (train) {
    mean = build_wide_input(b, "save_mean");
    rstd = build_wide_input(b, native ? "save_invstd" : "save_var");
  } else {
    mean = build_wide_input(b, "running_mean");
    rstd = reciprocal_deviation(b, build_wide_input(b, "running_var"));
  }
  uint32_t rank = rank_of(x), axes = all_axes(x) & ~(1u << 1);
  rstd = build_along(b, rstd, 1, rank);
  Node *y = normal_of(b, x, build_along(b, mean, 1, rank), rstd);
  Node *items[3] = {NULL};
  if (build_flag(b, "output_mask", 0)) {
    NormGradient n = {grad, y, rstd, axes, true};
    Node *dx = train ? normalized_gradient(b, &n) : build_mul(b, grad, rstd);
    items[0] = weight ? build_mul(b, dx, build_along(b, weight, 1, rank)) : dx;
  }
  if (build_flag(b, "output_mask", 1)) items[1] = build_sum(b, build_mul(b, grad, y), axes, false);
  if (build_flag(b, "output_mask", 2)) items[2] = build_sum(b, grad, axes, false);
  return build_results(b, 3, items);
}
