/* Recurrent networks of PyTorch: layers one above the other, each in one or two directions; and
 * cells, which are one step. */
#include "graph/builders/rnn_builder.h"
#include "planner/decompose/decompose.h"

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
    RnnResult r = build_rnn(n->b, &l, x, state, cell);
    sides[k] = r.all;
    n->last_states[i] = build_unsqueeze(n->b, r.state, 0);
    if (r.cell) n->last_cells[i] = build_unsqueeze(n->b, r.cell, 0);
  }
  return build_cat(n->b, n->directions, sides, 2);
}

enum { ALL_STEPS_MAX = 8192 }; /* of all layers and directions together */

/* With training's dropout between layers, or too many steps or an open number, the node stays. */
static bool can_write_out(Build *b, const Node *x, uint32_t layers) {
  bool drops = infer_bool(&b->in, "train") && infer_number(&b->in, "dropout") > 0;
  Dim steps = x->type.shape[infer_bool(&b->in, "batch_first") ? 1 : 0];
  return !drops && dim_is_int(steps) && steps->value > 0 && steps->value <= RNN_STEPS_MAX &&
         steps->value * layers <= ALL_STEPS_MAX;
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
  return build_rnn(b, &l, build_unsqueeze(b, build_input(b, "input"), 0), state, cell);
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
