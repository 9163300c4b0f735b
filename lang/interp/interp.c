/* The launch: programs start, take turns, and end.
 *
 * A program runs until it executes an atomic, polls memory, or has looped for a while; only then
 * does another start, so that a kernel whose programs don't meet has one alive at a time.  Up to
 * INTERP_WINDOW are alive, as on a GPU only so many are resident; when all of them wait, more
 * start, so a program may wait for a later one.  If none is left to start, that is a deadlock, or
 * one of them is in a loop that does not look at memory and never ends. */
#include "lang/interp/interp_run.h"
#include "lang/messages.h"

/* So many turns without a change of memory, a start or an end: programs that poll and count. */
#define QUIET_LIMIT (UINT64_C(1) << 22)

typedef unsigned long long Big; /* for printf */

/* ---- programs ---- */

static uint64_t splitmix64(uint64_t *state) {
  uint64_t z = (*state += 0x9e3779b97f4a7c15u);
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  return z ^ z >> 31;
}

/* The window's programs in an order that depends on its number alone. */
static void shuffle_programs(Run *r, uint64_t window) {
  uint64_t left = r->nprograms - window * INTERP_WINDOW, seed = window;
  uint32_t n = left < INTERP_WINDOW ? (uint32_t)left : INTERP_WINDOW;
  for (uint32_t i = 0; i < n; i++) r->order[i] = (uint8_t)i;
  for (uint32_t i = n; i > 1; i--) {
    uint32_t k = (uint32_t)(splitmix64(&seed) % i);
    uint8_t x = r->order[k];
    r->order[k] = r->order[i - 1];
    r->order[i - 1] = x;
  }
}

static uint64_t pick_program(Run *r) {
  uint64_t window = r->started / INTERP_WINDOW, k = r->started % INTERP_WINDOW;
  if (!k) shuffle_programs(r, window);
  r->started++;
  return window * INTERP_WINDOW + r->order[k];
}

static void set_program_params(Prog *p) {
  const TileFunc *fn = p->run->fn;
  for (uint32_t i = 0; i < fn->nparams; i++) {
    const TileParam *param = &fn->params[i];
    Val v = interp_new(p->run, 1);
    v.x[0] = scalar_load((DType)param->value->type.dtype, &p->run->args[i].bits);
    if (param->value->type.dtype == DT_PTR) v.arg = (int32_t)i;
    interp_set(p, param->value, v);
  }
}

static Prog *start_program(Run *r) {
  Prog *p;
  if (r->retired.len) {
    p = r->retired.data[--r->retired.len];
  } else {
    p = ARENA_NEW(r->arena, Prog);
    p->vals = ARENA_ARRAY(r->arena, Val, r->fn->nvalues);
  }
  p->run = r;
  p->index = pick_program(r);
  uint64_t program = p->index / r->cluster;
  p->rank = (int32_t)(p->index % r->cluster);
  p->id[0] = (uint32_t)(program % r->grid[0]);
  p->id[1] = (uint32_t)(program / r->grid[0] % r->grid[1]);
  p->id[2] = (uint32_t)(program / r->grid[0] / r->grid[1]);
  p->joins = 0;
  p->lanes = 1;
  p->state = PROG_READY;
  r->iterations = 0;
  set_program_params(p);
  interp_push(p, NULL, r->body);
  vec_push(r->arena, &r->live, p);
  return p;
}

static void retire_program(Run *r, Prog *p) {
  for (uint32_t i = 0; i < r->fn->nvalues; i++) interp_clear(r, &p->vals[i]);
  for (size_t i = 0; i < p->parked.len; i++) interp_clear(r, &p->parked.data[i].elements);
  p->parked.len = 0;
  memory_finished(r->memory, p->index);
  r->iterations = 0;
  size_t i = 0;
  while (r->live.data[i] != p) i++;
  for (r->live.len--; i < r->live.len; i++) r->live.data[i] = r->live.data[i + 1];
  if (r->turn > i) r->turn--;
  vec_push(r->arena, &r->retired, p);
}

/* ---- turns ---- */

static bool can_continue(const Run *r, const Prog *p) {
  return p->state == PROG_READY || p->waits_at != memory_changes(r->memory);
}

/* The next program in turn, or a new one; NULL if all wait and none is left to start. */
static Prog *next_program(Run *r) {
  bool more = r->started < r->nprograms;
  if (more && r->live.len < INTERP_WINDOW) return start_program(r);
  for (size_t k = 0; k < r->live.len; k++) {
    if (r->turn >= r->live.len) r->turn = 0;
    Prog *p = r->live.data[r->turn++];
    if (can_continue(r, p)) return p;
  }
  return more ? start_program(r) : NULL;
}

static void take_turn(Run *r, Prog *p) {
  uint64_t started = r->started;
  p->state = PROG_READY;
  p->yields = false;
  interp_go(p, 0, true);
  bool ended = !p->frames.len;
  if (ended) retire_program(r, p);
  uint64_t changes = memory_changes(r->memory);
  r->quiet = ended || changes != r->seen || started != r->seen_started ? 0 : r->quiet + 1;
  r->seen = changes;
  r->seen_started = started;
}

static bool block_reads(const TileBlock *b) {
  for (const TileOp *op = b->first; op; op = op->next) {
    if (tile_op_flags(op->code) & TILE_READ) return true;
    for (uint32_t i = 0; i < op->nregions; i++)
      if (block_reads(op->regions[i])) return true;
  }
  return false;
}

/* It waits in a loop that reads no memory, so no other program can end it. */
static bool is_endless(const Prog *p) {
  const TileOp *loop = p->state == PROG_WAITS ? p->waits_in : NULL;
  return loop && !block_reads(loop->regions[0]) && !block_reads(loop->regions[1]);
}

static void report_blocked_programs(Run *r) {
  const Prog *first = NULL;
  for (size_t i = 0; i < r->live.len; i++) {
    const Prog *p = r->live.data[i];
    if (is_endless(p)) {
      diag_error(r->diags, p->waits_in->span, E_INTERP_ENDLESS, (Big)p->index);
      return;
    }
    if (!first && p->state == PROG_WAITS) first = p;
  }
  Span at = first ? first->waits_in->span : r->fn->span;
  diag_error(r->diags, at, E_INTERP_DEADLOCK, r->live.len);
  diag_note(r->diags, at, N_INTERP_WAITS, (Big)(first ? first : r->live.data[0])->index);
}

/* 0, or -1 if nothing moves any more. */
static int run_programs(Run *r) {
  while (r->live.len || r->started < r->nprograms) {
    Prog *p = r->quiet < QUIET_LIMIT ? next_program(r) : NULL;
    if (!p) {
      report_blocked_programs(r);
      return -1;
    }
    take_turn(r, p);
  }
  return 0;
}

static Run *run_new(Arena *a, const TileFunc *f, const InterpArg *args, const uint32_t grid[3],
                    Memory *m, Diags *d) {
  Run *r = ARENA_NEW(a, Run);
  r->arena = a;
  r->diags = d;
  r->fn = f;
  r->args = args;
  r->memory = m;
  r->cluster = f->cluster ? (uint32_t)f->cluster : 1;
  r->nprograms = r->cluster;
  for (int i = 0; i < 3; i++) r->nprograms *= r->grid[i] = grid[i];
  r->findings = findings_new(a, d);
  return r;
}

static int run_until_longjmp(Run *r) {
  if (setjmp(r->stop)) return -1;
  r->body = interp_compile(r);
  r->feeds_address = interp_feeds_address(r);
  return run_programs(r);
}

int interp_out_of_memory(Memory *m, Diags *d, Span kernel) {
  memory_report(m);
  diag_error(d, kernel, E_LANG_OUT_OF_MEMORY);
  return -1;
}

int tile_interp(const TileFunc *f, const InterpArg *args, const uint32_t grid[3], Memory *m,
                Diags *d, InterpOptions options) {
  Arena *a = arena_new();
  JumpPlace place;
  if (!a) return interp_out_of_memory(m, d, f->span);
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
      return interp_out_of_memory(m, d, f->span);
  }
  Run *r = run_new(a, f, args, grid, m, d);
  r->options = options;
  if (!options.iterations) r->options.iterations = INTERP_ITERATIONS;
  int status = run_until_longjmp(r);
  memory_report(m);
  findings_report(r->findings);
  arena_release(a, &place);
  arena_free(a);
  return status;
}
