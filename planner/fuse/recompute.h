/* Values that are computed again where they are read, instead of being written to memory. */
#ifndef NEREID_PLANNER_FUSE_RECOMPUTE_H
#define NEREID_PLANNER_FUSE_RECOMPUTE_H

#include "planner/fuse/fuse.h"

typedef enum {
  PLACE_ANY,
  PLACE_USERS, /* a pointwise node that is computed where it is used, by all of its users */
  PLACE_MEMORY /* in a group, though it has one user */
} FusePlace;

/* The places of nodes, by node id, that move fewer bytes than the groups of f do: a stored value is
 * computed again by its readers where they read its operands for less, and where computing costs
 * less than that saves.  `kept` (by node id) are values that are in memory anyway.  NULL: f is best
 * as it is. */
const FusePlace *fuse_find_places(const Fusion *f, const bool *kept);

#endif
