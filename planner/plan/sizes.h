/* Values of a plan's symbols for the inputs of one run. */
#ifndef NEREID_PLANNER_PLAN_SIZES_H
#define NEREID_PLANNER_PLAN_SIZES_H

#include "planner/plan/plan.h"
#include "runtime/nereid.h"

/* The source of a size.  The one axis of an input that is a number is the number itself. */
typedef struct {
  uint32_t input, axis;
} SizeSource;

typedef struct {
  Arena *arena;
  const Plan *plan;
  const PlanBuffer **inputs; /* by number; NULL where no step and no output needs that one */
  uint32_t ninputs;
  uint32_t nsymbols;
  int64_t *values; /* of symbols, by number */
  bool *known;
  DimRange *ranges; /* of symbols, while a bound is looked for */
  bool *unread;     /* data decides it, and it is as large as it can be until it is read */
  SizeSource *from; /* the first occurrence of a known symbol */
  bool refused;     /* the plan is not for the sizes of the inputs, nor for values that they have */
} Sizes;

Sizes *sizes_new(Arena *a, const Plan *p);

/* Binds the symbols from the inputs' shapes.  Fails where an input is not what the plan takes: its
 * number of axes, its dtype, a size that is fixed, that another input contradicts, or that is out
 * of its symbol's range. */
int sizes_bind(Sizes *s, const nereid_tensor *inputs, int n);
/* Binds sizes where inputs are missing (n of them exist, and are those that have a dtype): symbols
 * that these leave open become some number in their range, so that inputs of the right shapes can
 * be made. */
int sizes_bind_some(Sizes *s, const nereid_tensor *inputs, int n);
/* 1 if the number that input b is follows from these inputs, else 0. */
int sizes_follows(Sizes *s, const nereid_tensor *inputs, int n, const PlanBuffer *b);
/* Binds sizes without inputs, for measuring: symbols become as large as their ranges allow, up to
 * `most`, and multiples of 16 if they can. */
int sizes_bind_large(Sizes *s, int64_t most);

/* The symbol of that read is `value` from now on; fails if it cannot be so. */
int sizes_read(Sizes *s, const PlanRead *r, int64_t value);

/* False if x has a symbol that no input binds, is too large or divides by zero. */
bool sizes_eval(const Sizes *s, Dim x, int64_t *out);
/* Evaluates a shape, whose sizes are not negative; a message names `what`. */
int sizes_shape(const Sizes *s, const PlanBuffer *b, int64_t *shape);
/* The same with room for whatever sizes that are not read yet will be. */
int sizes_shape_with_room(const Sizes *s, const PlanBuffer *b, int64_t *shape);

#endif
