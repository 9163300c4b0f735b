/* A chain is a perfect nest of unrolled loops, which fuse_loops and peel_masks transform:
 *
 *   unroll a:32 { unroll b:4 { BODY } }          BODY holds no further loop
 *
 * Its iterations are numbered in the order in which they run. */
#ifndef NEREID_LOWER_THREAD_CHAIN_H
#define NEREID_LOWER_THREAD_CHAIN_H

#include "lower/nest/nest.h"

typedef struct {
  NestIndex *index[MAX_TERMS];
  int depth; /* 0: no chain */
  NestBlock *body;
} Chain;

Chain chain_of(NestStmt *st);
int64_t chain_coefficient(const Affine *x, const Chain *c, int i);
/* The number of iterations of loop i, with the loops inside it. */
int64_t chain_extent(const Chain *c, int i);
/* Is x `scale` times the iteration's number? */
bool chain_linear(const Affine *x, const Chain *c, int64_t scale);

#endif
