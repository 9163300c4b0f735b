/* Steps that call a library: what a call has, of sizes that are known, and whether the library
 * takes it. */
#ifndef NEREID_MODEL_EXECUTE_LIBRARY_CALLS_H
#define NEREID_MODEL_EXECUTE_LIBRARY_CALLS_H

#include "planner/plan/call.h"
#include "planner/plan/sizes.h"

typedef struct {
  int64_t numbers[CALL_ARGS]; /* those of its arguments that are numbers */
  LibraryShape shape;
  int64_t workspace; /* bytes */
  bool empty;        /* there is nothing to write */
} CallSizes;

int call_sizes(CallSizes *out, const Plan *p, const PlanStep *step, const Sizes *s);

/* The first call of the plan that the device's libraries refuse, where open sizes are large; NULL:
 * none. */
int calls_refused(const PlanStep **out, Arena *a, const Plan *p, nereid_device *d);

#endif
