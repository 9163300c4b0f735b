/* Products that feed one sum become fused multiply-adds.  It happens here, once, so that the tile
 * IR says it and all executors round alike. */
#include "sema/context.h"

typedef struct {
  TileFunc *f;
  uint32_t *uses; /* by id, of the values there were at the start */
  uint32_t known; /* how many those were */
} Fusing;

/* f16 and bf16 round after each op, as Triton's do where the sum is one of f32. */
static bool fusible(const TileOp *op) {
  DType t = (DType)op->results[0]->type.dtype;
  return t == DT_F32 || t == DT_F64;
}

/* The product v that nothing else uses and that is made in the same block; NULL. */
static TileOp *product(const Fusing *s, const TileOp *op, const TileValue *v) {
  if (v->id >= s->known || s->uses[v->id] != 1 || !v->def || v->def->code != TILE_MUL) return NULL;
  return v->def->parent == op->parent ? v->def : NULL;
}

static TileValue *negated(Fusing *s, TileOp *op, TileValue *v) {
  TileBuilder b = {s->f, op->parent, op, op->span};
  return tile_build1(&b, TILE_NEG, v->type, v, NULL, NULL);
}

/* op is x*y + z, x*y - z or z - x*y, whose product is the operand `which`. */
static void fuse(Fusing *s, TileOp *op, TileOp *mul, int which) {
  TileValue *x = mul->args[0], *z = op->args[1 - which];
  if (op->code == TILE_SUB && which == 0) z = negated(s, op, z);
  if (op->code == TILE_SUB && which == 1) x = negated(s, op, x);
  TileValue **args = ARENA_ARRAY(s->f->arena, TileValue *, 3);
  args[0] = x;
  args[1] = mul->args[1];
  args[2] = z;
  op->code = TILE_FMA;
  op->args = args;
  op->nargs = 3;
  tile_remove(mul);
}

static void visit(TileOp *op, void *ctx) {
  Fusing *s = ctx;
  if ((op->code != TILE_ADD && op->code != TILE_SUB) || !fusible(op)) return;
  for (int which = 0; which < 2; which++) {
    TileOp *mul = product(s, op, op->args[which]);
    if (!mul) continue;
    fuse(s, op, mul, which);
    return;
  }
}

void fuse_products(Sema *S) {
  Fusing s = {S->fn, tile_count_uses(S->fn, S->arena), S->fn->nvalues};
  tile_walk(S->fn->body, visit, &s);
}
