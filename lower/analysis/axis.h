/* The axis analysis: divisibility, contiguity, constancy and bounds of integers and pointers.
 *
 * lower/analysis owns the analyses of tile IR: this one, pointer_bounds.h (the bytes that a kernel
 * may access through a parameter) and writes.h (the parameters that it may write through).  They
 * take a tile function, and give facts by value or by parameter; they change nothing.
 *
 * For a tile x and an axis a:
 *   contig     x falls into groups of this many elements along a, aligned in a, in which each
 *              element is one more than the last (pointers: one element further)
 *   div        the first element of every such group is divisible by this (pointers: the address
 *              in bytes); for contig 1, every element is
 *   constancy  x falls into aligned groups of this many equal elements along a
 * A scalar has one axis.  All three are at least 1; div is a power of two up to 2^30, or the value
 * itself where the value is a known constant.
 *
 * `assumed`: contig, div and constancy hold unless a remainder or a quotient was taken of a
 * negative number, or the value was made from one of which that is true.  Then an address is before
 * its tensor, as a rule, so accesses go by it; masks don't.
 *
 * The interval [lo, hi] bounds the value as a mathematical integer; lo > hi never holds.
 */
#ifndef NEREID_LOWER_ANALYSIS_AXIS_H
#define NEREID_LOWER_ANALYSIS_AXIS_H

#include "lang/tile/tile.h"

typedef struct {
  int64_t contig[MAX_RANK];
  int64_t div[MAX_RANK];
  int64_t constancy[MAX_RANK];
  int64_t lo, hi;
  bool assumed;
  bool known; /* one constant everywhere: lo == hi */
} AxisInfo;

/* For every value, by id; in `a`. */
AxisInfo *axis_analyze(const TileFunc *f, Arena *a);

/* How many elements along `axis` an access through pointer tile `ptr` with mask `mask` (NULL: none)
 * can move at once, at most `max`: contiguous, aligned, and under one mask; 1 for axis -1, which a
 * scalar has. */
int64_t axis_vector(const AxisInfo *info, const TileValue *ptr, const TileValue *mask, int axis,
                    unsigned elem_bytes, int64_t max);

#endif
