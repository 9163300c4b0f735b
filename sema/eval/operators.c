/* Operators on run-time values, and the ops of the tile IR that they become. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lang/messages.h"
#include "sema/messages.h"
#include "sema/value/context.h"

/* ---- emitting ---- */

bool can_emit(Sema *S) {
  bool can = S->fn && !S->quiet;
  S->failed = S->failed || !can;
  return can;
}

/* Ops on tiles as a whole, which a function of map_elementwise can't mean: it sees an element. */
static bool is_of_whole_tiles(TileCode code) {
  uint32_t flags = tile_op_flags(code);
  bool scalar = code == TILE_PROGRAM_ID || code == TILE_NUM_PROGRAMS;
  return flags & TILE_PURE && !(flags & TILE_ELEM) && !scalar && code != TILE_SPLAT &&
         code != TILE_BROADCAST && code != TILE_ASM;
}

/* Does it have a mask, which says for a choice by element where its side is taken? */
static bool is_masked_effect(const Sema *S, TileCode code, TileValue *const *args) {
  bool access = code == TILE_STORE || code == TILE_ATOMIC_RMW;
  return code == TILE_ASSERT || (access && S->element_shape.rank && args[2]);
}

TileOp *emit(Sema *S, TileCode code, TileValue *const *args, uint32_t nargs, const Type *types,
             uint32_t nresults, Span at) {
  if (S->choice && tile_op_flags(code) & TILE_WRITE && !is_masked_effect(S, code, args)) {
    sema_error(S, at, E_SEMA_CHOICE_EFFECT, tile_op_name(code));
    sema_hint(S, H_SEMA_CHOICE_EFFECT);
  }
  if (S->elementwise && S->element_shape.rank && !S->frame->is_std && is_of_whole_tiles(code))
    sema_error(S, at, E_SEMA_WHOLE_TILE, tile_op_name(code));
  S->b.span = sema_place(S, at);
  TileOp *op = tile_build(&S->b, code, args, nargs, types, nresults);
  if (S->layouts.len) given_layout_flow(S, op, at);
  return op;
}

Value emit1(Sema *S, TileCode code, Type type, TileValue *x, TileValue *y, TileValue *z, Span at) {
  if (!can_emit(S)) return value_error();
  TileValue *args[] = {x, y, z};
  uint32_t n = z ? 3 : y ? 2 : x ? 1 : 0;
  return value_tile(emit(S, code, args, n, &type, 1, at)->results[0]);
}

/* a constant in that shape */
static TileValue *materialize_as(Sema *S, Value v, Type shape, Span at) {
  S->b.span = sema_place(S, at);
  Type t = type_like(type_scalar(v.u.c.dtype), shape);
  if (dtype_is_float(v.u.c.dtype)) return tile_const_float(&S->b, t, v.u.c.v.f);
  return tile_const_int(&S->b, t, v.u.c.v.i);
}

TileValue *materialize(Sema *S, Value v, Span at) {
  if (v.kind == V_TILE) return v.u.tile;
  BUG_IF(!can_emit(S), "a constant where nothing runs");
  return materialize_as(S, v, type_scalar(v.u.c.dtype), at);
}

/* ---- shapes ---- */

Value reshape_value(Sema *S, Value v, Type to, Span at) {
  Type from = value_type(v);
  to = type_like(from, to);
  if (type_same_shape(from, to)) return v;
  if (!can_emit(S)) return value_error();
  if (v.kind == V_CONST) return value_tile(materialize_as(S, v, to, at));
  return emit1(S, from.rank ? TILE_RESHAPE : TILE_SPLAT, to, v.u.tile, NULL, NULL, at);
}

Value expand_axis(Sema *S, Value v, int axis, Span at) {
  Type t = value_type(v);
  if (t.rank == MAX_RANK) {
    sema_error(S, at, E_TILE_RANK, MAX_RANK);
    return value_error();
  }
  for (int i = t.rank; i > axis; i--) t.shape[i] = t.shape[i - 1];
  t.shape[axis] = 1;
  t.rank++;
  if (!value_is_block(v)) return reshape_value(S, v, t, at);
  Value made = emit1(S, TILE_EXPAND_DIMS, t, v.u.tile, NULL, NULL, at);
  if (made.kind != V_TILE) return made;
  tile_set_int(S->fn, made.u.tile->def, TA_axis, axis);
  given_layout_expand(S, v.u.tile, made.u.tile, axis, at);
  return made;
}

/* The shape of both together; false and the axis where they disagree. */
static bool common_shape(Type a, Type b, Type *out, int *axis) {
  *out = a.rank >= b.rank ? a : b;
  int n = out->rank;
  for (int i = 0; i < n; i++) {
    int32_t x = i < n - a.rank ? 1 : a.shape[i - (n - a.rank)];
    int32_t y = i < n - b.rank ? 1 : b.shape[i - (n - b.rank)];
    *axis = i;
    if (x != y && x != 1 && y != 1) return false;
    out->shape[i] = x == 1 ? y : x;
  }
  return true;
}

/* `v` in a shape that it is known to fit. */
static Value broadcast_to_shape(Sema *S, Value v, Type shape, Span at) {
  Type from = value_type(v), to = type_like(from, shape);
  if (type_same_shape(from, to)) return v;
  if (!can_emit(S)) return value_error();
  if (v.kind == V_CONST) return value_tile(materialize_as(S, v, to, at));
  if (!from.rank) return emit1(S, TILE_SPLAT, to, v.u.tile, NULL, NULL, at);
  while (value_type(v).rank < to.rank) v = expand_axis(S, v, 0, at);
  if (type_same_shape(value_type(v), to)) return v;
  return emit1(S, TILE_BROADCAST, to, v.u.tile, NULL, NULL, at);
}

bool broadcast_all(Sema *S, Value *values, uint32_t n, Span at) {
  Type shape = value_type(values[0]);
  for (uint32_t i = 1; i < n; i++) {
    Type now = value_type(values[i]), joined;
    int axis;
    if (!common_shape(shape, now, &joined, &axis)) {
      Type a = type_like(value_type(values[0]), shape);
      int skip_a = joined.rank - a.rank, skip_b = joined.rank - now.rank;
      sema_error(S, at, E_SEMA_BROADCAST, type_text(S->arena, a), type_text(S->arena, now), axis,
                 a.shape[axis - skip_a], now.shape[axis - skip_b]);
      hint_broadcast(S, a, now);
      return false;
    }
    shape = joined;
  }
  for (uint32_t i = 0; i < n && shape.rank; i++) {
    values[i] = broadcast_to_shape(S, values[i], shape, at);
    if (values[i].kind == V_ERROR) return false;
  }
  return true;
}

Value broadcast_to(Sema *S, Value v, Type to, Span at) {
  Type from = value_type(v), joined;
  int axis;
  if (from.rank && (from.rank > to.rank || !common_shape(from, to, &joined, &axis) ||
                    !type_same_shape(joined, to))) {
    sema_error(S, at, E_SEMA_BROADCAST_TO, type_text(S->arena, from),
               type_text(S->arena, type_like(from, to)));
    if (from.rank < to.rank) hint_broadcast(S, from, to);
    return value_error();
  }
  return broadcast_to_shape(S, v, to, at);
}

/* ---- elementwise ops ---- */

static Value fold_constants(TileCode code, const Value *args, uint32_t n, DType result) {
  Scalar x[3];
  for (uint32_t i = 0; i < n; i++) x[i] = args[i].u.c.v;
  if (code == TILE_SELECT) return x[0].i ? args[1] : args[2];
  DType t = args[0].u.c.dtype;
  return value_const(result, scalar_op(code, t, t, x, false));
}

static bool foldable(TileCode code, const Value *args, uint32_t n) {
  for (uint32_t i = 0; i < n; i++)
    if (args[i].kind != V_CONST) return false;
  if ((code == TILE_DIV || code == TILE_REM) && dtype_is_int(args[0].u.c.dtype))
    return args[1].u.c.v.i != 0;
  return true;
}

/* x+0, x-0, x*1, x/1 of integers, and x%1 of a number: strides of 1, offsets of 0 and one block of
 * all columns are everywhere. */
static bool is_identity(TileCode code, const Value *args, Value *out) {
  if (args[1].kind != V_CONST || !dtype_is_int(args[1].u.c.dtype)) return false;
  int64_t i = args[1].u.c.v.i;
  Type t = value_type(args[0]);
  if (code == TILE_REM && i == 1 && !t.rank && dtype_is_int((DType)t.dtype)) {
    *out = value_const((DType)t.dtype, (Scalar){0});
    return true;
  }
  bool zero = (code == TILE_ADD || code == TILE_SUB) && i == 0;
  bool one = (code == TILE_MUL || code == TILE_DIV) && i == 1;
  *out = args[0];
  return zero || one;
}

/* x / 2^k as x * 2^-k: the same number by one instruction. */
static void divide_by_power(TileCode *code, Value *divisor) {
  if (*code != TILE_DIV || divisor->kind != V_CONST) return;
  DType t = divisor->u.c.dtype;
  int exponent;
  if (t != DT_F32 && t != DT_F64) return;
  if (fabs(frexp(divisor->u.c.v.f, &exponent)) != 0.5 || abs(exponent) > 126) return;
  *code = TILE_MUL;
  divisor->u.c.v.f = 1 / divisor->u.c.v.f;
}

Value emit_elementwise(Sema *S, TileCode code, const Value *args, uint32_t n, DType result,
                       Span at) {
  Value v[3] = {{0}}, same;
  for (uint32_t i = 0; i < n; i++) {
    v[i] = args[i];
    if (v[i].kind == V_ERROR) return v[i];
  }
  if (tile_op_refuses(code, (DType)value_type(v[0]).dtype)) {
    sema_error(S, at, E_SEMA_OPERAND, tile_op_name(code), value_describe(S->arena, v[0]));
    return value_error();
  }
  if (foldable(code, v, n)) return fold_constants(code, v, n, result);
  if (n == 2) divide_by_power(&code, &v[1]);
  if (n == 2 && is_identity(code, v, &same)) return same;
  if (n == 2 && (code == TILE_ADD || code == TILE_MUL)) {
    Value swapped[] = {v[1], v[0]};
    if (is_identity(code, swapped, &same)) return same;
  }
  if (!can_emit(S)) return value_error();
  if (!broadcast_all(S, v, n, at)) return value_error();
  TileValue *t[3] = {0};
  for (uint32_t i = 0; i < n; i++) t[i] = materialize(S, v[i], at);
  Type elem = code == TILE_SELECT ? t[1]->type : type_scalar(result);
  return emit1(S, code, type_like(elem, t[0]->type), t[0], t[1], t[2], at);
}

static Value elementwise2(Sema *S, TileCode code, Value a, Value b, DType t, DType result,
                          Span at) {
  Value args[] = {cast_dtype(S, a, t, at), cast_dtype(S, b, t, at)};
  return emit_elementwise(S, code, args, 2, result, at);
}

/* ---- operators ---- */

static bool is_pointer_value(Value v) { return v.kind == V_TILE && v.u.tile->type.dtype == DT_PTR; }

static Value pointer_add(Sema *S, Value ptr, Value offset, Span at) {
  offset = typed(S, offset, at);
  if (offset.kind == V_ERROR) return offset;
  DType t = (DType)value_type(offset).dtype;
  if (!dtype_is_int(t)) {
    sema_error(S, at, E_SEMA_POINTER_OFFSET, value_describe(S->arena, ptr),
               value_describe(S->arena, offset));
    return value_error();
  }
  /* Unsigned offsets are not negative: they are widened as such. */
  if (!dtype_is_signed(t) && dtype_bits(t) < 64) offset = cast_dtype(S, offset, DT_I64, at);
  if (offset.kind == V_CONST && offset.u.c.v.i == 0) return ptr;
  Value v[] = {ptr, offset};
  if (!can_emit(S) || !broadcast_all(S, v, 2, at)) return value_error();
  return emit1(S, TILE_PTR_ADD, value_type(v[0]), v[0].u.tile, materialize(S, v[1], at), NULL, at);
}

static Value pointer_arith(Sema *S, AstOp op, Value a, Value b, Span at) {
  if (op == OP_ADD && is_pointer_value(a) && !is_pointer_value(b)) return pointer_add(S, a, b, at);
  if (op == OP_ADD && is_pointer_value(b) && !is_pointer_value(a)) return pointer_add(S, b, a, at);
  if (op == OP_SUB && is_pointer_value(a) && !is_pointer_value(b))
    return pointer_add(S, a, unary(S, OP_NEG, typed(S, b, at), at), at);
  sema_error(S, at, E_SEMA_OPERANDS, ast_op_text(op), value_describe(S->arena, a),
             value_describe(S->arena, b));
  return value_error();
}

/* `-1` beside an unsigned operand is a mistake more often than a wrap. */
static bool negative_beside_unsigned(Sema *S, Value a, Value b, DType t, Span at) {
  BigInt i;
  for (int k = 0; k < 2; k++) {
    Value n = k ? b : a;
    if (n.kind != V_INT || !value_as_int(n, &i) || i >= 0 || dtype_kind(t) != DK_UINT) continue;
    sema_error(S, at, E_SEMA_NEGATIVE_UNSIGNED, value_text(S->arena, n), dtype_name(t));
    return true;
  }
  return false;
}

static Value true_divide(Sema *S, Value a, Value b, Span at) {
  DType t = common_dtype(S, a, b, true, "/", at);
  if (t == DT_NONE) return value_error();
  return elementwise2(S, TILE_DIV, a, b, dtype_is_int(t) ? DT_F32 : t, dtype_is_int(t) ? DT_F32 : t,
                      at);
}

static Value int_floor_divide(Sema *S, AstOp op, Value a, Value b, Span at) {
  DType t = common_dtype(S, a, b, true, ast_op_text(op), at);
  if (t == DT_NONE) return value_error();
  if (op == OP_FLOORDIV && !dtype_is_int(t)) {
    sema_error(S, at, E_SEMA_INT_ONLY, "//", value_describe(S->arena, a),
               value_describe(S->arena, b));
    sema_hint(S, H_SEMA_FLOORDIV);
    return value_error();
  }
  /* The division is kept, as under Triton: it may run for no element, or its result be unused. */
  BigInt i;
  if (dtype_is_int(t) && value_as_int(b, &i) && i == 0)
    sema_warning(S, at, W_SEMA_DIVISION_BY_ZERO, ast_op_text(op));
  if (negative_beside_unsigned(S, a, b, t, at)) return value_error();
  return elementwise2(S, op == OP_MOD ? TILE_REM : TILE_DIV, a, b, t, t, at);
}

/* Arithmetic if the left operand is signed before promotion (the right one, where the left is a
 * number), else logical: i8 >> u16 is an arithmetic shift of 16 bits with a result of u16. */
static Value shift_right(Sema *S, Value a, Value b, DType t, Span at) {
  DType left = (DType)value_type(value_is_number(a) ? b : a).dtype;
  if (t == DT_I1 || dtype_is_signed(left) == dtype_is_signed(t))
    return elementwise2(S, TILE_SHR, a, b, t, t, at);
  /* Numbers have to fit the common type. */
  if (value_is_number(a)) a = cast_dtype(S, a, t, at);
  if (value_is_number(b)) b = cast_dtype(S, b, t, at);
  DType shifted = dtype_int(dtype_bits(t), dtype_is_signed(left));
  return cast_dtype(S, elementwise2(S, TILE_SHR, a, b, shifted, shifted, at), t, at);
}

static Value bitwise(Sema *S, AstOp op, Value a, Value b, Span at) {
  static const TileCode codes[] = {
      [OP_AND] = TILE_AND, [OP_OR] = TILE_OR, [OP_XOR] = TILE_XOR, [OP_SHL] = TILE_SHL};
  DType t = common_dtype(S, a, b, false, ast_op_text(op), at);
  if (t == DT_NONE) return value_error();
  if (!dtype_is_int(t)) {
    sema_error(S, at, E_SEMA_INT_ONLY, ast_op_text(op), value_describe(S->arena, a),
               value_describe(S->arena, b));
    return value_error();
  }
  if (negative_beside_unsigned(S, a, b, t, at)) return value_error();
  if (op == OP_SHR) return shift_right(S, a, b, t, at);
  return elementwise2(S, codes[op], a, b, t, t, at);
}

/* Option `debug` checks that the result in 64 bits is a value of the type.  Sums that a function of
 * the standard library makes, or one that combines elements, may be meant to wrap around. */
static bool checks_overflow(const Sema *S, DType t) {
  const Options *o = &S->fn->options;
  bool own = S->frame && !S->frame->is_std && !S->combining;
  bool narrow = dtype_is_int(t) && t != DT_I1 && dtype_bits(t) < 64;
  return o->debug && !o->allow_overflow && own && narrow;
}

static void check_overflow(Sema *S, AstOp op, TileCode code, Value a, Value b, DType t, Span at) {
  int bits = dtype_bits(t);
  bool is_signed = dtype_is_signed(t);
  int64_t least = is_signed ? -(INT64_C(1) << (bits - 1)) : 0;
  int64_t most = (INT64_C(1) << (is_signed ? bits - 1 : bits)) - 1;
  Value wide[] = {cast_dtype(S, cast_dtype(S, a, t, at), DT_I64, at),
                  cast_dtype(S, cast_dtype(S, b, t, at), DT_I64, at)};
  Value x = elementwise2(S, code, wide[0], wide[1], DT_I64, DT_I64, at);
  Value above = compare(S, OP_GE, x, value_int(least), at);
  Value below = compare(S, OP_LE, x, value_int(most), at);
  const char *name = op == OP_ADD ? "add" : op == OP_SUB ? "sub" : "mul";
  assert_condition(S, binary(S, OP_AND, above, below, at), value_of(V_ABSENT),
                   arena_printf(S->arena, "int%d overflow detected for operation %s", bits, name),
                   at);
}

static Value arithmetic(Sema *S, AstOp op, Value a, Value b, Span at) {
  TileCode code = op == OP_ADD ? TILE_ADD : op == OP_SUB ? TILE_SUB : TILE_MUL;
  DType t = common_dtype(S, a, b, false, ast_op_text(op), at);
  if (t == DT_NONE || negative_beside_unsigned(S, a, b, t, at)) return value_error();
  /* Sums of i1 are sums of one bit. */
  if (t == DT_I1) code = code == TILE_MUL ? TILE_AND : TILE_XOR;
  Value made = elementwise2(S, code, a, b, t, t, at);
  if (made.kind == V_TILE && checks_overflow(S, t)) check_overflow(S, op, code, a, b, t, at);
  return made;
}

static Value no_operator(Sema *S, const char *op, Value a, Value b, Span at) {
  sema_error(S, at, E_SEMA_OPERANDS, op, value_describe(S->arena, a), value_describe(S->arena, b));
  return value_error();
}

/* ---- the methods that operators call: x.__add__(y) is x + y, x.__radd__(y) is y + x ---- */

static const char *const special_names[] = {
    [OP_ADD] = "add",       [OP_SUB] = "sub",       [OP_MUL] = "mul",
    [OP_DIV] = "truediv",   [OP_MOD] = "mod",       [OP_FLOORDIV] = "floordiv",
    [OP_POW] = "pow",       [OP_MATMUL] = "matmul", [OP_AND] = "and",
    [OP_OR] = "or",         [OP_XOR] = "xor",       [OP_SHL] = "lshift",
    [OP_SHR] = "rshift",    [OP_NEG] = "neg",       [OP_POS] = "pos",
    [OP_INVERT] = "invert", [OP_NOT] = "not",       [OP_LT] = "lt",
    [OP_LE] = "le",         [OP_GT] = "gt",         [OP_GE] = "ge",
    [OP_EQ] = "eq",         [OP_NE] = "ne"};
enum { SPECIAL_OPS = OP_NE + 1 };

static bool is_unary(AstOp op) { return op >= OP_NEG && op <= OP_NOT; }

/* The operator of "__add__" or, with *reflected, of "__radd__". */
static bool special_operator(const char *name, AstOp *op, bool *reflected) {
  size_t n = strlen(name);
  if (n < 6 || strncmp(name, "__", 2) || strcmp(name + n - 2, "__")) return false;
  for (int r = 0; r < 2; r++) {
    const char *word = name + 2 + r;
    for (int i = 0; i < SPECIAL_OPS && (!r || name[2] == 'r'); i++) {
      *op = (AstOp)i;
      *reflected = r;
      bool same = !strncmp(word, special_names[i], n - 4 - (size_t)r);
      if (same && !special_names[i][n - 4 - (size_t)r] && !(r && is_unary(*op))) return true;
    }
  }
  return false;
}

bool special_method_known(const char *name) {
  AstOp op;
  bool reflected;
  return special_operator(name, &op, &reflected) || !strcmp(name, "__getitem__");
}

Value special_method(Sema *S, Value self, const char *name, const Value *args, uint32_t n,
                     Span at) {
  AstOp op;
  bool reflected;
  if (!special_operator(name, &op, &reflected))
    return n == 1 && !strcmp(name, "__getitem__") ? eval_subscript(S, self, args[0], at)
                                                  : value_of(V_ABSENT);
  if (is_unary(op)) return n ? value_of(V_ABSENT) : unary(S, op, self, at);
  if (n != 1) return value_of(V_ABSENT);
  Value a = reflected ? args[0] : self, b = reflected ? self : args[0];
  return op >= OP_LT ? compare(S, op, a, b, at) : binary(S, op, a, b, at);
}

/* An operator of which an operand is an aggregate with such a method; false if there is none. */
static bool special_binary(Sema *S, AstOp op, Value a, Value b, Span at, Value *out) {
  static const AstOp mirrored[SPECIAL_OPS] = {[OP_LT] = OP_GT, [OP_GT] = OP_LT, [OP_LE] = OP_GE,
                                              [OP_GE] = OP_LE, [OP_EQ] = OP_EQ, [OP_NE] = OP_NE};
  if ((!is_aggregate(a) && !is_aggregate(b)) || (int)op >= SPECIAL_OPS) return false;
  const char *left = arena_printf(S->arena, "__%s__", special_names[op]);
  if (call_special(S, a, left, &b, 1, at, out)) return true;
  const char *right = op >= OP_LT ? arena_printf(S->arena, "__%s__", special_names[mirrored[op]])
                                  : arena_printf(S->arena, "__r%s__", special_names[op]);
  return call_special(S, b, right, &a, 1, at, out);
}

/* ---- operators of Python ---- */

Value binary(Sema *S, AstOp op, Value a, Value b, Span at) {
  Value result;
  if (a.kind == V_ERROR || b.kind == V_ERROR) return value_error();
  if (special_binary(S, op, a, b, at, &result)) return result;
  if (!value_is_typed(a) && !value_is_typed(b)) return const_binary(S, op, a, b, at);
  if (!value_is_operand(a) || !value_is_operand(b))
    return no_operator(S, ast_op_text(op), a, b, at);
  if (is_pointer_value(a) || is_pointer_value(b)) return pointer_arith(S, op, a, b, at);
  switch (op) {
    case OP_ADD:
    case OP_SUB:
    case OP_MUL: return arithmetic(S, op, a, b, at);
    case OP_DIV: return true_divide(S, a, b, at);
    case OP_FLOORDIV:
    case OP_MOD: return int_floor_divide(S, op, a, b, at);
    case OP_AND:
    case OP_OR:
    case OP_XOR:
    case OP_SHL:
    case OP_SHR: return bitwise(S, op, a, b, at);
    default: break;
  }
  sema_error(S, at, E_SEMA_NO_OPERATOR, ast_op_text(op));
  if (op == OP_POW) sema_hint(S, H_SEMA_POW);
  if (op == OP_MATMUL) sema_hint(S, H_SEMA_MATMUL);
  return value_error();
}

Value compare(Sema *S, AstOp op, Value a, Value b, Span at) {
  static const TileCode codes[] = {[OP_LT] = TILE_LT, [OP_LE] = TILE_LE, [OP_GT] = TILE_GT,
                                   [OP_GE] = TILE_GE, [OP_EQ] = TILE_EQ, [OP_NE] = TILE_NE};
  Value result;
  if (a.kind == V_ERROR || b.kind == V_ERROR) return value_error();
  if (special_binary(S, op, a, b, at, &result)) return result;
  if (!value_is_typed(a) && !value_is_typed(b)) return const_compare(S, op, a, b, at);
  if ((op == OP_EQ || op == OP_NE) && (!value_is_operand(a) || !value_is_operand(b)))
    return value_bool(op == OP_NE);
  if (!value_is_operand(a) || !value_is_operand(b) || op > OP_NE || op < OP_LT)
    return no_operator(S, ast_op_text(op), a, b, at);
  if (is_pointer_value(a) && is_pointer_value(b)) {
    a = cast_dtype(S, a, DT_I64, at);
    b = cast_dtype(S, b, DT_I64, at);
  }
  if (S->language < LANGUAGE_3_9) {
    /* Numbers take their own types here: x > 0.5 of f16 compares in f32. */
    a = typed(S, a, at);
    b = typed(S, b, at);
  }
  DType t = common_dtype(S, a, b, false, ast_op_text(op), at);
  if (t == DT_NONE) return value_error();
  return elementwise2(S, codes[op], a, b, t, DT_I1, at);
}

Value unary(Sema *S, AstOp op, Value a, Span at) {
  Value result;
  if (a.kind == V_ERROR) return a;
  if (is_aggregate(a) && (int)op < SPECIAL_OPS &&
      call_special(S, a, arena_printf(S->arena, "__%s__", special_names[op]), NULL, 0, at, &result))
    return result;
  if (op == OP_NOT && a.kind == V_TILE) {
    a = as_condition(S, a, at);
    return emit_elementwise(S, TILE_NOT, &a, 1, DT_I1, at);
  }
  if (!value_is_typed(a) || op == OP_NOT) return const_unary(S, op, a, at);
  DType t = (DType)value_type(a).dtype;
  if (t == DT_PTR || (op == OP_INVERT && !dtype_is_int(t))) {
    sema_error(S, at, E_SEMA_OPERAND, ast_op_text(op), value_describe(S->arena, a));
    return value_error();
  }
  if (op == OP_POS || (op == OP_NEG && t == DT_I1)) return a;
  return emit_elementwise(S, op == OP_NEG ? TILE_NEG : TILE_NOT, &a, 1, t, at);
}

Value logical(Sema *S, bool is_and, Value a, Value b, Span at) {
  Value args[] = {as_condition(S, a, at), as_condition(S, b, at)};
  return emit_elementwise(S, is_and ? TILE_AND : TILE_OR, args, 2, DT_I1, at);
}
