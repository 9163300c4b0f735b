/* The types of numbers: promotion and casts. */
#include <math.h>

#include "sema/messages.h"
#include "sema/value/context.h"

/* ---- numbers and their types ---- */

static const BigInt two = 2;

/* Bounds of an integer dtype; i1 holds 0 and 1. */
static void int_bounds(DType t, BigInt *low, BigInt *high) {
  unsigned bits = dtype_bits(t);
  bool is_signed = dtype_is_signed(t);
  *low = is_signed ? -(two << (bits - 2)) : 0;
  *high = (is_signed ? two << (bits - 2) : bits == 1 ? two : two << (bits - 1)) - 1;
}

/* The dtype that an integer takes by itself. */
static DType int_dtype(BigInt i) {
  static const DType order[] = {DT_I32, DT_U32, DT_I64, DT_U64};
  for (int k = 0; k < 4; k++) {
    BigInt low, high;
    int_bounds(order[k], &low, &high);
    if (low <= i && i <= high) return order[k];
  }
  return DT_NONE;
}

/* A float takes f32 unless it is out of its normal range. */
static DType float_dtype(double f) {
  double size = fabs(f);
  bool fits = isinf(f) || isnan(f) || f == 0 || (size >= 0x1p-126 && size <= 0x1.fffffep127);
  return fits ? DT_F32 : DT_F64;
}

static Value number_const(DType t, Value n) {
  Scalar s = {0};
  BigInt i = 0;
  double f = 0;
  bool is_int = value_as_int(n, &i);
  value_as_float(n, &f);
  if (dtype_is_float(t)) {
    s.f = scalar_round(t, f);
  } else if (is_int) {
    Scalar wide = {.i = (int64_t)i};
    s = scalar_op(TILE_CAST, DT_I64, t, &wide, false);
    if (t == DT_I1) s.i = i != 0;
  } else {
    Scalar wide = {.f = f};
    s = scalar_op(TILE_CAST, DT_F64, t, &wide, false);
  }
  return value_const(t, s);
}

Value typed(Sema *S, Value v, Span at) {
  if (value_is_typed(v) || v.kind == V_ERROR) return v;
  DType t = DT_NONE;
  if (v.kind == V_BOOL) t = DT_I1;
  else if (v.kind == V_INT) t = int_dtype(v.u.i);
  else if (v.kind == V_FLOAT) t = float_dtype(v.u.f);
  else {
    sema_error(S, at, E_SEMA_NOT_RUNTIME, value_describe(S->arena, v));
    return value_error();
  }
  if (t == DT_NONE) {
    sema_error(S, at, E_SEMA_INT_TOO_BIG, value_text(S->arena, v));
    return value_error();
  }
  return number_const(t, v);
}

/* ---- promotion ---- */

static int kind_rank(DType t) {
  switch (dtype_kind(t)) {
    case DK_BOOL: return 0;
    case DK_INT:
    case DK_UINT: return 1;
    default: return 2;
  }
}

/* C's usual conversions: the wider one, and of equal widths the unsigned. */
static DType promote_ints(DType a, DType b) {
  unsigned x = dtype_bits(a), y = dtype_bits(b);
  bool sa = dtype_is_signed(a), sb = dtype_is_signed(b);
  if (sa == sb) return x > y ? a : b;
  if (!sa) return x >= y ? a : b;
  return y >= x ? b : a;
}

static bool is_f8(DType t) { return t == DT_F8E5 || t == DT_F8E4NV || t == DT_F8E4B15; }

static DType promote_floats(DType a, DType b, bool div_or_mod) {
  if (a == DT_F64 || b == DT_F64) return DT_F64;
  if (a == DT_F32 || b == DT_F32) return DT_F32;
  if (a == DT_F16 || b == DT_F16) return div_or_mod ? DT_F32 : DT_F16;
  if (a == DT_BF16 && b == DT_BF16) return div_or_mod ? DT_F32 : DT_BF16;
  if (a == DT_BF16 || b == DT_BF16) return DT_F32;
  if (is_f8(a) && is_f8(b)) return a == b ? a : DT_F16;
  return DT_NONE;
}

DType common_dtype(Sema *S, Value a, Value b, bool div_or_mod, const char *op, Span at) {
  bool weak_a = value_is_number(a), weak_b = value_is_number(b);
  Value x = typed(S, a, at), y = typed(S, b, at);
  if (x.kind == V_ERROR || y.kind == V_ERROR) return DT_NONE;
  DType ta = (DType)value_type(x).dtype, tb = (DType)value_type(y).dtype;
  if (ta == DT_PTR || tb == DT_PTR) {
    sema_error(S, at, E_SEMA_OPERANDS, op, value_describe(S->arena, a),
               value_describe(S->arena, b));
    return DT_NONE;
  }
  if (weak_a != weak_b) {
    DType scalar = weak_a ? ta : tb, tensor = weak_a ? tb : ta;
    if (kind_rank(scalar) <= kind_rank(tensor)) {
      bool divides = div_or_mod && dtype_is_float(tensor);
      if (divides && S->language >= LANGUAGE_3_9) return tensor == DT_F64 ? DT_F64 : DT_F32;
      return divides && (tensor == DT_F16 || tensor == DT_BF16) ? DT_F32 : tensor;
    }
  }
  if (dtype_is_float(ta) || dtype_is_float(tb)) {
    DType t = promote_floats(ta, tb, div_or_mod);
    if (div_or_mod && t != DT_F64 && S->language >= LANGUAGE_3_9) t = DT_F32;
    if (t == DT_NONE)
      sema_error(S, at, E_SEMA_OPERANDS, op, value_describe(S->arena, a),
                 value_describe(S->arena, b));
    return t;
  }
  if (div_or_mod && dtype_is_signed(ta) != dtype_is_signed(tb)) {
    sema_error(S, at, E_SEMA_SIGNEDNESS, op, dtype_name(ta), dtype_name(tb));
    sema_hint(S, H_SEMA_SIGNEDNESS);
    return DT_NONE;
  }
  return promote_ints(ta, tb);
}

DType common_dtype3(Sema *S, const Value v[3], const char *op, Span at) {
  Value tensor = value_of(V_ABSENT), number = value_of(V_ABSENT);
  for (int i = 0; i < 3; i++) {
    bool is_number = value_is_number(v[i]);
    Value *all = is_number ? &number : &tensor, one = typed(S, v[i], at);
    if (one.kind == V_ERROR) return DT_NONE;
    if (all->kind == V_ABSENT) {
      *all = is_number ? v[i] : value_const((DType)value_type(one).dtype, (Scalar){0});
      continue;
    }
    DType t = common_dtype(S, typed(S, *all, at), one, false, op, at);
    if (t == DT_NONE) return t;
    /* Take the number whose own type is the common one. */
    if (!is_number) *all = value_const(t, (Scalar){0});
    else if (t == value_type(one).dtype) *all = v[i];
  }
  if (tensor.kind == V_ABSENT) return (DType)value_type(typed(S, number, at)).dtype;
  if (number.kind == V_ABSENT) return (DType)value_type(tensor).dtype;
  return common_dtype(S, tensor, number, false, op, at);
}

/* ---- casts ---- */

static Value cast_number(Sema *S, Value n, DType t, Span at) {
  BigInt i, low, high;
  if (dtype_is_int(t) && t != DT_I1 && value_as_int(n, &i)) {
    int_bounds(t, &low, &high);
    if (i < low || i > high) {
      sema_error(S, at, E_SEMA_OUT_OF_RANGE, value_text(S->arena, n), dtype_name(t));
      return value_error();
    }
  }
  return number_const(t, n);
}

static Value fold_cast(TileCode code, Value v, DType t, bool rtz) {
  return value_const(t, scalar_op(code, v.u.c.dtype, t, &v.u.c.v, rtz));
}

/* Pointers: to and from 64-bit integers, and to other pointers. */
static Value cast_pointer(Sema *S, Value v, Type elem, Span at) {
  Type from = value_type(v), to = type_like(elem, from);
  DType t = (DType)elem.dtype;
  bool to_ptr = t == DT_PTR, from_ptr = from.dtype == DT_PTR;
  if (from_ptr && t == DT_I1) {
    v = cast_pointer(S, v, type_scalar(DT_I64), at);
    return as_condition(S, v, at);
  }
  if (to_ptr && !from_ptr && dtype_is_int((DType)from.dtype) && dtype_bits((DType)from.dtype) < 64)
    v = cast_dtype(S, v, DT_I64, at);
  else if (!(to_ptr && from_ptr) && dtype_bits(to_ptr ? (DType)from.dtype : t) != 64) {
    sema_error(S, at, E_SEMA_CAST, type_text(S->arena, from), type_text(S->arena, elem));
    return value_error();
  }
  if (to_ptr != from_ptr && !dtype_is_int(to_ptr ? (DType)from.dtype : t)) {
    sema_error(S, at, E_SEMA_CAST, type_text(S->arena, from), type_text(S->arena, elem));
    return value_error();
  }
  return emit1(S, TILE_BITCAST, to, materialize(S, v, at), NULL, NULL, at);
}

/* The value that a cast has made wider, without a change, from a number of that type; else NULL. */
static TileValue *widened_from(const TileValue *v, DType t) {
  const TileOp *op = v->def;
  if (!op || op->code != TILE_CAST || op->args[0]->type.dtype != t || t == DT_I1) return NULL;
  DType wide = (DType)v->type.dtype;
  /* f8e4b15 has bytes of its own for numbers that others have, too; of f8e5 a cast back makes
   * infinities the largest number. */
  bool same = t != DT_F8E4B15 && t != DT_F8E5;
  bool floats = dtype_is_float(t) && same && (wide == DT_F32 || wide == DT_F64);
  bool ints = dtype_is_int(t) && dtype_is_int(wide);
  bool exact = (floats || ints) && dtype_bits(wide) > dtype_bits(t);
  return exact ? op->args[0] : NULL;
}

Value cast_to(Sema *S, Value v, Type elem, bool rtz, Span at) {
  if (v.kind == V_ERROR) return v;
  if (value_is_number(v) && elem.dtype != DT_PTR) return cast_number(S, v, (DType)elem.dtype, at);
  v = typed(S, v, at);
  if (v.kind == V_ERROR) return v;
  Type from = value_type(v);
  elem = type_element(elem);
  if (type_eq(type_element(from), elem)) return v;
  if (from.dtype == DT_PTR || elem.dtype == DT_PTR) return cast_pointer(S, v, elem, at);
  if (v.kind == V_CONST) return fold_cast(TILE_CAST, v, (DType)elem.dtype, rtz);
  TileValue *same = widened_from(v.u.tile, (DType)elem.dtype);
  if (same) return value_tile(same);
  v = emit1(S, TILE_CAST, type_like(elem, from), v.u.tile, NULL, NULL, at);
  if (rtz && v.kind == V_TILE) tile_set_str(S->fn, v.u.tile->def, TA_rounding, "rtz");
  return v;
}

Value cast_dtype(Sema *S, Value v, DType t, Span at) {
  return cast_to(S, v, type_scalar(t), false, at);
}

Value bitcast_to(Sema *S, Value v, Type elem, Span at) {
  v = typed(S, v, at);
  if (v.kind == V_ERROR) return v;
  Type from = value_type(v);
  elem = type_element(elem);
  if (type_eq(type_element(from), elem)) return v;
  if (from.dtype == DT_PTR || elem.dtype == DT_PTR) return cast_pointer(S, v, elem, at);
  if (dtype_bits((DType)from.dtype) != dtype_bits((DType)elem.dtype)) {
    sema_error(S, at, E_SEMA_BITCAST, type_text(S->arena, from), dtype_name((DType)elem.dtype),
               dtype_bits((DType)from.dtype), dtype_bits((DType)elem.dtype));
    return value_error();
  }
  if (v.kind == V_CONST) return fold_cast(TILE_BITCAST, v, (DType)elem.dtype, false);
  return emit1(S, TILE_BITCAST, type_like(elem, from), v.u.tile, NULL, NULL, at);
}

Value as_condition(Sema *S, Value v, Span at) {
  bool truth;
  if (value_truth(v, &truth)) return number_const(DT_I1, value_int(truth));
  v = typed(S, v, at);
  if (v.kind == V_ERROR) return v;
  DType t = (DType)value_type(v).dtype;
  if (t == DT_I1) return v;
  if (t == DT_PTR) return cast_pointer(S, v, type_scalar(DT_I1), at);
  return compare(S, OP_NE, v, number_const(t, value_int(0)), at);
}
