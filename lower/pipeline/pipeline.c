/* Pass pipeline: software pipelining of loops around a dot.
 *
 * Tiles that are loaded from global memory and stored to shared memory as they are become
 * asynchronous copies that run ahead: their buffers become rings, and the statements that compute
 * their addresses run ahead with them, on variables of their own.  Tiles that threads compute with
 * are stored for that, too, where pass schedule says so.  A loop of D stages, for iteration i,
 * after the pass:
 *
 *   D-1 times: copy(ahead) ; commit ; advance          the first D-1 iterations' operands
 *   for i { wait until D-2 groups are open ; bar
 *           copy(ahead) if there is such an iteration ; commit ; advance
 *           the rest of the body, on slot i % D }
 *   wait for all
 *
 * The barrier shows iteration i's operands to all threads, and tells that all are done with the
 * slot of iteration i-1, which is the one that the copy then fills.
 *
 * Warpgroups' dots that alone make up the rest of the body still run in the next iteration, so
 * that the matrix units have work while threads wait: each returns when only its own group is
 * open.  Then all are done with the slot of iteration i-1, which a second barrier tells, and the
 * copies come after it.
 *
 * Loops of two dots, the second of which takes what is made of the first one's result, are rotated
 * (lower/pipeline/rotate.c).
 *
 * Loads that are boxes of a tensor are bulk copies where the machine has them
 * (lower/pipeline/bulk.h): one thread starts them, and instead of for groups each thread waits for
 * the slot's phase.
 *
 * A loop over tiles around such a loop (a persistent kernel) has the first copies of the next tile
 * after the loop, before what the kernel does with this tile's result: the statements that compute
 * the next tile's coordinates are made again there, one iteration ahead. */
#include <math.h>
#include <string.h>

#include "lower/lower.h"
#include "lower/nest/nest_access.h"
#include "lower/nest/steady.h"
#include "lower/passes.h"
#include "lower/pipeline/pipe.h"
#include "lower/pipeline/stage_load.h"
#include "lower/schedule/schedule.h"
#include "lower/target/atoms.h"

/* ======== loads that can become asynchronous copies ======== */

/* ---- pairs of a load and a store ---- */

/* Threads copy no less than 4 bytes at once. */
static bool is_wide(const NestStmt *ld) {
  return nest_int(ld, NA_width, 1) * dtype_bytes(ld->type) >= MACHINE_COPY_LEAST;
}

static void note_tiles(const NestBlock *b, bool *assigned) {
  for (const NestStmt *st = b->first; st; st = st->next) {
    for (uint32_t i = 0; i < st->ndsts; i++)
      if (st->dsts[i].var->tile.rank) assigned[st->dsts[i].var->id] = true;
    for (uint32_t r = 0; r < st->nregions; r++) note_tiles(st->regions[r], assigned);
  }
}

static bool is_assigned(const bool *assigned, const Ref *r) {
  return r->kind == REF_VAR && assigned[r->var->id];
}

/* True if the address or the mask comes from a tile that an iteration sets: it is not there yet
 * when the load runs ahead. */
static bool reads_tiles(const NestStmt *nest, const bool *assigned) {
  bool found = false;
  for (const NestStmt *st = nest->regions[0]->first; st; st = st->next) {
    for (uint32_t i = 0; i < st->nsrcs; i++) found |= is_assigned(assigned, &st->srcs[i]);
    for (uint32_t i = 0; i < st->nmems; i++) found |= is_assigned(assigned, &st->mems[i].base);
    found |= is_assigned(assigned, &st->guard);
  }
  return found;
}

static NestStmt *plain_store(const NestStmt *nest, const NestVar *v) {
  NestStmt *st = nest->regions[0]->first;
  if (!st || st->next || st->code != NEST_ST || !st->mems[0].buffer || st->guard.kind) return NULL;
  bool same = st->srcs[0].kind == REF_VAR && st->srcs[0].var == v && !st->mems[0].base.kind;
  return same ? st : NULL;
}

static bool block_writes_global(const NestBlock *b) {
  for (const NestStmt *st = b->first; st; st = st->next) {
    if (nest_writes_global(st)) return true;
  }
  return false;
}

/* The store of a loaded tile that nothing else reads. */
static bool find_store(const Pipe *p, const NestStmt *load, Pair *pair) {
  NestVar *v = pair->ld->dsts[0].var;
  if (pipe_count_reads(p->n->body, v) != 1) return false;
  for (NestStmt *to = load->next; to && !nest_sets(to, v); to = to->next) {
    pair->st = to->code == NEST_NEST ? plain_store(to, v) : NULL;
    pair->store = to;
    if (pair->st) return true;
  }
  pair->store = NULL;
  return false;
}

static int count_dots(const NestBlock *b) {
  int n = 0;
  for (const NestStmt *st = b->first; st; st = st->next) n += st->code == NEST_DOT;
  return n;
}

/* Stored loads and, if `stages`, those that threads compute with and that shall run ahead. */
static void pipe_find_pairs(Pipe *p, bool stages) {
  NestBlock *body = p->loop->regions[0];
  bool *assigned = ARENA_ARRAY(p->scratch, bool, p->n->nvars);
  note_tiles(body, assigned);
  p->pairs.len = 0;
  for (NestStmt *st = body->first; st; st = st->next) {
    NestStmt *ld = st->code == NEST_NEST ? pipe_plain_load(st) : NULL;
    if (!ld || reads_tiles(st, assigned)) continue;
    Pair pair = {.load = st, .ld = ld};
    const NestVar *v = ld->dsts[0].var;
    bool staged = stages && nest_int(ld, NA_ahead, 0) && is_wide(ld) &&
                  pipe_count_reads(body, v) == pipe_count_reads(p->n->body, v);
    if (find_store(p, st, &pair) || staged) vec_push(p->scratch, &p->pairs, pair);
  }
}

/* ---- what the addresses need ---- */

static void need_var(Pipe *p, const Ref *r) {
  if (r->kind == REF_VAR && r->var->uniform && !r->var->is_param) p->needed[r->var->id] = true;
}

static void need_stmt(Pipe *p, const NestStmt *st) {
  for (uint32_t i = 0; i < st->nsrcs; i++) need_var(p, &st->srcs[i]);
  for (uint32_t i = 0; i < st->nmems; i++) need_var(p, &st->mems[i].base);
  need_var(p, &st->guard);
  for (uint32_t r = 0; r < st->nregions; r++)
    for (const NestStmt *x = st->regions[r]->first; x; x = x->next) need_stmt(p, x);
}

static void need_coordinates(Pipe *p, const BoxAccess *x) {
  for (int i = 0; i < x->map.rank; i++)
    for (int k = 0; k < x->at[i].n; k++)
      if (x->at[i].t[k].kind == SYMBOL_VAR) p->needed[x->at[i].t[k].var->id] = true;
}

static bool can_run_ahead(const NestStmt *st) {
  unsigned flags = nest_flags(st);
  bool simple = (flags & NEST_IS_PURE) || (st->code == NEST_LD && !st->mems[0].buffer);
  return simple && !st->guard.kind && st->dsts[0].var->uniform && !nest_int(st, NA_pinned, 0);
}

/* Collects the body's statements that define needed variables, until none is missing.  False if one
 * of them can't run ahead. */
static bool pipe_collect_slice(Pipe *p) {
  for (size_t i = 0; i < p->pairs.len; i++) {
    const Pair *x = &p->pairs.data[i];
    if (x->bulk) need_coordinates(p, &x->bulk->access);
    else need_stmt(p, x->load);
  }
  NestBlock *body = p->loop->regions[0];
  bool loads = false;
  for (bool again = true; again;) {
    again = false;
    p->slice.len = 0;
    for (NestStmt *st = body->first; st; st = st->next) {
      bool wanted = false;
      for (uint32_t i = 0; i < st->ndsts; i++) wanted |= p->needed[st->dsts[i].var->id];
      for (size_t i = 0; i < p->pairs.len; i++) wanted |= p->pairs.data[i].load == st;
      if (!wanted) continue;
      vec_push(p->scratch, &p->slice, st);
      bool pair = st->code == NEST_NEST;
      if (pair) continue;
      if (!can_run_ahead(st)) return false;
      loads |= st->code == NEST_LD;
      for (uint32_t i = 0; i < st->nsrcs; i++) {
        const Ref *r = &st->srcs[i];
        if (r->kind == REF_VAR && !r->var->is_param && !p->needed[r->var->id])
          again = p->needed[r->var->id] = true;
      }
      const Ref *b = &st->mems[0].base;
      if (st->code == NEST_LD && b->kind == REF_VAR && !b->var->is_param && !p->needed[b->var->id])
        again = p->needed[b->var->id] = true;
    }
  }
  /* A needed variable set inside a nested region of the body would be missed. */
  return !(loads && block_writes_global(body));
}

static void nested_defs(const Pipe *p, const NestBlock *b, bool *bad) {
  for (const NestStmt *st = b->first; st; st = st->next) {
    for (uint32_t i = 0; i < st->ndsts; i++)
      if (st->dsts[i].var->id < p->nvars && p->needed[st->dsts[i].var->id]) *bad = true;
    for (uint32_t r = 0; r < st->nregions; r++) nested_defs(p, st->regions[r], bad);
  }
}

/* No variable of the slice is defined in a block inside the body. */
static bool pipe_defs_are_on_top(const Pipe *p) {
  bool bad = false;
  for (const NestStmt *st = p->loop->regions[0]->first; st; st = st->next)
    for (uint32_t r = 0; r < st->nregions; r++) nested_defs(p, st->regions[r], &bad);
  return !bad;
}

/* ======== the loop whose copies run ahead ======== */

/* ---- the next tile's ---- */

/* The first copies of tile `a->tile`, if there is one, by the tiles' variables of p->ahead. */
static void copies_of_tile(Pipe *p, NestBuilder *b, const Ahead *a) {
  const NestStmt *tiles = p->tiles;
  pipe_op(b, TILE_LT, tiles->type, ref_var(a->is_tile), ref_var(a->tile), tiles->srcs[1]);
  for (size_t i = 0; i < p->coordinates.len; i++) pipe_clone(p, b, p->coordinates.data[i]);
  pipe_first_copies(p, b, a);
}

/* The tile itself has the numbers that were computed for its copies. */
static void take_coordinates(Pipe *p) {
  for (size_t i = 0; i < p->coordinates.len; i++) {
    NestStmt *st = p->coordinates.data[i];
    NestBuilder here = {p->n, st->parent, st, st->span};
    NestVar *v = st->dsts[0].var;
    nest_mov(&here, ref_var(v), ref_var(p->ahead[v->id]), v->dtype);
    nest_remove(st);
  }
}

/* Before the loop over tiles, the first one's; right after this loop, the next one's: they fill all
 * slots but that of the last iteration, whose dot may still run; all threads are done with the
 * others since the last barrier. */
static void copies_of_tiles(Pipe *p, Ahead *a) {
  NestStmt *tiles = p->tiles;
  NestVar *ix = tiles->dsts[0].var;
  NestBuilder before = {p->n, tiles->parent, tiles, p->loop->span};
  NestBuilder after = {p->n, p->loop->parent, p->loop->next, p->loop->span};
  NestVar **own = p->ahead;
  p->ahead = ARENA_ARRAY(p->scratch, NestVar *, p->nvars);
  memcpy(p->ahead, own, p->nvars * sizeof *own);
  for (size_t i = 0; i < p->coordinates.len; i++) {
    const NestVar *v = p->coordinates.data[i]->dsts[0].var;
    NestVar *t = p->ahead[v->id] = nest_var(p->n, v->name, v->dtype, v->elem, 1, true);
    t->div = v->div;
  }
  a->tile = p->ahead[ix->id] = nest_var(p->n, ix->name, ix->dtype, DT_NONE, 1, true);
  a->tile->div = ix->div;
  a->is_tile = nest_var(p->n, "next", DT_I1, DT_NONE, 1, true);
  nest_mov(&before, ref_var(a->tile), tiles->srcs[0], ix->dtype);
  copies_of_tile(p, &before, a);
  pipe_op(&after, TILE_ADD, tiles->type, ref_var(a->tile), ref_var(ix), tiles->srcs[2]);
  copies_of_tile(p, &after, a);
  take_coordinates(p);
  p->ahead = own;
}

static bool stores_to(const NestStmt *st, const NestBuffer *buffer) {
  if (st->code == NEST_TURN) return st->mems[0].buffer == buffer && !st->mems[0].base.kind;
  const NestStmt *to = st->code == NEST_NEST ? st->regions[0]->last : NULL;
  return to && to->code == NEST_ST && to->mems[0].buffer == buffer && !to->mems[0].base.kind;
}

/* What the body makes for dots that run on has two slots, in turns. */
static void alternate(Pipe *p, NestBuilder *before, NestBuilder *tail) {
  enum { SLOTS = 2 };
  if (!p->made.len) return;
  NestBlock *body = p->loop->regions[0];
  NestVar *turn = nest_var(p->n, "side", DT_I32, DT_NONE, 1, true);
  nest_mov(before, ref_var(turn), ref_int(0), DT_I32);
  for (size_t i = 0; i < p->made.len; i++) {
    NestBuffer *buf = p->made.data[i];
    Ref at = pipe_scalar(p, "at", DT_I32);
    at.var->div = buf->bytes & -buf->bytes;
    NestBuilder head = {p->n, body, body->first, p->loop->span};
    pipe_op(&head, TILE_MUL, DT_I32, at, ref_var(turn), ref_int(buf->bytes));
    for (NestStmt *st = body->first; st; st = st->next) {
      if (st->nregions && stores_to(st, buf)) st->regions[0]->last->mems[0].base = at;
      for (uint32_t k = 0; k < st->nmems; k++)
        if (st->mems[k].buffer == buf) st->mems[k].base = at;
    }
    buf->bytes *= SLOTS;
    buf->slots = SLOTS;
  }
  NestBuilder stored = {p->n, body, p->dot, p->dot->span};
  nest_stmt(&stored, NEST_BAR, 0, 0);
  pipe_op(tail, TILE_SUB, DT_I32, ref_var(turn), ref_int(1), ref_var(turn));
}

/* Readers of rings read the current slot: dots, and nests that load fragments element by element.
 * They may be in branches and loops of the body. */
static void redirect_reads(Pipe *p, const Ahead *a, NestBlock *b) {
  for (NestStmt *st = b->first; st; st = st->next) {
    NestBuilder before = {p->n, b, st, st->span};
    if (st->code == NEST_DOT || st->code == NEST_TURN) pipe_read_slot(p, a->slot_r, &before, st);
    for (uint32_t r = 0; r < st->nregions && st->code != NEST_NEST; r++)
      redirect_reads(p, a, st->regions[r]);
    if (st->code != NEST_NEST) continue;
    for (NestStmt *x = st->regions[0]->first; x; x = x->next)
      if (x->code == NEST_LD) pipe_read_slot(p, a->slot_r, &before, x);
  }
}

/* Before the slot is read.  The barrier shows what other threads copied and, unless a dot runs on,
 * that all are done with the slot before it. */
static void wait_for_slot(Pipe *p, const Ahead *a, NestBuilder *b) {
  if (pipe_has_groups(p)) pipe_ring_wait(p, b, p->depth - 2);
  if (pipe_has_groups(p) && p->through_proxy) pipe_fence_proxy(p, b);
  if (p->nbulk) bulk_wait(&p->ring[0], b, a->slot_r);
  if (pipe_has_groups(p) || !(p->dot || p->release.first)) nest_stmt(b, NEST_BAR, 0, 0);
}

static void pipe_body(Pipe *p, const Ahead *a, NestBuilder *before) {
  NestBlock *body = p->loop->regions[0];
  redirect_reads(p, a, body);
  NestBuilder head = {p->n, body, body->first, p->loop->span};
  wait_for_slot(p, a, &head);
  NestBuilder tail = {p->n, body, NULL, p->loop->span};
  if (p->dot) nest_stmt(&tail, NEST_BAR, 0, 0);
  if (p->release.first) release_body(p, a);
  else pipe_issue_copies(p, p->dot ? &tail : &head, a);
  Ref wraps = pipe_advance_slot(p, &tail, a->slot_r);
  alternate(p, before, &tail);
  if (p->nbulk) bulk_next_phase(&p->ring[0], &tail, wraps);
}

/* Does a statement between this one, a store of a tile, and the loop have to do with it? */
static bool must_stay(const Pipe *p, const NestStmt *st) {
  const NestStmt *to = st->regions[0]->first;
  const NestBuffer *b = to->mems[0].buffer;
  for (const NestStmt *x = st->next; x != p->loop; x = x->next) {
    bool fence = x->code == NEST_BAR || x->code == NEST_FENCE || x->code == NEST_DOT;
    if (fence || nest_sets(x, to->srcs[0].var)) return true;
    for (uint32_t i = 0; i < x->nmems; i++)
      if (x->mems[i].buffer == b) return true;
    for (uint32_t r = 0; r < x->nregions; r++)
      if (pipe_count_uses(x->regions[r], b)) return true;
  }
  return false;
}

/* A tile that is loaded before the loop, as a query, is stored after the first copies have begun:
 * the store waits for the load. */
static void sink_stores(Pipe *p) {
  NestStmt *prev, *place = p->loop;
  for (NestStmt *st = p->loop->prev; st && !p->tiles; st = prev) {
    prev = st->prev;
    if (!pipe_stores_loaded(st) || must_stay(p, st)) continue;
    nest_move_before(st, place);
    place = st;
  }
}

static void pipe_transform(Pipe *p) {
  if (p->depth > p->u->stages) p->u->stages = p->depth;
  NestBuilder before = {p->n, p->loop->parent, p->loop, p->loop->span};
  for (size_t i = 0; i < p->pairs.len; i++) {
    Pair *pair = &p->pairs.data[i];
    if (!pair->store) pair->store = stage_load(p->n, p->loop, pair->load, pair->ld);
    pair->st = pair->store->regions[0]->first;
    NestBuffer *buf = pair->st->mems[0].buffer;
    buf->bytes *= p->depth;
    buf->slots = p->depth;
  }
  if (p->tiles) before = (NestBuilder){p->n, p->tiles->parent, p->tiles, p->loop->span};
  Ahead a = pipe_make_ahead(p, &before), lead = {0};
  once_start(p);
  bool late = once_is_late(p);
  if (!late) once_copy(p, &before);
  if (p->rotation.first && rotation_leads(p)) {
    lead = pipe_make_lead(p, &a, &p->ring[0]);
    a.only = &p->ring[1];
    pipe_first_copies(p, &before, &lead);
  }
  if (!p->tiles) pipe_first_copies(p, &before, &a);
  if (late) once_copy(p, &before);
  once_wait(p);
  sink_stores(p);
  if (p->rotation.first) rotation_body(p, &a, &lead, &before);
  else pipe_body(p, &a, &before);
  if (!p->rotation.first && !p->release.first && !p->dot) open_products(p);
  for (size_t i = 0; i < p->pairs.len; i++) {
    pipe_remove_fence(p->pairs.data[i].store);
    nest_remove(p->pairs.data[i].load);
    nest_remove(p->pairs.data[i].store);
  }
  NestBuilder after = {p->n, p->loop->parent, p->loop->next, p->loop->span};
  for (NestStmt *st = p->dot; st; st = st->next)
    if (st->code == NEST_DOT) nest_set_int(p->n, st, NA_groups, 1);
  if (p->dot || p->rotation.first || p->release.open)
    nest_set_int(p->n, nest_stmt(&after, NEST_MMA_WAIT, 0, 0), NA_groups, 0);
  if (p->tiles) copies_of_tiles(p, &a);
  if (!pipe_has_groups(p)) return;
  pipe_ring_wait(p, &after, 0);
  if (pipe_is_repeated(p->loop)) nest_stmt(&after, NEST_BAR, 0, 0); /* the slots are filled again */
}

/* ======== the pass ======== */

static int64_t pair_bytes(const Pipe *p) {
  int64_t n = 0;
  for (size_t i = 0; i < p->pairs.len; i++) {
    const Pair *x = &p->pairs.data[i];
    n += x->st ? x->st->mems[0].buffer->bytes : stage_bytes(x->ld->dsts[0].var);
  }
  return n;
}

/* The uses of a buffer, seen from the loop. */
enum { BEFORE = 1, INSIDE = 2, AFTER = 4 };

typedef struct {
  const Pipe *p;
  uint8_t *where; /* by buffer id */
  uint8_t now;
  int64_t combines; /* bytes of reductions inside: bind gives them buffers */
} Uses;

/* Shared memory through which warps combine a reduction's or scan's results: each has one number of
 * each result; of a scan an estimate. */
static int64_t combine_bytes(const NestStmt *st) {
  enum { SCAN = 16384 };
  if (pipe_reduces_in_warps(st)) return 0;
  if (st->code == NEST_SCAN) return SCAN;
  const Layout *l = st->srcs[0].var->layout;
  int axis = (int)nest_int(st, NA_axis, 0);
  int64_t results = 1, bytes = 0;
  for (int i = 0; i < l->ndigits; i++)
    if (l->d[i].axis == axis && l->d[i].hw == HW_WARP) results *= l->d[i].extent;
  for (int a = 0; a < (int)l->rank; a++)
    if (a != axis) results *= layout_padded(l, a);
  for (uint32_t i = 0; i < st->nsrcs; i++)
    if (st->srcs[i].kind == REF_VAR) bytes += dtype_bytes(st->srcs[i].var->dtype);
  return results * bytes;
}

static void note_uses_of_block(Uses *u, const NestBlock *b) {
  for (const NestStmt *st = b->first; st; st = st->next) {
    bool loop = st == u->p->loop;
    if (loop) u->now = INSIDE;
    bool alive = u->now == INSIDE || pipe_is_repeated(u->p->loop);
    if (alive) u->combines += combine_bytes(st);
    for (uint32_t i = 0; i < st->nmems; i++)
      if (st->mems[i].buffer) u->where[st->mems[i].buffer->id] |= u->now;
    for (uint32_t r = 0; r < st->nregions; r++) note_uses_of_block(u, st->regions[r]);
    if (loop) u->now = AFTER;
  }
}

/* Shared memory that others than the rings need while the loop runs: an estimate, since they may
 * share bytes with each other, but none is smaller than the largest of them. */
static int64_t other_bytes(const Pipe *p) {
  if (p->rings_alone) return 0;
  Uses u = {p, ARENA_ARRAY(p->scratch, uint8_t, p->n->nbuffers + 1), BEFORE, 0};
  note_uses_of_block(&u, p->n->body);
  int64_t sum = 0, largest = 0, most = p->u->machine->shared / 2;
  for (uint32_t i = 0; i < p->n->nbuffers; i++) {
    bool alive = u.where[i] & INSIDE || u.where[i] == (BEFORE | AFTER) ||
                 (u.where[i] && pipe_is_repeated(p->loop));
    if (!alive || pipe_in_ring(p, p->n->buffers[i])) continue;
    int64_t bytes = p->n->buffers[i]->bytes;
    if (bytes > largest) largest = bytes;
    sum += bytes;
  }
  sum += u.combines;
  if (sum > most) sum = most;
  return sum > largest ? sum : largest;
}

static bool is_group_dot(const NestStmt *st) {
  const Atom *atom = st->code == NEST_DOT ? atom_find(nest_str(st, NA_atom, "")) : NULL;
  return atom && atom->warps > 1;
}

static bool is_pair(const Pipe *p, const NestStmt *st) {
  for (size_t i = 0; i < p->pairs.len; i++)
    if (p->pairs.data[i].load == st || p->pairs.data[i].store == st) return true;
  return false;
}

/* Does the dot read the buffer, which the body stores before and nothing else uses? */
static bool is_made_for(const Pipe *p, const NestStmt *dot, const NestBuffer *buffer) {
  int uses = 1;
  if (!buffer || pipe_in_ring(p, buffer)) return false;
  const NestStmt *st = p->loop->regions[0]->first;
  for (; st && st != dot; st = st->next) uses += stores_to(st, buffer);
  return uses > 1 && uses == pipe_count_uses(p->n->body, buffer);
}

/* A dot that reads rings, and what the body makes for it alone, and whose result nothing else in
 * the loop touches but dots. */
static bool is_lone_dot(const Pipe *p, const NestStmt *dot) {
  if (!is_group_dot(dot) || nest_attr(dot, NA_max_imprecise)) return false;
  for (int i = 0; i < 2; i++)
    if (!pipe_in_ring(p, dot->mems[i].buffer) && !is_made_for(p, dot, dot->mems[i].buffer))
      return false;
  for (const NestStmt *st = p->loop->regions[0]->first; st; st = st->next)
    if (st->code != NEST_DOT && !is_pair(p, st) && nest_touches(st, dot->dsts[0].var)) return false;
  return true;
}

/* The first of the body's dots, if all are lone ones. */
static NestStmt *find_lone_dots(const Pipe *p) {
  NestStmt *first = NULL;
  for (NestStmt *st = p->loop->regions[0]->first; st; st = st->next) {
    if (st->code != NEST_DOT) continue;
    if (!is_lone_dot(p, st)) return NULL;
    if (!first) first = st;
  }
  return first;
}

/* A ring that threads fill. */
static bool is_copied(const Pipe *p, const NestBuffer *b) {
  for (size_t i = 0; b && i < p->pairs.len; i++) {
    const Pair *x = &p->pairs.data[i];
    if (x->st && x->st->mems[0].buffer == b) return !x->bulk;
  }
  return false;
}

/* A warpgroup's dot of the block, or of a block inside it, reads such a ring. */
static bool reads_by_proxy(const Pipe *p, const NestBlock *b) {
  for (const NestStmt *st = b->first; st; st = st->next) {
    if (is_group_dot(st) && (is_copied(p, st->mems[0].buffer) || is_copied(p, st->mems[1].buffer)))
      return true;
    for (uint32_t r = 0; r < st->nregions; r++)
      if (reads_by_proxy(p, st->regions[r])) return true;
  }
  return false;
}

static void forget_bulk(Pipe *p) {
  p->nbulk = 0;
  for (size_t i = 0; i < p->pairs.len; i++) p->pairs.data[i].bulk = NULL;
}

/* Are all rings read at once: by products alone, or by the one product of the loop?  Where threads
 * need an operand later than another, boxes gain in rotated loops alone, and where more than a
 * warpgroup waits for the product's result, they lose (bench/history.md). */
static bool reads_rings_at_once(const Pipe *p) {
  const NestBlock *body = p->loop->regions[0];
  if (find_lone_dots(p)) return true;
  if (count_dots(body) != 1 || p->n->warps > WARPGROUP) return false;
  const NestStmt *st = body->first;
  while (st->code != NEST_DOT) st = st->next;
  return is_group_dot(st) && pipe_in_ring(p, st->mems[0].buffer) &&
         pipe_in_ring(p, st->mems[1].buffer);
}

/* Pairs whose copies are boxes.  They are not in the order of the text with other accesses, which a
 * kernel for overlapping arguments is. */
static void find_bulk(Pipe *p) {
  const Options *o = &p->n->options;
  forget_bulk(p);
  if (o->no_tensor_maps || o->alias == NEREID_ALIAS_ORDERED) return;
  if (!machine_has(p->u->machine, HAS_ASYNC_PROXY)) return;
  if (!p->rotation.first && !p->release.first && !reads_rings_at_once(p)) return;
  Definitions d;
  definitions_find(&d, p->scratch, p->n);
  for (size_t i = 0; i < p->pairs.len; i++) {
    Pair *x = &p->pairs.data[i];
    BulkLoad found;
    if (!x->store || !bulk_load(&found, &d, p->loop, x->load, x->store)) continue;
    x->bulk = ARENA_NEW(p->scratch, BulkLoad);
    *x->bulk = found;
    p->nbulk++;
  }
}

/* Fewer stages than are asked for where shared memory would not hold them. */
static void find_depth(Pipe *p) {
  int64_t others = other_bytes(p);
  int most = p->u->most_stages;
  p->depth = (int)nest_int(p->loop, NA_stages, p->n->options.num_stages);
  if (most && p->depth > most) p->depth = most;
  while (p->depth > 1 && pair_bytes(p) * p->depth + others > p->u->machine->shared) p->depth--;
}

static int64_t shared_bytes(const Pipe *p, int depth) {
  return pair_bytes(p) * depth + other_bytes(p);
}

/* Rotates with that many slots, if programs of others beside `before` bytes lose no place. */
static bool find_rotation(Pipe *p, int depth, int64_t before) {
  int64_t bytes = shared_bytes(p, depth);
  p->release = (Release){0};
  p->depth = depth;
  p->rotation = (Rotation){0};
  if (bytes <= p->u->machine->shared) rotation_find(p);
  find_bulk(p);
  bytes += rotation_more_bytes(&p->rotation);
  if (bytes > p->u->machine->shared) return false;
  if (p->rotation.turn && !rotation_leads(p)) return false;
  int least = rotation_leads(p) ? ROTATION_DEPTH_OF_BOXES : ROTATION_DEPTH;
  return p->rotation.first && depth >= least && rotation_fits(p, before, bytes);
}

/* Without a barrier, with a third slot if that takes nothing from anybody. */
static bool find_release(Pipe *p, int depth, int64_t before) {
  p->depth = depth;
  p->rotation = (Rotation){0};
  if (depth > 1) release_find(p);
  find_bulk(p);
  if (!p->release.first || pipe_has_groups(p)) return false;
  int64_t more = shared_bytes(p, depth + 1);
  if (depth == 2 && !p->u->most_stages && more <= p->u->machine->shared &&
      release_fits(p, before, more))
    p->depth++;
  return true;
}

/* Rotated, or with boxes, or neither. */
static void find_form(Pipe *p) {
  find_depth(p);
  int depth = p->depth;
  int64_t before = shared_bytes(p, depth);
  bool deeper = depth == ROTATION_DEPTH - 1 && !p->u->most_stages;
  if (deeper && find_rotation(p, ROTATION_DEPTH, before)) return;
  if (find_rotation(p, depth, before)) return;
  if (find_release(p, depth, before)) return;
  p->release = (Release){0};
  p->depth = depth;
  find_bulk(p);
}

/* Keeps the pairs that boxes or threads can copy; were there others? */
static bool drop_narrow(Pipe *p) {
  size_t n = 0, all = p->pairs.len;
  for (size_t i = 0; i < all; i++) {
    const Pair x = p->pairs.data[i];
    if (x.bulk || is_wide(x.ld)) p->pairs.data[n++] = x;
  }
  p->pairs.len = n;
  return n < all;
}

static void find_pairs(Pipe *p, bool stages) {
  pipe_find_pairs(p, stages);
  find_form(p);
  bool narrow = drop_narrow(p);
  bool ordered = p->rotation.first || p->release.first;
  if (ordered ? !narrow : !p->nbulk || reads_rings_at_once(p)) return;
  /* nothing copies the other operand ahead */
  p->rotation = (Rotation){0};
  p->release = (Release){0};
  forget_bulk(p);
  drop_narrow(p);
}

/* Finds the loads to copy ahead and the statements of their addresses. */
static bool find_copies(Pipe *p, bool stages) {
  memset(p->needed, 0, p->nvars * sizeof *p->needed);
  find_pairs(p, stages);
  p->nrings = !p->nbulk ? 0 : p->rotation.first ? 2 : 1;
  return p->pairs.len && pipe_collect_slice(p) && pipe_defs_are_on_top(p);
}

/* Dots run on if three stages are left, and room for what the body makes for them once more. */
static void find_dots_that_run_on(Pipe *p) {
  enum { LEAST = 3 };
  int64_t more = other_bytes(p);
  NestStmt *first = find_lone_dots(p);
  for (NestStmt *st = first; st; st = st->next)
    for (uint32_t i = 0; st->code == NEST_DOT && i < 2; i++)
      if (!pipe_in_ring(p, st->mems[i].buffer)) vec_push(p->scratch, &p->made, st->mems[i].buffer);
  for (size_t i = 0; i < p->made.len; i++) more += p->made.data[i]->bytes;
  int depth = p->depth;
  while (depth >= LEAST && pair_bytes(p) * depth + more > p->u->machine->shared) depth--;
  if (depth < LEAST) {
    p->made.len = 0;
    return;
  }
  p->depth = depth;
  p->dot = first;
}

static bool plan_copies(Pipe *p, bool stages) {
  if (!find_copies(p, stages)) return false;
  bool ordered = p->rotation.first || p->release.first;
  if (!ordered) find_depth(p);
  if (p->depth < 2) return false;
  p->through_proxy = reads_by_proxy(p, p->loop->regions[0]);
  if (!ordered) find_dots_that_run_on(p);
  return true;
}

/* ---- loops over tiles ---- */

static bool counts_up(const Pipe *p, const Definitions *d, const NestStmt *loop) {
  const Ref *step = &loop->srcs[2];
  if (step->kind == REF_AFFINE) return step->sub.c > 0;
  const NestVar *v = step->kind == REF_VAR ? step->var : NULL;
  return v && v->id < p->nvars && d->count[v->id] == 1 && d->first[v->id]->code == NEST_NPROG;
}

/* The copies may be made before the block's statements, whose loop may have run once less: none
 * writes what is copied, if arrays are apart, or tells others, or waits for them. */
static bool may_copy_before(Pipe *p, const Definitions *d, const NestBlock *b) {
  for (const NestStmt *st = b->first; st; st = st->next) {
    unsigned flags = nest_flags(st);
    bool of_stores = st->code >= NEST_BULK_STORE && st->code <= NEST_BULK_WAIT;
    bool known = st->code == NEST_BAR || st->code == NEST_FENCE || st->nregions || of_stores;
    if (flags & (NEST_IS_ATOMIC | NEST_IS_ORDERED) && !known) return false;
    if (st->code == NEST_WHILE || st->code == NEST_ROLE || st->code == NEST_ASM) return false;
    for (uint32_t r = 0; r < st->nregions; r++)
      if (!may_copy_before(p, d, st->regions[r])) return false;
    if (st->nregions || !nest_writes_global(st)) continue;
    NestVar *root = box_root(d, st);
    for (size_t i = 0; i < p->pairs.len; i++) {
      NestVar *base = p->pairs.data[i].bulk->access.map.base;
      if (!root || !nest_assume_noalias(p->n, root, base, false)) return false;
    }
  }
  return true;
}

static void need_outside(const Pipe *p, bool *needed, const Ref *r) {
  if (r->kind == REF_VAR && !r->var->is_param && r->var->id < p->nvars) needed[r->var->id] = true;
}

static bool has_statement_of(const NestBlock *b, const NestStmt *st) {
  for (; st; st = st->parent->owner)
    if (st->parent == b) return true;
  return false;
}

/* The statements of the body of `tiles`, before this loop, of which the copies' coordinates and the
 * loop's bounds are made; false if some can't be made an iteration ahead. */
static bool find_coordinates(Pipe *p, const Definitions *d, const NestStmt *tiles) {
  NestBlock *body = tiles->regions[0];
  bool *needed = ARENA_ARRAY(p->scratch, bool, p->nvars);
  memcpy(needed, p->needed, p->nvars * sizeof *needed);
  for (int i = 0; i < 2; i++) need_outside(p, needed, &p->loop->srcs[i]);
  for (size_t i = 0; i < p->slice.len; i++) {
    const NestStmt *st = p->slice.data[i];
    if (st->code == NEST_NEST) continue;
    if (st->code != NEST_OP) return false; /* carried from one iteration to the next, or loaded */
    for (uint32_t k = 0; k < st->nsrcs; k++) need_outside(p, needed, &st->srcs[k]);
  }
  VEC(NestStmt *) found = {0};
  for (NestStmt *st = p->loop->prev; st; st = st->prev) {
    if (!st->ndsts || !needed[st->dsts[0].var->id]) continue;
    if (!can_run_ahead(st) || !(nest_flags(st) & NEST_IS_PURE)) return false;
    for (uint32_t k = 0; k < st->nsrcs; k++) need_outside(p, needed, &st->srcs[k]);
    vec_push(p->scratch, &found, st);
  }
  for (uint32_t i = 0; i < p->nvars; i++) {
    if (!needed[i] || !d->count[i] || has_statement_of(p->loop->regions[0], d->first[i])) continue;
    bool inside = has_statement_of(body, d->last[i]) || has_statement_of(body, d->first[i]);
    if (inside && d->count[i] != 1) return false;
    if (inside && d->first[i] != p->loop && d->first[i]->parent != body) return false;
  }
  p->coordinates.len = 0;
  for (size_t i = found.len; i-- > 0;) vec_push(p->scratch, &p->coordinates, found.data[i]);
  return true;
}

/* All tiles have the same iterations of this loop, the only one with products: pass prove_rings
 * tells no others apart. */
static bool is_like_in_all_tiles(const Pipe *p, const Definitions *d, const NestStmt *tiles) {
  const NestBlock *body = tiles->regions[0];
  for (int i = 0; i < 2; i++) {
    const Ref *r = &p->loop->srcs[i];
    if (r->kind == REF_VAR && !r->var->is_param && d->first[r->var->id] &&
        has_statement_of(body, d->last[r->var->id]))
      return false;
  }
  for (const NestStmt *st = body->first; st; st = st->next)
    if (st->code == NEST_FOR && st != p->loop && count_dots(st->regions[0])) return false;
  return true;
}

/* The loop around this one that goes over tiles, if the copies of its next iteration can run
 * ahead. */
static NestStmt *find_tiles(Pipe *p) {
  NestStmt *tiles = p->loop->parent->owner;
  Definitions d;
  if (!tiles || tiles->code != NEST_FOR || !p->dot || pipe_has_groups(p)) return NULL;
  definitions_find(&d, p->scratch, p->n);
  if (!is_like_in_all_tiles(p, &d, tiles)) return NULL;
  if (!counts_up(p, &d, tiles) || !find_coordinates(p, &d, tiles)) return NULL;
  return may_copy_before(p, &d, tiles->regions[0]) ? tiles : NULL;
}

/* ---- steady memory ---- */

static bool is_steady(const bool *steady, const Ref *base) {
  return base->kind == REF_VAR && steady[base->var->id];
}

/* Some copies are of steady memory, others not: the kernel's wait may come between the first of
 * them (pass sink_wait). */
static bool find_steady(Pipe *p) {
  size_t n = 0;
  if (!p->n->options.steady || p->tiles || !steady_wait(p->n)) return false;
  const bool *steady = steady_pointers(p->scratch, p->n);
  for (size_t i = 0; i < p->slice.len; i++) {
    const NestStmt *st = p->slice.data[i];
    if (st->code == NEST_LD && !is_steady(steady, &st->mems[0].base)) return false;
  }
  for (size_t i = 0; i < p->pairs.len; i++) {
    Pair *x = &p->pairs.data[i];
    x->steady =
        x->bulk ? steady[x->bulk->access.map.base->id] : is_steady(steady, &x->ld->mems[0].base);
    n += x->steady;
  }
  return n && n < p->pairs.len;
}

/* A loop that counts up by a constant: its stored loads are copied without the others where these
 * can't run ahead, or leave no room for two stages. */
static bool plan(Pipe *p) {
  const Ref *step = &p->loop->srcs[2];
  if (step->kind != REF_AFFINE || step->sub.c <= 0 || !count_dots(p->loop->regions[0]))
    return false;
  if (!plan_copies(p, true) && !plan_copies(p, false)) return false;
  p->tiles = find_tiles(p);
  p->splits = find_steady(p);
  once_find(p);
  return true;
}

static Pipe pipe_new(Unit *u, NestStmt *loop) {
  Pipe p = {.u = u,
            .n = u->nest,
            .scratch = arena_child(u->arena),
            .loop = loop,
            .nvars = u->nest->nvars};
  p.needed = ARENA_ARRAY(p.scratch, bool, p.nvars);
  p.ahead = ARENA_ARRAY(p.scratch, NestVar *, p.nvars);
  return p;
}

static void pipeline_block(Unit *u, NestBlock *b) {
  for (NestStmt *st = b->first; st; st = st->next) {
    for (uint32_t r = 0; r < st->nregions; r++) pipeline_block(u, st->regions[r]);
    if (st->code != NEST_FOR) continue;
    Pipe p = pipe_new(u, st);
    if (plan(&p)) pipe_transform(&p);
    arena_free(p.scratch);
  }
}

/* Some loop inside another copies boxes: then the stores of that other one are boxes, too.  Nothing
 * is gained in other kernels (bench/history.md). */
static bool copies_boxes(Unit *u, NestBlock *b) {
  for (NestStmt *st = b->first; st; st = st->next) {
    for (uint32_t r = 0; r < st->nregions && st->code != NEST_NEST; r++)
      if (copies_boxes(u, st->regions[r])) return true;
    if (st->code != NEST_FOR || !pipe_is_repeated(st)) continue;
    Pipe p = pipe_new(u, st);
    p.rings_alone = true; /* boxes that are stored leave room */
    bool found = plan(&p) && p.nbulk;
    arena_free(p.scratch);
    if (found) return true;
  }
  return false;
}

bool pass_pipeline(Unit *u) {
  if (!machine_has(u->machine, HAS_ASYNC_COPIES) || u->synchronous) return true;
  if (machine_has(u->machine, HAS_ASYNC_PROXY) && copies_boxes(u, u->nest->body)) box_stores(u);
  pipeline_block(u, u->nest->body);
  return true;
}
