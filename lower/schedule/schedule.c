/* Choosing layouts: see lower/schedule/schedule.h.  Groups of values get those of their anchors,
 * others what follows from their neighbours.
 */
#include "lower/schedule/schedule.h"

#include <string.h>

#include "lower/passes.h"
#include "lower/schedule/schedule_plan.h"

int schedule_warps(const Unit *u) {
  return u->machine->max_warps == 1 ? 1 : u->tile->options.num_warps;
}

static Layout plain(const Plan *p, const Type *t) {
  int order[MAX_RANK];
  schedule_order(t, order);
  return schedule_blocked(t, order, 1, schedule_warps(p->u), p->u->machine->lanes);
}

/* ---- neighbours ---- */

static const Layout *layout_of(Plan *p, const TileValue *v) {
  if (!plan_held(p, v)) return NULL;
  Choice *c = &p->choice[plan_find(p, v->id)];
  return c->rank ? &c->layout : NULL;
}

static void derive(Plan *p, const TileValue *v, Layout l, bool *changed) {
  if (!plan_held(p, v) || p->choice[plan_find(p, v->id)].rank) return;
  plan_offer(p, v, (Choice){.rank = RANK_DERIVED, .layout = l});
  *changed = true;
}

/* Broadcast axes keep one element: their digits in warps and lanes replicate it. */
static Layout unbroadcast(const Layout *l, const Type *from) {
  Layout r = {.rank = l->rank};
  memcpy(r.shape, from->shape, sizeof r.shape);
  for (int i = 0; i < l->ndigits; i++) {
    const Digit *d = &l->d[i];
    bool gone = d->axis >= 0 && from->shape[d->axis] == 1;
    if (gone && place_in_thread((Place)d->place)) continue;
    layout_push(&r, gone ? -1 : d->axis, (Place)d->place, d->extent, d->stride);
  }
  layout_pack_registers(&r);
  return r;
}

static void invert(const TileAttr *perm, int64_t *out) {
  for (uint32_t i = 0; i < perm->len; i++) out[perm->list[i]] = i;
}

static void derive_op(Plan *p, const TileOp *op, bool *changed) {
  const TileValue *x = op->nargs ? op->args[0] : NULL, *r = op->nresults ? op->results[0] : NULL;
  const Layout *lx = x ? layout_of(p, x) : NULL, *lr = r ? layout_of(p, r) : NULL;
  int64_t inverse[MAX_RANK];
  Layout same;
  switch (op->code) {
    case TILE_REDUCE:
      if (lx) derive(p, r, layout_drop_axis(lx, (int)tile_int(op, TA_axis, 0)), changed);
      return;
    case TILE_EXPAND_DIMS:
      if (lx) derive(p, r, layout_insert_axis(lx, (int)tile_int(op, TA_axis, 0)), changed);
      if (lr) derive(p, x, layout_drop_axis(lr, (int)tile_int(op, TA_axis, 0)), changed);
      return;
    case TILE_BROADCAST:
      if (lr) derive(p, x, unbroadcast(lr, &x->type), changed);
      return;
    case TILE_TRANS:
      if (lx) derive(p, r, layout_permute(lx, tile_attr(op, TA_perm)->list), changed);
      invert(tile_attr(op, TA_perm), inverse);
      if (lr) derive(p, x, layout_permute(lr, inverse), changed);
      return;
    case TILE_RESHAPE:
      if (lx && r->type.rank && layout_reshape(lx, &r->type, &same)) derive(p, r, same, changed);
      if (lr && x->type.rank && layout_reshape(lr, &x->type, &same)) derive(p, x, same, changed);
      return;
    default: return;
  }
}

typedef struct {
  Plan *p;
  bool changed;
} Derive;

static void visit_derive(TileOp *op, void *ctx) {
  Derive *d = ctx;
  arena_work(d->p->scratch, 1);
  derive_op(d->p, op, &d->changed);
}

/* ---- the pass ---- */

static bool tile_store(const TileOp *op) {
  return (op->code == TILE_STORE || op->code == TILE_VIEW_STORE) && op->args[1]->type.rank;
}

typedef struct {
  Plan *p;
  VEC(Layout) list;
} Stores;

/* A store keeps its value's layout, but for fragments: their rows are apart, and what a warp stores
 * at once shall be in one. */
static void choose_store(TileOp *op, void *ctx) {
  Stores *s = ctx;
  Plan *p = s->p;
  if (!tile_store(op)) return;
  const TileValue *value = op->args[1];
  Choice own = op->code == TILE_STORE ? plan_pointer_choice(p, op->args[0], op->args[2], RANK_STORE)
                                      : plan_view_choice(p, op, &value->type, RANK_STORE);
  Layout l = own.layout;
  const Layout *held_in = layout_of(p, value);
  const Layout *ptr_in = op->code == TILE_STORE ? layout_of(p, op->args[0]) : NULL;
  if (ptr_in) l = *ptr_in;
  else if (held_in && (!machine_has(p->u->machine, HAS_COALESCING) ||
                       p->choice[plan_find(p, value->id)].rank != RANK_DOT))
    l = *held_in;
  vec_push(p->u->arena, &s->list, l);
}

typedef struct {
  Plan *p;
  Schedule *s;
} Fill;

static void fill_value(Fill *x, const TileValue *v) {
  ValuePlan *out = &x->s->values[v->id];
  if (!plan_held(x->p, v) || schedule_renames(v)) return;
  Choice *c = &x->p->choice[plan_find(x->p, v->id)];
  if (!c->rank) *c = (Choice){.rank = RANK_DERIVED, .layout = plain(x->p, &v->type)};
  out->held = true;
  out->layout = c->layout;
  if (v->def && v->def->code == TILE_DOT) out->atom = c->atom;
}

/* What no anchor reaches gets a plain layout, and what follows it derives from that. */
static void fill_op(TileOp *op, void *ctx) {
  bool changed;
  derive_op(((Fill *)ctx)->p, op, &changed);
  for (uint32_t i = 0; i < op->nresults; i++) fill_value(ctx, op->results[i]);
  for (uint32_t r = 0; r < op->nregions; r++)
    for (uint32_t i = 0; i < op->regions[r]->nparams; i++)
      fill_value(ctx, op->regions[r]->params[i]);
}

bool pass_schedule(Unit *u) {
  Arena *scratch = arena_child(u->arena);
  Plan p = {.u = u, .scratch = scratch, .f = u->tile};
  p.axis = axis_analyze(u->tile, scratch);
  p.index_only = schedule_index_only(u->tile, scratch);
  p.parent = ARENA_ARRAY(scratch, uint32_t, u->tile->nvalues);
  p.choice = ARENA_ARRAY(scratch, Choice, u->tile->nvalues);
  p.dot = ARENA_ARRAY(scratch, const TileOp *, u->tile->nvalues);
  plan_groups(&p);
  plan_anchors(&p);
  Derive d = {&p, true};
  while (d.changed) {
    d.changed = false;
    tile_walk(u->tile->body, visit_derive, &d);
  }
  Schedule *s = ARENA_NEW(u->arena, Schedule);
  s->values = ARENA_ARRAY(u->arena, ValuePlan, u->tile->nvalues);
  s->nvalues = u->tile->nvalues;
  Fill fill = {&p, s};
  tile_walk(u->tile->body, fill_op, &fill);
  Stores stores = {.p = &p};
  tile_walk(u->tile->body, choose_store, &stores);
  s->stores = stores.list.data;
  s->nstores = (uint32_t)stores.list.len;
  u->schedule = s;
  arena_free(scratch);
  return true;
}
