/* Products that feed one sum become fused multiply-adds, and products of matrices add to that sum
 * themselves, as the matrix units do.  It happens here, once, so that the tile IR says it and all
 * executors round alike. */
#include "sema/value/context.h"

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

/* The op of this code that makes v, which nothing else uses, in the same block; NULL. */
static TileOp *made_for(const Fusing *s, const TileOp *op, const TileValue *v, TileCode code) {
  if (v->id >= s->known || s->uses[v->id] != 1 || !v->def || v->def->code != code) return NULL;
  return v->def->parent == op->parent ? v->def : NULL;
}

/* op adds `which`, a product of matrices with nothing added yet, to its other operand. */
static bool add_to_dot(Fusing *s, TileOp *op, int which) {
  TileOp *dot = made_for(s, op, op->args[which], TILE_DOT);
  DType t = (DType)op->results[0]->type.dtype;
  if (!dot || op->code != TILE_ADD || dtype_bits(t) < 32 || !tile_is_zero(dot->args[2]))
    return false;
  TileValue **args = ARENA_ARRAY(s->f->arena, TileValue *, 3);
  args[0] = dot->args[0];
  args[1] = dot->args[1];
  args[2] = op->args[1 - which];
  op->code = TILE_DOT;
  op->span = dot->span;
  op->args = args;
  op->nargs = 3;
  op->attrs = dot->attrs;
  op->nattrs = dot->nattrs;
  tile_remove(dot);
  return true;
}

static TileValue *negated(Fusing *s, TileOp *op, TileValue *v) {
  TileBuilder b = {s->f, op->parent, op, op->span};
  return tile_build1(&b, TILE_NEG, v->type, v, NULL, NULL);
}

/* op is x*y + z, x*y - z or z - x*y, whose product is the operand `which`. */
static void fuse_product(Fusing *s, TileOp *op, TileOp *mul, int which) {
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

static void fuse_op(TileOp *op, void *ctx) {
  Fusing *s = ctx;
  if (op->code != TILE_ADD && op->code != TILE_SUB) return;
  for (int which = 0; which < 2; which++)
    if (add_to_dot(s, op, which)) return;
  if (!fusible(op)) return;
  for (int which = 0; which < 2; which++) {
    TileOp *mul = made_for(s, op, op->args[which], TILE_MUL);
    if (!mul) continue;
    fuse_product(s, op, mul, which);
    return;
  }
}

void fuse_products(Sema *S) {
  Fusing s = {S->fn, tile_count_uses(S->fn, S->arena), S->fn->nvalues};
  tile_walk(S->fn->body, fuse_op, &s);
}
