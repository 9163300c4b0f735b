/* The values that run-time loops carry: see loop.h. */
#include "sema/eval/loop.h"
#include "sema/messages.h"

/* ---- entering ---- */

static void poison(Sema *S, uint32_t var, Span at) {
  Var *v = &S->frame->vars.data[var];
  const char *what = value_describe(S->arena, v->value);
  frame_forget(S, var, VAR_CONFLICT, at);
  S->frame->vars.data[var].types =
      arena_printf(S->arena, "%s before the loop, something else in it", what);
}

uint32_t loop_add_leaf(Sema *S, LoopValues *l, Name name, Value v) {
  Leaf leaf = {.name = name, .before = v, .init = materialize(S, v, l->at)};
  vec_push(S->arena, &l->leaves, leaf);
  return (uint32_t)l->leaves.len - 1;
}

/* Gives every leaf a type; false if one can't have any: it has no run-time value. */
static bool type_leaves(Sema *S, const ValueLeaves *leaves, Span at) {
  for (size_t i = 0; i < leaves->len; i++) {
    Value *v = leaves->data[i];
    if (value_is_number(*v)) *v = typed(S, *v, at);
    if (!value_is_typed(*v)) return false;
  }
  return true;
}

void loop_carry(Sema *S, LoopValues *l, Name name) {
  Var *v = frame_var(S->frame, name);
  if (!v || v->state != VAR_SET || v->value.kind == V_ERROR) return;
  uint32_t var = (uint32_t)(v - S->frame->vars.data);
  Carried c = {.var = var, .before = *v, .first = (uint32_t)l->leaves.len};
  ValueLeaves leaves = {0};
  if (!has_leaves(S, v->value, l->at)) {
    v->value = value_error();
    return;
  }
  c.before.value = value_clone(S->arena, v->value);
  value_leaves(S->arena, &c.before.value, &leaves);
  if (!type_leaves(S, &leaves, l->at)) {
    poison(S, var, l->at);
    return;
  }
  c.count = (uint32_t)leaves.len;
  for (uint32_t i = 0; i < c.count; i++) loop_add_leaf(S, l, name, *leaves.data[i]);
  vec_push(S->arena, &l->vars, c);
}

/* Gives a carried variable the values of its leaves: `values` are those of all leaves. */
static void set_leaves(Sema *S, const Carried *c, const Value *values) {
  ValueLeaves leaves = {0};
  Value v = value_clone(S->arena, c->before.value);
  value_leaves(S->arena, &v, &leaves);
  for (uint32_t i = 0; i < c->count; i++) *leaves.data[i] = values[c->first + i];
  frame_set_slot(S, c->var, v, c->before.at);
}

TileBlock *loop_open(Sema *S, LoopValues *l, int which) {
  TileBlock *b = l->blocks[which] = tile_block_new(S->fn, NULL);
  S->b.block = b;
  S->b.before = NULL;
  size_t n = l->leaves.len;
  Value *values = ARENA_ARRAY(S->arena, Value, n);
  Type *types = ARENA_ARRAY(S->arena, Type, n);
  Name *names = ARENA_ARRAY(S->arena, Name, n);
  for (size_t i = 0; i < n; i++) {
    types[i] = l->leaves.data[i].init->type;
    names[i] = l->leaves.data[i].name;
  }
  tile_block_params(S->fn, b, types, names, (uint32_t)n);
  for (size_t i = 0; i < n; i++)
    values[i] = value_tile(l->leaves.data[i].params[which] = b->params[i]);
  for (size_t i = 0; i < l->vars.len; i++) set_leaves(S, &l->vars.data[i], values);
  return b;
}

/* ---- the end of the body ---- */

static void changed_type(Sema *S, const Carried *c, const Var *now, Value was, Value is) {
  sema_error(S, now->at, E_SEMA_LOOP_TYPE, now->name, value_describe(S->arena, was),
             value_describe(S->arena, is));
  sema_note(S, c->before.at, N_SEMA_SET_HERE, now->name);
  bool both = value_is_typed(was) && value_is_typed(is);
  Type a = both ? value_type(was) : (Type){0}, b = both ? value_type(is) : (Type){0};
  if (both && dtype_is_int((DType)a.dtype) && dtype_is_float((DType)b.dtype))
    sema_hint(S, H_SEMA_LOOP_FLOAT, now->name);
  else if (both && !a.rank && b.rank)
    sema_hint(S, H_SEMA_LOOP_SHAPE, now->name, type_text(S->arena, b));
}

/* The value that a leaf has at the end of the body. */
static TileValue *next_value(Sema *S, LoopValues *l, const Carried *c, const Var *now, Leaf *leaf,
                             Value v) {
  Type want = leaf->init->type;
  if (value_is_number(v) && want.rank == 0 && want.dtype != DT_PTR &&
      (dtype_is_float((DType)want.dtype) || v.kind != V_FLOAT))
    v = cast_dtype(S, v, (DType)want.dtype, now->at);
  else if (value_is_number(v)) v = typed(S, v, now->at);
  if (v.kind == V_ERROR) return leaf->params[0];
  if (!type_eq(value_type(v), want)) {
    changed_type(S, c, now, value_tile(leaf->init), v);
    return leaf->params[0];
  }
  return materialize(S, v, l->at);
}

static TileValue *body_param(const Leaf *leaf) {
  return leaf->params[1] ? leaf->params[1] : leaf->params[0];
}

static bool unchanged(const Leaf *leaf) { return leaf->next == body_param(leaf); }

/* The leaves of `v` where they are those of `like` and each has a run-time value. */
static bool same_leaves(Sema *S, Value like, Value *v, ValueLeaves *out) {
  if (!value_alike(like, *v)) return false;
  value_leaves(S->arena, v, out);
  for (size_t i = 0; i < out->len; i++)
    if (!value_is_operand(*out->data[i])) return false;
  return true;
}

static void finish_var(Sema *S, LoopValues *l, Carried *c) {
  Var now = S->frame->vars.data[c->var];
  for (uint32_t i = 0; i < c->count; i++) {
    Leaf *leaf = &l->leaves.data[c->first + i];
    leaf->next = body_param(leaf);
  }
  if (now.state != VAR_SET) {
    sema_error(S, now.at, E_SEMA_CONFLICT, now.name, now.types ? now.types : "");
    sema_note(S, now.other, N_SEMA_AND_HERE);
    return;
  }
  if (now.value.kind == V_ERROR) return;
  ValueLeaves leaves = {0};
  if (!same_leaves(S, c->before.value, &now.value, &leaves)) {
    changed_type(S, c, &now, c->before.value, now.value);
    return;
  }
  for (uint32_t i = 0; i < c->count; i++)
    l->leaves.data[c->first + i].next =
        next_value(S, l, c, &now, &l->leaves.data[c->first + i], *leaves.data[i]);
}

void loop_finish_vars(Sema *S, LoopValues *l) {
  for (size_t i = 0; i < l->vars.len; i++) finish_var(S, l, &l->vars.data[i]);
}

/* Takes the parameters of unchanged leaves out of a block; their uses become the initial value. */
static void drop_unchanged(Sema *S, LoopValues *l, int which, uint32_t ahead) {
  TileBlock *b = l->blocks[which];
  uint32_t n = ahead;
  for (size_t i = 0; i < l->leaves.len; i++) {
    const Leaf *leaf = &l->leaves.data[i];
    TileValue *p = leaf->params[which];
    if (unchanged(leaf)) {
      Replacement r = {p, leaf->init};
      vec_push(S->arena, &S->replaced, r);
    } else {
      p->index = n;
      b->params[n++] = p;
    }
  }
  b->nparams = n;
}

LoopPassed loop_hand_on(Sema *S, LoopValues *l, uint32_t ahead) {
  LoopPassed p = {.inits = ARENA_ARRAY(S->arena, TileValue *, l->leaves.len),
                  .nexts = ARENA_ARRAY(S->arena, TileValue *, l->leaves.len),
                  .types = ARENA_ARRAY(S->arena, Type, l->leaves.len)};
  for (size_t i = 0; i < l->leaves.len; i++) {
    const Leaf *leaf = &l->leaves.data[i];
    if (unchanged(leaf)) continue;
    p.inits[p.n] = leaf->init;
    p.nexts[p.n] = leaf->next;
    p.types[p.n++] = leaf->init->type;
  }
  emit(S, TILE_YIELD, p.nexts, p.n, NULL, 0, l->at);
  for (int which = 0; which < 2; which++)
    if (l->blocks[which]) drop_unchanged(S, l, which, ahead);
  return p;
}

/* ---- after the loop ---- */

/* Variables first set inside the loop are undefined after it. */
static void restore_vars(Sema *S, LoopValues *l, const Changes *changes) {
  for (size_t i = 0; i < changes->len; i++) {
    const Change *c = &changes->data[i];
    const Var *before = &S->frame->vars.data[c->var];
    if (c->var == VAR_RETURN && c->after.value.kind == V_ERROR)
      frame_set_slot(S, VAR_RETURN, value_error(), c->after.at);
    if (c->var < VAR_FIRST_NAMED || c->after.state == VAR_UNSET) continue;
    if (before->state == VAR_SET && c->after.state == VAR_SET &&
        value_same(before->value, c->after.value))
      continue;
    bool carried = false;
    for (size_t k = 0; k < l->vars.len && !carried; k++) carried = l->vars.data[k].var == c->var;
    if (carried) continue;
    const char *types = c->after.types;
    Span at = c->after.at;
    frame_forget(S, c->var, c->after.state == VAR_CONFLICT ? VAR_CONFLICT : VAR_LOOP, at);
    S->frame->vars.data[c->var].at = at;
    S->frame->vars.data[c->var].types = types;
  }
}

static void attach_blocks(Sema *S, LoopValues *l, TileOp *op) {
  op->nregions = l->blocks[1] ? 2 : 1;
  op->regions = ARENA_ARRAY(S->arena, TileBlock *, op->nregions);
  for (uint32_t i = 0; i < op->nregions; i++) {
    op->regions[i] = l->blocks[i];
    l->blocks[i]->owner = op;
  }
}

const Value *loop_results(Sema *S, LoopValues *l, TileOp *op) {
  Changes inside = frame_undo(S, l->mark);
  attach_blocks(S, l, op);
  restore_vars(S, l, &inside);
  uint32_t n = 0;
  Value *values = ARENA_ARRAY(S->arena, Value, l->leaves.len);
  for (size_t i = 0; i < l->leaves.len; i++) {
    const Leaf *leaf = &l->leaves.data[i];
    values[i] = leaf->before;
    if (unchanged(leaf)) continue;
    op->results[n]->name = leaf->name;
    values[i] = value_tile(op->results[n++]);
  }
  for (size_t i = 0; i < l->vars.len; i++) set_leaves(S, &l->vars.data[i], values);
  return values;
}
