/* Shapes of the windows of pooling, for its values (decompose/windows/decompose_pool.c) and its
 * gradients (decompose/training/pool_gradients.c). */
#ifndef NEREID_DECOMPOSE_WINDOWS_POOLING_H
#define NEREID_DECOMPOSE_WINDOWS_POOLING_H

#include "decompose/decompose.h"
#include "graph/ops/window.h"

typedef struct {
  Node *x;
  uint32_t n, first; /* the last n axes, from `first` on */
  Dim kernel[WINDOW_AXES], stride[WINDOW_AXES], padding[WINDOW_AXES], dilation[WINDOW_AXES];
  Dim after[WINDOW_AXES]; /* padding after the input */
  Dim windows[WINDOW_AXES];
  bool ceil_mode;
} Pooling;

/* Reads the Build's node, which pools over the last n axes of `self`; its result, or the result
 * whose gradient it is, is `pooled`. */
Pooling pooling_read(Build *b, uint32_t n, const ValueType *pooled);
/* x, with an element for each window, over the number that the window's sum is divided by. */
Node *pooling_divide(Build *b, const Pooling *p, Node *x);
/* floor(window * size / windows), or of the next window, rounded up: the bounds of adaptive
 * pooling's windows. */
Node *pooling_adaptive_bound(Build *b, Dim size, Dim windows, bool end);

#endif
