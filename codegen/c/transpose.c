/* Copies that exchange rows and columns.  A loop that stores a vector's lanes in rows `step` bytes
 * apart, each iteration one element after the last, or loads them so,
 *
 *   unroll b:128 { %x = ld [%p + 4096*b]; st [@X + %lane576 + 4*b], %x }
 *   unroll b:128 { %x[b] = ld [@X + %lane576 + 4*b] }
 *
 * is printed as blocks of LANES iterations, whose vectors are transposed in registers: then LANES
 * stores or loads of whole vectors take the place of LANES * LANES of elements.  The last block
 * ends with the loop's last iteration, and so may repeat some of the block before.  A mask of lanes
 * may be the same in all iterations: then the loop is printed so for the mask of all lanes, and as
 * it is for others (`masked_loop` of stmt.c).
 *
 * LANES loads or stores one after the other, each of lanes `step` bytes apart and an element after
 * the one before,
 *
 *   %x0 = ld [%p + %lane4096]
 *   %x1 = ld [%p + %lane4096 + 4]
 *   ...
 *
 * are LANES loads or stores of whole vectors in the same way, and so are stores of a loop of only
 * these, whose rows may be in blocks:
 *
 *   unroll a:64 { unroll b:4 { st [%p + %lane4096 + 4*a + 65536*b], %x[4*a + b] if %c[a] } }
 *
 * Lanes that are two elements apart, as real parts of complex numbers are, and their neighbors take
 * two vectors and two shuffles.  Both halves of the lanes may be at places of their own: pairs of
 * each are a vector, also those of loads that go back, and LANES / 2 columns of as many rows for
 * each half, which are next to each other, as many vectors. */
#include "codegen/c/c.h"
#include "lower/nest/nest_access.h"

enum { REGISTER_MOST = 512 }; /* bits of a vector that is transposed in registers */

static int64_t coefficient_of(const Affine *x, const NestIndex *index) {
  for (int i = 0; i < x->n; i++)
    if (x->t[i].index == index) return x->t[i].coef;
  return 0;
}

static bool same_affine(const Affine *x, const Affine *y, int64_t apart) {
  if (x->n != y->n || y->c - x->c != apart) return false;
  for (int i = 0; i < x->n; i++)
    if (x->t[i].index != y->t[i].index || x->t[i].coef != y->t[i].coef) return false;
  return true;
}

static bool same_reference(const Ref *x, const Ref *y) {
  if (x->kind != y->kind) return false;
  if (x->kind == REF_VAR && x->var != y->var) return false;
  return x->kind == REF_NONE || same_affine(&x->sub, &y->sub, 0);
}

static bool is_whole_register(DType t) {
  return t == DT_F32 || t == DT_I32 || t == DT_U32 || t == DT_F64 || t == DT_I64 || t == DT_U64;
}

/* Is there no guard, or a mask of lanes that all iterations have? */
static bool has_one_guard(const Gen *g, const NestStmt *loop, const NestStmt *s) {
  if (!s->guard.kind) return true;
  if (s->guard.kind != REF_VAR || coefficient_of(&s->guard.sub, loop->index)) return false;
  SpreadKind kind = c_ref_spread(g, &s->guard).kind;
  return kind == SPREAD_VECTOR || kind == SPREAD_FIRST;
}

/* Lanes are rows, and an iteration stores or loads the element after the last one's in each. */
static bool takes_column(const Gen *g, const NestStmt *loop, const NestStmt *s) {
  if (!has_one_guard(g, loop, s) || nest_int(s, NA_n, 1) != 1) return false;
  const Mem *m = &s->mems[0];
  int64_t bytes = dtype_bytes(s->type);
  Spread at = c_mem_spread(g, m);
  bool rows = at.kind == SPREAD_LINEAR && at.step && at.step % bytes == 0 && at.step != bytes;
  bool same = m->base.kind == REF_VAR && !coefficient_of(&m->base.sub, loop->index);
  return m->buffer && rows && same && is_whole_register(s->type) &&
         coefficient_of(&m->bytes, loop->index) == bytes &&
         at.step >= bytes * loop->index->extent;
}

static bool stores_column(const Gen *g, const NestStmt *loop, const NestStmt *s) {
  return s->code == NEST_ST && takes_column(g, loop, s) &&
         c_ref_spread(g, &s->srcs[0]).kind == SPREAD_VECTOR;
}

static bool is_read(const NestStmt *x, const NestVar *v) {
  for (uint32_t i = 0; i < x->nsrcs; i++)
    if (x->srcs[i].kind == REF_VAR && x->srcs[i].var == v) return true;
  for (uint32_t i = 0; i < x->nmems; i++)
    if (x->mems[i].base.kind == REF_VAR && x->mems[i].base.var == v) return true;
  return x->guard.kind == REF_VAR && x->guard.var == v;
}

/* Does an iteration read what it, or an earlier one, has written? */
static bool goes_on(const NestBlock *b) {
  for (const NestStmt *x = b->first; x; x = x->next)
    for (uint32_t i = 0; i < x->ndsts; i++)
      for (const NestStmt *y = b->first; y != x->next; y = y->next)
        if (is_read(y, x->dsts[i].var)) return true;
  return false;
}

static bool has_blocks(const Gen *g, const NestStmt *loop) {
  int extent = loop->index->extent, lanes = g->nest->lanes;
  if (loop->code != NEST_UNROLL || loop->nsrcs || extent < lanes || g->owners) return false;
  return extent % lanes == 0 || !goes_on(loop->regions[0]);
}

/* Do iterations of the loop within write to rows, or to parts of rows, of their own? */
static bool has_own_rows(const NestStmt *inner, const Affine *bytes, int64_t run, int64_t step,
                         int lanes) {
  int64_t block = inner ? coefficient_of(bytes, inner->index) : 0;
  return !inner || block >= step * lanes ||
         (block >= run && block * inner->index->extent <= step);
}

/* Is that a store of whole vectors, of which each iteration has its own? */
static bool stores_vectors(const Gen *g, const NestStmt *loop, const NestStmt *inner,
                           const NestStmt *st) {
  const Mem *m = &st->mems[0];
  int64_t bytes = dtype_bytes(st->type), vector = bytes * g->nest->lanes;
  Spread at = c_mem_spread(g, m);
  int64_t i = coefficient_of(&m->bytes, loop->index);
  int64_t k = inner ? coefficient_of(&m->bytes, inner->index) : i;
  bool own = !inner || (k >= vector && i >= k * inner->index->extent) ||
             (i >= vector && k >= i * loop->index->extent);
  return m->buffer && !st->guard.kind && nest_int(st, NA_n, 1) == 1 && m->base.kind == REF_VAR &&
         !m->base.sub.n && at.kind == SPREAD_LINEAR && at.step == bytes && i >= vector && own;
}

/* Does it write the same number in all iterations, to a variable that no other statement of its
 * block reads or writes? */
static bool writes_constant(const NestStmt *s) {
  if (s->code != NEST_MOV || s->guard.kind || s->srcs[0].kind != REF_FLOAT) return false;
  for (const NestStmt *x = s->parent->first; x; x = x->next)
    if (x != s && (is_read(x, s->dsts[0].var) || nest_sets(x, s->dsts[0].var))) return false;
  return true;
}

/* May the statement run before the stores of its block, and in another order of the loops? */
static bool comes_before(const Gen *g, const NestStmt *loop, const Columns *c, const NestStmt *x) {
  const unsigned barred = NEST_IS_ORDERED | NEST_IS_EFFECT;
  if (x->nregions) return false;
  if (x->code == NEST_ST) return stores_vectors(g, loop, c->inner, x);
  if (nest_flags(x) & (barred | NEST_IS_WRITE) || nest_int(x, NA_volatile, 0)) return false;
  for (uint32_t i = 0; i < x->nmems; i++)
    if (x->mems[i].buffer) return false;
  for (uint32_t i = 0; i < x->ndsts && c->inner; i++)
    if (!g->at_definition[x->dsts[i].var->id] && !c_initial_value(x) && !writes_constant(x) &&
        !(x->prev && c_initial_value(x->prev)))
      return false;
  return true;
}

/* Is nothing of the store's address computed by x, and no other store to its memory? */
static bool is_apart(const NestStmt *st, const NestStmt *x) {
  if (x->code == NEST_ST && x->mems[0].buffer == st->mems[0].buffer) return false;
  for (uint32_t i = 0; i < x->ndsts; i++)
    if (x->dsts[i].var == st->mems[0].base.var) return false;
  return true;
}

static bool is_unroll(const NestStmt *s) { return s->code == NEST_UNROLL && !s->nsrcs; }

/* Notes the guard of an access, which is that of those before; false: it is another one. */
static bool joins_guard(Columns *c, const NestStmt *s) {
  const Ref *guard = s->guard.kind ? &s->guard : NULL;
  if (guard && c->inner) return false;
  if (c->n && (!guard != !c->guard || (guard && !same_reference(guard, c->guard)))) return false;
  c->guard = guard;
  return true;
}

static Columns transposed_stores(const Gen *g, const NestStmt *loop, const NestStmt *inner) {
  Columns c = {.inner = inner}, none = {0};
  const NestBlock *body = (inner ? inner : loop)->regions[0];
  for (const NestStmt *x = body->first; x; x = x->next) {
    int64_t run = loop->index->extent * (x->code == NEST_ST ? dtype_bytes(x->type) : 0);
    bool column = c.n < COLUMNS_MAX && stores_column(g, loop, x) &&
                  has_own_rows(c.inner, &x->mems[0].bytes, run,
                               c_mem_spread(g, &x->mems[0]).step, g->nest->lanes);
    if (column && !joins_guard(&c, x)) return none;
    if (column) c.access[c.n++] = x;
    else if (!comes_before(g, loop, &c, x)) return none;
  }
  for (int i = 0; i < c.n; i++)
    for (const NestStmt *x = body->first; x; x = x->next)
      if (x != c.access[i] && !is_apart(c.access[i], x)) return none;
  for (const NestStmt *x = body->first; c.guard && x; x = x->next)
    if (nest_sets(x, c.guard->var)) return none;
  return c;
}

/* The loop's only statement, a load of a column, before which lanes that it leaves out get their
 * number; NULL: it is another loop. */
static const NestStmt *loaded_column(const Gen *g, const NestStmt *loop) {
  const NestStmt *ld = loop->regions[0]->last, *first = loop->regions[0]->first;
  bool alone = ld && (first == ld || (first->next == ld && c_initial_value(first)));
  bool column = alone && ld->code == NEST_LD && !nest_int(ld, NA_volatile, 0) &&
                takes_column(g, loop, ld) && c_ref_spread(g, &ld->dsts[0]).kind == SPREAD_VECTOR;
  return column ? ld : NULL;
}

Columns c_transposed(const Gen *g, const NestStmt *loop) {
  Columns none = {0};
  const NestBlock *body = loop->regions[0];
  if (!has_blocks(g, loop)) return none;
  const NestStmt *load = loaded_column(g, loop);
  if (load)
    return (Columns){.access = {load}, .n = 1, .guard = load->guard.kind ? &load->guard : NULL};
  const NestStmt *inner = body->first && body->first == body->last ? body->first : NULL;
  if (!inner || !is_unroll(inner)) return transposed_stores(g, loop, NULL);
  /* Variables of the outer loop's block would be declared in a block that is not printed. */
  bool whole = loop->index->extent % g->nest->lanes == 0 && !g->heads[g->block];
  return whole ? transposed_stores(g, loop, inner) : none;
}

/* ---- loops of stores alone ---- */

/* The store of a block that prefetches else; NULL: it has more, or none. */
static const NestStmt *only_store(const NestBlock *b) {
  const NestStmt *st = NULL;
  for (const NestStmt *s = b->first; s; s = s->next) {
    if (s->code == NEST_PREFETCH) continue;
    if (st || s->code != NEST_ST) return NULL;
    st = s;
  }
  return st;
}

const NestStmt *c_column_stores(const Gen *g, const NestStmt *loop) {
  int lanes = g->nest->lanes;
  if (!is_unroll(loop) || loop->index->extent % lanes || g->owners) return NULL;
  const NestStmt *first = loop->regions[0]->first, *inner = NULL;
  if (first && first == loop->regions[0]->last && is_unroll(first)) inner = first;
  const NestStmt *st = only_store((inner ? inner : loop)->regions[0]);
  if (!st || nest_int(st, NA_n, 1) != 1 || nest_int(st, NA_volatile, 0)) return NULL;
  const Mem *m = &st->mems[0];
  int64_t bytes = dtype_bytes(st->type), run = bytes * loop->index->extent;
  Spread at = c_mem_spread(g, m);
  bool rows = at.kind == SPREAD_LINEAR && at.step % bytes == 0 && at.step >= run &&
              bytes * lanes * 8 <= REGISTER_MOST && is_whole_register(st->type);
  bool same = !m->buffer && m->base.kind == REF_VAR && !m->base.sub.n &&
              coefficient_of(&m->bytes, loop->index) == bytes;
  Spread guard = st->guard.kind ? c_ref_spread(g, &st->guard) : at;
  bool some = st->guard.kind && guard.kind != SPREAD_FIRST && !c_uniform(guard);
  if (!rows || !same || some || !has_own_rows(inner, &m->bytes, run, at.step, lanes))
    return NULL;
  return c_ref_spread(g, &st->srcs[0]).kind == SPREAD_VECTOR ? st : NULL;
}

/* ---- columns one after the other ---- */

/* The columns that go together of lanes `step` bytes apart: as many as a row has, if rows of two
 * elements follow each other, or LANES.  0: none do. */
static int columns_of_step(const Gen *g, int64_t step, int64_t bytes) {
  int lanes = g->nest->lanes;
  if (bytes * lanes * 8 > REGISTER_MOST || step % bytes) return 0;
  if (step == 2 * bytes) return 2;
  return step >= bytes * lanes ? lanes : 0;
}

/* Transposes of halves of lanes. */
static int columns_of_halves(const Gen *g, const LaneRows *r, int64_t bytes) {
  int half = g->nest->lanes / 2;
  if (2 * half * bytes * 8 > REGISTER_MOST || r->step % bytes) return 0;
  if (r->step == 2 * bytes || r->step == -2 * bytes) return 2;
  return r->apart == half * bytes && r->step >= 2 * r->apart ? half : 0;
}

bool c_find_halves(const Gen *g, Spread at, LaneRows *out) {
  int half = g->nest->lanes / 2;
  const int64_t *lane = at.lanes;
  if (at.kind != SPREAD_VECTOR || !lane || half < 2) return false;
  *out = (LaneRows){.step = lane[1], .apart = lane[half]};
  for (int l = 0; l < half; l++)
    if (lane[l] != l * out->step || lane[half + l] != out->apart + l * out->step) return false;
  return out->apart != 0;
}

LaneRows c_lane_rows(const Gen *g, const NestStmt *s) {
  Spread at = c_mem_spread(g, &s->mems[0]);
  int64_t bytes = dtype_bytes(s->type);
  LaneRows r = {.step = at.step};
  if (at.kind == SPREAD_LINEAR) r.columns = columns_of_step(g, at.step, bytes);
  else if (!s->guard.kind && c_find_halves(g, at, &r)) r.columns = columns_of_halves(g, &r, bytes);
  return r;
}

int c_columns(const Gen *g, const NestStmt *s) { return c_lane_rows(g, s).columns; }

/* Lanes that are in rows, all of them or the first ones. */
static bool is_column(const Gen *g, const NestStmt *s) {
  bool load = s->code == NEST_LD;
  if ((!load && s->code != NEST_ST) || g->owners || nest_int(s, NA_n, 1) != 1) return false;
  if (!is_whole_register(s->type) || nest_int(s, NA_volatile, 0)) return false;
  LaneRows rows = c_lane_rows(g, s);
  bool stored = !load && rows.apart && (rows.columns > 2 || rows.step < 0);
  if (!rows.columns || stored || s->mems[0].buffer) return false;
  bool first = s->guard.kind && c_ref_spread(g, &s->guard).kind == SPREAD_FIRST;
  bool whole = load ? c_ref_spread(g, &s->dsts[0]).kind == SPREAD_VECTOR
                    : c_ref_spread(g, &s->srcs[0]).kind == SPREAD_VECTOR;
  return whole && (first || !s->guard.kind);
}

/* Does y come an element after x, with the same guard? */
static bool follows(const NestStmt *x, const NestStmt *y) {
  return x->code == y->code && x->type == y->type &&
         same_reference(&x->mems[0].base, &y->mems[0].base) && !y->mems[0].buffer &&
         same_affine(&x->mems[0].bytes, &y->mems[0].bytes, dtype_bytes(x->type)) &&
         same_reference(&x->guard, &y->guard);
}

/* Is the address, or the guard, of a later load what this one loads? */
static bool feeds(const NestStmt *load, const NestStmt *first) {
  if (load->code != NEST_LD) return false;
  const NestVar *v = load->dsts[0].var;
  return first->mems[0].base.var == v || (first->guard.kind == REF_VAR && first->guard.var == v);
}

bool c_initial_value(const NestStmt *x) {
  const NestStmt *load = x->next;
  return x->code == NEST_MOV && x->srcs[0].kind != REF_VAR && !x->guard.kind && load &&
         load->code == NEST_LD && load->guard.kind && same_reference(&x->dsts[0], &load->dsts[0]);
}

/* A statement that may run before stores and after loads beside it: it computes a value that has no
 * other definition, or asks for memory.  Lanes that go together need no barriers. */
static bool is_passed(const Gen *g, const NestStmt *x) {
  const unsigned barred = NEST_IS_WRITE | NEST_IS_ORDERED | NEST_IS_EFFECT;
  if (x->code == NEST_BAR || x->code == NEST_PREFETCH || c_initial_value(x)) return true;
  return !x->nregions && !x->nmems && !(nest_flags(x) & barred) && x->ndsts == 1 &&
         g->at_definition[x->dsts[0].var->id];
}

const NestStmt *c_next_column(const Gen *g, const NestStmt *s) {
  const NestStmt *next = s->next;
  while (next && is_passed(g, next)) next = next->next;
  return next;
}

/* A value that is computed where the first of a pair is loaded, whatever comes in between. */
static bool is_loadable_early(const Gen *g, const NestStmt *load) {
  const NestVar *v = load->dsts[0].var;
  if (!load->guard.kind) return g->at_definition[v->id];
  return g->filled[v->id] || (load->prev && c_initial_value(load->prev));
}

/* Does x set the variable of the load's address or guard? */
static bool sets_place(const NestStmt *x, const NestStmt *load) {
  const Ref *base = &load->mems[0].base, *guard = &load->guard;
  return (base->kind == REF_VAR && nest_sets(x, base->var)) ||
         (guard->kind == REF_VAR && nest_sets(x, guard->var));
}

const NestStmt *c_partner(const Gen *g, const NestStmt *s) {
  enum { FAR = 64 }; /* statements that are looked at */
  const unsigned barred = NEST_IS_WRITE | NEST_IS_ORDERED | NEST_IS_EFFECT;
  if (s->code != NEST_LD || !is_column(g, s) || c_columns(g, s) != 2) return NULL;
  const NestStmt *x = s->next;
  for (int n = 0; x && n < FAR; x = x->next, n++) {
    if (x->nregions || x->code == NEST_BAR || (nest_flags(x) & barred)) return NULL;
    if (x->code == NEST_LD && is_column(g, x) && follows(s, x))
      return is_loadable_early(g, x) && !feeds(s, x) ? x : NULL;
    if (sets_place(x, s)) return NULL;
  }
  return NULL;
}

const NestStmt *c_last_column(const Gen *g, const NestStmt *first) {
  const NestStmt *s = first;
  if (!is_column(g, first)) return NULL;
  for (int i = 1; i < c_columns(g, first); i++) {
    const NestStmt *next = c_next_column(g, s);
    if (feeds(s, first) || !next || !is_column(g, next) || !follows(s, next)) return NULL;
    s = next;
  }
  return s;
}
