/* Ops on whole tiles: elementwise ones, and which file builds the others. */
#include "lower/build/build.h"

void build_copy_tile(Build *s, NestVar *to, const TileValue *from) {
  Open o = build_open(s, to->layout);
  Ref x = build_value_at(s, from, o.axes, to->layout);
  nest_mov(&s->b, build_tile_ref(s, to, o.axes), x, to->dtype);
  build_close(s, &o);
}

/* An elementwise op of its own: computed as an expression, whose last temp is the variable. */
static void elementwise(Build *s, const TileOp *op) {
  const TileValue *r = op->results[0];
  Layout l = build_layout_of(s, r);
  Open o = build_open(s, &l);
  Ref x[3] = {ref_none(), ref_none(), ref_none()};
  for (uint32_t i = 0; i < op->nargs; i++) x[i] = build_value_at(s, op->args[i], o.axes, &l);
  NestVar *v = build_result(s, r);
  build_elementwise(s, op, build_tile_ref(s, v, o.axes), x);
  build_close(s, &o);
}

void build_tile_op(Build *s, const TileOp *op) {
  switch (op->code) {
    case TILE_REDUCE: build_fold_op(s, op, NEST_REDUCE); return;
    case TILE_SCAN: build_fold_op(s, op, NEST_SCAN); return;
    case TILE_RESHAPE:
    case TILE_SLICE:
    case TILE_CAT:
    case TILE_JOIN:
    case TILE_SPLIT:
    case TILE_GATHER:
    case TILE_HISTOGRAM: build_shape_op(s, op); return;
    case TILE_DOT: build_dot_op(s, op); return;
    default: elementwise(s, op); return;
  }
}
