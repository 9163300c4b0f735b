#include "lower/analysis/values.h"

#include <string.h>

static bool widens(const TileOp *op) {
  DType from = (DType)op->args[0]->type.dtype, to = (DType)op->results[0]->type.dtype;
  if (op->code != TILE_CAST || !dtype_is_int(from) || !dtype_is_int(to)) return false;
  if (from == DT_I1) return !dtype_is_signed(to) || dtype_bits(to) > 1;
  bool wider = dtype_bits(to) > dtype_bits(from);
  return dtype_is_signed(from) ? wider && dtype_is_signed(to) : wider || from == to;
}

const TileValue *tile_root_value(const TileValue *v) {
  while (v->def) {
    switch (v->def->code) {
      case TILE_SPLAT:
      case TILE_EXPAND_DIMS:
      case TILE_BROADCAST:
      case TILE_RESHAPE:
      case TILE_TRANS:
      case TILE_HINT: break;
      case TILE_CAST:
        if (widens(v->def)) break;
        return v;
      default: return v;
    }
    v = v->def->args[0];
  }
  return v;
}

TileValue *tile_address_root(TileValue *v) {
  while (v->def) {
    switch (v->def->code) {
      case TILE_PTR_ADD:
      case TILE_SPLAT:
      case TILE_EXPAND_DIMS:
      case TILE_BROADCAST:
      case TILE_HINT:
      case TILE_TRANS:
      case TILE_RESHAPE: v = v->def->args[0]; break;
      default: return NULL;
    }
  }
  return v;
}

static bool same_attrs(const TileOp *x, const TileOp *y) {
  if (x->nattrs != y->nattrs) return false;
  for (uint32_t i = 0; i < x->nattrs; i++) {
    const TileAttr *a = &x->attrs[i], *b = &y->attrs[i];
    bool same = a->key == b->key && a->i == b->i && a->s == b->s && !a->len && !b->len;
    if (!same || memcmp(&a->f, &b->f, sizeof a->f)) return false;
  }
  return true;
}

bool values_alike(const TileValue *a, const TileValue *b, ValueComparison *c) {
  if (a == b || (a->id == c->base && b->id == c->other)) return true;
  const TileOp *x = a->def, *y = b->def;
  if (!x || !y || --c->steps < 0 || x->code != y->code || a->index != b->index) return false;
  if (!(tile_op_flags(x->code) & TILE_PURE) || x->nregions || x->nargs != y->nargs) return false;
  if (!type_eq(a->type, b->type) || !same_attrs(x, y)) return false;
  for (uint32_t i = 0; i < x->nargs; i++)
    if (!x->args[i] || !y->args[i] || !values_alike(x->args[i], y->args[i], c)) return false;
  return true;
}
