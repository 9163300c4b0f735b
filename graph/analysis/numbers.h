/* Numbers of Python in graphs: which data decides, which follow from sizes, and their dtypes. */
#ifndef NEREID_GRAPH_ANALYSIS_NUMBERS_H
#define NEREID_GRAPH_ANALYSIS_NUMBERS_H

#include "graph/builders/node_builder.h"
#include "graph/ops/ops.h"

/* Is it a literal, a size, or made of these? */
bool number_is_of_sizes(const Arg *a);
/* Does data decide it: is it an .item(), or computed from one? */
bool number_is_of_data(const Arg *a);

/* Does n read the only element of its tensor? */
static inline bool number_is_item(const Node *n) {
  return graph_is_any(n, OP_aten_item_default, OP_aten__local_scalar_dense_default);
}
/* Is n its operand, as another of Python's types or as it is? */
static inline bool number_is_kept(const Node *n) {
  return graph_is_any(n, OP_torch_sym_float, OP__operator_pos);
}

/* The dtype of Python's number: f64, i64 or i1. */
DType number_dtype(const Arg *a);
/* The dtype in which n is computed: Python divides integers as floats. */
DType number_computed_in(const Node *n);
/* Is it a quotient of an integer and a literal, which an integer of 64 bits can hold? */
bool number_is_finite(const Arg *a);
/* The number, of data, sizes or both, as a tensor without axes of its dtype. */
Node *number_tensor(Build *b, const Arg *a);

#endif
