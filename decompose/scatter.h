/* Writes to computed indices, in decomposed form (decompose/decompose_scatter.c). */
#ifndef NEREID_DECOMPOSE_SCATTER_H
#define NEREID_DECOMPOSE_SCATTER_H

#include "graph/builders/node_builder.h"

/* Is it known to have no elements? */
bool scatter_empty(Build *b, const Node *x);

/* For each of n elements the number of the last of `indices` that is its own; -1: none is. */
Node *scatter_writers(Build *b, Dim n, Node *indices);
/* Has it a writer? */
Node *scatter_written(Build *b, Node *writer);
/* x, with the rows (first axis) of `values` that its writers say. */
Node *scatter_take(Build *b, Node *x, Node *writer, Node *values);
/* `to` with src added where `indices` (in row-major order) say. */
Node *scatter_add_up(Build *b, Node *to, Node *indices, Node *src);
/* For each of n rows the sum of those of `values` ([M, columns]) whose `row` ([M]) it is, in the
 * order of `values`: the same in every run, unlike scatter_add_up.  Other rows count nowhere, none
 * is negative. */
Node *scatter_sum_rows(Build *b, Dim n, Node *row, Node *values);
/* Rows that are reduced in their order (decompose/scatter_rows.c), on CPUs alone. */
typedef struct {
  Node *to;    /* [outer, rows, columns], which keeps its elements where no index is its row's */
  Node *index; /* [count], or with `each` [outer, count, columns]; other numbers count nowhere */
  Node *src;   /* [outer, count, columns], of any dtype; with starts [segments, columns] */
  Node *starts; /* of segments in the index, and the end of the last; NULL: no segments */
  Node *scale;  /* a factor of each index; NULL: 1 */
  Dim outer, rows, columns, count;
  bool each;
  const char *reduce; /* sum, prod, amax, amin, or put: the last one */
} ScatteredRows;
/* Tensors may have any shape of as many elements in this order; the result has the one of `to`. */
Node *scatter_rows(Build *b, const ScatteredRows *r);
/* How many of the indices ([count]) are each of n, as i32; others count nowhere. */
Node *scatter_count(Build *b, Dim n, Node *index);
/* x before it was cast to wider floats, as the kernel that adds it up casts it: otherwise another
 * one writes it first. */
Node *scatter_before_widening(Build *b, Node *x);
/* `source` times the argument "alpha" of b's node. */
Node *scatter_scaled(Build *b, Node *source);
/* The dtype that atomics add up in: f32 for 16-bit floats, i32 for small integers. */
DType scatter_sum_dtype(DType t);
/* Indices that may count from the end of an axis of that size, as i64 that count from its start. */
Node *scatter_from_start(Build *b, Node *index, Dim size);
/* The first elements of x along an axis, as many as an element of a tensor says, which the node's
 * argument `param` is (decompose/decompose_counted.c).  NULL: it is no such number. */
Node *scatter_counted_slice(Build *b, Node *x, uint32_t axis, const char *param);

/* ---- elements chosen by a mask (decompose/decompose_put.c) ---- */

/* Is that index of index_put a mask?  NULL, an axis that is not indexed, is none. */
bool scatter_is_mask(const Node *index);

/* Elements that a mask chooses and their new values, both in the shape of the operand. */
typedef struct {
  Node *mask, *values;
} MaskedPut;

/* Reads b's node: masked_fill, masked_scatter, or index_put by one mask.  False if it is none of
 * these, or has several masks or a mask without axes. */
bool scatter_masked_put(Build *b, MaskedPut *out);

#endif
