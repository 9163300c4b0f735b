/* Mixtures of experts of com.microsoft: rows in the order of the experts that are chosen for them,
 * as groups of products. */
#include <math.h>
#include <string.h>

#include "import/messages.h"
#include "import/onnx/ops/onnx_shared.h"

/* The layers of each expert, each [experts, columns, terms], with its bias; NULL: it has none. */
typedef struct {
  Node *weight, *bias;
} Layer;

typedef struct {
  Layer in, out, up;
  int64_t chosen; /* experts of each row */
  Name activation;
  int64_t fusion;
  double alpha, beta, limit;
} Experts;

static Experts read_experts(OnnxCall *c) {
  Experts e = {.chosen = onnx_int(c, "k", 1), .fusion = onnx_int(c, "swiglu_fusion", 0)};
  e.activation = onnx_string(c, "activation_type", "relu");
  e.alpha = onnx_float(c, "activation_alpha", 1);
  e.beta = onnx_float(c, "activation_beta", 0);
  e.limit = onnx_float(c, "swiglu_limit", INFINITY);
  if (onnx_flag(c, "use_sparse_mixer", false)) onnx_lack(c, "use_sparse_mixer");
  if (onnx_flag(c, "swiglu_limit_after_activation", false))
    onnx_lack(c, "swiglu_limit_after_activation");
  return e;
}

/* ---- routes ---- */

/* Each row is there as often as it has experts, in the order of these. */
typedef struct {
  Node *from;  /* of each place the row */
  Node *at;    /* where the places of the rows are, in the rows' order */
  Node *of;    /* of each place the expert */
  Node *ends;  /* of each expert's places */
  Node *share; /* of each place, before they are ordered: [rows, chosen] */
} Routes;

static Node *rows_at(Build *b, Node *x, Node *index) {
  return build(b, OP_aten_index_select_default,
               ARGS(arg_node(x), build_int(b, 0), arg_node(index)));
}

static Node *order_of(Build *b, Node *x) {
  return build_with_named(b, OP_aten_argsort_stable, ARGS(arg_node(x)), "stable", arg_bool(true));
}

static Routes routes_of(OnnxCall *c, const Experts *e, Node *scores, Node *weights) {
  Build *b = &c->b;
  Routes r;
  Dim experts = scores->type.shape[1], places = infer_product(
      &b->in, (Dim[]){scores->type.shape[0], build_const(b, e->chosen)}, 2);
  Node *p = build_with(b, OP_aten_softmax_int, build_to(b, scores, DT_F32), build_int(b, 1));
  /* ONNX Runtime takes the last one of experts with equal scores first. */
  p = build_with(b, OP_aten_flip_default, p, arg_axes(b->in.g, 1u << 1));
  Arg args[] = {arg_node(p), build_int(b, e->chosen), build_int(b, 1)};
  Node *best = build(b, OP_aten_topk_default, 3, args), *expert = build_item(b, best, 1);
  Arg end = arg_dim(dim_sub(build_dims(b), experts, build_const(b, 1)));
  expert = build(b, OP_aten_rsub_Scalar, ARGS(arg_node(expert), end));
  r.share = build_item(b, best, 0);
  if (weights)
    r.share = build(b, OP_aten_gather_default,
                    ARGS(arg_node(build_to(b, weights, DT_F32)), build_int(b, 1),
                         arg_node(expert)));
  if (onnx_flag(c, "normalize_routing_weights", false))
    r.share = build_div(b, r.share, build_sum(b, r.share, 1u << 1, true));
  expert = build_view(b, expert, 1, &places);
  Node *order = order_of(b, expert);
  r.from = build_with(b, OP_aten_floor_divide_default, order, build_int(b, e->chosen));
  r.at = order_of(b, order);
  r.of = rows_at(b, expert, order);
  Node *is = build_op2(b, OP_aten_eq_Tensor, build_unsqueeze(b, expert, 1),
                       build_arange(b, experts));
  Node *counts = build_sum(b, build_to(b, is, DT_I64), 1u << 0, false);
  r.ends = build_to(b, build_with(b, OP_aten_cumsum_default, counts, build_int(b, 0)), DT_I32);
  return r;
}

/* ---- layers ---- */

static Node *layer(Build *b, const Layer *l, const Routes *r, Node *x) {
  Node *weight = build_transpose(b, build_to(b, l->weight, x->type.dtype), 1, 2);
  Node *y = build(b, OP_aten__grouped_mm_default,
                  ARGS(arg_node(x), arg_node(weight), arg_node(r->ends)));
  return l->bias ? build_add(b, y, rows_at(b, l->bias, r->of)) : y;
}

static Node *clamped(Build *b, Node *x, bool below, double limit) {
  return build(b, OP_aten_clamp_default,
               ARGS(arg_node(x), below ? arg_float(-limit) : arg_none(), arg_float(limit)));
}

/* g sigmoid(alpha g) (l + beta), each limited. */
static Node *gated(OnnxCall *c, const Experts *e, Node *g, Node *l) {
  Build *b = &c->b;
  if (isfinite(e->limit)) g = clamped(b, g, false, e->limit), l = clamped(b, l, true, e->limit);
  Node *s = build_with(b, OP_aten_mul_Tensor, g, arg_float(e->alpha));
  s = build_mul(b, g, build_op1(b, OP_aten_sigmoid_default, s));
  return build_mul(b, s, build_with(b, OP_aten_add_Tensor, l, arg_float(e->beta)));
}

/* Both halves of a row: one after the other, or element by element in turns. */
static Node *gated_halves(OnnxCall *c, const Experts *e, Node *x) {
  Build *b = &c->b;
  Dim end = x->type.shape[1], half = dim_floordiv(onnx_dims(c), end, build_const(b, 2));
  Dim zero = build_const(b, 0), one = build_const(b, 1);
  if (e->fusion == 2)
    return gated(c, e, build_slice(b, x, 1, zero, half, 1), build_slice(b, x, 1, half, end, 1));
  return gated(c, e, build_slice(b, x, 1, zero, end, 2), build_slice(b, x, 1, one, end, 2));
}

static Node *activated(OnnxCall *c, const Experts *e, const Routes *r, Node *rows, Node *x) {
  Build *b = &c->b;
  if (!strcmp(e->activation, "swiglu")) {
    if (e->fusion) return gated_halves(c, e, x);
    if (!e->up.weight) onnx_fail(c, E_ONNX_INPUT, 7);
    return gated(c, e, x, layer(b, &e->up, r, rows));
  }
  if (e->up.weight) onnx_lack(c, "fc3 without swiglu");
  Arg tanh = {.kind = ARG_STRING, .name = "tanh"};
  if (!strcmp(e->activation, "identity")) return x;
  if (!strcmp(e->activation, "relu")) return build_op1(b, OP_aten_relu_default, x);
  if (!strcmp(e->activation, "silu")) return build_op1(b, OP_aten_silu_default, x);
  if (strcmp(e->activation, "gelu") != 0) onnx_lack(c, "activation_type %s", e->activation);
  return build_with_named(b, OP_aten_gelu_default, ARGS(arg_node(x)), "approximate", tanh);
}

static void set_mixed(OnnxCall *c, const Experts *e, Node *weights) {
  Build *b = &c->b;
  Node *input = onnx_in(c, 0), *scores = onnx_in(c, 1);
  infer_rank(&b->in, &input->type, 2, 3);
  infer_rank(&b->in, &scores->type, 2, 2);
  Dim experts = scores->type.shape[1];
  if (e->chosen < 1 || (dim_is_int(experts) && e->chosen > experts->value))
    onnx_lack(c, "k %lld", (long long)e->chosen);
  Dim shape[] = {scores->type.shape[0], size_from_end(input, 1)};
  Node *x = build_view(b, input, 2, shape);
  Routes r = routes_of(c, e, scores, weights);
  Node *rows = rows_at(b, x, r.from);
  Node *y = activated(c, e, &r, rows, layer(b, &e->in, &r, rows));
  y = rows_at(b, layer(b, &e->out, &r, y), r.at);
  Dim whole[] = {shape[0], build_const(b, e->chosen), shape[1]};
  y = build_mul(b, build_to(b, build_view(b, y, 3, whole), DT_F32),
                build_unsqueeze(b, r.share, 2));
  y = build_to(b, build_sum(b, y, 1u << 1, false), input->type.dtype);
  onnx_set(c, 0, build_view(b, y, rank_of(input), input->type.shape));
}

void onnx_op_experts(OnnxCall *c) {
  Experts e = read_experts(c);
  e.in = (Layer){onnx_in(c, 2), onnx_optional(c, 3)};
  e.out = (Layer){onnx_in(c, 4), onnx_optional(c, 5)};
  e.up = (Layer){onnx_optional(c, 6), onnx_optional(c, 7)};
  set_mixed(c, &e, NULL);
}

/* ---- weights of few bits ---- */

typedef struct {
  uint32_t weight, zero; /* inputs; the scale and the bias are after the weight */
  const char *bits;
} Packed;

static int64_t bits_of(OnnxCall *c, const char *name) {
  int64_t usual = onnx_int(c, "expert_weight_bits", 4), bits = onnx_int(c, name, usual);
  if (bits != 4 && bits != 8 && bits != 2) onnx_lack(c, "%lld bits", (long long)bits);
  return bits;
}

static Layer packed_layer(OnnxCall *c, const Packed *p) {
  Build *b = &c->b;
  Layer l = {NULL, onnx_optional(c, p->weight + 2)};
  int64_t bits = bits_of(c, p->bits), size = onnx_int(c, "block_size", 0);
  if (!onnx_has(c, p->weight)) return l;
  Node *rows = onnx_unpacked(b, onnx_in(c, p->weight), bits), *scale = onnx_in(c, p->weight + 1);
  infer_rank(&b->in, &rows->type, 3, 3);
  bool blocks = rank_of(scale) == 3;
  if (!dim_is_int(rows->type.shape[2])) onnx_lack(c, "rows of open length");
  if (!blocks) scale = build_unsqueeze(b, scale, 2), size = rows->type.shape[2]->value;
  if (size < 1) onnx_lack(c, "block_size %lld", (long long)size);
  OnnxBlocks q = {rows, scale, NULL, size, 1 << (bits - 1)};
  if (onnx_has(c, p->zero)) {
    Node *zero = onnx_unpacked(b, onnx_in(c, p->zero), bits);
    uint32_t last = rank_of(zero) - 1;
    Dim count = scale->type.shape[blocks ? 2 : 1];
    zero = build_slice(b, zero, last, build_const(b, 0), count, 1);
    q.zero = blocks ? zero : build_unsqueeze(b, zero, 2);
  }
  l.weight = onnx_dequantized(c, &q);
  return l;
}

void onnx_op_packed_experts(OnnxCall *c) {
  static const Packed in = {2, 11, "fc1_expert_weight_bits"};
  static const Packed out = {5, 12, "fc2_expert_weight_bits"};
  static const Packed up = {8, 13, "fc3_expert_weight_bits"};
  Experts e = read_experts(c);
  Name type = onnx_string(c, "quant_type", "int");
  if (strcmp(type, "int") != 0) onnx_lack(c, "quant_type %s", type);
  if (onnx_int(c, "weights_prepacked", -1) > 0) onnx_lack(c, "weights that are packed for a GPU");
  onnx_ignore(c, "accuracy_level"); /* how far others may narrow the rows */
  e.in = packed_layer(c, &in);
  e.out = packed_layer(c, &out);
  e.up = packed_layer(c, &up);
  if (!e.in.weight || !e.out.weight) onnx_fail(c, E_ONNX_INPUT, e.in.weight ? 6 : 3);
  set_mixed(c, &e, onnx_optional(c, 14));
}

/* ---- MoEGroupRouter ---- */

static Node *largest(Build *b, Node *x, int64_t n, uint32_t item) {
  Arg last = build_int(b, (int64_t)rank_of(x) - 1);
  return build_item(b, build(b, OP_aten_topk_default, ARGS(arg_node(x), build_int(b, n), last)),
                    item);
}

/* Where x, [rows, n], has its `count` largest elements. */
static Node *is_largest(Build *b, Node *x, int64_t count) {
  Node *index = largest(b, x, count, 1);
  Node *none = build_full(b, 2, x->type.shape, arg_bool(false), DT_I1);
  return build(b, OP_aten_scatter_value,
               ARGS(arg_node(none), build_int(b, 1), arg_node(index), arg_bool(true)));
}

/* Scores of experts of which some groups have theirs: -inf elsewhere. */
static Node *scores_of_groups(OnnxCall *c, Node *x, int64_t groups, int64_t chosen) {
  Build *b = &c->b;
  Dim all = x->type.shape[1];
  if (!dim_is_int(all) || groups < 1 || all->value % groups || chosen < 1 || chosen > groups)
    onnx_lack(c, "n_group %lld, topk_group %lld", (long long)groups, (long long)chosen);
  int64_t size = all->value / groups, best = onnx_int(c, "group_topk", 2);
  if (best < 1) onnx_lack(c, "group_topk %lld", (long long)best);
  Dim shape[] = {x->type.shape[0], build_const(b, groups), build_const(b, size)};
  x = build_view(b, x, 3, shape);
  Node *sum = build_sum(b, largest(b, x, best < size ? best : size, 0), 1u << 2, false);
  Node *keep = build_unsqueeze(b, is_largest(b, sum, chosen), 2);
  x = build_where(b, keep, arg_node(x), arg_float(-INFINITY));
  return build_view(b, x, 2, (Dim[]){shape[0], all});
}

void onnx_op_route_groups(OnnxCall *c) {
  Build *b = &c->b;
  Node *x = onnx_in(c, 0), *bias = onnx_in(c, 1);
  DType t = x->type.dtype;
  int64_t chosen = onnx_int(c, "top_k", 0);
  int64_t groups = onnx_int(c, "n_group", 1), active = onnx_int(c, "topk_group", 1);
  if (onnx_has(c, 2) || onnx_wants(c, 1) || onnx_wants(c, 2))
    onnx_lack(c, "full scores, and their projection");
  Dim all = size_from_end(x, 1), shape[] = {infer_product(&b->in, x->type.shape, rank_of(x)), all};
  shape[0] = dim_floordiv(onnx_dims(c), shape[0], all);
  x = build_op1(b, OP_aten_sigmoid_default, build_to(b, build_view(b, x, 2, shape), DT_F32));
  Node *scores = scores_of_groups(c, build_add(b, x, bias), groups, active);
  if (chosen < 1 || chosen > all->value / groups * active)
    onnx_lack(c, "top_k %lld", (long long)chosen);
  x = build_with(b, OP_aten_clamp_min_default, x, arg_float(1e-20));
  x = build_op1(b, OP_aten_log_default, x);
  x = build_where(b, is_largest(b, scores, chosen), arg_node(x),
                  arg_float(onnx_float(c, "router_sentinel", -10000)));
  onnx_set(c, 0, build_to(b, x, t));
}
