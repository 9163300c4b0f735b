/* Fourier transforms of a few elements as statements: sums, differences and products with
 * constants, of tiles that are named. */
#ifndef NEREID_PLANNER_KERNELS_FOURIER_FOURIER_CODELET_H
#define NEREID_PLANNER_KERNELS_FOURIER_FOURIER_CODELET_H

#include "planner/kernels/kernel.h"

/* A tile, or its negative; without a name it is 0.  A tile in memory has an address, and what else
 * its load says: it is loaded where it is used first, so that few tiles are held at a time. */
typedef struct {
  const char *name;
  bool negative;
  const char *address;
} Signal;

/* A value with `later` is the element later - 1, which the codelet makes where it is used first.
 */
typedef struct {
  Signal re, im;
  int64_t later;
} Wave;

typedef struct {
  Kernel *k;
  DType dtype;
  bool inverse;
  uint32_t taken; /* names of tiles */
  Wave (*make)(void *maker, int64_t i);
  void *maker;
} Codelet;

#define WAVE(re, im) ((Wave){re, im, 0})

/* A tile of this expression. */
Signal codelet_signal(Codelet *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Loads it if it is in memory. */
void codelet_fetch(Codelet *c, Signal *x);
/* The transform of n elements, `step` apart from x on.  Imaginary parts of real ones are 0. */
void codelet_transform(Codelet *c, Wave *x, int64_t step, int64_t n, Wave *out);
/* The n real elements whose transform has the elements x, up to n / 2; sums are not scaled.  The
 * imaginary parts of what has no conjugate among them count for nothing. */
void codelet_real(Codelet *c, Wave *x, int64_t n, Signal *out);
/* x (cosine + i sine), of the names of numbers. */
Wave codelet_turned(Codelet *c, Wave x, const char *cosine, const char *sine);
/* The tile as an expression. */
const char *codelet_text(Codelet *c, Signal x);

#endif
