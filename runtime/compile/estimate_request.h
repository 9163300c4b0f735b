/* The cost model (lower/cost/estimate.h), for requests. */
#ifndef NEREID_RUNTIME_COMPILE_ESTIMATE_REQUEST_H
#define NEREID_RUNTIME_COMPILE_ESTIMATE_REQUEST_H

#include "lower/cost/estimate.h"
#include "lower/cost/launch_stats.h"
#include "runtime/nereid.h"
#include "runtime/device/peaks.h"

/* A launch of the requested kernel, compiled for the request's target, on that grid. */
typedef struct {
  const nereid_request *request;
  const DevicePeaks *peaks;
  uint32_t grid[3];
  const nereid_binding *ints; /* integer arguments by name; others are ignored */
  int nints;
} EstimateLaunch;

/* Peaks of a device of the target; NULL: those of the GPU at hand, or else an H200's. */
void estimate_peaks(DevicePeaks *out, const char *target);
/* Compiles to level thread and estimates.  Keeps nothing, and may run in many threads at once. */
int estimate_launch(Estimate *out, const EstimateLaunch *l);
/* Returns the launch statistics of the estimate too (`stats` may be NULL). */
int estimate_explain(Estimate *out, LaunchStats *stats, const EstimateLaunch *l);
/* The order in which to try candidates: the fastest first, then fast ones that differ from those
 * before them, since an error of the cost model is common to similar candidates.  Candidates
 * without an estimate (us is 0) come last. */
void estimate_order(size_t *order, const Estimate *const *e, size_t n);

#endif
