/* Pass induction_variables.  A tile that a loop carries and moves by a scalar
 * (`ptrs += BLOCK * stride`) becomes the tile it started from plus a scalar that the loop carries:
 * then the loop carries no data of it, and its addresses stay linear. */
#include "lower/passes.h"

typedef struct {
  TileFunc *f;
  Arena *scratch;
  TileValue **map;
  uint32_t map_len;
  bool changed;
} Rewriting;

/* The scalar that every element of v equals, made at the builder if it is a constant; NULL. */
static TileValue *splat_of(TileBuilder *b, TileValue *v) {
  while (v->def && (v->def->code == TILE_BROADCAST || v->def->code == TILE_EXPAND_DIMS))
    v = v->def->args[0];
  if (!v->type.rank) return v;
  if (!v->def) return NULL;
  if (v->def->code == TILE_SPLAT) return v->def->args[0];
  int64_t c;
  if (tile_const_value(v, &c)) return tile_const_int(b, type_element(v->type), c);
  return NULL;
}

static bool is_addition(const TileOp *op) {
  return op->code == TILE_PTR_ADD ||
         (op->code == TILE_ADD && dtype_is_int((DType)op->results[0]->type.dtype));
}

enum { MAX_STEPS = 8 };

/* y = p + steps[0] + steps[1] + ...; the number of steps, 0 if it is no such sum. */
static int steps_from(TileBuilder *b, const TileValue *p, TileValue *y, TileValue **steps) {
  int n = 0;
  while (y != p) {
    if (!y->def || !is_addition(y->def) || n == MAX_STEPS) return 0;
    TileValue *x = y->def->args[0], *step = splat_of(b, y->def->args[1]);
    if (!step && y->def->code == TILE_ADD) {
      step = splat_of(b, x);
      x = y->def->args[1];
    }
    if (!step) return 0;
    steps[n++] = step;
    y = x;
  }
  return n;
}

static TileValue *cast_to_type(TileBuilder *b, TileValue *v, Type t) {
  return v->type.dtype == t.dtype ? v : tile_build1(b, TILE_CAST, t, v, NULL, NULL);
}

/* start + splat(offset), of start's type. */
static TileValue *add_offset(TileBuilder *b, TileValue *start, TileValue *offset) {
  Type t = type_like(offset->type, start->type);
  TileValue *all = tile_build1(b, TILE_SPLAT, t, offset, NULL, NULL);
  bool pointer = start->type.dtype == DT_PTR;
  return tile_build1(b, pointer ? TILE_PTR_ADD : TILE_ADD, start->type, start, all, NULL);
}

static void replace_uses_of(Rewriting *r, const TileValue *old, TileValue *with) {
  r->map[old->id] = with;
  r->changed = true;
}

static void rewrite_carried(Rewriting *r, TileOp *op, uint32_t i) {
  TileBlock *body = op->regions[0];
  TileValue *p = body->params[i + 1], *start = op->args[i + 3], *out = op->results[i];
  if (!p->type.rank) return;
  TileBuilder end = {r->f, body, body->last, op->span};
  TileValue *steps[MAX_STEPS];
  int n = steps_from(&end, p, body->last->args[i], steps);
  if (!n) return;
  Type t = p->type.dtype == DT_PTR ? type_scalar(DT_I64) : type_element(p->type);
  TileBuilder before = {r->f, op->parent, op, op->span};
  TileBuilder after = {r->f, op->parent, op->next, op->span};
  TileBuilder begin = {r->f, body, body->first, op->span};
  op->args[i + 3] = tile_const_int(&before, t, 0);
  TileValue *offset = ARENA_NEW(r->f->arena, TileValue), *total = ARENA_NEW(r->f->arena, TileValue);
  *offset = (TileValue){t, NULL, body, i + 1, r->f->nvalues++, p->name};
  *total = (TileValue){t, op, NULL, i, r->f->nvalues++, p->name};
  body->params[i + 1] = offset;
  op->results[i] = total;
  TileValue *sum = offset;
  for (int k = n; k-- > 0;)
    sum = tile_build1(&end, TILE_ADD, t, sum, cast_to_type(&end, steps[k], t), NULL);
  body->last->args[i] = sum;
  replace_uses_of(r, p, add_offset(&begin, start, offset));
  replace_uses_of(r, out, add_offset(&after, start, total));
}

static void collect_loop(TileOp *op, void *ctx) {
  Rewriting *r = ctx;
  arena_work(r->scratch, 1);
  if (op->code != TILE_FOR) return;
  for (uint32_t i = 0; i + 3 < op->nargs; i++) rewrite_carried(r, op, i);
}

/* One round over all loops; true if any carried tile became a scalar. */
static bool reduce_loops(Unit *u, Arena *scratch) {
  Rewriting r = {.f = u->tile, .scratch = scratch};
  r.map_len = u->tile->nvalues;
  r.map = ARENA_ARRAY(scratch, TileValue *, r.map_len);
  tile_walk(u->tile->body, collect_loop, &r);
  if (!r.changed) return false;
  /* tile_substitute indexes by id: values made since have no entry yet */
  r.map = arena_grow(scratch, r.map, r.map_len * sizeof *r.map, u->tile->nvalues * sizeof *r.map);
  tile_substitute(u->tile, r.map);
  return true;
}

/* A loop whose inner loop moves the tile is rewritten once that one is. */
bool pass_induction_variables(Unit *u) {
  Arena *scratch = arena_child(u->arena);
  while (reduce_loops(u, scratch)) continue;
  arena_free(scratch);
  return true;
}
