/* Ops on whole tiles: elementwise, shape, reductions, scans, dots. */
#include <string.h>

#include "lower/build.h"
#include "lower/matrix.h"

void build_copy_tile(Build *s, NestVar *to, const TileValue *from) {
  Open o = build_open(s, &to->layout);
  Ref x = build_value_at(s, from, o.axes, &to->layout);
  nest_mov(&s->b, build_tile_ref(s, to, o.axes), x, to->dtype);
  build_close(s, &o);
}

/* An elementwise op of its own: computed as an expression, whose last temp is the variable. */
static void elementwise(Build *s, const TileOp *op) {
  const TileValue *r = op->results[0];
  Layout l = build_layout_of(s, r);
  Open o = build_open(s, &l);
  Ref x[3] = {ref_none(), ref_none(), ref_none()};
  for (uint32_t i = 0; i < op->nargs; i++) x[i] = build_value_at(s, op->args[i], o.axes, &l);
  NestVar *v = build_result(s, r);
  DType t = (DType)op->args[op->code == TILE_SELECT ? 1 : 0]->type.dtype;
  NestStmt *st = nest_op(&s->b, op->code, t, build_tile_ref(s, v, o.axes), x[0], x[1], x[2]);
  st->elem = (DType)op->args[op->code == TILE_SELECT ? 1 : 0]->type.elem;
  st->to = v->dtype;
  st->rtz = !strcmp(tile_str(op, TA_rounding, "rtne"), "rtz");
  build_close(s, &o);
}

/* ---- reductions and scans ---- */

static void region_op(Build *s, const TileOp *op) {
  const TileValue *r = op->results[0];
  if (op->code == TILE_CONST) {
    const TileAttr *c = tile_attr(op, TA_value);
    s->scalar[r->id] = dtype_is_float((DType)r->type.dtype) ? ref_float(c->f) : ref_int(c->i);
    return;
  }
  Ref x[3] = {ref_none(), ref_none(), ref_none()};
  for (uint32_t i = 0; i < op->nargs; i++) x[i] = build_scalar(s, op->args[i]);
  NestVar *t = build_temp(s, (DType)r->type.dtype, (DType)r->type.elem);
  DType type = (DType)op->args[op->code == TILE_SELECT ? 1 : 0]->type.dtype;
  NestStmt *st = nest_op(&s->b, op->code, type, ref_var(t), x[0], x[1], x[2]);
  st->to = (DType)r->type.dtype;
  st->elem = (DType)r->type.elem;
  s->scalar[r->id] = ref_var(t);
}

/* The combine region: parameters are the accumulators, then the elements; its last statements move
 * the results into the accumulators. */
static void combine_region(Build *s, NestStmt *st, const TileBlock *from) {
  NestBuilder outer = s->b;
  s->b.block = nest_block(s->nest, st);
  s->b.before = NULL;
  NestBlock *block = s->b.block;
  block->params = ARENA_ARRAY(s->nest->arena, NestVar *, from->nparams);
  block->nparams = from->nparams;
  for (uint32_t i = 0; i < from->nparams; i++) {
    const TileValue *p = from->params[i];
    block->params[i] =
        nest_var(s->nest, p->name, (DType)p->type.dtype, (DType)p->type.elem, 1, false);
    s->scalar[p->id] = ref_var(block->params[i]);
  }
  for (const TileOp *op = from->first; op != from->last; op = op->next) region_op(s, op);
  uint32_t n = from->nparams / 2;
  Ref *out = ARENA_ARRAY(s->scratch, Ref, n);
  for (uint32_t i = 0; i < n; i++) {
    out[i] = build_scalar(s, from->last->args[i]);
    /* A result that is an accumulator itself may be overwritten by the move before its own. */
    if (out[i].kind != REF_VAR || n == 1) continue;
    NestVar *t = build_temp(s, block->params[i]->dtype, block->params[i]->elem);
    nest_mov(&s->b, ref_var(t), out[i], t->dtype);
    out[i] = ref_var(t);
  }
  for (uint32_t i = 0; i < n; i++)
    nest_mov(&s->b, ref_var(block->params[i]), out[i], block->params[i]->dtype);
  s->b = outer;
}

static int pow2_at_least(int64_t n) {
  int p = 1;
  while (p < n) p *= 2;
  return p;
}

/* An axis spelled by warps, lanes and one register digit, in that order (lower/bind_scan.c).  With
 * `exact` nothing is padded along the axis, at worst one thread holds all of it. */
static Layout run_layout(Build *s, const Type *t, int axis, bool exact) {
  int order[MAX_RANK], n = 0, warps = s->nest->warps, lanes = s->nest->lanes;
  order[n++] = axis;
  for (int a = t->rank - 1; a >= 0; a--)
    if (a != axis) order[n++] = a;
  int64_t extent = t->shape[axis];
  int use = t->rank == 1 ? warps : 1;
  while (use > 1 && extent < (int64_t)use * lanes * 2) use /= 2;
  int64_t run = (extent + (int64_t)lanes * use - 1) / ((int64_t)lanes * use);
  int64_t threads = pow2_at_least((extent + run - 1) / run);
  if (exact && run * threads != extent) run = extent;
  return schedule_blocked(t, order, (int)run, warps, lanes);
}

static bool axis_padded(const Layout *l, int axis) {
  return layout_padded(l, axis) != l->shape[axis];
}

/* Padding has no neutral element for a user's function: such an axis is laid out without. */
static Layout combine_layout(Build *s, const TileOp *op, NestCode code) {
  Layout l = build_layout_of(s, op->args[0]);
  int axis = (int)tile_int(op, TA_axis, 0);
  bool named = tile_str(op, TA_combine, NULL) != NULL, reverse = tile_int(op, TA_reverse, 0) != 0;
  if (code == NEST_SCAN) return run_layout(s, &op->args[0]->type, axis, reverse);
  return !named && axis_padded(&l, axis) ? run_layout(s, &op->args[0]->type, axis, true) : l;
}

static void reduce_or_scan(Build *s, const TileOp *op, NestCode code) {
  Layout l = combine_layout(s, op, code);
  NestVar **in = ARENA_ARRAY(s->scratch, NestVar *, op->nargs);
  for (uint32_t i = 0; i < op->nargs; i++) in[i] = build_held(s, op->args[i], &l);
  Layout out = code == NEST_REDUCE ? layout_drop_axis(&l, (int)tile_int(op, TA_axis, 0)) : l;
  NestVar **result = ARENA_ARRAY(s->scratch, NestVar *, op->nresults);
  for (uint32_t i = 0; i < op->nresults; i++) {
    const TileValue *r = op->results[i];
    result[i] = r->type.rank ? nest_tile_var(s->nest, r->name, r->type, &out) : build_result(s, r);
  }
  NestStmt *st = nest_stmt(&s->b, code, op->nresults, op->nargs);
  for (uint32_t i = 0; i < op->nargs; i++) st->srcs[i] = ref_var(in[i]);
  for (uint32_t i = 0; i < op->nresults; i++) st->dsts[i] = ref_var(result[i]);
  st->type = in[0]->dtype;
  nest_set_int(s->nest, st, NA_axis, tile_int(op, TA_axis, 0));
  if (tile_int(op, TA_reverse, 0)) nest_set_int(s->nest, st, NA_reverse, 1);
  const char *combine = tile_str(op, TA_combine, NULL);
  if (combine) nest_set_str(s->nest, st, NA_combine, combine);
  else combine_region(s, st, op->regions[0]);
  for (uint32_t i = 0; i < op->nresults; i++) {
    const TileValue *r = op->results[i];
    if (!r->type.rank) continue;
    Layout want = build_layout_of(s, r);
    s->var[r->id] =
        layout_eq(&want, &out) ? result[i] : build_relayout(s, result[i], &r->type, &want);
  }
}

/* ---- shape ---- */

static void through_buffer(Build *s, const TileOp *op, NestBuffer *buf, const Type *from,
                           const int64_t *starts, const int64_t *strides) {
  const TileValue *r = op->results[0];
  NestVar *v = build_result(s, r);
  Open o = build_open(s, &v->layout);
  Affine at[MAX_RANK];
  for (int a = 0; a < r->type.rank; a++) {
    Affine start = affine_const(starts ? starts[a] : 0);
    at[a] = o.axes[a];
    affine_scale(&at[a], strides ? strides[a] : 1);
    affine_add(&at[a], &start);
  }
  const Type *shape = starts ? from : &r->type;
  build_ld_shared(s, build_tile_ref(s, v, o.axes), v->dtype, buf, ref_none(),
                  build_linear(shape, at, dtype_bytes(v->dtype)));
  build_close(s, &o);
}

static void reshape(Build *s, const TileOp *op) {
  const TileValue *x = op->args[0], *r = op->results[0];
  Layout want = r->type.rank ? build_layout_of(s, r) : (Layout){0};
  if (!x->type.rank || !r->type.rank) {
    if (x->type.rank) {
      NestBuffer *buf = build_to_buffer(s, build_own(s, x), &x->type);
      build_ld_shared(s, ref_var(build_result(s, r)), (DType)r->type.dtype, buf, ref_none(),
                      affine_const(0));
    } else {
      NestVar *v = build_result(s, r);
      Open o = build_open(s, &v->layout);
      nest_mov(&s->b, build_tile_ref(s, v, o.axes), build_scalar(s, x), v->dtype);
      build_close(s, &o);
    }
    return;
  }
  s->var[r->id] = build_relayout(s, build_own(s, x), &r->type, &want);
}

static void slice(Build *s, const TileOp *op) {
  const TileValue *x = op->args[0];
  NestBuffer *buf = build_to_buffer(s, build_own(s, x), &x->type);
  through_buffer(s, op, buf, &x->type, tile_attr(op, TA_starts)->list,
                 tile_attr(op, TA_strides)->list);
}

static void cat(Build *s, const TileOp *op) {
  const TileValue *r = op->results[0];
  NestBuffer *buf = build_tile_buffer(s, "cat", &r->type);
  int64_t at = 0;
  for (uint32_t i = 0; i < 2; i++) {
    const TileValue *x = op->args[i];
    NestVar *v = build_own(s, x);
    Open o = build_open(s, &v->layout);
    Affine start = affine_const(at), bytes = build_linear(&x->type, o.axes, dtype_bytes(v->dtype));
    affine_add(&bytes, &start);
    build_st_shared(s, build_tile_ref(s, v, o.axes), v->dtype, buf, ref_none(), bytes);
    build_close(s, &o);
    at += type_numel(x->type) * dtype_bytes(v->dtype);
  }
  through_buffer(s, op, buf, NULL, NULL, NULL);
}

/* A layout with a last axis of two registers. */
static Layout with_pair(const Layout *l) {
  Layout r = *l;
  r.shape[r.rank++] = 2;
  for (int i = 0; i < r.ndigits; i++)
    if (place_in_thread((Place)r.d[i].place)) r.d[i].stride *= 2;
  layout_push(&r, r.rank - 1, PLACE_REG, 2, 1);
  return r;
}

static void join(Build *s, const TileOp *op) {
  const TileValue *r = op->results[0];
  Layout l = op->args[0]->type.rank ? build_layout_of(s, op->args[0]) : (Layout){0};
  if (!op->args[0]->type.rank) {
    layout_push(&l, -1, PLACE_WARP, s->nest->warps, 1);
    layout_push(&l, -1, PLACE_LANE, s->nest->lanes, 1);
  }
  Layout pair = with_pair(&l), want = build_layout_of(s, r);
  NestVar *v = nest_tile_var(s->nest, r->name, r->type, &pair);
  for (int i = 0; i < 2; i++) {
    Open o = build_open(s, &l);
    Affine at[MAX_RANK];
    memcpy(at, o.axes, sizeof at);
    at[l.rank] = affine_const(i);
    Ref x = build_value_at(s, op->args[i], o.axes, &l);
    nest_mov(&s->b, build_tile_ref(s, v, at), x, v->dtype);
    build_close(s, &o);
  }
  s->var[r->id] = layout_eq(&pair, &want) ? v : build_relayout(s, v, &r->type, &want);
}

/* All threads read scalars from one place. */
static void split_scalars(Build *s, const TileOp *op) {
  const TileValue *x = op->args[0];
  DType t = (DType)x->type.dtype;
  NestBuffer *buf = build_to_buffer(s, build_own(s, x), &x->type);
  for (int i = 0; i < 2; i++)
    build_ld_shared(s, ref_var(build_result(s, op->results[i])), t, buf, ref_none(),
                    affine_const(i * (int64_t)dtype_bytes(t)));
}

static void split(Build *s, const TileOp *op) {
  const TileValue *x = op->args[0], *r = op->results[0];
  if (!r->type.rank) {
    split_scalars(s, op);
    return;
  }
  Layout half = build_layout_of(s, r), pair = with_pair(&half);
  NestVar *v = build_held(s, x, &pair);
  for (int i = 0; i < 2; i++) {
    NestVar *to = nest_tile_var(s->nest, NULL, r->type, &half);
    Open o = build_open(s, &half);
    Affine at[MAX_RANK];
    memcpy(at, o.axes, sizeof at);
    at[half.rank] = affine_const(i);
    nest_mov(&s->b, build_tile_ref(s, to, o.axes), build_tile_ref(s, v, at), v->dtype);
    build_close(s, &o);
    Layout want = build_layout_of(s, op->results[i]);
    s->var[op->results[i]->id] =
        layout_eq(&want, &half) ? to : build_relayout(s, to, &r->type, &want);
  }
}

/* result[.., i, ..] = x[.., index, ..]: x lies in shared memory, the index's own position gives the
 * other axes. */
static void gather(Build *s, const TileOp *op) {
  const TileValue *x = op->args[0], *index = op->args[1], *r = op->results[0];
  int axis = (int)tile_int(op, TA_axis, 0);
  NestBuffer *buf = build_to_buffer(s, build_own(s, x), &x->type);
  NestVar *v = build_result(s, r);
  Open o = build_open(s, &v->layout);
  int64_t bytes = dtype_bytes(v->dtype), stride = bytes;
  for (int a = axis + 1; a < x->type.rank; a++) stride *= x->type.shape[a];
  Ref i = build_value_at(s, index, o.axes, &v->layout);
  if (index->type.dtype != DT_I32) {
    Ref t = ref_var(build_temp(s, DT_I32, DT_NONE));
    nest_op(&s->b, TILE_CAST, (DType)index->type.dtype, t, i, ref_none(), ref_none())->to = DT_I32;
    i = t;
  }
  Ref base = build_op(s, TILE_MUL, DT_I32, i, ref_int(stride), ref_none());
  Affine at[MAX_RANK];
  memcpy(at, o.axes, sizeof at);
  at[axis] = affine_const(0);
  build_ld_shared(s, build_tile_ref(s, v, o.axes), v->dtype, buf, base,
                  build_linear(&x->type, at, bytes));
  build_close(s, &o);
}

static void histogram(Build *s, const TileOp *op) {
  const TileValue *x = op->args[0], *mask = op->args[1], *r = op->results[0];
  DType t = (DType)x->type.dtype;
  NestBuffer *buf = build_tile_buffer(s, "bins", &r->type);
  NestVar *v = build_result(s, r);
  Open zero = build_open(s, &v->layout);
  build_st_shared(s, ref_int(0), DT_I32, buf, ref_none(), build_linear(&r->type, zero.axes, 4));
  build_close(s, &zero);
  Layout l = build_layout_of(s, x);
  Open o = build_open(s, &l);
  Ref bin = build_value_at(s, x, o.axes, &l);
  Ref in = build_op(s, TILE_LT, t, bin, ref_int(r->type.shape[0]), ref_none());
  if (dtype_is_signed(t))
    in = build_op(s, TILE_AND, DT_I1, in, build_op(s, TILE_GE, t, bin, ref_int(0), ref_none()),
                  ref_none());
  if (mask) in = build_op(s, TILE_AND, DT_I1, in, build_value_at(s, mask, o.axes, &l), ref_none());
  Ref i = ref_var(build_temp(s, DT_I32, DT_NONE));
  nest_op(&s->b, TILE_CAST, t, i, bin, ref_none(), ref_none())->to = DT_I32;
  if (bin.kind != REF_VAR) { /* else its offset is known, and might lie outside the buffer */
    i = build_op(s, TILE_MAX, DT_I32, i, ref_int(0), ref_none());
    i = build_op(s, TILE_MIN, DT_I32, i, ref_int(r->type.shape[0] - 1), ref_none());
  }
  Ref at = build_op(s, TILE_MUL, DT_I32, i, ref_int(4), ref_none());
  NestStmt *red = nest_stmt(&s->b, NEST_RED, 0, 1);
  red->srcs[0] = ref_int(1);
  red->type = DT_I32;
  red->mems[0] = (Mem){buf, at, affine_const(0)};
  red->guard = in;
  nest_set_str(s->nest, red, NA_kind, "add");
  nest_set_str(s->nest, red, NA_sem, "relaxed");
  nest_set_str(s->nest, red, NA_scope, "cta");
  build_close(s, &o);
  Open back = build_open(s, &v->layout);
  build_ld_shared(s, build_tile_ref(s, v, back.axes), DT_I32, buf, ref_none(),
                  build_linear(&r->type, back.axes, 4));
  build_close(s, &back);
}

/* ---- dot ---- */

/* The axis along which a variable's neighbours lie in one thread, or in neighbouring lanes. */
static int fast_axis(const Layout *l) {
  for (int p = PLACE_REG; p >= PLACE_LANE; p--)
    for (int i = 0; i < l->ndigits; i++)
      if (l->d[i].place == p && l->d[i].stride == 1 && l->d[i].axis >= 0) return l->d[i].axis;
  return l->rank - 1;
}

static int log2_exact(int64_t n) {
  return n > 0 && !(n & (n - 1)) ? __builtin_ctzll((unsigned long long)n) : -1;
}

/* Rows of 16-byte chunks: rows of a power of two are swizzled (8 rows of one column lie in
 * different banks), others are padded to an odd number of chunks. */
static int64_t swizzle(Layout *l, int64_t row_bytes) {
  enum { CHUNK = 16, CHUNK_BITS = 4, BANK_BITS = 7 };
  int bits = log2_exact(row_bytes);
  if (bits > CHUNK_BITS) {
    l->xor_base = CHUNK_BITS;
    l->xor_bits = (uint8_t)(bits - CHUNK_BITS < 3 ? bits - CHUNK_BITS : 3);
    l->xor_shift = (uint8_t)(bits > BANK_BITS ? bits - CHUNK_BITS : BANK_BITS - CHUNK_BITS);
    return row_bytes;
  }
  int64_t chunks = (row_bytes + CHUNK - 1) / CHUNK;
  return (chunks | 1) * CHUNK;
}

/* On a CPU the k loop walks down a column of lines.  Were rows a multiple of some lines long, those
 * would share a few sets of the cache. */
static int64_t spread_rows(const Build *s, int64_t row_bytes) {
  enum { LINE = 64, FEW = 4 };
  bool cpu = s->u->machine->kind == MACHINE_CPU;
  return cpu && row_bytes % (FEW * LINE) == 0 ? row_bytes + LINE : row_bytes;
}

static Layout rows_layout(const Build *s, const Type *t, int fast, bool plain, int64_t *total) {
  Layout l = layout_new(t);
  int64_t bytes = dtype_bytes((DType)t->dtype), row = t->shape[fast] * bytes;
  row = plain ? spread_rows(s, row) : swizzle(&l, row);
  int slow = t->rank - 1 == fast ? t->rank - 2 : t->rank - 1;
  *total = row * t->shape[slow];
  if (t->rank == 3) layout_push(&l, 0, PLACE_BYTE, t->shape[0], (int32_t)*total);
  for (int a = t->rank - 2; a < t->rank; a++)
    layout_push(&l, a, PLACE_BYTE, t->shape[a], (int32_t)(a == fast ? bytes : row));
  if (t->rank == 3) *total *= t->shape[0];
  return l;
}

/* A buffer for a dot's operand of type t, `fast` its contiguous axis. */
static NestBuffer *operand_buffer(Build *s, const Type *t, int fast, OperandForm form) {
  enum { ALIGN = 1024 };
  int64_t total;
  Layout l = form == OPERAND_PANELS ? matrix_layout(t, fast, &total)
                                    : rows_layout(s, t, fast, form == OPERAND_PLAIN, &total);
  NestBuffer *buf = nest_buffer(s->nest, "operand", (DType)t->dtype, total, ALIGN);
  buf->tile = *t;
  buf->layout = l;
  return buf;
}

/* Of an axis in panels, as if it went on in the first: bind tells the panels apart. */
static Affine buffer_bytes(const Layout *l, const Affine *axes) {
  Affine sum = affine_const(0);
  for (int i = 0; i < l->ndigits; i++) {
    if (i + 1 < l->ndigits && l->d[i + 1].axis == l->d[i].axis) continue;
    Affine x = axes[l->d[i].axis];
    affine_scale(&x, l->d[i].stride);
    affine_add(&sum, &x);
  }
  return sum;
}

/* Stores x, swapped or not, to a buffer of its own. */
static NestBuffer *store_operand(Build *s, const TileValue *x, bool swapped, const Type *room,
                                 OperandForm form) {
  NestVar *held = build_own(s, x);
  bool plain = form == OPERAND_PLAIN;
  int last = x->type.rank - 1, fast = plain ? last : fast_axis(&held->layout);
  if (swapped && !plain) fast = last - fast;
  if (fast < last - 1) fast = last;
  NestBuffer *buf = operand_buffer(s, room, fast, form);
  Open o = build_open(s, &held->layout);
  Affine at[MAX_RANK];
  memcpy(at, o.axes, sizeof at);
  if (swapped) at[0] = o.axes[1], at[1] = o.axes[0];
  build_st_shared(s, build_tile_ref(s, held, o.axes), held->dtype, buf, ref_none(),
                  buffer_bytes(&buf->layout, at));
  build_close(s, &o);
  if (form == OPERAND_PANELS) /* it is read through the asynchronous proxy */
    nest_set_str(s->nest, nest_stmt(&s->b, NEST_FENCE, 0, 0), NA_kind, "proxy");
  return buf;
}

/* True if block b is the builder's, or around it. */
static bool around(const Build *s, const NestBlock *b) {
  const NestBlock *at = s->b.block;
  while (at && at != b) at = at->owner ? at->owner->parent : NULL;
  return at == b;
}

/* An operand in shared memory: a transposed tile is stored as it is held, and read across; one that
 * does not change in a loop is stored before it.  `room` is the operand's shape as the
 * accumulator's layout pads it. */
static NestBuffer *stage_operand(Build *s, const TileValue *v, const Type *room, OperandForm form) {
  const TileValue *x = v;
  bool swapped = false;
  while (x->def && x->def->code == TILE_TRANS && x->type.rank == 2 && !s->var[x->id]) {
    x = x->def->args[0];
    swapped = !swapped;
  }
  for (size_t i = 0; i < s->staged.len; i++) {
    const Staged *g = &s->staged.data[i];
    if (g->value == v && g->form == form && type_eq(g->room, *room) && around(s, g->block))
      return g->buffer;
  }
  NestBuilder was = build_at_definition(s, x);
  Staged g = {v, *room, form, store_operand(s, x, swapped, room, form), s->b.block};
  s->b = was;
  vec_push(s->scratch, &s->staged, g);
  return g.buffer;
}

/* The accumulator is updated in place where the old value has no other use. */
static NestVar *accumulator(Build *s, const TileOp *op) {
  const TileValue *c = op->args[2], *r = op->results[0];
  NestVar *own = s->var[c->id];
  if (own && s->uses[c->id] == 1 && layout_eq(&own->layout, &s->u->schedule->values[r->id].layout))
    return s->var[r->id] = own;
  NestVar *v = build_result(s, r);
  build_copy_tile(s, v, c);
  return v;
}

/* ldmatrix moves whole 8 x 8 matrices of 16-bit elements. */
static bool by_ldmatrix(const Atom *atom, int which, const Type *t, int wm, int wn) {
  int rows = t->shape[t->rank - 2], cols = t->shape[t->rank - 1];
  int row_step = which ? atom->k : atom->m * wm, col_step = which ? atom->n * wn : atom->k;
  return dtype_bits(atom->a) == 16 && rows % row_step == 0 && cols % col_step == 0;
}

/* Fragments read from shared memory element by element, zeros where the operand ends. */
static NestVar *fragment_from(Build *s, NestBuffer *buf, const Type *t, const Layout *l) {
  NestVar *v = nest_tile_var(s->nest, NULL, *t, l);
  bool is_padded = false;
  for (int a = 0; a < t->rank; a++) is_padded |= layout_padded(l, a) != t->shape[a];
  Open o = build_open(s, l);
  Ref at = ref_var(v); /* build_tile_ref would leave out the padding of an axis of extent 1 */
  at.axes = ARENA_ARRAY(s->nest->arena, Affine, t->rank);
  memcpy(at.axes, o.axes, sizeof *at.axes * t->rank);
  if (is_padded) nest_mov(&s->b, at, ref_zero(v->dtype), v->dtype);
  build_ld_shared(s, at, v->dtype, buf, ref_none(), buffer_bytes(&buf->layout, o.axes));
  build_close(s, &o);
  return v;
}

/* By multiply-add every thread reads the rows and columns of its outputs, the padding's too. */
static Type padded_operand(const TileValue *x, const Layout *acc, int which, bool plain) {
  Type t = x->type;
  int axis = t.rank - 2 + which;
  if (plain) t.shape[axis] = (int32_t)layout_padded(acc, axis);
  if (plain && t.rank == 3) t.shape[0] = (int32_t)layout_padded(acc, 0);
  return t;
}

typedef struct {
  NestVar *var;
  NestBuffer *buffer;
} Operand;

static Operand dot_operand(Build *s, const TileValue *x, const Atom *atom, const Layout *acc,
                           int which) {
  int wm = 1, wn = 1;
  Type room = padded_operand(x, acc, which, !atom);
  if (!atom) return (Operand){NULL, stage_operand(s, x, &room, OPERAND_PLAIN)};
  schedule_warp_split(atom, acc, &wm, &wn);
  bool group = atom->warps > 1;
  if (group && which) return (Operand){NULL, stage_operand(s, x, &room, OPERAND_PANELS)};
  Layout want = schedule_fragment(atom, which, &x->type, wm, wn, s->nest->warps);
  if (s->var[x->id] && build_same_threads(&s->var[x->id]->layout, &want))
    return (Operand){build_held(s, x, &want), NULL};
  NestBuffer *buf = stage_operand(s, x, &room, group ? OPERAND_PANELS : OPERAND_ROWS);
  if (group || by_ldmatrix(atom, which, &x->type, wm, wn)) return (Operand){NULL, buf};
  return (Operand){fragment_from(s, buf, &x->type, &want), NULL};
}

static void dot(Build *s, const TileOp *op) {
  const ValuePlan *plan = &s->u->schedule->values[op->results[0]->id];
  Operand in[2];
  for (int i = 0; i < 2; i++) in[i] = dot_operand(s, op->args[i], plan->atom, &plan->layout, i);
  NestVar *d = accumulator(s, op);
  NestStmt *st = nest_stmt(&s->b, NEST_DOT, 1, 3);
  st->type = (DType)op->args[0]->type.dtype;
  st->to = d->dtype;
  st->nmems = 2;
  st->dsts[0] = st->srcs[2] = ref_var(d);
  for (int i = 0; i < 2; i++) {
    if (in[i].var) st->srcs[i] = ref_var(in[i].var);
    else st->mems[i] = (Mem){in[i].buffer, ref_none(), affine_const(0)};
  }
  if (plan->atom) nest_set_str(s->nest, st, NA_atom, plan->atom->name);
}

void build_tile_op(Build *s, const TileOp *op) {
  switch (op->code) {
    case TILE_REDUCE: reduce_or_scan(s, op, NEST_REDUCE); return;
    case TILE_SCAN: reduce_or_scan(s, op, NEST_SCAN); return;
    case TILE_RESHAPE: reshape(s, op); return;
    case TILE_SLICE: slice(s, op); return;
    case TILE_CAT: cat(s, op); return;
    case TILE_JOIN: join(s, op); return;
    case TILE_SPLIT: split(s, op); return;
    case TILE_GATHER: gather(s, op); return;
    case TILE_HISTOGRAM: histogram(s, op); return;
    case TILE_DOT: dot(s, op); return;
    default: elementwise(s, op); return;
  }
}
