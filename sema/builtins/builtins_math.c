/* Elementwise functions. */
#include <math.h>
#include <string.h>

#include "sema/messages.h"
#include "sema/value/builtins.h"
#include "sema/value/context.h"

Value builtin_program_id(Sema *S, Call *c) {
  int64_t axis;
  if (!want_int(S, c->args[0], "the axis", c->spans[0], &axis)) return value_error();
  if (axis < 0 || axis > 2) {
    sema_error(S, c->spans[0], E_SEMA_GRID_AXIS, c->fn->name, (long long)axis);
    return value_error();
  }
  Value v = emit1(S, c->fn->code ? TILE_NUM_PROGRAMS : TILE_PROGRAM_ID, type_scalar(DT_I32), NULL,
                  NULL, NULL, c->at);
  if (v.kind == V_TILE) tile_set_int(S->fn, v.u.tile->def, TA_axis, axis);
  return v;
}

/* Two operands in their common type; pointers only of one type. */
static bool unify(Sema *S, Value *a, Value *b, const char *op, Span at) {
  if (value_is_pointer(*a) || value_is_pointer(*b)) {
    BigInt zero;
    Type t = value_type(value_is_pointer(*a) ? *a : *b);
    Value *number = value_is_pointer(*a) ? b : a;
    if (value_as_int(*number, &zero)) *number = cast_to(S, typed(S, *number, at), t, false, at);
    if (number->kind == V_ERROR) return false;
    if (value_is_typed(*a) && value_is_typed(*b) &&
        type_eq(type_element(value_type(*a)), type_element(value_type(*b))))
      return true;
    sema_error(S, at, E_SEMA_OPERANDS, op, value_describe(S->arena, *a),
               value_describe(S->arena, *b));
    return false;
  }
  DType t = common_dtype(S, *a, *b, false, op, at);
  if (t == DT_NONE) return false;
  *a = cast_dtype(S, *a, t, at);
  *b = cast_dtype(S, *b, t, at);
  return a->kind != V_ERROR && b->kind != V_ERROR;
}

Value builtin_where(Sema *S, Call *c) {
  for (uint32_t i = 0; i < 3; i++)
    if (!operand_arg(S, c, i)) return value_error();
  Value args[] = {as_condition(S, c->args[0], c->spans[0]), c->args[1], c->args[2]};
  if (args[0].kind == V_ERROR || !unify(S, &args[1], &args[2], "where", c->at))
    return value_error();
  DType t = (DType)value_type(args[1]).dtype;
  if (!broadcast_all(S, args, 3, c->at)) return value_error();
  return emit_elementwise(S, TILE_SELECT, args, 3, t, c->at);
}

Value builtin_arith(Sema *S, Call *c) {
  bool checks, before = S->fn->options.allow_overflow;
  if (!want_bool(S, c->args[2], "sanitize_overflow", c->spans[2], &checks)) return value_error();
  S->fn->options.allow_overflow |= !checks;
  Value v = binary(S, (AstOp)c->fn->code, c->args[0], c->args[1], c->at);
  S->fn->options.allow_overflow = before;
  return v;
}

/* bf16 is compared in f32; Triton 3.9 compares it as it is, and takes numbers as weak. */
static Value comparable(Sema *S, Value v, Span at) {
  if (S->language >= LANGUAGE_3_9) return v;
  v = typed(S, v, at);
  bool is_bf16 = v.kind != V_ERROR && value_type(v).dtype == DT_BF16;
  return is_bf16 ? cast_dtype(S, v, DT_F32, at) : v;
}

static bool propagates(Sema *S, Value v, Span at, bool *out) {
  *out = v.kind == V_STR && !strcmp(v.u.s, "ALL");
  if (v.kind == V_NONE || v.kind == V_STR) return true;
  sema_error(S, at, E_SEMA_WANTED, "propagate_nan", "tl.PropagateNan.ALL or NONE",
             value_describe(S->arena, v));
  return false;
}

static Value minmax(Sema *S, bool is_max, Value a, Value b, bool nan, Span at) {
  Value v[] = {comparable(S, a, at), comparable(S, b, at)};
  if (v[0].kind == V_ERROR || v[1].kind == V_ERROR) return value_error();
  DType t = common_dtype(S, v[0], v[1], false, is_max ? "maximum" : "minimum", at);
  if (t == DT_NONE) return value_error();
  for (int i = 0; i < 2; i++) v[i] = cast_dtype(S, v[i], t, at);
  if (v[0].kind == V_ERROR || v[1].kind == V_ERROR) return value_error();
  nan = nan && dtype_is_float(t);
  TileCode code = is_max ? (nan ? TILE_MAX_NAN : TILE_MAX) : nan ? TILE_MIN_NAN : TILE_MIN;
  return emit_elementwise(S, code, v, 2, t, at);
}

Value builtin_minmax(Sema *S, Call *c) {
  bool nan;
  if (!operand_arg(S, c, 0) || !operand_arg(S, c, 1) ||
      !propagates(S, c->args[2], c->spans[2], &nan))
    return value_error();
  return minmax(S, c->fn->code, c->args[0], c->args[1], nan, c->at);
}

Value builtin_clamp(Sema *S, Call *c) {
  bool nan;
  Value v[3];
  if (!propagates(S, c->args[3], c->spans[3], &nan)) return value_error();
  for (uint32_t i = 0; i < 3; i++) {
    if (!operand_arg(S, c, i)) return value_error();
    v[i] = comparable(S, c->args[i], c->spans[i]);
  }
  if (S->language >= LANGUAGE_3_9) {
    DType t = common_dtype3(S, v, "clamp", c->at);
    if (t == DT_NONE) return value_error();
    for (int i = 0; i < 3; i++) v[i] = cast_dtype(S, v[i], t, c->at);
  }
  Value least = minmax(S, true, v[0], v[1], nan, c->at);
  return least.kind == V_ERROR ? least : minmax(S, false, least, v[2], nan, c->at);
}

/* NaN and -0.0 among constants: Python's result depends on their order, and differs from that
 * of the same values at run time. */
static bool has_order(Sema *S, const Call *c, const Value *items, uint32_t n) {
  bool constant = true, odd = false;
  for (uint32_t i = 0; i < n; i++) {
    double x;
    constant &= !value_is_typed(items[i]);
    odd |= items[i].kind == V_FLOAT && value_as_float(items[i], &x) &&
           (isnan(x) || (x == 0 && signbit(x)));
  }
  if (!constant || !odd) return true;
  sema_error(S, c->at, E_SEMA_NO_ORDER, c->fn->code ? "max" : "min");
  return false;
}

/* Python's min and max: of constants at compile time, of run-time values as tl.minimum. */
Value builtin_py_max(Sema *S, Call *c) {
  const Value *items;
  uint32_t n;
  Value all = c->rest;
  if (all.u.tuple->len == 1) all = all.u.tuple->data[0];
  if (!iterate(S, all, c->at, &items, &n)) return value_error();
  if (!n) {
    sema_error(S, c->at, E_SEMA_EMPTY, c->fn->code ? "max" : "min");
    return value_error();
  }
  if (!has_order(S, c, items, n)) return value_error();
  Value best = items[0];
  for (uint32_t i = 1; i < n; i++) {
    if (value_is_typed(best) || value_is_typed(items[i])) {
      best = minmax(S, c->fn->code, best, items[i], false, c->at);
      continue;
    }
    Value less = const_compare(S, OP_LT, items[i], best, c->at),
          more = const_compare(S, OP_GT, items[i], best, c->at);
    if (less.kind == V_ERROR || more.kind == V_ERROR) return value_error();
    if ((c->fn->code ? more : less).u.i) best = items[i];
  }
  return best;
}

Value builtin_abs(Sema *S, Call *c) {
  Value v = c->args[0];
  if (value_is_number(v)) {
    double f;
    value_as_float(v, &f);
    return f < 0 ? const_unary(S, OP_NEG, v, c->at) : v;
  }
  if (!operand_arg(S, c, 0)) return value_error();
  DType t = (DType)value_type(v).dtype;
  if (dtype_kind(t) == DK_UINT || t == DT_I1) return v;
  if (t == DT_PTR) {
    sema_error(S, c->at, E_SEMA_OPERAND, "abs", value_describe(S->arena, v));
    return value_error();
  }
  return emit_elementwise(S, TILE_ABS, &v, 1, t, c->at);
}

Value builtin_fdiv(Sema *S, Call *c) {
  bool ieee, approx, weak = S->language >= LANGUAGE_3_9;
  if (!operand_arg(S, c, 0) || !operand_arg(S, c, 1) ||
      !want_bool(S, c->args[2], "ieee_rounding", c->spans[2], &ieee) ||
      !want_bool(S, c->args[3], "approx", c->spans[3], &approx))
    return value_error();
  Value v[] = {typed(S, c->args[0], c->at), typed(S, c->args[1], c->at)};
  DType t = common_dtype(S, c->args[0], c->args[1], weak, "fdiv", c->at);
  if (t == DT_NONE) return value_error();
  bool floats = dtype_is_float((DType)value_type(v[0]).dtype) &&
                dtype_is_float((DType)value_type(v[1]).dtype);
  if (approx && (ieee || t != DT_F32)) {
    sema_error(S, c->at, E_SEMA_FDIV_APPROX, dtype_name(t), ieee ? " with ieee_rounding" : "");
    return value_error();
  }
  if (!floats && !(weak && dtype_is_float(t))) {
    sema_error(S, c->at, E_SEMA_FLOAT_ONLY, "fdiv", value_describe(S->arena, c->args[0]),
               value_describe(S->arena, c->args[1]));
    return value_error();
  }
  for (int i = 0; i < 2; i++) v[i] = cast_dtype(S, c->args[i], t, c->at);
  return emit_elementwise(S, ieee ? TILE_DIV_RN : TILE_DIV, v, 2, t, c->at);
}

Value builtin_fma(Sema *S, Call *c) {
  Value v[3];
  for (uint32_t i = 0; i < 3; i++) {
    if (!operand_arg(S, c, i)) return value_error();
    v[i] = typed(S, c->args[i], c->spans[i]);
  }
  DType t = DT_NONE;
  if (S->language >= LANGUAGE_3_9) {
    t = common_dtype3(S, c->args, "fma", c->at);
  } else {
    t = common_dtype(S, v[0], v[1], false, "fma", c->at);
    if (t == DT_NONE) return value_error();
    t = common_dtype(S, value_const(t, (Scalar){0}), v[2], false, "fma", c->at);
  }
  if (t == DT_NONE) return value_error();
  for (int i = 0; i < 3; i++) v[i] = cast_dtype(S, v[i], t, c->at);
  if (dtype_is_float(t)) return emit_elementwise(S, TILE_FMA, v, 3, t, c->at);
  return binary(S, OP_ADD, binary(S, OP_MUL, v[0], v[1], c->at), v[2], c->at);
}

Value builtin_umulhi(Sema *S, Call *c) {
  if (!operand_arg(S, c, 0) || !operand_arg(S, c, 1)) return value_error();
  Value v[] = {typed(S, c->args[0], c->at), typed(S, c->args[1], c->at)};
  DType t = common_dtype(S, v[0], v[1], false, "umulhi", c->at);
  if (t == DT_NONE) return value_error();
  if (!dtype_is_int(t) || dtype_bits(t) < 32) {
    sema_error(S, c->at, E_SEMA_INT_ONLY, "umulhi", value_describe(S->arena, v[0]),
               value_describe(S->arena, v[1]));
    return value_error();
  }
  DType u = dtype_int(dtype_bits(t), false);
  for (int i = 0; i < 2; i++) v[i] = cast_dtype(S, cast_dtype(S, v[i], t, c->at), u, c->at);
  return cast_dtype(S, emit_elementwise(S, TILE_MULHI, v, 2, u, c->at), t, c->at);
}

Value builtin_logical(Sema *S, Call *c) {
  if (!operand_arg(S, c, 0) || !operand_arg(S, c, 1)) return value_error();
  return logical(S, c->fn->code, c->args[0], c->args[1], c->at);
}

Value builtin_expect_zero(Sema *S, Call *c) {
  return operand_arg(S, c, 0) ? c->args[0] : value_error();
}

/* ---- core.NAME: one op of the tile IR ---- */

static Value core_cast(Sema *S, TileCode code, const Tuple *args, Span at) {
  DTypeValue d;
  Value v = typed(S, args->data[1], at);
  if (v.kind == V_ERROR || !want_dtype(S, args->data[2], at, &d)) return value_error();
  return code == TILE_CAST ? cast_to(S, v, d.type, false, at) : bitcast_to(S, v, d.type, at);
}

static Value core_select(Sema *S, const Tuple *args, Span at) {
  Value v[] = {as_condition(S, args->data[1], at), args->data[2], args->data[3]};
  if (v[0].kind == V_ERROR || !unify(S, &v[1], &v[2], "select", at)) return value_error();
  return emit_elementwise(S, TILE_SELECT, v, 3, (DType)value_type(v[1]).dtype, at);
}

/* Constants take the dtype of the others; operands with dtypes must agree in them. */
static bool core_operands(Sema *S, TileCode code, const Tuple *args, Value *v, uint32_t n,
                          Span at) {
  DType t = DT_NONE;
  for (uint32_t i = 0; i < n; i++) {
    v[i] = args->data[i + 1];
    if (!value_is_operand(v[i])) {
      sema_error(S, at, E_SEMA_WANTED, tile_op_name(code), "a tile or a scalar",
                 value_describe(S->arena, v[i]));
      return false;
    }
    if (value_is_typed(v[i]) && t == DT_NONE) t = (DType)value_type(v[i]).dtype;
  }
  for (uint32_t i = 0; i < n && t == DT_NONE; i++) t = (DType)value_type(typed(S, v[i], at)).dtype;
  for (uint32_t i = 0; i < n; i++) {
    if (value_is_typed(v[i]) && value_type(v[i]).dtype != t) {
      sema_error(S, at, E_SEMA_OPERANDS, tile_op_name(code), value_describe(S->arena, v[0]),
                 value_describe(S->arena, v[i]));
      return false;
    }
    v[i] = cast_dtype(S, v[i], t, at);
    if (v[i].kind == V_ERROR) return false;
  }
  return true;
}

Value builtin_core(Sema *S, Call *c) {
  const Tuple *args = c->rest.u.tuple;
  TileCode code = (TileCode)args->data[0].u.i;
  uint32_t n = code == TILE_CAST || code == TILE_BITCAST ? 2 : (uint32_t)strlen(tile_op_args(code));
  if (args->len != n + 1) {
    sema_error(S, c->at, E_SEMA_ARG_COUNT, tile_op_name(code), n, args->len - 1);
    return value_error();
  }
  if (code == TILE_CAST || code == TILE_BITCAST) return core_cast(S, code, args, c->at);
  if (code == TILE_SELECT) return core_select(S, args, c->at);
  Value v[3];
  if (n > 3 || !n || !core_operands(S, code, args, v, n, c->at)) return value_error();
  bool compares = code >= TILE_LT && code <= TILE_NE;
  DType t = (DType)value_type(v[0]).dtype;
  return emit_elementwise(S, code, v, n, compares ? DT_I1 : t, c->at);
}

/* ---- map_elementwise ----
 *
 * The function is evaluated on whole tiles; branches on elements become choices by element
 * (branch.c), and loops run until the last element has left them (loops.c).  If `pack` > 1, a call
 * takes pack neighbours in row-major order as operands. */

enum { PACK_MAX = 64 };

/* The 2^k-th elements of a [n, 2^k] tile as tiles of n: v[:, 0], v[:, 1], ... */
static void unpack(Sema *S, Value v, int64_t n, uint32_t pack, uint32_t stride, Value *out,
                   Span at) {
  if (pack == 1) {
    *out = reshape_value(S, v, (Type){.rank = 1, .shape = {(int32_t)n}}, at);
    return;
  }
  Type pairs = {.rank = 3, .shape = {(int32_t)n, (int32_t)pack / 2, 2}};
  v = reshape_value(S, v, pairs, at);
  if (v.kind == V_ERROR) return;
  Type half = {.rank = 2, .shape = {(int32_t)n, (int32_t)pack / 2}};
  Type types[2] = {type_like(value_type(v), half), type_like(value_type(v), half)};
  TileOp *op = emit(S, TILE_SPLIT, &v.u.tile, 1, types, 2, at);
  for (uint32_t i = 0; i < 2; i++)
    unpack(S, value_tile(op->results[i]), n, pack / 2, 2 * stride, out + i * stride, at);
}

/* The inverse: a [n, pack] tile of tiles of n elements. */
static Value pack_again(Sema *S, const Value *v, int64_t n, uint32_t pack, uint32_t stride,
                        Span at) {
  if (pack == 1) return reshape_value(S, *v, (Type){.rank = 2, .shape = {(int32_t)n, 1}}, at);
  Value even = pack_again(S, v, n, pack / 2, 2 * stride, at);
  Value odd = pack_again(S, v + stride, n, pack / 2, 2 * stride, at);
  Type pairs = {.rank = 3, .shape = {(int32_t)n, (int32_t)pack / 2, 2}};
  Value both =
      emit1(S, TILE_JOIN, type_like(value_type(even), pairs), even.u.tile, odd.u.tile, NULL, at);
  return reshape_value(S, both, (Type){.rank = 2, .shape = {(int32_t)n, (int32_t)pack}}, at);
}

static Value call_by_element(Sema *S, Call *c, const Value *args, uint32_t n, Type shape) {
  Type outer = S->element_shape;
  S->elementwise++;
  S->element_shape = shape;
  Value v = call_with(S, c->args[0], args, n, c->at);
  S->element_shape = outer;
  S->elementwise--;
  return v;
}

/* A result as a value for each element.  False after an error. */
static bool mapped_result(Sema *S, const Call *c, Value *v, Type shape) {
  if (v->kind == V_ERROR) return false;
  if (!value_is_operand(*v)) {
    Value fn = c->args[0];
    sema_error(S, c->at, E_SEMA_MAP_NOTHING,
               fn.kind == V_FUNC && fn.u.func->def ? fn.u.func->def->name : "the function",
               value_describe(S->arena, *v));
    return false;
  }
  *v = broadcast_to(S, typed(S, *v, c->at), shape, c->at);
  return v->kind != V_ERROR;
}

static Value mapped_results(Sema *S, const Call *c, Value v, Type shape) {
  if (v.kind != V_TUPLE) return mapped_result(S, c, &v, shape) ? v : value_error();
  for (uint32_t i = 0; i < v.u.tuple->len; i++)
    if (!mapped_result(S, c, &v.u.tuple->data[i], shape)) return value_error();
  return v;
}

static Value map_packed(Sema *S, Call *c, const Value *args, uint32_t nargs, uint32_t pack) {
  Type shape = value_type(args[0]);
  int64_t n = type_numel(shape) / pack;
  Type one = {.rank = 1, .shape = {(int32_t)n}}, rows = {.rank = 2};
  rows.shape[0] = (int32_t)n, rows.shape[1] = (int32_t)pack;
  Value *parts = ARENA_ARRAY(S->arena, Value, (size_t)nargs * pack);
  for (uint32_t i = 0; i < nargs; i++) {
    Value flat = reshape_value(S, value_tile(materialize(S, args[i], c->at)), rows, c->at);
    if (flat.kind == V_ERROR) return flat;
    unpack(S, flat, n, pack, 1, &parts[i * pack], c->at);
  }
  Value v = mapped_results(S, c, call_by_element(S, c, parts, nargs * pack, one), one);
  if (v.kind == V_ERROR) return v;
  uint32_t len = v.kind == V_TUPLE ? v.u.tuple->len : 1;
  if (!len || len % pack) {
    sema_error(S, c->at, E_SEMA_PACK_RESULTS, len, pack);
    return value_error();
  }
  Value results = value_tuple(S->arena, NULL, 0);
  for (uint32_t i = 0; i < len; i += pack) {
    const Value *r = &v.u.tuple->data[i];
    for (uint32_t j = 1; j < pack; j++)
      if (!type_eq(value_type(r[0]), value_type(r[j]))) {
        sema_error(S, c->at, E_SEMA_PACK_TYPES, value_describe(S->arena, r[0]),
                   value_describe(S->arena, r[j]));
        return value_error();
      }
    Value all = pack_again(S, r, n, pack, 1, c->at);
    value_append(S->arena, results.u.tuple, reshape_value(S, all, shape, c->at));
  }
  return results;
}

Value builtin_map_elementwise(Sema *S, Call *c) {
  int64_t pack;
  const Tuple *t = c->rest.u.tuple;
  if (!want_int(S, c->args[2], "pack", c->spans[2], &pack)) return value_error();
  if (!t->len) {
    sema_error(S, c->at, E_SEMA_ARG_MISSING, c->fn->name, "args");
    return value_error();
  }
  Value *args = ARENA_ARRAY(S->arena, Value, t->len);
  for (uint32_t i = 0; i < t->len; i++) args[i] = typed(S, t->data[i], c->at);
  for (uint32_t i = 0; i < t->len; i++)
    if (args[i].kind == V_ERROR) return args[i];
  if (!broadcast_all(S, args, t->len, c->at)) return value_error();
  Type shape = value_type(args[0]);
  int64_t numel = type_numel(shape);
  if (pack < 1 || pack > PACK_MAX || pack & (pack - 1) || numel % pack) {
    sema_error(S, c->spans[2], E_SEMA_PACK, (long long)numel, (long long)pack);
    return value_error();
  }
  if (!can_emit(S)) return value_error();
  if (pack > 1) return map_packed(S, c, args, t->len, (uint32_t)pack);
  return mapped_results(S, c, call_by_element(S, c, args, t->len, shape), shape);
}
