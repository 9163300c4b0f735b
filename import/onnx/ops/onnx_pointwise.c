/* Operators that work element by element. */
#include <math.h>
#include <string.h>

#include "graph/messages.h"
#include "import/messages.h"
#include "import/onnx/onnx_op.h"

/* Old exporters put these in: lists of values that they overwrite, and whether it is a test. */
static void ignore_legacy(OnnxCall *c) {
  if (c->opset >= 7) return;
  onnx_ignore(c, "consumed_inputs");
  onnx_ignore(c, "is_test");
}

void onnx_op_unary(OnnxCall *c) {
  ignore_legacy(c);
  onnx_set(c, 0, build_op1(&c->b, c->op->aten, onnx_in(c, 0)));
}

/* ---- two operands ---- */

/* Before opset 7 the second operand broadcasts only where an attribute says so, and its axes are
 * those of the first from `axis` on. */
static Node *second(OnnxCall *c, const Node *x) {
  Node *y = onnx_in(c, 1);
  if (c->opset >= 7) return y;
  ignore_legacy(c);
  bool broadcast = onnx_flag(c, "broadcast", false);
  int64_t last = (int64_t)rank_of(x) - rank_of(y);
  int64_t axis = onnx_int(c, "axis", last);
  if (!broadcast || !rank_of(y) || last <= 0) return y;
  uint32_t first = onnx_axis(c, axis, rank_of(x));
  if (first > last) onnx_fail(c, E_GRAPH_AXIS, (long long)axis, (uint32_t)last + 1);
  Dim shape[GRAPH_RANK_MAX];
  uint32_t rank = rank_of(x) - first;
  for (uint32_t i = 0; i < rank; i++)
    shape[i] = i < rank_of(y) ? y->type.shape[i] : build_const(&c->b, 1);
  return build_view(&c->b, y, rank, shape);
}

void onnx_op_binary(OnnxCall *c) {
  Node *x = onnx_in(c, 0);
  onnx_set(c, 0, build_op2(&c->b, c->op->aten, x, second(c, x)));
}

void onnx_op_compare(OnnxCall *c) { onnx_op_binary(c); }

void onnx_op_logical(OnnxCall *c) { onnx_op_binary(c); }

static Node *with_mode(OnnxCall *c, OpId op, Node *x, Node *y, const char *mode) {
  Arg name = {.kind = ARG_STRING, .name = pool_name(c->b.in.g->names, mode)};
  return build_with_named(&c->b, op, ARGS(arg_node(x), arg_node(y)), "rounding_mode", name);
}

/* Quotients of integers round toward zero. */
void onnx_op_div(OnnxCall *c) {
  Node *x = onnx_in(c, 0), *y = second(c, x);
  if (dtype_is_float(x->type.dtype)) onnx_set(c, 0, build_div(&c->b, x, y));
  else onnx_set(c, 0, with_mode(c, OP_aten_div_Tensor_mode, x, y, "trunc"));
}

void onnx_op_mod(OnnxCall *c) {
  bool as_in_c = onnx_flag(c, "fmod", false);
  OpId op = as_in_c ? OP_aten_fmod_Tensor : OP_aten_remainder_Tensor;
  onnx_set(c, 0, build_op2(&c->b, op, onnx_in(c, 0), onnx_in(c, 1)));
}

/* Is the exponent one number that is known to be 2 or 3?  Floats are multiplied then, as ONNX
 * Runtime does, and norms are found by it. */
static int64_t small_power(OnnxCall *c, const Node *x) {
  const OnnxKnown *k = onnx_known(c, 1);
  if (!k || k->n != 1 || k->rank > rank_of(x) || !dtype_is_float(x->type.dtype)) return 0;
  if (c->opset < 7) return 0; /* by attributes */
  for (int64_t n = 2; n <= 3; n++)
    if (dtype_is_float(k->dtype) ? k->at[0].number == (double)n : dim_is(k->at[0].dim, n)) return n;
  return 0;
}

/* Floats of two dtypes have the wider one: PyTorch's rules would take that of the one with axes. */
static Node *power(OnnxCall *c, Node *x) {
  Build *b = &c->b;
  Node *y = second(c, x);
  DType t = x->type.dtype, of = y->type.dtype;
  if (dtype_is_float(t) && dtype_is_float(of) && t != of) {
    if (dtype_bytes(t) == dtype_bytes(of)) t = DT_F32;
    else if (dtype_bytes(of) > dtype_bytes(t)) t = of;
    x = build_to(b, x, t);
    y = build_to(b, y, t);
  }
  return build_op2(b, OP_aten_pow_Tensor_Tensor, x, y);
}

/* The result has the base's dtype. */
void onnx_op_pow(OnnxCall *c) {
  Build *b = &c->b;
  Node *x = onnx_in(c, 0);
  int64_t n = small_power(c, x);
  Node *z = n ? build_with(b, OP_aten_pow_Tensor_Scalar, x, build_int(b, n)) : power(c, x);
  onnx_set(c, 0, build_to(b, z, x->type.dtype));
}

void onnx_op_bit_shift(OnnxCall *c) {
  Name direction = onnx_string(c, "direction", "");
  bool left = !strcmp(direction, "LEFT");
  if (!left && strcmp(direction, "RIGHT")) onnx_fail(c, E_ONNX_ATTR_VALUE, "direction", direction);
  OpId op = left ? OP_aten_bitwise_left_shift_Tensor : OP_aten_bitwise_right_shift_Tensor;
  onnx_set(c, 0, build_op2(&c->b, op, onnx_in(c, 0), onnx_in(c, 1)));
}

/* ---- any number of operands ---- */

static Node *fold_inputs(OnnxCall *c, OpId op) {
  Node *x = onnx_in(c, 0);
  ignore_legacy(c);
  for (uint32_t i = 1; i < c->nin; i++) x = build_op2(&c->b, op, x, onnx_in(c, i));
  return x;
}

void onnx_op_variadic(OnnxCall *c) { onnx_set(c, 0, fold_inputs(c, c->op->aten)); }

void onnx_op_mean(OnnxCall *c) {
  Node *sum = fold_inputs(c, OP_aten_add_Tensor);
  onnx_set(c, 0, build_with(&c->b, OP_aten_div_Tensor, sum, arg_float(c->nin)));
}

/* ---- activations ---- */

void onnx_op_leaky_relu(OnnxCall *c) {
  ignore_legacy(c);
  Arg slope = arg_float(onnx_float(c, "alpha", 0.01));
  onnx_set(c, 0, build_with(&c->b, OP_aten_leaky_relu_default, onnx_in(c, 0), slope));
}

void onnx_op_elu(OnnxCall *c) {
  ignore_legacy(c);
  Arg alpha = arg_float(onnx_float(c, "alpha", 1));
  onnx_set(c, 0, build_with(&c->b, OP_aten_elu_default, onnx_in(c, 0), alpha));
}

void onnx_op_celu(OnnxCall *c) {
  Arg alpha = arg_float(onnx_float(c, "alpha", 1));
  onnx_set(c, 0, build_with(&c->b, OP_aten_celu_default, onnx_in(c, 0), alpha));
}

void onnx_op_selu(OnnxCall *c) {
  ignore_legacy(c);
  Arg alpha = arg_float(onnx_float(c, "alpha", 1.67326319217681884765625));
  Arg gamma = arg_float(onnx_float(c, "gamma", 1.05070102214813232421875));
  onnx_set(c, 0, build(&c->b, OP_aten_elu_default, ARGS(arg_node(onnx_in(c, 0)), alpha, gamma)));
}

void onnx_op_gelu(OnnxCall *c) {
  Name how = onnx_string(c, "approximate", "none");
  Arg approximate = {.kind = ARG_STRING, .name = how};
  Arg x = arg_node(onnx_in(c, 0));
  if (strcmp(how, "none") && strcmp(how, "tanh"))
    onnx_fail(c, E_ONNX_ATTR_VALUE, "approximate", how);
  onnx_set(c, 0, build_with_named(&c->b, OP_aten_gelu_default, 1, &x, "approximate", approximate));
}

static Node *build_clamp(OnnxCall *c, Node *x, Arg low, Arg high) {
  return build(&c->b, OP_aten_clamp_default, ARGS(arg_node(x), low, high));
}

void onnx_op_hard_sigmoid(OnnxCall *c) {
  ignore_legacy(c);
  Build *b = &c->b;
  Arg alpha = arg_float(onnx_float(c, "alpha", 0.2)), beta = arg_float(onnx_float(c, "beta", 0.5));
  Node *x = build_with(b, OP_aten_mul_Tensor, onnx_in(c, 0), alpha);
  x = build_with(b, OP_aten_add_Tensor, x, beta);
  onnx_set(c, 0, build_clamp(c, x, arg_float(0), arg_float(1)));
}

void onnx_op_thresholded_relu(OnnxCall *c) {
  Node *x = onnx_in(c, 0);
  Node *above = build_with(&c->b, OP_aten_gt_Scalar, x, arg_float(onnx_float(c, "alpha", 1)));
  Node *zero = onnx_scalar(c, 0, x->type.dtype);
  onnx_set(c, 0, build_where(&c->b, above, arg_node(x), arg_node(zero)));
}

/* x + bias below -lambd, x - bias above lambd, 0 between. */
void onnx_op_shrink(OnnxCall *c) {
  Build *b = &c->b;
  Node *x = onnx_in(c, 0), *zero = onnx_scalar(c, 0, x->type.dtype);
  double bias = onnx_float(c, "bias", 0), lambd = onnx_float(c, "lambd", 0.5);
  DType t = x->type.dtype;
  Node *low = build_to(b, build_with(b, OP_aten_add_Tensor, x, arg_float(bias)), t);
  Node *high = build_to(b, build_with(b, OP_aten_sub_Tensor, x, arg_float(bias)), t);
  Node *is_low = build_with(b, OP_aten_lt_Scalar, x, arg_float(-lambd));
  Node *is_high = build_with(b, OP_aten_gt_Scalar, x, arg_float(lambd));
  Node *rest = build_where(b, is_high, arg_node(high), arg_node(zero));
  onnx_set(c, 0, build_where(b, is_low, arg_node(low), arg_node(rest)));
}

void onnx_op_softplus(OnnxCall *c) {
  Arg args[] = {arg_node(onnx_in(c, 0)), arg_float(1), arg_float(20)};
  onnx_set(c, 0, build(&c->b, OP_aten_softplus_default, 3, args));
}

void onnx_op_softsign(OnnxCall *c) {
  Node *x = onnx_in(c, 0);
  Node *size = build_op1(&c->b, OP_aten_abs_default, x);
  onnx_set(c, 0, build_div(&c->b, x, build_with(&c->b, OP_aten_add_Tensor, size, arg_float(1))));
}

/* Before opset 7 a vector of slopes is that of axis 1. */
void onnx_op_prelu(OnnxCall *c) {
  Build *b = &c->b;
  Node *x = onnx_in(c, 0), *slope = onnx_in(c, 1), *zero = onnx_scalar(c, 0, x->type.dtype);
  ignore_legacy(c);
  bool vector = c->opset < 7 && rank_of(slope) == 1 && rank_of(x) > 1;
  if (vector && !dim_is(slope->type.shape[0], 1)) slope = build_along(b, slope, 1, rank_of(x));
  Node *is_low = build_op2(b, OP_aten_lt_Tensor, x, zero);
  onnx_set(c, 0, build_where(b, is_low, arg_node(build_mul(b, x, slope)), arg_node(x)));
}

/* Limits are attributes before opset 11. */
void onnx_op_clip(OnnxCall *c) {
  Build *b = &c->b;
  Node *x = onnx_in(c, 0);
  ignore_legacy(c);
  if (c->opset < 11) {
    double low = onnx_float(c, "min", -INFINITY), high = onnx_float(c, "max", INFINITY);
    onnx_set(c, 0, build_clamp(c, x, arg_float(low), arg_float(high)));
    return;
  }
  Node *low = onnx_optional(c, 1), *high = onnx_optional(c, 2);
  Node *y = x;
  if (low) y = build_op2(b, OP_aten_maximum_default, y, low);
  if (high) y = build_op2(b, OP_aten_minimum_default, y, high);
  onnx_set(c, 0, y);
}

/* ---- choices, dtypes ---- */

void onnx_op_where(OnnxCall *c) {
  Arg x = arg_node(onnx_in(c, 1)), y = arg_node(onnx_in(c, 2));
  onnx_set(c, 0, build_where(&c->b, onnx_in(c, 0), x, y));
}

void onnx_op_is_inf(OnnxCall *c) {
  bool negative = onnx_flag(c, "detect_negative", true);
  bool positive = onnx_flag(c, "detect_positive", true);
  Node *x = onnx_in(c, 0);
  OpId op = negative && positive ? OP_aten_isinf_default
            : negative           ? OP_aten_isneginf_default
                                 : OP_aten_isposinf_default;
  if (!negative && !positive)
    onnx_set(c, 0, build_full(&c->b, rank_of(x), x->type.shape, arg_bool(false), DT_I1));
  else onnx_set(c, 0, build_op1(&c->b, op, x));
}

void onnx_op_is_nan(OnnxCall *c) {
  Node *x = onnx_in(c, 0);
  if (onnx_form_is_float(c->in[0]->form)) x = onnx_decoded(c, x, c->in[0]->form);
  onnx_set(c, 0, build_op1(&c->b, OP_aten_isnan_default, x));
}

Node *onnx_cast(OnnxCall *c, Node *x, DType t) {
  bool saturate = onnx_flag(c, "saturate", true);
  double largest = t == DT_F8E4NV ? 448 : t == DT_F8E5 ? 57344 : 0;
  if (!largest || !saturate || dtype_represents(t, x->type.dtype)) return build_to(&c->b, x, t);
  if (!dtype_is_float(x->type.dtype)) x = build_to(&c->b, x, DT_F32);
  Arg limits[] = {arg_node(x), arg_float(-largest), arg_float(largest)};
  return build_to(&c->b, build(&c->b, OP_aten_clamp_default, 3, limits), t);
}

/* The lowest bits of an integer, the highest of them its sign. */
static Node *narrowed(OnnxCall *c, Node *x, DType t, unsigned bits) {
  Build *b = &c->b;
  int64_t sign = dtype_is_signed(t) ? 1 << (bits - 1) : 0;
  x = build_to(b, x, dtype_bits(x->type.dtype) == 64 ? DT_I64 : DT_I32);
  x = build_with(b, OP_aten_bitwise_and_Scalar, x, build_int(b, (1 << bits) - 1));
  if (sign) x = build_with(b, OP_aten_bitwise_xor_Scalar, x, build_int(b, sign));
  if (sign) x = build_with(b, OP_aten_sub_Tensor, x, build_int(b, sign));
  return build_to(b, x, t);
}

static void set_cast(OnnxCall *c, DType t, OnnxForm form) {
  Node *x = onnx_in(c, 0);
  OnnxForm from = c->in[0]->form;
  if (form != from && onnx_form_is_float(from)) x = onnx_decoded(c, x, from);
  if (form != from && onnx_form_is_float(form)) x = onnx_encoded(c, x, form);
  else if (form != from && form) x = narrowed(c, x, t, onnx_form_bits(form));
  else if (form != from || !form) x = onnx_cast(c, x, t);
  onnx_set(c, 0, x);
  onnx_set_form(c, 0, form);
  if (form) onnx_ignore(c, "saturate");
  onnx_ignore(c, "round_mode"); /* of E8M0 alone */
}

/* Strings as callers read them: floats in f64, integers in i64. */
static Node *numbers_of_texts(OnnxCall *c, DType t) {
  bool whole = !dtype_is_float(t);
  if (t == DT_I1 || t == DT_U64) onnx_lack(c, "strings as %s", dtype_name(t));
  onnx_ignore(c, "saturate");
  Node *x = onnx_table_rows(c, 0, whole ? "integers" : "floats", "", whole ? DT_I64 : DT_F64);
  return onnx_cast(c, x, t);
}

void onnx_op_cast(OnnxCall *c) {
  if (!onnx_has_attr(c, "to")) onnx_fail(c, E_ONNX_ATTR_MISSING, "to");
  OnnxForm form;
  if (onnx_has(c, 0) && c->in[0]->is_text) {
    if (onnx_int(c, "to", 0) == ONNX_STRING) onnx_set_alias(c, 0, c->in[0]);
    else onnx_set(c, 0, numbers_of_texts(c, onnx_dtype_attr(c, "to", DT_NONE)));
    return;
  }
  DType t = onnx_narrow_attr(c, "to", DT_NONE, &form);
  set_cast(c, t, form);
}

void onnx_op_cast_like(OnnxCall *c) {
  DType t = onnx_type(c, 1)->dtype;
  set_cast(c, t, c->in[1]->form);
}

void onnx_op_identity(OnnxCall *c) {
  if (c->nin && !c->in[0]) onnx_set_absent(c, 0);
  else if (onnx_has(c, 0) && c->in[0]->type.kind == VALUE_LIST) onnx_set_alias(c, 0, c->in[0]);
  else onnx_set(c, 0, onnx_in(c, 0));
}

/* Without training it changes nothing.  The ratio is an attribute before opset 12, training a mode
 * of the exporter before opset 7 and an input from 12 on. */
void onnx_op_dropout(OnnxCall *c) {
  Node *x = onnx_in(c, 0);
  onnx_ignore(c, "ratio");
  onnx_ignore(c, "seed");
  bool test = c->opset >= 7 || onnx_flag(c, "is_test", false);
  bool training = c->opset >= 12 && onnx_has(c, 2) && onnx_need_number(c, 2) != 0;
  bool drops = training && (!onnx_has(c, 1) || onnx_need_number(c, 1) != 0);
  if (drops || !test) onnx_lack(c, "training");
  onnx_set(c, 0, x);
  DType mask = c->opset < 10 ? x->type.dtype : DT_I1;
  if (onnx_wants(c, 1))
    onnx_set(c, 1, build_full(&c->b, rank_of(x), x->type.shape, arg_bool(true), mask));
}

/* ---- gates ---- */

static Node *swish(OnnxCall *c, Node *x) {
  Build *b = &c->b;
  double alpha = onnx_float(c, "alpha", 1);
  if (alpha == 1) return build_op1(b, OP_aten_silu_default, x);
  Node *scaled = build_with(b, OP_aten_mul_Tensor, x, arg_float(alpha));
  return build_mul(b, x, build_op1(b, OP_aten_sigmoid_default, scaled));
}

void onnx_op_swish(OnnxCall *c) { onnx_set(c, 0, swish(c, onnx_in(c, 0))); }

void onnx_op_swiglu(OnnxCall *c) {
  onnx_set(c, 0, build_mul(&c->b, swish(c, onnx_in(c, 0)), onnx_in(c, 1)));
}

/* Reinterprets the bits as another dtype of that size. */
void onnx_op_bit_cast(OnnxCall *c) {
  Node *x = onnx_in(c, 0);
  DType t = onnx_dtype_attr(c, "to", DT_NONE);
  if (!t) onnx_fail(c, E_ONNX_ATTR_MISSING, "to");
  if (x->type.dtype == DT_I1 && t != DT_I1) x = build_to(&c->b, x, DT_U8);
  if (c->in[0]->form || dtype_bits(t) != dtype_bits(x->type.dtype))
    onnx_lack(c, "dtypes of different sizes");
  onnx_set(c, 0, build_with(&c->b, OP_aten_view_dtype, x, arg_dtype(t)));
}
