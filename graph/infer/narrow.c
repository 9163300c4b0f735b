#include "graph/infer/narrow.h"

#include <math.h>

#include "graph/infer/node_builder.h"
#include "lang/interp/interp.h"

/* PyTorch's 8-bit floats overflow, where the kernel language's take the largest number. */
static double round_to_dtype(DType t, float x) {
  if (t == DT_F8E4NV && fabsf(x) > 464) return NAN;
  if (t == DT_F8E5 && fabsf(x) >= 61440) return copysign(INFINITY, x);
  return isfinite(x) ? scalar_round(t, x) : x;
}

Arg narrow_number(const Arg *a, DType t) {
  bool narrow = dtype_is_float(t) && dtype_bits(t) < 32;
  if (narrow && a->kind == ARG_FLOAT) return arg_float(round_to_dtype(t, (float)a->number));
  if (narrow && a->kind == ARG_INT && dim_is_int(a->dim))
    return arg_float(round_to_dtype(t, (float)a->dim->value));
  return *a;
}
