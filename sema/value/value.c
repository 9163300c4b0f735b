/* Containers of values, and what values are asked. */
#include "sema/value/value.h"

#include <string.h>

#include "sema/value/builtins.h"

/* ---- containers ---- */

static Value make_tuple(Arena *a, const Value *items, uint32_t n, bool is_list) {
  Tuple *t = ARENA_NEW(a, Tuple);
  t->data = ARENA_ARRAY(a, Value, n);
  for (uint32_t i = 0; i < n; i++) t->data[i] = items[i];
  t->len = t->cap = n;
  t->is_list = is_list;
  return (Value){.kind = V_TUPLE, .u.tuple = t};
}

Value value_tuple(Arena *a, const Value *items, uint32_t n) {
  return make_tuple(a, items, n, false);
}

Value value_list(Arena *a, const Value *items, uint32_t n) { return make_tuple(a, items, n, true); }

void value_append(Arena *a, Tuple *t, Value v) {
  if (t->len == t->cap) {
    uint32_t cap = t->cap ? t->cap * 2 : 4;
    t->data = arena_grow(a, t->data, t->len * sizeof(Value), cap * sizeof(Value));
    t->cap = cap;
  }
  t->data[t->len++] = v;
}

static const Value *find_key(const Dict *d, Value key, Walk *w) {
  const Value *found = NULL;
  if (!walk_enter(w, d->len)) return NULL;
  for (uint32_t i = 0; i < d->len && !found; i++) {
    bool known;
    if (value_equal_in(d->data[2 * i], key, &known, w) && known) found = &d->data[2 * i + 1];
  }
  walk_leave(w);
  return found;
}

const Value *value_dict_get(const Dict *d, Value key) {
  Walk w = {0};
  return find_key(d, key, &w);
}

void value_dict_set(Arena *a, Dict *d, Value key, Value v) {
  Value *old = (Value *)value_dict_get(d, key);
  if (old) {
    *old = v;
    return;
  }
  if (d->len == d->cap) {
    uint32_t cap = d->cap ? d->cap * 2 : 4;
    d->data = arena_grow(a, d->data, 2 * d->len * sizeof(Value), 2 * cap * sizeof(Value));
    d->cap = cap;
  }
  d->data[2 * d->len] = key;
  d->data[2 * d->len + 1] = v;
  d->len++;
}

/* ---- questions ---- */

Type value_type(Value v) { return v.kind == V_TILE ? v.u.tile->type : type_scalar(v.u.c.dtype); }

bool value_as_int(Value v, BigInt *out) {
  if (v.kind == V_INT || v.kind == V_BOOL) *out = v.u.i;
  else if (v.kind == V_CONST && v.u.c.dtype == DT_U64) *out = (uint64_t)v.u.c.v.i;
  else if (v.kind == V_CONST && dtype_is_int(v.u.c.dtype)) *out = v.u.c.v.i;
  else return false;
  return true;
}

bool value_as_float(Value v, double *out) {
  BigInt i;
  if (v.kind == V_FLOAT) *out = v.u.f;
  else if (v.kind == V_CONST && dtype_is_float(v.u.c.dtype)) *out = v.u.c.v.f;
  else if (value_as_int(v, &i)) *out = (double)i;
  else return false;
  return true;
}

bool value_truth(Value v, bool *out) {
  BigInt i;
  double f;
  switch (v.kind) {
    case V_NONE: *out = false; return true;
    case V_STR: *out = v.u.s[0] != 0; return true;
    case V_TUPLE: *out = v.u.tuple->len != 0; return true;
    case V_DICT: *out = v.u.dict->len != 0; return true;
    case V_DTYPE:
    case V_FUNC:
    case V_BUILTIN:
    case V_CLASS:
    case V_SPACE:
    case V_MODULE:
    case V_ELLIPSIS:
    case V_SLICE: *out = true; return true;
    default: break;
  }
  if (value_as_int(v, &i)) *out = i != 0;
  else if (value_as_float(v, &f)) *out = f != 0;
  else return false;
  return true;
}

static bool equal_dtypes(DTypeValue a, DTypeValue b, bool *known, Walk *w) {
  if (a.constant && b.constant) return value_equal_in(*a.constant, *b.constant, known, w);
  if (a.constant || b.constant) return false;
  return type_eq(a.type, b.type) && a.is_const == b.is_const;
}

static bool equal_tuples(const Tuple *a, const Tuple *b, bool *known, Walk *w) {
  if (a->len != b->len) return false;
  for (uint32_t i = 0; i < a->len; i++)
    if (!value_equal_in(a->data[i], b->data[i], known, w)) return false;
  return true;
}

static bool equal_dicts(const Dict *a, const Dict *b, bool *known, Walk *w) {
  if (a->len != b->len) return false;
  for (uint32_t i = 0; i < a->len; i++) {
    const Value *v = find_key(b, a->data[2 * i], w);
    if (!v || !value_equal_in(a->data[2 * i + 1], *v, known, w)) return false;
  }
  return true;
}

static bool equal_containers(Value a, Value b, bool *known, Walk *w) {
  *known = walk_enter(w, a.kind == V_TUPLE ? a.u.tuple->len : a.u.dict->len);
  if (!*known) return false;
  bool yes = a.kind == V_TUPLE ? equal_tuples(a.u.tuple, b.u.tuple, known, w)
                               : equal_dicts(a.u.dict, b.u.dict, known, w);
  walk_leave(w);
  return yes;
}

static bool equal_functions(const Func *a, const Func *b) {
  return a->def == b->def && a->lambda == b->lambda;
}

bool value_equal_in(Value a, Value b, bool *known, Walk *w) {
  *known = true;
  BigInt i, j;
  double f, g;
  if (a.kind == V_TILE || b.kind == V_TILE) {
    *known = value_is_operand(a) != value_is_operand(b);
    return false;
  }
  if (value_as_int(a, &i) && value_as_int(b, &j)) return i == j;
  if (value_as_float(a, &f) && value_as_float(b, &g)) return f == g;
  if (a.kind != b.kind) return false;
  switch (a.kind) {
    case V_NONE:
    case V_ELLIPSIS: return true;
    case V_STR: return !strcmp(a.u.s, b.u.s);
    case V_SPACE:
    case V_EXTERN: return a.u.s == b.u.s;
    case V_TUPLE:
    case V_DICT: return equal_containers(a, b, known, w);
    case V_DTYPE: return equal_dtypes(a.u.dtype, b.u.dtype, known, w);
    case V_FUNC: return equal_functions(a.u.func, b.u.func);
    case V_BUILTIN: return a.u.builtin.fn == b.u.builtin.fn;
    case V_CLASS: return a.u.cls.def == b.u.cls.def;
    case V_MODULE: return a.u.module == b.u.module;
    default: return false;
  }
}

bool value_equal(Value a, Value b, bool *known) {
  Walk w = {0};
  return value_equal_in(a, b, known, &w);
}

/* ---- leaves ---- */

static bool fits_limits(Value v, Walk *w) {
  if (v.kind != V_TUPLE) return true;
  if (!walk_enter(w, v.u.tuple->len)) return false;
  for (uint32_t i = 0; i < v.u.tuple->len; i++)
    if (!fits_limits(v.u.tuple->data[i], w)) return false;
  walk_leave(w);
  return true;
}

bool value_fits(Value v) {
  Walk w = {0};
  return fits_limits(v, &w);
}

bool blocks_alike(const BlockPtr *a, const BlockPtr *b) {
  return type_eq(a->type, b->type) && a->descriptor == b->descriptor &&
         (!a->descriptor || !strcmp(a->padding, b->padding));
}

/* The parts of a block pointer that differ from place to place: its base, then by axis. */
static Value *block_part(BlockPtr *b, int i) {
  Value *by_axis[] = {b->sizes, b->strides, b->offsets};
  return i ? &by_axis[(i - 1) % 3][(i - 1) / 3] : &b->base;
}
static int block_parts(const BlockPtr *b) { return 1 + 3 * b->type.rank; }

void value_leaves(Arena *a, Value *v, ValueLeaves *out) {
  if (v->kind == V_TUPLE) {
    for (uint32_t i = 0; i < v->u.tuple->len; i++) value_leaves(a, &v->u.tuple->data[i], out);
  } else if (v->kind == V_BLOCKPTR) {
    for (int i = 0; i < block_parts(v->u.block); i++) vec_push(a, out, block_part(v->u.block, i));
  } else {
    vec_push(a, out, v);
  }
}

Value value_clone(Arena *a, Value v) {
  if (v.kind == V_TUPLE) {
    const Tuple *t = v.u.tuple;
    v = make_tuple(a, t->data, t->len, t->is_list);
    v.u.tuple->fields = t->fields;
    v.u.tuple->cls = t->cls;
    v.u.tuple->is_aggregate = t->is_aggregate;
    for (uint32_t i = 0; i < t->len; i++) v.u.tuple->data[i] = value_clone(a, t->data[i]);
  } else if (v.kind == V_BLOCKPTR) {
    BlockPtr *b = ARENA_NEW(a, BlockPtr);
    *b = *v.u.block;
    v.u.block = b;
  }
  return v;
}

bool same_class(const Tuple *a, const Tuple *b) {
  if (!a->is_aggregate || !b->is_aggregate) return a->is_aggregate == b->is_aggregate;
  return a->cls->u.cls.def == b->cls->u.cls.def;
}

bool value_alike(Value a, Value b) {
  bool composed = a.kind == V_TUPLE || a.kind == V_BLOCKPTR;
  if (!composed || a.kind != b.kind) return !composed && b.kind != V_TUPLE && b.kind != V_BLOCKPTR;
  if (a.kind == V_BLOCKPTR) return blocks_alike(a.u.block, b.u.block);
  if (a.u.tuple->len != b.u.tuple->len || !same_class(a.u.tuple, b.u.tuple)) return false;
  for (uint32_t i = 0; i < a.u.tuple->len; i++)
    if (!value_alike(a.u.tuple->data[i], b.u.tuple->data[i])) return false;
  return true;
}

/* ---- sameness ---- */

static bool same_blocks(BlockPtr *a, BlockPtr *b) {
  if (!blocks_alike(a, b)) return false;
  for (int i = 0; i < block_parts(a); i++)
    if (!value_same(*block_part(a, i), *block_part(b, i))) return false;
  return true;
}

static bool values_equal(Value a, Value b, Walk *w);

static bool same_tuples(const Tuple *a, const Tuple *b, Walk *w) {
  if (a->len != b->len || !walk_enter(w, a->len)) return false;
  for (uint32_t i = 0; i < a->len; i++)
    if (!values_equal(a->data[i], b->data[i], w)) return false;
  walk_leave(w);
  return true;
}

static bool values_equal(Value a, Value b, Walk *w) {
  if (a.kind != b.kind) return false;
  bool known;
  switch (a.kind) {
    case V_ERROR: return true;
    case V_TILE: return a.u.tile == b.u.tile;
    case V_FLOAT: return !memcmp(&a.u.f, &b.u.f, sizeof(double));
    case V_CONST: return a.u.c.dtype == b.u.c.dtype && a.u.c.v.i == b.u.c.v.i;
    case V_BLOCKPTR: return a.u.block == b.u.block || same_blocks(a.u.block, b.u.block);
    case V_TUPLE: return same_tuples(a.u.tuple, b.u.tuple, w);
    default: return value_equal_in(a, b, &known, w) && known;
  }
}

bool value_same(Value a, Value b) {
  Walk w = {0};
  return values_equal(a, b, &w);
}
