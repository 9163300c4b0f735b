/* Pass sync: barrier insertion.  A barrier goes before a statement that accesses bytes of shared
 * memory which another thread may have accessed since the last barrier, one of the two writing;
 * waits and barriers of earlier passes that separate nothing are removed. */
#include <string.h>

#include "lower/nest/nest_access.h"
#include "lower/passes.h"

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
  const uint32_t *defs; /* nest_count_defs */
  bool *sent;           /* by buffer: boxes are stored from it */
} Sync;

static bool must_wait(const Sync *s, const NestStmt *st) {
  const Nest *n = s->u->nest;
  for (uint32_t i = 0; i < st->nmems; i++) {
    const NestBuffer *b = st->mems[i].buffer;
    if (b) arena_work(s->scratch, n->nbuffers);
    for (uint32_t k = 0; b && k < n->nbuffers; k++) {
      const NestBuffer *o = n->buffers[k];
      if (!nest_buffers_overlap(b, o)) continue;
      if (o == b && (b->slots > 1 || b->own)) continue; /* the pipeline orders a ring's slots */
      for (const Access *a = s->since[k]; a; a = a->next)
        if (nest_accesses_conflict(s->defs, a->by, st, o == b)) return true;
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

/* A thread that waits for its stores of boxes has read what it stored until then. */
static void note_sent(Sync *s, const NestStmt *wait) {
  s->accessed = true;
  for (uint32_t i = 0; i < s->u->nest->nbuffers; i++)
    if (s->sent[i]) add_pending_access(s, i, wait);
}

static void find_sent(Sync *s, const NestBlock *b) {
  for (const NestStmt *st = b->first; st; st = st->next) {
    if (st->code == NEST_BULK_STORE) s->sent[st->mems[0].buffer->id] = true;
    for (uint32_t r = 0; r < st->nregions; r++) find_sent(s, st->regions[r]);
  }
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

static void note_all_accesses(Sync *s, const NestStmt *st) {
  note_accesses(s, st);
  for (uint32_t r = 0; r < st->nregions; r++)
    for (const NestStmt *x = st->regions[r]->first; x; x = x->next) note_all_accesses(s, x);
}

static bool has_barrier(const NestStmt *st) {
  if (st->code == NEST_BAR) return true;
  for (uint32_t r = 0; r < st->nregions; r++)
    for (const NestStmt *x = st->regions[r]->first; x; x = x->next)
      if (has_barrier(x)) return true;
  return false;
}

/* Must the loop wait for what is pending before it, but no iteration for others?  Then one barrier
 * before the loop is enough. */
static bool waits_once(Sync *s, const NestStmt *loop) {
  if (loop->code != NEST_FOR || !must_wait_inside(s, loop) || has_barrier(loop)) return false;
  const Access **pending = saved(s);
  bool accessed = s->accessed;
  all_in_order(s);
  note_all_accesses(s, loop);
  bool once = !must_wait_inside(s, loop);
  restore_accesses(s, pending);
  s->accessed = accessed;
  return once;
}

static void sync_block(Sync *s, NestBlock *b) {
  for (NestStmt *st = b->first, *next; st; st = next) {
    next = st->next;
    if (nest_is_barrier(st)) {
      if (!s->accessed && !st->nattrs && st->code == NEST_BAR) nest_remove(st);
      all_in_order(s);
      continue;
    }
    /* Inside an unroll every copy would repeat the barrier: it goes before the whole of it. */
    bool inline_loop = st->code == NEST_UNROLL;
    bool whole = inline_loop ? must_wait_inside(s, st) : waits_once(s, st);
    if (whole || must_wait(s, st)) barrier_before(s, st);
    note_accesses(s, st);
    if (st->code == NEST_BULK_WAIT) note_sent(s, st);
    if (st->code == NEST_IF) walk_branch(s, st);
    else if (st->nregions) walk_loop(s, st);
  }
}

/* ---- what separates nothing ---- */

/* True if anything in the block accesses bytes that asynchronous copies go to. */
static bool reaches_rings(const Nest *n, const NestStmt *st) {
  for (uint32_t i = 0; i < st->nmems; i++)
    for (uint32_t k = 0; st->mems[i].buffer && k < n->nbuffers; k++)
      if (n->buffers[k]->slots > 1 && nest_buffers_overlap(st->mems[i].buffer, n->buffers[k]))
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

static bool uses_mbarrier(const NestStmt *st) {
  if (st->code == NEST_MBAR_WAIT || st->code == NEST_MBAR_ARRIVE) return true;
  for (uint32_t r = 0; r < st->nregions; r++)
    for (const NestStmt *x = st->regions[r]->first; x; x = x->next)
      if (uses_mbarrier(x)) return true;
  return false;
}

/* The barrier after mbarriers are made, if another follows before anyone waits for them or arrives:
 * the thread that makes them is the one that copies. */
static void drop_first_barrier(const Nest *n) {
  NestStmt *first = n->body->first;
  for (; first && first->code != NEST_BAR; first = first->next)
    if (first->code != NEST_MBAR_INIT && has_accesses(first)) return;
  NestStmt *st = first ? first->next : NULL;
  while (st && st->code != NEST_BAR && !uses_mbarrier(st)) st = st->next;
  if (st && st->code == NEST_BAR && !first->nattrs) nest_remove(first);
}

static bool is_proxy_fence(const NestStmt *st) {
  return st->code == NEST_FENCE && !strcmp(nest_str(st, NA_kind, ""), "proxy");
}

static bool uses_proxy(const NestStmt *st) {
  if (st->code == NEST_WGMMA || st->code == NEST_BULK_COPY || st->code == NEST_BULK_STORE)
    return true;
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
  s.defs = nest_count_defs(s.scratch, u->nest);
  s.sent = ARENA_ARRAY(s.scratch, bool, u->nest->nbuffers + 1);
  find_sent(&s, u->nest->body);
  drop_last_waits(u->nest);
  sync_block(&s, u->nest->body);
  drop_first_barrier(u->nest);
  drop_last_barriers(u->nest);
  drop_early_fences(u->nest->body);
  arena_free(s.scratch);
  return true;
}
