/* Calls against schemas. */
#include <string.h>

#include "graph/messages.h"
#include "graph/ops/graph_text.h"
#include "graph/ops/ops.h"

typedef struct {
  Graph *g;
  const Node *n;
  const OpSchema *schema;
} Check;

enum { /* what an argument may be: bits */
       INTS = 1 << ARG_INT | 1 << ARG_BOOL,
       NUMBERS = INTS | 1 << ARG_FLOAT
};

/* By the type of one item; a number may stand for a tensor, as in mul.Tensor(x, 2). */
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

/* Of a list type: the type of its items; else PARAM_OTHER. */
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

static bool report_argument(const Check *c) {
  diag_hint(c->g->diags, H_GRAPH_SCHEMA, c->n->op->target, c->n->op->schema);
  return false;
}

static bool check_argument_value(const Check *c, const OpParam *p, const Arg *a) {
  if (arg_fits_param(p, a)) return true;
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
