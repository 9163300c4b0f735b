/* Statements, and how early exits are structured away.
 *
 * Every function has a variable <state>: 0 while its statements run, else how they were left.
 * `return`, `break` and `continue` set it; being a variable, it is joined after a branch like any
 * other.  While it is a constant, it doesn't appear in the tile IR.  When one side of an `if`
 * surely leaves, the rest of the block moves into the other side.  Where only the run can tell, the
 * rest of the block moves under `if state == 0`.
 */
#include <string.h>

#include "parser/messages.h"
#include "sema/messages.h"
#include "sema/value/context.h"
#include "sema/value/python_host.h"

/* ---- assignments: to names, tuples, and, in host code, items and fields ---- */

static Value decay_leaves(Sema *S, Value v, Span at) {
  if (value_is_number(v)) return typed(S, v, at);
  if (v.kind != V_TUPLE || v.u.tuple->is_aggregate) return v;
  Value copy = value_tuple(S->arena, v.u.tuple->data, v.u.tuple->len);
  copy.u.tuple->is_list = v.u.tuple->is_list;
  copy.u.tuple->fields = v.u.tuple->fields;
  copy.u.tuple->cls = v.u.tuple->cls;
  for (uint32_t i = 0; i < copy.u.tuple->len; i++)
    copy.u.tuple->data[i] = decay_leaves(S, copy.u.tuple->data[i], at);
  return copy;
}

Value decay(Sema *S, Value v, Span at) {
  if (S->frame->host) return v;
  return has_leaves(S, v, at) ? decay_leaves(S, v, at) : value_error();
}

/* The user's name for a value; the library's are none. */
void give_name(const Sema *S, Value v, Name name) {
  if (v.kind == V_TILE && !v.u.tile->name && !S->frame->is_std) v.u.tile->name = name;
}

/* `x: tl.constexpr` on a line of its own keeps the next assignment a constexpr. */
static bool declared_constexpr(Sema *S, Name name) {
  for (size_t i = 0; i < S->frame->constexprs.len; i++)
    if (S->frame->constexprs.data[i] == name) return true;
  return false;
}

static void assign_tuple(Sema *S, const Expr *target, Value v, Span at) {
  const Value *items;
  uint32_t n, want = target->items.len, star = want;
  if (v.kind == V_ERROR) {
    for (uint32_t i = 0; i < want; i++) assign(S, target->items.data[i], v, at);
    return;
  }
  for (uint32_t i = 0; i < want; i++)
    if (target->items.data[i]->kind == EX_STARRED) star = i;
  if (v.kind == V_TILE || !iterate(S, v, at, &items, &n)) {
    if (v.kind == V_TILE) sema_error(S, at, E_SEMA_UNPACK_KIND, value_describe(S->arena, v));
    assign_tuple(S, target, value_error(), at);
    return;
  }
  if (star < want ? n < want - 1 : n != want) {
    sema_error(S, at, E_SEMA_UNPACK, want - (star < want), n);
    assign_tuple(S, target, value_error(), at);
    return;
  }
  for (uint32_t i = 0, k = 0; i < want; i++) {
    if (i != star) {
      assign(S, target->items.data[i], items[k++], at);
      continue;
    }
    uint32_t taken = n - (want - 1);
    assign(S, target->items.data[i]->a, value_list(S->arena, items + k, taken), at);
    k += taken;
  }
}

static void assign_item(Sema *S, const Expr *target, Value v, Span at) {
  Value into = eval(S, target->a);
  if (into.kind == V_ERROR) return;
  Value index = eval(S, target->b);
  BigInt i;
  if (S->host && into.kind == V_EXTERN && !strcmp(into.u.s, "sys.modules")) return;
  if (S->frame->host && into.kind == V_DICT) {
    dict_put(S, into.u.dict, index, v, at);
  } else if (S->frame->host && into.kind == V_TUPLE && into.u.tuple->is_list &&
             value_as_int(index, &i) && i >= -(BigInt)into.u.tuple->len &&
             i < (BigInt)into.u.tuple->len) {
    into.u.tuple->data[i < 0 ? i + into.u.tuple->len : i] = v;
  } else {
    sema_error(S, at, E_SEMA_ASSIGN_ITEM, value_describe(S->arena, into));
    if (into.kind == V_TILE)
      sema_hint(S, value_is_pointer(into) ? H_SEMA_POINTER_ITEM : H_SEMA_ASSIGN_ITEM);
  }
}

/* The only field of a tensor that changes is the block of a descriptor; the constexprs of a
 * configuration are a dict. */
static bool can_be(const Sema *S, Value of, uint32_t field, Value v) {
  if (value_is_tensor(S, of)) return field == TENSOR_BLOCK && v.kind == V_TUPLE;
  return field != CONFIG_KWARGS || v.kind == V_DICT || !value_is_config(S, of);
}

/* config.num_warps = 8 */
static void assign_field(Sema *S, const Expr *target, Value v) {
  Value into = eval(S, target->a);
  const Tuple *t = into.kind == V_TUPLE ? into.u.tuple : NULL;
  for (uint32_t i = 0; t && t->fields && i < t->len; i++)
    if (t->fields[i] == target->name && can_be(S, into, i, v)) {
      t->data[i] = v;
      return;
    }
  Text text = text_new(S->arena);
  ast_print_expr(&text, target);
  sema_error(S, target->span, E_SEMA_HOST_STATEMENT, arena_printf(S->arena, "%s = ...", text.data));
}

static void assign_attribute(Sema *S, const Expr *target, Value v) {
  if (S->host) {
    assign_field(S, target, v);
    return;
  }
  Value into = eval(S, target->a);
  if (is_aggregate(into)) assign_object_field(S, into, target->name, v, target->span);
  else if (into.kind != V_ERROR) sema_error(S, target->span, E_SEMA_ASSIGN_TARGET);
}

void assign(Sema *S, const Expr *target, Value v, Span at) {
  switch (target->kind) {
    case EX_NAME:
      if (!declared_constexpr(S, target->name)) v = decay(S, v, at);
      give_name(S, v, target->name);
      frame_set(S, target->name, v, target->span);
      break;
    case EX_TUPLE:
    case EX_LIST: assign_tuple(S, target, v, at); break;
    case EX_SUBSCRIPT: assign_item(S, target, v, target->span); break;
    case EX_ATTR: assign_attribute(S, target, v); break;
    default: sema_error(S, target->span, E_SEMA_ASSIGN_TARGET); break;
  }
}

/* Host code may compute what no list of configurations needs: a name that gets an erroneous value
 * fails where it is used. */
static void exec_assign(Sema *S, const Stmt *s) {
  bool failed = S->failed;
  Value v = eval(S, s->value);
  if (S->host) S->failed = failed;
  for (uint32_t i = 0; i < s->targets.len; i++) assign(S, s->targets.data[i], v, s->value->span);
}

static void exec_augassign(Sema *S, const Stmt *s) {
  const Expr *target = s->targets.data[0];
  Value old = eval(S, target);
  Value v = binary(S, s->op, old, eval(S, s->value), s->span);
  assign(S, target, v, s->span);
}

/* `tl.constexpr`, `constexpr`, or either in quotes. */
bool is_constexpr_annotation(const Expr *e) {
  if (!e) return false;
  if (e->kind == EX_NAME || e->kind == EX_ATTR) return !strcmp(e->name, "constexpr");
  if (e->kind == EX_SUBSCRIPT) return is_constexpr_annotation(e->a);
  return e->kind == EX_STR && strstr(e->name, "constexpr");
}

static void exec_annassign(Sema *S, const Stmt *s) {
  const Expr *target = s->targets.data[0];
  bool is_constexpr = is_constexpr_annotation(s->annotation);
  if (!s->value) {
    if (is_constexpr && target->kind == EX_NAME)
      vec_push(S->arena, &S->frame->constexprs, target->name);
    return;
  }
  Value v = eval(S, s->value);
  if (!is_constexpr || target->kind != EX_NAME) {
    assign(S, target, v, s->value->span);
    return;
  }
  give_name(S, v, target->name);
  frame_set(S, target->name, v, target->span);
}

/* ---- the variable <state> ---- */

int state_now(const Sema *S) {
  BigInt i;
  Value v = frame_value(S, VAR_STATE);
  return value_as_int(v, &i) ? (int)i : -1;
}

static void set_exit_state(Sema *S, int state, Span at) {
  frame_set_slot(S, VAR_STATE, value_int(state), at);
}

/* ---- leaving ---- */

static void exec_return(Sema *S, const Stmt *s) {
  Value v = s->value ? eval(S, s->value) : value_none();
  if (S->language < LANGUAGE_3_9 && !S->frame->is_std) v = decay(S, v, s->span);
  bool kernel = S->frame->func && !S->frame->caller;
  bool has_value = v.kind != V_NONE && v.kind != V_ERROR;
  if (kernel && has_value) sema_error(S, s->span, E_SEMA_KERNEL_RETURN);
  else if (S->frame->loops && has_value) sema_error(S, s->span, E_SEMA_RETURN_IN_LOOP);
  if (has_value && (kernel || S->frame->loops)) v = value_error();
  frame_set_slot(S, VAR_RETURN, v, s->span);
  set_exit_state(S, STATE_RETURN, s->span);
}

static const char *raised_text(Sema *S, const Expr *e) {
  if (e && e->kind == EX_CALL && e->nargs) {
    Value v = eval_quietly(S, e->args[0].value);
    if (v.kind == V_STR) return v.u.s;
  }
  Text t = text_new(S->arena);
  if (e) ast_print_expr(&t, e);
  return t.data;
}

static void exec_raise(Sema *S, const Stmt *s) {
  sema_error(S, s->span, E_SEMA_RAISE, raised_text(S, s->value));
  set_exit_state(S, STATE_RETURN, s->span);
  frame_set_slot(S, VAR_RETURN, value_error(), s->span);
}

static void exec_assert(Sema *S, const Stmt *s) {
  Value cond;
  bool truth;
  if (eval_condition(S, s->value, &cond, &truth)) {
    if (truth) return;
    const char *text = s->msg ? value_text(S->arena, eval_quietly(S, s->msg)) : "";
    sema_error(S, s->span, E_SEMA_ASSERT, *text ? ": " : "", text);
    return;
  }
  if (cond.kind == V_ERROR || !can_emit(S)) return;
  Value msg = s->msg ? eval_quietly(S, s->msg) : value_str("");
  cond = as_condition(S, cond, s->span);
  Value both[] = {cond, S->choice ? choice_mask(S, value_of(V_ABSENT), s->span) : cond};
  if (!broadcast_all(S, both, 2, s->span)) return;
  TileValue *args[] = {materialize(S, both[0], s->span), NULL};
  if (S->choice) args[1] = materialize(S, both[1], s->span);
  TileOp *op = emit(S, TILE_ASSERT, args, 2, NULL, 0, s->span);
  if (msg.kind == V_STR && msg.u.s[0]) tile_set_str(S->fn, op, TA_message, msg.u.s);
}

/* ---- if ---- */

/* The continuation: the rest of a block, then the rest of the blocks around it as far as it
 * was moved here. */
typedef struct Rest {
  const StmtList *list;
  uint32_t at;
  int tail; /* the state at the end of the last block: STATE_RUN if control goes on after it */
  const struct Rest *next;
} Rest;

static void exec_rest(Sema *S, Rest r);

typedef struct {
  const Stmt *s;
  const Rest *rest;
  int rest_side; /* 0 then, 1 else, -1 neither */
} IfParts;

static void if_side(Sema *S, const IfParts *p, int side) {
  const StmtList *body = side ? &p->s->orelse : &p->s->body;
  exec_rest(S, (Rest){body, 0, STATE_RUN, p->rest_side == side ? p->rest : NULL});
}
static void if_then(Sema *S, void *p) { if_side(S, p, 0); }
static void exec_else_side(Sema *S, void *p) { if_side(S, p, 1); }

/* Does a statement here leave the block, on some path? */
static bool may_leave(const StmtList *body) {
  for (uint32_t i = 0; i < body->len; i++) {
    const Stmt *s = body->data[i];
    if (s->kind == ST_RETURN || s->kind == ST_BREAK || s->kind == ST_CONTINUE) return true;
    if ((s->kind == ST_IF || s->kind == ST_FOR || s->kind == ST_WHILE) &&
        (may_leave(&s->body) || may_leave(&s->orelse)))
      return true;
  }
  return false;
}

/* Both sides of an `if` whose condition was wrong, for further errors. */
static void visit_sides(Sema *S, const Stmt *s) {
  for (int side = 0; side < 2; side++) {
    exec_rest(S, (Rest){side ? &s->orelse : &s->body, 0, STATE_RUN, NULL});
    set_exit_state(S, STATE_RUN, s->span);
  }
}

static bool returns_value(const StmtList *body) {
  for (uint32_t i = 0; i < body->len; i++) {
    const Stmt *s = body->data[i];
    if (s->kind == ST_RETURN && s->value && s->value->kind != EX_NONE) return true;
    if (s->kind == ST_IF && (returns_value(&s->body) || returns_value(&s->orelse))) return true;
  }
  return false;
}

/* A helper may reach its end without a value, where a side that is not taken would return one: the
 * type of its result is that side's.  The language knows such a condition at run time only. */
static bool decides_result(const Sema *S, const Stmt *s, Value cond, bool truth) {
  const Func *f = S->frame->func;
  if (cond.kind != V_CONST || S->frame->host || !S->frame->caller || !f || !f->def) return false;
  const StmtList *taken = truth ? &s->body : &s->orelse, *other = truth ? &s->orelse : &s->body;
  return !always_leaves(&f->def->body) && !may_leave(taken) && returns_value(other);
}

/* True if `rest` was done as well. */
static bool exec_if(Sema *S, const Stmt *s, const Rest *rest) {
  Value cond;
  bool truth;
  bool known = eval_condition(S, s->value, &cond, &truth);
  if (known && decides_result(S, s, cond, truth) && can_emit(S)) {
    cond = value_tile(materialize(S, as_condition(S, cond, s->value->span), s->value->span));
    known = false;
  }
  if (known) {
    const StmtList *body = truth ? &s->body : &s->orelse;
    bool moves = may_leave(body);
    exec_rest(S, (Rest){body, 0, STATE_RUN, moves ? rest : NULL});
    return moves;
  }
  if (cond.kind == V_ERROR) {
    S->failed = true;
    visit_sides(S, s);
    return false;
  }
  bool then_leaves = always_leaves(&s->body), else_leaves = always_leaves(&s->orelse);
  IfParts parts = {s, rest, then_leaves == else_leaves ? -1 : then_leaves};
  branch(S, s->value->span, cond, if_then, exec_else_side, &parts);
  return parts.rest_side >= 0;
}

/* ---- blocks ---- */

static void exec_import(Sema *S, const Stmt *s) {
  for (uint32_t i = 0; i < s->nimports; i++)
    frame_set(S, s->imports[i].as, module_import(S, S->frame->module, s, &s->imports[i]), s->span);
}

static void exec_def(Sema *S, const Stmt *s) {
  Value f = func_of(S, s->func, S->frame->module);
  f.u.func->closure = S->frame;
  f.u.func->jit = f.u.func->jit || !S->frame->host;
  frame_set(S, s->func->name, f, s->span);
}

/* Reports an unsupported statement: of a host function at its call, of a kernel at the
 * statement. */
static void unsupported_statement(Sema *S, const Stmt *s, const char *what) {
  const Frame *f = S->frame;
  if (!f->host || !f->func) {
    sema_error(S, s->span, E_PARSE_UNSUPPORTED, what);
    return;
  }
  if (S->host) sema_error(S, s->span, E_SEMA_HOST_STATEMENT, what);
  S->frame = f->caller;
  sema_error(S, f->call, E_SEMA_HOST_CODE, f->name);
  sema_note(S, s->span, N_SEMA_HOST_CODE, what);
  S->frame = (Frame *)f;
  frame_set_slot(S, VAR_RETURN, value_error(), s->span);
  set_exit_state(S, STATE_RETURN, s->span);
}

/* A kernel ends at such a block: later statements may need names that the body sets. */
static void unsupported_block(Sema *S, const Stmt *s, const char *what) {
  bool told = S->frame->host && S->frame->func;
  unsupported_statement(S, s, what);
  if (told) return;
  if (s->kind == ST_TRY && !S->muted) sema_hint(S, H_SEMA_NO_TRY);
  frame_set_slot(S, VAR_RETURN, value_error(), s->span);
  set_exit_state(S, STATE_RETURN, s->span);
}

/* Lines that the parser rejected were reported there, at the same line. */
static bool has_error(const Sema *S, Span at) {
  for (size_t i = 0; i < diag_count(S->p->diags); i++) {
    const Diag *d = diag_get(S->p->diags, i);
    bool here = d->span.file == at.file && d->span.line == at.line;
    if (here && d->severity == DIAG_ERROR) return true;
  }
  return false;
}

/* After a syntax error the function ends: what follows may need what was not understood. */
static void exec_skipped(Sema *S, const Stmt *s) {
  if (!has_error(S, s->span)) {
    unsupported_statement(S, s, "this statement");
    return;
  }
  S->failed = true;
  frame_set_slot(S, VAR_RETURN, value_error(), s->span);
  set_exit_state(S, STATE_RETURN, s->span);
}

/* A call statement in host code has no effect if its module's file is missing. */
static void exec_expr(Sema *S, const Expr *e) {
  if (!S->host) {
    eval(S, e);
    return;
  }
  const char *why = S->host->why;
  if (e->kind == EX_CALL) {
    Value fn = eval_quietly(S, e->a);
    bool other = fn.kind == V_EXTERN || (fn.kind == V_ERROR && e->a->kind == EX_ATTR);
    if (other) {
      S->host->why = why;
      return;
    }
  }
  if (eval(S, e).kind == V_ERROR) S->failed = true;
}

static void exec(Sema *S, const Stmt *s) {
  switch (s->kind) {
    case ST_EXPR:
      if (s->value->kind != EX_STR) exec_expr(S, s->value);
      break;
    case ST_ASSIGN: exec_assign(S, s); break;
    case ST_AUGASSIGN: exec_augassign(S, s); break;
    case ST_ANNASSIGN: exec_annassign(S, s); break;
    case ST_RETURN: exec_return(S, s); break;
    case ST_FOR: exec_for(S, s); break;
    case ST_WHILE: exec_while(S, s); break;
    case ST_BREAK: set_exit_state(S, STATE_BREAK, s->span); break;
    case ST_CONTINUE: set_exit_state(S, STATE_CONTINUE, s->span); break;
    case ST_ASSERT: exec_assert(S, s); break;
    case ST_RAISE: exec_raise(S, s); break;
    case ST_IMPORT:
    case ST_FROM: exec_import(S, s); break;
    case ST_FUNC: exec_def(S, s); break;
    case ST_WITH:
      if (S->host) exec_body(S, &s->body, STATE_RUN);
      else unsupported_block(S, s, "with");
      break;
    case ST_TRY:
      if (S->host) host_try(S, s);
      else unsupported_block(S, s, "try");
      break;
    case ST_CLASS:
      if (S->frame->host)
        frame_set(S, s->name, class_value(s, S->frame->module, S->frame), s->span);
      else unsupported_statement(S, s, "class");
      break;
    case ST_GLOBAL: unsupported_statement(S, s, "global"); break;
    case ST_DEL:
      if (!S->host) unsupported_statement(S, s, "del");
      break;
    case ST_SKIPPED: exec_skipped(S, s); break;
    default: break;
  }
}

static int last_tail(const Rest *r) {
  while (r->next) r = r->next;
  return r->tail;
}

static Span rest_place(const Rest *r) {
  uint32_t at = r->at < r->list->len ? r->at : r->list->len - 1;
  return r->list->len ? r->list->data[at]->span : (Span){0};
}

static void guarded_rest(Sema *S, void *ctx) {
  const Rest *r = ctx;
  set_exit_state(S, STATE_RUN, rest_place(r));
  exec_rest(S, *r);
}

/* At the end of a function it makes no difference any more how it was left. */
static void already_left(Sema *S, void *ctx) {
  const Rest *r = ctx;
  if (last_tail(r) == STATE_RETURN) set_exit_state(S, STATE_RETURN, rest_place(r));
}

static void end_of_block(Sema *S, int tail, Span at) {
  if (tail == STATE_RUN) return;
  if (tail == STATE_RETURN) frame_set_slot(S, VAR_RETURN, value_of(V_ABSENT), at);
  set_exit_state(S, tail, at);
}

/* At the end of a block that may have been left: is there anything to do for who is still here? */
static bool nothing_follows(const Sema *S, const Rest *r) {
  uint8_t returned = frame_value(S, VAR_RETURN).kind;
  if (r->at < r->list->len || r->next) return false;
  return r->tail == STATE_RUN ||
         (r->tail == STATE_RETURN && (returned == V_NONE || returned == V_ABSENT));
}

static bool too_deep(Sema *S, Span at) {
  if (S->depth < EVAL_DEPTH_MAX) return false;
  if (!S->out_of_depth) sema_error(S, at, E_SEMA_DEPTH, EVAL_DEPTH_MAX);
  S->out_of_depth = S->out_of_depth || !S->quiet;
  S->failed = true;
  set_exit_state(S, STATE_RETURN, at);
  return true;
}

/* An error of host code is an exception: what follows it, up to a `try`, does not run. */
static bool raised(Sema *S, Span at) {
  if (!S->host || !S->failed) return false;
  frame_set_slot(S, VAR_RETURN, value_error(), at);
  set_exit_state(S, STATE_RETURN, at);
  return true;
}

static void exec_rest(Sema *S, Rest r) {
  if (too_deep(S, rest_place(&r))) return;
  S->depth++;
  for (;;) {
    int state = state_now(S);
    Span at = rest_place(&r);
    if (state > STATE_RUN || raised(S, at)) break;
    if (state < 0) {
      if (nothing_follows(S, &r)) break;
      Value running = compare(S, OP_EQ, frame_value(S, VAR_STATE), value_int(STATE_RUN), at);
      branch(S, at, running, guarded_rest, already_left, &r);
      break;
    }
    if (r.at == r.list->len) {
      if (!r.next) {
        end_of_block(S, r.tail, at);
        break;
      }
      r = *r.next;
      continue;
    }
    const Stmt *s = r.list->data[r.at++];
    if (s->kind != ST_IF) exec(S, s);
    else if (exec_if(S, s, &r)) break;
  }
  S->depth--;
}

void exec_body(Sema *S, const StmtList *body, int tail_state) {
  exec_rest(S, (Rest){body, 0, tail_state, NULL});
}
