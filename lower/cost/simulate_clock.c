/* The cost of statements in a simulation: instructions for the units of a processor, and time on
 * the clock of one warp that has the processor for itself. */
#include <string.h>

#include "lower/cost/simulate.h"
#include "lower/target/atoms.h"

/* Clocks until a result can be used, and how long a unit is busy with a warp's instruction. */
enum {
  ARITHMETIC_LATENCY = 5,
  SPECIAL_LATENCY = 22,
  SHUFFLE_LATENCY = 25,
  BARRIER_LATENCY = 30,
  PRODUCT_LATENCY = 33,
  GROUP_LATENCY = 60, /* a warpgroup's products until the wait after them returns */
  MBARRIER_WAIT = 70, /* for a phase that is over */
  ALU_BUSY = 2,
  SPECIAL_BUSY = 8
};
static const double SYNCHRONOUS_SHARE = 0.62; /* of Hopper's rate, that MMA gets */
static const double INTEGER_DIVISION = 20;

/* ---- operands ---- */

int64_t sim_affine(const Simulation *sim, const Affine *a) {
  uint64_t v = (uint64_t)a->c;
  for (int i = 0; i < a->n; i++)
    v += (uint64_t)a->t[i].coef * (uint64_t)sim->index[a->t[i].index->id];
  return (int64_t)v;
}

uint32_t sim_register(const Simulation *sim, const Ref *r) {
  uint32_t at = sim->offset[r->var->id];
  return r->sub.n ? at + (uint32_t)sim_affine(sim, &r->sub) : at + (uint32_t)r->sub.c;
}

bool sim_operand(const Simulation *sim, const Ref *r, int n, int64_t out[SIM_LANES]) {
  if (r->kind == REF_AFFINE) {
    int64_t v = sim_affine(sim, &r->sub);
    for (int l = 0; l < n; l++) out[l] = v;
    return true;
  }
  if (r->kind != REF_VAR || !sim_is_integer(sim, r->var)) return false;
  uint32_t at = sim_register(sim, r);
  if (!sim->known[at]) return false;
  memcpy(out, sim->values[at], (size_t)n * sizeof *out);
  return true;
}

static double ready_of(const Simulation *sim, const Ref *r, uint32_t n) {
  double latest = 0;
  if (r->kind != REF_VAR) return 0;
  uint32_t at = sim_register(sim, r);
  for (uint32_t i = 0; i < n; i++) latest = sim_later(latest, sim->ready[at + i]);
  return latest;
}

double sim_start(const Simulation *sim, const NestStmt *s) {
  double start = sim->time;
  uint32_t n = s->code == NEST_ST || s->code == NEST_MOV ? (uint32_t)nest_int(s, NA_n, 1) : 1;
  for (uint32_t i = 0; i < s->nsrcs; i++) start = sim_later(start, ready_of(sim, &s->srcs[i], n));
  for (uint32_t i = 0; i < s->nmems; i++)
    start = sim_later(start, ready_of(sim, &s->mems[i].base, 1));
  return sim_later(start, ready_of(sim, &s->guard, 1));
}

void sim_results(Simulation *sim, const NestStmt *s, uint32_t n, double when) {
  if (!s->ndsts || s->dsts[0].kind != REF_VAR) return;
  uint32_t at = sim_register(sim, &s->dsts[0]);
  for (uint32_t i = 0; i < n; i++) sim->ready[at + i] = (float)when;
}

/* Warps of the program that take turns at the units of one of them, and at issuing: they do the
 * same at the same time. */
double sim_sharers(const Simulation *sim) {
  double n = sim->nest->warps / (double)WARPGROUP;
  return n > 1 ? n : 1;
}

/* ---- elementwise ---- */

/* Instructions of one element. */
typedef struct {
  double f32, alu, special, convert;
  double flops;
} Cost;

static bool is_number_ref(const Ref *r) {
  return r->kind == REF_FLOAT || (r->kind == REF_AFFINE && r->sub.n == 0);
}

static Cost float_cost(const NestStmt *s) {
  switch (s->op) {
    case TILE_ADD:
    case TILE_SUB:
    case TILE_MUL: return (Cost){.f32 = 1, .flops = 1};
    case TILE_FMA: return (Cost){.f32 = 1, .flops = 2};
    case TILE_NEG:
    case TILE_ABS: return (Cost){0}; /* a modifier of its user's operand */
    case TILE_DIV: return (Cost){.f32 = 5, .special = 1, .flops = 1};
    case TILE_DIV_RN:
    case TILE_SQRT_RN: return (Cost){.f32 = 9, .special = 1, .flops = 1};
    case TILE_REM: return (Cost){.f32 = 12, .special = 1, .flops = 1};
    case TILE_SQRT: return (Cost){.f32 = 2, .special = 1};
    case TILE_RCP:
    case TILE_RSQRT:
    case TILE_EXP2:
    case TILE_TANH: return (Cost){.special = 1};
    case TILE_LOG2: return (Cost){.f32 = 2, .special = 1};
    case TILE_SIN:
    case TILE_COS: return (Cost){.f32 = 1, .special = 1};
    case TILE_FLOOR:
    case TILE_CEIL:
    case TILE_TRUNC:
    case TILE_RINT: return (Cost){.convert = 1};
    default: return (Cost){.alu = 1};
  }
}

static Cost cast_cost(const NestStmt *s) {
  bool from = dtype_is_float(s->type), to = dtype_is_float(s->to);
  unsigned small = dtype_bits(s->type), bits = dtype_bits(s->to);
  if (!from && !to) return (Cost){.alu = 1};
  if (from && to && bits == 16) return (Cost){.convert = 0.5}; /* two at a time */
  if (from && to && small == 16) return (Cost){.alu = 1};
  return (Cost){.convert = 2};
}

static Cost integer_cost(const NestStmt *s) {
  double words = dtype_bits(s->type) > 32 ? 2 : 1;
  bool last = s->nsrcs > 1 && is_number_ref(&s->srcs[1]);
  switch (s->op) {
    case TILE_DIV:
    case TILE_REM: return (Cost){.alu = last ? 4 : INTEGER_DIVISION * words};
    case TILE_MUL: return (Cost){.alu = words * words};
    case TILE_PTR_ADD: return (Cost){.alu = last ? 0 : 2}; /* numbers are a part of addresses */
    case TILE_SELECT: return (Cost){.alu = words};
    default: return (Cost){.alu = words};
  }
}

static Cost op_cost(const NestStmt *s) {
  if (s->op == TILE_CAST) return cast_cost(s);
  if (s->op == TILE_BITCAST || s->op == TILE_HINT) return (Cost){0};
  Cost c = dtype_is_float(s->type) ? float_cost(s) : integer_cost(s);
  if (s->type == DT_F64) c.f32 *= 2;
  return c;
}

void simulate_op(Simulation *sim, const NestStmt *s) {
  Cost c = op_cost(s);
  double issued = c.f32 + c.alu + c.special + c.convert, start = sim_start(sim, s);
  double latency = c.special > 0 ? SPECIAL_LATENCY + c.f32 : issued > 0 ? ARITHMETIC_LATENCY : 0;
  SimCounts *n = &sim->counts;
  n->issued += issued * sim->weight;
  n->f32 += c.f32 * sim->weight;
  n->alu += c.alu * sim->weight;
  n->special += c.special * sim->weight;
  n->convert += c.convert * sim->weight;
  n->f32_flops += sim->nest->lanes * c.flops * sim->weight;
  n->specials += sim->nest->lanes * c.special * sim->weight;
  double turns = sim_sharers(sim);
  if (c.special > 0) {
    start = sim_later(start, sim->free_special);
    sim->free_special = start + SPECIAL_BUSY * c.special * turns;
  } else if (c.alu + c.convert > 0) {
    start = sim_later(start, sim->free_alu);
    sim->free_alu = start + ALU_BUSY * (c.alu + c.convert) * turns;
  }
  if (issued > 0) sim->time = start + issued * turns;
  sim_results(sim, s, 1, start + latency);
}

/* ---- products ---- */

double sim_synchronous_share(const DevicePeaks *r) {
  return device_has_warpgroups(r) ? SYNCHRONOUS_SHARE : 1;
}

/* Operations of a clock of all matrix units of a processor. */
static double rate_of(const Simulation *sim, const Atom *a) {
  double rate = dtype_is_half(a->a)     ? sim->peaks->f16
                : dtype_bits(a->a) == 8 ? sim->peaks->f8
                : a->tf32               ? sim->peaks->f16 / 2
                                        : sim->peaks->f32;
  if (a->warps == 1) rate *= sim_synchronous_share(sim->peaks);
  return rate > 0 ? rate : 1;
}

static void sim_mma(Simulation *sim, const NestStmt *s, const Atom *a) {
  double flops = 2.0 * a->m * a->n * a->k, busy = flops / (rate_of(sim, a) / WARPGROUP);
  double start = sim_later(sim_start(sim, s), sim->free_tensor);
  sim->counts.issued += sim->weight;
  sim->counts.tensor += sim->weight * busy / WARPGROUP;
  sim->counts.tensor_flops += sim->weight * flops;
  sim->time = start + 1;
  sim->free_tensor = start + busy * sim_sharers(sim);
  sim_results(sim, s, (uint32_t)atom_registers(a, 2), start + PRODUCT_LATENCY);
}

/* A warpgroup's.  Its units read B, and A unless it is in registers, from shared memory. */
static void sim_wgmma(Simulation *sim, const NestStmt *s, const Atom *a) {
  double columns = (double)nest_int(s, NA_columns, a->n), bytes = dtype_bytes(a->a);
  double flops = 2.0 * a->m * columns * a->k, busy = flops / rate_of(sim, a);
  double read = columns * a->k * bytes + (s->srcs[0].kind == REF_NONE ? a->m * a->k * bytes : 0);
  double start = sim_later(sim_start(sim, s), sim->free_tensor);
  enum { SHARED_BYTES = 128 };
  sim->counts.issued += sim->weight;
  sim->counts.tensor += sim->weight * busy / WARPGROUP;
  sim->counts.tensor_flops += sim->weight * flops / WARPGROUP;
  sim->counts.operands += sim->weight * read / WARPGROUP;
  sim->time += 2;
  sim->free_tensor =
      sim_later(start, sim->free_tensor) + sim_later(busy, read / SHARED_BYTES) * sim_sharers(sim);
  sim->products = sim->free_tensor + GROUP_LATENCY;
}

void simulate_product(Simulation *sim, const NestStmt *s) {
  const Atom *a = atom_find(nest_str(s, NA_atom, ""));
  if (!a) return;
  if (s->code == NEST_MMA) sim_mma(sim, s, a);
  else sim_wgmma(sim, s, a);
}

/* ---- threads together ---- */

static void commit(double *groups, int *n, double when) {
  if (*n == SIM_GROUPS) {
    for (int i = 1; i < SIM_GROUPS; i++) groups[i - 1] = groups[i];
    (*n)--;
  }
  groups[(*n)++] = when;
}

/* Until at most `open` of the groups are not done. */
static void wait_for_products(Simulation *sim, int64_t open) {
  for (int i = 0; i < sim->nproducts - (int)open; i++)
    sim->time = sim_later(sim->time, sim->product_groups[i]);
}

static void wait_for_copies(Simulation *sim, int64_t open) {
  double before = sim->time, done = 0;
  for (int i = 0; i < sim->ngroups - (int)open; i++) done = sim_later(done, sim->groups[i]);
  if (done <= 0) return;
  sim->time = sim_later(before, done);
  sim->waits += sim->weight;
  sim->early += sim->weight * (sim->time - done);
}

static void sim_shuffle(Simulation *sim, const NestStmt *s) {
  double start = sim_start(sim, s);
  sim->counts.issued += sim->weight;
  sim->counts.shuffle += sim->weight;
  sim->time = start + sim_sharers(sim);
  sim_results(sim, s, 1, start + SHUFFLE_LATENCY);
}

/* Boxes that were copied since the last such statement are a group; those of all slots but the one
 * that is filled, and the one that is read, may be open.  A thread that waits before it copies has
 * nothing to wait for: all warps are as far. */
static void sim_mbarrier(Simulation *sim, const NestStmt *s) {
  int slots = s->mems[0].buffer->slots;
  sim->counts.issued += sim->weight;
  if (s->code == NEST_MBAR_WAIT && s->guard.kind) return;
  bool boxes = !sim->ngroups || sim->copies > sim->groups[sim->ngroups - 1];
  if (sim->copies > 0 && boxes) commit(sim->groups, &sim->ngroups, sim->copies);
  if (s->code != NEST_MBAR_WAIT) return;
  sim->time += MBARRIER_WAIT;
  wait_for_copies(sim, slots > 2 ? slots - 2 : 0);
}

void simulate_sync(Simulation *sim, const NestStmt *s) {
  int64_t open = nest_int(s, NA_groups, 0);
  switch (s->code) {
    case NEST_SHFL: sim_shuffle(sim, s); break;
    case NEST_CP_COMMIT: commit(sim->groups, &sim->ngroups, sim->copies); break;
    case NEST_MBAR_EXPECT:
    case NEST_MBAR_WAIT: sim_mbarrier(sim, s); break;
    case NEST_CP_WAIT: wait_for_copies(sim, open); break;
    case NEST_MMA_COMMIT: commit(sim->product_groups, &sim->nproducts, sim->products); break;
    case NEST_MMA_WAIT: wait_for_products(sim, open); break;
    case NEST_CLUSTER_WAIT:
    case NEST_EXCHANGE:
    case NEST_BAR:
      sim->counts.issued += sim->weight;
      sim->counts.barriers += sim->weight;
      sim->time += sim->nest->warps > 1 ? BARRIER_LATENCY : 1;
      break;
    default: sim->counts.issued += sim->weight;
  }
}
