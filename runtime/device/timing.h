/* How long something takes that a device runs. */
#ifndef NEREID_RUNTIME_DEVICE_TIMING_H
#define NEREID_RUNTIME_DEVICE_TIMING_H

#include <stdbool.h>

#include "runtime/support/error.h"

typedef struct {
  int (*run)(void *context); /* starts it on the stream */
  void *context;
  nereid_device *device;
  nereid_stream *stream;
  int (*before)(void *context); /* before each run, untimed; NULL: nothing */
} TimedRun;

/* Events on a GPU, wall-clock elsewhere.  `o` may be NULL. */
int timing_measure(nereid_timing *out, const TimedRun *r, const nereid_time_options *o);

/* ---- run by run ---- */

enum { TIMER_RUNS_MOST = 200 };

/* Events, and the memory with which a GPU's cache is flushed: for any number of things to time. */
typedef struct {
  nereid_device *device;
  void *flush; /* memory twice as large as the L2 cache; NULL: nothing to flush */
  size_t flush_size;
  nereid_event *from[TIMER_RUNS_MOST], *to[TIMER_RUNS_MOST];
} Timer;

int timer_open(Timer *t, nereid_device *d, bool flush);
void timer_close(Timer *t);
/* The time of each of n runs, at most TIMER_RUNS_MOST, one after the other. */
int timer_run(Timer *t, const TimedRun *r, int n, double *us);
/* The quantile of n times at that share; sorts them. */
double timing_quantile(double *us, int n, double share);
/* Rounded to a nanosecond, and one at least: further digits are noise, and read badly as text. */
double timing_rounded(double us);

#endif
