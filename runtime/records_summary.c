/* Records for people: the best of each problem. */
#include <string.h>

#include "runtime/records.h"

/* The records [from, to) are those of one problem. */
static void print_problem(Text *out, const RecordList *l, size_t from, size_t to) {
  RecordList own = {l->data + from, to - from, 0};
  const RecordProblem *p = own.data->problem;
  records_rank(&own);
  const Record *best = own.data;
  text_printf(out, "%s(%s)\n  %s, %s, %s: %zu record%s\n", p->kernel, p->signature, p->sizes,
              p->device, p->driver, own.len, own.len == 1 ? "" : "s");
  if (best->status == NEREID_TUNE_OK)
    text_printf(out, "  %.4g us  %s\n", best->median_us, best->config);
  else text_puts(out, "  none of them ran\n");
}

void records_summarize(Text *out, RecordList *l) {
  for (size_t i = 0, end; i < l->len; i = end) {
    for (end = i + 1; end < l->len; end++)
      if (record_compare_problems(l->data[i].problem, l->data[end].problem)) break;
    print_problem(out, l, i, end);
  }
}
