/* Expansions of PyTorch's quantized_decomposed: numbers of tensors, of tokens (the last axis) and
 * of groups of columns.  Files of dynamic quantization have them, with scales in tensors. */
#include "graph/expand/arithmetic.h"
#include "graph/messages.h"

/* ---- scales that are tensors of one element ---- */

/* The element of a tensor; PyTorch takes it by item(). */
static Node *element(Build *b, const char *param, DType t) {
  Node *x = build_input(b, param);
  if (!dim_is(value_numel(b->in.g, &x->type), 1))
    infer_fail(&b->in, E_GRAPH_ITEM_OF, infer_type_text(&b->in, &x->type));
  return build_to(b, build_view(b, x, 0, NULL), t);
}

static Arg bound(Build *b, const char *param) {
  Arg a = build_arg(b, param);
  return a.kind == ARG_NODE ? arg_node(element(b, param, DT_F32)) : a;
}

static Node *clamped(Build *b, Node *x) {
  Arg args[] = {arg_node(x), bound(b, "quant_min"), bound(b, "quant_max")};
  bool tensors = args[1].kind == ARG_NODE;
  return build(b, tensors ? OP_aten_clamp_Tensor : OP_aten_clamp_default, 3, args);
}

static Node *to_dtype(Build *b, Node *x, const char *param, DType otherwise) {
  return build_to(b, x, infer_dtype(&b->in, param, otherwise));
}

/* PyTorch inverts the scale in f64. */
Node *expand_quantize_by_tensors(Build *b) {
  Node *x = build_to(b, build_input(b, "input"), DT_F32);
  Node *inverse = build_op1(b, OP_aten_reciprocal_default, element(b, "scale", DT_F64));
  x = build_op1(b, OP_aten_round_default, build_mul(b, x, build_to(b, inverse, DT_F32)));
  x = build_add(b, x, element(b, "zero_point", DT_F32));
  return to_dtype(b, clamped(b, x), "dtype", DT_I8);
}

Node *expand_dequantize_by_tensors(Build *b) {
  Node *x = to_dtype(b, build_input(b, "input"), "out_dtype", DT_F32);
  DType t = x->type.dtype;
  x = build_to(b, build_sub(b, x, element(b, "zero_point", t)), t);
  return build_to(b, build_mul(b, x, element(b, "scale", t)), t);
}

/* ---- scales of data ---- */

typedef struct {
  Node *low, *high; /* the extremes, and 0 among them */
} Extremes;

/* Along the axes of `set`, which stay with one element. */
static Extremes extremes(Build *b, Node *x, uint32_t set) {
  Node *low = build_reduce(b, OP_aten_amin_default, x, set, true);
  Node *high = build_reduce(b, OP_aten_amax_default, x, set, true);
  low = build(b, OP_aten_clamp_default, ARGS(arg_node(low), arg_none(), arg_float(0)));
  high = build(b, OP_aten_clamp_default, ARGS(arg_node(high), arg_float(0)));
  return (Extremes){low, high};
}

static Node *divided(Build *b, Node *x, double by) {
  return build_with(b, OP_aten_div_Tensor, x, arg_float(by));
}

static Node *at_least(Build *b, Node *x, double least) {
  return build(b, OP_aten_clamp_default, ARGS(arg_node(x), arg_float(least)));
}

/* Extremes of all elements, as vectors of one. */
static Extremes whole(Build *b) {
  Node *x = build_input(b, "input");
  infer_need_float(&b->in, x->type.dtype);
  return extremes(b, build_flat(b, x), 1);
}

static Node *scale_between(Build *b, Node *width, double steps) {
  Node *scale = build_to(b, divided(b, width, steps), DT_F32);
  return at_least(b, scale, (float)infer_number(&b->in, "eps"));
}

Node *expand_choose_qparams(Build *b) {
  double least = infer_number(&b->in, "quant_min"), most = infer_number(&b->in, "quant_max");
  Extremes e = whole(b);
  Node *scale = scale_between(b, build_sub(b, e.high, e.low), most - least);
  Node *steps = build_div(b, build_to(b, e.low, DT_F32), scale);
  steps = build_op1(b, OP_aten_round_default, steps);
  Node *zero = minus_from(b, least, steps);
  zero = build(b, OP_aten_clamp_default, ARGS(arg_node(zero), arg_float(least), arg_float(most)));
  return build_pair(b, build_to(b, scale, DT_F64), build_to(b, zero, DT_I64));
}

Node *expand_choose_qparams_symmetric(Build *b) {
  enum { MIDDLE = 128 };
  double least = infer_number(&b->in, "quant_min"), most = infer_number(&b->in, "quant_max");
  Extremes e = whole(b);
  Node *below = build_op1(b, OP_aten_neg_default, e.low);
  Node *far = build_op2(b, OP_aten_maximum_default, below, e.high);
  Node *scale = build_to(b, scale_between(b, far, (most - least) / 2), DT_F64);
  bool without_sign = infer_dtype(&b->in, "dtype", DT_I8) == DT_U8;
  Arg zero = build_int(b, without_sign ? MIDDLE : 0);
  return build_pair(b, scale, build_full(b, 1, scale->type.shape, zero, DT_I64));
}

/* ---- tokens ---- */

/* The zero point lies at the end of the range from which it has the smaller error. */
Node *expand_choose_qparams_per_token(Build *b) {
  enum { LEAST = -128, MOST = 127 };
  Node *x = build_input(b, "input");
  infer_need_float(&b->in, x->type.dtype);
  infer_rank(&b->in, &x->type, 1, GRAPH_RANK_MAX);
  Extremes e = extremes(b, x, 1u << (rank_of(x) - 1));
  Node *scale = at_least(b, divided(b, build_sub(b, e.high, e.low), MOST - LEAST), 0x1p-23);
  Node *low = build_div(b, e.low, scale), *high = build_div(b, e.high, scale);
  Node *errors = build_add(b, plus(b, low, LEAST), plus(b, high, MOST));
  Node *zero = choose(b, compared(b, OP_aten_gt_Scalar, errors, 0), minus_from(b, LEAST, low),
                      minus_from(b, MOST, high));
  zero = build(b, OP_aten_clamp_default, ARGS(arg_node(zero), arg_float(LEAST), arg_float(MOST)));
  zero = build_op1(b, OP_aten_round_default, zero);
  return build_pair(b, build_to(b, scale, DT_F64), build_to(b, zero, DT_I64));
}

/* Scales and zero points broadcast; a product with scales of f64 is in f64. */
static Node *quantized(Build *b, Node *x, Node *scales, Node *zeros) {
  x = build_mul(b, x, build_op1(b, OP_aten_reciprocal_default, scales));
  x = build_op1(b, OP_aten_round_default, build_add(b, x, zeros));
  return to_dtype(b, clamped(b, x), "dtype", DT_I8);
}

static Node *dequantized(Build *b, Node *x, Node *scales, Node *zeros) {
  if (zeros) x = build_sub(b, x, zeros);
  return to_dtype(b, build_mul(b, x, scales), "output_dtype", DT_F32);
}

Node *expand_quantize_per_token(Build *b) {
  return quantized(b, build_input(b, "input"), build_input(b, "scales"),
                   build_input(b, "zero_points"));
}

Node *expand_dequantize_per_token(Build *b) {
  return dequantized(b, build_input(b, "input"), build_input(b, "scales"),
                     build_input(b, "zero_points"));
}

/* ---- groups of columns of a matrix ---- */

/* The matrix as rows of one group each. */
static Node *in_groups(Build *b, Node *x, const Node *scales) {
  infer_rank(&b->in, &x->type, 2, 2);
  infer_rank(&b->in, &scales->type, 1, GRAPH_RANK_MAX);
  int64_t size = infer_int(&b->in, "group_size");
  Dim columns = x->type.shape[1];
  if (size < 1) infer_fail(&b->in, E_GRAPH_STEP, (long long)size);
  bool whole_row = dim_is_int(columns) && columns->value < size &&
                   dim_is(scales->type.shape[rank_of(scales) - 1], 1);
  Dim group = whole_row ? columns : build_const(b, size);
  Dim groups = whole_row ? build_const(b, 1) : infer_exact_div(&b->in, columns, size);
  Dim rows = dim_mul(build_dims(b), x->type.shape[0], groups);
  return build_view(b, x, 2, (Dim[]){rows, group});
}

static Node *as_column(Build *b, Node *x, const Node *rows) {
  return x ? build_view(b, x, 2, (Dim[]){rows->type.shape[0], build_const(b, 1)}) : NULL;
}

static Node *by_groups(Build *b, bool quantizes) {
  Node *x = build_input(b, "input"), *scales = build_input(b, "scales");
  Node *y = in_groups(b, x, scales), *zeros = as_column(b, build_input(b, "zero_points"), y);
  scales = as_column(b, scales, y);
  y = quantizes ? quantized(b, y, scales, zeros) : dequantized(b, y, scales, zeros);
  return build_view(b, y, 2, x->type.shape);
}

Node *expand_quantize_per_channel_group(Build *b) { return by_groups(b, true); }
Node *expand_dequantize_per_channel_group(Build *b) { return by_groups(b, false); }
