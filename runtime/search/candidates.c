/* The best of the candidates, and the doubt about it. */
#include "runtime/messages.h"
#include "runtime/search/search.h"

TimeTaken search_time(const Candidate *c) {
  double predicted = c->predicted.us > 0 ? c->predicted.us : c->expected_us;
  return (TimeTaken){c->median_us, c->spread_us, c->runs, predicted};
}

/* Its runs are those of this search: where it is known, they are not. */
nereid_tune_timing search_timing(const Candidate *c) {
  TimeTaken t = search_time(c);
  bool failed = c->status != NEREID_TUNE_OK;
  return (nereid_tune_timing){.median_us = failed ? -1 : t.median_us,
                              .spread_us = t.spread_us,
                              .runs = t.runs,
                              .known = c->known,
                              .predicted_us = t.predicted_us,
                              .low_us = c->predicted.low_us};
}

bool search_is_sure(const Candidate *c) {
  TimeTaken t = search_time(c);
  return doubt_of(&t) == DOUBT_NONE;
}

static const Candidate *fastest(const Candidate *c, size_t n, bool sure) {
  const Candidate *best = NULL;
  for (size_t i = 0; i < n; i++)
    if (c[i].status == NEREID_TUNE_OK && c[i].median_us > 0 && (!sure || search_is_sure(&c[i])) &&
        (!best || c[i].median_us < best->median_us))
      best = &c[i];
  return best;
}

const Candidate *search_fastest(const Candidate *c, size_t n) {
  return fastest(c, n, false);
}

const Candidate *search_best(const Candidate *c, size_t n) {
  const Candidate *sure = fastest(c, n, true);
  return sure ? sure : search_fastest(c, n);
}

const char *search_doubt(Arena *a, const SearchProblem *p, const char *remedy) {
  char why[128];
  const Candidate *first = search_fastest(p->candidates, p->n);
  if (!first || search_is_sure(first)) return NULL;
  TimeTaken t = search_time(first);
  doubt_print(why, sizeof why, &t);
  bool taken = search_best(p->candidates, p->n) == first;
  return arena_printf(a, taken ? N_TUNE_UNSURE : N_TUNE_PASSED_OVER, p->kernel, first->config,
                      first->median_us, why, remedy);
}
