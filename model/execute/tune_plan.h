/* Mode max-autotune: of each step's choices (planner/plan/tiles.h), the tuner
 * (runtime/search/tuner.h) finds the fastest, by records or by measuring, and the plan takes it.
 *
 * Steps that run one kernel at the same sizes are one problem; all problems are one search.  Data
 * stays in the device's cache, as it does from one kernel of a model to the next. */
#ifndef NEREID_MODEL_EXECUTE_TUNE_PLAN_H
#define NEREID_MODEL_EXECUTE_TUNE_PLAN_H

#include "planner/plan/plan.h"
#include "runtime/nereid_tune.h"

/* Callbacks for progress. */
typedef struct {
  nereid_tune_progress_fn on_progress; /* NULL: nobody */
  void *context;
} TuneProgress;

/* Sizes that the plan leaves open are large ones of their ranges.  Does nothing on devices other
 * than GPUs.  Where nothing can be measured, a note says so, and the first choices stay. */
int tune_plan(Plan *p, nereid_device *d, const TuneProgress *progress);
/* Tunes for a GPU that need not be present, by records alone: those of one device of the target. */
int tune_plan_recorded(Plan *p, const char *target, nereid_message_fn note, void *context);

#endif
