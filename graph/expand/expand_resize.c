/* Expansions of gradients of resized images.  A resized image is a product with a matrix along each
 * axis; the matrix is what resizing makes of the unit matrix. */
#include "graph/expand/arithmetic.h"
#include "graph/messages.h"

typedef struct {
  OpId op;           /* resizes images of `axes` axes */
  uint32_t axes;     /* 1; 2 of kernels that there are for two axes alone */
  bool takes_corners;
} Resizing;

/* The factor of spatial axis i of n, or None. */
static Arg factor_of(Build *b, uint32_t i, uint32_t n) {
  static const char *const named[] = {"scales_d", "scales_h", "scales_w"};
  return build_arg(b, n == 1 ? "scales" : named[i + 3 - n]);
}

/* How many axes the operator resizes. */
static uint32_t axes_resized(Build *b) {
  return infer_takes(&b->in, "scales") ? 1 : infer_takes(&b->in, "scales_d") ? 3 : 2;
}

/* [from, to]: row i is the image of which element i is 1. */
static Node *weights(Build *b, const Resizing *r, Dim from, Dim to, Arg factor, DType t) {
  Dim one = build_const(b, 1), size[] = {to, one};
  Node *row = build_unsqueeze(b, build_arange(b, from), 1);
  Node *unit = build_op2(b, OP_aten_eq_Tensor, row, build_arange(b, from));
  unit = build_unsqueeze(b, build_to(b, unit, t), 0);
  if (r->axes == 2) unit = build_unsqueeze(b, unit, 3);
  Arg args[5] = {arg_node(unit), arg_dims(b->in.g, r->axes, size)};
  uint32_t n = 2;
  if (r->takes_corners) args[n++] = build_arg(b, "align_corners");
  args[n++] = factor;
  if (r->axes == 2) args[n++] = arg_none();
  Node *y = build(b, r->op, n, args);
  return build_squeeze(b, y, r->axes == 2 ? 1u << 0 | 1u << 3 : 1u << 0);
}

static Node *times_matrix(Build *b, Node *x, uint32_t axis, Node *matrix) {
  uint32_t last = rank_of(x) - 1;
  Node *y = build_product(b, OP_aten_matmul_default, build_transpose(b, x, axis, last), matrix,
                          ROUNDS_NEVER);
  return build_transpose(b, y, axis, last);
}

static Node *resized_gradient(Build *b, Resizing r) {
  Node *grad = build_input(b, "grad_output");
  Dim from[GRAPH_RANK_MAX], to[GRAPH_RANK_MAX];
  DType t = grad->type.dtype;
  uint32_t rank = infer_sizes(&b->in, "input_size", from);
  uint32_t n = infer_sizes(&b->in, "output_size", to);
  infer_need_float(&b->in, t);
  if (n != axes_resized(b))
    infer_fail(&b->in, E_GRAPH_PER_AXIS, "output_size", n, axes_resized(b));
  infer_rank(&b->in, &grad->type, n + 2, n + 2);
  if (rank != n + 2)
    infer_fail(&b->in, E_GRAPH_AXES_EXACT, n + 2, infer_shape_text(&b->in, from, rank));
  Node *y = build_widen(b, grad);
  for (uint32_t i = 0; i < n; i++) {
    infer_same_size(&b->in, grad->type.shape[2 + i], to[i], "the sizes of the gradient");
    Node *w = weights(b, &r, from[2 + i], to[i], factor_of(b, i, n), y->type.dtype);
    y = times_matrix(b, y, 2 + i, build_transpose(b, w, 0, 1));
  }
  return build_to(b, y, t);
}

Node *expand_resize_nearest_backward(Build *b) {
  return resized_gradient(b, (Resizing){OP_aten_upsample_nearest1d_default, 1, false});
}
Node *expand_resize_exact_backward(Build *b) {
  return resized_gradient(b, (Resizing){OP_aten__upsample_nearest_exact1d_default, 1, false});
}
Node *expand_resize_linear_backward(Build *b) {
  return resized_gradient(b, (Resizing){OP_aten_upsample_linear1d_default, 1, true});
}
Node *expand_resize_cubic_backward(Build *b) {
  return resized_gradient(b, (Resizing){OP_aten_upsample_bicubic2d_default, 2, true});
}
Node *expand_resize_linear_smooth_backward(Build *b) {
  return resized_gradient(b, (Resizing){OP_aten__upsample_bilinear2d_aa_default, 2, true});
}
Node *expand_resize_cubic_smooth_backward(Build *b) {
  return resized_gradient(b, (Resizing){OP_aten__upsample_bicubic2d_aa_default, 2, true});
}
