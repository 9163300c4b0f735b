/* What the kernels of a fusion cost at least, and why each ends where it does.
 *
 * Bytes are those of different elements: one that is read twice, or at the same place by several
 * nodes, counts once, and of a table that is indexed no more than what the indices can reach.
 * Operations are one for each element of a pointwise node, a reduction or a scan, and two for
 * each product that a matmul, a convolution or an attention adds up. */
#ifndef NEREID_GRAPH_COMPILE_COST_H
#define NEREID_GRAPH_COMPILE_COST_H

#include "graph/fuse/fuse.h"
#include "graph/plan/plan.h"

/* One for each group, in the fusion's arena. */
const StepCost *cost_of_groups(const Fusion *f);

#endif
