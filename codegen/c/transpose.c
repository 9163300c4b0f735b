/* Copies that exchange rows and columns.  A loop that stores a vector's lanes in rows `step` bytes
 * apart, each iteration one element after the last,
 *
 *   unroll b:128 { %x = ld [%p + 4096*b]; st [@X + %lane576 + 4*b], %x }
 *
 * is printed as blocks of LANES iterations, whose vectors are transposed in registers: then LANES
 * stores of whole vectors take the place of LANES * LANES stores of elements. */
#include "codegen/c/c.h"

static int64_t coefficient_of(const Affine *x, const NestIndex *index) {
  for (int i = 0; i < x->n; i++)
    if (x->t[i].index == index) return x->t[i].coef;
  return 0;
}

static bool is_whole_register(DType t) {
  return t == DT_F32 || t == DT_I32 || t == DT_U32 || t == DT_F64 || t == DT_I64 || t == DT_U64;
}

/* Lanes are rows, and an iteration stores the element after the last one's in each. */
static bool stores_column(const Gen *g, const NestStmt *loop, const NestStmt *st) {
  if (st->code != NEST_ST || st->guard.kind || nest_int(st, NA_n, 1) != 1) return false;
  const Mem *m = &st->mems[0];
  int64_t bytes = dtype_bytes(st->type);
  Spread at = c_mem_spread(g, m);
  bool rows = at.kind == SPREAD_LINEAR && at.step && at.step % bytes == 0 && at.step != bytes;
  bool same = m->base.kind == REF_VAR && !coefficient_of(&m->base.sub, loop->index);
  return m->buffer && rows && same && is_whole_register(st->type) &&
         coefficient_of(&m->bytes, loop->index) == bytes &&
         at.step >= bytes * loop->index->extent &&
         c_ref_spread(g, &st->srcs[0]).kind == SPREAD_VECTOR;
}

/* Statements that may all run before the block's stores. */
static bool comes_before(const NestStmt *x, const NestStmt *st) {
  const unsigned barred = NEST_IS_WRITE | NEST_IS_ORDERED | NEST_IS_EFFECT;
  if (x->nregions || nest_flags(x) & barred) return false;
  for (uint32_t i = 0; i < x->nmems; i++)
    if (x->mems[i].buffer) return false;
  for (uint32_t i = 0; i < x->ndsts; i++)
    if (x->dsts[i].var == st->mems[0].base.var) return false;
  return true;
}

const NestStmt *c_transposed_store(const Gen *g, const NestStmt *loop) {
  const NestStmt *st = loop->regions[0]->last;
  if (loop->code != NEST_UNROLL || loop->nsrcs || loop->index->extent % g->nest->lanes) return NULL;
  if (!st || !stores_column(g, loop, st)) return NULL;
  for (const NestStmt *x = loop->regions[0]->first; x != st; x = x->next)
    if (!comes_before(x, st)) return NULL;
  return st;
}
