/* Copies that run ahead of their loop, and what waits for them. */
#include "lower/pipeline/pipe.h"

#include <math.h>
#include <string.h>

#include "lower/nest/nest_access.h"

/* A reduction or scan of elements of several warps goes through shared memory. */
bool pipe_reduces_in_warps(const NestStmt *st) {
  if (st->code != NEST_REDUCE && st->code != NEST_SCAN) return true;
  const Layout *l = st->srcs[0].var->layout;
  for (int i = 0; i < l->ndigits; i++)
    if (l->d[i].hw == HW_WARP && l->d[i].axis == nest_int(st, NA_axis, 0)) return false;
  return true;
}

int pipe_programs(const Pipe *p, int registers, int64_t shared) {
  enum { RESERVED = 1024 };
  const Machine *m = p->u->machine;
  int threads = p->n->warps * m->lanes;
  int64_t by_shared = (m->shared + RESERVED) / (shared + RESERVED);
  int given = (registers + REGISTER_STEP - 1) / REGISTER_STEP * REGISTER_STEP;
  int by_registers = REGISTER_FILE / (given * threads);
  return by_shared < by_registers ? (int)by_shared : by_registers;
}

static Ref ahead_ref(const Pipe *p, Ref r) {
  if (r.kind == REF_VAR && r.var->id < p->nvars && p->ahead[r.var->id]) r.var = p->ahead[r.var->id];
  return r;
}

NestStmt *pipe_clone(const Pipe *p, NestBuilder *b, const NestStmt *st) {
  NestStmt *c = nest_copy(b, st);
  for (uint32_t i = 0; i < st->ndsts; i++) c->dsts[i] = ahead_ref(p, st->dsts[i]);
  for (uint32_t i = 0; i < st->nsrcs; i++) c->srcs[i] = ahead_ref(p, st->srcs[i]);
  for (uint32_t i = 0; i < st->nmems; i++) c->mems[i].base = ahead_ref(p, st->mems[i].base);
  c->guard = ahead_ref(p, st->guard);
  for (uint32_t r = 0; r < st->nregions; r++) {
    NestBuilder in = {p->n, nest_block(p->n, c), NULL, st->span};
    for (const NestStmt *x = st->regions[r]->first; x; x = x->next) pipe_clone(p, &in, x);
  }
  return c;
}

Ref pipe_op(NestBuilder *b, TileCode op, DType t, Ref dst, Ref x, Ref y) {
  nest_op(b, op, t, dst, x, y, ref_none());
  return dst;
}

Ref pipe_scalar(Pipe *p, const char *name, DType t) {
  return ref_var(nest_var(p->n, name, t, DT_NONE, 1, true));
}

static Ref ring_offset(Pipe *p, NestBuilder *b, NestVar *slot, const NestBuffer *buf) {
  NestVar *v = nest_var(p->n, "at", DT_I32, DT_NONE, 1, true);
  v->div = buf->bytes / p->depth;
  v->div &= -v->div;
  return pipe_op(b, TILE_MUL, DT_I32, ref_var(v), ref_var(slot), ref_int(buf->bytes / p->depth));
}

Ref pipe_advance_slot(Pipe *p, NestBuilder *b, NestVar *slot) {
  Ref next = pipe_op(b, TILE_ADD, DT_I32, pipe_scalar(p, NULL, DT_I32), ref_var(slot), ref_int(1));
  Ref wrap = pipe_op(b, TILE_EQ, DT_I32, pipe_scalar(p, NULL, DT_I1), next, ref_int(p->depth));
  nest_op(b, TILE_SELECT, DT_I32, ref_var(slot), wrap, ref_int(0), next);
  return wrap;
}

/* A NEST of the pair's load becomes a COPY that stores where the pair's store did. */
static void copy_ahead(Pipe *p, NestBuilder *b, const Pair *pair, const Ahead *a) {
  Ref at = ring_offset(p, b, a->slot_w, pair->st->mems[0].buffer);
  NestStmt *c = pipe_clone(p, b, pair->load);
  c->code = NEST_COPY;
  c->attrs = NULL;
  c->nattrs = 0;
  NestStmt *ld = NULL;
  for (NestStmt *st = c->regions[0]->first, *next; st; st = next) {
    next = st->next;
    if (st->code == NEST_MOV) nest_remove(st);
    if (st->code == NEST_LD) ld = st;
  }
  NestBuilder in = {p->n, c->regions[0], ld, ld->span};
  Ref inside = ref_var(nest_var(p->n, NULL, DT_I1, DT_NONE, 1, false));
  if (ld->guard.kind) {
    nest_op(&in, TILE_AND, DT_I1, inside, ld->guard, ref_var(a->in_range), ref_none());
    ld->guard = inside;
  } else {
    ld->guard = ref_var(a->in_range);
  }
  NestVar *t = nest_var(p->n, NULL, ld->dsts[0].var->dtype, ld->dsts[0].var->elem, 1, false);
  ld->dsts[0] = ref_var(t);
  in.before = NULL;
  NestStmt *st = pipe_clone(p, &in, pair->st);
  /* the store's axes are those of its own nest: the same tile, so axis by axis the same */
  for (int x = 0; x < pair->store->layout->rank; x++)
    affine_rename(&st->mems[0].bytes, pair->store->axes[x], pair->load->axes[x]);
  st->srcs[0] = ref_var(t);
  st->mems[0].base = at;
}

static BulkRing *ring_of(Pipe *p, const NestBuffer *b) {
  bool second = p->nrings > 1 && p->rotation.ring == b;
  return &p->ring[second];
}

static void boxes_ahead(Pipe *p, NestBuilder *b, const BulkLoad *x, const Ahead *a) {
  Ref at = ring_offset(p, b, a->slot_w, x->buffer);
  bulk_copy(ring_of(p, x->buffer), b, x, at, a->slot_w, a->in_range, p->ahead);
}

bool pipe_has_groups(const Pipe *p) { return p->nbulk < (int)p->pairs.len; }

/* Takes the variables of these copies; the result: those before. */
static NestVar **use_variables(Pipe *p, const Ahead *a) {
  NestVar **others = p->ahead;
  if (a->vars) p->ahead = a->vars;
  return others;
}

static NestVar *turn_of(const Pipe *p, const Ahead *a) {
  return a->only ? a->only->turn : p->ring[0].turn;
}

static bool is_of_ring(Pipe *p, const Ahead *a, const Pair *pair) {
  return !a->only || (pair->bulk && ring_of(p, pair->bulk->buffer) == a->only);
}

/* The thread that copies waits for the slot to fill; where the loop runs again also if nothing
 * comes: then each phase of an mbarrier has been waited for before the next one begins. */
static void wait_for_empty_slot(Pipe *p, NestBuilder *b, const Ahead *a) {
  NestVar *when = a->in_range;
  if (pipe_is_repeated(p->loop)) {
    when = nest_var(p->n, "always", DT_I1, DT_NONE, 1, true);
    nest_mov(b, ref_var(when), ref_int(1), DT_I1);
  }
  bulk_wait_empty(&p->ring[p->nrings - 1], b, a->freed, a->freed_phase, when);
}

void pipe_issue_copies(Pipe *p, NestBuilder *b, const Ahead *a) {
  NestVar **others = use_variables(p, a);
  Ref more = ref_var(a->in_range), end = ahead_ref(p, p->loop->srcs[1]);
  pipe_op(b, TILE_LT, p->loop->type, more, ref_var(a->index), end);
  if (a->is_tile) pipe_op(b, TILE_AND, DT_I1, more, more, ref_var(a->is_tile));
  size_t next = 0;
  if (a->freed) wait_for_empty_slot(p, b, a);
  for (int i = 0; i < p->nrings && p->copies != COPIES_REST; i++)
    if (!a->only || a->only == &p->ring[i]) bulk_expect(&p->ring[i], b, a->slot_w, a->in_range);
  for (size_t i = 0; i < p->slice.len; i++) {
    NestStmt *st = p->slice.data[i];
    if (st->code == NEST_NEST) {
      const Pair *pair = &p->pairs.data[next++];
      if (p->copies && pair->steady != (p->copies == COPIES_STEADY)) continue;
      if (!is_of_ring(p, a, pair)) continue;
      if (pair->bulk) boxes_ahead(p, b, pair->bulk, a);
      else copy_ahead(p, b, pair, a);
      continue;
    }
    NestStmt *c = pipe_clone(p, b, st);
    if (c->code == NEST_LD) c->guard = ref_var(a->in_range);
  }
  if (pipe_has_groups(p) && p->copies != COPIES_STEADY) nest_stmt(b, NEST_RING_COMMIT, 0, 0);
  Ref turn = ref_var(turn_of(p, a));
  if (p->nbulk) pipe_op(b, TILE_ADD, DT_I32, turn, turn, ref_int(1));
  pipe_op(b, TILE_ADD, p->loop->type, ref_var(a->index), ref_var(a->index), p->loop->srcs[2]);
  pipe_advance_slot(p, b, a->slot_w);
  p->ahead = others;
}

bool pipe_is_repeated(const NestStmt *st) {
  for (st = st->parent->owner; st; st = st->parent->owner)
    if (st->code == NEST_FOR || st->code == NEST_WHILE) return true;
  return false;
}

void pipe_fence_proxy(Pipe *p, NestBuilder *b) {
  nest_set_str(p->n, nest_stmt(b, NEST_FENCE, 0, 0), NA_kind, "proxy");
}

/* The mbarriers, at the kernel's start; where the loop runs again, what threads wrote meanwhile to
 * the bytes of its slots comes before the copies. */
static void start_ring(Pipe *p, NestBuilder *top, NestBuilder *b) {
  bool arrive = (p->rotation.first && !p->rotation.turn) || p->release.first;
  bulk_start(p->ring, p->nrings, top, p->depth, arrive);
  for (size_t i = 0; i < p->pairs.len; i++) {
    BulkLoad *x = p->pairs.data[i].bulk;
    if (x) bulk_declare(ring_of(p, x->buffer), p->n, x);
  }
  if (!pipe_is_repeated(p->tiles ? p->tiles : p->loop)) return;
  pipe_fence_proxy(p, b);
  nest_stmt(b, NEST_BAR, 0, 0);
}

static void make_counters(Pipe *p, Ahead *a) {
  NestVar *ix = p->loop->dsts[0].var;
  a->index = nest_var(p->n, ix->name, ix->dtype, DT_NONE, 1, true);
  a->index->div = ix->div;
  a->slot_w = nest_var(p->n, "fill", DT_I32, DT_NONE, 1, true);
  if (!a->slot_r) a->slot_r = nest_var(p->n, "slot", DT_I32, DT_NONE, 1, true);
  a->in_range = nest_var(p->n, "more", DT_I1, DT_NONE, 1, true);
  p->ahead[ix->id] = a->index;
}

static void make_slice_variables(Pipe *p) {
  for (size_t i = 0; i < p->slice.len; i++) {
    const NestStmt *st = p->slice.data[i];
    if (st->code == NEST_NEST || p->ahead[st->dsts[0].var->id]) continue;
    NestVar *v = st->dsts[0].var;
    NestVar *t = nest_var(p->n, v->name, v->dtype, v->elem, 1, true);
    t->div = v->div;
    p->ahead[v->id] = t;
  }
}

Ahead pipe_make_ahead(Pipe *p, NestBuilder *b) {
  Ahead a = {0};
  make_counters(p, &a);
  NestBuilder top = {p->n, p->n->body, p->n->body->first, p->loop->span};
  if (p->nbulk) start_ring(p, &top, b);
  nest_mov(p->nbulk ? &top : b, ref_var(a.slot_r), ref_int(0), a.slot_r->dtype);
  make_slice_variables(p);
  return a;
}

Ahead pipe_make_lead(Pipe *p, const Ahead *others, BulkRing *ring) {
  Ahead a = {.slot_r = others->slot_r,
             .only = ring,
             .vars = ARENA_ARRAY(p->scratch, NestVar *, p->nvars)};
  NestVar **own = use_variables(p, &a);
  ring->turn = nest_var(p->n, "turn", DT_I32, DT_NONE, 1, true);
  make_counters(p, &a);
  make_slice_variables(p);
  p->ahead = own;
  return a;
}

/* Variables that run ahead, as they are in the first iteration.  Carried ones are read in the body
 * before they are set there, so they have a value now. */
static void begin_ahead(Pipe *p, NestBuilder *b, const Ahead *a) {
  const NestVar *ix = p->loop->dsts[0].var;
  NestVar **others = use_variables(p, a);
  for (size_t i = 0; i < p->slice.len; i++) {
    const NestStmt *st = p->slice.data[i];
    if (st->code != NEST_MOV || st->dsts[0].var == ix) continue;
    NestVar *v = st->dsts[0].var;
    nest_mov(b, ref_var(p->ahead[v->id]), ref_var(v), v->dtype);
  }
  nest_mov(b, ref_var(a->index), ahead_ref(p, p->loop->srcs[0]), a->index->dtype);
  nest_mov(b, ref_var(a->slot_w), p->nbulk ? ref_var(a->slot_r) : ref_int(0), a->slot_w->dtype);
  if (p->nbulk) nest_mov(b, ref_var(turn_of(p, a)), ref_int(0), DT_I32);
  p->ahead = others;
}

static void first_copies_of(Pipe *p, NestBuilder *b, const Ahead *a, Copies copies) {
  bool leads = a->only == &p->ring[0];
  p->copies = copies;
  begin_ahead(p, b, a);
  for (int i = leads ? 0 : 1; i < p->depth; i++) pipe_issue_copies(p, b, a);
  p->copies = COPIES_ALL;
}

void pipe_first_copies(Pipe *p, NestBuilder *b, const Ahead *a) {
  if (p->splits) first_copies_of(p, b, a, COPIES_STEADY);
  first_copies_of(p, b, a, p->splits ? COPIES_REST : COPIES_ALL);
}

bool pipe_in_ring(const Pipe *p, const NestBuffer *b) {
  for (size_t i = 0; b && i < p->pairs.len; i++)
    if (p->pairs.data[i].st && p->pairs.data[i].st->mems[0].buffer == b) return true;
  return false;
}

void pipe_ring_wait(Pipe *p, NestBuilder *b, int groups) {
  nest_set_int(p->n, nest_stmt(b, NEST_RING_WAIT, 0, 0), NA_groups, groups);
}

void pipe_read_slot(Pipe *p, NestVar *slot, NestBuilder *before, NestStmt *st) {
  for (uint32_t i = 0; i < st->nmems; i++)
    if (pipe_in_ring(p, st->mems[i].buffer))
      st->mems[i].base = ring_offset(p, before, slot, st->mems[i].buffer);
}

int pipe_count_uses(const NestBlock *b, const NestBuffer *buffer) {
  int n = 0;
  for (const NestStmt *st = b->first; st; st = st->next) {
    for (uint32_t i = 0; i < st->nmems; i++) n += st->mems[i].buffer == buffer;
    for (uint32_t r = 0; r < st->nregions; r++) n += pipe_count_uses(st->regions[r], buffer);
  }
  return n;
}

uint32_t pipe_count_reads(const NestBlock *b, const NestVar *v) {
  uint32_t n = 0;
  for (const NestStmt *st = b->first; st; st = st->next) {
    for (uint32_t i = 0; i < st->nsrcs; i++)
      n += st->srcs[i].kind == REF_VAR && st->srcs[i].var == v;
    for (uint32_t i = 0; i < st->nmems; i++)
      n += st->mems[i].base.kind == REF_VAR && st->mems[i].base.var == v;
    n += st->guard.kind == REF_VAR && st->guard.var == v;
    for (uint32_t r = 0; r < st->nregions; r++) n += pipe_count_reads(st->regions[r], v);
  }
  return n;
}

static bool zero(const Ref *r) {
  bool positive = r->kind == REF_FLOAT && r->f == 0 && !signbit(r->f);
  return positive || (r->kind == REF_AFFINE && !r->sub.n && !r->sub.c);
}

NestStmt *pipe_plain_load(const NestStmt *nest) {
  NestStmt *ld = NULL;
  for (NestStmt *st = nest->regions[0]->first; st; st = st->next) {
    if (st->code == NEST_OP && !st->dsts[0].var->tile.rank) continue;
    if (st->code == NEST_MOV && st->dsts[0].var->tile.rank && zero(&st->srcs[0]) && !ld) continue;
    if (st->code != NEST_LD || ld || st->mems[0].buffer) return NULL;
    ld = st;
  }
  if (!ld || !ld->dsts[0].var->tile.rank || nest_int(ld, NA_volatile, 0)) return NULL;
  return nest_int(ld, NA_pinned, 0) ? NULL : ld;
}

bool pipe_stores_loaded(const NestStmt *st) {
  const NestStmt *to = st->code == NEST_NEST ? st->regions[0]->first : NULL;
  if (!to || to->next || to->code != NEST_ST || !to->mems[0].buffer) return false;
  const NestVar *v = to->srcs[0].kind == REF_VAR ? to->srcs[0].var : NULL;
  for (const NestStmt *x = v ? st->prev : NULL; x; x = x->prev)
    if (nest_sets(x, v)) return x->code == NEST_NEST && pipe_plain_load(x);
  return false;
}

void pipe_remove_fence(const NestStmt *store) {
  NestStmt *st = store->next;
  if (st && st->code == NEST_FENCE && !strcmp(nest_str(st, NA_kind, ""), "proxy")) nest_remove(st);
}
