/* Loops that are unrolled, and those of host code: their bodies are evaluated again and again. */
#include "sema/eval/loop.h"
#include "sema/messages.h"

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

void unrolled_loop(Sema *S, const Stmt *s, const Value *items, uint32_t n) {
  Unroll u = {s, items, n, 0};
  unroll_from(S, &u);
  Value last = frame_value(S, VAR_STATE);
  settle_state(S, s);
  BigInt i;
  bool broke = !value_as_int(last, &i) || i == STATE_BREAK;
  if (s->orelse.len && state_now(S) == STATE_RUN && !(value_as_int(last, &i) && i == STATE_BREAK))
    loop_else(S, s, broke);
}

void compile_time_while(Sema *S, const Stmt *s) {
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
