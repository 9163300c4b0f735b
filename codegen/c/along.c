/* Products of few rows with an operand whose rows lie along the sum.
 *
 * A loop exchanges the operand's rows and columns in shared memory, so that a product's vectors
 * have a column in each lane (transpose.c, products.c):
 *
 *   unroll a:4 { unroll b:64 {
 *     %x = ld [%p + 64*a + 256*b]; st [@X + %lane320 + 5120*a + 4*b], %x } }
 *   serial k:64 { %l = ld [@Q + 4*k]; unroll v:4 { %r[v] = ld [@X + 320*k + 64*v] .. } .. }
 *
 * An exchange of LANES vectors takes LANES * log2(LANES) shuffles, which few rows do not pay for:
 * they multiply the vectors as they are loaded, by the left operand's along the sum, and LANES
 * vectors of partial sums become one of sums by LANES - 1 additions of two of them.  Such a loop is
 * printed so, the loop of products after it is no code, and nothing is in shared memory. */
#include "codegen/c/c.h"
#include "lower/nest/nest_access.h"

static int extent_of(const NestIndex *index) { return index ? index->extent : 1; }

/* ---- which loops ---- */

/* The only statement that writes the variable; NULL: there are several, or it is a parameter. */
static const NestStmt *definition(const NestBlock *b, const NestVar *v, int *n) {
  const NestStmt *found = NULL;
  for (const NestStmt *s = b->first; s; s = s->next) {
    for (uint32_t i = 0; i < s->ndsts; i++) {
      if (s->dsts[i].var != v) continue;
      found = s;
      (*n)++;
    }
    for (uint32_t r = 0; r < s->nregions; r++) {
      const NestStmt *within = definition(s->regions[r], v, n);
      if (within) found = within;
    }
  }
  return *n == 1 ? found : NULL;
}

/* Is it the lane's number, or that times a constant, so that it is 0 in lane 0? */
static bool is_of_lane(const Gen *g, const Ref *x) {
  int n = 0;
  const NestStmt *s = x->kind == REF_VAR ? definition(g->nest->body, x->var, &n) : NULL;
  if (!s || s->guard.kind) return false;
  bool times = s->code == NEST_OP && (s->op == TILE_MUL || s->op == TILE_SHL);
  return s->code == NEST_LANE || (times && is_of_lane(g, &s->srcs[0]));
}

/* Is the address `step` bytes a lane from the buffer's start, and so many more for each of both
 * indices, and nothing else? */
static bool is_place(const Gen *g, const Mem *m, int64_t step, const NestIndex *const at[2],
                     const int64_t bytes[2]) {
  Affine rest = m->bytes;
  if (m->base.kind != REF_VAR || m->base.sub.n || m->base.sub.c) return false;
  const Spread lanes = c_ref_spread(g, &m->base);
  for (int i = 0; i < 2; i++) {
    if (!at[i]) continue;
    if (at[i]->extent > 1 && affine_coef(&rest, at[i]) != bytes[i]) return false;
    affine_drop(&rest, at[i]);
  }
  return !rest.n && !rest.c && lanes.kind == SPREAD_LINEAR && lanes.step == step &&
         is_of_lane(g, &m->base);
}

/* How many accesses of the buffer are in a block. */
static int accesses(const NestBlock *b, const NestBuffer *buffer) {
  int n = 0;
  for (const NestStmt *s = b->first; s; s = s->next) {
    for (uint32_t i = 0; i < s->nmems; i++) n += s->mems[i].buffer == buffer;
    for (uint32_t r = 0; r < s->nregions; r++) n += accesses(s->regions[r], buffer);
  }
  return n;
}

/* A loop of products, or of nothing but blocks of vectors of one, in order. */
static bool find_blocks(const Gen *g, const NestStmt *s, AlongProduct *x) {
  const NestStmt *within = s->code == NEST_SERIAL && !s->nsrcs ? s->regions[0]->first : NULL;
  bool only = within && !within->next && within->code == NEST_SERIAL;
  *x = (AlongProduct){.at = s};
  if (s->code == NEST_SERIAL && c_product_loop(g, s, &x->product)) return true;
  if (!only || !c_product_loop(g, within, &x->product)) return false;
  const Mem *left = &x->product.left->mems[0], *right = &x->product.right->mems[0];
  const int64_t vector = (int64_t)dtype_bytes(x->product.right->type) * g->nest->lanes;
  bool moves = left->base.kind == REF_VAR && affine_coef(&left->base.sub, s->index);
  x->blocks = s->index;
  return !moves && !affine_coef(&left->bytes, s->index) &&
         affine_coef(&right->bytes, s->index) == vector * extent_of(x->product.vector);
}

/* Does a product of few rows take what the store puts into its buffer, element for element, and
 * nobody else? */
static bool takes_store(const Gen *g, const AlongLanes *x, const NestStmt *st, const NestStmt *s,
                        AlongProduct *out) {
  enum { STORE_AND_LOAD = 2, ROWS_MOST = 4 };
  if (!find_blocks(g, s, out) || out->product.tiles) return false;
  const ProductLoop *t = &out->product;
  const NestBuffer *buffer = st->mems[0].buffer;
  const Mem *right = &t->right->mems[0], *left = &t->left->mems[0];
  const ProductSums *sums = c_sums(g, t->loop);
  const int lanes = g->nest->lanes, strips = extent_of(x->strips);
  const int64_t bytes = dtype_bytes(st->type), row = affine_coef(&right->bytes, t->loop->index);
  const NestIndex *stored[] = {x->rows, x->strips};
  const NestIndex *loaded[] = {t->loop->index, t->vector};
  Mem first = *right;
  if (out->blocks) affine_drop(&first.bytes, out->blocks);
  bool words = t->product->op == TILE_DOT2, made = sums && sums->zeros && !sums->store;
  bool adds = words || (t->product->op == TILE_FMA && t->product->type == DT_F32);
  bool few = extent_of(t->row) <= ROWS_MOST && t->left->guard.kind == REF_NONE;
  bool same = right->buffer == buffer && left->buffer != buffer && t->right->type == st->type &&
              t->loop->index->extent == lanes * strips &&
              x->rows->extent == lanes * extent_of(t->vector) * extent_of(out->blocks);
  return adds && made && few && same &&
         affine_coef(&left->bytes, t->loop->index) == bytes &&
         is_place(g, &st->mems[0], row, stored, (int64_t[]){bytes, row * lanes}) &&
         is_place(g, &first, bytes, loaded, (int64_t[]){row, bytes * lanes}) &&
         accesses(g->nest->body, buffer) == STORE_AND_LOAD;
}

/* May the products be summed before s, where the loop of stores is?  It writes nothing of the left
 * operand or its address, and reads no sums. */
static bool stays_after(const Gen *g, const NestStmt *s, const ProductLoop *t) {
  const unsigned barred = NEST_IS_WRITE | NEST_IS_ORDERED | NEST_IS_EFFECT;
  const NestVar *sum = t->product->dsts[0].var;
  const Mem *left = &t->left->mems[0];
  if (s->code == NEST_BAR || s == c_sums(g, t->loop)->zeros) return true;
  if (s->nregions && s->code != NEST_UNROLL && s->code != NEST_SERIAL) return false;
  for (uint32_t r = 0; r < s->nregions; r++)
    for (const NestStmt *x = s->regions[r]->first; x; x = x->next)
      if (!stays_after(g, x, t)) return false;
  if (s->nregions) return true;
  bool apart = s->code == NEST_ST && s->mems[0].buffer && s->mems[0].buffer != left->buffer;
  bool plain = apart || !(nest_flags(s) & barred);
  bool moves = left->base.kind == REF_VAR && nest_sets(s, left->base.var);
  return plain && !moves && !nest_touches(s, sum);
}

/* The product that takes what the store puts, if it may be summed where the loop is. */
static bool find_product(const Gen *g, const AlongLanes *x, const NestStmt *st,
                         AlongProduct *out) {
  const NestStmt *s = x->loop->next;
  while (s && !takes_store(g, x, st, s, out)) s = s->next;
  for (const NestStmt *at = x->loop->next; s && at != s; at = at->next)
    if (!stays_after(g, at, &out->product)) return false;
  return s != NULL;
}

/* Does no iteration take what one before it computed, so that both loops may change places? */
static bool has_own_values(const Gen *g, const NestBlock *body) {
  for (const NestStmt *s = body->first; s; s = s->next)
    for (uint32_t i = 0; i < s->ndsts; i++)
      if (!g->at_definition[s->dsts[i].var->id] && !c_initial_value(s) &&
          !(s->prev && c_initial_value(s->prev)))
        return false;
  return true;
}

/* The outermost of the loops that exchange strips of rows, which have nothing else. */
static bool find_strips(Gen *g, const NestStmt *s, AlongLanes *x) {
  const NestStmt *within = s->code == NEST_UNROLL && !s->nsrcs ? s->regions[0]->first : NULL;
  bool nested = within && !within->next && within->code == NEST_UNROLL && !g->heads[g->block];
  *x = (AlongLanes){.loop = s, .rows = s->index};
  if (s->code == NEST_UNROLL) x->columns = c_transposed(g, s);
  if (x->columns.inner) x->strips = x->columns.inner->index;
  if (!x->columns.n && nested) {
    g->block++;
    x->columns = c_transposed(g, within);
    g->block--;
    x->rows = within->index;
    x->strips = s->index;
    if (x->columns.inner || !has_own_values(g, within->regions[0])) return false;
  }
  const Columns *c = &x->columns;
  return c->n && !c->guard && c->access[0]->code == NEST_ST &&
         x->rows->extent % g->nest->lanes == 0;
}

/* g->block is the next block's number, as while the program is printed. */
static void find_along(Gen *g, const NestBlock *b) {
  g->block++;
  for (const NestStmt *s = b->first; s; s = s->next) {
    AlongLanes *x = ARENA_NEW(g->arena, AlongLanes);
    bool whole = find_strips(g, s, x);
    for (int i = 0; i < x->columns.n && whole; i++)
      whole = find_product(g, x, x->columns.access[i], &x->of[i]);
    if (whole) {
      vec_push(g->arena, &g->along, x);
      g->holds_sums = true;
    }
    for (uint32_t r = 0; r < s->nregions; r++) find_along(g, s->regions[r]);
  }
}

void c_find_along(Gen *g) {
  find_along(g, g->nest->body);
  g->block = 0;
}
