/* Pass fuse.  A chain (lower/chain.h) L joins an earlier chain G of the same block with as many
 * iterations (its body goes behind G's) if iteration i of L needs nothing that G does after
 * iteration i, nor the other way round:
 *
 *   registers  what one of them writes and the other accesses has the same subscript in both, and
 *              another one in each iteration
 *   memory     they write nothing that the other accesses; or G loads and L stores at the same
 *              distance from a parameter, each iteration elsewhere.  Then L stores over what its
 *              own iteration has loaded if the two parameters are equal, and over nothing that G
 *              loads if they are different arrays.
 *
 * What stands between the two and L needs moves before G; what needs G stays behind, and L must not
 * need that.
 *
 * Where extents differ, loops are cut: a sum in four interleaved parts, `unroll r:8 { unroll a:4`,
 * joins the `unroll a:32` that computes its operand, which becomes r:8, a:4. */
#include "lower/fuse.h"

#include <stdlib.h>
#include <string.h>

#include "lower/chain.h"

enum { LOOK_BACK = 64 }; /* statements before a chain that are searched for another */

enum {
  READS_GLOBAL = 1,
  WRITES_GLOBAL = 2,
  ORDERED = 4 /* keeps its place among all accesses of memory */
};

/* What a statement does, with all that is inside. */
typedef struct {
  uint64_t *reads, *writes; /* variables, by id */
  uint64_t *loads, *stores; /* shared buffers, by id */
  unsigned memory;
} Effects;

typedef struct {
  NestStmt *st;
  Effects e;
  Chain chain;
} Item;

typedef struct {
  Nest *nest;
  Arena *scratch;
  uint32_t words, buffer_words;
  NestStmt **def;  /* by variable id: the statement that defines it, if there is one only */
  uint32_t *ndefs; /* by variable id */
  VEC(Item) items; /* the block's statements, in order */
} Fuse;

/* ---- sets ---- */

static void set_add(uint64_t *set, uint32_t id) { set[id / 64] |= (uint64_t)1 << id % 64; }

static bool meet(const uint64_t *a, const uint64_t *b, uint32_t words) {
  for (uint32_t w = 0; w < words; w++)
    if (a[w] & b[w]) return true;
  return false;
}

static Effects effects_new(const Fuse *f) {
  return (Effects){ARENA_ARRAY(f->scratch, uint64_t, f->words),
                   ARENA_ARRAY(f->scratch, uint64_t, f->words),
                   ARENA_ARRAY(f->scratch, uint64_t, f->buffer_words),
                   ARENA_ARRAY(f->scratch, uint64_t, f->buffer_words), 0};
}

static void effects_join(const Fuse *f, Effects *to, const Effects *from) {
  for (uint32_t w = 0; w < f->words; w++) {
    to->reads[w] |= from->reads[w];
    to->writes[w] |= from->writes[w];
  }
  for (uint32_t w = 0; w < f->buffer_words; w++) {
    to->loads[w] |= from->loads[w];
    to->stores[w] |= from->stores[w];
  }
  to->memory |= from->memory;
}

/* ---- effects ---- */

static void reads_ref(Effects *e, const Ref *r) {
  if (r->kind == REF_VAR) set_add(e->reads, r->var->id);
}

static void memory_effects(Effects *e, const NestStmt *st) {
  const NestBuffer *b = st->nmems ? st->mems[0].buffer : NULL;
  switch (st->code) {
    case NEST_LD:
      if (nest_int(st, NA_volatile, 0)) e->memory |= ORDERED;
      if (b) set_add(e->loads, b->id);
      else e->memory |= READS_GLOBAL;
      return;
    case NEST_ST:
      if (b) set_add(e->stores, b->id);
      else e->memory |= WRITES_GLOBAL;
      return;
    case NEST_OP:
    case NEST_MOV:
    case NEST_PID:
    case NEST_NPROG:
    case NEST_LANE:
    case NEST_WARP:
    case NEST_SHFL:
    case NEST_ASSERT:
    case NEST_UNROLL:
    case NEST_SERIAL:
    case NEST_FOR:
    case NEST_IF: return;
    default: e->memory |= ORDERED; return; /* atomics, barriers, loops that may wait */
  }
}

static void add_effects(Effects *e, const NestStmt *st) {
  for (uint32_t i = 0; i < st->ndsts; i++) set_add(e->writes, st->dsts[i].var->id);
  for (uint32_t i = 0; i < st->nsrcs; i++) reads_ref(e, &st->srcs[i]);
  for (uint32_t i = 0; i < st->nmems; i++) reads_ref(e, &st->mems[i].base);
  reads_ref(e, &st->guard);
  /* What keeps its old value where the guard is false reads it. */
  for (uint32_t i = 0; i < st->ndsts && st->guard.kind; i++) set_add(e->reads, st->dsts[i].var->id);
  memory_effects(e, st);
  for (uint32_t r = 0; r < st->nregions; r++)
    for (const NestStmt *x = st->regions[r]->first; x; x = x->next) add_effects(e, x);
}

static bool touches_memory(const Fuse *f, const Effects *e) {
  if (e->memory) return true;
  for (uint32_t w = 0; w < f->buffer_words; w++)
    if (e->loads[w] | e->stores[w]) return true;
  return false;
}

static bool memory_conflict(const Fuse *f, const Effects *a, const Effects *b) {
  if (a->memory & ORDERED && touches_memory(f, b)) return true;
  if (b->memory & ORDERED && touches_memory(f, a)) return true;
  if (a->memory & WRITES_GLOBAL && b->memory & (READS_GLOBAL | WRITES_GLOBAL)) return true;
  if (b->memory & WRITES_GLOBAL && a->memory & READS_GLOBAL) return true;
  return meet(a->stores, b->stores, f->buffer_words) ||
         meet(a->stores, b->loads, f->buffer_words) || meet(a->loads, b->stores, f->buffer_words);
}

/* True if a and b must stay in their order. */
static bool conflict(const Fuse *f, const Effects *a, const Effects *b) {
  return meet(a->writes, b->writes, f->words) || meet(a->writes, b->reads, f->words) ||
         meet(a->reads, b->writes, f->words) || memory_conflict(f, a, b);
}

/* ---- chains ---- */

static bool same_extents(const Chain *a, const Chain *b) {
  if (a->depth != b->depth) return false;
  for (int i = 0; i < a->depth; i++)
    if (a->index[i]->extent != b->index[i]->extent) return false;
  return true;
}

/* Cuts the loops of g and l, from the innermost on, until they have the same extents; false if no
 * cuts do that. */
static bool refine(const Fuse *f, const Chain *g, const Chain *l, Chain *fine) {
  NestIndex *digits[MAX_TERMS];
  int n = 0, i = g->depth, k = l->depth;
  int32_t gleft = 1, lleft = 1;
  for (;;) {
    while (gleft == 1 && i > 0) gleft = g->index[--i]->extent;
    while (lleft == 1 && k > 0) lleft = l->index[--k]->extent;
    int32_t step = gleft < lleft ? gleft : lleft;
    if (step == 1) break;
    if (gleft % step || lleft % step || n == MAX_TERMS) return false;
    bool whole = g->index[i]->extent == step;
    digits[n++] = whole ? g->index[i] : nest_index(f->nest, l->index[k]->name, step);
    gleft /= step;
    lleft /= step;
  }
  *fine = (Chain){.depth = n};
  for (int d = 0; d < n; d++) fine->index[d] = digits[n - 1 - d];
  return gleft == lleft && n > 0;
}

/* The outermost loop of those that index i of a chain became, in its refinement. */
static int outermost_part(const Chain *from, int i, const Chain *fine) {
  int d = 0;
  for (int k = 0; k < i; k++)
    for (int32_t n = 1; n < from->index[k]->extent; d++) n *= fine->index[d]->extent;
  return d;
}

/* x, affine in the indices of a chain, in those of its refinement; false: too many terms. */
static bool map_affine(Affine *x, const Chain *from, const Chain *fine) {
  Affine sum = affine_const(x->c);
  for (int t = 0; t < x->n; t++) {
    int i = chain_place(from, x->t[t].index);
    Affine term = affine_index(x->t[t].index, x->t[t].coef);
    if (i < 0 && !affine_add(&sum, &term)) return false;
    int32_t n = i < 0 ? 1 : from->index[i]->extent;
    for (int d = n > 1 ? outermost_part(from, i, fine) : 0; n > 1; d++) {
      n /= fine->index[d]->extent;
      term = affine_index(fine->index[d], x->t[t].coef * n);
      if (!affine_add(&sum, &term)) return false;
    }
  }
  *x = sum;
  return true;
}

/* a in a chain and b in another are the same at the same iteration. */
static bool same_affine(Affine a, const Chain *ca, Affine b, const Chain *cb, const Chain *fine) {
  return map_affine(&a, ca, fine) && map_affine(&b, cb, fine) && affine_eq(&a, &b);
}

/* Accesses of `size` at x do not overlap between iterations: index by index, from the smallest
 * coefficient on, each step reaches past all that the steps before it cover. */
static bool apart(const Affine *x, const Chain *c, int64_t size) {
  bool done[MAX_TERMS] = {0};
  int64_t covered = size;
  for (int round = 0; round < c->depth; round++) {
    int least = -1;
    for (int i = 0; i < c->depth; i++)
      if (!done[i] &&
          (least < 0 || llabs(chain_coefficient(x, c, i)) < llabs(chain_coefficient(x, c, least))))
        least = i;
    done[least] = true;
    int64_t step = llabs(chain_coefficient(x, c, least));
    if (c->index[least]->extent == 1) continue;
    if (step < covered) return false;
    covered += step * (c->index[least]->extent - 1);
  }
  return true;
}

/* ---- registers ---- */

typedef struct {
  const Affine *sub; /* all references so far have this subscript */
  const Chain *chain;
  const Chain *fine;
  bool ok;
} Aligned;

static void align_ref(Aligned *x, const Ref *r, const NestVar *v, const Chain *c, int64_t n) {
  if (r->kind != REF_VAR || r->var != v) return;
  if (n != 1) x->ok = false;
  if (!x->sub) x->sub = &r->sub, x->chain = c;
  else if (!same_affine(*x->sub, x->chain, r->sub, c, x->fine)) x->ok = false;
}

static void align_body(Aligned *x, const NestVar *v, const Chain *c) {
  for (const NestStmt *st = c->body->first; st; st = st->next) {
    int64_t n = nest_int(st, NA_n, 1);
    for (uint32_t i = 0; i < st->ndsts; i++) align_ref(x, &st->dsts[i], v, c, n);
    for (uint32_t i = 0; i < st->nsrcs; i++) align_ref(x, &st->srcs[i], v, c, n);
    for (uint32_t i = 0; i < st->nmems; i++) align_ref(x, &st->mems[i].base, v, c, 1);
    align_ref(x, &st->guard, v, c, 1);
  }
}

/* Every variable that one of the chains writes and the other accesses is met at the same place. */
static bool registers_agree(const Fuse *f, const Item *g, const Item *l, const Chain *fine) {
  for (uint32_t w = 0; w < f->words; w++) {
    uint64_t shared =
        (g->e.writes[w] & (l->e.reads[w] | l->e.writes[w])) | (g->e.reads[w] & l->e.writes[w]);
    for (; shared; shared &= shared - 1) {
      const NestVar *v = f->nest->vars[w * 64 + (uint32_t)__builtin_ctzll(shared)];
      Aligned x = {.fine = fine, .ok = true};
      align_body(&x, v, &g->chain);
      align_body(&x, v, &l->chain);
      if (!x.ok || !apart(x.sub, x.chain, 1)) return false;
    }
  }
  return true;
}

/* ---- addresses ---- */

static bool same_value(const Fuse *f, const Ref *a, const Ref *b) {
  if (a->kind != b->kind) return false;
  if (a->kind == REF_VAR)
    return a->var == b->var && affine_eq(&a->sub, &b->sub) && f->ndefs[a->var->id] <= 1;
  return a->kind == REF_AFFINE && affine_eq(&a->sub, &b->sub);
}

/* a and b are pointers to the same distance from a parameter each: made by the same steps. */
static bool same_distance(const Fuse *f, const Ref *a, const Ref *b) {
  for (;;) {
    if (a->kind != REF_VAR || b->kind != REF_VAR) return false;
    if (a->var->count != 1 || b->var->count != 1) return false;
    if (a->var == b->var) return f->ndefs[a->var->id] <= 1;
    if (a->var->is_param && b->var->is_param) return true;
    const NestStmt *x = f->def[a->var->id], *y = f->def[b->var->id];
    if (f->ndefs[a->var->id] != 1 || f->ndefs[b->var->id] != 1) return false;
    if (x->code != NEST_OP || y->code != NEST_OP || x->op != TILE_PTR_ADD ||
        y->op != TILE_PTR_ADD || x->elem != y->elem || x->guard.kind || y->guard.kind)
      return false;
    if (!same_value(f, &x->srcs[1], &y->srcs[1])) return false;
    a = &x->srcs[0];
    b = &y->srcs[0];
  }
}

/* The load of chain g and the store of chain l meet, if at all, in one iteration and lane: lanes
 * hold neighbouring elements, and iterations lie apart by as many. */
static bool elementwise(const Fuse *f, const Chain *g, const NestStmt *ld, const Chain *l,
                        const NestStmt *st, const Chain *fine) {
  int64_t bytes = dtype_bytes(st->type) * f->nest->lanes;
  return ld->type == st->type && same_affine(ld->mems[0].bytes, g, st->mems[0].bytes, l, fine) &&
         same_distance(f, &ld->mems[0].base, &st->mems[0].base) &&
         apart(&st->mems[0].bytes, l, bytes);
}

static bool global_access(const NestStmt *st, NestCode code) {
  return st->code == code && !st->mems[0].buffer;
}

static bool memory_agrees(const Fuse *f, const Item *g, const Item *l, const Chain *fine) {
  if (!memory_conflict(f, &g->e, &l->e)) return true;
  if ((g->e.memory | l->e.memory) & ORDERED || g->e.memory & WRITES_GLOBAL) return false;
  Effects none = effects_new(f), ge = g->e;
  ge.memory = none.memory;
  if (memory_conflict(f, &ge, &l->e)) return false; /* of shared buffers */
  for (const NestStmt *st = l->chain.body->first; st; st = st->next)
    for (const NestStmt *ld = g->chain.body->first; ld && global_access(st, NEST_ST); ld = ld->next)
      if (global_access(ld, NEST_LD) && !elementwise(f, &g->chain, ld, &l->chain, st, fine))
        return false;
  return true;
}

/* ---- joining ---- */

typedef bool MapAffine(Affine *x, const Chain *from, const Chain *fine);

static bool each_affine(NestStmt *st, MapAffine *map, const Chain *from, const Chain *fine) {
  bool ok = map(&st->guard.sub, from, fine);
  for (uint32_t i = 0; i < st->ndsts; i++) ok &= map(&st->dsts[i].sub, from, fine);
  for (uint32_t i = 0; i < st->nsrcs; i++) ok &= map(&st->srcs[i].sub, from, fine);
  for (uint32_t i = 0; i < st->nmems; i++)
    ok &= map(&st->mems[i].base.sub, from, fine) & map(&st->mems[i].bytes, from, fine);
  return ok;
}

static bool map_body(const Chain *from, MapAffine *map, const Chain *fine) {
  bool ok = true;
  for (NestStmt *st = from->body->first; st; st = st->next) ok &= each_affine(st, map, from, fine);
  return ok;
}

static bool can_map(Affine *x, const Chain *from, const Chain *fine) {
  Affine y = *x;
  return map_affine(&y, from, fine);
}

static void move_all(NestBlock *from, NestBlock *to) {
  for (NestStmt *st = from->first, *next; st; st = next) {
    next = st->next;
    nest_move_into(st, to);
  }
}

/* Makes the loops of an item those of the refinement. */
static void cut_loops(Fuse *f, Item *x, const Chain *fine) {
  if (same_extents(&x->chain, fine)) return;
  NestBuilder b = {f->nest, x->st->parent, x->st, x->st->span};
  NestStmt *outermost = NULL;
  for (int i = 0; i < fine->depth; i++) {
    NestStmt *u = nest_stmt(&b, NEST_UNROLL, 0, 0);
    u->index = fine->index[i];
    if (!i) outermost = u;
    b.block = nest_block(f->nest, u);
    b.before = NULL;
  }
  map_body(&x->chain, map_affine, fine);
  move_all(x->chain.body, b.block);
  nest_remove(x->st);
  x->st = outermost;
  x->chain = *fine;
  x->chain.body = b.block;
}

/* Moves items from..at-1 that are not in `stay` before item g, in order. */
static void move_before(Fuse *f, size_t g, size_t at, const bool *stay) {
  for (size_t i = g + 1, to = g; i < at; i++) {
    if (stay[i - g]) continue;
    Item moved = f->items.data[i];
    nest_move_before(moved.st, f->items.data[to].st);
    memmove(&f->items.data[to + 1], &f->items.data[to], (i - to) * sizeof moved);
    f->items.data[to++] = moved;
  }
}

static void join(Fuse *f, Item *g, size_t at, const Chain *fine) {
  Item l = f->items.data[at];
  cut_loops(f, g, fine);
  map_body(&l.chain, map_affine, fine);
  move_all(l.chain.body, g->chain.body);
  nest_remove(l.st);
  effects_join(f, &g->e, &l.e);
  memmove(&f->items.data[at], &f->items.data[at + 1],
          (f->items.len - at - 1) * sizeof f->items.data[0]);
  f->items.len--;
}

/* Which of the items behind g must stay behind it; false if item `at` is among them. */
static bool plan_moves(const Fuse *f, size_t g, size_t at, bool *stay) {
  const Item *x = f->items.data;
  for (size_t i = g + 1; i < at; i++) {
    stay[i - g] = conflict(f, &x[i].e, &x[g].e);
    for (size_t k = g + 1; k < i && !stay[i - g]; k++)
      stay[i - g] = stay[k - g] && conflict(f, &x[i].e, &x[k].e);
    if (stay[i - g] && conflict(f, &x[at].e, &x[i].e)) return false;
  }
  return true;
}

static bool is_index(const NestStmt *st) {
  return (st->code == NEST_OP && !dtype_is_float(st->type)) ||
         (st->code == NEST_MOV && st->srcs[0].kind != REF_VAR);
}

static bool index_only(const Item *x) {
  for (const NestStmt *st = x->chain.body->first; st; st = st->next)
    if (!is_index(st)) return false;
  return true;
}

/* Loads from global memory, and what their addresses and guards need. */
static bool loads_only(const Item *x) {
  if (!(x->e.memory & READS_GLOBAL)) return false;
  for (const NestStmt *st = x->chain.body->first; st; st = st->next)
    if (!global_access(st, NEST_LD) && !is_index(st)) return false;
  return true;
}

/* Loads wait for the chain that uses them: in one that does not, they would fill an array. */
static bool worth_joining(const Fuse *f, const Item *g, const Item *l) {
  if (loads_only(l)) return index_only(g);
  return !loads_only(g) || meet(g->e.writes, l->e.reads, f->words);
}

enum { MOST_CUT = 32 }; /* statements in a loop that is cut: C compilers expand the inner part */

/* Loops are cut where that keeps a value out of an array. */
static bool worth_cutting(const Fuse *f, const Item *g, const Item *l) {
  int n = 0;
  for (const NestStmt *st = g->chain.body->first; st; st = st->next) n++;
  for (const NestStmt *st = l->chain.body->first; st; st = st->next) n++;
  return n <= MOST_CUT && meet(g->e.writes, l->e.reads, f->words);
}

/* What the loops of l and g become if they join, if they may. */
static bool joined_shape(const Fuse *f, const Item *g, const Item *l, Chain *fine) {
  if (!g->chain.depth || !worth_joining(f, g, l)) return false;
  *fine = g->chain;
  if (!same_extents(&g->chain, &l->chain) &&
      (!worth_cutting(f, g, l) || !refine(f, &g->chain, &l->chain, fine) ||
       !map_body(&g->chain, can_map, fine) || !map_body(&l->chain, can_map, fine)))
    return false;
  return registers_agree(f, g, l, fine) && memory_agrees(f, g, l, fine);
}

/* Joins chain `at` with the nearest one before it that can take it.  Returns the place to go on at:
 * that of the longer chain, which others before it may take in turn, or the next. */
static size_t join_earlier(Fuse *f, size_t at) {
  const Item *l = &f->items.data[at];
  size_t first = at > LOOK_BACK ? at - LOOK_BACK : 0;
  for (size_t g = at; g-- > first;) {
    const Item *x = &f->items.data[g];
    bool stay[LOOK_BACK + 1];
    Chain fine;
    if (!joined_shape(f, x, l, &fine) || !plan_moves(f, g, at, stay)) continue;
    size_t moved = 0;
    for (size_t i = g + 1; i < at; i++) moved += !stay[i - g];
    move_before(f, g, at, stay);
    join(f, &f->items.data[g + moved], at, &fine);
    return g + moved;
  }
  return at + 1;
}

static void fuse_block(Fuse *f, NestBlock *b) {
  for (NestStmt *st = b->first; st; st = st->next)
    for (uint32_t r = 0; r < st->nregions; r++)
      if (st->code != NEST_UNROLL) fuse_block(f, st->regions[r]);
  f->items.len = 0;
  for (NestStmt *st = b->first; st; st = st->next) {
    Item x = {st, effects_new(f), chain_of(st)};
    add_effects(&x.e, st);
    vec_push(f->scratch, &f->items, x);
  }
  for (size_t i = 0; i < f->items.len;)
    i = f->items.data[i].chain.depth ? join_earlier(f, i) : i + 1;
}

/* ---- arrays that become scalars ---- */

typedef struct {
  const NestBlock *block; /* that holds all references */
  const Affine *sub;      /* of all of them */
  NestStmt *load;         /* the first reference, if that is a load with a guard */
  bool scalar, seen;
} Local;

static void local_ref(Local *locals, const Ref *r, const NestBlock *b, int64_t n, bool defines) {
  if (r->kind != REF_VAR) return;
  Local *x = &locals[r->var->id];
  if (!x->seen) *x = (Local){b, &r->sub, NULL, defines && r->var->count > 1, true};
  if (x->block != b || n != 1 || !affine_eq(x->sub, &r->sub)) x->scalar = false;
}

/* Where the guard of its first load is false, a variable holds nothing, unless a loop that is no
 * chain comes here again. */
static void local_dst(Local *locals, NestStmt *st, const NestBlock *b, bool again) {
  Local *x = &locals[st->dsts[0].var->id];
  bool first = st->code == NEST_LD && st->guard.kind && !x->seen;
  local_ref(locals, &st->dsts[0], b, nest_int(st, NA_n, 1), first ? !again : !st->guard.kind);
  if (first) x->load = st;
}

/* A variable is seen first where its first reference is; if that is no complete write, it holds
 * something from before. */
static void find_locals(Local *locals, const NestBlock *b, bool again) {
  for (NestStmt *st = b->first; st; st = st->next) {
    int64_t n = nest_int(st, NA_n, 1);
    local_ref(locals, &st->guard, b, 1, false);
    for (uint32_t i = 0; i < st->nsrcs; i++) local_ref(locals, &st->srcs[i], b, n, false);
    for (uint32_t i = 0; i < st->nmems; i++) local_ref(locals, &st->mems[i].base, b, 1, false);
    if (st->ndsts) local_dst(locals, st, b, again);
    bool loop = st->code == NEST_FOR || st->code == NEST_WHILE;
    for (uint32_t r = 0; r < st->nregions; r++) find_locals(locals, st->regions[r], again || loop);
  }
}

/* What an element of the array was before its load, the scalar is before each. */
static void undefine(Nest *n, const NestVar *v, NestStmt *load) {
  NestBuilder b = {n, load->parent, load, load->span};
  nest_op(&b, TILE_UNDEF, v->dtype, load->dsts[0], ref_none(), ref_none(), ref_none())->elem =
      v->elem;
}

static void scalar_ref(const Local *locals, Ref *r) {
  if (r->kind == REF_VAR && locals[r->var->id].scalar) r->sub = affine_const(0);
}

static void make_scalars(const Local *locals, NestBlock *b) {
  for (NestStmt *st = b->first; st; st = st->next) {
    for (uint32_t i = 0; i < st->ndsts; i++) scalar_ref(locals, &st->dsts[i]);
    for (uint32_t i = 0; i < st->nsrcs; i++) scalar_ref(locals, &st->srcs[i]);
    for (uint32_t i = 0; i < st->nmems; i++) scalar_ref(locals, &st->mems[i].base);
    scalar_ref(locals, &st->guard);
    for (uint32_t r = 0; r < st->nregions; r++) make_scalars(locals, st->regions[r]);
  }
}

static void contract(Fuse *f) {
  Local *locals = ARENA_ARRAY(f->scratch, Local, f->nest->nvars);
  find_locals(locals, f->nest->body, false);
  make_scalars(locals, f->nest->body);
  for (uint32_t i = 0; i < f->nest->nvars; i++) {
    if (!locals[i].scalar) continue;
    f->nest->vars[i]->count = 1;
    if (locals[i].load) undefine(f->nest, f->nest->vars[i], locals[i].load);
  }
}

/* ---- the pass ---- */

static void find_defs(Fuse *f, NestBlock *b) {
  for (NestStmt *st = b->first; st; st = st->next) {
    for (uint32_t i = 0; i < st->ndsts; i++) {
      f->def[st->dsts[i].var->id] = st;
      f->ndefs[st->dsts[i].var->id]++;
    }
    for (uint32_t r = 0; r < st->nregions; r++) find_defs(f, st->regions[r]);
  }
}

bool fuse_run(Unit *u) {
  Nest *n = u->nest;
  Arena *scratch = arena_child(u->arena);
  Fuse f = {.nest = n,
            .scratch = scratch,
            .words = n->nvars / 64 + 1,
            .buffer_words = n->nbuffers / 64 + 1,
            .def = ARENA_ARRAY(scratch, NestStmt *, n->nvars),
            .ndefs = ARENA_ARRAY(scratch, uint32_t, n->nvars)};
  find_defs(&f, n->body);
  fuse_block(&f, n->body);
  contract(&f);
  arena_free(scratch);
  return true;
}
