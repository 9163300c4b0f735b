#include "graph/ops/infer_symbols.h"

#include <string.h>

static bool is_met(const Symbols *s, Dim x) {
  if (x->kind == DIM_SYMBOL) return x->symbol < s->met.len && s->met.data[x->symbol];
  bool all = true;
  for (uint32_t i = 0; i < x->n && all; i++) all = is_met(s, x->args[i]);
  return all;
}

static void meet(Symbols *s, Dim x) {
  if (x->kind == DIM_SYMBOL) {
    while (s->met.len <= x->symbol) vec_push(s->arena, &s->met, false);
    s->met.data[x->symbol] = true;
  }
  for (uint32_t i = 0; i < x->n; i++) meet(s, x->args[i]);
}

void symbols_meet(Symbols *s, const ValueType *t) {
  if (t->kind == VALUE_INT && t->value) meet(s, t->value);
  for (uint32_t i = 0; t->kind == VALUE_TENSOR && i < t->rank; i++) meet(s, t->shape[i]);
  for (uint32_t i = 0; t->kind == VALUE_LIST && i < t->nitems; i++) symbols_meet(s, &t->items[i]);
}

static Dim settled(const Symbols *s, Dim said, Dim inferred) {
  return !is_met(s, said) && is_met(s, inferred) ? inferred : said;
}

void symbols_settle(const Symbols *s, Graph *g, ValueType *said, const ValueType *inferred) {
  if (said->kind != inferred->kind) return;
  if (said->kind == VALUE_INT && said->value && inferred->value)
    said->value = settled(s, said->value, inferred->value);
  if (said->kind != VALUE_TENSOR || said->rank != inferred->rank) return;
  Dim shape[GRAPH_RANK_MAX];
  for (uint32_t i = 0; i < said->rank; i++)
    shape[i] = settled(s, said->shape[i], inferred->shape[i]);
  if (said->rank && memcmp(shape, said->shape, said->rank * sizeof *shape) != 0)
    *said = value_tensor(g, said->dtype, said->rank, shape);
}

static Dim open_in(const Symbols *s, const Arg *a) {
  if (a->kind == ARG_INT) return is_met(s, a->dim) ? NULL : a->dim;
  Dim open = NULL;
  for (uint32_t i = 0; a->kind == ARG_LIST && i < a->n && !open; i++)
    open = open_in(s, &a->items[i]);
  return open;
}

Dim symbols_open(const Symbols *s, const Node *n) {
  Dim open = NULL;
  for (uint32_t i = 0; i < n->nargs && !open; i++) open = open_in(s, &n->args[i]);
  for (uint32_t i = 0; i < n->nnamed && !open; i++) open = open_in(s, &n->named[i].value);
  return open;
}
