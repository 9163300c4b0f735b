#include "model/report/trace.h"

#include <inttypes.h>
#include <stdio.h>

enum { COMPILING = 1, RUNNING };
enum { TRACKS = 64 };

typedef struct {
  Text *out;
  const Trace *trace;
  double origin; /* what counts as 0 */
  bool first;
} Writer;

static void begin_event(Writer *w, const char *name, const char *phase, int process, int track) {
  text_printf(w->out, "%s\n{\"name\": ", w->first ? "" : ",");
  text_json(w->out, name);
  text_printf(w->out, ", \"ph\": \"%s\", \"pid\": %d, \"tid\": %d", phase, process, track);
  w->first = false;
}

static void name_track(Writer *w, const char *kind, int process, int track, const char *name) {
  begin_event(w, kind, "M", process, track);
  text_puts(w->out, ", \"args\": {\"name\": ");
  text_json(w->out, name);
  text_puts(w->out, "}}");
}

static void begin_span(Writer *w, const char *name, int process, int track, double at, double us) {
  begin_event(w, name, "X", process, track);
  text_printf(w->out, ", \"ts\": %.3f, \"dur\": %.3f", at - w->origin, us);
}

/* ---- compiling ---- */

static void put_stages(Writer *w) {
  const Stages *s = w->trace->stages;
  name_track(w, "process_name", COMPILING, 0, "compiling");
  name_track(w, "thread_name", COMPILING, 0, "stages");
  for (size_t i = 0; i < s->list.len; i++) {
    const StageTime *t = &s->list.data[i];
    begin_span(w, t->name, COMPILING, 0, t->begin, t->end - t->begin);
    text_puts(w->out, "}");
  }
}

/* Kernels that were compiled at the same time are on tracks beside each other. */
static void put_kernels(Writer *w) {
  const PlanKernels *k = w->trace->kernels;
  double free_at[TRACKS] = {0};
  int tracks = 0;
  for (size_t i = 0; i < k->list.len; i++) {
    const PlanKernel *p = k->list.data[i];
    int track = 0;
    while (track + 1 < TRACKS && free_at[track] > p->begin) track++;
    free_at[track] = p->end;
    begin_span(w, p->request.kernel, COMPILING, track + 1, p->begin, p->end - p->begin);
    text_puts(w->out, ", \"args\": {\"specialized\": ");
    text_json(w->out, p->key);
    text_puts(w->out, "}}");
    if (track >= tracks) tracks = track + 1;
  }
  for (int i = 0; i < tracks; i++) {
    char name[32];
    snprintf(name, sizeof name, "kernels %d", i);
    name_track(w, "thread_name", COMPILING, i + 1, name);
  }
}

/* ---- running ---- */

static void put_step_event(Writer *w, const PlanStep *s, double at, double us) {
  StepFloor f;
  begin_span(w, s->kernel, RUNNING, 0, at, us);
  text_puts(w->out, ", \"args\": {\"covers\": \"");
  for (uint32_t i = 0; i < s->nnodes; i++)
    text_printf(w->out, "%s%s", i ? " " : "", s->nodes[i]->name);
  text_puts(w->out, "\"");
  if (explain_floor(w->trace->explanation, s, &f))
    text_printf(w->out,
                ", \"bytes read\": %" PRId64 ", \"bytes written\": %" PRId64
                ", \"operations\": %" PRId64 ", \"floor us\": %.3f",
                f.read, f.written, f.operations,
                f.memory_us > f.compute_us ? f.memory_us : f.compute_us);
  text_puts(w->out, "}}");
}

static void put_run(Writer *w, const TraceRun *r) {
  const Plan *p = w->trace->explanation->plan;
  double at = r->begin;
  for (uint32_t i = plan_once(p); i < p->nsteps; i++) {
    put_step_event(w, &p->steps[i], at, r->us[i]);
    at += r->us[i];
  }
  if (p->nupdates == 0) return;
  begin_span(w, "updates", RUNNING, 0, at, r->us[p->nsteps]);
  text_puts(w->out, "}");
}

void trace_print(Text *out, const Trace *t) {
  Writer w = {.out = out, .trace = t, .first = true};
  w.origin = t->stages->list.len ? t->stages->list.data[0].begin : 0;
  text_puts(out, "{\"displayTimeUnit\": \"ns\", \"traceEvents\": [");
  put_stages(&w);
  put_kernels(&w);
  name_track(&w, "process_name", RUNNING, 0, t->explanation->peaks.device);
  name_track(&w, "thread_name", RUNNING, 0, "kernels");
  for (uint32_t i = 0; i < t->nruns; i++) put_run(&w, &t->runs[i]);
  text_puts(out, "\n]}\n");
}
