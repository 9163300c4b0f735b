/* Concatenations of many tensors, which no kernel makes alone: every piece is written to its slice
 * of the result where it is computed.
 *
 *   memory = nereid.empty([96, 8], dtype = torch.float32, once = False)
 *   a = nereid.insert_slice(memory, x, 0, 0)       x's value, and written there
 *   b = nereid.insert_slice(memory, y, 0, 1)
 *   cat = nereid.inserted(memory, [a, b, ...])
 *
 * So time and text grow with the number of pieces, and a piece that is computed costs no copy. */
#ifndef NEREID_GRAPH_FUSE_INSERT_H
#define NEREID_GRAPH_FUSE_INSERT_H

#include "graph/ir/graph.h"

/* All nodes are primitives.  Those that pass are concatenations of a few. */
void graph_insert_slices(Graph *g);

/* Where the slice of n, a nereid.insert_slice, begins: elements of its memory from the first. */
Dim insert_offset(Graph *g, const Node *n);
/* The same of its element at `place`. */
Dim insert_place(Graph *g, const Node *n, const Dim *place);

#endif
