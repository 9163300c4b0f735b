/* The pass lists: what happens to a kernel between sema and the printers, in order. */
#include <string.h>
#include <time.h>

#include "lower/bind/bind.h"
#include "lower/build/build.h"
#include "lower/messages.h"
#include "lower/nest/nest_text.h"
#include "lower/pipeline/pipeline.h"
#include "lower/schedule/schedule.h"
#include "lower/thread/cse.h"
#include "lower/thread/forward_copies.h"
#include "lower/thread/fuse_loops.h"
#include "lower/thread/fuse_unrolled.h"
#include "lower/thread/licm.h"
#include "lower/thread/peel_masks.h"
#include "lower/thread/prefetch.h"
#include "lower/thread/sync.h"
#include "lower/tile/dce.h"
#include "lower/tile/induction_variables.h"

/* ---- what there is ---- */

/* clang-format off */
#define INDUCTION_VARIABLES {"induction_variables", STAGE_TILE, STAGE_TILE, \
  induction_variables_run, \
  "replaces a tile that a loop carries and moves by a scalar by an invariant tile plus that scalar"}
#define DCE {"dce", STAGE_TILE, STAGE_TILE, dce_run, \
  "removes dead ops: dead-code elimination before tiles get layouts"}
#define SCHEDULE {"schedule", STAGE_TILE, STAGE_SCHEDULED, schedule_run, \
  "assigns a layout to every tile that registers hold"}
#define BUILD {"build", STAGE_SCHEDULED, STAGE_NEST, build_run, \
  "lowers ops on tiles to statements over layouts"}
#define HOIST {"hoist", STAGE_NEST, STAGE_NEST, licm_run, \
  "hoists loop-invariant scalars out of loops"}
#define PIPELINE {"pipeline", STAGE_NEST, STAGE_NEST, pipeline_run, \
  "software-pipelines loops around dots: operands become asynchronous copies into rings"}
#define BIND {"bind", STAGE_NEST, STAGE_THREAD, bind_run, \
  "binds the axes of layouts to warps, lanes and registers: the program of one thread"}
#define LICM {"licm", STAGE_THREAD, STAGE_THREAD, licm_run, \
  "hoists loop-invariant statements and unrolled loops out of loops"}
#define CSE {"cse", STAGE_THREAD, STAGE_THREAD, cse_run, \
  "eliminates common subexpressions, then dead statements and variables"}
#define FUSE_LOOPS {"fuse_loops", STAGE_THREAD, STAGE_THREAD, fuse_loops_run, \
  "fuses loop nests over the same elements, so that each element stays in a register"}
#define FUSE_UNROLLED {"fuse_unrolled", STAGE_THREAD, STAGE_THREAD, fuse_unrolled_run, \
  "fuses adjacent unrolled loops of the same extent, which shortens live ranges"}
#define FORWARD_COPIES {"forward_copies", STAGE_THREAD, STAGE_THREAD, forward_copies_run, \
  "forwards copies: loads of a shared buffer read the global memory that it was copied from"}
#define PREFETCH {"prefetch", STAGE_THREAD, STAGE_THREAD, prefetch_run, \
  "prefetches the next program's row"}
#define PEEL_MASKS {"peel_masks", STAGE_THREAD, STAGE_THREAD, peel_masks_run, \
  "peels the mask off loops over a row's full vectors, and ends loops after its last element"}
#define ALLOCATE_SHARED {"allocate_shared", STAGE_THREAD, STAGE_THREAD, allocate_shared_run, \
  "allocates shared memory: an offset for each buffer"}
#define SYNC {"sync", STAGE_THREAD, STAGE_THREAD, sync_run, \
  "inserts barriers between conflicting accesses"}
/* clang-format on */

/* ---- the lists ---- */

static const Pass gpu_passes[] = {
    INDUCTION_VARIABLES, DCE,  SCHEDULE, BUILD, HOIST, PIPELINE, BIND, LICM, CSE, FUSE_UNROLLED,
    ALLOCATE_SHARED,     SYNC,
};
static const Pass cpu_passes[] = {
    INDUCTION_VARIABLES,
    DCE,
    SCHEDULE,
    BUILD,
    HOIST,
    PIPELINE,
    BIND,
    LICM,
    CSE,
    FUSE_LOOPS,
    FORWARD_COPIES,
    PREFETCH,
    PEEL_MASKS,
    ALLOCATE_SHARED,
    SYNC,
};

#define COUNT(list) ((int)(sizeof(list) / sizeof *(list)))

const Pass *lower_passes(const Machine *m, int *n) {
  bool cpu = m->kind == MACHINE_CPU;
  *n = cpu ? COUNT(cpu_passes) : COUNT(gpu_passes);
  return cpu ? cpu_passes : gpu_passes;
}

static const Pass *find_in(const Pass *list, int n, const char *name) {
  for (int i = 0; i < n; i++)
    if (!strcmp(list[i].name, name)) return &list[i];
  return NULL;
}

const Pass *lower_find_pass(const char *name) {
  const Pass *p = find_in(gpu_passes, COUNT(gpu_passes), name);
  return p ? p : find_in(cpu_passes, COUNT(cpu_passes), name);
}

Stage lower_stage(const Unit *u) {
  if (u->nest) return u->nest->level == NEST_LEVEL_THREAD ? STAGE_THREAD : STAGE_NEST;
  return u->schedule ? STAGE_SCHEDULED : STAGE_TILE;
}

void lower_print(Text *out, const Unit *u) {
  if (u->nest) {
    nest_print(out, u->nest, u->diags);
    return;
  }
  tile_print(out, u->tile, u->diags);
  if (u->schedule) schedule_print(out, u);
}

static double now(void) {
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
  double start = now();
  u->pass = p->name;
  if (!p->run(u)) return false;
  double seconds = now() - start;
  if (hook) lower_print(&after, u);
  if (hook) hook(ctx, p, u, seconds, strcmp(before.data, after.data) != 0);
#ifndef NDEBUG
  if (!lower_verify(u)) return false;
#endif
  return true;
}

bool lower_run(Unit *u, Stage until, PassHook hook, void *ctx) {
  int n;
  const Pass *list = lower_passes(u->machine, &n);
  Stage at = lower_stage(u);
  if (at == STAGE_THREAD) return true;
  for (int i = 0; i < n; i++) {
    if (list[i].takes < at || list[i].gives > until) continue;
    if (until == STAGE_SCHEDULED && list[i].takes > STAGE_TILE) break;
    if (list[i].takes != lower_stage(u)) continue;
    if (!run_pass(u, &list[i], hook, ctx)) return false;
  }
  return diag_errors(u->diags) == 0;
}

static const char *const stage_names[] = {
    [STAGE_TILE] = "tile IR without a schedule",
    [STAGE_SCHEDULED] = "tile IR with its schedule",
    [STAGE_NEST] = "level nest",
    [STAGE_THREAD] = "level thread",
};

static bool takes_stage(Unit *u, const Pass *p) {
  Stage at = lower_stage(u);
  if (p->takes == at) return true;
  diag_error(u->diags, u->nest ? u->nest->span : u->tile->span, E_LOWER_PASS_STAGE, p->name,
             stage_names[p->takes], stage_names[at]);
  return false;
}

bool lower_run_named(Unit *u, const char *names) {
  while (*names) {
    size_t n = strcspn(names, ",");
    const Pass *p = lower_find_pass(arena_strndup(u->arena, names, n));
    if (!p) BUG("no pass %.*s", (int)n, names);
    if (!takes_stage(u, p) || !run_pass(u, p, NULL, NULL)) return false;
    names += n + (names[n] == ',');
  }
  return true;
}

/* ---- reading ---- */

static bool find_machine(Unit *u) {
  const char *target = u->nest ? u->nest->options.target : u->tile->options.target;
  u->machine = machine_find(target);
  if (!u->machine) diag_error(u->diags, u->place, E_LOWER_NO_TARGET, target);
  return u->machine != NULL;
}

Unit *lower_parse(Arena *a, Pool *names, Diags *d, uint32_t file, size_t *at) {
  IrReader look = ir_open(a, names, d, file, *at);
  if (look.failed || ir_at_kind(&look, IT_END)) return NULL;
  Unit *u = ARENA_NEW(a, Unit);
  *u = (Unit){.arena = a, .names = names, .diags = d, .place = ir_peek(&look)->span};
  u->begin = ir_offset(&look);
  if (ir_at(&look, "nest")) u->nest = nest_parse(a, names, d, file, at);
  else if (ir_at(&look, "kernel")) u->tile = tile_parse(a, names, d, file, at);
  else ir_expected(&look, "`kernel` or `nest`");
  if (!(u->nest || u->tile) || !find_machine(u)) return NULL;
  if (u->tile && !schedule_parse(u, file, at)) return NULL;
  u->end = *at;
  return lower_verify(u) ? u : NULL;
}

const char *lower_name(const Unit *u) { return u->nest ? u->nest->name : u->tile->name; }
