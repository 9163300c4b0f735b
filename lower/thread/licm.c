/* Passes hoist (level nest) and licm (level thread): loop-invariant code motion.  Statements, and
 * whole unrolled loops, whose operands no iteration changes move before the loop; innermost loops
 * first. */
#include "lower/passes.h"

#include <string.h>

typedef struct {
  Nest *nest;
  Arena *scratch;
  uint32_t *defs;   /* by var id: statements that define it */
  uint32_t *inside; /* by var id: of these, inside the loop at hand */
  uint32_t *local;  /* by var id: number of the unroll that has defined it, in is_hoistable() */
  uint32_t unrolls;
} Licm;

static bool is_sequential_loop(const NestStmt *st) {
  return (nest_flags(st) & NEST_IS_LOOP) && st->code != NEST_UNROLL;
}

static void count_weighted_defs(uint32_t *defs, const NestBlock *b, uint32_t by) {
  for (const NestStmt *st = b->first; st; st = st->next) {
    for (uint32_t i = 0; i < st->ndsts; i++) defs[st->dsts[i].var->id] += by;
    for (uint32_t r = 0; r < st->nregions; r++) count_weighted_defs(defs, st->regions[r], by);
  }
}

static bool is_invariant_ref(const Licm *s, const Ref *r) {
  return r->kind != REF_VAR || !s->inside[r->var->id] ||
         (s->unrolls && s->local[r->var->id] == s->unrolls);
}

static bool is_pure_stmt(const NestStmt *st) {
  return (nest_flags(st) & NEST_IS_PURE) && !st->guard.kind;
}

/* True if st computes the same in every iteration; serial indices of the loop must not occur. */
static bool is_invariant(const Licm *s, const NestStmt *st, const NestIndex *index) {
  if (!is_pure_stmt(st) || s->defs[st->dsts[0].var->id] != 1) return false;
  for (uint32_t i = 0; i < st->nsrcs; i++) {
    const Ref *r = &st->srcs[i];
    if (!is_invariant_ref(s, r)) return false;
    for (int k = 0; k < r->sub.n; k++)
      if (r->sub.t[k].index == index) return false;
  }
  for (int k = 0; k < st->dsts[0].sub.n; k++)
    if (st->dsts[0].sub.t[k].index == index) return false;
  return true;
}

/* An unroll moves as a whole: what it has defined itself counts as fixed for the rest of it. */
static bool is_block_hoistable(Licm *s, const NestBlock *b, const NestIndex *index) {
  for (const NestStmt *st = b->first; st; st = st->next) {
    bool ok = st->code == NEST_UNROLL ? is_block_hoistable(s, st->regions[0], index)
                                      : is_invariant(s, st, index);
    if (!ok) return false;
    if (st->ndsts) s->local[st->dsts[0].var->id] = s->unrolls;
  }
  return true;
}

static bool is_hoistable(Licm *s, const NestStmt *st, const NestIndex *index) {
  s->unrolls++;
  return st->code == NEST_UNROLL ? is_block_hoistable(s, st->regions[0], index)
                                 : is_invariant(s, st, index);
}

static void hoist_from(Licm *s, NestStmt *owner) {
  for (uint32_t r = 0; r < owner->nregions; r++)
    for (NestStmt *st = owner->regions[r]->first, *next; st; st = next) {
      next = st->next;
      arena_work(s->scratch, 1);
      if (!is_hoistable(s, st, owner->index)) continue;
      NestBlock one = {.first = st};
      NestStmt *rest = st->next;
      st->next = NULL;
      count_weighted_defs(s->inside, &one, (uint32_t)-1);
      st->next = rest;
      nest_move_before(st, owner);
    }
}

enum { WORDS_A_STEP = 64 }; /* that are cleared */

/* Innermost loops first, so that what leaves one can leave the next. */
static void licm_block(Licm *s, NestBlock *b) {
  for (NestStmt *st = b->first; st; st = st->next) {
    for (uint32_t r = 0; r < st->nregions; r++) licm_block(s, st->regions[r]);
    if (!is_sequential_loop(st)) continue;
    memset(s->inside, 0, sizeof *s->inside * s->nest->nvars);
    arena_work(s->scratch, s->nest->nvars / WORDS_A_STEP);
    for (uint32_t r = 0; r < st->nregions; r++) count_weighted_defs(s->inside, st->regions[r], 1);
    for (uint32_t i = 0; i < st->ndsts; i++) s->inside[st->dsts[i].var->id]++;
    hoist_from(s, st);
  }
}

bool pass_licm(Unit *u) {
  Licm s = {.nest = u->nest, .scratch = arena_child(u->arena)};
  uint32_t n = u->nest->nvars;
  s.defs = ARENA_ARRAY(s.scratch, uint32_t, n);
  s.inside = ARENA_ARRAY(s.scratch, uint32_t, n);
  s.local = ARENA_ARRAY(s.scratch, uint32_t, n);
  count_weighted_defs(s.defs, u->nest->body, 1);
  licm_block(&s, u->nest->body);
  arena_free(s.scratch);
  return true;
}
