/* Ops that change the shape of tiles: by another layout, or through shared memory where no layout
 * expresses the move. */
#include <string.h>

#include "lower/build/build.h"

static void through_buffer(Build *s, const TileOp *op, NestBuffer *buf, const Type *from,
                           const int64_t *starts, const int64_t *strides) {
  const TileValue *r = op->results[0];
  NestVar *v = build_result(s, r);
  Open o = build_open(s, v->layout);
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

static void build_reshape(Build *s, const TileOp *op) {
  const TileValue *x = op->args[0], *r = op->results[0];
  Layout want = r->type.rank ? build_layout_of(s, r) : (Layout){0};
  if (!x->type.rank || !r->type.rank) {
    if (x->type.rank) {
      NestBuffer *buf = build_to_buffer(s, build_own(s, x), &x->type);
      build_ld_shared(s, ref_var(build_result(s, r)), (DType)r->type.dtype, buf, ref_none(),
                      affine_const(0));
    } else {
      NestVar *v = build_result(s, r);
      Open o = build_open(s, v->layout);
      nest_mov(&s->b, build_tile_ref(s, v, o.axes), build_scalar(s, x), v->dtype);
      build_close(s, &o);
    }
    return;
  }
  /* Values that no register holds are computed where the result needs them. */
  Layout from = build_layout_of(s, x), same;
  if (!s->u->schedule->values[x->id].held && layout_reshape(&want, &x->type, &same)) from = same;
  s->var[r->id] = build_relayout(s, build_held(s, x, &from), &r->type, &want);
}

/* Can threads exchange a flip's elements within their warp? */
static bool flips_in_warps(Build *s, const TileOp *op, unsigned axes) {
  const TileValue *x = op->args[0];
  Layout l = build_layout_of(s, op->results[0]), own = build_layout_of(s, x);
  if (!axes || !machine_has(s->u->machine, HAS_COALESCING)) return false;
  if (s->var[x->id] && !build_same_threads(&own, &l)) return false;
  for (int a = 0; a < l.rank; a++)
    if (axes >> a & 1 && (layout_has_padding(&l, a) || layout_spelled_by(&l, a, HW_WARP)))
      return false;
  return true;
}

static void build_flip(Build *s, const TileOp *op, unsigned axes) {
  const TileValue *r = op->results[0];
  Layout l = build_layout_of(s, r);
  NestVar *v = build_held(s, op->args[0], &l);
  for (int a = 0; a < l.rank; a++) {
    if (!(axes >> a & 1)) continue;
    NestStmt *st = nest_stmt(&s->b, NEST_FLIP, 1, 1);
    st->srcs[0] = ref_var(v);
    v = nest_tile_var(s->nest, r->name, r->type, &l);
    st->dsts[0] = ref_var(v);
    st->type = v->dtype;
    nest_set_int(s->nest, st, NA_axis, a);
  }
  s->var[r->id] = v;
}

static void slice(Build *s, const TileOp *op) {
  const TileValue *x = op->args[0];
  unsigned flipped = schedule_flipped_axes(op);
  if (flips_in_warps(s, op, flipped)) {
    build_flip(s, op, flipped);
    return;
  }
  NestBuffer *buf = build_to_buffer(s, build_own(s, x), &x->type);
  through_buffer(s, op, buf, &x->type, tile_attr(op, TA_starts)->list,
                 tile_attr(op, TA_strides)->list);
}

static void build_concat(Build *s, const TileOp *op) {
  const TileValue *r = op->results[0];
  NestBuffer *buf = build_tile_buffer(s, "cat", &r->type);
  int64_t at = 0;
  for (uint32_t i = 0; i < 2; i++) {
    const TileValue *x = op->args[i];
    NestVar *v = build_own(s, x);
    Open o = build_open(s, v->layout);
    Affine start = affine_const(at), bytes = build_linear(&x->type, o.axes, dtype_bytes(v->dtype));
    affine_add(&bytes, &start);
    build_st_shared(s, build_tile_ref(s, v, o.axes), v->dtype, buf, ref_none(), bytes);
    build_close(s, &o);
    at += type_numel(x->type) * dtype_bytes(v->dtype);
  }
  through_buffer(s, op, buf, NULL, NULL, NULL);
}

static void build_join(Build *s, const TileOp *op) {
  const TileValue *r = op->results[0];
  Layout l = op->args[0]->type.rank ? build_layout_of(s, op->args[0]) : (Layout){0};
  if (!op->args[0]->type.rank) {
    layout_push(&l, -1, HW_WARP, s->nest->warps, 1);
    layout_push(&l, -1, HW_LANE, s->nest->lanes, 1);
  }
  Layout pair = layout_add_pair(&l), want = build_layout_of(s, r);
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

/* Scalars are broadcast: all threads read one address. */
static void split_scalars(Build *s, const TileOp *op) {
  const TileValue *x = op->args[0];
  DType t = (DType)x->type.dtype;
  NestBuffer *buf = build_to_buffer(s, build_own(s, x), &x->type);
  for (int i = 0; i < 2; i++)
    build_ld_shared(s, ref_var(build_result(s, op->results[i])), t, buf, ref_none(),
                    affine_const(i * (int64_t)dtype_bytes(t)));
}

static void build_split(Build *s, const TileOp *op) {
  const TileValue *x = op->args[0], *r = op->results[0];
  if (!r->type.rank) {
    split_scalars(s, op);
    return;
  }
  Layout half = build_layout_of(s, r), pair = layout_add_pair(&half);
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

/* result[.., i, ..] = x[.., index, ..]: x is in shared memory, the index's own position gives the
 * other axes. */
static void build_gather(Build *s, const TileOp *op) {
  const TileValue *x = op->args[0], *index = op->args[1], *r = op->results[0];
  int axis = (int)tile_int(op, TA_axis, 0);
  NestBuffer *buf = build_to_buffer(s, build_own(s, x), &x->type);
  NestVar *v = build_result(s, r);
  Open o = build_open(s, v->layout);
  int64_t bytes = dtype_bytes(v->dtype), stride = bytes;
  for (int a = axis + 1; a < x->type.rank; a++) stride *= x->type.shape[a];
  Ref i = build_value_at(s, index, o.axes, v->layout);
  if (index->type.dtype != DT_I32) i = build_cast(s, i, (DType)index->type.dtype, DT_I32);
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
  Open zero = build_open(s, v->layout);
  build_st_shared(s, ref_int(0), DT_I32, buf, ref_none(), build_linear(&r->type, zero.axes, 4));
  build_close(s, &zero);
  Layout l = build_layout_of(s, x);
  Open o = build_open(s, &l);
  Ref bin = build_value_at(s, x, o.axes, &l);
  bool in_register = bin.kind == REF_VAR && s->u->schedule->values[x->id].held;
  if (dtype_bits(t) < 32) { /* it need not hold the number of bins */
    bin = build_cast(s, bin, t, DT_I32);
    t = DT_I32;
  }
  Ref in = build_op(s, TILE_LT, t, bin, ref_int(r->type.shape[0]), ref_none());
  if (dtype_is_signed(t))
    in = build_op(s, TILE_AND, DT_I1, in, build_op(s, TILE_GE, t, bin, ref_int(0), ref_none()),
                  ref_none());
  if (mask) in = build_op(s, TILE_AND, DT_I1, in, build_value_at(s, mask, o.axes, &l), ref_none());
  Ref i = build_cast(s, bin, t, DT_I32);
  if (!in_register) { /* its offset may be known, and be outside of the buffer */
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
  Open back = build_open(s, v->layout);
  build_ld_shared(s, build_tile_ref(s, v, back.axes), DT_I32, buf, ref_none(),
                  build_linear(&r->type, back.axes, 4));
  build_close(s, &back);
}

void build_shape_op(Build *s, const TileOp *op) {
  void (*build)(Build *, const TileOp *) = NULL;
  switch (op->code) {
    case TILE_RESHAPE: build = build_reshape; break;
    case TILE_SLICE: build = slice; break;
    case TILE_CAT: build = build_concat; break;
    case TILE_JOIN: build = build_join; break;
    case TILE_SPLIT: build = build_split; break;
    case TILE_GATHER: build = build_gather; break;
    case TILE_HISTOGRAM: build = histogram; break;
    default: break;
  }
  BUG_IF(!build, "`%s` moves no elements", tile_op_name(op->code));
  build(s, op);
}
