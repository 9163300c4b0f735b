/* Windows that slide over the last axes of a tensor: convolutions and pooling. */
#ifndef NEREID_GRAPH_WINDOW_H
#define NEREID_GRAPH_WINDOW_H

#include "graph/pieces.h"

enum { WINDOW_AXES = 3 };

typedef struct {
  Node *input;
  uint32_t n;    /* axes over which it slides */
  uint32_t lead; /* axes before those: batch and channels */
  Dim size[WINDOW_AXES], stride[WINDOW_AXES], padding[WINDOW_AXES], dilation[WINDOW_AXES];
} Window;

/* The window of a PRIM_POOL or PRIM_CONVOLUTION. */
Window window_of(Graph *g, const Node *n);
/* Where position `in` of the window of output position `out` lies in the input (both have w->n
 * subscripts), behind `lead`, with the limits of what is no padding. */
void window_piece(Graph *g, const Window *w, const Dim *lead, const Dim *out, const Dim *in,
                  Piece *p);

/* ---- pooling: a reduction over the elements of windows ---- */

/* The axes of the result, then those of the window. */
uint32_t pool_shape(Graph *g, const Node *n, Dim *shape);
/* What is read for the element at `place`, of pool_shape's rank. */
void pool_piece(Graph *g, const Node *n, const Dim *place, Piece *p);

#endif
