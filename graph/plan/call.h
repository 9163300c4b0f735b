/* The arguments of a step that is a call of a library.
 *
 *   call cublas.matmul(a = %x, b = %w, bias = %v, out = %y, workspace = %t, batch = 1, m = 8192,
 *     n = 768, k = 768, a_offset = 0, a_batch = 0, a_row = 768, a_column = 1, b_offset = 0, ...,
 *     activation = 1) covers linear "nereid.library_product.default"
 *
 * Offsets and strides are in elements of the operand's buffer: element (batch, row, column) of `a`,
 * [batch, m, k], is at a_offset + batch * a_batch + row * a_row + column * a_column.  `out` is
 * row-major.  The activation is a LibraryActivation. */
#ifndef NEREID_GRAPH_PLAN_CALL_H
#define NEREID_GRAPH_PLAN_CALL_H

#include "graph/plan/plan.h"
#include "runtime/library/library.h"

#define CALL_ARGUMENTS(X)                                                                       \
  X(A, "a") X(B, "b") X(BIAS, "bias") X(OUT, "out") X(WORKSPACE, "workspace")                   \
  X(BATCH, "batch") X(M, "m") X(N, "n") X(K, "k")                                               \
  X(A_OFFSET, "a_offset") X(A_BATCH, "a_batch") X(A_ROW, "a_row") X(A_COLUMN, "a_column")       \
  X(B_OFFSET, "b_offset") X(B_BATCH, "b_batch") X(B_ROW, "b_row") X(B_COLUMN, "b_column")       \
  X(ACTIVATION, "activation")

typedef enum {
#define X(id, name) CALL_##id,
  CALL_ARGUMENTS(X)
#undef X
  CALL_ARGS,
  CALL_BUFFERS = CALL_BATCH /* those before are buffers */
} CallArg;

const char *call_arg_name(CallArg a);
/* Which argument of a call that is; CALL_ARGS: none. */
CallArg call_arg_find(const char *name);
/* Has the step all arguments of its function, each of its kind? */
bool call_is_complete(const PlanStep *s);
/* Does the call write the buffer that is its argument i? */
static inline bool call_writes(CallArg a) { return a == CALL_OUT || a == CALL_WORKSPACE; }

#endif
