/* Records for people: the best of each problem. */
#include <string.h>

#include "runtime/records/doubt.h"
#include "runtime/records/records.h"

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
