/* The model of times (lower/cost/estimate.h), for requests. */
#ifndef NEREID_RUNTIME_COMPILE_ESTIMATE_REQUEST_H
#define NEREID_RUNTIME_COMPILE_ESTIMATE_REQUEST_H

#include "lower/cost/estimate.h"
#include "lower/cost/launch_stats.h"
#include "runtime/nereid.h"
#include "runtime/device/peaks.h"

/* A launch of what the request asks to be compiled, for its target, on that grid. */
typedef struct {
  const nereid_request *request;
  const DevicePeaks *peaks;
  uint32_t grid[3];
  const nereid_binding *ints; /* integer arguments by name; others are ignored */
  int nints;
} EstimateLaunch;

/* Compiles to level thread and estimates.  Keeps nothing, and may run in many threads at once. */
int estimate_launch(Estimate *out, const EstimateLaunch *l);
/* The same with what the estimate is made from (`stats` may be NULL). */
int estimate_explain(Estimate *out, LaunchStats *stats, const EstimateLaunch *l);
/* In which to try candidates: the fastest first, then what is fast and unlike what comes before it,
 * since where the model errs, it errs for what is alike.  What it knows nothing of (us is 0) comes
 * last. */
void estimate_order(size_t *order, const Estimate *const *e, size_t n);

#endif
