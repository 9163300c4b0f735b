/* Groups of statements that have a cheaper form for numbers in range, which a warp takes if all of
 * its lanes have such numbers.
 *
 * Hyperbolic tangents of many numbers in a loop with products:
 *
 *   unroll { y = mul x, k } unroll { t = tanh y } unroll { u = fma t, a, b }
 *
 * Bits of all x are joined: where the highest of an exponent is not among them, all |x| are below
 * SMALL_TANH_BELOW, y is small, and u is x * (c1 + c3 x^2 + c5 x^4) + b, or without c5 where y is
 * at most NEAR_TANH.  So an element takes no instruction of the unit for special functions, which
 * attention's exponentials keep busy.  Warps for which two terms are too few vote on three, by the
 * largest x and the largest -x. */
#include <string.h>

#include "codegen/ptx/ptx.h"
#include "lang/tile/small_tanh.h"

enum { FEWEST = 32 };

/* The statement of unrolled loops that have no other; NULL: some have. */
const NestStmt *ptx_only_statement(const NestStmt *s) {
  while (s && s->code == NEST_UNROLL)
    s = s->regions[0]->first && !s->regions[0]->first->next ? s->regions[0]->first : NULL;
  return s;
}

/* The elementwise op of an unrolled group of f32; NULL: it is something else. */
static const NestStmt *leaf_of(const NestStmt *group, TileCode op) {
  const NestStmt *s = group && group->code == NEST_UNROLL ? ptx_only_statement(group) : NULL;
  bool is = s && s->code == NEST_OP && s->op == op && s->type == DT_F32 && !s->guard.kind;
  return is && s->srcs[0].kind == REF_VAR ? s : NULL;
}

typedef struct {
  int32_t to, from;
} Pair;

typedef VEC(Pair) Pairs;

/* Registers of result and first operand, in order. */
static void find_pairs(Ptx *p, const NestStmt *s, Pairs *out) {
  if (s->code != NEST_UNROLL) {
    Pair pair = {ptx_subscript(p, &s->dsts[0]), ptx_subscript(p, &s->srcs[0])};
    vec_push(p->arena, out, pair);
    return;
  }
  for (int64_t i = 0; i < s->index->extent; i++) {
    p->index[s->index->id] = i;
    find_pairs(p, s->regions[0]->first, out);
  }
}

bool ptx_reads(const NestStmt *s, const NestVar *v) {
  for (uint32_t i = 0; i < s->nsrcs; i++)
    if (s->srcs[i].kind == REF_VAR && s->srcs[i].var == v) return true;
  for (uint32_t i = 0; i < s->nmems; i++)
    if (s->mems[i].base.kind == REF_VAR && s->mems[i].base.var == v) return true;
  return s->guard.kind == REF_VAR && s->guard.var == v;
}

static int count_readers(const NestBlock *b, const NestVar *v) {
  int n = 0;
  for (const NestStmt *s = b->first; s; s = s->next) {
    n += ptx_reads(s, v);
    for (uint32_t r = 0; r < s->nregions; r++) n += count_readers(s->regions[r], v);
  }
  return n;
}

static bool is_in_loop(const NestStmt *s) {
  for (s = s->parent->owner; s; s = s->parent->owner)
    if (s->code == NEST_FOR || s->code == NEST_WHILE) return true;
  return false;
}

/* The group of tangents: their numbers x, and where their results go. */
typedef struct {
  const NestVar *x;
  const NestStmt *to; /* the statement that has the result */
  const NestStmt *after; /* the group of that if it is not the tangents' own; or NULL */
  Pairs pairs;           /* results and numbers */
  double k, a;
} Tangents;

static int32_t find_from(const Pairs *pairs, int32_t to) {
  for (size_t i = 0; i < pairs->len; i++)
    if (pairs->data[i].to == to) return pairs->data[i].from;
  return -1;
}

/* Replaces each `from` by that of the pair before it in `earlier`; false if one is missing. */
static bool compose(Pairs *pairs, const Pairs *earlier) {
  for (size_t i = 0; i < pairs->len; i++)
    if ((pairs->data[i].from = find_from(earlier, pairs->data[i].from)) < 0) return false;
  return true;
}

/* Products before the tangents, by a factor that makes all numbers below the limit small. */
static bool take_factor(Ptx *p, const NestStmt *group, const NestVar *y, Tangents *t) {
  const double least = SMALL_TANH / 4;
  const NestStmt *scale = leaf_of(group, TILE_MUL);
  Pairs pairs = {0};
  if (!scale || scale->dsts[0].var != y || scale->srcs[1].kind != REF_FLOAT) return false;
  t->k = scale->srcs[1].f;
  double most = SMALL_TANH_BELOW * (t->k < 0 ? -t->k : t->k);
  if (!(most >= least && most <= SMALL_TANH)) return false;
  t->x = scale->srcs[0].var;
  find_pairs(p, group, &pairs);
  return t->x != y && compose(&t->pairs, &pairs);
}

/* A sum or product of the tangents that nothing else reads. */
static void take_use(Ptx *p, const NestStmt *group, const NestVar *tanh, Tangents *t) {
  const NestStmt *use = leaf_of(group, TILE_FMA);
  if (!use) use = leaf_of(group, TILE_MUL);
  if (!use || use->srcs[0].var != tanh || use->srcs[1].kind != REF_FLOAT) return;
  const NestVar *to = use->dsts[0].var;
  bool sum = use->op == TILE_FMA && use->srcs[2].kind == REF_VAR;
  if (to == t->x || to == tanh || (sum && (use->srcs[2].var == to || use->srcs[2].var == tanh)))
    return;
  if (count_readers(p->nest->body, tanh) != 1) return;
  Pairs pairs = {0};
  find_pairs(p, group, &pairs);
  if (pairs.len != t->pairs.len || !compose(&pairs, &t->pairs)) return;
  *t = (Tangents){t->x, use, group, pairs, t->k, use->srcs[1].f};
}

static bool find_tangents(Ptx *p, const NestStmt *group, Tangents *t) {
  const NestStmt *tanh = leaf_of(group, TILE_TANH);
  *t = (Tangents){.to = tanh, .a = 1};
  if (!tanh || p->depth || !p->multiplies || !is_in_loop(group)) return false;
  const NestVar *y = tanh->srcs[0].var, *own = tanh->dsts[0].var;
  find_pairs(p, group, &t->pairs);
  if (t->pairs.len < FEWEST || own == y) return false;
  if (!take_factor(p, group->prev, y, t) || own == t->x) return false;
  take_use(p, group->next, own, t);
  return true;
}

/* ---- the text ---- */

/* Do all lanes have small numbers?  The predicate says that some have not. */
static Operand some_are_large(Ptx *p, const Tangents *t) {
  enum { CHAINS = 2 };
  Operand joined[CHAINS], large = ptx_temp(p, RC_PRED);
  const Pair *x = t->pairs.data;
  size_t n = t->pairs.len, i = 0;
  for (int c = 0; c < CHAINS; c++, i += 2) {
    joined[c] = ptx_temp(p, RC_B32);
    ptx_emit(p, "or.b32 $d, $a, $b", joined[c], ptx_element(p, t->x, x[i].from),
             ptx_element(p, t->x, x[i + 1].from), joined[c]);
  }
  for (int c = 0; i + 1 < n; i += 2, c = (c + 1) % CHAINS)
    ptx_emit(p, "lop3.b32 $d, $a, $b, $c, 0xFE", joined[c], ptx_element(p, t->x, x[i].from),
             ptx_element(p, t->x, x[i + 1].from), joined[c]);
  if (i < n)
    ptx_emit(p, "or.b32 $d, $a, $b", joined[0], joined[0], ptx_element(p, t->x, x[i].from),
             joined[0]);
  ptx_emit(p, "or.b32 $d, $a, $b", joined[0], joined[0], joined[1], joined[1]);
  ptx_emit2(p, "and.b32 $d, $a, 0x40000000", joined[0], joined[0]);
  ptx_emit2(p, "setp.ne.s32 $d, $a, 0", large, joined[0]);
  ptx_emit2(p, "vote.sync.any.pred $d, $a, 0xffffffff", large, large);
  return large;
}

/* One element's polynomial; p->index has its place. */
static void put_polynomial(Ptx *p, const Tangents *t, int32_t from, bool near) {
  double k = t->k * t->k, a = t->a * t->k;
  double c1 = near ? NEAR_TANH_N1 : SMALL_TANH_C1, c3 = near ? NEAR_TANH_N3 : SMALL_TANH_C3;
  Operand x = ptx_element(p, t->x, from), square = ptx_temp(p, RC_F32), sum = ptx_temp(p, RC_F32);
  Operand third = ptx_f32((float)(a * k * c3));
  ptx_emit(p, "mul.rn.f32 $d, $a, $b", square, x, x, x);
  if (!near)
    ptx_emit(p, "fma.rn.f32 $d, $a, $b, $c", sum, square,
             ptx_f32((float)(a * k * k * SMALL_TANH_C5)), third);
  ptx_emit(p, "fma.rn.f32 $d, $a, $b, $c", sum, square, near ? third : sum,
           ptx_f32((float)(a * c1)));
  if (t->to->op == TILE_FMA) {
    Operand b = ptx_source_reg(p, &t->to->srcs[2], DT_F32);
    ptx_emit(p, "fma.rn.f32 $d, $a, $b, $c", ptx_dest(p, &t->to->dsts[0], 0), x, sum, b);
  } else {
    ptx_emit(p, "mul.rn.f32 $d, $a, $b", ptx_dest(p, &t->to->dsts[0], 0), x, sum, sum);
  }
}

static void put_polynomials(Ptx *p, const NestStmt *s, const Tangents *t, bool near,
                            size_t *next) {
  if (s->code != NEST_UNROLL) {
    int32_t used[RC_COUNT];
    memcpy(used, p->temps, sizeof used);
    put_polynomial(p, t, t->pairs.data[(*next)++].from, near);
    memcpy(p->temps, used, sizeof used);
    return;
  }
  for (int64_t i = 0; i < s->index->extent; i++) {
    p->index[s->index->id] = i;
    put_polynomials(p, s->regions[0]->first, t, near, next);
  }
}

/* The largest of the numbers' bits as integers of that type. */
static Operand put_largest(Ptx *p, const Tangents *t, const char *max) {
  Operand largest = ptx_temp(p, RC_B32);
  ptx_emit2(p, "mov.b32 $d, $a", largest, ptx_element(p, t->x, t->pairs.data[0].from));
  for (size_t i = 1; i < t->pairs.len; i++) {
    int32_t used[RC_COUNT];
    memcpy(used, p->temps, sizeof used);
    ptx_emit(p, max, largest, largest, ptx_element(p, t->x, t->pairs.data[i].from), largest);
    memcpy(p->temps, used, sizeof used);
  }
  return largest;
}

/* Have some lanes numbers whose tangents are not small? */
static Operand some_are_far(Ptx *p, const Tangents *t) {
  float limit = (float)(SMALL_TANH / (t->k < 0 ? -t->k : t->k));
  uint32_t bits;
  memcpy(&bits, &limit, sizeof bits);
  Operand far = ptx_temp(p, RC_PRED), below = ptx_temp(p, RC_PRED);
  Operand most = put_largest(p, t, "mov.b32 $0r, $b; max.s32 $d, $a, $0r");
  Operand least = put_largest(p, t, "mov.b32 $0r, $b; max.u32 $d, $a, $0r");
  ptx_emit(p, "setp.ge.s32 $d, $a, $b", far, most, ptx_int(bits), most);
  ptx_emit(p, "setp.ge.u32 $d, $a, $b", below, least, ptx_int(bits | UINT32_C(1) << 31), least);
  ptx_emit(p, "or.pred $d, $a, $b", far, far, below, below);
  ptx_emit2(p, "vote.sync.any.pred $d, $a, 0xffffffff", far, far);
  return far;
}

static void put_form(Ptx *p, const NestStmt *group, const Tangents *t, bool near, int32_t end) {
  size_t next = 0;
  put_polynomials(p, t->after ? t->after : group, t, near, &next);
  ptx_jump_if(p, NULL, true, end);
}

bool ptx_vote_on_tangents(Ptx *p, const NestStmt *group, PtxVote *vote) {
  Tangents t;
  if (!find_tangents(p, group, &t)) return false;
  *vote = (PtxVote){group->prev, group, t.after, ptx_label(p), ptx_label(p)};
  bool near = SMALL_TANH_BELOW * (t.k < 0 ? -t.k : t.k) <= NEAR_TANH;
  int32_t larger = near ? ptx_label(p) : vote->others;
  Operand large = some_are_large(p, &t);
  ptx_jump_if(p, &large, true, larger);
  put_form(p, group, &t, near, vote->end);
  ptx_place_label(p, larger);
  if (!near) return true;
  Operand far = some_are_far(p, &t);
  ptx_jump_if(p, &far, true, vote->others);
  put_form(p, group, &t, false, vote->end);
  ptx_place_label(p, vote->others);
  return true;
}
