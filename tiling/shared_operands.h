/* Matrices that several products of a graph have as their right operand, as a recurrent layer's
 * steps have its weight: a copy in panels that one product would not pay for serves them all. */
#ifndef NEREID_TILING_SHARED_OPERANDS_H
#define NEREID_TILING_SHARED_OPERANDS_H

#include "graph/ir/graph.h"

typedef struct {
  int64_t rows[2]; /* of products of few rows that read it along rows, or along columns */
} SharedOperand;

typedef struct {
  SharedOperand *of; /* by id of the node in memory */
  uint32_t nids;
} SharedOperands;

/* The result is in `arena`. */
SharedOperands shared_operands_find(Graph *g, Arena *arena);
/* Is a product's right operand, which each run is given, packed for it and others of few rows? */
bool shared_operands_pack(const SharedOperands *s, Graph *g, const Node *product);

#endif
