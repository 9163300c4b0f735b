#include "parser/ast_build.h"

#include <stdlib.h>
#include <string.h>

#include "parser/messages.h"
#include "parser/syntax.h"

static Loc loc_of(Span at) { return (Loc){0, at.len, at.line, at.col}; }

/* ---- expressions ---- */

Expr *build_expr(Parser *p, ExprKind kind, Loc at) {
  Expr *e = ARENA_NEW(p->arena, Expr);
  e->kind = kind;
  e->span = parse_span(p, at);
  e->depth = 1;
  return e;
}

/* `e` holds `child`. */
static void deepen(Expr *e, const Expr *child) {
  if (child && child->depth >= e->depth) e->depth = (uint16_t)(child->depth + 1);
}

static Expr *check_depth(Parser *p, Loc at, Expr *e) {
  if (e->depth <= AST_DEPTH_MAX) return e;
  syntax_too_deep(p, at);
  return NULL;
}

Expr *build_node(Parser *p, ExprKind kind, Loc at, Expr *a, Expr *b, Expr *c) {
  Expr *e = build_expr(p, kind, at);
  e->a = a;
  e->b = b;
  e->c = c;
  deepen(e, a);
  deepen(e, b);
  deepen(e, c);
  return check_depth(p, at, e);
}

Expr *build_list(Parser *p, ExprKind kind, Loc at, ExprList items) {
  Expr *e = build_expr(p, kind, at);
  e->items = items;
  for (uint32_t i = 0; i < items.len; i++) deepen(e, items.data[i]);
  return check_depth(p, at, e);
}

Expr *build_named(Parser *p, ExprKind kind, Loc at, Name name, Expr *a) {
  if (kind == EX_AWAIT && p->loud) {
    PARSE_ERROR(p, at, E_PARSE_UNSUPPORTED, name);
    return NULL;
  }
  Expr *e = build_node(p, kind, at, a, NULL, NULL);
  if (e) e->name = name;
  return e;
}

Expr *build_unary(Parser *p, Loc at, AstOp op, Expr *a) {
  Expr *e = build_node(p, EX_UNARY, at, a, NULL, NULL);
  if (e) e->op = op;
  return e;
}

Expr *build_binary(Parser *p, Loc at, AstOp op, Expr *a, Expr *b) {
  Expr *e = build_node(p, EX_BINARY, at, a, b, NULL);
  if (e) e->op = op;
  return e;
}

/* Adds `b` to the items of `e`, whose place grows to `at`. */
static Expr *extend_operands(Parser *p, Loc at, Expr *e, Expr *b) {
  list_push(p->arena, &e->items, b);
  e->span = parse_span(p, at);
  deepen(e, b);
  return check_depth(p, at, e);
}

static Expr *build_pair(Parser *p, ExprKind kind, Loc at, Expr *a, Expr *b) {
  ExprList items = {0};
  list_push(p->arena, &items, a);
  list_push(p->arena, &items, b);
  return build_list(p, kind, at, items);
}

Expr *build_logic(Parser *p, ExprKind kind, Loc at, Expr *a, Expr *b) {
  if (a->kind == kind && !a->paren) return extend_operands(p, at, a, b);
  return build_pair(p, kind, at, a, b);
}

Expr *build_compare(Parser *p, Loc at, AstOp op, Expr *a, Expr *b) {
  bool chain = a->kind == EX_COMPARE && !a->paren;
  Expr *e = chain ? extend_operands(p, at, a, b) : build_pair(p, EX_COMPARE, at, a, b);
  if (!e) return NULL;
  struct {
    AstOp *data;
    uint32_t len;
  } ops = {e->ops, e->items.len - 2};
  list_push(p->arena, &ops, op);
  e->ops = ops.data;
  return e;
}

static bool check_call_args(Parser *p, const ArgList *args) {
  bool named = false, unpacked = false;
  for (uint32_t i = 0; i < args->len; i++) {
    const CallArg *a = &args->data[i];
    bool starred = a->value->kind == EX_STARRED && !a->name;
    if (a->name) {
      named = true;
      if (!strcmp(a->name, "**")) unpacked = true;
    } else if (starred ? unpacked : named) {
      PARSE_ERROR(p, loc_of(a->span), E_PARSE_ARG_ORDER);
      return false;
    }
  }
  return true;
}

Expr *build_call(Parser *p, Loc at, Expr *callee, ArgList args) {
  if (!check_call_args(p, &args)) return NULL;
  Expr *e = build_expr(p, EX_CALL, at);
  e->a = callee;
  e->args = args.data;
  e->nargs = args.len;
  deepen(e, callee);
  for (uint32_t i = 0; i < args.len; i++) deepen(e, args.data[i].value);
  return check_depth(p, at, e);
}

Expr *build_comp(Parser *p, Loc at, char bracket, Expr *a, Expr *b, CompList fors) {
  Expr *e = build_expr(p, EX_COMP, at);
  e->a = a;
  e->b = b;
  e->bracket = bracket;
  e->fors = fors.data;
  e->nfors = fors.len;
  deepen(e, a);
  deepen(e, b);
  for (uint32_t i = 0; i < fors.len; i++) {
    const CompFor *f = &fors.data[i];
    deepen(e, f->target);
    deepen(e, f->iter);
    for (uint32_t k = 0; k < f->conds.len; k++) deepen(e, f->conds.data[k]);
  }
  return check_depth(p, at, e);
}

Expr *build_lambda(Parser *p, Loc at, ParamList params, Expr *body) {
  Expr *e = build_expr(p, EX_LAMBDA, at);
  e->params = params;
  e->a = body;
  deepen(e, body);
  for (uint32_t i = 0; i < params.len; i++) deepen(e, params.data[i].dflt);
  return check_depth(p, at, e);
}

Expr *build_sequence(Parser *p, Loc at, ExprList items, bool comma) {
  if (items.len > 1 || comma) return build_list(p, EX_TUPLE, at, items);
  if (items.data[0]->kind != EX_STARRED) return items.data[0];
  PARSE_ERROR(p, at, E_PARSE_STAR);
  return NULL;
}

Expr *build_paren(Parser *p, Loc at, ExprList items, bool comma) {
  Expr *e = build_sequence(p, at, items, comma);
  if (e) e->paren = true;
  return e;
}

/* ---- targets ---- */

static const char *describe_expr(const Expr *e) {
  switch (e->kind) {
    case EX_INT:
    case EX_FLOAT: return "a number";
    case EX_STR:
    case EX_FSTR: return "a string";
    case EX_TRUE: return "True";
    case EX_FALSE: return "False";
    case EX_NONE: return "None";
    case EX_ELLIPSIS: return "'...'";
    case EX_CALL: return "a call";
    case EX_COMPARE: return "a comparison";
    case EX_LAMBDA: return "a lambda";
    case EX_TUPLE: return "a tuple here";
    case EX_LIST: return "a list here";
    case EX_STARRED: return "a starred name outside a list";
    default: return "an expression";
  }
}

bool build_check_target(Parser *p, const Expr *e, bool many) {
  switch (e->kind) {
    case EX_NAME:
    case EX_ATTR:
    case EX_SUBSCRIPT: return true;
    case EX_STARRED: return build_check_target(p, e->a, many);
    case EX_TUPLE:
    case EX_LIST:
      if (!many) break;
      for (uint32_t i = 0; i < e->items.len; i++)
        if (!build_check_target(p, e->items.data[i], true)) return false;
      return true;
    default: break;
  }
  PARSE_ERROR(p, loc_of(e->span), E_PARSE_TARGET, describe_expr(e));
  return false;
}

/* ---- parameters ---- */

Param build_param(Parser *p, Loc name_at, ParamKind kind, Name name, Expr *annotation, Expr *dflt) {
  Param a = {name, annotation, dflt, kind, false, parse_span(p, name_at)};
  return a;
}

static bool wrong_param(Parser *p, const Param *a, const char *why) {
  const char *name = a->name ? a->name : a->kind == PARAM_STAR ? "*" : "/";
  PARSE_ERROR(p, loc_of(a->span), E_PARSE_PARAM, name, why);
  return false;
}

/* The names of a function with many parameters are compared through their addresses, sorted. */
static int param_by_address(const void *a, const void *b) {
  uintptr_t x = (uintptr_t) * (const Name *)a, y = (uintptr_t) * (const Name *)b;
  return x < y ? -1 : x > y;
}

static bool check_twice(Parser *p, const ParamList *params) {
  Name *names = ARENA_ARRAY(p->scratch, Name, params->len);
  for (uint32_t i = 0; i < params->len; i++) names[i] = params->data[i].name;
  qsort(names, params->len, sizeof *names, param_by_address);
  for (uint32_t i = 1; i < params->len; i++) {
    if (names[i] != names[i - 1]) continue;
    uint32_t last = params->len - 1;
    while (params->data[last].name != names[i]) last--;
    return wrong_param(p, &params->data[last], "occurs twice");
  }
  return true;
}

bool build_check_params(Parser *p, ParamList *params) {
  bool star = false, starstar = false, dflt = false;
  uint32_t n = 0;
  for (uint32_t i = 0; i < params->len; i++) {
    Param a = params->data[i];
    if (starstar) return wrong_param(p, &a, "follows '**'");
    if (a.kind == PARAM_STAR && star) return wrong_param(p, &a, "is a second '*'");
    if (a.kind == PARAM_PLAIN && a.name) {
      if (dflt && !a.dflt && !star)
        return wrong_param(p, &a, "has no default, but the one before it has");
      if (a.dflt) dflt = true;
      a.keyword_only = star;
    }
    bool last = i + 1 == params->len || params->data[i + 1].kind != PARAM_PLAIN;
    if (a.kind == PARAM_STAR && !a.name && last)
      return wrong_param(p, &a, "must be followed by a keyword parameter");
    star |= a.kind == PARAM_STAR;
    starstar |= a.kind == PARAM_STARSTAR;
    if (a.name) params->data[n++] = a;
  }
  params->len = n;
  return check_twice(p, params);
}

/* ---- statements ---- */

Stmt *build_stmt(Parser *p, StmtKind kind, Loc at, Expr *value) {
  Stmt *s = ARENA_NEW(p->arena, Stmt);
  s->kind = kind;
  s->span = parse_span(p, at);
  s->value = value;
  return s;
}

Stmt *build_func(Parser *p, Loc at, Loc name_at, Name name, ParamList params, Expr *returns) {
  Stmt *s = build_stmt(p, ST_FUNC, at, NULL);
  s->func = ARENA_NEW(p->arena, FuncDef);
  s->func->name = name;
  s->func->span = parse_span(p, name_at);
  s->func->params = params;
  s->func->returns = returns;
  s->func->owner = p->owner;
  return s;
}

Name build_dotted(Parser *p, NameList parts) {
  Text t = text_new(p->scratch);
  for (uint32_t i = 0; i < parts.len; i++) {
    if (i) text_puts(&t, ".");
    text_puts(&t, parts.data[i]);
  }
  return pool_namen(p->names, t.data, t.len);
}

Stmt *build_import_from(Parser *p, Loc at, uint32_t level, NameList module, ImportList names) {
  Stmt *s = build_stmt(p, ST_FROM, at, NULL);
  Name from = build_dotted(p, module);
  for (uint32_t i = 0; i < names.len; i++) names.data[i].module = from;
  s->imports = names.data;
  s->nimports = names.len;
  s->level = level;
  return s;
}

ExprList build_bases(Parser *p, ArgList args) {
  ExprList bases = {0};
  for (uint32_t i = 0; i < args.len; i++) list_push(p->arena, &bases, args.data[i].value);
  return bases;
}
