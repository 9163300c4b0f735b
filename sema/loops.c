/* Loops of the tile IR, and loops that are unrolled.
 *
 * A run-time loop carries the variables that its body assigns and that are set before it.  Their
 * values become parameters of its blocks, leaf by leaf (a tuple's items, a block pointer's parts);
 * leaves that come back unchanged are taken out again before the op is made.  Variables that are
 * first set inside are gone after it.
 */
#include <string.h>

#include "lang/messages.h"
#include "sema/context.h"

/* ---- leaves ---- */

typedef struct {
  Name name;
  Value orig; /* before the loop: V_TILE, V_CONST */
  TileValue *init;
  TileValue *params[2];
  TileValue *next; /* what the body hands on */
  Value *into;     /* its place in the copy of the variable's value */
} Leaf;

typedef struct {
  uint32_t var;
  Var before;
  uint32_t first, count; /* leaves */
} Carried;

typedef struct {
  const Stmt *s;
  VEC(Leaf) leaves;
  VEC(Carried) vars;
  TileBlock *blocks[2];
  size_t mark;
  bool leaves_early, has_return;
  uint32_t state_leaf;       /* of <state>, if it leaves early */
  TileValue *lo, *hi, *step; /* for */
  const Range *range;
  DType iv_type;
  uint32_t iv_leaf; /* of a `for` that leaves early */
} Loop;

static bool add_leaf(Sema *S, Loop *l, Name name, Value v, Value *into) {
  if (value_is_number(v)) v = typed(S, v, l->s->span);
  *into = v;
  if (!value_is_typed(v)) return false;
  Leaf leaf = {.name = name, .orig = v, .into = into};
  vec_push(S->arena, &l->leaves, leaf);
  return true;
}

/* A copy of `v` whose leaves can be replaced; false if something in it has no run-time value. */
static bool add_leaves(Sema *S, Loop *l, Name name, Value v, Value *into) {
  if (v.kind == V_TUPLE) {
    *into = value_tuple(S->arena, v.u.tuple->data, v.u.tuple->len);
    into->u.tuple->fields = v.u.tuple->fields;
    into->u.tuple->is_list = v.u.tuple->is_list;
    for (uint32_t i = 0; i < v.u.tuple->len; i++)
      if (!add_leaves(S, l, name, v.u.tuple->data[i], &into->u.tuple->data[i])) return false;
    return true;
  }
  if (v.kind != V_BLOCKPTR) return add_leaf(S, l, name, v, into);
  BlockPtr *b = ARENA_NEW(S->arena, BlockPtr);
  *b = *v.u.block;
  *into = (Value){.kind = V_BLOCKPTR, .u.block = b};
  bool ok = add_leaf(S, l, name, b->base, &b->base);
  for (int i = 0; i < b->type.rank; i++) {
    ok = ok && add_leaf(S, l, name, b->sizes[i], &b->sizes[i]);
    ok = ok && add_leaf(S, l, name, b->strides[i], &b->strides[i]);
    ok = ok && add_leaf(S, l, name, b->offsets[i], &b->offsets[i]);
  }
  return ok;
}

/* The leaves of `v` in the same order, where it has the shape of `like`. */
typedef VEC(Value) Values;

static bool same_leaves(Sema *S, Value like, Value v, Values *out) {
  if (like.kind == V_TUPLE) {
    if (v.kind != V_TUPLE || v.u.tuple->len != like.u.tuple->len) return false;
    for (uint32_t i = 0; i < v.u.tuple->len; i++)
      if (!same_leaves(S, like.u.tuple->data[i], v.u.tuple->data[i], out)) return false;
    return true;
  }
  if (like.kind == V_BLOCKPTR) {
    if (v.kind != V_BLOCKPTR || !blocks_alike(v.u.block, like.u.block)) return false;
    const BlockPtr *b = v.u.block;
    vec_push(S->arena, out, b->base);
    for (int i = 0; i < b->type.rank; i++) {
      vec_push(S->arena, out, b->sizes[i]);
      vec_push(S->arena, out, b->strides[i]);
      vec_push(S->arena, out, b->offsets[i]);
    }
    return true;
  }
  vec_push(S->arena, out, v);
  return value_is_operand(v);
}

/* ---- entering ---- */

static void poison(Sema *S, uint32_t var, Span at) {
  Var *v = &S->frame->vars.data[var];
  const char *what = value_describe(S->arena, v->value);
  frame_forget(S, var, VAR_CONFLICT, at);
  S->frame->vars.data[var].types =
      arena_printf(S->arena, "%s before the loop, something else in it", what);
}

static void carry(Sema *S, Loop *l, Name name) {
  Var *v = frame_var(S->frame, name);
  if (!v || v->state != VAR_SET || v->value.kind == V_ERROR) return;
  uint32_t var = (uint32_t)(v - S->frame->vars.data);
  Carried c = {.var = var, .before = *v, .first = (uint32_t)l->leaves.len};
  Value *copy = ARENA_NEW(S->arena, Value);
  if (!add_leaves(S, l, name, v->value, copy)) {
    l->leaves.len = c.first;
    poison(S, var, l->s->span);
    return;
  }
  c.count = (uint32_t)l->leaves.len - c.first;
  for (uint32_t i = c.first; i < l->leaves.len; i++)
    l->leaves.data[i].init = materialize(S, l->leaves.data[i].orig, l->s->span);
  c.before.value = *copy; /* becomes the value inside, leaf by leaf */
  vec_push(S->arena, &l->vars, c);
}

static uint32_t extra_leaf(Sema *S, Loop *l, const char *name, Value v) {
  Value *place = ARENA_NEW(S->arena, Value);
  add_leaf(S, l, name ? pool_name(S->names, name) : NULL, v, place);
  uint32_t at = (uint32_t)l->leaves.len - 1;
  l->leaves.data[at].init = materialize(S, l->leaves.data[at].orig, l->s->span);
  return at;
}

static void loop_start(Sema *S, Loop *l, const Stmt *s) {
  l->s = s;
  Assigned names;
  assigned_names(S, &s->body, s->kind == ST_WHILE ? s->value : NULL, &names);
  l->mark = S->frame->trail.len;
  for (size_t i = 0; i < names.names.len; i++) carry(S, l, names.names.data[i]);
  l->leaves_early = names.has_break || names.has_return;
  l->has_return = names.has_return;
  S->frame->loops++;
}

/* Opens a block and gives every carried variable its parameter there. */
static void open_block(Sema *S, Loop *l, int which) {
  TileBlock *b = l->blocks[which] = tile_block_new(S->fn, NULL);
  S->b.block = b;
  S->b.before = NULL;
  for (size_t i = 0; i < l->leaves.len; i++) {
    Leaf *leaf = &l->leaves.data[i];
    leaf->params[which] = tile_block_param(S->fn, b, leaf->init->type, leaf->name);
  }
  for (size_t i = 0; i < l->vars.len; i++) {
    Carried *c = &l->vars.data[i];
    Value *copy = ARENA_NEW(S->arena, Value);
    Loop fresh = {.s = l->s};
    add_leaves(S, &fresh, NULL, c->before.value, copy);
    for (uint32_t k = 0; k < c->count; k++)
      *fresh.leaves.data[k].into = value_tile(l->leaves.data[c->first + k].params[which]);
    frame_set_slot(S, c->var, *copy, c->before.at);
  }
}

/* ---- leaving ---- */

static void changed_type(Sema *S, Loop *l, const Carried *c, const Var *now, Value was, Value is) {
  (void)l;
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
static TileValue *next_value(Sema *S, Loop *l, const Carried *c, const Var *now, Leaf *leaf,
                             Value v) {
  Type want = leaf->init->type;
  if (value_is_number(v) && want.rank == 0 && want.dtype != DT_PTR &&
      (dtype_is_float((DType)want.dtype) || v.kind != V_FLOAT))
    v = cast_dtype(S, v, (DType)want.dtype, now->at);
  else if (value_is_number(v)) v = typed(S, v, now->at);
  if (v.kind == V_ERROR) return leaf->params[0];
  if (!type_eq(value_type(v), want)) {
    changed_type(S, l, c, now, value_tile(leaf->init), v);
    return leaf->params[0];
  }
  return materialize(S, v, l->s->span);
}

static void finish_var(Sema *S, Loop *l, Carried *c) {
  const Var now = S->frame->vars.data[c->var];
  for (uint32_t i = 0; i < c->count; i++) {
    Leaf *leaf = &l->leaves.data[c->first + i];
    leaf->next = leaf->params[1] ? leaf->params[1] : leaf->params[0];
  }
  if (now.state != VAR_SET) {
    sema_error(S, now.at, E_SEMA_CONFLICT, now.name, now.types ? now.types : "");
    sema_note(S, now.other, N_SEMA_AND_HERE);
    return;
  }
  if (now.value.kind == V_ERROR) return;
  Values leaves = {0};
  if (!same_leaves(S, c->before.value, now.value, &leaves) || leaves.len != c->count) {
    changed_type(S, l, c, &now, c->before.value, now.value);
    return;
  }
  for (uint32_t i = 0; i < c->count; i++)
    l->leaves.data[c->first + i].next =
        next_value(S, l, c, &now, &l->leaves.data[c->first + i], leaves.data[i]);
}

static TileValue *body_param(const Leaf *leaf) {
  return leaf->params[1] ? leaf->params[1] : leaf->params[0];
}

static bool unchanged(const Leaf *leaf) { return leaf->next == body_param(leaf); }

/* Takes the parameters of unchanged leaves out of a block; their uses become the initial value. */
static void drop_unchanged(Sema *S, Loop *l, int which, uint32_t ahead) {
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

static uint32_t gather(Sema *S, const Loop *l, uint32_t ahead, TileValue ***inits,
                       TileValue ***nexts, Type **types) {
  *inits = ARENA_ARRAY(S->arena, TileValue *, ahead + l->leaves.len);
  *nexts = ARENA_ARRAY(S->arena, TileValue *, l->leaves.len);
  *types = ARENA_ARRAY(S->arena, Type, l->leaves.len);
  uint32_t n = 0;
  for (size_t i = 0; i < l->leaves.len; i++) {
    const Leaf *leaf = &l->leaves.data[i];
    if (unchanged(leaf)) continue;
    (*inits)[ahead + n] = leaf->init;
    (*nexts)[n] = leaf->next;
    (*types)[n++] = leaf->init->type;
  }
  return n;
}

/* After the loop: results for what it carried; what was first set inside is gone. */
static void restore_vars(Sema *S, Loop *l, const Changes *changes) {
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

static void set_results(Sema *S, Loop *l, TileOp *op) {
  uint32_t n = 0;
  Value *values = ARENA_ARRAY(S->arena, Value, l->leaves.len);
  for (size_t i = 0; i < l->leaves.len; i++) {
    const Leaf *leaf = &l->leaves.data[i];
    values[i] = leaf->orig;
    if (unchanged(leaf)) continue;
    op->results[n]->name = leaf->name;
    values[i] = value_tile(op->results[n++]);
  }
  for (size_t i = 0; i < l->vars.len; i++) {
    Carried *c = &l->vars.data[i];
    Value *copy = ARENA_NEW(S->arena, Value);
    Loop fresh = {.s = l->s};
    add_leaves(S, &fresh, NULL, c->before.value, copy);
    for (uint32_t k = 0; k < c->count; k++) *fresh.leaves.data[k].into = values[c->first + k];
    frame_set_slot(S, c->var, *copy, c->before.at);
  }
  if (!l->leaves_early) return;
  /* A break ends here; a return goes on. */
  Value state = values[l->state_leaf];
  Value zero = value_int(STATE_RUN);
  if (l->has_return && state.kind == V_TILE) {
    Span at = l->s->span;
    Value args[] = {compare(S, OP_EQ, state, value_int(STATE_RETURN), at), state,
                    cast_dtype(S, zero, DT_I32, at)};
    frame_set_slot(S, VAR_STATE, emit_elementwise(S, TILE_SELECT, args, 3, DT_I32, at), at);
    if (frame_value(S, VAR_RETURN).kind != V_ERROR) frame_set_slot(S, VAR_RETURN, value_none(), at);
  }
}

/* What <state> hands to the next iteration: `continue` is over, the others stay. */
static void finish_state(Sema *S, Loop *l) {
  if (!l->leaves_early) return;
  Span at = l->s->span;
  Leaf *leaf = &l->leaves.data[l->state_leaf];
  Value state = typed(S, frame_value(S, VAR_STATE), at);
  Value run = cast_dtype(S, value_int(STATE_RUN), DT_I32, at);
  Value args[] = {compare(S, OP_EQ, state, value_int(STATE_CONTINUE), at), run, state};
  if (args[0].kind == V_ERROR) leaf->next = leaf->params[1];
  else leaf->next = materialize(S, emit_elementwise(S, TILE_SELECT, args, 3, DT_I32, at), at);
}

static void attach(TileOp *op, Sema *S, Loop *l, uint32_t n) {
  op->regions = ARENA_ARRAY(S->arena, TileBlock *, n);
  op->nregions = n;
  for (uint32_t i = 0; i < n; i++) {
    op->regions[i] = l->blocks[i];
    l->blocks[i]->owner = op;
  }
}

/* ---- for ---- */

static void set_attributes(Sema *S, TileOp *op, const Range *r) {
  if (r->num_stages >= 0) tile_set_int(S->fn, op, TA_num_stages, r->num_stages);
  if (r->unroll >= 0) tile_set_int(S->fn, op, TA_unroll, r->unroll);
  tile_set_int(S->fn, op, TA_flatten, r->flatten);
  tile_set_int(S->fn, op, TA_warp_specialize, r->warp_specialize);
  tile_set_int(S->fn, op, TA_disallow_acc_multi_buffer, r->disallow_acc_multi_buffer);
  tile_set_int(S->fn, op, TA_disable_licm, r->disable_licm);
}

/* The bounds in one dtype, as the index has it. */
static bool loop_bounds(Sema *S, Loop *l, const Range *r) {
  Span at = l->s->value->span;
  Value parts[] = {r->start, r->stop, r->step};
  static const char *const names[] = {"start", "end", "step"};
  BigInt step;
  for (int i = 0; i < 3; i++) {
    Value v = parts[i];
    if (i == 2 && value_is_number(v) && value_as_int(v, &step) && step < 0) v = value_int(-step);
    v = typed(S, v, at);
    if (v.kind == V_ERROR) return false;
    Type t = value_type(v);
    if (t.rank || !dtype_is_int((DType)t.dtype)) {
      sema_error(S, at, E_SEMA_RANGE_BOUND, names[i], type_text(S->arena, t));
      return false;
    }
    l->iv_type = i == 0
                     ? (DType)t.dtype
                     : common_dtype(S, value_const(l->iv_type, (Scalar){0}), v, false, "range", at);
  }
  if (value_as_int(r->step, &step) && step == 0) {
    sema_error(S, at, E_SEMA_RANGE_STEP);
    return false;
  }
  TileValue **to[] = {&l->lo, &l->hi, &l->step};
  for (int i = 0; i < 3; i++) {
    Value v = cast_dtype(S, typed(S, parts[i], at), l->iv_type, at);
    if (v.kind == V_ERROR) return false;
    *to[i] = materialize(S, v, at);
  }
  return true;
}

static void bind_index(Sema *S, const Stmt *s, Value index) {
  const Expr *target = s->targets.data[0];
  bool host = S->frame->host;
  S->frame->host = true; /* the index of an unrolled loop stays a constexpr */
  assign(S, target, index, target->span);
  S->frame->host = host;
}

static void run_for(Sema *S, Loop *l, TileBuilder outer) {
  const Stmt *s = l->s;
  Name hint = s->targets.data[0]->kind == EX_NAME ? s->targets.data[0]->name : NULL;
  open_block(S, l, 0);
  TileBlock *b = l->blocks[0];
  /* The index comes first. */
  TileValue *iv = tile_block_param(S->fn, b, type_scalar(l->iv_type), hint);
  for (uint32_t i = b->nparams - 1; i > 0; i--) {
    b->params[i] = b->params[i - 1];
    b->params[i]->index = i;
  }
  b->params[0] = iv;
  iv->index = 0;
  bind_index(S, s, value_tile(iv));
  exec_body(S, &s->body, STATE_CONTINUE);
  for (size_t i = 0; i < l->vars.len; i++) finish_var(S, l, &l->vars.data[i]);
  TileValue **args, **nexts;
  Type *types;
  enum { BOUNDS = 3 };
  uint32_t n = gather(S, l, BOUNDS, &args, &nexts, &types);
  emit(S, TILE_YIELD, nexts, n, NULL, 0, s->span);
  drop_unchanged(S, l, 0, 1);
  S->b = outer;
  Changes changes = frame_undo(S, l->mark);
  args[0] = l->lo, args[1] = l->hi, args[2] = l->step;
  TileOp *op = emit(S, TILE_FOR, args, BOUNDS + n, types, n, s->span);
  set_attributes(S, op, l->range);
  attach(op, S, l, 1);
  restore_vars(S, l, &changes);
  set_results(S, l, op);
}

/* ---- while, and for loops that can be left early ---- */

typedef struct {
  const Stmt *s;
} Test;

static void test_side(Sema *S, void *ctx) {
  const Stmt *s = ((Test *)ctx)->s;
  Value cond;
  bool truth;
  if (eval_condition(S, s->value, &cond, &truth)) cond = value_bool(truth);
  frame_set_slot(S, VAR_RESULT, as_condition(S, cond, s->value->span), s->value->span);
}
static void stop_side(Sema *S, void *ctx) {
  Span at = ((Test *)ctx)->s->span;
  frame_set_slot(S, VAR_RESULT, as_condition(S, value_bool(false), at), at);
}

/* Whether the index is still inside: up or down by the sign of the step. */
static Value index_inside(Sema *S, Loop *l, TileValue *iv) {
  Span at = l->s->value->span;
  Value i = value_tile(iv), hi = value_tile(l->hi);
  int64_t step;
  if (tile_const_value(l->step, &step)) return compare(S, step > 0 ? OP_LT : OP_GT, i, hi, at);
  Value up = compare(S, OP_GT, value_tile(l->step), value_int(0), at);
  Value args[] = {up, compare(S, OP_LT, i, hi, at), compare(S, OP_GT, i, hi, at)};
  return emit_elementwise(S, TILE_SELECT, args, 3, DT_I1, at);
}

/* The condition region.  A value of the constant False means that the body never runs. */
static Value loop_test(Sema *S, Loop *l) {
  Span at = l->s->value->span;
  Value running = value_bool(true);
  if (l->leaves_early)
    running = compare(S, OP_EQ, value_tile(l->leaves.data[l->state_leaf].params[0]),
                      value_int(STATE_RUN), at);
  if (l->range) {
    Value inside = index_inside(S, l, l->leaves.data[l->iv_leaf].params[0]);
    return l->leaves_early ? logical(S, true, running, inside, at) : inside;
  }
  Test test = {l->s};
  if (l->s->value->kind == EX_TRUE) return running;
  branch(S, at, running, test_side, stop_side, &test);
  return frame_value(S, VAR_RESULT);
}

static void run_while(Sema *S, Loop *l, TileBuilder outer) {
  const Stmt *s = l->s;
  open_block(S, l, 0);
  Value cond = loop_test(S, l);
  bool truth;
  if (value_is_block(cond)) cond = refuse_tile_condition(S, s->value->span, cond);
  if (cond.kind == V_ERROR || (value_truth(cond, &truth) && !truth)) {
    S->b = outer;
    frame_undo(S, l->mark);
    return;
  }
  TileValue *test = materialize(S, typed(S, cond, s->span), s->span);
  TileBuilder test_end = S->b;
  open_block(S, l, 1);
  frame_set_slot(S, VAR_STATE, value_int(STATE_RUN), s->span);
  if (l->range) bind_index(S, s, value_tile(l->leaves.data[l->iv_leaf].params[1]));
  exec_body(S, &s->body, STATE_CONTINUE);
  for (size_t i = 0; i < l->vars.len; i++) finish_var(S, l, &l->vars.data[i]);
  if (l->range) {
    Leaf *leaf = &l->leaves.data[l->iv_leaf];
    leaf->next =
        emit1(S, TILE_ADD, leaf->init->type, leaf->params[1], l->step, NULL, s->span).u.tile;
  }
  finish_state(S, l);
  TileValue **inits, **nexts;
  Type *types;
  uint32_t n = gather(S, l, 0, &inits, &nexts, &types);
  emit(S, TILE_YIELD, nexts, n, NULL, 0, s->span);
  drop_unchanged(S, l, 0, 0);
  drop_unchanged(S, l, 1, 0);
  TileValue **passed = ARENA_ARRAY(S->arena, TileValue *, n + 1);
  passed[0] = test;
  for (uint32_t i = 0; i < n; i++) passed[i + 1] = l->blocks[0]->params[i];
  S->b = test_end;
  emit(S, TILE_CONDITION, passed, n + 1, NULL, 0, s->value->span);
  S->b = outer;
  Changes changes = frame_undo(S, l->mark);
  TileOp *op = emit(S, TILE_WHILE, inits, n, types, n, s->span);
  attach(op, S, l, 2);
  restore_vars(S, l, &changes);
  set_results(S, l, op);
}

static void loop_else(Sema *S, const Stmt *s, bool can_break) {
  if (!s->orelse.len) return;
  if (can_break) sema_error(S, s->orelse.data[0]->span, E_SEMA_LOOP_ELSE);
  else exec_body(S, &s->orelse, STATE_RUN);
}

static void runtime_loop(Sema *S, const Stmt *s, const Range *r) {
  if (!can_emit(S)) return;
  Loop l = {.range = r};
  if (r) {
    l.s = s;
    if (!loop_bounds(S, &l, r)) {
      bind_index(S, s, value_error());
      return;
    }
  }
  loop_start(S, &l, s);
  TileBuilder outer = S->b;
  if (l.leaves_early && r) {
    Name hint = s->targets.data[0]->kind == EX_NAME ? s->targets.data[0]->name : NULL;
    l.iv_leaf = extra_leaf(S, &l, hint, value_tile(l.lo));
  }
  if (l.leaves_early) l.state_leaf = extra_leaf(S, &l, "state", value_int(STATE_RUN));
  if (r && !l.leaves_early) run_for(S, &l, outer);
  else run_while(S, &l, outer);
  S->frame->loops--;
  loop_else(S, s, l.leaves_early);
}

/* ---- unrolled loops ---- */

typedef struct {
  const Stmt *s;
  const Value *items;
  uint32_t n, at;
} Unroll;

static void unroll_from(Sema *S, void *ctx) {
  const Unroll *u = ctx;
  const Stmt *s = u->s;
  for (uint32_t i = u->at; i < u->n; i++) {
    if (unrolled_too_much(S, s->span)) {
      return;
    }
    frame_set_slot(S, VAR_STATE, value_int(STATE_RUN), s->span);
    bind_index(S, s, u->items[i]);
    exec_body(S, &s->body, STATE_CONTINUE);
    int state = state_now(S);
    if (state == STATE_CONTINUE) continue;
    if (state >= 0 || i + 1 == u->n) return;
    Unroll rest = {s, u->items, u->n, i + 1};
    Value goes_on =
        compare(S, OP_EQ, frame_value(S, VAR_STATE), value_int(STATE_CONTINUE), s->span);
    branch(S, s->span, goes_on, unroll_from, NULL, &rest);
    return;
  }
}

/* After the loop: `continue` and `break` are over, a return goes on. */
static void settle_state(Sema *S, const Stmt *s) {
  int state = state_now(S);
  if (state == STATE_RETURN) return;
  Value now = frame_value(S, VAR_STATE), run = value_const(DT_I32, (Scalar){.i = STATE_RUN});
  if (state < 0) {
    Value args[] = {compare(S, OP_EQ, now, value_int(STATE_RETURN), s->span), now, run};
    Assigned names;
    assigned_names(S, &s->body, NULL, &names);
    frame_set_slot(
        S, VAR_STATE,
        names.has_return ? emit_elementwise(S, TILE_SELECT, args, 3, DT_I32, s->span) : run,
        s->span);
  } else {
    frame_set_slot(S, VAR_STATE, value_int(STATE_RUN), s->span);
  }
}

static void unrolled_loop(Sema *S, const Stmt *s, const Value *items, uint32_t n) {
  Unroll u = {s, items, n, 0};
  unroll_from(S, &u);
  Value last = frame_value(S, VAR_STATE);
  settle_state(S, s);
  BigInt i;
  bool broke = !value_as_int(last, &i) || i == STATE_BREAK;
  if (s->orelse.len && state_now(S) == STATE_RUN && !(value_as_int(last, &i) && i == STATE_BREAK))
    loop_else(S, s, broke);
}

void exec_for(Sema *S, const Stmt *s) {
  Value it = eval(S, s->value);
  if (it.kind == V_RANGE && !it.u.range->is_static) {
    BigInt i;
    const Range *r = it.u.range;
    bool known =
        value_as_int(r->start, &i) && value_as_int(r->stop, &i) && value_as_int(r->step, &i);
    if (!S->frame->host || !known) {
      runtime_loop(S, s, r);
      return;
    }
  }
  const Value *items;
  uint32_t n;
  if (iterate(S, it, s->value->span, &items, &n)) {
    unrolled_loop(S, s, items, n);
    return;
  }
  S->failed = true;
  Value unknown = value_error(); /* one visit of the body, for its own errors */
  unrolled_loop(S, s, &unknown, 1);
}

static void compile_time_while(Sema *S, const Stmt *s) {
  Value cond;
  bool truth;
  for (;;) {
    if (!eval_condition(S, s->value, &cond, &truth)) {
      if (cond.kind != V_ERROR)
        sema_error(S, s->value->span, E_SEMA_NOT_CONSTEXPR, "the condition of this loop",
                   value_describe(S->arena, cond));
      return;
    }
    if (!truth) break;
    if (unrolled_too_much(S, s->span)) {
      return;
    }
    exec_body(S, &s->body, STATE_CONTINUE);
    int state = state_now(S);
    if (state == STATE_RETURN) return;
    settle_state(S, s);
    if (state == STATE_BREAK) return;
  }
}

void exec_while(Sema *S, const Stmt *s) {
  if (S->frame->host) compile_time_while(S, s);
  else runtime_loop(S, s, NULL);
}
