/* Expansions of gradients that PyTorch computes by other operators. */
#include "graph/expand/arithmetic.h"
#include "graph/messages.h"

/* ---- of elements at indices: what was read is added to ---- */

static Node *added_at(Build *b, Node *to, Node *index, Node *grad) {
  return build(b, OP_aten_scatter_add_default,
               ARGS(arg_node(to), build_arg(b, "dim"), arg_node(index), arg_node(grad)));
}

Node *expand_gather_backward(Build *b) {
  Node *grad = build_input(b, "grad"), *self = build_input(b, "self");
  Node *to = zeros(b, rank_of(self), self->type.shape, grad->type.dtype);
  return added_at(b, to, build_input(b, "index"), grad);
}

Node *expand_cummaxmin_backward(Build *b) {
  Node *input = build_input(b, "input");
  if (!rank_of(input) || is_empty(input)) return zeros_like(b, input);
  return added_at(b, zeros_like(b, input), build_input(b, "indices"), build_input(b, "grad"));
}

static Node *zeros_of_sizes(Build *b, const char *sizes, DType t) {
  Dim shape[GRAPH_RANK_MAX];
  uint32_t rank = infer_sizes(&b->in, sizes, shape);
  return zeros(b, rank, shape, t);
}

Node *expand_index_select_backward(Build *b) {
  Node *grad = build_input(b, "grad");
  Node *to = zeros_of_sizes(b, "self_sizes", grad->type.dtype);
  return build(b, OP_aten_index_add_default,
               ARGS(arg_node(to), build_arg(b, "dim"), build_arg(b, "index"), arg_node(grad)));
}

/* The gradient of median, mode, kthvalue, max along an axis. */
Node *expand_value_selecting_backward(Build *b) {
  Node *grad = build_input(b, "grad"), *indices = build_input(b, "indices");
  Node *to = zeros_of_sizes(b, "sizes", grad->type.dtype);
  if (rank_of(to) && !infer_bool(&b->in, "keepdim")) {
    uint32_t axis = infer_axis_arg(&b->in, "dim", rank_of(to));
    grad = build_unsqueeze(b, grad, axis);
    indices = build_unsqueeze(b, indices, axis);
  }
  return build(b, OP_aten_scatter_src,
               ARGS(arg_node(to), build_arg(b, "dim"), arg_node(indices), arg_node(grad)));
}

Node *expand_masked_select_backward(Build *b) {
  Node *grad = build_input(b, "grad"), *input = build_input(b, "input");
  Operand x[] = {infer_operand(&b->in, "input"), infer_operand(&b->in, "mask")};
  Dim shape[GRAPH_RANK_MAX];
  uint32_t rank = infer_broadcast(&b->in, x, 2, shape);
  Node *to = zeros(b, rank, shape, input->type.dtype);
  return build(b, OP_aten_masked_scatter_default,
               ARGS(arg_node(to), build_arg(b, "mask"), arg_node(grad)));
}

Node *expand_trace_backward(Build *b) {
  Node *grad = build_input(b, "grad");
  Dim shape[GRAPH_RANK_MAX];
  uint32_t rank = infer_sizes(&b->in, "sizes", shape);
  if (rank != 2) infer_fail(&b->in, E_GRAPH_AXES_EXACT, 2, infer_shape_text(&b->in, shape, rank));
  Node *row = build_unsqueeze(b, build_arange(b, shape[0]), 1);
  return masked(b, build_op2(b, OP_aten_eq_Tensor, row, build_arange(b, shape[1])), grad);
}

/* ---- of scans ---- */

static Node *along(Build *b, OpId op, Node *x, uint32_t axis) {
  return build_with(b, op, x, build_int(b, axis));
}

static Node *reversed_sum(Build *b, Node *x, uint32_t axis) {
  Arg axes = arg_axes(b->in.g, 1u << axis);
  Node *sum = along(b, OP_aten_cumsum_default, build_with(b, OP_aten_flip_default, x, axes), axis);
  return build_with(b, OP_aten_flip_default, sum, axes);
}

static Node *one_where(Build *b, Node *condition, Node *x) {
  return choose(b, condition, build_full(b, 0, NULL, build_int(b, 1), x->type.dtype), x);
}

/* With c zeros up to an element: where c is 0 the quotient by the element; at the first zero the
 * sum over products without it; after it every product has it as a factor. */
Node *expand_cumprod_backward(Build *b) {
  Node *grad = build_input(b, "grad"), *x = build_input(b, "input");
  if (!rank_of(x)) return grad;
  uint32_t axis = infer_axis_arg(&b->in, "dim", rank_of(x));
  Node *is_zero = compared(b, OP_aten_eq_Scalar, x, 0), *products = build_input(b, "output");
  if (x->type.is_complex) {
    x = build_op1(b, OP_aten_conj_physical_default, x);
    products = build_op1(b, OP_aten_conj_physical_default, products);
  }
  Node *count = along(b, OP_aten_cumsum_default, build_to(b, is_zero, DT_I64), axis);
  Node *none = build_with(b, OP_aten_eq_Scalar, count, build_int(b, 0));
  Node *one = build_with(b, OP_aten_eq_Scalar, count, build_int(b, 1));
  Node *first = build_and(b, is_zero, one);
  Node *before = reversed_sum(b, masked(b, none, build_mul(b, products, grad)), axis);
  Node *without = along(b, OP_aten_cumprod_default, one_where(b, first, x), axis);
  Node *some = build_op1(b, OP_aten_logical_not_default, none);
  Node *at_first = build_sum(b, masked(b, some, build_mul(b, without, grad)), 1u << axis, true);
  Node *quotient = build_div(b, before, one_where(b, is_zero, x));
  return choose(b, none, quotient, masked(b, first, at_first));
}

/* ---- of matrices ---- */

/* The exponential of [[A^H, G], [0, A^H]] has the gradient in its upper right block. */
Node *expand_matrix_exp_backward(Build *b) {
  Node *x = build_input(b, "self"), *grad = build_input(b, "grad");
  infer_rank(&b->in, &x->type, 2, GRAPH_RANK_MAX);
  uint32_t rank = rank_of(x);
  Dim n = size_from_end(x, 1), twice = dim_add(build_dims(b), n, n);
  x = build_op1(b, OP_aten_mH_default, x);
  Node *above = build_cat(b, 2, (Node *[]){x, grad}, rank - 1);
  Node *below = build_cat(b, 2, (Node *[]){zeros_like(b, grad), x}, rank - 1);
  Node *all = build_cat(b, 2, (Node *[]){above, below}, rank - 2);
  all = build_op1(b, OP_aten_linalg_matrix_exp_default, all);
  all = build_slice(b, all, rank - 2, build_const(b, 0), n, 1);
  return build_slice(b, all, rank - 1, n, twice, 1);
}

/* ---- distances of pairs ---- */

/* Each pair once, in the order of an upper triangle; where is the pair of i and j? */
Node *expand_pdist_backward(Build *b) {
  Node *grad = build_input(b, "grad"), *x = build_input(b, "self");
  infer_rank(&b->in, &x->type, 2, 2);
  Dim n = x->type.shape[0], two = build_const(b, 2), one = build_const(b, 1);
  if (is_empty(x) || dim_is(n, 1)) return zeros_like(b, x);
  Node *i = build_arange(b, n), *k = build_unsqueeze(b, i, 1);
  Node *low = build_op2(b, OP_aten_minimum_default, k, i);
  Node *high = build_op2(b, OP_aten_maximum_default, k, i);
  Node *apart = build_op2(b, OP_aten_ne_Tensor, low, high);
  Dim most = dim_sub(build_dims(b), dim_mul(build_dims(b), n, two), one);
  Node *before = build(b, OP_aten_rsub_Scalar, ARGS(arg_node(low), arg_dim(most)));
  before = build_with(b, OP_aten_floor_divide_default, build_mul(b, low, before), build_int(b, 2));
  Node *pair = build_add(b, before, plus_int(b, build_sub(b, high, low), -1));
  pair = build_flat(b, masked(b, apart, pair));
  Node *parts[2] = {grad, build_input(b, "pdist")};
  for (int p = 0; p < 2; p++) {
    Node *all = build(b, OP_aten_index_select_default,
                      ARGS(arg_node(parts[p]), build_int(b, 0), arg_node(pair)));
    parts[p] = masked(b, apart, build_view(b, all, 2, apart->type.shape));
  }
  return build(b, OP_aten__cdist_backward_default,
               ARGS(arg_node(parts[0]), arg_node(x), arg_node(x), build_arg(b, "p"),
                    arg_node(parts[1])));
}

/* ---- of others ---- */

Node *expand_gelu_backward(Build *b) {
  return build_op2(b, OP_aten_gelu_backward_default, build_input(b, "grad"),
                   build_input(b, "self"));
}

Node *expand_cachemask_backward(Build *b) {
  return build_op2(b, OP_aten_mul_Tensor, build_input(b, "grad"), build_input(b, "mask"));
}

/* Each point of the grid is the matrix times its point of the grid of the unit matrix. */
Node *expand_affine_grid_backward(Build *b) {
  Node *grad = build_input(b, "grad");
  infer_rank(&b->in, &grad->type, 4, 5);
  uint32_t n = rank_of(grad) - 2;
  Dim size[GRAPH_RANK_MAX], batch = grad->type.shape[0];
  uint32_t rank = infer_sizes(&b->in, "size", size);
  if (rank != n + 2) infer_fail(&b->in, E_GRAPH_AXES_EXACT, n + 2,
                                infer_shape_text(&b->in, size, rank));
  Node *row = build_unsqueeze(b, build_arange(b, build_const(b, n)), 1);
  Node *unit = build_op2(b, OP_aten_eq_Tensor, row, build_arange(b, build_const(b, n + 1)));
  Dim shape[] = {batch, build_const(b, n), build_const(b, n + 1)};
  unit = build_expand(b, build_to(b, unit, grad->type.dtype), 3, shape);
  Node *points = build(b, OP_aten_affine_grid_generator_default,
                       ARGS(arg_node(unit), arg_dims(b->in.g, rank, size),
                            build_arg(b, "align_corners")));
  Dim count = infer_product(&b->in, size + 2, n);
  Node *one = build_full(b, 3, (Dim[]){batch, count, build_const(b, 1)}, build_int(b, 1),
                         grad->type.dtype);
  points = build_view(b, points, 3, (Dim[]){batch, count, shape[1]});
  points = build_cat(b, 2, (Node *[]){points, one}, 2);
  grad = build_transpose(b, build_view(b, grad, 3, (Dim[]){batch, count, shape[1]}), 1, 2);
  return build_op2(b, OP_aten_bmm_default, grad, points);
}
