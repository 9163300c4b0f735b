#include "lower/cost/simulate.h"

#include <string.h>

/* Iterations of a loop that are simulated: at its start, until it runs steadily, and at its
 * end, where copies that run ahead have come to theirs. */
enum {
  LOOP_START = 5,  /* where time counts; ... */
  LOOP_STEADY = 2, /* ... the average of the last ones, a ring's slots but one, is the middle's */
  LOOP_SHORT = 2,  /* where it does not */
  LOOP_END = 2,    /* beside the depth of rings */
  WHILE_TRIPS = 4,
  STEPS_MAX = 1 << 18, /* statements of a warp */
  VALUES_MAX = 1 << 12,
};
static const double LOOP_CLOCKS = 4; /* of an iteration's own: compare and jump */

/* ---- values that are consumed only by an accumulation ---- */

/* Each such value goes into a sum, or the like, and nothing else reads it.  The assembler then does
 * not keep all of them at a time, so that loads of them wait for those before
 * (lower/cost/simulate_memory.c). */

enum { CHAIN_MOST = 8 }; /* ops from a value to its sum */

/* The readers of a variable, but for moves, which begin sums. */
typedef struct {
  const NestStmt *op; /* the only one; NULL: none, or one of another kind */
  int readers;
} Reader;

static void note_integer_reader(Reader *r, const NestStmt *s, const Ref *ref) {
  if (ref->kind != REF_VAR || s->code == NEST_MOV) return;
  Reader *to = &r[ref->var->id];
  if (to->op == s) return;
  to->op = s->code == NEST_OP ? s : NULL;
  to->readers++;
}

static void find_integer_readers(Reader *r, const NestBlock *b) {
  for (const NestStmt *s = b ? b->first : NULL; s; s = s->next) {
    for (uint32_t i = 0; i < s->nsrcs; i++) note_integer_reader(r, s, &s->srcs[i]);
    for (uint32_t i = 0; i < s->nregions; i++) find_integer_readers(r, s->regions[i]);
  }
}

static bool accumulates(const NestStmt *s) {
  for (uint32_t i = 0; i < s->nsrcs; i++)
    if (s->srcs[i].kind == REF_VAR && s->srcs[i].var == s->dsts[0].var) return true;
  return false;
}

static bool is_only_accumulated(const Reader *r, const NestVar *v) {
  for (int i = 0; i < CHAIN_MOST; i++) {
    const Reader *by = &r[v->id];
    if (by->readers != 1 || !by->op || by->op->dsts[0].kind != REF_VAR) return false;
    if (accumulates(by->op)) return true;
    v = by->op->dsts[0].var;
  }
  return false;
}

static bool *find_only_accumulated(Arena *a, const Nest *n) {
  Reader *r = ARENA_ARRAY(a, Reader, n->nvars + 1);
  bool *found = ARENA_ARRAY(a, bool, n->nvars + 1);
  find_integer_readers(r, n->body);
  for (uint32_t i = 0; i < n->nvars; i++)
    found[n->vars[i]->id] = is_only_accumulated(r, n->vars[i]);
  return found;
}

/* ---- a simulation ---- */

/* Integers come first among the registers: those alone have values, up to a number that no kernel
 * of a sane size has. */
static void number_simulated_registers(Simulation *sim) {
  const Nest *n = sim->nest;
  sim->offset = ARENA_ARRAY(sim->arena, uint32_t, n->nvars + 1);
  for (int rest = 0; rest < 2; rest++) {
    for (uint32_t i = 0; i < n->nvars; i++) {
      const NestVar *v = n->vars[i];
      uint32_t count = v->count ? v->count : 1;
      bool valued = !dtype_is_float(v->dtype) && count <= VALUES_MAX;
      if (rest == 0 && valued && sim->registers + count > VALUES_MAX) valued = false;
      if (rest == 0) sim->offset[v->id] = valued ? sim->registers : UINT32_MAX;
      if (rest == 0 ? !valued : sim->offset[v->id] != UINT32_MAX) continue;
      sim->offset[v->id] = sim->registers;
      sim->registers += count;
    }
    if (!rest) sim->integers = sim->registers;
  }
}

/* Does a simulation of the block do more than to count?  Notes it of all loops in it. */
static bool find_what_matters(Simulation *sim, const NestBlock *b) {
  bool found = false;
  for (const NestStmt *s = b ? b->first : NULL; s; s = s->next) {
    bool counted = s->code == NEST_OP || s->code == NEST_MOV, inside = false;
    for (uint32_t i = 0; i < s->nregions; i++) inside |= find_what_matters(sim, s->regions[i]);
    if (s->code == NEST_UNROLL) sim->matters[s->index->id] = inside;
    if (s->code == NEST_UNROLL ? inside : !counted) found = true;
    if (counted && s->dsts[0].kind == REF_VAR && sim_is_integer(sim, s->dsts[0].var)) found = true;
  }
  return found;
}

/* Slots of the deepest one. */
static int deepest_ring(const Nest *n) {
  int most = 1;
  for (uint32_t i = 0; i < n->nbuffers; i++)
    if (n->buffers[i]->slots > most) most = n->buffers[i]->slots;
  return most;
}

static void add_params(Simulation *sim) {
  for (uint32_t i = 0; i < sim->nest->nparams; i++) {
    const NestVar *p = sim->nest->params[i];
    if (p->dtype != DT_PTR || sim->narrays == SIM_ARRAYS) continue;
    simulation_set(sim, i, (int64_t)++sim->narrays << SIM_ARRAY_SHIFT);
  }
}

void simulation_set(Simulation *sim, uint32_t param, int64_t value) {
  const NestVar *p = sim->nest->params[param];
  if (!sim_is_integer(sim, p)) return;
  for (int l = 0; l < SIM_LANES; l++) sim->values[sim->offset[p->id]][l] = value;
  sim->given[param] = true;
}

Simulation *simulation_new(Arena *a, const Nest *n, const DevicePeaks *r, const int64_t grid[3]) {
  Simulation *sim = ARENA_NEW(a, Simulation);
  *sim = (Simulation){.nest = n, .peaks = r, .arena = a, .counting = true, .timing = true};
  sim->lanes = n->lanes < SIM_LANES ? n->lanes : SIM_LANES;
  memcpy(sim->grid, grid, sizeof sim->grid);
  number_simulated_registers(sim);
  sim->values = arena_array(a, sim->integers + 1, sizeof *sim->values);
  memset(sim->values, 0, (sim->integers + 1) * sizeof *sim->values);
  sim->known = ARENA_ARRAY(a, uint8_t, sim->registers + 1);
  memset(sim->known, 0, sim->registers + 1);
  sim->given = ARENA_ARRAY(a, uint8_t, n->nparams + 1);
  memset(sim->given, 0, n->nparams + 1);
  sim->ready = ARENA_ARRAY(a, float, sim->registers + 1);
  sim->index = ARENA_ARRAY(a, int64_t, n->nindices + 1);
  memset(sim->index, 0, (n->nindices + 1) * sizeof *sim->index);
  sim->matters = ARENA_ARRAY(a, uint8_t, n->nindices + 1);
  find_what_matters(sim, n->body);
  sim->only_accumulated = find_only_accumulated(a, n);
  sim->ring = deepest_ring(n);
  sim->seen = sim_seen_new(a);
  add_params(sim);
  return sim;
}

void simulation_start(Simulation *sim, const int64_t pid[3]) {
  memcpy(sim->pid, pid, sizeof sim->pid);
  if (sim->counting) sim_seen_clear(sim->seen);
  for (int i = 0; i < sim->nsites; i++) {
    sim->sites[i].simulated = sim->sites[i].touched = false;
    sim->sites[i].touched_sectors = sim->sites[i].warp_sectors = sim->sites[i].program_sectors = 0;
    sim->sites[i].pieces = 0;
  }
}

/* ---- operands ---- */

/* The first lane's; false: unknown. */
static bool scalar_operand(const Simulation *sim, const Ref *r, int64_t *out) {
  int64_t v[SIM_LANES];
  bool known = sim_operand(sim, r, 1, v);
  *out = known ? v[0] : 0;
  return known;
}

static void set_result(Simulation *sim, const NestStmt *s, uint32_t i, const int64_t *v) {
  const Ref *d = &s->dsts[0];
  if (d->kind != REF_VAR || !sim_is_integer(sim, d->var)) return;
  uint32_t at = sim_register(sim, d) + i;
  sim->known[at] = v != NULL;
  if (v) memcpy(sim->values[at], v, (size_t)sim->lanes * sizeof *v);
}

static void set_uniform_result(Simulation *sim, const NestStmt *s, int64_t value) {
  int64_t v[SIM_LANES];
  for (int l = 0; l < sim->lanes; l++) v[l] = value;
  set_result(sim, s, 0, v);
}

static void set_unknown(Simulation *sim, const NestStmt *s) {
  uint32_t n = (uint32_t)nest_int(s, NA_n, 1);
  for (uint32_t i = 0; s->ndsts && i < n; i++) set_result(sim, s, i, NULL);
}

static void set_results_unknown(Simulation *sim, const NestStmt *s) {
  NestStmt one = *s;
  for (uint32_t i = 0; i < s->ndsts; i++) {
    one.dsts = &s->dsts[i];
    set_unknown(sim, &one);
  }
}

/* ---- elementwise ops on integers and pointers, on all lanes or on the first one ---- */

static int64_t wrap_lane(DType t, int64_t v) {
  switch (t) {
    case DT_I1: return v & 1;
    case DT_I8: return (int8_t)v;
    case DT_I16: return (int16_t)v;
    case DT_I32: return (int32_t)v;
    case DT_U8: return (uint8_t)v;
    case DT_U16: return (uint16_t)v;
    case DT_U32: return (uint32_t)v;
    default: return v;
  }
}

static int64_t shift_lane(DType t, TileCode op, int64_t x, int64_t by) {
  if (by < 0 || by >= dtype_bits(t)) return op == TILE_SHR && x < 0 ? -1 : 0;
  return op == TILE_SHL ? (int64_t)((uint64_t)x << by) : x >> by;
}

static int64_t divide_lane(TileCode op, int64_t x, int64_t y) {
  if (y == 0 || (x == INT64_MIN && y == -1)) return 0;
  return op == TILE_DIV ? x / y : x % y;
}

/* Loops over lanes that the C compiler makes vectors of. */
#define LANES(expr)                            \
  for (int l = 0; l < n; l++) out[l] = (expr); \
  break

static bool compute_lanes(TileCode op, DType t, int n, const int64_t *x, const int64_t *y,
                          const int64_t *z, int64_t *out) {
  switch (op) {
    case TILE_ADD: LANES((int64_t)((uint64_t)x[l] + (uint64_t)y[l]));
    case TILE_SUB: LANES((int64_t)((uint64_t)x[l] - (uint64_t)y[l]));
    case TILE_MUL: LANES((int64_t)((uint64_t)x[l] * (uint64_t)y[l]));
    case TILE_DIV:
    case TILE_REM: LANES(divide_lane(op, x[l], y[l]));
    case TILE_MIN: LANES(x[l] < y[l] ? x[l] : y[l]);
    case TILE_MAX: LANES(x[l] > y[l] ? x[l] : y[l]);
    case TILE_AND: LANES(x[l] & y[l]);
    case TILE_OR: LANES(x[l] | y[l]);
    case TILE_XOR: LANES(x[l] ^ y[l]);
    case TILE_NOT: LANES(~x[l]);
    case TILE_NEG: LANES((int64_t)(0 - (uint64_t)x[l]));
    case TILE_ABS: LANES(x[l] < 0 ? (int64_t)(0 - (uint64_t)x[l]) : x[l]);
    case TILE_SHL:
    case TILE_SHR: LANES(shift_lane(t, op, x[l], y[l]));
    case TILE_LT: LANES(x[l] < y[l]);
    case TILE_LE: LANES(x[l] <= y[l]);
    case TILE_GT: LANES(x[l] > y[l]);
    case TILE_GE: LANES(x[l] >= y[l]);
    case TILE_EQ: LANES(x[l] == y[l]);
    case TILE_NE: LANES(x[l] != y[l]);
    case TILE_SELECT: LANES(x[l] ? y[l] : z[l]);
    case TILE_CAST:
    case TILE_BITCAST:
    case TILE_HINT: LANES(x[l]);
    default: return false;
  }
  return true;
}

static void add_elements(const NestStmt *s, int n, const int64_t *x, const int64_t *y,
                         int64_t *out) {
  int64_t bytes = dtype_bytes(s->elem);
  for (int l = 0; l < n; l++) out[l] = (int64_t)((uint64_t)x[l] + (uint64_t)y[l] * (uint64_t)bytes);
}

/* A false guard decides the conjunction, whatever the other one is. */
static bool one_decides(const NestStmt *s, const bool *known, int64_t (*x)[SIM_LANES],
                        int64_t *out) {
  if (s->type != DT_I1 || s->nsrcs != 2 || known[0] == known[1]) return false;
  if (s->op != TILE_AND) return false;
  memcpy(out, x[known[0] ? 0 : 1], sizeof *x);
  return true;
}

static bool sim_value(const Simulation *sim, const NestStmt *s, int n, int64_t out[SIM_LANES]) {
  int64_t x[3][SIM_LANES];
  bool known[3] = {true, true, true}, all = true;
  if (dtype_is_float(s->type) || s->nsrcs > 3) return false;
  for (uint32_t i = 0; i < 3; i++)
    if (i < s->nsrcs && s->srcs[i].kind != REF_NONE)
      all &= known[i] = sim_operand(sim, &s->srcs[i], n, x[i]);
    else x[i][0] = 0; /* no op reads what it does not have */
  if (!all) return one_decides(s, known, x, out);
  DType result = s->op == TILE_CAST || s->op == TILE_BITCAST ? s->to : s->type;
  if (dtype_is_float(result)) return false;
  if (s->op == TILE_PTR_ADD) add_elements(s, n, x[0], x[1], out);
  else if (!compute_lanes(s->op, s->type, n, x[0], x[1], x[2], out)) return false;
  bool compares = s->op >= TILE_LT && s->op <= TILE_NE;
  if (result == DT_I64 || result == DT_U64 || result == DT_PTR || compares) return true;
  if (result == DT_I1 && s->op == TILE_CAST)
    for (int l = 0; l < n; l++) out[l] = out[l] != 0;
  for (int l = 0; l < n; l++) out[l] = wrap_lane(result, out[l]);
  return true;
}

/* ---- loops ---- */

static void simulate_block(Simulation *sim, const NestBlock *b);

static void simulate_unroll(Simulation *sim, const NestStmt *s) {
  if (!sim->counting && !sim->matters[s->index->id]) return;
  int32_t n = sim->counting ? s->index->extent : 1;
  for (int32_t i = 0; i < n; i++) {
    sim->index[s->index->id] = i;
    simulate_block(sim, s->regions[0]);
  }
  /* Without counting, what later iterations would have set stays unknown. */
}

/* Values before an iteration, for a loop of each depth. */
static void take_snapshot(Simulation *sim) {
  int64_t(**to)[SIM_LANES] = &sim->before[sim->depth];
  if (!*to) *to = arena_array(sim->arena, sim->integers + 1, sizeof **to);
  memcpy(*to, sim->values, sim->integers * sizeof **to);
}

/* Each value goes on as it went from one iteration to the next. */
static void jump_values(Simulation *sim, int64_t iterations) {
  for (uint32_t i = 0; i < sim->integers; i++) {
    const int64_t *from = sim->before[sim->depth][i];
    int64_t *to = sim->values[i];
    if (!memcmp(from, to, sizeof *sim->values)) continue;
    for (int l = 0; l < SIM_LANES; l++)
      to[l] =
          (int64_t)((uint64_t)to[l] + ((uint64_t)to[l] - (uint64_t)from[l]) * (uint64_t)iterations);
  }
}

static void jump_time(Simulation *sim, double by) {
  sim->time += by;
  sim->free_tensor += by;
  sim->free_special += by;
  sim->free_alu += by;
  sim->copies += by;
  sim->free_boxes += by;
  sim->free_copies += by;
  sim->products += by;
  for (int i = 0; i < sim->ngroups; i++) sim->groups[i] += by;
  for (int i = 0; i < sim->nproducts; i++) sim->product_groups[i] += by;
}

typedef struct {
  const NestStmt *stmt;
  int64_t lower, step, trips;
} Loop;

static void simulate_iteration(Simulation *sim, const Loop *l, int64_t i, double weight) {
  double outer = sim->weight;
  sim->weight *= weight;
  int64_t at = (int64_t)((uint64_t)l->lower + (uint64_t)i * (uint64_t)l->step);
  if (l->stmt->code == NEST_FOR) set_uniform_result(sim, l->stmt, at);
  else sim->index[l->stmt->index->id] = at;
  simulate_block(sim, l->stmt->regions[0]);
  sim->time += LOOP_CLOCKS;
  sim->counts.rounds += sim->weight;
  sim->weight = outer;
}

/* A loop of few iterations is simulated as it is.  A single iteration in the middle of a longer one
 * represents all skipped ones. */
static void simulate_loop(Simulation *sim, const Loop *l) {
  int64_t mean_of = sim->ring - 1 > LOOP_STEADY ? sim->ring - 1 : LOOP_STEADY;
  int64_t start = 2 * mean_of < LOOP_START ? LOOP_START : 2 * mean_of + 1;
  if (!sim->timing) start = LOOP_SHORT;
  int64_t most = start + sim->ring + LOOP_END - 1, left = l->trips > most ? l->trips - most : 0;
  int64_t steady_from = start - (sim->timing ? mean_of : 1);
  double steady = sim->time;
  if (!sim->counting || sim->depth + 1 == SIM_DEPTH) {
    if (l->trips > 0) simulate_iteration(sim, l, 0, (double)l->trips);
    return;
  }
  sim->depth++;
  for (int64_t i = 0; i < l->trips; i++) {
    bool middle = left && i == start - 1;
    if (left && i == steady_from) steady = sim->time;
    if (middle) take_snapshot(sim);
    simulate_iteration(sim, l, i, middle ? 1 + (double)left : 1);
    if (!middle) continue;
    jump_values(sim, left);
    jump_time(sim, (sim->time - steady) / (double)(start - steady_from) * (double)left);
    i += left;
  }
  sim->depth--;
}

static int64_t trips_of(int64_t from, int64_t to, uint64_t step) {
  if (to <= from || step == 0) return 0;
  uint64_t trips = ((uint64_t)to - (uint64_t)from - 1) / step + 1;
  return trips < INT32_MAX ? (int64_t)trips : INT32_MAX;
}

static void simulate_for(Simulation *sim, const NestStmt *s) {
  int64_t lower, upper, step;
  bool known = scalar_operand(sim, &s->srcs[0], &lower);
  known &= scalar_operand(sim, &s->srcs[1], &upper);
  known &= scalar_operand(sim, &s->srcs[2], &step);
  Loop l = {s, lower, step, UNKNOWN_TRIPS};
  if (known && step > 0) l.trips = trips_of(lower, upper, (uint64_t)step);
  else if (known) l.trips = trips_of(upper, lower, 0 - (uint64_t)step);
  simulate_loop(sim, &l);
}

static void simulate_serial(Simulation *sim, const NestStmt *s) {
  int64_t lower = 0, upper = s->index->extent;
  if (s->nsrcs == 2) {
    int64_t lo, hi;
    if (scalar_operand(sim, &s->srcs[0], &lo) && lo > lower) lower = lo;
    if (scalar_operand(sim, &s->srcs[1], &hi) && hi < upper) upper = hi;
  }
  simulate_loop(sim, &(Loop){s, lower, 1, upper > lower ? upper - lower : 0});
}

static void simulate_while(Simulation *sim, const NestStmt *s) {
  for (int i = 0; i < WHILE_TRIPS; i++) {
    int64_t more;
    simulate_block(sim, s->regions[0]);
    bool known = scalar_operand(sim, &s->srcs[0], &more);
    if ((known && !more) || (!known && i > 0)) return;
    simulate_block(sim, s->regions[1]);
  }
}

static void simulate_if(Simulation *sim, const NestStmt *s) {
  int64_t taken;
  bool known = scalar_operand(sim, &s->srcs[0], &taken);
  int which = known && !taken;
  if (s->regions[which]) simulate_block(sim, s->regions[which]);
}

/* ---- statements ---- */

static void simulate_move(Simulation *sim, const NestStmt *s) {
  uint32_t n = (uint32_t)nest_int(s, NA_n, 1);
  const Ref *from = &s->srcs[0];
  for (uint32_t i = 0; i < n; i++) {
    int64_t v[SIM_LANES];
    bool known = sim_operand(sim, from, sim->lanes, v);
    if (known && from->kind == REF_VAR && i) {
      uint32_t at = sim_register(sim, from) + i;
      known = sim->known[at];
      memcpy(v, sim->values[at], sizeof v);
    }
    set_result(sim, s, i, known ? v : NULL);
  }
  if (sim->counting) sim_results(sim, s, n, sim_start(sim, s));
}

static void simulate_lane(Simulation *sim, const NestStmt *s) {
  int64_t v[SIM_LANES];
  for (int l = 0; l < SIM_LANES; l++) v[l] = l;
  set_result(sim, s, 0, v);
}

static void simulate_elementwise(Simulation *sim, const NestStmt *s) {
  int64_t v[SIM_LANES];
  if (s->dsts[0].kind == REF_VAR && sim_is_integer(sim, s->dsts[0].var)) {
    int n = s->dsts[0].var->uniform ? 1 : sim->lanes;
    bool known = sim_value(sim, s, n, v);
    for (int l = n; l < sim->lanes && known; l++) v[l] = v[0];
    set_result(sim, s, 0, known ? v : NULL);
  }
  if (sim->counting) simulate_op(sim, s);
}

static void simulate_stmt(Simulation *sim, const NestStmt *s) {
  switch (s->code) {
    case NEST_OP: simulate_elementwise(sim, s); break;
    case NEST_MOV: simulate_move(sim, s); break;
    case NEST_PID: set_uniform_result(sim, s, sim->pid[nest_int(s, NA_axis, 0)]); break;
    case NEST_NPROG: set_uniform_result(sim, s, sim->grid[nest_int(s, NA_axis, 0)]); break;
    case NEST_CLUSTER_RANK: set_uniform_result(sim, s, 0); break;
    case NEST_SPECIAL: set_unknown(sim, s); break;
    case NEST_LANE: simulate_lane(sim, s); break;
    case NEST_WARP: set_uniform_result(sim, s, sim->warp); break;
    case NEST_UNROLL: simulate_unroll(sim, s); break;
    case NEST_SERIAL: simulate_serial(sim, s); break;
    case NEST_FOR: simulate_for(sim, s); break;
    case NEST_WHILE: simulate_while(sim, s); break;
    case NEST_IF: simulate_if(sim, s); break;
    case NEST_ROLE: simulate_block(sim, s->regions[0]); break;
    case NEST_LD:
    case NEST_ATOM:
    case NEST_ATOM_CAS:
    case NEST_LDMATRIX:
      set_unknown(sim, s);
      simulate_memory(sim, s);
      break;
    case NEST_ST:
    case NEST_RED:
    case NEST_CP_ASYNC:
    case NEST_BULK_COPY:
    case NEST_BULK_STORE: simulate_memory(sim, s); break;
    case NEST_MMA:
    case NEST_WGMMA:
      if (sim->counting) simulate_product(sim, s);
      break;
    case NEST_ASM:
    case NEST_SHFL: set_results_unknown(sim, s); /* fall through */
    default:
      if (sim->counting) simulate_sync(sim, s);
  }
}

static void simulate_line(Simulation *sim, const NestStmt *s) {
  SimCounts before = sim->counts;
  simulate_stmt(sim, s);
  double *line = (double *)&sim->lines[s->span.line];
  const double *now = (const double *)&sim->counts, *then = (const double *)&before;
  for (size_t i = 0; i < sizeof before / sizeof *now; i++) line[i] += now[i] - then[i];
}

/* A simulation that takes too long ends early: what it has counted has to do. */
static void simulate_block(Simulation *sim, const NestBlock *b) {
  for (const NestStmt *s = b->first; s && sim->steps < STEPS_MAX; s = s->next) {
    sim->steps++;
    if (sim->lines && !s->nregions) simulate_line(sim, s);
    else simulate_stmt(sim, s);
  }
}

void simulate_warp(Simulation *sim, int warp) {
  sim->warp = warp;
  sim->weight = 1;
  sim->steps = sim->depth = 0;
  sim->time = sim->free_tensor = sim->free_special = sim->free_alu = 0;
  sim->copies = sim->free_boxes = sim->free_copies = sim->products = 0;
  sim->waits = sim->early = 0;
  sim->ngroups = sim->nproducts = 0;
  sim->loaded = 0;
  memset(sim->ready, 0, sim->registers * sizeof *sim->ready);
  for (uint32_t i = 0; i < sim->registers; i++) sim->known[i] = false;
  for (uint32_t i = 0; i < sim->nest->nparams; i++) {
    sim->known[sim->offset[sim->nest->params[i]->id]] = sim->given[i];
  }
  sim->counts.rounds += 1;
  simulate_block(sim, sim->nest->body);
}
