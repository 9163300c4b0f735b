/* Which values are held in registers, and which of them share a layout. */
#include "lower/schedule/schedule_plan.h"

/* ---- index-only values ---- */

static bool cheap(TileCode c) {
  switch (c) {
    case TILE_CONST:
    case TILE_UNDEF:
    case TILE_ADD:
    case TILE_SUB:
    case TILE_MUL:
    case TILE_DIV:
    case TILE_REM:
    case TILE_NEG:
    case TILE_ABS:
    case TILE_MIN:
    case TILE_MAX:
    case TILE_AND:
    case TILE_OR:
    case TILE_XOR:
    case TILE_NOT:
    case TILE_SHL:
    case TILE_SHR:
    case TILE_LT:
    case TILE_LE:
    case TILE_GT:
    case TILE_GE:
    case TILE_EQ:
    case TILE_NE:
    case TILE_SELECT:
    case TILE_CAST:
    case TILE_BITCAST:
    case TILE_PTR_ADD:
    case TILE_HINT:
    case TILE_ARANGE:
    case TILE_SPLAT:
    case TILE_EXPAND_DIMS:
    case TILE_BROADCAST:
    case TILE_TRANS:
    case TILE_RESHAPE: return true;
    default: return false;
  }
}

/* Index-only values are computed at each use, by recursion over what they are made of, so a longer
 * chain of them is held in registers from there on.  The two axes orders of x + trans(x) are
 * computed apart, which doubles the work with every such level. */
enum { INDEX_DEPTH = 128, INDEX_TURNS = 4 };

typedef struct {
  bool *only;
  uint8_t *depth; /* of an index-only value: ops on its longest way down */
  uint8_t *turns; /* and the most that turn axes on one */
} IndexOnly;

/* False: too deep. */
static bool count_levels(IndexOnly *x, const TileOp *op) {
  int depth = 0, turns = 0;
  for (uint32_t i = 0; i < op->nargs; i++) {
    if (!op->args[i]->type.rank) continue;
    uint32_t arg = op->args[i]->id;
    if (x->depth[arg] > depth) depth = x->depth[arg];
    if (x->turns[arg] > turns) turns = x->turns[arg];
  }
  depth += op->nargs > 0;
  turns += op->code == TILE_TRANS;
  if (depth > INDEX_DEPTH || turns > INDEX_TURNS) return false;
  x->depth[op->results[0]->id] = (uint8_t)depth;
  x->turns[op->results[0]->id] = (uint8_t)turns;
  return true;
}

static void mark_index_only(TileOp *op, void *ctx) {
  IndexOnly *x = ctx;
  if (op->nresults != 1 || !op->results[0]->type.rank || !cheap(op->code)) return;
  bool floats = dtype_is_float((DType)op->results[0]->type.dtype);
  if (op->code == TILE_RESHAPE && op->args[0]->type.rank > 1) return;
  if (floats && (op->code == TILE_DIV || op->code == TILE_REM)) return;
  for (uint32_t i = 0; i < op->nargs; i++)
    if (op->args[i]->type.rank && !x->only[op->args[i]->id]) return;
  x->only[op->results[0]->id] = count_levels(x, op);
}

bool *schedule_index_only(const TileFunc *f, Arena *a) {
  IndexOnly x = {ARENA_ARRAY(a, bool, f->nvalues), ARENA_ARRAY(a, uint8_t, f->nvalues),
                 ARENA_ARRAY(a, uint8_t, f->nvalues)};
  tile_walk(f->body, mark_index_only, &x);
  return x.only;
}

bool schedule_renames(const TileValue *v) {
  return v->def && (v->def->code == TILE_SPLAT || v->def->code == TILE_EXPAND_DIMS ||
                    v->def->code == TILE_BROADCAST || v->def->code == TILE_TRANS ||
                    v->def->code == TILE_HINT);
}

/* ---- groups ---- */

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

static void tie(Plan *p, const TileValue *a, const TileValue *b) {
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

void plan_offer(Plan *p, const TileValue *v, Choice c) {
  Choice *best = &p->choice[plan_find(p, v->id)];
  if (c.rank > best->rank || (c.rank == best->rank && c.weight > best->weight)) *best = c;
}

void plan_groups(Plan *p) {
  for (uint32_t i = 0; i < p->f->nvalues; i++) p->parent[i] = i;
  tile_walk(p->f->body, note_dot, p);
  tile_walk(p->f->body, tie_op, p);
}
