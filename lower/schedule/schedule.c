/* Pass schedule: see lower/schedule/schedule.h.  Groups of values get the layouts of their anchors,
 * others what follows from their neighbours. */
#include "lower/schedule/plan.h"
#include "lower/target/wgmma_layout.h"

#include <string.h>

#include "lower/passes.h"

static Layout plain_layout(const Plan *p, const Type *t) {
  int order[MAX_RANK];
  schedule_order(t, order);
  return schedule_blocked(t, order, 1, schedule_warps(p->u), p->u->machine->lanes);
}

/* ---- neighbours ---- */

static const Layout *layout_of(Plan *p, const TileValue *v) {
  if (!plan_held(p, v) || (p->ahead[v->id] && !p->follows)) return NULL;
  Choice *c = &p->choice[plan_find(p, v->id)];
  return c->rank ? &c->layout : NULL;
}

static void derive(Plan *p, const TileValue *v, Layout l, bool *changed) {
  if (!plan_held(p, v) || p->choice[plan_find(p, v->id)].rank) return;
  plan_offer(p, v, (Choice){.rank = RANK_DERIVED, .layout = l});
  *changed = true;
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
      if (lr) derive(p, x, plan_unbroadcast(lr, &x->type), changed);
      return;
    case TILE_TRANS:
      if (lx) derive(p, r, layout_permute(lx, tile_attr(op, TA_perm)->list), changed);
      plan_invert(tile_attr(op, TA_perm), inverse);
      if (lr) derive(p, x, layout_permute(lr, inverse), changed);
      return;
    case TILE_RESHAPE:
      if (lx && r->type.rank && layout_reshape(lx, &r->type, &same)) derive(p, r, same, changed);
      if (lr && x->type.rank && layout_reshape(lr, &x->type, &same)) derive(p, x, same, changed);
      return;
    case TILE_JOIN:
      if (lx) derive(p, r, layout_add_pair(lx), changed);
      for (uint32_t i = 0; lr && i < op->nargs; i++)
        if (layout_drop_pair(lr, &same)) derive(p, op->args[i], same, changed);
      return;
    case TILE_SPLIT:
      for (uint32_t i = 0; lx && i < op->nresults; i++)
        if (layout_drop_pair(lx, &same)) derive(p, op->results[i], same, changed);
      if (lr) derive(p, x, layout_add_pair(lr), changed);
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

static void plan_neighbours(Plan *p) {
  Derive d = {p, true};
  while (d.changed) {
    d.changed = false;
    tile_walk(p->f->body, visit_derive, &d);
  }
}

typedef struct {
  Plan *p;
  uint32_t group;
  int varies[MAX_RANK]; /* tiles of which the group's are made that are longer than 1 there */
} Parts;

static void note_part(TileOp *op, void *ctx) {
  Parts *x = ctx;
  if (op->code != TILE_BROADCAST || plan_find(x->p, op->results[0]->id) != x->group) return;
  const Type *t = &op->args[0]->type;
  for (int a = 0; a < t->rank; a++) x->varies[a] += t->shape[a] > 1;
}

static int axis_of_vector(const Layout *l) {
  for (int i = 0; i < l->ndigits; i++)
    if (l->d[i].hw == HW_REG && l->d[i].stride == 1) return l->d[i].axis;
  return -1;
}

/* A load that runs ahead, or that with more axes. */
static bool is_ahead(const Plan *p, const TileValue *v) {
  while (v->def && v->def->code == TILE_EXPAND_DIMS) v = v->def->args[0];
  return p->ahead[v->id];
}

/* The layout for what is computed of a load that runs ahead: the copy's or, of words, one that
 * gives a thread those for which other parts of the result are the same, as fields of a column have
 * one zero point. */
static Layout layout_of_users(Plan *p, const TileValue *load, const TileValue *user) {
  enum { WORD = 4 };
  Layout own = *layout_of(p, load);
  const Type *t = &load->type;
  Parts parts = {.p = p, .group = plan_find(p, user->id)};
  int axis = axis_of_vector(&own), from = axis;
  int64_t share = type_numel(*t) / ((int64_t)schedule_warps(p->u) * p->u->machine->lanes);
  if (axis < 0 || share < 2 || dtype_bytes((DType)t->dtype) < WORD) return own;
  tile_walk(p->f->body, note_part, &parts);
  for (int a = 0; a < t->rank; a++)
    if (t->shape[a] % share == 0 && parts.varies[a] < parts.varies[axis]) axis = a;
  if (axis == from) return own;
  return schedule_repeated(t, from, axis, (int)share, schedule_warps(p->u), p->u->machine->lanes);
}

/* Without another choice, the layout of a load that runs ahead, of so many elements. */
static void follow_loads(Plan *p, const TileOp *op, int64_t least) {
  bool changed;
  if (!(tile_op_flags(op->code) & TILE_ELEM) && op->code != TILE_ASM) return;
  for (uint32_t i = 0; i < op->nargs; i++) {
    const TileValue *x = op->args[i];
    if (x && plan_held(p, x) && p->ahead[x->id] && type_numel(x->type) >= least)
      derive(p, op->results[0], layout_of_users(p, x, op->results[0]), &changed);
  }
}

static void follow_large_load(TileOp *op, void *ctx) {
  const Plan *p = ctx;
  follow_loads(ctx, op, (int64_t)schedule_warps(p->u) * p->u->machine->lanes);
}

static void follow_load(TileOp *op, void *ctx) { follow_loads(ctx, op, 1); }

/* ---- larger tiles of loaded ones ---- */

/* The layout of a tile with more elements along axes that have one: a thread has all of these. */
static Layout broadcasted(const Layout *l, const Type *to) {
  Layout r = layout_new(to);
  int32_t registers = layout_registers(l);
  for (int a = 0; a < to->rank; a++) {
    bool grows = l->shape[a] == 1 && to->shape[a] > 1;
    if (grows) layout_push(&r, a, HW_REG, to->shape[a], registers);
    if (grows) registers *= to->shape[a];
    for (int i = 0; i < l->ndigits && !grows; i++)
      if (l->d[i].axis == a) layout_push(&r, a, (HwDim)l->d[i].hw, l->d[i].extent, l->d[i].stride);
  }
  return r;
}

typedef struct {
  Plan *p;
  const bool *open; /* by group root: nothing has chosen its layout */
} Grow;

/* Words of several fields that a tile has side by side, rows that are added to columns: where
 * nothing else decides, the tile follows from the largest of those that it is made of, whose
 * elements then stay where they are loaded. */
static void grow_tile(TileOp *op, void *ctx) {
  const Grow *g = ctx;
  Plan *p = g->p;
  if (op->code != TILE_BROADCAST || !plan_held(p, op->results[0])) return;
  const TileValue *x = op->args[0], *r = op->results[0];
  const Layout *l = layout_of(p, x);
  int64_t threads = (int64_t)schedule_warps(p->u) * p->u->machine->lanes;
  bool whole = l && type_numel(x->type) >= threads && !layout_replicated(l);
  if (!whole || !g->open[plan_find(p, r->id)]) return;
  bool loaded = p->choice[plan_find(p, r->id)].rank == RANK_LOAD;
  int rank = loaded ? RANK_LOAD : RANK_DERIVED;
  Layout own = is_ahead(p, x) ? layout_of_users(p, x, r) : *l;
  plan_offer(
      p, r,
      (Choice){.rank = rank, .weight = type_numel(x->type), .layout = broadcasted(&own, &r->type)});
}

/* A load by loaded indices, element by element, is as good in any layout. */
static bool is_open(const Choice *c) {
  return !c->rank || (c->rank == RANK_LOAD && c->scattered && c->weight == 1);
}

static void plan_grown_tiles(Plan *p) {
  if (!machine_has(p->u->machine, HAS_COALESCING)) return;
  bool *open = ARENA_ARRAY(p->scratch, bool, p->f->nvalues);
  for (uint32_t i = 0; i < p->f->nvalues; i++) open[i] = is_open(&p->choice[i]);
  Grow g = {p, open};
  tile_walk(p->f->body, grow_tile, &g);
  plan_neighbours(p);
}

/* ---- trees of splits ---- */

typedef struct {
  Plan *p;
  bool *parted; /* by value id: it is split again */
} Splits;

static void note_parted(TileOp *op, void *ctx) {
  Splits *s = ctx;
  if (op->code == TILE_SPLIT) s->parted[op->args[0]->id] = true;
}

/* The parts of a tile that is split again and again have a plain layout if nothing else decides.
 * Then a thread has all parts of its elements, and one exchange serves all splits. */
static void settle_parts(TileOp *op, void *ctx) {
  Splits *s = ctx;
  Plan *p = s->p;
  if (op->code != TILE_SPLIT) return;
  for (uint32_t i = 0; i < op->nresults; i++) {
    const TileValue *r = op->results[i];
    if (!plan_held(p, r) || s->parted[r->id] || layout_of(p, r)) continue;
    plan_offer(p, r, (Choice){.rank = RANK_DERIVED, .layout = plain_layout(p, &r->type)});
  }
}

static void plan_splits(Plan *p) {
  Splits s = {p, ARENA_ARRAY(p->scratch, bool, p->f->nvalues)};
  tile_walk(p->f->body, note_parted, &s);
  tile_walk(p->f->body, settle_parts, &s);
  plan_neighbours(p);
}

/* ---- the pass ---- */

static bool tile_store(const TileOp *op) {
  return (op->code == TILE_STORE || op->code == TILE_VIEW_STORE) && op->args[1]->type.rank;
}

typedef struct {
  Plan *p;
  VEC(Layout) list;
} Stores;

/* Does a thread store words of a product's result, as it has it, in a loop of several products?  An
 * exchange would take barriers, which hold all warpgroups in step. */
static bool stores_words(const Plan *p, const TileOp *op, const Layout *l, Run run) {
  int64_t least = MACHINE_COPY_LEAST / plan_elem_bytes(op->args[0]), n = 1;
  for (int i = 0; i < l->ndigits; i++)
    if (l->d[i].hw == HW_REG && l->d[i].axis == run.axis && layout_weight(l, i) == 1)
      n = l->d[i].extent;
  return plan_is_among_products(p, op) && (n < run.n ? n : run.n) >= least;
}

/* A store keeps its value's layout, but for fragments: their rows are apart, and what a warp stores
 * at once shall be in one.  Of a tile that is crossed a thread stores what it has along the store's
 * axis. */
static void choose_store(TileOp *op, void *ctx) {
  Stores *s = ctx;
  Plan *p = s->p;
  if (!tile_store(op)) return;
  const TileValue *value = op->args[1];
  bool view = op->code == TILE_VIEW_STORE;
  Run run = view ? plan_view_run(p, op) : plan_pointer_run(p, op->args[0], op->args[2]);
  const Layout *held_in = layout_of(p, value);
  const Layout *ptr_in = view ? NULL : layout_of(p, op->args[0]);
  const Choice *held = held_in ? &p->choice[plan_find(p, value->id)] : NULL;
  Layout l = plan_memory_choice(p, &value->type, run.axis, run.n, RANK_STORE).layout;
  if (ptr_in) l = *ptr_in;
  else if (held && held->crossed) l = schedule_vectors_along(held_in, run.axis);
  else if (held && plan_is_renamed_product(p, op)) l = schedule_runs_along(held_in, run.axis);
  else if (held && (!machine_has(p->u->machine, HAS_COALESCING) || held->rank != RANK_DOT ||
                    stores_words(p, op, held_in, run)))
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
  if (!c->rank) *c = (Choice){.rank = RANK_DERIVED, .layout = plain_layout(x->p, &v->type)};
  out->held = true;
  out->layout = c->layout;
  out->ahead = x->p->ahead[v->id];
  out->turned = x->p->turned[v->id];
  if (v->def && v->def->code == TILE_DOT) out->atom = c->atom;
}

/* What a product's sums become is the next one's first operand as it is, of bytes where the second
 * operand is stored in the order of wgmma_pairs, as one that is turned can be. */
static void pair_operand(Fill *x, const TileOp *dot) {
  ValuePlan *values = x->s->values, *a = &values[dot->args[0]->id];
  const Atom *atom = values[dot->results[0]->id].atom;
  const TileOp *cast = dot->args[0]->def;
  Layout pairs;
  int wm, wn, warps = schedule_warps(x->p->u);
  if (!atom || atom->warps == 1 || dtype_bytes(atom->a) != 1 || !cast || cast->code != TILE_CAST ||
      !a->held || !values[dot->args[1]->id].turned)
    return;
  schedule_warp_split(atom, &values[dot->results[0]->id].layout, &wm, &wn);
  Layout sums = schedule_fragment(atom, 2, &dot->args[0]->type, wm, wn, warps);
  Layout plain = schedule_fragment(atom, 0, &dot->args[0]->type, wm, wn, warps);
  if (layout_eq(&sums, &a->layout) && wgmma_pairs(&plain, 1, &pairs)) a->layout = pairs;
}

/* Groups that no anchor reaches get a plain layout, and their users derive theirs from it. */
static void fill_op(TileOp *op, void *ctx) {
  bool changed;
  derive_op(((Fill *)ctx)->p, op, &changed);
  for (uint32_t i = 0; i < op->nresults; i++) fill_value(ctx, op->results[i]);
  if (op->code == TILE_DOT) pair_operand(ctx, op);
  for (uint32_t r = 0; r < op->nregions; r++)
    for (uint32_t i = 0; i < op->regions[r]->nparams; i++)
      fill_value(ctx, op->regions[r]->params[i]);
}

bool pass_schedule(Unit *u) {
  Arena *scratch = arena_child(u->arena);
  Plan p = {.u = u, .scratch = scratch, .f = u->tile};
  p.axis = axis_analyze(u->tile, scratch);
  p.index_only = schedule_index_only(u->tile, scratch);
  p.data_axes = ARENA_ARRAY(scratch, unsigned, u->tile->nvalues);
  p.parent = ARENA_ARRAY(scratch, uint32_t, u->tile->nvalues);
  p.choice = ARENA_ARRAY(scratch, Choice, u->tile->nvalues);
  p.ahead = ARENA_ARRAY(scratch, bool, u->tile->nvalues + 1);
  p.turned = ARENA_ARRAY(scratch, bool, u->tile->nvalues);
  p.dot = ARENA_ARRAY(scratch, const TileOp *, u->tile->nvalues);
  p.broadcast = ARENA_ARRAY(scratch, bool, u->tile->nvalues);
  tile_walk(u->tile->body, plan_note_ahead, &p);
  plan_groups(&p);
  tile_walk(u->tile->body, plan_note_data_axes, &p);
  tile_walk(u->tile->body, plan_note_broadcast, &p);
  plan_anchors(&p);
  plan_neighbours(&p);
  p.follows = true;
  tile_walk(u->tile->body, follow_large_load, &p);
  plan_neighbours(&p);
  plan_grown_tiles(&p);
  tile_walk(u->tile->body, follow_load, &p);
  plan_neighbours(&p);
  tile_walk(u->tile->body, plan_settle_small_load, &p);
  plan_neighbours(&p);
  plan_splits(&p);
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
