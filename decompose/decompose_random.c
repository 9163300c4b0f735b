/* Random draws: nereid.random gives the numbers of a counter-based generator (Philox) for a seed
 * and the element's index; all else is arithmetic on them.  Seeds are constants of the graph, one
 * for each node that draws, so a run draws what the run before drew, or inputs (nereid.draw). */
#include <string.h>

#include "decompose/decompose.h"

static Node *draw_numbers(Build *b, const char *kind, uint32_t rank, const Dim *shape) {
  Arg args[] = {arg_dims(b->in.g, rank, shape),
                build_int(b, b->in.n->id),
                {.kind = ARG_STRING, .name = kind}};
  return build(b, OP_nereid_random_default, 3, args);
}

static Node *draw_result(Build *b, const char *kind) {
  const ValueType *t = &b->in.n->type;
  return draw_numbers(b, kind, t->rank, t->shape);
}

/* Draws in [0, 1), with so few bits that rounding to the dtype does not give 1. */
static Node *uniform(Build *b, uint32_t rank, const Dim *shape, DType t) {
  Node *u = draw_numbers(b, "uniform", rank, shape);
  double steps = t == DT_F16 ? 1 << 11 : t == DT_BF16 ? 1 << 8 : 0;
  if (steps) {
    u = build_with(b, OP_aten_mul_Tensor, u, arg_float(steps));
    u = build_op1(b, OP_aten_floor_default, u);
    u = build_with(b, OP_aten_mul_Tensor, u, arg_float(1 / steps));
  }
  return build_to(b, u, t);
}

Node *decompose_rand(Build *b) {
  const ValueType *t = &b->in.n->type;
  return uniform(b, t->rank, t->shape, t->dtype);
}

Node *decompose_randn(Build *b) {
  return build_to(b, draw_result(b, "normal"), b->in.n->type.dtype);
}

/* Integers from low to high, without high. */
typedef struct {
  Dim low;
  Dim count; /* as 64 bits without a sign */
  bool wide; /* 32 random bits are too few from 2^28 on, as in PyTorch */
} IntegerDraw;

static IntegerDraw integer_draw(Build *b) {
  Dim high = infer_size(&b->in, "high"), low = build_const(b, 0);
  if (infer_takes(&b->in, "low")) low = infer_size(&b->in, "low");
  if (!dim_is_int(low) || !dim_is_int(high))
    return (IntegerDraw){low, dim_sub(b->in.g->dims, high, low), true};
  uint64_t count = (uint64_t)high->value - (uint64_t)low->value;
  return (IntegerDraw){low, build_const(b, (int64_t)count), count >= 1u << 28};
}

static Name integer_bits(IntegerDraw d) { return d.wide ? "bits64" : "bits"; }

/* Few integers are 32 bits modulo their count.  For many, the product of 64 bits and their count
 * has the integer above its lower 64 bits: no part of the range is drawn more often than
 * another. */
static Node *integers_of_bits(Build *b, IntegerDraw d, Node *bits) {
  if (d.wide) {
    bits = build_with(b, OP_nereid_mul_high_default, bits, arg_dim(d.count));
  } else {
    bits = build_to(b, bits, DT_I64);
    bits = build_with(b, OP_aten_bitwise_and_Tensor, bits, build_int(b, 0xffffffff));
    bits = build_with(b, OP_aten_remainder_Tensor, bits, arg_dim(d.count));
  }
  if (!dim_is(d.low, 0)) bits = build_with(b, OP_aten_add_Tensor, bits, arg_dim(d.low));
  return build_to(b, bits, b->in.n->type.dtype);
}

Node *decompose_randint(Build *b) {
  IntegerDraw d = integer_draw(b);
  return integers_of_bits(b, d, draw_result(b, integer_bits(d)));
}

/* The order of random numbers. */
Node *decompose_randperm(Build *b) {
  Arg order = arg_node(draw_result(b, "bits"));
  return build_to(b, build(b, OP_aten_argsort_default, 1, &order), b->in.n->type.dtype);
}

/* ---- trials ---- */

/* Draws elements that are true with probability p. */
static Node *trials(Build *b, Arg p, uint32_t rank, const Dim *shape) {
  return build_with(b, OP_aten_lt_Tensor, draw_numbers(b, "uniform", rank, shape), p);
}

Node *decompose_bernoulli(Build *b) {
  const ValueType *t = &b->in.n->type;
  Arg p = infer_takes(&b->in, "p") ? build_arg(b, "p") : arg_node(build_widen(b, build_self(b)));
  return build_to(b, trials(b, p, t->rank, t->shape), t->dtype);
}

/* Dropout: kept elements are divided by the probability with which an element is kept. */
static Node *scale_kept(Build *b, Node *x, Node *mask, double keep) {
  DType t = x->type.dtype;
  Node *y =
      build_with(b, OP_aten_mul_Tensor, build_widen(b, x), arg_float(keep > 0 ? 1 / keep : 0));
  Node *zero = build_full(b, 0, NULL, build_int(b, 0), y->type.dtype);
  return build_to(b, build_where(b, mask, arg_node(y), arg_node(zero)), t);
}

/* feature_dropout keeps or drops whole channels. */
Node *decompose_dropout(Build *b) {
  Node *x = build_self(b);
  if (!infer_bool(&b->in, "train")) return x;
  bool channels = b->in.n->op->id == OP_aten_feature_dropout_default;
  double keep = 1 - infer_number(&b->in, "p");
  Dim shape[GRAPH_RANK_MAX];
  for (uint32_t i = 0; i < rank_of(x); i++)
    shape[i] = channels && i > 1 ? build_const(b, 1) : x->type.shape[i];
  return scale_kept(b, x, trials(b, arg_float(keep), rank_of(x), shape), keep);
}

Node *decompose_native_dropout(Build *b) {
  Node *x = build_self(b), *mask;
  double keep = 1 - infer_number(&b->in, "p");
  bool train = !infer_has(&b->in, "train") || infer_bool(&b->in, "train");
  if (train) mask = trials(b, arg_float(keep), rank_of(x), x->type.shape);
  else mask = build_full(b, rank_of(x), x->type.shape, build_int(b, 1), DT_I1);
  b->nitems = 2;
  b->items = ARENA_ARRAY(b->in.g->arena, Node *, 2);
  b->items[0] = train ? scale_kept(b, x, mask, keep) : x;
  b->items[1] = mask;
  return NULL;
}

/* ---- choosing by weights ---- */

/* Draws with replacement are positions of a number among the running sums of the weights.  Draws
 * without are the largest of weights over exponential numbers: the winners of a race with those
 * rates. */
Node *decompose_multinomial(Build *b) {
  Node *weight = build_widen(b, build_self(b));
  uint32_t last = rank_of(weight) - 1;
  Arg axis = build_int(b, last);
  const ValueType *t = &b->in.n->type;
  if (infer_bool(&b->in, "replacement")) {
    Node *sums = build_with(b, OP_aten_cumsum_default, weight, axis);
    Dim n = weight->type.shape[last], before = dim_sub(b->in.g->dims, n, build_const(b, 1));
    Node *all = build_slice(b, sums, last, before, n, 1);
    Node *at = build_mul(b, draw_numbers(b, "uniform", t->rank, t->shape), all);
    return build(b, OP_nereid_search_default, ARGS(arg_node(sums), arg_node(at), arg_bool(true)));
  }
  Node *u = draw_numbers(b, "uniform", rank_of(weight), weight->type.shape);
  Node *one = build(b, OP_aten_rsub_Scalar, ARGS(arg_node(u), build_int(b, 1)));
  Node *waits = build_op1(b, OP_aten_neg_default, build_op1(b, OP_aten_log_default, one));
  waits = build_with(b, OP_aten_clamp_min_default, waits, arg_float(1e-30));
  Node *rank = build_div(b, weight, waits);
  Arg args[] = {arg_node(rank), arg_dim(infer_size(&b->in, "num_samples")), axis};
  return build_item(b, build(b, OP_aten_topk_default, 3, args), 1);
}

/* ---- with seeds that are inputs, as TorchInductor's graphs have them ---- */

Node *decompose_inductor_lookup_seed(Build *b) {
  int64_t i = infer_int(&b->in, "index");
  return build_select(b, build_input(b, "seeds"), 0, build_const(b, i));
}

/* The counter of an element is its linear index. */
static Node *draw_of_seed(Build *b, const char *kind) {
  const ValueType *t = &b->in.n->type;
  Node *counter = build_arange(b, build_count(b, b->in.n, all_axes(b->in.n)));
  counter = build_view(b, counter, t->rank, t->shape);
  Arg args[] = {
      arg_node(build_input(b, "seed")), arg_node(counter), {.kind = ARG_STRING, .name = kind}};
  return build(b, OP_nereid_draw_default, 3, args);
}

Node *decompose_inductor_random(Build *b) {
  bool normal = !strcmp(infer_string(&b->in, "mode"), "randn");
  return draw_of_seed(b, normal ? "normal" : "uniform");
}

Node *decompose_inductor_randint(Build *b) {
  IntegerDraw d = integer_draw(b);
  return integers_of_bits(b, d, draw_of_seed(b, integer_bits(d)));
}
