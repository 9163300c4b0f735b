#include "graph/builders/rnn_builder.h"

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

static Node *plain_step(const Rnn *r, Node *x, Node *h) {
  Node *y = build_add(r->b, x, state_product(r, h));
  bool relu = r->l->kind == RNN_RELU;
  return build_op1(r->b, relu ? OP_aten_relu_default : OP_aten_tanh_default, y);
}

/* The state's part of the new value: of the state as it is, or after it was reset. */
static Node *new_part(const Rnn *r, Node *product, Node *h, Node *reset) {
  if (!r->l->reset_first) return build_mul(r->b, reset, gate_slice(r, product, 1, 2));
  Node *w = gate_slice(r, r->l->state_weight, 0, 2), *bias = r->l->state_bias;
  Node *y = times_transposed(r->b, build_mul(r->b, reset, h), w);
  return add_bias(r->b, y, bias ? gate_slice(r, bias, 0, 2) : NULL);
}

/* (1 - update) * new + update * h, as new + update * (h - new). */
static Node *gru_step(const Rnn *r, Node *x, Node *h) {
  Build *b = r->b;
  Node *product = state_product(r, h);
  Node *reset = sigmoid(r, build_add(b, gate_slice(r, x, 1, 0), gate_slice(r, product, 1, 0)));
  Node *update = sigmoid(r, build_add(b, gate_slice(r, x, 1, 1), gate_slice(r, product, 1, 1)));
  Node *part = new_part(r, product, h, reset);
  Node *fresh = tanh_of(r, build_add(b, gate_slice(r, x, 1, 2), part));
  return build_add(b, fresh, build_mul(b, update, build_sub(b, h, fresh)));
}

static Node *lstm_step(const Rnn *r, Node *x, Node *h, Node **cell) {
  Build *b = r->b;
  Node *all = build_add(b, x, state_product(r, h));
  Node *in = sigmoid(r, gate_slice(r, all, 1, 0)), *keep = sigmoid(r, gate_slice(r, all, 1, 1));
  Node *fresh = tanh_of(r, gate_slice(r, all, 1, 2)), *out = sigmoid(r, gate_slice(r, all, 1, 3));
  *cell = build_add(b, build_mul(b, keep, *cell), build_mul(b, in, fresh));
  Node *y = build_mul(b, out, tanh_of(r, *cell));
  return r->l->projection ? times_transposed(b, y, r->l->projection) : y;
}

/* x[T, B, I] times the weight: [T, B, gates * H]. */
static Node *all_inputs(Build *b, const RnnLayer *l, Node *x) {
  const Dim *s = x->type.shape;
  Dim rows[] = {dim_mul(b->in.g->dims, s[0], s[1]), s[2]};
  Node *y = times_transposed(b, build_view(b, x, 2, rows), l->input_weight);
  Dim shape[] = {s[0], s[1], l->input_weight->type.shape[0]};
  return build_view(b, add_bias(b, y, l->input_bias), 3, shape);
}

RnnResult build_rnn(Build *b, const RnnLayer *l, Node *x, Node *state, Node *cell) {
  static const int64_t gates[] = {[RNN_TANH] = 1, [RNN_RELU] = 1, [RNN_GRU] = 3, [RNN_LSTM] = 4};
  Dim rows = l->input_weight->type.shape[0];
  Rnn r = {b, l, dim_floordiv(b->in.g->dims, rows, build_const(b, gates[l->kind]))};
  int64_t steps = x->type.shape[0]->value;
  Node **states = ARENA_ARRAY(b->in.g->arena, Node *, (size_t)steps);
  x = all_inputs(b, l, x);
  for (int64_t i = 0; i < steps; i++) {
    int64_t t = l->backward ? steps - 1 - i : i;
    Node *now = build_select(b, x, 0, build_const(b, t));
    if (l->kind == RNN_LSTM) state = lstm_step(&r, now, state, &cell);
    else state = l->kind == RNN_GRU ? gru_step(&r, now, state) : plain_step(&r, now, state);
    states[t] = build_unsqueeze(b, state, 0);
  }
  return (RnnResult){build_cat(b, (uint32_t)steps, states, 0), state, cell};
}
