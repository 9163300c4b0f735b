/* Nereid's C API: finding the fastest configuration of a kernel on a device, and remembering it.
 *
 * A configuration gives values to constexprs of a kernel (its block sizes) and to the options
 * num_warps, num_stages, num_ctas and maxnreg.  nereid_tune() takes a kernel with its arguments and
 * a space of configurations, compiles them on all cores, measures them one at a time in a process
 * of their own, and keeps every time that it took, so that it is taken once:
 *
 *     nereid_tuning *t;
 *     nereid_setting args[] = {{"x", "randn:f32[4096]"}, {"n", "4096"}};
 *     const char *blocks[] = {"256", "512", "1024"};
 *     nereid_tune_axis space[] = {{"BLOCK", blocks, 3}};
 *     nereid_tune_request r = {.kernel = {.source.path = "scale.py"}, .args = args, .nargs = 2,
 *                              .grid = "cdiv(n, BLOCK)", .axes = space, .naxes = 1};
 *     if (!nereid_tune(&t, &r)) print(nereid_tuning_candidate(t, 0));
 *
 * The rules of nereid.h hold here too. */
#ifndef NEREID_TUNE_H
#define NEREID_TUNE_H

#include "nereid.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct nereid_tuning nereid_tuning;

typedef struct {
  const char *name, *value;
} nereid_setting;

/* The space of a constexpr or an option; values are those of nereid_arg. */
typedef struct {
  const char *name;
  const char *const *values;
  int n;
} nereid_tune_axis;

typedef enum {
  NEREID_TUNE_OK,        /* ran, and gave the right results */
  NEREID_TUNE_COMPILE,   /* cannot be compiled */
  NEREID_TUNE_RESOURCES, /* wants more than the device has: shared memory, registers, threads */
  NEREID_TUNE_TIMEOUT,   /* did not end in time */
  NEREID_TUNE_FAULT,     /* broke the device's context or the process */
  NEREID_TUNE_WRONG,     /* gave other results than the rest */
  NEREID_TUNE_PRUNED     /* was not measured: it cannot win, or time was up */
} nereid_tune_status;

NEREID_API const char *nereid_tune_status_name(nereid_tune_status s); /* "ok", "compile", ... */

typedef struct {
  const nereid_setting *settings; /* constexprs in the kernel's order, then options */
  int nsettings;
  nereid_tune_status status;
  const char *reason;  /* one line; "" where the status says all */
  double predicted_us; /* 0: the model says nothing */
  double predicted_low_us, predicted_high_us;
  double bytes, flops; /* that a launch moves and computes, as the model reads it; 0: unknown */
  double median_us, spread_us; /* spread: between the quartiles; 0: not measured */
  int runs;
  int recorded;  /* the time was known from an earlier run */
  int uncertain; /* it ran too seldom for a spread, its runs differ by half, or the model, which
                    expected a fifteenth or 15 times as much, is not refuted by further runs */
} nereid_candidate;

typedef struct {
  int candidates, done; /* of all kernels; done: measured, failed or pruned */
  int measured;
  int kernels, kernels_done;    /* a model has many */
  const char *kernel;           /* that is searched now */
  const nereid_candidate *best; /* of this kernel; NULL: none yet */
  double seconds, budget_s;
} nereid_tune_progress;

typedef void (*nereid_tune_progress_fn)(void *context, const nereid_tune_progress *p);

typedef struct {
  nereid_request kernel;      /* with fixed constexprs in `args`; types follow from the values */
  const nereid_setting *args; /* run-time arguments, as nereid_value_parse() reads them */
  int nargs;
  const char *grid;   /* expressions over integers among arguments and constexprs */
  const char *device; /* NULL: "cuda" if there is a GPU, else "cpu" */
  const nereid_tune_axis
      *axes; /* none: the configurations of the kernel's decorators, or derived */
  int naxes;
  int remeasure;    /* candidates known from earlier runs are measured again */
  double budget_s;  /* 0: no limit.  It is overrun by one candidate at most */
  int records_only; /* nothing is measured: records of earlier runs choose; without one of a
                       candidate that compiles, the first candidate is pruned */
  int model_only;   /* nothing is measured: the cost model chooses */
  uint64_t seed;    /* the seed of random choices */
  nereid_tune_progress_fn on_progress;
  void *context; /* of on_progress */
} nereid_tune_request;

/* Fails if nothing can win: then the message has each reason once, with counts. */
NEREID_API int nereid_tune(nereid_tuning **out, const nereid_tune_request *r);
NEREID_API void nereid_tuning_free(nereid_tuning *t);
NEREID_API int nereid_tuning_count(const nereid_tuning *t);
/* Candidates from the best: first those that ran, by their time, then the others.  An uncertain one
 * is first only if all are uncertain.  NULL past the end. */
NEREID_API const nereid_candidate *nereid_tuning_candidate(const nereid_tuning *t, int i);
/* "measured", "records" (nothing had to be measured) or "model". */
NEREID_API const char *nereid_tuning_source(const nereid_tuning *t);
NEREID_API const char *nereid_tuning_kernel(const nereid_tuning *t); /* NAME */
/* Peaks of the device, per second; 0: not known.  flops: of the products of the best. */
NEREID_API void nereid_tuning_roof(double *bandwidth, double *flops, const nereid_tuning *t);
NEREID_API const char *nereid_tuning_device(const nereid_tuning *t); /* "NVIDIA H200" */

/* ---- a search by the caller's own measurements ---- */

/* What is known of a candidate's time; zeros: nothing. */
typedef struct {
  double median_us; /* 0: it was not run, negative: it can't win */
  double spread_us; /* between the quartiles */
  int runs;
  int known;                   /* the time is of an earlier search */
  double predicted_us, low_us; /* by the cost model, and at least (nereid_estimate); 0: unknown */
} nereid_tune_timing;

/* How often each of n candidates is to be run in a round, by what nereid_tune() goes by.  Round 0
 * runs those that were not run, but for those that are expected to be slower than the best, and
 * those known ones that would win by a doubtful time, which are known no longer.  A candidate with
 * 0 runs in a later round is given up; the last rounds run the best alone while its time is
 * doubtful.  *limit_us (NULL: not wanted): one whose run takes longer is not run again in this
 * round.  1; or 0 if the search is over. */
NEREID_API int nereid_tune_round(int *runs, double *limit_us, const nereid_tune_timing *timings,
                                 size_t n, int round);

/* ---- the cost model ---- */

/* What it expects of a launch, without a run.  us is 0 where there is nothing to go by. */
typedef struct {
  char device[128];           /* "NVIDIA H200", "cpu, 16 cores" */
  double us, low_us, high_us; /* the time, and between what it probably is */
  const char *bound;          /* by what: "memory", "cache", "tensor", "issue" or "latency" */
  double memory_bytes, cache_bytes;
  double tensor_flops, f32_flops; /* of matrix units, and others */
  int registers, spilled;         /* of a thread */
  int64_t shared_bytes;           /* of a program */
  int occupancy;                  /* programs that a multiprocessor, or core, runs at a time */
  double waves;                   /* programs by those that run at a time */
} nereid_estimation;

/* Estimates a launch on d; if d is NULL, on a device of r->target, or else on this machine's GPU,
 * or an H200.  `values` has integer arguments by name; others are unknown. */
NEREID_API int nereid_estimate(nereid_estimation *out, nereid_device *d, const nereid_request *r,
                               const uint32_t grid[3], const nereid_binding *values, int n);

/* ---- records: measurements, kept from run to run and from machine to machine ----
 *
 * They are kept in a database, records.db, in the folder of the cache of compiled code,
 * NEREID_CACHE_DIR; set to nothing, it turns both off.  Their text is sorted, so that the same
 * records are the same bytes everywhere, and two versions of it compare line by line. */

/* The database's path, or "off", and its usability. */
NEREID_API int nereid_records_describe(char *out, size_t size);
/* A key of 128 bits; all zeros: none. */
typedef struct {
  unsigned char bytes[16];
} nereid_key;

/* The key of what a request computes: its tile IR, for the device's target unless r->target names
 * another.  It is known before anything is compiled, in about the time that reading the kernel
 * takes.  Comments, and the kernel's name, don't count. */
NEREID_API int nereid_request_key(nereid_key *out, const nereid_device *d,
                                  const nereid_request *r);

/* The measurement of one configuration of a kernel on a device, by a caller that measures itself.
 * `kernel`, `signature` and `problem` name what is tuned, `config` one of its configurations; all
 * are any texts, and NULL is "".  The time holds as long as `key` does: it is that of the request,
 * or of whatever else the code depends on. */
typedef struct {
  const char *kernel, *signature; /* "matmul", "*fp16, *fp16, *fp32, i32" */
  const char *problem;            /* what else the time depends on: "M=4096 N=4096" */
  const char *config;             /* "BLOCK_M=128 num_warps=4" */
  nereid_key key;
  const nereid_image *image; /* NULL, or the compiled code: a time of the same code holds, though
                                the key, or the version of Nereid, is another one */
  int found;                 /* set by nereid_records_find(): the fields below are known */
  nereid_tune_status status; /* failures are results, too: they need no second try */
  double median_us, spread_us;
  int runs;
} nereid_measurement;

/* Looks up n measurements, and sets their results.  A missing record is no failure, and neither are
 * records that are turned off.  A record that was found by its code alone is stored for its key. */
NEREID_API int nereid_records_find(nereid_measurement *list, int n, const nereid_device *d);
/* Stores n measurements: all of them or, after a failure, none.  If records are off, nothing is
 * stored.  The better of two measurements is kept, the one with more runs, unless `replace`. */
NEREID_API int nereid_records_store(const nereid_measurement *list, int n, const nereid_device *d,
                                    int replace);

/* For people: each problem, with the best that is known.  Freed with nereid_text_free(). */
NEREID_API int nereid_records_list(char **text, size_t *size);
/* All records as a file has them; freed with nereid_text_free(). */
NEREID_API int nereid_records_export(char **text, size_t *size);

typedef struct {
  size_t read, added, replaced; /* replaced: measured less, or earlier, than in the file */
} nereid_records_change;

/* Adds what a file of records says: all of it or, with a place for each mistake, nothing.
 * `change` and `on_message` may be NULL. */
NEREID_API int nereid_records_import(nereid_records_change *change, const char *path,
                                     nereid_message_fn on_message, void *context);
/* The records of n files as one text, whatever their order; freed with nereid_text_free(). */
NEREID_API int nereid_records_merge(char **text, size_t *size, const char *const *paths, int n);

#ifdef __cplusplus
}
#endif

#endif
