/* The order of accesses to global memory: where threads of one program must wait for each other.
 *
 * The accesses since the last barrier are kept in `pending`.  One that another thread may meet, at
 * least once for writing, gets a barrier before it.  Where control flow joins, what either side
 * left pending is; a loop's iteration meets what the one before it left, so that a loop which may
 * does starts every iteration with a barrier. */
#include <string.h>

#include "lower/build.h"

/* The parameter that an address comes from; -1 if it can't be told. */
static int64_t base_of(const TileValue *v) {
  while (v->def) {
    switch (v->def->code) {
      case TILE_PTR_ADD:
      case TILE_SPLAT:
      case TILE_EXPAND_DIMS:
      case TILE_BROADCAST:
      case TILE_HINT:
      case TILE_TRANS:
      case TILE_RESHAPE: v = v->def->args[0]; break;
      default: return -1;
    }
  }
  if (!v->block || v->block->owner == NULL) return v->id;
  const TileOp *loop = v->block->owner;
  if (loop->code != TILE_FOR || v->index == 0) return -1;
  return base_of(loop->args[v->index + 2]);
}

/* ---- what is read only ---- */

static void mark_written(TileOp *op, void *ctx) {
  Build *s = ctx;
  bool writes = tile_op_flags(op->code) & TILE_WRITE;
  if (!writes || !op->nargs || op->args[0]->type.dtype != DT_PTR) return;
  int64_t base = base_of(op->args[0]);
  if (base < 0) s->written_anywhere = true;
  else s->written[base] = true;
}

void build_plan_order(Build *s) {
  s->written = ARENA_ARRAY(s->scratch, bool, s->u->tile->nvalues);
  tile_walk(s->u->tile->body, mark_written, s);
}

/* A read that meets no write is not kept: most accesses of unrolled code are such. */
static bool unordered(const Build *s, int64_t base, bool write) {
  return !write && base >= 0 && !s->written[base] && !s->written_anywhere;
}

/* ---- pairs of accesses ---- */

void build_barrier(Build *s) {
  nest_stmt(&s->b, NEST_BAR, 0, 0);
  s->pending_from = s->pending.len;
}

Layout build_whole_program(const Build *s) {
  Type scalar = {0};
  Layout l = layout_new(&scalar);
  layout_push(&l, -1, PLACE_WARP, s->nest->warps, 1);
  layout_push(&l, -1, PLACE_LANE, s->nest->lanes, 1);
  return l;
}

static bool replicated_in_warps(const Layout *l) {
  for (int i = 0; i < l->ndigits; i++)
    if (l->d[i].axis < 0 && l->d[i].place == PLACE_WARP) return true;
  return false;
}

static bool same_attrs(const TileOp *x, const TileOp *y) {
  if (x->nattrs != y->nattrs) return false;
  for (uint32_t i = 0; i < x->nattrs; i++) {
    const TileAttr *a = &x->attrs[i], *b = &y->attrs[i];
    bool same = a->key == b->key && a->i == b->i && a->s == b->s && !a->len && !b->len;
    if (!same || memcmp(&a->f, &b->f, sizeof a->f)) return false;
  }
  return true;
}

/* Is it the same value, or computed alike?  False too when *steps have been taken. */
static bool same_value(const TileValue *a, const TileValue *b, int *steps) {
  if (a == b) return true;
  const TileOp *x = a->def, *y = b->def;
  if (!x || !y || --*steps < 0 || x->code != y->code || a->index != b->index) return false;
  if (!(tile_op_flags(x->code) & TILE_PURE) || x->nregions || x->nargs != y->nargs) return false;
  if (!type_eq(a->type, b->type) || !same_attrs(x, y)) return false;
  for (uint32_t i = 0; i < x->nargs; i++)
    if (!x->args[i] || !y->args[i] || !same_value(x->args[i], y->args[i], steps)) return false;
  return true;
}

/* An address that is written twice, as a kernel does that loads and stores an element, is one. */
static bool same_address(const Pending *p, const Pending *q) {
  int steps = 256;
  return same_value(p->address, q->address, &steps);
}

/* True if an element may be touched by two threads, once for writing: at equal addresses in equal
 * layouts each thread meets only itself, but of replicas all read and one writes. */
static bool conflict(const Pending *p, const Pending *q) {
  if (!p->write && !q->write) return false;
  if (p->base >= 0 && q->base >= 0 && p->base != q->base) return false;
  if (!layout_eq(&p->layout, &q->layout) || !same_address(p, q)) return true;
  return p->write != q->write && replicated_in_warps(&p->layout);
}

void build_order(Build *s, const TileValue *ptr, const Layout *l, bool write) {
  Pending now = {base_of(ptr), ptr, *l, write};
  if (unordered(s, now.base, write)) return;
  for (size_t i = s->pending_from; i < s->pending.len; i++)
    if (conflict(&s->pending.data[i], &now)) {
      build_barrier(s);
      break;
    }
  vec_push(s->scratch, &s->pending, now);
}

/* ---- control flow ---- */

PendingMark build_pending(const Build *s) { return (PendingMark){s->pending_from, s->pending.len}; }

/* The first access that is pending and was made after the mark.  Those before the mark are pending
 * still, all or (after a barrier) none. */
static size_t made_since(const Build *s, PendingMark mark) {
  return s->pending_from > mark.to ? s->pending_from : mark.to;
}

void build_join_pending(Build *s, PendingMark before) {
  size_t from = made_since(s, before), n = s->pending.len - from;
  Pending *p = s->pending.data;
  if (n && from > before.to) memmove(p + before.to, p + from, n * sizeof *p);
  s->pending.len = before.to + n;
  s->pending_from = before.from;
}

PendingSide build_pending_else(Build *s, PendingMark before) {
  size_t from = made_since(s, before), n = s->pending.len - from;
  PendingSide side = {before, s->pending_from == before.from, NULL, n};
  side.made = ARENA_ARRAY(s->scratch, Pending, n);
  if (n) memcpy(side.made, s->pending.data + from, n * sizeof *side.made);
  s->pending.len = before.to;
  s->pending_from = before.from;
  return side;
}

void build_join_sides(Build *s, const PendingSide *then) {
  if (then->keeps_before) build_join_pending(s, then->before);
  for (size_t i = 0; i < then->n; i++) vec_push(s->scratch, &s->pending, then->made[i]);
}

/* ---- loops ---- */

typedef struct {
  Build *s;
  VEC(Pending) all;
  uint32_t next_store;
} Uses;

static void collect(TileOp *op, void *ctx) {
  Uses *u = ctx;
  Build *s = u->s;
  bool load = op->code == TILE_LOAD || op->code == TILE_VIEW_LOAD;
  bool store = op->code == TILE_STORE || op->code == TILE_VIEW_STORE;
  if (!load && !store) return;
  const TileValue *v = load ? op->results[0] : op->args[1];
  Pending p = {.base = base_of(op->args[0]), .address = op->args[0], .write = store};
  if (unordered(s, p.base, store)) return;
  if (store)
    p.layout = v->type.rank ? s->u->schedule->stores[u->next_store++] : build_whole_program(s);
  else if (v->type.rank) p.layout = build_layout_of(s, v);
  vec_push(s->scratch, &u->all, p);
}

static bool varies(const TileValue *v, const TileOp *loop) {
  const TileBlock *b = v->def ? v->def->parent : v->block;
  while (b && b->owner != loop) b = b->owner ? b->owner->parent : NULL;
  return b != NULL;
}

/* The same, of p in one iteration and q in the next. */
static bool meets_next(const Pending *p, const Pending *q, const TileOp *loop) {
  if (conflict(p, q)) return true;
  bool both = p->write != q->write && same_address(p, q);
  return both && varies(p->address, loop);
}

void build_loop_barrier(Build *s, const TileOp *loop) {
  Uses u = {.s = s, .next_store = s->next_store};
  for (uint32_t r = 0; r < loop->nregions; r++) tile_walk(loop->regions[r], collect, &u);
  for (size_t i = 0; i < u.all.len; i++)
    for (size_t j = 0; j < i; j++) {
      if (!meets_next(&u.all.data[i], &u.all.data[j], loop)) continue;
      build_barrier(s);
      return;
    }
}
