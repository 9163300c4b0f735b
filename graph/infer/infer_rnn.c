/* Recurrent networks: lstm, gru, rnn_tanh, rnn_relu; and one direction of a layer alone, with the
 * operands of its gradient. */
#include <string.h>

#include "graph/messages.h"
#include "graph/ops/infer_rules.h"

typedef struct {
  const ValueType *x, *state, *cell;
  Dim steps, batch;
  uint32_t layers; /* times directions */
  uint32_t gates;
} Network;

enum { LAYERS_MAX = 1024 };

static void check_size(Infer *in, Dim a, Dim b, const char *what) {
  infer_same_size(in, a, b, what);
}

/* w is [rows, columns], or of rank 1 [rows]. */
static void check_param(Infer *in, const Network *n, const ValueType *w, Dim rows, Dim columns) {
  if (!w) infer_fail(in, E_GRAPH_RNN_PARAMS, 0u, 0u);
  infer_rank(in, w, columns ? 2 : 1, columns ? 2 : 1);
  infer_same_dtype(in, n->x, w);
  check_size(in, w->shape[0], rows, "the rows of a weight and of the gates");
  if (columns) check_size(in, w->shape[1], columns, "the columns of a weight and its operand");
}

/* Two weights, two biases, and a projection, for each layer and direction. */
static void check_rnn_params(Infer *in, const Network *n, uint32_t directions) {
  uint32_t count;
  const ValueType **params = infer_tensors(in, "params", &count);
  Dims *d = in->g->dims;
  Dim width = n->cell ? n->cell->shape[2] : n->state->shape[2], out = n->state->shape[2];
  Dim rows = dim_mul(d, width, infer_const(in, n->gates));
  bool biased = infer_bool(in, "has_biases"), projects = n->cell && width != out;
  uint32_t each = 2 + 2 * biased + projects, wanted = each * n->layers;
  if (count != wanted) infer_fail(in, E_GRAPH_RNN_PARAMS, count, wanted);
  for (uint32_t i = 0; i < n->layers; i++) {
    const ValueType **p = params + i * each;
    Dim sides = infer_const(in, directions);
    Dim columns = i < directions ? n->x->shape[2] : dim_mul(d, out, sides);
    check_param(in, n, p[0], rows, columns);
    check_param(in, n, p[1], rows, out);
    for (uint32_t k = 0; k < 2 && biased; k++) check_param(in, n, p[2 + k], rows, NULL);
    if (projects) check_param(in, n, p[each - 1], out, width);
  }
}

static void check_state(Infer *in, const Network *n, const ValueType *s) {
  if (!s) infer_fail(in, E_GRAPH_RNN_PARAMS, 1u, 2u);
  infer_rank(in, s, 3, 3);
  infer_same_dtype(in, n->x, s);
  check_size(in, s->shape[0], infer_const(in, n->layers), "the layers and the states");
  check_size(in, s->shape[1], n->batch, "the batches of input and state");
}

static void network(Infer *in, Network *n) {
  bool batch_first = infer_bool(in, "batch_first");
  int64_t layers = infer_int(in, "num_layers");
  uint32_t directions = infer_bool(in, "bidirectional") ? 2 : 1;
  if (layers < 1 || layers > LAYERS_MAX) infer_fail(in, E_GRAPH_STEP, (long long)layers);
  n->layers = (uint32_t)layers * directions;
  n->x = infer_tensor(in, "input");
  infer_rank(in, n->x, 3, 3);
  n->batch = n->x->shape[batch_first ? 0 : 1];
  check_state(in, n, n->state);
  if (n->cell) check_state(in, n, n->cell);
  check_rnn_params(in, n, directions);
  Dim shape[3] = {n->x->shape[0], n->x->shape[1]};
  shape[2] = dim_mul(in->g->dims, n->state->shape[2], infer_const(in, directions));
  ValueType items[3] = {infer_type(in, n->x->dtype, 3, shape), *n->state};
  if (n->cell) items[2] = *n->cell;
  infer_set_list(in, n->cell ? 3 : 2, items);
}

void infer_lstm(Infer *in) {
  uint32_t count;
  const ValueType **hx = infer_tensors(in, "hx", &count);
  if (count != 2 || !hx[0] || !hx[1]) infer_fail(in, E_GRAPH_RNN_PARAMS, count, 2u);
  network(in, &(Network){.state = hx[0], .cell = hx[1], .gates = 4});
}

void infer_rnn(Infer *in) {
  bool gru = in->n->op->id == OP_aten_gru_input;
  network(in, &(Network){.state = infer_tensor(in, "hx"), .gates = gru ? 3 : 1});
}

/* ---- nereid.recurrent and its gradient ---- */

typedef struct {
  bool lstm, gru;
  Dim batch, width, out; /* of states; of results, which may be projected */
  const ValueType *state;
} Direction;

/* How many gates a weight has rows for. */
static int64_t gates_of(Infer *in, Direction *d) {
  Name kind = infer_string(in, "kind");
  d->lstm = !strcmp(kind, "lstm");
  d->gru = !strcmp(kind, "gru");
  if (!d->lstm && !d->gru && strcmp(kind, "tanh") && strcmp(kind, "relu"))
    infer_fail(in, E_GRAPH_RNN_KIND, kind);
  return d->lstm ? 4 : d->gru ? 3 : 1;
}

/* x, if it is given, has that dtype and these sizes. */
static void check_shape(Infer *in, const Direction *d, const ValueType *x, uint32_t rank,
                        const Dim *shape) {
  if (!x) return;
  infer_rank(in, x, rank, rank);
  infer_same_dtype(in, d->state, x);
  for (uint32_t i = 0; i < rank; i++)
    check_size(in, x->shape[i], shape[i], "a recurrent layer's operands");
}

static Direction direction(Infer *in) {
  Direction d = {.state = infer_tensor(in, "hx")};
  const ValueType *weight = infer_tensor(in, "weight"), *cell = infer_optional_tensor(in, "cx");
  const ValueType *projection = infer_optional_tensor(in, "projection");
  infer_rank(in, d.state, 2, 2);
  infer_rank(in, weight, 2, 2);
  infer_need_float(in, d.state->dtype);
  d.batch = d.state->shape[0];
  d.out = d.state->shape[1];
  d.width = infer_exact_div(in, weight->shape[0], gates_of(in, &d));
  check_shape(in, &d, weight, 2, (Dim[]){weight->shape[0], d.out});
  if (!cell == d.lstm || (projection && !d.lstm))
    infer_fail(in, E_GRAPH_RNN_PARAMS, cell ? 2u : 1u, d.lstm ? 2u : 1u);
  check_shape(in, &d, cell, 2, (Dim[]){d.batch, d.width});
  check_shape(in, &d, projection, 2, (Dim[]){d.out, d.width});
  if (!projection) check_size(in, d.out, d.width, "a recurrent layer's operands");
  return d;
}

/* A tensor without elements where a kind has none. */
static ValueType where(Infer *in, const Direction *d, bool there, uint32_t rank, const Dim *shape) {
  Dim none[] = {infer_const(in, 0)};
  return infer_type(in, d->state->dtype, there ? rank : 1, there ? shape : none);
}

void infer_recurrent(Infer *in) {
  Direction d = direction(in);
  const ValueType *x = infer_tensor(in, "input"), *weight = infer_tensor(in, "weight");
  infer_rank(in, x, 3, 3);
  Dim steps = x->shape[0];
  check_shape(in, &d, x, 3, (Dim[]){steps, d.batch, weight->shape[0]});
  check_shape(in, &d, infer_optional_tensor(in, "bias"), 1, weight->shape);
  infer_bool(in, "reverse");
  ValueType items[] = {
      where(in, &d, true, 3, (Dim[]){steps, d.batch, d.out}),
      where(in, &d, d.lstm, 3, (Dim[]){steps, d.batch, d.width}),
      where(in, &d, d.lstm || d.gru, 4, (Dim[]){infer_const(in, 4), steps, d.batch, d.width})};
  infer_set_list(in, 3, items);
}

void infer_recurrent_backward(Infer *in) {
  Direction d = direction(in);
  const ValueType *out = infer_tensor(in, "out"), *weight = infer_tensor(in, "weight");
  infer_rank(in, out, 3, 3);
  Dim steps = out->shape[0], outs[] = {steps, d.batch, d.out}, cells[] = {steps, d.batch, d.width};
  Dim each[] = {infer_const(in, 4), steps, d.batch, d.width};
  Dim rows[] = {steps, d.batch, weight->shape[0]};
  check_shape(in, &d, out, 3, outs);
  check_shape(in, &d, infer_optional_tensor(in, "grad_out"), 3, outs);
  infer_bool(in, "reverse");
  if (d.lstm) check_shape(in, &d, infer_optional_tensor(in, "grad_cells"), 3, cells);
  if (d.lstm) check_shape(in, &d, infer_tensor(in, "cells"), 3, cells);
  if (d.lstm || d.gru) check_shape(in, &d, infer_tensor(in, "gates"), 4, each);
  bool projects = infer_optional_tensor(in, "projection") != NULL;
  ValueType items[] = {where(in, &d, true, 3, rows), where(in, &d, d.gru, 3, rows),
                       where(in, &d, true, 2, outs + 1), where(in, &d, d.lstm, 2, cells + 1),
                       where(in, &d, projects, 3, outs)};
  infer_set_list(in, 5, items);
}
