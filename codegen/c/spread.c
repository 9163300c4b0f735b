/* How the value of each variable differs between lanes: a forward data flow that looks at no
 * order, so that a variable has one form in all of the kernel.
 *
 * Values only go down: unseen, linear of one step, first, vector.  All start unseen, which is
 * optimistic: a pointer that a loop advances by 64 keeps its step. */
#include <string.h>

#include "codegen/c/c.h"

static const Spread vector = {.kind = SPREAD_VECTOR};
static const Spread same = {.kind = SPREAD_LINEAR};
static const Spread unseen = {.kind = SPREAD_UNSEEN};
static const Spread first = {.kind = SPREAD_FIRST};

/* Steps past this are no addresses of anything; keeping them small keeps them from overflowing. */
static const int64_t most_step = INT64_C(1) << 40, most_scale = INT64_C(1) << 22;

static Spread linear_spread(int64_t step) {
  if (step > most_step || step < -most_step) return vector;
  return (Spread){.kind = SPREAD_LINEAR, .step = step};
}

static Spread constant_spread(int64_t v) {
  return (Spread){.kind = SPREAD_LINEAR, .known = true, .start = v};
}

static bool is_scalar(Spread s) { return s.kind == SPREAD_LINEAR; }

/* ---- vectors whose lanes differ by constants ---- */

static bool has_lanes(Spread s) { return s.kind == SPREAD_LINEAR || s.lanes; }

static int64_t lane_offset(Spread s, int lane) { return s.lanes ? s.lanes[lane] : s.step * lane; }

static bool same_lanes(const int64_t *a, const int64_t *b, int lanes) {
  return a == b || (a && b && !memcmp(a, b, (size_t)lanes * sizeof *a));
}

/* The vector of `known` or unknown lane 0 whose lanes are `more` than that. */
static Spread patterned(const Gen *g, Spread first, const int64_t *more) {
  int64_t *kept = ARENA_ARRAY(g->arena, int64_t, g->nest->lanes);
  memcpy(kept, more, (size_t)g->nest->lanes * sizeof *kept);
  return (Spread){
      .kind = SPREAD_VECTOR, .known = first.known, .start = first.start, .lanes = kept};
}

static Spread meet_spreads(Spread a, Spread b, int lanes) {
  if (a.kind == SPREAD_UNSEEN) return b;
  if (b.kind == SPREAD_UNSEEN) return a;
  if (is_scalar(a) && is_scalar(b)) {
    if (a.step != b.step) return vector;
    a.known = a.known && b.known && a.start == b.start;
    if (!a.known) a.start = 0;
    return a;
  }
  bool count = (a.kind == SPREAD_FIRST || c_uniform(a)) && (b.kind == SPREAD_FIRST || c_uniform(b));
  if (count) return first;
  bool equal = a.kind == b.kind && a.kind == SPREAD_VECTOR && same_lanes(a.lanes, b.lanes, lanes);
  Spread r = vector;
  if (!equal) return r;
  r.lanes = a.lanes;
  r.known = a.known && b.known && a.start == b.start;
  if (r.known) r.start = a.start;
  return r;
}

Spread c_ref_spread(const Gen *g, const Ref *r) {
  if (r->kind == REF_VAR) return g->spread[r->var->id];
  if (r->kind == REF_AFFINE && !r->sub.n) return constant_spread(r->sub.c);
  return same;
}

Spread c_mem_spread(const Gen *g, const Mem *m) {
  return m->base.kind ? c_ref_spread(g, &m->base) : same;
}

/* ---- ops ---- */

static bool dtype_holds(DType t, int64_t v) {
  unsigned bits = dtype_bits(t);
  if (bits == 64) return true;
  if (dtype_is_signed(t)) return v >= -(INT64_C(1) << (bits - 1)) && v < INT64_C(1) << (bits - 1);
  return v >= 0 && v < INT64_C(1) << bits;
}

/* All lanes are known, and none of them wraps in t. */
static bool known_within(const Gen *g, Spread s, DType t) {
  int64_t last;
  for (int l = 0; s.lanes && s.known && l < g->nest->lanes; l++)
    if (__builtin_add_overflow(s.start, s.lanes[l], &last) || !dtype_holds(t, last)) return false;
  if (!s.known || !dtype_holds(t, s.start)) return false;
  if (__builtin_mul_overflow(s.step, (int64_t)g->nest->lanes - 1, &last)) return false;
  return !__builtin_add_overflow(last, s.start, &last) && dtype_holds(t, last);
}

/* x + sign * scale * y */
static Spread add_spreads(Spread x, Spread y, int64_t scale) {
  int64_t part, start;
  if (__builtin_mul_overflow(y.step, scale, &part)) return vector;
  Spread r = linear_spread(x.step + part);
  r.known = x.known && y.known && !__builtin_mul_overflow(y.start, scale, &start) &&
            !__builtin_add_overflow(x.start, start, &start);
  if (r.known) r.start = start;
  return r;
}

static Spread scale_spread(Spread x, int64_t by) { return add_spreads(same, x, by); }

static Spread multiply_spreads(Spread x, Spread y) {
  if (c_uniform(y) && y.known) return scale_spread(x, y.start);
  if (c_uniform(x) && x.known) return scale_spread(y, x.start);
  return vector;
}

/* Widening keeps a linear value if no lane wraps: where all are known, or where the value only
 * feeds an address, whose signed arithmetic is done as if in 64 bits (lang/tile/tile_ops.h). */
static Spread spread_of_cast(const Gen *g, const NestStmt *s, Spread x) {
  if (!dtype_is_int(s->type) || !dtype_is_int(s->to) || s->to == DT_I1) return vector;
  if (dtype_bits(s->to) <= dtype_bits(s->type)) return linear_spread(x.step);
  if (known_within(g, x, s->type)) return x;
  bool address = dtype_is_signed(s->type) && g->address_only[s->dsts[0].var->id];
  return address ? linear_spread(x.step) : vector;
}

static Spread spread_of_arithmetic(const Gen *g, const NestStmt *s, const Spread x[3]) {
  switch (s->op) {
    case TILE_ADD: return add_spreads(x[0], x[1], 1);
    case TILE_SUB: return add_spreads(x[0], x[1], -1);
    case TILE_MUL: return multiply_spreads(x[0], x[1]);
    case TILE_NEG: return scale_spread(x[0], -1);
    case TILE_HINT: return x[0];
    case TILE_CAST: return spread_of_cast(g, s, x[0]);
    case TILE_BITCAST:
      return dtype_is_float(s->to) || s->to == DT_I1 ? vector : linear_spread(x[0].step);
    case TILE_PTR_ADD: {
      int64_t bytes = dtype_bytes(s->elem);
      return add_spreads(x[0], x[1], bytes ? bytes : 1);
    }
    case TILE_SHL: {
      bool by = c_uniform(x[1]) && x[1].known && x[1].start >= 0 && x[1].start < 31;
      return by ? scale_spread(x[0], INT64_C(1) << x[1].start) : vector;
    }
    default: return vector;
  }
}

/* The op on constants, one a lane: quotients and remainders of small numbers by powers of two. */
static bool divide_lane(TileCode op, int64_t x, int64_t by, int64_t *out) {
  if (x < 0 || x > INT32_MAX || by < 0) return false;
  switch (op) {
    case TILE_SHR: *out = by < 31 ? x >> by : 0; return by < 31;
    case TILE_AND: *out = x & by; return true;
    case TILE_DIV: *out = by ? x / by : 0; return by > 0;
    case TILE_REM: *out = by ? x % by : 0; return by > 0;
    default: return false;
  }
}

static Spread divided_lanes(const Gen *g, const NestStmt *s, Spread x, Spread by) {
  int64_t all[MAX_LANES], start = 0;
  if (!known_within(g, x, s->type) || !c_uniform(by) || !by.known) return vector;
  for (int l = 0; l < g->nest->lanes; l++) {
    if (!divide_lane(s->op, x.start + lane_offset(x, l), by.start, &all[l])) return vector;
    if (l == 0) start = all[0];
    all[l] -= start;
  }
  return patterned(g, constant_spread(start), all);
}

/* x + sign * scale * y where one of them is a vector whose lanes are known. */
static Spread added_lanes(const Gen *g, Spread x, Spread y, int64_t scale) {
  int64_t all[MAX_LANES];
  Spread first = add_spreads(x, y, scale);
  for (int l = 0; l < g->nest->lanes; l++) {
    int64_t a = lane_offset(x, l), b = lane_offset(y, l);
    bool small = a < most_step && a > -most_step && b < most_step && b > -most_step;
    if (!small || scale > most_scale || scale < -most_scale) return vector;
    all[l] = a + scale * b;
  }
  return patterned(g, first, all);
}

/* An op whose result is a vector, of operands whose lanes are known. */
static Spread spread_of_lanes(const Gen *g, const NestStmt *s, const Spread x[3]) {
  if (g->nest->lanes > MAX_LANES) return vector;
  switch (s->op) {
    case TILE_ADD: return added_lanes(g, x[0], x[1], 1);
    case TILE_SUB: return added_lanes(g, x[0], x[1], -1);
    case TILE_MUL:
      return c_uniform(x[1]) && x[1].known ? added_lanes(g, same, x[0], x[1].start) : vector;
    case TILE_PTR_ADD: {
      int64_t bytes = dtype_bytes(s->elem);
      return added_lanes(g, x[0], x[1], bytes ? bytes : 1);
    }
    case TILE_CAST: {
      Spread cast = spread_of_cast(g, s, x[0]);
      return cast.kind == SPREAD_LINEAR ? patterned(g, cast, x[0].lanes) : cast;
    }
    case TILE_SHR:
    case TILE_AND:
    case TILE_DIV:
    case TILE_REM: return divided_lanes(g, s, x[0], x[1]);
    default: return vector;
  }
}

/* x + l < n, for lanes l: the first n - x of them.  Unsigned ones may pass from the largest number
 * to 0 in between, as in (i - 1).to(uint32) < n, which asks for both limits of i - 1. */
static Spread spread_of_comparison(const NestStmt *s, const Spread x[3]) {
  if (!is_scalar(x[0]) || !is_scalar(x[1])) return vector;
  if (!dtype_is_int(s->type) || dtype_bits(s->type) < 32) return vector;
  if (!dtype_is_signed(s->type) && !(x[0].known && x[1].known)) return vector;
  bool up = x[0].step == 1 && x[1].step == 0, down = x[0].step == 0 && x[1].step == 1;
  if (up && (s->op == TILE_LT || s->op == TILE_LE)) return first;
  if (down && (s->op == TILE_GT || s->op == TILE_GE)) return first;
  bool at_start = up && x[0].known && x[1].known && x[0].start == x[1].start;
  return s->op == TILE_EQ && at_start ? first : vector;
}

static bool is_lane_count(Spread s) { return s.kind == SPREAD_FIRST || c_uniform(s); }

static Spread op(const Gen *g, const NestStmt *s) {
  Spread x[3] = {same, same, same};
  bool uniform = true, scalars = true;
  for (uint32_t i = 0; i < s->nsrcs && i < 3; i++) {
    x[i] = c_ref_spread(g, &s->srcs[i]);
    if (x[i].kind == SPREAD_UNSEEN) return unseen;
    uniform = uniform && c_uniform(x[i]);
    scalars = scalars && is_scalar(x[i]);
  }
  bool integers = dtype_is_int(s->type) || s->type == DT_PTR;
  if (s->op >= TILE_LT && s->op <= TILE_NE) return uniform ? same : spread_of_comparison(s, x);
  if (s->type == DT_I1 && s->nsrcs == 2 && (s->op == TILE_AND || s->op == TILE_OR) && !uniform)
    return is_lane_count(x[0]) && is_lane_count(x[1]) ? first : vector;
  if (s->op == TILE_SELECT && c_uniform(x[0])) return meet_spreads(x[1], x[2], g->nest->lanes);
  bool plain = s->type != DT_I1 && integers;
  Spread r = plain && scalars ? spread_of_arithmetic(g, s, x) : vector;
  if (plain && !uniform && r.kind == SPREAD_VECTOR && has_lanes(x[0]) && has_lanes(x[1]))
    r = spread_of_lanes(g, s, x);
  return uniform && r.kind == SPREAD_VECTOR ? same : r;
}

/* ---- statements ---- */

/* Lane 0's value of a source that is the same for all: a shuffle by index. */
static Spread spread_of_shuffle(const Gen *g, const NestStmt *s) {
  Spread x = c_ref_spread(g, &s->srcs[0]);
  if (x.kind == SPREAD_UNSEEN || c_uniform(x)) return x;
  bool index = s->nsrcs > 1 && c_uniform(c_ref_spread(g, &s->srcs[1]));
  return index && !strcmp(nest_str(s, NA_mode, ""), "idx") ? same : vector;
}

Spread c_stmt_spread(const Gen *g, const NestStmt *s) {
  switch (s->code) {
    case NEST_OP: return op(g, s);
    case NEST_MOV: return c_ref_spread(g, &s->srcs[0]);
    case NEST_PID:
    case NEST_NPROG:
    case NEST_SPECIAL:
    case NEST_FOR: return same;
    case NEST_WARP: return constant_spread(0);
    case NEST_LANE: return (Spread){.kind = SPREAD_LINEAR, .known = true, .step = 1};
    case NEST_SHFL: return spread_of_shuffle(g, s);
    case NEST_LD: {
      Spread at = c_mem_spread(g, &s->mems[0]);
      if (at.kind == SPREAD_UNSEEN) return unseen;
      return c_uniform(at) ? same : vector;
    }
    default: return vector;
  }
}

static bool spread_result(Gen *g, const NestStmt *s, uint32_t i) {
  const NestVar *v = s->dsts[i].var;
  Spread *to = &g->spread[v->id], r = c_stmt_spread(g, s);
  if (v->uniform || v->is_param) r = same;
  else if (s->guard.kind) {
    Spread guard = c_ref_spread(g, &s->guard);
    if (guard.kind == SPREAD_UNSEEN) return false;
    if (!c_uniform(guard)) r = vector;
  }
  /* A mask of which all lanes agree is a count as well, but pointers and numbers are not. */
  Spread met = meet_spreads(*to, r, g->nest->lanes);
  if (met.kind == SPREAD_FIRST && v->dtype != DT_I1) met = vector;
  bool changed = met.kind != to->kind || met.known != to->known || met.step != to->step ||
                 met.start != to->start || !same_lanes(met.lanes, to->lanes, g->nest->lanes);
  *to = met;
  return changed;
}

static bool spread_stmt(Gen *g, const NestStmt *s) {
  bool changed = false;
  for (uint32_t i = 0; i < s->ndsts; i++) changed |= spread_result(g, s, i);
  return changed;
}

enum { STATEMENT_STEPS = 3 }; /* of a visit, in a round of many */

static bool spread_block(Gen *g, const NestBlock *b) {
  bool changed = false;
  for (const NestStmt *s = b->first; s; s = s->next) {
    arena_work(g->arena, STATEMENT_STEPS);
    changed |= spread_stmt(g, s);
    for (uint32_t i = 0; i < s->nregions; i++) changed |= spread_block(g, s->regions[i]);
  }
  return changed;
}

/* ---- what feeds addresses only ---- */

static bool carries_values(const NestStmt *s) {
  if (s->code == NEST_MOV) return true;
  if (s->code != NEST_OP) return false;
  switch (s->op) {
    case TILE_ADD:
    case TILE_SUB:
    case TILE_MUL:
    case TILE_PTR_ADD: return true;
    case TILE_CAST: return dtype_bits(s->to) >= dtype_bits(s->type);
    default: return false;
  }
}

static bool forbid(Gen *g, const Ref *r) {
  if (r->kind != REF_VAR || !g->address_only[r->var->id]) return false;
  g->address_only[r->var->id] = false;
  return true;
}

static bool address_block(Gen *g, const NestBlock *b) {
  bool changed = false;
  for (const NestStmt *s = b->last; s; s = s->prev) { /* uses first */
    arena_work(g->arena, STATEMENT_STEPS);
    bool good = s->ndsts && carries_values(s) && g->address_only[s->dsts[0].var->id];
    if (s->ndsts && s->dsts[0].var->dtype == DT_PTR && carries_values(s)) good = true;
    for (uint32_t i = 0; i < s->nsrcs && !good; i++) changed |= forbid(g, &s->srcs[i]);
    changed |= forbid(g, &s->guard);
    for (uint32_t i = 0; i < s->nregions; i++) changed |= address_block(g, s->regions[i]);
  }
  return changed;
}

/* ---- what is computed of memory ---- */

static bool is_read(const Gen *g, const Ref *r) {
  return r->kind == REF_VAR && g->read[r->var->id];
}

static bool is_made_of_memory(const Gen *g, const NestStmt *s) {
  switch (s->code) {
    case NEST_OP:
    case NEST_MOV:
      for (uint32_t i = 0; i < s->nsrcs; i++)
        if (is_read(g, &s->srcs[i])) return true;
      return false;
    case NEST_PID:
    case NEST_NPROG:
    case NEST_SPECIAL:
    case NEST_FOR:
    case NEST_WARP:
    case NEST_LANE: return false;
    default: return true;
  }
}

static bool read_block(Gen *g, const NestBlock *b) {
  bool changed = false;
  for (const NestStmt *s = b->first; s; s = s->next) {
    arena_work(g->arena, STATEMENT_STEPS);
    for (uint32_t i = 0; i < s->ndsts; i++) {
      bool *to = &g->read[s->dsts[i].var->id];
      if (*to || !is_made_of_memory(g, s)) continue;
      changed = *to = true;
    }
    for (uint32_t i = 0; i < s->nregions; i++) changed |= read_block(g, s->regions[i]);
  }
  return changed;
}

void c_find_spreads(Gen *g) {
  uint32_t n = g->nest->nvars;
  g->read = ARENA_ARRAY(g->arena, bool, n);
  g->spread = ARENA_ARRAY(g->arena, Spread, n);
  g->address_only = ARENA_ARRAY(g->arena, bool, n);
  for (uint32_t i = 0; i < n; i++) {
    g->address_only[i] = true;
    if (g->nest->vars[i]->uniform) g->spread[i] = same;
  }
  while (address_block(g, g->nest->body)) continue;
  while (spread_block(g, g->nest->body)) continue;
  while (read_block(g, g->nest->body)) continue;
  for (uint32_t i = 0; i < n; i++)
    if (g->spread[i].kind == SPREAD_UNSEEN) g->spread[i] = same;
}
