#include "lower/analysis/lone_programs.h"

typedef struct {
  int products, loops;
  bool others; /* programs may notice each other, or are along another axis */
} Found;

static void count_product(TileOp *op, void *ctx) { *(int *)ctx += op->code == TILE_DOT; }

static bool is_noticed(const TileOp *op) {
  bool store = op->code == TILE_STORE || op->code == TILE_VIEW_STORE;
  if (tile_op_flags(op->code) & TILE_WRITE) return !store;
  if (op->code == TILE_PROGRAM_ID) return tile_int(op, TA_axis, 0) != 0;
  return op->code == TILE_SPECIAL || op->code == TILE_WHILE || op->code == TILE_NUM_PROGRAMS ||
         tile_int(op, TA_volatile, 0) != 0;
}

static void note_op(TileOp *op, void *ctx) {
  Found *x = ctx;
  x->others |= is_noticed(op);
  if (op->code != TILE_FOR) return;
  x->loops++;
  tile_walk(op->regions[0], count_product, &x->products);
}

bool has_lone_programs(const TileFunc *f) {
  Found x = {0};
  tile_walk(f->body, note_op, &x);
  return x.loops == 1 && x.products == 1 && !x.others;
}

static void note_store(TileOp *op, void *ctx) {
  enum { NARROW = 2 };
  bool store = op->code == TILE_STORE || op->code == TILE_VIEW_STORE;
  if (store && dtype_bytes((DType)op->args[1]->type.dtype) > NARROW) *(bool *)ctx = false;
}

bool stores_narrow(const TileFunc *f) {
  bool narrow = true;
  tile_walk(f->body, note_store, &narrow);
  return narrow;
}
