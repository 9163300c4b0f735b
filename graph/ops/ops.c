#include "graph/ops/ops.h"

#include <stdlib.h>
#include <string.h>

#include "graph/messages.h"
#include "graph/ops/graph_text.h"
#include "graph/ops/infer_rules.h"

/* ---- schemas as ATen writes them ----
 *
 * "(Tensor(a!) self, int[2] n, *, Scalar? b=1) -> Tensor(a!)" */

typedef struct {
  Graph *g;
  const char *text, *at;
} Cursor;

typedef VEC(OpParam) Params;

static bool accept_schema_text(Cursor *c, const char *s) {
  size_t n = strlen(s);
  if (strncmp(c->at, s, n)) return false;
  c->at += n;
  return true;
}

static void expect_schema_text(Cursor *c, const char *s) {
  BUG_IF(!accept_schema_text(c, s), "schema %s: expected '%s' at '%s'", c->text, s, c->at);
}

static Name read_schema_word(Cursor *c) {
  size_t n = strspn(c->at, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_");
  BUG_IF(!n, "schema %s: expected a word at '%s'", c->text, c->at);
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
    {"bool", PARAM_BOOL, PARAM_BOOLS},           {"Scalar", PARAM_SCALAR, PARAM_FLOATS},
    {"str", PARAM_STRING, PARAM_OTHER},          {"ScalarType", PARAM_DTYPE, PARAM_OTHER},
    {"Device", PARAM_DEVICE, PARAM_OTHER},       {"Layout", PARAM_LAYOUT, PARAM_OTHER},
    {"MemoryFormat", PARAM_FORMAT, PARAM_OTHER},
};

static ParamType param_type_named(Name name, bool list) {
  for (size_t i = 0; i < sizeof types / sizeof *types; i++)
    if (!strcmp(types[i].name, name)) return list ? types[i].list : types[i].one;
  return PARAM_OTHER;
}

/* Parameters that may be written and viewed: `(a!)`, `(a)`, `(a -> *)`. */
static void aliases(Cursor *c, OpParam *p) {
  if (!accept_schema_text(c, "(")) return;
  const char *end = strchr(c->at, ')');
  p->written = memchr(c->at, '!', (size_t)(end - c->at));
  p->viewed = !p->written;
  c->at = end + 1;
}

/* TYPE, TYPE?, TYPE[], TYPE[2], TYPE?[], TYPE[]? */
static void read_param_type(Cursor *c, OpParam *p) {
  Name name = read_schema_word(c);
  aliases(c, p);
  bool list = false;
  for (;;) {
    if (accept_schema_text(c, "?")) {
      p->optional = true;
    } else if (accept_schema_text(c, "[")) {
      list = true;
      p->sparse = p->optional;
      p->optional = false;
      p->repeat = (uint32_t)strtoul(c->at, (char **)&c->at, 10);
      expect_schema_text(c, "]");
    } else {
      break;
    }
  }
  p->type = param_type_named(name, list);
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

static Arg read_quoted(Cursor *c) {
  const char *end = strchr(c->at, '\'');
  Arg a = {.kind = ARG_STRING, .name = pool_namen(c->g->names, c->at, (size_t)(end - c->at))};
  c->at = end + 1;
  return a;
}

/* -2,-1] */
static Arg read_default_list(Cursor *c) {
  Arg list = arg_list(c->g, GRAPH_RANK_MAX);
  list.n = 0;
  do list.items[list.n++] = read_default_number(c);
  while (accept_schema_text(c, ","));
  expect_schema_text(c, "]");
  return list;
}

static Arg default_value(Cursor *c) {
  if (accept_schema_text(c, "None")) return arg_none();
  if (accept_schema_text(c, "True")) return (Arg){.kind = ARG_BOOL, .flag = true};
  if (accept_schema_text(c, "False")) return (Arg){.kind = ARG_BOOL, .flag = false};
  if (accept_schema_text(c, "[]")) return arg_list(c->g, 0);
  if (accept_schema_text(c, "[")) return read_default_list(c);
  if (accept_schema_text(c, "'")) return read_quoted(c);
  if (accept_schema_text(c, "long"))
    return (Arg){.kind = ARG_DTYPE, .dtype = DT_I64, .name = pool_name(c->g->names, "int64")};
  if (accept_schema_text(c, "Mean"))
    return arg_int(c->g, 1); /* of reductions: none 0, mean 1, sum 2 */
  if (strchr("-0123456789", *c->at)) return read_default_number(c);
  return (Arg){.kind = ARG_FORMAT, .name = read_schema_word(c)};
}

/* ---- parameters and results ---- */

static OpParam param(Cursor *c) {
  OpParam p = {0};
  read_param_type(c, &p);
  expect_schema_text(c, " ");
  p.name = read_schema_word(c);
  p.has_default = accept_schema_text(c, "=");
  if (p.has_default) p.dflt = default_value(c);
  return p;
}

static void read_schema_parameters(Cursor *c, OpSchema *s) {
  Params params = {0};
  bool named_only = false;
  expect_schema_text(c, "(");
  while (!accept_schema_text(c, ")")) {
    if (accept_schema_text(c, "*")) {
      named_only = true;
    } else {
      OpParam p = param(c);
      p.named_only = named_only;
      s->npositional += !named_only;
      vec_push(c->g->arena, &params, p);
    }
    accept_schema_text(c, ", ");
  }
  s->params = params.data;
  s->nparams = (uint32_t)params.len;
}

static void read_schema_results(Cursor *c, OpSchema *s) {
  expect_schema_text(c, " -> ");
  if (!strcmp(c->at, "()")) return;
  s->nresults = 1;
  s->list = strstr(c->at, "[]");
  if (*c->at != '(') return;
  for (const char *p = c->at; *p; p++) s->nresults += *p == ',';
}

/* Parses a schema of the op table, in which an error is a bug. */
static const OpSchema *schema_parse(Graph *g, const char *text) {
  OpSchema *s = ARENA_NEW(g->arena, OpSchema);
  Cursor c = {g, text, text};
  read_schema_parameters(&c, s);
  read_schema_results(&c, s);
  return s;
}

/* ---- the table ---- */

static const GraphOp rows[OP_UNKNOWN];

static const GraphOp rows[OP_UNKNOWN] = {
#define OP(library, name, overload, rule, text, ...) \
  {.id = OP_##library##_##name##_##overload,         \
   .target = #library "." #name "." #overload,       \
   .schema = text,                                   \
   .infer = infer_##rule,                            \
   __VA_ARGS__},
#define FUNCTION(library, name, rule, text, ...) \
  {.id = OP_##library##_##name,                  \
   .target = #library "." #name,                 \
   .schema = text,                               \
   .infer = infer_##rule,                        \
   __VA_ARGS__},
#define POINTWISE(...) .prim = PRIM_POINTWISE,
#define VIEW(...) .prim = PRIM_VIEW,
#define GATHER(...) .prim = PRIM_GATHER,
#define REDUCE(...) .prim = PRIM_REDUCE,
#define SCAN(...) .prim = PRIM_SCAN,
#define PRIM(kind) .prim = PRIM_##kind,
#define NUMBER(op) .number = &rows[OP_##op],
#define FUNCTIONAL(op) .functional = &rows[OP_##op],
#define EACH(op) .each = &rows[OP_##op],
#define SAME_AS(op) .same_as = &rows[OP_##op],
#define COMPLEX(rule, result) .complex_result = COMPLEX_##result,
#define EXPAND(...) .complex_result = COMPLEX_AS_BUILT,
#define COMMUTES .commutes = true,
#define RANDOM .random = true,
#define ASSERTS .asserts = true,
#define SIZED_BY_DATA .sized_by_data = true,
#include "graph/ops/op_table.def"
};

static int compare_target(const void *target, const void *row) {
  return strcmp(target, ((const GraphOp *)row)->target);
}

const GraphOp *ops_find(const char *target) {
  return bsearch(target, rows, OP_UNKNOWN, sizeof *rows, compare_target);
}

/* Rows with the same beginning follow each other, since '.' comes before all letters of names. */
OpRange ops_named(const char *name) {
  size_t len = strlen(name);
  uint32_t first = 0, end = OP_UNKNOWN;
  while (first < end) {
    uint32_t middle = (first + end) / 2;
    if (strcmp(rows[middle].target, name) < 0) first = middle + 1;
    else end = middle;
  }
  while (end < OP_UNKNOWN && !strncmp(rows[end].target, name, len) &&
         (rows[end].target[len] == '.' || !rows[end].target[len]))
    end++;
  return (OpRange){first, end};
}

const char *ops_short_name(Arena *a, const char *target) {
  const char *dot = strchr(target, '.'), *name = dot ? dot + 1 : target;
  return arena_strndup(a, name, strcspn(name, "."));
}

const GraphOp *ops_at(OpId id) { return &rows[id]; }

const GraphOp *ops_renamed(const GraphOp *op) {
  while (op->same_as) op = op->same_as;
  return op;
}

ComplexResult ops_complex_result(const GraphOp *op) {
  if (op->functional) op = op->functional;
  if (op->complex_result) return op->complex_result;
  return ops_renamed(op)->complex_result;
}

bool graph_is_among(const Node *n, const OpId *ids) {
  if (n->kind != NODE_CALL) return false;
  while (*ids != OP_UNKNOWN && *ids != n->op->id) ids++;
  return *ids != OP_UNKNOWN;
}

const OpSchema *ops_schema(Graph *g, const GraphOp *op) {
  BUG_IF(!op->schema, "%s is no row of the table", op->target);
  if (!g->schemas) g->schemas = ARENA_ARRAY(g->arena, const OpSchema *, OP_UNKNOWN);
  const OpSchema **slot = &g->schemas[op->id];
  if (!*slot) *slot = schema_parse(g, op->schema);
  return *slot;
}

int ops_param(const OpSchema *s, const char *name) {
  for (uint32_t i = 0; i < s->nparams; i++)
    if (!strcmp(s->params[i].name, name)) return (int)i;
  return -1;
}

Arg graph_arg(Graph *g, const Node *n, const char *param) {
  const OpSchema *s = ops_schema(g, n->op);
  int i = ops_param(s, param);
  BUG_IF(i < 0, "%s has no parameter '%s'", n->op->target, param);
  if ((uint32_t)i < n->nargs && (uint32_t)i < s->npositional) return n->args[i];
  for (uint32_t k = 0; k < n->nnamed; k++)
    if (!strcmp(n->named[k].name, param)) return n->named[k].value;
  return s->params[i].has_default ? s->params[i].dflt : arg_none();
}

bool arg_is_number(const Arg *a, int64_t value) {
  if (a->kind == ARG_INT) return dim_is(a->dim, value);
  return a->kind == ARG_FLOAT && a->number == (double)value;
}

bool graph_scales_operand(Graph *g, const Node *n) {
  if (ops_param(ops_schema(g, n->op), "alpha") < 0) return false;
  Arg alpha = graph_arg(g, n, "alpha");
  return alpha.kind == ARG_BOOL ? !alpha.flag : !arg_is_number(&alpha, 1);
}

/* ---- calls against schemas ---- */

typedef struct {
  Graph *g;
  const Node *n;
  const OpSchema *schema;
} Check;

enum { /* what an argument may be: bits */
       INTS = 1 << ARG_INT | 1 << ARG_BOOL,
       NUMBERS = INTS | 1 << ARG_FLOAT
};

/* The kinds by the type of one item; a number may be given for a tensor, as in mul.Tensor(x, 2). */
static const struct {
  const char *text;
  unsigned literals; /* ArgKinds */
  unsigned values;   /* ValueKinds of nodes */
} kinds[] = {
    [PARAM_TENSOR] = {"a tensor", NUMBERS,
                      1 << VALUE_TENSOR | 1 << VALUE_INT | 1 << VALUE_FLOAT | 1 << VALUE_BOOL},
    [PARAM_INT] = {"an integer", INTS, 1 << VALUE_INT | 1 << VALUE_BOOL},
    [PARAM_FLOAT] = {"a number", NUMBERS, 1 << VALUE_INT | 1 << VALUE_FLOAT | 1 << VALUE_BOOL},
    [PARAM_BOOL] = {"True or False", INTS, 1 << VALUE_INT | 1 << VALUE_BOOL},
    [PARAM_SCALAR] = {"a number", NUMBERS, 1 << VALUE_INT | 1 << VALUE_FLOAT | 1 << VALUE_BOOL},
    [PARAM_STRING] = {"a string", 1 << ARG_STRING, 0},
    [PARAM_DTYPE] = {"a dtype", 1 << ARG_DTYPE, 0},
    [PARAM_DEVICE] = {"a device", 1 << ARG_DEVICE, 0},
    [PARAM_LAYOUT] = {"a layout", 1 << ARG_LAYOUT, 0},
    [PARAM_FORMAT] = {"a memory format", 1 << ARG_FORMAT, 0},
    [PARAM_TENSORS] = {"a list of tensors", 0, 1 << VALUE_LIST},
    [PARAM_INTS] = {"a list of integers", 0, 0},
    [PARAM_FLOATS] = {"a list of numbers", 0, 0},
    [PARAM_BOOLS] = {"a list of bools", 0, 0},
    [PARAM_OTHER] = {"None", 0, 0},
};

/* The type of a list type's items; PARAM_OTHER for other types. */
static ParamType item_type(ParamType t) {
  switch (t) {
    case PARAM_TENSORS: return PARAM_TENSOR;
    case PARAM_INTS: return PARAM_INT;
    case PARAM_FLOATS: return PARAM_FLOAT;
    case PARAM_BOOLS: return PARAM_BOOL;
    default: return PARAM_OTHER;
  }
}

static bool fits_one(ParamType type, const Arg *a) {
  if (a->kind != ARG_NODE) return kinds[type].literals >> a->kind & 1;
  ValueKind v = a->node->type.kind;
  return v == VALUE_UNKNOWN || kinds[type].values >> v & 1;
}

static bool arg_fits_param(const OpParam *p, const Arg *a) {
  if (a->kind == ARG_NONE) return p->optional || p->type == PARAM_OTHER;
  ParamType item = item_type(p->type);
  if (a->kind != ARG_LIST) return fits_one(p->type, a) || (p->repeat && fits_one(item, a));
  if (item == PARAM_OTHER) return false;
  for (uint32_t i = 0; i < a->n; i++)
    if (!fits_one(item, &a->items[i]) && !(p->sparse && a->items[i].kind == ARG_NONE)) return false;
  return true;
}

/* A tensor without axes: a complex number, or one that data decides. */
static bool is_number_in_tensor(const OpParam *p, const Arg *a) {
  if ((p->type != PARAM_SCALAR && p->type != PARAM_FLOAT) || a->kind != ARG_NODE) return false;
  const ValueType *t = &a->node->type;
  return t->kind == VALUE_TENSOR && !t->rank;
}

static bool report_argument(const Check *c) {
  diag_hint(c->g->diags, H_GRAPH_SCHEMA, c->n->op->target, c->n->op->schema);
  return false;
}

static bool check_argument_value(const Check *c, const OpParam *p, const Arg *a) {
  if (arg_fits_param(p, a) || is_number_in_tensor(p, a)) return true;
  Text given = text_new(c->g->arena);
  arg_print(&given, a);
  diag_error(c->g->diags, c->n->location, E_GRAPH_ARG_KIND, p->name, c->n->op->target,
             kinds[p->type].text, given.data);
  return report_argument(c);
}

static bool check_positional(const Check *c) {
  if (c->n->nargs > c->schema->npositional) {
    diag_error(c->g->diags, c->n->location, E_GRAPH_ARG_COUNT, c->n->op->target,
               c->schema->npositional, c->n->nargs);
    return report_argument(c);
  }
  for (uint32_t i = 0; i < c->n->nargs; i++)
    if (!check_argument_value(c, &c->schema->params[i], &c->n->args[i])) return false;
  return true;
}

static bool given_before(const Check *c, int param, uint32_t named) {
  if ((uint32_t)param < c->n->nargs) return true;
  for (uint32_t i = 0; i < named; i++)
    if (!strcmp(c->n->named[i].name, c->n->named[named].name)) return true;
  return false;
}

static bool check_named(const Check *c, uint32_t i) {
  const NamedArg *a = &c->n->named[i];
  int param = ops_param(c->schema, a->name);
  if (param < 0) {
    diag_error(c->g->diags, c->n->location, E_GRAPH_ARG_NAME, c->n->op->target, a->name);
    return report_argument(c);
  }
  if (given_before(c, param, i)) {
    diag_error(c->g->diags, c->n->location, E_GRAPH_ARG_TWICE, a->name, c->n->op->target);
    return report_argument(c);
  }
  return check_argument_value(c, &c->schema->params[param], &a->value);
}

static bool check_missing(const Check *c) {
  for (uint32_t i = c->n->nargs; i < c->schema->nparams; i++) {
    const OpParam *p = &c->schema->params[i];
    bool given = p->has_default;
    for (uint32_t k = 0; k < c->n->nnamed; k++) given |= !strcmp(c->n->named[k].name, p->name);
    if (given) continue;
    diag_error(c->g->diags, c->n->location, E_GRAPH_ARG_MISSING, c->n->op->target, p->name);
    return report_argument(c);
  }
  return true;
}

bool ops_check(Graph *g, const Node *n) {
  Check c = {g, n, ops_schema(g, n->op)};
  if (!check_positional(&c)) return false;
  for (uint32_t i = 0; i < n->nnamed; i++)
    if (!check_named(&c, i)) return false;
  return check_missing(&c);
}
