#include <string.h>

#include "lower/analysis/box_access.h"

/* All variables are taken for ones that are never negative, until a statement says otherwise: what
 * is left holds by induction over the statements that run. */
typedef struct {
  bool *holds; /* by variable id */
  bool strict; /* divisors may be negative */
  bool changed;
  Definitions d;
} Signs;

bool ref_is_not_negative(const bool *holds, const Ref *r) {
  if (r->kind == REF_VAR) return holds[r->var->id];
  if (r->kind != REF_AFFINE || r->sub.c < 0) return false;
  for (int i = 0; i < r->sub.n; i++)
    if (r->sub.t[i].coef < 0) return false;
  return true;
}

static bool ref_holds(const Signs *s, const Ref *r) { return ref_is_not_negative(s->holds, r); }

static bool cast_holds(const Signs *s, const NestStmt *st) {
  if (!dtype_is_int(st->type) || !dtype_is_int(st->to)) return false;
  if (dtype_is_signed(st->type)) return ref_holds(s, &st->srcs[0]);
  return dtype_bits(st->type) < dtype_bits(st->to);
}

/* ---- n - 1 - x % n ---- */

static const NestStmt *definition(const Definitions *d, const Ref *r, TileCode op) {
  if (r->kind != REF_VAR || d->count[r->var->id] != 1) return NULL;
  const NestStmt *st = d->first[r->var->id];
  return st->code == NEST_OP && st->op == op ? st : NULL;
}

static bool is_number(const Ref *r, int64_t *n) {
  *n = r->sub.c;
  return r->kind == REF_AFFINE && !r->sub.n;
}

static bool is_var(const Ref *r, const Ref *v) { return r->kind == REF_VAR && r->var == v->var; }

static const NestStmt *place_in_grid(const Definitions *d, const Ref *r, NestCode code) {
  if (r->kind != REF_VAR || d->count[r->var->id] != 1) return NULL;
  const NestStmt *st = d->first[r->var->id];
  return st->code == code ? st : NULL;
}

/* Is x less than n, where that is positive?  It is y % n, or y % (n * t) / t, or one of n
 * programs. */
static bool is_less(const Definitions *d, const Ref *x, const Ref *n) {
  int64_t t = 1, factor, most, least;
  const NestStmt *pid = place_in_grid(d, x, NEST_PID), *all_of = place_in_grid(d, n, NEST_NPROG);
  if (pid && all_of) return nest_int(pid, NA_axis, 0) == nest_int(all_of, NA_axis, 0);
  const NestStmt *of = definition(d, x, TILE_DIV);
  if (of && (!is_number(&of->srcs[1], &t) || t < 1)) return false;
  const NestStmt *rest = definition(d, of ? &of->srcs[0] : x, TILE_REM);
  if (!rest) return false;
  const Ref *by = &rest->srcs[1];
  if (is_number(n, &most)) return is_number(by, &least) && least > 0 && least <= most * t;
  if (t == 1) return is_var(by, n);
  const NestStmt *all = definition(d, by, TILE_MUL);
  return all && is_var(&all->srcs[0], n) && is_number(&all->srcs[1], &factor) && factor == t;
}

bool counts_down(Ref *n, const Definitions *d, const NestStmt *st) {
  int64_t c;
  if (st->code != NEST_OP || st->op != TILE_SUB) return false;
  if (!dtype_is_int(st->type) || !dtype_is_signed(st->type)) return false;
  *n = st->srcs[0];
  if (is_number(n, &c)) {
    n->sub.c++;
    return c >= 0 && is_less(d, &st->srcs[1], n);
  }
  const NestStmt *last = definition(d, n, TILE_SUB);
  if (!last || !is_number(&last->srcs[1], &c) || c != 1) return false;
  *n = last->srcs[0];
  return n->kind == REF_VAR && is_less(d, &st->srcs[1], n);
}

static bool difference_holds(const Signs *s, const NestStmt *st) {
  Ref n;
  return counts_down(&n, &s->d, st) && ref_holds(s, &n);
}

static bool op_holds(const Signs *s, const NestStmt *st) {
  const Ref *x = st->srcs;
  if (st->op == TILE_CAST) return cast_holds(s, st);
  if (st->op == TILE_SELECT) return ref_holds(s, &x[1]) && ref_holds(s, &x[2]);
  if (!dtype_is_signed(st->type)) return false;
  switch (st->op) {
    case TILE_ADD:
    case TILE_MUL:
    case TILE_MIN:
    case TILE_OR:
    case TILE_XOR: return ref_holds(s, &x[0]) && ref_holds(s, &x[1]);
    case TILE_SUB: return difference_holds(s, st);
    case TILE_MAX:
    case TILE_AND: return ref_holds(s, &x[0]) || ref_holds(s, &x[1]);
    case TILE_DIV: return ref_holds(s, &x[0]) && (!s->strict || ref_holds(s, &x[1]));
    case TILE_REM:
    case TILE_SHL:
    case TILE_SHR:
    case TILE_HINT: return ref_holds(s, &x[0]);
    default: return false;
  }
}

static bool result_holds(const Signs *s, const NestStmt *st) {
  switch (st->code) {
    case NEST_PID:
    case NEST_CLUSTER_RANK:
    case NEST_NPROG: return true;
    case NEST_MOV: return ref_holds(s, &st->srcs[0]);
    case NEST_FOR: return ref_holds(s, &st->srcs[0]) && ref_holds(s, &st->srcs[2]);
    case NEST_OP: return op_holds(s, st);
    default: return false;
  }
}

static void walk(Signs *s, const NestBlock *b) {
  for (const NestStmt *st = b->first; st; st = st->next) {
    for (uint32_t i = 0; i < st->ndsts; i++) {
      const Ref *r = &st->dsts[i];
      if (r->kind != REF_VAR || !s->holds[r->var->id] || result_holds(s, st)) continue;
      s->holds[r->var->id] = false;
      s->changed = true;
    }
    for (uint32_t r = 0; r < st->nregions; r++) walk(s, st->regions[r]);
  }
}

bool *not_negative(Arena *a, const Nest *n, const TensorMap *m, const bool *assumed) {
  Signs s = {ARENA_ARRAY(a, bool, n->nvars + 1), !assumed, true, {0}};
  definitions_find(&s.d, a, n);
  memset(s.holds, true, n->nvars);
  for (uint32_t i = 0; i < n->nparams; i++)
    s.holds[n->params[i]->id] = assumed && assumed[n->params[i]->id];
  for (int i = 0; m && i < m->rank; i++) {
    if (m->axes[i].extent.param) s.holds[m->axes[i].extent.param->id] = true;
    if (m->axes[i].stride.param) s.holds[m->axes[i].stride.param->id] = true;
  }
  while (s.changed) {
    s.changed = false;
    arena_work(a, n->nvars);
    walk(&s, n->body);
  }
  return s.holds;
}
