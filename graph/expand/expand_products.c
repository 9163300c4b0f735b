/* Expansions of products, and of other names of factorizations. */
#include <math.h>
#include <string.h>

#include "graph/expand/expansion.h"
#include "graph/messages.h"

/* ---- products ---- */

static Node *conjugate(Build *b, Node *x) {
  return x->type.is_complex ? build_op1(b, OP_aten_conj_default, x) : x;
}

Node *expand_vecdot(Build *b) {
  Node *x = build_input(b, "x"), *y = build_input(b, "y");
  Node *product = build_mul(b, conjugate(b, x), y);
  uint32_t axis = infer_axis_arg(&b->in, "dim", rank_of(product));
  return build_sum(b, product, 1u << axis, false);
}

/* torch.nn.functional.ScalingType */
enum { TENSOR_WISE = 0, ROW_WISE = 1, BLOCKS_OF_ROWS = 4, BLOCKS = 5 };

/* The scale of the left operand (`side` 0) or the right one as _scaled_mm takes it; blocks of the
 * sum have more rows than there are blocks. */
static Node *scale_of_recipe(Build *b, const char *param, const char *recipe, int side, Dim k) {
  int64_t recipes[GRAPH_RANK_MAX] = {0};
  Arg scales = graph_arg(b->in.g, b->in.n, param);
  uint32_t n = infer_ints(&b->in, recipe, recipes);
  if (n != 1 || scales.kind != ARG_LIST || scales.n != 1)
    infer_fail(&b->in, E_GRAPH_SCALE_RECIPE, recipe);
  Node *x = scales.items[0].node;
  if (recipes[0] == TENSOR_WISE) return x;
  if (recipes[0] == ROW_WISE) {
    Dim all = value_numel(b->in.g, &x->type), one = build_const(b, 1);
    return build_view(b, x, 2, side ? (Dim[]){one, all} : (Dim[]){all, one});
  }
  if (recipes[0] != BLOCKS_OF_ROWS && recipes[0] != BLOCKS)
    infer_fail(&b->in, E_GRAPH_SCALE_RECIPE, recipe);
  infer_rank(&b->in, &x->type, 2, 2);
  bool turned = recipes[0] == BLOCKS_OF_ROWS ? side : !side;
  if (recipes[0] == BLOCKS)
    x = build_slice(b, x, 0, build_const(b, 0),
                    dim_floordiv(build_dims(b), dim_add(build_dims(b), k, build_const(b, 127)),
                                 build_const(b, 128)), 1);
  return turned ? build_transpose(b, x, 0, 1) : x;
}

Node *expand_scaled_mm_v2(Build *b) {
  Node *x = build_self(b), *y = build_input(b, "mat2"), *bias = build_input(b, "bias");
  infer_rank(&b->in, &x->type, 2, 2);
  Dim k = x->type.shape[1];
  Arg args[] = {arg_node(x),
                arg_node(y),
                arg_node(scale_of_recipe(b, "scale_a", "recipe_a", 0, k)),
                arg_node(scale_of_recipe(b, "scale_b", "recipe_b", 1, k)),
                bias ? arg_node(bias) : arg_none(),
                arg_none(),
                arg_dtype(infer_dtype(&b->in, "out_dtype", x->type.dtype)),
                arg_bool(infer_bool(&b->in, "use_fast_accum"))};
  return build(b, OP_aten__scaled_mm_default, sizeof args / sizeof *args, args);
}

/* ---- products of groups, as transformers defines them for PyTorch ---- */

/* The ends of groups as aten._grouped_mm takes them; one that i32 does not hold is out of range. */
static Node *narrow_ends(Build *b) {
  Node *ends = build_input(b, "offs");
  if (ends->type.dtype != DT_I64) return ends;
  Arg least = build_int(b, INT32_MIN), most = build_int(b, INT32_MAX);
  ends = build(b, OP_aten_clamp_default, ARGS(arg_node(ends), least, most));
  return build_to(b, ends, DT_I32);
}

static Node *groups(Build *b, Node *x, Node *y) {
  return build(b, OP_aten__grouped_mm_default,
               ARGS(arg_node(x), arg_node(y), arg_node(narrow_ends(b))));
}

Node *expand_grouped_mm_fallback(Build *b) {
  Node *x = build_input(b, "input"), *y = build_input(b, "weight");
  infer_rank(&b->in, &x->type, 2, 2);
  infer_rank(&b->in, &y->type, 3, 3);
  return groups(b, x, y);
}

Node *expand_grouped_mm_fallback_backward(Build *b) {
  Node *x = build_input(b, "input"), *y = build_input(b, "weight");
  Node *grad = build_input(b, "grad_output");
  infer_rank(&b->in, &x->type, 2, 2);
  infer_rank(&b->in, &y->type, 3, 3);
  infer_rank(&b->in, &grad->type, 2, 2);
  infer_same_size(&b->in, grad->type.shape[0], x->type.shape[0], "rows and their gradient");
  infer_same_size(&b->in, grad->type.shape[1], y->type.shape[2], "columns of gradient and weight");
  return build_pair(b, groups(b, grad, build_transpose(b, y, 1, 2)),
                    groups(b, build_transpose(b, x, 0, 1), grad));
}

/* ---- inner, cross and outer products ---- */

/* Over the last axis of both. */
Node *expand_inner(Build *b) {
  Node *x = build_self(b), *y = build_input(b, "other");
  if (!rank_of(x) || !rank_of(y)) return build_mul(b, x, y);
  Arg last = arg_list(b->in.g, 1);
  last.items[0] = build_int(b, -1);
  return build(b, OP_aten_tensordot_default, ARGS(arg_node(x), arg_node(y), last, last));
}

static Node *rolled(Build *b, Node *x, uint32_t axis, int64_t by) {
  Arg shift = arg_list(b->in.g, 1);
  shift.items[0] = build_int(b, by);
  return build(b, OP_aten_roll_default, ARGS(arg_node(x), shift, arg_axes(b->in.g, 1u << axis)));
}

static void need_three(Build *b, const Node *x, uint32_t axis) {
  infer_same_size(&b->in, infer_axis_size(&b->in, &x->type, axis), build_const(b, 3),
                  "the elements of a cross product");
}

/* Component i is x[i + 1] y[i + 2] - x[i + 2] y[i + 1]. */
static Node *cross(Build *b, int64_t dim) {
  Node *x = build_self(b), *y = build_input(b, "other");
  Operand operands[] = {infer_tensor_operand(&x->type), infer_tensor_operand(&y->type)};
  Dim shape[GRAPH_RANK_MAX];
  uint32_t rank = infer_broadcast(&b->in, operands, 2, shape);
  uint32_t axis = infer_axis(&b->in, dim, rank);
  x = build_expand(b, x, rank, shape);
  y = build_expand(b, y, rank, shape);
  need_three(b, x, axis);
  Node *first = build_mul(b, rolled(b, x, axis, -1), rolled(b, y, axis, -2));
  return build_sub(b, first, build_mul(b, rolled(b, x, axis, -2), rolled(b, y, axis, -1)));
}

Node *expand_linalg_cross(Build *b) { return cross(b, infer_int(&b->in, "dim")); }

/* Along the first axis of three elements, if none is given. */
Node *expand_cross(Build *b) {
  if (infer_has(&b->in, "dim")) return cross(b, infer_int(&b->in, "dim"));
  const ValueType *x = infer_self(&b->in);
  for (uint32_t i = 0; i < x->rank; i++)
    if (dim_is(x->shape[i], 3)) return cross(b, i);
  return cross(b, -1);
}

Node *expand_addr(Build *b) {
  Node *product =
      build_op2(b, OP_aten_outer_default, build_input(b, "vec1"), build_input(b, "vec2"));
  Arg alpha = build_arg(b, "alpha"), beta = build_arg(b, "beta");
  if (!arg_is_number(&alpha, 1)) product = build_with(b, OP_aten_mul_Tensor, product, alpha);
  Node *x = build_self(b);
  if (arg_is_number(&beta, 0)) {
    Operand small = infer_tensor_operand(&x->type);
    infer_fits(&b->in, &small, product->type.shape, 2);
    return product;
  }
  if (!arg_is_number(&beta, 1)) x = build_with(b, OP_aten_mul_Tensor, x, beta);
  return build_add(b, x, product);
}

/* ---- chains of matrices ---- */

enum { CHAIN_MOST = 32 };

typedef struct {
  Node **x;
  uint32_t cut[CHAIN_MOST][CHAIN_MOST]; /* the best last product of i .. k: after that matrix */
} Chain;

static double size_of(Dim d) { return dim_is_int(d) ? (double)d->value : 1024; }

/* Multiplications of a product: rows of a, columns of c, and the summed axis, columns of b. */
static double product_cost(const Node *a, const Node *c, const Node *b) {
  return size_of(size_from_end(a, 2)) * size_of(size_from_end(c, 1)) * size_of(size_from_end(b, 1));
}

/* Cuts follow from the cost of each shorter chain. */
static void find_cuts(Chain *c, uint32_t n) {
  double cost[CHAIN_MOST][CHAIN_MOST] = {{0}};
  for (uint32_t length = 1; length < n; length++)
    for (uint32_t i = 0; i + length < n; i++) {
      uint32_t k = i + length;
      cost[i][k] = INFINITY;
      for (uint32_t at = i; at < k; at++) {
        double total = cost[i][at] + cost[at + 1][k] + product_cost(c->x[i], c->x[k], c->x[at]);
        if (total >= cost[i][k]) continue;
        cost[i][k] = total;
        c->cut[i][k] = at;
      }
    }
}

static Node *chain_product(Build *b, const Chain *c, uint32_t i, uint32_t k) {
  if (i == k) return c->x[i];
  uint32_t at = c->cut[i][k];
  return build_op2(b, OP_aten_mm_default, chain_product(b, c, i, at),
                   chain_product(b, c, at + 1, k));
}

static Node *product_of(Build *b, Node **x, uint32_t n) {
  if (n > CHAIN_MOST) infer_fail(&b->in, E_GRAPH_PARTS, (long long)n, (int)CHAIN_MOST);
  for (uint32_t i = 0; i < n; i++) infer_rank(&b->in, &x[i]->type, 2, 2);
  Chain c = {.x = x};
  find_cuts(&c, n);
  return chain_product(b, &c, 0, n - 1);
}

/* The first and the last may be vectors. */
Node *expand_multi_dot(Build *b) {
  uint32_t n, squeezed = 0;
  Node **x = build_inputs(b, infer_takes(&b->in, "tensors") ? "tensors" : "matrices", &n);
  if (!n) infer_fail(&b->in, E_GRAPH_EMPTY_LIST);
  if (n == 1) return x[0];
  bool row = rank_of(x[0]) == 1, column = rank_of(x[n - 1]) == 1;
  if (row) x[0] = build_unsqueeze(b, x[0], 0), squeezed |= 1;
  if (column) x[n - 1] = build_unsqueeze(b, x[n - 1], 1), squeezed |= 2;
  Node *y = product_of(b, x, n);
  return squeezed ? build_squeeze(b, y, squeezed) : y;
}

/* ---- factorizations by other names ---- */

Node *expand_lu_solve(Build *b) {
  return build(b, OP_aten_linalg_lu_solve_default,
               ARGS(build_arg(b, "LU_data"), build_arg(b, "LU_pivots"), build_arg(b, "self")));
}

Node *expand_orgqr(Build *b) {
  return build(b, OP_aten_linalg_householder_product_default,
               ARGS(build_arg(b, "self"), build_arg(b, "input2")));
}

Node *expand_qr(Build *b) {
  Arg mode = {.kind = ARG_STRING, .name = infer_bool(&b->in, "some") ? "reduced" : "complete"};
  Node *list = build(b, OP_aten_linalg_qr_default, ARGS(build_arg(b, "self"), mode));
  return build_pair(b, build_item(b, list, 0), build_item(b, list, 1));
}

/* V, not its transpose; zeros without vectors. */
Node *expand_svd(Build *b) {
  Node *x = build_self(b);
  infer_rank(&b->in, &x->type, 2, GRAPH_RANK_MAX);
  bool some = infer_bool(&b->in, "some") && infer_bool(&b->in, "compute_uv");
  Node *list = build(b, OP_aten_linalg_svd_default, ARGS(arg_node(x), arg_bool(!some)));
  Node *u = build_item(b, list, 0), *values = build_item(b, list, 1);
  Node *v = build_item(b, list, 2);
  v = conjugate(b, build_transpose(b, v, rank_of(v) - 2, rank_of(v) - 1));
  if (!infer_bool(&b->in, "compute_uv")) {
    u = build_with(b, OP_aten_full_like_default, u, build_int(b, 0));
    v = build_with(b, OP_aten_full_like_default, v, build_int(b, 0));
    values = build_op1(b, OP_aten_linalg_svdvals_default, x);
  }
  return build_triple(b, u, values, v);
}

Node *expand_solve_ex(Build *b) {
  Arg args[] = {build_arg(b, "A"), build_arg(b, "B")};
  Node *y =
      build_with_named(b, OP_aten_linalg_solve_default, 2, args, "left", build_arg(b, "left"));
  Node *factors = build(b, OP_aten_linalg_lu_factor_ex_default, 1, args);
  return build_pair(b, y, build_item(b, factors, 2));
}

/* ---- tensors as matrices ---- */

static Node *as_matrix(Build *b, Node *x, uint32_t first) {
  Dim shape[] = {infer_product(&b->in, x->type.shape, first),
                 infer_product(&b->in, x->type.shape + first, rank_of(x) - first)};
  return build_view(b, x, 2, shape);
}

/* The inverse by the axes before and after `ind`. */
Node *expand_tensorinv(Build *b) {
  Node *x = build_self(b);
  int64_t ind = infer_int(&b->in, "ind");
  uint32_t rank = rank_of(x), first = ind > 0 && ind < rank ? (uint32_t)ind : rank;
  if (first == rank) infer_rank(&b->in, &x->type, GRAPH_RANK_MAX, 0);
  Dim shape[GRAPH_RANK_MAX];
  for (uint32_t i = 0; i < rank; i++)
    shape[i] = x->type.shape[i < rank - first ? i + first : i - (rank - first)];
  Node *y = build_op1(b, OP_aten_linalg_inv_default, as_matrix(b, x, first));
  return build_view(b, y, rank, shape);
}

/* The x with tensordot(A, x) = B. */
Node *expand_tensorsolve(Build *b) {
  Node *x = build_self(b), *y = build_input(b, "other");
  int64_t dims[GRAPH_RANK_MAX];
  uint32_t n = infer_has(&b->in, "dims") ? infer_ints(&b->in, "dims", dims) : 0;
  uint32_t axes[GRAPH_RANK_MAX], rank = rank_of(x), k = 0;
  uint32_t moved = n ? infer_axes_arg(&b->in, "dims", rank) : 0;
  for (uint32_t i = 0; i < rank; i++)
    if (!(moved >> i & 1)) axes[k++] = i;
  for (uint32_t i = 0; i < n; i++) axes[k++] = infer_axis(&b->in, dims[i], rank);
  x = build_permute(b, x, axes);
  infer_rank(&b->in, &x->type, rank_of(y), GRAPH_RANK_MAX);
  Node *matrix = as_matrix(b, x, rank_of(y));
  Node *flat = build_view(b, y, 1, matrix->type.shape);
  Node *solved = build_op2(b, OP_aten_linalg_solve_default, matrix, flat);
  return build_view(b, solved, rank - rank_of(y), x->type.shape + rank_of(y));
}

/* ---- powers of numbers ---- */

static Node *powers(Build *b, Node *x, Dim n) {
  DType t = x->type.dtype;
  if (!dtype_is_float(t)) x = build_to(b, x, DT_I64);
  Node *exponents = build_to(b, build_arange(b, n), x->type.dtype);
  return build_op2(b, OP_aten_pow_Tensor_Tensor, build_unsqueeze(b, x, rank_of(x)), exponents);
}

static Dim number_of_powers(Build *b, const Node *x) {
  return infer_has(&b->in, "N") ? infer_size(&b->in, "N") : size_from_end(x, 1);
}

Node *expand_linalg_vander(Build *b) {
  Node *x = build_input(b, "x");
  infer_rank(&b->in, &x->type, 1, GRAPH_RANK_MAX - 1);
  return powers(b, x, number_of_powers(b, x));
}

Node *expand_vander(Build *b) {
  Node *x = build_input(b, "x");
  infer_rank(&b->in, &x->type, 1, 1);
  Node *y = powers(b, x, number_of_powers(b, x));
  if (infer_bool(&b->in, "increasing")) return y;
  return build_with(b, OP_aten_flip_default, y, arg_axes(b->in.g, 2));
}

/* ---- products that are summed ---- */

/* The batches, side by side, make one product. */
Node *expand_addbmm(Build *b) {
  Node *x = build_input(b, "batch1"), *y = build_input(b, "batch2"), *self = build_self(b);
  infer_rank(&b->in, &x->type, 3, 3);
  infer_rank(&b->in, &y->type, 3, 3);
  infer_same_size(&b->in, x->type.shape[0], y->type.shape[0], "the batches");
  infer_same_size(&b->in, x->type.shape[2], y->type.shape[1], "the summed axes");
  Dim inner = infer_product(&b->in, y->type.shape, 2);
  Dim rows[] = {x->type.shape[1], inner}, columns[] = {inner, y->type.shape[2]};
  Dim shape[] = {rows[0], columns[1]};
  x = build_view(b, build_transpose(b, x, 0, 1), 2, rows);
  Node *product = dim_is(inner, 0)
                      ? build_full(b, 2, shape, build_int(b, 0), x->type.dtype)
                      : build_op2(b, OP_aten_mm_default, x, build_view(b, y, 2, columns));
  Arg alpha = build_arg(b, "alpha"), beta = build_arg(b, "beta");
  Operand small = infer_tensor_operand(&self->type);
  infer_fits(&b->in, &small, shape, 2);
  if (!arg_is_number(&alpha, 1)) product = build_with(b, OP_aten_mul_Tensor, product, alpha);
  if (arg_is_number(&beta, 0)) return product;
  if (!arg_is_number(&beta, 1)) self = build_with(b, OP_aten_mul_Tensor, self, beta);
  return build_add(b, self, product);
}

static Node *with_axes(Build *b, const char *operand, const char *param) {
  Node *x = build_input(b, operand);
  int64_t axes[GRAPH_RANK_MAX];
  uint32_t n = infer_ints(&b->in, param, axes);
  for (uint32_t i = 0; i < n; i++)
    x = build_unsqueeze(b, x, infer_axis(&b->in, axes[i], rank_of(x) + 1));
  return x;
}

Node *expand_trilinear(Build *b) {
  Node *y = build_mul(b, with_axes(b, "i1", "expand1"), with_axes(b, "i2", "expand2"));
  y = build_mul(b, y, with_axes(b, "i3", "expand3"));
  Arg list = build_arg(b, "sumdim");
  if (!list.n) return y;
  return build_sum(b, y, infer_axes_arg(&b->in, "sumdim", rank_of(y)), false);
}

/* ---- determinants with their factors ---- */

typedef struct {
  Node *lu, *pivots, *diagonal, *signs;
} Factors;

/* PyTorch factors the transpose of a matrix in the order of its rows, as gradients rely on. */
static Factors factors_of(Build *b) {
  Node *x = build_input(b, "A");
  infer_rank(&b->in, &x->type, 2, GRAPH_RANK_MAX);
  x = build_transpose(b, x, rank_of(x) - 2, rank_of(x) - 1);
  Node *list = build_op1(b, OP_aten_linalg_lu_factor_ex_default, x);
  Factors f = {.lu = build_item(b, list, 0), .pivots = build_item(b, list, 1)};
  f.diagonal = build(b, OP_aten_diagonal_default,
                     ARGS(arg_node(f.lu), build_int(b, 0), build_int(b, -2), build_int(b, -1)));
  Node *own = build_with(b, OP_aten_add_Tensor, build_arange(b, size_from_end(f.pivots, 1)),
                         build_int(b, 1));
  Node *kept = build_op2(b, OP_aten_eq_Tensor, f.pivots, own);
  DType t = f.diagonal->type.dtype;
  Node *one = build_full(b, 0, NULL, build_int(b, 1), t);
  f.signs =
      build_where(b, kept, arg_node(one), arg_node(build_full(b, 0, NULL, build_int(b, -1), t)));
  f.signs = build(b, OP_aten_prod_dim_int, ARGS(arg_node(f.signs), build_int(b, -1)));
  return f;
}

static Node *product_of_last(Build *b, Node *x) {
  return build(b, OP_aten_prod_dim_int, ARGS(arg_node(x), build_int(b, -1)));
}

Node *expand_det_factors(Build *b) {
  Factors f = factors_of(b);
  return build_triple(b, build_mul(b, product_of_last(b, f.diagonal), f.signs), f.lu, f.pivots);
}

Node *expand_slogdet_factors(Build *b) {
  Factors f = factors_of(b);
  Node *sign = product_of_last(b, build_op1(b, OP_aten_sgn_default, f.diagonal));
  Node *size = build_op1(b, OP_aten_log_default, build_op1(b, OP_aten_abs_default, f.diagonal));
  size = build_sum(b, size, 1u << (rank_of(size) - 1), false);
  b->nitems = 4;
  b->items = ARENA_ARRAY(b->in.g->arena, Node *, 4);
  b->items[0] = build_mul(b, sign, f.signs);
  b->items[1] = size;
  b->items[2] = f.lu;
  b->items[3] = f.pivots;
  return NULL;
}

/* ---- others ---- */

Node *expand_addmm_activation(Build *b) {
  NamedArg named[] = {{"beta", build_arg(b, "beta")}, {"alpha", build_arg(b, "alpha")}};
  Node *y = build_with_all(b, OP_aten_addmm_default,
                           ARGS(build_arg(b, "self"), build_arg(b, "mat1"), build_arg(b, "mat2")),
                           2, named);
  if (!infer_bool(&b->in, "use_gelu")) return build_op1(b, OP_aten_relu_default, y);
  /* PyTorch's kernels of GPUs have the form by tanh alone. */
  Arg form = {.kind = ARG_STRING, .name = b->in.g->host ? "none" : "tanh"};
  return build_with_named(b, OP_aten_gelu_default, 1, (Arg[]){arg_node(y)}, "approximate", form);
}

Node *expand_euclidean_dist(Build *b) {
  return build_op2(b, OP_aten_cdist_default, build_input(b, "x1"), build_input(b, "x2"));
}
