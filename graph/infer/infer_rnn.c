/* Recurrent networks: lstm, gru, rnn_tanh, rnn_relu. */
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
