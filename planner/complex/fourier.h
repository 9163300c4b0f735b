/* Fourier transforms of pairs of real tensors, as products with tables of cosines and sines. */
#ifndef NEREID_PLANNER_COMPLEX_FOURIER_H
#define NEREID_PLANNER_COMPLEX_FOURIER_H

#include "graph/infer/transform_axes.h"
#include "planner/complex/complex.h"

/* Along an axis, of its length; sums are not scaled. */
Parts fourier_along(Build *b, Parts x, uint32_t axis, bool inverse);
/* The first n // 2 + 1 elements for real x. */
Parts fourier_half_along(Build *b, Node *x, uint32_t axis);
/* n real numbers of half a spectrum. */
Node *fourier_real_along(Build *b, Parts x, uint32_t axis, Dim n);
/* Cut, or filled with zeros, to n elements. */
Parts fourier_fit(Build *b, Parts x, uint32_t axis, Dim n);

#endif
