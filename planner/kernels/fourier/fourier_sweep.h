/* Radices of transforms whose vectors are along a row, between operands and results that a sweep
 * makes and takes (fourier_along.c and fourier_chirps.c). */
#ifndef NEREID_PLANNER_KERNELS_FOURIER_FOURIER_SWEEP_H
#define NEREID_PLANNER_KERNELS_FOURIER_FOURIER_SWEEP_H

#include "planner/kernels/fourier/fourier_kernel.h"

typedef struct Sweep Sweep;

struct Sweep {
  Fourier *f;
  int64_t stride;  /* between a signal's elements in memory */
  bool conjugated; /* factors have the other sign */
  int64_t operands; /* elements from here on are 0 */
  const char *weights;
  Strides to;
  /* Names what the operands of lanes `after` need. */
  void (*start)(Sweep *s);
  /* Makes the operands of element t of the first radix. */
  Wave (*make)(Sweep *s, int64_t t);
  /* Takes results `apart` elements after each other, the first of which is `element` + `row`, at
   * the pointer `ordered` + `element` + k lanes. */
  void (*end)(Sweep *s, Wave *y, int64_t radix, int64_t apart);
};

/* All radices of a signal. */
void fourier_sweep(Sweep *s);
/* Pointers to what lanes `after` have of the operand, `from_0` and, where parts are apart,
 * `from_1`. */
void fourier_point_after(Sweep *s);
/* base + elements, and a load of what is there. */
const char *fourier_at(Fourier *f, const char *base, int64_t elements);
Signal fourier_load(Fourier *f, const char *address);
/* The lanes' numbers among neighbours of a signal. */
const char *fourier_near(const Fourier *f);
/* Elements of a plane in the order of the spectrum. */
int64_t fourier_ordered(const Fourier *f);
/* Opens loops over the k of radices between the first and the last, and sets `column`, where they
 * are, and `element`, of the spectrum, that is there.  Gives their number. */
int fourier_open_middles(Fourier *f);
/* Opens the loop over a program's rows, and names its scratch and their places. */
void fourier_open_rows(Fourier *f, const Strides *s);

#endif
