/* Arrays that are the bits of another one:
 *
 *   serial a:32 { unroll b:8 { %scores.1[8*a + b] = bitcast %scores[8*a + b] } }
 *
 * Where nobody writes or reads the other one any more, readers take its elements, as numbers of the
 * new dtype, and nothing is copied. */
#include "codegen/c/c.h"

/* ---- which ---- */

enum { LOOPS = 2 };

static bool mentions(const NestStmt *s, const NestVar *v) {
  bool any = s->guard.kind == REF_VAR && s->guard.var == v;
  for (uint32_t i = 0; i < s->ndsts; i++) any |= s->dsts[i].var == v;
  for (uint32_t i = 0; i < s->nsrcs; i++) any |= s->srcs[i].kind == REF_VAR && s->srcs[i].var == v;
  for (uint32_t i = 0; i < s->nmems; i++)
    any |= s->mems[i].base.kind == REF_VAR && s->mems[i].base.var == v;
  for (uint32_t r = 0; r < s->nregions; r++)
    for (const NestStmt *x = s->regions[r]->first; x && !any; x = x->next) any |= mentions(x, v);
  return any;
}

/* Is it a loop that is counted, whose iterations are alike? */
static bool is_counted(const NestStmt *s) {
  return (s->code == NEST_UNROLL || s->code == NEST_SERIAL) && !s->nsrcs;
}

/* Does the bitcast, in so many loops, write each element of its result once, from its place? */
static bool writes_all(const NestStmt *s, const NestIndex *const *at, int depth) {
  const Ref *to = &s->dsts[0], *from = &s->srcs[0];
  int64_t reach = 1;
  for (int i = depth - 1; i >= 0; i--) {
    if (affine_coef(&to->sub, at[i]) != reach) return false;
    reach *= at[i]->extent;
  }
  return !to->sub.c && to->sub.n == (unsigned)depth && affine_eq(&to->sub, &from->sub) &&
         reach == (int64_t)to->var->count && from->var->count == to->var->count;
}

static bool is_bitcast(const Gen *g, const NestStmt *s) {
  if (s->code != NEST_OP || s->op != TILE_BITCAST || s->guard.kind) return false;
  const Ref *from = &s->srcs[0];
  if (from->kind != REF_VAR || s->dsts[0].var->count == 1 || from->var == s->dsts[0].var)
    return false;
  bool words = dtype_bytes(s->type) == 4 && dtype_bytes(s->to) == 4;
  return words && g->spread[from->var->id].kind == SPREAD_VECTOR &&
         g->spread[s->dsts[0].var->id].kind == SPREAD_VECTOR;
}

static bool writes(const NestStmt *s, const NestVar *v) {
  for (uint32_t i = 0; i < s->ndsts; i++)
    if (s->dsts[i].var == v) return true;
  return false;
}

static bool writes_within(const NestStmt *s, const NestVar *v) {
  bool any = writes(s, v);
  for (uint32_t r = 0; r < s->nregions; r++)
    for (const NestStmt *x = s->regions[r]->first; x && !any; x = x->next)
      any |= writes_within(x, v);
  return any;
}

/* Is the result read after the loop alone and written by it alone, and its operand written before
 * it, all in the loop's block? */
static bool is_only_name(const Gen *g, const NestStmt *loop, const NestStmt *cast) {
  const NestVar *to = cast->dsts[0].var, *from = cast->srcs[0].var;
  for (const NestStmt *s = loop->prev; s; s = s->prev)
    if (mentions(s, to)) return false;
  for (const NestStmt *s = loop->next; s; s = s->next)
    if (mentions(s, from) || writes_within(s, to)) return false;
  for (const NestBlock *b = loop->parent; b->owner; b = b->owner->parent)
    for (const NestStmt *s = b->owner->parent->first; s; s = s->next)
      if (s != b->owner && (mentions(s, to) || mentions(s, from))) return false;
  return !g->large[to->id] && !g->large[from->id];
}

/* Does a statement of the loop other than the bitcast write its result or its operand? */
static bool is_changed(const NestBlock *b, const NestStmt *cast) {
  for (const NestStmt *s = b->first; s; s = s->next) {
    if (s == cast) continue;
    if (writes(s, cast->dsts[0].var) || writes(s, cast->srcs[0].var)) return true;
    for (uint32_t r = 0; r < s->nregions; r++)
      if (is_changed(s->regions[r], cast)) return true;
  }
  return false;
}

typedef struct {
  const NestStmt *outermost;
  const NestIndex *at[LOOPS];
  int depth;
} Around;

static void find_in_loops(Gen *g, const NestBlock *b, Around around);

static void find_in_statement(Gen *g, const NestStmt *s, Around around) {
  if (is_counted(s) && around.depth < LOOPS) {
    if (!around.depth) around.outermost = s;
    around.at[around.depth++] = s->index;
    find_in_loops(g, s->regions[0], around);
    return;
  }
  if (around.depth && is_bitcast(g, s) && writes_all(s, around.at, around.depth) &&
      !is_changed(around.outermost->regions[0], s) && is_only_name(g, around.outermost, s))
    g->renamed[s->dsts[0].var->id] = s;
}

static void find_in_loops(Gen *g, const NestBlock *b, Around around) {
  for (const NestStmt *s = b->first; s; s = s->next) find_in_statement(g, s, around);
}

/* ---- all of a program ---- */

static void find_renamed(Gen *g, const NestBlock *b) {
  for (const NestStmt *s = b->first; s; s = s->next) {
    find_in_statement(g, s, (Around){0});
    for (uint32_t r = 0; r < s->nregions; r++) find_renamed(g, s->regions[r]);
  }
}

void c_find_renamed(Gen *g) {
  g->renamed = ARENA_ARRAY(g->arena, const NestStmt *, g->nest->nvars);
  find_renamed(g, g->nest->body);
}

bool c_renames(const Gen *g, const NestStmt *s) {
  if (!s->nregions) return s->ndsts == 1 && g->renamed[s->dsts[0].var->id] == s;
  if (!is_counted(s) || !s->regions[0]->first) return false;
  for (const NestStmt *x = s->regions[0]->first; x; x = x->next)
    if (!c_renames(g, x)) return false;
  return true;
}
