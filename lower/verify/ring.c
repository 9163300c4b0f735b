/* Pass prove_rings: the exploration of a kernel's control flow.  See ring.h. */
#include <string.h>

#include "lower/messages.h"
#include "lower/passes.h"
#include "lower/verify/ring.h"

enum {
  MOST_HEADS = 8192,   /* states at the heads of loops, of a kernel */
  MOST_DISTINCT = 48,  /* values of a variable at a loop's head, of which each is told apart */
  MOST_AHEAD = 40,     /* iterations between a copy and its use, of which each is told apart */
  MOST_TOGETHER = 256  /* states at one place that is no head */
};

static void run_steps(Check *c, const Step *step, States *set);

/* ---- sets of states ---- */

static bool same_state(const Check *c, const State *a, const State *b) {
  return !memcmp(a, b, c->state_bytes);
}

static bool holds(const Check *c, const States *set, size_t n, const State *s) {
  for (size_t i = 0; i < n; i++)
    if (same_state(c, set->data[i], s)) return true;
  return false;
}

static void merge_equal(Check *c, States *set) {
  size_t kept = 0;
  for (size_t i = 0; i < set->len; i++) {
    State *s = set->data[i];
    if (holds(c, set, kept, s)) ring_drop(c, s);
    else set->data[kept++] = s;
  }
  set->len = kept;
}

static void add_state(Check *c, States *set, State *s) {
  if (holds(c, set, set->len, s)) ring_drop(c, s);
  else vec_push(c->arena, set, s);
}

/* ---- loops ---- */

/* Values of a variable at heads. */
typedef struct {
  int64_t seen[MOST_DISTINCT];
  int n;
} Distinct;

typedef struct {
  Check *c;
  const Step *step;
  const NestStmt *st;
  int32_t index;      /* the variable's id; NO_SYMBOL: none */
  int64_t by;         /* the constant step of a loop that counts up; 0: unknown */
  States heads, out;
  VEC(uint64_t) hashes;
  Distinct *distinct; /* by place */
} Loop;

static uint64_t hash_state(const Check *c, const State *s) {
  const uint64_t *words = (const uint64_t *)(const void *)s;
  uint64_t h = 0;
  for (size_t i = 0; i < c->state_bytes / sizeof *words; i++)
    h = (h ^ words[i]) * UINT64_C(0x9e3779b97f4a7c15), h ^= h >> 29;
  return h;
}

/* A variable that has ever more values is no slot and no parity: it may have any. */
static void widen(Loop *l, State *s) {
  Check *c = l->c;
  for (uint32_t i = 0; i < c->nvalues; i++) {
    Range *v = &s->values[i];
    int32_t self = c->symbols[i];
    if (v->symbol < NO_SYMBOL || self == l->index || (v->symbol == self && !v->lo)) continue;
    Distinct *d = &l->distinct[i];
    int k = 0;
    while (k < d->n && d->seen[k] != v->lo) k++;
    if (k == d->n && k < MOST_DISTINCT) d->seen[d->n++] = v->lo;
    if (d->n == MOST_DISTINCT) ring_set_unknown(c, s, (int32_t)i);
  }
}

static bool is_live(const uint64_t *live, uint32_t i) { return live[i / 64] >> i % 64 & 1; }

/* An mbarrier that nothing accesses any more: nobody hears what was told by it. */
static void drop_phase(Check *c, State *s, uint32_t i) {
  s->phases[i] = (Phase){.made = s->phases[i].made};
  for (uint32_t k = 0; k < s->npending; k++) s->pending[k].told &= ~(UINT32_C(1) << i);
  for (uint32_t k = 0; k < c->nphases; k++) s->phases[k].told &= ~(UINT32_C(1) << i);
}

/* Variables that nothing reads any more, and mbarriers without further use, do not tell states
 * apart. */
static void drop_dead(Check *c, State *s, const uint64_t *live) {
  for (uint32_t i = 0; i < c->nvalues; i++) {
    if (is_live(live, i) || s->values[i].symbol == UNSET) continue;
    if (s->values[i].symbol == c->symbols[i]) ring_forget(c, s, c->symbols[i]);
    s->values[i] = (Range){.symbol = UNSET};
  }
  for (uint32_t i = 0; i < c->nphases; i++)
    if (!is_live(live, c->nvalues + c->phase_buffer[i])) drop_phase(c, s, i);
}

static void add_head(Loop *l, State *s) {
  Check *c = l->c;
  drop_dead(c, s, l->step->live_head);
  widen(l, s);
  uint64_t hash = hash_state(c, s);
  for (size_t i = 0; i < l->heads.len; i++) {
    if (l->hashes.data[i] != hash || !same_state(c, l->heads.data[i], s)) continue;
    ring_drop(c, s);
    return;
  }
  if (++c->heads > MOST_HEADS) {
    ring_fault(c, W_RING_STATES, l->st->span, (Span){0});
    return;
  }
  vec_push(c->arena, &l->hashes, hash);
  vec_push(c->arena, &l->heads, s);
}

/* `v = add v, step`: its distance to the index is the same in each iteration. */
static bool adds_step(const Loop *l, const NestStmt *st) {
  if (st->code != NEST_OP || st->op != TILE_ADD) return false;
  if (l->c->place[st->dsts[0].var->id] < 0) return false;
  const Ref *v = &st->srcs[0], *by = &st->srcs[1];
  return v->kind == REF_VAR && v->var == st->dsts[0].var && by->kind == REF_AFFINE && !by->sub.n &&
         by->sub.c == l->by;
}

/* The index has its first value, and what is as far from the limit is relative to it. */
static void enter(Loop *l, State *s) {
  Check *c = l->c;
  if (l->index < 0) return;
  Range from = range_of(c, s, &l->st->srcs[0]), to = range_of(c, s, &l->st->srcs[1]);
  ring_forget(c, s, l->index);
  if (l->by) {
    ring_rebase_fact(s, from, to, l->index);
    for (const Step *x = l->step->kids[0]; x; x = x->next)
      if (adds_step(l, x->st)) ring_link(s, c->place[x->st->dsts[0].var->id], from, l->index);
  }
  ring_set_unknown(c, s, c->place[l->index]);
}

static void advance(Loop *l, State *s) {
  Check *c = l->c;
  if (l->index < 0) return;
  Range limit = range_of(c, s, &l->st->srcs[1]);
  Near end = {.limit = limit, .most = l->by * MOST_AHEAD};
  if (l->by) ring_move(c, s, l->index, l->by, end);
  else ring_forget(c, s, l->index);
  ring_set_unknown(c, s, c->place[l->index]);
}

static void leave(Loop *l, State *s) {
  if (l->index >= 0) ring_forget(l->c, s, l->index);
  drop_dead(l->c, s, l->step->live_out);
  add_state(l->c, &l->out, s);
}

/* The state that goes on into an iteration; NULL: none does.  Others leave the loop. */
static State *test_loop(Loop *l, State *s) {
  Check *c = l->c;
  State *other = ring_copy(c, s);
  int more = -1;
  if (l->by) {
    Range index = range_of(c, s, &l->st->dsts[0]), limit = range_of(c, s, &l->st->srcs[1]);
    more = ring_decide(s, other, TILE_LT, index, limit);
  }
  if (l->step->told) {
    Range told = range_of(c, s, &l->step->told->dsts[0]);
    if (range_is_const(&told, 0) || range_is_const(&told, 1)) more = (int)told.lo;
  }
  if (more == 1) ring_drop(c, other);
  else leave(l, other);
  if (more) return s;
  ring_drop(c, s);
  return NULL;
}

static void iterate(Loop *l, State *head) {
  Check *c = l->c;
  States set = {0};
  vec_push(c->arena, &set, ring_copy(c, head));
  const Step *body = l->step->kids[0];
  if (l->st->code == NEST_WHILE) {
    run_steps(c, body, &set);
    body = l->step->kids[1];
  }
  for (size_t i = 0; i < set.len;) {
    set.data[i] = test_loop(l, set.data[i]);
    if (set.data[i]) i++;
    else set.data[i] = set.data[--set.len];
  }
  if (set.len) run_steps(c, body, &set);
  for (size_t i = 0; i < set.len; i++) {
    advance(l, set.data[i]);
    add_head(l, set.data[i]);
  }
}

/* A loop's room, which the next one at its depth uses again. */
static Distinct *open_distinct(Check *c) {
  if (c->depth == c->rooms.len) {
    void *room = ARENA_ARRAY(c->arena, Distinct, c->nvalues + 1);
    vec_push(c->arena, &c->rooms, room);
  }
  Distinct *d = c->rooms.data[c->depth++];
  for (uint32_t i = 0; i < c->nvalues; i++) d[i].n = 0;
  return d;
}

static void run_loop(Check *c, const Step *step, States *set) {
  const NestStmt *st = step->st;
  Loop l = {.c = c, .step = step, .st = st, .index = NO_SYMBOL};
  if (st->code == NEST_FOR) {
    const Ref *by = &st->srcs[2];
    l.index = (int32_t)st->dsts[0].var->id;
    bool up = by->kind == REF_AFFINE && !by->sub.n && by->sub.c > 0;
    l.by = up && dtype_is_signed(st->dsts[0].var->dtype) ? by->sub.c : 0;
  }
  if (st->index) c->index[st->index->id] = range_indices(st->index);
  l.distinct = open_distinct(c);
  for (size_t i = 0; i < set->len; i++) {
    enter(&l, set->data[i]);
    add_head(&l, set->data[i]);
  }
  for (size_t i = 0; i < l.heads.len && !c->fault; i++) iterate(&l, l.heads.data[i]);
  for (size_t i = 0; i < l.heads.len; i++) ring_drop(c, l.heads.data[i]);
  c->depth--;
  *set = l.out;
}

static void run_unrolled(Check *c, const Step *step, States *set) {
  NestIndex *index = step->st->index;
  if (!step->exact) {
    /* Twice, since accesses of one iteration meet those of another. */
    c->index[index->id] = range_indices(index);
    bool again = c->again;
    for (int i = 0; i < 2; i++) {
      c->again = again || i;
      run_steps(c, step->kids[0], set);
    }
    c->again = again;
    return;
  }
  for (int32_t i = 0; i < index->extent && !c->fault; i++) {
    c->index[index->id] = range_const(i);
    run_steps(c, step->kids[0], set);
  }
}

static void run_branches(Check *c, const Step *step, States *set) {
  States all = *set, other = {0};
  *set = (States){0};
  for (size_t i = 0; i < all.len; i++) {
    State *s = all.data[i];
    Range condition = range_of(c, s, &step->st->srcs[0]);
    bool never = range_is_const(&condition, 0), always = range_is_const(&condition, 1);
    if (!never && !always) vec_push(c->arena, &other, ring_copy(c, s));
    vec_push(c->arena, never ? &other : set, s);
  }
  run_steps(c, step->kids[0], set);
  run_steps(c, step->kids[1], &other);
  for (size_t i = 0; i < other.len; i++) add_state(c, set, other.data[i]);
}

/* ---- steps ---- */

static void run_step(Check *c, const Step *step, State *s, States *forks) {
  if (step->uses) ring_use(c, s, step);
  ring_access(c, s, step);
  ring_assign(c, s, step, forks);
}

static void run_simple(Check *c, const Step *step, States *set) {
  size_t n = set->len;
  arena_work(c->arena, n);
  for (size_t i = 0; i < n && !c->fault; i++) run_step(c, step, set->data[i], set);
  if (set->len > 1 && step->st->code == NEST_BAR) merge_equal(c, set);
  if (set->len > MOST_TOGETHER) ring_fault(c, W_RING_STATES, step->st->span, (Span){0});
}

static void run_steps(Check *c, const Step *step, States *set) {
  for (; step && !c->fault; step = step->next) {
    switch (step->st->code) {
      case NEST_FOR: case NEST_WHILE: case NEST_SERIAL: run_loop(c, step, set); break;
      case NEST_UNROLL: run_unrolled(c, step, set); break;
      case NEST_IF: run_branches(c, step, set); break;
      case NEST_ROLE: ring_fault(c, W_RING_ROLES, step->st->span, (Span){0}); break;
      default: run_simple(c, step, set); break;
    }
  }
}

static void run_kernel(Check *c) {
  States set = {0};
  State *s = arena_alloc(c->arena, c->state_bytes);
  s->dirty = ~UINT64_C(0);
  for (uint32_t i = 0; i < c->nvalues; i++) s->values[i].symbol = UNSET;
  vec_push(c->arena, &set, s);
  run_steps(c, c->body, &set);
  for (size_t i = 0; i < set.len; i++) ring_end(c, set.data[i]);
}

/* Is that a fault of the order, and no limit of what is explored? */
static bool is_disorder(const char *fault) {
  static const char *const limits[] = {W_RING_UNKNOWN, W_RING_ROLES, W_RING_STATES};
  for (size_t i = 0; i < sizeof limits / sizeof *limits; i++)
    if (!strcmp(fault, limits[i])) return false;
  return true;
}

/* A kernel whose order is wrong although nothing runs ahead would compute something else. */
bool pass_prove_rings(Unit *u) {
  Check c = {.u = u, .n = u->nest, .arena = arena_child(u->arena)};
  if (ring_program(&c)) run_kernel(&c);
  BUG_IF(u->synchronous && c.fault && is_disorder(c.fault), "line %u%s", (unsigned)c.at.line,
         strstr(c.fault, ": "));
  if (c.fault && !u->synchronous) {
    u->unproven = true;
    diag_warning(u->diags, c.at, c.fault, u->nest->name);
    if (c.other.line) diag_note(u->diags, c.other, N_RING_OTHER);
  }
  arena_free(c.arena);
  return true;
}
