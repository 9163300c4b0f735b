/* Pass fuse_loops: loop fusion.
 *
 * A chain (lower/thread/chain.h) L is fused into an earlier chain G of the same block with as many
 * iterations (its body is appended to G's) if iteration i of L depends on nothing that G does after
 * iteration i, nor the other way round:
 *
 *   registers  a variable that one of them writes and the other accesses has the same subscript in
 *              both, and another one in each iteration
 *   memory     neither writes bytes that the other accesses; or G loads and L stores at the same
 *              distance from a parameter, each iteration elsewhere.  Then L stores over elements
 *              that its own iteration has loaded if the two parameters are equal, and over nothing
 *              that G loads if their memory is disjoint; one of the two is assumed, and guarded
 *              (nest_assume_noalias).  Stores of G and L whose elements alternate, as real and
 *              imaginary parts do, come next to each other at the end.
 *
 * Statements between the two that L depends on move before G; those that depend on G stay after
 * it, and L must not depend on them.
 *
 * Register arrays that then live in one loop only become scalars.
 *
 * Where extents differ, loops are cut: a sum in four interleaved parts, `unroll r:8 { unroll a:4`,
 * joins the `unroll a:32` that computes its operand, which becomes r:8, a:4. */
#include <stdlib.h>
#include <string.h>

#include "lower/passes.h"
#include "lower/thread/chain.h"

enum {
  READS_GLOBAL = 1,
  WRITES_GLOBAL = 2,
  ORDERED = 4 /* keeps its order among all accesses of memory */
};

/* Ids in ascending order, each once. */
typedef struct {
  uint32_t *id;
  uint32_t n, cap;
} IdSet;

/* The effects of a statement, with those inside it. */
typedef struct {
  IdSet reads, writes; /* variables */
  IdSet loads, stores; /* shared buffers */
  unsigned memory;
} Effects;

/* The effects of several statements together: by id, whether one of them has it.  Adding a
 * statement and comparing one take time by its own effects, however many there are. */
typedef struct {
  Arena *scratch;
  uint32_t *reads, *writes, *loads, *stores; /* `round` for those that it has */
  uint32_t round;
  unsigned memory;
  bool loaded, stored; /* any shared buffer */
} Pending;

typedef struct {
  NestStmt *st;
  Effects e;
  Chain chain;
  int statements; /* in the body of the chain */
} Item;

typedef struct {
  Nest *nest;
  Arena *scratch;
  NestStmt **def;       /* by variable id: the statement that defines it, if there is one only */
  uint32_t *ndefs;      /* by variable id */
  VEC(Item) items;      /* the block's statements until now, in order */
  Pending pending;      /* scratch, of fuse_loops.c */
  VEC(NoAlias) assumed; /* by the chains that are compared */
  bool lockstep;
  bool in_loops; /* unrolled loops stay loops in the code */
} Fuse;

static void fuse_contract(const Fuse *f);

/* ======== effects: what statements read and write ======== */

/* ---- sets ---- */

static void set_add(const Fuse *f, IdSet *s, uint32_t id) {
  if (s->n == s->cap) {
    uint32_t cap = s->cap ? 2 * s->cap : 4;
    s->id = arena_grow(f->scratch, s->id, s->cap * sizeof *s->id, cap * sizeof *s->id);
    s->cap = cap;
  }
  s->id[s->n++] = id;
}

static int ascending(const void *a, const void *b) {
  uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
  return (x > y) - (x < y);
}

static void set_sort(IdSet *s) {
  uint32_t n = 0;
  if (s->n > 1) qsort(s->id, s->n, sizeof *s->id, ascending);
  for (uint32_t i = 0; i < s->n; i++)
    if (!n || s->id[n - 1] != s->id[i]) s->id[n++] = s->id[i];
  s->n = n;
}

/* The first index from `at` on with an id that is not less. */
static uint32_t set_find(const IdSet *s, uint32_t at, uint32_t id) {
  uint32_t end = s->n;
  while (at < end) {
    uint32_t middle = at + (end - at) / 2;
    if (s->id[middle] < id) at = middle + 1;
    else end = middle;
  }
  return at;
}

static bool set_has(const IdSet *s, uint32_t id) {
  uint32_t at = set_find(s, 0, id);
  return at < s->n && s->id[at] == id;
}

static bool sets_meet(const IdSet *a, const IdSet *b) {
  if (a->n > b->n) return sets_meet(b, a);
  for (uint32_t i = 0, at = 0; i < a->n; i++) {
    at = set_find(b, at, a->id[i]);
    if (at == b->n) return false;
    if (b->id[at] == a->id[i]) return true;
  }
  return false;
}

/* Merges from the end, in place. */
static void set_join(const Fuse *f, IdSet *to, const IdSet *from) {
  uint32_t more = 0;
  for (uint32_t i = 0, at = 0; i < from->n; i++) {
    at = set_find(to, at, from->id[i]);
    more += at == to->n || to->id[at] != from->id[i];
  }
  if (!more) return;
  uint32_t a = to->n, b = from->n, n = a + more;
  for (uint32_t i = 0; i < more; i++) set_add(f, to, 0);
  for (uint32_t at = n; b;) {
    bool left = a && to->id[a - 1] >= from->id[b - 1];
    if (left && to->id[a - 1] == from->id[b - 1]) b--;
    to->id[--at] = left ? to->id[--a] : from->id[--b];
  }
}

static void effects_join(const Fuse *f, Effects *to, const Effects *from) {
  set_join(f, &to->reads, &from->reads);
  set_join(f, &to->writes, &from->writes);
  set_join(f, &to->loads, &from->loads);
  set_join(f, &to->stores, &from->stores);
  to->memory |= from->memory;
}

/* ---- effects ---- */

static void reads_ref(const Fuse *f, Effects *e, const Ref *r) {
  if (r->kind == REF_VAR) set_add(f, &e->reads, r->var->id);
}

/* Lanes that go together are in the order of the text without barriers. */
static void memory_effects(const Fuse *f, Effects *e, const NestStmt *st) {
  unsigned flags = nest_flags(st);
  if (st->code == NEST_BAR && f->lockstep) return;
  if (flags & (NEST_IS_ATOMIC | NEST_IS_ORDERED)) e->memory |= ORDERED;
  if (!(flags & (NEST_IS_READ | NEST_IS_WRITE))) return;
  const NestBuffer *b = st->mems[0].buffer;
  bool writes = flags & NEST_IS_WRITE;
  if (b) set_add(f, writes ? &e->stores : &e->loads, b->id);
  else e->memory |= writes ? WRITES_GLOBAL : READS_GLOBAL;
}

static void effects_add(const Fuse *f, Effects *e, const NestStmt *st) {
  for (uint32_t i = 0; i < st->ndsts; i++) set_add(f, &e->writes, st->dsts[i].var->id);
  for (uint32_t i = 0; i < st->nsrcs; i++) reads_ref(f, e, &st->srcs[i]);
  for (uint32_t i = 0; i < st->nmems; i++) reads_ref(f, e, &st->mems[i].base);
  reads_ref(f, e, &st->guard);
  /* A destination that keeps its old value where the guard is false is read. */
  for (uint32_t i = 0; i < st->ndsts && st->guard.kind; i++)
    set_add(f, &e->reads, st->dsts[i].var->id);
  memory_effects(f, e, st);
  for (uint32_t r = 0; r < st->nregions; r++)
    for (const NestStmt *x = st->regions[r]->first; x; x = x->next) effects_add(f, e, x);
}

/* and of all that is inside */
static Effects effects_of(const Fuse *f, const NestStmt *st) {
  Effects e = {0};
  effects_add(f, &e, st);
  set_sort(&e.reads);
  set_sort(&e.writes);
  set_sort(&e.loads);
  set_sort(&e.stores);
  return e;
}

static bool effects_touch_memory(const Effects *e) {
  return e->memory || e->loads.n || e->stores.n;
}

static bool global_conflict(unsigned a, unsigned b) {
  return (a & WRITES_GLOBAL && b & (READS_GLOBAL | WRITES_GLOBAL)) ||
         (b & WRITES_GLOBAL && a & READS_GLOBAL);
}

/* Do the accesses to memory alone conflict? */
static bool effects_meet_in_memory(const Effects *a, const Effects *b) {
  if (a->memory & ORDERED && effects_touch_memory(b)) return true;
  if (b->memory & ORDERED && effects_touch_memory(a)) return true;
  if (global_conflict(a->memory, b->memory)) return true;
  return sets_meet(&a->stores, &b->stores) || sets_meet(&a->stores, &b->loads) ||
         sets_meet(&a->loads, &b->stores);
  sets_meet(&a->loads, &b->stores);
}

/* ---- effects of several statements ---- */

static void pending_new(Pending *p, Arena *scratch, const Nest *n) {
  *p = (Pending){.scratch = scratch,
                 .reads = ARENA_ARRAY(scratch, uint32_t, n->nvars),
                 .writes = ARENA_ARRAY(scratch, uint32_t, n->nvars),
                 .loads = ARENA_ARRAY(scratch, uint32_t, n->nbuffers),
                 .stores = ARENA_ARRAY(scratch, uint32_t, n->nbuffers)};
}

static void pending_clear(Pending *p) {
  p->round++;
  p->memory = 0;
  p->loaded = p->stored = false;
}

static void mark_ids(uint32_t *at, const IdSet *s, uint32_t round) {
  for (uint32_t i = 0; i < s->n; i++) at[s->id[i]] = round;
}

static bool marked(const uint32_t *at, const IdSet *s, uint32_t round) {
  for (uint32_t i = 0; i < s->n; i++)
    if (at[s->id[i]] == round) return true;
  return false;
}

enum { IDS_A_STEP = 16 };

static void count_effects(const Pending *p, const Effects *e) {
  arena_work(p->scratch, 1 + (e->reads.n + e->writes.n + e->loads.n + e->stores.n) / IDS_A_STEP);
}

static void pending_add(Pending *p, const Effects *e) {
  count_effects(p, e);
  mark_ids(p->reads, &e->reads, p->round);
  mark_ids(p->writes, &e->writes, p->round);
  mark_ids(p->loads, &e->loads, p->round);
  mark_ids(p->stores, &e->stores, p->round);
  p->memory |= e->memory;
  p->loaded |= e->loads.n > 0;
  p->stored |= e->stores.n > 0;
}

/* Must it keep its order with any of them? */
static bool conflicts_with_effects(const Pending *p, const Effects *e) {
  count_effects(p, e);
  if (e->memory & ORDERED && (p->memory || p->loaded || p->stored)) return true;
  if (p->memory & ORDERED && effects_touch_memory(e)) return true;
  if (global_conflict(p->memory, e->memory)) return true;
  return marked(p->writes, &e->writes, p->round) || marked(p->writes, &e->reads, p->round) ||
         marked(p->reads, &e->writes, p->round) || marked(p->stores, &e->stores, p->round) ||
         marked(p->stores, &e->loads, p->round) || marked(p->loads, &e->stores, p->round);
}

/* ---- effects of two ---- */

/* True if a and b must stay in their order. */
static bool effects_conflict(const Effects *a, const Effects *b) {
  return sets_meet(&a->writes, &b->writes) || sets_meet(&a->writes, &b->reads) ||
         sets_meet(&a->reads, &b->writes) || effects_meet_in_memory(a, b);
}

/* ======== agreement: chains that can be fused, iteration by iteration ======== */

/* ---- chains ---- */

/* loops of the same extents */
static bool chains_alike(const Chain *a, const Chain *b) {
  if (a->depth != b->depth) return false;
  for (int i = 0; i < a->depth; i++)
    if (a->index[i]->extent != b->index[i]->extent) return false;
  return true;
}

/* Cuts the loops of g and l, from the innermost on, until they have the same extents; false if no
 * cuts do that. */
static bool chains_refine(const Fuse *f, const Chain *g, const Chain *l, Chain *fine) {
  NestIndex *digits[MAX_TERMS];
  int n = 0, i = g->depth, k = l->depth;
  int32_t gleft = 1, lleft = 1;
  for (;;) {
    while (gleft == 1 && i > 0) gleft = g->index[--i]->extent;
    while (lleft == 1 && k > 0) lleft = l->index[--k]->extent;
    int32_t step = gleft < lleft ? gleft : lleft;
    if (step == 1) break;
    if (gleft % step || lleft % step || n == MAX_TERMS) return false;
    bool whole = g->index[i]->extent == step;
    digits[n++] = whole ? g->index[i] : nest_index(f->nest, l->index[k]->name, step);
    gleft /= step;
    lleft /= step;
  }
  *fine = (Chain){.depth = n};
  for (int d = 0; d < n; d++) fine->index[d] = digits[n - 1 - d];
  return gleft == lleft && n > 0;
}

/* The outermost loop of those that index i of a chain became, in its refinement. */
static int outermost_part(const Chain *from, int i, const Chain *fine) {
  int d = 0;
  for (int k = 0; k < i; k++)
    for (int32_t n = 1; n < from->index[k]->extent; d++) n *= fine->index[d]->extent;
  return d;
}

/* The level of the loop with this index, 0 for the outermost; -1: none. */
static int chain_level(const Chain *c, const NestIndex *index) {
  int i = c->depth;
  while (i-- > 0 && c->index[i] != index) continue;
  return i;
}

/* x, affine in the indices of a chain, in those of its refinement; false: too many terms. */
static bool chain_map_affine(Affine *x, const Chain *from, const Chain *fine) {
  Affine sum = affine_const(x->c);
  for (int t = 0; t < x->n; t++) {
    int i = chain_level(from, x->t[t].index);
    Affine term = affine_index(x->t[t].index, x->t[t].coef);
    if (i < 0 && !affine_add(&sum, &term)) return false;
    int32_t n = i < 0 ? 1 : from->index[i]->extent;
    for (int d = n > 1 ? outermost_part(from, i, fine) : 0; n > 1; d++) {
      n /= fine->index[d]->extent;
      term = affine_index(fine->index[d], x->t[t].coef * n);
      if (!affine_add(&sum, &term)) return false;
    }
  }
  *x = sum;
  return true;
}

/* a in a chain and b in another are the same at the same iteration. */
static bool same_affine(Affine a, const Chain *ca, Affine b, const Chain *cb, const Chain *fine) {
  return chain_map_affine(&a, ca, fine) && chain_map_affine(&b, cb, fine) && affine_eq(&a, &b);
}

/* Accesses of `size` at x do not overlap between iterations: index by index, from the smallest
 * coefficient on, each step reaches past all that the steps before it cover. */
static bool iterations_apart(const Affine *x, const Chain *c, int64_t size) {
  bool done[MAX_TERMS] = {0};
  int64_t covered = size;
  for (int round = 0; round < c->depth; round++) {
    int least = -1;
    for (int i = 0; i < c->depth; i++)
      if (!done[i] &&
          (least < 0 || llabs(chain_coefficient(x, c, i)) < llabs(chain_coefficient(x, c, least))))
        least = i;
    done[least] = true;
    int64_t step = llabs(chain_coefficient(x, c, least));
    if (c->index[least]->extent == 1) continue;
    if (step < covered) return false;
    covered += step * (c->index[least]->extent - 1);
  }
  return true;
}

/* ---- registers ---- */

typedef struct {
  const Affine *sub; /* all references so far have this subscript */
  const Chain *chain;
  const Chain *fine;
  bool ok;
} Aligned;

static void align_ref(Aligned *x, const Ref *r, const NestVar *v, const Chain *c, int64_t n) {
  if (r->kind != REF_VAR || r->var != v) return;
  if (n != 1) x->ok = false;
  if (!x->sub) x->sub = &r->sub, x->chain = c;
  else if (!same_affine(*x->sub, x->chain, r->sub, c, x->fine)) x->ok = false;
}

static void align_body(Aligned *x, const NestVar *v, const Chain *c) {
  for (const NestStmt *st = c->body->first; st; st = st->next) {
    int64_t n = nest_int(st, NA_n, 1);
    for (uint32_t i = 0; i < st->ndsts; i++) align_ref(x, &st->dsts[i], v, c, n);
    for (uint32_t i = 0; i < st->nsrcs; i++) align_ref(x, &st->srcs[i], v, c, n);
    for (uint32_t i = 0; i < st->nmems; i++) align_ref(x, &st->mems[i].base, v, c, 1);
    align_ref(x, &st->guard, v, c, 1);
  }
}

/* Are the variables of `ids` that are in `others` accessed in the same iteration? */
static bool agree_on(const Fuse *f, const IdSet *ids, const IdSet *others, const Item *g,
                     const Item *l, const Chain *fine) {
  for (uint32_t i = 0; i < ids->n; i++) {
    if (!set_has(others, ids->id[i])) continue;
    const NestVar *v = f->nest->vars[ids->id[i]];
    Aligned x = {.fine = fine, .ok = true};
    align_body(&x, v, &g->chain);
    align_body(&x, v, &l->chain);
    if (!x.ok || !iterations_apart(x.sub, x.chain, 1)) return false;
  }
  return true;
}

/* Every variable that one of the chains writes and the other accesses is accessed in the same
 * iteration. */
static bool chains_agree_in_registers(const Fuse *f, const Item *g, const Item *l,
                                      const Chain *fine) {
  return agree_on(f, &l->e.reads, &g->e.writes, g, l, fine) &&
         agree_on(f, &l->e.writes, &g->e.writes, g, l, fine) &&
         agree_on(f, &l->e.writes, &g->e.reads, g, l, fine);
}

/* ---- addresses ---- */

static bool is_equal_ref(const Fuse *f, const Ref *a, const Ref *b) {
  if (a->kind != b->kind) return false;
  if (a->kind == REF_VAR)
    return a->var == b->var && affine_eq(&a->sub, &b->sub) && f->ndefs[a->var->id] <= 1;
  return a->kind == REF_AFFINE && affine_eq(&a->sub, &b->sub);
}

/* Two parameters may be one or disjoint, if the kernel's accesses may be reordered at all. */
static bool may_assume(Fuse *f, NestVar *a, NestVar *b) {
  if (a == b || f->nest->options.alias == NEREID_ALIAS_DISJOINT) return true;
  if (f->nest->options.alias == NEREID_ALIAS_ORDERED) return false;
  NoAlias pair = {a, b, true};
  vec_push(f->scratch, &f->assumed, pair);
  return true;
}

/* a and b are pointers to the same distance from a parameter each: made by the same steps. */
static bool same_distance(Fuse *f, const Ref *a, const Ref *b) {
  for (;;) {
    if (a->kind != REF_VAR || b->kind != REF_VAR) return false;
    if (a->var->count != 1 || b->var->count != 1) return false;
    if (a->var == b->var) return f->ndefs[a->var->id] <= 1;
    if (a->var->is_param && b->var->is_param) return may_assume(f, a->var, b->var);
    const NestStmt *x = f->def[a->var->id], *y = f->def[b->var->id];
    if (f->ndefs[a->var->id] != 1 || f->ndefs[b->var->id] != 1) return false;
    if (x->code != NEST_OP || y->code != NEST_OP || x->op != TILE_PTR_ADD ||
        y->op != TILE_PTR_ADD || x->elem != y->elem || x->guard.kind || y->guard.kind)
      return false;
    if (!is_equal_ref(f, &x->srcs[1], &y->srcs[1])) return false;
    a = &x->srcs[0];
    b = &y->srcs[0];
  }
}

/* The parameter from which a pointer is computed; NULL: none, or not one alone. */
static const NestVar *parameter_of(const Fuse *f, const Ref *r) {
  while (r->kind == REF_VAR && !r->var->is_param) {
    const NestStmt *def = f->def[r->var->id];
    if (f->ndefs[r->var->id] != 1 || def->code != NEST_OP || def->op != TILE_PTR_ADD) return NULL;
    r = &def->srcs[0];
  }
  return r->kind == REF_VAR && r->var->is_param ? r->var : NULL;
}

/* The caller vouches that what is written is no memory of another parameter. */
static bool never_meet(const Fuse *f, const NestStmt *x, const NestStmt *y) {
  if (f->nest->options.alias != NEREID_ALIAS_DISJOINT) return false;
  const NestVar *a = parameter_of(f, &x->mems[0].base), *b = parameter_of(f, &y->mems[0].base);
  return a && b && a != b;
}

enum { OFFSET_DEPTH = 8 }; /* statements one on the other that compute an offset */

/* A number that divides the operand in every lane; 0: the operand is 0. */
static int64_t divisor_of(const Fuse *f, const Ref *r, int depth) {
  int64_t d = 0;
  if (r->kind == REF_AFFINE) {
    for (int i = 0; i < r->sub.n; i++) d = gcd64(d, r->sub.t[i].coef);
    return gcd64(d, r->sub.c);
  }
  if (r->kind != REF_VAR || f->ndefs[r->var->id] != 1 || depth == OFFSET_DEPTH) return 1;
  const NestStmt *def = f->def[r->var->id];
  bool copies = def->code == NEST_MOV || (def->code == NEST_OP && def->op == TILE_CAST);
  if (def->guard.kind || (!copies && def->code != NEST_OP)) return 1;
  int64_t a = divisor_of(f, &def->srcs[0], depth + 1);
  if (copies) return a;
  if (def->nsrcs != 2 || (def->op != TILE_ADD && def->op != TILE_MUL)) return 1;
  int64_t b = divisor_of(f, &def->srcs[1], depth + 1), product;
  if (def->op == TILE_ADD) return gcd64(a, b);
  return __builtin_mul_overflow(a, b, &product) ? 1 : llabs(product);
}

/* The bytes by whose multiples alone an address differs between lanes; 1: not known. */
static int64_t step_of_lanes(const Fuse *f, const Ref *r) {
  int64_t step = 0;
  while (!r->var->uniform) {
    const NestStmt *def = f->def[r->var->id];
    if (f->ndefs[r->var->id] != 1 || def->code != NEST_OP || def->op != TILE_PTR_ADD ||
        def->guard.kind || def->srcs[0].kind != REF_VAR)
      return 1;
    const Ref *offset = &def->srcs[1];
    if (offset->kind != REF_VAR || !offset->var->uniform)
      step = gcd64(step, divisor_of(f, offset, 0) * dtype_bytes(def->elem));
    r = &def->srcs[0];
  }
  return step;
}

/* Elements of store x and store y alternate in memory: whatever the iterations and lanes, they are
 * not the same. */
static bool are_interleaved(const Fuse *f, const Chain *g, const NestStmt *x, const Chain *l,
                            const NestStmt *y, const Chain *fine) {
  const Ref *base = &x->mems[0].base;
  Affine a = x->mems[0].bytes, b = y->mems[0].bytes;
  if (x->type != y->type || base->kind != REF_VAR || base->var->count != 1) return false;
  if (y->mems[0].base.kind != REF_VAR || y->mems[0].base.var != base->var) return false;
  if (f->ndefs[base->var->id] > 1) return false;
  const NestBlock *made = base->var->is_param ? NULL : f->def[base->var->id]->parent;
  if (made == g->body || made == l->body) return false;
  if (!chain_map_affine(&a, g, fine) || !chain_map_affine(&b, l, fine)) return false;
  int64_t apart = b.c - a.c, step = step_of_lanes(f, base), size = dtype_bytes(x->type);
  b.c = a.c;
  if (!affine_eq(&a, &b)) return false;
  for (int i = 0; i < a.n; i++) step = gcd64(step, a.t[i].coef);
  if (step < 2 * size) return false;
  apart = (apart % step + step) % step;
  return apart >= size && apart <= step - size;
}

/* The load of chain g and the store of chain l meet, if at all, in one iteration and lane: lanes
 * hold neighbouring elements, and iterations are apart by as many. */
static bool is_elementwise_pair(Fuse *f, const Chain *g, const NestStmt *ld, const Chain *l,
                                const NestStmt *st, const Chain *fine) {
  int64_t bytes = dtype_bytes(st->type) * f->nest->lanes;
  return ld->type == st->type && same_affine(ld->mems[0].bytes, g, st->mems[0].bytes, l, fine) &&
         same_distance(f, &ld->mems[0].base, &st->mems[0].base) &&
         iterations_apart(&st->mems[0].bytes, l, bytes);
}

static bool is_global_access(const NestStmt *st, NestCode code) {
  return st->code == code && !st->mems[0].buffer;
}

/* Is it a store of lanes that are a vector apart, as those of a turned copy are?  A loop of such
 * stores alone exchanges rows and columns in registers (codegen/c/transpose.c). */
static bool stores_rows_of_lanes(const Fuse *f, const NestStmt *st) {
  const Ref *base = &st->mems[0].base;
  return is_global_access(st, NEST_ST) && base->kind == REF_VAR && f->in_loops &&
         step_of_lanes(f, base) >= dtype_bytes(st->type) * f->nest->lanes;
}

typedef enum { CONFLICT, APART, INTERLEAVED } Meeting;

/* Global accesses x of chain g and y of chain l, of which one is a store. */
static Meeting meeting_of(Fuse *f, const Chain *g, const NestStmt *x, const Chain *l,
                          const NestStmt *y, const Chain *fine) {
  bool stores = is_global_access(x, NEST_ST);
  if (never_meet(f, x, y)) return stores_rows_of_lanes(f, y) ? CONFLICT : APART;
  if (stores && is_global_access(y, NEST_ST) && are_interleaved(f, g, x, l, y, fine))
    return INTERLEAVED;
  return !stores && is_elementwise_pair(f, g, x, l, y, fine) ? APART : CONFLICT;
}

/* Chains that both store are joined only for stores that then are next to each other. */
static bool chains_agree_in_memory(Fuse *f, const Item *g, const Item *l, const Chain *fine) {
  f->assumed.len = 0;
  if (!effects_meet_in_memory(&g->e, &l->e)) return true;
  if ((g->e.memory | l->e.memory) & ORDERED) return false;
  Effects ge = g->e;
  ge.memory = 0;
  if (effects_meet_in_memory(&ge, &l->e)) return false; /* of shared buffers */
  bool interleaved = false;
  for (const NestStmt *y = l->chain.body->first; y; y = y->next)
    for (const NestStmt *x = g->chain.body->first; x; x = x->next) {
      bool y_stores = is_global_access(y, NEST_ST), x_stores = is_global_access(x, NEST_ST);
      if (!(y_stores && (x_stores || is_global_access(x, NEST_LD))) &&
          !(x_stores && is_global_access(y, NEST_LD)))
        continue;
      Meeting m = meeting_of(f, &g->chain, x, &l->chain, y, fine);
      if (m == CONFLICT) return false;
      interleaved |= m == INTERLEAVED;
    }
  return interleaved || !(g->e.memory & WRITES_GLOBAL);
}

/* ======== contraction: arrays of one loop become scalars ======== */

typedef struct {
  const NestBlock *block; /* that holds all references */
  const Affine *sub;      /* of all of them */
  NestStmt *load;         /* the first reference, if that is a load with a guard */
  bool scalar, seen;
} Local;

static void local_ref(Local *locals, const Ref *r, const NestBlock *b, int64_t n, bool defines) {
  if (r->kind != REF_VAR) return;
  Local *x = &locals[r->var->id];
  if (!x->seen) *x = (Local){b, &r->sub, NULL, defines && r->var->count > 1, true};
  if (x->block != b || n != 1 || !affine_eq(x->sub, &r->sub)) x->scalar = false;
}

/* If the guard of its first load is false, a variable holds nothing, unless a loop that is no
 * chain comes here again. */
static void local_dst(Local *locals, NestStmt *st, const NestBlock *b, bool again) {
  Local *x = &locals[st->dsts[0].var->id];
  bool first = st->code == NEST_LD && st->guard.kind && !x->seen;
  local_ref(locals, &st->dsts[0], b, nest_int(st, NA_n, 1), first ? !again : !st->guard.kind);
  if (first) x->load = st;
}

/* A variable is seen first where its first reference is; if that is no complete write, it holds
 * something from before. */
static void find_locals(Local *locals, const NestBlock *b, bool again) {
  for (NestStmt *st = b->first; st; st = st->next) {
    int64_t n = nest_int(st, NA_n, 1);
    local_ref(locals, &st->guard, b, 1, false);
    for (uint32_t i = 0; i < st->nsrcs; i++) local_ref(locals, &st->srcs[i], b, n, false);
    for (uint32_t i = 0; i < st->nmems; i++) local_ref(locals, &st->mems[i].base, b, 1, false);
    if (st->ndsts) local_dst(locals, st, b, again);
    bool loop = st->code == NEST_FOR || st->code == NEST_WHILE;
    for (uint32_t r = 0; r < st->nregions; r++) find_locals(locals, st->regions[r], again || loop);
  }
}

/* The scalar has, before each load, the value that the array's element had before its own. */
static void undefine(Nest *n, const NestVar *v, NestStmt *load) {
  NestBuilder b = {n, load->parent, load, load->span};
  nest_op(&b, TILE_UNDEF, v->dtype, load->dsts[0], ref_none(), ref_none(), ref_none())->elem =
      v->elem;
}

static void scalar_ref(const Local *locals, Ref *r) {
  if (r->kind == REF_VAR && locals[r->var->id].scalar) r->sub = affine_const(0);
}

static void make_scalars(const Local *locals, NestBlock *b) {
  for (NestStmt *st = b->first; st; st = st->next) {
    for (uint32_t i = 0; i < st->ndsts; i++) scalar_ref(locals, &st->dsts[i]);
    for (uint32_t i = 0; i < st->nsrcs; i++) scalar_ref(locals, &st->srcs[i]);
    for (uint32_t i = 0; i < st->nmems; i++) scalar_ref(locals, &st->mems[i].base);
    scalar_ref(locals, &st->guard);
    for (uint32_t r = 0; r < st->nregions; r++) make_scalars(locals, st->regions[r]);
  }
}

/* Arrays that live in one loop only, an element in each iteration, become scalars. */
static void fuse_contract(const Fuse *f) {
  Local *locals = ARENA_ARRAY(f->scratch, Local, f->nest->nvars);
  find_locals(locals, f->nest->body, false);
  make_scalars(locals, f->nest->body);
  for (uint32_t i = 0; i < f->nest->nvars; i++) {
    if (!locals[i].scalar) continue;
    f->nest->vars[i]->count = 1;
    if (locals[i].load) undefine(f->nest, f->nest->vars[i], locals[i].load);
  }
}

/* ======== fusion ======== */

enum {
  LOOK_BACK = 64,    /* statements before a chain that are searched for another */
  MOST_JOINED = 2048 /* statements of a chain: each that joins it is compared with all of them */
};

static int length_of(const NestBlock *b) {
  int n = 0;
  for (const NestStmt *st = b->first; st; st = st->next) n++;
  return n;
}

/* ---- joining ---- */

typedef bool MapAffine(Affine *x, const Chain *from, const Chain *fine);

static bool each_affine(NestStmt *st, MapAffine *map, const Chain *from, const Chain *fine) {
  bool ok = map(&st->guard.sub, from, fine);
  for (uint32_t i = 0; i < st->ndsts; i++) ok &= map(&st->dsts[i].sub, from, fine);
  for (uint32_t i = 0; i < st->nsrcs; i++) ok &= map(&st->srcs[i].sub, from, fine);
  for (uint32_t i = 0; i < st->nmems; i++)
    ok &= map(&st->mems[i].base.sub, from, fine) & map(&st->mems[i].bytes, from, fine);
  return ok;
}

static bool map_body(const Chain *from, MapAffine *map, const Chain *fine) {
  bool ok = true;
  for (NestStmt *st = from->body->first; st; st = st->next) ok &= each_affine(st, map, from, fine);
  return ok;
}

static bool can_map(Affine *x, const Chain *from, const Chain *fine) {
  Affine y = *x;
  return chain_map_affine(&y, from, fine);
}

static void move_all(NestBlock *from, NestBlock *to) {
  for (NestStmt *st = from->first, *next; st; st = next) {
    next = st->next;
    nest_move_into(st, to);
  }
}

/* Makes the loops of an item those of the refinement. */
static void cut_loops(Fuse *f, Item *x, const Chain *fine) {
  if (chains_alike(&x->chain, fine)) return;
  NestBuilder b = {f->nest, x->st->parent, x->st, x->st->span};
  NestStmt *outermost = NULL;
  for (int i = 0; i < fine->depth; i++) {
    NestStmt *u = nest_stmt(&b, NEST_UNROLL, 0, 0);
    u->index = fine->index[i];
    if (!i) outermost = u;
    b.block = nest_block(f->nest, u);
    b.before = NULL;
  }
  map_body(&x->chain, chain_map_affine, fine);
  move_all(x->chain.body, b.block);
  nest_remove(x->st);
  x->st = outermost;
  x->chain = *fine;
  x->chain.body = b.block;
}

/* Moves items from..at-1 that are not in `stay` before item g, in order. */
static void move_before(Fuse *f, size_t g, size_t at, const bool *stay) {
  for (size_t i = g + 1, to = g; i < at; i++) {
    if (stay[i - g]) continue;
    Item moved = f->items.data[i];
    nest_move_before(moved.st, f->items.data[to].st);
    memmove(&f->items.data[to + 1], &f->items.data[to], (i - to) * sizeof moved);
    f->items.data[to++] = moved;
  }
}

static NestStmt *first_store(const NestBlock *b) {
  NestStmt *st = b->first;
  while (st && !is_global_access(st, NEST_ST)) st = st->next;
  return st;
}

static bool sets_operand_of(const Effects *e, const NestStmt *st) {
  return (st->srcs[0].kind == REF_VAR && set_has(&e->writes, st->srcs[0].var->id)) ||
         (st->guard.kind == REF_VAR && set_has(&e->writes, st->guard.var->id)) ||
         (st->mems[0].base.kind == REF_VAR && set_has(&e->writes, st->mems[0].base.var->id));
}

/* Moves the stores at the end of chain g to those of chain l, which is to be joined. */
static void move_last_stores(Item *g, const Item *l) {
  NestStmt *before = first_store(l->chain.body);
  while (before && g->chain.body->last && is_global_access(g->chain.body->last, NEST_ST) &&
         !sets_operand_of(&l->e, g->chain.body->last)) {
    NestStmt *st = g->chain.body->last;
    nest_move_before(st, before);
    before = st;
  }
}

static void fuse_item(Fuse *f, Item *g, size_t at, const Chain *fine) {
  Item l = f->items.data[at];
  for (size_t i = 0; i < f->assumed.len; i++)
    nest_assume_noalias(f->nest, f->assumed.data[i].a, f->assumed.data[i].b, true);
  cut_loops(f, g, fine);
  map_body(&l.chain, chain_map_affine, fine);
  if (g->e.memory & WRITES_GLOBAL) move_last_stores(g, &l);
  move_all(l.chain.body, g->chain.body);
  nest_remove(l.st);
  effects_join(f, &g->e, &l.e);
  g->statements += l.statements;
  memmove(&f->items.data[at], &f->items.data[at + 1],
          (f->items.len - at - 1) * sizeof f->items.data[0]);
  f->items.len--;
}

/* Finds the items after g that must stay after it; `at` is not among them. */
static void plan_moves(Fuse *f, size_t g, size_t at, bool *stay) {
  const Item *x = f->items.data;
  pending_clear(&f->pending);
  pending_add(&f->pending, &x[g].e);
  for (size_t i = g + 1; i < at; i++) {
    stay[i - g] = conflicts_with_effects(&f->pending, &x[i].e);
    if (stay[i - g]) pending_add(&f->pending, &x[i].e);
  }
}

static bool is_index(const NestStmt *st) {
  return (st->code == NEST_OP && !dtype_is_float(st->type)) ||
         (st->code == NEST_MOV && st->srcs[0].kind != REF_VAR);
}

static bool index_only(const Item *x) {
  for (const NestStmt *st = x->chain.body->first; st; st = st->next)
    if (!is_index(st)) return false;
  return true;
}

/* Does a statement compute with the result of a load of the chain? */
static bool uses_load(const Item *x) {
  for (const NestStmt *ld = x->chain.body->first; ld; ld = ld->next) {
    if (!is_global_access(ld, NEST_LD)) continue;
    for (const NestStmt *st = ld->next; st; st = st->next)
      for (uint32_t i = 0; st->code == NEST_OP && i < st->nsrcs; i++)
        if (st->srcs[i].kind == REF_VAR && st->srcs[i].var == ld->dsts[0].var) return true;
  }
  return false;
}

/* Loads and the operands of their addresses and guards. */
static bool loads_only(const Item *x) {
  bool loads = x->e.memory & READS_GLOBAL || x->e.loads.n;
  if (!loads || uses_load(x)) return false;
  for (const NestStmt *st = x->chain.body->first; st; st = st->next)
    if (st->code != NEST_LD && !is_index(st)) return false;
  return true;
}

/* Loads wait for the chain that uses them: in one that does not, they would fill an array. */
static bool worth_joining(const Item *g, const Item *l) {
  if (g->statements + l->statements > MOST_JOINED) return false;
  if (loads_only(l)) return index_only(g);
  return !loads_only(g) || sets_meet(&g->e.writes, &l->e.reads);
}

enum { MOST_CUT = 32 }; /* statements in a loop that is cut: C compilers expand the inner part */

/* Loops are cut where that keeps a value out of an array. */
static bool worth_cutting(const Item *g, const Item *l) {
  return g->statements + l->statements <= MOST_CUT && sets_meet(&g->e.writes, &l->e.reads);
}

/* The loops that l and g become if they may be fused. */
static bool joined_shape(Fuse *f, const Item *g, const Item *l, Chain *fine) {
  if (!g->chain.depth || !worth_joining(g, l)) return false;
  *fine = g->chain;
  if (!chains_alike(&g->chain, &l->chain) &&
      (!worth_cutting(g, l) || !chains_refine(f, &g->chain, &l->chain, fine) ||
       !map_body(&g->chain, can_map, fine) || !map_body(&l->chain, can_map, fine)))
    return false;
  arena_work(f->scratch, (uint64_t)(g->statements + l->statements) / 4);
  return chains_agree_in_registers(f, g, l, fine) && chains_agree_in_memory(f, g, l, fine);
}

/* Joins chain `at` with the nearest one before it that can take it.  Returns the index to go on at:
 * that of the longer chain, which others before it may take in turn, or the next. */
static size_t join_earlier(Fuse *f, size_t at) {
  const Item *l = &f->items.data[at];
  size_t first = at > LOOK_BACK ? at - LOOK_BACK : 0;
  Pending *needed = &f->pending; /* items between, without which l can't move */
  pending_clear(needed);
  for (size_t g = at; g-- > first;) {
    const Item *x = &f->items.data[g];
    bool stay[LOOK_BACK + 1];
    Chain fine;
    bool held = conflicts_with_effects(needed, &x->e);
    if (held || !joined_shape(f, x, l, &fine)) {
      if (held || effects_conflict(&x->e, &l->e)) pending_add(needed, &x->e);
      continue;
    }
    plan_moves(f, g, at, stay);
    size_t moved = 0;
    for (size_t i = g + 1; i < at; i++) moved += !stay[i - g];
    move_before(f, g, at, stay);
    fuse_item(f, &f->items.data[g + moved], at, &fine);
    return g + moved;
  }
  return at + 1;
}

static Item describe_item(const Fuse *f, NestStmt *st) {
  Item x = {st, effects_of(f, st), chain_of(st), 0};
  if (x.chain.depth) x.statements = length_of(x.chain.body);
  return x;
}

static void fuse_block(Fuse *f, NestBlock *b) {
  for (NestStmt *st = b->first; st; st = st->next)
    for (uint32_t r = 0; r < st->nregions; r++)
      if (st->code != NEST_UNROLL) fuse_block(f, st->regions[r]);
  f->items.len = 0;
  NestStmt *next = b->first;
  for (size_t i = 0; i < f->items.len || next;) {
    if (i == f->items.len) {
      vec_push(f->scratch, &f->items, describe_item(f, next));
      next = next->next;
    }
    i = f->items.data[i].chain.depth ? join_earlier(f, i) : i + 1;
  }
}

/* ---- the pass ---- */

static void find_only_defs(Fuse *f, NestBlock *b) {
  for (NestStmt *st = b->first; st; st = st->next) {
    for (uint32_t i = 0; i < st->ndsts; i++) {
      f->def[st->dsts[i].var->id] = st;
      f->ndefs[st->dsts[i].var->id]++;
    }
    for (uint32_t r = 0; r < st->nregions; r++) find_only_defs(f, st->regions[r]);
  }
}

bool pass_fuse_loops(Unit *u) {
  Nest *n = u->nest;
  Arena *scratch = arena_child(u->arena);
  Fuse f = {.nest = n,
            .lockstep = machine_has(u->machine, HAS_LOCKSTEP),
            .in_loops = !machine_has(u->machine, HAS_EXPANDED_LOOPS),
            .scratch = scratch,
            .def = ARENA_ARRAY(scratch, NestStmt *, n->nvars),
            .ndefs = ARENA_ARRAY(scratch, uint32_t, n->nvars)};
  pending_new(&f.pending, scratch, n);
  find_only_defs(&f, n->body);
  fuse_block(&f, n->body);
  fuse_contract(&f);
  arena_free(scratch);
  return true;
}
