/* Products of matrices. */
#include <string.h>
#include <strings.h>

#include "sema/messages.h"
#include "sema/value/builtins.h"
#include "sema/value/context.h"

static bool is_f8_operand(DType t) { return t == DT_F8E5 || t == DT_F8E4NV || t == DT_F8E4B15; }

/* Words of four bytes, or of two bf16, are told by the precision. */
static bool dot_dtypes(Sema *S, DType a, DType b, const char *precision, Span at) {
  bool known = a == DT_I8 || a == DT_F16 || a == DT_BF16 || a == DT_F32 || a == DT_F64;
  if (tile_dot_of_words(precision) != TILE_DOT) known = a == DT_I32;
  if ((is_f8_operand(a) && is_f8_operand(b)) || (known && a == b)) return true;
  sema_error(S, at, E_SEMA_DOT_TYPES, dtype_name(a), dtype_name(b));
  return false;
}

static bool dot_shapes(Sema *S, Type a, Type b, Type *out, Span at) {
  int r = a.rank;
  bool ok = r == b.rank && r >= 2;
  for (int i = 0; ok && i < r - 2; i++) ok = a.shape[i] == b.shape[i];
  ok = ok && a.shape[r - 1] == b.shape[r - 2];
  if (!ok) {
    sema_error(S, at, E_SEMA_DOT_SHAPES, type_text(S->arena, a), type_text(S->arena, b));
    return false;
  }
  *out = a;
  out->shape[r - 1] = b.shape[r - 1];
  return true;
}

static const char *dot_precision(Sema *S, const Call *c) {
  static const char *const all[] = {"ieee",   "tf32",   "tf32_rounded", "tf32x3",
                                    "bf16x3", "bf16x6", "bytes", "pairs"};
  Value p = c->args[3], allow = c->args[4];
  bool truth;
  const char *preset = S->fn->options.dot_precision;
  if (p.kind == V_NONE && preset) p = value_str(preset);
  if (p.kind == V_NONE) {
    if (allow.kind == V_NONE) return "tf32";
    return value_truth(allow, &truth) && truth ? "tf32" : "ieee";
  }
  for (int i = 0; p.kind == V_STR && i < 8; i++)
    if (!strcasecmp(all[i], p.u.s)) return all[i];
  Span at = c->args[3].kind == V_NONE ? c->at : c->spans[3];
  sema_error(S, at, E_SEMA_DOT_PRECISION, value_text(S->arena, p));
  return NULL;
}

static DType dot_result(Sema *S, const Call *c, DType a) {
  DTypeValue d = {.type = type_scalar(DT_F32)};
  if (c->args[6].kind != V_NONE) {
    if (!want_dtype(S, c->args[6], c->spans[6], &d)) return DT_NONE;
  } else if (value_is_typed(c->args[2])) {
    d.type = value_type(c->args[2]);
  }
  if (a == DT_I8 || a == DT_I32) return DT_I32;
  if (d.type.dtype == DT_BF16) {
    sema_error(S, c->at, E_SEMA_DOT_BF16);
    return DT_NONE;
  }
  if (c->args[6].kind != V_NONE && !dtype_is_float((DType)d.type.dtype)) {
    sema_error(S, c->spans[6], E_SEMA_DOT_OUT, dtype_name(a), dtype_name((DType)d.type.dtype));
    return DT_NONE;
  }
  if (a == DT_F32 || a == DT_BF16) return DT_F32;
  if (a == DT_F64) return DT_F64;
  return d.type.dtype == DT_F16 ? DT_F16 : DT_F32;
}

/* Batches of several axes become one. */
static Value merge_batch(Sema *S, Value v, Span at) {
  Type t = value_type(v), to = {.rank = 3};
  if (t.rank <= 3) return v;
  to.shape[0] = 1;
  for (int i = 0; i < t.rank - 2; i++) to.shape[0] *= t.shape[i];
  to.shape[1] = t.shape[t.rank - 2];
  to.shape[2] = t.shape[t.rank - 1];
  return reshape_value(S, v, to, at);
}

static bool dot_accumulator(Sema *S, const Call *c, Type want, Value *acc) {
  bool truth;
  *acc = c->args[2];
  if (acc->kind == V_NONE || (value_is_number(*acc) && value_truth(*acc, &truth) && !truth)) {
    Value zero = cast_dtype(S, value_int(0), (DType)want.dtype, c->at);
    *acc = broadcast_to(S, zero, want, c->at);
    return acc->kind != V_ERROR;
  }
  if (value_is_typed(*acc) && type_eq(value_type(*acc), want)) return true;
  sema_error(S, c->spans[2], E_SEMA_DOT_ACC, value_describe(S->arena, *acc),
             type_text(S->arena, want));
  return false;
}

Value builtin_dot(Sema *S, Call *c) {
  Value a, b, acc;
  if (!operand_arg(S, c, 0) || !operand_arg(S, c, 1)) return value_error();
  a = typed(S, c->args[0], c->at);
  b = typed(S, c->args[1], c->at);
  Type shape;
  DType ta = (DType)value_type(a).dtype, tb = (DType)value_type(b).dtype;
  if (!dot_shapes(S, value_type(a), value_type(b), &shape, c->at)) return value_error();
  const char *precision = dot_precision(S, c);
  if (!precision || !dot_dtypes(S, ta, tb, precision, c->at)) return value_error();
  DType out = dot_result(S, c, ta);
  if (out == DT_NONE) return value_error();
  Type want = type_like(type_scalar(out), shape);
  if (!dot_accumulator(S, c, want, &acc)) return value_error();
  Value parts[] = {merge_batch(S, a, c->at), merge_batch(S, b, c->at), merge_batch(S, acc, c->at)};
  for (int i = 0; i < 3; i++)
    if (parts[i].kind != V_TILE) return value_error();
  Value v = emit1(S, TILE_DOT, value_type(parts[2]), parts[0].u.tile, parts[1].u.tile,
                  parts[2].u.tile, c->at);
  if (v.kind != V_TILE) return v;
  if (ta == DT_F32 || ta == DT_I32) tile_set_str(S->fn, v.u.tile->def, TA_precision, precision);
  int64_t imprecise;
  if (is_f8_operand(ta) && c->args[5].kind != V_NONE) {
    if (!want_int(S, c->args[5], "max_num_imprecise_acc", c->spans[5], &imprecise))
      return value_error();
    tile_set_int(S->fn, v.u.tile->def, TA_max_imprecise, imprecise);
  }
  return reshape_value(S, v, want, c->at);
}
