/* Operators that the table lacks: kept while a file is read, so that all can be named at once. */
#include <string.h>

#include "graph/messages.h"
#include "graph/ops/ops.h"
#include "runtime/support/error.h"

const GraphOp *ops_row(Graph *g, const char *target) {
  const GraphOp *known = ops_find(target);
  if (known) return known;
  GraphOp *row = ARENA_NEW(g->arena, GraphOp);
  row->id = OP_UNKNOWN;
  row->target = pool_name(g->names, target);
  return row;
}

typedef struct {
  const char *target;
  const Node *first;
  uint32_t nodes;
} Missing;

const char *ops_where(Graph *g, const Node *n) {
  return n->origin ? arena_printf(g->arena, "%s (%s)", n->name, n->origin) : n->name;
}

/* An operator of which only the name of the overload is missing. */
static const char *overload_of(Arena *a, const char *target) {
  static const char *const overloads[] = {"default", "Tensor"};
  for (size_t i = 0; i < sizeof overloads / sizeof *overloads; i++) {
    const GraphOp *op = ops_find(arena_printf(a, "%s.%s", target, overloads[i]));
    if (op) return op->target;
  }
  return NULL;
}

/* The closest known name, "" if none is close. */
static const char *advice(Graph *g, const char *target) {
  if (!strncmp(target, "call_", 5)) return H_GRAPH_NO_ATEN;
  Arena *scratch = arena_child(g->arena);
  const char **names = ARENA_ARRAY(scratch, const char *, OP_UNKNOWN);
  for (uint32_t i = 0; i < OP_UNKNOWN; i++) names[i] = ops_at((OpId)i)->target;
  const char *nearest = overload_of(scratch, target);
  if (!nearest) nearest = error_nearest(target, names, OP_UNKNOWN);
  arena_free(scratch);
  return nearest ? arena_printf(g->arena, H_GRAPH_OPERATOR, nearest) : "";
}

bool ops_all_known(Graph *g) {
  VEC(Missing) missing = {0};
  uint32_t nodes = 0;
  for (const Node *n = g->first; n; n = n->next) {
    if (n->kind != NODE_CALL || n->op->schema) continue;
    size_t i = 0;
    while (i < missing.len && missing.data[i].target != n->op->target) i++;
    if (i == missing.len) vec_push(g->arena, &missing, ((Missing){n->op->target, n, 0}));
    missing.data[i].nodes++;
    nodes++;
  }
  if (nodes == 0) return true;
  diag_error(g->diags, missing.data[0].first->location, E_GRAPH_UNSUPPORTED, (unsigned)missing.len,
             nodes, nodes == 1 ? "" : "s");
  for (size_t i = 0; i < missing.len; i++) {
    const Missing *m = &missing.data[i];
    const char *where = ops_where(g, m->first);
    diag_note(g->diags, m->first->location, N_GRAPH_UNSUPPORTED, m->target, m->nodes,
              m->nodes == 1 ? "" : "s", where, advice(g, m->target));
  }
  return false;
}
