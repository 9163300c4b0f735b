/* Results that are written over what they are computed from.
 *
 * A kernel may write a result to the memory of an operand that nobody reads any more, if it reads
 * that operand once, at the very place to which it writes: then each program reads an element
 * before it writes it, and no other one does either.  Both are one parameter of the kernel then,
 * so that what it does to that memory keeps its order. */
#ifndef NEREID_GRAPH_KERNELS_IN_PLACE_H
#define NEREID_GRAPH_KERNELS_IN_PLACE_H

#include "graph/kernels/kernel.h"

typedef struct {
  const Fusion *f;
  uint32_t *last; /* by node id: 1 + the number of the last group that takes it; 0: none does */
  bool *kept;     /* by node id: its memory is wanted for more than kernels, or written to */
  Node **under;   /* by node id: the first whose memory it takes; NULL: its own */
} InPlace;

/* kernels[i] is that of group i. */
InPlace *in_place_new(const Fusion *f, Kernel *const *kernels);
/* Chooses for the kernel of a group, and changes its text.  In the order of the groups. */
void in_place_choose(InPlace *p, Kernel *k, Text *text);
/* The node whose memory has n's value. */
Node *in_place_memory(const InPlace *p, Node *n);

#endif
