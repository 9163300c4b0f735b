/* Kernels of transforms share a call, its form and its results: those whose lanes are rows
 * (kernel_fourier.c), and those of vectors along a row (fourier_along.c, fourier_chirps.c). */
#ifndef NEREID_PLANNER_KERNELS_FOURIER_FOURIER_KERNEL_H
#define NEREID_PLANNER_KERNELS_FOURIER_FOURIER_KERNEL_H

#include "graph/ops/fourier_form.h"
#include "planner/kernels/fourier/fourier_codelet.h"

typedef struct {
  Dim at[4]; /* the offset, and the strides of batch, transform and lanes, in elements */
  const char *base;
  Dim after; /* elements from the real part to this one, which is in the same memory; or NULL */
} Places;

typedef struct {
  Kernel *k;
  Arena *a;
  const Node *n;
  FourierForm f;
  Codelet c;
  Places re, im;
  Dim batch, lanes;
  bool columns, pairs;
  bool reads, writes; /* the radix at that end has its operands, or results, in memory, not in the
                         scratch */
  double scale;
  const char *mask; /* of loads and stores of lanes */
} Fourier;

/* Elements of the result between parts, and between elements of the spectrum, and those of the
 * lanes and of the batch. */
typedef struct {
  Dim part, element, lane, batch;
} Strides;

/* An argument of the call. */
Arg fourier_argument(const Fourier *f, const char *name);
/* The loop's body is what is written up to fourier_close_loop(). */
void fourier_open_loop(Fourier *f, const char *name, int64_t n);
void fourier_close_loop(Fourier *f);
/* Are operands real, or results? */
bool fourier_takes_real(const Fourier *f);
bool fourier_gives_real(const Fourier *f);
/* Stores `count` waves, scaled, at the pointer `spectrum` and multiples of s->element after it. */
void fourier_store_waves(Fourier *f, const Strides *s, Wave *y, int64_t count);
/* The result's element k of one part, and what it is scaled. */
void fourier_store_part(Fourier *f, const Strides *s, int64_t k, bool imaginary, Signal x);
Signal fourier_scaled(Fourier *f, Signal x);
/* All of a kernel whose vectors are along rows: by radices, or as a convolution with chirps. */
void fourier_rows_along(Fourier *f, const Strides *s);
void fourier_by_chirps(Fourier *f, const Strides *s);

#endif
