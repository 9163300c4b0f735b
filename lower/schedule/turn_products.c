/* Pass turn_products: C = A B becomes C^T = B^T A^T where that suits a warpgroup's instructions.
 *
 * They read their second operand of 4-byte and 1-byte elements from shared memory only where it is
 * contiguous along k, and take the first one from registers in any order (bind_group.c).  A product
 * whose second operand is contiguous along n in memory, and the first one along k, is turned: both
 * operands are then copied as memory has them.  So is one of few rows that a loop adds up: a
 * warpgroup has 64 rows at least, and any columns.  The sum is turned as a whole: a loop carries it
 * turned, and what reads it later reads its transpose. */
#include "lower/passes.h"
#include "lower/schedule/plan.h"
#include "lower/target/wgmma_layout.h"

typedef struct {
  Plan plan;
  TileFunc *f;
  Arena *scratch;
  uint32_t known;       /* values that were there before the pass; by id of these: */
  const uint32_t *uses;
  TileValue **map;      /* by what its uses are replaced */
  bool changed;
} Turn;

static Type turned_type(Type t) {
  int32_t rows = t.shape[0];
  t.shape[0] = t.shape[1];
  t.shape[1] = rows;
  return t;
}

/* Can a warpgroup compute the turned product? */
static bool fits_turned(const Plan *p, const TileOp *dot) {
  TileValue of[3] = {*dot->args[1], *dot->args[0], *dot->results[0]}, *args[3], *result = &of[2];
  TileOp turned = *dot;
  for (int i = 0; i < 3; i++) {
    of[i].type = turned_type(of[i].type);
    args[i] = &of[i];
  }
  turned.args = args;
  turned.results = &result;
  const Atom *atom = plan_atom_of(p, &turned, true);
  return atom && atom->warps > 1;
}

static bool may_be_turned(const TileOp *op) {
  if (op->code != TILE_DOT || op->results[0]->type.rank != 2) return false;
  int64_t imprecise = tile_int(op, TA_max_imprecise, -1); /* sums of parts of k are apart */
  return imprecise < 0 || imprecise > op->args[0]->type.shape[1];
}

static bool is_turned_product(const Plan *p, const TileOp *op) {
  if (!may_be_turned(op) || wgmma_takes_any_axis((DType)op->args[1]->type.dtype, 1)) return false;
  return plan_neighbor_axis(p, op->args[0]) == 1 && plan_neighbor_axis(p, op->args[1]) == 1 &&
         fits_turned(p, op);
}

/* Has the product too few rows for a warpgroup? */
static bool is_flat(const TileOp *op) {
  enum { GROUP_ROWS = 64 };
  return op->results[0]->type.rank == 2 && op->results[0]->type.shape[0] < GROUP_ROWS;
}

/* ..., and its transpose enough? */
static bool is_flat_product(const Plan *p, const TileOp *op) {
  if (!may_be_turned(op) || !is_flat(op)) return false;
  int along = plan_neighbor_axis(p, op->args[0]), across = plan_neighbor_axis(p, op->args[1]);
  bool readable = along == 1 || wgmma_takes_any_axis((DType)op->args[0]->type.dtype, 1);
  return along >= 0 && across >= 0 && readable && fits_turned(p, op);
}

/* ---- building ---- */

static TileValue *transpose(TileBuilder *b, TileValue *v) {
  static const int64_t across[] = {1, 0};
  if (v->def && v->def->code == TILE_TRANS) return v->def->args[0];
  Type t = turned_type(v->type);
  bool zero = tile_is_zero(v), whole = dtype_is_int((DType)t.dtype);
  if (zero) return whole ? tile_const_int(b, t, 0) : tile_const_float(b, t, 0);
  TileValue *r = tile_build1(b, TILE_TRANS, t, v, NULL, NULL);
  tile_set_ints(b->fn, r->def, TA_perm, across, 2);
  return r;
}

/* The turned product, which adds to a turned sum. */
static TileValue *turn_dot(const Turn *x, const TileOp *dot, TileValue *sum) {
  TileBuilder b = {x->f, dot->parent, (TileOp *)dot, dot->span};
  TileValue *args[] = {transpose(&b, dot->args[1]), transpose(&b, dot->args[0]), sum};
  Type t = turned_type(dot->results[0]->type);
  TileOp *turned = tile_build(&b, TILE_DOT, args, 3, &t, 1);
  turned->attrs = dot->attrs;
  turned->nattrs = dot->nattrs;
  turned->results[0]->name = dot->results[0]->name;
  return turned->results[0];
}

static void replace(Turn *x, const TileValue *old, TileValue *with) {
  x->map[old->id] = with;
  x->changed = true;
}

/* ---- sums that a loop carries ---- */

/* The product of the block that is the one use of a sum, if it is turned. */
static TileOp *next_product(const Turn *x, const TileBlock *body, const TileValue *sum) {
  if (sum->id >= x->known || x->uses[sum->id] != 1) return NULL;
  for (TileOp *op = body->first; op; op = op->next)
    if (op->code == TILE_DOT && op->args[2] == sum)
      return is_turned_product(&x->plan, op) || is_flat_product(&x->plan, op) ? op : NULL;
  return NULL;
}

/* Does each iteration only add turned products to the sum? */
static bool only_adds(const Turn *x, const TileOp *loop, uint32_t i) {
  const TileBlock *body = loop->regions[0];
  const TileValue *sum = body->params[i + 1], *end = body->last->args[i];
  if (sum->type.rank != 2 || sum == end) return false;
  while (sum != end) {
    const TileOp *dot = next_product(x, body, sum);
    if (!dot) return false;
    sum = dot->results[0];
  }
  return x->uses[end->id] == 1;
}

static void turn_carried(Turn *x, TileOp *loop, uint32_t i) {
  TileBlock *body = loop->regions[0];
  TileBuilder before = {x->f, loop->parent, loop, loop->span};
  TileBuilder after = {x->f, loop->parent, loop->next, loop->span};
  TileValue *param = body->params[i + 1], *end = body->last->args[i], *out = loop->results[i];
  Type t = turned_type(param->type);
  loop->args[i + 3] = transpose(&before, loop->args[i + 3]);
  TileValue *sum = ARENA_NEW(x->f->arena, TileValue), *all = ARENA_NEW(x->f->arena, TileValue);
  *sum = (TileValue){t, NULL, body, i + 1, x->f->nvalues++, param->name};
  *all = (TileValue){t, loop, NULL, i, x->f->nvalues++, out->name};
  body->params[i + 1] = sum;
  loop->results[i] = all;
  for (const TileValue *old = param; old != end;) {
    TileOp *dot = next_product(x, body, old);
    sum = turn_dot(x, dot, sum);
    old = dot->results[0];
    tile_remove(dot);
  }
  body->last->args[i] = sum;
  replace(x, out, transpose(&after, all));
}

static void turn_op(TileOp *op, void *ctx) {
  Turn *x = ctx;
  arena_work(x->scratch, 1);
  if (op->code == TILE_FOR)
    for (uint32_t i = 0; i + 3 < op->nargs; i++)
      if (only_adds(x, op, i)) turn_carried(x, op, i);
  if (op->code != TILE_DOT || !tile_is_zero(op->args[2]) || !is_turned_product(&x->plan, op))
    return;
  TileBuilder b = {x->f, op->parent, op, op->span};
  TileValue *sum = turn_dot(x, op, transpose(&b, op->args[2]));
  replace(x, op->results[0], transpose(&b, sum));
  tile_remove(op);
}

static void find_product(TileOp *op, void *ctx) {
  bool *found = ctx;
  *found |= op->code == TILE_DOT && (is_flat(op) ||
                                     !wgmma_takes_any_axis((DType)op->args[1]->type.dtype, 1));
}

bool pass_turn_products(Unit *u) {
  TileFunc *f = u->tile;
  bool found = false;
  tile_walk(f->body, find_product, &found);
  if (!found) return true;
  Arena *scratch = arena_child(u->arena);
  Turn x = {.plan = {.u = u, .scratch = scratch, .f = f}, .f = f, .scratch = scratch};
  x.known = f->nvalues;
  x.plan.axis = axis_analyze(f, scratch);
  x.uses = tile_count_uses(f, scratch);
  x.map = ARENA_ARRAY(scratch, TileValue *, x.known);
  tile_walk(f->body, turn_op, &x);
  if (x.changed) {
    x.map = arena_grow(scratch, x.map, x.known * sizeof *x.map, f->nvalues * sizeof *x.map);
    tile_substitute(f, x.map);
  }
  arena_free(scratch);
  return true;
}
