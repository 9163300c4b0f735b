/* The tuner: problems with their candidates (runtime/search/search.h), with their results from
 * earlier runs and their predictions by the cost model.
 *
 * runtime/search owns the choice of a fastest candidate: in which order they compile, how often
 * each is measured, and when one is given up.  It takes problems with their candidates, and gives
 * each candidate a status and a time; new times become records.
 *
 * `nereid tune` has one problem, a graph's mode max-autotune (model/execute/tune_plan.h) all of its
 * kernels'. */
#ifndef NEREID_RUNTIME_SEARCH_TUNER_H
#define NEREID_RUNTIME_SEARCH_TUNER_H

#include "runtime/device/peaks.h"
#include "runtime/records/records.h"
#include "runtime/search/deterministic_failure.h"
#include "runtime/search/search.h"

/* All steps below: records, predictions for the candidates without one, measuring, new records. */
int tuner_run(Search *s);

/* ---- records of earlier runs ---- */

/* A candidate without a record. */
typedef struct {
  size_t problem;
  Candidate *candidate;
  const Record *by_code; /* of other IR or of another version, but of the same code; NULL: none */
  DeterministicFailure failure;       /* why it can't be elaborated */
} MemoryEntry;

typedef struct {
  Records *records;
  const char *target;
  nereid_kind kind;        /* of code */
  RecordProblem *problems; /* of each of the search's */
  RecordList *lists;       /* what is known of each */
  VEC(MemoryEntry) entries;
} Memory;

/* Marks candidates that were measured before, and those that can't be elaborated, as known. */
void tuner_recall(Search *s, Memory *m);
/* Keeps what was measured since, and what holds for this version as well, all at once. */
void tuner_remember(Search *s, Memory *m);
void tuner_forget(Memory *m);
/* Marks the same of one device of the search's target, wherever it is: of several, that of which
 * most is known.  The search's device is described as that one; it runs nothing. */
void tuner_recall_elsewhere(Search *s);
/* All that is recorded of a problem on the search's device, whatever it was measured of. */
void tuner_recorded(const Search *s, const SearchProblem *p, RecordList *out);

/* The tools that make code run on a device, as records name them: driver and assembler, or C
 * compiler. */
const char *tuner_driver(Arena *a, const nereid_device *d);

/* ---- what compiling has told of problems whose sources are whole ---- */

typedef struct {
  CacheId id;
  void *found; /* of each candidate; NULL: nothing */
} MemoEntry;

typedef struct {
  Cache *cache;
  MemoEntry *entries; /* of each of the search's problems */
} Memo;

/* Candidates get the key of their tile IR and what the model said of them. */
void tuner_look_up(const Search *s, Memo *m);
/* Keeps what is new, and closes. */
void tuner_keep(const Search *s, Memo *m);

/* ---- the cost model ---- */

/* Predicts the candidates without a prediction and orders them, in problems with an open candidate;
 * all: in all problems. */
void tuner_predict(Search *s, DevicePeaks *peaks, bool all);
/* Nothing is measured: of each problem the most promising candidate is made sure to compile; one
 * that does not has failed, and the next takes its place. */
int tuner_choose(Search *s);

/* ---- how records call sizes ---- */

/* "n=4096 x=[1024,64]": their classes, or themselves. */
void tuner_print_size(Text *out, const char *name, int64_t v, bool exact);
void tuner_print_shape(Text *out, const char *name, const int64_t *shape, int rank, bool exact);

#endif
