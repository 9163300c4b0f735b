/* Which symbols of sizes have a meaning at a node: those of inputs' types, and of the types of
 * nodes before it.  What an annotation alone names could never be computed in a run. */
#ifndef NEREID_GRAPH_OPS_INFER_SYMBOLS_H
#define NEREID_GRAPH_OPS_INFER_SYMBOLS_H

#include "graph/ir/graph.h"

typedef struct {
  Arena *arena;
  VEC(bool) met; /* by a symbol's number */
} Symbols;

void symbols_meet(Symbols *s, const ValueType *t);

/* Sizes of an annotation whose symbols have no meaning yet become the inferred ones that have. */
void symbols_settle(const Symbols *s, Graph *g, ValueType *said, const ValueType *inferred);

/* A size among n's arguments that has no meaning; NULL if all have. */
Dim symbols_open(const Symbols *s, const Node *n);

#endif
