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

/* A scan takes the layout that its operand is held in, if the digits of its axis are in the order
 * that lower/bind/bind_scan.c takes.  Where a thread's runs are single elements, and the tile fits
 * a third of shared memory, shuffles for each element cost more than an exchange. */
static bool scans_in_place(Build *s, const TileOp *op, const Layout *l) {
  enum { FEW = 4, PART = 3 };
  const Type *t = &op->args[0]->type;
  int axis = (int)tile_int(op, TA_axis, 0), last = -1;
  int32_t chunks = 1, extent[HW_COUNT + 1] = {0};
  bool ordered = machine_has(s->u->machine, HAS_COALESCING);
  for (int i = 0; i < l->ndigits; i++) {
    const Digit *d = &l->d[i];
    if (d->axis != axis) continue;
    /* Chunks come first, runs last. */
    int rank = d->hw == HW_REG ? (last < 0 ? 0 : HW_COUNT) : d->hw;
    ordered &= rank > last && d->hw != HW_SERIAL;
    last = rank;
    extent[rank] = d->extent;
  }
  if (extent[HW_WARP] || extent[HW_LANE] || extent[HW_COUNT]) chunks = extent[0] ? extent[0] : 1;
  if (!ordered || (chunks > 1 && tile_int(op, TA_reverse, 0) && layout_has_padding(l, axis)))
    return false;
  int64_t bytes = type_numel(*t) * dtype_bytes((DType)t->dtype) * (int64_t)op->nargs;
  return chunks <= FEW || extent[HW_COUNT] > 1 || bytes > s->u->machine->shared / PART;
}

static Layout scan_layout(Build *s, const TileOp *op) {
  Layout l = build_layout_of(s, op->args[0]);
  if (scans_in_place(s, op, &l)) return l;
  return schedule_runs(&op->args[0]->type, (int)tile_int(op, TA_axis, 0), 1, s->nest->warps,
                       s->nest->lanes);
}

/* Padding has no neutral element for a user's function: an axis with padding that is reduced by one
 * is laid out in runs (lower/bind/bind_reduce.c), a short one in one thread. */
static Layout combine_layout(Build *s, const TileOp *op, NestCode code) {
  enum { SHORT = 16 };
  const Type *t = &op->args[0]->type;
  Layout l = build_layout_of(s, op->args[0]);
  int axis = (int)tile_int(op, TA_axis, 0), warps = s->nest->warps, lanes = s->nest->lanes;
  if (code == NEST_SCAN) return scan_layout(s, op);
  if (tile_str(op, TA_combine, NULL) || !layout_has_padding(&l, axis)) return l;
  return schedule_runs(t, axis, t->shape[axis] <= SHORT ? t->shape[axis] : 1, warps, lanes);
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
  if (tile_int(op, TA_joins, 0)) nest_set_int(s->nest, st, NA_joins, 1);
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
