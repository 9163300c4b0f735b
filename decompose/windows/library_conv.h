/* Convolutions of two axes, and their gradients, as calls of a library. */
#ifndef NEREID_DECOMPOSE_WINDOWS_LIBRARY_CONV_H
#define NEREID_DECOMPOSE_WINDOWS_LIBRARY_CONV_H

#include "graph/analysis/library_problem.h"
#include "graph/builders/node_builder.h"

typedef struct {
  Dim stride[2], padding[2], dilation[2], groups;
} LibraryWindows;

/* The work of `x` and `y`, [images or features, channels, sizes] as in PyTorch, and so is the
 * result; `size` is that with the channels last.  NULL: no library is to do it. */
Node *library_conv(Build *b, LibraryWork work, Node *x, Node *y, const Dim size[4],
                   const LibraryWindows *w);

#endif
