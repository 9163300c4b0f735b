/* What the files on reductions share: bind_registers.c, bind_reduce.c. */
#ifndef NEREID_LOWER_BIND_BIND_REDUCE_H
#define NEREID_LOWER_BIND_BIND_REDUCE_H

#include "lower/bind/bind_fold.h"

/* Where the axis is padded and the function has no neutral element, the reduction is `ordered`: the
 * axis is spelled by warps, lanes and one register digit, so that padding lies at its end, elements
 * are combined in their order, and a last operand goes along that says of a thread's, of lanes' or
 * of warps' share whether there is any element in it.  With it, `held` operands of `n`. */
typedef struct {
  const NestStmt *st;
  int axis, n, held;
  bool ordered;
  NestVar *in[MAX_OPERANDS + 1];
  NestVar *acc[MAX_OPERANDS + 1];
  DimMask kept; /* dims of the thread, of the other axes */
} Reduction;

/* acc[i] := combine(acc[i], x[i]), for all `held`, at the builder. */
void bind_combine_held(Bind *s, const Reduction *r, const Ref *acc, const Ref *x);

/* What every thread has of the axis becomes one: r->in to r->acc, packed over r->kept. */
void bind_fold_registers(Bind *s, Reduction *r, const Layout *l);
/* The subscript in an array that is packed over the dims of a mask, and its size. */
Affine bind_packed(const Bind *s, DimMask mask);
uint32_t bind_registers_of(const Bind *s, DimMask mask);

#endif
