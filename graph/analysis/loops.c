#include "graph/analysis/loops.h"

#include "graph/messages.h"
#include "graph/ops/prims.h"

static bool is_loop_node(const Node *n) {
  return graph_is_any(n, OP_nereid_carried_default, OP_nereid_loop_test_default,
                      OP_nereid_loop_end_default, OP_nereid_loop_result_default);
}

/* ---- where loops are ---- */

static uint32_t count_loops(const Graph *g) {
  uint32_t n = 0;
  for (const Node *x = g->first; x; x = x->next) n += graph_is(x, OP_nereid_loop_end_default);
  return n;
}

static Node *last_carried(const Loops *l, const Node *end) {
  const Arg *carried = &end->args[1];
  Node *last = carried->items[0].node;
  for (uint32_t i = 1; i < carried->n; i++)
    if (l->order[carried->items[i].node->id] > l->order[last->id]) last = carried->items[i].node;
  return last;
}

/* Nodes of the loop that belong to no inner one; inner loops get this one around them. */
static void claim_nodes(Loops *l, Loop *loop) {
  for (Node *n = loop->begin->next; n != loop->end->next; n = n->next)
    if (!l->of[n->id]) l->of[n->id] = loop;
  for (Loop *inner = l->list; inner < loop; inner++)
    if (!inner->outer && l->order[inner->begin->id] > l->order[loop->begin->id])
      inner->outer = loop;
}

Loops loops_find(const Graph *g, Arena *a) {
  Loops l = {.n = count_loops(g)};
  uint32_t count = 0, at = 0;
  if (!l.n) return l;
  l.list = ARENA_ARRAY(a, Loop, l.n);
  l.of = ARENA_ARRAY(a, const Loop *, g->nids);
  l.order = ARENA_ARRAY(a, uint32_t, g->nids);
  for (const Node *n = g->first; n; n = n->next) l.order[n->id] = ++count;
  for (Node *n = g->first; n; n = n->next) {
    if (!graph_is(n, OP_nereid_loop_end_default)) continue;
    Loop *loop = &l.list[at++];
    *loop = (Loop){.begin = last_carried(&l, n), .test = n->args[0].node, .end = n};
    claim_nodes(&l, loop);
  }
  return l;
}

/* ---- loop-invariant code motion ----
 *
 * CSE merges a node of a loop with an equal one after it, which reads a value that no iteration
 * may have computed: so this is needed for right results, too. */

typedef struct {
  const bool *varies;
  bool found;
} Operands;

static void look_at_operand(Node **use, void *ctx) {
  Operands *o = ctx;
  o->found |= o->varies[(*use)->id];
}

/* Checks stay: an index of a loop that does not run may be out of range. */
static bool varies_with(const bool *varies, Node *n) {
  Operands o = {varies, is_loop_node(n) || prim_checks(n)};
  graph_each_use(n, look_at_operand, &o);
  return o.found;
}

static void hoist_from(Graph *g, const Loop *loop, bool *varies) {
  const Arg *carried = &loop->end->args[1];
  for (uint32_t i = 0; i < carried->n; i++) varies[carried->items[i].node->id] = true;
  for (Node *n = loop->begin->next, *next; n != loop->end; n = next) {
    next = n->next;
    varies[n->id] = varies_with(varies, n);
    if (!varies[n->id]) graph_move(g, n, loop->begin);
  }
}

/* Operators that have no meaning in a loop, or none yet. */
static bool fits_in_loop(Graph *g, const Node *n) {
  if (n->kind != NODE_CALL) return true;
  const char *message = NULL;
  if (n->op->random || graph_is(n, OP_nereid_random_default)) message = E_GRAPH_LOOP_RANDOM;
  else if (n->op->sized_by_data) message = E_GRAPH_LOOP_SIZE;
  if (message) diag_error(g->diags, n->location, message, n->name, n->op->target);
  return !message;
}

bool loops_hoist(Graph *g) {
  Arena *scratch = arena_child(g->arena);
  Loops l = loops_find(g, scratch);
  bool good = true;
  for (const Node *n = l.n ? g->first : NULL; n; n = n->next)
    if (l.of[n->id]) good &= fits_in_loop(g, n);
  for (uint32_t i = 0; i < l.n; i++) hoist_from(g, &l.list[i], ARENA_ARRAY(scratch, bool, g->nids));
  arena_free(scratch);
  return good;
}
