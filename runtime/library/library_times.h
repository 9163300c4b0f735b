/* Times of products and convolutions by kernels of ours and by libraries, for machines that have
 * no records of their own.
 *
 * runtime/library/library_times.def has what bench/compile/libraries.py measured, a row a problem.
 * The time that is expected of another problem is its ideal time (that of its operations and of its
 * memory at the peaks of the row's GPU, and of a launch) times what the measured ones took more
 * than theirs: the mean of the logarithms, where the nearest rows of that work and kind of numbers
 * count most.  The distance is that of the logarithms of sizes. */
#ifndef NEREID_RUNTIME_LIBRARY_LIBRARY_TIMES_H
#define NEREID_RUNTIME_LIBRARY_LIBRARY_TIMES_H

#include "lang/base/dtype.h"

/* Products by which of their operands, [m, k] and [k, n], is a transposed view of rows; and
 * convolutions. */
typedef enum {
  TIMED_NN,
  TIMED_NT,
  TIMED_TN,
  TIMED_TT,
  TIMED_FORWARD,
  TIMED_INPUT,
  TIMED_WEIGHT
} TimedWork;

/* A convolution is the product that its forward pass is: m counts images by places of y, n features
 * of a group, k elements of a window in all channels of a group; a batch, groups. */
typedef struct {
  TimedWork work;
  DType dtype;
  bool tf32;
  double batch, m, n, k;
  double taps;   /* places in a window; 1: a product */
  double stride; /* of windows */
  double pitch_a, pitch_b; /* elements from one row of memory to the next; 0: rows have no gaps */
} TimedProblem;

/* Microseconds; 0: nothing is known. */
typedef struct {
  double kernels, library;
} ExpectedTimes;

/* On GPUs of that compute capability, 90 is 9.0. */
ExpectedTimes library_times(int capability, const TimedProblem *p);

/* Times of a product of f32 on one core of an Intel processor with vectors of 512 bits, by our
 * kernels and by the MKL in PyTorch; 0: ours are as fast, or nothing is known. */
ExpectedTimes library_times_of_core(const TimedProblem *p);

#endif
