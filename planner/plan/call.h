/* The arguments of a step that is a call of a library.
 *
 *   call cublas.matmul(a = %x, b = %w, bias = %v, out = %y, workspace = %t, batch = 1, m = 8192,
 *     n = 768, k = 768, a_offset = 0, a_batch = 0, a_row = 768, a_column = 1, b_offset = 0, ...,
 *     activation = 1) covers linear "nereid.library_product.default"
 *   call cudnn.convolution(a = %x, b = %w, out = %y, workspace = %t, images = 8, height = 56, ...)
 *
 * Offsets and strides of a product are in elements of the operand's buffer: element (batch, row,
 * column) of `a`, [batch, m, k], is at a_offset + batch * a_batch + row * a_row + column *
 * a_column.  `out` is row-major.  The activation is a LibraryActivation.
 *
 * Operands of 8-bit floats have scales, `scale_a` and `scale_b`, of the form `scales`, a
 * LibraryScales; if `fast = 1`, their sums may stay in the units' own precision.
 *
 * If `tf32 = 1`, operands of f32 may be rounded to TF32.
 *
 * All tensors of a convolution are row-major (LibraryConvolution). */
#ifndef NEREID_PLANNER_PLAN_CALL_H
#define NEREID_PLANNER_PLAN_CALL_H

#include "planner/plan/plan.h"
#include "runtime/library/library.h"

/* X(id, name, is it one of products, of convolutions, may it be left out) */
#define CALL_ARGUMENTS(X)                                                                         \
  X(A, "a", 1, 1, 0) X(B, "b", 1, 1, 0) X(BIAS, "bias", 1, 0, 1)                           \
  X(SCALE_A, "scale_a", 1, 0, 1) X(SCALE_B, "scale_b", 1, 0, 1) X(OUT, "out", 1, 1, 0)           \
  X(WORKSPACE, "workspace", 1, 1, 1)                                                              \
  X(BATCH, "batch", 1, 0, 0) X(M, "m", 1, 0, 0) X(N, "n", 1, 0, 0) X(K, "k", 1, 0, 0)             \
  X(A_OFFSET, "a_offset", 1, 0, 0) X(A_BATCH, "a_batch", 1, 0, 0)                                 \
  X(A_ROW, "a_row", 1, 0, 0) X(A_COLUMN, "a_column", 1, 0, 0)                                     \
  X(B_OFFSET, "b_offset", 1, 0, 0) X(B_BATCH, "b_batch", 1, 0, 0)                                 \
  X(B_ROW, "b_row", 1, 0, 0) X(B_COLUMN, "b_column", 1, 0, 0)                                     \
  X(ACTIVATION, "activation", 1, 0, 0)                                                            \
  X(IMAGES, "images", 0, 1, 0) X(HEIGHT, "height", 0, 1, 0) X(WIDTH, "width", 0, 1, 0)            \
  X(CHANNELS, "channels", 0, 1, 0) X(FEATURES, "features", 0, 1, 0)                               \
  X(WINDOW_H, "window_h", 0, 1, 0) X(WINDOW_W, "window_w", 0, 1, 0)                               \
  X(OUT_H, "out_h", 0, 1, 0) X(OUT_W, "out_w", 0, 1, 0)                                           \
  X(STRIDE_H, "stride_h", 0, 1, 0) X(STRIDE_W, "stride_w", 0, 1, 0)                               \
  X(PADDING_H, "padding_h", 0, 1, 0) X(PADDING_W, "padding_w", 0, 1, 0)                           \
  X(DILATION_H, "dilation_h", 0, 1, 0) X(DILATION_W, "dilation_w", 0, 1, 0)                       \
  X(GROUPS, "groups", 0, 1, 0)                                                                    \
  X(SCALES, "scales", 1, 0, 1) X(FAST, "fast", 1, 0, 1)                                           \
  X(TF32, "tf32", 1, 1, 1)

typedef enum {
#define X(id, ...) CALL_##id,
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
/* Does the call write the buffer that is its argument? */
static inline bool call_writes(CallArg a) { return a == CALL_OUT || a == CALL_WORKSPACE; }

#endif
