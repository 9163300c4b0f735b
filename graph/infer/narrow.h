/* Narrow float dtypes: 8 and 16 bits, whose values kernels hold in f32. */
#ifndef NEREID_GRAPH_INFER_NARROW_H
#define NEREID_GRAPH_INFER_NARROW_H

#include "graph/ir/graph.h"

/* The number that a narrow float dtype has for a number, as PyTorch rounds it; other arguments, and
 * those of other dtypes, as they are. */
Arg narrow_number(const Arg *a, DType t);

#endif
