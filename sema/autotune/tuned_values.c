/* The values of each axis of a derived space, and which of their combinations can run. */
#include <string.h>

#include "sema/autotune/tuned_auto.h"
#include "sema/messages.h"

/* ---- values ---- */

static int64_t power_above(int64_t n) {
  int64_t p = 1;
  while (p < n && p < INT64_C(1) << 40) p *= 2;
  return p;
}

/* The largest integer among the arguments, where nothing tells which of them bounds an axis. */
static int64_t largest_argument(const TunedQuery *q) {
  int64_t most = 0;
  for (uint32_t i = 0; i < q->nargs; i++)
    if (q->args[i].arg.kind == ARG_INT && q->args[i].arg.i > most) most = q->args[i].arg.i;
  return most;
}

/* Those of a list that lie between `least` and what covers the size. */
static void take(AutoSpace *s, AutoAxis *a, const int64_t *list, size_t n, int64_t least) {
  int64_t size = a->facts.size ? a->facts.size : largest_argument(s->r->q);
  int64_t most = size ? power_above(size) : INT64_MAX;
  if (most < least) most = least;
  for (size_t i = 0; i < n; i++)
    if (list[i] >= least && list[i] <= most) a->values[a->n++] = list[i];
}

#define TAKE(s, a, list, least) take((s), (a), (list), sizeof(list) / sizeof *(list), (least))

static void tile_values(AutoSpace *s, AutoAxis *a) {
  static const int64_t outer[] = {128, 64, 256, 32, 16}, summed[] = {64, 32, 128, 16};
  static const int64_t plane[] = {64, 32, 128, 16, 256};
  static const int64_t line[] = {1024, 512, 2048, 256, 4096, 128, 8192};
  static const int64_t short_line[] = {64, 32, 16};
  const ProbeFacts *f = &a->facts;
  if (f->dot_k) TAKE(s, a, summed, 16);
  else if (f->dot) TAKE(s, a, outer, 16);
  else if (f->rank > 1) TAKE(s, a, plane, 16);
  else TAKE(s, a, line, 128);
  bool small = !f->dot && f->rank == 1 && f->size > 0 && f->size <= 64;
  if (small) {
    a->n = 0;
    TAKE(s, a, short_line, 16);
  }
}

/* Programs of a CPU share no cache that is small enough for their order to matter. */
static bool group_values(AutoSpace *s, AutoAxis *a) {
  static const int64_t groups[] = {8, 4, 1};
  int n = tuned_for_gpu(s->r->q) ? 3 : 1;
  for (int i = 0; i < n; i++) a->values[a->n++] = groups[i];
  return true;
}

/* Of an option; 0 if it is none that is searched. */
static int option_values(Name name, int64_t *out) {
  static const int64_t warps[] = {4, 8, 2, 1}, stages[] = {3, 4, 2, 5, 1};
  if (!strcmp(name, "num_warps")) memcpy(out, warps, sizeof warps);
  else if (!strcmp(name, "num_stages")) memcpy(out, stages, sizeof stages);
  else return 0;
  return name[4] == 'w' ? 4 : 5;
}

bool auto_values(AutoSpace *s, AutoAxis *a) {
  const ProbeFacts *f = &a->facts;
  if (!f->differs) { /* a loop is told by it how deep to run ahead, or the kernel does not use it */
    a->n = tuned_for_gpu(s->r->q) ? option_values(a->name, a->values) : 0;
    if (!a->n) a->values[a->n++] = 1;
    return true;
  }
  if (f->groups) return group_values(s, a);
  if (!f->alike) return auto_refuse(s, a->name, N_SEMA_AUTO_CODE);
  if (!f->shapes) return auto_refuse(s, a->name, N_SEMA_AUTO_TILES);
  if (f->covers && !f->steps) {
    a->values[a->n++] = power_above(f->size);
    return true;
  }
  if (!f->steps) return auto_refuse(s, a->name, N_SEMA_AUTO_STEPS);
  tile_values(s, a);
  return true;
}

static void add_option(AutoSpace *s, const char *name) {
  Name interned = pool_name(s->r->p->names, name);
  if (tuned_given(s->r->q, interned) || tuned_param(s->r->k, interned) ||
      tuned_is_heuristic(s->r, interned))
    return;
  AutoAxis *a = &s->axes[s->n++];
  *a = (AutoAxis){.name = interned};
  a->n = option_values(interned, a->values);
}

void auto_options(AutoSpace *s) {
  if (!tuned_for_gpu(s->r->q)) return;
  add_option(s, "num_warps");
  if (probe_pipelines(&s->base)) add_option(s, "num_stages");
}

/* ---- what can run ---- */

enum { WARP = 32, REGISTERS = 255, SHARED = 232448, WARPS = 4, STAGES = 3, DOT_ELEMENTS = 4 };

static int64_t option(const AutoSpace *s, const int *at, const char *name, int64_t otherwise) {
  for (int i = 0; i < s->n; i++)
    if (!strcmp(s->axes[i].name, name)) return s->axes[i].values[at[i]];
  const TunedArg *given = tuned_given(s->r->q, pool_name(s->r->p->names, name));
  return given ? given->arg.i : otherwise;
}

/* How much larger a tile is than it was with the base values. */
static double growth(const AutoSpace *s, const AutoTile *t, const int *at) {
  double g = 1;
  for (int i = 0; i < s->nopen; i++)
    for (int k = 0; k < t->power[i]; k++)
      g *= (double)s->axes[i].values[at[i]] / (double)s->axes[i].base;
  return g;
}

typedef struct {
  double largest, summed, staged; /* elements, elements, bytes */
} Load;

static Load load_of(const AutoSpace *s, const int *at) {
  Load l = {0};
  for (size_t i = 0; i < s->tiles.len; i++) {
    const AutoTile *t = &s->tiles.data[i];
    double g = growth(s, t, at), n = (double)t->numel * g;
    if (n > l.largest) l.largest = n;
    if (t->summed && n > l.summed) l.summed = n;
    if (t->staged) l.staged += (double)t->bytes * g;
  }
  return l;
}

/* No thread without an element (of a dot's result: without those that one instruction of a warp
 * gives it), no more elements than it has registers, and operands that fit shared memory.  What is
 * left the model judges. */
static bool can_run(const AutoSpace *s, const int *at) {
  Load l = load_of(s, at);
  if (l.largest > MAX_TILE) return false;
  if (!tuned_for_gpu(s->r->q)) return true;
  int64_t shared = s->r->q->device.shared_bytes > 0 ? s->r->q->device.shared_bytes : SHARED;
  double threads = (double)(WARP * option(s, at, "num_warps", WARPS));
  double stages = (double)option(s, at, "num_stages", STAGES);
  double held = l.summed > 0 ? l.summed : l.largest / 2;
  double least = l.summed > 0 ? l.summed / DOT_ELEMENTS : l.largest;
  if (s->nopen && threads > least && threads > WARP) return false;
  return held / threads <= REGISTERS && l.staged * stages <= (double)shared;
}

/* The next combination in the order of the likeliest first; false past the last. */
static bool next(const AutoSpace *s, int *at) {
  for (int i = s->n; i-- > 0;) {
    if (++at[i] < s->axes[i].n) return true;
    at[i] = 0;
  }
  return false;
}

static int64_t count_configs(const AutoSpace *s) {
  int at[AUTO_OPEN_MAX + 2] = {0};
  int64_t n = 0;
  do n += can_run(s, at);
  while (next(s, at));
  return n;
}

static int64_t combinations(const AutoSpace *s) {
  int64_t n = 1;
  for (int i = 0; i < s->n; i++) n *= s->axes[i].n;
  return n;
}

/* Drops the least likely value of the axis that has most of them; of equal ones options and what
 * only orders programs go first. */
static bool drop_one(AutoSpace *s) {
  AutoAxis *longest = NULL;
  for (int i = s->n; i-- > 0;)
    if (s->axes[i].n > 2 && (!longest || s->axes[i].n > longest->n)) longest = &s->axes[i];
  for (int i = s->n; !longest && i-- > 0;)
    if (s->axes[i].n > 1) longest = &s->axes[i];
  if (longest) longest->n--;
  return longest != NULL;
}

static void add_value(const AutoSpace *s, const int *at, int i, TunedConfig *out) {
  KernelArg arg = {.name = s->axes[i].name, .kind = ARG_INT, .div = 1};
  arg.i = s->axes[i].values[at[i]];
  vec_push(s->r->p->arena, out, arg);
}

/* Constexprs first, then options, of which the kernel may have one as a constexpr. */
static TunedConfig config_at(const AutoSpace *s, const int *at) {
  static const char *const options[] = {"num_warps", "num_stages"};
  TunedConfig c = {0};
  for (int i = 0; i < s->n; i++)
    if (!tuned_is_option(s->axes[i].name)) add_value(s, at, i, &c);
  for (int k = 0; k < 2; k++)
    for (int i = 0; i < s->n; i++)
      if (!strcmp(s->axes[i].name, options[k])) add_value(s, at, i, &c);
  return c;
}

void auto_configs(AutoSpace *s, TunedConfigs *out) {
  enum { COUNTED_MAX = 20000 };
  int most = tuned_for_gpu(s->r->q) ? AUTO_CONFIGS_GPU : AUTO_CONFIGS_CPU;
  while ((combinations(s) > COUNTED_MAX || count_configs(s) > most) && drop_one(s)) {
  }
  int at[AUTO_OPEN_MAX + 2] = {0};
  do
    if (can_run(s, at)) vec_push(s->r->p->arena, out, config_at(s, at));
  while (next(s, at));
}
