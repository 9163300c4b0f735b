/* Operators on lists of tensors, which call another operator (GraphOp.each) with item after item.
 *
 * Their parameters are those of that operator, in its order: a list in place of a tensor or a
 * number has one for each call, and others are the same for all calls. */
#ifndef NEREID_GRAPH_INFER_FOREACH_H
#define NEREID_GRAPH_INFER_FOREACH_H

#include "graph/ops/infer_rules.h"

enum { FOREACH_ARGS = 8 };

typedef struct {
  const GraphOp *op;
  uint32_t nargs, nnamed;
  Arg args[FOREACH_ARGS];
  NamedArg named[FOREACH_ARGS];
} ForeachCall;

/* How many calls there are.  Lists that differ in length are reported. */
uint32_t foreach_count(Infer *in);
/* Call i.  A list that is the result of a node has `item` of that node. */
ForeachCall foreach_call(Infer *in, uint32_t i, Node *(*item)(void *ctx, Node *list, uint32_t i),
                         void *ctx);

#endif
