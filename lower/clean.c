#include "lower/clean.h"

#include <string.h>

typedef struct {
  Unit *u;
  Arena *scratch;
  uint32_t *defs;   /* by var id: statements that define it */
  uint32_t *inside; /* by var id: of these, inside the loop at hand */
  uint32_t *uses;
  bool changed;
} Clean;

static bool loop(const NestStmt *st) {
  return st->code == NEST_FOR || st->code == NEST_WHILE || st->code == NEST_SERIAL;
}

static void count_defs(uint32_t *defs, const NestBlock *b, uint32_t by) {
  for (const NestStmt *st = b->first; st; st = st->next) {
    for (uint32_t i = 0; i < st->ndsts; i++) defs[st->dsts[i].var->id] += by;
    for (uint32_t r = 0; r < st->nregions; r++) count_defs(defs, st->regions[r], by);
  }
}

/* ---- licm ---- */

static bool fixed(const Clean *s, const Ref *r) {
  return r->kind != REF_VAR || !s->inside[r->var->id];
}

static bool pure(const NestStmt *st) {
  return (st->code == NEST_OP || st->code == NEST_MOV) && !st->guard.kind;
}

/* True if st computes the same in every iteration; serial indices of the loop must not occur. */
static bool invariant(const Clean *s, const NestStmt *st, const NestIndex *index) {
  if (!pure(st) || s->defs[st->dsts[0].var->id] != 1) return false;
  for (uint32_t i = 0; i < st->nsrcs; i++) {
    const Ref *r = &st->srcs[i];
    if (!fixed(s, r)) return false;
    for (int k = 0; k < r->sub.n; k++)
      if (r->sub.t[k].index == index) return false;
  }
  for (int k = 0; k < st->dsts[0].sub.n; k++)
    if (st->dsts[0].sub.t[k].index == index) return false;
  return true;
}

static bool hoistable(Clean *s, const NestStmt *st, const NestIndex *index) {
  if (st->code != NEST_UNROLL) return invariant(s, st, index);
  bool ok = true;
  const NestStmt *x = st->regions[0]->first;
  for (; x && ok; x = x->next) {
    ok = hoistable(s, x, index);
    /* what the unroll itself defined counts as fixed for the statements behind it */
    if (ok && x->ndsts) s->inside[x->dsts[0].var->id]--;
  }
  for (const NestStmt *y = st->regions[0]->first; y != x; y = y->next)
    if (y->ndsts && (ok || y->next != x)) s->inside[y->dsts[0].var->id]++;
  return ok;
}

static void hoist_from(Clean *s, NestStmt *owner) {
  for (uint32_t r = 0; r < owner->nregions; r++)
    for (NestStmt *st = owner->regions[r]->first, *next; st; st = next) {
      next = st->next;
      if (!hoistable(s, st, owner->index)) continue;
      NestBlock one = {.first = st};
      NestStmt *rest = st->next;
      st->next = NULL;
      count_defs(s->inside, &one, (uint32_t)-1);
      st->next = rest;
      nest_move_before(st, owner);
      s->changed = true;
    }
}

/* Innermost loops first, so that what leaves one can leave the next. */
static void licm_block(Clean *s, NestBlock *b) {
  for (NestStmt *st = b->first; st; st = st->next) {
    for (uint32_t r = 0; r < st->nregions; r++) licm_block(s, st->regions[r]);
    if (!loop(st)) continue;
    memset(s->inside, 0, sizeof *s->inside * s->u->nest->nvars);
    for (uint32_t r = 0; r < st->nregions; r++) count_defs(s->inside, st->regions[r], 1);
    for (uint32_t i = 0; i < st->ndsts; i++) s->inside[st->dsts[i].var->id]++;
    hoist_from(s, st);
  }
}

static Clean begin(Unit *u) {
  Clean s = {.u = u, .scratch = arena_new()};
  uint32_t n = u->nest->nvars;
  s.defs = ARENA_ARRAY(s.scratch, uint32_t, n);
  s.inside = ARENA_ARRAY(s.scratch, uint32_t, n);
  s.uses = ARENA_ARRAY(s.scratch, uint32_t, n);
  count_defs(s.defs, u->nest->body, 1);
  return s;
}

bool licm_run(Unit *u) {
  Clean s = begin(u);
  licm_block(&s, u->nest->body);
  arena_free(s.scratch);
  return true;
}

/* ---- equal computations ---- */

typedef struct Seen {
  struct Seen *next;
  NestStmt *st;
} Seen;

enum { BUCKETS = 512 };

typedef struct {
  Clean *c;
  Seen *table[BUCKETS];
  NestVar **same; /* by var id: the variable that holds the same; NULL */
} Equal;

static bool single(const Clean *c, const Ref *r) {
  return r->kind != REF_VAR || r->var->is_param || c->defs[r->var->id] == 1;
}

/* A scalar computed once from things that never change. */
static bool comparable(const Clean *c, const NestStmt *st) {
  if (st->code == NEST_PID || st->code == NEST_NPROG || st->code == NEST_LANE || st->code == NEST_WARP)
    return c->defs[st->dsts[0].var->id] == 1;
  if (!pure(st) || st->code != NEST_OP || st->dsts[0].var->count != 1) return false;
  if (c->defs[st->dsts[0].var->id] != 1 || st->dsts[0].sub.n) return false;
  for (uint32_t i = 0; i < st->nsrcs; i++)
    if (!single(c, &st->srcs[i]) || st->srcs[i].sub.n) return false;
  return true;
}

static uint32_t hash_stmt(const NestStmt *st) {
  uint32_t h = (uint32_t)st->code * 31 + (uint32_t)st->op * 7 + (uint32_t)st->type;
  for (uint32_t i = 0; i < st->nsrcs; i++) {
    const Ref *r = &st->srcs[i];
    h = h * 16777619u + (r->kind == REF_VAR ? r->var->id : (uint32_t)r->sub.c);
  }
  return h % BUCKETS;
}

static bool equal_ref(const Ref *a, const Ref *b) {
  if (a->kind != b->kind) return false;
  if (a->kind == REF_VAR && a->var != b->var) return false;
  if (a->kind == REF_FLOAT && memcmp(&a->f, &b->f, sizeof a->f)) return false;
  return affine_eq(&a->sub, &b->sub);
}

static bool equal_stmt(const NestStmt *a, const NestStmt *b) {
  if (a->code != b->code || a->op != b->op || a->type != b->type || a->to != b->to ||
      a->elem != b->elem || a->rtz != b->rtz || a->nsrcs != b->nsrcs)
    return false;
  if (a->dsts[0].var->uniform != b->dsts[0].var->uniform) return false;
  if (nest_int(a, NA_axis, 0) != nest_int(b, NA_axis, 0)) return false;
  for (uint32_t i = 0; i < a->nsrcs; i++)
    if (!equal_ref(&a->srcs[i], &b->srcs[i])) return false;
  return true;
}

static void rename_ref(Equal *e, Ref *r) {
  if (r->kind == REF_VAR && e->same[r->var->id]) r->var = e->same[r->var->id];
}

static void rename_stmt(Equal *e, NestStmt *st) {
  for (uint32_t i = 0; i < st->nsrcs; i++) rename_ref(e, &st->srcs[i]);
  for (uint32_t i = 0; i < st->nmems; i++) rename_ref(e, &st->mems[i].base);
  rename_ref(e, &st->guard);
}

/* What a block computed is known in the blocks inside it, and forgotten at its end. */
static void join_block(Equal *e, NestBlock *b) {
  VEC(uint32_t) added = {0};
  for (NestStmt *st = b->first, *next; st; st = next) {
    next = st->next;
    rename_stmt(e, st);
    for (uint32_t r = 0; r < st->nregions; r++) join_block(e, st->regions[r]);
    /* a while's condition is computed in its first region: rename once more behind it */
    if (st->code == NEST_WHILE) rename_stmt(e, st);
    if (!comparable(e->c, st)) continue;
    uint32_t h = hash_stmt(st);
    Seen *s = e->table[h];
    while (s && !equal_stmt(s->st, st)) s = s->next;
    if (s) {
      e->same[st->dsts[0].var->id] = s->st->dsts[0].var;
      nest_remove(st);
      continue;
    }
    s = ARENA_NEW(e->c->scratch, Seen);
    *s = (Seen){e->table[h], st};
    e->table[h] = s;
    vec_push(e->c->scratch, &added, h);
  }
  for (size_t i = added.len; i-- > 0;) e->table[added.data[i]] = e->table[added.data[i]]->next;
}

/* ---- what nothing uses ---- */

static void use(Clean *s, const Ref *r, uint32_t by) {
  if (r->kind == REF_VAR) s->uses[r->var->id] += by;
}

static void count_stmt_uses(Clean *s, const NestStmt *st, uint32_t by) {
  for (uint32_t i = 0; i < st->nsrcs; i++) use(s, &st->srcs[i], by);
  for (uint32_t i = 0; i < st->nmems; i++) use(s, &st->mems[i].base, by);
  use(s, &st->guard, by);
}

static void count_uses(Clean *s, const NestBlock *b) {
  for (const NestStmt *st = b->first; st; st = st->next) {
    count_stmt_uses(s, st, 1);
    for (uint32_t r = 0; r < st->nregions; r++) count_uses(s, st->regions[r]);
  }
}

static bool removable(const NestStmt *st) {
  switch (st->code) {
  case NEST_OP: case NEST_MOV: case NEST_PID: case NEST_NPROG: case NEST_LANE: case NEST_WARP:
  case NEST_SHFL: case NEST_LDMATRIX: case NEST_MMA:
    return true;
  case NEST_LD: return !nest_int(st, NA_volatile, 0);
  default: return false;
  }
}

/* Backwards, so that a chain goes in one walk. */
static void sweep(Clean *s, NestBlock *b) {
  for (NestStmt *st = b->last, *prev; st; st = prev) {
    prev = st->prev;
    for (uint32_t r = st->nregions; r-- > 0;) sweep(s, st->regions[r]);
    bool empty = st->nregions && !st->regions[0]->first &&
                 (st->code == NEST_UNROLL || st->code == NEST_SERIAL);
    if (!empty && (!removable(st) || s->uses[st->dsts[0].var->id])) continue;
    count_stmt_uses(s, st, (uint32_t)-1);
    nest_remove(st);
    s->changed = true;
  }
}

bool clean_run(Unit *u) {
  Clean s = begin(u);
  Equal *e = ARENA_NEW(s.scratch, Equal);
  e->c = &s;
  e->same = ARENA_ARRAY(s.scratch, NestVar *, u->nest->nvars);
  join_block(e, u->nest->body);
  count_uses(&s, u->nest->body);
  do {
    s.changed = false;
    sweep(&s, u->nest->body);
  } while (s.changed);
  arena_free(s.scratch);
  return true;
}
