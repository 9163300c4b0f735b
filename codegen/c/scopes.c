/* The scope of each variable in C: declared by its definition, if there is one, before all uses;
 * else at the head of the innermost block that contains all of them, if it carries no value from
 * one iteration of a loop to the next; else at the head of the program.  Small scopes are easier to
 * read, and let the C compiler reuse the stack of large register arrays. */
#include "codegen/c/c.h"

/* The occurrences of a variable.  Statements are numbered in program order. */
typedef struct {
  const NestBlock *around; /* innermost block around all occurrences */
  const NestStmt *def;     /* the first definition */
  uint32_t defs, first_def, first_use;
  bool partial; /* some definition is guarded, or reads the variable before */
} Seen;

typedef struct {
  Gen *g;
  Seen *seen; /* by variable id */
  uint32_t at;
} Walk;

static const NestBlock *outer(const NestBlock *b) { return b->owner ? b->owner->parent : NULL; }

static int block_depth(const NestBlock *b) {
  int n = 0;
  while ((b = outer(b))) n++;
  return n;
}

static const NestBlock *common_block(const NestBlock *a, const NestBlock *b) {
  int da = block_depth(a), db = block_depth(b);
  for (; da > db; da--) a = outer(a);
  for (; db > da; db--) b = outer(b);
  for (; a != b; a = outer(a)) b = outer(b);
  return a;
}

static Seen *occurs(Walk *w, const NestVar *v, const NestBlock *b) {
  Seen *s = &w->seen[v->id];
  s->around = s->around ? common_block(s->around, b) : b;
  return s;
}

static void mark_first_use(Walk *w, const Ref *r, const NestBlock *b) {
  if (r->kind != REF_VAR) return;
  Seen *s = occurs(w, r->var, b);
  if (!s->first_use) s->first_use = w->at;
}

static void mark_definitions(Walk *w, const NestStmt *st, const NestBlock *b) {
  for (uint32_t i = 0; i < st->ndsts; i++) {
    Seen *s = occurs(w, st->dsts[i].var, b);
    if (!s->defs++) s->first_def = w->at, s->def = st;
    if (st->guard.kind) s->partial = true;
  }
}

static void find_occurrences(Walk *w, const NestBlock *b) {
  for (const NestStmt *st = b->first; st; st = st->next) {
    w->at++;
    /* the condition of a WHILE is what its first region has computed */
    const NestBlock *at = st->code == NEST_WHILE ? st->regions[0] : b;
    for (uint32_t i = 0; i < st->nsrcs && at == b; i++) mark_first_use(w, &st->srcs[i], b);
    for (uint32_t i = 0; i < st->nmems; i++) mark_first_use(w, &st->mems[i].base, b);
    mark_first_use(w, &st->guard, b);
    w->at++;
    mark_definitions(w, st, st->code == NEST_FOR ? st->regions[0] : b);
    for (uint32_t i = 0; i < st->nregions; i++) {
      find_occurrences(w, st->regions[i]);
      for (uint32_t k = 0; k < st->nsrcs && at != b && !i; k++)
        w->at++, mark_first_use(w, &st->srcs[k], at);
    }
  }
}

/* ---- deciding ---- */

static bool is_any_loop(const NestStmt *s) {
  return s && (nest_flags(s) & NEST_IS_LOOP);
}

static const NestBlock *out_of_loops(const NestBlock *b) {
  const NestBlock *r = b;
  for (; b->owner; b = outer(b))
    if (is_any_loop(b->owner)) r = outer(b);
  return r;
}

static bool is_filled_by_load(const Seen *s) {
  return s->defs == 1 && s->partial && s->def->code == NEST_LD;
}

/* Is the first thing that happens to the variable in its block that all of it is computed? */
static bool starts_whole(const Seen *s, const NestVar *v) {
  bool part = s->partial && !is_filled_by_load(s);
  if (!s->def || part || (s->first_use && s->first_use < s->first_def)) return false;
  if (s->def->code == NEST_FOR) return true;
  int64_t covered = s->def->code == NEST_OP ? 1 : nest_int(s->def, NA_n, 1);
  for (const NestBlock *b = s->def->parent; b != s->around; b = outer(b)) {
    bool counted = b->owner->code == NEST_UNROLL || b->owner->code == NEST_SERIAL;
    if (!counted || b->owner->nsrcs) return false;
    covered *= b->owner->index->extent;
  }
  return covered >= (int64_t)v->count;
}

static bool at_definition(const Seen *s, const NestVar *v) {
  if (s->def && s->def->code == NEST_ASM) return false; /* a block of its own assigns it */
  bool once = s->defs == 1 && v->count == 1 && !s->partial && starts_whole(s, v);
  if (once && s->def->code == NEST_FOR) return s->around == s->def->regions[0];
  return once && s->def->parent == s->around && nest_int(s->def, NA_n, 1) == 1;
}

typedef struct {
  Gen *g;
  Walk *w;
  VEC(const NestVar *) vars; /* to be declared at a block's head */
  uint32_t at;
} Heads;

/* Numbers blocks in the order of printing. */
static void number_blocks(Heads *h, const NestBlock *b, const NestBlock **by_number) {
  by_number[h->at++] = b;
  for (const NestStmt *st = b->first; st; st = st->next)
    for (uint32_t i = 0; i < st->nregions; i++) number_blocks(h, st->regions[i], by_number);
}

uint32_t c_count_blocks(const NestBlock *b) {
  uint32_t n = 1;
  for (const NestStmt *st = b->first; st; st = st->next)
    for (uint32_t i = 0; i < st->nregions; i++) n += c_count_blocks(st->regions[i]);
  return n;
}

static void declare_at_head(Gen *g, const NestBlock **by_number, uint32_t blocks,
                            const NestBlock *b, const NestVar *v) {
  for (uint32_t i = 0; i < blocks; i++) {
    if (by_number[i] != b) continue;
    Declared *d = ARENA_NEW(g->arena, Declared);
    *d = (Declared){g->heads[i], v};
    g->heads[i] = d;
    return;
  }
}

void c_find_scopes(Gen *g) {
  const Nest *n = g->nest;
  Walk w = {g, ARENA_ARRAY(g->arena, Seen, n->nvars), 0};
  Heads h = {.g = g, .w = &w};
  uint32_t blocks = c_count_blocks(n->body);
  const NestBlock **by_number = ARENA_ARRAY(g->arena, const NestBlock *, blocks);
  g->at_definition = ARENA_ARRAY(g->arena, bool, n->nvars);
  g->filled = ARENA_ARRAY(g->arena, bool, n->nvars);
  g->heads = ARENA_ARRAY(g->arena, Declared *, blocks);
  find_occurrences(&w, n->body);
  number_blocks(&h, n->body, by_number);
  for (uint32_t i = n->nvars; i-- > 0;) {
    const NestVar *v = n->vars[i];
    const Seen *s = &w.seen[i];
    if (v->is_param || !s->around) continue;
    g->at_definition[i] = at_definition(s, v);
    g->filled[i] = is_filled_by_load(s);
    if (g->at_definition[i]) continue;
    const NestBlock *b = starts_whole(s, v) ? s->around : out_of_loops(s->around);
    declare_at_head(g, by_number, blocks, b, v);
  }
}
