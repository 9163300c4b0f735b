/* Spaces derived from the kernel alone.
 *
 * The kernel is compiled with a guess for each constexpr that has no value, then once more for each
 * of them with another value: what changes says what the constexpr does.  One that a string can
 * stand for is no number. */
#include "sema/autotune/tuned_auto.h"

#include <string.h>

#include "sema/messages.h"

/* ---- what is open ---- */

/* False if there are more than can be looked at. */
static bool find_open(AutoSpace *s) {
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
static bool find_base(AutoSpace *s) {
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

bool auto_refuse(AutoSpace *s, Name name, const char *what) {
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

static bool look_at(AutoSpace *s, AutoAxis *a) {
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
  if (!find_open(s)) {
    diag_error(p->diags, k->span, E_SEMA_AUTO_MANY, k->name, AUTO_OPEN_MAX);
    diag_hint(p->diags, H_SEMA_AUTO_ALL, tuned_space_hint(s->r));
    return false;
  }
  if (!heuristics_known(s)) return false;
  if (!find_base(s)) return refuse_all(s);
  for (int i = 0; i < s->nopen; i++)
    if (!look_at(s, &s->axes[i])) return false;
  auto_options(s);
  measure_tiles(s);
  auto_configs(s, &out->configs);
  if (out->configs.len) return true;
  diag_error(p->diags, k->span, E_SEMA_AUTO_NONE, k->name);
  diag_hint(p->diags, H_SEMA_AUTO_ALL, tuned_space_hint(s->r));
  return false;
}
