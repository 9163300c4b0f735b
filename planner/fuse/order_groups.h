/* The order of groups: one in which less memory is alive at once.
 *
 * The graph's order is kept, but around the place where most memory is alive: groups that free
 * memory move in front of it, and groups whose results are read later move behind it, as long as
 * that lowers the peak.  Neighbours mostly stay neighbours, whose values the GPU's cache still
 * has. */
#ifndef NEREID_PLANNER_FUSE_ORDER_GROUPS_H
#define NEREID_PLANNER_FUSE_ORDER_GROUPS_H

#include "planner/fuse/fuse.h"

/* Numbers the groups anew.  The memory of released inputs is free after their last use, that of
 * other inputs never, nor is that of results.  The peak of temporaries alone does not rise, but
 * for results that are written over operands (planner/kernels/buffer_reuse.h). */
void fuse_order_groups(Fusion *f);

#endif
