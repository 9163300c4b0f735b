/* Reductions and scans: their operands, and the function that combines two elements. */
#ifndef NEREID_SEMA_BUILTINS_COMBINE_H
#define NEREID_SEMA_BUILTINS_COMBINE_H

#include "sema/value/builtins.h"
#include "sema/value/context.h"

enum { OPERANDS_MAX = 16 };

typedef struct {
  Value v[OPERANDS_MAX];
  uint32_t n;
  bool tuple;
  Type shape;
} Operands;

/* The combining function: an op of one word, or a function, or the search for the first extreme. */
typedef struct {
  const char *name;
  Value fn;
  bool arg, is_max, left; /* of (value, index) pairs */
} Combine;

/* The first argument: a tile, or a tuple of tiles of one shape.  False after an error. */
bool combine_operands(Sema *S, const Call *c, Operands *o);
/* REDUCE or SCAN over `axis`, with results of the given shape, which replace the operands. */
bool combine_op(Sema *S, const Call *c, TileCode code, const Combine *how, Operands *o,
                int axis, bool reverse, Type result);
Value combine_results(Sema *S, const Operands *o);

#endif
