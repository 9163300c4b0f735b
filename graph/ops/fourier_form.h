/* Op nereid.fourier transforms along the middle axis of [batch, size, lanes]; its kernel takes
 * the neighbours of the last axis that a line of 64 bytes holds at a time.
 *
 * The size is a product of radices.  With t = columns t1 + c and k = k1 + r k2 a transform is one
 * of the first radix r along t1 for each c, factors w^(c k1), and one along c for each k1, which
 * falls into the other radices in the same way (Cooley and Tukey 1965).  Each result takes the
 * place of an operand in the program's scratch, a vector of lanes each: row 2 k1 has the real
 * parts, row 2 k1 + 1 the imaginary ones.  Rows have an odd number of vectors, so that a column's
 * are not all in one set of a cache.
 *
 * Operands are multiplied by a window as they are loaded, if one is given.
 *
 * Rows of k1 up to r / 2 contain all of real elements: others are conjugates.  To
 * real elements the same goes on in the other direction: the first radix comes last. */
#ifndef NEREID_GRAPH_OPS_FOURIER_FORM_H
#define NEREID_GRAPH_OPS_FOURIER_FORM_H

#include <stdbool.h>
#include <stdint.h>

#include "lang/base/dtype.h"

enum {
  FOURIER_LANE_BYTES = 64,
  FOURIER_RADIX_MAX = 32,
  FOURIER_RADICES_MAX = 4,
  FOURIER_SIZE_MAX = 1 << 13
};

typedef struct {
  int64_t radix[FOURIER_RADICES_MAX];
  uint32_t n;
  bool half;    /* of real numbers: the first size / 2 + 1 elements of the spectrum */
  bool inverse; /* half: real numbers are the result, in the other direction */
  int64_t size; /* elements of a signal, and, with `half` fewer, of its spectrum */
  int64_t operand, result;
  int64_t columns, row; /* of the first radix; vectors between the scratch's rows */
  int64_t kept;         /* k1 that have rows */
  int64_t lanes;        /* neighbours that a vector holds */
  int64_t scratch;      /* elements, for a program */
  int64_t factors;      /* elements of the table of factors */
} FourierForm;

/* False: there is no kernel of these radices. */
bool fourier_form(uint32_t n, const int64_t *radices, bool half, bool inverse, DType t,
                  FourierForm *out);
/* Elements between those of radix i >= 1 within a row: the product of the later radices. */
int64_t fourier_step(const FourierForm *f, uint32_t i);
/* Factors that column c has after radix i, cosines and sines: of k = 1, 2, ... */
int64_t fourier_factors(const FourierForm *f, uint32_t i);

#endif
