/* The order of accesses to global memory: where threads of one program must wait for each other.
 *
 * The accesses since the last barrier are kept in `pending`.  An access gets a barrier before it if
 * another thread may access the same element, and one of the two writes.  Where control flow joins,
 * both sides' pending accesses are pending; a loop's iteration meets those of the one before it, so
 * that a loop which may starts every iteration with a barrier.
 *
 * Two parameters may hold overlapping memory.  Instead of a barrier between their accesses, the
 * nest assumes that they don't (nest_assume_noalias), which a guard of the kernel checks at launch;
 * equal addresses are fine too where each thread meets only itself at every pair of accesses. */
#include <string.h>

#include "lower/analysis/values.h"
#include "lower/build/build.h"

/* Kernels of more pointers keep the order of all accesses: pairs of them grow with the square. */
enum { MOST_POINTERS = 64 };

/* What is assumed of a pair of parameters, from the weakest to the strongest. */
enum { PAIR_APART, PAIR_OR_SAME, PAIR_DISJOINT };

typedef struct Pointers {
  int16_t *index; /* by value id of a parameter: its index here, else -1 */
  NestVar *var[MOST_POINTERS];
  bool written[MOST_POINTERS];
  uint8_t kept[MOST_POINTERS]; /* pending reads of a parameter that is only read */
  bool crowded[MOST_POINTERS]; /* there were more, which are not kept */
  uint8_t pair[MOST_POINTERS][MOST_POINTERS];
  bool many;             /* more than MOST_POINTERS */
  bool written_any;      /* the kernel writes at all ... */
  bool written_anywhere; /* ... and through an address of no known parameter */
  bool *pinned;          /* by value id of a load's result */
} Pointers;

/* The parameter that an address comes from, by value id; -1 if it can't be told. */
static int64_t address_root(TileValue *address) {
  const TileValue *v = tile_address_root(address);
  if (!v) return -1;
  if (!v->block || v->block->owner == NULL) return v->id;
  const TileOp *loop = v->block->owner;
  if (loop->code != TILE_FOR || v->index == 0) return -1;
  return address_root(loop->args[v->index + 2]);
}

/* ---- what is written ---- */

static bool accesses_memory(const TileOp *op) {
  return (tile_op_flags(op->code) & (TILE_READ | TILE_WRITE)) && op->nargs && op->args[0] &&
         op->args[0]->type.dtype == DT_PTR;
}

static bool writes_memory(const TileOp *op) {
  return accesses_memory(op) && tile_op_flags(op->code) & TILE_WRITE;
}

static void mark_written_tensor(TileOp *op, void *ctx) {
  Pointers *p = ((Build *)ctx)->pointers;
  p->written_any |= op->code == TILE_ASM_IMPURE;
  if (!writes_memory(op)) return;
  int64_t base = address_root(op->args[0]);
  p->written_any = true;
  if (base < 0) p->written_anywhere = true;
  else if (p->index[base] >= 0) p->written[p->index[base]] = true;
}

void build_plan_order(Build *s) {
  const TileFunc *f = s->u->tile;
  Pointers *p = s->pointers = ARENA_NEW(s->scratch, Pointers);
  p->index = ARENA_ARRAY(s->scratch, int16_t, f->nvalues);
  p->pinned = ARENA_ARRAY(s->scratch, bool, f->nvalues);
  int16_t n = 0;
  for (uint32_t i = 0; i < f->nvalues; i++) p->index[i] = -1;
  for (uint32_t i = 0; i < f->nparams && n < MOST_POINTERS; i++) {
    const TileValue *v = f->params[i].value;
    if (v->type.dtype != DT_PTR) continue;
    p->var[n] = s->scalar[v->id].var;
    p->index[v->id] = n++;
  }
  for (uint32_t i = 0; i < f->nparams; i++) {
    const TileValue *v = f->params[i].value;
    p->many |= v->type.dtype == DT_PTR && p->index[v->id] < 0;
  }
  tile_walk(f->body, mark_written_tensor, s);
}

/* A parameter that is only read, through addresses that are known to be its own. */
static bool is_only_read(const Build *s, int64_t base) {
  const Pointers *p = s->pointers;
  return base >= 0 && p->index[base] >= 0 && !p->written[p->index[base]] && !p->written_anywhere;
}

/* ---- pairs of accesses ---- */

void build_barrier(Build *s) {
  nest_stmt(&s->b, NEST_BAR, 0, 0);
  s->pending_from = s->pending.len;
}

Layout build_whole_program(const Build *s) {
  Type scalar = {0};
  Layout l = layout_new(&scalar);
  layout_push(&l, -1, HW_WARP, s->nest->warps, 1);
  layout_push(&l, -1, HW_LANE, s->nest->lanes, 1);
  return l;
}

static bool replicated_in_warps(const Layout *l) {
  for (int i = 0; i < l->ndigits; i++)
    if (l->d[i].axis < 0 && l->d[i].hw == HW_WARP) return true;
  return false;
}

static bool is_view_access(const TileOp *op) {
  return op->code == TILE_VIEW_LOAD || op->code == TILE_VIEW_STORE;
}

static bool same_view(const TileOp *x, const TileOp *y, ValueComparison *c) {
  uint32_t rank = tile_view_rank(x);
  if (rank != tile_view_rank(y)) return false;
  for (uint32_t a = 0; a < rank; a++)
    if (!values_alike(tile_view_offset(x, a), tile_view_offset(y, a), c) ||
        !values_alike(tile_view_stride(x, a), tile_view_stride(y, a), c))
      return false;
  return true;
}

/* An address that is written twice, as a kernel does that loads and stores an element, is one. */
static bool same_address(const Pending *p, const Pending *q) {
  ValueComparison c = {p->base, q->base, 256};
  const TileValue *x = p->op->args[0], *y = q->op->args[0];
  if (!type_eq(x->type, y->type) || is_view_access(p->op) != is_view_access(q->op)) return false;
  return values_alike(x, y, &c) && (!is_view_access(p->op) || same_view(p->op, q->op, &c));
}

/* Stores of parts of one tile, in the same iteration or not. */
static bool are_apart(const Pending *p, const Pending *q) {
  const TileAttr *a = tile_attr(p->op, TA_part), *b = tile_attr(q->op, TA_part);
  return a && b && a->i == b->i;
}

/* True if two threads may touch one element, with both parameters taken for one: at equal addresses
 * in equal layouts each thread meets only itself, but of replicas all read and one writes. */
static bool meets_others(const Pending *p, const Pending *q) {
  if (!layout_eq(&p->layout, &q->layout) || !same_address(p, q)) return true;
  return p->write != q->write && replicated_in_warps(&p->layout);
}

/* Assumes of a pair of parameters that no barrier is needed between their accesses; false if the
 * order must be kept. */
static bool assume(Build *s, int x, int y, uint8_t strength) {
  Pointers *p = s->pointers;
  if (p->pair[x][y] >= strength) return true;
  bool or_same = strength == PAIR_OR_SAME;
  if (p->many || !nest_assume_noalias(s->nest, p->var[x], p->var[y], or_same)) return false;
  p->pair[x][y] = p->pair[y][x] = strength;
  return true;
}

/* True if a barrier must separate the two.  `again`: they are an iteration apart, so that one
 * address may be another one by then. */
static bool pending_pair_conflicts(Build *s, const Pending *p, const Pending *q, bool again) {
  if ((!p->write && !q->write) || are_apart(p, q)) return false;
  bool two = p->base >= 0 && q->base >= 0 && p->base != q->base;
  if (!two) return meets_others(p, q) || again;
  if (machine_has(s->u->machine, HAS_LOCKSTEP)) return false;
  int x = s->pointers->index[p->base], y = s->pointers->index[q->base];
  if (x < 0 || y < 0) return s->u->tile->options.alias != NEREID_ALIAS_DISJOINT;
  if (s->pointers->pair[x][y] == PAIR_DISJOINT) return false;
  return !assume(s, x, y, again || meets_others(p, q) ? PAIR_DISJOINT : PAIR_OR_SAME);
}

enum { MOST_KEPT = 8 }; /* pending reads of a parameter that is only read */

/* Does a write conflict with reads that are not kept? */
static bool conflicts_with_crowd(Build *s, const Pending *now) {
  if (!now->write) return false;
  int to = now->base >= 0 ? s->pointers->index[now->base] : -1;
  for (int i = 0; i < MOST_POINTERS; i++)
    if (s->pointers->crowded[i] && i != to && (to < 0 || !assume(s, i, to, PAIR_DISJOINT)))
      return true;
  return false;
}

static bool conflicts_with_pending(Build *s, const Pending *now) {
  for (size_t i = s->pending_from; i < s->pending.len; i++) {
    arena_work(s->scratch, 4);
    if (pending_pair_conflicts(s, &s->pending.data[i], now, false)) return true;
  }
  return conflicts_with_crowd(s, now);
}

/* True if the access is one to compare others with.  Reads of a parameter that is only read meet
 * the writes of others alone: a few are kept, and more make it crowded. */
static bool is_kept_pending(Build *s, const Pending *now, uint8_t *kept) {
  if (now->write || !is_only_read(s, now->base)) return true;
  int i = s->pointers->index[now->base];
  if (machine_has(s->u->machine, HAS_LOCKSTEP) || s->pointers->crowded[i]) return false;
  s->pointers->crowded[i] = kept[i] == MOST_KEPT;
  kept[i]++;
  return !s->pointers->crowded[i];
}

static Pending pending_access(const TileOp *op, const Layout *l) {
  return (Pending){address_root(op->args[0]), op, *l, writes_memory(op)};
}

void build_order(Build *s, const TileOp *access, const Layout *l) {
  if (!s->pointers->written_any) return;
  Pending now = pending_access(access, l);
  if (conflicts_with_pending(s, &now)) build_barrier(s);
  if (is_kept_pending(s, &now, s->pointers->kept)) vec_push(s->scratch, &s->pending, now);
}

void build_order_copies(Build *s) {
  for (size_t i = s->pending_from; i < s->pending.len; i++)
    if (s->pending.data[i].write) {
      build_barrier(s);
      return;
    }
}

/* ---- control flow ---- */

PendingMark build_pending(const Build *s) { return (PendingMark){s->pending_from, s->pending.len}; }

/* The first access that is pending and was made after the mark.  Either all accesses before the
 * mark are still pending, or (after a barrier) none. */
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
  uint8_t kept[MOST_POINTERS];
} Uses;

static void collect_access(TileOp *op, void *ctx) {
  Uses *u = ctx;
  Build *s = u->s;
  bool load = op->code == TILE_LOAD || op->code == TILE_VIEW_LOAD;
  bool store = op->code == TILE_STORE || op->code == TILE_VIEW_STORE;
  if (!load && !store) return;
  const TileValue *v = load ? op->results[0] : op->args[1];
  Layout l = {0};
  if (store) l = v->type.rank ? s->u->schedule->stores[u->next_store++] : build_whole_program(s);
  else if (v->type.rank) l = build_layout_of(s, v);
  Pending p = pending_access(op, &l);
  if (is_kept_pending(s, &p, u->kept)) vec_push(s->scratch, &u->all, p);
}

static bool value_varies(const TileValue *v, const TileOp *loop) {
  const TileBlock *b = v->def ? v->def->parent : v->block;
  while (b && b->owner != loop) b = b->owner ? b->owner->parent : NULL;
  return b != NULL;
}

static bool varies_in_loop(const TileOp *op, const TileOp *loop) {
  bool found = value_varies(op->args[0], loop);
  for (uint32_t a = 0; is_view_access(op) && a < tile_view_rank(op); a++)
    found |=
        value_varies(tile_view_offset(op, a), loop) || value_varies(tile_view_stride(op, a), loop);
  return found;
}

/* True if p in one iteration and q in the next must be separated. */
static bool meets_next(Build *s, const Pending *p, const Pending *q, const TileOp *loop) {
  bool again = p->write != q->write && varies_in_loop(p->op, loop);
  return pending_pair_conflicts(s, p, q, again);
}

void build_loop_barrier(Build *s, const TileOp *loop) {
  if (!s->pointers->written_any) return;
  Uses u = {.s = s, .next_store = s->next_store};
  for (uint32_t r = 0; r < loop->nregions; r++) tile_walk(loop->regions[r], collect_access, &u);
  bool meet = false;
  for (size_t i = 0; i < u.all.len && !meet; i++) {
    meet = conflicts_with_crowd(s, &u.all.data[i]);
    for (size_t j = 0; j < i && !meet; j++)
      meet = meets_next(s, &u.all.data[i], &u.all.data[j], loop);
  }
  if (meet) build_barrier(s);
}

/* ---- loads that run ahead ---- */

/* The writes of a loop, and whether it orders memory otherwise. */
typedef struct {
  Build *s;
  VEC(int64_t) bases; /* -1: unknown */
  bool fenced;
} LoopWrites;

/* An atomic whose result nobody reads can't be what a load waits for. */
static bool orders_loads(const Build *s, const TileOp *op) {
  switch (op->code) {
    case TILE_GRID_DEPENDENCY:
    case TILE_ASM_IMPURE:
    case TILE_BARRIER: return true;
    case TILE_LOAD:
    case TILE_VIEW_LOAD: return tile_int(op, TA_volatile, 0) != 0;
    case TILE_ATOMIC_RMW:
    case TILE_ATOMIC_CAS:
      return s->uses[op->results[0]->id] && strcmp(tile_str(op, TA_sem, "acq_rel"), "relaxed");
    default: return false;
  }
}

static void collect_writes(TileOp *op, void *ctx) {
  LoopWrites *w = ctx;
  w->fenced |= orders_loads(w->s, op);
  if (!writes_memory(op)) return;
  int64_t base = address_root(op->args[0]);
  for (size_t i = 0; i < w->bases.len; i++)
    if (w->bases.data[i] == base) return;
  vec_push(w->s->scratch, &w->bases, base);
}

/* A load ahead of its iteration passes the writes of those before it. */
static bool may_run_ahead(LoopWrites *w, const TileOp *load) {
  Build *s = w->s;
  int64_t base = address_root(load->args[0]);
  if (w->fenced) return false;
  for (size_t i = 0; i < w->bases.len; i++) {
    int64_t to = w->bases.data[i];
    int x = base < 0 ? -1 : s->pointers->index[base], y = to < 0 ? -1 : s->pointers->index[to];
    if (base == to || base < 0 || to < 0) return false;
    if (x < 0 || y < 0 ? s->u->tile->options.alias != NEREID_ALIAS_DISJOINT
                       : !assume(s, x, y, PAIR_DISJOINT))
      return false;
  }
  return true;
}

static bool block_has_dot(const TileBlock *b) {
  for (const TileOp *op = b->first; op; op = op->next)
    if (op->code == TILE_DOT) return true;
  return false;
}

void build_plan_ahead(Build *s, const TileOp *loop) {
  const TileBlock *body = loop->regions[0];
  if (!machine_has(s->u->machine, HAS_ASYNC_COPIES) || !s->pointers->written_any ||
      !block_has_dot(body))
    return;
  LoopWrites w = {.s = s};
  tile_walk(loop->regions[0], collect_writes, &w);
  bool meets_earlier = false;
  for (const TileOp *op = body->first; op; op = op->next) {
    if (op->code != TILE_LOAD && op->code != TILE_VIEW_LOAD) continue;
    const TileValue *v = op->results[0];
    Layout l = v->type.rank ? build_layout_of(s, v) : (Layout){0};
    Pending p = pending_access(op, &l);
    s->pointers->pinned[v->id] = !may_run_ahead(&w, op);
    meets_earlier |= !s->pointers->pinned[v->id] && conflicts_with_pending(s, &p);
  }
  if (meets_earlier) build_barrier(s);
}

bool build_is_pinned(const Build *s, const TileOp *load) {
  return s->pointers->pinned[load->results[0]->id];
}
