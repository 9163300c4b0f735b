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

/* Runs that take memory step by step have smaller temporaries in a pool, where there is little to
 * gain. */
enum { LENT_BYTES = 1 << 20 };

/* How a run takes memory. */
typedef struct {
  bool steps;           /* step by step: outputs and temporaries from the first step that has them,
                           temporaries until the last one; otherwise all of it at the beginning */
  const bool *released; /* of each input, by number: its memory is free after its last step */
} MemoryTaking;

/* The most bytes of inputs, outputs and temporaries at one step; false as for memory_use. */
bool memory_peak(const Plan *p, const Sizes *s, const MemoryTaking *taking, int64_t *out);

#endif
