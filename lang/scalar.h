/* What scalar.c and scalar_format.c share; others use lang/interp.h. */
#ifndef NEREID_LANG_SCALAR_H
#define NEREID_LANG_SCALAR_H

#include "lang/interp.h"

double scalar_round_zero(DType t, double v); /* towards zero */
/* Rounds what was computed in f32 (or in f64, for t = f64) to the float dtype t. */
void scalar_round_all(DType t, size_t n, Scalar *x);

#endif
