/* Primitives: the ops that are left after pass `decompose`, and how each makes an element of its
 * result.
 *
 *   pointwise  from the elements of its operands at the same index (broadcast): a row says the
 *              expression in the kernel language
 *   view       the element of its operand at another index: a row says which
 *   reduce     from the elements of its operand along some axes
 *   create     from the index alone (arange, full)
 *   concat     from an element of one of its operands, or a constant, depending on the index
 *   insert     its operand's, in a slice of memory that others share
 *   gather     from an element of its operand at an index that other operands say
 *   check      no element: it records an operand's first element that is no valid index
 *   library    a call of a library (runtime/library)
 *   loop       no element: a place in the order of steps (graph/analysis/loops.h)
 *   part       in the kernel of its operand, an attention
 *   tile       within the kernel of an attention, which uses what is computed of it
 *   others     matmul, convolution, attention, sort, scan, scatter: a template each */
#ifndef NEREID_GRAPH_OPS_PRIMS_H
#define NEREID_GRAPH_OPS_PRIMS_H

#include "graph/ops/ops.h"

static inline PrimKind prim_kind(const GraphOp *op) { return op->prim; }
/* Does n say of a size what number it is: nereid.counted, a view of rows that were counted? */
bool prim_reads_size(const Node *n);
/* The arguments that n, a PRIM_SEARCH or PRIM_SCATTER, uses in memory at any index: a bit each.
 * Others are read element by element, those of a PRIM_SCATTER in the domain of its second. */
uint32_t prim_in_memory(const Node *n);
/* Is it nereid.check_index, which records an index that is out of range, and has no users? */
static inline bool prim_checks(const Node *n) {
  return n->kind == NODE_CALL && n->op->prim == PRIM_CHECK;
}
/* What is wrong where an element of n, such a node, is not 0; NULL: n checks indices. */
Name prim_check_fault(Graph *g, const Node *n);
/* Is it nereid.suppress, nereid.matrix, nereid.fourier, nereid.turned_pairs or nereid.scatter_rows,
 * of which a program does a row? */
bool prim_does_rows(const Node *n);
/* Is it a nereid.scatter that writes each element to an index of its own? */
bool prim_puts(const Node *n);
/* The node whose kernel computes n, too; NULL: n is no further result of a kernel. */
Node *prim_of_kernel(const Node *n);
/* The node in whose memory n's value is: what n, a PRIM_SCATTER, or the slices of a PRIM_INSERTED
 * are written to, or n itself. */
Node *prim_memory(Node *n);
/* The axis of a product that the groups of a nereid.grouped_mm, packed or not, divide; group i ends
 * before index `offs[i]` of it, and begins where the one before ends. */
typedef enum { GROUPS_NONE, GROUPS_OF_ROWS, GROUPS_OF_COLUMNS, GROUPS_OF_SUM } ProductGroups;
/* n is PRIM_MATMUL; GROUPS_NONE: it is mm or bmm, or nereid.ended_bmm. */
ProductGroups prim_groups(const Node *n);
/* Is n a nereid.packed_mm or nereid.packed_grouped_mm, whose kernel computes the elements of the
 * right operand from packed memory where another one loads them? */
static inline bool prim_unpacks(const Node *n) {
  return n->kind == NODE_CALL && (n->op->id == OP_nereid_packed_mm_default ||
                                  n->op->id == OP_nereid_packed_grouped_mm_default);
}
/* Is it a nereid.float8_mm whose scales are of blocks? */
bool prim_scales_blocks(const Node *n);
/* Products of matrices, also implicit ones. */
bool prim_is_product(PrimKind k);
/* Does it have a template of its own, which pointwise ops after it join? */
bool prim_has_template(PrimKind k);

/* ---- views ---- */

/* The index in the operand of the view n (its first tensor argument) of the element of n at index
 * `at` (n's rank), into `from` (the operand's rank).  Indices are expressions of index symbols
 * (dim_index), so nothing is known of their values but their ranges. */
void view_index(Graph *g, const Node *n, const Dim *at, Dim *from);

/* Has view_index a rule for n?  Not for an item of a call that computes its results. */
bool view_has_index(const Node *n);
/* The tensor that a view is a view of. */
Node *view_operand(const Node *n);
/* 1, but more for a reshape that divides indices by symbolic sizes: expressions of its index repeat
 * for each quotient and each remainder, so that a few of them in a row grow without bound. */
uint32_t view_weight(const Node *n);
/* The stride in memory of n along an axis, in elements; 0: not known.  Views are followed to the
 * stored tensor, which is in row-major order. */
int64_t view_stride(Graph *g, Node *n, uint32_t axis);

/* The index of element number `linear` of a tensor of that shape in row-major order, and back. */
void index_of_linear(Dims *d, Dim linear, const Dim *shape, uint32_t rank, Dim *index);
Dim linear_of_index(Dims *d, const Dim *index, const Dim *shape, uint32_t rank);

/* ---- pointwise ---- */

/* The expression of n's element in the kernel language, {0}, {1}, ... standing for its operands'
 * in the order of its arguments (tensors and numbers alike).  Operand i has dtypes[i] there:
 * `compute`, or i1 if it is a condition.  The result is cast from `compute` to n's dtype; that of
 * a node of bools is i1 already. */
typedef struct {
  const char *text;
  DType compute;
  DType narrow; /* the result's dtype if a cast to it rounds, or wraps; else DT_NONE */
  bool selects; /* the result is one of the operands, in the result's dtype */
  uint32_t noperands;
  Arg operands[8];
  DType dtypes[8];
} Pointwise;

/* Does its expression take a branch if an element of the tile asks for it?  Elements that nobody
 * wants should not, and a tile of many takes many registers. */
bool prim_branches(const Node *n);

/* n is PRIM_POINTWISE. */
Pointwise pointwise_of(Graph *g, const Node *n);
/* Its value is that of its operand, at other indices. */
bool prim_is_view(const Node *n);
/* The index in the operand (of its rank) of element `index` (of n's rank) for an operand that is
 * broadcast. */
void broadcast_index(Graph *g, const Node *n, const Dim *index, const Node *operand, Dim *out);

#endif
