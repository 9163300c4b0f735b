#include "lower/cost/launch_stats.h"

#include <string.h>

#include "lower/target/atoms.h"

/* Goes through what a thread runs from its end to its start, unrolled loops unrolled: a register
 * is live from where it is set to where it is read last.  A loop's body is gone through twice, for
 * what it reads first is live at its end. */
typedef struct {
  const Nest *nest;
  uint32_t *offset; /* of a variable's first register, by id */
  uint32_t n;
  float *width; /* of each register, in 32-bit ones */
  bool *live;
  int64_t *index;
  double now, most;
  double addresses; /* of `now`: in pointers and integers */
  double *lines; /* the most at statements of each source line; NULL: not wanted */
  int guards;    /* live ones */
  bool products; /* there are some */
  int steps;
} Live;

enum { STEPS_MAX = 1 << 17, PREDICATES = 7 };

/* Registers that the assembler assigns for each live value, fitted to two thousand kernels.  The
 * assembler sinks loads towards their uses in kernels without products; kernels with products keep
 * many addresses live at once, each with parts of its own. */
typedef struct {
  float floats, pointers, integers;
  float guards; /* those that no predicate is left for */
  int own;      /* beside them */
} Weights;

static const Weights OF_PRODUCTS = {1.19f, 1.27f, 0.86f, 0, 10},
                     OF_OTHERS = {0.68f, 0.8f, 0.65f, 1, 15};
static const float READ_LATE = 0.5f;

static const Weights *weights_of(const Live *v) { return v->products ? &OF_PRODUCTS : &OF_OTHERS; }

/* A predicate costs nothing, uniform integers are in registers of their own kind. */
static float register_width(const Live *v, const NestVar *x) {
  const Weights *w = weights_of(v);
  unsigned bits = dtype_bits(x->dtype);
  if (x->dtype == DT_I1 || x->is_param || (x->uniform && !dtype_is_float(x->dtype))) return 0;
  if (dtype_is_float(x->dtype)) return w->floats * (bits > 32 ? 2 : (float)bits / 32);
  return bits > 32 ? 2 * w->pointers : w->integers;
}

static bool has_products(const NestBlock *b) {
  bool found = false;
  for (const NestStmt *s = b ? b->first : NULL; s && !found; s = s->next) {
    found = nest_flags(s) & NEST_IS_PRODUCT;
    for (uint32_t i = 0; i < s->nregions; i++) found |= has_products(s->regions[i]);
  }
  return found;
}

/* Operands of products are read from shared memory shortly before, whatever the order says. */
static void lighten(Live *v, const NestBlock *b) {
  for (const NestStmt *s = b ? b->first : NULL; s; s = s->next) {
    bool fragment = s->code == NEST_LDMATRIX || (s->code == NEST_LD && s->mems[0].buffer);
    const NestVar *x = fragment && s->dsts[0].kind == REF_VAR ? s->dsts[0].var : NULL;
    for (uint32_t k = 0; x && k < x->count; k++) v->width[v->offset[x->id] + k] *= READ_LATE;
    for (uint32_t i = 0; i < s->nregions; i++) lighten(v, s->regions[i]);
  }
}

static void number_live_registers(Live *v, Arena *a) {
  const Nest *n = v->nest;
  v->offset = ARENA_ARRAY(a, uint32_t, n->nvars + 1);
  for (uint32_t i = 0; i < n->nvars; i++) {
    v->offset[n->vars[i]->id] = v->n;
    v->n += n->vars[i]->count ? n->vars[i]->count : 1;
  }
  v->width = ARENA_ARRAY(a, float, v->n + 1);
  v->live = ARENA_ARRAY(a, bool, v->n + 1);
  memset(v->live, 0, v->n + 1);
  for (uint32_t i = 0; i < n->nvars; i++)
    for (uint32_t k = 0; k < (n->vars[i]->count ? n->vars[i]->count : 1); k++)
      v->width[v->offset[n->vars[i]->id] + k] = register_width(v, n->vars[i]);
  v->index = ARENA_ARRAY(a, int64_t, n->nindices + 1);
  memset(v->index, 0, (n->nindices + 1) * sizeof *v->index);
}

static void mark_live(Live *v, const Ref *r, uint32_t n, bool live) {
  if (r->kind != REF_VAR) return;
  int64_t at = v->offset[r->var->id] + r->sub.c;
  for (int i = 0; i < r->sub.n; i++) at += r->sub.t[i].coef * v->index[r->sub.t[i].index->id];
  for (int64_t i = at; i < at + n && i < v->n; i++) {
    if (v->live[i] == live) continue;
    v->live[i] = live;
    double width = live ? v->width[i] : -v->width[i];
    v->now += width;
    if (!dtype_is_float(r->var->dtype)) v->addresses += width;
    if (r->var->dtype == DT_I1) v->guards += live ? 1 : -1;
  }
}

/* How many registers of operand i a statement takes. */
static uint32_t run_of(const NestStmt *s, bool dst, uint32_t i) {
  uint32_t n = (uint32_t)nest_int(s, NA_n, 1);
  if (s->code == NEST_LDMATRIX) return nest_matrix_elements(s);
  if (!(nest_flags(s) & NEST_IS_PRODUCT)) return n;
  const Atom *a = atom_find(nest_str(s, NA_atom, ""));
  if (!a) return n;
  if (!dst && i < 2) return (uint32_t)atom_registers(a, (int)i);
  return (uint32_t)(atom_registers(a, 2) * nest_int(s, NA_columns, a->n) / a->n);
}

static void back(Live *v, const NestBlock *b);

static void back_regions(Live *v, const NestStmt *s) {
  if (s->code == NEST_UNROLL) {
    for (int32_t i = s->index->extent; i-- > 0 && v->steps < STEPS_MAX;) {
      v->index[s->index->id] = i;
      back(v, s->regions[0]);
    }
    return;
  }
  int times = s->code == NEST_IF || s->code == NEST_ROLE ? 1 : 2;
  for (int t = 0; t < times; t++)
    for (uint32_t i = s->nregions; i-- > 0;) back(v, s->regions[i]);
}

/* Most of many addresses, and of what they are sums of, differ by few numbers: the assembler
 * computes them again where it would have no registers for them. */
static double recomputed(double addresses) {
  static const double KEPT = 40, SHARE = 0.75;
  return addresses > KEPT ? SHARE * (addresses - KEPT) : 0;
}

static void back_stmt(Live *v, const NestStmt *s) {
  bool always = s->guard.kind == REF_NONE;
  v->steps++;
  for (uint32_t i = 0; i < s->ndsts && always; i++)
    mark_live(v, &s->dsts[i], run_of(s, true, i), false);
  if (s->nregions) back_regions(v, s);
  for (uint32_t i = 0; i < s->nsrcs; i++) mark_live(v, &s->srcs[i], run_of(s, false, i), true);
  for (uint32_t i = 0; i < s->nmems; i++) mark_live(v, &s->mems[i].base, 1, true);
  mark_live(v, &s->guard, 1, true);
  double now = v->now - (v->products ? recomputed(v->addresses) : 0);
  if (v->guards > PREDICATES) now += weights_of(v)->guards * (float)(v->guards - PREDICATES);
  if (now > v->most) v->most = now;
  if (v->lines && now > v->lines[s->span.line]) v->lines[s->span.line] = now;
}

/* ---- unrolled loops that follow each other ---- */

enum { GROUP_MOST = 32 };

static bool is_pure_block(const NestBlock *b) {
  for (const NestStmt *s = b->first; s; s = s->next)
    if (s->code == NEST_UNROLL ? !is_pure_block(s->regions[0])
                               : s->code != NEST_OP && s->code != NEST_MOV)
      return false;
  return true;
}

static const NestStmt *only_loop(const NestStmt *s) {
  const NestStmt *in = s->regions[0]->first;
  return in && !in->next && in->code == NEST_UNROLL ? in : NULL;
}

/* The assembler goes through loops over the same elements element by element, so that what passes
 * from one to the next does not wait for all.  s[0] is the last of them. */
static void back_group(Live *v, const NestStmt *const *s, int n) {
  const NestStmt *inner[GROUP_MOST];
  int nested = 0;
  while (nested < n && (inner[nested] = only_loop(s[nested])) &&
         inner[nested]->index->extent == inner[0]->index->extent)
    nested++;
  for (int32_t i = s[0]->index->extent; i-- > 0 && v->steps < STEPS_MAX;) {
    for (int k = 0; k < n; k++) v->index[s[k]->index->id] = i;
    if (nested == n) back_group(v, inner, n);
    for (int k = 0; k < n && nested < n; k++) back(v, s[k]->regions[0]);
  }
}

/* Goes through s and its like before it; returns the statement before these. */
static const NestStmt *back_loops(Live *v, const NestStmt *s) {
  const NestStmt *group[GROUP_MOST];
  int n = 0;
  int32_t extent = s->index->extent;
  while (s && n < GROUP_MOST && s->code == NEST_UNROLL && s->index->extent == extent &&
         is_pure_block(s->regions[0])) {
    group[n++] = s;
    s = s->prev;
  }
  back_group(v, group, n);
  return s;
}

static void back(Live *v, const NestBlock *b) {
  const NestStmt *s = b ? b->last : NULL;
  while (s && v->steps < STEPS_MAX) {
    if (s->code == NEST_UNROLL && is_pure_block(s->regions[0])) {
      s = back_loops(v, s);
      continue;
    }
    back_stmt(v, s);
    s = s->prev;
  }
}

static double most_live(Arena *a, const Nest *n, double *lines) {
  Live v = {.nest = n, .products = has_products(n->body), .lines = lines};
  number_live_registers(&v, a);
  lighten(&v, n->body);
  back(&v, n->body);
  return v.most + weights_of(&v)->own;
}

int register_pressure(Arena *a, const Nest *n) { return (int)most_live(a, n, NULL); }

void register_pressure_of_lines(Arena *a, const Nest *n, double *lines) {
  most_live(a, n, lines);
}
