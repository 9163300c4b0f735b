/* Spaces derived from the kernel alone.
 *
 * The kernel is compiled with a guess for each constexpr that has no value, then once more for each
 * of them with another value: the difference shows what the constexpr does.  A constexpr that may
 * be a string is not guessed. */
#include <string.h>

#include "sema/autotune/probe.h"
#include "sema/autotune/tuned_read.h"
#include "sema/messages.h"

enum { AUTO_OPEN_MAX = 8, AUTO_VALUES_MAX = 8, AUTO_CONFIGS_GPU = 320, AUTO_CONFIGS_CPU = 48 };

/* A constexpr or option with the values to choose from, the likeliest first: when there are too
 * many configurations, values are dropped from the end. */
typedef struct {
  Name name;
  const KernelParam *param; /* NULL: an option */
  ProbeFacts facts;
  int64_t base; /* what it was when the kernel was looked at */
  Probe other;  /* the kernel with another value */
  int64_t other_value;
  int64_t values[AUTO_VALUES_MAX];
  int n;
} AutoAxis;

/* How a tile grows: its size with the base values, and to which power each constexpr enters it. */
typedef struct {
  int64_t numel, bytes;
  uint8_t power[AUTO_OPEN_MAX];
  bool staged; /* an operand of a dot, which shared memory holds once a stage */
  bool summed; /* the result of a dot, which registers hold */
} AutoTile;

typedef struct {
  TunedReader *r;
  AutoAxis axes[AUTO_OPEN_MAX + 2];
  int n;     /* with the options */
  int nopen; /* constexprs */
  Probe base;
  VEC(AutoTile) tiles;
} AutoSpace;

static bool auto_refuse(AutoSpace *s, Name name, const char *what);

/* ---- the values of each axis ---- */

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

/* Keeps the values of a list from `least` to the power of two that covers the axis. */
static void take_values_within(AutoSpace *s, AutoAxis *a, const int64_t *list, size_t n,
                               int64_t least) {
  int64_t size = a->facts.size ? a->facts.size : largest_argument(s->r->q);
  int64_t most = size ? power_above(size) : INT64_MAX;
  if (most < least) most = least;
  for (size_t i = 0; i < n; i++)
    if (list[i] >= least && list[i] <= most) a->values[a->n++] = list[i];
}

#define TAKE(s, a, list, least) \
  take_values_within((s), (a), (list), sizeof(list) / sizeof *(list), (least))

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

/* Lists the values of an option that is searched; returns 0 for any other name. */
static int option_values(Name name, int64_t *out) {
  static const int64_t warps[] = {4, 8, 2, 1}, stages[] = {3, 4, 2, 5, 1};
  if (!strcmp(name, "num_warps")) memcpy(out, warps, sizeof warps);
  else if (!strcmp(name, "num_stages")) memcpy(out, stages, sizeof stages);
  else return 0;
  return name[4] == 'w' ? 4 : 5;
}

/* The values of an axis, by the role of its constexpr.  False (reported) if it can't be guessed. */
static bool auto_values(AutoSpace *s, AutoAxis *a) {
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

static void auto_options(AutoSpace *s) {
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
 * gives it), no more elements than it has registers, and operands that fit shared memory.  The cost
 * model judges the rest. */
static bool can_run_config(const AutoSpace *s, const int *at) {
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
  do n += can_run_config(s, at);
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

static void add_axis_setting(const AutoSpace *s, const int *at, int i, TunedConfig *out) {
  KernelArg arg = {.name = s->axes[i].name, .kind = ARG_INT, .div = 1};
  arg.i = s->axes[i].values[at[i]];
  vec_push(s->r->p->arena, out, arg);
}

/* Constexprs first, then options, of which the kernel may have one as a constexpr. */
static TunedConfig config_at(const AutoSpace *s, const int *at) {
  static const char *const options[] = {"num_warps", "num_stages"};
  TunedConfig c = {0};
  for (int i = 0; i < s->n; i++)
    if (!tuned_is_option(s->axes[i].name)) add_axis_setting(s, at, i, &c);
  for (int k = 0; k < 2; k++)
    for (int i = 0; i < s->n; i++)
      if (!strcmp(s->axes[i].name, options[k])) add_axis_setting(s, at, i, &c);
  return c;
}

/* The configurations that can run: at most AUTO_CONFIGS_GPU of them, or AUTO_CONFIGS_CPU, since the
 * C compiler takes a second or more for each, and CPUs care less. */
static void auto_configs(AutoSpace *s, TunedConfigs *out) {
  enum { COUNTED_MAX = 20000 };
  int most = tuned_for_gpu(s->r->q) ? AUTO_CONFIGS_GPU : AUTO_CONFIGS_CPU;
  while ((combinations(s) > COUNTED_MAX || count_configs(s) > most) && drop_one(s)) {
  }
  int at[AUTO_OPEN_MAX + 2] = {0};
  do
    if (can_run_config(s, at)) vec_push(s->r->p->arena, out, config_at(s, at));
  while (next(s, at));
}

/* ---- what is open ---- */

/* False if there are more than can be looked at. */
static bool find_open_axes(AutoSpace *s) {
  TunedReader *r = s->r;
  for (uint32_t i = 0; i < r->k->nparams; i++) {
    const KernelParam *p = &r->k->params[i];
    if ((p->kind != KP_CONSTEXPR && !p->tuned) || p->has_default || tuned_given(r->q, p->name) ||
        tuned_is_heuristic(r, p->name))
      continue;
    if (s->nopen == AUTO_OPEN_MAX) return false;
    s->axes[s->nopen++] = (AutoAxis){.name = p->name, .param = p};
  }
  s->n = s->nopen;
  return true;
}

/* ---- probing ---- */

static TunedConfig guesses(AutoSpace *s, const KernelArg *instead) {
  TunedConfig values = {0};
  for (int i = 0; i < s->nopen; i++) {
    KernelArg arg = {.name = s->axes[i].name, .kind = ARG_INT, .i = s->axes[i].base, .div = 1};
    if (instead && instead->name == arg.name) arg = *instead;
    vec_push(s->r->p->arena, &values, arg);
  }
  return values;
}

/* Guesses for all, with `instead` in the place of one; what heuristics make of them counts. */
static void probe_with(AutoSpace *s, const KernelArg *instead, Probe *out) {
  TunedReader *r = s->r;
  TunedConfig values = guesses(s, instead), more;
  size_t before = diag_count(r->p->diags);
  bool ok = tuned_heuristics(r->p, r->k, r->q, &values, &more);
  diag_rewind(r->p->diags, before);
  for (size_t i = 0; ok && i < more.len; i++)
    if (!tuned_is_option(more.data[i].name)) vec_push(r->p->arena, &values, more.data[i]);
  probe_compile(r->p, r->k, r->q, &values, out);
}

static bool compiles_with(AutoSpace *s, const KernelArg *instead) {
  Probe p;
  probe_with(s, instead, &p);
  return p.fn != NULL;
}

/* Guesses of which one compiles: different ones first, then all the same. */
static bool find_base_values(AutoSpace *s) {
  static const int64_t different[AUTO_OPEN_MAX] = {32, 64, 32, 8, 16, 4, 2, 8};
  static const int64_t same[] = {64, 32, 16, 128, 256, 1, 1024};
  for (int i = 0; i < s->nopen; i++) s->axes[i].base = different[i];
  probe_with(s, NULL, &s->base);
  size_t tries = s->nopen ? sizeof same / sizeof *same : 0;
  for (size_t k = 0; !s->base.fn && !s->base.heavy && k < tries; k++) {
    for (int i = 0; i < s->nopen; i++) s->axes[i].base = same[k];
    Probe p;
    probe_with(s, NULL, &p);
    if (p.fn || p.heavy || !s->base.why) s->base = p;
  }
  return s->base.fn != NULL;
}

static bool auto_refuse(AutoSpace *s, Name name, const char *what) {
  Diags *d = s->r->p->diags;
  Span at = s->r->k->span;
  const ParamList *params = &s->r->k->def->params;
  for (uint32_t i = 0; i < params->len; i++)
    if (params->data[i].name == name) at = params->data[i].span;
  diag_error(d, at, E_SEMA_AUTO_PARAM, name, what);
  diag_hint(d, H_SEMA_AUTO, name, name);
  return false;
}

/* Nothing compiles: perhaps because of a heuristic, or because one of them is a dtype. */
static bool refuse_all(AutoSpace *s) {
  Diags *d = s->r->p->diags;
  TunedConfig values = guesses(s, NULL), more;
  if (!tuned_heuristics(s->r->p, s->r->k, s->r->q, &values, &more)) return false;
  for (int i = 0; i < s->nopen && !s->base.heavy; i++) {
    KernelArg dtype = {.name = s->axes[i].name, .kind = ARG_DTYPE, .type = type_scalar(DT_F32)};
    if (compiles_with(s, &dtype)) return auto_refuse(s, dtype.name, N_SEMA_AUTO_DTYPE);
  }
  diag_error(d, s->r->k->span, E_SEMA_AUTO, s->r->k->name);
  tuned_explain(s->r, s->base.why_at, s->base.why);
  if (s->nopen) diag_hint(d, H_SEMA_AUTO_ALL, tuned_space_hint(s->r));
  return false;
}

/* ---- what each does ---- */

static bool probe_axis(AutoSpace *s, AutoAxis *a) {
  KernelArg text = {.name = a->name, .kind = ARG_STR, .s = "?"};
  KernelArg changed = {.name = a->name, .kind = ARG_INT, .i = 2 * a->base, .div = 1};
  if (compiles_with(s, &text)) return auto_refuse(s, a->name, N_SEMA_AUTO_TEXT);
  probe_with(s, &changed, &a->other);
  if (!a->other.fn) {
    changed.i = a->base / 2;
    probe_with(s, &changed, &a->other);
  }
  if (!a->other.fn) return auto_refuse(s, a->name, N_SEMA_AUTO_FEW);
  a->other_value = changed.i;
  probe_compare(&s->base, &a->other, s->r->k, s->r->q, &a->facts);
  return auto_values(s, a);
}

/* Heuristics that can't be evaluated might set what seems to be open. */
static bool heuristics_known(AutoSpace *s) {
  TunedReader *r = s->r;
  TunedConfig more;
  for (size_t i = 0; s->nopen && i < r->list.len; i++)
    if (r->list.data[i].values.kind != V_DICT)
      return tuned_heuristics(r->p, r->k, r->q, NULL, &more);
  return true;
}

/* ---- how tiles grow ---- */

static bool same_tile(const AutoTile *a, const AutoTile *b) {
  return a->numel == b->numel && a->bytes == b->bytes && a->staged == b->staged &&
         a->summed == b->summed && !memcmp(a->power, b->power, sizeof a->power);
}

static const TileValue *nth_value(const TileOp *op, uint32_t i, bool operand) {
  return operand ? op->args[i] : op->results[i];
}

/* To which power the constexpr enters the tile; doubling it says so. */
static uint8_t power_of(const AutoAxis *a, size_t at, uint32_t i, bool operand, int64_t numel) {
  if (!a->facts.alike) return 0;
  int64_t other = type_numel(nth_value(a->other.ops.data[at], i, operand)->type);
  int64_t more = other > numel ? other / numel : numel / other;
  uint8_t power = 0;
  for (; more > 1; more /= 2) power++;
  return power;
}

/* The tile that an op gives, or takes. */
static void add_tile(AutoSpace *s, size_t at, uint32_t i, bool operand, bool dot) {
  const TileValue *v = nth_value(s->base.ops.data[at], i, operand);
  if (!v || !v->type.rank) return;
  AutoTile t = {.numel = type_numel(v->type), .staged = dot && operand, .summed = dot && !operand};
  t.bytes = t.numel * (v->type.dtype == DT_PTR ? 8 : dtype_bytes((DType)v->type.dtype));
  for (int k = 0; k < s->nopen; k++) t.power[k] = power_of(&s->axes[k], at, i, operand, t.numel);
  for (size_t k = 0; k < s->tiles.len; k++)
    if (same_tile(&s->tiles.data[k], &t)) return;
  vec_push(s->r->p->arena, &s->tiles, t);
}

static void measure_tiles(AutoSpace *s) {
  for (size_t i = 0; i < s->base.ops.len; i++) {
    const TileOp *op = s->base.ops.data[i];
    bool dot = op->code == TILE_DOT;
    for (uint32_t k = 0; k < op->nresults; k++) add_tile(s, i, k, false, dot);
    for (uint32_t k = 0; dot && k < 2; k++) add_tile(s, i, k, true, true);
  }
}

bool tuned_automatic(Program *p, const Kernel *k, const TunedQuery *q, TunedSpace *out) {
  AutoSpace *s = ARENA_NEW(p->arena, AutoSpace);
  s->r = ARENA_NEW(p->arena, TunedReader);
  tuned_read(s->r, p, k, q, DECOR_HEURISTICS);
  if (!find_open_axes(s)) {
    diag_error(p->diags, k->span, E_SEMA_AUTO_MANY, k->name, AUTO_OPEN_MAX);
    diag_hint(p->diags, H_SEMA_AUTO_ALL, tuned_space_hint(s->r));
    return false;
  }
  if (!heuristics_known(s)) return false;
  if (!find_base_values(s)) return refuse_all(s);
  for (int i = 0; i < s->nopen; i++)
    if (!probe_axis(s, &s->axes[i])) return false;
  auto_options(s);
  measure_tiles(s);
  auto_configs(s, &out->configs);
  if (out->configs.len) return true;
  diag_error(p->diags, k->span, E_SEMA_AUTO_NONE, k->name);
  diag_hint(p->diags, H_SEMA_AUTO_ALL, tuned_space_hint(s->r));
  return false;
}
