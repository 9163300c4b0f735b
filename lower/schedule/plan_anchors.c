/* Anchors: each access, dot and scan offers its group a layout. */
#include "lower/schedule/plan.h"

#include <string.h>

/* ---- small loads ---- */

void plan_note_broadcast(TileOp *op, void *ctx) {
  Plan *p = ctx;
  if (op->code != TILE_BROADCAST) return;
  const TileValue *v = op->args[0];
  for (; plan_held(p, v); v = v->def->args[0]) {
    p->broadcast[plan_find(p, v->id)] = true;
    if (!v->def || v->def->code != TILE_EXPAND_DIMS) return;
  }
}

/* A load of at most an element a thread that larger tiles are made of, as weights are of channels
 * and scales of rows, has the layout of these: every thread loads what it needs, where an exchange
 * through shared memory would stop them all. */
static bool follows_users(Plan *p, const TileOp *op) {
  if (op->code != TILE_LOAD || !machine_has(p->u->machine, HAS_COALESCING) ||
      p->ahead[op->results[0]->id])
    return false;
  const TileValue *v = op->results[0];
  int64_t threads = (int64_t)schedule_warps(p->u) * p->u->machine->lanes;
  return plan_held(p, v) && type_numel(v->type) <= threads && p->broadcast[plan_find(p, v->id)];
}

/* Does a thread load all its elements in that layout at once, or by a few accesses?  These take
 * less time than an exchange, for which the threads wait.  Integers, which most often are indices
 * and become addresses, may take more: a float would hold a register for each element that several
 * threads load, beside a product that needs them.  In a loop of several products an exchange costs
 * most: its barrier holds all warpgroups in step. */
static bool is_quick_access(const Plan *p, const TileOp *op, const Layout *l) {
  enum { FEW = 4, FEW_INDICES = 8 };
  const TileValue *ptr = op->args[0], *mask = op->args[1];
  bool among = plan_is_among_products(p, op);
  int few = dtype_is_int(op->results[0]->type.dtype) || among ? FEW_INDICES : FEW;
  int axis = plan_memory_axis(p, ptr), elements = layout_registers(l);
  unsigned bytes = plan_elem_bytes(ptr);
  if (elements <= few) return true;
  if (mask && !p->index_only[mask->id]) return false;
  int run = 1; /* elements beside each other */
  for (int i = 0; i < l->ndigits; i++) {
    if (l->d[i].hw != HW_REG) continue;
    bool first = l->d[i].axis == axis && layout_weight(l, i) == 1;
    if (first) run = l->d[i].extent;
    else if (!among) return false;
  }
  int64_t n = axis_vector(p->axis, ptr, mask, axis, bytes, p->u->machine->vector_bytes / bytes);
  return (n < run ? n : run) * few >= elements;
}

void plan_settle_small_load(TileOp *op, void *ctx) {
  Plan *p = ctx;
  if (!follows_users(p, op)) return;
  const TileValue *v = op->results[0];
  const Choice *c = &p->choice[plan_find(p, v->id)];
  if (c->rank == RANK_NONE || (c->rank == RANK_DERIVED && !is_quick_access(p, op, &c->layout)))
    plan_offer(p, v, plan_pointer_choice(p, op->args[0], op->args[1], RANK_LOAD));
}

/* ---- all of them ---- */

/* A copy that runs ahead takes some bytes at once, whatever the number of threads. */
static Choice load_choice(const Plan *p, const TileOp *op) {
  Choice c = plan_pointer_choice(p, op->args[0], op->args[1], RANK_LOAD);
  int64_t least = MACHINE_COPY_LEAST / plan_elem_bytes(op->args[0]);
  if (!p->ahead[op->results[0]->id] || c.weight >= least) return c;
  int order[MAX_RANK], n = 0, axis = plan_pointer_run(p, op->args[0], op->args[1]).axis;
  const Type *t = &op->args[0]->type;
  order[n++] = axis;
  for (int a = t->rank - 1; a >= 0; a--)
    if (a != axis) order[n++] = a;
  c.layout = schedule_blocked(t, order, (int)least, schedule_warps(p->u), p->u->machine->lanes);
  c.weight = least;
  return c;
}

/* Elements that begin at any place are read one by one, by lanes that follow each other. */
static Choice slot_choice(const Plan *p, const TileOp *op) {
  const Type *t = &op->results[0]->type;
  int64_t div = p->axis[op->args[0]->id].div[0], size = dtype_bytes((DType)t->dtype);
  return (Choice){.rank = RANK_STORE, .layout = schedule_slot(p->u, t, (div & -div) * size)};
}

bool plan_is_renamed_product(Plan *p, const TileOp *store) {
  const TileValue *v = store->args[1];
  if (store->code != TILE_STORE || !v->def || v->def->code != TILE_RESHAPE) return false;
  if (!plan_is_among_products(p, store)) return false;
  while (v->def && (v->def->code == TILE_RESHAPE || v->def->code == TILE_TRANS))
    v = v->def->args[0];
  return plan_held(p, v) && p->dot[plan_find(p, v->id)];
}

static void anchor_op(TileOp *op, void *ctx) {
  Plan *p = ctx;
  switch (op->code) {
    case TILE_DOT: plan_anchor_dot(p, op); return;
    case TILE_LOAD:
      if (op->results[0]->type.rank && !follows_users(p, op))
        plan_offer(p, op->results[0], load_choice(p, op));
      return;
    case TILE_ATOMIC_RMW:
      if (op->results[0]->type.rank)
        plan_offer(p, op->results[0], plan_pointer_choice(p, op->args[0], op->args[2], RANK_STORE));
      return;
    case TILE_VIEW_LOAD:
      if (op->results[0]->type.rank)
        plan_offer(p, op->results[0], plan_view_choice(p, op, &op->results[0]->type, RANK_LOAD));
      return;
    case TILE_UNPARK: plan_offer(p, op->results[0], slot_choice(p, op)); return;
    case TILE_STORE:
      if (plan_held(p, op->args[1]) && !plan_is_renamed_product(p, op))
        plan_offer(p, op->args[1], plan_pointer_choice(p, op->args[0], op->args[2], RANK_STORE));
      return;
    case TILE_VIEW_STORE:
      if (plan_held(p, op->args[1]))
        plan_offer(p, op->args[1], plan_view_choice(p, op, &op->args[1]->type, RANK_STORE));
      return;
    default: return;
  }
}

/* ---- scans ---- */

/* Threads that hold neighbours along a scan's axis have less to exchange.  Where lanes that follow
 * each other are along another axis, which rows a warp has makes no difference to its accesses. */
static void settle_scan(TileOp *op, void *ctx) {
  Plan *p = ctx;
  const TileValue *v = op->nargs ? op->args[0] : NULL;
  if (op->code != TILE_SCAN || !machine_has(p->u->machine, HAS_COALESCING) || !plan_held(p, v))
    return;
  int axis = (int)tile_int(op, TA_axis, 0);
  Choice *c = &p->choice[plan_find(p, v->id)];
  if (!c->rank) {
    int warps = schedule_warps(p->u), lanes = p->u->machine->lanes;
    c->rank = RANK_SCAN;
    c->layout = schedule_runs(&v->type, axis, 1, warps, lanes);
  } else if (c->rank <= RANK_LOAD) {
    bool across = true;
    for (int i = 0; i < c->layout.ndigits; i++) {
      const Digit *d = &c->layout.d[i];
      across &= d->axis != axis || d->hw != HW_LANE || d->stride > 1;
    }
    if (across) c->layout = schedule_registers_last(&c->layout, axis);
  }
}

/* ---- reductions ---- */

/* A reduction has nothing to exchange between warps that are along another axis. */
typedef struct {
  Plan *p;
  int8_t *axis; /* by group root: the one that reductions take away, plus 1; 0: none; -1: several */
} Reduced;

static void note_reduced(TileOp *op, void *ctx) {
  const Reduced *r = ctx;
  if (op->code != TILE_REDUCE || !plan_held(r->p, op->args[0])) return;
  int8_t *axis = &r->axis[plan_find(r->p, op->args[0]->id)];
  int8_t now = (int8_t)(tile_int(op, TA_axis, 0) + 1);
  *axis = !*axis || *axis == now ? now : -1;
}

static void settle_reductions(Plan *p) {
  Reduced r = {p, ARENA_ARRAY(p->scratch, int8_t, p->f->nvalues)};
  tile_walk(p->f->body, note_reduced, &r);
  for (uint32_t i = 0; i < p->f->nvalues; i++) {
    Choice *c = &p->choice[i];
    if (r.axis[i] > 0 && c->rank == RANK_LOAD && !c->scattered && !c->crossed)
      c->layout = schedule_warps_from(&c->layout, r.axis[i] - 1);
  }
}

/* ---- accesses along two axes ---- */

/* What the accesses to a group's tiles take at once along each axis, at most. */
typedef struct {
  const Type *tile;
  int64_t most[MAX_RANK];
  unsigned bytes[MAX_RANK]; /* of an element, there */
  int loaded;               /* the axis of a load; -1: there is none */
} Crossing;

typedef struct {
  Plan *p;
  Crossing *crossing; /* by group root */
} Crossings;

static void note_run(const Crossings *x, const TileValue *held, const TileValue *ptr, Run run,
                     bool load) {
  if (!plan_held(x->p, held) || held->type.rank < 2 || plan_held(x->p, ptr)) return;
  for (int a = 0; a < held->type.rank; a++) /* a row for all columns, which a cache has */
    if (a != run.axis && x->p->axis[ptr->id].constancy[a] > 1) return;
  Crossing *c = &x->crossing[plan_find(x->p, held->id)];
  if (!c->tile) c->loaded = -1;
  c->tile = &held->type;
  if (run.n > held->type.shape[run.axis]) run.n = held->type.shape[run.axis];
  run.n = pow2_at_most(run.n);
  if (load && run.n > 1 && c->loaded < 0) c->loaded = run.axis;
  if (run.n <= c->most[run.axis]) return;
  c->most[run.axis] = run.n;
  c->bytes[run.axis] = plan_elem_bytes(ptr);
}

static void note_crossing(TileOp *op, void *ctx) {
  const Crossings *x = ctx;
  switch (op->code) {
    case TILE_LOAD:
      note_run(x, op->results[0], op->args[0], plan_pointer_run(x->p, op->args[0], op->args[1]),
               true);
      return;
    case TILE_STORE:
      note_run(x, op->args[1], op->args[0], plan_pointer_run(x->p, op->args[0], op->args[2]),
               false);
      return;
    case TILE_VIEW_LOAD:
      note_run(x, op->results[0], op->args[0], plan_view_run(x->p, op), true);
      return;
    case TILE_VIEW_STORE:
      note_run(x, op->args[1], op->args[0], plan_view_run(x->p, op), false);
      return;
    default: return;
  }
}

/* The axis other than `but` (-1: any) along which most bytes are taken at once; -1: along none is
 * more than one element. */
static int longest_run(const Crossing *c, int but) {
  int best = -1;
  for (int a = c->tile->rank - 1; a >= 0; a--)
    if (a != but && c->most[a] > 1 &&
        (best < 0 || c->most[a] * c->bytes[a] > c->most[best] * c->bytes[best]))
      best = a;
  return best;
}

/* A tile that is read along one axis and written along another, as a transposition is: a thread has
 * vectors along both, and the lanes of a warp share both axes.  Accesses of either kind then fill
 * sectors of memory, and elements change places among a thread's registers alone. */
static void cross_group(const Plan *p, const Crossing *c, Choice *choice) {
  int a = c->loaded >= 0 ? c->loaded : longest_run(c, -1), b = a < 0 ? -1 : longest_run(c, a);
  bool memory = choice->rank == RANK_LOAD || choice->rank == RANK_STORE;
  if (b < 0 || !memory || choice->scattered) return;
  int warps = schedule_warps(p->u), lanes = p->u->machine->lanes;
  int64_t share = type_numel(*c->tile) / ((int64_t)warps * lanes);
  Cross x = {{a, b}, {c->most[a], c->most[b]}, {c->bytes[a], c->bytes[b]}};
  while (x.vector[0] * x.vector[1] > (share > 1 ? share : 1)) {
    int64_t bytes[] = {x.vector[0] * x.bytes[0], x.vector[1] * x.bytes[1]};
    x.vector[bytes[1] > bytes[0] ? x.vector[1] > 1 : x.vector[0] == 1] /= 2;
  }
  choice->layout = schedule_crossed(c->tile, &x, warps, lanes);
  choice->crossed = true;
}

static void plan_crossings(Plan *p) {
  if (!machine_has(p->u->machine, HAS_COALESCING)) return;
  Crossings x = {p, ARENA_ARRAY(p->scratch, Crossing, p->f->nvalues)};
  tile_walk(p->f->body, note_crossing, &x);
  for (uint32_t i = 0; i < p->f->nvalues; i++)
    if (x.crossing[i].tile) cross_group(p, &x.crossing[i], &p->choice[i]);
}

void plan_anchors(Plan *p) {
  tile_walk(p->f->body, plan_note_chain, p);
  tile_walk(p->f->body, anchor_op, p);
  plan_crossings(p);
  tile_walk(p->f->body, settle_scan, p);
  settle_reductions(p);
}
