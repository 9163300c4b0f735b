/* Reuse of buffers within a kernel: results that are written over an operand.
 *
 * A kernel may write a result to the memory of an operand after whose last use it runs, if it reads
 * that operand once, at the very index to which it writes: then each program reads an element
 * before it writes it, and no other program does either.  Both are one parameter of the kernel, so
 * that its accesses to that memory keep their order.
 *
 * The operand is a value of the run's, or an input whose new value the result is.  What the caller
 * gets is written over a value only where memory matters more than that the value moves with it. */
#ifndef NEREID_PLANNER_KERNELS_BUFFER_REUSE_H
#define NEREID_PLANNER_KERNELS_BUFFER_REUSE_H

#include "planner/kernels/kernel.h"

typedef struct {
  const Fusion *f;
  uint32_t *last; /* by node id: 1 + the number of the last group that takes it; 0: none does */
  bool *kept;     /* by node id: its memory is wanted for more than kernels, or written to */
  bool *returned; /* by node id: the caller gets it once, and that is all it is kept for */
  Node **target;  /* by node id: the input whose new value it is, and nothing else; NULL: none */
  Node **under;   /* by node id: the first whose memory it takes; NULL: its own */
} InPlace;

/* kernels[i] is that of group i. */
InPlace *in_place_new(const Fusion *f, Kernel *const *kernels);
/* Chooses for the kernel of a group, and changes its text.  Call it in the order of the groups. */
void in_place_choose(InPlace *p, Kernel *k, Text *text);
/* The node whose memory has n's value. */
Node *in_place_memory(const InPlace *p, Node *n);

#endif
