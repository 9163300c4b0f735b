/* Tensor descriptors that a kernel makes: block pointers whose place is given with each access,
 * and that are checked on all axes. */
#include <string.h>

#include "sema/messages.h"
#include "sema/value/builtins.h"
#include "sema/value/context.h"
#include "sema/value/python_host.h"

/* Another builtin with other arguments, all of them told by the place of this call. */
static Value call_row(Sema *S, const Call *c, Value (*run)(Sema *, Call *), Value *args,
                      uint32_t n) {
  Span *spans = ARENA_ARRAY(S->arena, Span, n);
  for (uint32_t i = 0; i < n; i++) spans[i] = c->at;
  Call inner = *c;
  inner.args = args;
  inner.spans = spans;
  return run(S, &inner);
}

static Value zeros(Sema *S, uint32_t n) {
  Value out = value_tuple(S->arena, NULL, 0);
  for (uint32_t i = 0; i < n; i++) value_append(S->arena, out.u.tuple, value_int(0));
  return out;
}

/* "zero" or "nan"; NULL after an error. */
static const char *read_padding_option(Sema *S, Value v, DType elem, Span at) {
  if (v.kind == V_NONE) return "zero";
  bool nan = v.kind == V_STR && !strcmp(v.u.s, "nan");
  if (!nan && (v.kind != V_STR || (*v.u.s && strcmp(v.u.s, "zero") != 0))) {
    if (v.kind != V_ERROR)
      sema_error(S, at, E_SEMA_WORD, "padding_option", value_text(S->arena, v), "zero, nan");
    return NULL;
  }
  if (nan && !dtype_is_float(elem)) sema_error(S, at, E_SEMA_PAD_NAN, dtype_name(elem));
  return !nan ? "zero" : dtype_is_float(elem) ? "nan" : NULL;
}

Value builtin_make_descriptor(Sema *S, Call *c) {
  enum { BASE, SHAPE, STRIDES, BLOCK, PADDING };
  const Value *items;
  uint32_t rank;
  if (!iterate(S, c->args[BLOCK], c->spans[BLOCK], &items, &rank)) return value_error();
  Value args[] = {c->args[BASE],  c->args[SHAPE], c->args[STRIDES],
                  zeros(S, rank), c->args[BLOCK], value_none()};
  Value v = call_row(S, c, builtin_make_block_ptr, args, sizeof args / sizeof *args);
  if (v.kind == V_ERROR) return v;
  v.u.block->descriptor = true;
  v.u.block->padding =
      read_padding_option(S, c->args[PADDING], (DType)v.u.block->type.dtype, c->spans[PADDING]);
  return v.u.block->padding ? v : value_error();
}

/* ---- accesses ---- */

/* A copy of the first argument; NULL after an error. */
static BlockPtr *descriptor_arg(Sema *S, const Call *c) {
  Value d = c->args[0];
  if (d.kind != V_BLOCKPTR || !d.u.block->descriptor) {
    if (d.kind != V_ERROR)
      sema_error(S, c->spans[0], E_SEMA_WANTED, c->fn->name, "a tensor descriptor",
                 value_describe(S->arena, d));
    if (value_is_pointer(d)) sema_hint(S, H_SEMA_DESCRIPTOR);
    return NULL;
  }
  BlockPtr *b = ARENA_NEW(S->arena, BlockPtr);
  *b = *d.u.block;
  return b;
}

/* Another block shape for a descriptor, as the calls of older versions have it with them. */
static bool set_block(Sema *S, const Call *c, BlockPtr *b, Type shape, uint32_t arg) {
  if (shape.rank != b->type.rank) {
    sema_error(S, c->spans[arg], E_SEMA_BLOCK_RANK, shape.rank, b->type.rank);
    return false;
  }
  b->type = type_like(type_element(b->type), shape);
  return true;
}

/* The arguments `arg`, a shape, and the next, a dtype that must be the descriptor's. */
static bool take_block(Sema *S, const Call *c, BlockPtr *b, uint32_t arg) {
  Type shape;
  DTypeValue dtype;
  if (!want_shape(S, c->args[arg], c->spans[arg], &shape) ||
      !want_dtype(S, c->args[arg + 1], c->spans[arg + 1], &dtype))
    return false;
  if (!type_eq(dtype.type, type_element(b->type))) {
    sema_error(S, c->spans[arg + 1], E_SEMA_WANTED, c->fn->name,
               type_text(S->arena, type_element(b->type)), type_text(S->arena, dtype.type));
    return false;
  }
  return set_block(S, c, b, shape, arg);
}

Value builtin_reinterpret_descriptor(Sema *S, Call *c) {
  BlockPtr *b = descriptor_arg(S, c);
  if (!b || !take_block(S, c, b, 1)) return value_error();
  return (Value){.kind = V_BLOCKPTR, .u.block = b};
}

/* The block of a descriptor at the offsets of argument `arg`, as a block pointer. */
static Value block_at(Sema *S, const Call *c, BlockPtr *b, uint32_t arg) {
  b->descriptor = false;
  if (!block_offsets(S, c, arg, b)) return value_error();
  return (Value){.kind = V_BLOCKPTR, .u.block = b};
}

static Value all_axes(Sema *S, int rank) {
  Value out = value_tuple(S->arena, NULL, 0);
  for (int i = 0; i < rank; i++) value_append(S->arena, out.u.tuple, value_int(i));
  return out;
}

Value builtin_descriptor_load(Sema *S, Call *c) {
  BlockPtr *b = descriptor_arg(S, c);
  if (!b || (c->fn->code == 1 && !take_block(S, c, b, 2))) return value_error();
  Value at = block_at(S, c, b, 1), none = value_none();
  if (at.kind == V_ERROR) return at;
  Value args[] = {at,
                  none,
                  none,
                  all_axes(S, at.u.block->type.rank),
                  value_str(at.u.block->padding),
                  none,
                  none,
                  value_bool(false)};
  return call_row(S, c, builtin_load, args, sizeof args / sizeof *args);
}

/* (desc, offsets, value), and before (desc, value, offsets) with a value of the block's shape. */
Value builtin_descriptor_store(Sema *S, Call *c) {
  uint32_t value = c->fn->code == 1 ? 1 : 2;
  BlockPtr *b = descriptor_arg(S, c);
  Value v = c->args[value], none = value_none();
  bool shaped = b && value == 1 && value_is_block(v);
  if (!b || (shaped && !set_block(S, c, b, value_type(v), value))) return value_error();
  Value at = block_at(S, c, b, 3 - value);
  if (at.kind == V_ERROR) return at;
  Value args[] = {at, v, none, all_axes(S, at.u.block->type.rank), none, none};
  return call_row(S, c, builtin_store, args, sizeof args / sizeof *args);
}

/* ---- members ---- */

/* i32, as the language says: the integer that was widened, where that is at hand. */
static Value extent_value(Sema *S, Value size, Span at) {
  const TileOp *op = size.kind == V_TILE ? size.u.tile->def : NULL;
  if (op && op->code == TILE_CAST && op->args[0]->type.dtype == DT_I32)
    return value_tile(op->args[0]);
  return cast_dtype(S, size, DT_I32, at);
}

static Value extents_value(Sema *S, const BlockPtr *b, Span at) {
  Value items[MAX_RANK];
  for (int i = 0; i < b->type.rank; i++) items[i] = extent_value(S, b->sizes[i], at);
  return value_tuple(S->arena, items, b->type.rank);
}

/* A named tuple, which is equal for descriptors of equal blocks. */
static Value type_value(Sema *S, const BlockPtr *b) {
  Name *fields = ARENA_ARRAY(S->arena, Name, 1);
  fields[0] = pool_name(S->names, "block_type");
  Value block = value_dtype(b->type), out = value_tuple(S->arena, &block, 1);
  out.u.tuple->fields = fields;
  return out;
}

/* For the library alone. */
static bool inner_attribute(const BlockPtr *b, Name name, Value *out) {
  if (!strcmp(name, "_base")) *out = b->base;
  else if (!strcmp(name, "_padding")) *out = value_str(b->padding);
  else return false;
  return true;
}

bool descriptor_attribute(Sema *S, Value v, Name name, Span at, Value *out) {
  const BlockPtr *b = v.u.block;
  uint32_t rank = (uint32_t)b->type.rank;
  if (S->frame->is_std && inner_attribute(b, name, out)) return true;
  if (!strcmp(name, "dtype")) *out = value_dtype(type_element(b->type));
  else if (!strcmp(name, "shape")) *out = extents_value(S, b, at);
  else if (!strcmp(name, "strides")) *out = value_tuple(S->arena, b->strides, rank);
  else if (!strcmp(name, "block_shape")) *out = shape_value(S, b->type);
  else if (!strcmp(name, "type")) *out = type_value(S, b);
  else if (!strcmp(name, "block_type")) *out = value_dtype(b->type);
  else if (!strcmp(name, "load")) *out = host_bound(S, "load_tensor_descriptor", v);
  else if (!strcmp(name, "store")) *out = host_bound(S, "store_tensor_descriptor", v);
  else return false;
  return true;
}
