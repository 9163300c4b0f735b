#include "graph/ops/ops.h"

#include <stdlib.h>
#include <string.h>

#include "graph/ops/infer_rules.h"
#include "graph/ops/schema.h"

static const GraphOp rows[OP_UNKNOWN];

static const GraphOp rows[OP_UNKNOWN] = {
#define OP(library, name, overload, rule, text, ...) \
  {.id = OP_##library##_##name##_##overload,         \
   .target = #library "." #name "." #overload,       \
   .schema = text,                                   \
   .infer = infer_##rule,                            \
   __VA_ARGS__},
#define FUNCTION(library, name, rule, text) \
  {.id = OP_##library##_##name,             \
   .target = #library "." #name,            \
   .schema = text,                          \
   .infer = infer_##rule},
#define POINTWISE(...) .prim = PRIM_POINTWISE,
#define VIEW(...) .prim = PRIM_VIEW,
#define GATHER(...) .prim = PRIM_GATHER,
#define REDUCE(...) .prim = PRIM_REDUCE,
#define SCAN(...) .prim = PRIM_SCAN,
#define PRIM(kind) .prim = PRIM_##kind,
#define FUNCTIONAL(op) .functional = &rows[OP_##op],
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

const char *ops_short_name(Arena *a, const char *target) {
  const char *dot = strchr(target, '.'), *name = dot ? dot + 1 : target;
  return arena_strndup(a, name, strcspn(name, "."));
}

const GraphOp *ops_at(OpId id) { return &rows[id]; }

bool graph_is_among(const Node *n, const OpId *ids) {
  if (n->kind != NODE_CALL) return false;
  while (*ids != OP_UNKNOWN && *ids != n->op->id) ids++;
  return *ids != OP_UNKNOWN;
}

const OpSchema *ops_schema(Graph *g, const GraphOp *op) {
  if (!op->schema) BUG("%s is no row of the table", op->target);
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
  if (i < 0) BUG("%s has no parameter '%s'", n->op->target, param);
  if ((uint32_t)i < n->nargs && (uint32_t)i < s->npositional) return n->args[i];
  for (uint32_t k = 0; k < n->nnamed; k++)
    if (!strcmp(n->named[k].name, param)) return n->named[k].value;
  return s->params[i].has_default ? s->params[i].dflt : arg_none();
}
