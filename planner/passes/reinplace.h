/* Shared by reinplace*.c: parts of a tensor in memory, and where their elements are in it. */
#ifndef NEREID_PLANNER_PASSES_REINPLACE_H
#define NEREID_PLANNER_PASSES_REINPLACE_H

#include "graph/builders/node_builder.h"

/* The places of some elements of a tensor, for nereid.scatter with "put". */
typedef struct {
  Node *index; /* linear, i64; -1: nowhere */
  Node *src;   /* in the shape of `index` */
} Puts;

/* The elements that b's node writes, and their new values; it is index_add, index_copy, index_fill,
 * index_put, masked_fill or masked_scatter.  `address` says where elements of its operand are.  The
 * last of equal indices in row-major order writes: its own value, or the sum of all.  False if
 * there is no linear index for its indices. */
bool reinplace_elements(Build *b, Node *address, Puts *out);

#endif
