/* Sums that a pass makes in f32 of a product of 16-bit operands.  A layer's result is rounded once,
 * after its bias. */
#ifndef NEREID_GRAPH_BUILDERS_ROUND_ONCE_H
#define NEREID_GRAPH_BUILDERS_ROUND_ONCE_H

#include "graph/builders/node_builder.h"

/* b's node, of 16 bits, becomes `wide` rounded to its dtype.  Views of it, factors, and the first
 * number that is added, where nothing else reads them, are computed in f32 before.  Nodes that are
 * dead then are left to graph_dce. */
void round_once(Build *b, Node *wide);

#endif
