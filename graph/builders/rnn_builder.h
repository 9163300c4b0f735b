/* Recurrent layers, written out step by step, for a number of steps that is known.
 *
 * What does not depend on the step before, the product of all inputs with the weight, is one
 * product for all steps. */
#ifndef NEREID_GRAPH_BUILDERS_RNN_BUILDER_H
#define NEREID_GRAPH_BUILDERS_RNN_BUILDER_H

#include "graph/builders/node_builder.h"

enum { RNN_STEPS_MAX = 1024 };

/* The order of gates in weights is PyTorch's: of GRU reset, update, new; of LSTM input, forget,
 * cell, output. */
typedef enum { RNN_TANH, RNN_RELU, RNN_GRU, RNN_LSTM } RnnKind;

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

typedef struct {
  Node *all;   /* [T, B, P]: the state after each step */
  Node *state; /* [B, P]: after the last */
  Node *cell;  /* of LSTM: [B, H] */
} RnnResult;

/* x [T, B, I], state [B, P], cell [B, H] or NULL. */
RnnResult build_rnn(Build *b, const RnnLayer *l, Node *x, Node *state, Node *cell);

#endif
