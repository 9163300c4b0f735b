/* Pass split_complex and its rules: complex numbers become pairs of real ones.
 *
 * planner/complex takes a graph of calls without writes in place, and gives one without complex
 * values.  A complex value of the graph becomes two tensors, its real and its imaginary part.  Only
 * where a caller or a file has the value (inputs, weights, outputs) is it one tensor, with a last
 * axis of the two parts, as in memory.
 *
 * A rule gets a Split at its node and builds the parts of the node's value before it.  It sets
 * `items` for a node whose value is a list. */
#ifndef NEREID_PLANNER_COMPLEX_COMPLEX_H
#define NEREID_PLANNER_COMPLEX_COMPLEX_H

#include "graph/builders/node_builder.h"

/* im is NULL: it is 0, or the value is a list or a real one. */
typedef struct {
  Node *re, *im;
} Parts;

typedef struct {
  Build b;
  const Parts *of; /* by id, of the nodes there were before the pass */
  uint32_t n;
  Parts *items; /* what a rule leaves of a node whose value is a list */
  uint32_t nitems;
} Split;

typedef Parts SplitRule(Split *s);

#define COMPLEX(rule, result) SplitRule split_##rule;
#define OP(library, name, overload, rule, schema, ...) __VA_ARGS__
#include "graph/ops/op_table.def"
#include "graph/infer/transform_axes.h"

/* ---- operands ---- */

Parts split_value(const Split *s, Node *n);
/* The argument, a tensor or a number. */
Parts split_arg(Split *s, const char *param);
Parts split_self(Split *s);
/* The imaginary part also where it is 0. */
Node *split_imaginary(Split *s, Parts x);
/* A last axis of the two parts. */
Node *split_join(Split *s, Parts x);

/* ---- arithmetic ---- */

Parts complex_mul(Build *b, Parts x, Parts y);
Parts complex_add(Build *b, Parts x, Parts y);
Node *complex_abs(Build *b, Parts x);

/* ---- turned_pairs.c ---- */

/* A copy of x, which is in memory in another order of axes, in pairs; no parts: it is not, or its
 * last axis is in runs there, too. */
Parts complex_turned(Build *b, Parts x);

/* ---- fourier_tables.c ---- */

/* exp(-+2 pi i t k / n) for t below `rows` and k below `columns`. */
Parts fourier_powers(Build *b, Dim rows, Dim columns, Dim n, bool inverse, DType t);
/* exp(-+pi i t^2 / n) for t below n. */
Parts fourier_chirp(Build *b, Dim n, bool inverse, DType t);

/* ---- fourier_kernel.c ---- */

/* Is there a kernel of transforms of n elements along that axis?  half: signals are real. */
bool fourier_has_kernel(Build *b, const Node *x, uint32_t axis, Dim n, bool half);
/* 1: a kernel transforms x along the axis.  More: the first factor of its length, of two that have
 * kernels, or of which the first has one.  0: kernels are no help. */
int64_t fourier_kernels_factor(Build *b, const Node *x, uint32_t axis, bool half);
/* It; sums are not scaled.  Without an imaginary part the result is the first half of the spectrum.
 */
Parts fourier_by_kernel(Build *b, Parts x, uint32_t axis, bool inverse);
/* The n real elements whose half of a spectrum x has, with an imaginary part. */
Node *fourier_real_by_kernel(Build *b, Parts x, uint32_t axis, Dim n);

/* What a copy of x in row-major order is, if a transform's kernel left x so in memory; else no
 * parts. */
Parts fourier_copied(Build *b, Parts x);
/* x, which nothing uses yet, becomes so many times what it was, if its kernel can do that as it
 * writes it; false: it can't. */
bool fourier_scale(Parts x, double by);

/* ---- fourier.c ---- */

/* Along an axis, of its length; sums are not scaled. */
Parts fourier_along(Build *b, Parts x, uint32_t axis, bool inverse);
/* The first n // 2 + 1 elements for real x. */
Parts fourier_half_along(Build *b, Node *x, uint32_t axis);
/* n real numbers of half a spectrum. */
Node *fourier_real_along(Build *b, Parts x, uint32_t axis, Dim n);
/* Cut, or filled with zeros, to n elements. */
Parts fourier_fit(Build *b, Parts x, uint32_t axis, Dim n);

#endif
