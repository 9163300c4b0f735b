#include "runtime/timing.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/device.h"

enum { RUNS_LEAST = 5, RUNS_MOST = 200 };
static const double WANTED_US = 3e5;
static const size_t FLUSH_LEAST = (size_t)64 << 20;

typedef struct {
  int (*run)(void *context);
  void *context;
  nereid_stream *stream;
  nereid_device *device;
  void *flush; /* memory twice as large as the L2 cache; NULL: nothing to flush */
  size_t flush_size;
  nereid_event *from[RUNS_MOST], *to[RUNS_MOST];
} Timer;

static int start_timer(Timer *t, const nereid_time_options *o) {
  nereid_device *d = t->device;
  int code = 0;
  if (d->info.l2_bytes > 0 && !o->keep_l2) {
    t->flush_size = 2 * (size_t)d->info.l2_bytes;
    if (t->flush_size < FLUSH_LEAST) t->flush_size = FLUSH_LEAST;
    code = nereid_alloc(&t->flush, d, t->flush_size);
  }
  for (int i = 0; i < RUNS_MOST && !code; i++) {
    code = nereid_event_new(&t->from[i], d);
    if (!code) code = nereid_event_new(&t->to[i], d);
  }
  return code;
}

static void end_timer(Timer *t) {
  for (int i = 0; i < RUNS_MOST; i++) {
    nereid_event_free(t->from[i]);
    nereid_event_free(t->to[i]);
  }
  nereid_free(t->device, t->flush);
}

/* Starts n runs and reads their times. */
static int run_timed(Timer *t, int n, double *us) {
  int code = 0;
  for (int i = 0; i < n && !code; i++) {
    if (t->flush) code = nereid_fill(t->device, t->flush, i, t->flush_size, t->stream);
    if (!code) code = nereid_event_record(t->from[i], t->stream);
    if (!code) code = t->run(t->context);
    if (!code) code = nereid_event_record(t->to[i], t->stream);
  }
  if (!code) code = nereid_event_sync(t->to[n - 1]);
  for (int i = 0; i < n && !code; i++) code = nereid_event_elapsed_us(&us[i], t->from[i], t->to[i]);
  return code;
}

static int compare(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* Between the two values that are nearest. */
static double quantile(const double *sorted, int n, double share) {
  double at = share * (n - 1);
  int below = (int)at;
  int above = below + 1 < n ? below + 1 : below;
  return sorted[below] + (at - below) * (sorted[above] - sorted[below]);
}

static int measure(Timer *t, const nereid_time_options *o, nereid_timing *out) {
  double us[RUNS_MOST];
  int warm = o->warm_up > 0 ? o->warm_up : 3;
  if (warm > RUNS_MOST) warm = RUNS_MOST;
  /* A slow kernel is warm after one run. */
  int code = run_timed(t, 1, us);
  if (!code && warm > 1 && us[0] < WANTED_US) code = run_timed(t, warm - 1, us);
  if (code) return code;
  double wanted = WANTED_US / (us[0] > 1 ? us[0] : 1);
  int runs = o->runs > 0 ? o->runs : wanted > RUNS_MOST ? RUNS_MOST : (int)wanted;
  if (o->runs <= 0 && runs < RUNS_LEAST) runs = RUNS_LEAST;
  if (runs > RUNS_MOST) runs = RUNS_MOST;
  code = run_timed(t, runs, us);
  if (code) return code;
  qsort(us, (size_t)runs, sizeof *us, compare);
  *out = (nereid_timing){.median_us = quantile(us, runs, 0.5),
                         .min_us = us[0],
                         .max_us = us[runs - 1],
                         .runs = runs,
                         .low_us = quantile(us, runs, 0.25),
                         .high_us = quantile(us, runs, 0.75)};
  return 0;
}

int timing_measure(nereid_timing *out, const TimedRun *r, const nereid_time_options *o) {
  static const nereid_time_options defaults = {0};
  *out = (nereid_timing){0};
  Timer t = {.run = r->run, .context = r->context, .stream = r->stream, .device = r->device};
  if (!o) o = &defaults;
  int code = start_timer(&t, o);
  if (!code) code = measure(&t, o, out);
  end_timer(&t);
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
  LaunchRun run = {l, s};
  return timing_measure(out, &(TimedRun){run_launch, &run, l->kernel->device, s}, o);
}
