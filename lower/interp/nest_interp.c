/* The launch: programs start, their warps take turns, and end.
 *
 * A program runs until it executes an atomic, polls memory, or has looped for a while; only then
 * does another start, so that a kernel whose programs don't meet has one alive at a time.  Inside a
 * program a warp runs until a barrier, a wait, an access that others may see, or some iterations;
 * then one of those that can is picked at random, from a seed that is the program's number. */
#include <string.h>

#include "lang/messages.h"
#include "lower/interp/nest_interp_run.h"
#include "lower/messages.h"
#include "lower/target/machine.h"

/* So many turns without a change of memory, a start or an end: programs that poll. */
#define QUIET_LIMIT (UINT64_C(1) << 20)
enum { QUIET_LOOK = 256 };

typedef unsigned long long Big; /* for printf */

/* ---- programs ---- */

static uint64_t next_order(uint64_t *state) {
  uint64_t z = (*state += UINT64_C(0x9e3779b97f4a7c15));
  z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
  return z ^ z >> 31;
}

static void new_warp(Run *r, Warp *w) {
  w->x = ARENA_ARRAY(r->arena, Scalar, (size_t)r->registers * MOST_LANES);
  w->bad = ARENA_ARRAY(r->arena, uint32_t, r->registers);
  w->why = ARENA_ARRAY(r->arena, const Inst *, r->registers);
  w->held = ARENA_ARRAY(r->arena, uint32_t, r->registers);
  w->index = ARENA_ARRAY(r->arena, int64_t, r->indices);
  w->loops = ARENA_ARRAY(r->arena, Loop, r->loops);
  w->whiles = ARENA_ARRAY(r->arena, Iteration, r->whiles);
  w->clock = ARENA_ARRAY(r->arena, uint32_t, r->warps);
}

static Prog *new_program(Run *r) {
  Prog *p = ARENA_NEW(r->arena, Prog);
  p->run = r;
  p->warps = ARENA_ARRAY(r->arena, Warp, r->warps);
  for (uint32_t i = 0; i < r->warps; i++) new_warp(r, &p->warps[i]);
  size_t bytes = (size_t)r->block_bytes * nest_blocks(r);
  p->shared = ARENA_ARRAY(r->arena, uint8_t, bytes);
  p->bad_bytes = ARENA_ARRAY(r->arena, uint8_t, bytes);
  size_t cells = bytes / r->shared_granule + 1;
  p->cells = ARENA_ARRAY(r->arena, Cell, cells);
  return p;
}

/* The value of poison: a number that fits every type, and is seen in a result that uses it. */
static const Scalar poison = {.i = 0x55};

static void start_warp(Run *r, Prog *p, uint32_t id) {
  Warp *w = &p->warps[id];
  for (size_t i = 0; i < (size_t)r->registers * MOST_LANES; i++) w->x[i] = poison;
  for (uint32_t i = 0; i < r->registers; i++) w->bad[i] = r->full;
  memset(w->why, 0, r->registers * sizeof *w->why);
  memset(w->clock, 0, r->warps * sizeof *w->clock);
  w->settled = 0;
  w->prog = p;
  w->id = id;
  w->block = id / r->block_warps;
  w->role = 0;
  w->role_first = w->block * r->block_warps;
  w->role_warps = r->block_warps;
  w->waits = 0;
  w->pc = 0;
  w->state = WARP_READY;
  w->copies.len = 0;
  w->groups = 0;
  w->flights.len = 0;
  w->mma_groups = 0;
  w->store_groups = 0;
  w->fences = 0;
  w->iterations = 0;
  w->still = NULL;
  w->at = 0;
  w->accesses = (Accesses){0};
  w->release = w->acquire = (Sync){0};
  for (uint32_t i = 0; i < r->nest->nparams; i++) {
    const NestVar *v = r->nest->params[i];
    Scalar x = scalar_load(v->dtype, &r->args[i].bits);
    Scalar *to = reg_lanes(w, r->first[v->id]);
    for (uint32_t k = 0; k < r->lanes; k++) to[k] = x;
    w->bad[r->first[v->id]] = 0;
  }
}

static void start_nest_program(Run *r) {
  bool used = r->retired.len > 0;
  Prog *p = used ? r->retired.data[--r->retired.len] : new_program(r);
  p->index = r->started++;
  p->random = p->index;
  p->id[0] = (uint32_t)(p->index % r->grid[0]);
  p->id[1] = (uint32_t)(p->index / r->grid[0] % r->grid[1]);
  p->id[2] = (uint32_t)(p->index / r->grid[0] / r->grid[1]);
  p->live = r->warps;
  r->iterations = 0;
  memset(p->barriers, 0, sizeof p->barriers);
  p->mbarriers.len = 0;
  p->exchanges.len = 0;
  p->stores.len = 0;
  p->cluster = (ClusterBarrier){.missing = r->warps};
  memset(p->bad_bytes, 1, (size_t)r->block_bytes * nest_blocks(r));
  for (uint32_t i = 0; i < r->warps; i++) start_warp(r, p, i);
  race_reset(p);
  vec_push(r->arena, &r->live, p);
}

static void retire_nest_program(Run *r, size_t at) {
  Prog *p = r->live.data[at];
  nest_end_stores(p);
  memory_finished(r->memory, p->index);
  r->iterations = 0;
  for (r->live.len--; at < r->live.len; at++) r->live.data[at] = r->live.data[at + 1];
  vec_push(r->arena, &r->retired, p);
}

/* ---- turns ---- */

static Warp *pick_warp(Prog *p) {
  uint32_t ready = 0, n = p->run->warps;
  for (uint32_t i = 0; i < n; i++) ready += p->warps[i].state == WARP_READY;
  if (!ready) return NULL;
  uint64_t k = next_order(&p->random) % ready;
  for (uint32_t i = 0;; i++)
    if (p->warps[i].state == WARP_READY && !k--) return &p->warps[i];
}

static void run_warp(Warp *w) {
  Run *r = w->prog->run;
  w->yields = false;
  while (!w->yields && w->state == WARP_READY) {
    const Inst *in = &r->insts[w->pc++];
    w->at++;
    if (r->lockstep) w->settled = ++w->clock[w->id];
    in->exec(w, in);
    if (++r->steps == r->options.steps) nest_stop(r, r->nest->span, E_INTERP_STEPS, r->steps);
  }
}

/* Some warps have ended or wait, and no other can come. */
static void report_barrier(Prog *p) {
  enum { SHOWN = 8 };
  Run *r = p->run;
  uint32_t shown = 0;
  for (uint32_t i = 0; i < r->warps; i++) {
    const Warp *w = &p->warps[i];
    if (w->state == WARP_READY || w->state == WARP_ENDED) continue;
    Span at = r->insts[w->pc - 1].stmt->span;
    if (!shown)
      diag_error(r->diags, at, E_NEST_DEADLOCK, (Big)p->index, p->live, r->warps - p->live);
    if (shown++ < SHOWN) diag_note(r->diags, at, N_NEST_WAITS, i);
  }
}

/* False if the program cannot go on. */
static bool run_program(Prog *p) {
  p->yields = false;
  while (p->live && !p->yields) {
    Warp *w = pick_warp(p);
    if (!w) {
      report_barrier(p);
      return false;
    }
    run_warp(w);
  }
  return true;
}

static bool reads_memory(const NestBlock *b) {
  for (const NestStmt *s = b->first; s; s = s->next) {
    for (uint32_t i = 0; i < s->nmems && (nest_flags(s) & NEST_IS_READ); i++)
      if (!s->mems[i].buffer) return true;
    for (uint32_t i = 0; i < s->nregions; i++)
      if (reads_memory(s->regions[i])) return true;
  }
  return false;
}

/* Reports an endless loop: one that reads no memory, so that no other program can end it, while all
 * other warps wait. */
static bool report_endless(const Run *r) {
  for (size_t i = 0; i < r->live.len; i++)
    for (uint32_t k = 0; k < r->warps; k++) {
      const Warp *w = &r->live.data[i]->warps[k];
      const NestStmt *s = w->state == WARP_READY && w->still ? w->still->stmt : NULL;
      if (!s || reads_memory(s->regions[0]) || reads_memory(s->regions[1])) continue;
      diag_error(r->diags, s->span, E_INTERP_ENDLESS, (Big)r->live.data[i]->index);
      return true;
    }
  return false;
}

static void report_stuck_warps(Run *r) {
  if (report_endless(r)) return;
  const Prog *p = r->live.data[0];
  const Warp *w = &p->warps[0];
  for (uint32_t i = 0; i < r->warps; i++)
    if (p->warps[i].state == WARP_READY) w = &p->warps[i];
  const NestStmt *s = r->insts[w->pc ? w->pc - 1 : 0].stmt;
  Span at = s ? s->span : r->nest->span;
  diag_error(r->diags, at, E_INTERP_DEADLOCK, r->live.len);
  diag_note(r->diags, at, N_INTERP_WAITS, (Big)p->index);
}

/* Programs that only poll let others start, past the window too: they may wait for those. */
static bool starts_more(const Run *r) {
  if (r->started == r->nprograms) return false;
  if (r->live.len < r->window) return true;
  return r->live.len < r->most_live && r->quiet > 2 * r->live.len;
}

/* A warp in a loop that comes to where it was, as long as memory does not change. */
static bool is_still(const Warp *w) {
  const Iteration *it = w->still ? &w->whiles[w->still->slot] : NULL;
  return it && it->changes == memory_changes(w->prog->run->memory) &&
         it->shared_changes == w->prog->shared_changes;
}

/* Is this true of all warps that can go on?  Only looked at now and then. */
static bool all_still(const Run *r) {
  if (r->started < r->nprograms || r->quiet % QUIET_LOOK != QUIET_LOOK - 1) return false;
  for (size_t i = 0; i < r->live.len; i++)
    for (uint32_t k = 0; k < r->warps; k++) {
      const Warp *w = &r->live.data[i]->warps[k];
      if (w->state == WARP_READY && !is_still(w)) return false;
    }
  return true;
}

static int run_nest_programs(Run *r) {
  while (r->live.len || r->started < r->nprograms) {
    if (starts_more(r)) start_nest_program(r);
    if (r->quiet >= QUIET_LIMIT || all_still(r)) {
      report_stuck_warps(r);
      return -1;
    }
    if (r->turn >= r->live.len) r->turn = 0;
    size_t at = r->live.len > 1 && r->started != r->seen_started ? r->live.len - 1 : r->turn++;
    Prog *p = r->live.data[at];
    if (!run_program(p)) return -1;
    if (!p->live) retire_nest_program(r, at);
    uint64_t changes = memory_changes(r->memory);
    bool moved = !p->live || changes != r->seen || r->started != r->seen_started;
    r->quiet = moved ? 0 : r->quiet + 1;
    r->seen = changes;
    r->seen_started = r->started;
  }
  return 0;
}

/* ---- the launch ---- */

static Run *new_nest_run(Arena *a, const Nest *n, const InterpArg *args, const uint32_t grid[3],
                         Memory *m, Diags *d) {
  Run *r = ARENA_NEW(a, Run);
  r->arena = a;
  r->diags = d;
  r->findings = findings_new(a, d);
  r->memory = m;
  r->nest = n;
  r->args = args;
  r->nprograms = 1;
  for (int i = 0; i < 3; i++) r->nprograms *= r->grid[i] = grid[i];
  r->lanes = (uint32_t)n->lanes;
  r->block_warps = (uint32_t)n->warps;
  r->warps = r->block_warps * (uint32_t)n->cluster;
  r->full = r->lanes == 32 ? UINT32_MAX : (UINT32_C(1) << r->lanes) - 1;
  const Machine *machine = n->options.target ? machine_find(n->options.target) : NULL;
  r->lockstep = machine && machine_has(machine, HAS_LOCKSTEP);
  return r;
}

static int run_nest_until_stop(Run *r) {
  if (setjmp(r->stop)) return -1;
  return nest_code(r) ? run_nest_programs(r) : -1;
}

int nest_interp(const Nest *n, const InterpArg *args, const uint32_t grid[3], Memory *m, Diags *d,
                InterpOptions options) {
  if (n->level != NEST_LEVEL_THREAD) {
    diag_error(d, n->span, E_NEST_NOT_BOUND);
    return -1;
  }
  Arena *a = arena_new();
  JumpPlace place;
  if (!a) return interp_out_of_memory(m, d, n->span);
  arena_catch(a, &place);
  switch (setjmp(place.jump)) {
    case 0: break;
    case JUMP_BUG:
      arena_release(a, &place);
      arena_free(a);
      bug_again();
    default:
      arena_release(a, &place);
      arena_free(a);
      return interp_out_of_memory(m, d, n->span);
  }
  Run *r = new_nest_run(a, n, args, grid, m, d);
  r->options = options;
  if (!options.iterations) r->options.iterations = INTERP_ITERATIONS;
  int status = run_nest_until_stop(r);
  memory_report(m);
  findings_report(r->findings);
  arena_release(a, &place);
  arena_free(a);
  return status;
}
