/* Pointers to steady memory are found from above: all that are made of others count, until one of
 * their definitions takes another pointer, or none. */
#include "lower/nest/steady.h"

#include <string.h>

typedef struct {
  Arena *arena;
  bool *steady;
  bool changed;
} Flow;

static bool is_steady_param(const Nest *n, const NestVar *v) {
  return v->arg < 31 && (n->options.steady >> v->arg & 1);
}

/* Is the result made of pointers to steady memory? */
static bool keeps_steady(const Flow *f, const NestStmt *st) {
  bool any = false;
  if (!(nest_flags(st) & NEST_IS_PURE)) return false;
  for (uint32_t i = 0; i < st->nsrcs; i++) {
    const Ref *r = &st->srcs[i];
    if (r->kind != REF_VAR || r->var->dtype != DT_PTR) continue;
    if (!f->steady[r->var->id]) return false;
    any = true;
  }
  return any;
}

static void flow_block(Flow *f, const NestBlock *b) {
  for (const NestStmt *st = b->first; st; st = st->next) {
    arena_work(f->arena, 1);
    for (uint32_t i = 0; i < st->ndsts; i++) {
      bool *to = &f->steady[st->dsts[i].var->id];
      if (!*to || keeps_steady(f, st)) continue;
      *to = false;
      f->changed = true;
    }
    for (uint32_t r = 0; r < st->nregions; r++) flow_block(f, st->regions[r]);
  }
}

bool *steady_pointers(Arena *a, const Nest *n) {
  Flow f = {a, ARENA_ARRAY(a, bool, n->nvars + 1), true};
  for (uint32_t i = 0; i < n->nvars; i++) {
    const NestVar *v = n->vars[i];
    f.steady[v->id] = v->dtype == DT_PTR && (!v->is_param || is_steady_param(n, v));
  }
  while (f.changed) {
    f.changed = false;
    flow_block(&f, n->body);
  }
  return f.steady;
}

static bool reads_steady(const Nest *n, const bool *steady, const NestStmt *st) {
  const TensorMap *map = nest_map_of(n, st);
  if (map && !steady[map->base->id]) return false;
  for (uint32_t i = 0; i < st->nmems; i++) {
    const Mem *m = &st->mems[i];
    if (!m->buffer && m->base.kind == REF_VAR && !steady[m->base.var->id]) return false;
  }
  return true;
}

bool steady_alone(const Nest *n, const bool *steady, const NestStmt *st) {
  bool waits = st->code == NEST_GRID_DEPENDENCY || nest_int(st, NA_volatile, 0);
  if (waits || nest_flags(st) & (NEST_IS_ATOMIC | NEST_IS_EFFECT)) return false;
  if (nest_writes_global(st) || !reads_steady(n, steady, st)) return false;
  for (uint32_t r = 0; r < st->nregions; r++)
    for (const NestStmt *x = st->regions[r]->first; x; x = x->next)
      if (!steady_alone(n, steady, x)) return false;
  return true;
}

NestStmt *steady_wait(const Nest *n) {
  for (NestStmt *st = n->body->first; st; st = st->next)
    if (st->code == NEST_GRID_DEPENDENCY && !strcmp(nest_str(st, NA_kind, ""), "wait")) return st;
  return NULL;
}
