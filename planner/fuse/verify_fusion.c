/* The verifier of groups: each node is in one group at most, groups have the numbers of their
 * order, and what a group reads is computed before it, and written to memory if another group
 * computes it. */
#include "planner/fuse/fuse.h"

typedef struct {
  const Fusion *f;
  Arena *arena;
  bool *seen;       /* by id: nodes of groups, so far */
  uint32_t *walked; /* by id: the round that has come to the node */
  uint32_t round;
  const Node *at;
  const char *fault;
} Verifier;

/* Groups that run once come before all others. */
static bool runs_before(const Group *a, const Group *b) {
  return a->once != b->once ? a->once : a->number < b->number;
}

/* Through nodes of no group, each once for a reader.  each_operand() would make symbols of indices,
 * and a verifier changes nothing. */
static void verify_operand(Node **use, void *ctx) {
  Verifier *v = ctx;
  Node *operand = *use;
  const Group *from = v->f->of[operand->id], *to = v->f->of[v->at->id];
  if (v->fault || operand->kind == NODE_INPUT || from == to || v->walked[operand->id] == v->round)
    return;
  v->walked[operand->id] = v->round;
  if (!from) {
    graph_each_use(operand, verify_operand, v);
    return;
  }
  const char *why = !runs_before(from, to)       ? "which is computed later"
                    : !v->f->stored[operand->id] ? "which is not in memory"
                                                 : NULL;
  if (why)
    v->fault = arena_printf(v->arena, "`%s` reads `%s`, %s", v->at->name, operand->name, why);
}

static void verify_group(Verifier *v, const Group *group, size_t number) {
  if (group->number != number)
    v->fault = arena_printf(v->arena, "group %zu has number %u", number, group->number);
  for (size_t i = 0; i < group->nodes.len && !v->fault; i++) {
    Node *n = group->nodes.data[i];
    if (v->f->of[n->id] != group || v->seen[n->id])
      v->fault = arena_printf(v->arena, "`%s` is not in group %zu alone", n->name, number);
    v->at = n;
    v->round++;
    if (!v->fault) graph_each_use(n, verify_operand, v);
    v->seen[n->id] = true;
  }
}

/* The memory that groups leave, which is computed by none: it is there after the last of them. */
static bool is_left(const Node *n) {
  return graph_is(n, OP_nereid_loop_result_default) || prim_kind(n->op) == PRIM_INSERTED;
}

const char *fusion_fault(Arena *a, const Fusion *f) {
  uint32_t nids = f->graph->nids;
  Verifier v = {.f = f, .arena = a, .seen = ARENA_ARRAY(a, bool, nids + 1)};
  v.walked = ARENA_ARRAY(a, uint32_t, nids + 1);
  for (uint32_t i = 0; i < nids; i++) v.seen[i] = false, v.walked[i] = 0;
  for (size_t i = 0; i < f->groups.len && !v.fault; i++) verify_group(&v, f->groups.data[i], i);
  for (const Node *n = f->graph->first; n && !v.fault; n = n->next)
    if (f->of[n->id] && !v.seen[n->id] && !is_left(n))
      v.fault = arena_printf(a, "`%s` is missing in its group", n->name);
  return v.fault;
}
