/* What statements read and write, and whether two of them must keep their order. */
#include <stdlib.h>

#include "lower/thread/fuse_parts.h"

/* ---- sets ---- */

static void set_add(const Fuse *f, IdSet *s, uint32_t id) {
  if (s->n == s->cap) {
    uint32_t cap = s->cap ? 2 * s->cap : 4;
    s->id = arena_grow(f->scratch, s->id, s->cap * sizeof *s->id, cap * sizeof *s->id);
    s->cap = cap;
  }
  s->id[s->n++] = id;
}

static int ascending(const void *a, const void *b) {
  uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
  return (x > y) - (x < y);
}

static void set_sort(IdSet *s) {
  uint32_t n = 0;
  if (s->n > 1) qsort(s->id, s->n, sizeof *s->id, ascending);
  for (uint32_t i = 0; i < s->n; i++)
    if (!n || s->id[n - 1] != s->id[i]) s->id[n++] = s->id[i];
  s->n = n;
}

/* The first place from `at` on with an id that is not less. */
static uint32_t set_find(const IdSet *s, uint32_t at, uint32_t id) {
  uint32_t end = s->n;
  while (at < end) {
    uint32_t middle = at + (end - at) / 2;
    if (s->id[middle] < id) at = middle + 1;
    else end = middle;
  }
  return at;
}

bool set_has(const IdSet *s, uint32_t id) {
  uint32_t at = set_find(s, 0, id);
  return at < s->n && s->id[at] == id;
}

bool sets_meet(const IdSet *a, const IdSet *b) {
  if (a->n > b->n) return sets_meet(b, a);
  for (uint32_t i = 0, at = 0; i < a->n; i++) {
    at = set_find(b, at, a->id[i]);
    if (at == b->n) return false;
    if (b->id[at] == a->id[i]) return true;
  }
  return false;
}

/* Merges from the end, in place. */
static void set_join(const Fuse *f, IdSet *to, const IdSet *from) {
  uint32_t more = 0;
  for (uint32_t i = 0, at = 0; i < from->n; i++) {
    at = set_find(to, at, from->id[i]);
    more += at == to->n || to->id[at] != from->id[i];
  }
  if (!more) return;
  uint32_t a = to->n, b = from->n, n = a + more;
  for (uint32_t i = 0; i < more; i++) set_add(f, to, 0);
  for (uint32_t at = n; b;) {
    bool left = a && to->id[a - 1] >= from->id[b - 1];
    if (left && to->id[a - 1] == from->id[b - 1]) b--;
    to->id[--at] = left ? to->id[--a] : from->id[--b];
  }
}

void effects_join(const Fuse *f, Effects *to, const Effects *from) {
  set_join(f, &to->reads, &from->reads);
  set_join(f, &to->writes, &from->writes);
  set_join(f, &to->loads, &from->loads);
  set_join(f, &to->stores, &from->stores);
  to->memory |= from->memory;
}

/* ---- effects ---- */

static void reads_ref(const Fuse *f, Effects *e, const Ref *r) {
  if (r->kind == REF_VAR) set_add(f, &e->reads, r->var->id);
}

static void memory_effects(const Fuse *f, Effects *e, const NestStmt *st) {
  const NestBuffer *b = st->nmems ? st->mems[0].buffer : NULL;
  switch (st->code) {
    case NEST_LD:
      if (nest_int(st, NA_volatile, 0)) e->memory |= ORDERED;
      if (b) set_add(f, &e->loads, b->id);
      else e->memory |= READS_GLOBAL;
      return;
    case NEST_ST:
      if (b) set_add(f, &e->stores, b->id);
      else e->memory |= WRITES_GLOBAL;
      return;
    case NEST_OP:
    case NEST_MOV:
    case NEST_PID:
    case NEST_NPROG:
    case NEST_LANE:
    case NEST_WARP:
    case NEST_SHFL:
    case NEST_ASSERT:
    case NEST_UNROLL:
    case NEST_SERIAL:
    case NEST_FOR:
    case NEST_IF: return;
    default: e->memory |= ORDERED; return; /* atomics, barriers, loops that may wait */
  }
}

static void effects_add(const Fuse *f, Effects *e, const NestStmt *st) {
  for (uint32_t i = 0; i < st->ndsts; i++) set_add(f, &e->writes, st->dsts[i].var->id);
  for (uint32_t i = 0; i < st->nsrcs; i++) reads_ref(f, e, &st->srcs[i]);
  for (uint32_t i = 0; i < st->nmems; i++) reads_ref(f, e, &st->mems[i].base);
  reads_ref(f, e, &st->guard);
  /* What keeps its old value where the guard is false reads it. */
  for (uint32_t i = 0; i < st->ndsts && st->guard.kind; i++)
    set_add(f, &e->reads, st->dsts[i].var->id);
  memory_effects(f, e, st);
  for (uint32_t r = 0; r < st->nregions; r++)
    for (const NestStmt *x = st->regions[r]->first; x; x = x->next) effects_add(f, e, x);
}

Effects effects_of(const Fuse *f, const NestStmt *st) {
  Effects e = {0};
  effects_add(f, &e, st);
  set_sort(&e.reads);
  set_sort(&e.writes);
  set_sort(&e.loads);
  set_sort(&e.stores);
  return e;
}

static bool touches_memory(const Effects *e) { return e->memory || e->loads.n || e->stores.n; }

static bool global_conflict(unsigned a, unsigned b) {
  return (a & WRITES_GLOBAL && b & (READS_GLOBAL | WRITES_GLOBAL)) ||
         (b & WRITES_GLOBAL && a & READS_GLOBAL);
}

bool effects_meet_in_memory(const Effects *a, const Effects *b) {
  if (a->memory & ORDERED && touches_memory(b)) return true;
  if (b->memory & ORDERED && touches_memory(a)) return true;
  if (global_conflict(a->memory, b->memory)) return true;
  return sets_meet(&a->stores, &b->stores) || sets_meet(&a->stores, &b->loads) ||
         sets_meet(&a->loads, &b->stores);
  sets_meet(&a->loads, &b->stores);
}

/* ---- effects of several statements ---- */

void pending_new(Pending *p, Arena *scratch, const Nest *n) {
  *p = (Pending){.scratch = scratch,
                 .reads = ARENA_ARRAY(scratch, uint32_t, n->nvars),
                 .writes = ARENA_ARRAY(scratch, uint32_t, n->nvars),
                 .loads = ARENA_ARRAY(scratch, uint32_t, n->nbuffers),
                 .stores = ARENA_ARRAY(scratch, uint32_t, n->nbuffers)};
}

void pending_clear(Pending *p) {
  p->round++;
  p->memory = 0;
  p->loaded = p->stored = false;
}

static void mark(uint32_t *at, const IdSet *s, uint32_t round) {
  for (uint32_t i = 0; i < s->n; i++) at[s->id[i]] = round;
}

static bool marked(const uint32_t *at, const IdSet *s, uint32_t round) {
  for (uint32_t i = 0; i < s->n; i++)
    if (at[s->id[i]] == round) return true;
  return false;
}

enum { IDS_A_STEP = 16 };

static void count(const Pending *p, const Effects *e) {
  arena_work(p->scratch, 1 + (e->reads.n + e->writes.n + e->loads.n + e->stores.n) / IDS_A_STEP);
}

void pending_add(Pending *p, const Effects *e) {
  count(p, e);
  mark(p->reads, &e->reads, p->round);
  mark(p->writes, &e->writes, p->round);
  mark(p->loads, &e->loads, p->round);
  mark(p->stores, &e->stores, p->round);
  p->memory |= e->memory;
  p->loaded |= e->loads.n > 0;
  p->stored |= e->stores.n > 0;
}

bool pending_conflict(const Pending *p, const Effects *e) {
  count(p, e);
  if (e->memory & ORDERED && (p->memory || p->loaded || p->stored)) return true;
  if (p->memory & ORDERED && touches_memory(e)) return true;
  if (global_conflict(p->memory, e->memory)) return true;
  return marked(p->writes, &e->writes, p->round) || marked(p->writes, &e->reads, p->round) ||
         marked(p->reads, &e->writes, p->round) || marked(p->stores, &e->stores, p->round) ||
         marked(p->stores, &e->loads, p->round) || marked(p->loads, &e->stores, p->round);
}

/* ---- effects of two ---- */

/* True if a and b must stay in their order. */
bool effects_conflict(const Effects *a, const Effects *b) {
  return sets_meet(&a->writes, &b->writes) || sets_meet(&a->writes, &b->reads) ||
         sets_meet(&a->reads, &b->writes) || effects_meet_in_memory(a, b);
}
