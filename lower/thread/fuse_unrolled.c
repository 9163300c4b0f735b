/* Pass fuse_unrolled: unrolls that follow each other and have the same extent become one where no
 * iteration depends on another one of the other loop.  So a value lives from one statement to the
 * next instead of through whole arrays of them.  Loads stay in loops of their own, before their
 * uses. */
#include "lower/passes.h"

#include <string.h>

/* The registers of a variable that a body touches, as a function of its loop's index i: from
 * coef*i + outer + lo to coef*i + outer + hi, where outer is affine in the loops around it. */
typedef struct {
  const NestVar *var;
  int64_t coef, lo, hi;
  Affine outer;
  bool writes;
} Touch;

enum { MAX_TOUCHES = 128 }; /* of two bodies together; comparing is quadratic */

typedef struct {
  Touch touch[MAX_TOUCHES];
  int n;
  bool loads, stores;
  bool fits; /* nothing else than ops, plain memory accesses and unrolls; not too many */
} Body;

/* ---- what a body touches ---- */

typedef struct Inner {
  const NestIndex *index;
  const struct Inner *up;
} Inner;

static bool is_inner_index(const Inner *in, const NestIndex *index) {
  while (in && in->index != index) in = in->up;
  return in != NULL;
}

static void add_touch(Body *b, const Ref *r, const NestIndex *loop, const Inner *in, int64_t width,
                      bool writes) {
  if (r->kind != REF_VAR || r->var->is_param) return;
  if (b->n == MAX_TOUCHES) {
    b->fits = false;
    return;
  }
  Touch *t = &b->touch[b->n++];
  *t = (Touch){.var = r->var, .lo = r->sub.c, .hi = r->sub.c + width - 1, .writes = writes};
  for (int k = 0; k < r->sub.n; k++) {
    const NestIndex *index = r->sub.t[k].index;
    int64_t coef = r->sub.t[k].coef, reach = coef * (index->extent - 1);
    if (index == loop) t->coef = coef;
    else if (!is_inner_index(in, index))
      affine_add(&t->outer, &(Affine){.t = &r->sub.t[k], .n = 1});
    else if (reach < 0) t->lo += reach;
    else t->hi += reach;
  }
}

static void touch_stmt(Body *b, const NestStmt *st, const NestIndex *loop, const Inner *in) {
  int64_t width = nest_int(st, NA_n, 1);
  unsigned flags = nest_flags(st);
  bool accesses = flags & (NEST_IS_READ | NEST_IS_WRITE);
  b->loads |= (flags & NEST_IS_READ) != 0;
  b->stores |= (flags & NEST_IS_WRITE) != 0;
  b->fits &= (flags & NEST_IS_PURE) ||
             (accesses && !(flags & (NEST_IS_ATOMIC | NEST_IS_ORDERED | NEST_IS_TOGETHER)));
  for (uint32_t i = 0; i < st->ndsts; i++) add_touch(b, &st->dsts[i], loop, in, width, true);
  for (uint32_t i = 0; i < st->nsrcs; i++)
    add_touch(b, &st->srcs[i], loop, in, st->code == NEST_OP ? 1 : width, false);
  for (uint32_t i = 0; i < st->nmems; i++) add_touch(b, &st->mems[i].base, loop, in, 1, false);
  add_touch(b, &st->guard, loop, in, 1, false);
}

static void note_touches(Body *b, const NestBlock *block, const NestIndex *loop, const Inner *in) {
  for (const NestStmt *st = block->first; st && b->fits; st = st->next) {
    if (st->code == NEST_UNROLL) note_touches(b, st->regions[0], loop, &(Inner){st->index, in});
    else touch_stmt(b, st, loop, in);
  }
}

/* A body that nothing is known of; its table stays as it is, for it is large. */
static void clear_touches(Body *b) {
  b->n = 0;
  b->loads = b->stores = false;
  b->fits = true;
}

static void find_touches(Body *b, const NestStmt *unroll) {
  clear_touches(b);
  note_touches(b, unroll->regions[0], unroll->index, NULL);
}

/* ---- what may be done ---- */

/* Can two touches of a variable meet in the same iteration only? */
static bool meet_at_home(const Touch *a, const Touch *b) {
  int64_t lo = a->lo < b->lo ? a->lo : b->lo, hi = a->hi > b->hi ? a->hi : b->hi;
  int64_t step = a->coef < 0 ? -a->coef : a->coef;
  return a->coef == b->coef && hi - lo < step && affine_eq(&a->outer, &b->outer);
}

static bool independent(const Body *a, const Body *b) {
  for (int i = 0; i < a->n; i++)
    for (int k = 0; k < b->n; k++) {
      const Touch *x = &a->touch[i], *y = &b->touch[k];
      if (x->var == y->var && (x->writes || y->writes) && !meet_at_home(x, y)) return false;
    }
  return true;
}

static bool can_join(const Body *a, const Body *b) {
  bool memory = (a->loads || a->stores) && (b->loads || b->stores);
  return a->fits && b->fits && !a->loads && !b->loads && !memory && independent(a, b);
}

/* Can a scalar computation after the loop move before it? */
static bool may_precede(const Body *loop, const NestStmt *st) {
  if (!(nest_flags(st) & NEST_IS_PURE)) return false;
  Body b;
  clear_touches(&b);
  touch_stmt(&b, st, NULL, NULL);
  for (int i = 0; i < loop->n; i++)
    for (int k = 0; k < b.n; k++) {
      const Touch *x = &loop->touch[i], *y = &b.touch[k];
      if (x->var == y->var && (x->writes || y->writes)) return false;
    }
  return true;
}

/* ---- joining ---- */

static void rename_index(NestBlock *b, const NestIndex *from, NestIndex *to) {
  for (NestStmt *st = b->first; st; st = st->next) {
    for (uint32_t i = 0; i < st->ndsts; i++) affine_rename(&st->dsts[i].sub, from, to);
    for (uint32_t i = 0; i < st->nsrcs; i++) affine_rename(&st->srcs[i].sub, from, to);
    for (uint32_t i = 0; i < st->nmems; i++) {
      affine_rename(&st->mems[i].base.sub, from, to);
      affine_rename(&st->mems[i].bytes, from, to);
    }
    affine_rename(&st->guard.sub, from, to);
    for (uint32_t r = 0; r < st->nregions; r++) rename_index(st->regions[r], from, to);
  }
}

/* Moves b's statements to the end of a's body.  Loops side by side may share an index, and one
 * inside b may have a's: theirs is a new one. */
static void append_body(Nest *nest, NestStmt *a, NestStmt *b) {
  NestIndex *index = nest_index(nest, a->index->name, a->index->extent);
  rename_index(a->regions[0], a->index, index);
  rename_index(b->regions[0], b->index, index);
  a->index = index;
  while (b->regions[0]->first) nest_move_into(b->regions[0]->first, a->regions[0]);
  nest_remove(b);
}

/* The next unroll after `st` that may join it, with only movable computations between; NULL. */
static NestStmt *candidate(const NestStmt *st, const Body *body) {
  NestStmt *next = st->next;
  while (next && next->code != NEST_UNROLL) {
    if (!may_precede(body, next)) return NULL;
    next = next->next;
  }
  return next && next->index->extent == st->index->extent ? next : NULL;
}

/* Adds the touches of b to those of a, whose loop has taken over the body of b. */
static void unite(Body *a, const Body *b) {
  if (a->n + b->n > MAX_TOUCHES) {
    a->fits = false;
    return;
  }
  memcpy(&a->touch[a->n], b->touch, sizeof *b->touch * (size_t)b->n);
  a->n += b->n;
  a->loads |= b->loads;
  a->stores |= b->stores;
}

static void join_following(Nest *nest, NestStmt *st) {
  Body body, other;
  find_touches(&body, st);
  for (NestStmt *next; body.fits && (next = candidate(st, &body));) {
    find_touches(&other, next);
    if (!can_join(&body, &other)) return;
    while (st->next != next) nest_move_before(st->next, st);
    append_body(nest, st, next);
    unite(&body, &other);
  }
}

static void fuse_loops_of_block(Nest *nest, NestBlock *b) {
  for (NestStmt *st = b->first; st; st = st->next) {
    if (st->code == NEST_UNROLL) join_following(nest, st);
    for (uint32_t r = 0; r < st->nregions; r++) fuse_loops_of_block(nest, st->regions[r]);
  }
}

bool pass_fuse_unrolled(Unit *u) {
  fuse_loops_of_block(u->nest, u->nest->body);
  return true;
}
