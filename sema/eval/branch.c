/* Branches on run-time conditions.
 *
 * Each side is evaluated from the same variables, and what both changed is joined: into results of
 * an `if`, or, where neither side has statements, into values that are chosen.
 */
#include "sema/messages.h"
#include "sema/value/context.h"

/* ---- the join (phi) of two values where control flow merges ---- */

/* Their leaves that are not the same become slots: results of the op that branches. */
typedef struct {
  Type type;
  Value sides[2]; /* V_ABSENT: undefined on this side */
  Value *into;
} JoinSlot;
typedef struct {
  VEC(JoinSlot) slots;
  bool by_element;      /* values are chosen for each element: a scalar is the same in all */
  const char *conflict; /* set when two values can't be joined: "f32 and i32" */
  bool undefined; /* a side gives a function's result no value, which must not look like one */
} Join;

static void join_values(Sema *S, Join *j, Value a, Value b, Value *into);

static void conflict(Sema *S, Join *j, Value a, Value b) {
  if (j->conflict) return;
  j->conflict =
      arena_printf(S->arena, "%s and %s", value_describe(S->arena, a), value_describe(S->arena, b));
}

static void add_join_slot(Sema *S, Join *j, Type type, Value a, Value b, Value *into) {
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

static bool same_type(const Join *j, Value a, Value b) {
  Type x = value_type(a), y = value_type(b);
  bool one_shape = j->by_element && (!x.rank || !y.rank);
  return type_eq(one_shape ? type_element(x) : x, one_shape ? type_element(y) : y);
}

static void join_numbers(Sema *S, Join *j, Value a, Value b, Value *into) {
  Span nowhere = {0};
  Value x = a, y = b;
  if (value_is_number(a)) x = value_is_typed(b) ? number_like(S, a, b) : typed(S, a, nowhere);
  if (value_is_number(b)) y = value_is_typed(a) ? number_like(S, b, a) : typed(S, b, nowhere);
  if (value_is_typed(x) && value_is_typed(y) && same_type(j, x, y))
    add_join_slot(S, j, value_type(value_type(x).rank ? x : y), x, y, into);
  else conflict(S, j, a, b);
}

static void join_tuples(Sema *S, Join *j, Value a, Value b, Value *into) {
  const Tuple *x = a.u.tuple, *y = b.u.tuple;
  if (x->len != y->len || !same_class(x, y) || !value_fits(a) || !value_fits(b)) {
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

static void join_values(Sema *S, Join *j, Value a, Value b, Value *into) {
  *into = a;
  if (value_same(a, b) || a.kind == V_ERROR) return;
  if (b.kind == V_ERROR) *into = b;
  else if (value_is_operand(a) && value_is_operand(b)) join_numbers(S, j, a, b, into);
  else if (a.kind == V_TUPLE && b.kind == V_TUPLE) join_tuples(S, j, a, b, into);
  else if (a.kind == V_BLOCKPTR && b.kind == V_BLOCKPTR) join_blocks(S, j, a, b, into);
  else conflict(S, j, a, b);
}

/* Every run-time leaf of `v`, with a slot in a copy; constants too, if they are not to show. */
static void join_leaves(Sema *S, Join *j, Value v, bool constants, Value *into) {
  ValueLeaves leaves = {0};
  *into = value_clone(S->arena, v);
  value_leaves(S->arena, into, &leaves);
  for (size_t i = 0; i < leaves.len; i++) {
    Value leaf = *leaves.data[i];
    Span nowhere = {0};
    if (constants && value_is_number(leaf)) leaf = typed(S, leaf, nowhere);
    if (leaf.kind == V_TILE || (constants && leaf.kind == V_CONST))
      add_join_slot(S, j, value_type(leaf), leaf, value_of(V_ABSENT), leaves.data[i]);
  }
}

/* ---- both sides ---- */

typedef struct {
  Changes changes;
  bool gone; /* no statement of this function is reached from this side any more */
  TileBlock *block;
} Side;

static const Var *changed(const Side *side, uint32_t var) {
  return changed_var(&side->changes, var);
}

/* ---- the variables ---- */

/* The slots of one side of which the other has no value: it gives an undefined one. */
static void only_side(Sema *S, Join *j, int side, const Var *v, bool constants, Var *out) {
  size_t first = j->slots.len;
  *out = *v;
  if (has_leaves(S, v->value, v->at)) join_leaves(S, j, v->value, constants, &out->value);
  else out->value = value_error();
  for (size_t i = first; side == 1 && i < j->slots.len; i++) {
    JoinSlot *slot = &j->slots.data[i];
    slot->sides[1] = slot->sides[0];
    slot->sides[0] = value_of(V_ABSENT);
  }
}

static void both_sides(Sema *S, Join *j, const Var *a, const Var *b, Var *out) {
  *out = *b;
  const char *outer = j->conflict;
  j->conflict = NULL;
  size_t first = j->slots.len;
  join_values(S, j, a->value, b->value, &out->value);
  if (j->conflict) {
    j->slots.len = first;
    out->state = VAR_CONFLICT;
    out->types = j->conflict;
    out->at = a->at;
    out->other = b->at;
  }
  j->conflict = outer;
}

static bool join_missing_return(Sema *S, Join *j, const Var *a, const Var *b, Var *out);

/* The returned value, and shared memory, are read after the function. */
static bool outlives_return(const Var *v, uint32_t var) {
  return var == VAR_RETURN || is_shared_name(v->name);
}

static void join_var(Sema *S, Join *j, uint32_t var, const Side sides[2], Var *out) {
  const Var *before = &S->frame->vars.data[var];
  const Var *a = changed(&sides[0], var), *b = changed(&sides[1], var);
  bool in_a = a, in_b = b;
  if (!a) a = before;
  if (!b) b = before;
  bool set_a = a->state == VAR_SET, set_b = b->state == VAR_SET;
  bool gone_a = sides[0].gone && !outlives_return(before, var);
  bool gone_b = sides[1].gone && !outlives_return(before, var);
  if (var == VAR_STATE) both_sides(S, j, a, b, out);
  else if (var == VAR_RETURN && join_missing_return(S, j, a, b, out)) return;
  else if (gone_a && set_b && in_b) only_side(S, j, 1, b, false, out);
  else if (gone_a) *out = *b;
  else if (gone_b && set_a && in_a) only_side(S, j, 0, a, false, out);
  else if (gone_b) *out = *a;
  else if (set_a && set_b) both_sides(S, j, a, b, out);
  else if (var == VAR_RETURN && (set_a || set_b)) only_side(S, j, set_b, set_a ? a : b, false, out);
  else if (set_a || set_b) {
    *out = set_a ? *a : *b;
    out->state = VAR_PARTIAL;
  } else {
    *out = a->state > b->state ? *a : *b;
  }
}

/* A function that returns a value on one side, and nothing at its end on the other: its result is
 * undefined there. */
static bool join_missing_return(Sema *S, Join *j, const Var *a, const Var *b, Var *out) {
  bool no_a = a->value.kind == V_ABSENT, no_b = b->value.kind == V_ABSENT;
  const Var *given = no_a ? b : a;
  if (no_a == no_b || a->state != VAR_SET || b->state != VAR_SET) return false;
  if (given->value.kind == V_NONE || given->value.kind == V_ERROR) {
    *out = *given;
    return true;
  }
  only_side(S, j, no_a, given, true, out);
  j->undefined = true;
  sema_warning(S, given->at, W_SEMA_MISSING_RETURN, S->frame->name);
  return true;
}

/* ---- the ops ---- */

static TileValue *side_value(Sema *S, const JoinSlot *slot, int side, Span at) {
  Value v = slot->sides[side];
  if (v.kind != V_ABSENT) return materialize(S, broadcast_to(S, v, slot->type, at), at);
  return emit1(S, TILE_UNDEF, slot->type, NULL, NULL, NULL, at).u.tile;
}

/* Without a statement on either side, values are chosen, not branched to. */
static bool is_cheap_choice(const Join *j, const Side sides[2]) {
  enum { CHOICES_MAX = 4 };
  if (sides[0].block->first || sides[1].block->first || j->slots.len > CHOICES_MAX) return false;
  if (j->undefined) return false;
  for (size_t i = 0; i < j->slots.len; i++)
    if (j->slots.data[i].type.rank) return false;
  return true;
}

static void select_slots(Sema *S, Join *j, Value cond, Span at) {
  for (size_t i = 0; i < j->slots.len; i++) {
    JoinSlot *slot = &j->slots.data[i];
    int known = slot->sides[0].kind == V_ABSENT ? 1 : slot->sides[1].kind == V_ABSENT ? 0 : -1;
    if (known >= 0) {
      *slot->into = slot->sides[known];
      continue;
    }
    Value args[] = {cond, slot->sides[0], slot->sides[1]};
    *slot->into = emit_elementwise(S, TILE_SELECT, args, 3, (DType)slot->type.dtype, at);
  }
}

static void join_layouts(Sema *S, const JoinSlot *slot, TileValue *result, Span at) {
  Value a = slot->sides[0], b = slot->sides[1];
  if (a.kind == V_TILE && b.kind == V_TILE)
    given_layout_agree(S, a.u.tile, b.u.tile, "the two sides of the branch", at);
  if (b.kind == V_TILE) given_layout_copy(S, b.u.tile, result);
  if (a.kind == V_TILE) given_layout_copy(S, a.u.tile, result);
}

static void build_if(Sema *S, Join *j, Side sides[2], Value cond, Span at) {
  uint32_t n = (uint32_t)j->slots.len;
  TileValue **values = ARENA_ARRAY(S->arena, TileValue *, n);
  Type *types = ARENA_ARRAY(S->arena, Type, n);
  TileBuilder outer = S->b;
  for (int side = 0; side < 2; side++) {
    S->b.block = sides[side].block;
    S->b.before = NULL;
    for (uint32_t i = 0; i < n; i++) {
      values[i] = side_value(S, &j->slots.data[i], side, at);
      types[i] = j->slots.data[i].type;
    }
    emit(S, TILE_YIELD, values, n, NULL, 0, at);
  }
  S->b = outer;
  TileValue *arg = cond.u.tile;
  TileOp *op = emit(S, TILE_IF, &arg, 1, types, n, at);
  op->regions = ARENA_ARRAY(S->arena, TileBlock *, 2);
  op->nregions = 2;
  for (int side = 0; side < 2; side++) {
    op->regions[side] = sides[side].block;
    sides[side].block->owner = op;
  }
  for (uint32_t i = 0; i < n; i++) *j->slots.data[i].into = value_tile(op->results[i]);
  for (uint32_t i = 0; i < n; i++) join_layouts(S, &j->slots.data[i], op->results[i], at);
}

/* The values that a function returns must have one type. */
static void check_return(Sema *S, Span at) {
  Var *ret = &S->frame->vars.data[VAR_RETURN];
  if (ret->state == VAR_CONFLICT) {
    sema_error(S, ret->at, E_SEMA_RETURN_TYPES, S->frame->name, ret->types);
    sema_note(S, ret->other, N_SEMA_OTHER_RETURN);
    frame_set_slot(S, VAR_RETURN, value_error(), at);
  }
}

static void join_sides(Sema *S, Side sides[2], Value cond, bool select, Span at) {
  Join j = {.by_element = S->elementwise > 0};
  VEC(uint32_t) vars = {0};
  for (int side = 0; side < 2; side++)
    for (size_t i = 0; i < sides[side].changes.len; i++) {
      uint32_t var = sides[side].changes.data[i].var;
      if (side == 0 || !changed(&sides[0], var)) vec_push(S->arena, &vars, var);
    }
  Var *results = ARENA_ARRAY(S->arena, Var, vars.len);
  for (size_t i = 0; i < vars.len; i++) join_var(S, &j, vars.data[i], sides, &results[i]);
  if (select || is_cheap_choice(&j, sides)) select_slots(S, &j, cond, at);
  else build_if(S, &j, sides, cond, at);
  for (size_t i = 0; i < vars.len; i++) {
    frame_change(S, vars.data[i], results[i]);
    const Var *v = &S->frame->vars.data[vars.data[i]];
    if (v->state == VAR_SET && v->name[0] != '<') give_name(S, v->value, v->name);
  }
  check_return(S, at);
}

/* `choice`: the choice by element whose side it is; NULL: of a branch. */
static void run_side(Sema *S, BranchSide run, void *ctx, Side *side, const Choice *choice) {
  bool select = choice;
  const Choice *outer_choice = S->choice;
  size_t mark = S->frame->trail.len;
  TileBuilder outer = S->b;
  side->block = select ? S->b.block : tile_block_new(S->fn, NULL);
  S->b.block = side->block;
  S->b.before = NULL;
  if (select) S->choice = choice;
  if (run) run(S, ctx);
  S->choice = outer_choice;
  if (!select) S->b = outer;
  side->gone = state_now(S) == STATE_RETURN; /* values set before a `break` are still read */
  side->changes = frame_undo(S, mark);
}

Value choice_mask(Sema *S, Value mask, Span at) {
  for (const Choice *c = S->choice; c && mask.kind != V_ERROR; c = c->outer) {
    Value taken = c->otherwise ? unary(S, OP_NOT, c->condition, at) : c->condition;
    mask = mask.kind == V_ABSENT ? taken : binary(S, OP_AND, mask, taken, at);
  }
  return mask;
}

Value refuse_tile_condition(Sema *S, Span at, Value cond) {
  sema_error(S, at, E_SEMA_TILE_CONDITION, type_text(S->arena, value_type(cond)));
  sema_hint(S, H_SEMA_TILE_CONDITION);
  return value_error();
}

void branch(Sema *S, Span at, Value cond, BranchSide then_side, BranchSide else_side, void *ctx) {
  bool truth;
  if (cond.kind == V_ERROR) return;
  if (value_truth(cond, &truth)) {
    BranchSide run = truth ? then_side : else_side;
    if (run) run(S, ctx);
    return;
  }
  bool select = value_is_block(cond) || S->combining;
  if (value_is_block(cond) && !S->elementwise) {
    refuse_tile_condition(S, at, cond);
    return;
  }
  cond = as_condition(S, cond, at);
  if (cond.kind != V_TILE || !can_emit(S)) return;
  Side sides[2] = {0};
  Choice yes = {cond, false, S->choice}, no = {cond, true, S->choice};
  run_side(S, then_side, ctx, &sides[0], select ? &yes : NULL);
  run_side(S, else_side, ctx, &sides[1], select ? &no : NULL);
  join_sides(S, sides, cond, select, at);
}
