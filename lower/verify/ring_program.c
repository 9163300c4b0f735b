/* What matters to rings of a kernel, as steps.  See ring.h. */
#include <string.h>

#include "lower/verify/ring.h"

enum { MOST_PRODUCTS = 64 };

static bool accesses_shared(const NestStmt *st) {
  return st->nmems && st->mems[0].buffer && st->code != NEST_PREFETCH;
}

static bool is_relevant(const NestStmt *st) { return ring_is_ordering(st) || accesses_shared(st); }

static bool contains(const NestStmt *st, bool (*test)(const NestStmt *)) {
  if (test(st)) return true;
  for (uint32_t r = 0; r < st->nregions; r++)
    for (const NestStmt *x = st->regions[r]->first; x; x = x->next)
      if (contains(x, test)) return true;
  return false;
}

static bool is_asynchronous(const NestStmt *st) {
  return st->code == NEST_CP_ASYNC || st->code == NEST_BULK_COPY || st->code == NEST_WGMMA;
}

static bool reads_through_proxy(const NestStmt *st) {
  return st->code == NEST_BULK_COPY || st->code == NEST_BULK_STORE || st->code == NEST_WGMMA;
}

static bool kernel_has(const Nest *n, bool (*test)(const NestStmt *)) {
  for (const NestStmt *st = n->body->first; st; st = st->next)
    if (contains(st, test)) return true;
  return false;
}

/* ---- variables ---- */

static void find_definitions(Check *c, const NestBlock *b) {
  for (const NestStmt *st = b->first; st; st = st->next) {
    for (uint32_t i = 0; i < st->ndsts; i++)
      if (c->ndefs[st->dsts[i].var->id] == 1) c->def[st->dsts[i].var->id] = st;
    for (uint32_t r = 0; r < st->nregions; r++) find_definitions(c, st->regions[r]);
  }
}

static bool track(Check *c, const Ref *r) {
  if (r->kind != REF_VAR || r->var->is_param || !dtype_is_int(r->var->dtype)) return false;
  if (c->place[r->var->id] >= 0) return false;
  c->place[r->var->id] = (int32_t)c->nvalues++;
  return true;
}

static bool track_sources(Check *c, const NestStmt *st) {
  bool more = false;
  for (uint32_t i = 0; i < st->nsrcs; i++) more |= track(c, &st->srcs[i]);
  return more;
}

static bool defines_tracked(const Check *c, const NestStmt *st) {
  for (uint32_t i = 0; i < st->ndsts; i++)
    if (st->dsts[i].kind == REF_VAR && c->place[st->dsts[i].var->id] >= 0) return true;
  return false;
}

/* Backwards, so that a variable's definition mostly comes after its use. */
static bool track_block(Check *c, const NestBlock *b) {
  bool more = false;
  for (const NestStmt *st = b->last; st; st = st->prev) {
    for (uint32_t r = st->nregions; r-- > 0;) more |= track_block(c, st->regions[r]);
    if (st->code == NEST_FOR && contains(st, is_relevant))
      more |= track(c, &st->dsts[0]) | track_sources(c, st);
    if (st->code == NEST_IF && contains(st, ring_is_ordering)) more |= track_sources(c, st);
    if (is_relevant(st)) {
      for (uint32_t i = 0; i < st->nmems; i++)
        if (st->mems[i].buffer) more |= track(c, &st->mems[i].base);
      if (st->code != NEST_CP_ASYNC) more |= track(c, &st->guard);
      if (st->code == NEST_MBAR_WAIT) more |= track_sources(c, st);
    } else if ((st->code == NEST_OP || st->code == NEST_MOV) && defines_tracked(c, st)) {
      more |= track_sources(c, st);
    }
  }
  return more;
}

/* A variable of several registers has one range for all.  Such a range is wrong where an unrolled
 * loop assigns one of them and reads another, of which its next iteration may find either value. */
typedef struct {
  const NestStmt *loop;
  const Affine *sub;
} Subscript;

static void check_subscripts(Check *c, const NestStmt *loop, const NestBlock *b, Subscript *seen) {
  for (const NestStmt *st = b->first; st; st = st->next) {
    uint32_t nrefs = st->nsrcs + st->ndsts + st->nmems;
    for (uint32_t i = 0; i < nrefs; i++) {
      const Ref *r = i < st->nsrcs ? &st->srcs[i]
                     : i < st->nsrcs + st->nmems ? &st->mems[i - st->nsrcs].base
                                                 : &st->dsts[i - st->nsrcs - st->nmems];
      if (r->kind != REF_VAR || c->place[r->var->id] < 0 || r->var->count == 1) continue;
      Subscript *x = &seen[r->var->id];
      if (x->loop == loop && !affine_eq(x->sub, &r->sub)) c->mixed[r->var->id] = true;
      *x = (Subscript){loop, &r->sub};
    }
    for (uint32_t k = 0; k < st->nregions; k++) check_subscripts(c, loop, st->regions[k], seen);
  }
}

static void find_mixed(Check *c, const NestBlock *b, Subscript *seen) {
  for (const NestStmt *st = b->first; st; st = st->next)
    for (uint32_t r = 0; r < st->nregions; r++)
      if (st->code == NEST_UNROLL) check_subscripts(c, st, st->regions[r], seen);
      else find_mixed(c, st->regions[r], seen);
}

static void note_product(Check *c, const Ref *r) {
  if (r->kind != REF_VAR || c->product[r->var->id] >= 0) return;
  uint32_t bit = c->nproducts < MOST_PRODUCTS ? c->nproducts++ : MOST_PRODUCTS - 1;
  c->product[r->var->id] = (int32_t)bit;
}

static void find_products(Check *c, const NestBlock *b) {
  for (const NestStmt *st = b->first; st; st = st->next) {
    if (st->code == NEST_WGMMA) {
      note_product(c, &st->dsts[0]);
      note_product(c, &st->srcs[0]);
    }
    for (uint32_t r = 0; r < st->nregions; r++) find_products(c, st->regions[r]);
  }
}

static void find_variables(Check *c) {
  const Nest *n = c->n;
  c->place = ARENA_ARRAY(c->arena, int32_t, n->nvars + 1);
  c->product = ARENA_ARRAY(c->arena, int32_t, n->nvars + 1);
  c->def = ARENA_ARRAY(c->arena, const NestStmt *, n->nvars + 1);
  c->mixed = ARENA_ARRAY(c->arena, bool, n->nvars + 1);
  c->ndefs = nest_count_defs(c->arena, n);
  for (uint32_t i = 0; i < n->nvars; i++) c->place[i] = c->product[i] = -1;
  find_definitions(c, n->body);
  while (track_block(c, n->body)) arena_work(c->arena, n->nvars);
  find_mixed(c, n->body, ARENA_ARRAY(c->arena, Subscript, n->nvars + 1));
  find_products(c, n->body);
  c->symbols = ARENA_ARRAY(c->arena, int32_t, c->nvalues + 1);
  for (uint32_t i = 0; i < n->nvars; i++)
    if (c->place[i] >= 0) c->symbols[c->place[i]] = (int32_t)i;
}

/* ---- steps ---- */

/* Do the values of the subscript's indices, each extent once, give all registers of the variable?
 * The coefficients are then the extents' products, in some order. */
static bool covers_variable(const NestStmt *st) {
  if (!st->ndsts || st->dsts[0].kind != REF_VAR) return false;
  const Ref *r = &st->dsts[0];
  int64_t next = st->code == NEST_MOV ? nest_int(st, NA_n, 1) : 1;
  for (int done = 0; done < r->sub.n; done++) {
    int i = 0;
    while (i < r->sub.n && r->sub.t[i].coef != next) i++;
    if (i == r->sub.n) return false;
    next *= r->sub.t[i].index->extent;
  }
  return r->sub.c == 0 && next >= (int64_t)r->var->count;
}

static bool uses_products(const Check *c, const NestStmt *st) {
  if (st->code == NEST_WGMMA) return false;
  for (uint32_t i = 0; i < st->nsrcs; i++)
    if (st->srcs[i].kind == REF_VAR && c->product[st->srcs[i].var->id] >= 0) return true;
  for (uint32_t i = 0; i < st->ndsts; i++)
    if (st->dsts[i].kind == REF_VAR && c->product[st->dsts[i].var->id] >= 0) return true;
  return false;
}

/* ---- what tells a loop's next iteration ---- */

static bool same_ref(const Ref *a, const Ref *b) {
  return a->kind == b->kind && a->var == b->var && affine_eq(&a->sub, &b->sub);
}

static bool defines(const NestStmt *st, const Ref *r) {
  for (uint32_t i = 0; i < st->ndsts; i++)
    if (r->kind == REF_VAR && st->dsts[i].var == r->var) return true;
  return false;
}

static int count_definitions(const NestBlock *b, const Ref *r) {
  int n = 0;
  for (const NestStmt *st = b->first; st; st = st->next) {
    n += defines(st, r);
    for (uint32_t i = 0; i < st->nregions; i++) n += count_definitions(st->regions[i], r);
  }
  return n;
}

/* The last definition before `st` in its block, where no block between has one. */
static const NestStmt *definition_before(const NestStmt *st, const Ref *r) {
  for (st = st->prev; st; st = st->prev) {
    if (defines(st, r)) return st;
    for (uint32_t i = 0; i < st->nregions; i++)
      if (count_definitions(st->regions[i], r)) return NULL;
  }
  return NULL;
}

/* `r < limit`, where r is the loop's first index (`first`), or the index plus the step. */
static bool compares_index(const NestStmt *loop, const NestStmt *st, bool first) {
  const Ref *from = &loop->srcs[0], *step = &loop->srcs[2], *r = &st->srcs[0];
  bool limits = st->code == NEST_OP && st->op == TILE_LT && st->type == loop->type &&
                !st->guard.kind && same_ref(&st->srcs[1], &loop->srcs[1]);
  if (!limits || (first && same_ref(r, from))) return limits;
  const NestStmt *def = r->kind == REF_VAR ? definition_before(st, r) : NULL;
  if (!def || def->guard.kind) return false;
  if (first) return def->code == NEST_MOV && same_ref(&def->srcs[0], from);
  return def->code == NEST_OP && def->op == TILE_ADD &&
         same_ref(&def->srcs[0], &loop->dsts[0]) && same_ref(&def->srcs[1], step);
}

/* A persistent kernel computes ahead whether there is another tile: `next = index + step < limit`,
 * and before the loop `next = first < limit`. */
static const NestStmt *find_told(const Check *c, const NestStmt *loop) {
  const NestBlock *body = loop->regions[0];
  for (int i = 0; i < 3; i++)
    if (count_definitions(body, i ? &loop->srcs[i] : &loop->dsts[0])) return NULL;
  for (const NestStmt *st = body->first; st; st = st->next) {
    if (st->ndsts != 1 || !compares_index(loop, st, false)) continue;
    const Ref *told = &st->dsts[0];
    const NestStmt *before = definition_before(loop, told);
    bool alone = count_definitions(body, told) == 1 && count_definitions(c->n->body, told) == 2;
    if (alone && before && compares_index(loop, before, true)) return st;
  }
  return NULL;
}

/* ---- steps ---- */

static Step *make_steps(Check *c, const NestBlock *b);

static Step *make_step(Check *c, const NestStmt *st) {
  bool needed = is_relevant(st) || (!st->nregions && defines_tracked(c, st));
  bool uses = !st->nregions && uses_products(c, st);
  Step *step = ARENA_NEW(c->arena, Step);
  *step = (Step){.st = st, .uses = uses, .covers = covers_variable(st)};
  for (uint32_t r = 0; r < st->nregions; r++) {
    step->kids[r] = make_steps(c, st->regions[r]);
    needed |= step->kids[r] != NULL;
  }
  if (!needed && !uses) return NULL;
  if (st->code == NEST_FOR) step->told = find_told(c, st);
  step->exact = st->code == NEST_UNROLL && contains(st, ring_is_ordering);
  step->id = (uint16_t)c->steps.len;
  vec_push(c->arena, &c->steps, step);
  return step;
}

static Step *make_steps(Check *c, const NestBlock *b) {
  Step *first = NULL, *last = NULL;
  for (const NestStmt *st = b->first; st; st = st->next) {
    Step *step = make_step(c, st);
    if (!step) continue;
    step->prev = last;
    if (last) last->next = step;
    else first = step;
    last = step;
  }
  return first;
}

/* ---- liveness of variables ---- */

static void live_use(const Check *c, uint64_t *live, const Ref *r) {
  int32_t at = r->kind == REF_VAR ? c->place[r->var->id] : -1;
  if (at >= 0) live[at / 64] |= UINT64_C(1) << at % 64;
}

static void live_access(const Check *c, uint64_t *live, const Mem *m) {
  live_use(c, live, &m->base);
  uint32_t at = m->buffer ? c->nvalues + m->buffer->id : 0;
  if (m->buffer) live[at / 64] |= UINT64_C(1) << at % 64;
}

static void live_uses(const Check *c, uint64_t *live, const NestStmt *st) {
  for (uint32_t i = 0; i < st->nsrcs; i++) live_use(c, live, &st->srcs[i]);
  for (uint32_t i = 0; i < st->nmems; i++) live_access(c, live, &st->mems[i]);
  live_use(c, live, &st->guard);
}

static void live_definition(const Check *c, uint64_t *live, const Step *step) {
  const NestStmt *st = step->st;
  if (st->ndsts != 1 || st->dsts[0].kind != REF_VAR || st->guard.kind || !step->covers) return;
  int32_t at = c->place[st->dsts[0].var->id];
  if (at >= 0) live[at / 64] &= ~(UINT64_C(1) << at % 64);
}

static uint64_t *live_copy(const Check *c, const uint64_t *live) {
  uint64_t *copy = ARENA_ARRAY(c->arena, uint64_t, c->live_words);
  return memcpy(copy, live, c->live_words * sizeof *copy);
}

static bool live_join(const Check *c, uint64_t *live, const uint64_t *other) {
  bool more = false;
  for (uint32_t i = 0; i < c->live_words; i++) {
    more |= (other[i] & ~live[i]) != 0;
    live[i] |= other[i];
  }
  return more;
}

static void live_before(const Check *c, const Step *first, uint64_t *live);

/* The first index of a FOR is read once, before its first iteration. */
static void live_loop(const Check *c, Step *step, uint64_t *live) {
  bool counts = step->st->code == NEST_FOR;
  step->live_out = live_copy(c, live);
  for (uint32_t i = counts; i < step->st->nsrcs; i++) live_use(c, live, &step->st->srcs[i]);
  if (counts) live_use(c, live, &step->st->dsts[0]);
  if (step->told) live_use(c, live, &step->told->dsts[0]);
  for (bool more = true; more;) {
    uint64_t *body = live_copy(c, live);
    for (uint32_t r = NEST_MAX_REGIONS; r-- > 0;) {
      live_before(c, step->kids[r], body);
      live_join(c, body, live);
    }
    more = live_join(c, live, body);
  }
  step->live_head = live_copy(c, live);
  if (counts) live_use(c, live, &step->st->srcs[0]);
}

static void live_branches(const Check *c, const Step *step, uint64_t *live) {
  uint64_t *other = live_copy(c, live);
  live_before(c, step->kids[0], live);
  live_before(c, step->kids[1], other);
  live_join(c, live, other);
  live_uses(c, live, step->st);
}

/* Turns what is live after the steps into what is live before them. */
static void live_before(const Check *c, const Step *first, uint64_t *live) {
  const Step *last = first;
  while (last && last->next) last = last->next;
  for (; last; last = last->prev) {
    if (last->st->code == NEST_IF) {
      live_branches(c, last, live);
    } else if (last->st->nregions) {
      live_loop(c, c->steps.data[last->id], live);
    } else {
      live_definition(c, live, last);
      live_uses(c, live, last->st);
    }
  }
}

static void find_offsets(Check *c) {
  int64_t next = 0;
  c->offset = ARENA_ARRAY(c->arena, int64_t, c->n->nbuffers + 1);
  for (uint32_t i = 0; i < c->n->nbuffers; i++) {
    const NestBuffer *b = c->n->buffers[i];
    bool has = b->offset >= 0;
    c->offset[i] = has ? b->offset : next;
    if (!has) next += b->bytes;
  }
}

bool ring_program(Check *c) {
  const Nest *n = c->n;
  if (!kernel_has(n, is_asynchronous)) return false;
  c->proxies = kernel_has(n, reads_through_proxy);
  find_variables(c);
  find_offsets(c);
  c->index = ARENA_ARRAY(c->arena, Range, n->nindices + 1);
  for (uint32_t i = 0; i < n->nindices; i++) c->index[i].symbol = NO_SYMBOL;
  c->body = make_steps(c, n->body);
  c->live_words = (c->nvalues + n->nbuffers) / 64 + 1;
  live_before(c, c->body, ARENA_ARRAY(c->arena, uint64_t, c->live_words));
  c->state_bytes = sizeof(State) + c->nvalues * sizeof(Range);
  return true;
}
