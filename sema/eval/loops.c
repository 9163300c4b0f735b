/* The statements `for` and `while`.
 *
 * A loop is unrolled (unroll.c) where its range is static, or known in host code.  Others become
 * ops: a `for` that runs to its end a FOR; whatever can be left early, by `break` or `return`, a
 * WHILE that carries <state>, and the index of a `for`, as leaves of their own.
 */
#include "sema/eval/loop.h"
#include "sema/messages.h"

typedef struct {
  const Stmt *s;
  LoopValues values;
  bool leaves_early, has_return;
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

/* The bounds in one dtype, as the index has it. */
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

void loop_bind_index(Sema *S, const Stmt *s, Value index) {
  const Expr *target = s->targets.data[0];
  bool host = S->frame->host;
  S->frame->host = true; /* the index of an unrolled loop stays a constexpr */
  assign(S, target, index, target->span);
  S->frame->host = host;
}

static Name index_name(const Stmt *s) {
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
  loop_bind_index(S, s, value_tile(index_param(S, body, l->iv_type, index_name(s))));
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

/* What <state> hands to the next iteration: `continue` is over, the others stay. */
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
static void settle_state(Sema *S, const Loop *l, Value state) {
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
  if (l->leaves_early) settle_state(S, l, after[l->state_leaf]);
}

/* ---- statements ---- */

void loop_else(Sema *S, const Stmt *s, bool can_break) {
  if (!s->orelse.len) return;
  if (can_break) sema_error(S, s->orelse.data[0]->span, E_SEMA_LOOP_ELSE);
  else exec_body(S, &s->orelse, STATE_RUN);
}

static void runtime_loop(Sema *S, const Stmt *s, const Range *r) {
  if (!can_emit(S)) return;
  Loop l = {.s = s, .range = r};
  if (r && !loop_bounds(S, &l, r)) {
    loop_bind_index(S, s, value_error());
    return;
  }
  loop_start(S, &l);
  TileBuilder outer = S->b;
  if (l.leaves_early && r) l.iv_leaf = loop_add_leaf(S, &l.values, index_name(s), value_tile(l.lo));
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
