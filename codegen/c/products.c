/* Loops that the unit for tiles of matrices computes: see TileLoop in c.h.
 *
 * A tile is MACHINE_TILE rows of as many words: of the left operand's rows as they are in memory,
 * of the right one's vectors, which follow each other along k.  The loop becomes a call of a helper
 * (prelude_tiles.c), which computes the same by vectors where a process gets no tiles. */
#include <math.h>

#include "codegen/c/c.h"

enum { WORD = 4 };

/* ---- which loops ---- */

/* Lanes run together, so a barrier is nothing. */
static const NestStmt *after_barriers(const NestStmt *s) {
  while (s && s->code == NEST_BAR) s = s->next;
  return s;
}

/* The one statement of an unrolled loop, or the statement itself. */
static const NestStmt *unrolled(const NestStmt *s, NestIndex **index) {
  *index = NULL;
  if (!s || s->code != NEST_UNROLL || s->nsrcs) return s;
  *index = s->index;
  const NestStmt *first = s->regions[0]->first;
  return first && !first->next ? first : NULL;
}

static bool is_subscript(const Affine *a, const NestIndex *index) {
  if (a->c || a->n != (index ? 1 : 0)) return false;
  return !index || (a->t[0].index == index && a->t[0].coef == 1);
}

static int64_t coefficient(const Affine *a, const NestIndex *index) {
  return index ? affine_coef(a, index) : 0;
}

static bool base_is(const Mem *m, const NestVar *v) {
  return m->base.kind == REF_VAR && m->base.var == v;
}

static bool base_depends_on(const Mem *m, const NestIndex *index) {
  return m->base.kind == REF_VAR && coefficient(&m->base.sub, index);
}

/* Loads words, element `index` of an array. */
static bool loads_words(const NestStmt *s, const NestIndex *index) {
  return s && s->code == NEST_LD && !s->guard.kind && nest_int(s, NA_n, 1) == 1 &&
         !nest_int(s, NA_volatile, 0) && dtype_bits(s->type) == 8 * WORD &&
         is_subscript(&s->dsts[0].sub, index);
}

static bool is_operand(const Ref *r, const NestStmt *load, const NestIndex *index) {
  return r->kind == REF_VAR && r->var == load->dsts[0].var && is_subscript(&r->sub, index);
}

static bool same_extent(const NestIndex *a, const NestIndex *b) {
  return (a ? a->extent : 1) == (b ? b->extent : 1);
}

static bool adds_products(const TileLoop *t) {
  const NestStmt *s = t->product;
  if (!s || s->code != NEST_OP || (s->op != TILE_DOT2 && s->op != TILE_DOT4)) return false;
  const Ref *to = &s->dsts[0], *sum = &s->srcs[2];
  return !s->guard.kind && is_operand(&s->srcs[0], t->left, t->sum_row) &&
         is_operand(&s->srcs[1], t->right, t->sum_vector) && same_extent(t->row, t->sum_row) &&
         same_extent(t->vector, t->sum_vector) && sum->kind == REF_VAR && sum->var == to->var &&
         affine_eq(&sum->sub, &to->sub) && !affine_coef(&to->sub, t->loop->index);
}

/* A row's words follow each other along k and are the same in all lanes; a vector's lanes are
 * neighbours. */
static bool has_tiles_in_memory(const Gen *g, const TileLoop *t) {
  const NestIndex *k = t->loop->index;
  const Mem *a = &t->left->mems[0], *b = &t->right->mems[0];
  Spread at = c_mem_spread(g, b);
  bool fixed = !base_depends_on(a, k) && !base_depends_on(b, k) && !base_depends_on(b, t->vector);
  return fixed && c_uniform(c_mem_spread(g, a)) && affine_coef(&a->bytes, k) == WORD &&
         at.kind == SPREAD_LINEAR && at.step == WORD &&
         g->spread[t->product->dsts[0].var->id].kind == SPREAD_VECTOR;
}

static uint32_t occurrences(const NestBlock *b, const NestVar *v) {
  uint32_t n = 0;
  for (const NestStmt *s = b->first; s; s = s->next) {
    for (uint32_t i = 0; i < s->ndsts; i++) n += s->dsts[i].var == v;
    for (uint32_t i = 0; i < s->nsrcs; i++) n += s->srcs[i].kind == REF_VAR && s->srcs[i].var == v;
    for (uint32_t i = 0; i < s->nmems; i++) n += base_is(&s->mems[i], v);
    n += s->guard.kind == REF_VAR && s->guard.var == v;
    for (uint32_t r = 0; r < s->nregions; r++) n += occurrences(s->regions[r], v);
  }
  return n;
}

/* Nothing else reads the words that were loaded. */
static bool is_only_reader(const Gen *g, const TileLoop *t) {
  enum { HERE = 2 };
  const NestVar *left = t->left->dsts[0].var, *right = t->right->dsts[0].var;
  return left != right && occurrences(g->nest->body, left) == HERE &&
         occurrences(g->nest->body, right) == HERE;
}

bool c_tile_loop(const Gen *g, const NestStmt *loop, TileLoop *t) {
  if (!g->tiles || g->owners || loop->code != NEST_SERIAL || loop->nsrcs) return false;
  if (loop->index->extent < MACHINE_TILE) return false;
  const NestStmt *s = after_barriers(loop->regions[0]->first);
  *t = (TileLoop){.loop = loop};
  t->left = unrolled(s, &t->row);
  if (!loads_words(t->left, t->row)) return false;
  s = after_barriers(s->next);
  t->right = unrolled(s, &t->vector);
  if (!loads_words(t->right, t->vector)) return false;
  s = after_barriers(s->next);
  if (!s || after_barriers(s->next)) return false;
  t->product = s;
  if (t->row) t->product = unrolled(t->product, &t->sum_row);
  if (t->vector) t->product = unrolled(t->product, &t->sum_vector);
  return adds_products(t) && has_tiles_in_memory(g, t) && is_only_reader(g, t);
}

/* ---- the call ---- */

static int extent_of(const NestIndex *index) { return index ? index->extent : 1; }

/* The address for the first vector, at k = 0. */
static const char *right_address(Gen *g, const TileLoop *t) {
  Mem m = t->right->mems[0];
  affine_drop(&m.bytes, t->loop->index);
  if (t->vector) affine_drop(&m.bytes, t->vector);
  return c_address(g, &m, false);
}

static const char *first_sum(Gen *g, const TileLoop *t) {
  Ref r = t->product->dsts[0];
  if (t->sum_row) affine_drop(&r.sub, t->sum_row);
  if (t->sum_vector) affine_drop(&r.sub, t->sum_vector);
  return c_ref_name(g, &r);
}

/* The addresses of all rows at k = 0. */
static void put_rows(Gen *g, const TileLoop *t, const char *rows) {
  Mem m = t->left->mems[0];
  affine_drop(&m.bytes, t->loop->index);
  c_line(g, "char *%s[%d];", rows, extent_of(t->row));
  if (!t->row) {
    c_line(g, "%s[0] = %s;", rows, c_address(g, &m, false));
    return;
  }
  const char *i = c_open_index(g, t->row);
  c_line(g, "for (int %s = 0; %s < %d; %s++) %s[%s] = %s;", i, i, t->row->extent, i, rows, i,
         c_address(g, &m, false));
  c_close_index(g, t->row);
}

static void put_call(Gen *g, const TileLoop *t) {
  const Affine *sum = &t->product->dsts[0].sub, *bytes = &t->right->mems[0].bytes;
  const int64_t vector = WORD * g->nest->lanes;
  const char *rows = c_open_name(g, "rows");
  c_line(g, "{");
  g->depth++;
  put_rows(g, t, rows);
  c_line(g, "tiles_%s_i32(&(TileProduct){", tile_op_name(t->product->op));
  c_line(g, "    .rows = %d, .vectors = %d, .depth = %d, .left = %s,", extent_of(t->row),
         extent_of(t->vector), t->loop->index->extent, rows);
  c_line(g, "    .right = %s, .right_row = %lld, .right_vector = %lld,", right_address(g, t),
         (long long)affine_coef(bytes, t->loop->index), (long long)coefficient(bytes, t->vector));
  c_line(g, "    .sums = (char *)&%s, .sums_row = %lld, .sums_vector = %lld,", first_sum(g, t),
         (long long)(vector * coefficient(sum, t->sum_row)),
         (long long)(vector * coefficient(sum, t->sum_vector)));
  c_line(g, "    .streams = %s});", t->right->mems[0].buffer ? "false" : "true");
  g->depth--;
  c_line(g, "}");
  c_close_names(g, 1);
  g->block += c_count_blocks(t->loop->regions[0]);
}

void c_serial(Gen *g, const NestStmt *s) {
  TileLoop t;
  if (c_tile_loop(g, s, &t)) put_call(g, &t);
  else c_counted_loop(g, s);
}

/* 16 tiles of 16 rows by 16 words by a vector take 256 cycles. */
double c_tiles_ns(const TileLoop *t) {
  const double PRODUCT_NS = 6, CALL_NS = 60;
  double tiles = ceil((double)extent_of(t->row) / MACHINE_TILE) * extent_of(t->vector);
  return CALL_NS + PRODUCT_NS * tiles * ceil((double)t->loop->index->extent / MACHINE_TILE);
}
