/* Checks and conversions of arguments of builtins. */
#include "sema/messages.h"
#include "sema/value/builtins.h"
#include "sema/value/context.h"

/* ---- compile-time arguments ---- */

Value refuse_argument(Sema *S, Value v, const char *what, const char *kind, Span at) {
  if (v.kind == V_TILE) sema_error(S, at, E_SEMA_NOT_CONSTEXPR, what, value_describe(S->arena, v));
  else if (v.kind != V_ERROR)
    sema_error(S, at, E_SEMA_WANTED, what, kind, value_describe(S->arena, v));
  return value_error();
}

static bool argument_error(Sema *S, Value v, const char *what, const char *kind, Span at) {
  refuse_argument(S, v, what, kind, at);
  if (v.kind == V_TILE) sema_hint(S, H_SEMA_CONSTEXPR);
  return false;
}

bool want_int(Sema *S, Value v, const char *what, Span at, int64_t *out) {
  BigInt i;
  if (!value_as_int(v, &i)) return argument_error(S, v, what, "an integer", at);
  if (i < INT64_MIN || i > INT64_MAX) {
    sema_error(S, at, E_SEMA_INT_TOO_BIG, value_text(S->arena, v));
    return false;
  }
  *out = (int64_t)i;
  return true;
}

bool want_bool(Sema *S, Value v, const char *what, Span at, bool *out) {
  return value_truth(v, out) || argument_error(S, v, what, "True or False", at);
}

bool want_ints(Sema *S, Value v, const char *what, Span at, int64_t *out, uint32_t max,
               uint32_t *n) {
  Value one[] = {v};
  const Value *items = one;
  *n = 1;
  if (v.kind == V_NONE) *n = 0;
  else if (v.kind == V_TUPLE) {
    items = v.u.tuple->data;
    *n = v.u.tuple->len;
  }
  if (*n > max) {
    sema_error(S, at, E_SEMA_TOO_MANY, what, max, *n);
    return false;
  }
  for (uint32_t i = 0; i < *n; i++)
    if (!want_int(S, items[i], what, at, &out[i])) return false;
  return true;
}

bool want_shape(Sema *S, Value v, Span at, Type *out) {
  int64_t extents[MAX_RANK], numel = 1;
  uint32_t n;
  if (!want_ints(S, v, "a shape", at, extents, MAX_RANK, &n)) return false;
  *out = (Type){.rank = (uint8_t)n};
  for (uint32_t i = 0; i < n; i++) {
    if (extents[i] < 1) {
      sema_error(S, at, E_SEMA_EXTENT, value_text(S->arena, v), (long long)extents[i]);
      return false;
    }
    if (extents[i] > MAX_TILE || (numel *= extents[i]) > MAX_TILE) {
      sema_error(S, at, E_SEMA_TILE_MAX, value_text(S->arena, v), MAX_TILE);
      return false;
    }
    out->shape[i] = (int32_t)extents[i];
  }
  return true;
}

/* Names of dtypes are accepted for dtypes: "fp32", as signatures write them. */
bool want_dtype(Sema *S, Value v, Span at, DTypeValue *out) {
  if (v.kind == V_STR) {
    size_t n = 0;
    while (v.u.s[n]) n++;
    DType t = dtype_parse(v.u.s, n);
    if (t != DT_NONE) v = value_dtype(type_scalar(t));
  }
  if (v.kind == V_BUILTIN && python_dtype(v) != DT_NONE)
    v = value_dtype(type_scalar(python_dtype(v)));
  if (v.kind != V_DTYPE) return argument_error(S, v, "a dtype", "a dtype such as tl.float32", at);
  *out = v.u.dtype;
  return true;
}

bool axis_arg(Sema *S, Value v, int rank, Span at, int *out) {
  int64_t axis;
  if (!want_int(S, v, "the axis", at, &axis)) return false;
  if (axis < -rank || axis >= rank) {
    sema_error(S, at, E_SEMA_AXIS, (long long)axis, rank);
    return false;
  }
  *out = (int)(axis < 0 ? axis + rank : axis);
  return true;
}

/* ---- operands ---- */

bool operand_arg(Sema *S, const Call *c, uint32_t i) {
  if (value_is_operand(c->args[i])) return true;
  if (c->args[i].kind != V_ERROR)
    sema_error(S, c->spans[i], E_SEMA_WANTED, c->fn->name, "a tile or a scalar",
               value_describe(S->arena, c->args[i]));
  return false;
}

bool tile_arg(Sema *S, const Call *c, uint32_t i, Value *out) {
  if (!operand_arg(S, c, i)) return false;
  *out = typed(S, c->args[i], c->spans[i]);
  return out->kind != V_ERROR;
}
