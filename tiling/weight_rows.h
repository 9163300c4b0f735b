/* Gradients of convolutions' weights as CPUs compute them: sums of products of rows of images.
 *
 * A row of the gradient of the result meets, for each row of the window, elements of the input that
 * are next to each other in memory: those of all its columns and channels.  So nereid.conv_weight
 * is a product whose steps are rows of images, if the input has its padding in memory.  Vectors are
 * output channels, if these are last in its result, else elements of a row of the window; then
 * those behind a row that is no whole vectors are read, too. */
#ifndef NEREID_TILING_WEIGHT_ROWS_H
#define NEREID_TILING_WEIGHT_ROWS_H

#include "graph/ops/window.h"
#include "tiling/tiling.h"

/* Windows of a row of the gradient [N, windows, O] that a step sums up, which divide it: all, or
 * some if their number is open; 0: none do. */
int64_t weight_rows_step(const ValueType *grad, const Window *w);
/* Windows of no value that a row of the gradient lacks for steps of them. */
Dim weight_windows_more(Dims *d, const ValueType *grad, const Window *w);
/* Are sizes known but for those of images?  `padding` may be there, and windows not be steps. */
bool weight_rows_suit(const ValueType *grad, const Window *w);
/* Is it computed so? */
bool weight_has_rows(Graph *g, const Node *n);
/* Are the elements of a row of the window next to each other?  Else its rows are positions. */
bool weight_row_is_whole(const Window *w);
/* The elements of a row of the window, or of a position. */
int64_t weight_row(const Window *w);
/* Are vectors of so many output channels better than those of a row of the window?  `copied`: the
 * input is copied in any case, so that there may be elements behind its last row. */
bool weight_outputs_last(int64_t outputs, const Window *w, bool copied);
/* How many channels the gradient [N, windows, O] lacks to whole vectors. */
int64_t weight_channels_more(const ValueType *grad);
/* How many elements a row of the window lacks to them. */
int64_t weight_row_more(const Window *w);
/* A tile of the product of so many output channels: its rows are elements of a row of the window
 * and its columns outputs, if these are `last`, else the other way around. */
Tile weight_rows_tile(int64_t outputs, const Window *w, int64_t windows_of_row, bool last);
/* Into how many parts to cut the sum, where so many bytes are read: a part's are in a cache for all
 * tiles, of which there are `tiles`, and processors have tiles. */
int weight_rows_parts(int64_t bytes, int64_t tiles, int64_t result);

#endif
