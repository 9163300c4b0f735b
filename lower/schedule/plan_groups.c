/* Groups: values that share a layout. */
#include "lower/schedule/plan.h"

uint32_t plan_find(Plan *p, uint32_t v) {
  while (p->parent[v] != v) v = p->parent[v] = p->parent[p->parent[v]];
  return v;
}

bool plan_held(const Plan *p, const TileValue *v) {
  return v && v->type.rank && !p->index_only[v->id];
}

/* Dots of one group have one layout, so they are computed by one atom. */
static bool may_join(const Plan *p, const TileOp *a, const TileOp *b) {
  return !a || !b || plan_dot_atom(p, a) == plan_dot_atom(p, b);
}

/* A load that runs ahead is read of shared memory, in whatever layout its users like. */
static void tie(Plan *p, const TileValue *a, const TileValue *b) {
  if ((a && p->ahead[a->id]) || (b && p->ahead[b->id])) return;
  if (!plan_held(p, a) || !plan_held(p, b) || !type_same_shape(a->type, b->type)) return;
  uint32_t from = plan_find(p, a->id), to = plan_find(p, b->id);
  if (!may_join(p, p->dot[from], p->dot[to])) return;
  p->parent[from] = to;
  if (!p->dot[to]) p->dot[to] = p->dot[from];
}

static void note_dot(TileOp *op, void *ctx) {
  Plan *p = ctx;
  if (op->code == TILE_DOT) p->dot[op->results[0]->id] = op;
}

static void tie_loop(Plan *p, const TileOp *op) {
  bool is_for = op->code == TILE_FOR;
  uint32_t first = is_for ? 3 : 0, skip = is_for ? 1 : 0;
  const TileBlock *head = op->regions[0], *body = op->regions[is_for ? 0 : 1];
  for (uint32_t i = 0; i + first < op->nargs; i++) {
    tie(p, head->params[i + skip], op->args[i + first]);
    tie(p, head->params[i + skip], body->last->args[i]);
  }
  for (uint32_t i = 0; i < op->nresults; i++) {
    if (is_for) {
      tie(p, op->results[i], head->params[i + 1]);
      continue;
    }
    tie(p, op->results[i], head->last->args[i + 1]);
    tie(p, body->params[i], head->last->args[i + 1]);
  }
}

static void tie_op(TileOp *op, void *ctx) {
  Plan *p = ctx;
  switch (op->code) {
    case TILE_FOR:
    case TILE_WHILE: tie_loop(p, op); return;
    case TILE_IF:
      for (uint32_t i = 0; i < op->nresults; i++)
        for (int r = 0; r < 2; r++) tie(p, op->results[i], op->regions[r]->last->args[i]);
      return;
    case TILE_DOT: tie(p, op->args[2], op->results[0]); return;
    case TILE_LOAD:
    case TILE_ATOMIC_RMW:
    case TILE_ATOMIC_CAS:
    case TILE_VIEW_LOAD:
      for (uint32_t i = 0; i < op->nargs; i++) tie(p, op->args[i], op->results[0]);
      return;
    case TILE_STORE:
      tie(p, op->args[0], op->args[1]);
      tie(p, op->args[2], op->args[1]);
      return;
    case TILE_SLICE:
      if (machine_has(p->u->machine, HAS_COALESCING) && schedule_flipped_axes(op))
        tie(p, op->args[0], op->results[0]);
      return;
    case TILE_ASM:
    case TILE_ASM_IMPURE:
      for (uint32_t i = 0; i < op->nargs; i++) tie(p, op->args[i], op->results[0]);
      for (uint32_t i = 1; i < op->nresults; i++) tie(p, op->results[i], op->results[0]);
      return;
    case TILE_SCAN:
      for (uint32_t i = 0; i < op->nargs; i++) tie(p, op->args[i], op->results[i]);
      for (uint32_t i = 1; i < op->nargs; i++) tie(p, op->args[i], op->args[0]);
      return;
    case TILE_REDUCE:
      for (uint32_t i = 1; i < op->nargs; i++) tie(p, op->args[i], op->args[0]);
      for (uint32_t i = 1; i < op->nresults; i++) tie(p, op->results[i], op->results[0]);
      return;
    default:
      if (tile_op_flags(op->code) & TILE_ELEM)
        for (uint32_t i = 0; i < op->nargs; i++) tie(p, op->args[i], op->results[0]);
      return;
  }
}

/* Is a surer than b? */
static bool is_better(const Choice *a, const Choice *b) {
  if (a->rank != b->rank) return a->rank > b->rank;
  if (a->weight != b->weight) return a->weight > b->weight;
  return a->adjacent && !b->adjacent;
}

void plan_offer(Plan *p, const TileValue *v, Choice c) {
  Choice *best = &p->choice[plan_find(p, v->id)];
  if (is_better(&c, best)) *best = c;
}

void plan_groups(Plan *p) {
  for (uint32_t i = 0; i < p->f->nvalues; i++) p->parent[i] = i;
  tile_walk(p->f->body, note_dot, p);
  tile_walk(p->f->body, tie_op, p);
}
