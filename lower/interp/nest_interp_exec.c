/* Instructions that compute, and those that move control. */
#include <string.h>

#include "lang/interp/device_print.h"
#include "lang/interp/interp.h"
#include "lang/messages.h"
#include "lower/interp/nest_interp_run.h"
#include "lower/messages.h"

/* After so many iterations of loops another warp, and another program, gets a turn. */
enum { WARP_ITERATIONS = 64, PROGRAM_ITERATIONS = 1024 };

/* ---- operands ---- */

Vec operand_vec(Warp *w, const Operand *o, uint32_t k, int row) {
  if (o->kind == OPERAND_CONST) return (Vec){o->x, 0, NULL};
  if (o->kind == OPERAND_REG) {
    uint32_t reg = operand_reg(w, o) + k;
    return (Vec){reg_lanes(w, reg), w->bad[reg], w->why[reg]};
  }
  Run *r = w->prog->run;
  Scalar v = {.i = form_value(w, &o->sub)};
  if (o->type != DT_I64 && o->type != DT_PTR) v = scalar_op(TILE_CAST, DT_I64, o->type, &v, false);
  for (uint32_t i = 0; i < r->lanes; i++) r->scratch[row][i] = v;
  return (Vec){r->scratch[row], 0, NULL};
}

uint32_t guard_lanes(Warp *w, const Inst *in) {
  uint32_t all = in->uniform ? 1 : w->prog->run->full, on = 0;
  if (!in->guard.kind) return all;
  Vec g = operand_vec(w, &in->guard, 0, 3);
  if (g.bad & all) nest_found_poison(w, in, g.why, "the guard");
  for (uint32_t i = 0; i < w->prog->run->lanes; i++) on |= (uint32_t)(g.x[i].i != 0) << i;
  return on & all & ~g.bad;
}

static void set_uniform(Warp *w, uint32_t reg, Scalar x, bool bad) {
  Scalar *to = reg_lanes(w, reg);
  for (uint32_t i = 0; i < w->prog->run->lanes; i++) to[i] = x;
  w->bad[reg] = bad ? w->prog->run->full : 0;
}

void set_reg(Warp *w, const Inst *in, uint32_t k, const Scalar *x, uint32_t lanes, uint32_t bad,
             const Inst *why) {
  if (!lanes) return;
  uint32_t reg = operand_reg(w, &in->dsts[0]) + k;
  if (bad & lanes) w->why[reg] = why;
  if (in->uniform) {
    set_uniform(w, reg, x[0], bad & 1);
    return;
  }
  Scalar *to = reg_lanes(w, reg);
  if (lanes == w->prog->run->full) {
    if (to != x) memcpy(to, x, w->prog->run->lanes * sizeof *to);
  } else {
    for (uint32_t i = 0; i < w->prog->run->lanes; i++)
      if (lanes >> i & 1) to[i] = x[i];
  }
  w->bad[reg] = (w->bad[reg] & ~lanes) | (bad & lanes);
}

void nest_exec_fence(Warp *w, const Inst *in) {
  w->fences += !strcmp(nest_str(in->stmt, NA_kind, ""), "proxy");
}

/* ---- elementwise ops ---- */

/* Lanes in which an operand that is no poison settles the result, whatever the other one is. */
static uint32_t settled_lanes(Warp *w, const Inst *in, const Vec *v) {
  uint64_t ones = UINT64_MAX >> (64 - dtype_bits(in->type));
  TileCode op = in->stmt->op;
  uint32_t lanes = 0;
  if (op != TILE_AND && op != TILE_OR) return 0;
  for (int k = 0; k < 2; k++)
    for (uint32_t i = 0; i < w->prog->run->lanes; i++) {
      uint64_t x = (uint64_t)v[k].x[i].i & ones;
      if (!(v[k].bad >> i & 1) && x == (op == TILE_AND ? 0 : ones)) lanes |= UINT32_C(1) << i;
    }
  return lanes;
}

void nest_exec_op(Warp *w, const Inst *in) {
  Run *r = w->prog->run;
  uint32_t lanes = guard_lanes(w, in), bad = 0, count = in->stmt->nsrcs;
  if (!lanes) return;
  Vec v[3] = {{0}};
  const Inst *why = NULL;
  for (uint32_t k = 0; k < count && k < 3; k++) {
    v[k] = operand_vec(w, &in->srcs[k], 0, (int)k);
    bad |= v[k].bad;
    if (v[k].bad) why = v[k].why;
  }
  if (bad && count == 2) bad &= ~settled_lanes(w, in, v);
  bool direct = !in->uniform && lanes == r->full;
  Scalar *out = direct ? reg_lanes(w, operand_reg(w, &in->dsts[0])) : r->scratch[3];
  scalar_ops(in->stmt->op, in->type, in->to, in->rtz, in->uniform ? 1 : r->lanes, out, v[0].x,
             v[1].x, v[2].x);
  set_reg(w, in, 0, out, lanes, bad, why);
}

/* A lane is as good as its condition and the chosen operand. */
void nest_exec_select(Warp *w, const Inst *in) {
  Run *r = w->prog->run;
  uint32_t lanes = guard_lanes(w, in);
  if (!lanes) return;
  Vec c = operand_vec(w, &in->srcs[0], 0, 0), x = operand_vec(w, &in->srcs[1], 0, 1);
  Vec y = operand_vec(w, &in->srcs[2], 0, 2);
  uint32_t bad = c.bad;
  for (uint32_t i = 0; i < r->lanes; i++) {
    const Vec *v = c.x[i].i ? &x : &y;
    r->scratch[3][i] = v->x[i];
    bad |= v->bad & UINT32_C(1) << i;
  }
  set_reg(w, in, 0, r->scratch[3], lanes, bad, c.bad ? c.why : x.bad ? x.why : y.why);
}

void nest_exec_ptr_add(Warp *w, const Inst *in) {
  Run *r = w->prog->run;
  uint32_t lanes = guard_lanes(w, in);
  if (!lanes) return;
  Vec p = operand_vec(w, &in->srcs[0], 0, 0), by = operand_vec(w, &in->srcs[1], 0, 1);
  for (uint32_t i = 0; i < r->lanes; i++)
    r->scratch[3][i].i = (int64_t)((uint64_t)p.x[i].i + (uint64_t)by.x[i].i * (uint64_t)in->a);
  set_reg(w, in, 0, r->scratch[3], lanes, p.bad | by.bad, p.bad ? p.why : by.why);
}

void nest_exec_undef(Warp *w, const Inst *in) {
  uint32_t lanes = guard_lanes(w, in);
  set_reg(w, in, 0, w->prog->run->scratch[3], lanes, lanes, in);
}

void nest_exec_mov(Warp *w, const Inst *in) {
  uint32_t lanes = guard_lanes(w, in);
  for (uint32_t k = 0; k < in->n && lanes; k++) {
    Vec v = operand_vec(w, &in->srcs[0], k, 0);
    set_reg(w, in, k, v.x, lanes, v.bad, v.why);
  }
}

static void set_every_lane(Warp *w, const Inst *in, int64_t i) {
  Run *r = w->prog->run;
  uint32_t lanes = guard_lanes(w, in);
  for (uint32_t k = 0; k < r->lanes; k++) r->scratch[0][k].i = i;
  set_reg(w, in, 0, r->scratch[0], lanes, 0, NULL);
}

void nest_exec_pid(Warp *w, const Inst *in) { set_every_lane(w, in, (int32_t)w->prog->id[in->a]); }

void nest_exec_nprog(Warp *w, const Inst *in) {
  set_every_lane(w, in, (int32_t)w->prog->run->grid[in->a]);
}

void nest_exec_special(Warp *w, const Inst *in) {
  memory_changed(w->prog->run->memory); /* a loop may wait for it */
  set_every_lane(w, in, interp_special_number(nest_str(in->stmt, NA_kind, ""), w->prog->id,
                                              w->prog->run->grid));
}

void nest_exec_cluster_rank(Warp *w, const Inst *in) { set_every_lane(w, in, w->block); }

void nest_exec_warp(Warp *w, const Inst *in) { set_every_lane(w, in, w->id - w->role_first); }

void nest_exec_lane(Warp *w, const Inst *in) {
  Run *r = w->prog->run;
  uint32_t lanes = guard_lanes(w, in);
  for (uint32_t i = 0; i < r->lanes; i++) r->scratch[0][i].i = i;
  set_reg(w, in, 0, r->scratch[0], lanes, 0, NULL);
}

void nest_exec_nothing(Warp *w, const Inst *in) {
  (void)w;
  (void)in;
}

/* A hint is asserted wherever its value is used, but reported once: by its text, a name. */
static void report_assert(Warp *w, const NestStmt *s) {
  Findings *to = w->prog->run->findings;
  const char *kind = nest_str(s, NA_kind, "assert"), *message = nest_str(s, NA_message, "");
  bool hint = !strcmp(kind, "hint");
  if (!nest_found(w, FOUND_FAILED_ASSERT, s->span, hint ? (const void *)message : s)) return;
  if (hint) findings_text(to, E_NEST_FALSE_HINT, message);
  else if (!strcmp(kind, "assume")) findings_text(to, E_INTERP_ASSUME);
  else findings_text(to, E_INTERP_ASSERT, message);
}

void nest_exec_assert(Warp *w, const Inst *in) {
  uint32_t lanes = guard_lanes(w, in);
  Vec c = operand_vec(w, &in->srcs[0], 0, 0);
  if (c.bad & lanes) nest_found_poison(w, in, c.why, "the asserted condition");
  for (uint32_t i = 0; i < w->prog->run->lanes; i++) {
    if (!(lanes & ~c.bad) || !(lanes >> i & 1) || (c.bad >> i & 1) || c.x[i].i) continue;
    report_assert(w, in->stmt);
  }
}

void nest_exec_print(Warp *w, const Inst *in) {
  PrintLine line;
  nest_print_line(in->stmt, &line);
  uint32_t lanes = guard_lanes(w, in);
  int32_t index[MOST_LANES][MAX_RANK];
  for (int a = 0; a < line.rank; a++) {
    Vec x = operand_vec(w, &in->srcs[a + 1], 0, 0);
    for (uint32_t i = 0; i < w->prog->run->lanes; i++) index[i][a] = (int32_t)x.x[i].i;
  }
  Vec v = {0};
  if (in->stmt->nsrcs) v = operand_vec(w, &in->srcs[0], 0, 0);
  Arena *scratch = arena_child(w->prog->run->arena);
  Text out = text_new(scratch);
  for (uint32_t i = 0; i < w->prog->run->lanes; i++) {
    if (!(lanes >> i & 1)) continue;
    out.len = 0;
    bool known = v.x && !(v.bad >> i & 1);
    print_text(&out, &line, w->prog->id, index[i], known ? &v.x[i] : NULL);
    print_write(&w->prog->run->options, &out);
  }
  arena_free(scratch);
}

/* ---- control ---- */

static void count_warp_iteration(Warp *w) {
  if (++w->iterations % WARP_ITERATIONS) return;
  w->yields = true;
  if (w->iterations % PROGRAM_ITERATIONS == 0) w->prog->yields = true;
}

void nest_exec_loop(Warp *w, const Inst *in) { w->index[in->slot] = 0; }

static int64_t loop_bound(Warp *w, const Inst *in, uint32_t i) {
  Vec v = operand_vec(w, &in->srcs[i], 0, 0);
  if (v.bad & 1) nest_found_poison(w, in, v.why, "a bound of the loop");
  return v.x[0].i;
}

/* A loop over the constants between two bounds. */
void nest_exec_bounds(Warp *w, const Inst *in) {
  int64_t lo = loop_bound(w, in, 0), hi = loop_bound(w, in, 1);
  w->index[in->slot] = lo < 0 ? 0 : lo;
  if (w->index[in->slot] >= hi || w->index[in->slot] >= in->a) w->pc = in->target;
}

void nest_exec_next(Warp *w, const Inst *in) {
  int64_t i = ++w->index[in->slot];
  if (i >= in->a || (in->stmt->nsrcs && i >= loop_bound(w, in, 1))) return;
  w->pc = in->target;
  if (in->stmt->code == NEST_SERIAL) count_warp_iteration(w);
}

static uint64_t count_trips(int64_t lo, int64_t hi, int64_t step, bool is_signed) {
  uint64_t size = step < 0 && is_signed ? 0 - (uint64_t)step : (uint64_t)step;
  if (is_signed && step < 0) return lo > hi ? ((uint64_t)lo - (uint64_t)hi - 1) / size + 1 : 0;
  bool some = is_signed ? lo < hi : (uint64_t)lo < (uint64_t)hi;
  return some ? ((uint64_t)hi - (uint64_t)lo - 1) / size + 1 : 0;
}

/* The index, in all lanes. */
static void set_index(Warp *w, const Inst *in, int64_t i) {
  DType t = in->stmt->dsts[0].var->dtype;
  uint32_t reg = operand_reg(w, &in->dsts[0]);
  set_uniform(w, reg, scalar_op(TILE_CAST, DT_I64, t, &(Scalar){.i = i}, false), false);
}

void nest_exec_for(Warp *w, const Inst *in) {
  int64_t lo = loop_bound(w, in, 0), hi = loop_bound(w, in, 1), step = loop_bound(w, in, 2);
  bool is_signed = dtype_is_signed(in->stmt->dsts[0].var->dtype);
  uint64_t trips = step ? count_trips(lo, hi, step, is_signed) : 0;
  if (!step && nest_found(w, FOUND_ZERO_STEP, in->stmt->span, in->stmt))
    findings_text(w->prog->run->findings, E_INTERP_STEP);
  if (!trips) {
    w->pc = in->target;
    return;
  }
  w->loops[in->slot] = (Loop){trips - 1, lo, step};
  set_index(w, in, lo);
}

void nest_exec_for_next(Warp *w, const Inst *in) {
  Loop *l = &w->loops[in->slot];
  if (!l->left) return;
  l->left--;
  l->index = (int64_t)((uint64_t)l->index + (uint64_t)l->step);
  set_index(w, in, l->index);
  w->pc = in->target;
  count_warp_iteration(w);
}

void nest_exec_branch(Warp *w, const Inst *in) {
  Vec c = operand_vec(w, &in->srcs[0], 0, 0);
  if (c.bad & 1) nest_found_poison(w, in, c.why, "the condition");
  if (!c.x[0].i || (c.bad & 1)) w->pc = in->target;
}

void nest_exec_jump(Warp *w, const Inst *in) { w->pc = in->target; }

void nest_exec_while(Warp *w, const Inst *in) { w->whiles[in->slot].iterations = 0; }

typedef struct {
  void *noted;
  const void *now;
  size_t bytes;
} Piece;

/* The state that a WHILE writes, in pieces: the registers, and their lanes that are poison. */
static Piece state_piece(Warp *w, const Inst *in, const Iteration *it, uint32_t i, size_t at) {
  const Written *r = &in->written[i / 2];
  if (i % 2) return (Piece){it->bad + at, w->bad + r->first, r->count * sizeof *it->bad};
  return (Piece){it->x + at * MOST_LANES, reg_lanes(w, r->first),
                 r->count * MOST_LANES * sizeof *it->x};
}

static bool is_as_noted(Warp *w, const Inst *in, const Iteration *it) {
  size_t at = 0;
  for (uint32_t i = 0; i < 2 * in->nwritten; i++) {
    Piece p = state_piece(w, in, it, i, at);
    if (memcmp(p.noted, p.now, p.bytes)) return false;
    if (i % 2) at += in->written[i / 2].count;
  }
  return true;
}

static void note_state(Warp *w, const Inst *in, Iteration *it) {
  size_t n = 0, at = 0;
  for (uint32_t i = 0; i < in->nwritten; i++) n += in->written[i].count;
  if (!it->x) {
    it->x = ARENA_ARRAY(w->prog->run->arena, Scalar, n * MOST_LANES);
    it->bad = ARENA_ARRAY(w->prog->run->arena, uint32_t, n);
  }
  for (uint32_t i = 0; i < 2 * in->nwritten; i++) {
    Piece p = state_piece(w, in, it, i, at);
    memcpy(p.noted, p.now, p.bytes);
    if (i % 2) at += in->written[i / 2].count;
  }
}

/* A loop that comes to where it was, while memory stood still, goes on so until something else
 * changes memory: others get a turn.  Noted are the first iteration, the second, the fourth and so
 * on, so that any number of them may be between (Brent's algorithm). */
void nest_exec_back(Warp *w, const Inst *in) {
  Run *r = w->prog->run;
  Iteration *it = &w->whiles[in->slot];
  uint64_t changes = memory_changes(r->memory), shared = w->prog->shared_changes;
  w->pc = in->target;
  if (++r->iterations == r->options.iterations)
    nest_stop(r, in->stmt->span, E_INTERP_ITERATIONS, r->iterations);
  if (it->changes != changes || it->shared_changes != shared) it->iterations = 0;
  bool same = it->iterations++ && is_as_noted(w, in, it);
  if ((it->iterations & (it->iterations - 1)) == 0) note_state(w, in, it);
  it->changes = changes;
  it->shared_changes = shared;
  w->still = same ? in : NULL;
  if (same) w->yields = w->prog->yields = true;
  count_warp_iteration(w);
}

/* A role counts as so many instructions for all warps, those that skip it too. */
static const uint64_t role_length = UINT64_C(1) << 40;

void nest_exec_role(Warp *w, const Inst *in) {
  uint32_t first = (uint32_t)in->a, warps = (uint32_t)in->b;
  w->role_at = w->at;
  if (w->id < first || w->id >= first + warps) {
    w->at += role_length;
    w->pc = in->target;
    return;
  }
  w->role = in->slot;
  w->role_first = first;
  w->role_warps = warps;
}

void nest_exec_role_end(Warp *w, const Inst *in) {
  (void)in;
  w->at = w->role_at + role_length;
  w->role = 0;
  w->role_first = w->block * w->prog->run->block_warps;
  w->role_warps = w->prog->run->block_warps;
}

void nest_exec_end(Warp *w, const Inst *in) {
  (void)in;
  w->state = WARP_ENDED;
  w->prog->live--;
}

/* ---- barriers ---- */

/* Joins the vector clocks of the warps at a barrier: each has now seen all epochs of the others. */
static bool is_at(const Warp *w, const Barrier *b) {
  return w->state == WARP_AT_BARRIER && w->barrier == b;
}

static void join_clocks(Prog *p, const Barrier *b) {
  uint32_t joined[MOST_WARPS] = {0}, n = p->run->warps;
  for (uint32_t i = 0; i < n; i++) {
    Warp *w = &p->warps[i];
    if (!is_at(w, b)) continue;
    w->clock[i]++;
    for (uint32_t k = 0; k < n; k++)
      if (w->clock[k] > joined[k]) joined[k] = w->clock[k];
  }
  for (uint32_t i = 0; i < n; i++)
    if (is_at(&p->warps[i], b)) {
      memcpy(p->warps[i].clock, joined, n * sizeof *joined);
      p->warps[i].settled = joined[i];
    }
}

/* Each role, and each thread block but the first, has a barrier of its own. */
static Barrier *barrier_of(Warp *w, const Inst *in) {
  uint32_t own = !in->b && !in->a ? w->role + w->block : 0;
  return &w->prog->barriers[own ? NAMED_BARRIERS + own % MOST_WARPS : (uint32_t)in->a];
}

/* Barriers with no number of warps are those of the role. */
void nest_exec_bar(Warp *w, const Inst *in) {
  Prog *p = w->prog;
  uint32_t expected = in->b ? (uint32_t)in->b : w->role_warps;
  Barrier *bar = barrier_of(w, in);
  if (bar->arrived && bar->expected != expected) {
    if (nest_found(w, FOUND_BARRIER, in->stmt->span, in->stmt))
      findings_text(p->run->findings, E_NEST_BARRIER, expected, bar->expected);
    expected = bar->expected;
  }
  bar->expected = expected;
  w->state = WARP_AT_BARRIER;
  w->barrier = bar;
  w->yields = true;
  if (++bar->arrived < expected) return;
  join_clocks(p, bar);
  for (uint32_t i = 0; i < p->run->warps; i++)
    if (is_at(&p->warps[i], bar)) p->warps[i].state = WARP_READY;
  bar->arrived = 0;
}

/* ---- the cluster's barrier ---- */

static void join_clock(const Run *r, uint32_t *into, const uint32_t *from) {
  for (uint32_t i = 0; i < r->warps; i++)
    if (from[i] > into[i]) into[i] = from[i];
}

static void leave_cluster_wait(Warp *w) {
  join_clock(w->prog->run, w->clock, w->prog->cluster.ended);
  if (w->prog->cluster.ended[w->id] > w->settled) w->settled = w->prog->cluster.ended[w->id];
  w->state = WARP_READY;
}

void nest_exec_cluster_arrive(Warp *w, const Inst *in) {
  (void)in;
  Prog *p = w->prog;
  ClusterBarrier *b = &p->cluster;
  w->clock[w->id]++;
  join_clock(p->run, b->clock, w->clock);
  w->yields = true;
  if (--b->missing) return;
  b->missing = p->run->warps;
  b->phases++;
  memcpy(b->ended, b->clock, sizeof b->ended);
  for (uint32_t i = 0; i < p->run->warps; i++)
    if (p->warps[i].state == WARP_AT_CLUSTER) leave_cluster_wait(&p->warps[i]);
}

void nest_exec_cluster_wait(Warp *w, const Inst *in) {
  (void)in;
  w->waits++;
  w->yields = true;
  if (w->prog->cluster.phases >= w->waits) leave_cluster_wait(w);
  else w->state = WARP_AT_CLUSTER;
}
