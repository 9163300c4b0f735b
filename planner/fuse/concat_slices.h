/* Concatenations of many tensors.  No kernel computes one alone: the kernel of each source writes
 * it to its slice of the result.
 *
 *   memory = nereid.empty([96, 8], dtype = torch.float32, once = False)
 *   a = nereid.insert_slice(memory, x, 0, 0)       x's value, also written to the slice
 *   b = nereid.insert_slice(memory, y, 0, 1)
 *   cat = nereid.inserted(memory, [a, b, ...])
 *
 * Time and text grow with the number of sources, and a source that is computed needs no copy. */
#ifndef NEREID_PLANNER_FUSE_CONCAT_SLICES_H
#define NEREID_PLANNER_FUSE_CONCAT_SLICES_H

#include "graph/ir/graph.h"

/* The offset of the slice of n, a nereid.insert_slice, in elements of its memory. */
Dim insert_offset(Graph *g, const Node *n);
/* The offset of its element at index `index`. */
Dim insert_index(Graph *g, const Node *n, const Dim *index);

#endif
