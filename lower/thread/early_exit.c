/* Early exit: the loops over a row that may end after its last element.  See
 * lower/thread/peel_masks.h.
 *
 * After it the mask is false.  A loop may end there if all that it does is
 *
 *   storing           under the mask, which is nothing
 *   computing arrays  an element an iteration, that only loops read which end as well
 *   reducing          values that are the same in each of these iterations and lanes: those that
 *                     the mask keeps, and those computed from them, from constants and from
 *                     scalars that the program shares
 *
 * All loops are assumed to end at first; those that must not are dropped, and with them others, up
 * to the fixed point. */
#include <string.h>

#include "lower/thread/peel_masks.h"

typedef struct {
  const Row *r;
  bool *same;       /* by variable id: in all lanes of all iterations behind the row */
  bool *seen;       /* by variable id */
  bool *begun;      /* the first reference is a definition of every element */
  uint32_t *inside; /* references of elements by their iteration, in loops that end */
} EarlyExit;

FoldKind fold_kind(const Chain *c, const NestStmt *st) {
  if (st->code != NEST_OP || st->nsrcs != 2 || st->guard.kind || st->type == DT_I1)
    return FOLD_NONE;
  const Ref *acc = &st->dsts[0], *x = &st->srcs[0];
  bool updates = x->kind == REF_VAR && x->var == acc->var && affine_eq(&x->sub, &acc->sub);
  bool itself = st->srcs[1].kind == REF_VAR && st->srcs[1].var == acc->var;
  if (!updates || itself || chain_coefficient(&acc->sub, c, 0)) return FOLD_NONE;
  switch (st->op) {
    case TILE_MIN:
    case TILE_MAX:
    case TILE_MIN_NAN:
    case TILE_MAX_NAN:
    case TILE_AND:
    case TILE_OR: return FOLD_ONCE;
    case TILE_ADD: return FOLD_ADDS;
    default: return FOLD_NONE;
  }
}

static uint32_t refs_in(const NestBlock *body, const NestVar *v) {
  uint32_t found = 0;
  for (const NestStmt *st = body->first; st; st = st->next) {
    const Ref *refs[STMT_REFS];
    uint32_t n = row_refs(st, refs);
    for (uint32_t i = 0; i < n; i++) found += refs[i]->kind == REF_VAR && refs[i]->var == v;
  }
  return found;
}

/* ---- what is the same ---- */

static bool same_ref(const EarlyExit *t, const Chain *c, const Ref *x) {
  if (x->kind == REF_AFFINE) return !x->sub.n;
  if (x->kind != REF_VAR) return true;
  const NestVar *v = x->var;
  if (row_is_mask(t->r, c, x)) return true;
  bool from_outside = !t->r->def[v->id] || t->r->def[v->id]->parent != c->body;
  if (v->uniform && v->count == 1 && from_outside) return true;
  return t->same[v->id] && (v->count == 1 || chain_linear(&x->sub, c, 1));
}

static bool same_result(const EarlyExit *t, const Chain *c, const NestStmt *st) {
  if (st->code == NEST_OP && st->op == TILE_UNDEF) return false;
  if (row_is_mask(t->r, c, &st->dsts[0])) return true;
  if (st->code != NEST_OP && st->code != NEST_MOV) return false;
  for (uint32_t i = 0; i < st->nsrcs; i++)
    if (!same_ref(t, c, &st->srcs[i])) return false;
  return true;
}

/* Can the statement be left out after the row?  Notes which of its results are then uniform. */
static bool is_skippable(EarlyExit *t, const Chain *c, const NestStmt *st) {
  bool off = row_is_mask(t->r, c, &st->guard);
  if (nest_int(st, NA_n, 1) != 1) return false;
  switch (st->code) {
    case NEST_PREFETCH: return true;
    case NEST_ST:
    case NEST_RED:
    case NEST_ATOM:
    case NEST_ATOM_CAS: return off;
    case NEST_LD:
      if (nest_int(st, NA_volatile, 0)) return false;
      break;
    case NEST_OP:
      if (fold_kind(c, st)) return same_ref(t, c, &st->srcs[1]);
      break;
    case NEST_MOV:
    case NEST_SHFL: break;
    default: return false;
  }
  if (!off) t->same[st->dsts[0].var->id] = !st->guard.kind && same_result(t, c, st);
  return true;
}

/* ---- who reads it ---- */

static void note_refs(EarlyExit *t, const Chain *c, const NestStmt *st) {
  const Ref *refs[STMT_REFS];
  uint32_t n = row_refs(st, refs);
  for (uint32_t i = 0; i < n; i++) {
    if (refs[i]->kind != REF_VAR || !chain_linear(&refs[i]->sub, c, 1)) continue;
    uint32_t id = refs[i]->var->id;
    if (!t->seen[id]) t->begun[id] = i + st->ndsts >= n && !st->guard.kind;
    t->seen[id] = true;
    t->inside[id]++;
  }
}

static bool stays_inside(const EarlyExit *t, const Chain *c) {
  for (const NestStmt *st = c->body->first; st; st = st->next) {
    if (!st->ndsts) continue;
    const NestVar *v = st->dsts[0].var;
    uint32_t refs = t->r->refs[v->id];
    if (fold_kind(c, st) ? refs_in(c->body, v) != 2
        : v->count == 1  ? refs_in(c->body, v) != refs
                         : t->inside[v->id] != refs || !t->begun[v->id])
      return false;
  }
  return true;
}

/* ---- all parts ---- */

/* Marks those that must not end; false if there are none. */
static bool drop_parts(EarlyExit *t) {
  Row *r = (Row *)t->r;
  size_t bytes = r->nvars * sizeof(bool);
  memset(t->same, 0, bytes);
  memset(t->seen, 0, bytes);
  memset(t->inside, 0, r->nvars * sizeof *t->inside);
  bool dropped = false;
  for (size_t i = 0; i < r->parts.len; i++) {
    RowPart *p = &r->parts.data[i];
    for (const NestStmt *st = p->chain.body->first; st && p->ends; st = st->next) {
      note_refs(t, &p->chain, st);
      if (!is_skippable(t, &p->chain, st)) p->ends = false, dropped = true;
    }
  }
  for (size_t i = 0; i < r->parts.len && !dropped; i++) {
    RowPart *p = &r->parts.data[i];
    if (p->ends && !stays_inside(t, &p->chain)) p->ends = false, dropped = true;
  }
  return dropped;
}

void find_early_exits(Row *r) {
  EarlyExit t = {r, ARENA_ARRAY(r->scratch, bool, r->nvars),
                 ARENA_ARRAY(r->scratch, bool, r->nvars), ARENA_ARRAY(r->scratch, bool, r->nvars),
                 ARENA_ARRAY(r->scratch, uint32_t, r->nvars)};
  for (size_t i = 0; i < r->parts.len; i++) r->parts.data[i].ends = true;
  while (drop_parts(&t)) continue;
}
