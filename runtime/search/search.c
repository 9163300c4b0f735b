#include "runtime/search/search.h"

#include <stdlib.h>
#include <string.h>

#include "lang/messages.h"
#include "runtime/messages.h"
#include "runtime/search/deterministic_failure.h"
#include "runtime/search/policy.h"
#include "runtime/search/search_compile.h"
#include "runtime/search/search_progress.h"
#include "runtime/support/host_machine.h"

/* Shared by the problems of a search. */
typedef struct {
  Search *search;
  Measurer *measurer;
  SearchCompiler *compiler;
  size_t done, measured; /* candidates of all problems */
  Told told;
} SearchWork;

/* ---- the rounds of a search for one of its problems ---- */

/* LEAST is for loading a kernel and looking at its results, and MOST for one of which nobody knows
 * how long it takes. */
static const double SECONDS_LEAST = 2, SECONDS_MOST = 20, FAR = 100;

/* The timeout in seconds: a kernel that takes longer hangs.  best_us: the best median so far; 0:
 * none. doubtful: the prediction for the candidate is not trusted.  A hundred times the best is
 * hopeless. Without a best it is a hundred times the upper bound of the prediction, unless that is
 * long anyway: no kernel that the cost model understands is that far off. */
static double timeout_of_candidate(const Candidate *c, int runs, double best_us, bool doubtful) {
  if (best_us > 0) return SECONDS_LEAST + FAR * 1e-6 * best_us;
  double predicted = 1e-6 * c->predicted.high_us * (2 + runs), most = SECONDS_MOST + 10 * predicted;
  if (predicted <= 0 || doubtful) return most;
  return SECONDS_LEAST + FAR * predicted < most ? SECONDS_LEAST + FAR * predicted : most;
}

/* The timeout, cut to the rest of the budget. */
static double timeout_within_budget(const Search *s, double wanted) {
  double left = s->end > 0 ? s->end - host_now() : wanted;
  if (left < SECONDS_LEAST) left = SECONDS_LEAST;
  return left < wanted ? left : wanted;
}

/* How many of the runs the budget has room for, of a candidate that has run; at least one. */
static int runs_within_budget(const Search *s, const Candidate *c, int runs) {
  double fits = 1e6 * (s->end - host_now()) / c->median_us;
  if (s->end <= 0 || fits >= runs) return runs;
  return fits > 1 ? (int)fits : 1;
}

enum { ANSWERS_MOST = 16 };

/* The state of a candidate during the search. */
typedef struct {
  Candidate *candidate;
  Trial trial;
  int answer;  /* -1: none */
  int same_as; /* the candidate with the same code that is measured instead; -1: none */
  double *us;
  int n, room;
} Item;

typedef struct {
  SearchWork *work;
  SearchProblem *problem;
  Item *items;
  bool any;                 /* one was measured */
  bool unlimited;           /* a slow run tells as much as a fast one */
  bool patient;             /* the model is not believed about how long one takes */
  double best_us;           /* so far; 0: none */
  double best_predicted_us; /* what the model says of that one; 0: nothing */
} State;

/* ---- small things ---- */

/* There is always time for one, or there would be no choice. */
static bool time_is_up(const State *s) {
  double end = s->work->search->end;
  return (s->any || s->best_us > 0) && end > 0 && host_now() >= end;
}

static void fail_item(State *s, Item *item, nereid_tune_status status, const char *reason) {
  item->candidate->status = status;
  item->candidate->reason = arena_strndup(s->work->search->arena, reason, strlen(reason));
}

static void fail_with_code(State *s, Item *item, int code, const char *message) {
  char *line = failure_first_line(message);
  fail_item(s, item, failure_tune_status(code), line ? line : E_LANG_OUT_OF_MEMORY);
  free(line);
  item->candidate->passing = !failure_is_deterministic(code);
}

static void report_progress(State *s, bool done) {
  SearchWork *w = s->work;
  w->done += done;
  progress_tell(w->search, s->problem, w->done, w->measured, &w->told);
}

/* ---- times ---- */

static int add_times(Item *item, const Measured *m) {
  if (item->n + m->n > item->room) {
    int room = 2 * (item->n + m->n);
    double *us = realloc(item->us, (size_t)room * sizeof *us);
    if (!us) return error_out_of_memory();
    item->us = us;
    item->room = room;
  }
  memcpy(item->us + item->n, m->us, (size_t)m->n * sizeof *m->us);
  item->n += m->n;
  return 0;
}

static void summarize_times(State *s, Item *item) {
  Candidate *c = item->candidate;
  if (!item->n) return;
  double low = timing_quantile(item->us, item->n, 0.25);
  double high = timing_quantile(item->us, item->n, 0.75);
  c->median_us = timing_rounded(timing_quantile(item->us, item->n, 0.5));
  c->spread_us = high > low ? timing_rounded(high - low) : 0;
  c->runs = item->n;
  if (s->best_us > 0 && c->median_us >= s->best_us) return;
  s->best_us = c->median_us;
  s->best_predicted_us = c->predicted.us;
}

/* Kernels that spill run, and may even win. */
static void tell_spills(State *s, Item *item, const Measured *m) {
  int bytes = m->resources.spill_bytes;
  if (bytes > 0 && !item->candidate->witness)
    item->candidate->reason = arena_printf(s->work->search->arena, N_TUNE_SPILLS, bytes);
}

/* Time that the budget cut short says nothing of the kernel; what was measured before holds. */
static void time_out(State *s, Item *item, bool cut) {
  if (!cut) fail_item(s, item, NEREID_TUNE_TIMEOUT, E_TUNE_TIMEOUT);
  else if (!item->n && !item->candidate->witness)
    fail_item(s, item, NEREID_TUNE_PRUNED, E_TUNE_TIME_UP);
}

static int measure_item(State *s, Item *item, int runs) {
  Measured m;
  double limit_us = policy_limit_us(s->unlimited ? 0 : s->best_us);
  double wanted = timeout_of_candidate(item->candidate, runs, s->best_us, s->patient);
  double seconds = timeout_within_budget(s->work->search, wanted);
  int code = measurer_run(s->work->measurer, &item->trial, runs, limit_us, seconds, &m);
  if (code) return code;
  switch (m.end) {
    case MEASURED:
      if (item->answer < 0) item->answer = m.answer;
      tell_spills(s, item, &m);
      code = item->candidate->witness ? 0 : add_times(item, &m);
      summarize_times(s, item);
      break;
    case MEASURED_TIMEOUT: time_out(s, item, seconds < wanted / 2); break;
    case MEASURED_DIED: fail_item(s, item, NEREID_TUNE_FAULT, nereid_error_message()); break;
    case MEASURED_FAILED: fail_with_code(s, item, m.code, nereid_error_message()); break;
  }
  return code;
}

/* ---- the first round: all, as they are compiled ---- */

static bool has_same_code(const Candidate *a, const Candidate *b) {
  return !memcmp(&a->code, &b->code, sizeof a->code) && !memcmp(a->grid, b->grid, sizeof a->grid);
}

static int find_same_code(const State *s, const Item *item) {
  for (size_t i = 0; i < s->problem->n; i++) {
    const Item *other = &s->items[i];
    if (other != item && other->trial.code && other->same_as < 0 && !other->candidate->witness &&
        has_same_code(other->candidate, item->candidate))
      return (int)i;
  }
  return -1;
}

static bool is_item_slow(const State *s, const Candidate *c) {
  return !c->witness && policy_is_slow(c->predicted.low_us, s->best_us, s->best_predicted_us);
}

/* Measures it, if none of the same code was. */
static int try_code(State *s, Item *item) {
  bool witness = item->candidate->witness;
  item->same_as = witness ? -1 : find_same_code(s, item);
  if (item->same_as >= 0) return 0;
  s->any |= !witness;
  s->work->measured += !witness;
  return measure_item(s, item, policy_first_runs());
}

static int try_compiled(State *s, CompiledCandidate *c) {
  Item *item = &s->items[c->candidate];
  int code = 0;
  if (c->failure) {
    fail_with_code(s, item, c->failure, c->message ? c->message : "");
  } else if (c->pruned || is_item_slow(s, item->candidate)) {
    fail_item(s, item, NEREID_TUNE_PRUNED, E_TUNE_SLOW);
    nereid_text_free(c->code);
  } else {
    item->candidate->code = c->key;
    item->trial.code = c->code;
    item->trial.size = c->size;
    memcpy(item->trial.grid, item->candidate->grid, sizeof item->trial.grid);
    code = try_code(s, item);
  }
  if (!code) report_progress(s, !item->candidate->witness);
  return code;
}

static int first_round(State *s) {
  SearchCompiler *compiler = s->work->compiler;
  CompiledCandidate c;
  int code = 0;
  while (!code && search_compiler_next(compiler, s->problem, &c)) {
    if (time_is_up(s)) {
      search_compiler_stop(compiler);
      Item *item = &s->items[c.candidate];
      if (!item->candidate->witness) fail_item(s, item, NEREID_TUNE_PRUNED, E_TUNE_TIME_UP);
      nereid_text_free(c.code);
    } else {
      code = try_compiled(s, &c);
      double slow_us = policy_slow_us(s->best_us, s->best_predicted_us);
      search_compiler_limit(compiler, s->problem, slow_us);
    }
    free(c.message);
  }
  return code;
}

/* If none has run, the cost model may be at fault, as with loops whose length is in memory.  The
 * most promising of those that were given up gets all the time there is; if it ends, so do
 * others. */
static int try_again(State *s) {
  const SearchProblem *p = s->problem;
  int code = 0;
  s->patient = true;
  for (size_t i = 0; i < p->n && !code && !time_is_up(s); i++) {
    Item *item = &s->items[p->order ? p->order[i] : i];
    if (item->candidate->status != NEREID_TUNE_TIMEOUT || !item->trial.code) continue;
    item->candidate->status = NEREID_TUNE_OK;
    item->candidate->reason = NULL;
    code = measure_item(s, item, policy_first_runs());
    if (s->best_us <= 0) break;
  }
  return code;
}

/* ---- which results are right ---- */

/* The answer of a witness; else the one that most codes gave, of several such that of the first
 * candidate, whichever was measured first. */
static int right_answer(const State *s) {
  int count[ANSWERS_MOST] = {0}, best = -1;
  for (size_t i = 0; i < s->problem->n; i++) {
    int a = s->items[i].answer;
    if (s->items[i].candidate->witness && a >= 0) return a;
    if (a >= 0 && a < ANSWERS_MOST) count[a]++;
  }
  for (size_t i = 0; i < s->problem->n; i++) {
    const Item *item = &s->items[i];
    int a = item->same_as < 0 ? item->answer : s->items[item->same_as].answer;
    if (a >= 0 && a < ANSWERS_MOST && (best < 0 || count[a] > count[best])) best = a;
  }
  return best;
}

static void mark_wrong(State *s) {
  int right = right_answer(s);
  for (size_t i = 0; i < s->problem->n; i++) {
    Item *item = &s->items[i];
    if (item->n && item->candidate->status == NEREID_TUNE_OK && item->answer != right)
      fail_item(s, item, NEREID_TUNE_WRONG, E_TUNE_WRONG);
  }
  const Candidate *best = search_fastest(s->problem->candidates, s->problem->n);
  s->best_us = best ? best->median_us : 0;
}

/* ---- further rounds ---- */

static bool is_in(const Item *item) { return item->n && item->candidate->status == NEREID_TUNE_OK; }

static int measure_round(State *s, const int *runs) {
  int code = 0;
  for (size_t i = 0; i < s->problem->n && !code && !time_is_up(s); i++) {
    Item *item = &s->items[i];
    if (!is_in(item)) continue;
    if (!runs[i]) {
      measurer_drop(s->work->measurer, &item->trial);
      continue;
    }
    code = measure_item(s, item, runs_within_budget(s->work->search, item->candidate, runs[i]));
    if (!code) report_progress(s, false);
  }
  return code;
}

/* Configurations that were not timed here, as one of the same code, are left out. */
static nereid_tune_timing timing_of(const Item *item) {
  const Candidate *c = item->candidate;
  if (is_in(item) || c->known) return search_timing(c);
  return (nereid_tune_timing){.median_us = -1};
}

static int further_rounds(State *s) {
  Arena *a = s->work->search->arena;
  size_t n = s->problem->n;
  nereid_tune_timing *timings = ARENA_ARRAY(a, nereid_tune_timing, n);
  int *runs = ARENA_ARRAY(a, int, n), code = 0;
  double limit_us;
  for (int round = 1; !code && !time_is_up(s); round++) {
    for (size_t i = 0; i < n; i++) timings[i] = timing_of(&s->items[i]);
    if (!policy_round(runs, &limit_us, timings, n, round)) break;
    const Candidate *best = search_fastest(s->problem->candidates, n);
    s->best_us = best ? best->median_us : 0;
    s->unlimited = limit_us > policy_limit_us(s->best_us);
    code = measure_round(s, runs);
  }
  return code;
}

/* ---- all of it ---- */

static void copy_same(State *s) {
  for (size_t i = 0; i < s->problem->n; i++) {
    Item *item = &s->items[i];
    if (item->same_as < 0) continue;
    const Candidate *other = s->items[item->same_as].candidate;
    Candidate *c = item->candidate;
    c->status = other->status;
    c->reason = other->reason;
    c->median_us = other->median_us;
    c->spread_us = other->spread_us;
    c->runs = other->runs;
  }
}

static void open_items(State *s) {
  for (size_t i = 0; i < s->problem->n; i++) {
    s->items[i] = (Item){.candidate = &s->problem->candidates[i], .answer = -1, .same_as = -1};
    s->items[i].trial.id = (int)i;
  }
  const Candidate *known = search_fastest(s->problem->candidates, s->problem->n);
  s->best_us = known ? known->median_us : 0;
  s->best_predicted_us = known ? known->predicted.us : 0;
}

static int run_rounds(State *s) {
  open_items(s);
  report_progress(s, false);
  int code = measurer_take(s->work->measurer, s->problem->args, s->problem->nargs);
  if (!code) code = first_round(s);
  if (!code && s->best_us <= 0) code = try_again(s);
  if (!code) mark_wrong(s);
  if (!code) code = further_rounds(s);
  if (!code) copy_same(s);
  return code;
}

/* Measures the problem's candidates that are not known, as they are compiled. */
static int search_rounds(SearchWork *w, SearchProblem *p) {
  State s = {.work = w, .problem = p, .items = calloc(p->n + 1, sizeof(Item))};
  if (!s.items) return error_out_of_memory();
  int code = run_rounds(&s);
  for (size_t i = 0; i < p->n; i++) {
    nereid_text_free((char *)(uintptr_t)s.items[i].trial.code);
    free(s.items[i].us);
  }
  free(s.items);
  return code;
}

/* ---- what is known before ---- */

static bool has_open_candidate(const SearchProblem *p) {
  for (size_t i = 0; i < p->n; i++)
    if (!p->candidates[i].known) return true;
  return false;
}

static void reopen_candidate(Candidate *c) {
  c->before = search_time(c);
  c->reopened = true;
  c->known = c->recorded = false;
  c->median_us = c->spread_us = c->runs = 0;
}

static void choose_first(const Search *s, const SearchProblem *p, int *runs) {
  nereid_tune_timing *timings = ARENA_ARRAY(s->arena, nereid_tune_timing, p->n);
  double limit_us;
  for (size_t i = 0; i < p->n; i++) timings[i] = search_timing(&p->candidates[i]);
  policy_round(runs, &limit_us, timings, p->n, 0);
}

/* Doubtful winners by records are measured again; those that can't win are pruned. */
static void open_candidates(const Search *s, SearchProblem *p) {
  int *runs = ARENA_ARRAY(s->arena, int, p->n);
  choose_first(s, p, runs);
  for (size_t i = 0; i < p->n; i++)
    if (runs[i] && p->candidates[i].recorded) reopen_candidate(&p->candidates[i]);
  choose_first(s, p, runs);
  for (size_t i = 0; i < p->n; i++) {
    Candidate *c = &p->candidates[i];
    if (c->known || runs[i] || c->status != NEREID_TUNE_OK) continue;
    c->known = true;
    c->status = NEREID_TUNE_PRUNED;
    c->reason = E_TUNE_SLOW;
  }
}

/* A reopened candidate that was not measured gets its record back. */
static void restore_record(Candidate *c) {
  if (!c->reopened || c->runs || c->status != NEREID_TUNE_OK) return;
  c->known = c->recorded = true;
  c->median_us = c->before.median_us;
  c->spread_us = c->before.spread_us;
  c->runs = c->before.runs;
}

/* The fastest known candidate is the witness for the others. */
static void set_out(const Search *s, SearchProblem *p) {
  open_candidates(s, p);
  const Candidate *known = search_fastest(p->candidates, p->n);
  if (known) p->candidates[known - p->candidates].witness = true;
}

/* Counts what is done.  False: nothing is left to be found out. */
static bool look_over(SearchWork *w) {
  bool any = false;
  for (size_t i = 0; i < w->search->nproblems; i++) {
    SearchProblem *p = &w->search->problems[i];
    set_out(w->search, p);
    for (size_t j = 0; j < p->n; j++) w->done += p->candidates[j].known;
    any |= has_open_candidate(p);
  }
  return any;
}

/* Arguments that do not fit the memory end their problem's search alone. */
static int search_problems(SearchWork *w) {
  Search *s = w->search;
  int code = 0;
  for (size_t i = 0; i < s->nproblems && !code; i++) {
    SearchProblem *p = &s->problems[i];
    code = has_open_candidate(p) ? search_rounds(w, p) : 0;
    if (code != NEREID_E_MEMORY) continue;
    p->failure = error_keep_in(s->arena);
    code = 0;
  }
  return code;
}

/* Candidates that neither ran nor failed. */
static void mark_rest(SearchProblem *p, const char *reason) {
  for (size_t i = 0; i < p->n; i++) {
    Candidate *c = &p->candidates[i];
    restore_record(c);
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
  if (!code) code = search_problems(&w);
  if (!code) search_compiler_keep(w.compiler);
  search_compiler_free(w.compiler);
  measurer_close(w.measurer);
  for (size_t i = 0; i < s->nproblems; i++) {
    SearchProblem *p = &s->problems[i];
    mark_rest(p, code || p->failure ? E_TUNE_UNMEASURED : E_TUNE_TIME_UP);
  }
  return code;
}
