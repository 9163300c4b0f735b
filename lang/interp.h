/* The reference interpreter of the tile IR: it defines what every op means (`--device interp`).
 *
 * It evaluates ops element by element in the op's own dtype and shares no code with lowering or the
 * code generators.  Programs have explicit frames, not the host's stack, so a program that spins on
 * an atomic yields to the others; programs run round-robin in a seeded order.
 * Findings (see lang/memory.h), failed device_asserts, reads of UNDEF that reach memory or control
 * flow, integer wraps that reach an address, and a launch in which nothing moves any more
 * (deadlock), go to `d` with the kernel's source place.
 */
#ifndef NEREID_LANG_INTERP_H
#define NEREID_LANG_INTERP_H

#include "lang/memory.h"
#include "lang/tile.h"

/* A launch argument's bits, by tile parameter (TileFunc.params order): integers sign- or
 * zero-extended, f16/bf16/f32/f64 as their own bits, pointers as host addresses. */
typedef struct {
  uint64_t bits;
} InterpArg;

/* Runs the whole grid.  Returns 0, or -1 if it had to stop (deadlock, or over `max_steps`
 * operations; 0 is no limit); findings alone do not stop it. */
int tile_interp(const TileFunc *f, const InterpArg *args, const uint32_t grid[3], Memory *m,
                Diags *d, uint64_t max_steps);

/* ---- scalar arithmetic, which both interpreters and constant folding share ---- */

/* One element.  Integers are kept sign- or zero-extended from their dtype in `i`; f64 and all
 * narrower floats as their exact double in `f`; pointers as addresses in `i`. */
typedef union {
  int64_t i;
  double f;
} Scalar;

/* The elementwise op `code` on `t` (of the operands; CAST and BITCAST also give `to`, else pass
 * `t`).  The result is rounded or wrapped to its dtype.  SELECT, PTR_ADD and HINT are not handled
 * here. */
Scalar scalar_op(TileCode code, DType t, DType to, const Scalar *x, bool rtz);
/* The same on n elements, from as many of x, y, z as the op has operands; `out` may be one of
 * them.  True if a signed add, sub or mul wrapped. */
bool scalar_ops(TileCode code, DType t, DType to, bool rtz, size_t n, Scalar *out,
                const Scalar *x, const Scalar *y, const Scalar *z);
Scalar scalar_load(DType t, const void *p);         /* from memory; f8, f16, bf16 widened */
void scalar_store(DType t, Scalar v, void *p);      /* to memory; v is already rounded */
double scalar_round(DType t, double v);             /* to nearest even in float dtype t */

#endif
