/* Scalar arithmetic, which both interpreters and constant folding share. */
#ifndef NEREID_LANG_TILE_SCALAR_H
#define NEREID_LANG_TILE_SCALAR_H

#include "lang/tile/tile.h"

/* The value of an element.  Integers are kept sign- or zero-extended from their dtype in `i`; f64
 * and all narrower floats as their exact double in `f`; pointers as addresses in `i`. */
typedef union {
  int64_t i;
  double f;
} Scalar;

/* The elementwise op `code` on `t` (of the operands; CAST and BITCAST also give `to`, else pass
 * `t`).  The result is rounded or wrapped to its dtype.  SELECT, PTR_ADD and HINT are not handled
 * here. */
Scalar scalar_op(TileCode code, DType t, DType to, const Scalar *x, bool rtz);
/* Computes n elements, from as many of x, y, z as the op has operands; `out` may be one of them.
 * Returns true if a signed add, sub or mul wrapped. */
bool scalar_ops(TileCode code, DType t, DType to, bool rtz, size_t n, Scalar *out,
                const Scalar *x, const Scalar *y, const Scalar *z);
Scalar scalar_load(DType t, const void *p);         /* from memory; f8, f16, bf16 widened */
void scalar_store(DType t, Scalar v, void *p);      /* to memory; v is already rounded */
/* n contiguous elements. */
void scalar_load_all(DType t, size_t n, const void *p, Scalar *out);
void scalar_store_all(DType t, size_t n, const Scalar *x, void *p);
double scalar_round(DType t, double v); /* to nearest even in float dtype t */
double scalar_round_zero(DType t, double v); /* towards zero */
/* An operand of a matrix unit that counts 10 bits of mantissa; infinities and NaN stay. */
float scalar_tf32(Tf32 how, float v);
/* Rounds a result computed in f32 (or in f64, for t = f64) to the float dtype t. */
void scalar_round_all(DType t, size_t n, Scalar *x);

#endif
