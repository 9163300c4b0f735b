/* Loop-carried variables, read off its syntax in one visit: the names assigned in its body, and
 * whether it can be left early.  Branches that a compile-time condition rules out do not count. */
#include <string.h>

#include "sema/value/context.h"

typedef struct {
  Sema *S;
  NameMap seen; /* names assigned anywhere inside, in any branch */
  bool prune;   /* second visit: conditions free of such names are decided */
  bool in_loop; /* inside a loop of the body: its breaks are its own */
  Assigned *out;
} Scan;

static void scan_list(Scan *c, const StmtList *list);

static void add_assigned_name(Scan *c, Name name) {
  uint32_t i;
  if (map_get(&c->seen, name, &i)) return;
  map_set(c->S->arena, &c->seen, name, (uint32_t)c->out->names.len);
  vec_push(c->S->arena, &c->out->names, name);
}

static void scan_target(Scan *c, const Expr *e) {
  if (e->kind == EX_NAME) add_assigned_name(c, e->name);
  else if (e->kind == EX_STARRED) scan_target(c, e->a);
  else if (e->kind == EX_TUPLE || e->kind == EX_LIST)
    for (uint32_t i = 0; i < e->items.len; i++) scan_target(c, e->items.data[i]);
}

static void scan_list_of_exprs(Scan *c, const ExprList *list);

/* Assignments inside expressions. */
static void scan_expr(Scan *c, const Expr *e) {
  if (!e) return;
  if (e->kind == EX_WALRUS) add_assigned_name(c, e->name);
  if (e->kind == EX_NAME || e->kind == EX_LAMBDA || e->kind == EX_COMP) return;
  scan_expr(c, e->a);
  scan_expr(c, e->b);
  scan_list_of_exprs(c, &e->items);
  for (uint32_t i = 0; i < e->nargs; i++) scan_expr(c, e->args[i].value);
}

static void scan_list_of_exprs(Scan *c, const ExprList *list) {
  for (uint32_t i = 0; i < list->len; i++) scan_expr(c, list->data[i]);
}

/* Does `e` mention a name that the loop assigns? */
static bool mentions_assigned(const NameMap *seen, const Expr *e) {
  uint32_t i;
  if (!e) return false;
  if (e->kind == EX_NAME) return map_get(seen, e->name, &i);
  if (e->kind == EX_COMP || e->kind == EX_LAMBDA || e->kind == EX_WALRUS) return true;
  if (mentions_assigned(seen, e->a) || mentions_assigned(seen, e->b) ||
      mentions_assigned(seen, e->c))
    return true;
  for (i = 0; i < e->items.len; i++)
    if (mentions_assigned(seen, e->items.data[i])) return true;
  for (i = 0; i < e->nargs; i++)
    if (mentions_assigned(seen, e->args[i].value)) return true;
  return false;
}

static void scan_if(Scan *c, const Stmt *s, const NameMap *assigned) {
  scan_expr(c, s->value);
  bool truth;
  if (c->prune && !mentions_assigned(assigned, s->value) &&
      value_truth(eval_quietly(c->S, s->value), &truth)) {
    scan_list(c, truth ? &s->body : &s->orelse);
    return;
  }
  scan_list(c, &s->body);
  scan_list(c, &s->orelse);
}

static void scan_loop(Scan *c, const Stmt *s) {
  bool outer = c->in_loop;
  scan_expr(c, s->value);
  c->in_loop = true;
  scan_list(c, &s->body);
  c->in_loop = outer;
  scan_list(c, &s->orelse);
}

/* The target of a `for` is set before each use inside: it is not carried on that account. */
static void scan_stmt(Scan *c, const Stmt *s, const NameMap *assigned) {
  switch (s->kind) {
    case ST_ANNASSIGN:
      if (is_constexpr_annotation(s->annotation)) break;
      scan_list_of_exprs(c, &s->targets);
      if (s->value) scan_target(c, s->targets.data[0]);
      scan_expr(c, s->value);
      break;
    case ST_ASSIGN:
    case ST_AUGASSIGN:
      for (uint32_t i = 0; i < s->targets.len; i++) scan_target(c, s->targets.data[i]);
      scan_expr(c, s->value);
      break;
    case ST_EXPR: scan_expr(c, s->value); break;
    case ST_IF: scan_if(c, s, assigned); break;
    case ST_FOR:
    case ST_WHILE: scan_loop(c, s); break;
    case ST_WITH:
    case ST_TRY: scan_list(c, &s->body); break;
    case ST_BREAK: c->out->has_break |= !c->in_loop; break;
    case ST_RETURN: c->out->has_return = true; break;
    default: break;
  }
}

static const NameMap no_names;

static void scan_list(Scan *c, const StmtList *list) {
  const NameMap *assigned = c->prune ? c->out->assigned : &no_names;
  for (uint32_t i = 0; i < list->len; i++) scan_stmt(c, list->data[i], assigned);
}

void assigned_names(Sema *S, const StmtList *body, const Expr *test, Assigned *out) {
  Assigned all = {0};
  Scan first = {.S = S, .out = &all};
  scan_list(&first, body);
  scan_expr(&first, test);
  memset(out, 0, sizeof *out);
  out->assigned = &first.seen;
  Scan second = {.S = S, .out = out, .prune = true};
  scan_list(&second, body);
  scan_expr(&second, test);
  out->assigned = NULL;
}

bool always_leaves(const StmtList *body) {
  if (!body->len) return false;
  const Stmt *s = body->data[body->len - 1];
  switch (s->kind) {
    case ST_RETURN:
    case ST_BREAK:
    case ST_CONTINUE:
    case ST_RAISE: return true;
    case ST_IF: return always_leaves(&s->body) && always_leaves(&s->orelse);
    default: return false;
  }
}
