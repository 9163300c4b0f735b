/* Records: measurements of the configurations of kernels, kept from run to run and carried from
 * machine to machine.
 *
 * runtime/records owns their database, their text, and the judgement which of two is better.  It
 * takes measurements, and gives the best known of a problem.
 *
 * A problem is a kernel with types and sizes on a device.  A record is one configuration of one
 * problem, as one version of the compiler made it: its key is the problem, the configuration, the
 * hash of the tile IR that it gives, and the version.  So the first look-up needs no code: `ir` and
 * `version` find a record as soon as the kernel is elaborated.  A time belongs to code, though, and
 * most versions make the same code of most kernels: a record has the hash of its code too, and a
 * record of another version is valid if the code is the same (records_find).
 *
 * The better of two records with one key is kept (record_compare), wherever they meet: in the
 * database, in a file, or in two files that are merged.  The order is total, so the result does not
 * depend on who came first.  The database (runtime/store/database.h) keeps all records for ever. */
#ifndef NEREID_RUNTIME_RECORDS_RECORDS_H
#define NEREID_RUNTIME_RECORDS_RECORDS_H

#include "lang/base/diag.h"
#include "runtime/store/cache.h"
#include "runtime/nereid_tune.h"

/* All texts; what they say is their writer's matter. */
typedef struct {
  const char *kernel;    /* its name */
  const char *signature; /* types of its arguments */
  const char *sizes;     /* the size class: "M=4096 N=4096" */
  const char *device;    /* "NVIDIA H200" */
  const char *driver;    /* what else makes the code run: driver and assembler, or C compiler */
} RecordProblem;

typedef struct {
  const RecordProblem *problem;
  const char *config;  /* "BLOCK_M=128 num_warps=4" */
  CacheKey ir;         /* of the tile IR */
  const char *version; /* of the compiler */
  CacheKey code;       /* of the code; zeros: there is none */
  nereid_tune_status status;
  const char *reason;
  double median_us, spread_us; /* 0: not measured */
  int runs;
  const char *shape;   /* the sizes that ran, of those in the class: "M=4000 N=4096"; "": unknown */
  double predicted_us; /* by the model of that version; 0: unknown */
  int64_t taken;       /* seconds since 1970 */
} Record;

typedef struct {
  Record *data;
  size_t len, cap;
} RecordList;

/* The path of the database; false if it is turned off. */
bool records_path(char *out, size_t size);

/* ---- lists ---- */

/* Can it be kept?  A pruned candidate was not measured. */
bool record_is_valid(const Record *r);
/* Orders by key; 0: the same key. */
int record_compare_problems(const RecordProblem *a, const RecordProblem *b);
/* Below 0: of two records with one key, `a` stays.  Wrong results stay wrong; else the one that is
 * sure, the one of more runs, the later one, the faster one; at last the order of their texts. */
int record_compare(const Record *a, const Record *b);
/* Sorts so that the fastest that are right come first; the same records give the same order. */
void records_rank(RecordList *l);
/* Sorts by key, and drops the worse of those with one key. */
void records_sort(RecordList *l);
/* The best of a ranked list: the fastest that is sure, else the fastest; NULL: none ran. */
const Record *records_best(const RecordList *l);

/* The record of a configuration, with this IR and version; else, if `code` is not NULL, the best
 * one of any version with that code.  NULL: there is none. */
const Record *records_find(const RecordList *l, const char *config, const CacheKey *ir,
                           const char *version, const CacheKey *code);

/* ---- the database; NULL and one that can't be used hold nothing ---- */

#define RECORDS_FILE "records.db"

typedef struct Records Records;

/* Many threads may share it. */
Records *records_open(nereid_message_fn note, void *context);
void records_close(Records *r);
bool records_are_off(const Records *r); /* or out of memory */

typedef enum { RECORDS_OK, RECORDS_NONE, RECORDS_FAILED } RecordsResult;

/* Appends the records of one problem, ranked; all of them, sorted, if it is NULL.  NONE: there is
 * no database.  FAILED, with a note: it can't be read, and what was read before is there. */
RecordsResult records_get(Records *r, Arena *a, const RecordProblem *problem, RecordList *out);

typedef struct {
  size_t added, replaced;
} RecordsChange;

/* Stores all of them or, with a note, none.  Invalid records, and records no better than the stored
 * ones, change nothing.  `change` may be NULL. */
bool records_put(Records *r, const Record *list, size_t n, RecordsChange *change);
/* Stores new measurements that replace doubted ones, better or not. */
bool records_replace(Records *r, const Record *list, size_t n);

/* ---- text: sorted, so that the same records are the same bytes ---- */

/* The list must be sorted. */
void records_print(Text *out, const RecordList *l);
/* For people: each problem of a sorted list, with the best that ran.  Ranks the records of each. */
void records_summarize(Text *out, RecordList *l);
/* Appends what a file registered in `d` says, in any order.  False after an error. */
bool records_read(Arena *a, Pool *names, Diags *d, uint32_t file, RecordList *out);

/* The status whose nereid_tune_status_name() is this word; false if there is none. */
bool tune_status_read(nereid_tune_status *out, const char *word);

#endif
