/* Parts that kernels of GROUP_MATMUL share: the tile's axes, reads of operands, the epilogue. */
#ifndef NEREID_PLANNER_KERNELS_KERNEL_PRODUCT_H
#define NEREID_PLANNER_KERNELS_KERNEL_PRODUCT_H

#include "planner/kernels/kernel.h"

/* Rows, columns and batches by their names in the templates. */
void product_bind(Kernel *k);
/* Goes through the views between a piece and memory: p->operand becomes what is loaded. */
void product_source(Kernel *k, ConcatSource *p);
/* A sum of pointers as tiles want it: with both axes, `first` and `second`, also where one has one
 * element.  `axes`: those that it has. */
const char *product_pointers(Kernel *k, const char *pointers, unsigned axes, const char *first,
                             const char *second);
/* The nodes of the group after the product, which is in `acc`. */
void product_epilogue(Kernel *k);

/* The lines that make the tile of BK by BN elements of a right operand that the kernel computes
 * (nereid.packed_mm), `weight`.  Its axes are cut into digits, so that a load whose element several
 * others share, as a word of eight fields or a scale of 128 weights, is of a tile that has it once.
 * Each step of the loop loads what the next one computes with. */
enum { PACKED_TURNS_MOST = 4, PACKED_STEP_MOST = 128 /* elements of the sum */ };

typedef struct {
  int turns; /* of the loop, one step each */
  const char *before;                    /* the loop */
  const char *within[PACKED_TURNS_MOST]; /* a turn */
  const char *after[PACKED_TURNS_MOST];  /* a turn's product, with several turns */
  const char *shape;           /* of the tile: an axis for each digit */
  const char *matrix;          /* the tile, or of a row the sum of tiles, as a matrix */
} PackedTile;

/* `row`: the left operand, of one row, which becomes `left`, elements of the tile; NULL: the tile
 * is an operand of tl.dot.  `few`: the rows are few. */
PackedTile packed_tile(Kernel *k, bool few, Node *row, Node *right, Dim batch, Dim kb,
                       Dim column);
/* The further arguments of a tl.dot of operands of that dtype. */
const char *product_precision(const Graph *g, DType t, ProductRounding rounds);

#endif
