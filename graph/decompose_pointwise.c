/* Element by element: what is one primitive under another name, and what takes several.  These
 * compute in f32 for 16-bit floats and round once, as PyTorch's kernels do. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "graph/decompose.h"

static DType result_dtype(Build *b) { return b->in.n->type.dtype; }
static Node *self_of(Build *b) { return build_input(b, b->in.schema->params[0].name); }

/* The result in the node's dtype. */
static Node *rounded(Build *b, Node *x) { return build_to(b, x, result_dtype(b)); }

/* An operand in the dtype to compute in; numbers stay numbers. */
static Arg wide(Build *b, const char *param) {
  Arg a = build_arg(b, param);
  if (a.kind != ARG_NODE || a.node->type.kind != VALUE_TENSOR) return a;
  return arg_node(build_to(b, a.node, build_wide(a.node->type.dtype)));
}

static Node *wide_self(Build *b) {
  return build_to(b, self_of(b), build_wide(infer_to_float(self_of(b)->type.dtype)));
}

static Node *add(Build *b, Arg x, Arg y) { return build(b, "aten.add.Tensor", ARGS(x, y)); }
static Node *sub(Build *b, Arg x, Arg y) { return build(b, "aten.sub.Tensor", ARGS(x, y)); }
static Node *mul(Build *b, Arg x, Arg y) { return build(b, "aten.mul.Tensor", ARGS(x, y)); }
static Node *plus(Build *b, Node *x, double y) { return add(b, arg_node(x), arg_float(y)); }
static Node *times(Build *b, Node *x, double y) {
  return y == 1 ? x : mul(b, arg_node(x), arg_float(y));
}
static Node *exp_of(Build *b, Node *x) { return build_op1(b, "aten.exp.default", x); }
static Node *neg(Build *b, Node *x) { return build_op1(b, "aten.neg.default", x); }
static Node *compare(Build *b, const char *target, Node *x, double y) {
  return build_with(b, target, x, arg_float(y));
}

/* log(1 + exp(x)). */
static Node *log1p_exp(Build *b, Node *x) {
  return build_op1(b, "aten.log1p.default", exp_of(b, x));
}

/* ---- sums with a factor ---- */

static bool is_one(const Arg *a) {
  return a->kind == ARG_FLOAT ? a->number == 1 : a->kind == ARG_INT && dim_is(a->dim, 1);
}

/* x + alpha*y */
static Node *add_scaled(Build *b, const char *target, const char *x, const char *y) {
  Arg alpha = build_arg(b, "alpha");
  if (is_one(&alpha)) return build_become(b, target, ARGS(build_arg(b, x), build_arg(b, y)));
  Arg other = wide(b, y);
  if (other.kind != ARG_NODE) /* mul.Tensor needs a tensor */
    other = arg_node(build_full(b, 0, NULL, other, build_wide(result_dtype(b))));
  Node *scaled = mul(b, other, alpha);
  return rounded(b, build(b, target, ARGS(wide(b, x), arg_node(scaled))));
}

Node *decompose_add(Build *b) { return add_scaled(b, "aten.add.Tensor", "self", "other"); }
Node *decompose_sub(Build *b) { return add_scaled(b, "aten.sub.Tensor", "self", "other"); }
Node *decompose_rsub(Build *b) { return add_scaled(b, "aten.sub.Tensor", "other", "self"); }

Node *decompose_addcmul(Build *b) {
  Arg value = build_arg(b, "value");
  Node *x = mul(b, wide(b, "tensor1"), wide(b, "tensor2"));
  if (!is_one(&value)) x = mul(b, arg_node(x), value);
  return rounded(b, add(b, wide(b, "self"), arg_node(x)));
}

Node *decompose_addcdiv(Build *b) {
  Arg value = build_arg(b, "value"), x = wide(b, "tensor1");
  if (!is_one(&value)) x = arg_node(mul(b, x, value));
  Node *quotient = build(b, "aten.div.Tensor", ARGS(x, wide(b, "tensor2")));
  return rounded(b, add(b, wide(b, "self"), arg_node(quotient)));
}

/* From the nearer end, so that both are exact. */
Node *decompose_lerp(Build *b) {
  Node *x = wide_self(b), *end = wide(b, "end").node, *span = build_sub(b, end, x);
  Arg weight = wide(b, "weight");
  if (weight.kind != ARG_NODE) {
    double w = infer_number(&b->in, "weight");
    Node *y = fabs(w) < 0.5 ? build_add(b, x, mul(b, arg_node(span), weight))
                            : build_sub(b, end, mul(b, arg_node(span), arg_float(1 - w)));
    return rounded(b, y);
  }
  Node *w = weight.node, *rest = sub(b, arg_float(1), weight);
  Node *near_x = compare(b, "aten.lt.Tensor", build_op1(b, "aten.abs.default", w), 0.5);
  Node *from_x = build_add(b, x, build_mul(b, w, span));
  Node *from_end = build_sub(b, end, build_mul(b, span, rest));
  return rounded(b, build_where(b, near_x, arg_node(from_x), arg_node(from_end)));
}

/* ---- powers and quotients ---- */

Node *decompose_square(Build *b) { return build_mul(b, self_of(b), self_of(b)); }

static Node *power_of_float(Build *b, Node *x, double e) {
  if (e == 0.5) return build_op1(b, "aten.sqrt.default", x);
  if (e == -0.5) return build_op1(b, "aten.rsqrt.default", x);
  if (e == -1) return build_op1(b, "aten.reciprocal.default", x);
  if (e == -2) return build_op1(b, "aten.reciprocal.default", build_mul(b, x, x));
  return NULL;
}

/* The exponents that PyTorch has kernels of their own for. */
Node *decompose_power(Build *b) {
  Arg exponent = build_arg(b, "exponent");
  if (exponent.kind == ARG_NODE) return NULL;
  double e = infer_number(&b->in, "exponent");
  Node *x = build_to(b, self_of(b), result_dtype(b));
  if (e == 1) return x;
  if (e == 2) return build_mul(b, x, x);
  if (e == 3) return build_mul(b, build_mul(b, x, x), x);
  if (e == 0) return build_full(b, rank_of(x), x->type.shape, build_int(b, 1), x->type.dtype);
  return dtype_is_float(x->type.dtype) ? power_of_float(b, x, e) : NULL;
}

Node *decompose_divide(Build *b) {
  if (!infer_has(&b->in, "rounding_mode"))
    return build_become(b, "aten.div.Tensor", ARGS(build_arg(b, "self"), build_arg(b, "other")));
  bool trunc = !strcmp(infer_string(&b->in, "rounding_mode"), "trunc");
  if (!trunc || !dtype_is_float(result_dtype(b))) return NULL;
  Node *quotient = build(b, "aten.div.Tensor", ARGS(wide(b, "self"), wide(b, "other")));
  return rounded(b, build_op1(b, "aten.trunc.default", quotient));
}

Node *decompose_floor_divide(Build *b) {
  Arg mode = {.kind = ARG_STRING, .name = pool_name(b->in.g->names, "floor")};
  return build_with_named(b, "aten.div.Tensor_mode", ARGS(build_arg(b, "self"), build_arg(b, "other")),
                     "rounding_mode", mode);
}

/* ---- bounds ---- */

static Node *become_clamp(Build *b, Arg low, Arg high) {
  Arg args[] = {arg_node(self_of(b)), low, high};
  return build_become(b, "aten.clamp.default", high.kind == ARG_NONE ? 2 : 3, args);
}

Node *decompose_clamp_min(Build *b) { return become_clamp(b, build_arg(b, "min"), arg_none()); }
Node *decompose_clamp_max(Build *b) { return become_clamp(b, arg_none(), build_arg(b, "max")); }
Node *decompose_relu6(Build *b) { return become_clamp(b, build_int(b, 0), build_int(b, 6)); }
Node *decompose_hardtanh(Build *b) {
  return become_clamp(b, build_arg(b, "min_val"), build_arg(b, "max_val"));
}

Node *decompose_clamp_tensor(Build *b) {
  Node *x = self_of(b), *low = build_input(b, "min"), *high = build_input(b, "max");
  if (low) x = build_op2(b, "aten.maximum.default", x, low);
  if (high) x = build_op2(b, "aten.minimum.default", x, high);
  return rounded(b, x);
}

/* The other one where one is NaN. */
static Node *ignore_nan(Build *b, const char *target) {
  Node *x = build_to(b, self_of(b), result_dtype(b));
  Node *y = build_to(b, build_input(b, "other"), result_dtype(b));
  if (!dtype_is_float(result_dtype(b))) return build_op2(b, target, x, y);
  Node *best = build_where(b, build_op1(b, "aten.isnan.default", y), arg_node(x),
                           arg_node(build_op2(b, target, x, y)));
  return build_where(b, build_op1(b, "aten.isnan.default", x), arg_node(y), arg_node(best));
}

Node *decompose_fmax(Build *b) { return ignore_nan(b, "aten.maximum.default"); }
Node *decompose_fmin(Build *b) { return ignore_nan(b, "aten.minimum.default"); }

/* ---- choices ---- */

/* A number that would change the dtype becomes a tensor of the dtype. */
static Arg fill_value(Build *b) {
  Arg value = build_arg(b, "value");
  DType t = result_dtype(b);
  if (value.kind == ARG_NODE && value.node->type.kind == VALUE_TENSOR)
    return arg_node(build_to(b, value.node, t));
  if (dtype_is_float(t) || (value.kind == ARG_INT && t != DT_I1)) return value;
  return arg_node(build_full(b, 0, NULL, value, t));
}

Node *decompose_masked_fill(Build *b) {
  return build_become(b, "aten.where.self",
                      ARGS(build_arg(b, "mask"), fill_value(b), arg_node(self_of(b))));
}

static Node *infinite(Build *b, const char *target, Node *x, double what) {
  return compare(b, target, x, what);
}

static Node *no(Build *b) {
  return build_full(b, b->in.n->type.rank, b->in.n->type.shape, build_int(b, 0), DT_I1);
}

static Node *yes(Build *b) {
  return build_full(b, b->in.n->type.rank, b->in.n->type.shape, build_int(b, 1), DT_I1);
}

static bool of_floats(Build *b) { return dtype_is_float(self_of(b)->type.dtype); }

Node *decompose_isinf(Build *b) {
  if (!of_floats(b)) return no(b);
  Node *x = build_op1(b, "aten.abs.default", self_of(b));
  return infinite(b, "aten.eq.Tensor", x, INFINITY);
}

Node *decompose_isfinite(Build *b) {
  if (!of_floats(b)) return yes(b);
  Node *x = build_op1(b, "aten.abs.default", self_of(b));
  return infinite(b, "aten.lt.Tensor", x, INFINITY);
}

Node *decompose_isposinf(Build *b) {
  return of_floats(b) ? infinite(b, "aten.eq.Tensor", self_of(b), INFINITY) : no(b);
}

Node *decompose_isneginf(Build *b) {
  return of_floats(b) ? infinite(b, "aten.eq.Tensor", self_of(b), -INFINITY) : no(b);
}

Node *decompose_isnan(Build *b) { return of_floats(b) ? NULL : no(b); }

/* |x - y| <= atol + |rtol * y|, or equal. */
Node *decompose_isclose(Build *b) {
  Node *x = wide_self(b), *y = build_to(b, build_input(b, "other"), x->type.dtype);
  Node *equal = build_op2(b, "aten.eq.Tensor", x, y);
  Node *size = build_op1(b, "aten.abs.default", times(b, y, infer_number(&b->in, "rtol")));
  Node *gap = build_op1(b, "aten.abs.default", build_sub(b, x, y));
  Node *near = build_op2(b, "aten.le.Tensor", gap, plus(b, size, infer_number(&b->in, "atol")));
  Node *finite = compare(b, "aten.lt.Tensor", gap, INFINITY);
  near = build_op2(b, "aten.logical_and.default", finite, near);
  near = build_op2(b, "aten.logical_or.default", equal, near);
  if (!infer_bool(&b->in, "equal_nan")) return near;
  Node *both = build_op2(b, "aten.logical_and.default", build_op1(b, "aten.isnan.default", x),
                            build_op1(b, "aten.isnan.default", y));
  return build_op2(b, "aten.logical_or.default", near, both);
}

static double largest(DType t) {
  switch (t) {
    case DT_F64: return DBL_MAX;
    case DT_F16: return 65504;
    case DT_BF16: return 0x1.fep127;
    default: return FLT_MAX;
  }
}

static double number_or(Build *b, const char *param, double otherwise) {
  return infer_has(&b->in, param) ? infer_number(&b->in, param) : otherwise;
}

Node *decompose_nan_to_num(Build *b) {
  Node *x = self_of(b);
  if (!of_floats(b)) return x;
  double most = largest(x->type.dtype);
  Node *y = build_where(b, build_op1(b, "aten.isnan.default", x),
                        arg_float(number_or(b, "nan", 0)), arg_node(x));
  y = build_where(b, infinite(b, "aten.eq.Tensor", x, INFINITY),
                  arg_float(number_or(b, "posinf", most)), arg_node(y));
  return build_where(b, infinite(b, "aten.eq.Tensor", x, -INFINITY),
                     arg_float(number_or(b, "neginf", -most)), arg_node(y));
}

/* ---- activations ---- */

/* x > 0 ? x*scale : expm1(x*input_scale)*alpha*scale */
static Node *elu(Build *b, double alpha, double scale, double input_scale) {
  Node *x = wide_self(b);
  Node *below = build_op1(b, "aten.expm1.default", times(b, x, input_scale));
  Node *positive = compare(b, "aten.gt.Tensor", x, 0);
  return rounded(b, build_where(b, positive, arg_node(times(b, x, scale)),
                                arg_node(times(b, below, alpha * scale))));
}

Node *decompose_elu(Build *b) {
  return elu(b, infer_number(&b->in, "alpha"), infer_number(&b->in, "scale"),
             infer_number(&b->in, "input_scale"));
}

Node *decompose_celu(Build *b) {
  double alpha = infer_number(&b->in, "alpha");
  return elu(b, alpha, 1, 1 / alpha);
}

Node *decompose_selu(Build *b) {
  return elu(b, 1.6732632423543772848170429916717, 1.0507009873554804934193349852946, 1);
}

Node *decompose_softplus(Build *b) {
  Node *x = wide_self(b);
  double beta = infer_number(&b->in, "beta");
  Node *scaled = times(b, x, beta);
  Node *y = log1p_exp(b, scaled);
  if (beta != 1) y = build_with(b, "aten.div.Tensor", y, arg_float(beta));
  Node *linear = compare(b, "aten.gt.Tensor", scaled, infer_number(&b->in, "threshold"));
  return rounded(b, build_where(b, linear, arg_node(x), arg_node(y)));
}

Node *decompose_mish(Build *b) {
  Node *x = wide_self(b);
  return rounded(b, build_mul(b, x, build_op1(b, "aten.tanh.default", log1p_exp(b, x))));
}

/* min(x, 0) - log(1 + exp(-|x|)) */
Node *decompose_log_sigmoid(Build *b) {
  Node *x = wide_self(b), *size = build_op1(b, "aten.abs.default", x);
  Node *low = build(b, "aten.clamp.default", ARGS(arg_node(x), arg_none(), build_int(b, 0)));
  return rounded(b, build_sub(b, low, log1p_exp(b, neg(b, size))));
}

Node *decompose_hardshrink(Build *b) {
  Node *x = self_of(b), *size = build_op1(b, "aten.abs.default", x);
  Node *small = compare(b, "aten.le.Tensor", size, infer_number(&b->in, "lambd"));
  return build_where(b, small, arg_float(0), arg_node(x));
}

/* NaN stays: x * 0. */
Node *decompose_softshrink(Build *b) {
  Node *x = wide_self(b);
  double lambda = infer_number(&b->in, "lambd");
  Node *y = build_where(b, compare(b, "aten.lt.Tensor", x, -lambda), arg_node(plus(b, x, lambda)),
                        arg_node(times(b, x, 0)));
  return rounded(b, build_where(b, compare(b, "aten.gt.Tensor", x, lambda),
                                arg_node(plus(b, x, -lambda)), arg_node(y)));
}

/* A weight for each channel, axis 1. */
Node *decompose_prelu(Build *b) {
  Node *x = self_of(b), *weight = build_input(b, "weight");
  if (rank_of(x) > 1 && rank_of(weight) == 1) {
    Dim shape[GRAPH_RANK_MAX];
    for (uint32_t i = 0; i < rank_of(x); i++) shape[i] = build_const(b, 1);
    shape[1] = weight->type.shape[0];
    weight = build_view(b, weight, rank_of(x), shape);
  }
  Node *positive = compare(b, "aten.gt.Tensor", x, 0);
  return build_where(b, positive, arg_node(x), arg_node(build_mul(b, weight, x)));
}

/* The first half times the sigmoid of the second. */
Node *decompose_glu(Build *b) {
  Node *x = self_of(b);
  uint32_t axis = infer_axis_arg(&b->in, "dim", rank_of(x));
  Dim half = b->in.n->type.shape[axis], zero = build_const(b, 0);
  Dim end = dim_add(b->in.g->dims, half, half);
  Node *left = build_widen(b, build_slice(b, x, axis, zero, half, 1));
  Node *right = build_widen(b, build_slice(b, x, axis, half, end, 1));
  return rounded(b, build_mul(b, left, build_op1(b, "aten.sigmoid.default", right)));
}

/* max + log(1 + exp(-|x - y|)); the max alone where both are the same infinity. */
Node *decompose_logaddexp(Build *b) {
  Node *x = wide_self(b), *y = build_to(b, build_input(b, "other"), x->type.dtype);
  Node *most = build_op2(b, "aten.maximum.default", x, y);
  Node *gap = build_op1(b, "aten.abs.default", build_sub(b, x, y));
  Node *sum = build_add(b, most, log1p_exp(b, neg(b, gap)));
  Node *ends = infinite(b, "aten.eq.Tensor", build_op1(b, "aten.abs.default", x), INFINITY);
  Node *same = build_op2(b, "aten.logical_and.default", ends,
                            build_op2(b, "aten.eq.Tensor", x, y));
  return rounded(b, build_where(b, same, arg_node(x), arg_node(sum)));
}

/* ---- losses ---- */

static Node *reduced(Build *b, Node *x) {
  enum { NONE, MEAN };
  int64_t how = infer_int(&b->in, "reduction");
  if (how == NONE) return rounded(b, x);
  uint32_t set = all_axes(x);
  return rounded(b, how == MEAN ? build_mean(b, x, set, false) : build_sum(b, x, set, false));
}

Node *decompose_mse_loss(Build *b) {
  Node *gap = sub(b, wide(b, "self"), wide(b, "target"));
  return reduced(b, build_mul(b, gap, gap));
}

Node *decompose_l1_loss(Build *b) {
  Node *gap = sub(b, wide(b, "self"), wide(b, "target"));
  return reduced(b, build_op1(b, "aten.abs.default", gap));
}

/* ---- casts, and what changes nothing ---- */

Node *decompose_cast(Build *b) {
  Node *x = self_of(b);
  if (x->type.dtype == result_dtype(b)) return x;
  return build_become(b, "aten.to.dtype", ARGS(arg_node(x), arg_dtype(result_dtype(b))));
}

Node *decompose_same(Build *b) { return self_of(b); }

Node *decompose_dropout(Build *b) { return infer_bool(&b->in, "train") ? NULL : self_of(b); }
