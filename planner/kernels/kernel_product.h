/* Parts that kernels of GROUP_MATMUL share: the tile's axes, reads of operands, the epilogue. */
#ifndef NEREID_PLANNER_KERNELS_KERNEL_PRODUCT_H
#define NEREID_PLANNER_KERNELS_KERNEL_PRODUCT_H

#include "graph/ops/window.h"
#include "planner/kernels/kernel.h"

/* Rows, columns and batches by their names in the templates. */
void product_bind(Kernel *k);
/* The same, where the tile has the result's columns as its rows. */
void product_bind_turned(Kernel *k);
/* Goes through the views between a piece and memory: p->operand becomes what is loaded. */
void product_source(Kernel *k, ConcatSource *p);
/* A sum of pointers as tiles want it: with both axes, `first` and `second`, also where one has one
 * element.  `axes`: those that it has. */
const char *product_pointers(Kernel *k, const char *pointers, unsigned axes, const char *first,
                             const char *second);
/* The nodes of the group after the product, which is in `acc`. */
void product_epilogue(Kernel *k);

/* Prints `& x is within the limits`, either of which may be NULL.  A single comparison checks both
 * where the lower one is 0: below it numbers wrap to large ones. */
void product_limit(Kernel *k, Text *t, const char *x, Dim lo, Dim hi);

/* Lines, so many columns more to the right. */
const char *product_indented(Kernel *k, const char *lines, int columns);

/* A position of a window whose stride is not 1: the element of the input that window x meets there
 * is (x + over) * stride + rest. */
typedef struct {
  Dim over, rest;
} Strides;

/* Position `at` along axis i of that window, in variables of their own, set by `lines`. */
Strides product_strided(Kernel *k, Text *lines, int indent, const Window *w, uint32_t i, Dim at);

/* The rows of a product with a packed weight. */
typedef struct {
  Node *row; /* the left operand, of one row that threads multiply; NULL: tl.dot does */
  bool few;  /* one tile has them */
  bool one;  /* they are one */
} PackedRows;

/* The lines that make the tile of BK by BN elements of a right operand that the kernel computes
 * (nereid.packed_mm).  Its axes are cut into digits, so that a load whose element several others
 * share, as a word of eight fields or a scale of 128 weights, is of a tile that has it once.  Of
 * few rows the sum is cut into segments, for each of which warps have sums of their own. */
typedef struct {
  const char *before; /* the loop */
  const char *right;  /* lines that make `right`, or of a row `left` and `weight` */
  const char *left;   /* few: lines that put `left` in order; NULL: it is */
  const char *sums;   /* the shape of sums */
  const char *after;  /* the loop: lines that make a matrix of them */
  const char *multiply; /* lines that add to the sums; NULL: a product's own */
  bool few;           /* as asked for, if the operands can be put so */
} PackedTile;

PackedTile packed_tile(Kernel *k, const PackedRows *rows, Node *right, Dim batch, Dim kb,
                       Dim column);
/* The dtype of a product's sums. */
DType product_sums(const Node *n);
/* The further arguments of a tl.dot of operands of that dtype. */
const char *product_precision(const Graph *g, DType t, ProductRounding rounds);

/* The text of a program of one tile becomes that of a loop over tiles. */
void product_loop(Text *out, const char *one, const char *wide);

#endif
