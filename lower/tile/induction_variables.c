/* Pass induction_variables.  A tile that a loop carries and moves by a scalar
 * (`ptrs += BLOCK * stride`), by one of two in a branch maybe, becomes the tile it started from
 * plus a scalar that the loop carries: then the loop carries no data of it, and its addresses stay
 * linear. */
#include "lower/passes.h"

typedef struct {
  TileFunc *f;
  Arena *scratch;
  TileValue **map;
  uint32_t map_len;
  bool changed;
} Rewriting;

/* The scalar that every element of v equals, made at the builder if it is a constant; NULL.
 * Without a builder nothing is made: then some value says that there is one. */
static TileValue *splat_of(TileBuilder *b, TileValue *v) {
  while (v->def && (v->def->code == TILE_BROADCAST || v->def->code == TILE_EXPAND_DIMS))
    v = v->def->args[0];
  if (!v->type.rank) return v;
  if (!v->def) return NULL;
  if (v->def->code == TILE_SPLAT) return v->def->args[0];
  int64_t c;
  if (!tile_const_value(v, &c)) return NULL;
  return b ? tile_const_int(b, type_element(v->type), c) : v;
}

static bool is_addition(const TileOp *op) {
  return op->code == TILE_PTR_ADD ||
         (op->code == TILE_ADD && dtype_is_int((DType)op->results[0]->type.dtype));
}

enum { MAX_STEPS = 16 };

/* The scalar that y, a sum, adds to *x; NULL if there is none. */
static TileValue *step_of(TileBuilder *b, TileValue *y, TileValue **x) {
  if (!y->def || !is_addition(y->def)) return NULL;
  *x = y->def->args[0];
  TileValue *step = splat_of(b, y->def->args[1]);
  if (step || y->def->code != TILE_ADD) return step;
  step = splat_of(b, *x);
  *x = y->def->args[1];
  return step;
}

/* Which result of its op y is; their number if another has taken its place in this round. */
static uint32_t result_number(const TileValue *y) {
  uint32_t i = 0;
  while (i < y->def->nresults && y->def->results[i] != y) i++;
  return i;
}

/* Is y = p + scalars, of which a branch may choose some?  Then *moved says if there is one. */
static bool is_moved(const TileValue *p, TileValue *y, int steps, bool *moved) {
  for (; y != p; steps--) {
    TileValue *x;
    if (!y->def || !steps) return false;
    if (y->def->code == TILE_IF) {
      uint32_t k = result_number(y);
      const TileOp *op = y->def;
      return k < op->nresults &&
             is_moved(p, op->regions[0]->last->args[k], steps - 1, moved) &&
             is_moved(p, op->regions[1]->last->args[k], steps - 1, moved);
    }
    if (!step_of(NULL, y, &x)) return false;
    *moved = true;
    y = x;
  }
  return true;
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

/* A tile p that is start + offset. */
typedef struct {
  TileValue *p, *start, *offset;
  Type type; /* of the offset */
} Moved;

/* The offset of y, a moved p, made at the builder.  A branch that y is a result of gives it in the
 * place of y. */
static TileValue *offset_at(Rewriting *r, TileBuilder *b, const Moved *m, TileValue *y) {
  if (y == m->p) return m->offset;
  if (y->def->code == TILE_IF) {
    TileOp *op = y->def;
    uint32_t k = result_number(y);
    for (int i = 0; i < 2; i++) {
      TileBlock *region = op->regions[i];
      TileBuilder end = {r->f, region, region->last, op->span};
      region->last->args[k] = offset_at(r, &end, m, region->last->args[k]);
    }
    TileValue *chosen = ARENA_NEW(r->f->arena, TileValue);
    *chosen = (TileValue){m->type, op, NULL, k, r->f->nvalues++, y->name};
    op->results[k] = chosen;
    TileBuilder after = {r->f, op->parent, op->next, op->span};
    replace_uses_of(r, y, add_offset(&after, m->start, chosen));
    return chosen;
  }
  TileValue *x = NULL, *step = step_of(b, y, &x), *sum = offset_at(r, b, m, x);
  return tile_build1(b, TILE_ADD, m->type, sum, cast_to_type(b, step, m->type), NULL);
}

static void rewrite_carried(Rewriting *r, TileOp *op, uint32_t i) {
  TileBlock *body = op->regions[0];
  TileValue *p = body->params[i + 1], *start = op->args[i + 3], *out = op->results[i];
  bool moved = false;
  if (!p->type.rank) return;
  if (!is_moved(p, body->last->args[i], MAX_STEPS, &moved) || !moved) return;
  Type t = p->type.dtype == DT_PTR ? type_scalar(DT_I64) : type_element(p->type);
  TileBuilder before = {r->f, op->parent, op, op->span};
  TileBuilder after = {r->f, op->parent, op->next, op->span};
  TileBuilder begin = {r->f, body, body->first, op->span};
  TileBuilder end = {r->f, body, body->last, op->span};
  op->args[i + 3] = tile_const_int(&before, t, 0);
  TileValue *offset = ARENA_NEW(r->f->arena, TileValue), *total = ARENA_NEW(r->f->arena, TileValue);
  *offset = (TileValue){t, NULL, body, i + 1, r->f->nvalues++, p->name};
  *total = (TileValue){t, op, NULL, i, r->f->nvalues++, p->name};
  body->params[i + 1] = offset;
  op->results[i] = total;
  Moved m = {p, start, offset, t};
  body->last->args[i] = offset_at(r, &end, &m, body->last->args[i]);
  replace_uses_of(r, p, add_offset(&begin, start, offset));
  replace_uses_of(r, out, add_offset(&after, start, total));
}

static void collect_loop(TileOp *op, void *ctx) {
  Rewriting *r = ctx;
  arena_work(r->scratch, 1);
  if (op->code != TILE_FOR) return;
  for (uint32_t i = 0; i + 3 < op->nargs; i++) rewrite_carried(r, op, i);
}

/* Visits all loops once; true if any carried tile became a scalar. */
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
