/* Statements of host code: at the top of a module, where lists grow after they were bound, and
 * `try`. */
#include "sema/value/python_host.h"

/* ---- what changes a list ---- */

static bool is_name_expr(const Expr *e, Name name) {
  return e && e->kind == EX_NAME && e->name == name;
}

/* `name.append(x)`, `name[k] = v`, or a block that holds one; `name += x` in a loop, since outside
 * of one it is a binding like others. */
static bool changes(const Stmt *s, Name name, bool in_loop);

static bool any_changes(const StmtList *list, Name name, bool in_loop) {
  for (uint32_t i = 0; i < list->len; i++)
    if (changes(list->data[i], name, in_loop)) return true;
  return false;
}

static bool changes(const Stmt *s, Name name, bool in_loop) {
  const Expr *e = s->value;
  bool loop = in_loop || s->kind == ST_FOR || s->kind == ST_WHILE;
  switch (s->kind) {
    case ST_EXPR: return e->kind == EX_CALL && e->a->kind == EX_ATTR && is_name_expr(e->a->a, name);
    case ST_ASSIGN:
      return s->targets.data[0]->kind == EX_SUBSCRIPT && is_name_expr(s->targets.data[0]->a, name);
    case ST_AUGASSIGN: return in_loop && is_name_expr(s->targets.data[0], name);
    case ST_FOR:
    case ST_WHILE:
    case ST_IF:
    case ST_TRY:
    case ST_WITH: return any_changes(&s->body, name, loop) || any_changes(&s->orelse, name, loop);
    default: return false;
  }
}

bool host_sees(const Sema *S, const ModuleInfo *m, const Stmt *s) {
  if (!S->host || !S->host->line || m != S->p->main) return true;
  return s->span.line < S->host->line;
}

Value host_settle(Sema *S, ModuleInfo *m, Name name, Value v) {
  bool grows = v.kind == V_DICT || (v.kind == V_TUPLE && v.u.tuple->is_list);
  if (!grows || !m->ast || !any_changes(&m->ast->body, name, false)) return v;
  Func *top = ARENA_NEW(S->arena, Func);
  top->module = m;
  Frame *outer = S->frame;
  S->frame = frame_new(S, top, (Span){0});
  S->frame->name = name;
  frame_set(S, name, v, (Span){0});
  for (uint32_t i = 0; i < m->ast->body.len; i++) {
    StmtList one = {(Stmt **)&m->ast->body.data[i], 1};
    if (changes(one.data[0], name, false) && host_sees(S, m, one.data[0]))
      exec_body(S, &one, STATE_RUN);
  }
  v = frame_var(S->frame, name)->value;
  S->frame = outer;
  return v;
}

/* ---- try ---- */

void host_try(Sema *S, const Stmt *s) {
  bool failed = S->failed;
  const char *why = S->host->why;
  size_t mark = S->frame->trail.len;
  S->failed = false;
  exec_body(S, &s->body, STATE_RUN);
  if (S->failed && S->host->raised) {
    frame_undo(S, mark);
    S->failed = false;
    S->host->why = why;
    exec_body(S, &s->orelse, STATE_RUN);
  }
  S->failed = S->failed || failed;
}
