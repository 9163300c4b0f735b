/* Loops whose last products, which add to carried sums, run on while threads work on the result of
 * the product before them, as gradients of attention in one pass add that of the query to memory:
 *
 *   x = product ; sums = product ; ... ; wait for all but the last ones ; work on x
 *   wait for all, at the body's end
 *
 * What follows the loop's end, or is at the next iteration's start, is as before: no barrier of the
 * program changes its meaning. */
#include "lower/nest/nest_access.h"
#include "lower/pipeline/pipe.h"
#include "lower/target/atoms.h"

static bool is_group_dot(const NestStmt *st) {
  const Atom *atom = st->code == NEST_DOT ? atom_find(nest_str(st, NA_atom, "")) : NULL;
  return atom && atom->warps > 1 && !nest_attr(st, NA_max_imprecise) && !nest_attr(st, NA_open);
}

static bool adds_to_itself(const NestStmt *dot) {
  return dot->srcs[2].kind == REF_VAR && dot->srcs[2].var == dot->dsts[0].var;
}

static bool contains_dot(const NestStmt *st) {
  for (uint32_t r = 0; r < st->nregions; r++)
    for (const NestStmt *x = st->regions[r]->first; x; x = x->next)
      if (x->code == NEST_DOT || contains_dot(x)) return true;
  return false;
}

/* The product whose result threads work on; the `n` last ones of the body follow it. */
static NestStmt *find_product(const NestBlock *body, int *n) {
  NestStmt *st = body->last;
  *n = 0;
  for (; st; st = st->prev) {
    if (contains_dot(st)) return NULL;
    if (st->code != NEST_DOT) continue;
    if (!is_group_dot(st)) return NULL;
    if (!adds_to_itself(st)) return *n ? st : NULL;
    ++*n;
  }
  return NULL;
}

/* Between products: what computes their operands in registers. */
static bool is_between(const NestStmt *st, const NestStmt *product) {
  bool simple = st->code == NEST_OP || st->code == NEST_MOV || st->code == NEST_RELAYOUT ||
                st->code == NEST_FENCE;
  return simple && !nest_touches(st, product->dsts[0].var);
}

static bool stores_to(const NestStmt *st, const NestBuffer *b) {
  for (uint32_t i = 0; i < st->nmems; i++)
    if (st->mems[i].buffer == b && nest_flags(st) & NEST_IS_WRITE) return true;
  for (uint32_t r = 0; r < st->nregions; r++)
    for (const NestStmt *x = st->regions[r]->first; x; x = x->next)
      if (stores_to(x, b)) return true;
  return false;
}

/* Does the statement touch what the open product adds to, or change what it reads? */
static bool disturbs(const NestStmt *st, const NestStmt *dot) {
  if (nest_touches(st, dot->dsts[0].var)) return true;
  if (dot->srcs[0].kind == REF_VAR && nest_sets(st, dot->srcs[0].var)) return true;
  for (uint32_t i = 0; i < dot->nmems; i++)
    if (dot->mems[i].buffer && stores_to(st, dot->mems[i].buffer)) return true;
  return false;
}

static bool can_stay_open(const NestStmt *product) {
  bool works = false;
  const NestStmt *last = product;
  for (const NestStmt *st = product->next; st; st = st->next)
    if (st->code == NEST_DOT) last = st;
  for (const NestStmt *st = product->next; st != last; st = st->next)
    if (st->code != NEST_DOT && !is_between(st, product)) return false;
  for (const NestStmt *dot = product->next; dot; dot = dot->next) {
    for (const NestStmt *st = dot->next; dot->code == NEST_DOT && st; st = st->next)
      if (st != dot && disturbs(st, dot)) return false;
  }
  for (const NestStmt *st = last->next; st; st = st->next)
    works |= st->code == NEST_NEST && nest_touches(st, product->dsts[0].var);
  return works;
}

static void wait_for(Pipe *p, NestStmt *before, int groups) {
  NestBuilder at = {p->n, p->loop->regions[0], before, p->loop->span};
  nest_set_int(p->n, nest_stmt(&at, NEST_MMA_WAIT, 0, 0), NA_groups, groups);
}

void open_products(Pipe *p) {
  int n;
  NestStmt *product = find_product(p->loop->regions[0], &n), *last = product;
  if (!product || !can_stay_open(product)) return;
  for (NestStmt *st = product; st; st = st->next) {
    if (st->code != NEST_DOT) continue;
    nest_set_int(p->n, st, NA_open, 1);
    last = st;
  }
  wait_for(p, last->next, n);
  wait_for(p, NULL, 0);
}
