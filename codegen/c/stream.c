/* Streaming stores: those that go around the caches.
 *
 * A line that is written as a whole and not read again soon is best sent straight to memory: the
 * processor need not fetch it first, and nothing else leaves the caches for it.  So stores of
 * neighbouring lanes *stream* when a launch writes more than the caches hold (the entry function
 * decides, by the number of programs), if the kernel loads nothing through the same argument.
 *
 * Streamed stores are not ordered with others: a kernel with atomics, fences or volatile loads, by
 * which programs wait for each other, has none. */
#include "codegen/c/c.h"

typedef struct {
  Gen *g;
  const NestStmt **def; /* by variable id: its definition, of several the last */
  uint32_t *ndefs;
  uint32_t nvars;
  bool *loaded; /* by variable id, of parameters */
  bool ordered, unknown;
} Search;

static void find_last_defs(Search *s, const NestBlock *b) {
  for (const NestStmt *st = b->first; st; st = st->next) {
    for (uint32_t i = 0; i < st->ndsts; i++) {
      s->def[st->dsts[i].var->id] = st;
      s->ndefs[st->dsts[i].var->id]++;
    }
    for (uint32_t r = 0; r < st->nregions; r++) find_last_defs(s, st->regions[r]);
  }
}

/* The parameter that an address is computed from; NULL if it is not known.  The number of variables
 * bounds the steps, for a pointer that is computed from itself. */
static const NestVar *root_parameter(const Search *s, const Ref *r) {
  for (uint32_t left = s->nvars; left; left--) {
    if (r->kind != REF_VAR) return NULL;
    if (r->var->is_param) return r->var;
    const NestStmt *st = s->def[r->var->id];
    if (s->ndefs[r->var->id] != 1) return NULL;
    bool moves = st->code == NEST_MOV || (st->code == NEST_OP && st->op == TILE_PTR_ADD);
    if (!moves) return NULL;
    r = &st->srcs[0];
  }
  return NULL;
}

static bool orders_accesses(const NestStmt *st) {
  unsigned flags = nest_flags(st);
  bool is_volatile = (flags & NEST_IS_READ) && (flags & NEST_IS_ORDERED);
  return (flags & NEST_IS_ATOMIC) || is_volatile || st->code == NEST_FENCE;
}

static void look(Search *s, const NestBlock *b) {
  for (const NestStmt *st = b->first; st; st = st->next) {
    bool reads = nest_flags(st) & NEST_IS_READ;
    s->ordered |= orders_accesses(st);
    if (reads && !st->mems[0].buffer) {
      const NestVar *p = root_parameter(s, &st->mems[0].base);
      if (p) s->loaded[p->id] = true;
      else s->unknown = true;
    }
    for (uint32_t r = 0; r < st->nregions; r++) look(s, st->regions[r]);
  }
}

static bool streams(const Search *s, const NestStmt *st) {
  if (st->code != NEST_ST || st->mems[0].buffer) return false;
  Spread at = c_mem_spread(s->g, &st->mems[0]);
  if (at.kind != SPREAD_LINEAR || at.step != dtype_bytes(st->type)) return false;
  const NestVar *p = root_parameter(s, &st->mems[0].base);
  return p && !s->loaded[p->id];
}

/* Iterations that all occur, or may, if it is from the first on. */
static int64_t iterations(const NestStmt *st) {
  if (st->code != NEST_UNROLL && st->code != NEST_SERIAL) return 1;
  bool later = st->nsrcs && !(st->srcs[0].kind == REF_AFFINE && !st->srcs[0].sub.n);
  return later ? 1 : st->index->extent;
}

/* Notes the parameters and adds up what a program writes through them; loops whose number of
 * iterations is not known count once. */
static void count_stores(Search *s, const NestBlock *b, int64_t times) {
  for (const NestStmt *st = b->first; st; st = st->next) {
    if (streams(s, st)) {
      s->g->streams[root_parameter(s, &st->mems[0].base)->id] = true;
      s->g->stream_bytes +=
          times * nest_int(st, NA_n, 1) * dtype_bytes(st->type) * s->g->nest->lanes;
    }
    for (uint32_t r = 0; r < st->nregions; r++)
      count_stores(s, st->regions[r], times * iterations(st));
  }
}

void c_find_streams(Gen *g) {
  uint32_t n = g->nest->nvars;
  Search s = {.g = g,
              .def = ARENA_ARRAY(g->arena, const NestStmt *, n),
              .ndefs = ARENA_ARRAY(g->arena, uint32_t, n),
              .nvars = n,
              .loaded = ARENA_ARRAY(g->arena, bool, n)};
  g->streams = ARENA_ARRAY(g->arena, bool, n);
  g->roots = ARENA_ARRAY(g->arena, const NestVar *, n);
  find_last_defs(&s, g->nest->body);
  look(&s, g->nest->body);
  if (s.ordered || s.unknown) return;
  count_stores(&s, g->nest->body, 1);
  for (uint32_t i = 0; i < n; i++) {
    Ref r = ref_var(g->nest->vars[i]);
    if (g->nest->vars[i]->dtype == DT_PTR) g->roots[i] = root_parameter(&s, &r);
  }
}

bool c_streams(const Gen *g, const NestStmt *st) {
  const Mem *m = &st->mems[0];
  if (!g->stream_bytes || m->buffer || m->base.kind != REF_VAR) return false;
  const NestVar *p = g->roots[m->base.var->id];
  return p && g->streams[p->id];
}
