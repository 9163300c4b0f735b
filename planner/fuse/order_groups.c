/* The order of groups: one in which less memory is alive at once.
 *
 * The graph's order is kept, but around the place where most memory is alive: groups that free
 * memory move before it, and groups whose results are read later move after it, as long as
 * that lowers the peak.  Neighbours mostly stay neighbours, whose values the GPU's cache still
 * has. */
#include "planner/fuse/fuse_state.h"

#include <string.h>

enum {
  WINDOW = 24,    /* groups before the peak that may move, and after it */
  NEAR = 1 << 20, /* bytes below the peak: so many are not worth a move */
  MOVES_MAX = 64
};

/* ---- what groups read and write ---- */

typedef VEC(uint32_t) Ids;

/* A group, by its number before groups move. */
typedef struct {
  Ids values; /* ids of nodes in memory that it reads or writes, each once */
  Ids before; /* the numbers of groups that write what it reads */
  bool fixed; /* no group moves past it */
} Step;

typedef struct {
  Fusion *f;
  Arena *arena;
  uint32_t n;
  Step *steps;
  uint32_t *order;     /* numbers, in the order in which groups run */
  int64_t *bytes;      /* by node id; 0: not counted */
  bool *kept;          /* by node id: its memory is never free */
  bool *given;         /* by node id: an input that may be written over */
  uint32_t *uses;      /* by node id: how many groups read or write it */
  uint32_t *remaining; /* by node id: how many of those have not run yet */
} Order;

typedef struct {
  Order *o;
  const Group *group;
} Survey;

static bool has(const Ids *ids, uint32_t id) {
  for (size_t i = 0; i < ids->len; i++)
    if (ids->data[i] == id) return true;
  return false;
}

/* Does the node have a buffer of its own?  Scatters and slices of a concatenation write to another
 * node's. */
static bool has_buffer(const Node *n) {
  if (n->kind != NODE_CALL) return n->kind == NODE_INPUT;
  PrimKind k = prim_kind(n->op);
  return k != PRIM_SCATTER && k != PRIM_INSERT && k != PRIM_INSERTED;
}

static void add_value(Order *o, Step *s, const Node *n) {
  int64_t bytes = fuse_node_bytes(o->f->graph, n);
  if (!has_buffer(n) || bytes == INT64_MAX || has(&s->values, n->id)) return;
  vec_push(o->arena, &s->values, n->id);
  o->bytes[n->id] = bytes;
  o->uses[n->id]++;
}

static void note_operand(Node *operand, const Dim *index, void *ctx) {
  (void)index;
  const Survey *x = ctx;
  Step *s = &x->o->steps[x->group->number];
  const Group *of = x->o->f->of[operand->id];
  if (of == x->group) return;
  if (of && !has(&s->before, of->number)) vec_push(x->o->arena, &s->before, of->number);
  if (!of || !of->once) add_value(x->o, s, operand);
}

/* Does it write to memory that others read or write too, or end the run? */
static bool has_side_effect(const Node *n) { return !has_buffer(n) || prim_checks(n); }

static void survey_group(Order *o, const Group *g) {
  Survey x = {o, g};
  Step *s = &o->steps[g->number];
  s->fixed = g->once;
  for (size_t i = 0; i < g->nodes.len; i++) {
    Node *n = g->nodes.data[i];
    s->fixed |= has_side_effect(n);
    each_operand(o->f, n, note_operand, &x);
    if (o->f->stored[n->id] && !g->once) add_value(o, s, n);
  }
}

static void keep_value(Node **n, void *ctx) {
  bool *kept = ctx;
  kept[(*n)->id] = true;
}

static Order survey(Fusion *f, Arena *scratch) {
  Graph *g = f->graph;
  Order o = {.f = f, .arena = scratch, .n = (uint32_t)f->groups.len};
  o.steps = ARENA_ARRAY(scratch, Step, o.n);
  o.order = ARENA_ARRAY(scratch, uint32_t, o.n);
  o.bytes = ARENA_ARRAY(scratch, int64_t, g->nids);
  o.kept = ARENA_ARRAY(scratch, bool, g->nids);
  o.uses = ARENA_ARRAY(scratch, uint32_t, g->nids);
  o.remaining = ARENA_ARRAY(scratch, uint32_t, g->nids);
  for (uint32_t i = 0; i < o.n; i++) {
    o.order[i] = i;
    survey_group(&o, f->groups.data[i]);
  }
  o.given = ARENA_ARRAY(scratch, bool, g->nids);
  graph_each_use(g->last, keep_value, o.kept);
  for (const Node *n = g->first; n; n = n->next) {
    if (n->kind != NODE_INPUT) continue;
    o.kept[n->id] |= !n->input.released;
    o.given[n->id] = n->input.overwritten && !o.kept[n->id];
  }
  for (uint32_t i = 0; g->outputs && i < g->last->args[0].n; i++)
    if (g->outputs[i].kind == OUTPUT_MUTATION) o.kept[g->outputs[i].target->id] = true;
  return o;
}

/* ---- memory that is alive ---- */

/* Bytes of all values, and of temporaries: those that are neither inputs nor results. */
typedef struct {
  int64_t all, temporaries;
} Bytes;

typedef struct {
  Bytes alive, peak;
  uint32_t at;    /* the place of the first group at which all were most */
  int64_t high;   /* bytes of all above which a place is counted */
  uint32_t nhigh; /* how many were */
} Trace;

static void count(const Order *o, Trace *t, uint32_t id, int sign) {
  t->alive.all += sign * o->bytes[id];
  if (o->f->of[id] && !o->kept[id]) t->alive.temporaries += sign * o->bytes[id];
}

/* An input that the group reads last, over which it will write a value of as many bytes: that is
 * decided when its kernel is written, and likely unless it is a product.  Then `values` have it
 * again.  UINT32_MAX: there is none. */
static uint32_t find_given(const Order *o, const Ids *values, uint32_t number) {
  if (o->f->groups.data[number]->kind != GROUP_LOOPS) return UINT32_MAX;
  for (size_t i = 0; i < values->len; i++) {
    uint32_t id = values->data[i];
    if (!o->given[id] || o->remaining[id] != 1) continue;
    for (size_t k = 0; k < values->len; k++) {
      const Group *of = o->f->of[values->data[k]];
      bool made = of && of->number == number && !o->kept[values->data[k]];
      if (made && o->bytes[values->data[k]] == o->bytes[id]) return id;
    }
  }
  return UINT32_MAX;
}

static void run_group(const Order *o, Trace *t, uint32_t place) {
  uint32_t number = o->order[place];
  const Ids *values = &o->steps[number].values;
  uint32_t given = find_given(o, values, number);
  if (given != UINT32_MAX) count(o, t, given, -1);
  for (size_t i = 0; i < values->len; i++) {
    const Group *of = o->f->of[values->data[i]];
    if (of && of->number == number) count(o, t, values->data[i], 1);
  }
  if (t->alive.all > t->peak.all) {
    t->peak.all = t->alive.all;
    t->at = place;
  }
  t->nhigh += t->alive.all > t->high;
  if (t->alive.temporaries > t->peak.temporaries) t->peak.temporaries = t->alive.temporaries;
  for (size_t i = 0; i < values->len; i++) {
    uint32_t id = values->data[i];
    if (!--o->remaining[id] && !o->kept[id] && id != given) count(o, t, id, -1);
  }
}

/* Up to a place, from the beginning. */
static Trace run_to(const Order *o, uint32_t past) {
  Trace t = {0};
  size_t ids = o->f->graph->nids;
  memcpy(o->remaining, o->uses, ids * sizeof *o->uses);
  for (size_t id = 0; id < ids; id++)
    if (o->uses[id] && !o->f->of[id]) count(o, &t, (uint32_t)id, 1);
  for (uint32_t i = 0; i < past; i++) run_group(o, &t, i);
  return t;
}

/* From place `first` to `last`, before which the trace is; nothing has run afterwards. */
static Trace run_between(const Order *o, Trace t, uint32_t first, uint32_t last) {
  t.peak = (Bytes){0};
  for (uint32_t i = first; i <= last; i++) run_group(o, &t, i);
  for (uint32_t i = first; i <= last; i++) {
    const Ids *values = &o->steps[o->order[i]].values;
    for (size_t k = 0; k < values->len; k++) o->remaining[values->data[k]]++;
  }
  return t;
}

/* ---- moves ---- */

typedef struct {
  uint32_t from, to; /* places; those between them move by one */
} Move;

static void apply(const Order *o, Move m) {
  uint32_t number = o->order[m.from], *order = o->order;
  if (m.from < m.to) memmove(order + m.from, order + m.from + 1, (m.to - m.from) * sizeof *order);
  else memmove(order + m.to + 1, order + m.to, (m.from - m.to) * sizeof *order);
  order[m.to] = number;
}

/* May the groups at places a < b change places, if those between do not matter? */
static bool may_pass(const Order *o, uint32_t a, uint32_t b) {
  const Step *first = &o->steps[o->order[a]], *second = &o->steps[o->order[b]];
  return !first->fixed && !second->fixed && !has(&second->before, o->order[a]);
}

/* How far the group may move towards a place, at most. */
static uint32_t reach(const Order *o, uint32_t from, uint32_t towards) {
  uint32_t to = from;
  while (to < towards && may_pass(o, from, to + 1)) to++;
  while (to > towards && may_pass(o, to - 1, from)) to--;
  return to;
}

typedef struct {
  const Order *o;
  Trace start; /* in front of the window */
  uint32_t first, last;
  Bytes most;     /* that a move may need */
  uint32_t nhigh; /* places near the peak, before the move */
  Trace best;     /* of the window after `move`; before there is one, as it is */
  Move move;
  bool found;
} Search;

/* Fewer places are near the peak; of as many, the peak is lower. */
static bool is_better(const Trace *a, const Trace *b) {
  return a->nhigh != b->nhigh ? a->nhigh < b->nhigh : a->peak.all < b->peak.all;
}

static void try_move(Search *s, Move m) {
  apply(s->o, m);
  Trace t = run_between(s->o, s->start, s->first, s->last);
  apply(s->o, (Move){m.to, m.from});
  if (t.peak.all > s->most.all || t.peak.temporaries > s->most.temporaries) return;
  if (t.nhigh >= s->nhigh || !is_better(&t, &s->best)) return;
  s->best = t;
  s->move = m;
  s->found = true;
}

/* Groups before the peak, or at it, go after it, and those after it go before it; of moves
 * that do as much the first that is tried, which is the shortest of its group. */
static void try_moves(Search *s, uint32_t peak) {
  for (uint32_t from = s->first; from <= peak; from++) {
    uint32_t last = reach(s->o, from, s->last);
    for (uint32_t to = from < peak ? peak : from + 1; to <= last; to++)
      try_move(s, (Move){from, to});
  }
  for (uint32_t from = peak + 1; from <= s->last; from++) {
    uint32_t first = reach(s->o, from, s->first);
    for (uint32_t to = peak + 1; to-- > first;) try_move(s, (Move){from, to});
  }
}

/* Makes the best move near the peak of the trace.  False: there is none. */
static bool make_move(const Order *o, const Trace *whole) {
  uint32_t at = whole->at;
  Search s = {.o = o, .first = at > WINDOW ? at - WINDOW : 0, .most = whole->peak};
  s.last = at + WINDOW < o->n ? at + WINDOW : o->n - 1;
  s.start = run_to(o, s.first);
  s.start.high = whole->peak.all - NEAR;
  s.start.nhigh = 0;
  s.best = run_between(o, s.start, s.first, s.last);
  s.nhigh = s.best.nhigh;
  try_moves(&s, at);
  if (s.found) apply(o, s.move);
  return s.found;
}

/* Moves that leave the peak as it is count where later ones lower it. */
static void lower_peak(const Order *o, uint32_t *best) {
  Trace whole = run_to(o, o->n);
  int64_t lowest = whole.peak.all;
  memcpy(best, o->order, o->n * sizeof *best);
  for (int moves = 0; moves < MOVES_MAX && make_move(o, &whole); moves++) {
    whole = run_to(o, o->n);
    if (whole.peak.all > lowest - NEAR) continue;
    lowest = whole.peak.all;
    memcpy(best, o->order, o->n * sizeof *best);
  }
}

void fuse_order_groups(Fusion *f) {
  if (!f->groups.len || f->reads.len || f->loops.len) return;
  Arena *scratch = arena_child(f->arena);
  Order o = survey(f, scratch);
  Group **groups = ARENA_ARRAY(scratch, Group *, o.n);
  uint32_t *best = ARENA_ARRAY(scratch, uint32_t, o.n);
  lower_peak(&o, best);
  for (uint32_t i = 0; i < o.n; i++) groups[i] = f->groups.data[best[i]];
  for (uint32_t i = 0; i < o.n; i++) {
    f->groups.data[i] = groups[i];
    groups[i]->number = i;
  }
  arena_free(scratch);
}
