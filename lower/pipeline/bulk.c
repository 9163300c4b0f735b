#include "lower/pipeline/bulk.h"

#include "lower/target/wgmma_layout.h"

enum { MBARRIER_BYTES = 8, MOST_BOX = 256, LEAST_ROW = 32 };

/* ---- which loads ---- */

/* The contiguous axis of a buffer in a layout of swizzled rows (wgmma_layout.h); -1: it has another
 * layout. */
static int swizzled_axis(const NestBuffer *b) {
  int64_t bytes;
  if (!wgmma_fits(&b->tile, 0) && !wgmma_fits(&b->tile, 1)) return -1;
  for (int fast = 0; fast < 2; fast++) {
    if (b->tile.shape[fast] * dtype_bytes(b->dtype) % LEAST_ROW) continue;
    Layout l = wgmma_layout(&b->tile, fast, &bytes);
    if (layout_eq(&l, &b->layout)) return fast;
  }
  return -1;
}

static int64_t row_bytes(const Layout *l) {
  enum { CHUNK_BITS = 4 };
  return INT64_C(1) << (l->xor_bits + CHUNK_BITS);
}

/* The axis of the loaded tile that is the buffer's contiguous one; it may hold the transpose.  -1:
 * neither is. */
static int loaded_axis(const NestBuffer *b, int fast, const NestStmt *load, const NestStmt *store) {
  const Affine *to = &store->regions[0]->first->mems[0].bytes;
  const int32_t *has = load->layout->shape, *holds = b->tile.shape;
  for (int i = 0; i < 2; i++) {
    bool contiguous = affine_coef(to, store->axes[i]) == dtype_bytes(b->dtype) &&
                      affine_coef(to, store->axes[1 - i]) == row_bytes(&b->layout);
    if (contiguous && has[i] == holds[fast] && has[1 - i] == holds[1 - fast]) return i;
  }
  return -1;
}

/* Is the operand 16 columns of 16 bits (or as many bytes of others) along a long step?  A row of a
 * box is a request of its own, of 32 bytes as of 128, so that threads copy these faster: one of
 * 16x4096x4096 took 18.6 us in boxes of 256 rows and 17.3 by threads on an H200, of 64 rows 19.0
 * and 21.3. */
static bool has_many_narrow_rows(const NestBuffer *b, int fast, const NestStmt *loop) {
  enum { NARROW = 32, MANY = 128 };
  const NestStmt *st = loop->regions[0]->first;
  while (st && (st->code != NEST_DOT || (st->mems[0].buffer != b && st->mems[1].buffer != b)))
    st = st->next;
  int summed = st && st->mems[0].buffer == b; /* the axis of k */
  return st && fast != summed && b->tile.shape[summed] >= MANY && row_bytes(&b->layout) <= NARROW;
}

bool bulk_load(BulkLoad *out, const Definitions *d, const NestStmt *loop, const NestStmt *load,
               const NestStmt *store) {
  NestBuffer *b = store->regions[0]->first->mems[0].buffer;
  int fast = b->tile.rank == 2 ? swizzled_axis(b) : -1;
  if (fast < 0 || load->layout->rank != 2) return false;
  int from = loaded_axis(b, fast, load, store);
  int64_t size = dtype_bytes(b->dtype), row = row_bytes(&b->layout);
  if (from < 0 || has_many_narrow_rows(b, fast, loop)) return false;
  *out = (BulkLoad){.buffer = b, .access.fast = from};
  if (!box_access(&out->access, d, loop, load) || out->access.map.dtype != b->dtype) return false;
  MapAxis *axes = out->access.map.axes;
  out->access.map.span = load->span;
  axes[0].box = (int32_t)(row / size);
  out->panels = b->tile.shape[fast] / axes[0].box;
  out->panel_bytes = row * b->tile.shape[1 - fast];
  for (int i = 1; i <= out->access.digits; i++)
    if (axes[i].box > MOST_BOX) return false;
  return true;
}

/* ---- the ring ---- */

static NestStmt *mbarrier(const BulkRing *r, NestBuilder *b, NestCode code, Ref offset,
                          int64_t bytes) {
  NestStmt *st = nest_stmt(b, code, 0, code == NEST_MBAR_WAIT);
  st->mems[0] = (Mem){r->full, offset, affine_const(bytes)};
  return st;
}

static Ref mbarrier_offset(NestBuilder *b, NestVar *slot) {
  Ref v = ref_var(nest_var(b->nest, "at", DT_I32, DT_NONE, 1, true));
  v.var->div = MBARRIER_BYTES;
  nest_op(b, TILE_MUL, DT_I32, v, ref_var(slot), ref_int(MBARRIER_BYTES), ref_none());
  return v;
}

static NestBuffer *make_mbarriers(NestBuilder *top, const char *name, int slots, int count) {
  int64_t bytes = (int64_t)MBARRIER_BYTES * slots;
  BulkRing r = {.full = nest_buffer(top->nest, name, DT_I64, bytes, MBARRIER_BYTES)};
  r.full->slots = slots;
  for (int i = 0; i < slots; i++) {
    NestStmt *st = mbarrier(&r, top, NEST_MBAR_INIT, ref_none(), (int64_t)MBARRIER_BYTES * i);
    nest_set_int(top->nest, st, NA_count, count);
  }
  return r.full;
}

void bulk_start(BulkRing *rings, int count, NestBuilder *top, int slots, bool arrive) {
  Nest *n = top->nest;
  bool more = top->before && top->before->code == NEST_MBAR_INIT; /* of another loop */
  NestVar *phase = nest_var(n, "phase", DT_I32, DT_NONE, 1, true);
  NestVar *turn = nest_var(n, "turn", DT_I32, DT_NONE, 1, true);
  for (int i = 0; i < count; i++) {
    rings[i].phase = phase;
    rings[i].turn = turn;
    rings[i].full = make_mbarriers(top, "full", slots, 1);
  }
  if (arrive) rings[count - 1].empty = make_mbarriers(top, "empty", slots, n->warps);
  if (!more) nest_set_str(n, nest_stmt(top, NEST_FENCE, 0, 0), NA_kind, "proxy");
  if (!more) nest_stmt(top, NEST_BAR, 0, 0);
  nest_mov(top, ref_var(phase), ref_int(0), DT_I32);
}

void bulk_declare(BulkRing *r, Nest *n, BulkLoad *x) {
  x->map = nest_map(n, &x->access.map);
  r->bytes += x->panels * x->panel_bytes;
}

void bulk_expect(const BulkRing *r, NestBuilder *b, NestVar *slot, NestVar *more) {
  NestStmt *st = mbarrier(r, b, NEST_MBAR_EXPECT, mbarrier_offset(b, slot), 0);
  nest_set_int(b->nest, st, NA_tx, r->bytes);
  if (more) st->guard = ref_var(more);
}

/* ---- copies ---- */

static Ref combine(NestBuilder *b, TileCode op, Ref x, Ref y) {
  Ref v = ref_var(nest_var(b->nest, NULL, DT_I32, DT_NONE, 1, true));
  nest_op(b, op, DT_I32, v, x, y, ref_none());
  return v;
}

static Ref as_i32(NestBuilder *b, Ref x) {
  if (x.var->dtype == DT_I32) return x;
  Ref v = ref_var(nest_var(b->nest, NULL, DT_I32, DT_NONE, 1, true));
  nest_op(b, TILE_CAST, x.var->dtype, v, x, ref_none(), ref_none())->to = DT_I32;
  return v;
}

static Ref symbol_value(NestBuilder *b, const Product *p, NestVar *turn, NestVar *const *ahead) {
  if (p->kind == SYMBOL_TURN) return ref_var(turn);
  return as_i32(b, ref_var(ahead && ahead[p->var->id] ? ahead[p->var->id] : p->var));
}

static Ref product_value(NestBuilder *b, const Product *p, NestVar *turn, NestVar *const *ahead) {
  Ref v = p->kind ? symbol_value(b, p, turn, ahead) : ref_int(p->coef);
  if (p->kind && p->coef != 1) v = combine(b, TILE_MUL, v, ref_int(p->coef));
  for (int i = 0; i < MAX_FACTORS && p->factors[i]; i++)
    v = combine(b, TILE_MUL, v, as_i32(b, ref_var(p->factors[i])));
  return v;
}

Ref bulk_coordinate(NestBuilder *b, const Sum *s, NestVar *turn, NestVar *const *ahead) {
  Ref sum = ref_int(0);
  for (int i = 0; i < s->n; i++) {
    Ref v = product_value(b, &s->t[i], turn, ahead);
    sum = i ? combine(b, TILE_ADD, sum, v) : v;
  }
  return sum;
}

Ref bulk_box(NestBuilder *b, const MapAxis *axis, Ref first, int n) {
  if (!n) return first;
  return combine(b, TILE_ADD, first, ref_int((int64_t)n * axis->box));
}

void bulk_copy(const BulkRing *r, NestBuilder *b, const BulkLoad *x, Ref at, NestVar *slot,
               NestVar *more, NestVar *const *ahead) {
  const TensorMap *m = &x->access.map;
  Ref first[MAX_MAP_RANK], full = mbarrier_offset(b, slot);
  for (int i = 0; i < m->rank; i++)
    first[i] = bulk_coordinate(b, &x->access.at[i], r->turn, ahead);
  for (int k = 0; k < x->panels; k++) {
    Ref along = bulk_box(b, &m->axes[0], first[0], k);
    NestStmt *st = nest_stmt(b, NEST_BULK_COPY, 0, (uint32_t)m->rank);
    for (int i = 0; i < m->rank; i++) st->srcs[i] = i ? first[i] : along;
    st->mems[0] = (Mem){x->buffer, at, affine_const(k * x->panel_bytes)};
    st->mems[1] = (Mem){r->full, full, affine_const(0)};
    if (more) st->guard = ref_var(more);
    nest_set_str(b->nest, st, NA_map, x->map->name);
  }
}

void bulk_wait(const BulkRing *r, NestBuilder *b, NestVar *slot) {
  mbarrier(r, b, NEST_MBAR_WAIT, mbarrier_offset(b, slot), 0)->srcs[0] = ref_var(r->phase);
}

void bulk_release(const BulkRing *r, NestBuilder *b, NestVar *slot) {
  mbarrier(r, b, NEST_MBAR_ARRIVE, mbarrier_offset(b, slot), 0)->mems[0].buffer = r->empty;
}

void bulk_wait_empty(const BulkRing *r, NestBuilder *b, NestVar *slot, NestVar *phase,
                     NestVar *more) {
  NestStmt *st = mbarrier(r, b, NEST_MBAR_WAIT, mbarrier_offset(b, slot), 0);
  st->mems[0].buffer = r->empty;
  st->srcs[0] = ref_var(phase);
  st->guard = ref_var(more);
}

void bulk_next_phase(const BulkRing *r, NestBuilder *b, Ref wraps) {
  Ref other = combine(b, TILE_XOR, ref_var(r->phase), ref_int(1));
  nest_op(b, TILE_SELECT, DT_I32, ref_var(r->phase), wraps, other, ref_var(r->phase));
}
