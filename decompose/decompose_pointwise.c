/* Element by element: composites that are no expression in graph/ops/op_table.def. */
#include "decompose/decompose.h"

/* ---- activations ---- */

/* A weight for each channel, axis 1. */
Node *decompose_prelu(Build *b) {
  Node *x = build_self(b), *weight = build_input(b, "weight");
  if (rank_of(x) > 1 && rank_of(weight) == 1) {
    Dim shape[GRAPH_RANK_MAX];
    for (uint32_t i = 0; i < rank_of(x); i++) shape[i] = build_const(b, 1);
    shape[1] = weight->type.shape[0];
    weight = build_view(b, weight, rank_of(x), shape);
  }
  if (!rank_of(x)) weight = build_view(b, weight, 0, NULL);
  Node *positive = build_with(b, OP_aten_gt_Tensor, x, build_int(b, 0));
  return build_where(b, positive, arg_node(x), arg_node(build_mul(b, weight, x)));
}

/* The first half times the sigmoid of the second. */
Node *decompose_glu(Build *b) {
  Node *x = build_self(b);
  uint32_t axis = infer_axis_arg(&b->in, "dim", rank_of(x));
  Dim half = b->in.n->type.shape[axis], zero = build_const(b, 0);
  Dim end = dim_add(b->in.g->dims, half, half);
  Node *left = build_widen(b, build_slice(b, x, axis, zero, half, 1));
  Node *right = build_widen(b, build_slice(b, x, axis, half, end, 1));
  return build_to_result(b, build_mul(b, left, build_op1(b, OP_aten_sigmoid_default, right)));
}

/* ---- casts, and what changes nothing ---- */

Node *decompose_cast(Build *b) {
  Node *x = build_self(b);
  if (x->type.dtype == build_result_dtype(b)) return x;
  return build_become(b, OP_aten_to_dtype, ARGS(arg_node(x), arg_dtype(build_result_dtype(b))));
}

/* Reinterprets the bits as elements of another dtype, of one size. */
Node *decompose_view_dtype(Build *b) {
  Node *x = build_self(b);
  DType from = x->type.dtype, to = build_result_dtype(b);
  if (from == to) return x;
  if (dtype_bits(from) != dtype_bits(to) || from == DT_I1 || to == DT_I1) return NULL;
  return build_become(b, OP_nereid_bits_default, ARGS(arg_node(x), arg_dtype(to)));
}

Node *decompose_same(Build *b) { return build_self(b); }

/* ---- quantization ----
 * Integers are floats: scale * (integer - zero point), for a whole tensor or along an axis. */

typedef struct {
  Build *b;
  Arg scale, inverse, zero; /* numbers, or tensors that broadcast along x; zero may be None */
} Scaling;

/* The first argument of those names that the schema has. */
static Arg scalar_argument(Build *b, const char *name, const char *plural, uint32_t rank) {
  Arg a = build_arg(b, infer_takes(&b->in, name) ? name : plural);
  bool each = infer_takes(&b->in, "axis") && a.kind == ARG_NODE;
  if (!each) return a;
  uint32_t axis = infer_axis_arg(&b->in, "axis", rank);
  return arg_node(build_along(b, a.node, axis, rank));
}

/* PyTorch inverts the number of quantize_per_tensor in f64, others in f32. */
static Arg inverse_of(Build *b, Arg scale) {
  bool wide = graph_is(b->in.n, OP_quantized_decomposed_quantize_per_tensor_default);
  if (wide && scale.kind == ARG_FLOAT) return arg_float(1 / scale.number);
  Node *one = build_full(b, 0, NULL, arg_float(1), DT_F32);
  return arg_node(build_with(b, OP_aten_div_Tensor, one, scale));
}

static Scaling scaling_of(Build *b, Node *x) {
  Arg scale = scalar_argument(b, "scale", "scales", rank_of(x));
  return (Scaling){b, scale, inverse_of(b, scale),
                   scalar_argument(b, "zero_point", "zero_points", rank_of(x))};
}

/* Rounded to the nearest integer, in f32, and within the limits. */
static Node *quantize_input(const Scaling *s, Node *x) {
  Build *b = s->b;
  x = build_op1(b, OP_aten_round_default, build_with(b, OP_aten_mul_Tensor, x, s->inverse));
  if (s->zero.kind != ARG_NONE) x = build_with(b, OP_aten_add_Tensor, x, s->zero);
  return build(b, OP_aten_clamp_default,
               ARGS(arg_node(x), build_arg(b, "quant_min"), build_arg(b, "quant_max")));
}

static Node *dequantized(const Scaling *s, Node *x) {
  if (s->zero.kind != ARG_NONE) x = build_with(s->b, OP_aten_sub_Tensor, x, s->zero);
  return build_with(s->b, OP_aten_mul_Tensor, x, s->scale);
}

static Node *float_operand(Build *b) { return build_to(b, build_self(b), DT_F32); }

Node *decompose_quantize(Build *b) {
  Node *x = float_operand(b);
  Scaling s = scaling_of(b, x);
  return build_to(b, quantize_input(&s, x), b->in.n->type.dtype);
}

/* PyTorch takes the difference of integers and zero points of one short dtype in it, and wraps. */
static bool difference_wraps(const Scaling *s, const Node *x) {
  DType t = x->type.dtype;
  bool same = s->zero.kind == ARG_NODE && s->zero.node->type.dtype == t;
  return same && dtype_is_int(t) && dtype_bits(t) <= 16;
}

Node *decompose_dequantize(Build *b) {
  Node *x = build_self(b);
  Scaling s = scaling_of(b, x);
  if (difference_wraps(&s, x)) {
    x = build_with(b, OP_aten_sub_Tensor, x, s.zero);
    s.zero = arg_none();
  }
  x = build_to(b, x, DT_F32);
  return build_to(b, dequantized(&s, x), b->in.n->type.dtype);
}

/* A number that is none becomes the least level. */
Node *decompose_fake_quantize(Build *b) {
  Node *x = float_operand(b);
  Scaling s = scaling_of(b, x);
  Node *is_number = build_with(b, OP_aten_eq_Tensor, x, arg_node(x));
  Node *level = quantize_input(&s, x);
  level = build_where(b, is_number, arg_node(level), build_arg(b, "quant_min"));
  return build_to(b, dequantized(&s, level), b->in.n->type.dtype);
}
