/* Whether two chains can become one: see fuse_loops.c for what must hold. */
#include <stdlib.h>

#include "lower/thread/fuse_parts.h"

/* ---- chains ---- */

bool chains_alike(const Chain *a, const Chain *b) {
  if (a->depth != b->depth) return false;
  for (int i = 0; i < a->depth; i++)
    if (a->index[i]->extent != b->index[i]->extent) return false;
  return true;
}

bool chains_refine(const Fuse *f, const Chain *g, const Chain *l, Chain *fine) {
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

/* x, affine in the indices of a chain, in those of its refinement; false: too many terms. */
bool chain_map_affine(Affine *x, const Chain *from, const Chain *fine) {
  Affine sum = affine_const(x->c);
  for (int t = 0; t < x->n; t++) {
    int i = chain_place(from, x->t[t].index);
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
static bool apart(const Affine *x, const Chain *c, int64_t size) {
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

/* Are the variables of `ids` that are in `others` met at the same place? */
static bool agree_on(const Fuse *f, const IdSet *ids, const IdSet *others, const Item *g,
                     const Item *l, const Chain *fine) {
  for (uint32_t i = 0; i < ids->n; i++) {
    if (!set_has(others, ids->id[i])) continue;
    const NestVar *v = f->nest->vars[ids->id[i]];
    Aligned x = {.fine = fine, .ok = true};
    align_body(&x, v, &g->chain);
    align_body(&x, v, &l->chain);
    if (!x.ok || !apart(x.sub, x.chain, 1)) return false;
  }
  return true;
}

/* Every variable that one of the chains writes and the other accesses is met at the same place. */
bool chains_agree_in_registers(const Fuse *f, const Item *g, const Item *l, const Chain *fine) {
  return agree_on(f, &l->e.reads, &g->e.writes, g, l, fine) &&
         agree_on(f, &l->e.writes, &g->e.writes, g, l, fine) &&
         agree_on(f, &l->e.writes, &g->e.reads, g, l, fine);
}

/* ---- addresses ---- */

static bool same_value(const Fuse *f, const Ref *a, const Ref *b) {
  if (a->kind != b->kind) return false;
  if (a->kind == REF_VAR)
    return a->var == b->var && affine_eq(&a->sub, &b->sub) && f->ndefs[a->var->id] <= 1;
  return a->kind == REF_AFFINE && affine_eq(&a->sub, &b->sub);
}

/* Two parameters may be one or disjoint, if the kernel's accesses may be reordered at all. */
static bool may_assume(Fuse *f, NestVar *a, NestVar *b) {
  if (a == b || f->nest->options.alias == ALIAS_DISJOINT) return true;
  if (f->nest->options.alias == ALIAS_ORDERED) return false;
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
    if (!same_value(f, &x->srcs[1], &y->srcs[1])) return false;
    a = &x->srcs[0];
    b = &y->srcs[0];
  }
}

/* The load of chain g and the store of chain l meet, if at all, in one iteration and lane: lanes
 * hold neighbouring elements, and iterations lie apart by as many. */
static bool elementwise(Fuse *f, const Chain *g, const NestStmt *ld, const Chain *l,
                        const NestStmt *st, const Chain *fine) {
  int64_t bytes = dtype_bytes(st->type) * f->nest->lanes;
  return ld->type == st->type && same_affine(ld->mems[0].bytes, g, st->mems[0].bytes, l, fine) &&
         same_distance(f, &ld->mems[0].base, &st->mems[0].base) &&
         apart(&st->mems[0].bytes, l, bytes);
}

bool is_global_access(const NestStmt *st, NestCode code) {
  return st->code == code && !st->mems[0].buffer;
}

bool chains_agree_in_memory(Fuse *f, const Item *g, const Item *l, const Chain *fine) {
  f->assumed.len = 0;
  if (!effects_meet_in_memory(&g->e, &l->e)) return true;
  if ((g->e.memory | l->e.memory) & ORDERED || g->e.memory & WRITES_GLOBAL) return false;
  Effects ge = g->e;
  ge.memory = 0;
  if (effects_meet_in_memory(&ge, &l->e)) return false; /* of shared buffers */
  for (const NestStmt *st = l->chain.body->first; st; st = st->next)
    for (const NestStmt *ld = g->chain.body->first; ld && is_global_access(st, NEST_ST);
         ld = ld->next)
      if (is_global_access(ld, NEST_LD) && !elementwise(f, &g->chain, ld, &l->chain, st, fine))
        return false;
  return true;
}
