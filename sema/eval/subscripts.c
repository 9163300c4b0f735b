/* x[index], of tiles and of compile-time values. */
#include <string.h>

#include "lang/messages.h"
#include "sema/messages.h"
#include "sema/value/context.h"
#include "sema/value/python_host.h"

/* Python's slice(start, stop, step).indices(n). */
static bool slice_indices(Sema *S, const Value *slice, int64_t n, Span at, int64_t *start,
                          int64_t *step, int64_t *count) {
  int64_t lo, hi, st = 1;
  if (slice[2].kind != V_NONE && !want_int(S, slice[2], "the step of a slice", at, &st))
    return false;
  if (st == 0) {
    sema_error(S, at, E_SEMA_SLICE_STEP);
    return false;
  }
  /* A longer step takes no other elements, and sums with this one cannot overflow. */
  st = st > n + 1 ? n + 1 : st < -(n + 1) ? -(n + 1) : st;
  lo = st > 0 ? 0 : n - 1;
  hi = st > 0 ? n : -1;
  for (int i = 0; i < 2; i++) {
    int64_t *to = i ? &hi : &lo, v;
    if (slice[i].kind == V_NONE) continue;
    if (!want_int(S, slice[i], "a bound of a slice", at, &v)) return false;
    if (v < 0) v += n;
    int64_t least = st > 0 ? 0 : -1, most = st > 0 ? n : n - 1;
    *to = v < least ? least : v > most ? most : v;
  }
  *start = lo;
  *step = st;
  *count = st > 0 ? (hi - lo + st - 1) / st : (lo - hi - st - 1) / -st;
  if (*count < 0) *count = 0;
  return true;
}

static Value tuple_slice(Sema *S, const Tuple *t, const Value *slice, Span at) {
  int64_t start, step, count;
  if (!slice_indices(S, slice, t->len, at, &start, &step, &count)) return value_error();
  Value v = value_tuple(S->arena, NULL, 0);
  v.u.tuple->is_list = t->is_list;
  for (int64_t i = 0; i < count; i++) value_append(S->arena, v.u.tuple, t->data[start + i * step]);
  return v;
}

static Value tuple_item(Sema *S, Value v, Value index, Span at) {
  const Tuple *t = v.u.tuple;
  int64_t i;
  if (index.kind == V_SLICE) return tuple_slice(S, t, index.u.slice, at);
  if (!want_int(S, index, "the index of a tuple", at, &i)) return value_error();
  if (i < -(int64_t)t->len || i >= (int64_t)t->len) {
    sema_error(S, at, E_SEMA_INDEX, (long long)i, t->len);
    return value_error();
  }
  return t->data[i < 0 ? i + t->len : i];
}

/* ---- tiles ---- */

typedef struct {
  Type from; /* of the tile */
  int64_t starts[MAX_RANK], strides[MAX_RANK];
  Type sliced, shape; /* after slicing; after taking out and putting in axes */
  int axis;           /* of the operand that comes next */
  bool slices, drops;
  uint8_t inserted[MAX_RANK * 2];
  int ninserted;
} TileIndex;

static bool push_axis(Sema *S, TileIndex *x, int64_t extent, Span at) {
  if (x->shape.rank == MAX_RANK) {
    sema_error(S, at, E_TILE_RANK, MAX_RANK);
    return false;
  }
  x->shape.shape[x->shape.rank++] = (int32_t)extent;
  return true;
}

static bool index_axis(Sema *S, TileIndex *x, Value v, Span at) {
  if (x->axis >= x->from.rank) {
    sema_error(S, at, E_SEMA_INDEX_COUNT, type_text(S->arena, x->from));
    if (x->from.dtype == DT_PTR) sema_hint(S, H_SEMA_POINTER_ITEM);
    return false;
  }
  int64_t n = x->from.shape[x->axis], i, count = n, start = 0, step = 1;
  bool keep = v.kind == V_SLICE;
  if (keep) {
    if (!slice_indices(S, v.u.slice, n, at, &start, &step, &count)) return false;
    if (count == 0) {
      sema_error(S, at, E_SEMA_SLICE_EMPTY);
      return false;
    }
  } else {
    if (!want_int(S, v, "the index of a tile", at, &i)) return false;
    if (i < -n || i >= n) {
      sema_error(S, at, E_SEMA_TILE_INDEX, (long long)i, x->axis, type_text(S->arena, x->from));
      return false;
    }
    start = i < 0 ? i + n : i;
    count = 1;
    x->drops = true;
  }
  x->slices |= start != 0 || step != 1 || count != n;
  x->starts[x->axis] = start;
  x->strides[x->axis] = step;
  x->sliced.shape[x->axis++] = (int32_t)count;
  return !keep || push_axis(S, x, count, at);
}

/* Takes all of the axes up to the last `following` ones. */
static bool following_axes(Sema *S, TileIndex *x, int following, Span at) {
  Value slice[] = {value_none(), value_none(), value_none()};
  Value all = {.kind = V_SLICE, .u.slice = slice};
  while (x->axis + following < x->from.rank)
    if (!index_axis(S, x, all, at)) return false;
  return true;
}

static bool whole_slice(Sema *S, const TileIndex *x, const Value *slice, Span at) {
  bool whole = true;
  for (int i = 0; i < 3; i++) whole &= slice[i].kind == V_NONE;
  if (!whole) sema_error(S, at, E_SEMA_SLICE_SCALAR, type_text(S->arena, x->from));
  return whole;
}

/* Triton takes x[:, None] of a scalar, too: each `:` stands for no axis. */
static bool index_item(Sema *S, TileIndex *x, Value v, int following, Span at) {
  if (v.kind == V_ELLIPSIS) return following_axes(S, x, following, at);
  if (v.kind == V_SLICE && !x->from.rank) return whole_slice(S, x, v.u.slice, at);
  if (v.kind != V_NONE) return index_axis(S, x, v, at);
  x->inserted[x->ninserted++] = x->shape.rank;
  return push_axis(S, x, 1, at);
}

static Value take_slice(Sema *S, Value v, const TileIndex *x, Span at) {
  if (!x->slices) return v;
  if (v.kind == V_CONST) return v;
  v = emit1(S, TILE_SLICE, x->sliced, v.u.tile, NULL, NULL, at);
  if (v.kind != V_TILE) return v;
  tile_set_ints(S->fn, v.u.tile->def, TA_starts, x->starts, x->from.rank);
  tile_set_ints(S->fn, v.u.tile->def, TA_strides, x->strides, x->from.rank);
  return v;
}

/* The items of an index, and all of the axes after them. */
static bool index_items(Sema *S, TileIndex *x, bool pointers, const Value *items, uint32_t n,
                        Span at) {
  for (uint32_t i = 0; i < n; i++) {
    int following = 0;
    for (uint32_t k = i + 1; k < n; k++) following += items[k].kind != V_NONE;
    if (items[i].kind == V_TILE) {
      sema_error(S, at, E_SEMA_RUNTIME_INDEX, value_describe(S->arena, items[i]));
      sema_hint(S, pointers ? H_SEMA_POINTER_ITEM : H_SEMA_RUNTIME_INDEX);
      return false;
    }
    if (!index_item(S, x, items[i], following, at)) return false;
  }
  return following_axes(S, x, 0, at);
}

static Value tile_subscript(Sema *S, Value v, Value index, Span at) {
  Value one[] = {index};
  const Value *items = one;
  uint32_t n = 1;
  if (index.kind == V_TUPLE) {
    items = index.u.tuple->data;
    n = index.u.tuple->len;
  }
  TileIndex x = {.from = value_type(v), .sliced = value_type(v), .shape = value_type(v)};
  x.shape.rank = 0;
  if (n > 2 * MAX_RANK) {
    sema_error(S, at, E_TILE_RANK, MAX_RANK);
    return value_error();
  }
  if (!index_items(S, &x, value_is_pointer(v), items, n, at)) return value_error();
  v = take_slice(S, v, &x, at);
  if (v.kind == V_ERROR) return v;
  if (x.drops) return reshape_value(S, v, x.shape, at);
  for (int i = 0; i < x.ninserted && v.kind != V_ERROR; i++)
    v = expand_axis(S, v, x.inserted[i], at);
  return v;
}

static Value str_item(Sema *S, Value v, Value index, Span at) {
  int64_t i, n = (int64_t)strlen(v.u.s);
  if (index.kind == V_SLICE) {
    int64_t start, step, count;
    if (!slice_indices(S, index.u.slice, n, at, &start, &step, &count)) return value_error();
    char *text = arena_alloc(S->arena, (size_t)count + 1);
    for (int64_t k = 0; k < count; k++) text[k] = v.u.s[start + k * step];
    return value_str(pool_name(S->names, text));
  }
  if (!want_int(S, index, "the index of a string", at, &i)) return value_error();
  if (i < -n || i >= n) {
    sema_error(S, at, E_SEMA_INDEX, (long long)i, (unsigned)n);
    return value_error();
  }
  return value_str(pool_namen(S->names, v.u.s + (i < 0 ? i + n : i), 1));
}

/* ---- anything ---- */

Value eval_subscript(Sema *S, Value v, Value index, Span at) {
  if (v.kind == V_ERROR || index.kind == V_ERROR) return value_error();
  switch (v.kind) {
    case V_TILE:
    case V_CONST: return tile_subscript(S, v, index, at);
    case V_TUPLE: {
      Value item;
      if (!is_aggregate(v)) return tuple_item(S, v, index, at);
      if (call_special(S, v, "__getitem__", &index, 1, at, &item)) return item;
      break;
    }
    case V_STR: return str_item(S, v, index, at);
    case V_DICT: {
      const Value *item = dict_find(S, v.u.dict, index, at);
      if (item) return *item;
      sema_error(S, at, E_SEMA_KEY, value_text(S->arena, index));
      return value_error();
    }
    case V_CLASS:
      if (S->host && index.kind == V_STR) return host_class_item(S, v, index, at);
      return v;
    case V_EXTERN:
      if (index.kind == V_STR && !strcmp(v.u.s, "sys.modules"))
        return host_loaded_module(S, index.u.s);
      return v;
    case V_BUILTIN: return v; /* tuple[int, ...] in annotations */
    default: break;
  }
  sema_error(S, at, E_SEMA_NO_SUBSCRIPT, value_describe(S->arena, v));
  if (v.kind == V_FUNC) sema_hint(S, H_SEMA_LAUNCH);
  return value_error();
}
