/* Strips: neighbours of a window that a thread computes together.
 *
 * Positions next to each other along a window's last axis read elements in common, and the same
 * weights.  A strip loads each of them once.  Pooling has no weights, waits for memory, and gains
 * nothing. */
#ifndef NEREID_PLANNER_FUSE_STRIPS_H
#define NEREID_PLANNER_FUSE_STRIPS_H

#include "graph/ops/window.h"
#include "planner/fuse/fuse.h"

/* Parts of a strip, and positions of a window's last axis, at most. */
enum { STRIP_MAX = 7, STRIP_WINDOW_MAX = 16 };

/* May neighbours along the window's last axis be computed together? */
bool window_has_strips(const Window *w);
/* Chooses the strips of all groups.  They hold where rows fit a tile. */
void fuse_choose_strips(Fusion *f);

#endif
