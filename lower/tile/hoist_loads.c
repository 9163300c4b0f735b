/* Pass hoist_loads: loop-invariant loads move before their loop, with what their addresses need, if
 * the loop certainly runs and nothing in it writes.  Else each iteration loads, and lays out, the
 * same tile again.  Innermost loops come first, so that a load can leave several. */
#include "lower/passes.h"

enum { THREAD_BYTES_MAX = 16 }; /* of registers that hold a tile while the loop runs */

typedef struct {
  Unit *u;
  uint32_t *fixed; /* by value id, of the body: number of the last loop that does not change it */
  uint32_t loops;
  const TileBlock *body; /* of the loop at hand */
} Hoist;

static bool is_constant(const TileValue *v) {
  return v->def && v->def->code == TILE_CONST && !v->type.rank;
}

/* It counts up between constants, which are apart. */
static bool certainly_runs(const TileOp *loop) {
  if (loop->code != TILE_FOR || !is_constant(loop->args[0]) || !is_constant(loop->args[1]))
    return false;
  const TileAttr *first = tile_attr(loop->args[0]->def, TA_value);
  const TileAttr *end = tile_attr(loop->args[1]->def, TA_value);
  return (first ? first->i : 0) < (end ? end->i : 0);
}

static bool is_plain_load(const TileOp *op) {
  return op->code == TILE_LOAD && !tile_int(op, TA_volatile, 0);
}

/* Nothing else happens in the block than that values are computed and loaded. */
static bool only_reads(const TileBlock *b) {
  for (const TileOp *op = b->first; op; op = op->next) {
    bool region = op->code == TILE_FOR || op->code == TILE_IF;
    bool simple = tile_op_flags(op->code) & (TILE_PURE | TILE_TERM) || is_plain_load(op);
    if (!region && !simple) return false;
    for (uint32_t r = 0; r < op->nregions; r++)
      if (region && !only_reads(op->regions[r])) return false;
  }
  return true;
}

static bool is_inside(const TileBlock *b, const TileBlock *body) {
  while (b && b != body) b = b->owner ? b->owner->parent : NULL;
  return b != NULL;
}

static bool is_fixed(const Hoist *h, const TileValue *v) {
  if (!v || h->fixed[v->id] == h->loops) return true;
  return v->def ? !is_inside(v->def->parent, h->body) : !is_inside(v->block, h->body);
}

static bool has_fixed_operands(const Hoist *h, const TileOp *op) {
  for (uint32_t i = 0; i < op->nargs; i++)
    if (!is_fixed(h, op->args[i])) return false;
  return true;
}

static bool is_small(const Hoist *h, const Type *t) {
  int64_t threads = (int64_t)options_warps(&h->u->tile->options) * h->u->machine->lanes;
  return type_numel(*t) * dtype_bytes((DType)t->dtype) <= THREAD_BYTES_MAX * threads;
}

/* Moves the op, and before it what it needs of the body, to before the loop. */
static void move_out(const Hoist *h, TileOp *op, TileOp *loop) {
  for (uint32_t i = 0; i < op->nargs; i++)
    if (op->args[i] && op->args[i]->def && is_inside(op->args[i]->def->parent, h->body))
      move_out(h, op->args[i]->def, loop);
  tile_move_before(op, loop);
}

static void hoist_from(Hoist *h, TileOp *loop) {
  h->body = loop->regions[0];
  h->loops++;
  for (TileOp *op = h->body->first, *next; op; op = next) {
    next = op->next;
    arena_work(h->u->arena, 1);
    bool pure = tile_op_flags(op->code) & TILE_PURE && !op->nregions;
    if (!(pure || is_plain_load(op)) || !has_fixed_operands(h, op)) continue;
    if (pure) {
      for (uint32_t i = 0; i < op->nresults; i++) h->fixed[op->results[i]->id] = h->loops;
    } else if (is_small(h, &op->results[0]->type)) {
      move_out(h, op, loop);
    }
  }
}

static void hoist_block(Hoist *h, TileBlock *b) {
  for (TileOp *op = b->first; op; op = op->next) {
    for (uint32_t r = 0; r < op->nregions; r++) hoist_block(h, op->regions[r]);
    if (certainly_runs(op) && only_reads(op->regions[0])) hoist_from(h, op);
  }
}

bool pass_hoist_loads(Unit *u) {
  Arena *scratch = arena_child(u->arena);
  Hoist h = {.u = u, .fixed = ARENA_ARRAY(scratch, uint32_t, u->tile->nvalues)};
  hoist_block(&h, u->tile->body);
  arena_free(scratch);
  return true;
}
