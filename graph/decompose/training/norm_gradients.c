/* Gradients of normalizations, from the mean and the reciprocal of the deviation that the forward
 * pass has saved:
 *
 *   y  = (x - mean) * rstd
 *   dx = rstd * (dy - mean(dy) - y * mean(dy * y))      means over the normalized axes
 *   dweight, dbias: sums of grad * y and of grad over the other axes, dy being grad * weight
 *
 * All in f32 for 16-bit floats. */
#include "graph/decompose/decompose.h"

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

/* [n, channels, ...] as [n, groups, channels of a group, all the rest]. */
static Node *in_groups(Build *b, Node *x, Dim groups) {
  Dims *d = build_dims(b);
  Dim all = build_const(b, 1);
  for (uint32_t i = 2; i < rank_of(x); i++) all = dim_mul(d, all, x->type.shape[i]);
  Dim channels = dim_floordiv(d, x->type.shape[1], groups);
  return build_view(b, x, 4, (Dim[]){x->type.shape[0], groups, channels, all});
}

/* Statistics [n, groups], as they broadcast to that. */
static Node *of_groups(Build *b, Node *s, const Node *x) {
  Dim one = build_const(b, 1);
  return build_view(b, s, 4, (Dim[]){x->type.shape[0], x->type.shape[1], one, one});
}

Node *decompose_group_norm_backward(Build *b) {
  Dim groups = infer_size(&b->in, "group");
  Node *grad = in_groups(b, build_wide_input(b, "grad_out"), groups);
  Node *x = in_groups(b, build_wide_input(b, "input"), groups);
  Node *rstd = of_groups(b, build_wide_input(b, "rstd"), x),
       *weight = build_wide_input(b, "weight");
  Node *y = normal_of(b, x, of_groups(b, build_wide_input(b, "mean"), x), rstd);
  const uint32_t normalized = 1u << 2 | 1u << 3, per_channel = 1u << 0 | 1u << 3;
  Node *items[3] = {NULL};
  if (build_flag(b, "output_mask", 0)) {
    Node *dy = grad;
    if (weight) {
      Dim one = build_const(b, 1), shape[] = {one, groups, x->type.shape[2], one};
      dy = build_mul(b, grad, build_view(b, weight, 4, shape));
    }
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
