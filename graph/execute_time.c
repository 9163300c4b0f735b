/* How long each step of a plan takes. */
#include <stdlib.h>

#include "graph/execute_state.h"
#include "graph/explain.h"

enum { RUNS_LEAST = 3, RUNS_MOST = 50 };
static const double WANTED_US = 2e5; /* for all runs together */

typedef struct {
  Executable *e;
  const nereid_tensor *inputs;
  int ninputs;
  nereid_tensor *outputs;
  int noutputs;
  nereid_stream *stream;
  nereid_event **events; /* one more than spans */
  size_t first, spans;   /* steps that run in each run, and the updates behind them */
  double *us;            /* of each span in each run: us[run * spans + span] */
} Measure;

static int run_marked(Measure *m, double *us) {
  m->e->marks = m->events;
  int code = executable_run(m->e, m->inputs, m->ninputs, m->outputs, m->noutputs, m->stream);
  m->e->marks = NULL;
  if (!code) code = nereid_event_sync(m->events[m->spans]);
  for (size_t i = m->first; i < m->spans && !code; i++)
    code = nereid_event_elapsed_us(&us[i], m->events[i], m->events[i + 1]);
  return code;
}

static int compare(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static double middle(const Measure *m, int runs, size_t span) {
  double times[RUNS_MOST];
  for (int i = 0; i < runs; i++) times[i] = m->us[(size_t)i * m->spans + span];
  qsort(times, (size_t)runs, sizeof *times, compare);
  return times[runs / 2];
}

/* The first run is for caches. */
static int measure(Measure *m, StepSpan *out) {
  double total = 0, at = 0;
  int code = run_marked(m, m->us);
  if (!code) code = run_marked(m, m->us);
  if (code) return code;
  for (size_t i = m->first; i < m->spans; i++) total += m->us[i];
  double wanted = WANTED_US / (total > 1 ? total : 1);
  int runs = wanted < RUNS_LEAST ? RUNS_LEAST : wanted > RUNS_MOST ? RUNS_MOST : (int)wanted;
  for (int i = 0; i < runs && !code; i++) code = run_marked(m, m->us + (size_t)i * m->spans);
  for (size_t i = m->first; i < m->spans && !code; i++) {
    out[i] = (StepSpan){at, middle(m, runs, i)};
    at += out[i].us;
  }
  return code;
}

static int make_events(Measure *m) {
  int code = 0;
  for (size_t i = 0; i <= m->spans && !code; i++)
    code = nereid_event_new(&m->events[i], m->e->device);
  return code;
}

int executable_time_steps(Executable *e, const nereid_tensor *inputs, int ninputs,
                          nereid_tensor *outputs, int noutputs, nereid_stream *s, StepSpan *out) {
  Measure m = {e, inputs, ninputs, outputs, noutputs, s, NULL, 0, 0, NULL};
  m.first = plan_once(e->plan);
  m.spans = e->plan->nsteps + (size_t)1;
  m.events = calloc(m.spans + 1, sizeof(nereid_event *));
  m.us = calloc(m.spans * RUNS_MOST, sizeof *m.us);
  int code = m.events && m.us ? make_events(&m) : error_out_of_memory();
  if (!code) code = measure(&m, out);
  for (size_t i = 0; m.events && i <= m.spans; i++) nereid_event_free(m.events[i]);
  free(m.events);
  free(m.us);
  return code;
}

/* ---- as a table ---- */

typedef struct {
  Executable *e;
  const StepSpan *spans;
  const char *mode;
  Text *out;
} Table;

static int print_body(void *arg) {
  const Table *t = arg;
  const Plan *p = t->e->plan;
  Explanation x = {.plan = p, .sizes = t->e->sizes, .mode = t->mode};
  double *us = ARENA_ARRAY(t->out->arena, double, p->nsteps + (size_t)1);
  for (uint32_t i = 0; i < p->nsteps; i++) us[i] = t->spans[i].us;
  rates_of_device(&x.rates, t->e->device);
  x.times = (StepTimes){us, t->spans[p->nsteps].us, t->spans[p->nsteps].begin};
  x.times.run += x.times.updates;
  explain_print(t->out, &x);
  return 0;
}

int executable_explain(Executable *e, const nereid_tensor *inputs, int ninputs,
                       nereid_tensor *outputs, int noutputs, nereid_stream *s, const char *mode,
                       Text *out) {
  StepSpan *spans = calloc(e->plan->nsteps + (size_t)1, sizeof *spans);
  if (!spans) return error_out_of_memory();
  int code = executable_time_steps(e, inputs, ninputs, outputs, noutputs, s, spans);
  if (!code) code = error_guard(out->arena, print_body, &(Table){e, spans, mode, out});
  free(spans);
  return code;
}
