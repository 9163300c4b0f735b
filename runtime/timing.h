/* How long something takes that a device runs. */
#ifndef NEREID_RUNTIME_TIMING_H
#define NEREID_RUNTIME_TIMING_H

#include "runtime/error.h"

typedef struct {
  int (*run)(void *context); /* starts it on the stream */
  void *context;
  nereid_device *device;
  nereid_stream *stream;
} TimedRun;

/* Events on a GPU, wall-clock elsewhere.  `o` may be NULL. */
int timing_measure(nereid_timing *out, const TimedRun *r, const nereid_time_options *o);

#endif
