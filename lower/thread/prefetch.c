/* Pass prefetch.  A program that loads a row, computes and stores it leaves memory idle while it
 * computes.  So where a chain (lower/thread/chain.h) of the kernel's own block loads neighbouring
 * elements
 *
 *   unroll a:512 { %x[a] = ld [%p + 32*a] ... }
 *
 * and %p follows from the program's index, a later chain of as many iterations prefetches, from the
 * %p of the next program: the last one that stores nothing, if there is any.
 *
 * Where there is none, and the machine does not look far ahead by itself (HAS_FAR_STREAMS), a chain
 * that loads much prefetches for itself, a distance ahead.  So do loads in loops that leave caches
 * first, as memory does that is read once. */
#include "lower/passes.h"

#include <string.h>

#include "lower/thread/chain.h"

enum {
  LEAST_ITERATIONS = 64,
  MOST_BYTES = 1 << 17, /* of a chain's loads: more would leave the cache before it is used */
  STREAM_LEAST = 1 << 15, /* of a chain's loads, */
  STREAM_AHEAD = 1 << 14  /* and how far ahead: 10.6 GB/s of a Sapphire Rapids' core for 5.4 */
};

typedef enum { UNKNOWN, FIXED, MOVES, ELSEWHERE } Motion;

typedef struct {
  Nest *nest;
  uint32_t nvars;
  NestStmt **def; /* by variable id, as all that follows */
  uint32_t *ndefs;
  Motion *motion; /* from one program to the next */
  NestVar **next; /* what the variable is there */
} Prefetcher;

static void find_address_defs(Prefetcher *s, const NestBlock *b) {
  for (NestStmt *st = b->first; st; st = st->next) {
    for (uint32_t i = 0; i < st->ndsts; i++) {
      s->def[st->dsts[i].var->id] = st;
      s->ndefs[st->dsts[i].var->id]++;
    }
    for (uint32_t r = 0; r < st->nregions; r++) find_address_defs(s, st->regions[r]);
  }
}

/* ---- the next program's scalars ---- */

static Motion motion_of(Prefetcher *s, const Ref *x);

static Motion def_motion(Prefetcher *s, const NestStmt *st) {
  if (st->parent != s->nest->body || st->guard.kind) return ELSEWHERE;
  if (st->code == NEST_PID) return nest_int(st, NA_axis, 0) == 0 ? MOVES : FIXED;
  if (st->code == NEST_NPROG || st->code == NEST_LANE) return FIXED;
  if (st->code != NEST_OP) return ELSEWHERE;
  Motion most = FIXED;
  for (uint32_t i = 0; i < st->nsrcs; i++) {
    Motion m = motion_of(s, &st->srcs[i]);
    if (m > most) most = m;
  }
  return most;
}

static Motion motion_of(Prefetcher *s, const Ref *x) {
  if (x->kind != REF_VAR || x->var->is_param) return FIXED;
  uint32_t id = x->var->id;
  if (id >= s->nvars || x->var->count != 1 || s->ndefs[id] != 1) return ELSEWHERE;
  if (!s->motion[id]) s->motion[id] = def_motion(s, s->def[id]);
  return s->motion[id];
}

/* x, which moves or is fixed, in the next program; computed at the builder. */
static Ref next_of(Prefetcher *s, NestBuilder *b, const Ref *x) {
  if (motion_of(s, x) != MOVES) return *x;
  NestVar *v = x->var, **next = &s->next[v->id];
  if (*next) return ref_var(*next);
  const NestStmt *st = s->def[v->id];
  Ref srcs[3] = {ref_none(), ref_none(), ref_none()};
  for (uint32_t i = 0; i < st->nsrcs && i < 3; i++) srcs[i] = next_of(s, b, &st->srcs[i]);
  *next = nest_var(s->nest, v->name, v->dtype, v->elem, 1, v->uniform);
  if (st->code == NEST_PID) {
    nest_op(b, TILE_ADD, DT_I32, ref_var(*next), ref_var(v), ref_int(1), ref_none());
    return ref_var(*next);
  }
  NestStmt *op = nest_op(b, st->op, st->type, ref_var(*next), srcs[0], srcs[1], srcs[2]);
  op->to = st->to;
  op->elem = st->elem;
  op->rtz = st->rtz;
  return ref_var(*next);
}

/* ---- prefetching ---- */

static bool is_row_load(Prefetcher *s, const Chain *c, const NestStmt *st) {
  if (st->code != NEST_LD || st->mems[0].buffer || nest_int(st, NA_volatile, 0)) return false;
  int64_t bytes = dtype_bytes(st->type) * s->nest->lanes;
  Affine at = st->mems[0].bytes;
  at.c = 0;
  return nest_int(st, NA_n, 1) == 1 && bytes * chain_extent(c, 0) <= MOST_BYTES &&
         chain_linear(&at, c, bytes) && motion_of(s, &st->mems[0].base) == MOVES;
}

static bool stores(const Chain *c) {
  for (const NestStmt *st = c->body->first; st; st = st->next)
    if (nest_flags(st) & NEST_IS_WRITE) return true;
  return false;
}

/* The chain after `load` that prefetches for it; depth 0 if there is none. */
static Chain find_prefetch_site(NestStmt *load, int64_t total, NestStmt **site) {
  Chain best = {.depth = 0};
  for (NestStmt *st = load->next; st; st = st->next) {
    Chain c = chain_of(st);
    if (!c.depth || chain_extent(&c, 0) != total) continue;
    if (best.depth && stores(&c) && !stores(&best)) continue;
    best = c;
    *site = st;
  }
  return best;
}

static void prefetch(Prefetcher *s, NestStmt *site, const Chain *c, const NestStmt *load) {
  NestBuilder b = {s->nest, site->parent, site, load->span};
  Ref base = next_of(s, &b, &load->mems[0].base);
  b = (NestBuilder){s->nest, c->body, NULL, load->span};
  Mem *m = &nest_stmt(&b, NEST_PREFETCH, 0, 0)->mems[0];
  m->base = base;
  m->bytes = affine_const(load->mems[0].bytes.c);
  int64_t bytes = dtype_bytes(load->type) * s->nest->lanes;
  for (int i = 0; i < c->depth; i++) {
    Affine term = affine_index(c->index[i], bytes * chain_extent(c, i + 1));
    affine_add(&m->bytes, &term);
  }
}

static void prefetch_ahead(Nest *nest, NestStmt *load) {
  NestBuilder b = {nest, load->parent, load, load->span};
  Mem *m = &nest_stmt(&b, NEST_PREFETCH, 0, 0)->mems[0];
  *m = load->mems[0];
  m->bytes.c += STREAM_AHEAD;
}

/* The loads of the chain, in order, that much further on. */
static void prefetch_stream(Prefetcher *s, const Chain *c, NestStmt *load) {
  int64_t bytes = dtype_bytes(load->type) * s->nest->lanes;
  if (bytes * chain_extent(c, 0) >= STREAM_LEAST) prefetch_ahead(s->nest, load);
}

/* Loads in loops of memory that is read once. */
static void prefetch_first(Nest *nest, NestBlock *b, bool looped) {
  for (NestStmt *st = b->first; st; st = st->next) {
    bool first = st->code == NEST_LD && !strcmp(nest_str(st, NA_evict, ""), "evict_first");
    if (first && looped && !st->mems[0].buffer) prefetch_ahead(nest, st);
    bool loops = looped || st->code == NEST_FOR || st->code == NEST_SERIAL;
    for (uint32_t i = 0; i < st->nregions; i++) prefetch_first(nest, st->regions[i], loops);
  }
}

bool pass_prefetch(Unit *u) {
  Arena *scratch = arena_child(u->arena);
  uint32_t n = u->nest->nvars;
  Prefetcher s = {u->nest,
                  n,
                  ARENA_ARRAY(scratch, NestStmt *, n),
                  ARENA_ARRAY(scratch, uint32_t, n),
                  ARENA_ARRAY(scratch, Motion, n),
                  ARENA_ARRAY(scratch, NestVar *, n)};
  find_address_defs(&s, u->nest->body);
  for (NestStmt *st = u->nest->body->first, *site = NULL; st; st = st->next) {
    Chain c = chain_of(st);
    int64_t total = c.depth ? chain_extent(&c, 0) : 0;
    if (total < LEAST_ITERATIONS) continue;
    Chain at = find_prefetch_site(st, total, &site);
    bool far = machine_has(u->machine, HAS_FAR_STREAMS);
    for (NestStmt *x = at.depth || far ? c.body->first : NULL; x; x = x->next)
      if (!is_row_load(&s, &c, x)) continue;
      else if (at.depth) prefetch(&s, site, &at, x);
      else prefetch_stream(&s, &c, x);
  }
  if (machine_has(u->machine, HAS_FAR_STREAMS)) prefetch_first(u->nest, u->nest->body, false);
  arena_free(scratch);
  return true;
}
