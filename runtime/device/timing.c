#include "runtime/device/timing.h"

#include <math.h>
#include <stdlib.h>
#include <time.h>

#include "runtime/device/device.h"
#include "runtime/messages.h"

enum { RUNS_LEAST = 5 };
static const double WANTED_US = 3e5;
static const size_t FLUSH_LEAST = (size_t)64 << 20;

/* ---- run by run ---- */

int timer_open(Timer *t, nereid_device *d, bool flush) {
  *t = (Timer){.device = d};
  int code = 0;
  if (d->info.l2_bytes > 0 && flush) {
    t->flush_size = 2 * (size_t)d->info.l2_bytes;
    if (t->flush_size < FLUSH_LEAST) t->flush_size = FLUSH_LEAST;
    code = nereid_alloc(&t->flush, d, t->flush_size);
  }
  for (int i = 0; i < TIMER_RUNS_MOST && !code; i++) {
    code = nereid_event_new(&t->from[i], d);
    if (!code) code = nereid_event_new(&t->to[i], d);
  }
  return code;
}

void timer_close(Timer *t) {
  for (int i = 0; i < TIMER_RUNS_MOST; i++) {
    nereid_event_free(t->from[i]);
    nereid_event_free(t->to[i]);
  }
  if (t->flush) nereid_free(t->device, t->flush);
  *t = (Timer){0};
}

static int begin_run(const Timer *t, nereid_stream *s, int i) {
  int code = t->flush ? nereid_fill(t->device, t->flush, i, t->flush_size, s) : 0;
  return code ? code : nereid_event_record(t->from[i], s);
}

static int start_run(const Timer *t, const TimedRun *r, int i) {
  int code = r->before ? r->before(r->context) : 0;
  if (!code) code = begin_run(t, r->stream, i);
  if (!code) code = r->run(r->context);
  return code ? code : nereid_event_record(t->to[i], r->stream);
}

/* On a CPU other processes may have the cores: a run during which a thread waited for one is made
 * again, as long as `spent_us` allows, and the fastest counts. */
static int run_alone(const Timer *t, const TimedRun *r, double *spent_us, double *fastest) {
  static const double SHARE = 0.02, SPENT_MOST = 1.5e5;
  *fastest = INFINITY;
  for (;;) {
    int64_t waited = host_waited_ns();
    double us = 0;
    int code = start_run(t, r, 0);
    if (!code) code = nereid_event_elapsed_us(&us, t->from[0], t->to[0]);
    waited = host_waited_ns() - waited;
    *fastest = fmin(*fastest, us);
    if (code || (double)waited <= SHARE * us * 1e3 || *spent_us > SPENT_MOST) return code;
    *spent_us += us;
  }
}

/* The times of the first n runs that were started. */
static int read_runs(const Timer *t, int n, double *us) {
  int code = nereid_event_sync(t->to[n - 1]);
  for (int i = 0; i < n && !code; i++) code = nereid_event_elapsed_us(&us[i], t->from[i], t->to[i]);
  return code;
}

int timer_run(Timer *t, const TimedRun *r, int n, double *us) {
  bool cpu = device_kind(t->device) == NEREID_C;
  double spent_us = 0;
  int code = 0;
  for (int i = 0; i < n && !code; i++)
    code = cpu ? run_alone(t, r, &spent_us, &us[i]) : start_run(t, r, i);
  return cpu || code ? code : read_runs(t, n, us);
}

static int compare_times(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

double timing_quantile(double *us, int n, double share) {
  qsort(us, (size_t)n, sizeof *us, compare_times);
  double at = share * (n - 1);
  int below = (int)at;
  double rest = at - below;
  return below + 1 < n ? us[below] + rest * (us[below + 1] - us[below]) : us[below];
}

double timing_rounded(double us) { return fmax(round(us * 1e3), 1) / 1e3; }

/* ---- one thing ---- */

static int measure_times(Timer *t, const TimedRun *r, const nereid_time_options *o,
                         nereid_timing *out) {
  double us[TIMER_RUNS_MOST];
  int warm = o->warm_up > 0 ? o->warm_up : 3;
  if (warm > TIMER_RUNS_MOST) warm = TIMER_RUNS_MOST;
  /* A slow kernel is warm after one run. */
  int code = timer_run(t, r, 1, us);
  if (!code && warm > 1 && us[0] < WANTED_US) code = timer_run(t, r, warm - 1, us);
  if (code) return code;
  double wanted = WANTED_US / (us[0] > 1 ? us[0] : 1);
  int runs = o->runs > 0 ? o->runs : wanted > TIMER_RUNS_MOST ? TIMER_RUNS_MOST : (int)wanted;
  if (o->runs <= 0 && runs < RUNS_LEAST) runs = RUNS_LEAST;
  if (runs > TIMER_RUNS_MOST) runs = TIMER_RUNS_MOST;
  code = timer_run(t, r, runs, us);
  if (code) return code;
  *out = (nereid_timing){.median_us = timing_quantile(us, runs, 0.5),
                         .runs = runs,
                         .low_us = timing_quantile(us, runs, 0.25),
                         .high_us = timing_quantile(us, runs, 0.75)};
  out->min_us = us[0];
  out->max_us = us[runs - 1];
  return 0;
}

int timing_measure(nereid_timing *out, const TimedRun *r, const nereid_time_options *o) {
  static const nereid_time_options defaults = {0};
  Timer t;
  *out = (nereid_timing){0};
  if (!o) o = &defaults;
  int code = timer_open(&t, r->device, !o->keep_l2);
  if (!code) code = measure_times(&t, r, o, out);
  timer_close(&t);
  return code;
}

typedef struct {
  nereid_launch *launch;
  nereid_stream *stream;
} LaunchRun;

static int run_launch(void *context) {
  const LaunchRun *r = context;
  return nereid_launch_run(r->launch, r->stream);
}

int nereid_launch_time(nereid_timing *out, nereid_launch *l, nereid_stream *s,
                       const nereid_time_options *o) {
  REQUIRE_OUT(out);
  REQUIRE(l);
  LaunchRun run = {l, s};
  return timing_measure(out, &(TimedRun){run_launch, &run, l->start.kernel->device, s, NULL}, o);
}

/* ---- pieces of the caller's work ---- */

struct nereid_timer {
  Timer timer;
  bool begun;
  int pending; /* pieces whose events are not read yet */
  double *us;
  int n, room; /* times that were read */
};

int nereid_timer_new(nereid_timer **out, nereid_device *d, int keep_l2) {
  REQUIRE_OUT(out);
  REQUIRE(d);
  nereid_timer *t = calloc(1, sizeof *t);
  int code = t ? timer_open(&t->timer, d, !keep_l2) : error_out_of_memory();
  if (code) nereid_timer_free(t);
  else *out = t;
  return code;
}

void nereid_timer_free(nereid_timer *t) {
  if (!t) return;
  timer_close(&t->timer);
  free(t->us);
  free(t);
}

/* Waits for the pending pieces. */
static int take_times(nereid_timer *t) {
  if (!t->pending) return 0;
  if (t->n + t->pending > t->room) {
    int room = 2 * (t->n + t->pending);
    double *us = realloc(t->us, (size_t)room * sizeof *us);
    if (!us) return error_out_of_memory();
    t->us = us;
    t->room = room;
  }
  int code = read_runs(&t->timer, t->pending, t->us + t->n);
  if (!code) t->n += t->pending;
  t->pending = 0;
  return code;
}

int nereid_timer_begin(nereid_timer *t, nereid_stream *s) {
  REQUIRE(t);
  int code = t->pending == TIMER_RUNS_MOST ? take_times(t) : 0;
  if (!code) code = begin_run(&t->timer, s, t->pending);
  t->begun = !code;
  return code;
}

int nereid_timer_end(nereid_timer *t, nereid_stream *s) {
  REQUIRE(t);
  if (!t->begun) return error_set(NEREID_E_USAGE, E_RUN_TIMER_END);
  int code = nereid_event_record(t->timer.to[t->pending], s);
  t->begun = false;
  t->pending += !code;
  return code;
}

int nereid_timer_read(const double **us, int *n, nereid_timer *t) {
  REQUIRE_OUT(us);
  REQUIRE_OUT(n);
  REQUIRE(t);
  int code = take_times(t);
  if (code) return code;
  *us = t->us;
  *n = t->n;
  t->n = 0;
  return 0;
}
