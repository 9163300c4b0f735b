/* Pass dce: dead-code elimination on the tile IR.  Ops that only compute or load, and whose results
 * nothing uses, go before they get layouts, as do values that a `for` only hands on: a tile that
 * goes through shared memory could not be taken back later. */
#include "lower/passes.h"

static bool reads_only(const TileOp *op) {
  unsigned flags = tile_op_flags(op->code);
  return flags & TILE_READ && !(flags & TILE_WRITE) && !tile_int(op, TA_volatile, 0);
}

static bool has_effects(const TileBlock *b);

/* Does nothing else happen but that its results are made?  A `while` may never end. */
static bool only_computes(const TileOp *op) {
  unsigned flags = tile_op_flags(op->code);
  if (flags & TILE_PURE) return true;
  if (op->code != TILE_FOR && op->code != TILE_IF) return reads_only(op);
  for (uint32_t r = 0; r < op->nregions; r++)
    if (has_effects(op->regions[r])) return false;
  return true;
}

static bool has_effects(const TileBlock *b) {
  for (const TileOp *op = b->first; op; op = op->next)
    if (!(tile_op_flags(op->code) & TILE_TERM) && !only_computes(op)) return true;
  return false;
}

static void drop_uses(uint32_t *uses, const TileOp *op) {
  for (uint32_t i = 0; i < op->nargs; i++)
    if (op->args[i]) uses[op->args[i]->id]--;
  for (uint32_t r = 0; r < op->nregions; r++)
    for (const TileOp *x = op->regions[r]->first; x; x = x->next) drop_uses(uses, x);
}

static bool is_used_op(const uint32_t *uses, const TileOp *op) {
  for (uint32_t i = 0; i < op->nresults; i++)
    if (uses[op->results[i]->id]) return true;
  return false;
}

/* ---- values that a `for` carries and nothing uses ---- */

enum { BOUNDS = 3 }; /* operands in front of the initial values, and the index of parameters: 1 */

static bool is_dead_carried(const uint32_t *uses, const TileOp *op, uint32_t i) {
  const TileBlock *body = op->regions[0];
  const TileValue *param = body->params[1 + i];
  uint32_t own = body->last->args[i] == param;
  return !uses[op->results[i]->id] && uses[param->id] == own;
}

/* Takes value `i` out of the operands, the parameters, the yield and the results. */
static void remove_carried(uint32_t *uses, TileOp *op, uint32_t i) {
  TileBlock *body = op->regions[0];
  TileOp *yield = body->last;
  uses[op->args[BOUNDS + i]->id]--;
  uses[yield->args[i]->id]--;
  for (uint32_t k = i; k + 1 < op->nresults; k++) {
    op->args[BOUNDS + k] = op->args[BOUNDS + k + 1];
    yield->args[k] = yield->args[k + 1];
    op->results[k] = op->results[k + 1];
    op->results[k]->index = k;
    body->params[1 + k] = body->params[2 + k];
    body->params[1 + k]->index = 1 + k;
  }
  op->nargs--;
  op->nresults--;
  yield->nargs--;
  body->nparams--;
}

static bool remove_dead_carried(uint32_t *uses, TileOp *op) {
  bool any = false;
  for (uint32_t i = op->code == TILE_FOR ? op->nresults : 0; i-- > 0;) {
    if (!is_dead_carried(uses, op, i)) continue;
    remove_carried(uses, op, i);
    any = true;
  }
  return any;
}

/* Last ops first: their operands may be free then. */
static void remove_dead(uint32_t *uses, TileBlock *b) {
  for (TileOp *op = b->last, *prev; op; op = prev) {
    prev = op->prev;
    if (tile_op_flags(op->code) & TILE_TERM) continue;
    do
      for (uint32_t r = op->nregions; r-- > 0;) remove_dead(uses, op->regions[r]);
    while (remove_dead_carried(uses, op));
    if (is_used_op(uses, op) || !only_computes(op)) continue;
    drop_uses(uses, op);
    tile_remove(op);
  }
}

bool pass_dce(Unit *u) {
  Arena *scratch = arena_child(u->arena);
  remove_dead(tile_count_uses(u->tile, scratch), u->tile->body);
  arena_free(scratch);
  return true;
}
