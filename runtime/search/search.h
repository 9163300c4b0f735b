/* The search of a tuner: of several kernels that compute the same, the fastest on a device; of one
 * such problem, or one after the other of many.
 *
 * Candidates compile on all cores, in the order in which they are given, while those that are ready
 * are measured one at a time (runtime/measure/measurer.h).  Each runs once, and its results are
 * compared; a candidate far slower than the best so far is not run again.  Then the rest is
 * measured more often, the fewer are left the more (successive halving), until those that can't be
 * told apart from the best have been run some hundred times, and the winner's time is not doubtful
 * (runtime/records/doubt.h), also if it comes from records: policy.h has the rules.  Meanwhile
 * candidates of later problems compile.
 *
 * Candidates whose code is the same are measured once, and those that the cost model predicts to be
 * slower than the best, not at all. */
#ifndef NEREID_RUNTIME_SEARCH_SEARCH_H
#define NEREID_RUNTIME_SEARCH_SEARCH_H

#include "lower/cost/estimate.h"
#include "runtime/store/cache.h"
#include "runtime/records/doubt.h"
#include "runtime/measure/measurer.h"
#include "runtime/nereid_tune.h"
#include "runtime/support/host_machine.h"

typedef struct {
  nereid_request request; /* complete */
  uint32_t grid[3];
  const char *config;         /* its text in records: "BLOCK=128 num_warps=4" */
  const nereid_binding *ints; /* integers among its arguments and constexprs, for the model */
  int nints;
  Estimate predicted; /* zeros: unknown */

  /* A status other than NEREID_TUNE_OK, or a time: known before, so it is not measured again. */
  nereid_tune_status status;
  const char *reason; /* in the search's arena */
  double median_us, spread_us;
  int runs;
  double expected_us; /* what records say was predicted; 0: nothing */
  bool known;         /* a time known before is not measured again */
  bool recorded;      /* known from records */
  bool reopened;      /* what records say of it is doubtful: it is measured again */
  TimeTaken before;   /* what they say */
  bool witness;       /* it is known, and run once more for its results */
  bool passing;       /* it failed for the machine's sake, and may not the next time */
  CacheKey ir;        /* of its tile IR; zeros: there is none */
  CacheKey code;      /* of its compiled code; zeros: none */
} Candidate;

/* A kernel with its arguments, and its candidates. */
typedef struct {
  const char *kernel, *signature, *sizes; /* its key in records (runtime/records/records.h) */
  const char *shape;                      /* the sizes themselves */
  const MeasuredArg *args;
  int nargs;
  Candidate *candidates;
  size_t n;
  const size_t *order; /* in which they are tried; NULL: as they are given */
  bool whole;          /* their sources are texts that import no other file */
  const char *failure; /* kept: why nothing was measured, no memory for the arguments; else NULL */
} SearchProblem;

typedef struct {
  Arena *arena;
  nereid_device *device; /* may be described alone */
  const char *driver;    /* of records; NULL: what is here */
  SearchProblem *problems;
  size_t nproblems;
  bool keep_l2;                        /* a GPU's cache is not flushed before each run */
  bool remeasure;                      /* what records know is measured again */
  double begin;                        /* of host_now() */
  double end;                          /* likewise; 0: there is time enough */
  nereid_tune_progress_fn on_progress; /* NULL: nobody looks */
  void *on_progress_context;
  nereid_message_fn note;
  void *context; /* of note */
} Search;

/* Fills in the results of each candidate; it is no failure if none of them runs, only if nothing
 * can be measured at all. */
int search_run(Search *s);

/* ---- candidates.c ---- */

/* The fastest of the candidates whose time can be trusted, else the fastest; NULL: none runs.  The
 * first of equals wins. */
const Candidate *search_best(const Candidate *candidates, size_t n);
/* The fastest, be it as doubtful as it may. */
const Candidate *search_fastest(const Candidate *candidates, size_t n);
/* Can its time be trusted? */
bool search_is_sure(const Candidate *c);
/* A candidate's time for runtime/records/doubt.h, and for policy.h. */
TimeTaken search_time(const Candidate *c);
nereid_tune_timing search_timing(const Candidate *c);
/* A line on the fastest if its time is doubtful, with the user's `remedy`; NULL: it is not. */
const char *search_doubt(Arena *a, const SearchProblem *p, const char *remedy);

#endif
