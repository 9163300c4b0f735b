/* What statements cost in the model's walk: instructions for the units of a processor, and time on
 * the clock of one warp that has the processor for itself. */
#include "lower/cost/walk.h"
#include "lower/target/atoms.h"

/* Clocks until a result can be used, and how long a unit is busy with a warp's instruction. */
enum {
  ARITHMETIC_LATENCY = 5,
  SPECIAL_LATENCY = 22,
  SHUFFLE_LATENCY = 25,
  BARRIER_LATENCY = 30,
  PRODUCT_LATENCY = 33,
  GROUP_LATENCY = 60, /* a warpgroup's products until the wait behind them returns */
  ALU_BUSY = 2,
  SPECIAL_BUSY = 8
};
static const double SYNCHRONOUS_SHARE = 0.62; /* of Hopper's rate, that MMA gets */
static const double INTEGER_DIVISION = 20;

/* ---- operands ---- */

static double ready_of(const Walk *w, const Ref *r, uint32_t n) {
  double latest = 0;
  if (r->kind != REF_VAR) return 0;
  uint32_t at = walk_register(w, r);
  for (uint32_t i = 0; i < n; i++) latest = walk_later(latest, w->ready[at + i]);
  return latest;
}

double walk_start(const Walk *w, const NestStmt *s) {
  double start = w->time;
  uint32_t n = s->code == NEST_ST || s->code == NEST_MOV ? (uint32_t)nest_int(s, NA_n, 1) : 1;
  for (uint32_t i = 0; i < s->nsrcs; i++) start = walk_later(start, ready_of(w, &s->srcs[i], n));
  for (uint32_t i = 0; i < s->nmems; i++)
    start = walk_later(start, ready_of(w, &s->mems[i].base, 1));
  return walk_later(start, ready_of(w, &s->guard, 1));
}

void walk_results(Walk *w, const NestStmt *s, uint32_t n, double when) {
  if (!s->ndsts || s->dsts[0].kind != REF_VAR) return;
  uint32_t at = walk_register(w, &s->dsts[0]);
  for (uint32_t i = 0; i < n; i++) w->ready[at + i] = (float)when;
}

/* Warps of the program that take turns at the units of one of them, and at issuing: they do the
 * same at the same time. */
double walk_sharers(const Walk *w) {
  double n = w->nest->warps / (double)WARPGROUP;
  return n > 1 ? n : 1;
}

/* ---- elementwise ---- */

/* Instructions of one element. */
typedef struct {
  double f32, alu, special, convert;
  double flops;
} Cost;

static bool is_number(const Ref *r) {
  return r->kind == REF_FLOAT || (r->kind == REF_AFFINE && r->sub.n == 0);
}

static Cost float_cost(const NestStmt *s) {
  switch (s->op) {
    case TILE_ADD:
    case TILE_SUB:
    case TILE_MUL: return (Cost){.f32 = 1, .flops = 1};
    case TILE_FMA: return (Cost){.f32 = 1, .flops = 2};
    case TILE_NEG:
    case TILE_ABS: return (Cost){0}; /* a part of what reads it */
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
  bool last = s->nsrcs > 1 && is_number(&s->srcs[1]);
  switch (s->op) {
    case TILE_DIV:
    case TILE_REM: return (Cost){.alu = last ? 4 : INTEGER_DIVISION * words};
    case TILE_MUL: return (Cost){.alu = words * words};
    case TILE_PTR_ADD: return (Cost){.alu = last ? 0 : 2}; /* numbers are a part of addresses */
    case TILE_SELECT: return (Cost){.alu = words};
    default: return (Cost){.alu = words};
  }
}

static Cost cost_of(const NestStmt *s) {
  if (s->op == TILE_CAST) return cast_cost(s);
  if (s->op == TILE_BITCAST || s->op == TILE_HINT) return (Cost){0};
  Cost c = dtype_is_float(s->type) ? float_cost(s) : integer_cost(s);
  if (s->type == DT_F64) c.f32 *= 2;
  return c;
}

void walk_op(Walk *w, const NestStmt *s) {
  Cost c = cost_of(s);
  double issued = c.f32 + c.alu + c.special + c.convert, start = walk_start(w, s);
  double latency = c.special > 0 ? SPECIAL_LATENCY + c.f32 : issued > 0 ? ARITHMETIC_LATENCY : 0;
  WalkCounts *n = &w->counts;
  n->issued += issued * w->weight;
  n->f32 += c.f32 * w->weight;
  n->alu += c.alu * w->weight;
  n->special += c.special * w->weight;
  n->convert += c.convert * w->weight;
  n->f32_flops += w->nest->lanes * c.flops * w->weight;
  n->specials += w->nest->lanes * c.special * w->weight;
  double turns = walk_sharers(w);
  if (c.special > 0) {
    start = walk_later(start, w->free_special);
    w->free_special = start + SPECIAL_BUSY * c.special * turns;
  } else if (c.alu + c.convert > 0) {
    start = walk_later(start, w->free_alu);
    w->free_alu = start + ALU_BUSY * (c.alu + c.convert) * turns;
  }
  if (issued > 0) w->time = start + issued * turns;
  walk_results(w, s, 1, start + latency);
}

/* ---- products ---- */

/* Operations of a clock of all matrix units of a processor. */
static double rate_of(const Walk *w, const Atom *a) {
  double rate = dtype_bits(a->a) == 16  ? w->rates->f16
                : dtype_bits(a->a) == 8 ? w->rates->f8
                : a->tf32               ? w->rates->f16 / 2
                                        : w->rates->f32;
  if (a->warps == 1 && w->rates->sm == 90) rate *= SYNCHRONOUS_SHARE;
  return rate > 0 ? rate : 1;
}

static void walk_mma(Walk *w, const NestStmt *s, const Atom *a) {
  double flops = 2.0 * a->m * a->n * a->k, busy = flops / (rate_of(w, a) / WARPGROUP);
  double start = walk_later(walk_start(w, s), w->free_tensor);
  w->counts.issued += w->weight;
  w->counts.tensor += w->weight * busy / WARPGROUP;
  w->counts.tensor_flops += w->weight * flops;
  w->time = start + 1;
  w->free_tensor = start + busy * walk_sharers(w);
  walk_results(w, s, (uint32_t)atom_registers(a, 2), start + PRODUCT_LATENCY);
}

/* A warpgroup's.  Its units read B, and A unless it lies in registers, from shared memory. */
static void walk_wgmma(Walk *w, const NestStmt *s, const Atom *a) {
  double columns = (double)nest_int(s, NA_columns, a->n), bytes = dtype_bytes(a->a);
  double flops = 2.0 * a->m * columns * a->k, busy = flops / rate_of(w, a);
  double read = columns * a->k * bytes + (s->srcs[0].kind == REF_NONE ? a->m * a->k * bytes : 0);
  double start = walk_later(walk_start(w, s), w->free_tensor);
  enum { SHARED_BYTES = 128 };
  w->counts.issued += w->weight;
  w->counts.tensor += w->weight * busy / WARPGROUP;
  w->counts.tensor_flops += w->weight * flops / WARPGROUP;
  w->counts.operands += w->weight * read / WARPGROUP;
  w->time += 2;
  w->free_tensor =
      walk_later(start, w->free_tensor) + walk_later(busy, read / SHARED_BYTES) * walk_sharers(w);
  w->products = w->free_tensor + GROUP_LATENCY;
}

void walk_product(Walk *w, const NestStmt *s) {
  const Atom *a = atom_find(nest_str(s, NA_atom, ""));
  if (!a) return;
  if (s->code == NEST_MMA) walk_mma(w, s, a);
  else walk_wgmma(w, s, a);
}

/* ---- threads together ---- */

static void commit(double *groups, int *n, double when) {
  if (*n == WALK_GROUPS) {
    for (int i = 1; i < WALK_GROUPS; i++) groups[i - 1] = groups[i];
    (*n)--;
  }
  groups[(*n)++] = when;
}

/* Until at most `open` of the groups are not done. */
static void wait(Walk *w, const double *groups, int *n, int64_t open) {
  int done = *n - (int)open;
  for (int i = 0; i < done; i++) w->time = walk_later(w->time, groups[i]);
}

static void walk_shuffle(Walk *w, const NestStmt *s) {
  double start = walk_start(w, s);
  w->counts.issued += w->weight;
  w->counts.shuffle += w->weight;
  w->time = start + walk_sharers(w);
  walk_results(w, s, 1, start + SHUFFLE_LATENCY);
}

void walk_together(Walk *w, const NestStmt *s) {
  int64_t open = nest_int(s, NA_groups, 0);
  switch (s->code) {
    case NEST_SHFL: walk_shuffle(w, s); break;
    case NEST_CP_COMMIT: commit(w->groups, &w->ngroups, w->copies); break;
    case NEST_CP_WAIT: wait(w, w->groups, &w->ngroups, open); break;
    case NEST_MMA_COMMIT: commit(w->product_groups, &w->nproducts, w->products); break;
    case NEST_MMA_WAIT: wait(w, w->product_groups, &w->nproducts, open); break;
    case NEST_BAR:
      w->counts.issued += w->weight;
      w->counts.barriers += w->weight;
      w->time += w->nest->warps > 1 ? BARRIER_LATENCY : 1;
      break;
    default: w->counts.issued += w->weight;
  }
}
