/* Operators that make tensors of nothing. */
#include <string.h>

#include "graph/messages.h"
#include "import/messages.h"
#include "import/onnx/onnx_read.h"

void onnx_op_constant(OnnxCall *c) {
  static const char *const names[] = {"value",         "value_float", "value_floats",
                                      "value_int",     "value_ints",  "value_string",
                                      "value_strings", "sparse_value"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    if (!onnx_has_attr(c, names[i])) continue;
    OnnxValue *v = onnx_tensor(c, names[i]);
    if (!onnx_wants(c, 0)) return;
    c->out[0]->type = v->type;
    c->out[0]->tensor = v->tensor;
    c->out[0]->known = v->known;
    c->out[0]->is_text = v->is_text;
    c->out[0]->form = v->form;
    return;
  }
  onnx_fail(c, E_ONNX_ATTR_MISSING, "value");
}

void onnx_op_constant_of_shape(OnnxCall *c) {
  Dim shape[GRAPH_RANK_MAX];
  uint32_t rank = onnx_need_dims(c, 0, shape);
  Arg fill = arg_float(0);
  DType t = DT_F32;
  if (onnx_has_attr(c, "value")) {
    const OnnxKnown *k = onnx_tensor_known_attr(c, "value");
    if (!k || k->n != 1) onnx_fail(c, E_ONNX_SINGLE, "value");
    t = k->dtype;
    fill = dtype_is_float(t) ? arg_float(k->at[0].number) : arg_dim(k->at[0].dim);
    if (t == DT_I1) fill = arg_bool(k->at[0].dim->value);
  }
  onnx_set(c, 0, build_full(&c->b, rank, shape, fill, t));
  if (onnx_has_attr(c, "value")) onnx_set_form(c, 0, onnx_tensor(c, "value")->form);
}

static Arg number_attribute_arg(OnnxCall *c, uint32_t i) {
  const OnnxKnown *k = onnx_need(c, i);
  if (k->n != 1) onnx_fail(c, E_ONNX_SINGLE, c->in[i]->name);
  return dtype_is_float(k->dtype) ? arg_float(k->at[0].number) : arg_dim(k->at[0].dim);
}

void onnx_op_range(OnnxCall *c) {
  Arg step = onnx_has(c, 2) || !c->op->domain ? number_attribute_arg(c, 2) : build_int(&c->b, 1);
  Arg args[] = {number_attribute_arg(c, 0), number_attribute_arg(c, 1), step};
  DType t = onnx_type(c, 0)->dtype;
  onnx_set(c, 0,
           build_with_named(&c->b, OP_aten_arange_start_step, 3, args, "dtype", arg_dtype(t)));
}

/* ---- random numbers ----
 *
 * A run draws what the run before drew: the seed is the attribute's bits, or without one those of
 * the name of the node's result, and of how often the node was read, as in turns of a loop.  So a
 * plan that computes a value first draws what the plan for the rest of the model does. */

static uint32_t seed_of_node(OnnxCall *c) {
  enum { BASIS = 0x811c9dc5, PRIME = 0x01000193 }; /* FNV-1a */
  Onnx *r = c->r;
  const char *name = c->proto->n_output ? onnx_text(c->proto->output[0]) : "";
  uint32_t seed = BASIS;
  for (const char *s = name; *s; s++) seed = (seed ^ (uint8_t)*s) * PRIME;
  void **slot = namemap_put(r->scratch, &r->draws, pool_name(r->names, name));
  uintptr_t times = (uintptr_t)*slot;
  *slot = (void *)(times + 1);
  return seed + (uint32_t)times * PRIME;
}

static Node *draw(OnnxCall *c, const char *kind, uint32_t rank, const Dim *shape) {
  Build *b = &c->b;
  float given = (float)onnx_float(c, "seed", 0);
  uint32_t seed;
  memcpy(&seed, &given, sizeof seed);
  if (!onnx_has_attr(c, "seed")) seed = seed_of_node(c);
  Arg how = {.kind = ARG_STRING, .name = pool_name(b->in.g->names, kind)};
  return build(b, OP_nereid_random_default,
               ARGS(arg_dims(b->in.g, rank, shape), build_int(b, seed), how));
}

/* Draws numbers in the shape of the attribute, or of the input of ...Like, times `by`, plus
 * `more`. */
static void set_random(OnnxCall *c, const char *kind, double by, double more) {
  Build *b = &c->b;
  Dim shape[GRAPH_RANK_MAX];
  bool like = onnx_has(c, 0);
  const ValueType *x = like ? onnx_type(c, 0) : NULL;
  uint32_t rank = like ? x->rank : 0, count;
  const int64_t *sizes = like ? NULL : onnx_ints(c, "shape", &count);
  if (!like && !sizes) onnx_fail(c, E_ONNX_ATTR_MISSING, "shape");
  if (!like && count > GRAPH_RANK_MAX) onnx_fail(c, E_GRAPH_RANK, GRAPH_RANK_MAX);
  if (like) memcpy(shape, x->shape, rank * sizeof *shape);
  for (uint32_t i = 0; !like && i < count; i++) shape[rank++] = build_const(b, sizes[i]);
  DType t = onnx_dtype_attr(c, "dtype", like ? x->dtype : DT_F32);
  Node *y = draw(c, kind, rank, shape);
  y = build_with(b, OP_aten_mul_Tensor, y, arg_float(by));
  y = build_with(b, OP_aten_add_Tensor, y, arg_float(more));
  onnx_set(c, 0, build_to(b, y, t));
}

void onnx_op_random_uniform(OnnxCall *c) {
  double low = onnx_float(c, "low", 0), high = onnx_float(c, "high", 1);
  set_random(c, "uniform", high - low, low);
}

void onnx_op_random_normal(OnnxCall *c) {
  set_random(c, "normal", onnx_float(c, "scale", 1), onnx_float(c, "mean", 0));
}

/* 1 with the probability that the input says. */
void onnx_op_bernoulli(OnnxCall *c) {
  Build *b = &c->b;
  Node *p = onnx_in(c, 0);
  DType t = onnx_dtype_attr(c, "dtype", p->type.dtype);
  Node *u = draw(c, "uniform", p->type.rank, p->type.shape);
  Node *one = build_op2(b, OP_aten_lt_Tensor, u, build_to(b, p, DT_F32));
  onnx_set(c, 0, build_to(b, one, t));
}

/* The class whose logarithm of a probability, plus a draw of Gumbel's distribution, is largest. */
void onnx_op_multinomial(OnnxCall *c) {
  Build *b = &c->b;
  Node *x = onnx_in(c, 0);
  infer_rank(&b->in, &x->type, 2, 2);
  int64_t samples = onnx_int(c, "sample_size", 1);
  if (samples < 1) onnx_lack(c, "sample_size %lld", (long long)samples);
  DType t = onnx_dtype_attr(c, "dtype", DT_I32);
  Dim shape[] = {x->type.shape[0], build_const(b, samples), x->type.shape[1]};
  Node *u = draw(c, "uniform", 3, shape);
  u = build_op1(b, OP_aten_neg_default, build_op1(b, OP_aten_log_default, u));
  Node *gumbel = build_op1(b, OP_aten_neg_default, build_op1(b, OP_aten_log_default, u));
  Node *scores = build_add(b, gumbel, build_unsqueeze(b, build_to(b, x, DT_F32), 1));
  onnx_set(c, 0, build_to(b, build_with(b, OP_aten_argmax_default, scores, build_int(b, 2)), t));
}

/* The upper or lower triangle of the last two axes, from the diagonal that input 1 says. */
void onnx_op_trilu(OnnxCall *c) {
  bool upper = onnx_flag(c, "upper", true);
  Arg k = build_int(&c->b, onnx_has(c, 1) ? onnx_need_int(c, 1) : 0);
  OpId op = upper ? OP_aten_triu_default : OP_aten_tril_default;
  onnx_set(c, 0, build_with(&c->b, op, onnx_in(c, 0), k));
}
