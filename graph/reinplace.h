/* Shared by reinplace*.c: parts of a tensor in memory, and where their elements are in it. */
#ifndef NEREID_GRAPH_REINPLACE_H
#define NEREID_GRAPH_REINPLACE_H

#include "graph/build.h"

/* The places of some elements of a tensor, for nereid.scatter with "put". */
typedef struct {
  Node *index; /* linear, i64; -1: nowhere */
  Node *src;   /* in the shape of `index` */
} Puts;

/* Of index_copy or index_put, at which b stands.  `address` says where elements of its operand are.
 * Where two go to one place, the last of them in row-major order does.  False if there is no linear
 * index for its indices. */
bool reinplace_indexed(Build *b, Node *address, Puts *out);

#endif
