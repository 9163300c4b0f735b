/* Reductions, scans, histogram and gather. */
#include <string.h>

#include "lang/messages.h"
#include "sema/builtins.h"
#include "sema/context.h"

bool tile_arg(Sema *S, const Call *c, uint32_t i, Value *out);
bool axis_arg(Sema *S, Value v, int rank, Span at, int *out);

enum { OPERANDS_MAX = 16 };

typedef struct {
  Value v[OPERANDS_MAX];
  uint32_t n;
  bool tuple;
  Type shape;
} Operands;

/* A tile, or a tuple of tiles of one shape. */
static bool operands(Sema *S, const Call *c, Operands *o) {
  Value one[] = {c->args[0]};
  const Value *items = one;
  o->n = 1;
  o->tuple = c->args[0].kind == V_TUPLE;
  if (o->tuple) {
    items = c->args[0].u.tuple->data;
    o->n = c->args[0].u.tuple->len;
  }
  if (!o->n || o->n > OPERANDS_MAX) {
    sema_error(S, c->spans[0], E_SEMA_TOO_MANY, "operands", OPERANDS_MAX, o->n);
    return false;
  }
  for (uint32_t i = 0; i < o->n; i++) {
    if (!value_is_operand(items[i])) {
      sema_error(S, c->spans[0], E_SEMA_WANTED, c->fn->name, "a tile or a tuple of tiles",
                 value_describe(S->arena, items[i]));
      return false;
    }
    o->v[i] = typed(S, items[i], c->spans[0]);
    if (o->v[i].kind == V_ERROR) return false;
    if (i && !type_same_shape(value_type(o->v[0]), value_type(o->v[i]))) {
      sema_error(S, c->spans[0], E_SEMA_SAME_SHAPE, c->fn->name, type_text(S->arena, value_type(o->v[0])),
                 type_text(S->arena, value_type(o->v[i])));
      return false;
    }
  }
  o->shape = value_type(o->v[0]);
  return true;
}

/* ---- the combining function ---- */

/* A region that is one op on the two elements is named by it. */
static const char *single_op(const TileBlock *b, const TileValue *result) {
  static const TileCode codes[] = {TILE_ADD, TILE_MUL, TILE_MIN, TILE_MAX, TILE_MIN_NAN,
                                   TILE_MAX_NAN, TILE_AND, TILE_OR, TILE_XOR};
  const TileOp *op = b->first;
  if (b->nparams != 2 || !op || op->next || result->def != op || op->nargs != 2) return NULL;
  bool forth = op->args[0] == b->params[0] && op->args[1] == b->params[1];
  bool back = op->args[0] == b->params[1] && op->args[1] == b->params[0];
  for (size_t i = 0; (forth || back) && i < sizeof codes / sizeof *codes; i++)
    if (op->code == codes[i]) return tile_op_name(op->code);
  return NULL;
}

/* Calls `fn` on scalars in a block of its own.  NULL after an error. */
static TileBlock *combine_block(Sema *S, const Call *c, Value fn, const Operands *o,
                                const char **name) {
  TileBlock *b = tile_block_new(S->fn, NULL);
  Value args[2 * OPERANDS_MAX];
  for (uint32_t i = 0; i < 2 * o->n; i++)
    args[i] = value_tile(tile_block_param(S->fn, b, type_element(value_type(o->v[i % o->n])), NULL));
  TileBuilder outer = S->b;
  S->b.block = b;
  S->b.before = NULL;
  Value v = call_with(S, fn, args, 2 * o->n, c->at);
  TileValue *results[OPERANDS_MAX];
  bool ok = v.kind != V_ERROR;
  uint32_t n = v.kind == V_TUPLE ? v.u.tuple->len : 1;
  if (ok && n != o->n) {
    sema_error(S, c->at, E_SEMA_COMBINE_COUNT, n, o->n);
    ok = false;
  }
  for (uint32_t i = 0; i < n && ok; i++) {
    Value item = v.kind == V_TUPLE ? v.u.tuple->data[i] : v;
    Type want = type_element(value_type(o->v[i]));
    if (value_is_number(item)) item = cast_to(S, item, want, false, c->at);
    ok = value_is_typed(item) && type_eq(value_type(item), want);
    if (ok) results[i] = materialize(S, item, c->at);
    else if (item.kind != V_ERROR)
      sema_error(S, c->at, E_SEMA_COMBINE_TYPE, value_describe(S->arena, item), type_text(S->arena, want));
  }
  *name = ok ? single_op(b, results[0]) : NULL;
  if (ok && !*name) emit(S, TILE_YIELD, results, n, NULL, 0, c->at);
  S->b = outer;
  return ok ? b : NULL;
}

/* REDUCE or SCAN over `axis`, with results of the given shape. */
static bool combine_op(Sema *S, const Call *c, TileCode code, Value fn, Operands *o, int axis,
                       bool reverse, Type result) {
  const char *name;
  if (!can_emit(S, c->at)) return false;
  TileBlock *b = combine_block(S, c, fn, o, &name);
  if (!b) return false;
  TileValue *args[OPERANDS_MAX];
  Type types[OPERANDS_MAX];
  for (uint32_t i = 0; i < o->n; i++) {
    args[i] = o->v[i].u.tile;
    types[i] = type_like(value_type(o->v[i]), result);
  }
  TileOp *op = emit(S, code, args, o->n, types, o->n, c->at);
  tile_set_int(S->fn, op, TA_axis, axis);
  if (code == TILE_SCAN) tile_set_int(S->fn, op, TA_reverse, reverse);
  if (name) {
    tile_set_str(S->fn, op, TA_combine, name);
  } else {
    op->regions = ARENA_ARRAY(S->arena, TileBlock *, 1);
    op->regions[0] = b;
    op->nregions = 1;
    b->owner = op;
  }
  for (uint32_t i = 0; i < o->n; i++) o->v[i] = value_tile(op->results[i]);
  return true;
}

static Value results_of(Sema *S, const Operands *o) {
  return o->tuple ? value_tuple(S->arena, o->v, o->n) : o->v[0];
}

Value builtin_reduce(Sema *S, Call *c) {
  Operands o;
  bool keep;
  int axis = 0;
  if (!operands(S, c, &o) || !want_bool(S, c->args[3], "keep_dims", c->spans[3], &keep))
    return value_error();
  Type before = o.shape, result = o.shape;
  bool all = c->args[1].kind == V_NONE;
  if (!before.rank) {
    if (all) return results_of(S, &o); /* a scalar is its own reduction */
    sema_error(S, c->spans[0], E_SEMA_REDUCE_SCALAR, c->fn->name, type_text(S->arena, before));
    return value_error();
  }
  if (all) {
    Type flat = {.rank = 1, .shape = {(int32_t)type_numel(before)}};
    for (uint32_t i = 0; i < o.n; i++) o.v[i] = reshape_value(S, o.v[i], flat, c->at);
    result.rank = 0;
  } else {
    if (!axis_arg(S, c->args[1], before.rank, c->spans[1], &axis)) return value_error();
    for (int i = axis; i + 1 < before.rank; i++) result.shape[i] = before.shape[i + 1];
    result.rank--;
  }
  if (!combine_op(S, c, TILE_REDUCE, c->args[2], &o, axis, false, result)) return value_error();
  Type kept = before;
  for (int i = 0; i < before.rank; i++)
    if (all || i == axis) kept.shape[i] = 1;
  for (uint32_t i = 0; i < o.n && keep; i++)
    o.v[i] = all || !result.rank ? broadcast_to(S, o.v[i], kept, c->at)
                                 : expand_axis(S, o.v[i], axis, c->at);
  return results_of(S, &o);
}

Value builtin_scan(Sema *S, Call *c) {
  Operands o;
  bool reverse;
  int axis;
  if (!operands(S, c, &o) || !want_bool(S, c->args[3], "reverse", c->spans[3], &reverse))
    return value_error();
  if (!o.shape.rank) {
    sema_error(S, c->spans[0], E_SEMA_REDUCE_SCALAR, c->fn->name, type_text(S->arena, o.shape));
    return value_error();
  }
  if (!axis_arg(S, c->args[1], o.shape.rank, c->spans[1], &axis) ||
      !combine_op(S, c, TILE_SCAN, c->args[2], &o, axis, reverse, o.shape))
    return value_error();
  return results_of(S, &o);
}

Value builtin_histogram(Sema *S, Call *c) {
  Value v, mask = value_of(V_ABSENT);
  int64_t bins;
  if (!tile_arg(S, c, 0, &v) || !want_int(S, c->args[1], "num_bins", c->spans[1], &bins)) return value_error();
  Type t = value_type(v);
  if (t.rank != 1 || !dtype_is_int((DType)t.dtype) || bins < 1 || bins > MAX_TILE) {
    sema_error(S, c->at, E_SEMA_HISTOGRAM, type_text(S->arena, t), (long long)bins);
    return value_error();
  }
  TileValue *args[] = {v.u.tile, NULL};
  if (c->args[2].kind != V_NONE) {
    mask = as_condition(S, c->args[2], c->spans[2]);
    if (mask.kind == V_ERROR) return mask;
    mask = broadcast_to(S, mask, t, c->spans[2]);
    if (mask.kind == V_ERROR) return mask;
    args[1] = materialize(S, mask, c->at);
  }
  Type result = {.dtype = DT_I32, .rank = 1, .shape = {(int32_t)bins}};
  if (!can_emit(S, c->at)) return value_error();
  return value_tile(emit(S, TILE_HISTOGRAM, args, 2, &result, 1, c->at)->results[0]);
}

Value builtin_gather(Sema *S, Call *c) {
  Value v, index;
  int axis;
  if (!tile_arg(S, c, 0, &v) || !tile_arg(S, c, 1, &index)) return value_error();
  Type t = value_type(v), ti = value_type(index);
  if (!axis_arg(S, c->args[2], t.rank, c->spans[2], &axis)) return value_error();
  bool fits = t.rank == ti.rank && dtype_is_int((DType)ti.dtype) && ti.dtype != DT_I1;
  for (int i = 0; fits && i < t.rank; i++) fits = i == axis || t.shape[i] == ti.shape[i];
  if (!fits) {
    sema_error(S, c->at, E_SEMA_GATHER, type_text(S->arena, t), type_text(S->arena, ti), axis);
    return value_error();
  }
  v = emit1(S, TILE_GATHER, type_like(t, ti), v.u.tile, index.u.tile, NULL, c->at);
  if (v.kind == V_TILE) tile_set_int(S->fn, v.u.tile->def, TA_axis, axis);
  return v;
}
