/* Integer expressions over named values: grids, guards of variants, derived parameters.
 *
 *   e := cmp {"and" cmp};  cmp := sum [(== != < <= > >=) sum]
 *   sum := term {(+|-) term};  term := unary {(*|//|%) unary};  unary := [-] atom
 *   atom := number | name | ( e ) | cdiv(e, e) | min(e, e ...) | max(e, e ...)
 *
 * A bounds expression is one whose value is an interval (lower/analysis/pointer_bounds.h), computed
 * one operation after the other from the intervals of its names.  It has more functions:
 *
 *   span(a, b)         from a's least value to b's greatest - 1
 *   hull(a, b ...)     the least interval with all of them
 *   below, atmost, above, atleast(e, x)   what of e is < x, <= x, > x, >= x, for some value of x
 *   signed, unsigned(e, bits)   e, or all integers of that width if some value of e is none
 *   quotient, remainder(a, b)   C's, towards zero
 *   repeat(e, n)       any sum of 0 to n values of e
 *   both(a, b)         what a and b have in common
 *   whole(e, bits)     e, or all integers if some value of e is no signed integer of that width
 *   given(a, e)        a, or all integers if e is all integers
 *
 * // and % are Python's (towards minus infinity).  All is done in 64 bits; a result that does not
 * fit, or a division by zero, is an error.  The compiled form is postfix code. */
#ifndef NEREID_RUNTIME_IMAGE_INTEXPR_H
#define NEREID_RUNTIME_IMAGE_INTEXPR_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/support/error.h"

typedef struct {
  uint8_t op;
  int64_t value; /* a number, or which name */
} IntOp;

/* Most guards are NAME % NUMBER == 0 with a power of two: `mask` has the low bits of the name that
 * must be zero, and is 0 for other expressions. */
typedef struct {
  const char *text;
  IntOp *code;
  int n, name;
  int64_t mask;
} IntExpr;

/* `names` in the order of the values that intexpr_eval takes. */
int intexpr_parse(Arena *a, IntExpr *out, const char *text, const char *const *names, int nnames);
int intexpr_eval(int64_t *out, const IntExpr *e, const int64_t *values);

/* Does it depend on the name with that number? */
bool intexpr_uses(const IntExpr *e, int name);

/* Is the value a number other than 0?  An error counts as no. */
static inline bool intexpr_holds(const IntExpr *e, const int64_t *values) {
  int64_t value;
  if (e->mask) return !(values[e->name] & e->mask);
  return !intexpr_eval(&value, e, values) && value;
}

/* The expression as C, in which v[i] is the i-th name's value; it calls floor_div, floor_mod, cdiv,
 * least and most, of two int64_t. */
const char *intexpr_c(Arena *a, const IntExpr *e);

/* lo to hi, none if lo > hi.  A range that may exceed 64 bits is INT64_MIN to INT64_MAX. */
typedef struct {
  int64_t lo, hi;
} IntRange;

/* Bounds expressions.  Evaluation has no errors: an unknown result is the whole range. */
int intexpr_parse_bounds(Arena *a, IntExpr *out, const char *text, const char *const *names,
                         int nnames);
IntRange intexpr_range(const IntExpr *e, const IntRange *values);

#endif
