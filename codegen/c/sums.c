/* Where a block of sums (products.c) begins as zeros, and ends in memory, in the same block of
 * statements:
 *
 *   unroll a:6 { unroll b:4 { %acc[4*a + b] = 0.0 } }
 *   serial k:256 { .. %acc[4*a + b] = fma .. }
 *   unroll a:6 { unroll b:4 { st [%out[a] + 64*b], %acc[4*a + b] if %live[a] } }
 *
 * The function that adds up the products makes the zeros, and stores the sums of whole vectors, so
 * that they are in registers alone.  Its call is where the stores were: what is computed between
 * the loop and the stores comes before it, since that writes neither memory nor what the call
 * reads. */
#include <math.h>

#include "codegen/c/c.h"

/* ---- statements around a loop ---- */

enum { LOOPS = 2 };

/* The only statement of loops that are counted, which may be two, and their indices. */
typedef struct {
  const NestStmt *s;
  const NestIndex *at[LOOPS];
  int depth;
} Only;

static bool only_statement(const NestStmt *s, Only *out) {
  *out = (Only){0};
  while (s->code == NEST_UNROLL || s->code == NEST_SERIAL) {
    const NestStmt *first = s->regions[0]->first;
    if (s->nsrcs || out->depth == LOOPS || !first || first->next) return false;
    out->at[out->depth++] = s->index;
    s = first;
  }
  out->s = s;
  return out->depth > 0;
}

static bool mentions_ref(const Ref *r, const NestVar *v) {
  return r->kind == REF_VAR && r->var == v;
}

static bool mentions(const NestStmt *s, const NestVar *v) {
  bool any = mentions_ref(&s->guard, v);
  for (uint32_t i = 0; i < s->ndsts; i++) any |= s->dsts[i].var == v;
  for (uint32_t i = 0; i < s->nsrcs; i++) any |= mentions_ref(&s->srcs[i], v);
  for (uint32_t i = 0; i < s->nmems; i++) any |= mentions_ref(&s->mems[i].base, v);
  for (uint32_t r = 0; r < s->nregions; r++)
    for (const NestStmt *x = s->regions[r]->first; x; x = x->next) any |= mentions(x, v);
  return any;
}

static int64_t numbers_of(const Only *x) {
  int64_t n = 1;
  for (int i = 0; i < x->depth; i++) n *= x->at[i]->extent;
  return n;
}

/* ---- zeros ---- */

static int extent_of(const NestIndex *index) { return index ? index->extent : 1; }

static bool is_zero(const Ref *r) { return r->kind == REF_FLOAT && r->f == 0 && !signbit(r->f); }

static bool is_integer_zero(const Ref *r) {
  return r->kind == REF_AFFINE && !r->sub.n && !r->sub.c;
}

/* The only statement in loops that mentions the variable; false: there are several, or it is in no
 * loop. */
static bool statement_of(const NestStmt *s, const NestVar *v, Only *out) {
  *out = (Only){0};
  while (s->code == NEST_UNROLL || s->code == NEST_SERIAL) {
    const NestStmt *found = NULL;
    if (s->nsrcs || out->depth == LOOPS) return false;
    out->at[out->depth++] = s->index;
    for (const NestStmt *x = s->regions[0]->first; x; x = x->next) {
      if (!mentions(x, v)) continue;
      if (found) return false;
      found = x;
    }
    if (!found) return false;
    s = found;
  }
  out->s = s;
  return out->depth > 0;
}

/* Does it write zeros to all of the variable, once each?  `x` has the statement, which may be
 * beside others. */
static bool makes_zeros(const NestStmt *s, const NestVar *v, Only *out) {
  if (!statement_of(s, v, out) || numbers_of(out) != (int64_t)v->count) return false;
  const Only x = *out;
  bool moves = x.s->code == NEST_MOV && nest_int(x.s, NA_n, 1) == 1 && !x.s->guard.kind;
  if (!moves || x.s->dsts[0].var != v) return false;
  int64_t reach = 1;
  const Affine *to = &x.s->dsts[0].sub;
  for (int i = x.depth - 1; i >= 0; i--) {
    if (affine_coef(to, x.at[i]) != reach) return false;
    reach *= x.at[i]->extent;
  }
  return !to->c && (is_zero(&x.s->srcs[0]) || is_integer_zero(&x.s->srcs[0]));
}

/* A block's sums, and the loops over blocks that have nothing else. */
typedef struct {
  const NestStmt *outermost;
  const NestIndex *at[LOOPS + 2];
  int depth;
} Blocks;

static void add_index(Blocks *x, const NestIndex *index) {
  if (index) x->at[x->depth++] = index;
}

static Blocks blocks_of(const ProductLoop *t) {
  Blocks x = {.outermost = t->loop};
  add_index(&x, t->sum_row);
  add_index(&x, t->sum_vector);
  for (int i = 0; i < LOOPS; i++) {
    const NestBlock *b = x.outermost->parent;
    const NestStmt *loop = b->owner;
    bool only = loop && loop->code == NEST_SERIAL && !loop->nsrcs && b->first == b->last;
    if (!only) break;
    add_index(&x, loop->index);
    x.outermost = loop;
  }
  return x;
}

/* Are the blocks' sums all of the variable, each once? */
static bool are_all_sums(const Blocks *x, const Ref *sum) {
  int64_t reach = 1, all = 1;
  for (int i = 0; i < x->depth; i++) all *= x->at[i]->extent;
  for (int n = 0; n < x->depth; n++) {
    int i = 0;
    while (i < x->depth && (x->at[i]->extent == 1 || affine_coef(&sum->sub, x->at[i]) != reach))
      i++;
    if (i < x->depth) reach *= x->at[i]->extent;
  }
  return reach == all && all == (int64_t)sum->var->count && !sum->sub.c;
}

/* The loops that make zeros, or their statement in loops of several; NULL: there are none, or the
 * products' sums are not all of them. */
static const NestStmt *zeros_before(const ProductLoop *t) {
  const Ref *sum = &t->product->dsts[0];
  const Blocks blocks = blocks_of(t);
  const NestStmt *s = blocks.outermost->prev;
  while (s && !mentions(s, sum->var)) s = s->prev;
  Only zeros, only;
  if (!are_all_sums(&blocks, sum) || !s || !makes_zeros(s, sum->var, &zeros)) return NULL;
  return only_statement(s, &only) ? s : zeros.s;
}

/* ---- stores ---- */

static bool computes(const NestStmt *s) {
  bool plain = s->code == NEST_OP || s->code == NEST_MOV || s->code == NEST_LANE ||
               s->code == NEST_BAR || (s->code == NEST_UNROLL && !s->nsrcs) ||
               (s->code == NEST_LD && !nest_int(s, NA_volatile, 0));
  for (uint32_t r = 0; plain && r < s->nregions; r++)
    for (const NestStmt *x = s->regions[r]->first; x; x = x->next) plain &= computes(x);
  return plain;
}

/* Does s, or what is in it, write a variable that the loop mentions? */
static bool changes(const NestStmt *s, const NestStmt *loop) {
  bool any = false;
  for (uint32_t i = 0; i < s->ndsts; i++) any |= mentions(loop, s->dsts[i].var);
  for (uint32_t r = 0; r < s->nregions; r++)
    for (const NestStmt *x = s->regions[r]->first; x; x = x->next) any |= changes(x, loop);
  return any;
}

static int64_t coefficient(const Affine *a, const NestIndex *index) {
  return index ? affine_coef(a, index) : 0;
}

/* Are the store's loops those of the rows and vectors of the sums?  It notes them. */
static bool has_same_sums(const ProductLoop *t, const Only *x, ProductSums *out) {
  const Affine *sum = &t->product->dsts[0].sub, *from = &x->s->srcs[0].sub;
  const int rows = extent_of(t->row), vectors = extent_of(t->vector);
  const int64_t row = coefficient(sum, t->sum_row);
  out->row = out->vector = NULL;
  for (int i = 0; i < x->depth; i++) {
    const NestIndex *at = x->at[i];
    if (!out->row && rows > 1 && at->extent == rows && affine_coef(from, at) == row) out->row = at;
    else if (!out->vector && at->extent == vectors && affine_coef(from, at) == 1) out->vector = at;
    else return false;
  }
  return !from->c && (rows == 1) == !out->row && (vectors == 1) == !out->vector;
}

/* A row's vectors are neighbours, and one guard is for all of them. */
static bool stores_rows(const Gen *g, const NestStmt *st, const ProductSums *sums) {
  const NestIndex *vector = sums->vector;
  const Mem *m = &st->mems[0];
  const int64_t bytes = dtype_bytes(st->type);
  Spread at = c_mem_spread(g, m);
  bool whole = at.kind == SPREAD_LINEAR && at.step == bytes && nest_int(st, NA_n, 1) == 1;
  bool beside = !vector || affine_coef(&m->bytes, vector) == bytes * g->nest->lanes;
  bool fixed = m->base.kind != REF_VAR || !coefficient(&m->base.sub, vector);
  const Ref *live = &st->guard;
  bool one = !live->kind || (live->kind == REF_VAR && !coefficient(&live->sub, vector) &&
                             c_uniform(c_ref_spread(g, live)));
  return whole && beside && fixed && one && !m->buffer;
}

static uint32_t mentioned(const NestBlock *b, const NestVar *v) {
  uint32_t n = 0;
  for (const NestStmt *s = b->first; s; s = s->next) {
    if (!s->nregions) n += mentions(s, v);
    for (uint32_t r = 0; r < s->nregions; r++) n += mentioned(s->regions[r], v);
  }
  return n;
}

/* The statement that stores all sums, after which nobody has them; NULL: there is none. */
static const NestStmt *store_after(const Gen *g, const ProductLoop *t, ProductSums *sums) {
  enum { ZEROS_PRODUCT_STORE = 3 };
  const NestVar *v = t->product->dsts[0].var;
  const NestStmt *s = t->loop->next;
  Only x;
  for (; s && !mentions(s, v); s = s->next)
    if (!computes(s) || changes(s, t->loop)) return NULL;
  if (!s || !only_statement(s, &x) || x.s->code != NEST_ST) return NULL;
  bool same = mentions_ref(&x.s->srcs[0], v) && x.s->type == t->product->type;
  if (!same || !has_same_sums(t, &x, sums) || !stores_rows(g, x.s, sums)) return NULL;
  sums->st = x.s;
  return mentioned(g->nest->body, v) == ZEROS_PRODUCT_STORE ? s : NULL;
}

/* ---- all loops of a program ---- */

static void find_sums(Gen *g, const NestBlock *b) {
  ProductLoop t;
  for (const NestStmt *s = b->first; s; s = s->next) {
    bool called = s->code == NEST_SERIAL && c_product_loop(g, s, &t);
    const NestStmt *zeros = called ? zeros_before(&t) : NULL;
    if (zeros) {
      ProductSums sums = {.loop = s, .zeros = zeros};
      if (!t.tiles) sums.store = store_after(g, &t, &sums);
      vec_push(g->arena, &g->sums, sums);
    }
    for (uint32_t r = 0; r < s->nregions; r++) find_sums(g, s->regions[r]);
  }
}

void c_find_sums(Gen *g) { find_sums(g, g->nest->body); }
