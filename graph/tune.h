/* Mode max-autotune: each step's choices (graph/tiles.h) are compiled, run and measured on the
 * device, and the fastest is kept, in the plan and in the cache on disk.
 *
 * A choice counts if it gives what the first one gives.  One that cannot be compiled or launched
 * is infinitely slow, and no failure.  Steps that run one kernel at the same sizes are measured
 * once; the cache knows it by its text, its sizes, its choices, the device and the version. */
#ifndef NEREID_GRAPH_TUNE_H
#define NEREID_GRAPH_TUNE_H

#include "graph/plan.h"
#include "runtime/nereid.h"

/* Sizes that the plan leaves open are large ones of their ranges.  Does nothing on devices other
 * than GPUs.  Fails where the device does. */
int tune_plan(Plan *p, nereid_device *d);

#endif
