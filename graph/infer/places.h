/* Where elements of operands are in memory, for kernels that go through it by strides. */
#ifndef NEREID_GRAPH_INFER_PLACES_H
#define NEREID_GRAPH_INFER_PLACES_H

#include "graph/ops/infer_rules.h"

/* The list `param` has an offset, and a stride for each of `n` axes of those sizes, in elements:
 * fails if one is negative, or says an element that x has not. */
void infer_places(Infer *in, const char *param, const ValueType *x, uint32_t n, const Dim *size);

#endif
