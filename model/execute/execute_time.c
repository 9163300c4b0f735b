/* How long each step of a plan takes, for people and for trace viewers. */
#include <stdlib.h>

#include "model/execute/execute_state.h"
#include "model/report/trace.h"

enum { RUNS_LEAST = 3, RUNS_MOST = 50, RUNS_TRACED = 3 };
static const double WANTED_US = 2e5; /* for all runs together */

typedef struct {
  Execution *e;
  const ExecutionCall *call;
  nereid_event **events;   /* one more than spans */
  size_t first, spans;     /* steps of each run, and the updates after them */
  double *us;              /* of each span in each run: us[run * spans + span] */
  double begin[RUNS_MOST]; /* of each run */
  int runs;
} Measure;

static int run_marked(Measure *m, int run) {
  const ExecutionCall *c = m->call;
  double *us = m->us + (size_t)run * m->spans;
  m->e->marks = m->events;
  m->begin[run] = stages_now();
  int code = execution_run(m->e, c);
  m->e->marks = NULL;
  if (!code) code = nereid_event_sync(m->events[m->spans]);
  for (size_t i = m->first; i < m->spans && !code; i++)
    code = nereid_event_elapsed_us(&us[i], m->events[i], m->events[i + 1]);
  return code;
}

/* The first run prepares what was not, the second one tells how many there shall be. */
static int run_timed(Measure *m) {
  double total = 0;
  int code = run_marked(m, 0);
  if (!code) code = run_marked(m, 0);
  if (code) return code;
  for (size_t i = m->first; i < m->spans; i++) total += m->us[i];
  double wanted = WANTED_US / (total > 1 ? total : 1);
  m->runs = wanted < RUNS_LEAST ? RUNS_LEAST : wanted > RUNS_MOST ? RUNS_MOST : (int)wanted;
  for (int i = 0; i < m->runs && !code; i++) code = run_marked(m, i);
  return code;
}

static int compare_times(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static double median_time(const Measure *m, size_t span) {
  double times[RUNS_MOST];
  for (int i = 0; i < m->runs; i++) times[i] = m->us[(size_t)i * m->spans + span];
  qsort(times, (size_t)m->runs, sizeof *times, compare_times);
  return times[m->runs / 2];
}

/* ---- making ---- */

static int prepare_measure(Measure *m) {
  m->events = calloc(m->spans + 1, sizeof(nereid_event *));
  m->us = calloc(m->spans * RUNS_MOST, sizeof *m->us);
  int code = m->events && m->us ? 0 : error_out_of_memory();
  for (size_t i = 0; i <= m->spans && !code; i++)
    code = nereid_event_new(&m->events[i], m->e->device);
  return code;
}

static void end_measure(Measure *m) {
  for (size_t i = 0; m->events && i <= m->spans; i++) nereid_event_free(m->events[i]);
  free(m->events);
  free(m->us);
}

/* ---- what is printed ---- */

typedef struct {
  const Measure *m;
  const char *mode; /* NULL: a trace */
  Text *out;
} Print;

static void print_step_table(const Measure *m, Explanation *x, Text *out) {
  size_t updates = m->spans - 1;
  double *us = ARENA_ARRAY(out->arena, double, m->spans);
  for (size_t i = m->first; i < m->spans; i++) x->times.run += us[i] = median_time(m, i);
  x->times.steps = us;
  x->times.updates = us[updates];
  explain_print(out, x);
}

static void print_step_trace(const Measure *m, const Explanation *x, Text *out) {
  TraceRun runs[RUNS_TRACED];
  Trace t = {m->e->of->stages, &m->e->of->kernels, x, runs, 0};
  for (; t.nruns < RUNS_TRACED && (int)t.nruns < m->runs; t.nruns++)
    runs[t.nruns] = (TraceRun){m->begin[t.nruns], m->us + t.nruns * m->spans};
  trace_print(out, &t);
}

static int print_times_body(void *arg) {
  const Print *p = arg;
  const Execution *e = p->m->e;
  Explanation x = {.plan = e->plan, .sizes = e->sizes, .mode = p->mode};
  peaks_of_device(&x.peaks, e->device);
  if (p->mode) print_step_table(p->m, &x, p->out);
  else print_step_trace(p->m, &x, p->out);
  return 0;
}

int execution_step_times(Execution *e, const ExecutionCall *c, double *us, int *runs) {
  Measure m = {
      .e = e, .call = c, .first = plan_once(e->plan), .spans = e->plan->nsteps + (size_t)1};
  int code = prepare_measure(&m);
  if (!code) code = run_timed(&m);
  for (size_t i = m.first; i + 1 < m.spans && !code; i++) us[i] = median_time(&m, i);
  *runs = m.runs;
  end_measure(&m);
  return code;
}

static int measure_and_print(Execution *e, const ExecutionCall *c, const char *mode, Text *out) {
  Measure m = {.e = e, .call = c};
  m.first = plan_once(e->plan);
  m.spans = e->plan->nsteps + (size_t)1;
  int code = prepare_measure(&m);
  if (!code) code = run_timed(&m);
  if (!code) code = error_guard(out->arena, print_times_body, &(Print){&m, mode, out});
  end_measure(&m);
  return code;
}

int execution_explain(Execution *e, const ExecutionCall *c, const char *mode, Text *out) {
  return measure_and_print(e, c, mode, out);
}

int execution_trace(Execution *e, const ExecutionCall *c, Text *out) {
  return measure_and_print(e, c, NULL, out);
}
