#include "graph/builders/mask_builder.h"

enum { MASK_PART = 1 << 10 }; /* elements, which one program counts */

/* A mask of one axis as rows of `part` elements, false after its end. */
static Node *rows_of_mask(Build *b, Node *mask, Dim parts, Dim part) {
  Dims *d = build_dims(b);
  Dim all = dim_mul(d, parts, part), rest = dim_sub(d, all, mask->type.shape[0]);
  Node *both[] = {mask, build_full(b, 1, &rest, build_int(b, 0), DT_I1)};
  if (!dim_is(rest, 0)) mask = build_cat(b, 2, both, 0);
  return build_view(b, mask, 2, (Dim[]){parts, part});
}

/* x with `before`, a number for each row, added to the first element of its row. */
static Node *start_rows(Build *b, Node *x, Node *before) {
  Node *place = build_unsqueeze(b, build_arange(b, x->type.shape[1]), 0);
  Node *is_first = build_with(b, OP_aten_eq_Scalar, place, build_int(b, 0));
  before = build_unsqueeze(b, build_to(b, before, x->type.dtype), 1);
  return build_add(b, x, build_where(b, is_first, arg_node(before), build_int(b, 0)));
}

static Node *running_sum(Build *b, Node *x, uint32_t axis) {
  const Arg args[] = {arg_node(x), build_int(b, axis)};
  return build_with_named(b, OP_aten_cumsum_default, 2, args, "dtype", arg_dtype(x->type.dtype));
}

/* The elements of a part of a mask of `most`, or of exactly that many if they are `known`: then
 * parts are whole, if there is a number of elements that a tile has few more than. */
static int64_t part_of_mask(int64_t most, bool known) {
  enum { LONG = 1 << 21, LONG_PART = 1 << 12, LEAST = 1 << 9, VECTOR = 16 };
  int64_t part = most > LONG ? LONG_PART : MASK_PART;
  for (int64_t n = LONG_PART; known && n >= LEAST; n -= VECTOR)
    if (most % n == 0 && 8 * n >= 7 * power_of_2(n, 1)) return n;
  return part;
}

MaskParts build_mask_parts(Build *b, Node *mask) {
  Dims *d = build_dims(b);
  Dim n = mask->type.shape[0], parts = dim_int(d, 1), part = n;
  const int64_t most = dim_range(d, n).hi;
  bool one = most <= MASK_PART;
  DType t = most <= INT32_MAX / 2 ? DT_I32 : DT_I64;
  if (!one) {
    part = dim_int(d, part_of_mask(most, dim_is_int(n)));
    parts = dim_floordiv(d, dim_sub(d, dim_add(d, n, part), dim_int(d, 1)), part);
  }
  MaskParts m = {.mask = rows_of_mask(b, mask, parts, part)};
  /* Nodes of their own, not those of the sum: shared ones would be stored. */
  Node *x = build_to(b, build_where(b, m.mask, build_int(b, 1), build_int(b, 0)), t);
  if (one) {
    m.count = build_sum(b, build_to(b, m.mask, DT_I64), 3, false);
  } else {
    Node *counts = build_sum(b, build_to(b, m.mask, DT_I64), 2, false);
    m.count = build_sum(b, counts, 1, false); /* here, so that it shares a kernel with the next */
    x = start_rows(b, x, build_sub(b, running_sum(b, counts, 0), counts));
  }
  m.number = build_with(b, OP_aten_sub_Tensor, running_sum(b, x, 1), build_int(b, 1));
  return m;
}

Node *build_mask_number(Build *b, Node *mask) {
  if (rank_of(mask) != 1) {
    Node *x = build_to(b, mask, DT_I64);
    x = build_with(b, OP_aten_cumsum_default, x, build_int(b, 0));
    return build_with(b, OP_aten_sub_Tensor, x, build_int(b, 1));
  }
  Node *number = build_flat(b, build_mask_parts(b, mask).number);
  number = build_slice(b, number, 0, build_const(b, 0), mask->type.shape[0], 1);
  return build_to(b, number, DT_I64);
}
