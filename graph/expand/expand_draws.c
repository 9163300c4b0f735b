/* Expansions of activations that draw numbers. */
#include <math.h>

#include "graph/expand/arithmetic.h"
#include "graph/messages.h"

/* SELU's value far below 0: what alpha dropout sets elements to, before it restores mean and
 * variance. */
Node *expand_alpha_dropout(Build *b) {
  Node *x = build_self(b);
  double p = infer_number(&b->in, "p"), low = -1.7580993408473766;
  if (!infer_bool(&b->in, "train") || p == 0) return x;
  bool channels = b->in.n->op->id == OP_aten_feature_alpha_dropout_default;
  Dim shape[GRAPH_RANK_MAX];
  for (uint32_t i = 0; i < rank_of(x); i++)
    shape[i] = channels && i > 1 ? build_const(b, 1) : x->type.shape[i];
  DType t = x->type.dtype;
  if (p == 1) return build_with(b, OP_aten_mul_Tensor, x, build_int(b, 0));
  Node *zero = build_full(b, rank_of(x), shape, build_int(b, 0), DT_F32);
  Node *kept = build_with(b, OP_aten_bernoulli_p, zero, arg_float(1 - p));
  kept = build_with(b, OP_aten_ne_Scalar, kept, build_int(b, 0));
  double scale = 1 / sqrt((1 - p) * (1 + p * low * low));
  Node *wide = build_widen(b, x);
  Node *y = build_where(b, kept, arg_node(wide),
                        arg_node(build_full(b, 0, NULL, arg_float(low), wide->type.dtype)));
  y = build_with(b, OP_aten_mul_Tensor, y, arg_float(scale));
  return build_to(b, build_with(b, OP_aten_add_Tensor, y, arg_float(-scale * p * low)), t);
}

/* Each slope is drawn in training, and stored in *noise. */
static Node *random_relu(Build *b, Node **noise) {
  Node *x = build_self(b);
  double low = infer_number(&b->in, "lower"), high = infer_number(&b->in, "upper");
  if (!infer_bool(&b->in, "training"))
    return build_with(b, OP_aten_leaky_relu_default, x, arg_float((low + high) / 2));
  Node *slope = build_op1(b, OP_aten_rand_like_default, build_widen(b, x));
  slope = plus(b, times(b, slope, high - low), low);
  Node *below = build_to(b, build_mul(b, x, slope), x->type.dtype);
  Node *above = build_with(b, OP_aten_gt_Scalar, x, build_int(b, 0));
  if (noise) {
    Node *one = build_full(b, 0, NULL, build_int(b, 1), slope->type.dtype);
    *noise = build_to(b, choose(b, above, one, slope), (*noise)->type.dtype);
  }
  return choose(b, above, x, below);
}

Node *expand_rrelu(Build *b) { return random_relu(b, NULL); }

Node *expand_rrelu_with_noise(Build *b) {
  Node *noise = build_input(b, "noise");
  Node *y = random_relu(b, &noise);
  return build_pair(b, y, noise);
}

/* ---- distributions ---- */

/* A number of (0, 1) or of the normal distribution for each element of x, in the dtype in which x's
 * are computed. */
static Node *drawn(Build *b, const Node *x, OpId op) {
  DType t = x->type.dtype == DT_F64 ? DT_F64 : DT_F32;
  Node *like = build_full(b, rank_of(x), x->type.shape, build_int(b, 0), t);
  return build_op1(b, op, like);
}

static Node *uniform_of(Build *b, const Node *x) { return drawn(b, x, OP_aten_rand_like_default); }

/* Above 0, so that it has a logarithm. */
static Node *positive_uniform(Build *b, const Node *x) {
  return minus_from(b, 1, uniform_of(b, x));
}

static Node *normal_of(Build *b, const Node *x) { return drawn(b, x, OP_aten_randn_like_default); }

static double parameter(Build *b, const char *name) { return infer_number(&b->in, name); }

static Node *self_of_floats(Build *b) {
  Node *x = build_self(b);
  infer_need_float(&b->in, x->type.dtype);
  return x;
}

static Node *as_self(Build *b, Node *y, const Node *x) { return build_to(b, y, x->type.dtype); }

Node *expand_uniform(Build *b) {
  Node *x = self_of_floats(b);
  double low = parameter(b, "from"), high = parameter(b, "to");
  return as_self(b, plus(b, times(b, uniform_of(b, x), high - low), low), x);
}

Node *expand_normal(Build *b) {
  Node *x = self_of_floats(b);
  Node *y = times(b, normal_of(b, x), parameter(b, "std"));
  return as_self(b, plus(b, y, parameter(b, "mean")), x);
}

Node *expand_log_normal(Build *b) {
  Node *x = self_of_floats(b);
  Node *y = plus(b, times(b, normal_of(b, x), parameter(b, "std")), parameter(b, "mean"));
  return as_self(b, build_op1(b, OP_aten_exp_default, y), x);
}

Node *expand_exponential(Build *b) {
  Node *x = self_of_floats(b);
  Node *y = build_op1(b, OP_aten_log_default, positive_uniform(b, x));
  return as_self(b, times(b, y, -1 / parameter(b, "lambd")), x);
}

Node *expand_cauchy(Build *b) {
  Node *x = self_of_floats(b);
  Node *turn = times(b, plus(b, uniform_of(b, x), -0.5), 3.141592653589793);
  Node *y = build_op1(b, OP_aten_tan_default, turn);
  return as_self(b, plus(b, times(b, y, parameter(b, "sigma")), parameter(b, "median")), x);
}

/* The number of trials up to the first success. */
Node *expand_geometric(Build *b) {
  Node *x = build_self(b);
  Node *y = build_op1(b, OP_aten_log_default, positive_uniform(b, x));
  y = build_op1(b, OP_aten_ceil_default, times(b, y, 1 / log1p(-parameter(b, "p"))));
  return as_self(b, build_with(b, OP_aten_clamp_min_default, y, build_int(b, 1)), x);
}

/* Each element with its own probability. */
Node *expand_bernoulli(Build *b) {
  Node *x = build_self(b), *p = build_input(b, "p");
  Operand small = infer_tensor_operand(&p->type);
  infer_fits(&b->in, &small, x->type.shape, rank_of(x));
  p = build_expand(b, p, rank_of(x), x->type.shape);
  return as_self(b, build_op1(b, OP_aten_bernoulli_default, p), x);
}

/* A mean or a deviation for each element, as tensors or numbers. */
Node *expand_normal_of(Build *b) {
  Node *parts[2];
  static const char *const params[] = {"mean", "std"};
  for (int i = 0; i < 2; i++) {
    Arg a = build_arg(b, params[i]);
    parts[i] = a.kind == ARG_NODE ? a.node : NULL;
  }
  if (!parts[0] && !parts[1]) infer_fail(&b->in, E_GRAPH_NO_TENSOR, params[0]);
  Operand x[] = {infer_operand(&b->in, "mean"), infer_operand(&b->in, "std")};
  Dim shape[GRAPH_RANK_MAX];
  uint32_t rank = infer_broadcast(&b->in, x, 2, shape);
  DType t = (parts[0] ? parts[0] : parts[1])->type.dtype;
  infer_need_float(&b->in, t);
  Node *y = normal_of(b, build_full(b, rank, shape, build_int(b, 0), t));
  y = parts[1] ? build_mul(b, y, parts[1]) : times(b, y, parameter(b, "std"));
  y = parts[0] ? build_add(b, y, parts[0]) : plus(b, y, parameter(b, "mean"));
  return build_to(b, y, t);
}

/* ---- integers ---- */

static Node *integers(Build *b, const Node *x, Arg low, Arg high, DType t) {
  Arg size = arg_dims(b->in.g, rank_of(x), x->type.shape);
  return build_to(b, build(b, OP_aten_randint_low, ARGS(low, high, size)), t);
}

/* One more than the largest that PyTorch draws: all of an integer's, or of a float's digits. */
static int64_t end_of_draws(DType t) {
  switch (t) {
    case DT_F16: return (1 << 11) + 1;
    case DT_BF16: return (1 << 8) + 1;
    case DT_F32: return (1 << 24) + 1;
    case DT_F64: return ((int64_t)1 << 53) + 1;
    case DT_U64:
    case DT_I64: return INT64_MAX;
    case DT_I1: return 2;
    default: return (int64_t)1 << (dtype_bits(t) - dtype_is_signed(t));
  }
}

Node *expand_random(Build *b) {
  Node *x = build_self(b);
  Arg low = infer_takes(&b->in, "from") ? build_arg(b, "from") : build_int(b, 0);
  Arg high = infer_takes(&b->in, "to") ? build_arg(b, "to") : arg_none();
  if (high.kind == ARG_NONE) high = build_int(b, end_of_draws(x->type.dtype));
  return integers(b, x, low, high, x->type.dtype);
}

Node *expand_randint_like(Build *b) {
  Node *x = build_self(b);
  Arg low = infer_takes(&b->in, "low") ? build_arg(b, "low") : build_int(b, 0);
  return integers(b, x, low, build_arg(b, "high"), infer_dtype(&b->in, "dtype", x->type.dtype));
}
