/* Names that no text of the program binds: what the caller knows of them.
 *
 * A function that is handed over alone, as Python hands it over, has names that are bound around
 * it: in its file, in functions around it.  They are asked of the caller (sema.h: NameLookup) in
 * the scope of the text that mentions them, once in each scope.  An answer is
 *
 *   an expression     evaluated in a module that knows the language's full names, after those of
 *                     the answer's own scope
 *   a scope           a module without a text, whose names are asked for in that scope
 *   a definition      a module of its own text, with its own scope: the same text in the same place
 *                     is one module, so that functions may call each other
 *
 * A name that the caller doesn't know either may be one of Python's own.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sema/messages.h"
#include "sema/value/context.h"

/* An answer, and its value once that is evaluated. */
typedef struct {
  OutsideName is;
  bool done;
  Value value;
} Answer;

typedef struct {
  const void *key;
  NameMap index;
  VEC(Answer) answers;
} Scope;

typedef struct {
  const char *text; /* as it was given */
  uint32_t line;
  Name name;
  ModuleInfo *module;
} Definition;

struct Outside {
  NameLookup lookup;
  void *context;
  VEC(Scope) scopes;
  VEC(Definition) definitions;
  ModuleInfo *language; /* where expressions are evaluated */
  Name failed;          /* the name whose lookup failed; NULL: none did */
  int code;
};

/* ---- asking ---- */

void outside_open(Program *p, NameLookup lookup, void *context) {
  if (!lookup) return;
  p->outside = ARENA_NEW(p->arena, Outside);
  p->outside->lookup = lookup;
  p->outside->context = context;
}

int sema_lookup_failure(const Program *p, const char **name) {
  if (!p->outside || !p->outside->failed) return 0;
  *name = p->outside->failed;
  return p->outside->code;
}

static Scope *scope_of(Program *p, const void *key) {
  Outside *o = p->outside;
  for (size_t i = 0; i < o->scopes.len; i++)
    if (o->scopes.data[i].key == key) return &o->scopes.data[i];
  Scope fresh = {.key = key};
  vec_push(p->arena, &o->scopes, fresh);
  return &vec_last(&o->scopes);
}

/* After a failure nothing more is asked: it ends the compilation. */
static OutsideName ask(Program *p, const void *scope, Name name) {
  Outside *o = p->outside;
  OutsideName is = {.kind = OUTSIDE_NONE};
  if (o->failed) return is;
  o->code = o->lookup(o->context, scope, name, &is);
  if (!o->code) return is;
  o->failed = name;
  return (OutsideName){.kind = OUTSIDE_NONE};
}

/* The answer's number in its scope: asking for another name may move it. */
static uint32_t answer_of(Program *p, const void *key, Name name) {
  uint32_t i;
  if (map_get(&scope_of(p, key)->index, name, &i)) return i;
  Answer a = {.is = ask(p, key, name)};
  Scope *s = scope_of(p, key);
  i = (uint32_t)s->answers.len;
  map_set(p->arena, &s->index, name, i);
  vec_push(p->arena, &s->answers, a);
  return i;
}

/* ---- definitions ---- */

static bool is_constexpr_name(const OutsideName *is) {
  if (is->kind != OUTSIDE_VALUE) return false;
  const char *dot = strrchr(is->text, '.');
  return dot && !strcmp(dot, ".constexpr");
}

/* `x: cx`, after `from triton.language import constexpr as cx` in the file around the text. */
static void name_constexpr(Program *p, const ModuleInfo *m, Expr *annotation) {
  if (!annotation || annotation->kind != EX_NAME || !strcmp(annotation->name, "constexpr")) return;
  uint32_t i;
  if (map_get(&m->index, annotation->name, &i)) return;
  i = answer_of(p, m->scope, annotation->name);
  if (is_constexpr_name(&scope_of(p, m->scope)->answers.data[i].is))
    annotation->name = pool_name(p->names, "constexpr");
}

static void name_constexprs(Program *p, const ModuleInfo *m, const StmtList *list) {
  for (uint32_t i = 0; i < list->len; i++) {
    const Stmt *s = list->data[i];
    if (s->kind == ST_ANNASSIGN) name_constexpr(p, m, s->annotation);
    if (s->kind == ST_FUNC) {
      for (uint32_t k = 0; k < s->func->params.len; k++)
        name_constexpr(p, m, s->func->params.data[k].annotation);
      name_constexprs(p, m, &s->func->body);
    }
    name_constexprs(p, m, &s->body);
    name_constexprs(p, m, &s->orelse);
  }
}

ModuleInfo *outside_module(Program *p, const SourceText *text, bool is_kernel) {
  ModuleInfo *m = program_add_text(p, text, is_kernel);
  if (!p->outside) return m;
  m->asks = true;
  m->scope = text->scope;
  name_constexprs(p, m, &m->ast->body);
  const StmtList *body = &m->ast->body;
  if (body->len && body->data[0]->kind == ST_FUNC) m->def = body->data[0]->func;
  return m;
}

/* The first statement of the text, if it defines `name` (NULL: anything). */
static const Stmt *defining_statement(const ModuleInfo *m, const char *name) {
  for (uint32_t i = 0; i < m->ast->body.len; i++) {
    const Stmt *s = m->ast->body.data[i];
    Name defined = s->kind == ST_FUNC ? s->func->name : s->kind == ST_CLASS ? s->name : NULL;
    if (defined && (!name || !strcmp(defined, name))) return s;
  }
  return NULL;
}

static ModuleInfo *definition_module(Program *p, const OutsideName *is) {
  Outside *o = p->outside;
  const SourceText *s = &is->source;
  for (size_t i = 0; i < o->definitions.len; i++) {
    const Definition *d = &o->definitions.data[i];
    bool same = d->line == s->line && d->module->scope == s->scope &&
                !strcmp(d->module->path, s->path) && !strcmp(d->name, is->text) &&
                !strcmp(d->text, s->text);
    if (same) return d->module;
  }
  Definition d = {.text = s->text, .line = s->line, .name = pool_name(p->names, is->text)};
  d.module = outside_module(p, s, is->kind == OUTSIDE_JIT);
  d.module->is_class = is->kind == OUTSIDE_CLASS;
  vec_push(p->arena, &o->definitions, d);
  return d.module;
}

/* A function or a class. */
static Value definition_value(Sema *S, Name of, const OutsideName *is, Span at) {
  ModuleInfo *m = definition_module(S->p, is);
  const Stmt *s = defining_statement(m, is->text);
  if (!s || (s->kind == ST_CLASS) != (is->kind == OUTSIDE_CLASS)) {
    sema_error(S, at, E_SEMA_OUTSIDE_TEXT, of, is->text);
    return value_error();
  }
  if (s->kind == ST_CLASS) return class_value(s, m, NULL);
  Value f = func_of(S, s->func, m);
  f.u.func->jit = is->kind == OUTSIDE_JIT;
  return f;
}

/* ---- expressions over full names ---- */

/* `scope` NULL: of the language's names alone. */
static ModuleInfo *language_module(Program *p, const void *scope) {
  if (!scope && p->outside->language) return p->outside->language;
  ModuleInfo *m = ARENA_NEW(p->arena, ModuleInfo);
  m->path = pool_name(p->names, "<names of the language>");
  m->ast = ARENA_NEW(p->arena, Module);
  m->asks = scope != NULL;
  m->scope = scope;
  m->has_language = true;
  if (!scope) p->outside->language = m;
  return m;
}

/* Looks up `triton`, `nereid`, a module of the host (`math`, `torch`), or a name of Python. */
static Value first_name(Sema *S, Name name) {
  Value v;
  Name path = language_path(S->names, name);
  if (python_builtin(S, name, &v)) return v;
  return (Value){.kind = language_is_space(path) ? V_SPACE : V_EXTERN, .u.s = path};
}

/* "triton.language.load", without the parser; false if it is no dotted name. */
static bool dotted_value(Sema *S, const char *text, Span at, Value *out) {
  static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.";
  static const char *const constants[] = {"None", "True", "False"};
  if (!*text || text[strspn(text, letters)] || strchr("0123456789.", *text)) return false;
  for (int i = 0; i < 3; i++)
    if (!strcmp(text, constants[i])) {
      *out = i ? value_bool(i == 1) : value_none();
      return true;
    }
  size_t n = strcspn(text, ".");
  *out = first_name(S, pool_namen(S->names, text, n));
  for (text += n; *text && out->kind != V_ERROR; text += n) {
    text++;
    n = strcspn(text, ".");
    *out = get_attribute(S, *out, pool_namen(S->names, text, n), at);
  }
  return true;
}

static bool integer_value(const char *text, Value *out) {
  enum { DIGITS = 18 };
  size_t sign = *text == '-', n = strspn(text + sign, "0123456789");
  if (!n || n > DIGITS || text[sign + n] || (text[sign] == '0' && n > 1)) return false;
  *out = value_int(strtoll(text, NULL, 10));
  return true;
}

static Value expression_value(Sema *S, Name of, const OutsideName *is, Span at) {
  const char *text = is->text;
  Value v;
  if (integer_value(text, &v) || dotted_value(S, text, at, &v)) return v;
  const char *statement = arena_printf(S->arena, "_ = (%s)\n", text);
  Name name = pool_name(S->names, "<value>");
  uint32_t file = diag_part(S->diags, name, statement, strlen(statement), 1, 0);
  const Module *ast = parse(S->arena, S->names, S->diags, file);
  const Stmt *s = ast->body.len == 1 ? ast->body.data[0] : NULL;
  bool is_expression = s && s->kind == ST_ASSIGN;
  ModuleInfo *m = language_module(S->p, is->source.scope);
  v = is_expression ? eval_in_module_quietly(S, m, s->value) : value_error();
  if (v.kind == V_ERROR) sema_error(S, at, E_SEMA_OUTSIDE_VALUE, of, text);
  return v;
}

/* ---- values ---- */

static Value scope_value(Sema *S, const OutsideName *is) {
  ModuleInfo *m = ARENA_NEW(S->arena, ModuleInfo);
  m->path = pool_name(S->names, is->text);
  m->ast = ARENA_NEW(S->arena, Module);
  m->asks = m->is_scope = true;
  m->scope = is->source.scope;
  return (Value){.kind = V_MODULE, .u.module = m};
}

static Value answer_value(Sema *S, Name name, const OutsideName *is, Span at) {
  switch (is->kind) {
    case OUTSIDE_VALUE: return expression_value(S, name, is, at);
    case OUTSIDE_SCOPE: return scope_value(S, is);
    case OUTSIDE_JIT:
    case OUTSIDE_HOST:
    case OUTSIDE_CLASS: return definition_value(S, name, is, at);
    case OUTSIDE_OTHER: {
      bool argument = *name == '$'; /* a value that only the compilation has a name for */
      sema_error(S, at, argument ? E_SEMA_OUTSIDE_ARG : E_SEMA_OUTSIDE, name + argument, is->text);
      sema_hint(S, argument ? H_SEMA_OUTSIDE_ARG : H_SEMA_OUTSIDE);
      return value_error();
    }
    default: return value_error(); /* the lookup failed */
  }
}

/* The value of a name in a scope; false if the caller knows none. */
static bool asked_value(Sema *S, const void *key, Name name, Span at, Value *out) {
  Outside *o = S->p->outside;
  uint32_t i = answer_of(S->p, key, name);
  Answer a = scope_of(S->p, key)->answers.data[i];
  if (a.is.kind == OUTSIDE_NONE && !o->failed) return false;
  if (!a.done) {
    a.value = answer_value(S, name, &a.is, at);
    a.done = a.value.kind != V_ERROR;
    scope_of(S->p, key)->answers.data[i] = a;
  }
  *out = a.value;
  return true;
}

bool outside_get(Sema *S, const ModuleInfo *m, Name name, Span at, Value *out) {
  if (m->asks && asked_value(S, m->scope, name, at, out)) return true;
  if (m->has_language) *out = first_name(S, name);
  return m->has_language;
}

bool outside_default(Sema *S, const ModuleInfo *m, const FuncDef *def, const Param *p, Value *out) {
  if (!m || !m->asks || m->def != def) return false;
  Name name = pool_name(S->names, arena_printf(S->arena, "%s=", p->name));
  return asked_value(S, m->scope, name, p->span, out);
}

/* ---- calls ---- */

static void add_string(Text *out, const char *s) {
  text_puts(out, "'");
  for (; *s; s++) {
    unsigned char c = (unsigned char)*s;
    if (c < 32 || c == '\'' || c == '\\') text_printf(out, "\\x%02x", c);
    else text_putn(out, s, 1);
  }
  text_puts(out, "'");
}

static bool add_expression(Text *out, Value v, int depth);

/* Prints the items of tuples, lists and layouts. */
static bool add_items(Text *out, const Tuple *t, int depth) {
  bool layout = t->is_aggregate && t->cls->u.cls.module->is_std;
  if (((t->cls || t->fields) && !layout) || depth == VALUE_DEPTH_MAX) return false;
  if (layout) text_printf(out, "triton.experimental.gluon.language.%s", t->cls->u.cls.def->name);
  text_puts(out, t->is_list ? "[" : "(");
  for (uint32_t i = 0; i < t->len; i++) {
    if (out->len > VALUE_TEXT_MAX || !add_expression(out, t->data[i], depth + 1)) return false;
    text_puts(out, ",");
  }
  text_puts(out, t->is_list ? "]" : ")");
  return true;
}

/* The expression that means `v` to Python; false if it is no constant. */
static bool add_expression(Text *out, Value v, int depth) {
  v = undecay(v);
  Type t = v.kind == V_DTYPE ? v.u.dtype.type : type_scalar(DT_NONE);
  switch (v.kind) {
    case V_NONE:
    case V_BOOL:
    case V_INT: value_print(out, v, true); return true;
    case V_FLOAT:
      if (isfinite(v.u.f)) value_print(out, v, true);
      else text_printf(out, "float('%s')", isnan(v.u.f) ? "nan" : v.u.f < 0 ? "-inf" : "inf");
      return true;
    case V_STR: add_string(out, v.u.s); return true;
    case V_TUPLE: return add_items(out, v.u.tuple, depth);
    case V_DTYPE:
      if (t.rank || t.dtype == DT_PTR || t.dtype == DT_NONE) return false;
      text_printf(out, "triton.language.%s", dtype_lang_name((DType)t.dtype));
      return true;
    default: return false;
  }
}

bool outside_call(Sema *S, const Func *fn, const CallArgs *args, Value *out) {
  const ModuleInfo *m = fn->module;
  if (!m || !m->asks || fn->jit || fn->self || !fn->def || m->def != fn->def) return false;
  Text text = text_new(S->arena);
  text_printf(&text, "%s(", fn->def->name);
  for (uint32_t i = 0; i < args->npos; i++) {
    if (!add_expression(&text, args->pos[i], 0)) return false;
    text_puts(&text, ",");
  }
  for (uint32_t i = 0; i < args->nnamed; i++) {
    text_printf(&text, "%s=", args->names[i]);
    if (!add_expression(&text, args->named[i], 0)) return false;
    text_puts(&text, ",");
  }
  text_puts(&text, ")");
  return asked_value(S, m->scope, pool_name(S->names, text.data), args->at, out);
}
