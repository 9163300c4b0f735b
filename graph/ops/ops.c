#include "graph/ops/ops.h"

#include <stdlib.h>
#include <string.h>

#include "graph/ops/infer_rules.h"
#include "graph/ops/schema.h"

static const GraphOp rows[] = {
#define X(rule, prim, target, schema) {target, schema, infer_##rule, PRIM_##prim},
    GRAPH_OPS(X)
#undef X
};

enum { NROWS = sizeof rows / sizeof *rows };

static int compare_target(const void *target, const void *row) {
  return strcmp(target, ((const GraphOp *)row)->target);
}

const GraphOp *ops_find(const char *target) {
  return bsearch(target, rows, NROWS, sizeof *rows, compare_target);
}

const char *ops_short_name(Arena *a, const char *target) {
  const char *dot = strchr(target, '.'), *name = dot ? dot + 1 : target;
  return arena_strndup(a, name, strcspn(name, "."));
}

uint32_t ops_count(void) { return NROWS; }
const GraphOp *ops_at(uint32_t i) { return &rows[i]; }
uint32_t ops_number(const GraphOp *op) { return (uint32_t)(op - rows); }

const OpSchema *ops_schema(Graph *g, const GraphOp *op) {
  if (!op->schema) BUG("%s is no row of the table", op->target);
  if (!g->schemas) g->schemas = ARENA_ARRAY(g->arena, const OpSchema *, NROWS);
  const OpSchema **slot = &g->schemas[op - rows];
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
