/* What statements read and write, and whether two of them must keep their order. */
#include "lower/fuse_parts.h"

/* ---- sets ---- */

static void set_add(uint64_t *set, uint32_t id) { set[id / 64] |= (uint64_t)1 << id % 64; }

bool sets_meet(const uint64_t *a, const uint64_t *b, uint32_t words) {
  for (uint32_t w = 0; w < words; w++)
    if (a[w] & b[w]) return true;
  return false;
}

Effects effects_new(const Fuse *f) {
  return (Effects){ARENA_ARRAY(f->scratch, uint64_t, f->words),
                   ARENA_ARRAY(f->scratch, uint64_t, f->words),
                   ARENA_ARRAY(f->scratch, uint64_t, f->buffer_words),
                   ARENA_ARRAY(f->scratch, uint64_t, f->buffer_words), 0};
}

void effects_join(const Fuse *f, Effects *to, const Effects *from) {
  for (uint32_t w = 0; w < f->words; w++) {
    to->reads[w] |= from->reads[w];
    to->writes[w] |= from->writes[w];
  }
  for (uint32_t w = 0; w < f->buffer_words; w++) {
    to->loads[w] |= from->loads[w];
    to->stores[w] |= from->stores[w];
  }
  to->memory |= from->memory;
}

/* ---- effects ---- */

static void reads_ref(Effects *e, const Ref *r) {
  if (r->kind == REF_VAR) set_add(e->reads, r->var->id);
}

static void memory_effects(Effects *e, const NestStmt *st) {
  const NestBuffer *b = st->nmems ? st->mems[0].buffer : NULL;
  switch (st->code) {
    case NEST_LD:
      if (nest_int(st, NA_volatile, 0)) e->memory |= ORDERED;
      if (b) set_add(e->loads, b->id);
      else e->memory |= READS_GLOBAL;
      return;
    case NEST_ST:
      if (b) set_add(e->stores, b->id);
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

void effects_add(Effects *e, const NestStmt *st) {
  for (uint32_t i = 0; i < st->ndsts; i++) set_add(e->writes, st->dsts[i].var->id);
  for (uint32_t i = 0; i < st->nsrcs; i++) reads_ref(e, &st->srcs[i]);
  for (uint32_t i = 0; i < st->nmems; i++) reads_ref(e, &st->mems[i].base);
  reads_ref(e, &st->guard);
  /* What keeps its old value where the guard is false reads it. */
  for (uint32_t i = 0; i < st->ndsts && st->guard.kind; i++) set_add(e->reads, st->dsts[i].var->id);
  memory_effects(e, st);
  for (uint32_t r = 0; r < st->nregions; r++)
    for (const NestStmt *x = st->regions[r]->first; x; x = x->next) effects_add(e, x);
}

static bool touches_memory(const Fuse *f, const Effects *e) {
  if (e->memory) return true;
  for (uint32_t w = 0; w < f->buffer_words; w++)
    if (e->loads[w] | e->stores[w]) return true;
  return false;
}

bool effects_meet_in_memory(const Fuse *f, const Effects *a, const Effects *b) {
  if (a->memory & ORDERED && touches_memory(f, b)) return true;
  if (b->memory & ORDERED && touches_memory(f, a)) return true;
  if (a->memory & WRITES_GLOBAL && b->memory & (READS_GLOBAL | WRITES_GLOBAL)) return true;
  if (b->memory & WRITES_GLOBAL && a->memory & READS_GLOBAL) return true;
  return sets_meet(a->stores, b->stores, f->buffer_words) ||
         sets_meet(a->stores, b->loads, f->buffer_words) ||
         sets_meet(a->loads, b->stores, f->buffer_words);
}

/* True if a and b must stay in their order. */
bool effects_conflict(const Fuse *f, const Effects *a, const Effects *b) {
  return sets_meet(a->writes, b->writes, f->words) || sets_meet(a->writes, b->reads, f->words) ||
         sets_meet(a->reads, b->writes, f->words) || effects_meet_in_memory(f, a, b);
}
