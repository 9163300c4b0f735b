/* The search of a tuner: of several kernels that compute the same, the fastest on a device.
 *
 * Candidates compile on all cores, in the order in which they are given, while those that are ready
 * are measured one at a time (runtime/measurer.h).  Each runs once, and its results are compared;
 * what is far behind the best so far is not run again.  Then the rest is measured more often, the
 * fewer are left the more (successive halving), until those that can't be told apart from the best
 * have been run some hundred times.
 *
 * Candidates whose code is the same are measured once, and those that the model knows to be slower
 * than what was measured, not at all. */
#ifndef NEREID_RUNTIME_SEARCH_H
#define NEREID_RUNTIME_SEARCH_H

#include "lower/estimate.h"
#include "runtime/cache.h"
#include "runtime/measurer.h"
#include "runtime/nereid_tune.h"

typedef struct {
  nereid_request request; /* complete */
  uint32_t grid[3];
  Estimate predicted; /* zeros: unknown */

  /* A status other than NEREID_TUNE_OK, or a time: known before, so it is not measured again. */
  nereid_tune_status status;
  const char *reason; /* in the search's arena */
  double median_us, spread_us;
  int runs;
  bool known;    /* a time known before is not measured again */
  bool recorded; /* known from records */
  bool witness;  /* it is known, and run once more for its results */
  CacheKey code; /* of what it was compiled to; zeros: nothing */
} Candidate;

typedef struct {
  Arena *arena;
  const char *device; /* "cuda", "cpu" */
  const char *target; /* that it is compiled for */
  const MeasuredArg *args;
  int nargs;
  Candidate *candidates;
  size_t n;
  const size_t *order; /* in which they are tried; NULL: as they are given */
  double end;          /* of timing_now(); 0: there is time enough */
  void (*on_progress)(void *context, size_t done, size_t measured, const Candidate *best);
  nereid_message_fn note;
  void *context; /* for both */
} Search;

/* Fills in what it found out about each candidate; that none of them runs is no failure. */
int search_run(Search *s);
/* The fastest; NULL: none runs.  Of equals the first. */
const Candidate *search_best(const Candidate *candidates, size_t n);

#endif
