/* Maxima of numbers that are computed from a product's sums while another product runs, and of
 * which only those above a limit are asked for, as attention has them whose shares stay relative to
 * an earlier maximum until a row's scores exceed it by some limit:
 *
 *   groups of max: of a lane's registers x ; groups of shfl and max: of lanes ; m = mov
 *   h = mul m, k  or  h is m ; d = sub h, o ; g = gt d, limit ; s = select g, h, o
 *
 * s is o for each m up to (o + limit) / k.  So warps vote: where no lane has a larger x, m is set
 * to -infinity, and the groups are skipped.  Numbers above zero have the order of their bits as
 * signed integers, and numbers below zero are less: the lane's x are compared as integers, for
 * ptxas joins two maxima of these to one instruction, where o is such that the number to compare
 * with is above zero, and rounding does not matter.  In other lanes, and with NaN, the vote is for
 * the maxima.
 *
 * The branch keeps ptxas from moving the numbers' computation behind the wait for products, which
 * is what is gained: maxima of the sums themselves, and programs that share a multiprocessor, are 2
 * to 7% slower so (bench/history.md). */
#include <string.h>

#include "codegen/ptx/ptx.h"
#include "lower/nest/nest_access.h"

typedef VEC(int32_t) Registers;

/* An element of a partial maximum, and the registers of x that it is of. */
typedef struct {
  const NestVar *var;
  int32_t at;
  Registers of;
} Partial;

typedef struct {
  const NestVar *x, *most; /* the numbers; o */
  const NestStmt *last;    /* sets m */
  VEC(Partial) partials;
  double k, limit;
} Maxima;

/* ---- the groups of maxima ---- */

static bool is_f32(const Ref *r) {
  return r->kind == REF_VAR && r->var->dtype == DT_F32 && !r->var->uniform;
}

static Partial *find_partial(const Maxima *m, const NestVar *v, int32_t at) {
  for (size_t i = 0; i < m->partials.len; i++)
    if (m->partials.data[i].var == v && m->partials.data[i].at == at) return &m->partials.data[i];
  return NULL;
}

static bool is_partial(const Maxima *m, const NestVar *v) {
  for (size_t i = 0; i < m->partials.len; i++)
    if (m->partials.data[i].var == v) return true;
  return false;
}

/* Adds what the source is of. */
static bool add_source(Ptx *p, Maxima *m, Partial *to, const Ref *source) {
  if (!is_f32(source) || source->var == to->var) return false;
  int32_t at = ptx_subscript(p, source);
  if (!is_partial(m, source->var)) {
    if (m->x && m->x != source->var) return false;
    m->x = source->var;
    vec_push(p->arena, &to->of, at);
    return true;
  }
  const Partial *from = find_partial(m, source->var, at);
  for (size_t i = 0; from && i < from->of.len; i++) vec_push(p->arena, &to->of, from->of.data[i]);
  return from != NULL;
}

/* mov a, b  or  a = max a, b */
static bool take_maximum(Ptx *p, Maxima *m, const NestStmt *s) {
  const Ref *d = &s->dsts[0];
  if (!s->ndsts || !is_f32(d) || s->guard.kind || d->var == m->x) return false;
  int32_t at = ptx_subscript(p, d);
  Partial *to = find_partial(m, d->var, at);
  if (s->code == NEST_MOV) {
    Partial made = {.var = d->var, .at = at};
    if (to || nest_int(s, NA_n, 1) != 1 || !add_source(p, m, &made, &s->srcs[0])) return false;
    vec_push(p->arena, &m->partials, made);
    return true;
  }
  bool is = s->code == NEST_OP && s->op == TILE_MAX && s->type == DT_F32 && to;
  const Ref *a = &s->srcs[0];
  return is && is_f32(a) && a->var == d->var && ptx_subscript(p, a) == at &&
         add_source(p, m, to, &s->srcs[1]);
}

static bool take_maxima(Ptx *p, Maxima *m, const NestStmt *s) {
  if (s->code != NEST_UNROLL) return take_maximum(p, m, s);
  for (int64_t i = 0; i < s->index->extent; i++) {
    p->index[s->index->id] = i;
    for (const NestStmt *x = s->regions[0]->first; x; x = x->next)
      if (!take_maxima(p, m, x)) return false;
  }
  return true;
}

/* unroll { y = shfl v ; v = max v, y } */
static bool is_of_lanes(const NestStmt *s, const NestVar *v) {
  const NestStmt *shfl = s->code == NEST_UNROLL ? s->regions[0]->first : NULL;
  const NestStmt *max = shfl ? shfl->next : NULL;
  if (!max || max->next || shfl->code != NEST_SHFL || max->code != NEST_OP) return false;
  const Ref *y = &shfl->dsts[0];
  return max->op == TILE_MAX && is_f32(y) && shfl->srcs[0].var == v && max->dsts[0].var == v &&
         max->srcs[0].var == v && max->srcs[1].kind == REF_VAR && max->srcs[1].var == y->var &&
         !shfl->guard.kind && !max->guard.kind;
}

/* From the first group to the statement that sets m of all rows. */
static bool find_groups(Ptx *p, const NestStmt *first, Maxima *m) {
  const NestStmt *s = first;
  for (; s && s->code == NEST_UNROLL && s->regions[0]->first->code != NEST_SHFL; s = s->next)
    if (!take_maxima(p, m, s)) return false;
  if (!m->partials.len || !s) return false;
  const NestVar *v = m->partials.data[m->partials.len - 1].var;
  for (; s && is_of_lanes(s, v); s = s->next) continue;
  bool sets = s && s->code == NEST_MOV && !s->guard.kind && is_f32(&s->dsts[0]) &&
              is_f32(&s->srcs[0]) && s->srcs[0].var == v;
  m->last = s;
  return sets && ptx_reg(p, s->dsts[0].var)->writers == 1;
}

/* ---- the use of the maxima ---- */

/* A variable's statements that read it, up to a few. */
typedef struct {
  const NestStmt *by[2];
  int n;
} Readers;

static void find_readers(Readers *r, const NestBlock *b, const NestVar *v) {
  for (const NestStmt *s = b->first; s; s = s->next) {
    if (ptx_reads(s, v) && r->n++ < 2) r->by[r->n - 1] = s;
    for (uint32_t i = 0; i < s->nregions; i++) find_readers(r, s->regions[i], v);
  }
}

/* An op of f32 on each element: all its variables have the subscript of its result. */
static bool is_elementwise(const NestStmt *s, TileCode op) {
  if (!s || s->code != NEST_OP || s->op != op || s->guard.kind) return false;
  for (uint32_t i = 0; i < s->nsrcs; i++)
    if (s->srcs[i].kind == REF_VAR && !affine_eq(&s->srcs[i].sub, &s->dsts[0].sub)) return false;
  return true;
}

/* The one of the n statements that read the variable, set once, that is that op. */
static const NestStmt *reader_of(const Ptx *p, const NestVar *v, TileCode op, int n) {
  Readers r = {.n = 0};
  if (ptx_reg(p, v)->writers != 1) return NULL;
  find_readers(&r, p->nest->body, v);
  for (int i = 0; i < n && r.n == n; i++)
    if (is_elementwise(r.by[i], op)) return r.by[i];
  return NULL;
}

static bool is_normal(const Ref *r, double *x) {
  const double least = 1e-30, most = 1e30;
  *x = r->kind == REF_FLOAT ? r->f : 0;
  return *x > least && *x < most;
}

static bool is_var(const Ref *r, const NestVar *v) { return r->kind == REF_VAR && r->var == v; }

/* From the first group to the selection, in its block, nothing sets o. */
static bool stays(const NestStmt *first, const NestStmt *takes, const NestVar *o) {
  const NestStmt *at = takes;
  while (at && at->parent != first->parent) at = at->parent->owner;
  const NestStmt *s = first;
  for (; s && s != at; s = s->next)
    if (nest_sets(s, o)) return false;
  return s && !nest_sets(s, o);
}

static bool find_use(const Ptx *p, const NestStmt *first, Maxima *m) {
  const NestVar *h = m->last->dsts[0].var;
  const NestStmt *scale = reader_of(p, h, TILE_MUL, 1);
  m->k = 1;
  if (scale && (scale->type != DT_F32 || !is_normal(&scale->srcs[1], &m->k))) return false;
  if (scale) h = scale->dsts[0].var;
  const NestStmt *above = reader_of(p, h, TILE_SUB, 2), *takes = reader_of(p, h, TILE_SELECT, 2);
  if (!above || !takes || !is_var(&above->srcs[0], h) || !is_f32(&above->srcs[1])) return false;
  const NestVar *o = m->most = above->srcs[1].var, *by = above->dsts[0].var;
  const NestStmt *compares = reader_of(p, by, TILE_GT, 1);
  if (!compares || !is_var(&compares->srcs[0], by) || !is_normal(&compares->srcs[1], &m->limit))
    return false;
  const NestVar *more = compares->dsts[0].var;
  return reader_of(p, more, TILE_SELECT, 1) == takes && is_var(&takes->srcs[0], more) &&
         is_var(&takes->srcs[1], h) && is_var(&takes->srcs[2], o) && o != h &&
         stays(first, takes, o);
}

/* ---- the text ---- */

/* A row's number to compare with, as bits: the least integer asks for the maxima. */
static void put_limit(Ptx *p, const Maxima *m, int32_t row, Operand bits) {
  const double less = 1 - 0x1p-18; /* more than the roundings of all this */
  Operand o = ptx_element(p, m->most, row), some = ptx_temp(p, RC_PRED);
  Operand limit = ptx_temp(p, RC_F32);
  ptx_emit(p, "fma.rn.f32 $d, $a, $b, $c", limit, o, ptx_f32((float)(less / m->k)),
           ptx_f32((float)(less * m->limit / m->k)));
  ptx_emit(p, "setp.ge.f32 $d, $a, $b", some, o, ptx_f32((float)(-m->limit / 2)), o);
  ptx_emit(p, "selp.b32 $d, $a, 0x80000000, $b", bits, limit, some, some);
}

/* The largest of the registers as integers. */
static Operand put_largest(Ptx *p, const Maxima *m, const Registers *of) {
  enum { CHAINS = 2 };
  Operand largest[CHAINS];
  size_t n = of->len < CHAINS ? 1 : CHAINS;
  for (size_t i = 0; i < n; i++) {
    largest[i] = ptx_temp(p, RC_B32);
    ptx_emit2(p, "mov.b32 $d, $a", largest[i], ptx_element(p, m->x, of->data[i]));
  }
  for (size_t i = n; i < of->len; i++)
    ptx_emit(p, "mov.b32 $0r, $b; max.s32 $d, $a, $0r", largest[i % n], largest[i % n],
             ptx_element(p, m->x, of->data[i]), largest[i % n]);
  if (n == CHAINS)
    ptx_emit(p, "max.s32 $d, $a, $b", largest[0], largest[0], largest[1], largest[1]);
  return largest[0];
}

/* Has a lane a number above the limit of its row, or a row none to compare with? */
static Operand some_exceed(Ptx *p, const Maxima *m) {
  const Ref *to = &m->last->dsts[0], *from = &m->last->srcs[0];
  Operand some = {0};
  int rows = (int)nest_int(m->last, NA_n, 1);
  for (int i = 0; i < rows; i++) {
    const Partial *partial = find_partial(m, from->var, ptx_subscript(p, from) + i);
    Operand bits = ptx_temp(p, RC_B32), more = ptx_temp(p, RC_PRED);
    put_limit(p, m, ptx_subscript(p, to) + i, bits);
    Operand largest = put_largest(p, m, &partial->of);
    ptx_emit(p, "setp.ge.s32 $d, $a, $b", more, largest, bits, bits);
    if (i) ptx_emit(p, "or.pred $d, $a, $b", some, some, more, more);
    else some = more;
  }
  ptx_emit2(p, "vote.sync.any.pred $d, $a, 0xffffffff", some, some);
  return some;
}

/* All rows have some of the numbers, which are many. */
static bool are_many(Ptx *p, const Maxima *m) {
  enum { FEWEST = 32, MOST_ROWS = 8 };
  size_t n = 0;
  int rows = (int)nest_int(m->last, NA_n, 1);
  for (int i = 0; i < rows; i++) {
    const Ref *from = &m->last->srcs[0];
    const Partial *partial = find_partial(m, from->var, ptx_subscript(p, from) + i);
    if (!partial) return false;
    n += partial->of.len;
  }
  return rows <= MOST_ROWS && n >= FEWEST;
}

/* ---- where it gains ---- */

static bool is_product_of(const NestBlock *b, const NestVar *x) {
  for (const NestStmt *s = b->first; s; s = s->next) {
    if ((s->code == NEST_WGMMA || s->code == NEST_MMA) && s->dsts[0].var == x) return true;
    for (uint32_t r = 0; r < s->nregions; r++)
      if (is_product_of(s->regions[r], x)) return true;
  }
  return false;
}

/* Does a product run on in the loop's body, in which the groups are? */
static bool has_open_product(const NestStmt *first) {
  const NestStmt *loop = first->parent->owner;
  if (!loop || loop->code != NEST_FOR) return false;
  for (const NestStmt *s = first->parent->first; s; s = s->next)
    if (s->code == NEST_MMA_WAIT && nest_int(s, NA_groups, 0) > 0) return true;
  return false;
}

const NestStmt *ptx_vote_on_maxima(Ptx *p, const NestStmt *first, int32_t *end) {
  Maxima m = {.x = NULL};
  bool can = machine_has(p->machine, HAS_EXTREMA_OF_THREE) && !p->depth &&
             first->code == NEST_UNROLL && has_open_product(first);
  if (!can || !find_groups(p, first, &m) || !are_many(p, &m) || !find_use(p, first, &m))
    return NULL;
  if (is_product_of(p->nest->body, m.x)) return NULL;
  ptx_flush_words(p);
  p->span = first->span;
  memset(p->temps, 0, sizeof p->temps);
  Operand some = some_exceed(p, &m);
  for (int i = 0; i < (int)nest_int(m.last, NA_n, 1); i++)
    ptx_emit2(p, "mov.b32 $d, 0fFF800000", ptx_dest(p, &m.last->dsts[0], i), some);
  *end = ptx_label(p);
  ptx_jump_if(p, &some, false, *end);
  return m.last;
}
