/* Pass narrow_lanes: the number of lanes by the width of the data.
 *
 * A CPU's lanes are 32-bit elements of a SIMD register, so a vector of 64-bit elements takes two
 * registers.  GCC has no machine mode for such a vector: it lowers comparisons, shuffles and
 * conversions of it to scalars, one by one, and compiling a sort takes twenty times as long as with
 * vectors that fit.  A kernel whose data are 64 bits wide for the most part is therefore compiled
 * for the machine with half of the lanes, where one there is.
 *
 * Data are the values that stored values are computed from: not addresses and masks, which are
 * often 64 bits wide where the data are not.
 *
 * A kernel that divides an index by 24, as one of images with 24 channels does, has runs of 8
 * neighbours.  Lanes of more than a run have a vector of quotients and load one by one, so as many
 * lanes are taken as a run has elements, where that takes fewer instructions.  A product's operands
 * are copied by rows: its kernel keeps its lanes. */
#include "lower/passes.h"

enum { LOOP_TRIPS = 8, DEPTH_MOST = 6 }; /* assumed trips of a loop; deeper ones count no more */
enum { RUN_LEAST = 4 };                  /* shorter runs are loaded one by one */

typedef struct {
  Arena *arena; /* scratch */
  bool *marked; /* by value id: data */
  VEC(TileValue *) pending;
  int64_t narrow, wide; /* elements of data, of at most 32 bits and of 64 */
} Widths;

static void mark(Widths *w, TileValue *v) {
  if (!v || w->marked[v->id]) return;
  w->marked[v->id] = true;
  vec_push(w->arena, &w->pending, v);
}

static void mark_args(Widths *w, const TileOp *op, uint32_t from) {
  for (uint32_t i = from; i < op->nargs; i++) mark(w, op->args[i]);
}

/* Operands that an op writes to memory, its addresses and masks left out, and those of impure
 * assembly. */
static void mark_roots(TileOp *op, void *context) {
  Widths *w = context;
  switch (op->code) {
    case TILE_STORE:
    case TILE_VIEW_STORE:
    case TILE_ATOMIC_RMW: mark(w, op->args[1]); break;
    case TILE_ATOMIC_CAS: mark_args(w, op, 1); break;
    case TILE_ASM_IMPURE: mark_args(w, op, 0); break;
    default: break;
  }
}

/* The values that a region hands on; of a WHILE those of both regions. */
static void mark_yields(Widths *w, const TileOp *op) {
  for (uint32_t r = 0; r < op->nregions; r++) mark_args(w, op->regions[r]->last, 0);
}

static void mark_operands(Widths *w, const TileOp *op) {
  switch (op->code) {
    case TILE_LOAD:
    case TILE_VIEW_LOAD: mark(w, op->args[2]); break; /* in place of what is not loaded */
    case TILE_FOR: mark_args(w, op, 3), mark_yields(w, op); break;
    case TILE_WHILE: mark_args(w, op, 0), mark_yields(w, op); break;
    case TILE_IF: mark_yields(w, op); break;
    case TILE_ATOMIC_RMW:
    case TILE_ATOMIC_CAS:
    case TILE_PTR_ADD: break;
    default: mark_args(w, op, 0); break;
  }
}

static void count_value(Widths *w, const TileValue *v, int64_t times) {
  if (!w->marked[v->id] || !v->type.rank || v->type.dtype == DT_PTR) return;
  unsigned bits = dtype_bits(v->type.dtype);
  if (bits > 1) *(bits == 64 ? &w->wide : &w->narrow) += times * type_numel(v->type);
}

static void count_block(Widths *w, const TileBlock *b, int64_t times, int depth) {
  for (const TileOp *op = b->first; op; op = op->next) {
    for (uint32_t i = 0; i < op->nresults; i++) count_value(w, op->results[i], times);
    bool loop = op->code == TILE_FOR || op->code == TILE_WHILE;
    int64_t more = loop && depth < DEPTH_MOST ? LOOP_TRIPS : 1;
    for (uint32_t r = 0; r < op->nregions; r++)
      count_block(w, op->regions[r], times * more, depth + 1);
  }
}

/* Is more than half of the data 64 bits wide? */
static bool is_wide(const TileFunc *f, Arena *scratch) {
  Widths w = {.arena = scratch, .marked = ARENA_ARRAY(scratch, bool, f->nvalues)};
  tile_walk(f->body, mark_roots, &w);
  while (w.pending.len) {
    const TileValue *v = w.pending.data[--w.pending.len];
    if (v->def) mark_operands(&w, v->def);
    else if (v->block->owner) mark_operands(&w, v->block->owner);
  }
  count_block(&w, f->body, 1, 0);
  return w.wide > w.narrow;
}

/* ---- runs of neighbours ---- */

typedef struct {
  int lanes;
  int64_t run; /* the shortest one of the kernel's divisions */
  bool multiplies;
  bool *divided;     /* by value id: an index or a pointer that such a division decides */
  int64_t divisions; /* those */
  int64_t scattered; /* loads and stores by such pointers */
  int64_t work;      /* of all else, in instructions of a vector */
} Runs;

static const TileValue *unspread(const TileValue *v) {
  while (v->def && (v->def->code == TILE_SPLAT || v->def->code == TILE_BROADCAST))
    v = v->def->args[0];
  return v;
}

/* The constant by which an op divides; 0: it is none above 0. */
static int64_t divisor_of(const TileOp *op) {
  int64_t by;
  bool divides = op && (op->code == TILE_DIV || op->code == TILE_REM);
  return divides && tile_const_value(unspread(op->args[1]), &by) && by > 0 ? by : 0;
}

/* The product of the divisors of an index. */
static int64_t divided_by(const TileValue *v) {
  int64_t all = 1;
  for (; v->def && v->def->code == TILE_DIV && divisor_of(v->def); v = v->def->args[0])
    if (__builtin_mul_overflow(all, divisor_of(v->def), &all)) return 0;
  return all;
}

/* The power of two in what a tile is divided by, if a vector has more lanes; 0: else.  A power of
 * two alone cuts no vector. */
static int64_t run_of(const TileOp *op, int lanes) {
  int64_t by = divisor_of(op);
  if (!by) return 0;
  const Type *t = &op->results[0]->type;
  if (!t->rank || t->shape[t->rank - 1] < 2) return 0;
  if (__builtin_mul_overflow(by, divided_by(op->args[0]), &by) || !by) return 0;
  int64_t run = by & -by;
  return run >= RUN_LEAST && run < by && run < lanes ? run : 0;
}

static void note_op(TileOp *op, void *context) {
  enum { FUNCTION = 12 }; /* a logarithm's instructions, or the like */
  Runs *r = context;
  bool from = false, memory = op->code == TILE_LOAD || op->code == TILE_STORE;
  for (uint32_t i = 0; i < op->nargs; i++) from |= op->args[i] && r->divided[op->args[i]->id];
  r->multiplies |= op->code == TILE_DOT;
  int64_t run = run_of(op, r->lanes);
  if (run && run < r->run) r->run = run;
  r->divisions += run != 0;
  if (memory) r->scattered += r->divided[op->args[0]->id];
  const TileValue *v = op->nresults ? op->results[0] : NULL;
  bool index = v && (dtype_is_int((DType)v->type.dtype) || v->type.dtype == DT_PTR);
  if (index) r->divided[v->id] = from || run;
  else if (memory || (v && v->type.rank))
    r->work += tile_op_flags(op->code) & TILE_APPROX ? FUNCTION : 1;
}

/* Lanes, as many as a run has elements, have no vectors of quotients, and load and store vectors;
 * but all else takes as many instructions more as there are fewer lanes. */
static int64_t run_of_kernel(const TileFunc *f, int lanes, Arena *scratch) {
  enum { QUOTIENT = 10, SCATTERED = 30 }; /* instructions of a vector of 16 */
  Runs r = {.lanes = lanes, .run = INT64_MAX, .divided = ARENA_ARRAY(scratch, bool, f->nvalues)};
  tile_walk(f->body, note_op, &r);
  if (r.multiplies || r.run == INT64_MAX) return INT64_MAX;
  int64_t whole = r.work + QUOTIENT * r.divisions + SCATTERED * r.scattered;
  int64_t cut = lanes / r.run * (r.work + 2 * r.divisions + r.scattered);
  return cut < whole ? r.run : INT64_MAX;
}

bool pass_narrow_lanes(Unit *u) {
  Arena *scratch = arena_child(u->arena);
  int64_t run = run_of_kernel(u->tile, u->machine->lanes, scratch);
  bool wide = is_wide(u->tile, scratch);
  for (const Machine *half; (half = machine_of_half(u->machine)); wide = false) {
    if (!wide && run >= u->machine->lanes) break;
    u->machine = half;
    u->tile->options.target = pool_name(u->names, half->name);
  }
  arena_free(scratch);
  return true;
}
