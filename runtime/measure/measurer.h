/* Measuring kernels in another process, which is replaced when one of them breaks it.
 *
 * runtime/measure owns that process (worker.h) and its protocol (wire.h).  It takes images with
 * arguments, and gives times, and for each kernel the number of its result, equal for equal
 * results.
 *
 * Where that process cannot be started (the program `nereid` is not found), a thread of this one
 * replaces it, after a note: then a kernel that faults ends this process as well. */
#ifndef NEREID_RUNTIME_MEASURE_MEASURER_H
#define NEREID_RUNTIME_MEASURE_MEASURER_H

#include "runtime/device/device.h"
#include "runtime/device/timing.h"
#include "runtime/measure/worker.h"

typedef struct Measurer Measurer;

/* An argument by text, as nereid_value_parse() reads it. */
typedef struct {
  const char *name, *text;
  const char *dtype; /* that a number is cast to; "": its own */
  WorkerReset reset;
  int64_t period; /* after which drawn elements repeat (value_repeat); 0: they don't */
} MeasuredArg;

/* A compiled kernel, and where it is in its measuring. */
typedef struct {
  int id;           /* differs from all others' */
  const char *code; /* the bytes of an image, as long as the trial is measured */
  size_t size;
  uint32_t grid[3];
  unsigned loaded; /* in which process; 0: in none */
} Trial;

typedef enum {
  MEASURED,
  MEASURED_FAILED,  /* `code` and nereid_error_message() say why */
  MEASURED_TIMEOUT, /* it was ended */
  MEASURED_DIED     /* it took the process with it; nereid_error_message() says how */
} MeasureEnd;

typedef struct {
  MeasureEnd end;
  int code;
  int answer; /* kernels with the same results have the same number; -1: none */
  nereid_kernel_resources resources;
  double us[TIMER_RUNS_MOST];
  int n;
} Measured;

/* Starts the process, and does not wait for it.  keep_l2: a GPU's cache is not flushed. */
int measurer_open(Measurer **out, const char *device, bool keep_l2, nereid_message_fn note,
                  void *context);
void measurer_close(Measurer *m);
/* From now on trials are of a kernel with these arguments, which are used until there are others;
 * earlier trials are gone.  Does not wait for them to be made. */
int measurer_take(Measurer *m, const MeasuredArg *args, int nargs);

/* Measures a trial `runs` times.  A trial that was not loaded yet is compared with the others'
 * results, and timed only once if that takes longer than `limit_us`.  A trial that does not end
 * within `seconds`, besides the time for its arguments, is given up.  Fails only where measuring
 * itself is impossible. */
int measurer_run(Measurer *m, Trial *t, int runs, double limit_us, double seconds, Measured *out);
/* The trial will not be measured again. */
void measurer_drop(Measurer *m, Trial *t);

#endif
