/* Values that are computed at each use, and ops that keep their operand's registers. */
#include "lower/schedule/schedule.h"

static bool cheap(TileCode c) {
  switch (c) {
    case TILE_CONST:
    case TILE_UNDEF:
    case TILE_ADD:
    case TILE_SUB:
    case TILE_MUL:
    case TILE_DIV:
    case TILE_REM:
    case TILE_NEG:
    case TILE_ABS:
    case TILE_MIN:
    case TILE_MAX:
    case TILE_AND:
    case TILE_OR:
    case TILE_XOR:
    case TILE_NOT:
    case TILE_SHL:
    case TILE_SHR:
    case TILE_LT:
    case TILE_LE:
    case TILE_GT:
    case TILE_GE:
    case TILE_EQ:
    case TILE_NE:
    case TILE_SELECT:
    case TILE_CAST:
    case TILE_BITCAST:
    case TILE_PTR_ADD:
    case TILE_HINT:
    case TILE_ARANGE:
    case TILE_SPLAT:
    case TILE_EXPAND_DIMS:
    case TILE_BROADCAST:
    case TILE_TRANS:
    case TILE_RESHAPE: return true;
    default: return false;
  }
}

/* Index-only values are computed at each use, by recursion over their operands.  These bound it: a
 * deeper value is held in registers.  x + trans(x) computes x twice, in both orders of the axes, so
 * that every level of it doubles the work. */
enum { INDEX_DEPTH = 128, INDEX_TURNS = 4 };

typedef struct {
  bool *only;
  uint8_t *depth; /* of an index-only value: ops on its longest way down */
  uint8_t *turns; /* and the most that turn axes on one */
} IndexOnly;

/* False: too deep. */
static bool count_levels(IndexOnly *x, const TileOp *op) {
  int depth = 0, turns = 0;
  for (uint32_t i = 0; i < op->nargs; i++) {
    if (!op->args[i]->type.rank) continue;
    uint32_t arg = op->args[i]->id;
    if (x->depth[arg] > depth) depth = x->depth[arg];
    if (x->turns[arg] > turns) turns = x->turns[arg];
  }
  depth += op->nargs > 0;
  turns += op->code == TILE_TRANS;
  if (depth > INDEX_DEPTH || turns > INDEX_TURNS) return false;
  x->depth[op->results[0]->id] = (uint8_t)depth;
  x->turns[op->results[0]->id] = (uint8_t)turns;
  return true;
}

static void mark_index_only(TileOp *op, void *ctx) {
  IndexOnly *x = ctx;
  if (op->nresults != 1 || !op->results[0]->type.rank || !cheap(op->code)) return;
  bool floats = dtype_is_float((DType)op->results[0]->type.dtype);
  if (op->code == TILE_RESHAPE && op->args[0]->type.rank > 1) return;
  if (floats && (op->code == TILE_DIV || op->code == TILE_REM)) return;
  for (uint32_t i = 0; i < op->nargs; i++)
    if (op->args[i]->type.rank && !x->only[op->args[i]->id]) return;
  x->only[op->results[0]->id] = count_levels(x, op);
}

bool *schedule_index_only(const TileFunc *f, Arena *a) {
  IndexOnly x = {ARENA_ARRAY(a, bool, f->nvalues), ARENA_ARRAY(a, uint8_t, f->nvalues),
                 ARENA_ARRAY(a, uint8_t, f->nvalues)};
  tile_walk(f->body, mark_index_only, &x);
  return x.only;
}

bool schedule_renames(const TileValue *v) {
  return v->def && (v->def->code == TILE_SPLAT || v->def->code == TILE_EXPAND_DIMS ||
                    v->def->code == TILE_BROADCAST || v->def->code == TILE_TRANS ||
                    v->def->code == TILE_HINT);
}

unsigned schedule_flipped_axes(const TileOp *op) {
  const Type *t = &op->args[0]->type;
  unsigned axes = 0;
  if (op->code != TILE_SLICE || !type_same_shape(*t, op->results[0]->type)) return 0;
  for (int a = 0; a < t->rank; a++)
    if (t->shape[a] > 1 && tile_attr(op, TA_strides)->list[a] < 0) axes |= 1U << a;
  return axes;
}
