/* Pass reverse_loops: a loop that loads what an earlier loop of the block has loaded goes from the
 * end, where caches still have it.
 *
 * A row longer than a tile is read twice: by a loop that reduces it, and by one that stores.
 * Both begin at its first element, which caches have lost when the second loop begins.  A loop that
 * carries nothing may run from its end, if its iterations access places of their own.  Loops of one
 * block go forwards and backwards by turns. */
#include "lower/analysis/values.h"
#include "lower/passes.h"

enum {
  PAIRS_MOST = 16,   /* of parameters that a kernel may take for apart */
  COMPARED_MOST = 64 /* values of two addresses */
};

typedef struct {
  int64_t params[2];
  bool or_same; /* they may hold one address */
} Pair;

typedef struct {
  Unit *u;
  TileFunc *f;
  const TileOp *loop;
  TileValue **place; /* by the id of a reversed loop's index: what took its place in the loop */
  bool *varies; /* by value id: from iteration to iteration of the loop */
  Pair pairs[PAIRS_MOST];
  int npairs;
} Reverse;

/* ---- loops ---- */

/* It counts up by a constant from 0. */
static bool counts_up(const TileOp *loop) {
  int64_t first, step;
  return loop->code == TILE_FOR && tile_const_value(loop->args[0], &first) && !first &&
         tile_const_value(loop->args[2], &step) && step > 0;
}

static bool is_plain_load(const TileOp *op) {
  return op->code == TILE_LOAD && !tile_int(op, TA_volatile, 0);
}

/* The loop computes, loads and stores, and an iteration hands nothing on. */
static bool is_candidate(const TileOp *loop) {
  if (!counts_up(loop) || loop->nresults) return false;
  bool stores = false;
  for (const TileOp *op = loop->regions[0]->first; op; op = op->next) {
    bool pure = tile_op_flags(op->code) & (TILE_PURE | TILE_TERM);
    stores |= op->code == TILE_STORE;
    if (op->code == TILE_DOT || (op->nregions && op->code != TILE_REDUCE)) return false;
    if (!pure && !is_plain_load(op) && op->code != TILE_STORE) return false;
  }
  return stores;
}

static bool runs_alike(const TileOp *a, const TileOp *b) {
  ValueComparison same = {-1, -1, COMPARED_MOST};
  return values_alike(a->args[1], b->args[1], &same) && values_alike(a->args[2], b->args[2], &same);
}

/* Does an iteration of `loop` load what the same iteration of `earlier` has loaded? */
static bool loads_again(const Reverse *r, const TileOp *loop, const TileOp *earlier) {
  const TileValue *index = loop->regions[0]->params[0], *before = earlier->regions[0]->params[0];
  if (r->place[before->id]) before = r->place[before->id];
  for (const TileOp *x = loop->regions[0]->first; x; x = x->next) {
    for (const TileOp *y = earlier->regions[0]->first; x->code == TILE_LOAD && y; y = y->next) {
      ValueComparison same = {index->id, before->id, COMPARED_MOST};
      if (y->code == TILE_LOAD && x->args[0]->type.rank &&
          values_alike(x->args[0], y->args[0], &same))
        return true;
    }
  }
  return false;
}

/* The last loop before this one that has loaded the same; NULL: there is none. */
static const TileOp *find_earlier(const Reverse *r, const TileOp *loop) {
  for (const TileOp *op = loop->prev; op; op = op->prev)
    if (counts_up(op) && runs_alike(loop, op) && loads_again(r, loop, op)) return op;
  return NULL;
}

/* ---- iterations access places of their own ---- */

typedef struct {
  int indices;    /* terms that are the loop's index */
  int64_t length; /* of a range, one of them alone */
  bool other;     /* a term that is none of these and no number for all elements */
  int steps;      /* that may be taken yet */
} Terms;

/* Notes which values of the loop its iterations have in common. */
static void find_varying(Reverse *r) {
  const TileBlock *body = r->loop->regions[0];
  r->varies[body->params[0]->id] = true;
  for (const TileOp *op = body->first; op; op = op->next) {
    bool varies = !(tile_op_flags(op->code) & TILE_PURE);
    for (uint32_t i = 0; i < op->nargs; i++) varies |= op->args[i] && r->varies[op->args[i]->id];
    for (uint32_t i = 0; i < op->nresults; i++) r->varies[op->results[i]->id] = varies;
  }
}

static void find_terms(const Reverse *r, const TileValue *v, Terms *t) {
  v = tile_root_value(v);
  const TileOp *op = v->def;
  t->other |= --t->steps < 0;
  if (t->other) return;
  if (v == r->loop->regions[0]->params[0]) {
    t->indices++;
  } else if (op && (op->code == TILE_PTR_ADD || op->code == TILE_ADD)) {
    find_terms(r, op->args[0], t);
    find_terms(r, op->args[1], t);
  } else if (op && op->code == TILE_ARANGE && type_numel(v->type) > 1) {
    t->other |= t->length > 1;
    t->length = type_numel(v->type);
  } else {
    t->other |= type_numel(v->type) > 1 || r->varies[v->id];
  }
}

/* Iterations of the loop access elements apart: the index is added to a range that is no longer
 * than its step.  Sums of 32 bits that wrap are apart too. */
static bool has_own_places(const Reverse *r, const TileOp *access) {
  int64_t step = 0;
  Terms t = {.length = 1, .steps = COMPARED_MOST};
  find_terms(r, access->args[0], &t);
  tile_const_value(r->loop->args[2], &step);
  return !t.other && t.indices == 1 && t.length <= step;
}

static bool is_parameter(const TileValue *v) { return v && v->block && !v->block->owner; }

static bool assume_apart(Reverse *r, const TileValue *a, const TileValue *b, bool or_same) {
  if (r->f->options.alias == NEREID_ALIAS_DISJOINT) return true;
  if (r->f->options.alias == NEREID_ALIAS_ORDERED) return false;
  for (int i = 0; i < r->npairs; i++) {
    Pair *p = &r->pairs[i];
    if (p->params[0] != a->index || p->params[1] != b->index || p->or_same != or_same) continue;
    return true;
  }
  if (r->npairs == PAIRS_MOST) return false;
  r->pairs[r->npairs++] = (Pair){{a->index, b->index}, or_same};
  return true;
}

/* May a store and another access come in any order, if they are of different iterations? */
static bool are_apart(Reverse *r, const TileOp *store, const TileOp *access) {
  const TileValue *a = tile_address_root(store->args[0]), *b = tile_address_root(access->args[0]);
  if (!is_parameter(a) || !is_parameter(b)) return false;
  ValueComparison same = {a->id, b->id, COMPARED_MOST};
  bool alike = values_alike(store->args[0], access->args[0], &same);
  return a == b ? alike : assume_apart(r, a, b, alike);
}

static bool is_reversible(Reverse *r) {
  const TileBlock *body = r->loop->regions[0];
  find_varying(r);
  for (const TileOp *x = body->first; x; x = x->next) {
    if (x->code != TILE_STORE) continue;
    if (!has_own_places(r, x)) return false;
    for (const TileOp *y = body->first; y; y = y->next)
      if ((y->code == TILE_LOAD || y->code == TILE_STORE) && y != x && !are_apart(r, x, y))
        return false;
  }
  return true;
}

/* ---- the loop from its end ---- */

static void reverse(Reverse *r, TileOp *loop) {
  TileBlock *body = loop->regions[0];
  TileValue *index = body->params[0], *step = loop->args[2];
  Type t = index->type;
  TileBuilder before = {r->f, loop->parent, loop, loop->span};
  TileBuilder here = {r->f, body, body->first, loop->span};
  TileValue *end = tile_build1(&before, TILE_SUB, t, loop->args[1],
                               tile_const_int(&before, t, 1), NULL);
  TileValue *steps = tile_build1(&before, TILE_DIV, t, end, step, NULL);
  TileValue *last = tile_build1(&before, TILE_MUL, t, steps, step, NULL);
  TileValue *at = tile_build1(&here, TILE_SUB, t, last, index, NULL);
  at->name = index->name;
  for (TileOp *op = at->def->next; op; op = op->next)
    for (uint32_t i = 0; i < op->nargs; i++)
      if (op->args[i] == index) op->args[i] = at;
  r->place[index->id] = at;
}

static void visit_loop(TileOp *loop, void *ctx) {
  Reverse *r = ctx;
  if (!is_candidate(loop)) return;
  const TileOp *earlier = find_earlier(r, loop);
  if (!earlier || r->place[earlier->regions[0]->params[0]->id]) return;
  int npairs = r->npairs;
  r->loop = loop;
  if (!is_reversible(r)) {
    r->npairs = npairs;
    return;
  }
  if (!r->u->ordered.len) {
    r->u->ordered = text_new(r->u->arena);
    tile_print(&r->u->ordered, r->f, r->u->diags);
  }
  reverse(r, loop);
}

static void put_pairs(Reverse *r) {
  TileBuilder start = {r->f, r->f->body, r->f->body->first, r->f->span};
  for (int i = 0; i < r->npairs; i++) {
    TileOp *op = tile_build(&start, TILE_NOALIAS, NULL, 0, NULL, 0);
    tile_set_ints(r->f, op, TA_params, r->pairs[i].params, 2);
    if (r->pairs[i].or_same) tile_set_int(r->f, op, TA_or_same, 1);
  }
}

bool pass_reverse_loops(Unit *u) {
  Arena *scratch = arena_child(u->arena);
  Reverse r = {.u = u, .f = u->tile};
  r.place = ARENA_ARRAY(scratch, TileValue *, u->tile->nvalues);
  r.varies = ARENA_ARRAY(scratch, bool, u->tile->nvalues);
  tile_walk(u->tile->body, visit_loop, &r);
  put_pairs(&r);
  arena_free(scratch);
  return true;
}
