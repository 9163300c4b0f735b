/* Pass early_loads: a kernel that starts before the one before it has ended loads what that does
 * not write, such as weights, and waits then.  The memory is busy while a small kernel runs, and
 * where a large one ends.
 *
 * Option `steady` has the parameters whose memory no running kernel writes.  Loads of the body that
 * depend on nothing else come first, with what they depend on; the wait follows.  The first copies
 * of a loop come before it, too (lower/pipeline/sink_wait.c). */
#include "lower/passes.h"

enum { THREAD_BYTES_MAX = 128 }; /* of registers that hold what is loaded early */

typedef struct {
  TileFunc *f;
  bool *early; /* by value id: it may be computed before the wait */
  bool *steady; /* by value id: a pointer to steady memory */
  int64_t bytes; /* that may still be loaded */
} Early;

static bool is_steady_param(const TileFunc *f, uint32_t i) {
  const TileParam *p = &f->params[i];
  return p->value->type.dtype == DT_PTR && p->arg < 31 && (f->options.steady >> p->arg & 1);
}

static void note_params(Early *e) {
  for (uint32_t i = 0; i < e->f->nparams; i++) {
    uint32_t id = e->f->params[i].value->id;
    e->early[id] = true;
    e->steady[id] = is_steady_param(e->f, i);
  }
}

static bool depends_on_early(const Early *e, const TileOp *op) {
  for (uint32_t i = 0; i < op->nargs; i++)
    if (op->args[i] && !e->early[op->args[i]->id]) return false;
  return true;
}

/* The pointer that addresses are made of: the first operand of each op on pointers. */
static bool keeps_pointer(const TileOp *op) {
  return op->code == TILE_PTR_ADD || op->code == TILE_SPLAT || op->code == TILE_BROADCAST ||
         op->code == TILE_EXPAND_DIMS || op->code == TILE_RESHAPE || op->code == TILE_TRANS;
}

static bool is_early_load(Early *e, const TileOp *op) {
  if (op->code != TILE_LOAD || !e->steady[op->args[0]->id] || tile_int(op, TA_volatile, 0))
    return false;
  Type t = op->results[0]->type;
  int64_t bytes = type_numel(t) * dtype_bytes(t.dtype);
  if (bytes > e->bytes) return false;
  e->bytes -= bytes;
  return true;
}

static void note_op(Early *e, const TileOp *op) {
  bool pure = tile_op_flags(op->code) & TILE_PURE && !op->nregions;
  if (!depends_on_early(e, op) || !(pure || is_early_load(e, op))) return;
  for (uint32_t i = 0; i < op->nresults; i++) e->early[op->results[i]->id] = true;
  if (keeps_pointer(op)) e->steady[op->results[0]->id] = e->steady[op->args[0]->id];
}

/* Moves the op, and before it what it needs, to before `place`. */
static void move_early(TileOp *op, TileOp *place, bool *moved) {
  for (uint32_t i = 0; i < op->nargs; i++)
    if (op->args[i] && op->args[i]->def && !moved[op->args[i]->id])
      move_early(op->args[i]->def, place, moved);
  for (uint32_t i = 0; i < op->nresults; i++) moved[op->results[i]->id] = true;
  tile_move_before(op, place);
}

static void build_dependency_op(TileFunc *f, TileOp *place, const char *kind) {
  TileBuilder b = {f, f->body, place, place->span};
  TileOp *op = tile_build(&b, TILE_GRID_DEPENDENCY, NULL, 0, NULL, 0);
  tile_set_str(f, op, TA_kind, kind);
}

static void move_loads(Early *e, bool *moved) {
  TileFunc *f = e->f;
  bool any = false;
  for (TileOp *op = f->body->first; op; op = op->next) {
    note_op(e, op);
    any |= op->code == TILE_LOAD && e->early[op->results[0]->id];
  }
  TileOp *first = f->body->first;
  build_dependency_op(f, first, "wait");
  build_dependency_op(f, first, "launch");
  f->options.pdl = 0; /* it has its wait */
  if (!any) return;
  TileOp *wait = f->body->first;
  for (TileOp *op = first, *next; op; op = next) {
    next = op->next;
    if (op->code == TILE_LOAD && e->early[op->results[0]->id]) move_early(op, wait, moved);
  }
}

static void find_dependency(TileOp *op, void *ctx) {
  *(bool *)ctx |= op->code == TILE_GRID_DEPENDENCY;
}

bool pass_early_loads(Unit *u) {
  TileFunc *f = u->tile;
  bool own = false;
  if (!f->options.pdl || !f->options.steady) return true;
  tile_walk(f->body, find_dependency, &own);
  if (own) f->options.steady = 0; /* the kernel says itself when it waits */
  if (own) return true;
  Arena *scratch = arena_child(u->arena);
  Early e = {f, ARENA_ARRAY(scratch, bool, f->nvalues), ARENA_ARRAY(scratch, bool, f->nvalues),
             (int64_t)THREAD_BYTES_MAX * 32 * options_warps(&f->options)};
  note_params(&e);
  move_loads(&e, ARENA_ARRAY(scratch, bool, f->nvalues));
  arena_free(scratch);
  return true;
}
