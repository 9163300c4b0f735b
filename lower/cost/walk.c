#include "lower/cost/walk.h"

#include <string.h>

#include "lower/cost/only_accumulated.h"

/* Iterations of a loop that are walked through: at its start, until it runs steadily, and at its
 * end, where copies that run ahead have come to theirs. */
enum {
  LOOP_START = 5,  /* where time counts; ... */
  LOOP_STEADY = 2, /* ... of these the average is the middle's */
  LOOP_SHORT = 2,  /* where it does not */
  LOOP_END = 2,    /* beside the depth of rings */
  WHILE_TRIPS = 4,
  STEPS_MAX = 1 << 18, /* statements of a warp */
  VALUES_MAX = 1 << 12,
};
static const double LOOP_CLOCKS = 4; /* of an iteration's own: compare and jump */

/* ---- a walk ---- */

static bool is_integer(const Walk *w, const NestVar *v) { return w->offset[v->id] < w->integers; }

/* Integers come first among the registers: those alone have values, up to a number that no kernel
 * of a sane size has. */
static void number_registers(Walk *w) {
  const Nest *n = w->nest;
  w->offset = ARENA_ARRAY(w->arena, uint32_t, n->nvars + 1);
  for (int rest = 0; rest < 2; rest++) {
    for (uint32_t i = 0; i < n->nvars; i++) {
      const NestVar *v = n->vars[i];
      uint32_t count = v->count ? v->count : 1;
      bool valued = !dtype_is_float(v->dtype) && count <= VALUES_MAX;
      if (rest == 0 && valued && w->registers + count > VALUES_MAX) valued = false;
      if (rest == 0) w->offset[v->id] = valued ? w->registers : UINT32_MAX;
      if (rest == 0 ? !valued : w->offset[v->id] != UINT32_MAX) continue;
      w->offset[v->id] = w->registers;
      w->registers += count;
    }
    if (!rest) w->integers = w->registers;
  }
}

/* Does a walk through the block do more than to count?  Notes it of all loops in it. */
static bool find_what_matters(Walk *w, const NestBlock *b) {
  bool found = false;
  for (const NestStmt *s = b ? b->first : NULL; s; s = s->next) {
    bool counted = s->code == NEST_OP || s->code == NEST_MOV, inside = false;
    for (uint32_t i = 0; i < s->nregions; i++) inside |= find_what_matters(w, s->regions[i]);
    if (s->code == NEST_UNROLL) w->matters[s->index->id] = inside;
    if (s->code == NEST_UNROLL ? inside : !counted) found = true;
    if (counted && s->dsts[0].kind == REF_VAR && is_integer(w, s->dsts[0].var)) found = true;
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

static void add_params(Walk *w) {
  for (uint32_t i = 0; i < w->nest->nparams; i++) {
    const NestVar *p = w->nest->params[i];
    if (p->dtype != DT_PTR || w->narrays == WALK_ARRAYS) continue;
    walk_set(w, i, (int64_t)++w->narrays << WALK_ARRAY_SHIFT);
  }
}

void walk_set(Walk *w, uint32_t param, int64_t value) {
  const NestVar *p = w->nest->params[param];
  if (!is_integer(w, p)) return;
  for (int l = 0; l < WALK_LANES; l++) w->values[w->offset[p->id]][l] = value;
  w->given[param] = true;
}

Walk *walk_new(Arena *a, const Nest *n, const Rates *r, const int64_t grid[3]) {
  Walk *w = ARENA_NEW(a, Walk);
  *w = (Walk){.nest = n, .rates = r, .arena = a, .counting = true, .timing = true};
  w->lanes = n->lanes < WALK_LANES ? n->lanes : WALK_LANES;
  memcpy(w->grid, grid, sizeof w->grid);
  number_registers(w);
  w->values = arena_array(a, w->integers + 1, sizeof *w->values);
  memset(w->values, 0, (w->integers + 1) * sizeof *w->values);
  w->known = ARENA_ARRAY(a, uint8_t, w->registers + 1);
  memset(w->known, 0, w->registers + 1);
  w->given = ARENA_ARRAY(a, uint8_t, n->nparams + 1);
  memset(w->given, 0, n->nparams + 1);
  w->ready = ARENA_ARRAY(a, float, w->registers + 1);
  w->index = ARENA_ARRAY(a, int64_t, n->nindices + 1);
  memset(w->index, 0, (n->nindices + 1) * sizeof *w->index);
  w->matters = ARENA_ARRAY(a, uint8_t, n->nindices + 1);
  find_what_matters(w, n->body);
  w->streamed = find_only_accumulated(a, n);
  w->ring = deepest_ring(n);
  w->seen = walk_seen_new(a);
  add_params(w);
  return w;
}

void walk_program(Walk *w, const int64_t pid[3]) {
  memcpy(w->pid, pid, sizeof w->pid);
  if (w->counting) walk_seen_clear(w->seen);
  for (int i = 0; i < w->nsites; i++) {
    w->sites[i].walked = w->sites[i].touched = false;
    w->sites[i].touched_sectors = w->sites[i].warp_sectors = w->sites[i].program_sectors = 0;
    w->sites[i].pieces = 0;
  }
}

/* ---- operands ---- */

int64_t walk_affine(const Walk *w, const Affine *a) {
  uint64_t v = (uint64_t)a->c;
  for (int i = 0; i < a->n; i++)
    v += (uint64_t)a->t[i].coef * (uint64_t)w->index[a->t[i].index->id];
  return (int64_t)v;
}

uint32_t walk_register(const Walk *w, const Ref *r) {
  uint32_t at = w->offset[r->var->id];
  return r->sub.n ? at + (uint32_t)walk_affine(w, &r->sub) : at + (uint32_t)r->sub.c;
}

bool walk_operand(const Walk *w, const Ref *r, int n, int64_t out[WALK_LANES]) {
  if (r->kind == REF_AFFINE) {
    int64_t v = walk_affine(w, &r->sub);
    for (int l = 0; l < n; l++) out[l] = v;
    return true;
  }
  if (r->kind != REF_VAR || !is_integer(w, r->var)) return false;
  uint32_t at = walk_register(w, r);
  if (!w->known[at]) return false;
  memcpy(out, w->values[at], (size_t)n * sizeof *out);
  return true;
}

/* The first lane's; false: unknown. */
static bool scalar(const Walk *w, const Ref *r, int64_t *out) {
  int64_t v[WALK_LANES];
  bool known = walk_operand(w, r, 1, v);
  *out = known ? v[0] : 0;
  return known;
}

static void set_result(Walk *w, const NestStmt *s, uint32_t i, const int64_t *v) {
  const Ref *d = &s->dsts[0];
  if (d->kind != REF_VAR || !is_integer(w, d->var)) return;
  uint32_t at = walk_register(w, d) + i;
  w->known[at] = v != NULL;
  if (v) memcpy(w->values[at], v, (size_t)w->lanes * sizeof *v);
}

static void set_same(Walk *w, const NestStmt *s, int64_t value) {
  int64_t v[WALK_LANES];
  for (int l = 0; l < w->lanes; l++) v[l] = value;
  set_result(w, s, 0, v);
}

static void set_unknown(Walk *w, const NestStmt *s) {
  uint32_t n = (uint32_t)nest_int(s, NA_n, 1);
  for (uint32_t i = 0; s->ndsts && i < n; i++) set_result(w, s, i, NULL);
}

/* ---- loops ---- */

static void walk_block(Walk *w, const NestBlock *b);

static void walk_unroll(Walk *w, const NestStmt *s) {
  if (!w->counting && !w->matters[s->index->id]) return;
  int32_t n = w->counting ? s->index->extent : 1;
  for (int32_t i = 0; i < n; i++) {
    w->index[s->index->id] = i;
    walk_block(w, s->regions[0]);
  }
  /* Without counting, what later iterations would have set stays unknown. */
}

/* Values before an iteration, for a loop of each depth. */
static void take_snapshot(Walk *w) {
  int64_t(**to)[WALK_LANES] = &w->before[w->depth];
  if (!*to) *to = arena_array(w->arena, w->integers + 1, sizeof **to);
  memcpy(*to, w->values, w->integers * sizeof **to);
}

/* Each value goes on as it went from one iteration to the next. */
static void jump_values(Walk *w, int64_t iterations) {
  for (uint32_t i = 0; i < w->integers; i++) {
    const int64_t *from = w->before[w->depth][i];
    int64_t *to = w->values[i];
    if (!memcmp(from, to, sizeof *w->values)) continue;
    for (int l = 0; l < WALK_LANES; l++)
      to[l] =
          (int64_t)((uint64_t)to[l] + ((uint64_t)to[l] - (uint64_t)from[l]) * (uint64_t)iterations);
  }
}

static void jump_time(Walk *w, double by) {
  w->time += by;
  w->free_tensor += by;
  w->free_special += by;
  w->free_alu += by;
  w->copies += by;
  w->products += by;
  for (int i = 0; i < w->ngroups; i++) w->groups[i] += by;
  for (int i = 0; i < w->nproducts; i++) w->product_groups[i] += by;
}

typedef struct {
  const NestStmt *stmt;
  int64_t lower, step, trips;
} Loop;

static void iterate(Walk *w, const Loop *l, int64_t i, double weight) {
  double outer = w->weight;
  w->weight *= weight;
  int64_t at = (int64_t)((uint64_t)l->lower + (uint64_t)i * (uint64_t)l->step);
  if (l->stmt->code == NEST_FOR) set_same(w, l->stmt, at);
  else w->index[l->stmt->index->id] = at;
  walk_block(w, l->stmt->regions[0]);
  w->time += LOOP_CLOCKS;
  w->counts.rounds += w->weight;
  w->weight = outer;
}

/* A loop of few iterations is walked through as it is.  In the middle of a longer one, one
 * iteration stands for all those that are left out. */
static void walk_loop(Walk *w, const Loop *l) {
  int64_t start = w->timing ? LOOP_START : LOOP_SHORT, most = start + w->ring + LOOP_END - 1;
  int64_t left = l->trips > most ? l->trips - most : 0;
  int64_t steady_from = start - (w->timing ? LOOP_STEADY : 1);
  double steady = w->time;
  if (!w->counting || w->depth + 1 == WALK_DEPTH) {
    if (l->trips > 0) iterate(w, l, 0, (double)l->trips);
    return;
  }
  w->depth++;
  for (int64_t i = 0; i < l->trips; i++) {
    bool middle = left && i == start - 1;
    if (left && i == steady_from) steady = w->time;
    if (middle) take_snapshot(w);
    iterate(w, l, i, middle ? 1 + (double)left : 1);
    if (!middle) continue;
    jump_values(w, left);
    jump_time(w, (w->time - steady) / (double)(start - steady_from) * (double)left);
    i += left;
  }
  w->depth--;
}

static int64_t trips_of(int64_t from, int64_t to, uint64_t step) {
  if (to <= from || step == 0) return 0;
  uint64_t trips = ((uint64_t)to - (uint64_t)from - 1) / step + 1;
  return trips < INT32_MAX ? (int64_t)trips : INT32_MAX;
}

static void walk_for(Walk *w, const NestStmt *s) {
  int64_t lower, upper, step;
  bool known = scalar(w, &s->srcs[0], &lower);
  known &= scalar(w, &s->srcs[1], &upper);
  known &= scalar(w, &s->srcs[2], &step);
  Loop l = {s, lower, step, UNKNOWN_TRIPS};
  if (known && step > 0) l.trips = trips_of(lower, upper, (uint64_t)step);
  else if (known) l.trips = trips_of(upper, lower, 0 - (uint64_t)step);
  walk_loop(w, &l);
}

static void walk_serial(Walk *w, const NestStmt *s) {
  int64_t lower = 0, upper = s->index->extent;
  if (s->nsrcs == 2) {
    int64_t lo, hi;
    if (scalar(w, &s->srcs[0], &lo) && lo > lower) lower = lo;
    if (scalar(w, &s->srcs[1], &hi) && hi < upper) upper = hi;
  }
  walk_loop(w, &(Loop){s, lower, 1, upper > lower ? upper - lower : 0});
}

static void walk_while(Walk *w, const NestStmt *s) {
  for (int i = 0; i < WHILE_TRIPS; i++) {
    int64_t more;
    walk_block(w, s->regions[0]);
    bool known = scalar(w, &s->srcs[0], &more);
    if ((known && !more) || (!known && i > 0)) return;
    walk_block(w, s->regions[1]);
  }
}

static void walk_if(Walk *w, const NestStmt *s) {
  int64_t taken;
  bool known = scalar(w, &s->srcs[0], &taken);
  int which = known && !taken;
  if (s->regions[which]) walk_block(w, s->regions[which]);
}

/* ---- statements ---- */

static void walk_move(Walk *w, const NestStmt *s) {
  uint32_t n = (uint32_t)nest_int(s, NA_n, 1);
  const Ref *from = &s->srcs[0];
  for (uint32_t i = 0; i < n; i++) {
    int64_t v[WALK_LANES];
    bool known = walk_operand(w, from, w->lanes, v);
    if (known && from->kind == REF_VAR && i) {
      uint32_t at = walk_register(w, from) + i;
      known = w->known[at];
      memcpy(v, w->values[at], sizeof v);
    }
    set_result(w, s, i, known ? v : NULL);
  }
  if (w->counting) walk_results(w, s, n, walk_start(w, s));
}

static void walk_lane(Walk *w, const NestStmt *s) {
  int64_t v[WALK_LANES];
  for (int l = 0; l < WALK_LANES; l++) v[l] = l;
  set_result(w, s, 0, v);
}

static void walk_elementwise(Walk *w, const NestStmt *s) {
  int64_t v[WALK_LANES];
  if (s->dsts[0].kind == REF_VAR && is_integer(w, s->dsts[0].var)) {
    int n = s->dsts[0].var->uniform ? 1 : w->lanes;
    bool known = walk_value(w, s, n, v);
    for (int l = n; l < w->lanes && known; l++) v[l] = v[0];
    set_result(w, s, 0, known ? v : NULL);
  }
  if (w->counting) walk_op(w, s);
}

static void walk_stmt(Walk *w, const NestStmt *s) {
  switch (s->code) {
    case NEST_OP: walk_elementwise(w, s); break;
    case NEST_MOV: walk_move(w, s); break;
    case NEST_PID: set_same(w, s, w->pid[nest_int(s, NA_axis, 0)]); break;
    case NEST_NPROG: set_same(w, s, w->grid[nest_int(s, NA_axis, 0)]); break;
    case NEST_LANE: walk_lane(w, s); break;
    case NEST_WARP: set_same(w, s, w->warp); break;
    case NEST_UNROLL: walk_unroll(w, s); break;
    case NEST_SERIAL: walk_serial(w, s); break;
    case NEST_FOR: walk_for(w, s); break;
    case NEST_WHILE: walk_while(w, s); break;
    case NEST_IF: walk_if(w, s); break;
    case NEST_ROLE: walk_block(w, s->regions[0]); break;
    case NEST_LD:
    case NEST_ATOM:
    case NEST_ATOM_CAS:
    case NEST_LDMATRIX:
      set_unknown(w, s);
      walk_memory(w, s);
      break;
    case NEST_ST:
    case NEST_RED:
    case NEST_CP_ASYNC: walk_memory(w, s); break;
    case NEST_MMA:
    case NEST_WGMMA:
      if (w->counting) walk_product(w, s);
      break;
    case NEST_SHFL: set_unknown(w, s); /* fall through */
    default:
      if (w->counting) walk_together(w, s);
  }
}

/* A walk that takes too long ends early: what it has counted has to do. */
static void walk_block(Walk *w, const NestBlock *b) {
  for (const NestStmt *s = b->first; s && w->steps < STEPS_MAX; s = s->next) {
    w->steps++;
    walk_stmt(w, s);
  }
}

void walk_warp(Walk *w, int warp) {
  w->warp = warp;
  w->weight = 1;
  w->steps = w->depth = 0;
  w->time = w->free_tensor = w->free_special = w->free_alu = 0;
  w->copies = w->products = 0;
  w->ngroups = w->nproducts = 0;
  w->loaded = 0;
  memset(w->ready, 0, w->registers * sizeof *w->ready);
  for (uint32_t i = 0; i < w->registers; i++) w->known[i] = false;
  for (uint32_t i = 0; i < w->nest->nparams; i++) {
    w->known[w->offset[w->nest->params[i]->id]] = w->given[i];
  }
  w->counts.rounds += 1;
  walk_block(w, w->nest->body);
}
