/* The plan of pass strip_rows.  A walk in program order collects reductions and stores of rows into
 * an open loop.  The loop ends where a row needs the result of one of its reductions, and before a
 * narrow op whose effect may not pass it.
 *
 * Loads through a parameter that the kernel does not write are free: any loop, and several, may
 * execute them.  Others are fixed to the loop of their place. */
#include <string.h>

#include "lower/analysis/axis.h"
#include "lower/analysis/values.h"
#include "lower/tile/strip.h"

enum {
  STRIP_REGISTERS = 48, /* of a thread for the strip at hand; others keep strips, ... */
  HELD_MOST = 8         /* ... not more, since each has statements of its own in all loops */
};

/* A free load that a loop executes after an access that it came before. */
typedef struct {
  const TileOp *load;
  TileValue *written; /* the parameter of that access */
} Passed;

typedef struct {
  Strips *s;
  AxisInfo *axis;
  bool *written;  /* by value id of a parameter: through it the kernel writes at all, ... */
  bool *narrow;   /* ... by an op that is no store of a row, ... */
  uint32_t *done; /* ... and first in the loop of that number plus 1, or before that */
  VEC(Passed) passed;
  uint32_t *late;    /* by value id: 1 + the loop whose reductions a narrow value waits for */
  uint32_t *fixed;   /* by value id: 1 + the loop that executes a fixed load */
  uint32_t *counted; /* by value id: 1 + the last loop that needs a free load */
  uint32_t *visited; /* by value id: the last walk over operands that came by */
  uint32_t walks;
  StripLoop *open;
  uint32_t number; /* 1 + that of the open loop */
  bool stores;     /* the open loop stores */
  bool refused;
} Planner;

/* ---- rows ---- */

typedef enum { NARROW, ROW_PURE, ROW_LOAD, ROW_SINK, REFUSED } Kind;

/* Does the op have rows, and other tiles of more than one element, among operands and results? */
static void note_operands(const Strips *s, const TileOp *op, bool *rows, bool *others) {
  for (uint32_t i = 0; i < op->nargs + op->nresults; i++) {
    const TileValue *v = i < op->nargs ? op->args[i] : op->results[i - op->nargs];
    if (!v) continue;
    bool row = strip_is_row(s, v);
    *rows |= row;
    *others |= !row && type_numel(v->type) > 1;
  }
}

typedef struct {
  const Strips *s;
  bool found;
} RowSearch;

static void find_row(TileOp *op, void *ctx) {
  RowSearch *x = ctx;
  bool others = false;
  note_operands(x->s, op, &x->found, &others);
}

static bool has_rows_inside(const Strips *s, const TileOp *op) {
  RowSearch x = {s, false};
  for (uint32_t r = 0; r < op->nregions; r++) tile_walk(op->regions[r], find_row, &x);
  return x.found;
}

/* Two accumulators combine as two elements do. */
static bool combines_strips(const TileOp *reduce) {
  if (!reduce->nregions) return true;
  for (const TileOp *op = reduce->regions[0]->first; op; op = op->next) {
    bool elementwise = tile_op_flags(op->code) & TILE_ELEM && op->nresults == 1;
    if (!elementwise && op->code != TILE_YIELD) return false;
  }
  return true;
}

static bool is_plain(const TileOp *op) { return !tile_int(op, TA_volatile, 0); }

static Kind kind_of(const Strips *s, const TileOp *op) {
  bool rows = false, others = false;
  note_operands(s, op, &rows, &others);
  if (!rows) return op->nregions && has_rows_inside(s, op) ? REFUSED : NARROW;
  if (others) return REFUSED;
  switch (op->code) {
    case TILE_HINT: return REFUSED; /* it tells of the whole row */
    case TILE_ARANGE:
    case TILE_SPLAT:
    case TILE_EXPAND_DIMS:
    case TILE_BROADCAST: return ROW_PURE;
    case TILE_RESHAPE: return strip_is_row(s, op->args[0]) ? ROW_PURE : REFUSED;
    case TILE_LOAD: return is_plain(op) ? ROW_LOAD : REFUSED;
    case TILE_STORE: return ROW_SINK;
    case TILE_REDUCE:
      return !strip_is_row(s, op->results[0]) && combines_strips(op) ? ROW_SINK : REFUSED;
    default: return tile_op_flags(op->code) & TILE_ELEM ? ROW_PURE : REFUSED;
  }
}

/* ---- parameters ---- */

static TileValue *written_pointer(const TileOp *op) {
  bool writes = tile_op_flags(op->code) & TILE_WRITE && op->nargs && op->args[0];
  return writes && op->args[0]->type.dtype == DT_PTR ? op->args[0] : NULL;
}

static void note_written(TileOp *op, void *ctx) {
  Planner *p = ctx;
  TileValue *pointer = written_pointer(op), *root = pointer ? strip_root(pointer) : NULL;
  p->refused |= op->code == TILE_ASM_IMPURE || (pointer && !root);
  if (root) p->written[root->id] = true;
}

static void note_store(Planner *p, const TileValue *root, uint32_t number) {
  if (!p->done[root->id]) p->done[root->id] = number;
}

/* Narrow ops come before the open loop, as if they were of the loop before. */
static void note_done(TileOp *op, void *ctx) {
  Planner *p = ctx;
  TileValue *pointer = written_pointer(op);
  if (!pointer) return;
  note_store(p, strip_root(pointer), p->number);
  p->narrow[strip_root(pointer)->id] = true;
}

static void assume_apart(Planner *p, TileValue *a, TileValue *b, bool or_same) {
  p->refused |= !strip_assume_apart(p->s, a, b, or_same);
}

/* The open loop needs the load. */
static void note_loop_of_load(Planner *p, TileOp *load) {
  Strips *s = p->s;
  uint32_t id = load->results[0]->id;
  if (p->counted[id] == p->number) return;
  p->counted[id] = p->number;
  for (size_t i = 0; i < s->parks.len; i++)
    if (s->parks.data[i].load == load) {
      s->parks.data[i].loops++;
      s->parks.data[i].last = s->loops.len;
      return;
    }
  uint32_t place = p->fixed[id] ? p->fixed[id] : p->number;
  StripPark park = {.load = load, .fixed = p->fixed[id] != 0};
  park.first = place - 1;
  park.last = s->loops.len;
  park.loops = place == p->number ? 1 : 2;
  vec_push(s->scratch, &s->parks, park);
}

/* ---- what a row is made of ---- */

/* Goes through the operands of a row's value up to narrow values: is one of them late?  At the end
 * of a loop loads that come by are noted, free ones against what has been written. */
static bool needs_late(Planner *p, const TileValue *v, bool note) {
  if (!v || p->visited[v->id] == p->walks) return false;
  p->visited[v->id] = p->walks;
  if (!strip_is_row(p->s, v)) return p->late[v->id] == p->number;
  const TileOp *op = v->def;
  bool load = op && op->code == TILE_LOAD, free = load && !p->fixed[v->id];
  if (!op) p->refused = true;
  if (note && load) note_loop_of_load(p, v->def);
  if (note && load && !free) return false;
  for (uint32_t i = 0; note && free && i < p->s->f->nparams; i++) {
    TileValue *x = p->s->f->params[i].value;
    if (p->done[x->id]) vec_push(p->s->scratch, &p->passed, ((Passed){op, x}));
  }
  bool late = false;
  for (uint32_t i = 0; op && i < op->nargs; i++) late |= needs_late(p, op->args[i], note);
  return late;
}

static bool any_needs_late(Planner *p, const TileOp *op, bool note) {
  bool late = false;
  p->walks++;
  for (uint32_t i = 0; i < op->nargs; i++) late |= needs_late(p, op->args[i], note);
  return late;
}

/* ---- the end of a loop ---- */

/* Goes through the operands of a row's value up to narrow values: is a load among them, or the load
 * that is given? */
static bool needs_load(Planner *p, const TileValue *v, const TileOp *load) {
  if (!strip_is_row(p->s, v) || p->visited[v->id] == p->walks) return false;
  p->visited[v->id] = p->walks;
  const TileOp *op = v->def;
  if (op && op->code == TILE_LOAD && (!load || op == load)) return true;
  for (uint32_t i = 0; op && i < op->nargs; i++)
    if (needs_load(p, op->args[i], load)) return true;
  return false;
}

static bool any_needs_load(Planner *p, const TileOp *op, const TileOp *load) {
  p->walks++;
  for (uint32_t i = 0; i < op->nargs; i++)
    if (needs_load(p, op->args[i], load)) return true;
  return false;
}

static bool is_injective(const Planner *p, const TileValue *pointer) {
  return strip_is_injective(p->s, p->axis, pointer);
}

/* Strips change the order of two accesses of a loop, one of which stores. */
static void check_order(Planner *p, const TileOp *x, const TileOp *y) {
  TileValue *a = strip_root(x->args[0]), *b = strip_root(y->args[0]);
  ValueComparison same = {-1, -1, STRIP_COMPARED_MOST};
  if (a != b) assume_apart(p, a, b, false);
  else if (!values_alike(x->args[0], y->args[0], &same) || !is_injective(p, x->args[0]))
    p->refused = true;
}

static void close_loop(Planner *p, TileOp *place) {
  StripLoop *l = p->open;
  if (!l->sinks.len) return;
  for (size_t i = 0; i < l->sinks.len; i++) {
    const TileOp *x = l->sinks.data[i];
    if (x->code == TILE_STORE) note_store(p, strip_root(x->args[0]), p->number + 1);
    for (size_t k = 0; k < i; k++) {
      const TileOp *y = l->sinks.data[k];
      bool memory = x->code != TILE_REDUCE && y->code != TILE_REDUCE;
      if (memory && (x->code == TILE_STORE || y->code == TILE_STORE)) check_order(p, x, y);
    }
  }
  for (size_t i = 0; i < l->sinks.len; i++)
    if (l->sinks.data[i]->code != TILE_LOAD) any_needs_late(p, l->sinks.data[i], true);
  l->place = place;
  vec_push(p->s->scratch, &p->s->loops, l);
  p->open = ARENA_NEW(p->s->scratch, StripLoop);
  p->number++;
  p->stores = false;
}

/* ---- the walk ---- */

static bool has_late_operand(const Planner *p, const TileOp *op) {
  for (uint32_t i = 0; i < op->nargs; i++)
    if (op->args[i] && p->late[op->args[i]->id] == p->number) return true;
  return false;
}

static void mark_late(Planner *p, const TileOp *op) {
  for (uint32_t i = 0; i < op->nresults; i++) p->late[op->results[i]->id] = p->number;
}

static void plan_narrow(Planner *p, TileOp *op) {
  unsigned flags = tile_op_flags(op->code);
  bool control = op->code == TILE_FOR || op->code == TILE_WHILE || op->code == TILE_IF;
  bool late = has_late_operand(p, op);
  if (flags & TILE_PURE && !control) {
    if (late) mark_late(p, op), vec_push(p->s->scratch, &p->open->late, op);
    return;
  }
  bool load = op->code == TILE_LOAD && is_plain(op);
  if (!load || late || p->stores) close_loop(p, op);
  note_done(op, p);
  for (uint32_t r = 0; r < op->nregions; r++) tile_walk(op->regions[r], note_done, p);
}

/* Has the open loop a store through the parameter? */
static bool has_stored(const Planner *p, const TileValue *root) {
  for (size_t i = 0; i < p->open->sinks.len; i++) {
    const TileOp *x = p->open->sinks.data[i];
    if (x->code == TILE_STORE && strip_root(x->args[0]) == root) return true;
  }
  return false;
}

/* A load after a store to the same memory begins a loop: it may be parked before that. */
static void plan_row_access(Planner *p, TileOp *op) {
  bool load = op->code == TILE_LOAD;
  TileValue *root = op->code == TILE_REDUCE ? NULL : strip_root(op->args[0]);
  p->refused |= !root && op->code != TILE_REDUCE;
  if (load && (!root || !p->written[root->id])) return; /* free */
  if (any_needs_late(p, op, false) || (load && has_stored(p, root))) close_loop(p, op);
  if (load) p->fixed[op->results[0]->id] = p->number;
  vec_push(p->s->scratch, &p->open->sinks, op);
  if (op->code == TILE_REDUCE) mark_late(p, op);
  p->stores |= op->code == TILE_STORE;
}

static void plan_op(Planner *p, TileOp *op) {
  switch (kind_of(p->s, op)) {
    case NARROW: plan_narrow(p, op); return;
    case ROW_PURE: return;
    case ROW_LOAD:
    case ROW_SINK: plan_row_access(p, op); return;
    case REFUSED: p->refused = true; return;
  }
}

/* ---- parked strips ---- */

/* Is the load better parked than executed in each loop that needs it?  What its address or mask
 * waits for might itself be parked, or written since. */
static bool wants_park(const StripPark *x) {
  DType t = (DType)x->load->results[0]->type.dtype;
  return x->loops > 1 && !x->strips && !x->chained && t != DT_I1 && t != DT_PTR;
}

static int64_t bytes_of_strip(const Strips *s, const StripPark *x) {
  return s->strip * dtype_bytes((DType)x->load->results[0]->type.dtype);
}

/* Shared memory goes to the fixed loads first, then to those that most loops need. */
static void take_room(Planner *p, int64_t room) {
  Strips *s = p->s;
  int64_t all = strip_count(s);
  for (size_t i = 0; i < s->parks.len; i++) s->parks.data[i].strips = s->parks.data[i].held = 0;
  for (;;) {
    StripPark *best = NULL;
    for (size_t i = 0; i < s->parks.len; i++) {
      StripPark *x = &s->parks.data[i];
      if (!wants_park(x) || (best && best->fixed && !x->fixed)) continue;
      if (!best || x->fixed > best->fixed || x->loops > best->loops) best = x;
    }
    if (!best) break;
    int64_t bytes = bytes_of_strip(s, best);
    best->strips = room / bytes < all ? room / bytes : all;
    if (best->strips > STRIP_PARKED_MOST) best->strips = STRIP_PARKED_MOST;
    room -= best->strips * bytes;
    if (!best->strips) break;
  }
}

/* Strips for which shared memory has no room.  Are all in registers that several loops need? */
static bool hold_rest(Strips *s, int64_t threads, int64_t registers) {
  enum { REGISTER_BYTES = 4 };
  int64_t left = registers < STRIP_REGISTERS ? 0 : registers - STRIP_REGISTERS;
  int64_t all = strip_count(s), most = HELD_MOST;
  bool whole = true;
  left *= REGISTER_BYTES * threads;
  for (size_t i = 0; i < s->parks.len; i++) {
    StripPark *x = &s->parks.data[i];
    int64_t bytes = bytes_of_strip(s, x), rest = all - x->strips;
    if (x->loops < 2 || x->chained || x->load->results[0]->type.dtype == DT_PTR) continue;
    x->held = left / bytes < rest ? left / bytes : rest;
    if (x->held > most) x->held = most;
    left -= x->held * bytes;
    most -= x->held;
    whole &= x->held == rest;
  }
  return whole;
}

/* A thread's registers where a multiprocessor runs so many, and users allow them. */
static int64_t registers_of(const Strips *s, int64_t threads) {
  enum { GRANULE = 8 };
  int64_t n = REGISTER_FILE / threads / GRANULE * GRANULE, most = s->f->options.maxnreg;
  if (s->u->machine->regs < n) n = s->u->machine->regs;
  return most && most < n ? most : n;
}

bool strip_share_registers(Strips *s, int64_t registers) {
  int64_t threads = (int64_t)options_warps(&s->f->options) * s->u->machine->lanes;
  int64_t programs = s->u->machine->peaks.threads / threads;
  while (programs && registers_of(s, programs * threads) < registers) programs--;
  if (programs > 1 && s->versions && !s->f->options.maxnreg)
    s->registers = (int)registers_of(s, programs * threads);
  return programs > 0;
}

/* Ops on rows of which the value is made, that no walk has counted. */
static int64_t count_row_ops(Planner *p, const TileValue *v) {
  if (!v || !strip_is_row(p->s, v) || p->visited[v->id] == p->walks) return 0;
  p->visited[v->id] = p->walks;
  const TileOp *op = v->def;
  int64_t n = op && tile_op_flags(op->code) & TILE_ELEM;
  for (uint32_t i = 0; op && i < op->nargs; i++) n += count_row_ops(p, op->args[i]);
  return n;
}

/* Registers that the loop needs: for its loads of a strip, addresses, and temporary values, which
 * are the more the more ops it has. */
static int64_t registers_needed(Planner *p, size_t loop, int64_t threads) {
  enum { ADDRESSES = 16, REGISTER_BYTES = 4, FREE_OPS = 16 };
  const Strips *s = p->s;
  const StripLoop *l = s->loops.data[loop];
  int64_t bytes = 0, ops = 0;
  for (size_t i = 0; i < s->parks.len; i++) {
    const StripPark *x = &s->parks.data[i];
    if (x->first <= loop && loop <= x->last) bytes += bytes_of_strip(s, x);
  }
  p->walks++;
  for (size_t i = 0; i < l->sinks.len; i++)
    for (uint32_t k = 0; k < l->sinks.data[i]->nargs; k++)
      ops += count_row_ops(p, l->sinks.data[i]->args[k]);
  return ADDRESSES + bytes / threads / REGISTER_BYTES + (ops > FREE_OPS ? ops - FREE_OPS : 0);
}

static int64_t most_registers_needed(Planner *p, int64_t threads) {
  int64_t most = 0;
  for (size_t l = 0; l < p->s->loops.len; l++) {
    int64_t n = registers_needed(p, l, threads);
    if (n > most) most = n;
  }
  return most;
}

/* Is all in shared memory that several loops need? */
static bool parks_whole(const Strips *s) {
  for (size_t i = 0; i < s->parks.len; i++)
    if (s->parks.data[i].loops > 1 && s->parks.data[i].strips < strip_count(s)) return false;
  return true;
}

/* So many programs fit a multiprocessor if their rows do, with that share of its registers each:
 * one computes while another loads. */
static bool plan_programs(Planner *p, int64_t threads, int64_t programs) {
  enum { RESERVED = 1024, TWO_REGISTERS = 64 }; /* RESERVED: of shared memory, a program */
  Strips *s = p->s;
  int64_t registers = registers_of(s, programs * threads);
  if (s->f->options.maxnreg || programs * threads > s->u->machine->peaks.threads) return false;
  if (registers < (programs > 2 ? most_registers_needed(p, threads) : TWO_REGISTERS)) return false;
  take_room(p, s->u->machine->shared / programs - RESERVED - STRIP_SHARED_LEFT);
  if (programs > 2 ? !parks_whole(s) : !hold_rest(s, threads, registers)) return false;
  s->registers = (int)registers;
  s->fit = programs > 2 ? STRIPS_THREE : STRIPS_TWO;
  return true;
}

/* Registers keep all strips of what several loops need, an element each: a thread loads them one
 * by one.  Programs share a multiprocessor as their registers allow; a kernel of one
 * version is left to the assembler, which then loads weights before reductions meet. */
static bool hold_whole(Planner *p, int64_t threads) {
  enum { OTHERS = 16, LEAST = 40 }; /* OTHERS: for addresses and the element at hand */
  Strips *s = p->s;
  int64_t registers = OTHERS, each = s->strip / threads;
  for (size_t i = 0; i < s->parks.len; i++) {
    StripPark *x = &s->parks.data[i];
    DType t = (DType)x->load->results[0]->type.dtype;
    if (x->chained || t == DT_PTR || dtype_bytes(t) > 4) return false;
    x->held = strip_count(s);
    x->early = x->loops < 2 && !x->fixed;
    if (x->fixed && x->loops < 2) x->held = 0;
    if (x->loops > 1) registers += each * x->held;
  }
  return strip_share_registers(s, registers < LEAST ? LEAST : registers);
}

static bool plan_parks(Planner *p) {
  Strips *s = p->s;
  int64_t threads = (int64_t)options_warps(&s->f->options) * s->u->machine->lanes;
  for (size_t i = 0; i < s->parks.len; i++)
    s->parks.data[i].chained = any_needs_load(p, s->parks.data[i].load, NULL);
  if (s->ragged) return hold_whole(p, threads);
  for (int64_t programs = 3; programs > 1; programs--)
    if (plan_programs(p, threads, programs)) return true;
  take_room(p, s->u->machine->shared - STRIP_SHARED_LEFT);
  bool whole = hold_rest(s, threads, registers_of(s, threads));
  s->fit = whole ? STRIPS_WHOLE : STRIPS_LOAD_AGAIN;
  for (size_t i = 0; i < s->parks.len; i++) {
    const StripPark *x = &s->parks.data[i];
    if (x->fixed && x->loops > 1 && x->strips + x->held < strip_count(s)) return false;
  }
  return true;
}

static const StripPark *park_of_load(const Strips *s, const TileOp *load) {
  size_t i = 0;
  while (s->parks.data[i].load != load) i++;
  return &s->parks.data[i];
}

/* Does the loop execute the load before its sink of that number does anything? */
static bool is_loaded_by(Planner *p, const StripLoop *l, size_t sink, const TileOp *load) {
  for (size_t i = 0; i <= sink; i++)
    if (l->sinks.data[i]->code != TILE_LOAD && any_needs_load(p, l->sinks.data[i], load))
      return true;
  return false;
}

/* Are all stores through `written` in the last loop that needs the load, each to the element that
 * is loaded there before?  Then strips may be loaded and stored in turn if both parameters hold one
 * address. */
static bool stores_what_it_loads(Planner *p, const StripPark *x, const TileValue *written) {
  const Strips *s = p->s;
  bool row = is_injective(p, x->load->args[0]);
  for (size_t l = 0; l < s->loops.len; l++)
    for (size_t i = 0; i < s->loops.data[l]->sinks.len; i++) {
      const TileOp *op = s->loops.data[l]->sinks.data[i];
      if (op->code != TILE_STORE || strip_root(op->args[0]) != written) continue;
      ValueComparison same = {strip_root(x->load->args[0])->id, written->id, STRIP_COMPARED_MOST};
      row &= l == x->last && values_alike(x->load->args[0], op->args[0], &same) &&
             is_loaded_by(p, s->loops.data[l], i, x->load);
    }
  return row && !p->narrow[written->id];
}

/* Rows that are parked whole are loaded before their first loop alone. */
static void assume_passed(Planner *p) {
  const Strips *s = p->s;
  for (size_t i = 0; i < p->passed.len; i++) {
    const Passed *x = &p->passed.data[i];
    const StripPark *park = park_of_load(s, x->load);
    bool whole = park->strips + park->held == strip_count(s);
    if (whole && p->done[x->written->id] > park->first + 1) continue;
    bool or_same = stores_what_it_loads(p, park, x->written);
    assume_apart(p, strip_root(x->load->args[0]), x->written, or_same);
  }
}

bool strip_plan(Strips *s) {
  uint32_t n = s->nvalues;
  Planner p = {.s = s, .number = 1};
  s->axis = p.axis = axis_analyze(s->f, s->scratch);
  p.written = ARENA_ARRAY(s->scratch, bool, n);
  p.narrow = ARENA_ARRAY(s->scratch, bool, n);
  p.done = ARENA_ARRAY(s->scratch, uint32_t, n);
  p.late = ARENA_ARRAY(s->scratch, uint32_t, n);
  p.fixed = ARENA_ARRAY(s->scratch, uint32_t, n);
  p.counted = ARENA_ARRAY(s->scratch, uint32_t, n);
  p.visited = ARENA_ARRAY(s->scratch, uint32_t, n);
  p.open = ARENA_NEW(s->scratch, StripLoop);
  tile_walk(s->body, note_written, &p);
  for (TileOp *op = s->body->first; op && !p.refused; op = op->next) plan_op(&p, op);
  if (p.refused || p.open->sinks.len || !s->loops.len) return false;
  if (!plan_parks(&p) || (s->cluster > 1 && !strip_shares_rows(s, p.axis))) return false;
  assume_passed(&p);
  return !p.refused;
}
