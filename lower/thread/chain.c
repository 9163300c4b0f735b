#include "lower/thread/chain.h"

Chain chain_of(NestStmt *st) {
  Chain c = {.depth = 0};
  while (st->code == NEST_UNROLL) {
    if (c.depth == MAX_TERMS) return (Chain){.depth = 0};
    c.index[c.depth++] = st->index;
    c.body = st->regions[0];
    if (!c.body->first || c.body->first->next || c.body->first->code != NEST_UNROLL) break;
    st = c.body->first;
  }
  for (const NestStmt *x = c.depth ? c.body->first : NULL; x; x = x->next)
    if (x->nregions) return (Chain){.depth = 0};
  return c;
}

int64_t chain_coefficient(const Affine *x, const Chain *c, int i) {
  for (int k = 0; k < x->n; k++)
    if (x->t[k].index == c->index[i]) return x->t[k].coef;
  return 0;
}

int64_t chain_extent(const Chain *c, int i) {
  int64_t n = 1;
  for (; i < c->depth; i++) n *= c->index[i]->extent;
  return n;
}

bool chain_linear(const Affine *x, const Chain *c, int64_t scale) {
  int terms = 0;
  for (int i = 0; i < c->depth; i++) {
    if (c->index[i]->extent == 1) continue;
    if (chain_coefficient(x, c, i) != scale * chain_extent(c, i + 1)) return false;
    terms++;
  }
  return x->c == 0 && x->n == terms;
}
