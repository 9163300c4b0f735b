#include "graph/ops/schema.h"

#include <stdlib.h>
#include <string.h>

typedef struct {
  Graph *g;
  const char *text, *at;
} Cursor;

typedef VEC(OpParam) Params;

static bool accept(Cursor *c, const char *s) {
  size_t n = strlen(s);
  if (strncmp(c->at, s, n)) return false;
  c->at += n;
  return true;
}

static void expect(Cursor *c, const char *s) {
  if (!accept(c, s)) BUG("schema %s: expected '%s' at '%s'", c->text, s, c->at);
}

static Name word(Cursor *c) {
  size_t n = strspn(c->at, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_");
  if (!n) BUG("schema %s: expected a word at '%s'", c->text, c->at);
  c->at += n;
  return pool_namen(c->g->names, c->at - n, n);
}

/* ---- types ---- */

static const struct {
  const char *name;
  ParamType one, list;
} types[] = {
    {"Tensor", PARAM_TENSOR, PARAM_TENSORS},     {"int", PARAM_INT, PARAM_INTS},
    {"SymInt", PARAM_INT, PARAM_INTS},           {"float", PARAM_FLOAT, PARAM_FLOATS},
    {"bool", PARAM_BOOL, PARAM_BOOLS},           {"Scalar", PARAM_SCALAR, PARAM_OTHER},
    {"str", PARAM_STRING, PARAM_OTHER},          {"ScalarType", PARAM_DTYPE, PARAM_OTHER},
    {"Device", PARAM_DEVICE, PARAM_OTHER},       {"Layout", PARAM_LAYOUT, PARAM_OTHER},
    {"MemoryFormat", PARAM_FORMAT, PARAM_OTHER},
};

static ParamType type_of(Name name, bool list) {
  for (size_t i = 0; i < sizeof types / sizeof *types; i++)
    if (!strcmp(types[i].name, name)) return list ? types[i].list : types[i].one;
  return PARAM_OTHER;
}

/* What may be written and viewed: `(a!)`, `(a)`, `(a -> *)`. */
static void aliases(Cursor *c, OpParam *p) {
  if (!accept(c, "(")) return;
  const char *end = strchr(c->at, ')');
  p->written = memchr(c->at, '!', (size_t)(end - c->at));
  p->viewed = !p->written;
  c->at = end + 1;
}

/* TYPE, TYPE?, TYPE[], TYPE[2], TYPE?[], TYPE[]? */
static void param_type(Cursor *c, OpParam *p) {
  Name name = word(c);
  aliases(c, p);
  bool list = false;
  for (;;) {
    if (accept(c, "?")) {
      p->optional = true;
    } else if (accept(c, "[")) {
      list = true;
      p->sparse = p->optional;
      p->optional = false;
      p->repeat = (uint32_t)strtoul(c->at, (char **)&c->at, 10);
      expect(c, "]");
    } else {
      break;
    }
  }
  p->type = type_of(name, list);
}

/* ---- defaults ---- */

static Arg read_default_number(Cursor *c) {
  size_t n = strspn(c->at, "+-.0123456789e");
  bool is_float = memchr(c->at, '.', n) || memchr(c->at, 'e', n);
  const char *at = c->at;
  c->at += n;
  if (is_float) return (Arg){.kind = ARG_FLOAT, .number = strtod(at, NULL)};
  return arg_int(c->g, strtoll(at, NULL, 10));
}

static Arg quoted(Cursor *c) {
  const char *end = strchr(c->at, '\'');
  Arg a = {.kind = ARG_STRING, .name = pool_namen(c->g->names, c->at, (size_t)(end - c->at))};
  c->at = end + 1;
  return a;
}

static Arg default_value(Cursor *c) {
  if (accept(c, "None")) return arg_none();
  if (accept(c, "True")) return (Arg){.kind = ARG_BOOL, .flag = true};
  if (accept(c, "False")) return (Arg){.kind = ARG_BOOL, .flag = false};
  if (accept(c, "[]")) return arg_list(c->g, 0);
  if (accept(c, "'")) return quoted(c);
  if (accept(c, "long"))
    return (Arg){.kind = ARG_DTYPE, .dtype = DT_I64, .name = pool_name(c->g->names, "int64")};
  if (accept(c, "Mean")) return arg_int(c->g, 1); /* of reductions: none 0, mean 1, sum 2 */
  if (strchr("-0123456789", *c->at)) return read_default_number(c);
  return (Arg){.kind = ARG_FORMAT, .name = word(c)};
}

/* ---- parameters and results ---- */

static OpParam param(Cursor *c) {
  OpParam p = {0};
  param_type(c, &p);
  expect(c, " ");
  p.name = word(c);
  p.has_default = accept(c, "=");
  if (p.has_default) p.dflt = default_value(c);
  return p;
}

static void parameters(Cursor *c, OpSchema *s) {
  Params params = {0};
  bool named_only = false;
  expect(c, "(");
  while (!accept(c, ")")) {
    if (accept(c, "*")) {
      named_only = true;
    } else {
      OpParam p = param(c);
      p.named_only = named_only;
      s->npositional += !named_only;
      vec_push(c->g->arena, &params, p);
    }
    accept(c, ", ");
  }
  s->params = params.data;
  s->nparams = (uint32_t)params.len;
}

static void results(Cursor *c, OpSchema *s) {
  expect(c, " -> ");
  if (!strcmp(c->at, "()")) return;
  s->nresults = 1;
  s->list = strstr(c->at, "[]");
  if (*c->at != '(') return;
  for (const char *p = c->at; *p; p++) s->nresults += *p == ',';
}

const OpSchema *schema_parse(Graph *g, const char *text) {
  OpSchema *s = ARENA_NEW(g->arena, OpSchema);
  Cursor c = {g, text, text};
  parameters(&c, s);
  results(&c, s);
  return s;
}
