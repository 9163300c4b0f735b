/* Reductions become sum.dim_IntList, amax, amin, prod.dim_int, any.dim and all.dim, with their
 * axes written out.  Sums of 16-bit floats are made in f32 and rounded once. */
#include <math.h>
#include <string.h>

#include "decompose/decompose.h"
#include "graph/messages.h"

static uint32_t find_reduced_axes(Build *b) {
  Node *x = build_self(b);
  if (!infer_takes(&b->in, "dim") || !rank_of(x)) return all_axes(x);
  return infer_axes_arg(&b->in, "dim", rank_of(x));
}

static bool keeps(Build *b) { return infer_bool(&b->in, "keepdim"); }

/* The operand in the dtype to compute in: the result's, or f32.  An argument `dtype` casts it
 * before, which rounds it. */
static Node *reduced_operand(Build *b) {
  Node *x = build_to_result(b, build_self(b));
  return build_to(b, x, build_wide(x->type.dtype));
}

/* Writes the axes out where nothing else is to be done. */
static Node *become_reduction(Build *b, OpId op, Node *x) {
  uint32_t set = find_reduced_axes(b);
  if (!set) return build_to_result(b, x);
  Arg args[] = {arg_node(x), arg_axes(b->in.g, set), arg_bool(true)};
  return build_become(b, op, keeps(b) ? 3 : 2, args);
}

/* A sum along one axis that is known without adding up; NULL: there is none. */
static Node *known_sum(Build *b, Node *x) {
  uint32_t set = find_reduced_axes(b), axis = 0;
  if (!set || (set & (set - 1))) return NULL;
  while (!(set >> axis & 1)) axis++;
  Node *sum = decompose_sum_of_one(b, x, axis);
  return sum && !keeps(b) ? build_squeeze(b, sum, set) : sum;
}

Node *decompose_sum(Build *b) {
  Node *x = reduced_operand(b), *known = known_sum(b, x);
  if (known) return build_to_result(b, known);
  if (x->type.dtype == build_result_dtype(b))
    return become_reduction(b, OP_aten_sum_dim_IntList, x);
  return build_to_result(b, build_sum(b, x, find_reduced_axes(b), keeps(b)));
}

Node *decompose_nansum(Build *b) {
  Node *x = reduced_operand(b);
  if (dtype_is_float(x->type.dtype))
    x = build_where(b, build_op1(b, OP_aten_isnan_default, x), arg_float(0), arg_node(x));
  return build_to_result(b, build_sum(b, x, find_reduced_axes(b), keeps(b)));
}

Node *decompose_mean(Build *b) {
  return build_to_result(b, build_mean(b, reduced_operand(b), find_reduced_axes(b), keeps(b)));
}

Node *decompose_prod(Build *b) {
  Node *x = reduced_operand(b);
  Dim all = value_numel(b->in.g, &x->type);
  if (!infer_takes(&b->in, "dim")) x = build_view(b, x, 1, &all);
  uint32_t axis = infer_takes(&b->in, "dim") ? infer_axis_arg(&b->in, "dim", rank_of(x)) : 0;
  if (!rank_of(x)) return build_to_result(b, x);
  Arg args[] = {arg_node(x), build_int(b, axis), arg_bool(true)};
  uint32_t n = keeps(b) ? 3 : 2;
  if (x->type.dtype == build_result_dtype(b)) return build_become(b, OP_aten_prod_dim_int, n, args);
  return build_to_result(b, build(b, OP_aten_prod_dim_int, n, args));
}

Node *decompose_amax(Build *b) { return become_reduction(b, OP_aten_amax_default, build_self(b)); }
Node *decompose_amin(Build *b) { return become_reduction(b, OP_aten_amin_default, build_self(b)); }

/* Floats are hashed by their bits in f64. */
Node *decompose_hash_tensor(Build *b) {
  Node *x = build_self(b);
  if (infer_int(&b->in, "mode")) return NULL;
  bool floats = dtype_is_float(x->type.dtype);
  x = build_to(b, x, floats ? DT_F64 : DT_I64);
  if (floats) x = build_with(b, OP_nereid_bits_default, x, arg_dtype(DT_I64));
  x = build_reduce(b, OP_nereid_xor_sum_default, x, find_reduced_axes(b), keeps(b));
  return build_with(b, OP_nereid_bits_default, x, arg_dtype(DT_U64));
}

/* x with the axes of `set` after the others, merged into one. */
static Node *joined_axes(Build *b, Node *x, uint32_t set) {
  uint32_t axes[GRAPH_RANK_MAX], n = 0, kept;
  Dim shape[GRAPH_RANK_MAX + 1];
  for (uint32_t i = 0; i < rank_of(x); i++)
    if (!(set >> i & 1)) shape[n] = x->type.shape[i], axes[n++] = i;
  kept = n;
  for (uint32_t i = 0; i < rank_of(x); i++)
    if (set >> i & 1) axes[n++] = i;
  shape[kept] = build_count(b, x, set);
  return build_view(b, build_permute(b, x, axes), kept + 1, shape);
}

/* Reduces booleans, along one axis. */
static Node *reduce_truth(Build *b, OpId op) {
  Node *x = build_self(b);
  uint32_t set = find_reduced_axes(b);
  if (x->type.dtype != DT_I1) x = build_with(b, OP_aten_ne_Tensor, x, build_int(b, 0));
  if (!set) return build_to_result(b, x);
  bool several = set & (set - 1);
  if (several) x = joined_axes(b, x, set);
  uint32_t axis = several ? rank_of(x) - 1 : (uint32_t)__builtin_ctz(set);
  Arg args[] = {arg_node(x), build_int(b, axis), arg_bool(true)};
  uint32_t nargs = keeps(b) && !several ? 3 : 2;
  if (build_result_dtype(b) == DT_I1 && !several) return build_become(b, op, nargs, args);
  Node *y = build(b, op, nargs, args);
  return build_to_result(b, build_view(b, y, b->in.n->type.rank, b->in.n->type.shape));
}

Node *decompose_any(Build *b) { return reduce_truth(b, OP_aten_any_dim); }
Node *decompose_all(Build *b) { return reduce_truth(b, OP_aten_all_dim); }

Node *decompose_count_nonzero(Build *b) {
  Node *nonzero = build_with(b, OP_aten_ne_Tensor, build_self(b), build_int(b, 0));
  return build_sum(b, build_to(b, nonzero, DT_I64), find_reduced_axes(b), false);
}

/* ---- the index of the largest ---- */

static Node *reduce_extreme(Build *b, bool max, Node *x, uint32_t set, bool keepdim) {
  return build_reduce(b, max ? OP_aten_amax_default : OP_aten_amin_default, x, set, keepdim);
}

/* A GPU reads a long row twice, first for the extreme and then for its index, unless both are in
 * one number.  Elements of 64 bits have none. */
static bool has_index_in_keys(Build *b, const Node *x, uint32_t axis) {
  enum { ROW_MIN = 8192 }; /* shorter rows stay in registers between both */
  const Graph *g = b->in.g;
  Dim size = x->type.shape[axis];
  DType t = x->type.dtype;
  bool fits = dtype_bits(t) <= 32 && t != DT_U32 && dim_range(g->dims, size).hi <= INT32_MAX;
  return !g->host && fits && dim_likely(g->dims, size) >= ROW_MIN;
}

/* The least of keys whose upper halves are in the order of the elements, the extreme first, and
 * whose lower halves are the indices. */
static Node *extreme_index_in_keys(Build *b, bool max, Node *x, uint32_t axis, bool keepdim) {
  Node *index = build_along(b, build_arange(b, x->type.shape[axis]), axis, rank_of(x));
  Node *key = decompose_sortable_bits(b, x, max);
  if (!max && dtype_is_float(x->type.dtype)) {
    Node *nan = build_op1(b, OP_aten_isnan_default, x);
    key = build_where(b, nan, build_int(b, INT32_MIN), arg_node(key));
  }
  key = build_to(b, key, DT_I64);
  key = build_with(b, OP_aten_bitwise_left_shift_Tensor, key, build_int(b, 32));
  key = build_op2(b, OP_aten_bitwise_or_Tensor, key, index);
  key = reduce_extreme(b, false, key, 1u << axis, keepdim);
  return build_with(b, OP_aten_bitwise_and_Tensor, key, build_int(b, UINT32_MAX));
}

/* The smallest index of the extreme, or of a NaN, which counts as one. */
static Node *extreme_index(Build *b, bool max, Node *x, uint32_t axis, bool keepdim) {
  if (!rank_of(x)) return build_full(b, 0, NULL, build_int(b, 0), DT_I64);
  if (has_index_in_keys(b, x, axis)) return extreme_index_in_keys(b, max, x, axis, keepdim);
  Dim size = x->type.shape[axis];
  Node *best = reduce_extreme(b, max, x, 1u << axis, true);
  Node *hit = build_op2(b, OP_aten_eq_Tensor, x, best);
  if (dtype_is_float(x->type.dtype))
    hit = build_op2(b, OP_aten_logical_or_default, hit, build_op1(b, OP_aten_isnan_default, x));
  Node *index = build_along(b, build_arange(b, size), axis, rank_of(x));
  index = build_where(b, hit, arg_node(index), arg_dim(size));
  return reduce_extreme(b, false, index, 1u << axis, keepdim);
}

/* Without an axis: of all elements in their order. */
static Node *build_arg_extreme(Build *b, bool max) {
  Node *x = build_self(b), *y;
  Dim all = value_numel(b->in.g, &x->type);
  bool one = infer_has(&b->in, "dim");
  if (one) y = extreme_index(b, max, x, infer_axis_arg(&b->in, "dim", rank_of(x)), keeps(b));
  else y = extreme_index(b, max, build_view(b, x, 1, &all), 0, false);
  return build_view(b, y, b->in.n->type.rank, b->in.n->type.shape);
}

Node *decompose_argmax(Build *b) { return build_arg_extreme(b, true); }
Node *decompose_argmin(Build *b) { return build_arg_extreme(b, false); }

static Node *extreme_and_index(Build *b, bool max) {
  Node *x = build_self(b);
  uint32_t axis = infer_axis_arg(&b->in, "dim", rank_of(x));
  Node *value = reduce_extreme(b, max, x, rank_of(x) ? 1u << axis : 0, keeps(b));
  return build_pair(b, value, extreme_index(b, max, x, axis, keeps(b)));
}

Node *decompose_max_dim(Build *b) { return extreme_and_index(b, true); }
Node *decompose_min_dim(Build *b) { return extreme_and_index(b, false); }

Node *decompose_aminmax(Build *b) {
  Node *x = build_self(b);
  uint32_t set = infer_has(&b->in, "dim") ? find_reduced_axes(b) : all_axes(x);
  Node *least = build_reduce(b, OP_aten_amin_default, x, set, keeps(b));
  return build_pair(b, least, build_reduce(b, OP_aten_amax_default, x, set, keeps(b)));
}

/* ---- moments ---- */

/* How many degrees of freedom the mean takes. */
static double correction(Build *b) {
  if (infer_takes(&b->in, "unbiased")) return infer_bool(&b->in, "unbiased");
  return infer_has(&b->in, "correction") ? infer_number(&b->in, "correction") : 1;
}

static Node *divide_by_freedom(Build *b, Node *sum, Dim count) {
  double less = correction(b);
  Dims *d = b->in.g->dims;
  if (less != floor(less) || fabs(less) > 1e9) {
    if (!dim_is_int(count))
      infer_fail(&b->in, E_GRAPH_LITERAL, "dim", infer_dim_text(&b->in, count));
    return build_with(b, OP_aten_div_Tensor, sum, arg_float(fmax((double)count->value - less, 0)));
  }
  Dim freedom = dim_max(d, dim_sub(d, count, build_const(b, (int64_t)less)), build_const(b, 0));
  return build_with(b, OP_aten_div_Tensor, sum, arg_dim(freedom));
}

/* The mean of the squared deviations from the mean. */
static Node *variance(Build *b, Node *x, uint32_t set, Node **mean) {
  *mean = build_mean(b, x, set, true);
  Node *rest = build_sub(b, x, *mean);
  Node *sum = build_sum(b, build_mul(b, rest, rest), set, keeps(b));
  return divide_by_freedom(b, sum, build_count(b, x, set));
}

static Node *wide_self(Build *b) { return build_widen(b, build_self(b)); }

/* The first element along the axes; NULL: there may be none. */
static Node *first_along(Build *b, Node *x, uint32_t set) {
  Dim zero = build_const(b, 0), one = build_const(b, 1);
  for (uint32_t i = 0; i < rank_of(x); i++) {
    if (!(set >> i & 1)) continue;
    if (dim_range(build_dims(b), x->type.shape[i]).lo < 1) return NULL;
    x = build_slice(b, x, i, zero, one, 1);
  }
  return x;
}

/* The square root of the variance.  The mean of equal elements may be rounded, and a deviation that
 * should be 0 has a gradient of its own size; differences from the first element are 0 there.  The
 * mean is that of the elements: a large first one would take the differences' lower digits. */
static Node *deviation(Build *b, uint32_t set, Node **mean) {
  Node *x = wide_self(b), *first = first_along(b, x, set), *of_differences;
  Node *var = variance(b, first ? build_sub(b, x, first) : x, set, &of_differences);
  *mean = first ? build_mean(b, x, set, true) : of_differences;
  return build_op1(b, OP_aten_sqrt_default, var);
}

Node *decompose_var(Build *b) {
  Node *mean;
  return build_to_result(b, variance(b, wide_self(b), find_reduced_axes(b), &mean));
}

Node *decompose_std(Build *b) {
  Node *mean;
  return build_to_result(b, deviation(b, find_reduced_axes(b), &mean));
}

static Node *with_mean(Build *b, bool root) {
  const ValueType *t = b->in.n->type.items;
  uint32_t set = find_reduced_axes(b);
  Node *mean, *var = root ? deviation(b, set, &mean) : variance(b, wide_self(b), set, &mean);
  mean = build_view(b, mean, t[1].rank, t[1].shape);
  var = build_to(b, var, t[0].dtype);
  return build_pair(b, var, build_to(b, mean, t[1].dtype));
}

Node *decompose_var_mean(Build *b) { return with_mean(b, false); }
Node *decompose_std_mean(Build *b) { return with_mean(b, true); }

/* ---- norms of vectors ---- */

static Node *power_sum(Build *b, Node *x, uint32_t set, double p) {
  Node *size = build_op1(b, OP_aten_abs_default, x);
  Node *power = build_with(b, OP_aten_pow_Tensor_Scalar, size, arg_float(p));
  Node *sum = build_sum(b, power, set, keeps(b));
  return build_with(b, OP_aten_pow_Tensor_Scalar, sum, arg_float(1 / p));
}

static Node *reduce_norm(Build *b, Node *x, uint32_t set, double p) {
  if (p == 2)
    return build_op1(b, OP_aten_sqrt_default, build_sum(b, build_mul(b, x, x), set, keeps(b)));
  if (p == 0) {
    Node *nonzero = build_with(b, OP_aten_ne_Tensor, x, build_int(b, 0));
    return build_sum(b, build_to(b, nonzero, x->type.dtype), set, keeps(b));
  }
  Node *size = build_op1(b, OP_aten_abs_default, x);
  if (isinf(p))
    return build_reduce(b, p > 0 ? OP_aten_amax_default : OP_aten_amin_default, size, set,
                        keeps(b));
  return p == 1 ? build_sum(b, size, set, keeps(b)) : power_sum(b, x, set, p);
}

Node *decompose_vector_norm(Build *b) {
  const char *param = infer_takes(&b->in, "ord") ? "ord" : "p";
  double p = infer_has(&b->in, param) ? infer_number(&b->in, param) : 2;
  return build_to_result(b, reduce_norm(b, reduced_operand(b), find_reduced_axes(b), p));
}

/* ---- softmax ---- */

/* x less its largest element along the axis. */
static Node *subtract_maximum(Build *b, Node *x, uint32_t set) {
  return build_sub(b, x, build_reduce(b, OP_aten_amax_default, x, set, true));
}

Node *decompose_softmax_of(Build *b, Node *x, uint32_t axis) {
  uint32_t set = rank_of(x) ? 1u << axis : 0;
  Node *e = build_op1(b, OP_aten_exp_default, subtract_maximum(b, x, set));
  return build_mul(b, e, build_op1(b, OP_aten_reciprocal_default, build_sum(b, e, set, true)));
}

static Node *softmax_operand(Build *b, uint32_t *axis) {
  Node *x = reduced_operand(b);
  *axis = infer_axis_arg(&b->in, "dim", rank_of(x));
  return x;
}

Node *decompose_softmax(Build *b) {
  uint32_t axis;
  Node *x = softmax_operand(b, &axis);
  return build_to_result(b, decompose_softmax_of(b, x, axis));
}

/* Zeros where all of a row is -inf. */
Node *decompose_safe_softmax(Build *b) {
  uint32_t axis;
  Node *x = softmax_operand(b, &axis);
  Node *most = build_reduce(b, OP_aten_amax_default, x, rank_of(x) ? 1u << axis : 0, true);
  Node *masked = build_with(b, OP_aten_eq_Tensor, most, arg_float(-INFINITY));
  Node *y = decompose_softmax_of(b, x, axis);
  return build_to_result(b, build_where(b, masked, arg_float(0), arg_node(y)));
}

Node *decompose_log_softmax(Build *b) {
  uint32_t axis;
  Node *x = softmax_operand(b, &axis);
  uint32_t set = rank_of(x) ? 1u << axis : 0;
  Node *low = subtract_maximum(b, x, set);
  Node *sum = build_sum(b, build_op1(b, OP_aten_exp_default, low), set, true);
  return build_to_result(b, build_sub(b, low, build_op1(b, OP_aten_log_default, sum)));
}

/* An infinite maximum is not taken off: inf - inf is NaN. */
Node *decompose_logsumexp(Build *b) {
  Node *x = build_to(b, build_self(b), build_wide(build_result_dtype(b)));
  uint32_t set = find_reduced_axes(b);
  Node *most = build_reduce(b, OP_aten_amax_default, x, set, true);
  Node *size = build_op1(b, OP_aten_abs_default, most);
  Node *infinite = build_with(b, OP_aten_eq_Tensor, size, arg_float(INFINITY));
  most = build_where(b, infinite, arg_float(0), arg_node(most));
  Node *e = build_op1(b, OP_aten_exp_default, build_sub(b, x, most));
  Node *y = build_op1(b, OP_aten_log_default, build_sum(b, e, set, true));
  y = build_add(b, y, most);
  return build_to_result(b, build_view(b, y, b->in.n->type.rank, b->in.n->type.shape));
}

/* ---- along an axis ---- */

/* Scans of 16-bit floats are made in f32, those of booleans in their result's dtype. */
static Node *build_scan(Build *b, OpId op) {
  Node *x = reduced_operand(b);
  if (!rank_of(x)) return build_to_result(b, x);
  uint32_t axis = infer_axis_arg(&b->in, "dim", rank_of(x));
  Arg args[] = {arg_node(x), build_int(b, axis)};
  DType t = build_result_dtype(b);
  if (x->type.dtype != t) return build_to_result(b, build(b, op, 2, args));
  bool said = !dtype_is_float(t) && t != DT_I64; /* else it is what integers give anyway */
  return said ? build_become_typed(b, op, 2, args, t) : build_become(b, op, 2, args);
}

Node *decompose_cumsum(Build *b) { return build_scan(b, OP_aten_cumsum_default); }
Node *decompose_cumprod(Build *b) { return build_scan(b, OP_aten_cumprod_default); }
Node *decompose_logcumsumexp(Build *b) { return build_scan(b, OP_aten_logcumsumexp_default); }

static Node *with_ends(Build *b, uint32_t axis) {
  Node *parts[3], *before = build_input(b, "prepend"), *after = build_input(b, "append");
  uint32_t n = 0;
  if (before) parts[n++] = before;
  parts[n++] = build_self(b);
  if (after) parts[n++] = after;
  return build_cat(b, n, parts, axis);
}

/* Each element less the one before it, n times. */
Node *decompose_diff(Build *b) {
  enum { TIMES_MAX = 32 };
  if (infer_int(&b->in, "n") > TIMES_MAX) return NULL;
  uint32_t axis = infer_axis_arg(&b->in, "dim", rank_of(build_self(b)));
  Node *x = with_ends(b, axis);
  bool truths = x->type.dtype == DT_I1;
  for (int64_t n = infer_int(&b->in, "n"); n > 0 && !dim_is(x->type.shape[axis], 0); n--) {
    Dim size = x->type.shape[axis], one = build_const(b, 1);
    Node *next = build_slice(b, x, axis, one, size, 1);
    Node *last = build_slice(b, x, axis, build_const(b, 0), dim_sub(b->in.g->dims, size, one), 1);
    x = build_op2(b, truths ? OP_aten_logical_xor_default : OP_aten_sub_Tensor, next, last);
  }
  return x;
}
