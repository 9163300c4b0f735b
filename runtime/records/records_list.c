/* Lists of records: the orders that decide what is kept, and what is chosen. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/records/doubt.h"
#include "runtime/records/records.h"

/* Records for people: the best of each problem. */

static void print_best(Text *out, const Record *r) {
  char doubt[128];
  TimeTaken t = {r->median_us, r->spread_us, r->runs, r->predicted_us};
  doubt_print(doubt, sizeof doubt, &t);
  text_printf(out, "  %.4g us  %s\n", r->median_us, r->config);
  text_printf(out, "  spread %.4g us, %d run%s%s%s\n", r->spread_us, r->runs,
              r->runs == 1 ? "" : "s", *r->shape ? ", of " : "", r->shape);
  if (*doubt) text_printf(out, "  uncertain: %s\n", doubt);
}

/* The records [from, to) are those of one problem. */
static void print_problem(Text *out, const RecordList *l, size_t from, size_t to) {
  RecordList own = {l->data + from, to - from, 0};
  const RecordProblem *p = own.data->problem;
  records_rank(&own);
  const Record *best = records_best(&own);
  text_printf(out, "%s(%s)\n  class %s, %s, %s: %zu record%s\n", p->kernel, p->signature, p->sizes,
              p->device, p->driver, own.len, own.len == 1 ? "" : "s");
  if (best) print_best(out, best);
  else text_puts(out, "  none of them ran\n");
}

void records_summarize(Text *out, RecordList *l) {
  for (size_t i = 0, end; i < l->len; i = end) {
    for (end = i + 1; end < l->len; end++)
      if (record_compare_problems(l->data[i].problem, l->data[end].problem)) break;
    print_problem(out, l, i, end);
  }
}

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
