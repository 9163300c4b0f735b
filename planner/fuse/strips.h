/* Strips: neighbours of a window that a thread computes together.
 *
 * Positions next to each other along a window's last axis read elements in common, and the same
 * weights.  A strip loads each of them once.  Pooling has no weights, waits for memory, and gains
 * nothing on a GPU.
 *
 * A CPU's program goes along a row of an image (group_plane).  Its first and its last strip have
 * known places, so that what they read outside of the image is left out, and the strips between
 * them are within it (planner/kernels/kernel_window.c). */
#ifndef NEREID_PLANNER_FUSE_STRIPS_H
#define NEREID_PLANNER_FUSE_STRIPS_H

#include "graph/ops/window.h"
#include "planner/fuse/fuse.h"

/* Parts of a strip, and positions of a window's last axis, at most; of a window over images
 * (Window.of_images) so many at a time. */
enum { STRIP_MAX = 8, STRIP_WINDOW_MAX = 16, STRIP_AT_A_TIME = 8 };
/* Sums that a program has of several rows of a window over images, at most. */
enum { WINDOW_SUMS_MAX = 12 };

/* May neighbours along the window's last axis be computed together? */
bool window_has_strips(const Window *w);
/* Chooses the strips of all groups.  They hold where rows fit a tile. */
void fuse_choose_strips(Fusion *f);
/* Gives a CPU's copy into panels (tiling/panels.h) the elements of a word as strips.  Its
 * programs take rows of what is copied, or tiles of both orders if that is along the sum. */
void fuse_find_panels(const Fusion *f, Group *g);
/* Gives a CPU's copy that makes an operand dense tiles of parts of its rows, so that where a row is
 * and what is padding above it is computed once for the row. */
void fuse_find_dense_rows(const Fusion *f, Group *g);
/* The columns of the strips in which a CPU's programs of a group with vector columns
 * (group_vector_columns) go along rows of images, as equal as may be, and all at the same of spread
 * elements; 0: there are none. */
int64_t group_row_strip(const Fusion *f, const Group *g);
/* The rows that a program of a CPU's group has whose vectors go along the axis over which its
 * windows slide, as those of channels that come first do; NULL: its vectors go along others. */
Dim group_slides(const Fusion *f, const Group *g);
/* How many planes a program of a group_planes_first has: all rows of the window, if its sums, in
 * one strip, are few.  Then images are read once for all of them, row by row. */
int64_t group_window_rows(const Fusion *f, const Group *g);

#endif
