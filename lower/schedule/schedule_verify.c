/* The verifier of schedules, but for their layouts, which the reader checks. */
#include "lower/messages.h"
#include "lower/schedule/schedule.h"

typedef struct {
  const Unit *u;
  Arena *scratch;
  const bool *index_only;
  const char **names;
  uint32_t stores;
  bool failed;
} Check;

static const char *planned_name(Check *c, const TileValue *v) {
  if (!c->names) c->names = tile_value_names(c->u->tile, c->scratch);
  return c->names[v->id];
}

static void check_value_plan(Check *c, const TileValue *v, Span at) {
  bool held = c->u->schedule->values[v->id].held, index_only = c->index_only[v->id];
  if (index_only ? !held : held || !v->type.rank || schedule_renames(v)) return;
  diag_error(c->u->diags, at, held ? E_LOWER_SCHEDULE_INDEX : E_LOWER_SCHEDULE_NONE,
             planned_name(c, v));
  c->failed = true;
}

static bool atom_fits(const Unit *u, const TileOp *op, const ValuePlan *p) {
  DType a = (DType)op->args[0]->type.dtype, b = (DType)op->args[1]->type.dtype;
  const Type *t = &op->results[0]->type;
  if (p->atom->a != a || p->atom->b != b || p->atom->c != (DType)t->dtype) return false;
  int wm, wn, warps = schedule_warps(u);
  schedule_warp_split(p->atom, &p->layout, &wm, &wn);
  if (wm < 1 || warps % (wm * wn * p->atom->warps)) return false;
  if (p->atom->warps > 1 && !schedule_group_fits(u, p->atom, op, wm, wn)) return false;
  Layout want = schedule_fragment(p->atom, 2, t, wm, wn, warps);
  return layout_eq(&want, &p->layout);
}

static void check_dot_atom(Check *c, const TileOp *op, const TileValue *v) {
  const ValuePlan *p = &c->u->schedule->values[v->id];
  if (!p->atom || (op->code == TILE_DOT && atom_fits(c->u, op, p))) return;
  diag_error(c->u->diags, op->span, E_LOWER_SCHEDULE_ATOM, p->atom->name, planned_name(c, v));
  c->failed = true;
}

/* An operand as it is padded is a tile as well. */
static bool room_fits(const Type *room) {
  int64_t n = 1;
  for (int i = 0; i < room->rank && n <= MAX_TILE; i++) n *= room->shape[i];
  return n <= MAX_TILE;
}

static void check_operand_room(Check *c, const TileOp *op) {
  const ValuePlan *p = &c->u->schedule->values[op->results[0]->id];
  if (!p->held || p->atom) return;
  for (int i = 0; i < 2; i++) {
    Type room = schedule_operand_room(op->args[i], &p->layout, i);
    if (room_fits(&room)) continue;
    diag_error(c->u->diags, op->span, E_LOWER_SCHEDULE_ROOM, planned_name(c, op->results[0]),
               planned_name(c, op->args[i]), MAX_TILE);
    c->failed = true;
  }
}

static void check_store_plan(Check *c, const TileOp *op) {
  bool store = op->code == TILE_STORE || op->code == TILE_VIEW_STORE;
  if (!store || !op->args[1]->type.rank) return;
  uint32_t i = c->stores++;
  if (c->u->schedule->stores[i].rank) return;
  diag_error(c->u->diags, op->span, E_LOWER_SCHEDULE_STORE, i);
  c->failed = true;
}

static void check_op_plan(TileOp *op, void *ctx) {
  Check *c = ctx;
  for (uint32_t i = 0; i < op->nresults; i++) {
    check_value_plan(c, op->results[i], op->span);
    check_dot_atom(c, op, op->results[i]);
  }
  for (uint32_t r = 0; r < op->nregions; r++)
    for (uint32_t i = 0; i < op->regions[r]->nparams; i++)
      check_value_plan(c, op->regions[r]->params[i], op->span);
  if (op->code == TILE_DOT) check_operand_room(c, op);
  check_store_plan(c, op);
}

bool schedule_verify(const Unit *u) {
  Check c = {.u = u, .scratch = arena_child(u->arena)};
  c.index_only = schedule_index_only(u->tile, c.scratch);
  tile_walk(u->tile->body, check_op_plan, &c);
  arena_free(c.scratch);
  return !c.failed;
}
