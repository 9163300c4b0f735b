/* The tree as indented text, and the questions that are asked of it.
 *
 * A line is `role: kind fields @line:col`, its children stand two columns further right.  The role
 * is there where it doesn't follow from the order. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "parser/ast.h"

/* ---- kernels ---- */

bool ast_is_jit(const FuncDef *f) {
  /* compilers of other kinds, whose functions are host code to us */
  static const char *const others[] = {"jax", "numba", "nb", "cuda"};
  if (f->jit_alias) return true;
  for (uint32_t i = 0; i < f->decorators.len; i++) {
    const Expr *e = f->decorators.data[i];
    while (e->kind == EX_CALL) e = e->a;
    if ((e->kind != EX_NAME && e->kind != EX_ATTR) || strcmp(e->name, "jit")) continue;
    const Expr *base = e->kind == EX_ATTR ? e->a : NULL;
    bool other = false;
    for (size_t k = 0; base && k < sizeof others / sizeof *others; k++)
      other |= (base->kind == EX_NAME || base->kind == EX_ATTR) && !strcmp(base->name, others[k]);
    if (!other) return true;
  }
  return false;
}

/* ---- the printer ---- */

typedef struct {
  Text *out;
  unsigned depth;
} Printer;

static void print_tree(Printer *p, const char *role, const Expr *e);
static void print_statements(Printer *p, const char *role, const StmtList *l);

static void begin_node(Printer *p, const char *role) {
  for (unsigned i = 0; i < p->depth; i++) text_puts(p->out, "  ");
  if (role) text_printf(p->out, "%s: ", role);
}

static void end_node(Printer *p, Span at) { text_printf(p->out, " @%u:%u\n", at.line, at.col); }

/* A line that only groups what is below it. */
static void group(Printer *p, const char *role) {
  begin_node(p, NULL);
  text_printf(p->out, "%s:\n", role);
}

/* ---- expressions ---- */

static const char *expr_kind_name(ExprKind kind) {
  static const char *const names[] = {
      [EX_NAME] = "name",     [EX_INT] = "int",         [EX_FLOAT] = "float",
      [EX_STR] = "str",       [EX_FSTR] = "fstr",       [EX_FORMAT] = "format",
      [EX_TRUE] = "True",     [EX_FALSE] = "False",     [EX_NONE] = "None",
      [EX_ELLIPSIS] = "...",  [EX_TUPLE] = "tuple",     [EX_LIST] = "list",
      [EX_DICT] = "dict",     [EX_SET] = "set",         [EX_COMP] = "comp",
      [EX_UNARY] = "unary",   [EX_BINARY] = "binary",   [EX_COMPARE] = "compare",
      [EX_AND] = "and",       [EX_OR] = "or",           [EX_IFEXP] = "ifexp",
      [EX_CALL] = "call",     [EX_ATTR] = "attr",       [EX_SUBSCRIPT] = "subscript",
      [EX_SLICE] = "slice",   [EX_STARRED] = "starred", [EX_LAMBDA] = "lambda",
      [EX_WALRUS] = "walrus", [EX_AWAIT] = "await"};
  return names[kind];
}

static void print_fields(Printer *p, const Expr *e) {
  Text *out = p->out;
  switch (e->kind) {
    case EX_NAME:
    case EX_ATTR:
    case EX_WALRUS: text_printf(out, " %s", e->name); break;
    case EX_AWAIT: break;
    case EX_STR:
      text_puts(out, " ");
      print_string(out, e->name);
      break;
    case EX_INT:
    case EX_FLOAT:
      text_puts(out, " ");
      ast_print_expr(out, e);
      break;
    case EX_UNARY:
    case EX_BINARY: text_printf(out, " %s", ast_op_text(e->op)); break;
    case EX_COMPARE:
      for (uint32_t i = 0; i + 1 < e->items.len; i++)
        text_printf(out, "%s %s", i ? "," : "", ast_op_text(e->ops[i]));
      break;
    case EX_COMP: text_printf(out, " %c", e->bracket); break;
    case EX_FORMAT:
      if (e->bracket) text_printf(out, " !%c", e->bracket);
      break;
    default: break;
  }
}

static void print_func_params(Printer *p, ParamList params) {
  for (uint32_t i = 0; i < params.len; i++) {
    const Param *a = &params.data[i];
    begin_node(p, "param");
    text_puts(p->out, a->kind == PARAM_STAR ? "*" : a->kind == PARAM_STARSTAR ? "**" : "");
    text_printf(p->out, "%s%s", a->name, a->keyword_only ? " keyword" : "");
    end_node(p, a->span);
    p->depth++;
    print_tree(p, "annotation", a->annotation);
    print_tree(p, "default", a->dflt);
    p->depth--;
  }
}

static void print_args(Printer *p, const Expr *e) {
  for (uint32_t i = 0; i < e->nargs; i++) print_tree(p, e->args[i].name, e->args[i].value);
}

static void print_comp(Printer *p, const Expr *e) {
  for (uint32_t i = 0; i < e->nfors; i++) {
    print_tree(p, "for", e->fors[i].target);
    print_tree(p, "in", e->fors[i].iter);
    for (uint32_t k = 0; k < e->fors[i].conds.len; k++)
      print_tree(p, "if", e->fors[i].conds.data[k]);
  }
}

static void print_expr_items(Printer *p, const Expr *e) {
  for (uint32_t i = 0; i < e->items.len; i++) {
    bool unpacked = e->kind == EX_DICT && i % 2 && !e->items.data[i - 1];
    print_tree(p, unpacked ? "**" : NULL, e->items.data[i]);
  }
}

static void print_children(Printer *p, const Expr *e) {
  bool slice = e->kind == EX_SLICE;
  print_func_params(p, e->params);
  print_tree(p, slice ? "low" : NULL, e->a);
  print_tree(p, slice ? "high" : e->kind == EX_FORMAT ? "spec" : NULL, e->b);
  print_tree(p, slice ? "step" : NULL, e->c);
  print_expr_items(p, e);
  print_args(p, e);
  print_comp(p, e);
}

static void print_tree(Printer *p, const char *role, const Expr *e) {
  if (!e) return;
  begin_node(p, role);
  text_puts(p->out, e->kind == EX_AWAIT ? e->name : expr_kind_name(e->kind));
  print_fields(p, e);
  end_node(p, e->span);
  p->depth++;
  print_children(p, e);
  p->depth--;
}

/* ---- statements ---- */

static const char *stmt_name(StmtKind kind) {
  static const char *const names[] = {[ST_EXPR] = "expr",
                                      [ST_ASSIGN] = "assign",
                                      [ST_AUGASSIGN] = "augassign",
                                      [ST_ANNASSIGN] = "annassign",
                                      [ST_RETURN] = "return",
                                      [ST_IF] = "if",
                                      [ST_FOR] = "for",
                                      [ST_WHILE] = "while",
                                      [ST_WITH] = "with",
                                      [ST_PASS] = "pass",
                                      [ST_BREAK] = "break",
                                      [ST_CONTINUE] = "continue",
                                      [ST_ASSERT] = "assert",
                                      [ST_RAISE] = "raise",
                                      [ST_DEL] = "del",
                                      [ST_GLOBAL] = "global",
                                      [ST_IMPORT] = "import",
                                      [ST_FROM] = "from",
                                      [ST_FUNC] = "func",
                                      [ST_CLASS] = "class",
                                      [ST_TRY] = "try",
                                      [ST_SKIPPED] = "skipped"};
  return names[kind];
}

static void print_imports(Printer *p, const Stmt *s) {
  if (s->kind == ST_FROM) {
    text_puts(p->out, " ");
    for (uint32_t i = 0; i < s->level; i++) text_puts(p->out, ".");
    text_printf(p->out, "%s import", s->nimports ? s->imports[0].module : "");
  }
  for (uint32_t i = 0; i < s->nimports; i++) {
    const Import *m = &s->imports[i];
    text_printf(p->out, "%s %s", i ? "," : "", m->name ? m->name : m->module);
    if (m->renamed) text_printf(p->out, " as %s", m->as);
  }
}

static void print_func_fields(Printer *p, const FuncDef *f) {
  text_printf(p->out, " %s", f->name);
  if (f->owner) text_printf(p->out, " of %s", f->owner);
  if (ast_is_jit(f)) text_puts(p->out, " jit");
  if (f->is_async) text_puts(p->out, " async");
  if (f->skipped) text_puts(p->out, " skipped");
}

static void print_func(Printer *p, const FuncDef *f) {
  for (uint32_t i = 0; i < f->decorators.len; i++)
    print_tree(p, "decorator", f->decorators.data[i]);
  print_func_params(p, f->params);
  print_tree(p, "returns", f->returns);
  print_statements(p, "body", &f->body);
}

static void print_stmt_fields(Printer *p, const Stmt *s) {
  if (s->kind == ST_AUGASSIGN) text_printf(p->out, " %s=", ast_op_text(s->op));
  if (s->kind == ST_CLASS) text_printf(p->out, " %s", s->name);
  for (uint32_t i = 0; i < s->nnames; i++) text_printf(p->out, "%s %s", i ? "," : "", s->names[i]);
  if (s->kind == ST_IMPORT || s->kind == ST_FROM) print_imports(p, s);
  if (s->func) print_func_fields(p, s->func);
}

static void print_targets(Printer *p, const Stmt *s) {
  for (uint32_t i = 0; i < s->targets.len; i++) {
    bool item = s->kind == ST_WITH && i % 2 == 0;
    print_tree(p, item ? "item" : s->kind == ST_WITH ? "as" : "target", s->targets.data[i]);
  }
}

static void print_statement(Printer *p, const Stmt *s);

/* The depth of a chain of elif is the depth of the tree. */
static void print_stmt_children(Printer *p, const Stmt *s) {
  print_targets(p, s);
  for (uint32_t i = 0; i < s->decorators.len; i++)
    print_tree(p, "decorator", s->decorators.data[i]);
  for (uint32_t i = 0; i < s->bases.len; i++) print_tree(p, "base", s->bases.data[i]);
  print_tree(p, "annotation", s->annotation);
  print_tree(p, NULL, s->value);
  print_tree(p, s->kind == ST_RAISE ? "from" : "message", s->msg);
  if (s->func) print_func(p, s->func);
  print_statements(p, "body", &s->body);
  print_statements(p, "else", &s->orelse);
}

static void print_statement(Printer *p, const Stmt *s) {
  begin_node(p, NULL);
  text_puts(p->out, stmt_name(s->kind));
  print_stmt_fields(p, s);
  end_node(p, s->func ? s->func->span : s->span);
  p->depth++;
  print_stmt_children(p, s);
  p->depth--;
}

static void print_statements(Printer *p, const char *role, const StmtList *l) {
  if (!l->len) return;
  group(p, role);
  p->depth++;
  for (uint32_t i = 0; i < l->len; i++) print_statement(p, l->data[i]);
  p->depth--;
}

void ast_print(Text *out, const Module *m) {
  Printer p = {out, 0};
  text_puts(out, "module\n");
  p.depth = 1;
  for (uint32_t i = 0; i < m->body.len; i++) print_statement(&p, m->body.data[i]);
}
