/* The join (phi) of two values where control flow merges.
 *
 * Their leaves that are not the same become slots of the join: results of the op that branches.
 */
#include "sema/value/context.h"

static void conflict(Sema *S, Join *j, Value a, Value b) {
  if (j->conflict) return;
  j->conflict =
      arena_printf(S->arena, "%s and %s", value_describe(S->arena, a), value_describe(S->arena, b));
}

static void add_slot(Sema *S, Join *j, Type type, Value a, Value b, Value *into) {
  JoinSlot slot = {type, {a, b}, into};
  vec_push(S->arena, &j->slots, slot);
}

/* A number beside a typed value takes its dtype, if it can hold numbers of that kind. */
static Value number_like(Sema *S, Value n, Value like) {
  Span nowhere = {0};
  DType t = (DType)value_type(like).dtype;
  if (dtype_is_float(t) || (dtype_is_int(t) && n.kind != V_FLOAT))
    return cast_dtype(S, n, t, nowhere);
  return typed(S, n, nowhere);
}

static void join_numbers(Sema *S, Join *j, Value a, Value b, Value *into) {
  Span nowhere = {0};
  Value x = a, y = b;
  if (value_is_number(a)) x = value_is_typed(b) ? number_like(S, a, b) : typed(S, a, nowhere);
  if (value_is_number(b)) y = value_is_typed(a) ? number_like(S, b, a) : typed(S, b, nowhere);
  if (value_is_typed(x) && value_is_typed(y) && type_eq(value_type(x), value_type(y)))
    add_slot(S, j, value_type(x), x, y, into);
  else conflict(S, j, a, b);
}

static void join_tuples(Sema *S, Join *j, Value a, Value b, Value *into) {
  const Tuple *x = a.u.tuple, *y = b.u.tuple;
  if (x->len != y->len || !value_fits(a) || !value_fits(b)) {
    conflict(S, j, a, b);
    return;
  }
  *into = value_clone(S->arena, a);
  for (uint32_t i = 0; i < x->len; i++)
    join_values(S, j, x->data[i], y->data[i], &into->u.tuple->data[i]);
}

static void join_blocks(Sema *S, Join *j, Value a, Value b, Value *into) {
  if (!blocks_alike(a.u.block, b.u.block)) {
    conflict(S, j, a, b);
    return;
  }
  ValueLeaves x = {0}, y = {0}, both = {0};
  *into = value_clone(S->arena, a);
  value_leaves(S->arena, &a, &x);
  value_leaves(S->arena, &b, &y);
  value_leaves(S->arena, into, &both);
  for (size_t i = 0; i < x.len; i++) join_values(S, j, *x.data[i], *y.data[i], both.data[i]);
}

void join_values(Sema *S, Join *j, Value a, Value b, Value *into) {
  *into = a;
  if (value_same(a, b) || a.kind == V_ERROR) return;
  if (b.kind == V_ERROR) *into = b;
  else if (value_is_operand(a) && value_is_operand(b)) join_numbers(S, j, a, b, into);
  else if (a.kind == V_TUPLE && b.kind == V_TUPLE) join_tuples(S, j, a, b, into);
  else if (a.kind == V_BLOCKPTR && b.kind == V_BLOCKPTR) join_blocks(S, j, a, b, into);
  else conflict(S, j, a, b);
}

void join_leaves(Sema *S, Join *j, Value v, Value *into) {
  ValueLeaves leaves = {0};
  *into = value_clone(S->arena, v);
  value_leaves(S->arena, into, &leaves);
  for (size_t i = 0; i < leaves.len; i++) {
    Value leaf = *leaves.data[i];
    if (leaf.kind == V_TILE)
      add_slot(S, j, value_type(leaf), leaf, value_of(V_ABSENT), leaves.data[i]);
  }
}
