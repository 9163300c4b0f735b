/* Pass shift_compares: columns of a thread, which differ by constants, are compared with a bound, a
 * parameter or a constant, by those constants:
 *
 *   %column[a] = add %thread, (256*a)        %end = max %n, 0
 *   %mask[a] = lt %column[a], %n             %left = sub %end, %thread
 *                                            %mask[a] = gt %left, (256*a)
 *
 * The first form keeps a register for each column as long as a mask of it may be needed, and takes
 * an addition for each.  %thread follows from lane and warp alone, so no sum wraps. */
#include "lower/passes.h"

#include <string.h>

enum {
  MOST = INT32_MAX / 2, /* of a thread's number, and of what is added */
  COLUMNS_LEAST = 4     /* compared with one bound: fewer are not worth the difference */
};

/* A bound less a thread's number; NULL: not yet computed. */
typedef struct {
  NestVar *base, *left;
  Ref bound;
  int64_t columns; /* compared with the bound */
} Left;

typedef struct {
  Unit *u;
  Nest *nest;
  NestStmt **def;  /* by var id: the one statement that defines it; NULL: none or several do */
  uint32_t *defs;  /* by var id: how many do */
  uint32_t *uses;  /* by var id */
  uint32_t *taken; /* by var id: uses that compares are, which could do without it */
  int64_t *most;   /* by var id: what most_of() has found; 0: not yet */
  VEC(Left) lefts;
  Arena *scratch;
} Shift;

/* ---- uses ---- */

static void note_ref(Shift *s, const Ref *r) {
  if (r->kind == REF_VAR) s->uses[r->var->id]++;
}

static void note_block(Shift *s, const NestBlock *b) {
  for (NestStmt *st = b->first; st; st = st->next) {
    for (uint32_t i = 0; i < st->ndsts; i++)
      if (st->dsts[i].kind == REF_VAR) {
        uint32_t id = st->dsts[i].var->id;
        s->def[id] = s->defs[id]++ ? NULL : st;
      }
    for (uint32_t i = 0; i < st->nsrcs; i++) note_ref(s, &st->srcs[i]);
    for (uint32_t i = 0; i < st->nmems; i++) note_ref(s, &st->mems[i].base);
    note_ref(s, &st->guard);
    for (uint32_t r = 0; r < st->nregions; r++) note_block(s, st->regions[r]);
  }
}

/* ---- what is compared ---- */

static bool is_plain_op(const NestStmt *st, TileCode op) {
  return st && st->code == NEST_OP && st->op == op && st->type == DT_I32 && !st->guard.kind;
}

/* The greatest number that the operand has in a thread, if it is a constant or follows from the
 * numbers of lane and warp, and is not negative; -1: it may be anything. */
static int64_t most_of(Shift *s, const Ref *r);

static int64_t most_of_stmt(Shift *s, const NestStmt *st) {
  if (!st || st->parent != s->nest->body || st->guard.kind) return -1;
  if (st->code == NEST_LANE) return s->nest->lanes - 1;
  if (st->code == NEST_WARP) return s->nest->warps - 1;
  if (!is_plain_op(st, TILE_ADD) && !is_plain_op(st, TILE_MUL)) return -1;
  int64_t a = most_of(s, &st->srcs[0]), b = most_of(s, &st->srcs[1]);
  int64_t n = a < 0 || b < 0 ? -1 : st->op == TILE_ADD ? a + b : a * b;
  return n <= MOST ? n : -1;
}

static int64_t most_of(Shift *s, const Ref *r) {
  if (r->kind == REF_AFFINE) return !r->sub.n && r->sub.c >= 0 && r->sub.c <= MOST ? r->sub.c : -1;
  if (r->kind != REF_VAR || r->var->count != 1) return -1;
  int64_t *most = &s->most[r->var->id];
  if (!*most) *most = most_of_stmt(s, s->def[r->var->id]) + 2; /* from 1 on */
  return *most - 2;
}

/* A constant for each iteration of unrolled loops, from 0 to MOST. */
static bool is_constant(const Ref *r) {
  if (r->kind != REF_AFFINE) return false;
  int64_t least = r->sub.c, most = r->sub.c;
  for (int i = 0; i < r->sub.n; i++) {
    int64_t reach = r->sub.t[i].coef * (r->sub.t[i].index->extent - 1);
    *(reach < 0 ? &least : &most) += reach;
  }
  return least >= 0 && most <= MOST;
}

static bool is_bound(const Ref *r) {
  if (r->kind == REF_VAR) return r->var->is_param;
  return r->kind == REF_AFFINE && !r->sub.n && r->sub.c >= 0 && r->sub.c <= INT32_MAX;
}

/* The sum of a thread's number and a constant that the statement compares with a bound; NULL: it
 * compares something else. */
static NestStmt *column_of(Shift *s, const NestStmt *st) {
  if (!is_plain_op(st, TILE_LT)) return NULL;
  const Ref *x = &st->srcs[0];
  if (x->kind != REF_VAR || !is_bound(&st->srcs[1])) return NULL;
  NestStmt *sum = s->def[x->var->id];
  if (!is_plain_op(sum, TILE_ADD) || sum->parent != st->parent) return NULL;
  if (!affine_eq(&sum->dsts[0].sub, &x->sub) || !is_constant(&sum->srcs[1])) return NULL;
  return sum->srcs[0].kind == REF_VAR && most_of(s, &sum->srcs[0]) >= 0 ? sum : NULL;
}

/* ---- the compares ---- */

static bool is_same_bound(const Ref *a, const Ref *b) {
  return a->kind == b->kind && a->var == b->var && a->sub.c == b->sub.c;
}

/* The entry for what the statement compares. */
static Left *left_of(Shift *s, const NestStmt *compare, const NestStmt *sum) {
  NestVar *base = sum->srcs[0].var;
  const Ref *bound = &compare->srcs[1];
  for (size_t i = 0; i < s->lefts.len; i++) {
    Left *x = &s->lefts.data[i];
    if (x->base == base && is_same_bound(&x->bound, bound)) return x;
  }
  vec_push(s->scratch, &s->lefts, ((Left){.base = base, .bound = *bound}));
  return &s->lefts.data[s->lefts.len - 1];
}

static void compute_left(Shift *s, Left *x) {
  NestStmt *place = s->def[x->base->id];
  NestBuilder b = {s->nest, place->parent, place->next, place->span};
  Ref end = x->bound;
  if (end.kind == REF_VAR) {
    end = ref_var(nest_var(s->nest, NULL, DT_I32, DT_NONE, 1, x->bound.var->uniform));
    nest_op(&b, TILE_MAX, DT_I32, end, x->bound, ref_int(0), ref_none());
  }
  x->left = nest_var(s->nest, NULL, DT_I32, DT_NONE, 1, false);
  nest_op(&b, TILE_SUB, DT_I32, ref_var(x->left), end, ref_var(x->base), ref_none());
}

static void shift(Shift *s, NestStmt *st, const NestStmt *sum) {
  Left *x = left_of(s, st, sum);
  if (!x->left) compute_left(s, x);
  st->op = TILE_GT;
  st->srcs[0] = ref_var(x->left);
  st->srcs[1] = sum->srcs[1];
}

static void count_taken(Shift *s, const NestBlock *b, int64_t times) {
  for (const NestStmt *st = b->first; st; st = st->next) {
    const NestStmt *sum = column_of(s, st);
    if (sum) left_of(s, st, sum)->columns += times;
    if (sum) s->taken[st->srcs[0].var->id]++;
    int64_t inside = st->code == NEST_UNROLL ? times * st->index->extent : times;
    for (uint32_t r = 0; r < st->nregions; r++) count_taken(s, st->regions[r], inside);
  }
}

static bool is_worth(Shift *s, const NestStmt *st, const NestStmt *sum) {
  uint32_t id = sum->dsts[0].var->id;
  return s->taken[id] == s->uses[id] && left_of(s, st, sum)->columns >= COLUMNS_LEAST;
}

static void shift_block(Shift *s, const NestBlock *b) {
  for (NestStmt *st = b->first, *next; st; st = next) {
    next = st->next;
    for (uint32_t r = 0; r < st->nregions; r++) shift_block(s, st->regions[r]);
    NestStmt *sum = column_of(s, st);
    if (!sum || !is_worth(s, st, sum)) continue;
    uint32_t id = sum->dsts[0].var->id;
    shift(s, st, sum);
    s->taken[id]--;
    if (!--s->uses[id]) nest_remove(sum);
  }
}

bool pass_shift_compares(Unit *u) {
  Arena *scratch = arena_child(u->arena);
  uint32_t n = u->nest->nvars;
  Shift s = {.u = u, .nest = u->nest, .scratch = scratch};
  s.def = ARENA_ARRAY(scratch, NestStmt *, n);
  s.defs = ARENA_ARRAY(scratch, uint32_t, n);
  s.uses = ARENA_ARRAY(scratch, uint32_t, n);
  s.taken = ARENA_ARRAY(scratch, uint32_t, n);
  s.most = ARENA_ARRAY(scratch, int64_t, n);
  note_block(&s, u->nest->body);
  count_taken(&s, u->nest->body, 1);
  shift_block(&s, u->nest->body);
  arena_free(scratch);
  return true;
}
