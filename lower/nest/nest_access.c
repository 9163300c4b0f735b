#include "lower/nest/nest_access.h"

enum { READ = 1, WRITE = 2, ATOMIC = 4 };

bool nest_buffers_overlap(const NestBuffer *a, const NestBuffer *b) {
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

static bool is_of(const Ref *r, const NestVar *v) { return r->kind == REF_VAR && r->var == v; }

bool nest_sets(const NestStmt *st, const NestVar *v) {
  for (uint32_t i = 0; i < st->ndsts; i++)
    if (is_of(&st->dsts[i], v)) return true;
  for (uint32_t r = 0; r < st->nregions; r++)
    for (const NestStmt *x = st->regions[r]->first; x; x = x->next)
      if (nest_sets(x, v)) return true;
  return false;
}

bool nest_reads(const NestStmt *st, const NestVar *v) {
  for (uint32_t i = 0; i < st->nsrcs; i++)
    if (is_of(&st->srcs[i], v)) return true;
  for (uint32_t i = 0; i < st->nmems; i++)
    if (is_of(&st->mems[i].base, v)) return true;
  if (is_of(&st->guard, v)) return true;
  for (uint32_t r = 0; r < st->nregions; r++)
    for (const NestStmt *x = st->regions[r]->first; x; x = x->next)
      if (nest_reads(x, v)) return true;
  return false;
}

bool nest_touches(const NestStmt *st, const NestVar *v) {
  return nest_sets(st, v) || nest_reads(st, v);
}

const uint32_t *nest_count_defs(Arena *a, const Nest *n) {
  uint32_t *defs = ARENA_ARRAY(a, uint32_t, n->nvars + 1);
  count_block_defs(n->body, 1, defs);
  return defs;
}

/* The addresses are equal within each thread, and differ between threads. */
static bool same_base(const uint32_t *defs, const Ref *a, const Ref *b) {
  bool same = a->kind == REF_VAR && b->kind == REF_VAR && a->var == b->var && !a->var->uniform;
  return same && defs[a->var->id] <= 1 && affine_eq(&a->sub, &b->sub) && !a->sub.n;
}

/* The bytes that an access's loops touch: runs that follow each other are one, and each other loop
 * is a term. */
typedef struct {
  int64_t run;
  int n;
  AffineTerm t[MAX_TERMS];
} Touched;

static int64_t width(const NestStmt *st) {
  if (st->code == NEST_CP_ASYNC) return nest_int(st, NA_bytes, 0);
  return nest_int(st, NA_n, 1) * (int64_t)dtype_bytes(st->type);
}

static Touched touched_by(const NestStmt *st) {
  const Affine *at = &st->mems[0].bytes;
  Touched x = {.run = width(st)};
  bool joined[MAX_TERMS] = {false};
  for (int i = 0; i < at->n; i++) {
    if (joined[i] || at->t[i].coef != x.run) continue;
    x.run *= at->t[i].index->extent;
    joined[i] = true;
    i = -1;
  }
  for (int i = 0; i < at->n; i++)
    if (!joined[i]) x.t[x.n++] = at->t[i];
  return x;
}

/* Do both access the same bytes, from bases that are equal? */
static bool same_bytes(const NestStmt *a, const NestStmt *b) {
  Touched x = touched_by(a), y = touched_by(b);
  bool same = a->mems[0].bytes.c == b->mems[0].bytes.c && x.run == y.run && x.n == y.n;
  for (int i = 0; same && i < x.n; i++)
    same = x.t[i].coef == y.t[i].coef && x.t[i].index->extent == y.t[i].index->extent;
  return same;
}

/* A load and a store, or a copy, with which each thread accesses the same bytes.  The store has one
 * writer a byte, if it has no guard: so no thread reads what another one writes. */
static bool same_threads(const uint32_t *defs, const NestStmt *a, const NestStmt *b) {
  const NestStmt *st = a->code == NEST_LD ? b : a, *ld = st == a ? b : a;
  bool stores = st->code == NEST_ST || st->code == NEST_CP_ASYNC;
  if (!stores || ld->code != NEST_LD || st->guard.kind) return false;
  const Mem *x = &st->mems[0], *y = &ld->mems[0];
  return x->buffer && y->buffer && x->buffer->offset == y->buffer->offset &&
         same_base(defs, &x->base, &y->base) && same_bytes(st, ld);
}

bool nest_accesses_conflict(const uint32_t *defs, const NestStmt *a, const NestStmt *b,
                            bool one_buffer) {
  uint8_t x = access_kind(a), y = access_kind(b);
  if (x == y && (one_buffer || x == READ)) return false;
  return !same_threads(defs, a, b);
}
