/* Pass loop_over_programs: a program does the work of several, one after the other.
 *
 *   for program in range(program_id(0), all of them, num_programs(0)): the kernel
 *
 * Option `loops` asks for it: a launch then starts fewer programs than the grid has, whose number
 * is an argument after the kernel's own.  Pass pipeline copies the first operands of the next one
 * while a result is stored. */
#include "lower/analysis/lone_programs.h"
#include "lower/passes.h"

static TileValue *add_programs(TileFunc *f) {
  uint32_t arg = 0;
  for (uint32_t i = 0; i < f->nparams; i++)
    if (f->params[i].arg >= arg) arg = f->params[i].arg + 1;
  return tile_add_param(f, pool_name(f->names, LONE_PROGRAMS), type_scalar(DT_I32), arg, 1);
}

static TileValue *number_of(TileBuilder *b, TileCode code) {
  TileValue *v = tile_build1(b, code, type_scalar(DT_I32), NULL, NULL, NULL);
  tile_set_int(b->fn, v->def, TA_axis, 0);
  return v;
}

typedef struct {
  TileValue **map, *program;
} Rename;

static void rename_program(TileOp *op, void *ctx) {
  const Rename *x = ctx;
  if (op->code == TILE_PROGRAM_ID) x->map[op->results[0]->id] = x->program;
}

static void remove_number(TileOp *op, void *ctx) {
  (void)ctx;
  if (op->code == TILE_PROGRAM_ID) tile_remove(op);
}

/* The body of a new loop over programs; all of the kernel is in it but its end. */
static void put_in_loop(TileFunc *f, Arena *scratch) {
  TileOp *first = f->body->first, *end = f->body->last;
  TileBuilder before = {f, f->body, first, f->span};
  TileValue *start = number_of(&before, TILE_PROGRAM_ID);
  TileValue *range[] = {start, add_programs(f), number_of(&before, TILE_NUM_PROGRAMS)};
  TileOp *loop = tile_build(&before, TILE_FOR, range, 3, NULL, 0);
  TileBlock *body = tile_add_region(f, loop);
  Rename x = {.program = tile_block_param(f, body, type_scalar(DT_I32), NULL)};
  TileBuilder inside = {f, body, NULL, f->span};
  TileOp *yield = tile_build(&inside, TILE_YIELD, NULL, 0, NULL, 0);
  for (TileOp *op = first, *next; op != end; op = next) {
    next = op->next;
    tile_move_before(op, yield);
  }
  x.map = ARENA_ARRAY(scratch, TileValue *, f->nvalues);
  tile_walk(body, rename_program, &x);
  tile_substitute(f, x.map);
  tile_walk(body, remove_number, NULL);
}

bool pass_loop_over_programs(Unit *u) {
  TileFunc *f = u->tile;
  if (!f->options.loops || !has_lone_programs(f)) return true;
  Arena *scratch = arena_child(u->arena);
  put_in_loop(f, scratch);
  f->options.loops = 0; /* it has its loop */
  arena_free(scratch);
  return true;
}
