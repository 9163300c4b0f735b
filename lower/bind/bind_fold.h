/* Shared by reductions and scans: combining elements, and exchanging those of warps through shared
 * memory.
 */
#ifndef NEREID_LOWER_BIND_BIND_FOLD_H
#define NEREID_LOWER_BIND_BIND_FOLD_H

#include "lower/bind/bind.h"

enum { MAX_OPERANDS = 8 };

/* The number of operands, which is refused above MAX_OPERANDS. */
int bind_operands(const Bind *s, const NestStmt *st);
/* acc[i] := combine(acc[i], x[i]) for all operands of a reduction or scan, at the builder. */
void bind_combine(Bind *s, const NestStmt *st, const Ref *acc, const Ref *x);
/* The neutral element of a named op. */
Ref bind_identity(const char *name, DType t);

/* The slot of a thread's partial results: by position of the other axes, the axis's warps
 * fastest. */
typedef struct {
  Ref base;      /* i32 bytes, or REF_NONE */
  Affine bytes;  /* of the register digits */
  int64_t slots; /* positions of the other axes */
} Slot;
/* Slots of `bytes` each, for the partial results along an axis of the nest at hand. */
Slot bind_slot(Bind *s, int axis, int64_t bytes);
Ref bind_sum(Bind *s, Ref a, Ref b); /* i32; either may be REF_NONE */

/* dst := src of the lane that `mode` and `by` say. */
void bind_shuffle(Bind *s, Ref dst, Ref src, const char *mode, int by, DType t);
/* dst := src of lane `from`. */
NestStmt *bind_from_lane(Bind *s, Ref dst, Ref src, Ref from, DType t);
/* Registers to[at..at+n) := from[first..first+n). */
void bind_mov_run(Bind *s, NestVar *to, int64_t at, NestVar *from, int64_t first, int64_t n);

#endif
