/* Integers that stand for floats: scale * (integer - zero point), for a whole tensor or for each
 * place along an axis. */
#include "graph/decompose.h"

typedef struct {
  Build *b;
  Arg scale, zero; /* numbers, or tensors that broadcast along x; zero may be None */
} Scaling;

/* The first argument of those names that the schema has. */
static Arg argument(Build *b, const char *name, const char *plural, uint32_t rank) {
  Arg a = build_arg(b, infer_takes(&b->in, name) ? name : plural);
  bool each = infer_takes(&b->in, "axis") && a.kind == ARG_NODE;
  if (!each) return a;
  uint32_t axis = infer_axis_arg(&b->in, "axis", rank);
  return arg_node(build_along(b, a.node, axis, rank));
}

static Scaling scaling_of(Build *b, Node *x) {
  return (Scaling){b, argument(b, "scale", "scales", rank_of(x)),
                   argument(b, "zero_point", "zero_points", rank_of(x))};
}

/* Rounded to the nearest integer, in f32, and within the limits. */
static Node *quantized(const Scaling *s, Node *x) {
  Build *b = s->b;
  Node *one = build_full(b, 0, NULL, arg_float(1), DT_F32);
  Node *inverse = build_with(b, "aten.div.Tensor", one, s->scale);
  x = build_op1(b, "aten.round.default", build_mul(b, x, inverse));
  if (s->zero.kind != ARG_NONE) x = build_with(b, "aten.add.Tensor", x, s->zero);
  return build(b, "aten.clamp.default",
               ARGS(arg_node(x), build_arg(b, "quant_min"), build_arg(b, "quant_max")));
}

static Node *dequantized(const Scaling *s, Node *x) {
  if (s->zero.kind != ARG_NONE) x = build_with(s->b, "aten.sub.Tensor", x, s->zero);
  return build_with(s->b, "aten.mul.Tensor", x, s->scale);
}

static Node *self_of(Build *b) {
  return build_to(b, build_input(b, b->in.schema->params[0].name), DT_F32);
}

Node *decompose_quantize(Build *b) {
  Node *x = self_of(b);
  Scaling s = scaling_of(b, x);
  return build_to(b, quantized(&s, x), b->in.n->type.dtype);
}

Node *decompose_dequantize(Build *b) {
  Node *x = self_of(b);
  Scaling s = scaling_of(b, x);
  return build_to(b, dequantized(&s, x), b->in.n->type.dtype);
}

Node *decompose_fake_quantize(Build *b) {
  Node *x = self_of(b);
  Scaling s = scaling_of(b, x);
  return build_to(b, dequantized(&s, quantized(&s, x)), b->in.n->type.dtype);
}
