/* Pass dce: dead-code elimination on the tile IR.  Ops that only compute or load, and whose results
 * nothing uses, go before they get layouts: a tile that goes through shared memory could not be
 * taken back later. */
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

/* Last ops first: their operands may be free then. */
static void remove_dead(uint32_t *uses, TileBlock *b) {
  for (TileOp *op = b->last, *prev; op; op = prev) {
    prev = op->prev;
    if (tile_op_flags(op->code) & TILE_TERM) continue;
    for (uint32_t r = op->nregions; r-- > 0;) remove_dead(uses, op->regions[r]);
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
