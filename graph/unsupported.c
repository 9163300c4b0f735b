/* Operators that the table lacks: kept while a file is read, so that all can be named at once. */
#include <string.h>

#include "graph/ops.h"
#include "lang/messages.h"

const GraphOp *ops_row(Graph *g, const char *target) {
  const GraphOp *known = ops_find(target);
  if (known) return known;
  GraphOp *row = ARENA_NEW(g->arena, GraphOp);
  row->target = pool_name(g->names, target);
  return row;
}

typedef struct {
  const char *target;
  const Node *first;
  uint32_t nodes;
} Missing;

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
  diag_error(g->diags, missing.data[0].first->place, E_GRAPH_UNSUPPORTED, (unsigned)missing.len,
             nodes);
  for (size_t i = 0; i < missing.len; i++) {
    const Missing *m = &missing.data[i];
    const char *origin = m->first->origin;
    const char *where =
        origin ? arena_printf(g->arena, "%s (%s)", m->first->name, origin) : m->first->name;
    diag_note(g->diags, m->first->place, N_GRAPH_UNSUPPORTED, m->target, m->nodes, where);
  }
  return false;
}
