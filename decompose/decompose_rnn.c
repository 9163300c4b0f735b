/* Recurrent networks of PyTorch: layers one above the other, each in one or two directions; and
 * cells, which are one step.
 *
 * Layers are written out step by step, for a number of steps that is known.  The product of all
 * inputs with the weight, which does not depend on the step before, is one for all steps. */
#include <string.h>

#include "decompose/decompose.h"

/* ---- a layer ---- */

typedef struct {
  RnnKind kind;
  Node *input_weight; /* [gates * H, I] */
  Node *state_weight; /* [gates * H, P]; P is H if nothing is projected */
  Node *input_bias;   /* [gates * H], or NULL */
  Node *state_bias;   /* [gates * H], or NULL */
  Node *projection;   /* of LSTM: [P, H], or NULL */
  bool backward;      /* from the last step to the first */
  bool reset_first;   /* of GRU: the state is reset before it is multiplied, not after */
} RnnLayer;

/* States, and values of a step that its gradient reads. */
typedef struct {
  Node *state;                /* [B, P] */
  Node *cell;                 /* of LSTM: [B, H] */
  Node *gates[RNN_GATES_MAX]; /* [B, H] each; of GRU also the state's part of the new value */
} RnnStep;

typedef struct {
  Node *all; /* [T, B, P]: the state after each step */
  RnnStep *steps;
  Node *state, *cell; /* after the last */
} RnnResult;

typedef struct {
  Build *b;
  const RnnLayer *l;
  Dim width; /* H */
} Rnn;

static Node *times_transposed(Build *b, Node *x, Node *w) {
  return build_op2(b, OP_aten_mm_default, x, build_transpose(b, w, 0, 1));
}

static Node *add_bias(Build *b, Node *x, Node *bias) { return bias ? build_add(b, x, bias) : x; }

/* Columns of gate i of x[B, gates * H], or rows of a weight. */
static Node *gate_slice(const Rnn *r, Node *x, uint32_t axis, int64_t i) {
  Dims *d = r->b->in.g->dims;
  Dim begin = dim_mul(d, r->width, build_const(r->b, i));
  return build_slice(r->b, x, axis, begin, dim_add(d, begin, r->width), 1);
}

static Node *sigmoid(const Rnn *r, Node *x) { return build_op1(r->b, OP_aten_sigmoid_default, x); }
static Node *tanh_of(const Rnn *r, Node *x) { return build_op1(r->b, OP_aten_tanh_default, x); }

static Node *state_product(const Rnn *r, Node *h) {
  return add_bias(r->b, times_transposed(r->b, h, r->l->state_weight), r->l->state_bias);
}

static void plain_step(const Rnn *r, Node *x, RnnStep *s) {
  Node *y = build_add(r->b, x, state_product(r, s->state));
  bool relu = r->l->kind == RNN_RELU;
  s->state = build_op1(r->b, relu ? OP_aten_relu_default : OP_aten_tanh_default, y);
}

/* The state's part of the new value: of the state as it is, or after it was reset. */
static Node *new_part(const Rnn *r, Node *product, RnnStep *s) {
  Node *reset = s->gates[0];
  if (!r->l->reset_first) {
    s->gates[3] = gate_slice(r, product, 1, 2);
    return build_mul(r->b, reset, s->gates[3]);
  }
  Node *w = gate_slice(r, r->l->state_weight, 0, 2), *bias = r->l->state_bias;
  Node *y = times_transposed(r->b, build_mul(r->b, reset, s->state), w);
  return add_bias(r->b, y, bias ? gate_slice(r, bias, 0, 2) : NULL);
}

/* (1 - update) * new + update * h, as new + update * (h - new). */
static void gru_step(const Rnn *r, Node *x, RnnStep *s) {
  Build *b = r->b;
  Node *product = state_product(r, s->state);
  for (int i = 0; i < 2; i++)
    s->gates[i] = sigmoid(r, build_add(b, gate_slice(r, x, 1, i), gate_slice(r, product, 1, i)));
  Node *part = new_part(r, product, s);
  Node *fresh = s->gates[2] = tanh_of(r, build_add(b, gate_slice(r, x, 1, 2), part));
  s->state = build_add(b, fresh, build_mul(b, s->gates[1], build_sub(b, s->state, fresh)));
}

static void lstm_step(const Rnn *r, Node *x, RnnStep *s) {
  Build *b = r->b;
  Node *all = build_add(b, x, state_product(r, s->state)), **gates = s->gates;
  for (int i = 0; i < RNN_GATES_MAX; i++) {
    Node *gate = gate_slice(r, all, 1, i);
    gates[i] = i == 2 ? tanh_of(r, gate) : sigmoid(r, gate);
  }
  s->cell = build_add(b, build_mul(b, gates[1], s->cell), build_mul(b, gates[0], gates[2]));
  s->state = build_mul(b, gates[3], tanh_of(r, s->cell));
  if (r->l->projection) s->state = times_transposed(b, s->state, r->l->projection);
}

/* x[T, B, I] times the weight: [T, B, gates * H]. */
static Node *all_inputs(Build *b, const RnnLayer *l, Node *x) {
  const Dim *s = x->type.shape;
  Dim rows[] = {dim_mul(b->in.g->dims, s[0], s[1]), s[2]};
  Node *y = times_transposed(b, build_view(b, x, 2, rows), l->input_weight);
  Dim shape[] = {s[0], s[1], l->input_weight->type.shape[0]};
  return build_view(b, add_bias(b, y, l->input_bias), 3, shape);
}

/* x [T, B, gates * H]: the products of inputs; state [B, P], cell [B, H] or NULL. */
static RnnResult build_rnn(Build *b, const RnnLayer *l, Node *x, Node *state, Node *cell) {
  Rnn r = {b, l, (cell ? cell : state)->type.shape[1]};
  int64_t steps = x->type.shape[0]->value;
  Node **states = ARENA_ARRAY(b->in.g->arena, Node *, (size_t)steps);
  RnnStep *each = ARENA_ARRAY(b->in.g->arena, RnnStep, (size_t)steps), s = {state, cell, {0}};
  for (int64_t i = 0; i < steps; i++) {
    int64_t t = l->backward ? steps - 1 - i : i;
    Node *now = build_select(b, x, 0, build_const(b, t));
    if (l->kind == RNN_LSTM) lstm_step(&r, now, &s);
    else if (l->kind == RNN_GRU) gru_step(&r, now, &s);
    else plain_step(&r, now, &s);
    states[t] = build_unsqueeze(b, s.state, 0);
    each[t] = s;
  }
  return (RnnResult){build_cat(b, (uint32_t)steps, states, 0), each, s.state, s.cell};
}

/* ---- networks and cells ---- */

typedef struct {
  Build *b;
  RnnKind kind;
  Node **params;        /* of each layer and direction: two weights, two biases, a projection */
  uint32_t each;        /* of params */
  Node *states, *cells; /* [layers * directions, B, width] before the first step */
  uint32_t layers, directions;
  Node **last_states, **last_cells;
  bool biased;
} Network;

static Node *layer_of(Build *b, Node *states, uint32_t i) {
  return states ? build_select(b, states, 0, build_const(b, i)) : NULL;
}

static RnnLayer layer_at(const Network *n, uint32_t i) {
  Node **p = n->params + i * n->each;
  uint32_t weights = n->biased ? 4 : 2;
  return (RnnLayer){.kind = n->kind,
                    .input_weight = p[0],
                    .state_weight = p[1],
                    .input_bias = n->biased ? p[2] : NULL,
                    .state_bias = n->biased ? p[3] : NULL,
                    .projection = n->each > weights ? p[weights] : NULL,
                    .backward = i % n->directions != 0};
}

static Node *run_layer(Network *n, uint32_t layer, Node *x) {
  Node *sides[2];
  for (uint32_t k = 0; k < n->directions; k++) {
    uint32_t i = layer * n->directions + k;
    RnnLayer l = layer_at(n, i);
    Node *state = layer_of(n->b, n->states, i), *cell = layer_of(n->b, n->cells, i);
    RnnResult r = build_rnn(n->b, &l, all_inputs(n->b, &l, x), state, cell);
    sides[k] = r.all;
    n->last_states[i] = build_unsqueeze(n->b, r.state, 0);
    if (r.cell) n->last_cells[i] = build_unsqueeze(n->b, r.cell, 0);
  }
  return build_cat(n->b, n->directions, sides, 2);
}

enum { ALL_STEPS_MAX = 8192 }; /* of all layers and directions together */

/* Can it be unrolled?  Otherwise (training's dropout between layers, too many steps or an open
 * number) the node stays. */
static bool can_write_out(Build *b, const Node *x, uint32_t layers) {
  bool drops = infer_bool(&b->in, "train") && infer_number(&b->in, "dropout") > 0;
  Dim steps = x->type.shape[infer_bool(&b->in, "batch_first") ? 1 : 0];
  return !drops && decompose_rnn_can_write_out(steps) && steps->value * layers <= ALL_STEPS_MAX;
}

static Node *run_network(Build *b, Network *n) {
  Node *x = build_input(b, "input");
  bool batch_first = infer_bool(&b->in, "batch_first");
  uint32_t nparams;
  n->b = b;
  n->params = build_inputs(b, "params", &nparams);
  n->biased = infer_bool(&b->in, "has_biases");
  n->layers = (uint32_t)infer_int(&b->in, "num_layers");
  n->directions = infer_bool(&b->in, "bidirectional") ? 2 : 1;
  uint32_t count = n->layers * n->directions;
  if (!can_write_out(b, x, count)) return NULL;
  n->each = nparams / count;
  n->last_states = ARENA_ARRAY(b->in.g->arena, Node *, count);
  n->last_cells = ARENA_ARRAY(b->in.g->arena, Node *, count);
  if (batch_first) x = build_transpose(b, x, 0, 1);
  for (uint32_t i = 0; i < n->layers; i++) x = run_layer(n, i, x);
  b->nitems = n->cells ? 3 : 2;
  b->items = ARENA_ARRAY(b->in.g->arena, Node *, 3);
  b->items[0] = batch_first ? build_transpose(b, x, 0, 1) : x;
  b->items[1] = build_cat(b, count, n->last_states, 0);
  if (n->cells) b->items[2] = build_cat(b, count, n->last_cells, 0);
  return NULL;
}

Node *decompose_lstm(Build *b) {
  uint32_t n;
  Node **hx = build_inputs(b, "hx", &n);
  return run_network(b, &(Network){.kind = RNN_LSTM, .states = hx[0], .cells = hx[1]});
}

static Node *without_cell(Build *b, RnnKind kind) {
  return run_network(b, &(Network){.kind = kind, .states = build_input(b, "hx")});
}

Node *decompose_gru(Build *b) { return without_cell(b, RNN_GRU); }
Node *decompose_rnn_tanh(Build *b) { return without_cell(b, RNN_TANH); }
Node *decompose_rnn_relu(Build *b) { return without_cell(b, RNN_RELU); }

/* ---- cells ---- */

static RnnResult build_rnn_step(Build *b, RnnKind kind, Node *state, Node *cell) {
  RnnLayer l = {.kind = kind,
                .input_weight = build_input(b, "w_ih"),
                .state_weight = build_input(b, "w_hh"),
                .input_bias = build_input(b, "b_ih"),
                .state_bias = build_input(b, "b_hh")};
  Node *x = all_inputs(b, &l, build_unsqueeze(b, build_input(b, "input"), 0));
  return build_rnn(b, &l, x, state, cell);
}

Node *decompose_lstm_cell(Build *b) {
  uint32_t n;
  Node **hx = build_inputs(b, "hx", &n);
  RnnResult r = build_rnn_step(b, RNN_LSTM, hx[0], hx[1]);
  b->nitems = 2;
  b->items = ARENA_ARRAY(b->in.g->arena, Node *, 2);
  b->items[0] = r.state;
  b->items[1] = r.cell;
  return NULL;
}

static Node *plain_cell(Build *b, RnnKind kind) {
  return build_rnn_step(b, kind, build_input(b, "hx"), NULL).state;
}

Node *decompose_gru_cell(Build *b) { return plain_cell(b, RNN_GRU); }
Node *decompose_rnn_tanh_cell(Build *b) { return plain_cell(b, RNN_TANH); }
Node *decompose_rnn_relu_cell(Build *b) { return plain_cell(b, RNN_RELU); }

/* ---- a direction of a layer ---- */

RnnKind decompose_rnn_kind(Build *b) {
  static const char *const names[] = {
      [RNN_TANH] = "tanh", [RNN_RELU] = "relu", [RNN_GRU] = "gru", [RNN_LSTM] = "lstm"};
  Name name = infer_string(&b->in, "kind");
  RnnKind kind = RNN_TANH;
  while (kind < RNN_LSTM && strcmp(names[kind], name)) kind++;
  return kind;
}

bool decompose_rnn_can_write_out(Dim steps) {
  return dim_is_int(steps) && steps->value > 0 && steps->value <= RNN_STEPS_MAX;
}

static Node *cells_of(Build *b, const RnnResult *r, uint32_t steps) {
  Node **parts = ARENA_ARRAY(b->in.g->arena, Node *, steps);
  for (uint32_t t = 0; t < steps; t++) parts[t] = build_unsqueeze(b, r->steps[t].cell, 0);
  return build_cat(b, steps, parts, 0);
}

/* [gates, T, B, H], each gate's steps after each other in memory. */
static Node *gates_of(Build *b, const RnnResult *r, uint32_t steps) {
  uint32_t n = 0;
  Node **parts = ARENA_ARRAY(b->in.g->arena, Node *, steps * RNN_GATES_MAX);
  for (uint32_t i = 0; i < RNN_GATES_MAX; i++)
    for (uint32_t t = 0; t < steps; t++) parts[n++] = build_unsqueeze(b, r->steps[t].gates[i], 0);
  return build_cat(b, n, parts, 0);
}

Node *decompose_recurrent(Build *b) {
  RnnLayer l = {.kind = decompose_rnn_kind(b),
                .state_weight = build_input(b, "weight"),
                .state_bias = build_input(b, "bias"),
                .projection = build_input(b, "projection"),
                .backward = infer_bool(&b->in, "reverse")};
  Node *x = build_input(b, "input");
  if (!decompose_rnn_can_write_out(x->type.shape[0])) return NULL;
  RnnResult r = build_rnn(b, &l, x, build_input(b, "hx"), build_input(b, "cx"));
  uint32_t steps = (uint32_t)x->type.shape[0]->value;
  Node *cells = l.kind == RNN_LSTM ? cells_of(b, &r, steps) : NULL;
  Node *gates = l.kind == RNN_LSTM || l.kind == RNN_GRU ? gates_of(b, &r, steps) : NULL;
  return build_results(b, 3, (Node *[]){r.all, cells, gates});
}
