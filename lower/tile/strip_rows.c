/* Pass strip_rows: strip-mining of rows that registers can't hold.  A kernel that takes a whole row
 * as one tile becomes loops over strips of the row, a loop for each group of reductions and stores
 * that no reduction separates.  What a loop needs of the row it computes anew, of strips that
 * shared memory keeps or, where that has no room, of strips that it loads anew. */
#include "lower/passes.h"
#include "lower/tile/strip.h"

typedef struct {
  Strips *s;
  uint32_t *last;     /* by value id: the number of its last use in the body */
  bool *loaded;       /* by value id: it depends on a loaded value */
  uint32_t number;    /* of the op at hand */
  int64_t row;        /* the longest operand of a reduction */
  int64_t live, most; /* bits an element */
} Live;

static int64_t registers_a_thread(const Unit *u) {
  int64_t threads = (int64_t)options_warps(&u->tile->options) * u->machine->lanes;
  int64_t n = REGISTER_FILE / threads;
  return n < u->machine->regs ? n : u->machine->regs;
}

static void note_last(Live *v, const TileOp *op) {
  for (uint32_t i = 0; i < op->nargs; i++)
    if (op->args[i]) v->last[op->args[i]->id] = v->number;
  for (uint32_t r = 0; r < op->nregions; r++)
    for (const TileOp *x = op->regions[r]->first; x; x = x->next) note_last(v, x);
}

static void note_loaded(Live *v, const TileOp *op) {
  bool loaded = op->code == TILE_LOAD;
  for (uint32_t i = 0; i < op->nargs; i++) loaded |= op->args[i] && v->loaded[op->args[i]->id];
  for (uint32_t i = 0; i < op->nresults; i++) v->loaded[op->results[i]->id] = loaded;
}

static void find_longest(Live *v, const TileOp *op) {
  if (op->code == TILE_REDUCE && type_numel(op->args[0]->type) > v->row)
    v->row = type_numel(op->args[0]->type);
}

/* Bits an element of the rows that are known before the op and used after it. */
static int64_t live_at(const Live *v, const TileOp *reduce, uint32_t number) {
  int64_t bits = 0;
  for (const TileOp *op = reduce->prev; op; op = op->prev)
    for (uint32_t i = 0; i < op->nresults; i++) {
      const TileValue *x = op->results[i];
      bool live = strip_is_row(v->s, x) && v->loaded[x->id] && v->last[x->id] > number;
      if (live) bits += dtype_bits((DType)x->type.dtype);
    }
  return bits;
}

static int64_t threads_of(const Strips *s) {
  return (int64_t)options_warps(&s->f->options) * s->u->machine->lanes;
}

/* Does the kernel hold rows from one reduction to the next in half of the registers or more? */
static bool is_crowded(Strips *s) {
  Live v = {.s = s, .last = ARENA_ARRAY(s->scratch, uint32_t, s->nvalues)};
  v.loaded = ARENA_ARRAY(s->scratch, bool, s->nvalues);
  for (const TileOp *op = s->f->body->first; op; op = op->next, v.number++) {
    note_last(&v, op);
    note_loaded(&v, op);
    find_longest(&v, op);
  }
  s->row = v.row;
  if (s->row <= s->strip || s->row % s->strip) return false;
  uint32_t number = 0;
  for (const TileOp *op = s->f->body->first; op; op = op->next, number++) {
    if (op->code != TILE_REDUCE || !strip_is_row(s, op->args[0])) continue;
    arena_work(s->scratch, number);
    int64_t bits = live_at(&v, op, number);
    if (bits > v.most) v.most = bits;
  }
  s->held = v.most * s->row / threads_of(s) / 32;
  return 2 * s->held >= registers_a_thread(s->u);
}

/* A program of 512 threads that takes a few registers more than 64 is alone on a multiprocessor,
 * which then waits at each of its reductions.  Half of the registers do for rows that take few. */
static void leave_room_for_another(const Strips *s) {
  enum { HALF = 64, OTHERS = 28 }; /* OTHERS: for addresses and what is computed */
  int64_t threads = threads_of(s);
  if (!s->held || s->f->options.maxnreg || s->held + OTHERS > HALF) return;
  if (2 * threads * HALF == REGISTER_FILE && 2 * threads <= s->u->machine->peaks.threads)
    s->f->options.maxnreg = HALF;
}

/* A plan for so many thread blocks; `s` has the row. */
static bool plan_for(const Strips *s, int cluster, Strips *out) {
  *out = (Strips){.u = s->u, .f = s->f, .scratch = s->scratch, .nvalues = s->nvalues};
  out->row = s->row;
  out->strip = s->strip;
  out->body = s->f->body;
  out->cluster = cluster;
  return s->row % (s->strip * cluster) == 0 && strip_plan(out);
}

static bool takes_clusters(const Strips *s) {
  const Options *o = &s->f->options;
  return machine_has(s->u->machine, HAS_CLUSTERS) && !o->debug && !s->f->cluster;
}

/* The plan has one thread block, unless several hold a row that it loads again, or so little of it
 * that two programs share a multiprocessor. */
static bool plan_best(const Strips *s, Strips *best) {
  bool found = plan_for(s, 1, best);
  if (!takes_clusters(s)) return found;
  int warps = options_warps(&s->f->options);
  for (int n = 2; n <= TILE_CLUSTER_MOST && n * warps <= NEST_CLUSTER_WARPS; n *= 2) {
    Strips more;
    if (!plan_for(s, n, &more) || more.fit <= (found ? best->fit : STRIPS_LOAD_AGAIN)) continue;
    *best = more;
    found = true;
  }
  return found;
}

bool pass_strip_rows(Unit *u) {
  Strips s = {.u = u, .f = u->tile, .scratch = arena_child(u->arena), .nvalues = u->tile->nvalues};
  s.strip = threads_of(&s) * STRIP_THREAD_ELEMENTS;
  s.cluster = 1;
  Strips best;
  if (!is_crowded(&s)) {
    if (!strip_ragged(&s)) leave_room_for_another(&s);
  } else if (plan_best(&s, &best)) {
    u->ordered = text_new(u->arena);
    tile_print(&u->ordered, u->tile, u->diags);
    strip_build(&best);
  }
  arena_free(s.scratch);
  return true;
}
