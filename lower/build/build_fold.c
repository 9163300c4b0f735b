/* Reductions and scans, as statements on whole tiles. */
#include "lower/build/build.h"
#include "lower/messages.h"

/* Assembly on single elements; its operands are variables. */
static void region_asm(Build *s, const TileOp *op) {
  Ref *srcs = ARENA_ARRAY(s->scratch, Ref, op->nargs);
  NestVar **made = ARENA_ARRAY(s->scratch, NestVar *, op->nresults);
  for (uint32_t i = 0; i < op->nargs; i++) {
    Type t = op->args[i]->type;
    srcs[i] = build_scalar(s, op->args[i]);
    if (srcs[i].kind == REF_VAR) continue;
    Ref held = ref_var(build_temp(s, (DType)t.dtype, (DType)t.elem));
    nest_mov(&s->b, held, srcs[i], (DType)t.dtype);
    srcs[i] = held;
  }
  for (uint32_t i = 0; i < op->nresults; i++) {
    Type t = op->results[i]->type;
    made[i] = build_temp(s, (DType)t.dtype, (DType)t.elem);
    s->scalar[op->results[i]->id] = ref_var(made[i]);
  }
  build_asm_stmt(s, op, srcs, made);
}

/* Assertions are left to the tile interpreter: the elements that lanes combine here may be padding,
 * or copies whose result nobody takes. */
static void region_op(Build *s, const TileOp *op) {
  if (op->code == TILE_ASSERT) return;
  if (op->code == TILE_ASM && tile_int(op, TA_pack, 1) == 1) {
    region_asm(s, op);
    return;
  }
  if (!(tile_op_flags(op->code) & TILE_ELEM)) {
    diag_error(s->u->diags, op->span, E_LOWER_COMBINE, tile_op_name(op->code));
    s->failed = true;
    return;
  }
  const TileValue *r = op->results[0];
  if (op->code == TILE_CONST) {
    const TileAttr *c = tile_attr(op, TA_value);
    s->scalar[r->id] = dtype_is_float((DType)r->type.dtype) ? ref_float(c->f) : ref_int(c->i);
    return;
  }
  Ref x[3] = {ref_none(), ref_none(), ref_none()};
  for (uint32_t i = 0; i < op->nargs; i++) x[i] = build_scalar(s, op->args[i]);
  NestVar *t = build_temp(s, (DType)r->type.dtype, (DType)r->type.elem);
  build_elementwise(s, op, ref_var(t), x);
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

/* An axis spelled by warps, lanes and one register digit, in that order (lower/bind/bind_scan.c); a
 * thread holds at least `run` elements.  The axis has the warps that other axes leave. */
static Layout run_layout(Build *s, const Type *t, int axis, int64_t run) {
  int order[MAX_RANK], n = 0, warps = s->nest->warps, lanes = s->nest->lanes, use = warps;
  order[n++] = axis;
  for (int a = t->rank - 1; a >= 0; a--)
    if (a != axis) order[n++] = a;
  int64_t extent = t->shape[axis], rows = 1;
  for (int a = 0; a < t->rank; a++)
    if (a != axis) rows *= t->shape[a];
  for (; use > 1 && rows > 1; rows = (rows + 1) / 2) use /= 2;
  while (use > 1 && extent < (int64_t)use * lanes * 2) use /= 2;
  int64_t least = (extent + (int64_t)lanes * use - 1) / ((int64_t)lanes * use);
  if (run < least) run = least;
  return schedule_blocked(t, order, (int)run, warps, lanes);
}

/* Padding has no neutral element for a user's function: an axis with padding that is reduced by one
 * is laid out in runs (lower/bind/bind_reduce.c), a short one in one thread. */
static Layout combine_layout(Build *s, const TileOp *op, NestCode code) {
  enum { SHORT = 16 };
  const Type *t = &op->args[0]->type;
  Layout l = build_layout_of(s, op->args[0]);
  int axis = (int)tile_int(op, TA_axis, 0);
  if (code == NEST_SCAN) return run_layout(s, t, axis, 1);
  if (tile_str(op, TA_combine, NULL) || !layout_has_padding(&l, axis)) return l;
  return run_layout(s, t, axis, t->shape[axis] <= SHORT ? t->shape[axis] : 1);
}

void build_fold_op(Build *s, const TileOp *op, NestCode code) {
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
