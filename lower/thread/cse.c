/* Pass cse: common-subexpression elimination, then dead-code elimination by marking, of level
 * thread. */
#include "lower/passes.h"

#include <string.h>

typedef struct {
  Nest *nest;
  Arena *scratch;
  uint32_t *defs; /* by var id: statements that define it */
  uint32_t *uses;
} Cse;

static void count_defs(uint32_t *defs, const NestBlock *b) {
  for (const NestStmt *st = b->first; st; st = st->next) {
    for (uint32_t i = 0; i < st->ndsts; i++) defs[st->dsts[i].var->id]++;
    for (uint32_t r = 0; r < st->nregions; r++) count_defs(defs, st->regions[r]);
  }
}

/* ---- common subexpressions ---- */

typedef struct Seen {
  struct Seen *next;
  NestStmt *st;
} Seen;

typedef struct {
  Cse *c;
  Seen **table;
  uint32_t buckets; /* a power of two */
  NestVar **same;   /* by var id: the variable that holds the same, which may have one too; NULL */
} Joining;

static bool is_single_register(const Cse *c, const Ref *r) {
  return r->kind != REF_VAR || r->var->is_param || c->defs[r->var->id] == 1;
}

/* Computed once, from things that never change. */
static bool is_comparable(const Cse *c, const NestStmt *st) {
  if (st->code == NEST_UNROLL) {
    const NestStmt *x = st->regions[0]->first;
    for (; x; x = x->next)
      if (!is_comparable(c, x)) return false;
    return st->regions[0]->first != NULL;
  }
  if (!(nest_flags(st) & NEST_IS_PURE) || st->guard.kind) return false;
  if (c->defs[st->dsts[0].var->id] != 1) return false;
  for (uint32_t i = 0; i < st->nsrcs; i++)
    if (!is_single_register(c, &st->srcs[i])) return false;
  return true;
}

static uint32_t hash_ref(const Ref *r, bool inside) {
  uint64_t x = (uint64_t)r->sub.c;
  if (r->kind == REF_FLOAT) memcpy(&x, &r->f, sizeof x);
  uint32_t h = (uint32_t)x ^ (uint32_t)(x >> 32);
  for (int i = 0; i < r->sub.n; i++) h = (h ^ (uint32_t)r->sub.t[i].coef) * 16777619u;
  return r->kind == REF_VAR && !inside ? h ^ r->var->id * 2654435761u : h;
}

/* Equal statements have equal hashes: variables inside an unroll have other ids in the other
 * statement. */
static uint32_t hash_stmt(const NestStmt *st, bool inside) {
  uint32_t h = (uint32_t)st->code * 31 + (uint32_t)st->op * 7 + (uint32_t)st->type;
  if (st->code == NEST_UNROLL) {
    h = h * 16777619u + (uint32_t)st->index->extent;
    for (const NestStmt *x = st->regions[0]->first; x; x = x->next)
      h = (h ^ hash_stmt(x, inside || x != st->regions[0]->first)) * 16777619u;
  }
  for (uint32_t i = 0; i < st->nsrcs; i++) h = (h ^ hash_ref(&st->srcs[i], inside)) * 16777619u;
  return h ^ h >> 16;
}

/* Two statements under comparison: the unrolls around them match index for index, and what they
 * have defined so far matches variable for variable. */
enum { MAX_PAIRS = 64 };
typedef struct {
  const NestIndex *ia[MAX_TERMS], *ib[MAX_TERMS];
  NestVar *va[MAX_PAIRS], *vb[MAX_PAIRS];
  int indices, vars;
} Pairs;

static const NestIndex *other_index(const Pairs *p, const NestIndex *a) {
  for (int i = 0; i < p->indices; i++)
    if (p->ia[i] == a) return p->ib[i];
  return a;
}

static bool equal_affine(const Pairs *p, const Affine *a, const Affine *b) {
  if (a->c != b->c || a->n != b->n) return false;
  for (int i = 0; i < a->n; i++) {
    const NestIndex *want = other_index(p, a->t[i].index);
    int k = 0;
    while (k < b->n && b->t[k].index != want) k++;
    if (k == b->n || a->t[i].coef != b->t[k].coef) return false;
  }
  return true;
}

static bool equal_ref(const Pairs *p, const Ref *a, const Ref *b) {
  if (a->kind != b->kind) return false;
  NestVar *want = a->var;
  for (int i = 0; i < p->vars; i++)
    if (p->va[i] == a->var) want = p->vb[i];
  if (a->kind == REF_VAR && want != b->var) return false;
  if (a->kind == REF_FLOAT && memcmp(&a->f, &b->f, sizeof a->f)) return false;
  return equal_affine(p, &a->sub, &b->sub);
}

static bool equal_stmt(Pairs *p, const NestStmt *a, const NestStmt *b);

static bool equal_unroll(Pairs *p, const NestStmt *a, const NestStmt *b) {
  if (a->index->extent != b->index->extent || p->indices == MAX_TERMS) return false;
  p->ia[p->indices] = a->index;
  p->ib[p->indices++] = b->index;
  const NestStmt *x = a->regions[0]->first, *y = b->regions[0]->first;
  for (; x && y; x = x->next, y = y->next)
    if (!equal_stmt(p, x, y)) return false;
  p->indices--;
  return !x && !y;
}

static bool equal_stmt(Pairs *p, const NestStmt *a, const NestStmt *b) {
  if (a->code != b->code) return false;
  if (a->code == NEST_UNROLL) return equal_unroll(p, a, b);
  if (a->op != b->op || a->type != b->type || a->to != b->to || a->elem != b->elem ||
      a->rtz != b->rtz || a->nsrcs != b->nsrcs ||
      nest_int(a, NA_axis, 0) != nest_int(b, NA_axis, 0) ||
      nest_int(a, NA_n, 1) != nest_int(b, NA_n, 1))
    return false;
  const NestVar *u = a->dsts[0].var, *v = b->dsts[0].var;
  if (u->uniform != v->uniform || u->count != v->count || u->dtype != v->dtype ||
      p->vars == MAX_PAIRS || !equal_affine(p, &a->dsts[0].sub, &b->dsts[0].sub))
    return false;
  for (uint32_t i = 0; i < a->nsrcs; i++)
    if (!equal_ref(p, &a->srcs[i], &b->srcs[i])) return false;
  p->va[p->vars] = a->dsts[0].var;
  p->vb[p->vars++] = b->dsts[0].var;
  return true;
}

/* Two in an unroll are the same, and later the unroll as a whole is the same as one before. */
static void rename_index_ref(Joining *e, Ref *r) {
  if (r->kind != REF_VAR) return;
  while (e->same[r->var->id]) r->var = e->same[r->var->id];
}

static void rename_index_stmt(Joining *e, NestStmt *st) {
  for (uint32_t i = 0; i < st->nsrcs; i++) rename_index_ref(e, &st->srcs[i]);
  for (uint32_t i = 0; i < st->nmems; i++) rename_index_ref(e, &st->mems[i].base);
  rename_index_ref(e, &st->guard);
}

static bool join_stmt(Joining *e, NestStmt *st, uint32_t h) {
  for (Seen *s = e->table[h]; s; s = s->next) {
    Pairs p = {.indices = 0};
    arena_work(e->c->scratch, 1);
    if (!equal_stmt(&p, s->st, st)) continue;
    if (st->code != NEST_UNROLL) e->same[st->dsts[0].var->id] = s->st->dsts[0].var;
    for (int i = 0; i < p.vars; i++) e->same[p.vb[i]->id] = p.va[i];
    nest_remove(st);
    return true;
  }
  return false;
}

/* Expressions of a block are available in the blocks inside it, and no longer after its end. */
static void join_expressions(Joining *e, NestBlock *b) {
  VEC(uint32_t) added = {0};
  for (NestStmt *st = b->first, *next; st; st = next) {
    next = st->next;
    rename_index_stmt(e, st);
    for (uint32_t r = 0; r < st->nregions; r++) join_expressions(e, st->regions[r]);
    /* a while's condition is computed in its first region: rename once more after it */
    if (st->code == NEST_WHILE) rename_index_stmt(e, st);
    if (!is_comparable(e->c, st)) continue;
    uint32_t h = hash_stmt(st, false) & (e->buckets - 1);
    if (join_stmt(e, st, h)) continue;
    Seen *s = ARENA_NEW(e->c->scratch, Seen);
    *s = (Seen){e->table[h], st};
    e->table[h] = s;
    vec_push(e->c->scratch, &added, h);
  }
  for (size_t i = added.len; i-- > 0;) e->table[added.data[i]] = e->table[added.data[i]]->next;
}

/* ---- dead statements ---- */

typedef struct {
  Cse *c;
  Seen **makers;          /* by var id: removable statements that compute it */
  VEC(uint32_t) worklist; /* used variables whose makers were not looked at */
} Marking;

static void mark_ref(Marking *m, const Ref *r) {
  if (r->kind != REF_VAR || m->c->uses[r->var->id]) return;
  m->c->uses[r->var->id] = 1;
  vec_push(m->c->scratch, &m->worklist, r->var->id);
}

static void mark_operands(Marking *m, const NestStmt *st) {
  for (uint32_t i = 0; i < st->nsrcs; i++) mark_ref(m, &st->srcs[i]);
  for (uint32_t i = 0; i < st->nmems; i++) mark_ref(m, &st->mems[i].base);
  mark_ref(m, &st->guard);
}

static void mark_roots(Marking *m, const NestBlock *b) {
  for (NestStmt *st = b->first; st; st = st->next) {
    for (uint32_t r = 0; r < st->nregions; r++) mark_roots(m, st->regions[r]);
    if (!nest_is_removable(st)) {
      mark_operands(m, st);
      continue;
    }
    Seen *maker = ARENA_NEW(m->c->scratch, Seen), **of = &m->makers[st->dsts[0].var->id];
    *maker = (Seen){*of, st};
    *of = maker;
  }
}

/* A variable is used if a statement that stays reads it; a statement stays if it does more than
 * compute, or computes a used variable.  So a value that only its own update reads goes. */
static void mark_used(Cse *s) {
  Marking m = {.c = s, .makers = ARENA_ARRAY(s->scratch, Seen *, s->nest->nvars)};
  mark_roots(&m, s->nest->body);
  while (m.worklist.len)
    for (const Seen *x = m.makers[m.worklist.data[--m.worklist.len]]; x; x = x->next)
      mark_operands(&m, x->st);
}

/* A statement with blocks that do nothing; a `for` whose index is read still sets it. */
static bool is_empty_stmt(const Cse *s, const NestStmt *st) {
  switch (st->code) {
    case NEST_UNROLL:
    case NEST_SERIAL:
    case NEST_IF: break;
    case NEST_FOR:
      if (!s->uses[st->dsts[0].var->id]) break;
      return false;
    default: return false;
  }
  for (uint32_t r = 0; r < st->nregions; r++)
    if (st->regions[r]->first) return false;
  return true;
}

static void sweep_dead(Cse *s, NestBlock *b) {
  for (NestStmt *st = b->last, *prev; st; st = prev) {
    prev = st->prev;
    for (uint32_t r = st->nregions; r-- > 0;) sweep_dead(s, st->regions[r]);
    if (is_empty_stmt(s, st) || (nest_is_removable(st) && !s->uses[st->dsts[0].var->id]))
      nest_remove(st);
  }
}

static void mark_vars(bool *used, const NestBlock *b) {
  for (const NestStmt *st = b->first; st; st = st->next) {
    for (uint32_t i = 0; i < st->ndsts; i++) used[st->dsts[i].var->id] = true;
    for (uint32_t i = 0; i < st->nsrcs; i++)
      if (st->srcs[i].kind == REF_VAR) used[st->srcs[i].var->id] = true;
    for (uint32_t i = 0; i < st->nmems; i++)
      if (st->mems[i].base.kind == REF_VAR) used[st->mems[i].base.var->id] = true;
    if (st->guard.kind == REF_VAR) used[st->guard.var->id] = true;
    for (uint32_t r = 0; r < st->nregions; r++) mark_vars(used, st->regions[r]);
  }
}

/* Variables that no statement names lose their declaration; ids stay dense. */
static void drop_unused_vars(Cse *s) {
  Nest *n = s->nest;
  bool *used = ARENA_ARRAY(s->scratch, bool, n->nvars);
  mark_vars(used, n->body);
  uint32_t kept = 0;
  for (uint32_t i = 0; i < n->nvars; i++)
    if (used[i] || n->vars[i]->is_param) {
      n->vars[kept] = n->vars[i];
      n->vars[kept]->id = kept;
      kept++;
    }
  n->nvars = kept;
}

bool pass_cse(Unit *u) {
  uint32_t n = u->nest->nvars;
  Cse s = {.nest = u->nest, .scratch = arena_child(u->arena)};
  s.defs = ARENA_ARRAY(s.scratch, uint32_t, n);
  s.uses = ARENA_ARRAY(s.scratch, uint32_t, n);
  count_defs(s.defs, u->nest->body);
  Joining *e = ARENA_NEW(s.scratch, Joining);
  e->c = &s;
  e->same = ARENA_ARRAY(s.scratch, NestVar *, n);
  for (e->buckets = 64; e->buckets < n;) e->buckets *= 2;
  e->table = ARENA_ARRAY(s.scratch, Seen *, e->buckets);
  join_expressions(e, u->nest->body);
  mark_used(&s);
  sweep_dead(&s, u->nest->body);
  drop_unused_vars(&s);
  arena_free(s.scratch);
  return true;
}
