#include <string.h>

#include "lower/build/build.h"

Open build_open(Build *s, const Layout *layout) {
  static const char *const axis_names[MAX_RANK] = {"i", "j", "k", "l", "m", "n", "o", "p"};
  Open o = {.outer = s->b.block, .outer_before = s->b.before, .outer_nest = s->current};
  o.stmt = nest_stmt(&s->b, NEST_NEST, 0, 0);
  o.stmt->layout = nest_layout(s->nest, layout);
  o.stmt->axes = ARENA_ARRAY(s->nest->arena, NestIndex *, layout->rank ? layout->rank : 1);
  for (int a = 0; a < layout->rank; a++) {
    o.stmt->axes[a] = nest_index(s->nest, axis_names[a], layout->shape[a]);
    o.axes[a] = affine_index(o.stmt->axes[a], 1);
  }
  s->b.block = nest_block(s->nest, o.stmt);
  s->b.before = NULL;
  s->current = ++s->nests;
  return o;
}

void build_close(Build *s, const Open *o) {
  s->b.block = o->outer;
  s->b.before = o->outer_before;
  s->current = o->outer_nest;
}

NestVar *build_temp(Build *s, DType t, DType elem) {
  return nest_var(s->nest, NULL, t, elem, 1, false);
}

Ref build_op(Build *s, TileCode code, DType type, Ref x, Ref y, Ref z) {
  bool compare = code >= TILE_LT && code <= TILE_NE;
  Ref dst = ref_var(build_temp(s, compare ? DT_I1 : type, DT_NONE));
  nest_op(&s->b, code, type, dst, x, y, z);
  return dst;
}

Ref build_cast(Build *s, Ref x, DType from, DType to) {
  Ref dst = ref_var(build_temp(s, to, DT_NONE));
  nest_op(&s->b, TILE_CAST, from, dst, x, ref_none(), ref_none())->to = to;
  return dst;
}

Ref build_tile_ref(Build *s, NestVar *v, const Affine *axes) {
  Ref r = ref_var(v);
  r.axes = ARENA_ARRAY(s->nest->arena, Affine, v->tile.rank);
  for (int a = 0; a < v->tile.rank; a++)
    r.axes[a] = v->tile.shape[a] == 1 ? affine_const(0) : axes[a];
  return r;
}

Ref build_scalar(Build *s, const TileValue *v) { return s->scalar[v->id]; }

NestVar *build_result(Build *s, const TileValue *v) {
  NestVar *var;
  if (v->type.rank) {
    var = nest_tile_var(s->nest, v->name, v->type, &s->u->schedule->values[v->id].layout);
    s->var[v->id] = var;
    return var;
  }
  var = nest_var(s->nest, v->name, (DType)v->type.dtype, (DType)v->type.elem, 1, true);
  if (dtype_is_int((DType)v->type.dtype) || v->type.dtype == DT_PTR)
    var->div = s->axis[v->id].div[0];
  s->scalar[v->id] = ref_var(var);
  return var;
}

NestBuilder build_at_definition(Build *s, const TileValue *v) {
  NestBuilder was = s->b;
  const TileBlock *home = v->def ? v->def->parent : v->block;
  NestBlock *to = NULL;
  for (size_t i = 0; i < s->blocks.len; i++)
    if (s->blocks.data[i].tile == home) to = s->blocks.data[i].nest;
  NestStmt *before = s->b.before;
  NestBlock *at = s->b.block;
  while (at && at != to) {
    before = at->owner;
    at = before ? before->parent : NULL;
  }
  if (!at) return was;
  s->b.block = at;
  s->b.before = before;
  return was;
}

/* ---- layouts ---- */

/* Index-only values have no layout of their own: they take the plain one. */
Layout build_layout_of(Build *s, const TileValue *v) {
  const ValuePlan *p = &s->u->schedule->values[v->id];
  if (p->held) return p->layout;
  int order[MAX_RANK];
  for (int i = 0; i < v->type.rank; i++) order[i] = v->type.rank - 1 - i;
  return schedule_blocked(&v->type, order, 1, s->nest->warps, s->nest->lanes);
}

enum { HW_BITS = 10 };

/* The weight of every bit of a hardware coordinate in the row-major position; -1: replicas. */
static void bit_weights(const Layout *l, HwDim p, int64_t *w) {
  int64_t below[MAX_RANK + 1];
  below[l->rank] = 1;
  for (int a = l->rank - 1; a >= 0; a--) below[a] = below[a + 1] * l->shape[a];
  for (int i = 0; i < HW_BITS; i++) w[i] = -1;
  for (int i = 0; i < l->ndigits; i++) {
    const Digit *d = &l->d[i];
    if (d->hw != p || d->axis < 0) continue;
    int64_t weight = layout_weight(l, i) * below[d->axis + 1];
    int bit = __builtin_ctz((unsigned)d->stride);
    for (int e = 1; e < d->extent; e *= 2, bit++, weight *= 2)
      if (bit < HW_BITS) w[bit] = weight;
  }
}

static bool is_padded_layout(const Layout *l) {
  for (int a = 0; a < l->rank; a++)
    if (layout_has_padding(l, a)) return true;
  return false;
}

static bool padded_alike(const Layout *a, const Layout *b) {
  if (!is_padded_layout(a) && !is_padded_layout(b)) return true;
  if (a->rank != b->rank) return false;
  for (int i = 0; i < a->rank; i++)
    if (a->shape[i] != b->shape[i] || layout_padded(a, i) != layout_padded(b, i)) return false;
  return true;
}

/* True if every element is in the same warps and lanes under both, so that only its register
 * differs. */
bool build_same_threads(const Layout *a, const Layout *b) {
  int64_t wa[HW_BITS], wb[HW_BITS];
  if (!padded_alike(a, b)) return false;
  for (int p = HW_WARP; p <= HW_LANE; p++) {
    bit_weights(a, (HwDim)p, wa);
    bit_weights(b, (HwDim)p, wb);
    if (memcmp(wa, wb, sizeof wa)) return false;
  }
  return true;
}

/* ---- shared buffers ---- */

Affine build_linear(const Type *tile, const Affine *axes, int64_t elem_bytes) {
  Affine sum = affine_const(0);
  int64_t stride = elem_bytes;
  for (int a = tile->rank - 1; a >= 0; a--) {
    Affine x = axes[a];
    affine_scale(&x, stride);
    BUG_IF(!affine_add(&sum, &x), "a tile of more axes than an affine form has terms");
    stride *= tile->shape[a];
  }
  return sum;
}

NestBuffer *build_tile_buffer(Build *s, const char *name, const Type *tile) {
  enum { ALIGN = 16 };
  DType t = (DType)tile->dtype;
  return nest_buffer(s->nest, name, t == DT_PTR ? DT_I64 : t, type_numel(*tile) * dtype_bytes(t),
                     ALIGN);
}

NestStmt *build_ld_shared(Build *s, Ref dst, DType t, NestBuffer *buf, Ref base, Affine bytes) {
  NestStmt *ld = nest_stmt(&s->b, NEST_LD, 1, 0);
  ld->dsts[0] = dst;
  ld->type = t;
  ld->mems[0] = (Mem){buf, base, bytes};
  return ld;
}

NestStmt *build_st_shared(Build *s, Ref src, DType t, NestBuffer *buf, Ref base, Affine bytes) {
  NestStmt *st = nest_stmt(&s->b, NEST_ST, 0, 1);
  st->srcs[0] = src;
  st->type = t;
  st->mems[0] = (Mem){buf, base, bytes};
  return st;
}

NestBuffer *build_to_buffer(Build *s, NestVar *v, const Type *tile) {
  NestBuffer *buf = build_tile_buffer(s, "tile", tile);
  Open o = build_open(s, v->layout);
  build_st_shared(s, build_tile_ref(s, v, o.axes), v->dtype, buf, ref_none(),
                  build_linear(tile, o.axes, dtype_bytes(v->dtype)));
  build_close(s, &o);
  return buf;
}

/* ---- conversions ---- */

/* Bytes from a row to the next: with padding, for threads that hold eight elements of eight rows,
 * as fragments have them, to reach different banks. */
static int64_t row_pitch(const Build *s, int64_t columns, int64_t size) {
  enum { FRAGMENT_ROW = 8, CHUNK = 16 };
  int64_t row = columns * size, pad = FRAGMENT_ROW * size;
  if (!machine_has(s->u->machine, HAS_BANKED_SHARED) || columns < FRAGMENT_ROW) return row;
  return row + (pad > CHUNK ? pad : CHUNK);
}

/* A row's first axis: it is the last one that has some elements, or, of a tile of more than two
 * axes, as many of them as fill the banks once. */
static int first_column(const Type *tile, int64_t size) {
  enum { BANKS_BYTES = 128 };
  int a = tile->rank - 1;
  while (a > 0 && tile->shape[a] == 1) a--;
  int64_t columns = tile->shape[a];
  while (tile->rank > 2 && a > 0 && columns * size < BANKS_BYTES) columns *= tile->shape[--a];
  return a;
}

static int64_t columns_of(const Type *tile, int first) {
  int64_t n = 1;
  for (int a = first; a < tile->rank; a++) n *= tile->shape[a];
  return n;
}

/* The first of the last axes that have so many elements together; -1: none is. */
static int first_of_columns(const Type *tile, int64_t columns) {
  int a = tile->rank;
  int64_t n = 1;
  while (a > 0 && n < columns) n *= tile->shape[--a];
  return n == columns ? a : -1;
}

/* The columns of rows that a tile and a reshaped one both have; all elements, if there are none. */
static int64_t common_columns(const Type *a, const Type *b, int64_t size) {
  int64_t columns = columns_of(a, first_column(a, size));
  if (first_of_columns(b, columns) >= 0) return columns;
  columns = columns_of(b, first_column(b, size));
  return first_of_columns(a, columns) >= 0 ? columns : type_numel(*a);
}

/* The place of an element in rows of so many columns. */
static Affine padded_rows(const Type *tile, const Affine *axes, int64_t size, int64_t columns,
                          int64_t pitch) {
  Type rows = *tile, row = *tile;
  int first = first_of_columns(tile, columns);
  rows.rank = (uint8_t)first;
  row.rank = (uint8_t)(tile->rank - first);
  memmove(row.shape, tile->shape + first, row.rank * sizeof *row.shape);
  Affine sum = build_linear(&rows, axes, pitch), column = build_linear(&row, axes + first, size);
  BUG_IF(!affine_add(&sum, &column), "a tile of more axes than an affine form has terms");
  return sum;
}

/* The run of elements that a thread reads of a row, and the lanes that read those after it. */
typedef struct {
  int64_t elements, lanes;
} RowRun;

static RowRun run_of_row(const Layout *l, const Type *tile, int64_t columns) {
  RowRun run = {1, 1};
  int64_t place[MAX_RANK], n = 1;
  int first = first_of_columns(tile, columns);
  for (int a = tile->rank - 1; a >= 0; n *= tile->shape[a--]) place[a] = a >= first ? n : 0;
  for (int i = 0; i < l->ndigits; i++) {
    const Digit *d = &l->d[i];
    int64_t at = d->axis < 0 ? 0 : layout_weight(l, i) * place[d->axis];
    if (d->extent == 1 || at != run.elements * run.lanes) continue;
    if (d->hw == HW_WARP || (d->hw == HW_REG && run.lanes > 1)) break;
    if (d->hw == HW_REG) run.elements *= d->extent;
    else run.lanes *= d->extent;
    i = -1;
  }
  return run;
}

/* Bytes from a row to the next of a tile whose shape changes: what a warp reads at once of the next
 * row is in other banks, after what it reads of this one, or in the gaps of it. */
static int64_t reshaped_pitch(const Build *s, const NestVar *to, int64_t columns, int64_t size) {
  enum { BANKS_BYTES = 128, CHUNK = 16 };
  RowRun run = run_of_row(to->layout, &to->tile, columns);
  int64_t row = columns * size, bytes = run.elements * size;
  int64_t pad = bytes > CHUNK ? CHUNK : (bytes * run.lanes + CHUNK - 1) / CHUNK * CHUNK;
  if (!machine_has(s->u->machine, HAS_BANKED_SHARED) || row % BANKS_BYTES)
    return row_pitch(s, columns, size);
  return row + pad % BANKS_BYTES;
}

/* The most bytes that a thread takes at once of its run, at most a chunk: neighbours along the last
 * axis. */
static int64_t vector_of_run(const Layout *l, const Type *tile, int64_t size) {
  enum { CHUNK = 16 };
  int64_t n = 1;
  for (int i = 0; i < l->ndigits; i++) {
    const Digit *d = &l->d[i];
    if (d->hw != HW_REG || d->axis != tile->rank - 1 || layout_weight(l, i) != n) continue;
    if (d->extent == 1) continue;
    n *= d->extent;
    i = -1;
  }
  return n * size < CHUNK ? n * size : CHUNK;
}

/* The buffer's chunks are permuted where a thread takes a run of several of a lone row: the runs of
 * lanes that follow each other would begin in few banks. */
static void permute_chunks(const Build *s, NestBuffer *buf, const NestVar *from,
                           const NestVar *to) {
  enum { BANK_BITS = 7 };
  int64_t size = dtype_bytes(from->dtype), columns = type_numel(from->tile);
  int64_t a = run_of_row(from->layout, &from->tile, columns).elements;
  int64_t b = run_of_row(to->layout, &to->tile, columns).elements;
  int64_t bytes = (a > b ? a : b) * size;
  int64_t store = vector_of_run(from->layout, &from->tile, size);
  int64_t load = vector_of_run(to->layout, &to->tile, size), vector = load > store ? load : store;
  if (!machine_has(s->u->machine, HAS_BANKED_SHARED)) return;
  if (bytes * s->u->machine->lanes > columns * size) return; /* few lanes have runs */
  if (!type_same_shape(from->tile, to->tile) || bytes & (bytes - 1) || vector & (vector - 1))
    return;
  int chunk = __builtin_ctzll((unsigned long long)vector), most = BANK_BITS - chunk;
  int bits = __builtin_ctzll((unsigned long long)bytes) - chunk;
  if (bits < 2) return; /* two lanes of eight to a bank cost less than these addresses */
  buf->tile = (Type){.dtype = from->tile.dtype, .elem = from->tile.elem, .rank = 1};
  buf->tile.shape[0] = (int32_t)columns;
  buf->layout = layout_new(&buf->tile);
  layout_push(&buf->layout, 0, HW_BYTE, (int32_t)columns, (int32_t)size);
  buf->layout.xor_base = (uint8_t)chunk;
  buf->layout.xor_bits = (uint8_t)(bits < most ? bits : most);
  buf->layout.xor_shift = (uint8_t)(bits > most ? bits : most);
}

/* Through a buffer of rows of so many columns: the same elements, other threads. */
static void through_rows(Build *s, NestVar *from, NestVar *to, int64_t columns) {
  int64_t size = dtype_bytes(from->dtype), rows = type_numel(from->tile) / columns;
  int64_t pitch = columns * size;
  if (rows > 1)
    pitch = type_same_shape(from->tile, to->tile) ? row_pitch(s, columns, size)
                                                  : reshaped_pitch(s, to, columns, size);
  if (rows > 1 && machine_has(s->u->machine, HAS_BANKED_SHARED))
    pitch = build_pitch_of_turns(from, to, columns, size, pitch);
  NestBuffer *buf = build_tile_buffer(s, "tile", &from->tile);
  buf->bytes = rows * pitch;
  if (rows == 1) permute_chunks(s, buf, from, to);
  Open o = build_open(s, from->layout);
  build_st_shared(s, build_tile_ref(s, from, o.axes), from->dtype, buf, ref_none(),
                  padded_rows(&from->tile, o.axes, size, columns, pitch));
  build_close(s, &o);
  o = build_open(s, to->layout);
  build_ld_shared(s, build_tile_ref(s, to, o.axes), to->dtype, buf, ref_none(),
                  padded_rows(&to->tile, o.axes, size, columns, pitch));
  build_close(s, &o);
}

/* The axis along which a thread's neighbors are in registers, and how many; of none the last. */
static int64_t run_in_registers(const Layout *l, int *axis) {
  *axis = l->rank - 1;
  for (int i = 0; i < l->ndigits; i++)
    if (l->d[i].hw == HW_REG && l->d[i].stride == 1 && l->d[i].extent > 1) {
      *axis = l->d[i].axis;
      return l->d[i].extent;
    }
  return 1;
}

/* Are columns read several elements at once, of what is held as fragments are? */
static bool reads_columns(const Layout *from, const Layout *to) {
  enum { PAIR = 2 };
  int across, along;
  int64_t held = run_in_registers(from, &across), read = run_in_registers(to, &along);
  return to->rank == 2 && !along && read > PAIR && (!across || held <= PAIR);
}

/* Through a buffer of columns, of which threads read several elements at once.  Fragments are
 * written one by one: a chunk apart, two columns are in other banks. */
static void through_columns(Build *s, NestVar *from, NestVar *to) {
  enum { CHUNK = 16 };
  int64_t size = dtype_bytes(from->dtype), pitch = from->tile.shape[0] * size + CHUNK;
  NestBuffer *buf = build_tile_buffer(s, "tile", &from->tile);
  buf->bytes = from->tile.shape[1] * pitch;
  for (int reads = 0; reads < 2; reads++) {
    NestVar *v = reads ? to : from;
    Open o = build_open(s, v->layout);
    Affine place = o.axes[1], row = o.axes[0];
    affine_scale(&place, pitch);
    affine_scale(&row, size);
    BUG_IF(!affine_add(&place, &row), "a tile of more axes than an affine form has terms");
    Ref x = build_tile_ref(s, v, o.axes);
    if (reads) build_ld_shared(s, x, v->dtype, buf, ref_none(), place);
    else build_st_shared(s, x, v->dtype, buf, ref_none(), place);
    build_close(s, &o);
  }
}

NestVar *build_relayout(Build *s, NestVar *from, const Type *tile, const Layout *to) {
  NestVar *v = nest_tile_var(s->nest, from->name, *tile, to);
  if (build_same_threads(from->layout, to)) {
    NestStmt *st = nest_stmt(&s->b, NEST_RELAYOUT, 1, 1);
    st->dsts[0] = ref_var(v);
    st->srcs[0] = ref_var(from);
    st->type = v->dtype;
    return v;
  }
  bool across = type_same_shape(from->tile, *tile) && reads_columns(from->layout, to) &&
                machine_has(s->u->machine, HAS_BANKED_SHARED);
  if (across) through_columns(s, from, v);
  else through_rows(s, from, v, common_columns(&from->tile, tile, dtype_bytes(from->dtype)));
  return v;
}

static NestVar *compute_into(Build *s, const TileValue *v, const Layout *layout) {
  NestVar *var = nest_tile_var(s->nest, v->name, v->type, layout);
  build_copy_tile(s, var, v);
  return var;
}

NestVar *build_held(Build *s, const TileValue *v, const Layout *layout) {
  NestVar *own = s->var[v->id];
  if (own && layout_eq(own->layout, layout)) return own;
  for (size_t i = 0; i < s->converted.len; i++) {
    Converted *c = &s->converted.data[i];
    if (c->value == v->id && layout_eq(c->var->layout, layout)) return c->var;
  }
  NestVar *var = own ? build_relayout(s, own, &v->type, layout) : compute_into(s, v, layout);
  Converted c = {v->id, var};
  vec_push(s->scratch, &s->converted, c);
  return var;
}

NestVar *build_own(Build *s, const TileValue *v) {
  Layout l = build_layout_of(s, v);
  return build_held(s, v, &l);
}

/* ---- expressions ---- */

static bool same_axes(const Affine *a, const Affine *b, int rank) {
  for (int i = 0; i < rank; i++)
    if (!affine_eq(&a[i], &b[i])) return false;
  return true;
}

/* The layout that a tile must have so that a nest over `nest` finds v's element at `axes` in its
 * own registers: v's axes take the digits of the nest's axes, the rest replicates. */
static Layout projected(const Layout *nest, const Type *tile, const Affine *axes,
                        NestIndex **index) {
  Layout r = layout_new(tile);
  bool used[MAX_DIGITS] = {0};
  for (int a = 0; a < tile->rank; a++) {
    if (!axes[a].n || tile->shape[a] == 1) continue;
    int from = 0;
    while (from < nest->rank && index[from] != axes[a].t[0].index) from++;
    for (int i = 0; i < nest->ndigits; i++)
      if (nest->d[i].axis == from) {
        layout_push(&r, a, (HwDim)nest->d[i].hw, nest->d[i].extent, nest->d[i].stride);
        used[i] = true;
      }
  }
  for (int i = 0; i < nest->ndigits; i++)
    if (!used[i] && (nest->d[i].hw == HW_LANE || nest->d[i].hw == HW_WARP))
      layout_push(&r, -1, (HwDim)nest->d[i].hw, nest->d[i].extent, nest->d[i].stride);
  layout_pack_registers(&r);
  return r;
}

/* Digits in an order that does not matter: replication digits sorted by dimension and stride, and
 * register strides as they are. */
static bool layout_serves(const Layout *have, const Layout *want) {
  int64_t wa[HW_BITS], wb[HW_BITS];
  for (int a = 0; a < have->rank; a++)
    if (layout_padded(have, a) != layout_padded(want, a)) return false;
  for (int p = HW_WARP; p <= HW_LANE; p++) {
    bit_weights(have, (HwDim)p, wa);
    bit_weights(want, (HwDim)p, wb);
    if (memcmp(wa, wb, sizeof wa)) return false;
  }
  return true;
}

/* The nest whose body the builder is in. */
static NestStmt *current_nest(const Build *s) {
  NestStmt *st = s->b.block->owner;
  while (st && st->code != NEST_NEST) st = st->parent->owner;
  return st;
}

static Ref held_at(Build *s, const TileValue *v, const Affine *axes, const Layout *layout) {
  NestStmt *nest = current_nest(s);
  Layout want = projected(layout, &v->type, axes, nest->axes);
  NestVar *own = s->var[v->id];
  if (own && layout_serves(own->layout, &want)) return build_tile_ref(s, own, axes);
  /* The conversion is before the nest. */
  NestBuilder inside = s->b;
  s->b.block = nest->parent;
  s->b.before = nest;
  NestVar *var = build_held(s, v, &want);
  s->b = inside;
  return build_tile_ref(s, var, axes);
}

static Ref shape_at(Build *s, const TileValue *v, const Affine *axes, const Layout *layout) {
  const TileOp *op = v->def;
  const TileValue *x = op->args[0];
  Affine in[MAX_RANK];
  switch (op->code) {
    case TILE_SPLAT: return build_scalar(s, x);
    case TILE_EXPAND_DIMS:
      for (int i = 0, k = 0; i < v->type.rank; i++)
        if (i != tile_int(op, TA_axis, 0)) in[k++] = axes[i];
      break;
    case TILE_BROADCAST:
      for (int i = 0; i < v->type.rank; i++)
        in[i] = x->type.shape[i] == 1 ? affine_const(0) : axes[i];
      break;
    default: /* a reshape of positions of rank 1: schedule_index_only */
      in[0] = build_linear(&v->type, axes, 1);
      break;
  }
  return x->type.rank ? build_value_at(s, x, in, layout) : build_scalar(s, x);
}

void build_elementwise(Build *s, const TileOp *op, Ref dst, const Ref *x) {
  const Type *t = &op->args[op->code == TILE_SELECT ? 1 : 0]->type;
  NestStmt *st = nest_op(&s->b, op->code, (DType)t->dtype, dst, x[0], x[1], x[2]);
  st->elem = (DType)t->elem;
  st->to = (DType)op->results[0]->type.dtype;
  st->rtz = !strcmp(tile_str(op, TA_rounding, "rtne"), "rtz");
}

static Ref constant_ref(const TileValue *v) {
  const TileAttr *c = tile_attr(v->def, TA_value);
  if (!c) return ref_int(0);
  return dtype_is_float((DType)v->type.dtype) ? ref_float(c->f) : ref_int(c->i);
}

/* The promise of a hint on an axis beyond the facts known without it; 1 if there is none.  Divisors
 * of elements are in the widths of accesses, and here for the check. */
static int64_t promised(const Build *s, const TileOp *hint, TileAttrKey key, int axis) {
  const TileAttr *promise = tile_attr(hint, key);
  const AxisInfo *known = &s->axis[hint->args[0]->id];
  if (!promise || axis >= (int)promise->len) return 1;
  int64_t n = promise->list[axis];
  if (key == TA_div) return s->nest->options.checked && known->div[axis] % n ? n : 1;
  n &= -n;
  return n > (key == TA_contig ? known->contig : known->constancy)[axis] ? n : 1;
}

static const struct {
  TileAttrKey from;
  NestAttrKey to;
} promises[] = {{TA_contig, NA_contig}, {TA_constancy, NA_constancy}, {TA_div, NA_div}};
enum { PROMISES = sizeof promises / sizeof *promises };

static bool promises_some(const Build *s, const TileOp *hint, int axis) {
  bool some = false;
  for (int i = 0; i < PROMISES; i++) some |= promised(s, hint, promises[i].from, axis) > 1;
  return some;
}

static bool is_promise(const Build *s, const TileOp *op) {
  bool some = false;
  for (int a = 0; op->code == TILE_HINT && a < op->results[0]->type.rank; a++)
    some |= promises_some(s, op, a);
  return some;
}

/* The axis of the nest at hand whose index an affine form is; -1: none. */
static int plain_axis(const Build *s, const Affine *at) {
  const NestStmt *nest = s->b.block->owner;
  if (at->n != 1 || at->c || at->t[0].coef != 1) return -1;
  for (int a = 0; a < nest->layout->rank; a++)
    if (nest->axes[a] == at->t[0].index) return a;
  return -1;
}

static Ref hint_at(Build *s, const TileValue *v, const Affine *axes, const Layout *layout) {
  DType t = (DType)v->type.dtype;
  Ref x = build_value_at(s, v->def->args[0], axes, layout);
  Span outer = s->b.span;
  s->b.span = v->def->span;
  for (int a = 0; a < v->type.rank; a++) {
    int axis = plain_axis(s, &axes[a]);
    if (axis < 0 || !promises_some(s, v->def, a)) continue;
    NestVar *to = build_temp(s, t, (DType)v->type.elem);
    NestStmt *st = nest_op(&s->b, TILE_HINT, t, ref_var(to), x, ref_none(), ref_none());
    nest_set_int(s->nest, st, NA_axis, axis);
    for (int i = 0; i < PROMISES; i++) {
      int64_t n = promised(s, v->def, promises[i].from, a);
      if (n > 1) nest_set_int(s->nest, st, promises[i].to, n);
    }
    x = ref_var(to);
  }
  s->b.span = outer;
  return x;
}

/* ---- elements ---- */

enum { QUOTIENT_DEPTH = 8 }; /* operations between a quotient and the comparison */

static bool is_of_quotient(const TileValue *v, int depth) {
  const TileOp *op = v->def;
  if (!op || !depth || !v->type.rank || !(tile_op_flags(op->code) & TILE_PURE)) return false;
  if (op->code == TILE_DIV || op->code == TILE_REM) return true;
  for (uint32_t i = 0; i < op->nargs; i++)
    if (op->args[i] && is_of_quotient(op->args[i], depth - 1)) return true;
  return false;
}

/* A comparison of a quotient or a remainder.  Bind, which knows no signs, does not know over which
 * groups it is constant, so that accesses under it would be of single elements. */
static Ref with_groups(Build *s, const TileValue *v, const Affine *axes, Ref x) {
  bool ordered = v->def->code >= TILE_LT && v->def->code <= TILE_GE;
  if (!ordered || !is_of_quotient(v, QUOTIENT_DEPTH)) return x;
  for (int a = 0; a < v->type.rank; a++) {
    int64_t n = s->axis[v->id].constancy[a];
    int axis = plain_axis(s, &axes[a]);
    n &= -n;
    if (axis < 0 || n < 2) continue;
    NestVar *to = build_temp(s, DT_I1, DT_NONE);
    NestStmt *st = nest_op(&s->b, TILE_HINT, DT_I1, ref_var(to), x, ref_none(), ref_none());
    nest_set_int(s->nest, st, NA_axis, axis);
    nest_set_int(s->nest, st, NA_constancy, n);
    x = ref_var(to);
  }
  return x;
}

static Ref element_op(Build *s, const TileValue *v, const Affine *axes, const Layout *layout) {
  const TileOp *op = v->def;
  Ref x[3] = {ref_none(), ref_none(), ref_none()};
  for (uint32_t i = 0; i < op->nargs; i++) {
    const TileValue *a = op->args[i];
    x[i] = a->type.rank ? build_value_at(s, a, axes, layout) : build_scalar(s, a);
  }
  Span outer = s->b.span;
  s->b.span = op->span;
  NestVar *temp = build_temp(s, (DType)v->type.dtype, (DType)v->type.elem);
  build_elementwise(s, op, ref_var(temp), x);
  Ref made = with_groups(s, v, axes, ref_var(temp));
  s->b.span = outer;
  return made;
}

static Ref compute_at(Build *s, const TileValue *v, const Affine *axes, const Layout *layout) {
  const TileOp *op = v->def;
  switch (op->code) {
    case TILE_CONST: return constant_ref(v);
    case TILE_UNDEF: return ref_zero((DType)v->type.dtype);
    case TILE_ARANGE: {
      Affine x = axes[0], start = affine_const(tile_int(op, TA_start, 0));
      affine_add(&x, &start);
      return ref_affine(x);
    }
    case TILE_SPLAT:
    case TILE_EXPAND_DIMS:
    case TILE_BROADCAST:
    case TILE_RESHAPE: return shape_at(s, v, axes, layout);
    case TILE_HINT: return hint_at(s, v, axes, layout);
    default: return element_op(s, v, axes, layout);
  }
}

/* True if v's elements are computed where they are used. */
static bool transparent(const Build *s, const TileValue *v) {
  return v->def && !s->var[v->id] && (s->inlined[v->id] || !s->u->schedule->values[v->id].held);
}

static void turn_axes(const TileOp *op, const Affine *axes, Affine *in) {
  const TileAttr *perm = tile_attr(op, TA_perm);
  for (uint32_t i = 0; i < perm->len; i++) in[perm->list[i]] = axes[i];
}

/* Skips a chain of hints and transpositions.  Returns the value at its start, and permutes `turned`
 * to the axes of that value. */
static const TileValue *pass_renames(const Build *s, const TileValue *v, Affine *turned) {
  Affine in[MAX_RANK];
  for (; v->type.rank && transparent(s, v); v = v->def->args[0]) {
    if (v->def->code == TILE_HINT && !is_promise(s, v->def)) continue;
    if (v->def->code != TILE_TRANS) break;
    turn_axes(v->def, turned, in);
    memcpy(turned, in, sizeof *in * v->type.rank);
  }
  return v;
}

Ref build_value_at(Build *s, const TileValue *of, const Affine *at, const Layout *layout) {
  Affine axes[MAX_RANK];
  if (of->type.rank) memcpy(axes, at, sizeof *at * of->type.rank);
  const TileValue *v = pass_renames(s, of, axes);
  if (!v->type.rank) return build_scalar(s, v);
  if (!transparent(s, v)) return held_at(s, v, axes, layout);
  Memo *m = &s->memo[v->id];
  if (m->nest == s->current && same_axes(m->axes, axes, v->type.rank)) return m->ref;
  Ref r = compute_at(s, v, axes, layout);
  m->nest = s->current;
  memcpy(m->axes, axes, sizeof m->axes[0] * v->type.rank);
  m->ref = r;
  return r;
}

Ref build_guard_at(Build *s, const TileValue *mask, const Affine *axes, const Layout *l) {
  Ref r = mask ? build_value_at(s, mask, axes, l) : ref_none();
  if (!r.kind || r.kind == REF_VAR) return r;
  if (r.sub.c) return ref_none();
  Ref guard = ref_var(nest_var(s->nest, NULL, DT_I1, DT_NONE, 1, true));
  nest_mov(&s->b, guard, r, DT_I1);
  return guard;
}

void build_copy_tile(Build *s, NestVar *to, const TileValue *from) {
  Open o = build_open(s, to->layout);
  Ref x = build_value_at(s, from, o.axes, to->layout);
  nest_mov(&s->b, build_tile_ref(s, to, o.axes), x, to->dtype);
  build_close(s, &o);
}

void build_asm_stmt(Build *s, const TileOp *op, const Ref *srcs, NestVar *const *made) {
  NestStmt *st = nest_stmt(&s->b, NEST_ASM, op->nresults, op->nargs);
  for (uint32_t i = 0; i < op->nargs; i++) st->srcs[i] = srcs[i];
  for (uint32_t i = 0; i < op->nresults; i++) st->dsts[i] = ref_var(made[i]);
  if (op->code == TILE_ASM_IMPURE) nest_set_int(s->nest, st, NA_volatile, 1);
  nest_set_str(s->nest, st, NA_asm, tile_str(op, TA_asm, ""));
  nest_set_str(s->nest, st, NA_constraints, tile_str(op, TA_constraints, ""));
  int64_t pack = tile_int(op, TA_pack, 1);
  if (pack > 1) nest_set_int(s->nest, st, NA_pack, pack);
}
