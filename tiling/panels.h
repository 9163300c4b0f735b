/* Weights of products of matrices as CPUs read them: in panels, each the columns that one block of
 * registers takes, row after row.  A weight y[k, n] is stored as [n / width, k / word, width,
 * word], with words (graph/analysis/strided.h) along the sum, or of one element of 32 or 64 bits.
 * Pass pack makes it, as a clone with views around it that give y back, and the kernel knows it by
 * these. */
#ifndef NEREID_TILING_PANELS_H
#define NEREID_TILING_PANELS_H

#include "graph/builders/node_builder.h"

/* Columns of a panel of a matrix with many, on the CPU at hand. */
int panels_width(DType t);
/* Columns of a panel of a matrix with so many, for a product of so many rows; 0: any number of
 * either. */
int panels_width_for(int64_t rows, int64_t columns, DType t);
/* The vector registers that hold so many columns of sums. */
int panels_vectors(int width, DType t);
/* y, a matrix or a batch of matrices, as a view of its panels for a product of so many rows (0: any
 * number); NULL if its sizes or its dtype do not suit. */
Node *panels_pack(Build *b, Node *y, int64_t rows);
/* The product's left operand, packed, as a view of panels of its rows, where the right one's
 * columns are rows in memory, or its kernel computes them; NULL if that does not suit. */
Node *panels_turn(Build *b, const Node *product);
/* Do the left operand's rows suit panels, of which nereid.packed_mm reads them?  Those of f16 do
 * when they are f32. */
bool panels_turn_suits(const Node *product);
/* These panels of a product that is computed as its transpose; NULL: it is not. */
Node *panels_turned(Graph *g, const Node *product);
/* Has a convolution's weight [window, C, O] panels, once its elements are of that dtype?  Not where
 * its sizes are open. */
bool panels_suit_window(Graph *g, const Node *convolution, DType of);
/* The weight, of f32 or bytes, as a view of its panels, with window and C as rows; a panel has
 * columns of one group. */
Node *panels_pack_window(Build *b, Node *convolution);
/* The panels of which y is a view, by either function; NULL: it is none. */
Node *panels_of(const Node *y);
/* Are positions of the window outside of the image left to the kernel?  Else the image has its
 * padding in memory. */
bool panels_clip(Graph *g, const Node *convolution);
/* The elements of a convolution's sum that are next to each other in its image: those of a row of
 * the window, or of one position. */
Dim panels_run(Graph *g, const Node *convolution);

#endif
