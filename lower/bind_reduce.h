/* What the files on reductions share: bind_registers.c, bind_reduce.c. */
#ifndef NEREID_LOWER_BIND_REDUCE_H
#define NEREID_LOWER_BIND_REDUCE_H

#include "lower/bind_fold.h"

typedef struct {
  const NestStmt *st;
  int axis, n;
  NestVar *in[MAX_OPERANDS];
  NestVar *acc[MAX_OPERANDS];
  DimMask kept; /* dims of the thread, of the other axes */
} Reduction;

/* What every thread has of the axis becomes one: r->in to r->acc, packed over r->kept. */
void bind_fold_registers(Bind *s, Reduction *r, const Layout *l);
/* The subscript in an array that is packed over the dims of a mask, and its size. */
Affine bind_packed(const Bind *s, DimMask mask);
uint32_t bind_registers_of(const Bind *s, DimMask mask);

#endif
