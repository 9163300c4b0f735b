#include "lower/analysis/values.h"

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
