/* Pass allocate_shared: shared-memory allocation.  Buffers whose lifetimes (from first to last
 * statement of the program order, stretched over loops that use them) do not meet may share. */
#include <limits.h>
#include <string.h>

#include "lower/messages.h"
#include "lower/passes.h"

typedef struct {
  int first, last; /* statement numbers; first < 0: unused */
  bool is_sent;    /* boxes are stored from it, until there is a wait, in a later iteration, too */
  int copied;      /* how deep the deepest loop is that copies to it asynchronously; 0: none does */
  int copied_end;  /* the last statement of that loop */
  Span use;        /* of the first access */
} Life;

typedef struct {
  const Nest *n;
  Life *life;
  int at, depth; /* depth: of loops */
  bool short_rings;
} Lives;

static void extend_life(Lives *s, const NestBuffer *b, int at, Span use) {
  Life *l = &s->life[b->id];
  if (l->first < 0) l->first = l->last = at, l->use = use;
  if (at > l->last) l->last = at;
}

/* PTX ISA, "mbarrier": no other access may touch the bytes of an mbarrier that is still valid.
 * Another thread block's writes arrive at any time before the cluster's barrier. */
static void live_always(Lives *s, const NestBuffer *b) {
  s->life[b->id].first = 0;
  s->life[b->id].last = INT_MAX;
}

/* A wait for stores of boxes, whose buffers live until then. */
static void extend_sent(Lives *s, int at) {
  for (uint32_t i = 0; i < s->n->nbuffers; i++)
    if (s->life[i].is_sent && at > s->life[i].last) s->life[i].last = at;
}

/* Does an iteration read what another one wrote?  A ring's do, in the loop that copies ahead; in a
 * loop around that one, where the copies go on after it, to the next iteration.  Rings of two such
 * loops share bytes only where there is no other room, since this costs barriers. */
static bool is_carried(const Lives *s, const NestBuffer *b) {
  const Life *l = &s->life[b->id];
  return b->slots > 1 && (!s->short_rings || s->depth >= l->copied || l->last > l->copied_end);
}

/* A buffer used inside a loop, and before it, lives all through the loop; so does one of several
 * slots, of which an iteration reads what another one wrote, one from which boxes are stored, and
 * any that a loop over registers uses, since its iterations access it part by part. */
static void stretch(Lives *s, NestCode loop, int start, int end) {
  bool parts = loop == NEST_UNROLL || loop == NEST_SERIAL;
  if (!parts && loop != NEST_FOR && loop != NEST_WHILE) return;
  arena_work(s->n->arena, s->n->nbuffers);
  for (uint32_t i = 0; i < s->n->nbuffers; i++) {
    Life *l = &s->life[i];
    bool whole = parts || is_carried(s, s->n->buffers[i]) || l->is_sent;
    if (l->last < start || l->first < 0 || (l->first >= start && !whole)) continue;
    if (l->first > start) l->first = start;
    if (l->last < end) l->last = end;
    if (s->depth == l->copied) l->copied_end = end;
  }
}

static bool is_loop(const NestStmt *st) { return st->code == NEST_FOR || st->code == NEST_WHILE; }

static void walk_lives(Lives *s, const NestBlock *b) {
  for (const NestStmt *st = b->first; st; st = st->next) {
    int start = ++s->at;
    for (uint32_t i = 0; i < st->nmems; i++)
      if (st->mems[i].buffer) extend_life(s, st->mems[i].buffer, start, st->span);
    if (st->code == NEST_BULK_STORE) s->life[st->mems[0].buffer->id].is_sent = true;
    if (st->code == NEST_BULK_WAIT) extend_sent(s, start);
    bool copies = st->code == NEST_BULK_COPY || st->code == NEST_CP_ASYNC;
    int *copied = copies ? &s->life[st->mems[0].buffer->id].copied : NULL;
    if (copies && s->depth > *copied) *copied = s->depth;
    bool everywhere = st->code == NEST_ST && nest_int(st, NA_everywhere, 0);
    if (st->code == NEST_MBAR_INIT || everywhere) live_always(s, st->mems[0].buffer);
    for (int i = 0; st->code == NEST_EXCHANGE && i < 2; i++)
      live_always(s, st->mems[i].buffer);
    if (!st->nregions) continue;
    s->depth += is_loop(st);
    for (uint32_t r = 0; r < st->nregions; r++) walk_lives(s, st->regions[r]);
    stretch(s, st->code, start, ++s->at);
    s->depth -= is_loop(st);
  }
}

static bool lives_meet(const Life *a, const Life *b) {
  return a->first <= b->last && b->first <= a->last;
}

static int64_t align_up(int64_t n, int64_t to) { return (n + to - 1) / to * to; }

/* First fit: the lowest offset at which the buffer overlaps none that has an offset and is live at
 * the same time. */
static int64_t lowest_offset(const Nest *n, const Life *life, const NestBuffer *b) {
  int64_t at = 0;
  for (bool again = true; again;) {
    again = false;
    arena_work(n->arena, n->nbuffers);
    for (uint32_t i = 0; i < n->nbuffers; i++) {
      const NestBuffer *o = n->buffers[i];
      if (o == b || o->offset < 0 || !lives_meet(&life[i], &life[b->id])) continue;
      if (at < o->offset + o->bytes && o->offset < at + b->bytes) {
        at = align_up(o->offset + o->bytes, b->align);
        again = true;
      }
    }
  }
  return at;
}

/* Two buffers that share bytes need a barrier between them, so small programs give each buffer
 * bytes of its own.  Where threads read what they copied, no other barriers do for these: then
 * buffers of few bytes have their own, too. */
enum { NO_REUSE_BYTES = 8192, FEW_BYTES = 256 };

static bool waits_for_nobody(const Nest *n) {
  bool own = false;
  for (uint32_t i = 0; i < n->nbuffers; i++) own |= n->buffers[i]->own;
  return own;
}

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
static bool within_limit(Unit *u, const Life *life) {
  const Nest *n = u->nest;
  if (n->shared_bytes <= u->machine->shared) return true;
  u->crowded = u->schedule && u->stages > 1 && u->most_stages != 1;
  if (u->crowded) return false;
  Resource need = {"shared memory", n->shared_bytes, u->machine->shared};
  diag_resource_limit(u->diags, n->span, need, E_LOWER_SHARED, n->name, (long long)n->shared_bytes,
                      u->machine->name, (long long)u->machine->shared);
  for (uint32_t i = 0; i < n->nbuffers; i++)
    if (n->buffers[i]->bytes * 16 > u->machine->shared)
      diag_note(u->diags, life[i].use, N_LOWER_BUFFER, n->buffers[i]->name,
                (long long)n->buffers[i]->bytes, (long long)n->buffers[i]->offset);
  diag_hint(u->diags, H_LOWER_SHARED);
  return false;
}

/* Buffers whose accesses were all removed; ids stay dense. */
static void drop_unused_buffers(Nest *n, Life *life) {
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

static void find_lives(Lives *s) {
  for (uint32_t i = 0; i < s->n->nbuffers; i++) s->life[i] = (Life){.first = -1, .last = -1};
  s->at = 0;
  walk_lives(s, s->n->body);
}

bool pass_allocate_shared(Unit *u) {
  Nest *n = u->nest;
  Arena *scratch = arena_child(u->arena);
  Lives s = {.n = n, .life = ARENA_ARRAY(scratch, Life, n->nbuffers)};
  find_lives(&s);
  drop_unused_buffers(n, s.life);
  Life *forever = ARENA_ARRAY(scratch, Life, n->nbuffers);
  for (uint32_t i = 0; i < n->nbuffers; i++) forever[i] = (Life){.last = s.at};
  assign_offsets(n, forever);
  for (uint32_t i = 0; i < n->nbuffers && waits_for_nobody(n); i++)
    if (n->buffers[i]->bytes <= FEW_BYTES) s.life[i] = forever[i];
  if (n->shared_bytes > NO_REUSE_BYTES) assign_offsets(n, s.life);
  if (n->shared_bytes > u->machine->shared) {
    s.short_rings = true;
    find_lives(&s);
    assign_offsets(n, s.life);
  }
  bool fits = within_limit(u, s.life);
  arena_free(scratch);
  return fits;
}
