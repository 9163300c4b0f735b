/* Reductions, scans, histogram and gather. */
#include "sema/messages.h"
#include "sema/value/builtins.h"
#include "sema/value/context.h"

enum { OPERANDS_MAX = 16 };

typedef struct {
  Value v[OPERANDS_MAX];
  uint32_t n;
  bool tuple;
  Type shape;
} Operands;

/* The combining function: an op of one word, or a function, or the search for the first extreme. */
typedef struct {
  const char *name;
  Value fn;
  bool arg, is_max, left; /* of (value, index) pairs */
} Combine;

/* ---- operands, and the function that combines two elements ---- */

/* The first argument: a tile, or a tuple of tiles of one shape.  False after an error. */
static bool combine_operands(Sema *S, const Call *c, Operands *o) {
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
      sema_error(S, c->spans[0], E_SEMA_SAME_SHAPE, c->fn->name,
                 type_text(S->arena, value_type(o->v[0])),
                 type_text(S->arena, value_type(o->v[i])));
      return false;
    }
  }
  o->shape = value_type(o->v[0]);
  return true;
}

/* A region that is one op on the two elements is named by it. */
static const char *single_op(const TileBlock *b, const TileValue *result) {
  static const TileCode codes[] = {TILE_ADD,     TILE_MUL, TILE_MIN, TILE_MAX, TILE_MIN_NAN,
                                   TILE_MAX_NAN, TILE_AND, TILE_OR,  TILE_XOR};
  const TileOp *op = b->first;
  if (b->nparams != 2 || !op || op->next || result->def != op || op->nargs != 2) return NULL;
  bool forth = op->args[0] == b->params[0] && op->args[1] == b->params[1];
  bool back = op->args[0] == b->params[1] && op->args[1] == b->params[0];
  for (size_t i = 0; (forth || back) && i < sizeof codes / sizeof *codes; i++)
    if (op->code == codes[i]) return tile_op_name(op->code);
  return NULL;
}

static bool used_below(const TileOp *op) {
  for (const TileOp *user = op->next; user; user = user->next)
    for (uint32_t i = 0; i < user->nargs; i++)
      if (user->args[i] && user->args[i]->def == op) return true;
  return false;
}

/* Dead-code elimination: the function may compute values, perhaps tiles, only to ask for their
 * type. */
static void drop_dead_ops(TileBlock *b, TileValue *const *results, uint32_t n) {
  for (TileOp *op = b->last, *before; op; op = before) {
    before = op->prev;
    bool used = (tile_op_flags(op->code) & (TILE_READ | TILE_WRITE)) || op->nregions;
    for (uint32_t i = 0; i < n; i++) used |= results[i]->def == op;
    if (!used && !used_below(op)) tile_remove(op);
  }
}

/* False, and an error, if an op needs more than the elements: loops, memory, ids of programs,
 * assembly for several elements. */
static bool only_computes(Sema *S, const TileBlock *b) {
  bool ok = true;
  for (const TileOp *op = b->first; op; op = op->next) {
    bool assembly = op->code == TILE_ASM && tile_int(op, TA_pack, 1) == 1;
    bool good = tile_op_flags(op->code) & TILE_ELEM || op->code == TILE_ASSERT || assembly;
    if (!good) sema_error(S, op->span, E_SEMA_COMBINE_OP, tile_op_name(op->code));
    ok &= good;
  }
  return ok;
}

/* Calls `fn` on scalars in a block of its own.  NULL after an error. */
static TileBlock *combine_block(Sema *S, const Call *c, Value fn, const Operands *o,
                                const char **name) {
  TileBlock *b = tile_block_new(S->fn, NULL);
  Value args[2 * OPERANDS_MAX];
  for (uint32_t i = 0; i < 2 * o->n; i++)
    args[i] =
        value_tile(tile_block_param(S->fn, b, type_element(value_type(o->v[i % o->n])), NULL));
  TileBuilder outer = S->b;
  S->b.block = b;
  S->b.before = NULL;
  S->combining++;
  Value v = call_with(S, fn, args, 2 * o->n, c->at);
  S->combining--;
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
      sema_error(S, c->at, E_SEMA_COMBINE_TYPE, value_describe(S->arena, item),
                 type_text(S->arena, want));
  }
  if (ok) drop_dead_ops(b, results, n);
  ok = ok && only_computes(S, b);
  *name = ok ? single_op(b, results[0]) : NULL;
  if (ok && !*name) emit(S, TILE_YIELD, results, n, NULL, 0, c->at);
  S->b = outer;
  return ok ? b : NULL;
}

/* The block keeps one of two (value, index) pairs; among equal values it keeps the smaller index
 * (left), or the second pair. */
static TileBlock *extreme_block(Sema *S, const Call *c, const Operands *o, const Combine *how) {
  TileBlock *b = tile_block_new(S->fn, NULL);
  Value p[4];
  for (int i = 0; i < 4; i++)
    p[i] = value_tile(tile_block_param(S->fn, b, type_element(value_type(o->v[i % 2])), NULL));
  TileBuilder outer = S->b;
  S->b.block = b;
  S->b.before = NULL;
  Value first = compare(S, how->is_max ? OP_GT : OP_LT, p[0], p[2], c->at);
  if (how->left) {
    Value equal = compare(S, OP_EQ, p[0], p[2], c->at);
    Value tie = logical(S, true, equal, compare(S, OP_LT, p[1], p[3], c->at), c->at);
    first = logical(S, false, first, tie, c->at);
  }
  TileValue *results[2];
  for (int i = 0; i < 2; i++) {
    Value args[] = {first, p[i], p[i + 2]};
    results[i] =
        emit_elementwise(S, TILE_SELECT, args, 3, (DType)value_type(p[i]).dtype, c->at).u.tile;
  }
  emit(S, TILE_YIELD, results, 2, NULL, 0, c->at);
  S->b = outer;
  return b;
}

/* REDUCE or SCAN over `axis`, with results of the given shape, which replace the operands. */
static bool emit_combine_op(Sema *S, const Call *c, TileCode code, const Combine *how, Operands *o,
                            int axis, bool reverse, Type result) {
  const char *name = how->name;
  if (!can_emit(S)) return false;
  TileBlock *b = NULL;
  if (how->arg) b = extreme_block(S, c, o, how);
  else if (!name && !(b = combine_block(S, c, how->fn, o, &name))) return false;
  TileValue *args[OPERANDS_MAX];
  Type types[OPERANDS_MAX];
  for (uint32_t i = 0; i < o->n; i++) {
    args[i] = materialize(S, o->v[i], c->at);
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
  for (uint32_t i = 0; i < o->n; i++) {
    if (code == TILE_REDUCE) given_layout_reduce(S, args[i], op->results[i], axis, c->at);
    o->v[i] = value_tile(op->results[i]);
  }
  return true;
}

static Value combine_results(Sema *S, const Operands *o) {
  return o->tuple ? value_tuple(S->arena, o->v, o->n) : o->v[0];
}

/* ---- reductions ---- */

static void flatten(Sema *S, const Call *c, Operands *o) {
  Type flat = {.rank = 1, .shape = {(int32_t)type_numel(o->shape)}};
  for (uint32_t i = 0; i < o->n; i++) o->v[i] = reshape_value(S, o->v[i], flat, c->at);
}

/* Along `axis`, or over all elements if it is None.  False after an error. */
static bool reduce(Sema *S, const Call *c, const Combine *how, Operands *o, Value axis_value,
                   uint32_t axis_arg_index, bool keep) {
  int axis = 0;
  Type before = o->shape, result = o->shape, kept = before;
  bool all = axis_value.kind == V_NONE;
  if (!before.rank) {
    if (all) return true; /* a scalar is its own reduction */
    sema_error(S, c->spans[0], E_SEMA_REDUCE_SCALAR, c->fn->name, type_text(S->arena, before));
    return false;
  }
  if (all) {
    flatten(S, c, o);
    result.rank = 0;
  } else {
    if (!axis_arg(S, axis_value, before.rank, c->spans[axis_arg_index], &axis)) return false;
    for (int i = axis; i + 1 < before.rank; i++) result.shape[i] = before.shape[i + 1];
    result.rank--;
  }
  if (!emit_combine_op(S, c, TILE_REDUCE, how, o, axis, false, result)) return false;
  for (int i = 0; i < before.rank; i++)
    if (all || i == axis) kept.shape[i] = 1;
  for (uint32_t i = 0; i < o->n && keep; i++)
    o->v[i] =
        result.rank ? expand_axis(S, o->v[i], axis, c->at) : broadcast_to(S, o->v[i], kept, c->at);
  return true;
}

Value builtin_reduce(Sema *S, Call *c) {
  Operands o;
  bool keep;
  Combine how = {.fn = c->args[2]};
  if (!combine_operands(S, c, &o) || !want_bool(S, c->args[3], "keep_dims", c->spans[3], &keep) ||
      !reduce(S, c, &how, &o, c->args[1], 1, keep))
    return value_error();
  return combine_results(S, &o);
}

/* ---- sums and extremes ---- */

static bool cast_operand(Sema *S, const Call *c, Operands *o, DType t) {
  o->v[0] = cast_dtype(S, o->v[0], t, c->at);
  return o->v[0].kind != V_ERROR;
}

/* Sums are made in `dtype`, or in 32 bits where integers have fewer. */
static bool choose_sum_dtype(Sema *S, const Call *c, Operands *o, Value dtype, Span at) {
  DType t = (DType)value_type(o->v[0]).dtype;
  DTypeValue d;
  if (dtype.kind != V_NONE)
    return want_dtype(S, dtype, at, &d) && cast_operand(S, c, o, (DType)d.type.dtype);
  if (!dtype_is_int(t) || dtype_bits(t) >= 32) return true;
  return cast_operand(S, c, o, dtype_is_signed(t) ? DT_I32 : DT_U32);
}

Value builtin_sum(Sema *S, Call *c) {
  static const char *const names[] = {"add", "xor", "or"};
  Operands o;
  bool keep;
  Combine how = {.name = names[c->fn->code]};
  if (!combine_operands(S, c, &o) || !want_bool(S, c->args[2], "keep_dims", c->spans[2], &keep))
    return value_error();
  DType t = (DType)value_type(o.v[0]).dtype;
  if (c->fn->code && !dtype_is_int(t)) {
    sema_error(S, c->at, E_SEMA_INT_ONLY, c->fn->name, type_text(S->arena, value_type(o.v[0])),
               "nothing");
    return value_error();
  }
  if ((c->fn->code == 0 && !choose_sum_dtype(S, c, &o, c->args[3], c->spans[3])) ||
      !reduce(S, c, &how, &o, c->args[1], 1, keep))
    return value_error();
  return combine_results(S, &o);
}

/* 0, 1, ... along the axis, in the shape of the operand. */
static bool add_index_operand(Sema *S, const Call *c, Operands *o, Value *axis_value,
                              uint32_t arg) {
  int axis = 0;
  if (axis_value->kind == V_NONE) {
    flatten(S, c, o);
    o->shape = value_type(o->v[0]);
    *axis_value = value_int(0);
  }
  if (!axis_arg(S, *axis_value, o->shape.rank, c->spans[arg], &axis)) return false;
  int32_t n = o->shape.shape[axis];
  Type t = {.dtype = DT_I32, .rank = 1, .shape = {n}};
  Value index = emit1(S, TILE_ARANGE, t, NULL, NULL, NULL, c->at);
  if (index.kind != V_TILE) return false;
  tile_set_int(S->fn, index.u.tile->def, TA_start, 0);
  tile_set_int(S->fn, index.u.tile->def, TA_end, n);
  for (int i = 0; i < o->shape.rank; i++)
    if (i != axis) index = expand_axis(S, index, i, c->at);
  o->v[1] = broadcast_to(S, index, o->shape, c->at);
  o->n = 2;
  o->tuple = true;
  return o->v[1].kind != V_ERROR;
}

static Value reduce_extreme(Sema *S, const Call *c, Value axis, bool indices, Value left,
                            Value keep_dims) {
  Operands o;
  Combine how = {.is_max = c->fn->code, .arg = indices};
  bool keep;
  if (!combine_operands(S, c, &o) || !want_bool(S, left, "the tie break", c->at, &how.left) ||
      !want_bool(S, keep_dims, "keep_dims", c->at, &keep))
    return value_error();
  DType t = (DType)value_type(o.v[0]).dtype;
  Type whole = o.shape;
  bool narrows = t == DT_BF16 && indices && S->language >= LANGUAGE_3_9;
  if (t == DT_BF16 && !cast_operand(S, c, &o, DT_F32)) return value_error();
  if (indices) {
    bool all = axis.kind == V_NONE;
    if (!add_index_operand(S, c, &o, &axis, 1) || !reduce(S, c, &how, &o, axis, 1, keep && !all))
      return value_error();
    for (int i = 0; i < whole.rank; i++) whole.shape[i] = 1;
    for (uint32_t i = 0; i < 2 && keep && all; i++) o.v[i] = broadcast_to(S, o.v[i], whole, c->at);
    if (narrows) o.v[0] = cast_dtype(S, o.v[0], DT_BF16, c->at);
    return combine_results(S, &o);
  }
  how.name = how.is_max ? "max" : "min";
  if (dtype_bits(t) < 32 && !cast_operand(S, c, &o, dtype_is_float(t) ? DT_F32 : DT_I32))
    return value_error();
  return reduce(S, c, &how, &o, axis, 1, keep) ? combine_results(S, &o) : value_error();
}

Value builtin_max(Sema *S, Call *c) {
  bool indices;
  if (!want_bool(S, c->args[2], "return_indices", c->spans[2], &indices)) return value_error();
  return reduce_extreme(S, c, c->args[1], indices, c->args[3], c->args[4]);
}

Value builtin_argmax(Sema *S, Call *c) {
  Value both = reduce_extreme(S, c, c->args[1], true, c->args[2], c->args[3]);
  return both.kind == V_TUPLE ? both.u.tuple->data[1] : both;
}

/* ---- scans ---- */

static Value emit_scan(Sema *S, const Call *c, const Combine *how, Operands *o,
                       Value reverse_value) {
  bool reverse;
  int axis;
  if (!want_bool(S, reverse_value, "reverse", c->at, &reverse)) return value_error();
  if (!o->shape.rank) {
    sema_error(S, c->spans[0], E_SEMA_REDUCE_SCALAR, c->fn->name, type_text(S->arena, o->shape));
    return value_error();
  }
  if (!axis_arg(S, c->args[1], o->shape.rank, c->spans[1], &axis) ||
      !emit_combine_op(S, c, TILE_SCAN, how, o, axis, reverse, o->shape))
    return value_error();
  return combine_results(S, o);
}

Value builtin_scan(Sema *S, Call *c) {
  Operands o;
  Combine how = {.fn = c->args[2]};
  return combine_operands(S, c, &o) ? emit_scan(S, c, &how, &o, c->args[3]) : value_error();
}

Value builtin_cumulate(Sema *S, Call *c) {
  Operands o;
  Combine how = {.name = c->fn->code ? "mul" : "add"};
  if (!combine_operands(S, c, &o)) return value_error();
  bool widens = S->language < LANGUAGE_3_9 && value_type(o.v[0]).dtype == DT_BF16;
  if (widens && !cast_operand(S, c, &o, DT_F32)) return value_error();
  bool sums = c->fn->code == 0 || S->language >= LANGUAGE_3_9 || c->args[3].kind != V_NONE;
  if (sums && !choose_sum_dtype(S, c, &o, c->args[3], c->spans[3])) return value_error();
  return emit_scan(S, c, &how, &o, c->args[2]);
}

Value builtin_histogram(Sema *S, Call *c) {
  Value v, mask = value_of(V_ABSENT);
  int64_t bins;
  if (!tile_arg(S, c, 0, &v) || !want_int(S, c->args[1], "num_bins", c->spans[1], &bins))
    return value_error();
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
  if (!can_emit(S)) return value_error();
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
  if (v.kind != V_TILE) return v;
  tile_set_int(S->fn, v.u.tile->def, TA_axis, axis);
  given_layout_copy(S, index.u.tile, v.u.tile);
  return v;
}
