/* Operators that carry a state from token to token. */
#include <math.h>
#include <string.h>

#include "import/messages.h"
#include "import/onnx/onnx_read.h"
#include "import/onnx/ops/onnx_shared.h"

/* ---- CausalConvWithState ---- */

/* The positions before the first; NULL: the window has one element, and there are none. */
static Node *past_positions(OnnxCall *c, const Node *x, Dim before) {
  if (dim_is(before, 0)) return NULL;
  if (onnx_has(c, 3)) return onnx_in(c, 3);
  Dim shape[] = {x->type.shape[0], x->type.shape[1], before};
  return build_full(&c->b, 3, shape, arg_float(0), x->type.dtype);
}

static Node *depthwise(OnnxCall *c, Node *x, Node *weight, int64_t dilation) {
  Build *b = &c->b;
  Graph *g = b->in.g;
  Dim one = build_const(b, 1), zero = build_const(b, 0), apart = build_const(b, dilation);
  Arg bias = onnx_has(c, 2) ? arg_node(onnx_in(c, 2)) : arg_none();
  return build(b, OP_aten_conv1d_default,
               ARGS(arg_node(x), arg_node(weight), bias, arg_dims(g, 1, &one),
                    arg_dims(g, 1, &zero), arg_dims(g, 1, &apart), arg_dim(x->type.shape[1])));
}

bool onnx_is_silu(OnnxCall *c) {
  Name activation = onnx_string(c, "activation", "none");
  bool silu = !strcmp(activation, "silu") || !strcmp(activation, "swish");
  if (!silu && strcmp(activation, "none"))
    onnx_fail(c, E_ONNX_ATTR_VALUE, "activation", activation);
  return silu;
}

void onnx_op_causal_conv(OnnxCall *c) {
  Build *b = &c->b;
  Dims *d = onnx_dims(c);
  Node *x = onnx_in(c, 0), *weight = onnx_in(c, 1);
  infer_rank(&b->in, &x->type, 3, 3);
  infer_rank(&b->in, &weight->type, 3, 3);
  bool silu = onnx_is_silu(c);
  int64_t dilation = onnx_int(c, "dilation", 1);
  if (dilation < 1) onnx_fail(c, E_ONNX_ATTR_VALUE, "dilation", "less than 1");
  DType t = x->type.dtype;
  Dim before = dim_sub(d, weight->type.shape[2], build_const(b, 1));
  before = dim_mul(d, before, build_const(b, dilation));
  Node *past = past_positions(c, x, before);
  if (past) x = build_cat(b, 2, (Node *[]){past, x}, 2);
  Node *y = depthwise(c, x, weight, dilation);
  if (silu) y = build_to(b, build_op1(b, OP_aten_silu_default, build_widen(b, y)), t);
  onnx_set(c, 0, y);
  Dim length = x->type.shape[2];
  if (onnx_wants(c, 1)) onnx_set(c, 1, build_slice(b, x, 2, dim_sub(d, length, before), length, 1));
}

/* ---- LinearAttention ---- */

enum { TOKENS_MAX = 256 }; /* that are written out */

/* Operands in f32, [batch, heads, tokens, size]; the last two may have 1 in place of heads, or of
 * the size. */
typedef struct {
  Node *query, *key, *value;
  Node *decay, *beta; /* NULL: the rule has none */
  int64_t group;      /* queries that share a state */
  double scale;
} Recurrence;

/* [batch, tokens, heads * size] as [batch, heads, tokens, size] */
static Node *heads_of(OnnxCall *c, Node *x, int64_t heads) {
  Build *b = &c->b;
  infer_rank(&b->in, &x->type, 3, 3);
  const Dim *s = x->type.shape;
  Dim count = build_const(b, heads);
  Dim shape[] = {s[0], s[1], count, dim_floordiv(onnx_dims(c), s[2], count)};
  Node *split = build_transpose(b, build_view(b, x, 4, shape), 1, 2);
  return build_to(b, split, DT_F32);
}

/* The sum over the second last axis of a state times a vector: [batch, heads, value's size]. */
static Node *retrieve(Build *b, Node *state, Node *vector) {
  return build_sum(b, build_mul(b, state, build_unsqueeze(b, vector, 3)), 1u << 2, false);
}

/* Each head of the state for the queries that share it. */
static Node *shared_state(OnnxCall *c, Node *state, int64_t group) {
  Build *b = &c->b;
  const Dim *s = state->type.shape;
  if (group == 1) return state;
  Dim wide[] = {s[0], s[1], build_const(b, group), s[2], s[3]};
  Dim heads[] = {s[0], dim_mul(onnx_dims(c), s[1], wide[2]), s[2], s[3]};
  Node *x = build_expand(b, build_unsqueeze(b, state, 2), 5, wide);
  return build_view(b, x, 4, heads);
}

/* The state after token i; *out what its queries read: [batch, heads, value's size]. */
static Node *next_token(OnnxCall *c, const Recurrence *r, int64_t i, Node *state, Node **out) {
  Build *b = &c->b;
  Dim at = build_const(b, i);
  Node *key = build_select(b, r->key, 2, at), *value = build_select(b, r->value, 2, at);
  if (r->decay) {
    Node *kept = build_op1(b, OP_aten_exp_default, build_select(b, r->decay, 2, at));
    state = build_mul(b, state, build_unsqueeze(b, kept, 3));
  }
  if (r->beta) {
    value = build_sub(b, value, retrieve(b, state, key));
    value = build_mul(b, value, build_select(b, r->beta, 2, at));
  }
  Node *outer = build_mul(b, build_unsqueeze(b, key, 3), build_unsqueeze(b, value, 2));
  state = build_add(b, state, outer);
  Node *read = retrieve(b, shared_state(c, state, r->group), build_select(b, r->query, 2, at));
  *out = build_with(b, OP_aten_mul_Tensor, read, arg_float(r->scale));
  return state;
}

/* Which operands the rule has; an error where another is given, or one is missing. */
static void read_rule(OnnxCall *c, bool *decays, bool *corrects) {
  static const char *const rules[] = {"linear", "gated", "delta", "gated_delta"};
  Name rule = onnx_string(c, "update_rule", "gated_delta");
  int kind = -1;
  for (int i = 0; i < 4; i++)
    if (!strcmp(rule, rules[i])) kind = i;
  if (kind < 0) onnx_fail(c, E_ONNX_ATTR_VALUE, "update_rule", rule);
  *decays = kind & 1;
  *corrects = kind & 2;
  if (*decays != onnx_has(c, 4) || *corrects != onnx_has(c, 5))
    onnx_lack(c, "update_rule %s with other inputs than it has", rule);
}

static Recurrence read_recurrence(OnnxCall *c) {
  Recurrence r = {0};
  bool decays, corrects;
  int64_t queries = onnx_int(c, "q_num_heads", 0), heads = onnx_int(c, "kv_num_heads", 0);
  if (heads < 1 || queries < 1 || queries % heads)
    onnx_fail(c, E_ONNX_ATTR_VALUE, "kv_num_heads", "no divisor of q_num_heads");
  read_rule(c, &decays, &corrects);
  r.group = queries / heads;
  r.query = heads_of(c, onnx_in(c, 0), queries);
  r.key = heads_of(c, onnx_in(c, 1), heads);
  r.value = heads_of(c, onnx_in(c, 2), heads);
  if (decays) r.decay = heads_of(c, onnx_in(c, 4), heads);
  if (corrects) {
    Node *beta = onnx_in(c, 5);
    infer_rank(&c->b.in, &beta->type, 3, 3);
    r.beta = heads_of(c, beta, dim_is(beta->type.shape[2], 1) ? 1 : heads);
  }
  Dim size = r.query->type.shape[3];
  if (!dim_is_int(size)) onnx_lack(c, "heads of a symbolic size");
  r.scale = onnx_float(c, "scale", 0);
  if (r.scale == 0) r.scale = 1 / sqrt((double)size->value);
  return r;
}

/* The results of all tokens, [batch, tokens, heads, value's size]; *state is the first state, then
 * the last one. */
static Node *all_tokens(OnnxCall *c, const Recurrence *r, Node **state) {
  Build *b = &c->b;
  Dim tokens = r->key->type.shape[2];
  if (!dim_is_int(tokens) || tokens->value > TOKENS_MAX || tokens->value < 1)
    onnx_lack(c, "a symbolic number of tokens, or more than %d", TOKENS_MAX);
  Arg rows = arg_list(b->in.g, (uint32_t)tokens->value);
  for (uint32_t i = 0; i < rows.n; i++) {
    Node *row;
    *state = next_token(c, r, i, *state, &row);
    rows.items[i] = arg_node(row);
  }
  return build(b, OP_aten_stack_default, ARGS(rows, build_int(b, 1)));
}

void onnx_op_linear_attention(OnnxCall *c) {
  Build *b = &c->b;
  Recurrence r = read_recurrence(c);
  onnx_ignore(c, "chunk_size"); /* how others compute the same */
  DType t = onnx_type(c, 0)->dtype, kept = onnx_has(c, 3) ? onnx_type(c, 3)->dtype : t;
  const Dim *s = r.key->type.shape, *q = r.query->type.shape;
  Dim sizes[] = {s[0], s[1], s[3], r.value->type.shape[3]};
  Node *state = onnx_has(c, 3) ? build_to(b, onnx_in(c, 3), DT_F32)
                               : build_full(b, 4, sizes, arg_float(0), DT_F32);
  Node *y = all_tokens(c, &r, &state);
  Dim shape[] = {q[0], q[2], dim_mul(onnx_dims(c), q[1], sizes[3])};
  onnx_set(c, 0, build_to(b, build_view(b, y, 3, shape), t));
  if (onnx_wants(c, 1)) onnx_set(c, 1, build_to(b, state, kept));
}

/* ---- GatedDeltaNet: the gated delta rule with its activations, tokens before heads ---- */

enum { NET_DECAY = 4, NET_BETA, NET_STATE, NET_LOG, NET_BIAS };

typedef struct {
  Dim batch, tokens;
  Dim heads, keys, values; /* heads of the state, and sizes of its axes */
} Net;

/* Input x[tokens of all batches, ...], or [batch, tokens, ...], whose axes after the tokens are
 * these, as [batch, heads, tokens, size] in f32. */
static Node *net_heads(OnnxCall *c, const Net *n, Node *x, Dim heads, Dim size) {
  Build *b = &c->b;
  Node *y = build_view(b, build_to(b, x, DT_F32), 4, (Dim[]){n->batch, n->tokens, heads, size});
  return build_transpose(b, y, 1, 2);
}

/* Each head of queries and keys for as many heads of the state. */
static Node *spread_heads(OnnxCall *c, const Net *n, Node *x) {
  Dims *d = onnx_dims(c);
  const Dim *s = x->type.shape;
  if (s[1] == n->heads) return x;
  if (!dim_is_int(s[1]) || !dim_divisible(n->heads, s[1]->value))
    onnx_lack(c, "heads of values that are no multiple of those of queries");
  return shared_state(c, x, dim_floordiv(d, n->heads, s[1])->value);
}

static Node *unit_length(OnnxCall *c, Node *x) {
  Build *b = &c->b;
  Node *sum = build_sum(b, build_mul(b, x, x), 1u << 3, true);
  sum = build_with(b, OP_aten_add_Tensor, sum, arg_float(1e-6));
  return build_mul(b, x, build_op1(b, OP_aten_rsqrt_default, sum));
}

/* The logarithm of a state's decay, from the raw numbers of input `decay`. */
static Node *net_decay(OnnxCall *c, const Net *n) {
  Build *b = &c->b;
  Node *x = onnx_in(c, NET_DECAY);
  Dim all = value_numel(b->in.g, &x->type), own = dim_mul(onnx_dims(c), n->batch, n->tokens);
  own = dim_mul(onnx_dims(c), own, n->heads);
  Dim size = all == own ? build_const(b, 1) : n->keys;
  Dim shape[] = {n->heads, build_const(b, 1), size};
  Name how = onnx_string(c, "gate_activation", "none");
  double bound = onnx_float(c, "gate_lower_bound", -5);
  bool soft = !strcmp(how, "softplus") || !strcmp(how, "qwen");
  bool bounded = !strcmp(how, "sigmoid") || !strcmp(how, "kda");
  x = net_heads(c, n, x, n->heads, size);
  if (!soft && !bounded && !strcmp(how, "none")) return x;
  if (!soft && !bounded) onnx_fail(c, E_ONNX_ATTR_VALUE, "gate_activation", how);
  Dim one[] = {n->heads, shape[1], shape[1]};
  Node *rate = build_op1(b, OP_aten_exp_default, build_view(b, onnx_in(c, NET_LOG), 3, one));
  Node *bias = onnx_in(c, NET_BIAS);
  bool each = value_numel(b->in.g, &bias->type) == n->heads;
  x = build_add(b, x, build_view(b, bias, 3, each ? one : shape));
  if (soft) {
    x = build_mul(b, rate, build_op1(b, OP_aten_softplus_default, x));
    return build_op1(b, OP_aten_neg_default, x);
  }
  x = build_op1(b, OP_aten_sigmoid_default, build_mul(b, rate, x));
  return build_with(b, OP_aten_mul_Tensor, x, arg_float(bound));
}

static Node *net_beta(OnnxCall *c, const Net *n) {
  Build *b = &c->b;
  Node *x = net_heads(c, n, onnx_in(c, NET_BETA), n->heads, build_const(b, 1));
  Name how = onnx_string(c, "beta_activation", "none");
  if (!strcmp(how, "none")) return x;
  if (strcmp(how, "sigmoid")) onnx_fail(c, E_ONNX_ATTR_VALUE, "beta_activation", how);
  return build_op1(b, OP_aten_sigmoid_default, x);
}

/* Queries, keys and values: three inputs, or columns of the first one. */
static void net_operands(OnnxCall *c, const Net *n, Recurrence *r) {
  Build *b = &c->b;
  Dims *d = onnx_dims(c);
  Node *x = onnx_in(c, 0);
  uint32_t last = rank_of(x) - 1;
  if (onnx_has(c, 1)) {
    Dim heads = x->type.shape[last - 1];
    r->query = net_heads(c, n, x, heads, n->keys);
    r->key = net_heads(c, n, onnx_in(c, 1), heads, n->keys);
    r->value = net_heads(c, n, onnx_in(c, 2), n->heads, n->values);
    return;
  }
  Dim all = x->type.shape[last], values = dim_mul(d, n->heads, n->values);
  Dim half = dim_floordiv(d, dim_sub(d, all, values), build_const(b, 2));
  Dim heads = dim_floordiv(d, half, n->keys), two = dim_add(d, half, half);
  r->query = net_heads(c, n, build_slice(b, x, last, build_const(b, 0), half, 1), heads, n->keys);
  r->key = net_heads(c, n, build_slice(b, x, last, half, two, 1), heads, n->keys);
  r->value = net_heads(c, n, build_slice(b, x, last, two, all, 1), n->heads, n->values);
}

void onnx_op_gated_delta_net(OnnxCall *c) {
  Build *b = &c->b;
  Dims *d = onnx_dims(c);
  Recurrence r = {.group = 1};
  bool decays, corrects;
  read_rule(c, &decays, &corrects);
  onnx_ignore(c, "chunk_size");
  if (onnx_has(c, 3)) onnx_lack(c, "sequences of several lengths (cu_seqlens)");
  if (onnx_int(c, "state_update_capacity", 0)) onnx_lack(c, "updates of the state as a result");
  if (!onnx_has(c, NET_STATE)) onnx_lack(c, "no initial_state");
  Node *state = onnx_in(c, NET_STATE);
  const ValueType *t = onnx_type(c, 0);
  uint32_t rank = onnx_has(c, 1) ? 3 : 2;
  infer_rank(&b->in, &state->type, 4, 4);
  infer_rank(&b->in, t, rank, rank + 1);
  const Dim *s = state->type.shape;
  Net n = {.batch = s[0], .heads = s[1], .keys = s[3], .values = s[2]};
  bool apart = t->rank > rank;
  n.tokens = apart ? t->shape[1] : dim_floordiv(d, t->shape[0], n.batch);
  net_operands(c, &n, &r);
  bool unit = onnx_flag(c, "qk_l2_norm", false);
  for (int i = 0; i < 2; i++) {
    Node **x = i ? &r.key : &r.query;
    *x = spread_heads(c, &n, unit ? unit_length(c, *x) : *x);
  }
  if (decays) r.decay = net_decay(c, &n);
  if (corrects) r.beta = net_beta(c, &n);
  if (!dim_is_int(n.keys)) onnx_lack(c, "heads of a symbolic size");
  r.scale = onnx_float(c, "scale", 0);
  if (r.scale == 0) r.scale = 1 / sqrt((double)n.keys->value);
  state = build_transpose(b, build_to(b, state, DT_F32), 2, 3);
  Node *y = all_tokens(c, &r, &state);
  Dim rows[] = {dim_mul(d, n.batch, n.tokens), n.heads, n.values};
  Dim shape[] = {n.batch, n.tokens, n.heads, n.values};
  y = apart ? build_view(b, y, 4, shape) : build_view(b, y, 3, rows);
  onnx_set(c, 0, build_to(b, y, t->dtype));
  if (onnx_wants(c, 1)) onnx_set(c, 1, build_transpose(b, state, 2, 3));
}
