/* The layouts that accesses to memory would like best, and loads that run ahead. */
#include "lower/schedule/plan.h"

#include <string.h>

/* ---- where data decides addresses ---- */

static unsigned long_axes(const Type *t) {
  unsigned axes = 0;
  for (int a = 0; a < t->rank; a++) axes |= (unsigned)(t->shape[a] > 1) << a;
  return axes;
}

/* rows[:, None] * stride + column[None, :], with rows that are loaded, still has an order along the
 * columns; codes[:, None] >> shift[None, :] & 15 has none along any axis. */
static unsigned data_axes_of(const Plan *p, const TileOp *op, const TileValue *r) {
  unsigned axes = 0, arg = op->nargs ? p->data_axes[op->args[0]->id] : 0;
  if (!plan_held(p, r)) return 0;
  switch (op->code) {
    case TILE_ADD:
    case TILE_SUB:
    case TILE_MUL:
    case TILE_NEG:
    case TILE_CAST:
    case TILE_HINT:
    case TILE_PTR_ADD:
      for (uint32_t i = 0; i < op->nargs; i++) axes |= p->data_axes[op->args[i]->id];
      return axes;
    case TILE_BROADCAST: return arg;
    case TILE_EXPAND_DIMS: {
      unsigned below = (1U << tile_int(op, TA_axis, 0)) - 1;
      return (arg & below) | (arg & ~below) << 1;
    }
    case TILE_TRANS:
      for (int a = 0; a < r->type.rank; a++)
        axes |= (arg >> tile_attr(op, TA_perm)->list[a] & 1) << a;
      return axes;
    default: return long_axes(&r->type);
  }
}

void plan_note_data_axes(TileOp *op, void *ctx) {
  Plan *p = ctx;
  for (uint32_t i = 0; i < op->nresults; i++)
    p->data_axes[op->results[i]->id] = data_axes_of(p, op, op->results[i]);
  for (uint32_t r = 0; r < op->nregions; r++)
    for (uint32_t i = 0; i < op->regions[r]->nparams; i++) {
      const TileValue *v = op->regions[r]->params[i];
      p->data_axes[v->id] = plan_held(p, v) ? long_axes(&v->type) : 0;
    }
}

bool plan_is_scattered(const Plan *p, const TileValue *ptr) {
  return plan_held(p, ptr) && p->data_axes[ptr->id] == long_axes(&ptr->type);
}

/* ---- memory ---- */

Choice plan_memory_choice(const Plan *p, const Type *t, int axis, int64_t vector, int rank) {
  const Machine *m = p->u->machine;
  int warps = schedule_warps(p->u), order[MAX_RANK], n = 0;
  order[n++] = axis;
  for (int a = t->rank - 1; a >= 0; a--)
    if (a != axis) order[n++] = a;
  if (!machine_has(m, HAS_VECTOR_ACCESSES)) vector = 1;
  if (vector > t->shape[axis]) vector = t->shape[axis];
  int64_t share = type_numel(*t) / ((int64_t)warps * m->lanes);
  vector = pow2_at_most(vector < share ? vector : share > 1 ? share : 1);
  Choice c = {.rank = rank, .weight = vector};
  c.layout = schedule_blocked(t, order, (int)vector, warps, m->lanes);
  return c;
}

typedef struct {
  int dots;
  bool stores, writes; /* to memory: plain stores, other accesses */
} LoopBody;

static void note_body(TileOp *op, void *ctx) {
  LoopBody *body = ctx;
  body->dots += op->code == TILE_DOT;
  body->stores |= op->code == TILE_STORE;
  body->writes |= op->code != TILE_STORE && tile_op_flags(op->code) & TILE_WRITE;
}

/* Has a loop one dot, and writes no memory? */
static bool only_multiplies(TileBlock *b) {
  LoopBody body = {0};
  tile_walk(b, note_body, &body);
  return body.dots == 1 && !body.writes && !body.stores;
}

bool plan_is_among_products(const Plan *p, const TileOp *op) {
  const TileOp *loop = op->parent->owner;
  LoopBody body = {0};
  if (!loop || loop->code != TILE_FOR || !machine_has(p->u->machine, HAS_ASYNC_PROXY)) return false;
  tile_walk(op->parent, note_body, &body);
  return body.dots > 1 && !body.writes;
}

/* Does the value change in the loop whose body that is? */
static bool changes_in(const TileValue *v, const TileBlock *body, int depth) {
  if (v->block) return v->block == body;
  if (!v->def || !depth) return true;
  const TileBlock *at = v->def->parent;
  while (at && at != body) at = at->owner ? at->owner->parent : NULL;
  if (!at) return false;
  for (uint32_t i = 0; i < v->def->nargs; i++)
    if (v->def->args[i] && changes_in(v->def->args[i], body, depth - 1)) return true;
  return v->def->nregions > 0;
}

/* Shall the load run ahead of its loop, through shared memory?  Pass pipeline makes a copy of it,
 * as of operands that are stored there as they are. */
static bool runs_ahead(const Plan *p, const TileOp *op) {
  const TileOp *loop = op->parent->owner;
  if (op->code != TILE_LOAD || !loop || loop->code != TILE_FOR || !only_multiplies(op->parent) ||
      !machine_has(p->u->machine, HAS_ASYNC_COPIES) ||
      tile_int(loop, TA_num_stages, p->u->tile->options.num_stages) < 2)
    return false;
  enum { DEPTH = 12 };
  const TileValue *ptr = op->args[0], *mask = op->args[1];
  if (!ptr->type.rank || !p->index_only[ptr->id] || (mask && !p->index_only[mask->id]) ||
      !changes_in(ptr, op->parent, DEPTH))
    return false;
  Run run = plan_pointer_run(p, ptr, mask);
  int64_t most = ptr->type.shape[run.axis];
  return (run.n < most ? run.n : most) * plan_elem_bytes(ptr) >= MACHINE_COPY_LEAST;
}

void plan_note_ahead(TileOp *op, void *ctx) {
  Plan *p = ctx;
  if (op->code == TILE_LOAD && runs_ahead(p, op)) p->ahead[op->results[0]->id] = true;
}

/* Do neighbors read the same element, as the fields of a word and what shares a scale do, or does
 * data say which?  Such a load is as good in the layout of a store. */
static bool is_loose_read(const Plan *p, const TileValue *ptr, const Run *run) {
  bool loose = p->axis[ptr->id].constancy[run->axis] > 1 || plan_is_scattered(p, ptr);
  return run->n == 1 && loose && machine_has(p->u->machine, HAS_COALESCING);
}

Choice plan_pointer_choice(const Plan *p, const TileValue *ptr, const TileValue *mask,
                                  int rank) {
  Run run = plan_pointer_run(p, ptr, mask);
  if (rank == RANK_LOAD && is_loose_read(p, ptr, &run)) rank = RANK_STORE;
  Choice c = plan_memory_choice(p, &ptr->type, run.axis, run.n, rank);
  c.scattered = plan_is_scattered(p, ptr);
  c.adjacent = p->axis[ptr->id].contig[run.axis] > 1 && machine_has(p->u->machine, HAS_COALESCING);
  return c;
}

Choice plan_view_choice(const Plan *p, const TileOp *op, const Type *t, int rank) {
  Run run = plan_view_run(p, op);
  return plan_memory_choice(p, t, run.axis, run.n, rank);
}
