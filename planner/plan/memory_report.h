/* The memory of a plan's buffers at given sizes, known before anything is allocated. */
#ifndef NEREID_PLANNER_PLAN_MEMORY_REPORT_H
#define NEREID_PLANNER_PLAN_MEMORY_REPORT_H

#include "planner/plan/sizes.h"

typedef struct {
  int64_t weights; /* bytes; with values that are computed from weights once */
  int64_t inputs, outputs;
  int64_t pool;                     /* all temporaries: exactly the most that is in use at once */
  int64_t temporaries;              /* what they would take without reuse */
} MemoryUse;

/* False if a size is not known or too large. */
bool memory_use(const Plan *p, const Sizes *s, MemoryUse *out);

#endif
