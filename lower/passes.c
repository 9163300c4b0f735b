/* The driver of the passes. */
#include "lower/passes.h"

#include <string.h>
#include <time.h>

#include "lower/messages.h"
#include "lower/nest/nest_text.h"
#include "lower/schedule/schedule.h"

PassList lower_passes(void) {
#define X(name, takes, gives, function, needs, without, doc) \
  {#name, LEVEL_##takes, LEVEL_##gives, {.on_unit = function}, needs, without, doc},
  static const Pass rows[] = {KERNEL_PASSES(X)};
#undef X
  return (PassList){rows, (int)(sizeof rows / sizeof *rows)};
}

Level lower_level(const Unit *u) {
  if (u->nest) return u->nest->level == NEST_LEVEL_THREAD ? LEVEL_THREAD : LEVEL_NEST;
  return u->schedule ? LEVEL_SCHEDULED : LEVEL_TILE;
}

void lower_print(Text *out, const Unit *u) {
  if (u->nest) {
    nest_print(out, u->nest, u->diags);
    return;
  }
  tile_print(out, u->tile, u->diags);
  if (u->schedule) schedule_print(out, u);
}

static double seconds_now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

bool lower_verify(const Unit *u) {
  if (u->nest) return nest_verify(u->nest, u->diags);
  return tile_verify(u->tile, u->diags) && (!u->schedule || schedule_verify(u));
}

/* The text before the pass is only made where a hook asks whether it changed anything. */
static bool run_pass(Unit *u, const Pass *p, PassHook hook, void *ctx) {
  Text before = text_new(u->arena), after = text_new(u->arena);
  if (hook) lower_print(&before, u);
  double start = seconds_now();
  u->pass = p->name;
  bug_stage(p->name);
  if (!p->run.on_unit(u)) return false;
  double seconds = seconds_now() - start;
  if (hook) lower_print(&after, u);
  if (hook) hook(ctx, p, u, seconds, strcmp(before.data, after.data) != 0);
  if (u->verifies) return lower_verify(u);
  return !u->nest || nest_within_budget(u->nest, u->diags);
}

static bool run_list(Unit *u, Level until, PassHook hook, void *ctx) {
  PassList list = lower_passes();
  Level at = lower_level(u);
  for (int i = 0; i < list.n; i++) {
    const Pass *p = &list.rows[i];
    if (!pass_included(p, u->machine->has) || p->takes < at || p->gives > until) continue;
    if (until == LEVEL_SCHEDULED && p->takes > LEVEL_TILE) break;
    if (p->takes == lower_level(u) && !run_pass(u, p, hook, ctx)) return false;
  }
  return true;
}

/* Pass pipeline estimates what the kernel needs beside rings.  Where pass allocate_shared finds
 * that it needs more, the nest is made again with fewer stages. */
static bool run_until_it_fits(Unit *u, Level until, PassHook hook, void *ctx) {
  for (;;) {
    bool done = run_list(u, until, hook, ctx);
    if (!u->crowded) return done;
    int most = u->most_stages && u->most_stages < u->stages ? u->most_stages : u->stages;
    u->most_stages = most - 1;
    u->stages = 0;
    u->crowded = false;
    u->nest = NULL;
  }
}

bool lower_run(Unit *u, Level until, PassHook hook, void *ctx) {
  if (lower_level(u) == LEVEL_THREAD) return true;
  if (!run_until_it_fits(u, until, hook, ctx)) return false;
  if (u->unproven && u->schedule) { /* once more, from the tile IR on */
    diag_note(u->diags, u->nest->span, N_RING_SYNCHRONOUS);
    u->synchronous = true;
    u->unproven = false;
    u->nest = NULL;
    if (!run_list(u, until, hook, ctx)) return false;
  }
  return diag_errors(u->diags) == 0;
}

static bool takes_level(Unit *u, const Pass *p) {
  Level at = lower_level(u);
  if (p->takes == at) return true;
  diag_error(u->diags, u->nest ? u->nest->span : u->tile->span, E_LOWER_PASS_STAGE, p->name,
             level_text(p->takes), level_text(at));
  return false;
}

bool lower_run_named(Unit *u, const char *names, PassHook hook, void *ctx) {
  const char *name;
  size_t len;
  while (pass_next_name(&names, &name, &len)) {
    const Pass *p = pass_find(lower_passes(), name, len);
    BUG_IF(!p, "no pass %.*s", (int)len, name);
    if (!takes_level(u, p) || !run_pass(u, p, hook, ctx)) return false;
  }
  return true;
}

/* ---- reading ---- */

static bool find_machine(Unit *u) {
  const char *target = u->nest ? u->nest->options.target : u->tile->options.target;
  u->machine = machine_find(target);
  if (!u->machine) diag_error(u->diags, u->span, E_LOWER_NO_TARGET, target);
  return u->machine != NULL;
}

Unit *lower_parse(Arena *a, Pool *names, Diags *d, uint32_t file, size_t *at) {
  IrReader look = ir_open(a, names, d, file, *at);
  if (look.failed || ir_at_kind(&look, IT_END)) return NULL;
  Unit *u = ARENA_NEW(a, Unit);
  *u = (Unit){.arena = a, .names = names, .diags = d, .span = ir_peek(&look)->span};
  u->begin = ir_offset(&look);
  if (ir_at(&look, "nest")) u->nest = nest_parse(a, names, d, file, at);
  else if (ir_at(&look, "kernel")) u->tile = tile_parse(a, names, d, file, at);
  else ir_expected(&look, "`kernel` or `nest`");
  if (!(u->nest || u->tile) || !find_machine(u)) return NULL;
  if (u->tile && !schedule_parse(u, file, at)) return NULL;
  u->end = *at;
  return lower_verify(u) ? u : NULL;
}

Text lower_ordered_text(const Unit *u) {
  if (u->ordered.len) return u->ordered;
  Text text = text_new(u->arena);
  tile_print(&text, u->tile, u->diags);
  return text;
}

const char *lower_name(const Unit *u) { return u->nest ? u->nest->name : u->tile->name; }
