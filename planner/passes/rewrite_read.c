/* Rule files: from the syntax tree to terms. */
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "graph/ops/graph_text.h"
#include "planner/messages.h"
#include "planner/passes/rewrite.h"

typedef struct {
  Name name;
  Term *term;
} Local;

typedef struct {
  Graph *g;
  Rewrite *rule;
  bool matching; /* a pattern is read, not a replacement or an assert */
  bool failed;
  VEC(Local) locals;
} Reader;

static Term *read(Reader *r, const Expr *e);

static Term *fail_rule(Reader *r, Span at, const char *message, const char *what) {
  if (!r->failed) diag_error(r->g->diags, at, message, what);
  r->failed = true;
  Term *t = ARENA_NEW(r->g->arena, Term);
  t->kind = TERM_ANY;
  return t;
}

static Term *fail_unsupported(Reader *r, const Expr *e) {
  Text text = text_new(r->g->arena);
  ast_print_expr(&text, e);
  return fail_rule(r, e->span, E_REWRITE_EXPRESSION, text.data);
}

/* ---- terms ---- */

static Term *term_new(Reader *r, TermKind kind, Span span, uint32_t nargs) {
  Term *t = ARENA_NEW(r->g->arena, Term);
  *t = (Term){.kind = kind, .span = span, .nargs = nargs};
  t->args = ARENA_ARRAY(r->g->arena, Term *, nargs);
  t->names = ARENA_ARRAY(r->g->arena, Name, nargs);
  return t;
}

static Term *literal_term(Reader *r, Span span, Arg value) {
  Term *t = term_new(r, TERM_LITERAL, span, 0);
  t->literal = value;
  return t;
}

static uint32_t add_term_slot(Reader *r, Name name, SlotKind kind, Span at) {
  Rewrite *rule = r->rule;
  if (rule->nslots == REWRITE_SLOTS_MAX) {
    fail_rule(r, at, E_REWRITE_LARGE, rule->rule);
    return 0;
  }
  rule->slots[rule->nslots] = (RewriteSlot){.name = name, .kind = kind};
  return rule->nslots++;
}

/* Tensors, and lists of them. */
static bool is_value_term(const Reader *r, const Term *t) {
  if (t->kind == TERM_SLOT) return r->rule->slots[t->slot].kind == SLOT_TENSOR;
  return t->kind == TERM_CALL || t->kind == TERM_CAST || t->kind == TERM_NARROW ||
         t->kind == TERM_ITEM || t->kind == TERM_EITHER;
}

static Term *find_local_term(const Reader *r, Name name) {
  for (size_t i = r->locals.len; i-- > 0;)
    if (r->locals.data[i].name == name) return r->locals.data[i].term;
  return NULL;
}

static void set(Reader *r, Name name, Term *t) {
  vec_push(r->g->arena, &r->locals, ((Local){name, t}));
}

/* ---- calls ---- */

/* Does some op have that name, with its overload or without? */
static bool op_exists(const char *name) {
  Term t = {.op = name};
  OpRange named = ops_named(name);
  for (uint32_t i = named.first; i < named.end; i++)
    if (rewrite_names_op(&t, ops_at((OpId)i))) return true;
  return false;
}

static Term *call_term(Reader *r, Span span, Name op, uint32_t nargs) {
  Term *t = term_new(r, TERM_CALL, span, nargs);
  t->op = op;
  if (!op_exists(op)) return fail_rule(r, span, E_REWRITE_OP, op);
  if (r->matching) t->slot = add_term_slot(r, op, SLOT_TENSOR, span);
  return t;
}

static const char *dotted_op(Reader *r, const Expr *e) {
  if (e->kind == EX_NAME) return e->name;
  if (e->kind != EX_ATTR) return NULL;
  const char *left = dotted_op(r, e->a);
  return left ? arena_printf(r->g->arena, "%s.%s", left, e->name) : NULL;
}

static Term *read_cast(Reader *r, const Expr *e, TermKind kind) {
  bool fits = r->matching ? e->nargs == 1 || e->nargs == 2 : e->nargs == 2 && kind == TERM_CAST;
  if (!fits) return fail_unsupported(r, e);
  Term *t = term_new(r, kind, e->span, e->nargs);
  for (uint32_t i = 0; i < e->nargs; i++) t->args[i] = read(r, e->args[i].value);
  return t;
}

static Term *read_either(Reader *r, const Expr *e) {
  if (!r->matching || !e->nargs) return fail_unsupported(r, e);
  Term *t = term_new(r, TERM_EITHER, e->span, e->nargs);
  for (uint32_t i = 0; i < e->nargs; i++) t->args[i] = read(r, e->args[i].value);
  return t;
}

static Term *read_call_term(Reader *r, const Expr *e) {
  const char *path = dotted_op(r, e->a);
  if (!path) return fail_unsupported(r, e);
  if (!strcmp(path, "cast")) return read_cast(r, e, TERM_CAST);
  if (!strcmp(path, "narrow")) return read_cast(r, e, TERM_NARROW);
  if (!strcmp(path, "either")) return read_either(r, e);
  if (!strncmp(path, "torch.ops.", 10)) path += 10;
  Term *t = call_term(r, e->span, pool_name(r->g->names, path), e->nargs);
  for (uint32_t i = 0; i < e->nargs && t->kind == TERM_CALL; i++) {
    t->args[i] = read(r, e->args[i].value);
    t->names[i] = e->args[i].name;
  }
  return t;
}

/* ---- operators ---- */

static const char *tensor_op(AstOp op) {
  switch (op) {
    case OP_ADD: return "aten.add";
    case OP_SUB: return "aten.sub";
    case OP_MUL: return "aten.mul";
    case OP_DIV: return "aten.div";
    case OP_POW: return "aten.pow";
    case OP_NEG: return "aten.neg";
    default: return NULL;
  }
}

static bool term_number(const Term *t, double *out) {
  if (t->kind != TERM_LITERAL) return false;
  if (t->literal.kind == ARG_FLOAT) *out = t->literal.number;
  else if (t->literal.kind == ARG_INT && dim_is_int(t->literal.dim))
    *out = (double)t->literal.dim->value;
  else return false;
  return true;
}

/* Folds a pattern's literals; whole numbers stay whole, except quotients. */
static Term *fold_terms(Reader *r, const Expr *e, const Term *x, const Term *y) {
  Match none = {.g = r->g, .rule = r->rule};
  Term *t = term_new(r, TERM_SCALAR, e->span, y ? 2 : 1);
  Arg value;
  t->operator= e->op;
  t->args[0] = (Term *)x;
  if (y) t->args[1] = (Term *)y;
  return rewrite_eval(&none, t, &value) ? literal_term(r, e->span, value) : fail_unsupported(r, e);
}

static Term *read_operator(Reader *r, const Expr *e) {
  bool two = e->kind == EX_BINARY;
  Term *x = read(r, e->a), *y = two ? read(r, e->b) : NULL;
  double a, b;
  if (term_number(x, &a) && (!y || term_number(y, &b))) return fold_terms(r, e, x, y);
  if (is_value_term(r, x) || (y && is_value_term(r, y))) {
    const char *op = tensor_op(e->op);
    if (!op) return fail_unsupported(r, e);
    Term *t = call_term(r, e->span, pool_name(r->g->names, op), two ? 2 : 1);
    t->args[0] = x;
    if (two) t->args[1] = y;
    return t;
  }
  if (r->matching) return fail_unsupported(r, e);
  Term *t = term_new(r, e->op == OP_NOT ? TERM_NOT : TERM_SCALAR, e->span, two ? 2 : 1);
  t->operator= e->op;
  t->args[0] = x;
  if (two) t->args[1] = y;
  return t;
}

static Term *read_compare(Reader *r, const Expr *e) {
  if (r->matching) return fail_unsupported(r, e);
  Term *all = term_new(r, TERM_AND, e->span, e->items.len - 1);
  for (uint32_t i = 0; i + 1 < e->items.len; i++) {
    Term *t = all->args[i] = term_new(r, TERM_COMPARE, e->span, 2);
    t->operator= e->ops[i];
    t->args[0] = read(r, e->items.data[i]);
    t->args[1] = read(r, e->items.data[i + 1]);
  }
  return all;
}

/* ---- names, attributes, lists ---- */

static Term *read_item_terms(Reader *r, const Expr *e, TermKind kind) {
  Term *t = term_new(r, kind, e->span, e->items.len);
  for (uint32_t i = 0; i < t->nargs; i++) t->args[i] = read(r, e->items.data[i]);
  return t;
}

static Term *read_name_term(Reader *r, const Expr *e) {
  Term *t = find_local_term(r, e->name);
  if (t) return t;
  if (!strcmp(e->name, "inf"))
    return literal_term(r, e->span, (Arg){.kind = ARG_FLOAT, .number = INFINITY});
  return fail_rule(r, e->span, E_REWRITE_NAME, e->name);
}

static Term *read_attribute(Reader *r, const Expr *e) {
  if (e->a->kind == EX_NAME && !strcmp(e->a->name, "torch")) {
    DType t = dtype_from_torch(e->name, strlen(e->name));
    if (t == DT_NONE) return fail_unsupported(r, e);
    return literal_term(r, e->span, (Arg){.kind = ARG_DTYPE, .dtype = t, .name = e->name});
  }
  TermKind kind = !strcmp(e->name, "dtype")   ? TERM_DTYPE
                  : !strcmp(e->name, "shape") ? TERM_SHAPE
                  : !strcmp(e->name, "ndim")  ? TERM_RANK
                                              : TERM_ANY;
  if (kind == TERM_ANY) return fail_unsupported(r, e);
  Term *t = term_new(r, kind, e->span, 1);
  t->args[0] = read(r, e->a);
  return is_value_term(r, t->args[0]) ? t : fail_unsupported(r, e);
}

static Term *read_subscript(Reader *r, const Expr *e) {
  Term *of = read(r, e->a), *at = read(r, e->b);
  bool item = is_value_term(r, of);
  if (item && (at->kind != TERM_LITERAL || at->literal.kind != ARG_INT))
    return fail_unsupported(r, e);
  Term *t = term_new(r, item ? TERM_ITEM : TERM_INDEX, e->span, 2);
  t->args[0] = of;
  t->args[1] = at;
  if (item) t->literal = at->literal;
  if (item && r->matching) t->slot = add_term_slot(r, "item", SLOT_TENSOR, e->span);
  return t;
}

static Term *read_any(Reader *r, const Expr *e) {
  switch (e->kind) {
    case EX_NAME: return read_name_term(r, e);
    case EX_INT:
      if (e->big || e->ival > INT64_MAX) return fail_unsupported(r, e);
      return literal_term(r, e->span, arg_int(r->g, (int64_t)e->ival));
    case EX_FLOAT: return literal_term(r, e->span, (Arg){.kind = ARG_FLOAT, .number = e->fval});
    case EX_TRUE:
    case EX_FALSE:
      return literal_term(r, e->span, (Arg){.kind = ARG_BOOL, .flag = e->kind == EX_TRUE});
    case EX_NONE: return literal_term(r, e->span, arg_none());
    case EX_STR: return literal_term(r, e->span, (Arg){.kind = ARG_STRING, .name = e->name});
    case EX_ELLIPSIS: return term_new(r, TERM_ANY, e->span, 0);
    case EX_LIST:
    case EX_TUPLE: return read_item_terms(r, e, TERM_LIST);
    case EX_AND: return read_item_terms(r, e, TERM_AND);
    case EX_OR: return read_item_terms(r, e, TERM_OR);
    case EX_CALL: return read_call_term(r, e);
    case EX_UNARY:
    case EX_BINARY: return read_operator(r, e);
    case EX_COMPARE: return read_compare(r, e);
    case EX_ATTR: return read_attribute(r, e);
    case EX_SUBSCRIPT: return read_subscript(r, e);
    default: return fail_unsupported(r, e);
  }
}

static Term *read(Reader *r, const Expr *e) {
  Term *t = read_any(r, e);
  if (t->size) return t;
  t->size = 1;
  for (uint32_t i = 0; i < t->nargs; i++) t->size += t->args[i] ? t->args[i]->size : 0;
  return t->size > REWRITE_SIZE_MAX ? fail_rule(r, e->span, E_REWRITE_LARGE, r->rule->rule) : t;
}

/* ---- parameters ---- */

/* The slot of a size, which several parameters may name. */
static Term *size_slot(Reader *r, Name name, Span at) {
  Term *t = find_local_term(r, name);
  if (t) return t;
  t = term_new(r, TERM_SLOT, at, 0);
  t->slot = add_term_slot(r, name, SLOT_SIZE, at);
  set(r, name, t);
  return t;
}

static Term *read_slot_axis(Reader *r, const char *s, size_t len, Span at) {
  char *end;
  const char *text = arena_strndup(r->g->arena, s, len);
  long long n = strtoll(text, &end, 10);
  if (len && !*end && n >= 0) return literal_term(r, at, arg_int(r->g, n));
  for (size_t i = 0; i < len; i++)
    if (!isalnum((unsigned char)s[i]) && s[i] != '_') return NULL;
  return len && !isdigit((unsigned char)*s) ? size_slot(r, pool_name(r->g->names, text), at) : NULL;
}

static bool read_slot_shape(Reader *r, SlotType *t, const char *s, Span at) {
  t->shaped = true;
  t->shape = ARENA_ARRAY(r->g->arena, Term *, GRAPH_RANK_MAX);
  for (bool first = true; *s != ']'; first = false) {
    s += strspn(s, " ");
    size_t len = strcspn(s, ",]"), word = strcspn(s, " ,]");
    if (!s[len] || t->rank == GRAPH_RANK_MAX) return false;
    if (first && word == 3 && !memcmp(s, "...", 3)) t->open = true;
    else if (word || s[len] == ',') {
      Term *axis = read_slot_axis(r, s, word, at);
      if (!axis) return false;
      t->shape[t->rank++] = axis;
    }
    s += len + (s[len] == ',');
  }
  return !s[1];
}

/* "f32[B, ..., 64]", "float", "[..., D]": a dtype or what kind it is, sizes, or both. */
static bool read_slot_type(Reader *r, SlotType *t, const char *s, Span at) {
  size_t len = strcspn(s, "[");
  t->given = true;
  if (len == 5 && !memcmp(s, "float", 5)) t->floats = true;
  else if (len == 3 && !memcmp(s, "int", 3)) t->ints = true;
  else if (len && (t->dtype = dtype_from_fx(s, len)) == DT_NONE) return false;
  return !s[len] || read_slot_shape(r, t, s + len + 1, at);
}

static SlotKind slot_kind(const char *name) {
  static const char *const names[] = {"float", "int", "bool", "list", "any"};
  static const SlotKind kinds[] = {SLOT_NUMBER, SLOT_INT, SLOT_BOOL, SLOT_LIST, SLOT_ANY};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (!strcmp(names[i], name)) return kinds[i];
  return SLOT_SIZE;
}

static void read_rule_parameter(Reader *r, const Param *p) {
  const Expr *a = p->annotation;
  SlotKind kind = a && a->kind == EX_NAME ? slot_kind(a->name) : SLOT_TENSOR;
  Term *t = term_new(r, TERM_SLOT, p->span, 0);
  t->slot = add_term_slot(r, p->name, kind, p->span);
  set(r, p->name, t);
  bool ok = p->kind == PARAM_PLAIN && kind != SLOT_SIZE;
  if (ok && a && a->kind != EX_NAME)
    ok = a->kind == EX_STR && read_slot_type(r, &r->rule->slots[t->slot].type, a->name, a->span);
  if (!ok) fail_rule(r, a ? a->span : p->span, E_REWRITE_ANNOTATION, p->name);
}

/* ---- functions ---- */

static Term *read_rule_return(Reader *r, const FuncDef *f, const Stmt *s) {
  if (!s->value) return fail_rule(r, s->span, E_REWRITE_BODY, f->name);
  return read(r, s->value);
}

static void read_assert(Reader *r, const Stmt *s) {
  bool matching = r->matching;
  if (r->rule->nasserts == REWRITE_ASSERTS_MAX) {
    fail_rule(r, s->span, E_REWRITE_LARGE, r->rule->rule);
    return;
  }
  r->matching = false;
  r->rule->asserts[r->rule->nasserts++] = read(r, s->value);
  r->matching = matching;
}

/* Assignments, asserts, and at the end what is returned. */
static Term *read_rule_body(Reader *r, const FuncDef *f) {
  for (uint32_t i = 0; i < f->body.len; i++) {
    const Stmt *s = f->body.data[i];
    bool named = s->kind == ST_ASSIGN && s->targets.len == 1 &&
                 s->targets.data[0]->kind == EX_NAME && s->value;
    bool text = s->kind == ST_EXPR && s->value->kind == EX_STR;
    if (s->kind == ST_RETURN) return read_rule_return(r, f, s);
    if (named) set(r, s->targets.data[0]->name, read(r, s->value));
    else if (s->kind == ST_ASSERT) read_assert(r, s);
    else if (!text) return fail_rule(r, s->span, E_REWRITE_BODY, f->name);
  }
  return fail_rule(r, f->span, E_REWRITE_BODY, f->name);
}

static bool same_parameters(const FuncDef *a, const FuncDef *b) {
  if (a->params.len != b->params.len) return false;
  for (uint32_t i = 0; i < a->params.len; i++)
    if (a->params.data[i].name != b->params.data[i].name) return false;
  return true;
}

static void mark_slots(const Term *t, bool *seen) {
  if (t->kind == TERM_SLOT) seen[t->slot] = true;
  for (uint32_t i = 0; i < t->nargs; i++) mark_slots(t->args[i], seen);
}

/* Does a match give each parameter, one of the first n slots, a value? */
static void check_slots_bound(Reader *r, const FuncDef *pattern, uint32_t n) {
  bool seen[REWRITE_SLOTS_MAX] = {false};
  mark_slots(r->rule->root, seen);
  for (uint32_t i = 0; i < n; i++) {
    const RewriteSlot *slot = &r->rule->slots[i];
    if (!seen[i] && slot->kind != SLOT_SIZE)
      fail_rule(r, pattern->span, E_REWRITE_UNUSED, slot->name);
  }
}

static Rewrite *read_rule(Graph *g, Name name, const FuncDef *pattern, const FuncDef *by) {
  Rewrite *rule = ARENA_NEW(g->arena, Rewrite);
  Reader r = {.g = g, .rule = rule, .matching = true};
  rule->rule = name;
  rule->span = pattern->span;
  if (!same_parameters(pattern, by)) {
    fail_rule(&r, pattern->span, E_REWRITE_PARAMETERS, name);
    return NULL;
  }
  for (uint32_t i = 0; i < pattern->params.len; i++)
    read_rule_parameter(&r, &pattern->params.data[i]);
  size_t parameters = r.locals.len;
  uint32_t nslots = rule->nslots;
  rule->root = read_rule_body(&r, pattern);
  if (!r.failed && rule->root->kind != TERM_CALL)
    fail_rule(&r, pattern->span, E_REWRITE_ROOT, pattern->name);
  if (!r.failed) check_slots_bound(&r, pattern, nslots);
  r.locals.len = parameters;
  r.matching = false;
  uint32_t asserts = rule->nasserts;
  rule->replacement = read_rule_body(&r, by);
  if (rule->nasserts > asserts) fail_rule(&r, by->span, E_REWRITE_BODY, by->name);
  return r.failed ? NULL : rule;
}

/* ---- files ---- */

static bool is_pattern(const Stmt *s) {
  return s->kind == ST_FUNC && !strncmp(s->func->name, "pattern", strlen("pattern"));
}

static const FuncDef *find_replacement(const Stmt *rule) {
  for (uint32_t i = 0; i < rule->body.len; i++) {
    const Stmt *s = rule->body.data[i];
    if (s->kind == ST_FUNC && !strcmp(s->func->name, "replacement")) return s->func;
  }
  return NULL;
}

/* A class: each function pattern... is one way to spell what the rule replaces. */
static bool read_class(Graph *g, const Stmt *c, bool own, RewriteList *out) {
  const FuncDef *by = find_replacement(c);
  uint32_t patterns = 0;
  bool ok = true;
  for (uint32_t i = 0; by && i < c->body.len; i++) {
    if (!is_pattern(c->body.data[i])) continue;
    Rewrite *rule = read_rule(g, c->name, c->body.data[i]->func, by);
    patterns++;
    ok &= rule != NULL;
    if (rule) rule->own = own;
    if (rule) vec_push(g->arena, out, rule);
  }
  if (!patterns) diag_error(g->diags, c->span, E_REWRITE_RULE, c->name);
  return ok && patterns;
}

bool rewrite_read(Graph *g, uint32_t file, bool own, RewriteList *out) {
  size_t errors = diag_errors(g->diags);
  const Module *m = parse_all(g->arena, g->names, g->diags, file);
  if (diag_errors(g->diags) > errors) return false;
  bool ok = true, any = false;
  for (uint32_t i = 0; i < m->body.len; i++) {
    const Stmt *s = m->body.data[i];
    if (s->kind != ST_CLASS) continue;
    any = true;
    ok &= read_class(g, s, own, out);
  }
  if (!any) diag_error(g->diags, (Span){file, 1, 1, 1}, E_REWRITE_EMPTY);
  return ok && any;
}

bool rewrite_names_op(const Term *t, const GraphOp *op) {
  size_t len = strlen(t->op);
  return !strncmp(t->op, op->target, len) && (op->target[len] == '.' || !op->target[len]) &&
         strchr(op->target, '.') && op->schema;
}
