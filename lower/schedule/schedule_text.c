/* The schedule as text, after the kernel that it belongs to: see lower/schedule/schedule.h. */
#include <string.h>

#include "lower/messages.h"
#include "lower/nest/nest_text.h"
#include "lower/schedule/schedule.h"

typedef struct {
  const Schedule *s;
  const char **names;
  Text *out;
} Printer;

static void print_value_layout(Printer *p, const TileValue *v) {
  const ValuePlan *plan = &p->s->values[v->id];
  if (!plan->held) return;
  text_printf(p->out, "  %%%s: ", p->names[v->id]);
  layout_print(p->out, &plan->layout);
  if (plan->atom) text_printf(p->out, " atom %s", plan->atom->name);
  if (plan->ahead) text_puts(p->out, " ahead");
  if (plan->turned) text_puts(p->out, " turned");
  text_puts(p->out, "\n");
}

static void print_op_layouts(TileOp *op, void *ctx) {
  for (uint32_t i = 0; i < op->nresults; i++) print_value_layout(ctx, op->results[i]);
  for (uint32_t r = 0; r < op->nregions; r++)
    for (uint32_t i = 0; i < op->regions[r]->nparams; i++)
      print_value_layout(ctx, op->regions[r]->params[i]);
}

void schedule_print(Text *out, const Unit *u) {
  Arena *scratch = arena_child(u->arena);
  Printer p = {u->schedule, tile_value_names(u->tile, scratch), out};
  text_printf(out, "schedule @%s {\n", u->tile->name);
  tile_walk(u->tile->body, print_op_layouts, &p);
  for (uint32_t i = 0; i < u->schedule->nstores; i++) {
    text_printf(out, "  store %u: ", i);
    layout_print(out, &u->schedule->stores[i]);
    text_puts(out, "\n");
  }
  text_puts(out, "}\n");
  arena_free(scratch);
}

/* ---- reading ---- */

typedef struct {
  Unit *u;
  IrReader r;
  IrMap values; /* printed name -> TileValue */
  uint32_t stores;
} Reader;

static void count_store(TileOp *op, void *ctx) {
  bool store = op->code == TILE_STORE || op->code == TILE_VIEW_STORE;
  if (store && op->args[1]->type.rank) ++*(uint32_t *)ctx;
}

typedef struct {
  Reader *to;
  const char **names;
} Naming;

static void note_value_name(Naming *n, TileValue *v) {
  ir_map_put(&n->to->values, pool_name(n->to->u->names, n->names[v->id]), v);
}

static void name_op(TileOp *op, void *ctx) {
  for (uint32_t i = 0; i < op->nresults; i++) note_value_name(ctx, op->results[i]);
  for (uint32_t r = 0; r < op->nregions; r++)
    for (uint32_t i = 0; i < op->regions[r]->nparams; i++)
      note_value_name(ctx, op->regions[r]->params[i]);
}

/* A layout of this tile over all the threads of the kernel. */
static bool read_value_layout(Reader *x, const Type *tile, Layout *l) {
  Span at = ir_peek(&x->r)->span;
  if (!layout_parse(&x->r, l)) return false;
  bool shape = l->rank == tile->rank;
  for (int a = 0; shape && a < l->rank; a++) shape = l->shape[a] == tile->shape[a];
  const char *bad = shape ? layout_check_held(l, schedule_warps(x->u), x->u->machine->lanes)
                          : "its shape is not the tile's";
  if (*bad) ir_error(&x->r, at, E_LOWER_LAYOUT, bad);
  return !*bad;
}

static void read_value_plan(Reader *x) {
  Span at = ir_peek(&x->r)->span;
  Name name = ir_value(&x->r);
  TileValue *v = name ? ir_map_get(&x->values, name) : NULL;
  if (name && (!v || !v->type.rank)) ir_error(&x->r, at, E_LOWER_SCHEDULE_VALUE, name);
  if (!v || !ir_expect(&x->r, ":")) return;
  ValuePlan *p = &x->u->schedule->values[v->id];
  p->held = read_value_layout(x, &v->type, &p->layout);
  p->ahead = ir_accept(&x->r, "ahead");
  p->turned = ir_accept(&x->r, "turned");
  if (!ir_accept(&x->r, "atom")) return;
  at = ir_peek(&x->r)->span;
  Name atom = ir_word(&x->r, "an atom");
  if (atom && !(p->atom = atom_find(atom))) ir_error(&x->r, at, E_LOWER_ATOM, atom);
}

typedef struct {
  uint32_t want, at;
  const Type *found;
} FindStore;

static void find_store(TileOp *op, void *ctx) {
  FindStore *f = ctx;
  bool store = op->code == TILE_STORE || op->code == TILE_VIEW_STORE;
  if (store && op->args[1]->type.rank && f->at++ == f->want) f->found = &op->args[1]->type;
}

static void read_store(Reader *x) {
  int64_t i = ir_int_in(&x->r, 0, (int64_t)x->stores - 1);
  if (!ir_expect(&x->r, ":")) return;
  FindStore f = {.want = (uint32_t)i};
  tile_walk(x->u->tile->body, find_store, &f);
  if (f.found) read_value_layout(x, f.found, &x->u->schedule->stores[i]);
}

bool schedule_parse(Unit *u, uint32_t file, size_t *at) {
  Reader x = {.u = u, .r = ir_open(u->arena, u->names, u->diags, file, *at)};
  if (!ir_accept(&x.r, "schedule")) return true;
  ir_symbol(&x.r);
  x.values = ir_map_new(u->arena);
  Naming n = {&x, tile_value_names(u->tile, u->arena)};
  tile_walk(u->tile->body, name_op, &n);
  tile_walk(u->tile->body, count_store, &x.stores);
  Schedule *s = u->schedule = ARENA_NEW(u->arena, Schedule);
  s->values = ARENA_ARRAY(u->arena, ValuePlan, u->tile->nvalues);
  s->nvalues = u->tile->nvalues;
  s->stores = ARENA_ARRAY(u->arena, Layout, x.stores);
  s->nstores = x.stores;
  ir_expect(&x.r, "{");
  while (!x.r.failed && !ir_accept(&x.r, "}")) {
    if (ir_accept(&x.r, "store")) read_store(&x);
    else read_value_plan(&x);
  }
  *at = ir_offset(&x.r);
  return !x.r.failed;
}
