/* The process that measures kernels for a tuner.
 *
 * Kernels that are tried may hang, write where they must not, and break the device's context; so
 * they run in a process that holds nothing else, and that the tuner replaces
 * (runtime/measure/measurer.h). It reads messages from a socket and answers each:
 *
 *   WORKER_OPEN  build id, device, whether a GPU's cache is kept between runs
 *   WORKER_ARGS  number of arguments, then for each its name, its VALUE text, the dtype that a
 *                number is cast to ("": none), a WorkerReset, and the period of random elements
 *                (0: none).  Trials of other arguments are dropped.  The answer has one time: that
 *                of making the arguments
 *   WORKER_TRY   id (numbers from 0), the image's bytes, 3 extents of the grid, runs, limit in us.
 *                Loads the kernel, runs it once on fresh arguments, and compares its results with
 *                those of others.  Then it is timed: once, and if that took no longer than the
 *                limit, `runs` times
 *   WORKER_TIME  id, runs
 *   WORKER_DROP  id: the kernel will not be asked for again
 *
 *   WORKER_ANSWER code, message, the answer's number (results that are the same have the same
 *                number, counted from 0; -1: none), registers, spilled bytes, shared bytes, number
 *                of times, times in us
 *
 * A worker whose device is lost answers and ends. */
#ifndef NEREID_RUNTIME_MEASURE_WORKER_H
#define NEREID_RUNTIME_MEASURE_WORKER_H

#include <stdbool.h>

#include "lang/base/dtype.h"

typedef enum {
  WORKER_OPEN = 1,
  WORKER_ARGS,
  WORKER_TRY,
  WORKER_TIME,
  WORKER_DROP,
  WORKER_ANSWER
} WorkerMessage;

/* The reset of an array before each timed run. */
typedef enum { WORKER_KEEP, WORKER_ZERO, WORKER_RESTORE } WorkerReset;

/* Until the other end closes the socket. */
void worker_serve(int fd);

/* Are two results of kernels that compute the same equal?  Sums in another order differ in the last
 * digits of their dtype; any other difference is another result.
 *
 * n elements each.  Floats: |a - b| is at most the dtype's tolerance times |b| and the root mean
 * square of b together (1e-3 for f32, whose products may be rounded to tf32; 2e-2 for bf16; 4e-3
 * for f16; a quarter for 8 bits; 1e-9 for f64), and infinities and NaN are equal.  Other dtypes:
 * bit by bit. */
bool results_same(DType t, const void *a, const void *b, int64_t n);

#endif
