/* Pass fuse_loops: loop fusion.
 *
 * A chain (lower/thread/chain.h) L is fused into an earlier chain G of the same block with as many
 * iterations (its body is appended to G's) if iteration i of L depends on nothing that G does after
 * iteration i, nor the other way round:
 *
 *   registers  a variable that one of them writes and the other accesses has the same subscript in
 *              both, and another one in each iteration
 *   memory     neither writes bytes that the other accesses; or G loads and L stores at the same
 *              distance from a parameter, each iteration elsewhere.  Then L stores over elements
 *              that its own iteration has loaded if the two parameters are equal, and over nothing
 *              that G loads if their memory is disjoint; one of the two is assumed, and guarded
 *              (nest_assume_noalias).
 *
 * Statements between the two that L depends on move before G; those that depend on G stay after
 * it, and L must not depend on them.
 *
 * Register arrays that then live in one loop only become scalars.
 *
 * Where extents differ, loops are cut: a sum in four interleaved parts, `unroll r:8 { unroll a:4`,
 * joins the `unroll a:32` that computes its operand, which becomes r:8, a:4. */
#include "lower/passes.h"

#include <string.h>

#include "lower/thread/fuse_parts.h"

enum {
  LOOK_BACK = 64,    /* statements before a chain that are searched for another */
  MOST_JOINED = 2048 /* statements of a chain: each that joins it is compared with all of them */
};

static int length_of(const NestBlock *b) {
  int n = 0;
  for (const NestStmt *st = b->first; st; st = st->next) n++;
  return n;
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
  return chain_map_affine(&y, from, fine);
}

static void move_all(NestBlock *from, NestBlock *to) {
  for (NestStmt *st = from->first, *next; st; st = next) {
    next = st->next;
    nest_move_into(st, to);
  }
}

/* Makes the loops of an item those of the refinement. */
static void cut_loops(Fuse *f, Item *x, const Chain *fine) {
  if (chains_alike(&x->chain, fine)) return;
  NestBuilder b = {f->nest, x->st->parent, x->st, x->st->span};
  NestStmt *outermost = NULL;
  for (int i = 0; i < fine->depth; i++) {
    NestStmt *u = nest_stmt(&b, NEST_UNROLL, 0, 0);
    u->index = fine->index[i];
    if (!i) outermost = u;
    b.block = nest_block(f->nest, u);
    b.before = NULL;
  }
  map_body(&x->chain, chain_map_affine, fine);
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
  for (size_t i = 0; i < f->assumed.len; i++)
    nest_assume_noalias(f->nest, f->assumed.data[i].a, f->assumed.data[i].b, true);
  cut_loops(f, g, fine);
  map_body(&l.chain, chain_map_affine, fine);
  move_all(l.chain.body, g->chain.body);
  nest_remove(l.st);
  effects_join(f, &g->e, &l.e);
  g->statements += l.statements;
  memmove(&f->items.data[at], &f->items.data[at + 1],
          (f->items.len - at - 1) * sizeof f->items.data[0]);
  f->items.len--;
}

/* Which of the items behind g must stay behind it; `at` is not among them. */
static void plan_moves(Fuse *f, size_t g, size_t at, bool *stay) {
  const Item *x = f->items.data;
  pending_clear(&f->pending);
  pending_add(&f->pending, &x[g].e);
  for (size_t i = g + 1; i < at; i++) {
    stay[i - g] = pending_conflict(&f->pending, &x[i].e);
    if (stay[i - g]) pending_add(&f->pending, &x[i].e);
  }
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
    if (!is_global_access(st, NEST_LD) && !is_index(st)) return false;
  return true;
}

/* Loads wait for the chain that uses them: in one that does not, they would fill an array. */
static bool worth_joining(const Item *g, const Item *l) {
  if (g->statements + l->statements > MOST_JOINED) return false;
  if (loads_only(l)) return index_only(g);
  return !loads_only(g) || sets_meet(&g->e.writes, &l->e.reads);
}

enum { MOST_CUT = 32 }; /* statements in a loop that is cut: C compilers expand the inner part */

/* Loops are cut where that keeps a value out of an array. */
static bool worth_cutting(const Item *g, const Item *l) {
  return g->statements + l->statements <= MOST_CUT && sets_meet(&g->e.writes, &l->e.reads);
}

/* What the loops of l and g become if they join, if they may. */
static bool joined_shape(Fuse *f, const Item *g, const Item *l, Chain *fine) {
  if (!g->chain.depth || !worth_joining(g, l)) return false;
  *fine = g->chain;
  if (!chains_alike(&g->chain, &l->chain) &&
      (!worth_cutting(g, l) || !chains_refine(f, &g->chain, &l->chain, fine) ||
       !map_body(&g->chain, can_map, fine) || !map_body(&l->chain, can_map, fine)))
    return false;
  arena_work(f->scratch, (uint64_t)(g->statements + l->statements) / 4);
  return chains_agree_in_registers(f, g, l, fine) && chains_agree_in_memory(f, g, l, fine);
}

/* Joins chain `at` with the nearest one before it that can take it.  Returns the place to go on at:
 * that of the longer chain, which others before it may take in turn, or the next. */
static size_t join_earlier(Fuse *f, size_t at) {
  const Item *l = &f->items.data[at];
  size_t first = at > LOOK_BACK ? at - LOOK_BACK : 0;
  Pending *needed = &f->pending; /* items between, without which l can't move */
  pending_clear(needed);
  for (size_t g = at; g-- > first;) {
    const Item *x = &f->items.data[g];
    bool stay[LOOK_BACK + 1];
    Chain fine;
    bool held = pending_conflict(needed, &x->e);
    if (held || !joined_shape(f, x, l, &fine)) {
      if (held || effects_conflict(&x->e, &l->e)) pending_add(needed, &x->e);
      continue;
    }
    plan_moves(f, g, at, stay);
    size_t moved = 0;
    for (size_t i = g + 1; i < at; i++) moved += !stay[i - g];
    move_before(f, g, at, stay);
    join(f, &f->items.data[g + moved], at, &fine);
    return g + moved;
  }
  return at + 1;
}

static Item item_of(const Fuse *f, NestStmt *st) {
  Item x = {st, effects_of(f, st), chain_of(st), 0};
  if (x.chain.depth) x.statements = length_of(x.chain.body);
  return x;
}

static void fuse_block(Fuse *f, NestBlock *b) {
  for (NestStmt *st = b->first; st; st = st->next)
    for (uint32_t r = 0; r < st->nregions; r++)
      if (st->code != NEST_UNROLL) fuse_block(f, st->regions[r]);
  f->items.len = 0;
  NestStmt *next = b->first;
  for (size_t i = 0; i < f->items.len || next;) {
    if (i == f->items.len) {
      vec_push(f->scratch, &f->items, item_of(f, next));
      next = next->next;
    }
    i = f->items.data[i].chain.depth ? join_earlier(f, i) : i + 1;
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

bool pass_fuse_loops(Unit *u) {
  Nest *n = u->nest;
  Arena *scratch = arena_child(u->arena);
  Fuse f = {.nest = n,
            .scratch = scratch,
            .def = ARENA_ARRAY(scratch, NestStmt *, n->nvars),
            .ndefs = ARENA_ARRAY(scratch, uint32_t, n->nvars)};
  pending_new(&f.pending, scratch, n);
  find_defs(&f, n->body);
  fuse_block(&f, n->body);
  fuse_contract(&f);
  arena_free(scratch);
  return true;
}
