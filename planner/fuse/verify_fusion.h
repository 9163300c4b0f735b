/* The verifier of groups: each node is in one group at most, groups have the numbers of their
 * order, and what a group reads is computed before it, and written to memory if another group
 * computes it. */
#ifndef NEREID_PLANNER_FUSE_VERIFY_FUSION_H
#define NEREID_PLANNER_FUSE_VERIFY_FUSION_H

#include "planner/fuse/fuse.h"

/* The first fault, in `a`; NULL: there is none. */
const char *fusion_fault(Arena *a, const Fusion *f);

#endif
