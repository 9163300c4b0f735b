/* Loads, stores and atomics through pointers; block pointers: how they are made, moved, and what is
 * loaded and stored through them. */
#include <string.h>

#include "sema/messages.h"
#include "sema/value/builtins.h"
#include "sema/value/context.h"

/* ---- parts of an access ---- */

/* The first argument as a pointer or a tile of pointers. */
static bool pointer_arg(Sema *S, const Call *c, Value *out) {
  Value v = c->args[0];
  bool ok = value_is_pointer(v);
  if (!ok && v.kind != V_ERROR) {
    sema_error(S, c->spans[0], E_SEMA_NOT_POINTER, c->fn->name, value_describe(S->arena, v));
    if (value_is_operand(v) && c->fn->name[0] != 'm') sema_hint(S, H_SEMA_NOT_POINTER);
  }
  *out = v;
  return ok;
}

/* The pointer as memory sees it, and its element type: i1 is stored as bytes. */
static Value byte_pointer(Sema *S, Value ptr, DType *elem, Span at) {
  *elem = (DType)value_type(ptr).elem;
  if (*elem != DT_I1) return ptr;
  *elem = DT_I8;
  return cast_to(S, ptr, type_ptr(DT_I8), false, at);
}

/* A mask; V_ABSENT where all are accessed. */
static bool mask_arg(Sema *S, const Call *c, uint32_t i, Value *out) {
  bool truth;
  *out = value_of(V_ABSENT);
  if (c->args[i].kind == V_NONE || (value_truth(c->args[i], &truth) && truth)) return true;
  if (!tile_arg(S, c, i, out)) return false;
  if (value_type(*out).dtype == DT_I1) return true;
  BigInt zero;
  if (value_as_int(*out, &zero)) {
    *out = as_condition(S, *out, c->spans[i]);
    return true;
  }
  sema_error(S, c->spans[i], E_SEMA_MASK, value_describe(S->arena, *out));
  return false;
}

/* `v` in the shape of the pointers; V_ABSENT stays NULL. */
static bool in_shape(Sema *S, const Call *c, uint32_t i, Value v, Type shape, TileValue **out) {
  *out = NULL;
  if (v.kind == V_ABSENT) return true;
  if (v.kind == V_ERROR) return false;
  Type t = value_type(v);
  if (!shape.rank && t.rank) {
    sema_error(S, c->spans[i], E_SEMA_SCALAR_POINTER, type_text(S->arena, t));
    return false;
  }
  v = broadcast_to(S, v, shape, c->spans[i]);
  if (v.kind == V_ERROR) return false;
  *out = materialize(S, v, c->at);
  return true;
}

/* "[8,1]" */
static const char *shape_text(Arena *a, Type t) {
  Text out = text_new(a);
  for (int i = 0; i < t.rank; i++) text_printf(&out, "%s%d", i ? "," : "[", t.shape[i]);
  text_puts(&out, "]");
  return out.data;
}

/* Pointers, mask and further operands in one shape: that of all of them together. */
static bool together(Sema *S, const Call *c, Value *ptr, Value *others, uint32_t n, bool widen) {
  Value all[4] = {*ptr};
  uint32_t k = 1;
  if (!value_type(*ptr).rank) return true;
  for (uint32_t i = 0; i < n; i++)
    if (others[i].kind != V_ABSENT) all[k++] = others[i];
  Type before = value_type(*ptr);
  if (!broadcast_all(S, all, k, c->at)) return false;
  if (!widen && !type_same_shape(before, value_type(all[0]))) {
    sema_error(S, c->at, E_SEMA_STORE_SHAPE, shape_text(S->arena, before),
               shape_text(S->arena, value_type(all[0])));
    return false;
  }
  *ptr = all[0];
  for (uint32_t i = 0, j = 1; i < n; i++)
    if (others[i].kind != V_ABSENT) others[i] = all[j++];
  return true;
}

/* A store in a choice by element writes the elements that take its side: they are the mask, and
 * each gets a pointer. */
static bool on_side(Sema *S, Value *ptr, Value *mask, Span at) {
  if (!S->choice || !S->element_shape.rank) return true;
  if (!value_type(*ptr).rank) *ptr = broadcast_to(S, *ptr, S->element_shape, at);
  *mask = choice_mask(S, *mask, at);
  return ptr->kind != V_ERROR && mask->kind != V_ERROR;
}

/* An attribute that is one of `words`, or not given. */
static bool word_attr(Sema *S, TileOp *op, TileAttrKey k, Value v, const char *const *words,
                      const char *what, Span at) {
  if (v.kind == V_NONE || (v.kind == V_STR && !v.u.s[0])) return true;
  Text known = text_new(S->arena);
  for (const char *const *w = words; *w; w++) {
    if (v.kind == V_STR && !strcmp(*w, v.u.s)) {
      tile_set_str(S->fn, op, k, v.u.s);
      return true;
    }
    text_printf(&known, "%s%s", w == words ? "" : ", ", *w);
  }
  sema_error(S, at, E_SEMA_WORD, what, value_text(S->arena, v), known.data);
  return false;
}

static const char *const load_caches[] = {".ca", ".cg", ".cs", ".cv", NULL};
static const char *const store_caches[] = {".wb", ".cg", ".cs", ".wt", NULL};
static const char *const policies[] = {"evict_first", "evict_last", "evict_normal", NULL};

/* Cache, eviction and volatile; `cache` is the first of their arguments. */
static bool access_attrs(Sema *S, const Call *c, TileOp *op, bool load, uint32_t cache) {
  if (!word_attr(S, op, TA_cache, c->args[cache], load ? load_caches : store_caches,
                 "cache_modifier", c->spans[cache]) ||
      !word_attr(S, op, TA_evict, c->args[cache + 1], policies, "eviction_policy",
                 c->spans[cache + 1]))
    return false;
  bool is_volatile = false;
  if (load && !want_bool(S, c->args[cache + 2], "volatile", c->spans[cache + 2], &is_volatile))
    return false;
  if (is_volatile) tile_set_int(S->fn, op, TA_volatile, 1);
  return true;
}

/* ---- block pointers: load and store ---- */

static bool boundary_attr(Sema *S, const Call *c, TileOp *op, uint32_t i, int rank) {
  int64_t axes[MAX_RANK], sorted[MAX_RANK];
  uint32_t n, k = 0;
  if (!want_ints(S, c->args[i], "boundary_check", c->spans[i], axes, MAX_RANK, &n)) return false;
  for (int axis = 0; axis < rank; axis++)
    for (uint32_t j = 0; j < n; j++)
      if (axes[j] == axis) {
        sorted[k++] = axis;
        break;
      }
  for (uint32_t j = 0; j < n; j++)
    if (axes[j] < 0 || axes[j] >= rank) {
      sema_error(S, c->spans[i], E_SEMA_AXIS, (long long)axes[j], rank);
      return false;
    }
  if (k) tile_set_ints(S->fn, op, TA_check, sorted, k);
  return true;
}

static TileOp *view_op(Sema *S, const Call *c, TileCode code, const BlockPtr *b, TileValue *value,
                       DType *elem, const Type *result) {
  Value base = byte_pointer(S, b->base, elem, c->at);
  if (base.kind == V_ERROR) return NULL;
  TileValue *args[VIEW_FIXED + 3 * MAX_RANK] = {base.u.tile};
  args[code == TILE_VIEW_STORE ? 1 : 2] = value;
  uint32_t n = VIEW_FIXED;
  const Value *const parts[] = {b->offsets, b->sizes, b->strides};
  for (int p = 0; p < 3; p++)
    for (int i = 0; i < b->type.rank; i++) args[n++] = materialize(S, parts[p][i], c->at);
  return emit(S, code, args, n, result, result != NULL, c->at);
}

static Value load_block(Sema *S, const Call *c, const BlockPtr *b) {
  if (c->args[1].kind != V_NONE || c->args[2].kind != V_NONE) {
    sema_error(S, c->at, E_SEMA_BLOCK_MASK);
    return value_error();
  }
  if (!can_emit(S)) return value_error();
  Type t = b->type;
  if (t.dtype == DT_I1) t.dtype = DT_I8;
  DType elem;
  TileOp *op = view_op(S, c, TILE_VIEW_LOAD, b, NULL, &elem, &t);
  static const char *const pads[] = {"zero", "nan", NULL};
  if (!op || !boundary_attr(S, c, op, 3, t.rank) || !access_attrs(S, c, op, true, 5) ||
      !word_attr(S, op, TA_pad, c->args[4], pads, "padding_option", c->spans[4]))
    return value_error();
  if (!dtype_is_float((DType)t.dtype) && c->args[4].kind == V_STR &&
      !strcmp(c->args[4].u.s, "nan")) {
    sema_error(S, c->spans[4], E_SEMA_PAD_NAN, dtype_name((DType)t.dtype));
    return value_error();
  }
  Value v = value_tile(op->results[0]);
  return b->type.dtype == DT_I1 ? as_condition(S, v, c->at) : v;
}

static Value store_block(Sema *S, const Call *c, const BlockPtr *b) {
  Value v;
  if (c->args[2].kind != V_NONE) {
    sema_error(S, c->at, E_SEMA_BLOCK_MASK);
    return value_error();
  }
  if (!tile_arg(S, c, 1, &v) || !can_emit(S)) return value_error();
  DType elem = b->type.dtype == DT_I1 ? DT_I8 : (DType)b->type.dtype;
  v = broadcast_to(S, v, b->type, c->spans[1]);
  if (v.kind == V_ERROR) return v;
  v = cast_dtype(S, v, elem, c->at);
  if (v.kind == V_ERROR) return v;
  TileOp *op = view_op(S, c, TILE_VIEW_STORE, b, materialize(S, v, c->at), &elem, NULL);
  if (!op || !boundary_attr(S, c, op, 3, b->type.rank) || !access_attrs(S, c, op, false, 4))
    return value_error();
  return value_none();
}

/* ---- block pointers: how they are made and moved ---- */

/* Reads one i64 for each axis. */
static bool read_index_list(Sema *S, const Call *c, uint32_t arg, int rank, Value *out) {
  Value v = c->args[arg];
  const Value *items;
  uint32_t n;
  if (!iterate(S, v, c->spans[arg], &items, &n)) return false;
  if ((int)n != rank) {
    sema_error(S, c->spans[arg], E_SEMA_BLOCK_RANK, n, rank);
    return false;
  }
  for (int i = 0; i < rank; i++) {
    Value x = value_is_operand(items[i]) ? typed(S, items[i], c->spans[arg]) : items[i];
    bool ok = value_is_typed(x) && type_numel(value_type(x)) == 1 &&
              dtype_is_int((DType)value_type(x).dtype);
    if (!ok) {
      if (x.kind != V_ERROR)
        sema_error(S, c->spans[arg], E_SEMA_BLOCK_INDEX, value_describe(S->arena, items[i]));
      return false;
    }
    out[i] = cast_dtype(S, reshape_value(S, x, (Type){0}, c->at), DT_I64, c->spans[arg]);
    if (out[i].kind == V_ERROR) return false;
  }
  return true;
}

bool block_offsets(Sema *S, const Call *c, uint32_t arg, BlockPtr *b) {
  return read_index_list(S, c, arg, b->type.rank, b->offsets);
}

/* A block pointer that is no descriptor. */
static bool is_block_pointer(Value v) { return v.kind == V_BLOCKPTR && !v.u.block->descriptor; }

Value builtin_make_block_ptr(Sema *S, Call *c) {
  Value base;
  Type shape;
  BlockPtr *b = ARENA_NEW(S->arena, BlockPtr);
  if (!pointer_arg(S, c, &base) || !want_shape(S, c->args[4], c->spans[4], &shape))
    return value_error();
  if (value_type(base).rank || !shape.rank) {
    sema_error(S, c->spans[0], E_SEMA_BLOCK_BASE, type_text(S->arena, value_type(base)));
    return value_error();
  }
  int64_t order[MAX_RANK];
  uint32_t n;
  if (!read_index_list(S, c, 1, shape.rank, b->sizes) ||
      !read_index_list(S, c, 2, shape.rank, b->strides) ||
      !read_index_list(S, c, 3, shape.rank, b->offsets) ||
      !want_ints(S, c->args[5], "order", c->spans[5], order, MAX_RANK, &n))
    return value_error();
  b->base = base;
  b->type = type_like(type_scalar((DType)value_type(base).elem), shape);
  return (Value){.kind = V_BLOCKPTR, .u.block = b};
}

Value builtin_advance(Sema *S, Call *c) {
  if (!is_block_pointer(c->args[0])) {
    sema_error(S, c->spans[0], E_SEMA_WANTED, "advance", "a block pointer",
               value_describe(S->arena, c->args[0]));
    return value_error();
  }
  BlockPtr *b = ARENA_NEW(S->arena, BlockPtr);
  *b = *c->args[0].u.block;
  Value by[MAX_RANK];
  if (!read_index_list(S, c, 1, b->type.rank, by)) return value_error();
  for (int i = 0; i < b->type.rank; i++)
    b->offsets[i] = binary(S, OP_ADD, b->offsets[i], by[i], c->at);
  return (Value){.kind = V_BLOCKPTR, .u.block = b};
}

/* ---- load and store ---- */

Value builtin_load(Sema *S, Call *c) {
  if (is_block_pointer(c->args[0])) return load_block(S, c, c->args[0].u.block);
  Value ptr, parts[2];
  if (!pointer_arg(S, c, &ptr) || !mask_arg(S, c, 1, &parts[0]) || !can_emit(S))
    return value_error();
  DType elem;
  ptr = byte_pointer(S, ptr, &elem, c->at);
  parts[1] = value_of(V_ABSENT);
  if (c->args[2].kind != V_NONE && c->args[1].kind == V_NONE) {
    sema_error(S, c->spans[2], E_SEMA_OTHER);
    return value_error();
  }
  if (c->args[2].kind != V_NONE && parts[0].kind != V_ABSENT) {
    if (!tile_arg(S, c, 2, &parts[1])) return value_error();
    /* A number is converted as such: -1 is a good u8, inf is none. */
    parts[1] = cast_to(S, parts[1], type_like(type_scalar(elem), (Type){0}), false, c->spans[2]);
    if (parts[1].kind == V_ERROR) return parts[1];
  }
  /* A load in a choice by element reads the elements that take its side. */
  if (ptr.kind != V_ERROR && value_type(ptr).rank) parts[0] = choice_mask(S, parts[0], c->at);
  if (ptr.kind == V_ERROR || !together(S, c, &ptr, parts, 2, true)) return value_error();
  TileValue *args[3] = {ptr.u.tile};
  if (!in_shape(S, c, 1, parts[0], value_type(ptr), &args[1]) ||
      !in_shape(S, c, 2, parts[1], value_type(ptr), &args[2]))
    return value_error();
  Type t = type_like(type_scalar(elem), value_type(ptr));
  TileOp *op = emit(S, TILE_LOAD, args, 3, &t, 1, c->at);
  if (!access_attrs(S, c, op, true, 5)) return value_error();
  Value v = value_tile(op->results[0]);
  return value_type(c->args[0]).elem == DT_I1 ? as_condition(S, v, c->at) : v;
}

/* The operands of a write: pointers, the values as `elem`, and the mask, in the pointers' shape. */
static bool written_parts(Sema *S, Call *c, Value *ptr, Value parts[2], Type elem,
                          TileValue *args[3]) {
  parts[0] = cast_to(S, parts[0], elem, false, c->spans[1]);
  if (parts[0].kind == V_ERROR || !on_side(S, ptr, &parts[1], c->at) ||
      !together(S, c, ptr, parts, 2, false))
    return false;
  args[0] = ptr->u.tile;
  return in_shape(S, c, 1, parts[0], value_type(*ptr), &args[1]) &&
         in_shape(S, c, 2, parts[1], value_type(*ptr), &args[2]);
}

Value builtin_store(Sema *S, Call *c) {
  if (is_block_pointer(c->args[0])) return store_block(S, c, c->args[0].u.block);
  Value ptr, parts[2];
  if (!pointer_arg(S, c, &ptr) || !tile_arg(S, c, 1, &parts[0]) || !mask_arg(S, c, 2, &parts[1]) ||
      !can_emit(S))
    return value_error();
  DType elem;
  ptr = byte_pointer(S, ptr, &elem, c->at);
  if (ptr.kind == V_ERROR) return ptr;
  TileValue *args[3];
  Type as = elem == DT_PTR ? type_ptr(DT_U8) : type_scalar(elem);
  if (!written_parts(S, c, &ptr, parts, as, args)) return value_error();
  TileOp *op = emit(S, TILE_STORE, args, 3, NULL, 0, c->at);
  return access_attrs(S, c, op, false, 4) ? value_none() : value_error();
}

/* ---- atomics ---- */

static const char *const sems[] = {"acq_rel", "acquire", "release", "relaxed", NULL};
static const char *const scopes[] = {"gpu", "cta", "sys", NULL};

static bool order_attrs(Sema *S, const Call *c, TileOp *op, uint32_t i) {
  return word_attr(S, op, TA_sem, c->args[i], sems, "sem", c->spans[i]) &&
         word_attr(S, op, TA_scope, c->args[i + 1], scopes, "scope", c->spans[i + 1]);
}

/* Minima and maxima of 16-bit floats are for descriptors alone, as in Triton: for the library. */
static bool atomic_dtype(Sema *S, const Call *c, const char *kind, DType t) {
  bool narrow = dtype_bits(t) < 16 || t == DT_I16 || t == DT_U16;
  bool bits = !strcmp(kind, "and") || !strcmp(kind, "or") || !strcmp(kind, "xor");
  bool half = (t == DT_F16 || t == DT_BF16) && strcmp(kind, "add") && !S->frame->is_std;
  if (!narrow && !half && !(bits && !dtype_is_int(t)) && t != DT_PTR) return true;
  sema_error(S, c->at, E_SEMA_ATOMIC_TYPE, kind, t == DT_PTR ? "pointers" : dtype_name(t));
  return false;
}

Value builtin_atomic(Sema *S, Call *c) {
  static const char *const kinds[] = {"add", "max", "min", "and", "or", "xor", "xchg"};
  const char *kind = kinds[c->fn->code];
  Value ptr, parts[2];
  if (!pointer_arg(S, c, &ptr) || !tile_arg(S, c, 1, &parts[0]) || !mask_arg(S, c, 2, &parts[1]) ||
      !can_emit(S))
    return value_error();
  DType elem = (DType)value_type(ptr).elem;
  if (!atomic_dtype(S, c, kind, elem)) return value_error();
  TileValue *args[3];
  if (!written_parts(S, c, &ptr, parts, type_scalar(elem), args)) return value_error();
  Type t = type_like(type_scalar(elem), value_type(ptr));
  TileOp *op = emit(S, TILE_ATOMIC_RMW, args, 3, &t, 1, c->at);
  tile_set_str(S->fn, op, TA_kind, kind);
  return order_attrs(S, c, op, 3) ? value_tile(op->results[0]) : value_error();
}

/* The order of an atomic load or store: `strong`, the default, or relaxed. */
static bool one_sided_order(Sema *S, const Call *c, TileOp *op, const char *strong, uint32_t i) {
  const char *const words[] = {strong, "relaxed", NULL};
  if (!word_attr(S, op, TA_sem, c->args[i], words, "sem", c->spans[i]) ||
      !word_attr(S, op, TA_scope, c->args[i + 1], scopes, "scope", c->spans[i + 1]))
    return false;
  if (!tile_str(op, TA_sem, NULL)) tile_set_str(S->fn, op, TA_sem, strong);
  return true;
}

/* The op of an atomic load (value V_ABSENT) or store; NULL after an error. */
static TileOp *plain_atomic(Sema *S, const Call *c, Value value, Value mask, DType *elem) {
  bool load = value.kind == V_ABSENT;
  Value ptr;
  if (!pointer_arg(S, c, &ptr) || !can_emit(S)) return NULL;
  ptr = byte_pointer(S, ptr, elem, c->at);
  if (ptr.kind == V_ERROR) return NULL;
  if (*elem == DT_PTR) {
    sema_error(S, c->at, E_SEMA_ATOMIC_TYPE, load ? "load" : "store", "pointers");
    return NULL;
  }
  Value parts[2] = {mask, cast_dtype(S, load ? value_int(0) : value, *elem, c->spans[1])};
  if (parts[1].kind != V_ERROR) parts[1] = typed(S, parts[1], c->at);
  if (parts[1].kind == V_ERROR || !on_side(S, &ptr, &parts[0], c->at) ||
      !together(S, c, &ptr, parts, 2, load))
    return NULL;
  TileValue *args[3] = {ptr.u.tile};
  if (!in_shape(S, c, 1, parts[1], value_type(ptr), &args[1]) ||
      !in_shape(S, c, load ? 1 : 2, parts[0], value_type(ptr), &args[2]))
    return NULL;
  Type t = type_like(type_scalar(*elem), value_type(ptr));
  TileOp *op = emit(S, TILE_ATOMIC_RMW, args, 3, &t, 1, c->at);
  tile_set_str(S->fn, op, TA_kind, load ? "load" : "store");
  return op;
}

Value builtin_atomic_load(Sema *S, Call *c) {
  Value mask;
  DType elem;
  if (!mask_arg(S, c, 1, &mask)) return value_error();
  TileOp *op = plain_atomic(S, c, value_of(V_ABSENT), mask, &elem);
  if (!op || !one_sided_order(S, c, op, "acquire", 2)) return value_error();
  Value v = value_tile(op->results[0]);
  return value_type(c->args[0]).elem == DT_I1 ? as_condition(S, v, c->at) : v;
}

Value builtin_atomic_store(Sema *S, Call *c) {
  Value mask, value;
  DType elem;
  if (!mask_arg(S, c, 2, &mask) || !operand_arg(S, c, 1)) return value_error();
  value = c->args[1];
  if (value_is_pointer(c->args[0]) && value_type(c->args[0]).elem == DT_I1)
    value = as_condition(S, value, c->at);
  TileOp *op = plain_atomic(S, c, value, mask, &elem);
  return op && one_sided_order(S, c, op, "release", 3) ? value_none() : value_error();
}

Value builtin_atomic_cas(Sema *S, Call *c) {
  Value ptr, v[2];
  if (!pointer_arg(S, c, &ptr) || !tile_arg(S, c, 1, &v[0]) || !tile_arg(S, c, 2, &v[1]) ||
      !can_emit(S))
    return value_error();
  DType elem = (DType)value_type(ptr).elem;
  if (elem == DT_PTR || dtype_bits(elem) < 16) {
    sema_error(S, c->at, E_SEMA_ATOMIC_TYPE, "cas", elem == DT_PTR ? "pointers" : dtype_name(elem));
    return value_error();
  }
  TileValue *args[3] = {ptr.u.tile};
  for (int i = 0; i < 2; i++) {
    v[i] = cast_dtype(S, v[i], elem, c->spans[i + 1]);
    if (!in_shape(S, c, (uint32_t)i + 1, v[i], value_type(ptr), &args[i + 1])) return value_error();
  }
  Type t = type_like(type_scalar(elem), value_type(ptr));
  TileOp *op = emit(S, TILE_ATOMIC_CAS, args, 3, &t, 1, c->at);
  return order_attrs(S, c, op, 3) ? value_tile(op->results[0]) : value_error();
}

Value builtin_barrier(Sema *S, Call *c) {
  if (!can_emit(S)) return value_error();
  emit(S, TILE_BARRIER, NULL, 0, NULL, 0, c->at);
  return value_none();
}
