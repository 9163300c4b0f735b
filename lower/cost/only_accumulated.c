#include "lower/cost/only_accumulated.h"

enum { CHAIN_MOST = 8 }; /* ops from a value to its sum */

/* What reads a variable, but for moves, which begin sums. */
typedef struct {
  const NestStmt *op; /* the only one; NULL: none, or one of another kind */
  int readers;
} Reader;

static void note_reader(Reader *r, const NestStmt *s, const Ref *ref) {
  if (ref->kind != REF_VAR || s->code == NEST_MOV) return;
  Reader *to = &r[ref->var->id];
  if (to->op == s) return;
  to->op = s->code == NEST_OP ? s : NULL;
  to->readers++;
}

static void find_readers(Reader *r, const NestBlock *b) {
  for (const NestStmt *s = b ? b->first : NULL; s; s = s->next) {
    for (uint32_t i = 0; i < s->nsrcs; i++) note_reader(r, s, &s->srcs[i]);
    for (uint32_t i = 0; i < s->nregions; i++) find_readers(r, s->regions[i]);
  }
}

static bool accumulates(const NestStmt *s) {
  for (uint32_t i = 0; i < s->nsrcs; i++)
    if (s->srcs[i].kind == REF_VAR && s->srcs[i].var == s->dsts[0].var) return true;
  return false;
}

static bool is_streamed(const Reader *r, const NestVar *v) {
  for (int i = 0; i < CHAIN_MOST; i++) {
    const Reader *by = &r[v->id];
    if (by->readers != 1 || !by->op || by->op->dsts[0].kind != REF_VAR) return false;
    if (accumulates(by->op)) return true;
    v = by->op->dsts[0].var;
  }
  return false;
}

bool *find_only_accumulated(Arena *a, const Nest *n) {
  Reader *r = ARENA_ARRAY(a, Reader, n->nvars + 1);
  bool *found = ARENA_ARRAY(a, bool, n->nvars + 1);
  find_readers(r, n->body);
  for (uint32_t i = 0; i < n->nvars; i++) found[n->vars[i]->id] = is_streamed(r, n->vars[i]);
  return found;
}
