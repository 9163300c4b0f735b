/* Gradients of one direction of a recurrent layer, from its last step to the first.
 *
 * They are those of the gates' sums in all steps, [T, B, gates * H]: the gradients of weights,
 * biases and inputs are a product or a sum of these, each for all steps at once, and not here. */
#include "decompose/decompose.h"

typedef struct {
  Build *b;
  RnnKind kind;
  Node *weight, *projection, *first, *first_cell; /* states before the first step */
  Node *grad, *grad_cells;                        /* NULL: zeros */
  Node *out, *cells, *gates;                      /* of all steps */
  int64_t steps;
  bool backward;
  Node **inputs, **hidden, **projected; /* by step: gradients, which are found */
} Gradient;

/* Gradients of the state and the cell, from step to step; NULL: zeros. */
typedef struct {
  Node *state, *cell;
} Flow;

static Node *at(const Gradient *s, Node *x, int64_t t) {
  return x ? build_select(s->b, x, 0, build_const(s->b, t)) : NULL;
}

static Node *gate_at(const Gradient *s, int64_t i, int64_t t) {
  return at(s, at(s, s->gates, i), t);
}

/* The value before step t. */
static Node *before(const Gradient *s, Node *x, Node *first, int64_t t) {
  int64_t from = s->backward ? t + 1 : t - 1;
  return from < 0 || from == s->steps ? first : at(s, x, from);
}

static Node *plus(Build *b, Node *x, Node *y) { return !x ? y : y ? build_add(b, x, y) : x; }

static Node *one_less(Build *b, Node *x) {
  return build_with(b, OP_aten_rsub_Scalar, x, build_int(b, 1));
}

static Node *sigmoid_gradient(Build *b, Node *grad, Node *y) {
  return build_op2(b, OP_aten_sigmoid_backward_default, grad, y);
}

static Node *tanh_gradient(Build *b, Node *grad, Node *y) {
  return build_op2(b, OP_aten_tanh_backward_default, grad, y);
}

static Node *times(Build *b, Node *x, Node *w) { return build_op2(b, OP_aten_mm_default, x, w); }

/* y = relu(...) or tanh(...) */
static void plain_gradient(Gradient *s, int64_t t, Flow *f) {
  Build *b = s->b;
  Node *y = at(s, s->out, t);
  if (s->kind == RNN_TANH) s->inputs[t] = tanh_gradient(b, f->state, y);
  else {
    Arg args[] = {arg_node(f->state), arg_node(y), build_int(b, 0)};
    s->inputs[t] = build(b, OP_aten_threshold_backward_default, 3, args);
  }
  f->state = times(b, s->inputs[t], s->weight);
}

/* y = new + update * (h - new), new = tanh(x + reset * part) */
static void gru_gradient(Gradient *s, int64_t t, Flow *f) {
  Build *b = s->b;
  Node *reset = gate_at(s, 0, t), *update = gate_at(s, 1, t), *fresh = gate_at(s, 2, t);
  Node *h = before(s, s->out, s->first, t), *grad = f->state;
  Node *of_update = sigmoid_gradient(b, build_mul(b, grad, build_sub(b, h, fresh)), update);
  Node *of_fresh = tanh_gradient(b, build_mul(b, grad, one_less(b, update)), fresh);
  Node *of_reset = sigmoid_gradient(b, build_mul(b, of_fresh, gate_at(s, 3, t)), reset);
  Node *of_part = build_mul(b, of_fresh, reset);
  s->inputs[t] = build_cat(b, 3, (Node *[]){of_reset, of_update, of_fresh}, 1);
  s->hidden[t] = build_cat(b, 3, (Node *[]){of_reset, of_update, of_part}, 1);
  f->state = build_add(b, build_mul(b, grad, update), times(b, s->hidden[t], s->weight));
}

/* cell = forget * before + in * new, y = out * tanh(cell), which may be projected */
static void lstm_gradient(Gradient *s, int64_t t, Flow *f) {
  Build *b = s->b;
  Node *gates[RNN_GATES_MAX], *cell = build_op1(b, OP_aten_tanh_default, at(s, s->cells, t));
  for (int i = 0; i < RNN_GATES_MAX; i++) gates[i] = gate_at(s, i, t);
  s->projected[t] = f->state;
  Node *grad = s->projection ? times(b, f->state, s->projection) : f->state;
  Node *of_cell = tanh_gradient(b, build_mul(b, grad, gates[3]), cell);
  of_cell = plus(b, plus(b, of_cell, f->cell), at(s, s->grad_cells, t));
  Node *last = before(s, s->cells, s->first_cell, t);
  Node *of_gates[] = {sigmoid_gradient(b, build_mul(b, of_cell, gates[2]), gates[0]),
                      sigmoid_gradient(b, build_mul(b, of_cell, last), gates[1]),
                      tanh_gradient(b, build_mul(b, of_cell, gates[0]), gates[2]),
                      sigmoid_gradient(b, build_mul(b, grad, cell), gates[3])};
  s->inputs[t] = build_cat(b, RNN_GATES_MAX, of_gates, 1);
  f->cell = build_mul(b, of_cell, gates[1]);
  f->state = times(b, s->inputs[t], s->weight);
}

static Node *stacked(const Gradient *s, Node **steps) {
  for (int64_t t = 0; t < s->steps; t++) steps[t] = build_unsqueeze(s->b, steps[t], 0);
  return build_cat(s->b, (uint32_t)s->steps, steps, 0);
}

static Node **by_step(const Gradient *s) {
  return ARENA_ARRAY(s->b->in.g->arena, Node *, (size_t)s->steps);
}

static Flow go_back(Gradient *s) {
  const ValueType *like = &s->first->type;
  Node *zeros = build_full(s->b, 2, like->shape, build_int(s->b, 0), like->dtype);
  Flow f = {0};
  for (int64_t i = 0; i < s->steps; i++) {
    int64_t t = s->backward ? i : s->steps - 1 - i;
    f.state = plus(s->b, f.state, at(s, s->grad, t));
    if (!f.state) f.state = zeros;
    if (s->kind == RNN_LSTM) lstm_gradient(s, t, &f);
    else if (s->kind == RNN_GRU) gru_gradient(s, t, &f);
    else plain_gradient(s, t, &f);
  }
  return f;
}

Node *decompose_recurrent_backward(Build *b) {
  Gradient s = {.b = b,
                .kind = decompose_rnn_kind(b),
                .weight = build_input(b, "weight"),
                .projection = build_input(b, "projection"),
                .first = build_input(b, "hx"),
                .first_cell = build_input(b, "cx"),
                .grad = build_input(b, "grad_out"),
                .grad_cells = build_input(b, "grad_cells"),
                .out = build_input(b, "out"),
                .cells = build_input(b, "cells"),
                .gates = build_input(b, "gates"),
                .backward = infer_bool(&b->in, "reverse")};
  Dim steps = s.out->type.shape[0];
  if (!decompose_rnn_can_write_out(steps)) return NULL;
  s.steps = steps->value;
  s.inputs = by_step(&s);
  s.hidden = by_step(&s);
  s.projected = by_step(&s);
  Flow f = go_back(&s);
  Node *results[] = {stacked(&s, s.inputs), s.kind == RNN_GRU ? stacked(&s, s.hidden) : NULL,
                     f.state, s.kind == RNN_LSTM ? f.cell : NULL,
                     s.projection ? stacked(&s, s.projected) : NULL};
  return build_results(b, 5, results);
}
