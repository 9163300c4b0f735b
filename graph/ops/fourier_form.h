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
 * real elements the same goes on in the other direction: the first radix comes last.
 *
 * A program `along` rows transforms one signal at a time, whose own elements are lanes: neighbours
 * c of the first radices, and neighbours k1 of the last one, which reads the scratch's columns.
 * 2 n real elements are n complex ones, whose spectrum Z gives theirs, X, with w of 2 n:
 *
 *   2 X[k] = Z[k] + conj Z[n - k] - i w^k (Z[k] - conj Z[n - k])
 *
 * The scratch has a plane of real parts and one of imaginary ones, and to spectra of real elements
 * two more, in the order of k.
 *
 * Two signals at a time have half of the lanes each, in operands, results, the scratch and factors:
 * c and k1 are neighbours in halves of a vector.  Spectra of real elements are not made so: what
 * follows the radices would take more shuffles than it saves.
 *
 * A smaller size than that of the radices is a convolution with chirps (Bluestein 1970): operands
 * times a chirp are transformed, their spectrum is multiplied by a filter, the chirp's conjugate
 * transformed, and results of the way back are multiplied by the chirp.  Real signals are
 * operands, or results, of their own then. */
#ifndef NEREID_GRAPH_OPS_FOURIER_FORM_H
#define NEREID_GRAPH_OPS_FOURIER_FORM_H

#include <stdbool.h>
#include <stdint.h>

#include "lang/base/dtype.h"

enum {
  FOURIER_LANE_BYTES = 64,
  FOURIER_RADIX_MAX = 32,
  FOURIER_RADICES_MAX = 4,
  FOURIER_SIZE_MAX = 1 << 13,
  FOURIER_ALONG_MAX = 1 << 20,
  FOURIER_SIGNALS_MAX = 2 /* of a program along rows at a time */
};

typedef struct {
  int64_t radix[FOURIER_RADICES_MAX];
  uint32_t n;
  bool half;    /* of real numbers: the first size / 2 + 1 elements of the spectrum */
  bool inverse; /* half: real numbers are the result, in the other direction */
  int64_t along; /* signals that a program transforms along rows at a time; 0: lanes are signals */
  int64_t size; /* elements of a signal, and, with `half` fewer, of its spectrum; 0: as the
                   radices say */
  /* Results of fourier_form(). */
  bool chirps;
  int64_t operand, result;
  int64_t points;       /* the product of the radices: along, half of `size` with `half` */
  int64_t columns, row; /* of the first radix; vectors, along elements, between rows in scratch */
  int64_t kept;         /* k1 that have rows */
  int64_t plane;        /* along: elements of a plane of the scratch */
  int64_t lanes;        /* elements that a vector holds */
  int64_t near;         /* neighbours along a signal that it holds */
  int64_t scratch;      /* elements, for a program */
  int64_t factors;      /* elements of the table of factors */
} FourierForm;

/* Finds the sizes of a form of radices.  False: they have no kernel. */
bool fourier_form(FourierForm *f, DType t);
/* Elements between those of radix i >= 1 within a row: the product of the later radices. */
int64_t fourier_step(const FourierForm *f, uint32_t i);
/* Factors that column c has after radix i, cosines and sines: of k = 1, 2, ... */
int64_t fourier_factors(const FourierForm *f, uint32_t i);

#endif
