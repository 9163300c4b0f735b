/* Block pointers: how they are made, moved, and what is loaded and stored through them. */
#include <string.h>

#include "sema/builtins/access.h"
#include "sema/messages.h"

/* ---- load and store ---- */

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

Value load_block(Sema *S, const Call *c, const BlockPtr *b) {
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

Value store_block(Sema *S, const Call *c, const BlockPtr *b) {
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

/* ---- pointers ---- */

/* One i64 an axis. */
static bool index_list(Sema *S, const Call *c, uint32_t arg, int rank, Value *out) {
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
  return index_list(S, c, arg, b->type.rank, b->offsets);
}

bool is_block_pointer(Value v) { return v.kind == V_BLOCKPTR && !v.u.block->descriptor; }

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
  if (!index_list(S, c, 1, shape.rank, b->sizes) || !index_list(S, c, 2, shape.rank, b->strides) ||
      !index_list(S, c, 3, shape.rank, b->offsets) ||
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
  if (!index_list(S, c, 1, b->type.rank, by)) return value_error();
  for (int i = 0; i < b->type.rank; i++)
    b->offsets[i] = binary(S, OP_ADD, b->offsets[i], by[i], c->at);
  return (Value){.kind = V_BLOCKPTR, .u.block = b};
}
