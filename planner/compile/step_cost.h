/* Lower bounds of the cost of each kernel of a fusion, and the reason why its fusion stopped.
 *
 * Bytes count distinct elements: one that is read twice, or at the same index by several nodes,
 * counts once, of a table that is indexed no more than the indices can reach, and of a tensor that
 * is written at indices no more than there are.  Operations are
 * one for each element of a pointwise node, a reduction or a scan, and two for each product that a
 * matmul, a convolution or an attention adds up. */
#ifndef NEREID_PLANNER_COMPILE_STEP_COST_H
#define NEREID_PLANNER_COMPILE_STEP_COST_H

#include "planner/fuse/fuse.h"
#include "planner/plan/plan.h"

/* The costs, one for each group, in the fusion's arena. */
const StepCost *cost_of_groups(const Fusion *f);

#endif
