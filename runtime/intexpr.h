/* Integer expressions over named values: grids, guards of variants, derived parameters.
 *
 *   e := cmp {"and" cmp};  cmp := sum [(== != < <= > >=) sum]
 *   sum := term {(+|-) term};  term := unary {(*|//|%) unary};  unary := [-] atom
 *   atom := number | name | ( e ) | cdiv(e, e) | min(e, e ...) | max(e, e ...)
 *
 * // and % are Python's (towards minus infinity).  All is done in 64 bits; a result that does not
 * fit, or a division by zero, is an error.  The compiled form is postfix code. */
#ifndef NEREID_RUNTIME_INTEXPR_H
#define NEREID_RUNTIME_INTEXPR_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/error.h"

typedef struct {
  uint8_t op;
  int64_t value; /* a number, or which name */
} IntOp;

typedef struct {
  const char *text;
  IntOp *code;
  int n;
} IntExpr;

/* `names` in the order of the values that intexpr_eval takes. */
int intexpr_parse(Arena *a, IntExpr *out, const char *text, const char *const *names, int nnames);
int intexpr_eval(int64_t *out, const IntExpr *e, const int64_t *values);

#endif
