/* The builder of nodes for masks: which of their elements that hold each element is. */
#ifndef NEREID_GRAPH_BUILDERS_MASK_BUILDER_H
#define NEREID_GRAPH_BUILDERS_MASK_BUILDER_H

#include "graph/builders/node_builder.h"

/* How many of a mask of one axis hold before each element that does, as i64. */
Node *build_mask_number(Build *b, Node *mask);

/* A mask of one axis in parts, so that a program need not go through a long one: rows of a part
 * each, with elements after the mask's end that do not hold. */
typedef struct {
  Node *mask;
  Node *number; /* for an element that holds, how many do before it: i32, or i64 of very many */
  Node *count;  /* how many hold: an i64 scalar */
} MaskParts;
MaskParts build_mask_parts(Build *b, Node *mask);

#endif
