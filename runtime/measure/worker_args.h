/* What a worker's kernels run on: arguments, the arrays of those on its device, and the results
 * that kernels have left in these. */
#ifndef NEREID_RUNTIME_MEASURE_WORKER_ARGS_H
#define NEREID_RUNTIME_MEASURE_WORKER_ARGS_H

#include "runtime/device/device.h"
#include "runtime/measure/wire.h"
#include "runtime/measure/worker.h"

/* Kernels that all give other results have nothing to be compared with. */
enum { WORKER_RESULTS_MOST = 4 };

typedef struct {
  char *name;
  nereid_value *value;
  WorkerReset reset;
  int array;   /* the argument whose array it is: itself, another one, or -1 */
  void *data;  /* on the device */
  void *fresh; /* a copy of what it held at first; NULL until the array is written */
  void *results[WORKER_RESULTS_MOST]; /* what kernels left there, in host memory */
} WorkerArg;

typedef struct {
  nereid_device *device;
  nereid_stream *stream;
  WorkerArg *list;
  int n, nresults;
} WorkerArgs;

/* As WORKER_ARGS has them. */
int worker_args_read(WorkerArgs *w, Message *in);
void worker_args_free(WorkerArgs *w);
int worker_args_set(const WorkerArgs *w, nereid_launch *l);

/* The array that a kernel writes through its i-th parameter; NULL: none. */
WorkerArg *worker_args_written(const WorkerArgs *w, const nereid_image *image, int i);
/* What a kernel writes is what it was at first. */
int worker_args_restore(const WorkerArgs *w, const nereid_image *image);
/* What the decorators of the kernel ask for before each run. */
int worker_args_reset(const WorkerArgs *w);

/* The number of the results that the kernel has just left, which are the same as those of kernels
 * with that number; -1: there are too many. */
int worker_args_judge(WorkerArgs *w, const nereid_image *image, int *number);

#endif
