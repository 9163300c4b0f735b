/* The statements `for` and `while`.
 *
 * A loop is unrolled where its range is static, or known in host code.  Others become
 * ops: a `for` that runs to its end a FOR; a loop that can be left early, by `break` or `return`, a
 * WHILE that carries <state>, and the index of a `for`, as leaves of their own.
 *
 * A run-time loop carries the variables that its body assigns and that are set before it.  Their
 * leaves (value_leaves) become parameters of its blocks; leaves that come back unchanged are taken
 * out again before the op is made.  Constants of tuples and aggregates (None, functions, constexpr
 * fields) stay constants, which the body may not change.  Variables that are first set inside are
 * gone after it.
 *
 *   loop_carry      each variable that the body assigns; loop_add_leaf for values without a name
 *   loop_open       a block begins: variables are its parameters
 *   loop_hand_on    the last block ends: its values are yielded to the next iteration
 *   loop_results    after the op: variables are its results
 */
#include "sema/messages.h"
#include "sema/value/context.h"

typedef struct {
  Name name;
  Value before;         /* V_TILE or V_CONST */
  TileValue *init;      /* the same as an operand of the op */
  TileValue *params[2]; /* by block; NULL: not opened */
  TileValue *next;      /* what the body hands on */
} Leaf;

typedef struct {
  uint32_t var;
  Var before;
  uint32_t first, count; /* leaves */
} Carried;

typedef struct {
  Span at;
  VEC(Leaf) leaves;
  VEC(Carried) vars;
  TileBlock *blocks[2]; /* `for`: the body; `while`: the condition and the body */
  size_t mark;          /* of the trail, before the loop */
} LoopValues;

/* The leaves that change, as the op and its yield have them. */
typedef struct {
  TileValue **inits, **nexts;
  Type *types;
  uint32_t n;
} LoopPassed;

static void loop_bind_index(Sema *S, const Stmt *s, Value index);
static void loop_else(Sema *S, const Stmt *s, bool can_break);

/* ---- values that a loop carries: entering ---- */

static void poison(Sema *S, uint32_t var, Span at) {
  Var *v = &S->frame->vars.data[var];
  const char *what = value_describe(S->arena, v->value);
  frame_forget(S, var, VAR_CONFLICT, at);
  S->frame->vars.data[var].types =
      arena_printf(S->arena, "%s before the loop, something else in it", what);
}

/* its index */
static uint32_t loop_add_leaf(Sema *S, LoopValues *l, Name name, Value v) {
  Leaf leaf = {.name = name, .before = v, .init = materialize(S, v, l->at)};
  vec_push(S->arena, &l->leaves, leaf);
  return (uint32_t)l->leaves.len - 1;
}

/* Numbers that an iteration may change become run-time values; the constexpr fields of aggregates
 * stay constants, and those of layouts and of views of shared memory with the lists in them. */
static void type_numbers(Sema *S, Value *v, Span at) {
  if (value_is_number(*v)) *v = typed(S, *v, at);
  if (v->kind != V_TUPLE) return;
  const Tuple *t = v->u.tuple;
  bool of_library = t->is_aggregate && t->cls->u.cls.module->is_std;
  for (uint32_t i = 0; i < t->len; i++) {
    Value *item = &t->data[i];
    bool constant = t->is_aggregate && value_is_number(*item);
    if (!constant && (!of_library || is_aggregate(*item))) type_numbers(S, item, at);
  }
}

/* The leaves with run-time values, after type_numbers(). */
static void runtime_leaves(Sema *S, Value *v, ValueLeaves *out) {
  ValueLeaves all = {0};
  value_leaves(S->arena, v, &all);
  for (size_t i = 0; i < all.len; i++)
    if (value_is_typed(*all.data[i])) vec_push(S->arena, out, all.data[i]);
}

static void loop_carry(Sema *S, LoopValues *l, Name name) {
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
  type_numbers(S, &c.before.value, l->at);
  runtime_leaves(S, &c.before.value, &leaves);
  if (!leaves.len && c.before.value.kind != V_TUPLE) {
    poison(S, var, l->at);
    return;
  }
  c.count = (uint32_t)leaves.len;
  for (uint32_t i = 0; i < c.count; i++) {
    Value *leaf = leaves.data[i];
    if (S->elementwise) *leaf = broadcast_to(S, *leaf, S->element_shape, l->at);
    loop_add_leaf(S, l, is_shared_name(name) ? pool_name(S->names, "shared") : name, *leaf);
  }
  vec_push(S->arena, &l->vars, c);
}

/* Gives a carried variable the values of its leaves: `values` are those of all leaves. */
static void set_leaves(Sema *S, const Carried *c, const Value *values) {
  ValueLeaves leaves = {0};
  Value v = value_clone(S->arena, c->before.value);
  runtime_leaves(S, &v, &leaves);
  for (uint32_t i = 0; i < c->count; i++) *leaves.data[i] = values[c->first + i];
  frame_set_slot(S, c->var, v, c->before.at);
}

static TileBlock *loop_open(Sema *S, LoopValues *l, int which) {
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
  for (size_t i = 0; i < n; i++) {
    values[i] = value_tile(l->leaves.data[i].params[which] = b->params[i]);
    given_layout_copy(S, l->leaves.data[i].init, b->params[i]);
  }
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
  bool any_rank = S->elementwise > 0;
  if (value_is_number(v) && (want.rank == 0 || any_rank) && want.dtype != DT_PTR &&
      (dtype_is_float((DType)want.dtype) || v.kind != V_FLOAT))
    v = cast_dtype(S, v, (DType)want.dtype, now->at);
  else if (value_is_number(v)) v = typed(S, v, now->at);
  if (v.kind != V_ERROR && any_rank && !value_type(v).rank) v = broadcast_to(S, v, want, now->at);
  if (v.kind == V_ERROR) return leaf->params[0];
  if (!type_eq(value_type(v), want)) {
    changed_type(S, c, now, value_tile(leaf->init), v);
    return leaf->params[0];
  }
  TileValue *next = materialize(S, v, l->at);
  const char *where = arena_printf(S->arena, "'%s' in the loop", now->name);
  given_layout_agree(S, leaf->init, next, where, now->at);
  return next;
}

static TileValue *body_param(const Leaf *leaf) {
  return leaf->params[1] ? leaf->params[1] : leaf->params[0];
}

static bool is_leaf_unchanged(const Leaf *leaf) { return leaf->next == body_param(leaf); }

/* The leaves of `v` that have run-time values in `like`; false, and two values that differ, if one
 * of them has none in `v`, or another one is not that of `like`. */
static bool same_leaves(Sema *S, Value like, Value *v, ValueLeaves *out, Value differ[2]) {
  differ[0] = like;
  differ[1] = *v;
  if (!value_alike(like, *v)) return false;
  ValueLeaves old = {0}, new = {0};
  value_leaves(S->arena, &like, &old);
  value_leaves(S->arena, v, &new);
  for (size_t i = 0; i < old.len; i++) {
    bool carried = value_is_typed(*old.data[i]);
    differ[0] = *old.data[i];
    differ[1] = *new.data[i];
    if (carried ? !value_is_operand(differ[1]) : !value_same(differ[0], differ[1])) return false;
    if (carried) vec_push(S->arena, out, new.data[i]);
  }
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
  Value differ[2];
  if (!same_leaves(S, c->before.value, &now.value, &leaves, differ)) {
    changed_type(S, c, &now, differ[0], differ[1]);
    return;
  }
  for (uint32_t i = 0; i < c->count; i++)
    l->leaves.data[c->first + i].next =
        next_value(S, l, c, &now, &l->leaves.data[c->first + i], *leaves.data[i]);
}

/* Values of variables at the end of the body; a leaf without a variable has its `next` already. */
static void loop_finish_vars(Sema *S, LoopValues *l) {
  for (size_t i = 0; i < l->vars.len; i++) finish_var(S, l, &l->vars.data[i]);
}

/* Takes the parameters of unchanged leaves out of a block; their uses become the initial value. */
static void drop_unchanged(Sema *S, LoopValues *l, int which, uint32_t ahead) {
  TileBlock *b = l->blocks[which];
  uint32_t n = ahead;
  for (size_t i = 0; i < l->leaves.len; i++) {
    const Leaf *leaf = &l->leaves.data[i];
    TileValue *p = leaf->params[which];
    if (is_leaf_unchanged(leaf)) {
      Replacement r = {p, leaf->init};
      vec_push(S->arena, &S->replaced, r);
    } else {
      p->index = n;
      b->params[n++] = p;
    }
  }
  b->nparams = n;
}

/* Yields what the body hands on.  `ahead`: parameters of its block before those of the leaves. */
static LoopPassed loop_hand_on(Sema *S, LoopValues *l, uint32_t ahead) {
  LoopPassed p = {.inits = ARENA_ARRAY(S->arena, TileValue *, l->leaves.len),
                  .nexts = ARENA_ARRAY(S->arena, TileValue *, l->leaves.len),
                  .types = ARENA_ARRAY(S->arena, Type, l->leaves.len)};
  for (size_t i = 0; i < l->leaves.len; i++) {
    const Leaf *leaf = &l->leaves.data[i];
    if (is_leaf_unchanged(leaf)) continue;
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

/* After the loop: `op` gets its blocks, variables its results.  The values of all leaves. */
static const Value *loop_results(Sema *S, LoopValues *l, TileOp *op) {
  Changes inside = frame_undo(S, l->mark);
  attach_blocks(S, l, op);
  restore_vars(S, l, &inside);
  uint32_t n = 0;
  Value *values = ARENA_ARRAY(S->arena, Value, l->leaves.len);
  for (size_t i = 0; i < l->leaves.len; i++) {
    const Leaf *leaf = &l->leaves.data[i];
    values[i] = leaf->before;
    if (is_leaf_unchanged(leaf)) continue;
    op->results[n]->name = leaf->name;
    given_layout_copy(S, leaf->init, op->results[n]);
    values[i] = value_tile(op->results[n++]);
  }
  for (size_t i = 0; i < l->vars.len; i++) set_leaves(S, &l->vars.data[i], values);
  return values;
}

/* ---- loops that are unrolled, and those of host code ---- */

typedef struct {
  const Stmt *s;
  const Value *items;
  uint32_t n, at;
} Unroll;

static void unroll_from(Sema *S, void *ctx) {
  const Unroll *u = ctx;
  const Stmt *s = u->s;
  for (uint32_t i = u->at; i < u->n; i++) {
    if (unrolled_too_much(S, s->span)) return;
    frame_set_slot(S, VAR_STATE, value_int(STATE_RUN), s->span);
    loop_bind_index(S, s, u->items[i]);
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
    if (unrolled_too_much(S, s->span)) return;
    exec_body(S, &s->body, STATE_CONTINUE);
    int state = state_now(S);
    if (state == STATE_RETURN) return;
    settle_state(S, s);
    if (state == STATE_BREAK) return;
  }
}

/* ---- run-time loops ---- */

typedef struct {
  const Stmt *s;
  LoopValues values;
  bool leaves_early, has_return;
  bool by_element;           /* each element of map_elementwise leaves it by itself */
  uint32_t state_leaf;       /* of <state>, if it leaves early */
  TileValue *lo, *hi, *step; /* for */
  const Range *range;
  DType iv_type;
  uint32_t iv_leaf; /* of a `for` that leaves early */
} Loop;

static void loop_start(Sema *S, Loop *l) {
  const Stmt *s = l->s;
  Assigned names;
  assigned_names(S, &s->body, s->kind == ST_WHILE ? s->value : NULL, &names);
  l->values = (LoopValues){.at = s->span, .mark = S->frame->trail.len};
  for (size_t i = 0; i < names.names.len; i++) loop_carry(S, &l->values, names.names.data[i]);
  for (uint32_t i = 0; i < S->shared && !S->elementwise; i++)
    loop_carry(S, &l->values, shared_name(S, i));
  l->leaves_early = names.has_break || names.has_return;
  l->has_return = names.has_return;
  S->frame->loops++;
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

/* The bounds in one dtype, as the index has it; in a loop by element in its shape. */
static bool loop_bounds(Sema *S, Loop *l, const Range *r) {
  Span at = l->s->value->span;
  Value parts[] = {r->start, r->stop, r->step};
  static const char *const names[] = {"start", "end", "step"};
  BigInt step;
  for (int i = 0; i < 3; i++) {
    Value v = parts[i];
    if (i == 2 && value_is_number(v) && value_as_int(v, &step) && step < 0)
      v = const_unary(S, OP_NEG, v, at);
    v = typed(S, v, at);
    if (v.kind == V_ERROR) return false;
    Type t = value_type(v);
    if ((t.rank && !l->by_element) || !dtype_is_int((DType)t.dtype)) {
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
    if (v.kind != V_ERROR && l->by_element) v = broadcast_to(S, v, S->element_shape, at);
    if (v.kind == V_ERROR) return false;
    *to[i] = materialize(S, v, at);
  }
  return true;
}

/* The target of a `for`, which stays a constexpr where it is one. */
static void loop_bind_index(Sema *S, const Stmt *s, Value index) {
  const Expr *target = s->targets.data[0];
  bool host = S->frame->host;
  S->frame->host = true; /* the index of an unrolled loop stays a constexpr */
  assign(S, target, index, target->span);
  S->frame->host = host;
}

static Name loop_index_name(const Stmt *s) {
  const Expr *target = s->targets.data[0];
  return target->kind == EX_NAME ? target->name : NULL;
}

/* The index comes first among the parameters of the body. */
static TileValue *index_param(Sema *S, TileBlock *b, DType type, Name name) {
  TileValue *iv = tile_block_param(S->fn, b, type_scalar(type), name);
  for (uint32_t i = b->nparams - 1; i > 0; i--) {
    b->params[i] = b->params[i - 1];
    b->params[i]->index = i;
  }
  b->params[0] = iv;
  iv->index = 0;
  return iv;
}

static void run_for(Sema *S, Loop *l, TileBuilder outer) {
  const Stmt *s = l->s;
  TileBlock *body = loop_open(S, &l->values, 0);
  loop_bind_index(S, s, value_tile(index_param(S, body, l->iv_type, loop_index_name(s))));
  exec_body(S, &s->body, STATE_CONTINUE);
  loop_finish_vars(S, &l->values);
  LoopPassed p = loop_hand_on(S, &l->values, 1);
  S->b = outer;
  enum { BOUNDS = 3 };
  TileValue **args = ARENA_ARRAY(S->arena, TileValue *, BOUNDS + p.n);
  args[0] = l->lo, args[1] = l->hi, args[2] = l->step;
  for (uint32_t i = 0; i < p.n; i++) args[BOUNDS + i] = p.inits[i];
  TileOp *op = emit(S, TILE_FOR, args, BOUNDS + p.n, p.types, p.n, s->span);
  set_attributes(S, op, l->range);
  loop_results(S, &l->values, op);
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

/* The loop condition on the index: up or down by the sign of the step. */
static Value index_inside(Sema *S, Loop *l, TileValue *iv) {
  Span at = l->s->value->span;
  Value i = value_tile(iv), hi = value_tile(l->hi);
  int64_t step;
  if (tile_const_value(l->step, &step)) return compare(S, step > 0 ? OP_LT : OP_GT, i, hi, at);
  Value up = compare(S, OP_GT, value_tile(l->step), value_int(0), at);
  Value args[] = {up, compare(S, OP_LT, i, hi, at), compare(S, OP_GT, i, hi, at)};
  return emit_elementwise(S, TILE_SELECT, args, 3, DT_I1, at);
}

/* The loop condition; the constant False if its body never runs. */
static Value loop_test(Sema *S, Loop *l) {
  Span at = l->s->value->span;
  Value running = value_bool(true);
  if (l->leaves_early)
    running = compare(S, OP_EQ, value_tile(l->values.leaves.data[l->state_leaf].params[0]),
                      value_int(STATE_RUN), at);
  if (l->range) {
    Value inside = index_inside(S, l, l->values.leaves.data[l->iv_leaf].params[0]);
    return l->leaves_early ? logical(S, true, running, inside, at) : inside;
  }
  Test test = {l->s};
  if (l->s->value->kind == EX_TRUE) return running;
  branch(S, at, running, test_side, stop_side, &test);
  return frame_value(S, VAR_RESULT);
}

/* The condition region; NULL if the body never runs. */
static TileValue *condition_region(Sema *S, Loop *l) {
  const Stmt *s = l->s;
  bool truth;
  loop_open(S, &l->values, 0);
  Value cond = loop_test(S, l);
  if (value_is_block(cond)) cond = refuse_tile_condition(S, s->value->span, cond);
  if (cond.kind == V_ERROR || (value_truth(cond, &truth) && !truth)) return NULL;
  return materialize(S, typed(S, cond, s->span), s->span);
}

/* The value of <state> for the next iteration: `continue` is over, the others stay. */
static void finish_state(Sema *S, Loop *l) {
  if (!l->leaves_early) return;
  Span at = l->s->span;
  Leaf *leaf = &l->values.leaves.data[l->state_leaf];
  Value state = typed(S, frame_value(S, VAR_STATE), at);
  Value run = cast_dtype(S, value_int(STATE_RUN), DT_I32, at);
  Value args[] = {compare(S, OP_EQ, state, value_int(STATE_CONTINUE), at), run, state};
  if (args[0].kind == V_ERROR) leaf->next = leaf->params[1];
  else leaf->next = materialize(S, emit_elementwise(S, TILE_SELECT, args, 3, DT_I32, at), at);
}

static LoopPassed body_region(Sema *S, Loop *l) {
  const Stmt *s = l->s;
  loop_open(S, &l->values, 1);
  Leaf *iv = l->range ? &l->values.leaves.data[l->iv_leaf] : NULL;
  frame_set_slot(S, VAR_STATE, value_int(STATE_RUN), s->span);
  if (iv) loop_bind_index(S, s, value_tile(iv->params[1]));
  exec_body(S, &s->body, STATE_CONTINUE);
  loop_finish_vars(S, &l->values);
  if (iv)
    iv->next = emit1(S, TILE_ADD, iv->init->type, iv->params[1], l->step, NULL, s->span).u.tile;
  finish_state(S, l);
  return loop_hand_on(S, &l->values, 0);
}

/* After the loop a break is over; a return goes on. */
static void settle_after(Sema *S, const Loop *l, Value state) {
  Span at = l->s->span;
  if (!l->has_return || state.kind != V_TILE) return;
  Value args[] = {compare(S, OP_EQ, state, value_int(STATE_RETURN), at), state,
                  cast_dtype(S, value_int(STATE_RUN), DT_I32, at)};
  frame_set_slot(S, VAR_STATE, emit_elementwise(S, TILE_SELECT, args, 3, DT_I32, at), at);
  if (frame_value(S, VAR_RETURN).kind != V_ERROR) frame_set_slot(S, VAR_RETURN, value_none(), at);
}

static void run_while(Sema *S, Loop *l, TileBuilder outer) {
  const Stmt *s = l->s;
  TileValue *test = condition_region(S, l);
  if (!test) {
    S->b = outer;
    frame_undo(S, l->values.mark);
    return;
  }
  TileBuilder test_end = S->b;
  LoopPassed p = body_region(S, l);
  TileValue **passed = ARENA_ARRAY(S->arena, TileValue *, p.n + 1);
  passed[0] = test;
  for (uint32_t i = 0; i < p.n; i++) passed[i + 1] = l->values.blocks[0]->params[i];
  S->b = test_end;
  emit(S, TILE_CONDITION, passed, p.n + 1, NULL, 0, s->value->span);
  S->b = outer;
  TileOp *op = emit(S, TILE_WHILE, p.inits, p.n, p.types, p.n, s->span);
  const Value *after = loop_results(S, &l->values, op);
  if (l->leaves_early) settle_after(S, l, after[l->state_leaf]);
}

/* ---- loops by element, in map_elementwise ----
 *
 * A leaf <live> has the elements that still run the loop.  The op ends when no element does; its
 * body is one side of a choice by element, so that the others keep their values. */

static bool differs(Value v) { return value_is_block(v); }

/* Whether elements leave the loop at different times, as far as can be known before it. */
static bool is_by_element(Sema *S, const Stmt *s, const Range *r) {
  if (!S->elementwise || !S->element_shape.rank) return false;
  if (!r || differs(r->start) || differs(r->stop) || differs(r->step)) return true;
  Assigned names;
  assigned_names(S, &s->body, NULL, &names);
  return names.has_break || names.has_return;
}

/* At the end of the body, for elements that have not left by `break`. */
static void element_test(Sema *S, void *ctx) {
  Loop *l = ctx;
  Test test = {l->s};
  if (l->range)
    frame_set_slot(S, VAR_RESULT, index_inside(S, l, l->values.leaves.data[l->iv_leaf].next),
                   l->s->span);
  else test_side(S, &test);
}

static void element_body(Sema *S, void *ctx) {
  Loop *l = ctx;
  Span at = l->s->span;
  frame_set_slot(S, VAR_STATE, value_int(STATE_RUN), at);
  if (l->range) {
    Leaf *iv = &l->values.leaves.data[l->iv_leaf];
    loop_bind_index(S, l->s, value_tile(iv->params[1]));
    iv->next = emit1(S, TILE_ADD, iv->init->type, iv->params[1], l->step, NULL, at).u.tile;
  }
  exec_body(S, &l->s->body, STATE_CONTINUE);
  Value stays = compare(S, OP_EQ, frame_value(S, VAR_STATE), value_int(STATE_CONTINUE), at);
  branch(S, at, stays, element_test, stop_side, l);
  frame_set_slot(S, VAR_STATE, value_int(STATE_RUN), at);
}

static void element_stop(Sema *S, void *ctx) { stop_side(S, &(Test){((Loop *)ctx)->s}); }

/* i1: whether any element of `live` is true. */
static TileValue *any_element(Sema *S, TileValue *live, Span at) {
  int elementwise = S->elementwise;
  S->elementwise = 0;
  Type flat = {.rank = 1, .shape = {(int32_t)type_numel(live->type)}};
  Value v = reshape_value(S, cast_dtype(S, value_tile(live), DT_I32, at), flat, at);
  v = emit1(S, TILE_REDUCE, type_scalar(DT_I32), v.u.tile, NULL, NULL, at);
  tile_set_int(S->fn, v.u.tile->def, TA_axis, 0);
  tile_set_str(S->fn, v.u.tile->def, TA_combine, "or");
  S->elementwise = elementwise;
  return as_condition(S, v, at).u.tile;
}

/* The elements that begin the loop: false, or an error, if none does. */
static Value first_live(Sema *S, Loop *l) {
  Span at = l->s->value->span;
  Value cond;
  bool truth;
  if (l->range) cond = index_inside(S, l, l->lo);
  else if (eval_condition(S, l->s->value, &cond, &truth)) cond = value_bool(truth);
  if (cond.kind == V_ERROR || (value_truth(cond, &truth) && !truth)) return cond;
  return broadcast_to(S, choice_mask(S, as_condition(S, cond, at), at), S->element_shape, at);
}

static void element_loop(Sema *S, Loop *l) {
  const Stmt *s = l->s;
  Value live = first_live(S, l);
  if (live.kind != V_TILE) return;
  loop_start(S, l);
  TileBuilder outer = S->b;
  if (l->range) l->iv_leaf = loop_add_leaf(S, &l->values, loop_index_name(s), value_tile(l->lo));
  uint32_t live_leaf = loop_add_leaf(S, &l->values, pool_name(S->names, "live"), live);
  loop_open(S, &l->values, 0);
  TileValue *go = any_element(S, l->values.leaves.data[live_leaf].params[0], s->span);
  TileBuilder test_end = S->b;
  loop_open(S, &l->values, 1);
  const Choice *choice = S->choice;
  S->choice = NULL; /* `live` has its condition */
  TileValue *now = l->values.leaves.data[live_leaf].params[1];
  branch(S, s->span, value_tile(now), element_body, element_stop, l);
  S->choice = choice;
  Value next = frame_value(S, VAR_RESULT);
  loop_finish_vars(S, &l->values);
  if (next.kind != V_ERROR) next = broadcast_to(S, next, S->element_shape, s->span);
  l->values.leaves.data[live_leaf].next = next.kind == V_ERROR ? now : next.u.tile;
  LoopPassed p = loop_hand_on(S, &l->values, 0);
  TileValue **passed = ARENA_ARRAY(S->arena, TileValue *, p.n + 1);
  passed[0] = go;
  for (uint32_t i = 0; i < p.n; i++) passed[i + 1] = l->values.blocks[0]->params[i];
  S->b = test_end;
  emit(S, TILE_CONDITION, passed, p.n + 1, NULL, 0, s->value->span);
  S->b = outer;
  TileOp *op = emit(S, TILE_WHILE, p.inits, p.n, p.types, p.n, s->span);
  loop_results(S, &l->values, op);
  S->frame->loops--;
}

/* ---- statements ---- */

/* The `else` of a loop. */
static void loop_else(Sema *S, const Stmt *s, bool can_break) {
  if (!s->orelse.len) return;
  if (can_break) sema_error(S, s->orelse.data[0]->span, E_SEMA_LOOP_ELSE);
  else exec_body(S, &s->orelse, STATE_RUN);
}

static void runtime_loop(Sema *S, const Stmt *s, const Range *r) {
  if (!can_emit(S)) return;
  Loop l = {.s = s, .range = r, .by_element = is_by_element(S, s, r)};
  if (r && !loop_bounds(S, &l, r)) {
    loop_bind_index(S, s, value_error());
    return;
  }
  if (l.by_element) {
    element_loop(S, &l);
    Assigned names;
    assigned_names(S, &s->body, NULL, &names);
    loop_else(S, s, names.has_break || names.has_return);
    return;
  }
  loop_start(S, &l);
  TileBuilder outer = S->b;
  if (l.leaves_early && r)
    l.iv_leaf = loop_add_leaf(S, &l.values, loop_index_name(s), value_tile(l.lo));
  if (l.leaves_early)
    l.state_leaf = loop_add_leaf(S, &l.values, pool_name(S->names, "state"),
                                 typed(S, value_int(STATE_RUN), s->span));
  if (r && !l.leaves_early) run_for(S, &l, outer);
  else run_while(S, &l, outer);
  S->frame->loops--;
  loop_else(S, s, l.leaves_early);
}

static bool range_known(const Range *r) {
  BigInt i;
  return value_as_int(r->start, &i) && value_as_int(r->stop, &i) && value_as_int(r->step, &i);
}

void exec_for(Sema *S, const Stmt *s) {
  Value it = eval(S, s->value);
  bool open = it.kind == V_RANGE && !it.u.range->is_static;
  if (open && !(S->frame->host && range_known(it.u.range))) {
    runtime_loop(S, s, it.u.range);
    return;
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

void exec_while(Sema *S, const Stmt *s) {
  if (S->frame->host) compile_time_while(S, s);
  else runtime_loop(S, s, NULL);
}
