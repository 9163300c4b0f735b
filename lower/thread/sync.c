/* Pass sync: barrier insertion.  A barrier goes before a statement that accesses bytes of shared
 * memory which another thread may have accessed since the last barrier, one of the two writing;
 * waits and barriers of earlier passes that separate nothing are removed. */
#include <string.h>

#include "lower/passes.h"

enum { READ = 1, WRITE = 2, ATOMIC = 4 };

/* Accesses since the last barrier, as an immutable list: new ones go before the head. */
typedef struct Access {
  const NestStmt *by;
  const struct Access *next;
} Access;

typedef struct {
  Unit *u;
  Arena *scratch;
  const Access **since; /* by buffer */
  bool accessed;        /* any memory, since the last barrier */
  const uint32_t *defs; /* by variable: how often it is defined; more than once inside of blocks */
} Sync;

static bool buffers_overlap(const NestBuffer *a, const NestBuffer *b) {
  return a == b || (a->offset < b->offset + b->bytes && b->offset < a->offset + a->bytes);
}

static uint8_t access_kind(const NestStmt *st) {
  unsigned flags = nest_flags(st);
  return flags & NEST_IS_ATOMIC ? ATOMIC : flags & NEST_IS_WRITE ? WRITE : READ;
}

static void count_block_defs(const NestBlock *b, uint32_t weight, uint32_t *defs) {
  for (const NestStmt *st = b->first; st; st = st->next) {
    for (uint32_t i = 0; i < st->ndsts; i++) defs[st->dsts[i].var->id] += weight;
    for (uint32_t r = 0; r < st->nregions; r++) count_block_defs(st->regions[r], 2, defs);
  }
}

/* The addresses are equal within each thread, and differ between threads. */
static bool same_base(const Sync *s, const Ref *a, const Ref *b) {
  bool same = a->kind == REF_VAR && b->kind == REF_VAR && a->var == b->var && !a->var->uniform;
  return same && s->defs[a->var->id] <= 1 && affine_eq(&a->sub, &b->sub) && !a->sub.n;
}

/* Do both run over the same numbers? */
static bool same_bytes(const Affine *a, const Affine *b) {
  bool same = a->c == b->c && a->n == b->n;
  for (int i = 0; same && i < a->n; i++)
    same = a->t[i].coef == b->t[i].coef && a->t[i].index->extent == b->t[i].index->extent;
  return same;
}

static int64_t width(const NestStmt *st) {
  return nest_int(st, NA_n, 1) * (int64_t)dtype_bytes(st->type);
}

/* A load and a store with which each thread accesses the same bytes.  The store has one writer a
 * byte, if it has no guard: so no thread reads what another one writes. */
static bool same_threads(const Sync *s, const NestStmt *a, const NestStmt *b) {
  const NestStmt *st = a->code == NEST_ST ? a : b, *ld = st == a ? b : a;
  if (st->code != NEST_ST || ld->code != NEST_LD || st->guard.kind) return false;
  const Mem *x = &st->mems[0], *y = &ld->mems[0];
  return x->buffer && y->buffer && x->buffer->offset == y->buffer->offset &&
         same_base(s, &x->base, &y->base) && same_bytes(&x->bytes, &y->bytes) &&
         width(st) == width(ld);
}

/* Writes of one buffer go to different bytes (each element has one writer), and atomics are ordered
 * among themselves: accesses of one kind to one buffer do not wait for each other, others do. */
static bool accesses_conflict(const Sync *s, const NestStmt *a, const NestStmt *b,
                              bool one_buffer) {
  uint8_t x = access_kind(a), y = access_kind(b);
  if (x == y && (one_buffer || x == READ)) return false;
  return !same_threads(s, a, b);
}

static bool must_wait(const Sync *s, const NestStmt *st) {
  const Nest *n = s->u->nest;
  for (uint32_t i = 0; i < st->nmems; i++) {
    const NestBuffer *b = st->mems[i].buffer;
    if (b) arena_work(s->scratch, n->nbuffers);
    for (uint32_t k = 0; b && k < n->nbuffers; k++) {
      const NestBuffer *o = n->buffers[k];
      if (!buffers_overlap(b, o)) continue;
      if (o == b && b->slots > 1) continue; /* the pipeline's own barrier orders a ring's slots */
      for (const Access *a = s->since[k]; a; a = a->next)
        if (accesses_conflict(s, a->by, st, o == b)) return true;
    }
  }
  return false;
}

static void add_pending_access(Sync *s, uint32_t buffer, const NestStmt *by) {
  uint64_t before = 0;
  for (const Access *a = s->since[buffer]; a; a = a->next, before++)
    if (a->by == by) return;
  arena_work(s->scratch, before);
  Access *a = ARENA_NEW(s->scratch, Access);
  *a = (Access){by, s->since[buffer]};
  s->since[buffer] = a;
}

static void note_accesses(Sync *s, const NestStmt *st) {
  if (st->nmems) s->accessed = true;
  for (uint32_t i = 0; i < st->nmems; i++)
    if (st->mems[i].buffer) add_pending_access(s, st->mems[i].buffer->id, st);
}

static void all_in_order(Sync *s) {
  memset(s->since, 0, s->u->nest->nbuffers * sizeof *s->since);
  s->accessed = false;
}

static void barrier_before(Sync *s, NestStmt *st) {
  NestBuilder b = {s->u->nest, st->parent, st, st->span};
  nest_stmt(&b, NEST_BAR, 0, 0);
  all_in_order(s);
}

static bool must_wait_inside(const Sync *s, const NestStmt *st);

static bool block_touches(const Sync *s, const NestBlock *b) {
  for (const NestStmt *st = b->first; st; st = st->next)
    if (must_wait_inside(s, st)) return true;
  return false;
}

/* True if the statement, or one in its regions, must wait for pending accesses. */
static bool must_wait_inside(const Sync *s, const NestStmt *st) {
  if (must_wait(s, st)) return true;
  for (uint32_t r = 0; r < st->nregions; r++)
    if (block_touches(s, st->regions[r])) return true;
  return false;
}

static void sync_block(Sync *s, NestBlock *b);

static const Access **saved(const Sync *s) {
  uint32_t n = s->u->nest->nbuffers;
  arena_work(s->scratch, n);
  const Access **copy = ARENA_ARRAY(s->scratch, const Access *, n);
  return memcpy(copy, s->since, n * sizeof *copy);
}

static void restore_accesses(Sync *s, const Access **from) {
  memcpy(s->since, from, s->u->nest->nbuffers * sizeof *from);
}

static void join_accesses(Sync *s, const Access **other) {
  for (uint32_t i = 0; i < s->u->nest->nbuffers; i++)
    for (const Access *a = other[i]; a; a = a->next) add_pending_access(s, i, a->by);
}

static void walk_region(Sync *s, NestBlock *b) {
  s->accessed = true;
  sync_block(s, b);
  s->accessed = true;
}

static bool contains_access(const Access *list, const NestStmt *by) {
  while (list && list->by != by) list = list->next;
  return list != NULL;
}

/* True if the same accesses are pending as at `then`. */
static bool pending_as(const Sync *s, const Access *const *then) {
  for (uint32_t i = 0; i < s->u->nest->nbuffers; i++) {
    if (s->since[i] == then[i]) continue;
    for (const Access *a = s->since[i]; a; a = a->next)
      if (!contains_access(then[i], a->by)) return false;
    for (const Access *a = then[i]; a; a = a->next)
      if (!contains_access(s->since[i], a->by)) return false;
  }
  return true;
}

/* Twice, unless nothing changes: accesses that the end of an iteration leaves pending meet the
 * start of the next.  A FOR may run no iteration; a WHILE ends after its condition, which runs at
 * least once. */
static void walk_loop(Sync *s, NestStmt *st) {
  const Access **begin = saved(s), **none = begin, **last = begin;
  for (int round = 0; round < 2 && !(round && pending_as(s, begin)); round++) {
    walk_region(s, st->regions[0]);
    if (st->code != NEST_WHILE) continue;
    if (round == 0) none = saved(s);
    last = saved(s);
    walk_region(s, st->regions[1]);
  }
  if (st->code == NEST_WHILE) restore_accesses(s, last);
  if (st->code == NEST_WHILE || st->code == NEST_FOR) join_accesses(s, none);
}

static void walk_branch(Sync *s, NestStmt *st) {
  const Access **before = saved(s), **after = NULL;
  for (uint32_t r = 0; r < st->nregions; r++) {
    restore_accesses(s, before);
    walk_region(s, st->regions[r]);
    if (after) join_accesses(s, after);
    after = saved(s);
  }
}

static void sync_block(Sync *s, NestBlock *b) {
  for (NestStmt *st = b->first, *next; st; st = next) {
    next = st->next;
    if (st->code == NEST_BAR) {
      if (!s->accessed && !st->nattrs) nest_remove(st);
      all_in_order(s);
      continue;
    }
    /* Inside an unroll every copy would repeat the barrier: it goes before the whole of it. */
    bool inline_loop = st->code == NEST_UNROLL;
    if (inline_loop ? must_wait_inside(s, st) : must_wait(s, st)) barrier_before(s, st);
    note_accesses(s, st);
    if (st->code == NEST_IF) walk_branch(s, st);
    else if (st->nregions) walk_loop(s, st);
  }
}

/* ---- what separates nothing ---- */

/* True if anything in the block accesses bytes that asynchronous copies go to. */
static bool reaches_rings(const Nest *n, const NestStmt *st) {
  for (uint32_t i = 0; i < st->nmems; i++)
    for (uint32_t k = 0; st->mems[i].buffer && k < n->nbuffers; k++)
      if (n->buffers[k]->slots > 1 && buffers_overlap(st->mems[i].buffer, n->buffers[k]))
        return true;
  for (uint32_t r = 0; r < st->nregions; r++)
    for (const NestStmt *x = st->regions[r]->first; x; x = x->next)
      if (reaches_rings(n, x)) return true;
  return false;
}

/* After its loop a ring is waited for because a loop around might fill it again, or another buffer
 * take its place: here is seen whether anything does. */
static void drop_last_waits(const Nest *n) {
  for (NestStmt *st = n->body->last, *prev; st && !reaches_rings(n, st); st = prev) {
    prev = st->prev;
    if (st->code == NEST_CP_WAIT) nest_remove(st);
  }
}

static bool has_accesses(const NestStmt *st) {
  if (st->nmems) return true;
  for (uint32_t r = 0; r < st->nregions; r++)
    for (const NestStmt *x = st->regions[r]->first; x; x = x->next)
      if (has_accesses(x)) return true;
  return false;
}

static void drop_last_barriers(const Nest *n) {
  for (NestStmt *st = n->body->last, *prev; st && !has_accesses(st); st = prev) {
    prev = st->prev;
    if (st->code == NEST_BAR && !st->nattrs) nest_remove(st);
  }
}

static bool is_proxy_fence(const NestStmt *st) {
  return st->code == NEST_FENCE && !strcmp(nest_str(st, NA_kind, ""), "proxy");
}

static bool uses_proxy(const NestStmt *st) {
  if (st->code == NEST_WGMMA || st->code == NEST_BULK_COPY) return true;
  for (uint32_t r = 0; r < st->nregions; r++)
    for (const NestStmt *x = st->regions[r]->first; x; x = x->next)
      if (uses_proxy(x)) return true;
  return false;
}

/* A fence that another follows before anything reads through the proxy: the later one is for
 * both. */
static bool fenced_again(const NestStmt *fence) {
  for (const NestStmt *st = fence->next; st; st = st->next) {
    if (is_proxy_fence(st)) return true;
    if ((st->nregions && st->code != NEST_UNROLL) || uses_proxy(st)) return false;
  }
  return false;
}

static void drop_early_fences(NestBlock *b) {
  for (NestStmt *st = b->first, *next; st; st = next) {
    next = st->next;
    for (uint32_t r = 0; r < st->nregions; r++) drop_early_fences(st->regions[r]);
    if (is_proxy_fence(st) && fenced_again(st)) nest_remove(st);
  }
}

bool pass_sync(Unit *u) {
  Sync s = {.u = u, .scratch = arena_child(u->arena)};
  s.since = ARENA_ARRAY(s.scratch, const Access *, u->nest->nbuffers + 1);
  uint32_t *defs = ARENA_ARRAY(s.scratch, uint32_t, u->nest->nvars + 1);
  count_block_defs(u->nest->body, 1, defs);
  s.defs = defs;
  drop_last_waits(u->nest);
  sync_block(&s, u->nest->body);
  drop_last_barriers(u->nest);
  drop_early_fences(u->nest->body);
  arena_free(s.scratch);
  return true;
}
