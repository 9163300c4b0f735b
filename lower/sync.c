/* Passes place and sync on level thread.
 *
 * place: gives every shared buffer its offset.  Buffers whose lifetimes (from first to last
 *   statement of the program order, stretched over loops that use them) do not meet may share.
 * sync: puts a barrier before a statement that accesses bytes of shared memory which another thread
 *   may have accessed since the last barrier, one of the two writing.
 */
#include "lower/sync.h"

#include <string.h>

#include "lang/messages.h"

/* ---- lifetimes ---- */

typedef struct {
  int first, last; /* statement numbers; first < 0: unused */
  Span use;        /* of the first access */
} Life;

typedef struct {
  const Nest *n;
  Life *life;
  int at;
} Lives;

static void touch(Lives *s, const NestBuffer *b, int at, Span use) {
  Life *l = &s->life[b->id];
  if (l->first < 0) *l = (Life){at, at, use};
  if (at > l->last) l->last = at;
}

/* A buffer used inside a loop, and before it, lives all through the loop. */
static void walk_lives(Lives *s, const NestBlock *b) {
  for (const NestStmt *st = b->first; st; st = st->next) {
    int start = ++s->at;
    for (uint32_t i = 0; i < st->nmems; i++)
      if (st->mems[i].buffer) touch(s, st->mems[i].buffer, start, st->span);
    if (!st->nregions) continue;
    for (uint32_t r = 0; r < st->nregions; r++) walk_lives(s, st->regions[r]);
    int end = ++s->at;
    if (st->code != NEST_FOR && st->code != NEST_WHILE && st->code != NEST_SERIAL) continue;
    for (uint32_t i = 0; i < s->n->nbuffers; i++) {
      Life *l = &s->life[i];
      if (l->last >= start && l->first < start) l->last = end;
    }
  }
}

static bool meet(const Life *a, const Life *b) {
  return a->first <= b->last && b->first <= a->last;
}

static int64_t align_up(int64_t n, int64_t to) { return (n + to - 1) / to * to; }

/* The lowest offset at which the buffer meets none that is placed and alive with it. */
static int64_t lowest_offset(const Nest *n, const Life *life, const NestBuffer *b) {
  int64_t at = 0;
  for (bool again = true; again;) {
    again = false;
    for (uint32_t i = 0; i < n->nbuffers; i++) {
      const NestBuffer *o = n->buffers[i];
      if (o == b || o->offset < 0 || !meet(&life[i], &life[b->id])) continue;
      if (at < o->offset + o->bytes && o->offset < at + b->bytes) {
        at = align_up(o->offset + o->bytes, b->align);
        again = true;
      }
    }
  }
  return at;
}

/* Bytes that are shared cost a barrier where one buffer follows another, so small programs give
 * each buffer its own. */
enum { OWN_PLACE_BYTES = 8192 };

static void assign_offsets(Nest *n, const Life *life) {
  n->shared_bytes = 0;
  for (uint32_t i = 0; i < n->nbuffers; i++) n->buffers[i]->offset = -1;
  for (uint32_t i = 0; i < n->nbuffers; i++) {
    NestBuffer *b = n->buffers[i];
    b->offset = lowest_offset(n, life, b);
    if (b->offset + b->bytes > n->shared_bytes) n->shared_bytes = b->offset + b->bytes;
  }
}

/* Names the buffers that make up most of it, each where it is first used. */
static bool within_limit(const Unit *u, const Life *life) {
  const Nest *n = u->nest;
  if (n->shared_bytes <= u->machine->shared) return true;
  diag_error(u->diags, n->span, E_LOWER_SHARED, n->name, (long long)n->shared_bytes,
             u->machine->name, (long long)u->machine->shared);
  for (uint32_t i = 0; i < n->nbuffers; i++)
    if (n->buffers[i]->bytes * 16 > u->machine->shared)
      diag_note(u->diags, life[i].use, N_LOWER_BUFFER, n->buffers[i]->name,
                (long long)n->buffers[i]->bytes, (long long)n->buffers[i]->offset);
  diag_hint(u->diags, H_LOWER_SHARED);
  return false;
}

/* Buffers whose accesses were all removed; ids stay dense. */
static void drop_unused(Nest *n, Life *life) {
  uint32_t kept = 0;
  for (uint32_t i = 0; i < n->nbuffers; i++) {
    if (life[i].first < 0) continue;
    life[kept] = life[i];
    n->buffers[kept] = n->buffers[i];
    n->buffers[kept]->id = kept;
    kept++;
  }
  n->nbuffers = kept;
}

bool place_run(Unit *u) {
  Nest *n = u->nest;
  Arena *scratch = arena_child(u->arena);
  Lives s = {n, ARENA_ARRAY(scratch, Life, n->nbuffers), 0};
  for (uint32_t i = 0; i < n->nbuffers; i++) s.life[i] = (Life){.first = -1, .last = -1};
  walk_lives(&s, n->body);
  drop_unused(n, s.life);
  Life *forever = ARENA_ARRAY(scratch, Life, n->nbuffers);
  for (uint32_t i = 0; i < n->nbuffers; i++) forever[i] = (Life){.last = s.at};
  assign_offsets(n, forever);
  if (n->shared_bytes > OWN_PLACE_BYTES) assign_offsets(n, s.life);
  bool fits = within_limit(u, s.life);
  arena_free(scratch);
  return fits;
}

/* ---- barriers ---- */

enum { READ = 1, WRITE = 2, ATOMIC = 4 };

typedef struct {
  Unit *u;
  Arena *scratch;
  uint8_t *since; /* by buffer: how it was accessed since the last barrier */
  bool changed;
} Sync;

static bool overlap(const NestBuffer *a, const NestBuffer *b) {
  return a == b || (a->offset < b->offset + b->bytes && b->offset < a->offset + a->bytes);
}

static uint8_t access_of(const NestStmt *st) {
  switch (st->code) {
    case NEST_LD:
    case NEST_LDMATRIX: return READ;
    case NEST_ATOM:
    case NEST_ATOM_CAS:
    case NEST_RED: return ATOMIC;
    default: return WRITE;
  }
}

/* Writes of one buffer go to different bytes (each element has one writer), and atomics are ordered
 * among themselves: accesses of one kind to one buffer do not wait for each other, others do. */
static bool must_wait(const Sync *s, const NestStmt *st) {
  for (uint32_t i = 0; i < st->nmems; i++) {
    const NestBuffer *b = st->mems[i].buffer;
    if (!b) continue;
    for (uint32_t k = 0; k < s->u->nest->nbuffers; k++) {
      const NestBuffer *o = s->u->nest->buffers[k];
      if (!s->since[k] || !overlap(b, o)) continue;
      if (o == b && b->slots > 1) continue; /* the pipeline's own barrier orders a ring's slots */
      uint8_t now = access_of(st);
      if (s->since[k] & ~now || (o != b && now != READ)) return true;
    }
  }
  return false;
}

static void note(Sync *s, const NestStmt *st) {
  for (uint32_t i = 0; i < st->nmems; i++)
    if (st->mems[i].buffer) s->since[st->mems[i].buffer->id] |= access_of(st);
}

static void barrier_before(Sync *s, NestStmt *st) {
  NestBuilder b = {s->u->nest, st->parent, st, st->span};
  nest_stmt(&b, NEST_BAR, 0, 0);
  memset(s->since, 0, s->u->nest->nbuffers);
  s->changed = true;
}

static bool touches(const Sync *s, const NestStmt *st);

static bool block_touches(const Sync *s, const NestBlock *b) {
  for (const NestStmt *st = b->first; st; st = st->next)
    if (touches(s, st)) return true;
  return false;
}

/* True if anything inside must wait for what is pending now. */
static bool touches(const Sync *s, const NestStmt *st) {
  if (must_wait(s, st)) return true;
  for (uint32_t r = 0; r < st->nregions; r++)
    if (block_touches(s, st->regions[r])) return true;
  return false;
}

static void walk(Sync *s, NestBlock *b);

static void walk_loop(Sync *s, NestStmt *st) {
  /* Twice: what the end of an iteration leaves pending meets the start of the next. */
  for (int round = 0; round < 2; round++)
    for (uint32_t r = 0; r < st->nregions; r++) walk(s, st->regions[r]);
}

static void walk_branch(Sync *s, NestStmt *st) {
  uint32_t n = s->u->nest->nbuffers;
  uint8_t *before = ARENA_ARRAY(s->scratch, uint8_t, n),
          *after = ARENA_ARRAY(s->scratch, uint8_t, n);
  memcpy(before, s->since, n);
  for (uint32_t r = 0; r < st->nregions; r++) {
    memcpy(s->since, before, n);
    walk(s, st->regions[r]);
    for (uint32_t i = 0; i < n; i++) after[i] |= s->since[i];
  }
  memcpy(s->since, after, n);
}

static void walk(Sync *s, NestBlock *b) {
  for (NestStmt *st = b->first; st; st = st->next) {
    if (st->code == NEST_BAR) {
      memset(s->since, 0, s->u->nest->nbuffers);
      continue;
    }
    /* Inside an unroll every copy would repeat the barrier: it goes before the whole of it. */
    bool inline_loop = st->code == NEST_UNROLL;
    if (inline_loop ? touches(s, st) : must_wait(s, st)) barrier_before(s, st);
    note(s, st);
    if (st->code == NEST_IF) walk_branch(s, st);
    else if (st->nregions) walk_loop(s, st);
  }
}

bool sync_run(Unit *u) {
  Sync s = {.u = u, .scratch = arena_child(u->arena)};
  s.since = ARENA_ARRAY(s.scratch, uint8_t, u->nest->nbuffers + 1);
  walk(&s, u->nest->body);
  arena_free(s.scratch);
  return true;
}
