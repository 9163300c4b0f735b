/* Lists of records: the orders that decide what is kept, and what is chosen. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/records/doubt.h"
#include "runtime/records/records.h"

bool record_is_sure(const Record *r) {
  TimeTaken t = {r->median_us, r->spread_us, r->runs, r->predicted_us};
  return r->status == NEREID_TUNE_OK && doubt_of(&t) == DOUBT_NONE;
}

bool record_is_valid(const Record *r) {
  static const int64_t LAST = 253402300799; /* of the year 9999 */
  if ((unsigned)r->status >= NEREID_TUNE_PRUNED || r->runs < 0) return false;
  const double us[] = {r->median_us, r->spread_us, r->predicted_us};
  for (size_t i = 0; i < sizeof us / sizeof *us; i++)
    if (!isfinite(us[i]) || signbit(us[i])) return false;
  if (r->status == NEREID_TUNE_OK && (r->median_us == 0 || r->runs == 0)) return false;
  return r->taken >= 0 && r->taken <= LAST;
}

/* ---- orders ---- */

#define COMPARE(a, b) (((a) > (b)) - ((a) < (b)))

int record_compare_problems(const RecordProblem *a, const RecordProblem *b) {
  if (a == b) return 0;
  int c = strcmp(a->kernel, b->kernel);
  if (!c) c = strcmp(a->signature, b->signature);
  if (!c) c = strcmp(a->sizes, b->sizes);
  if (!c) c = strcmp(a->device, b->device);
  return c ? c : strcmp(a->driver, b->driver);
}

int record_compare_keys(const Record *a, const Record *b) {
  int c = record_compare_problems(a->problem, b->problem);
  if (!c) c = strcmp(a->config, b->config);
  if (!c) c = memcmp(a->ir.bytes, b->ir.bytes, sizeof a->ir.bytes);
  return c ? c : strcmp(a->version, b->version);
}

int record_compare(const Record *a, const Record *b) {
  int c = (b->status == NEREID_TUNE_WRONG) - (a->status == NEREID_TUNE_WRONG);
  if (!c) c = record_is_sure(b) - record_is_sure(a);
  if (!c) c = COMPARE(b->runs, a->runs);
  if (!c) c = COMPARE(b->taken, a->taken);
  if (!c) c = COMPARE(a->median_us, b->median_us);
  if (!c) c = COMPARE(a->spread_us, b->spread_us);
  if (!c) c = COMPARE(a->predicted_us, b->predicted_us);
  if (!c) c = COMPARE(a->status, b->status);
  if (!c) c = memcmp(a->code.bytes, b->code.bytes, sizeof a->code.bytes);
  if (!c) c = strcmp(a->reason, b->reason);
  return c ? c : strcmp(a->shape, b->shape);
}

static int by_key(const void *a, const void *b) {
  int c = record_compare_keys(a, b);
  return c ? c : record_compare(a, b);
}

/* Those that are ok first, by their time; equal times in the order of keys. */
static int by_rank(const void *a, const void *b) {
  const Record *x = a, *y = b;
  int c = (x->status != NEREID_TUNE_OK) - (y->status != NEREID_TUNE_OK);
  if (!c && x->status == NEREID_TUNE_OK) c = COMPARE(x->median_us, y->median_us);
  return c ? c : by_key(a, b);
}

void records_sort(RecordList *l) {
  size_t n = 0;
  if (l->len) qsort(l->data, l->len, sizeof *l->data, by_key);
  for (size_t i = 0; i < l->len; i++)
    if (!n || record_compare_keys(&l->data[n - 1], &l->data[i])) l->data[n++] = l->data[i];
  l->len = n;
}

void records_rank(RecordList *l) {
  if (l->len) qsort(l->data, l->len, sizeof *l->data, by_rank);
}

const Record *records_best(const RecordList *l) {
  const Record *first = l->len && l->data[0].status == NEREID_TUNE_OK ? l->data : NULL;
  for (size_t i = 0; i < l->len; i++)
    if (record_is_sure(&l->data[i])) return &l->data[i];
  return first;
}

/* ---- finding ---- */

static bool same(const CacheKey *a, const CacheKey *b) {
  return !memcmp(a->bytes, b->bytes, sizeof a->bytes);
}

const Record *records_find(const RecordList *l, const char *config, const CacheKey *ir,
                           const char *version, const CacheKey *code) {
  static const CacheKey none;
  const Record *found = NULL;
  bool by_code = code && !same(code, &none);
  for (size_t i = 0; i < l->len; i++) {
    const Record *r = &l->data[i];
    if (strcmp(r->config, config)) continue;
    if (same(&r->ir, ir) && !strcmp(r->version, version)) return r;
    if (by_code && same(&r->code, code) && (!found || record_compare(r, found) < 0)) found = r;
  }
  return found;
}
