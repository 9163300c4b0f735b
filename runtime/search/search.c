#include "runtime/search/search.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/messages.h"
#include "runtime/search/search_rounds.h"

/* ---- the best ---- */

TimeTaken search_time(const Candidate *c) {
  double predicted = c->predicted.us > 0 ? c->predicted.us : c->expected_us;
  return (TimeTaken){c->median_us, c->spread_us, c->runs, predicted};
}

static bool is_sure(const Candidate *c) {
  TimeTaken t = search_time(c);
  return doubt_of(&t) == DOUBT_NONE;
}

static const Candidate *fastest(const Candidate *c, size_t n, bool sure) {
  const Candidate *best = NULL;
  for (size_t i = 0; i < n; i++)
    if (c[i].status == NEREID_TUNE_OK && c[i].median_us > 0 && (!sure || is_sure(&c[i])) &&
        (!best || c[i].median_us < best->median_us))
      best = &c[i];
  return best;
}

const Candidate *search_fastest(const Candidate *c, size_t n) { return fastest(c, n, false); }

const Candidate *search_best(const Candidate *c, size_t n) {
  const Candidate *sure = fastest(c, n, true);
  return sure ? sure : search_fastest(c, n);
}

const char *search_doubt(Arena *a, const SearchProblem *p, const char *remedy) {
  char why[128];
  const Candidate *first = search_fastest(p->candidates, p->n);
  if (!first || is_sure(first)) return NULL;
  TimeTaken t = search_time(first);
  doubt_print(why, sizeof why, &t);
  bool taken = search_best(p->candidates, p->n) == first;
  return arena_printf(a, taken ? N_TUNE_UNSURE : N_TUNE_PASSED_OVER, p->kernel, first->config,
                      first->median_us, why, remedy);
}

/* ---- what is known before ---- */

static bool is_open(const SearchProblem *p) {
  for (size_t i = 0; i < p->n; i++)
    if (!p->candidates[i].known) return true;
  return false;
}

/* What wins by records alone, and is doubtful, is not known. */
static void reopen(SearchProblem *p) {
  const Candidate *best;
  while ((best = search_fastest(p->candidates, p->n)) && best->recorded && !is_sure(best)) {
    Candidate *c = &p->candidates[best - p->candidates];
    c->before = search_time(c);
    c->reopened = true;
    c->known = c->recorded = false;
    c->median_us = c->spread_us = c->runs = 0;
  }
}

/* Nothing new was found out of it: what records say is all there is. */
static void take_back(Candidate *c) {
  if (!c->reopened || c->runs || c->status != NEREID_TUNE_OK) return;
  c->known = c->recorded = true;
  c->median_us = c->before.median_us;
  c->spread_us = c->before.spread_us;
  c->runs = c->before.runs;
}

/* Of what is known, the best is the witness of the rest; what can't win against it is done. */
static void set_out(SearchProblem *p) {
  reopen(p);
  const Candidate *known = search_fastest(p->candidates, p->n);
  if (!known) return;
  p->candidates[known - p->candidates].witness = true;
  for (size_t i = 0; i < p->n; i++) {
    Candidate *c = &p->candidates[i];
    if (c->known || !search_is_slow(c, known->median_us, known->predicted.us)) continue;
    c->known = true;
    c->status = NEREID_TUNE_PRUNED;
    c->reason = E_TUNE_SLOW;
  }
}

/* Counts what is done.  False: nothing is left to be found out. */
static bool look_over(SearchWork *w) {
  bool any = false;
  for (size_t i = 0; i < w->search->nproblems; i++) {
    SearchProblem *p = &w->search->problems[i];
    set_out(p);
    for (size_t j = 0; j < p->n; j++) w->done += p->candidates[j].known;
    any |= is_open(p);
  }
  return any;
}

/* Arguments that do not fit the memory end their problem's search alone. */
static int run_all(SearchWork *w) {
  Search *s = w->search;
  int code = 0;
  for (size_t i = 0; i < s->nproblems && !code; i++) {
    SearchProblem *p = &s->problems[i];
    code = is_open(p) ? search_rounds(w, p) : 0;
    if (code != NEREID_E_MEMORY) continue;
    const char *text = nereid_error_message();
    p->failure = arena_strndup(s->arena, text, strlen(text));
    code = 0;
  }
  return code;
}

/* Candidates that neither ran nor failed. */
static void mark_rest(SearchProblem *p, const char *reason) {
  for (size_t i = 0; i < p->n; i++) {
    Candidate *c = &p->candidates[i];
    take_back(c);
    if (c->known || c->status != NEREID_TUNE_OK || c->runs) continue;
    c->status = NEREID_TUNE_PRUNED;
    c->reason = reason;
  }
}

int search_run(Search *s) {
  SearchWork w = {.search = s};
  if (!look_over(&w)) return 0;
  int code = measurer_open(&w.measurer, s->device->name, s->keep_l2, s->note, s->context);
  if (!code) code = search_compiler_start(&w.compiler, s);
  if (!code) code = run_all(&w);
  if (!code) search_compiler_keep(w.compiler);
  search_compiler_free(w.compiler);
  measurer_close(w.measurer);
  for (size_t i = 0; i < s->nproblems; i++) {
    SearchProblem *p = &s->problems[i];
    mark_rest(p, code || p->failure ? E_TUNE_UNMEASURED : E_TUNE_TIME_UP);
  }
  return code;
}
