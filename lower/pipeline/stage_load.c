#include "lower/pipeline/stage_load.h"

/* How far apart in a warp neighbors along the axis are: in a thread's registers, in its lanes, or
 * beyond. */
static int neighbor_distance(const Layout *l, int axis) {
  enum { FAR = 1 << 16 };
  int least = FAR;
  for (int i = 0; i < l->ndigits; i++) {
    const Digit *d = &l->d[i];
    if (d->axis != axis) continue;
    int at = d->hw == HW_REG && d->stride == 1 ? 0 : d->hw == HW_LANE ? d->stride : FAR;
    if (at < least) least = at;
  }
  return least;
}

/* The place of a tile's element: axes along which a warp has neighbors are the inner ones, so that
 * its lanes reach different banks. */
static Affine place_of(const NestStmt *nest, int64_t size) {
  const Layout *l = nest->layout;
  Affine sum = affine_const(0);
  bool done[MAX_RANK] = {0};
  for (int n = 0; n < l->rank; n++) {
    int next = -1;
    for (int a = l->rank - 1; a >= 0; a--)
      if (!done[a] && (next < 0 || neighbor_distance(l, a) < neighbor_distance(l, next))) next = a;
    Affine term = affine_index(nest->axes[next], size);
    done[next] = true;
    if (l->shape[next] > 1) affine_add(&sum, &term);
    size *= l->shape[next];
  }
  return sum;
}

/* A NEST of the same axes. */
static NestStmt *like(Nest *n, NestBuilder *b, const NestStmt *nest) {
  NestStmt *c = nest_copy(b, nest);
  c->axes = ARENA_ARRAY(n->arena, NestIndex *, nest->layout->rank);
  for (int a = 0; a < nest->layout->rank; a++)
    c->axes[a] = nest_index(n, nest->axes[a]->name, nest->axes[a]->extent);
  nest_block(n, c);
  return c;
}

static Ref element_at(Nest *n, NestVar *v, const NestStmt *nest) {
  Ref r = ref_var(v);
  r.axes = ARENA_ARRAY(n->arena, Affine, v->tile.rank);
  for (int a = 0; a < v->tile.rank; a++)
    r.axes[a] = v->tile.shape[a] > 1 ? affine_index(nest->axes[a], 1) : affine_const(0);
  return r;
}

static void replace_reads(NestBlock *b, const NestVar *from, NestVar *to) {
  for (NestStmt *st = b->first; st; st = st->next) {
    for (uint32_t i = 0; i < st->nsrcs; i++)
      if (st->srcs[i].kind == REF_VAR && st->srcs[i].var == from) st->srcs[i].var = to;
    for (uint32_t r = 0; r < st->nregions; r++) replace_reads(st->regions[r], from, to);
  }
}

int64_t stage_bytes(const NestVar *loaded) {
  return type_numel(loaded->tile) * dtype_bytes(loaded->dtype);
}

NestStmt *stage_load(Nest *n, const NestStmt *loop, NestStmt *load, const NestStmt *ld) {
  enum { ALIGN = 16 };
  NestVar *v = ld->dsts[0].var, *own = nest_tile_var(n, v->name, v->tile, v->layout);
  int64_t size = dtype_bytes(v->dtype);
  NestBuffer *buf = nest_buffer(n, "ahead", v->dtype, stage_bytes(v), ALIGN);
  NestBuilder b = {n, load->parent, load->next, load->span};
  replace_reads(loop->regions[0], v, own);
  NestStmt *store = like(n, &b, load), *back = like(n, &b, load);
  NestBuilder in = {n, store->regions[0], NULL, load->span};
  NestStmt *to = nest_stmt(&in, NEST_ST, 0, 1);
  to->type = v->dtype;
  to->srcs[0] = element_at(n, v, store);
  to->mems[0] = (Mem){buf, ref_none(), place_of(store, size)};
  in.block = back->regions[0];
  NestStmt *from = nest_stmt(&in, NEST_LD, 1, 0);
  from->type = v->dtype;
  from->dsts[0] = element_at(n, own, back);
  from->mems[0] = (Mem){buf, ref_none(), place_of(back, size)};
  return store;
}
