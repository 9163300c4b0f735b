/* RNN, GRU and LSTM, written out step by step.
 *
 * The inputs of all steps are multiplied by the weights in one product; each step adds the product
 * of the state before it.  A sequence that is shorter than others keeps its state after its end. */
#include <math.h>
#include <string.h>

#include "import/messages.h"
#include "import/onnx/ops/onnx_shared.h"

enum { STEPS_MAX = 1024, GATES_MAX = 4, ACTIVATIONS_MAX = 3 };

typedef struct {
  Name name;
  double alpha, beta;
} Activation;

typedef struct {
  OnnxCall *c;
  OnnxFactor recurrent;    /* [hidden, gates * hidden] */
  Node *scale;             /* of `recurrent`, which is of integers; NULL: it is of floats */
  Node *input_bias, *bias; /* of the gates, NULL: none */
  Node *peephole[3];       /* of an LSTM's gates i, o, f; NULL: none */
  Activation activation[ACTIVATIONS_MAX];
  double clip;
  bool late_reset; /* of a GRU: linear_before_reset */
  bool coupled;    /* of an LSTM: it forgets as much as comes in */
  Dim hidden;
} Cell;

typedef struct {
  Node *h, *c; /* c of an LSTM only */
} State;

typedef State StepRule(const Cell *k, Node *x, State s);

/* An LSTM's attention to a memory, [batch, places, depth], whose result is a part of its next
 * input. */
typedef struct {
  Node *query, *score;  /* weights of the query, [hidden, size], and of the sum, [size] */
  Node *keys, *values;  /* of the memory, [batch, places, size] and [batch, places, depth] */
  Node *in;             /* which places there are, [batch, places]; NULL: all */
  Node *layer;          /* of state and result together; NULL: the result is taken as it is */
  Node *weight;         /* of the part of the input, [width, gates * hidden] */
} Memory;

typedef struct {
  const char *activations[ACTIVATIONS_MAX];
  uint32_t nactivations, gates;
  StepRule *step;
  uint32_t scales; /* the input that scales those of W and R, after which come their zero points:
                      these are of integers, and of turned axes; 0: they are of floats */
  uint32_t memory; /* the first input of attention; 0: there is none */
} Network;

/* ---- parts of a step ---- */

/* alpha * x + beta */
static Node *affine_map(Build *b, Node *x, double alpha, double beta) {
  x = build_with(b, OP_aten_mul_Tensor, x, arg_float(alpha));
  return build_with(b, OP_aten_add_Tensor, x, arg_float(beta));
}

static Node *activated(const Cell *k, uint32_t i, Node *x) {
  static const struct {
    const char *name;
    OpId op;
  } functions[] = {
      {"Sigmoid", OP_aten_sigmoid_default},
      {"Tanh", OP_aten_tanh_default},
      {"Relu", OP_aten_relu_default},
      {"Softplus", OP_aten_softplus_default},
  };
  Build *b = &k->c->b;
  Activation a = k->activation[i];
  for (size_t n = 0; n < sizeof functions / sizeof *functions; n++)
    if (!strcmp(a.name, functions[n].name)) return build_op1(b, functions[n].op, x);
  Arg alpha = arg_float(a.alpha);
  if (!strcmp(a.name, "LeakyRelu")) return build_with(b, OP_aten_leaky_relu_default, x, alpha);
  if (!strcmp(a.name, "Elu")) return build_with(b, OP_aten_elu_default, x, alpha);
  if (!strcmp(a.name, "Affine")) return affine_map(b, x, a.alpha, a.beta);
  if (!strcmp(a.name, "ThresholdedRelu"))
    return build_where(b, build_with(b, OP_aten_gt_Scalar, x, alpha), arg_node(x), arg_float(0));
  if (!strcmp(a.name, "Softsign"))
    return build_div(b, x, affine_map(b, build_op1(b, OP_aten_abs_default, x), 1, 1));
  if (!strcmp(a.name, "HardSigmoid"))
    return build(b, OP_aten_clamp_default,
                 ARGS(arg_node(affine_map(b, x, a.alpha, a.beta)), arg_float(0), arg_float(1)));
  if (!strcmp(a.name, "ScaledTanh"))
    return build_with(b, OP_aten_mul_Tensor,
                      build_op1(b, OP_aten_tanh_default, affine_map(b, x, a.beta, 0)), alpha);
  onnx_lack(k->c, "activation %s", a.name);
}

/* Activates the input of a gate. */
static Node *activate(const Cell *k, uint32_t i, Node *x) {
  if (isfinite(k->clip)) {
    Arg args[] = {arg_node(x), arg_float(-k->clip), arg_float(k->clip)};
    x = build(&k->c->b, OP_aten_clamp_default, 3, args);
  }
  return activated(k, i, x);
}

/* Columns of gate i. */
static Node *select_gate(const Cell *k, Node *x, uint32_t i) {
  Dims *d = onnx_dims(k->c);
  Dim at = dim_mul(d, build_const(&k->c->b, i), k->hidden);
  return build_slice(&k->c->b, x, rank_of(x) - 1, at, dim_add(d, at, k->hidden), 1);
}

static Node *gate_product(const Cell *k, Node *h, OnnxFactor weight, Node *bias) {
  Node *y = k->scale ? onnx_quantized_product(k->c, h, weight, k->scale)
                     : build_op2(&k->c->b, OP_aten_mm_default, h, weight.x);
  return bias ? build_add(&k->c->b, y, bias) : y;
}

static Node *peep(const Cell *k, Node *x, uint32_t i, Node *state) {
  Build *b = &k->c->b;
  return k->peephole[i] ? build_add(b, x, build_mul(b, k->peephole[i], state)) : x;
}

/* ---- steps ---- */

static State rnn_step(const Cell *k, Node *x, State s) {
  Node *sum = build_add(&k->c->b, x, gate_product(k, s.h, k->recurrent, k->bias));
  return (State){activate(k, 0, sum), NULL};
}

/* Gates are i, o, f, c. */
static State lstm_cell(const Cell *k, Node *x, State s) {
  Build *b = &k->c->b;
  Node *sum = build_add(b, x, gate_product(k, s.h, k->recurrent, k->bias));
  Node *i = activate(k, 0, peep(k, select_gate(k, sum, 0), 0, s.c));
  Node *f = k->coupled ? build_with(b, OP_aten_rsub_Scalar, i, arg_float(1))
                       : activate(k, 0, peep(k, select_gate(k, sum, 2), 2, s.c));
  Node *update = activate(k, 1, select_gate(k, sum, 3));
  Node *c = build_add(b, build_mul(b, f, s.c), build_mul(b, i, update));
  Node *o = activate(k, 0, peep(k, select_gate(k, sum, 1), 1, c));
  return (State){build_mul(b, o, activated(k, 2, c)), c};
}

/* Gates are z, r, h: new is (1 - z) * h + z * old. */
static State gru_cell(const Cell *k, Node *x, State s) {
  Build *b = &k->c->b;
  Node *part = gate_product(k, s.h, k->recurrent, k->bias);
  Node *z = activate(k, 0, build_add(b, select_gate(k, x, 0), select_gate(k, part, 0)));
  Node *r = activate(k, 0, build_add(b, select_gate(k, x, 1), select_gate(k, part, 1)));
  Node *reset;
  if (k->late_reset) {
    reset = build_mul(b, r, select_gate(k, part, 2));
  } else {
    Node *bias = k->bias ? select_gate(k, k->bias, 2) : NULL;
    OnnxFactor weight = {.x = select_gate(k, k->recurrent.x, 2)};
    reset = gate_product(k, build_mul(b, r, s.h), weight, bias);
  }
  Node *h = activate(k, 1, build_add(b, select_gate(k, x, 2), reset));
  return (State){build_add(b, h, build_mul(b, z, build_sub(b, s.h, h))), NULL};
}

/* ---- a direction ---- */

/* Part `direction` of an input that has one for each. */
static Node *direction_part(OnnxCall *c, uint32_t input, uint32_t direction) {
  Node *x = onnx_optional(c, input);
  return x ? build_select(&c->b, x, 0, build_const(&c->b, direction)) : NULL;
}

/* Activations with parameters, and what these are where they are left out. */
static const struct {
  const char *name;
  bool alpha, beta;
  Activation usual;
} parametric[] = {
    {"LeakyRelu", true, false, {NULL, 0.01, 0}},    {"Elu", true, false, {NULL, 1, 0}},
    {"ThresholdedRelu", true, false, {NULL, 1, 0}}, {"Affine", true, true, {NULL, 1, 0}},
    {"HardSigmoid", true, true, {NULL, 0.2, 0.5}},  {"ScaledTanh", true, true, {NULL, 1, 1}}};

/* Lists of parameters have an element for each activation that has that parameter, in order. */
static void read_activations(OnnxCall *c, Cell *k, const Network *net, uint32_t direction) {
  uint32_t n, nalpha, nbeta, alpha = 0, beta = 0, first = direction * net->nactivations;
  const char *const *given = onnx_strings(c, "activations", &n);
  const float *alphas = onnx_floats(c, "activation_alpha", &nalpha);
  const float *betas = onnx_floats(c, "activation_beta", &nbeta);
  for (uint32_t i = 0; i < first + net->nactivations; i++) {
    const char *name = given && i < n ? given[i] : net->activations[i % net->nactivations];
    Activation a = {0};
    for (size_t p = 0; p < sizeof parametric / sizeof *parametric; p++) {
      if (strcmp(name, parametric[p].name) != 0) continue;
      a = parametric[p].usual;
      if (parametric[p].alpha && alpha < nalpha) a.alpha = (double)alphas[alpha++];
      if (parametric[p].beta && beta < nbeta) a.beta = (double)betas[beta++];
    }
    a.name = name;
    if (i >= first) k->activation[i - first] = a;
  }
}

/* The weights of input `at`, 1 for W and 2 for R, as right factors; *scale: NULL, or theirs. */
static OnnxFactor direction_weight(OnnxCall *c, const Network *net, uint32_t at,
                                   uint32_t direction, Node **scale) {
  Node *w = direction_part(c, at, direction);
  uint32_t first = net->scales + 2 * (at - 1);
  *scale = net->scales ? direction_part(c, first, direction) : NULL;
  if (!*scale) return (OnnxFactor){.x = build_transpose(&c->b, w, 0, 1)};
  return (OnnxFactor){w, direction_part(c, first + 1, direction),
                      onnx_is_from_zero(c, first + 1)};
}

static Cell cell_of(OnnxCall *c, const Network *net, uint32_t direction) {
  Build *b = &c->b;
  Cell k = {.c = c, .late_reset = onnx_flag(c, "linear_before_reset", false)};
  k.clip = onnx_float(c, "clip", INFINITY);
  k.coupled = onnx_flag(c, "input_forget", false);
  read_activations(c, &k, net, direction);
  k.recurrent = direction_weight(c, net, 2, direction, &k.scale);
  k.hidden = k.recurrent.x->type.shape[0];
  Node *bias = direction_part(c, 3, direction);
  if (bias) {
    Dims *d = onnx_dims(c);
    Dim half = dim_mul(d, build_const(b, net->gates), k.hidden);
    k.input_bias = build_slice(b, bias, 0, build_const(b, 0), half, 1);
    k.bias = build_slice(b, bias, 0, half, dim_add(d, half, half), 1);
  }
  Node *peepholes = net->gates == 4 ? direction_part(c, 7, direction) : NULL;
  for (uint32_t i = 0; peepholes && i < 3; i++) k.peephole[i] = select_gate(&k, peepholes, i);
  return k;
}

/* State `input`, zeros if it is left out. */
static Node *initial(OnnxCall *c, uint32_t input, uint32_t direction, const Node *x, Dim hidden) {
  Node *s = onnx_optional(c, input);
  uint32_t axis = onnx_flag(c, "layout", false);
  if (s) s = build_select(&c->b, s, axis, build_const(&c->b, direction));
  Dim shape[] = {x->type.shape[1], hidden};
  return s ? s : build_full(&c->b, 2, shape, arg_float(0), x->type.dtype);
}

/* Sequences that are over keep the old value. */
static Node *keep_state(Build *b, Node *on, Node *new, Node *old) {
  return on && new ? build_where(b, on, arg_node(new), arg_node(old)) : new;
}

/* ---- attention to a memory ---- */

enum { QUERY, MEMORY_KEYS, SCORE, MEMORY, PLACES, LAYER }; /* inputs, from the first on */

/* Which places of [batch, places] are below a number of each of the batch, which is one of theirs,
 * from 1 on. */
static Node *places_below(OnnxCall *c, Node *n, Dim places) {
  Build *b = &c->b;
  Node *bad = build_op2(b, OP_aten_logical_or_default,
                        build_with(b, OP_aten_le_Scalar, n, build_int(b, 0)),
                        build_with(b, OP_aten_gt_Scalar, n, arg_dim(places)));
  build_check_data(b, bad, "memory_seq_lens has a number below 1, or above the memory's",
                   c->stand.name);
  return build_op2(b, OP_aten_lt_Tensor, build_arange(b, places), build_unsqueeze(b, n, 1));
}

/* The attention of a direction; the rows of *weight that it takes go from there. */
static Memory memory_of(OnnxCall *c, const Network *net, uint32_t direction, const Node *x,
                        Node **weight) {
  Build *b = &c->b;
  uint32_t first = net->memory;
  Node *memory = onnx_in(c, first + MEMORY), *w = *weight;
  Node *keys = direction_part(c, first + MEMORY_KEYS, direction);
  Dim size = x->type.shape[2], rows = w->type.shape[0];
  Memory m = {.query = direction_part(c, first + QUERY, direction),
              .score = direction_part(c, first + SCORE, direction),
              .values = memory,
              .layer = direction_part(c, first + LAYER, direction)};
  if (!m.query || !m.score || !keys) onnx_fail(c, E_ONNX_INPUT, first + QUERY + 1);
  m.keys = build_op2(b, OP_aten_matmul_default, memory, keys);
  if (onnx_has(c, first + PLACES))
    m.in = places_below(c, onnx_in(c, first + PLACES), memory->type.shape[1]);
  m.weight = build_slice(b, w, 0, size, rows, 1);
  *weight = build_slice(b, w, 0, build_const(b, 0), size, 1);
  return m;
}

/* The part of the first input: zeros. */
static Node *no_part(Build *b, const Memory *m, const Node *x) {
  Dim shape[] = {x->type.shape[1], m->weight->type.shape[0]};
  return build_full(b, 2, shape, arg_float(0), x->type.dtype);
}

/* The part of the next input, after a state h. */
static Node *attended(Build *b, const Memory *m, Node *h) {
  Node *query = build_unsqueeze(b, build_op2(b, OP_aten_mm_default, h, m->query), 1);
  Node *sum = build_op1(b, OP_aten_tanh_default, build_add(b, m->keys, query));
  sum = build_sum(b, build_mul(b, sum, m->score), 1u << 2, false);
  if (m->in) sum = build_where(b, m->in, arg_node(sum), arg_float(-INFINITY));
  Node *share = build_with(b, OP_aten_softmax_int, sum, build_int(b, 1));
  Node *y = build_op2(b, OP_aten_matmul_default, build_unsqueeze(b, share, 1), m->values);
  y = build_squeeze(b, y, 1u << 1);
  if (!m->layer) return y;
  return build_op2(b, OP_aten_mm_default, build_cat(b, 2, (Node *[]){h, y}, 1), m->layer);
}

static State run_direction(OnnxCall *c, const Network *net, uint32_t direction, bool back, Node *x,
                           Node **outputs, int64_t steps) {
  Build *b = &c->b;
  Cell k = cell_of(c, net, direction);
  Node *scale, *part = NULL;
  OnnxFactor weight = direction_weight(c, net, 1, direction, &scale);
  Memory m = {0};
  if (net->memory) {
    m = memory_of(c, net, direction, x, &weight.x);
    part = no_part(b, &m, x);
  }
  Node *inputs = scale ? onnx_quantized_product(c, x, weight, scale)
                       : build_op2(b, OP_aten_matmul_default, x, weight.x);
  if (k.input_bias) inputs = build_add(b, inputs, k.input_bias);
  State s = {initial(c, 5, direction, x, k.hidden), NULL};
  if (net->gates == 4) s.c = initial(c, 6, direction, x, k.hidden);
  Node *lengths = onnx_optional(c, 4), *zero = onnx_scalar(c, 0, x->type.dtype);
  if (lengths) lengths = build_unsqueeze(b, lengths, 1);
  for (int64_t i = 0; i < steps; i++) {
    int64_t t = back ? steps - 1 - i : i;
    Node *input = build_select(b, inputs, 0, build_const(b, t));
    if (part) input = build_add(b, input, build_op2(b, OP_aten_mm_default, part, m.weight));
    State new = net->step(&k, input, s);
    Node *on = lengths ? build_with(b, OP_aten_gt_Scalar, lengths, build_int(b, t)) : NULL;
    if (part) part = keep_state(b, on, attended(b, &m, new.h), part);
    outputs[t] = keep_state(b, on, new.h, zero);
    s = (State){keep_state(b, on, new.h, s.h), keep_state(b, on, new.c, s.c)};
  }
  return s;
}

/* ---- the whole ---- */

static Node *stack(Build *b, Node **items, uint32_t n, uint32_t axis) {
  Arg list = arg_list(b->in.g, n);
  for (uint32_t i = 0; i < n; i++) list.items[i] = arg_node(items[i]);
  return build(b, OP_aten_stack_default, ARGS(list, build_int(b, axis)));
}

static uint32_t directions_of(OnnxCall *c, bool *back) {
  Name how = onnx_string(c, "direction", "forward");
  *back = !strcmp(how, "reverse");
  if (!strcmp(how, "bidirectional")) return 2;
  if (!*back && strcmp(how, "forward")) onnx_fail(c, E_ONNX_ATTR_VALUE, "direction", how);
  return 1;
}

static int64_t count_steps(OnnxCall *c, const Node *x) {
  Dim n = x->type.shape[0];
  if (!dim_is_int(n)) onnx_lack(c, "a sequence of symbolic length");
  if (n->value < 1 || n->value > STEPS_MAX) onnx_lack(c, "more than %d steps, or none", STEPS_MAX);
  return n->value;
}

/* Batches come first with layout 1: x and the states are turned. */
static Node *with_layout(OnnxCall *c, Node *x, bool batch_first, const uint32_t *axes) {
  return batch_first ? build_permute(&c->b, x, axes) : x;
}

/* X, W, R, B, the lengths, both initial states, P: the rules above count on their axes. */
static void check_ranks(OnnxCall *c, const Network *net) {
  enum { REQUIRED = 3 };
  static const uint32_t ranks[] = {3, 3, 3, 2, 1, 3, 3, 2}, memory[] = {3, 3, 2, 3, 1, 3};
  for (uint32_t i = 0; i < sizeof ranks / sizeof *ranks; i++)
    if (i < REQUIRED || onnx_has(c, i)) infer_rank(&c->b.in, onnx_type(c, i), ranks[i], ranks[i]);
  for (uint32_t i = 0; net->memory && i < sizeof memory / sizeof *memory; i++)
    if (onnx_has(c, net->memory + i))
      infer_rank(&c->b.in, onnx_type(c, net->memory + i), memory[i], memory[i]);
}

static void recurrent(OnnxCall *c, const Network *net) {
  Build *b = &c->b;
  bool back, batch_first = onnx_flag(c, "layout", false);
  uint32_t directions = directions_of(c, &back);
  onnx_ignore(c, "hidden_size");
  onnx_ignore(c, "output_sequence"); /* of opset 6 and before */
  check_ranks(c, net);
  Node *x = with_layout(c, onnx_in(c, 0), batch_first, (uint32_t[]){1, 0, 2});
  int64_t steps = count_steps(c, x);
  Node *all[2], *h[2], *cells[2];
  for (uint32_t i = 0; i < directions; i++) {
    Node **outputs = ARENA_ARRAY(b->in.g->arena, Node *, steps);
    State s = run_direction(c, net, i, i == 1 || back, x, outputs, steps);
    all[i] = stack(b, outputs, (uint32_t)steps, 0);
    h[i] = s.h;
    cells[i] = s.c;
  }
  uint32_t turned[] = {2, 0, 1, 3}, swapped[] = {1, 0, 2};
  if (onnx_wants(c, 0))
    onnx_set(c, 0, with_layout(c, stack(b, all, directions, 1), batch_first, turned));
  if (onnx_wants(c, 1))
    onnx_set(c, 1, with_layout(c, stack(b, h, directions, 0), batch_first, swapped));
  if (onnx_wants(c, 2) && net->gates == 4)
    onnx_set(c, 2, with_layout(c, stack(b, cells, directions, 0), batch_first, swapped));
}

void onnx_op_rnn(OnnxCall *c) { recurrent(c, &(Network){{"Tanh"}, 1, 1, rnn_step, 0, 0}); }

void onnx_op_gru(OnnxCall *c) {
  recurrent(c, &(Network){{"Sigmoid", "Tanh"}, 2, 3, gru_cell, 0, 0});
}

void onnx_op_lstm(OnnxCall *c) {
  recurrent(c, &(Network){{"Sigmoid", "Tanh", "Tanh"}, 3, 4, lstm_cell, 0, 0});
}

void onnx_op_dynamic_quantize_lstm(OnnxCall *c) {
  recurrent(c, &(Network){{"Sigmoid", "Tanh", "Tanh"}, 3, 4, lstm_cell, 8, 0});
}

void onnx_op_attention_lstm(OnnxCall *c) {
  recurrent(c, &(Network){{"Sigmoid", "Tanh", "Tanh"}, 3, 4, lstm_cell, 0, 8});
}
