/* Creation and shape. */
#include <string.h>

#include "lang/messages.h"
#include "sema/messages.h"
#include "sema/value/builtins.h"
#include "sema/value/context.h"

/* f(x, 2, 3) and f(x, (2, 3)) mean the same. */
static Value unwrap_rest(const Call *c) {
  const Tuple *t = c->rest.u.tuple;
  return t->len == 1 && t->data[0].kind == V_TUPLE ? t->data[0] : c->rest;
}

Value builtin_arange(Sema *S, Call *c) {
  int64_t start, end;
  if (!want_int(S, c->args[0], "the start of arange", c->spans[0], &start) ||
      !want_int(S, c->args[1], "the end of arange", c->spans[1], &end))
    return value_error();
  if (end <= start || start < INT32_MIN || end > INT32_MAX || end - start > MAX_TILE) {
    sema_error(S, c->at, E_SEMA_ARANGE, (long long)start, (long long)end, MAX_TILE);
    return value_error();
  }
  Type t = {.dtype = DT_I32, .rank = 1, .shape = {(int32_t)(end - start)}};
  Value v = emit1(S, TILE_ARANGE, t, NULL, NULL, NULL, c->at);
  if (v.kind != V_TILE) return v;
  tile_set_int(S->fn, v.u.tile->def, TA_start, start);
  tile_set_int(S->fn, v.u.tile->def, TA_end, end);
  return v;
}

Value builtin_full(Sema *S, Call *c) {
  Type shape;
  DTypeValue dtype;
  Value v;
  if (!want_shape(S, c->args[0], c->spans[0], &shape) ||
      !want_dtype(S, c->args[2], c->spans[2], &dtype))
    return value_error();
  if (value_is_number(c->args[1]) && dtype.type.dtype != DT_PTR) {
    v = cast_dtype(S, c->args[1], (DType)dtype.type.dtype, c->spans[1]);
  } else {
    if (!tile_arg(S, c, 1, &v)) return value_error();
    if (type_numel(value_type(v)) != 1) {
      sema_error(S, c->spans[1], E_SEMA_SCALAR, "full", type_text(S->arena, value_type(v)));
      return value_error();
    }
    v = cast_to(S, reshape_value(S, v, (Type){0}, c->at), dtype.type, false, c->at);
  }
  if (v.kind == V_ERROR) return v;
  return shape.rank ? broadcast_to(S, v, shape, c->at) : v;
}

Value builtin_zeros(Sema *S, Call *c) {
  Type shape;
  DTypeValue dtype;
  Value like;
  if (c->fn->code == 1) {
    if (!tile_arg(S, c, 0, &like)) return value_error();
    shape = value_type(like);
    dtype.type = shape;
  } else if (!want_shape(S, c->args[0], c->spans[0], &shape) ||
             !want_dtype(S, c->args[1], c->spans[1], &dtype)) {
    return value_error();
  }
  Value zero = cast_to(S, typed(S, value_int(0), c->at), dtype.type, false, c->at);
  if (zero.kind == V_ERROR || !shape.rank) return zero;
  return broadcast_to(S, zero, shape, c->at);
}

Value builtin_cast(Sema *S, Call *c) {
  Value v = c->args[0];
  DTypeValue dtype;
  bool bitcast;
  if (v.kind == V_BLOCKPTR || !tile_arg(S, c, 0, &v) ||
      !want_dtype(S, c->args[1], c->spans[1], &dtype) ||
      !want_bool(S, c->args[3], "bitcast", c->spans[3], &bitcast))
    return value_error();
  Type to = type_element(dtype.type);
  if (to.dtype == DT_NONE) {
    sema_error(S, c->spans[1], E_SEMA_CAST, type_text(S->arena, value_type(v)), "void");
    return value_error();
  }
  if (bitcast) return bitcast_to(S, v, to, c->at);
  bool rtz = false;
  if (c->args[2].kind == V_STR) {
    rtz = !strcmp(c->args[2].u.s, "rtz");
    DType from = (DType)value_type(v).dtype;
    bool same = type_eq(type_element(value_type(v)), to);
    bool narrows = dtype_is_float(from) && dtype_is_float((DType)to.dtype) &&
                   dtype_bits((DType)to.dtype) < dtype_bits(from);
    if ((!rtz && strcmp(c->args[2].u.s, "rtne")) || !(narrows || same)) {
      sema_error(S, c->spans[2], E_SEMA_ROUNDING, c->args[2].u.s);
      return value_error();
    }
  }
  return cast_to(S, v, to, rtz, c->at);
}

/* convert_custom_float8_sm80: the casts from and to float8e4b15. */
Value builtin_convert_float8(Sema *S, Call *c) {
  DTypeValue to;
  Value v;
  if (!tile_arg(S, c, 0, &v) || !want_dtype(S, c->args[1], c->spans[1], &to)) return value_error();
  DType from = (DType)value_type(v).dtype, into = (DType)to.type.dtype;
  bool up = from == DT_F8E4B15 && (into == DT_F16 || into == DT_F32);
  bool down = into == DT_F8E4B15 && (from == DT_F16 || from == DT_F32);
  if (up || down) return builtin_cast(S, c);
  sema_error(S, c->at, E_SEMA_FLOAT8, c->fn->name, type_text(S->arena, value_type(v)),
             type_text(S->arena, type_element(to.type)));
  return value_error();
}

Value builtin_to_tensor(Sema *S, Call *c) {
  Value v;
  return tile_arg(S, c, 0, &v) ? v : value_error();
}

Value builtin_broadcast(Sema *S, Call *c) {
  Value v[2];
  if (!tile_arg(S, c, 0, &v[0]) || !tile_arg(S, c, 1, &v[1]) || !broadcast_all(S, v, 2, c->at))
    return value_error();
  return value_tuple(S->arena, v, 2);
}

Value builtin_broadcast_to(Sema *S, Call *c) {
  Value v;
  Type shape;
  if (!tile_arg(S, c, 0, &v) || !want_shape(S, unwrap_rest(c), c->at, &shape)) return value_error();
  return broadcast_to(S, v, shape, c->at);
}

Value builtin_expand_dims(Sema *S, Call *c) {
  Value v, one[] = {c->args[1]};
  if (!tile_arg(S, c, 0, &v)) return value_error();
  const Value *axes = one;
  uint32_t n = 1;
  if (c->args[1].kind == V_TUPLE) {
    axes = c->args[1].u.tuple->data;
    n = c->args[1].u.tuple->len;
  }
  int rank = value_type(v).rank + (int)n;
  bool at[MAX_RANK + 1] = {false};
  if (rank > MAX_RANK) {
    sema_error(S, c->at, E_TILE_RANK, MAX_RANK);
    return value_error();
  }
  Text list = text_new(S->arena);
  bool twice = false;
  for (uint32_t i = 0; i < n; i++) {
    int axis;
    if (!axis_arg(S, axes[i], rank, c->spans[1], &axis)) return value_error();
    text_printf(&list, "%s%d", i ? ", " : "[", axis);
    twice |= at[axis];
    at[axis] = true;
  }
  text_puts(&list, "]");
  if (twice) {
    sema_error(S, c->spans[1], E_SEMA_AXIS_TWICE, list.data);
    return value_error();
  }
  for (int i = 0; i < rank && v.kind != V_ERROR; i++)
    if (at[i]) v = expand_axis(S, v, i, c->at);
  return v;
}

Value builtin_squeeze(Sema *S, Call *c) {
  Value v;
  int axis;
  if (!tile_arg(S, c, 0, &v)) return value_error();
  Type t = value_type(v);
  if (!axis_arg(S, c->args[1], t.rank, c->spans[1], &axis)) return value_error();
  if (t.shape[axis] != 1) {
    sema_error(S, c->at, E_SEMA_SQUEEZE, axis, type_text(S->arena, t), t.shape[axis]);
    return value_error();
  }
  for (int i = axis; i + 1 < t.rank; i++) t.shape[i] = t.shape[i + 1];
  t.rank--;
  return reshape_value(S, v, t, c->at);
}

Value builtin_permute(Sema *S, Call *c) {
  Value v;
  int64_t dims[MAX_RANK];
  uint32_t n;
  if (!tile_arg(S, c, 0, &v)) return value_error();
  Type from = value_type(v), to = from;
  if (!want_ints(S, unwrap_rest(c), "an axis", c->at, dims, MAX_RANK, &n)) return value_error();
  if (c->fn->code == 1 && n == 0) {
    if (from.rank < 2) {
      sema_error(S, c->at, E_SEMA_TRANS, type_text(S->arena, from));
      return value_error();
    }
    for (n = 0; n < from.rank; n++) dims[n] = n;
    dims[n - 1] = n - 2;
    dims[n - 2] = n - 1;
  }
  bool used[MAX_RANK] = {false}, same = true, good = n == from.rank;
  for (uint32_t i = 0; i < n && good; i++) {
    if (dims[i] < 0) dims[i] += from.rank;
    good = dims[i] >= 0 && dims[i] < from.rank && !used[dims[i]];
    if (!good) break;
    used[dims[i]] = true;
    same &= dims[i] == i;
    to.shape[i] = from.shape[dims[i]];
  }
  if (!good) {
    sema_error(S, c->at, E_SEMA_PERMUTE, from.rank - 1, type_text(S->arena, from));
    return value_error();
  }
  if (same) return v;
  Value made = emit1(S, TILE_TRANS, to, v.u.tile, NULL, NULL, c->at);
  if (made.kind != V_TILE) return made;
  tile_set_ints(S->fn, made.u.tile->def, TA_perm, dims, n);
  given_layout_permute(S, v.u.tile, made.u.tile, dims, c->at);
  return made;
}

Value builtin_reshape(Sema *S, Call *c) {
  Value v;
  Type to;
  if (!tile_arg(S, c, 0, &v) || !want_shape(S, unwrap_rest(c), c->at, &to)) return value_error();
  Type from = value_type(v);
  if (type_numel(from) != type_numel(to)) {
    sema_error(S, c->at, E_SEMA_RESHAPE, type_text(S->arena, from), (long long)type_numel(from),
               type_text(S->arena, type_like(from, to)), (long long)type_numel(to));
    return value_error();
  }
  return reshape_value(S, v, to, c->at);
}

Value builtin_ravel(Sema *S, Call *c) {
  Value v;
  if (!tile_arg(S, c, 0, &v)) return value_error();
  Type flat = {.rank = 1, .shape = {(int32_t)type_numel(value_type(v))}};
  return reshape_value(S, v, flat, c->at);
}

Value builtin_item(Sema *S, Call *c) {
  Value v;
  if (!tile_arg(S, c, 0, &v)) return value_error();
  if (type_numel(value_type(v)) != 1) {
    sema_error(S, c->at, E_SEMA_SCALAR, "item", type_text(S->arena, value_type(v)));
    return value_error();
  }
  return reshape_value(S, v, (Type){0}, c->at);
}

Value builtin_join(Sema *S, Call *c) {
  Value v[2];
  if (!tile_arg(S, c, 0, &v[0]) || !tile_arg(S, c, 1, &v[1]) || !broadcast_all(S, v, 2, c->at))
    return value_error();
  Type t = value_type(v[0]), u = value_type(v[1]);
  if (t.dtype != u.dtype || t.elem != u.elem) {
    DType common = common_dtype(S, v[0], v[1], false, "join", c->at);
    if (common == DT_NONE) return value_error();
    for (int i = 0; i < 2; i++) v[i] = cast_dtype(S, v[i], common, c->at);
    t = value_type(v[0]);
  }
  if (t.rank == MAX_RANK || !can_emit(S)) {
    if (t.rank == MAX_RANK) sema_error(S, c->at, E_TILE_RANK, MAX_RANK);
    return value_error();
  }
  t.shape[t.rank++] = 2;
  TileValue *a = materialize(S, v[0], c->at);
  Value joined = emit1(S, TILE_JOIN, t, a, materialize(S, v[1], c->at), NULL, c->at);
  if (c->fn->code == 0 || t.rank == 1) return joined;
  t.rank--; /* interleave: the pairs one after the other */
  t.shape[t.rank - 1] *= 2;
  return reshape_value(S, joined, t, c->at);
}

Value builtin_split(Sema *S, Call *c) {
  Value v;
  if (!tile_arg(S, c, 0, &v)) return value_error();
  Type t = value_type(v);
  if (!t.rank || t.shape[t.rank - 1] != 2) {
    sema_error(S, c->at, E_SEMA_SPLIT, type_text(S->arena, t));
    return value_error();
  }
  if (!can_emit(S)) return value_error();
  t.rank--;
  Type types[] = {t, t};
  TileOp *op = emit(S, TILE_SPLIT, &v.u.tile, 1, types, 2, c->at);
  Value halves[] = {value_tile(op->results[0]), value_tile(op->results[1])};
  return value_tuple(S->arena, halves, 2);
}

/* Along another axis than the first: transposed there and back. */
static Value cat_first(Sema *S, Value a, Value b, Span at) {
  Type t = value_type(a);
  t.shape[0] += value_type(b).shape[0];
  return emit1(S, TILE_CAT, t, a.u.tile, b.u.tile, NULL, at);
}

static Value swap_axes(Sema *S, Value v, int axis, Span at) {
  Type t = value_type(v), to = t;
  int64_t perm[MAX_RANK];
  for (int i = 0; i < t.rank; i++) perm[i] = i;
  perm[0] = axis;
  perm[axis] = 0;
  to.shape[0] = t.shape[axis];
  to.shape[axis] = t.shape[0];
  v = emit1(S, TILE_TRANS, to, v.u.tile, NULL, NULL, at);
  if (v.kind == V_TILE) tile_set_ints(S->fn, v.u.tile->def, TA_perm, perm, t.rank);
  return v;
}

Value builtin_cat(Sema *S, Call *c) {
  Value a, b;
  int axis;
  if (!tile_arg(S, c, 0, &a) || !tile_arg(S, c, 1, &b)) return value_error();
  Type t = value_type(a), u = value_type(b);
  if (!axis_arg(S, c->args[3], t.rank, c->spans[3], &axis)) return value_error();
  bool fits = t.rank == u.rank && t.dtype == u.dtype && t.elem == u.elem;
  for (int i = 0; fits && i < t.rank; i++) fits = i == axis || t.shape[i] == u.shape[i];
  if (!fits) {
    sema_error(S, c->at, E_SEMA_CAT, type_text(S->arena, t), type_text(S->arena, u), axis);
    return value_error();
  }
  if (axis == 0) return cat_first(S, a, b, c->at);
  a = swap_axes(S, a, axis, c->at);
  b = swap_axes(S, b, axis, c->at);
  if (a.kind == V_ERROR || b.kind == V_ERROR) return value_error();
  a = cat_first(S, a, b, c->at);
  return a.kind == V_ERROR ? a : swap_axes(S, a, axis, c->at);
}
