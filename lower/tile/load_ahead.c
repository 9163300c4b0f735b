/* Pass load_ahead: in a loop whose iterations meet at the barriers of a reduction, an iteration
 * loads what the next one reduces, and the numbers that this takes.
 *
 * The load of the next iteration is before the reduction, after what this one computes of its tile.
 * Its mask is false where no iteration follows: nothing is loaded that the kernel would not load.
 * Nothing in the loop writes, but for rows that a cluster shares, to memory apart.  A loop carries
 * the tile in registers; loops around products are left to pass pipeline. */
#include <string.h>

#include "lower/analysis/values.h"
#include "lower/passes.h"

/* Bytes of a thread's registers that loads ahead may take in a loop: a quarter of its registers
 * where eight programs of 128 threads share a multiprocessor. */
enum { AHEAD_THREAD_BYTES = 64 };

typedef struct {
  Unit *u;
  TileFunc *f;
  TileOp *loop;
  TileBlock *body;
  TileValue **map;  /* by value id: what takes the place of a load's result */
  uint32_t nvalues; /* of the function before the pass */
  TileValue **copy; /* by value id: the copy ... */
  uint32_t *round;  /* ... of that round */
  uint32_t rounds;
  int64_t left; /* bytes of a thread */
  bool changed;
} Ahead;

/* ---- which loads ---- */

static bool is_scalar_reduce(const TileOp *op) {
  return op->code == TILE_REDUCE && !op->results[0]->type.rank;
}

/* Loops store rows, too: of a cluster, or strips of them that are apart. */
static bool is_plain(const Ahead *x, const TileBlock *b) {
  for (const TileOp *op = b->first; op; op = op->next) {
    unsigned flags = tile_op_flags(op->code);
    bool load = op->code == TILE_LOAD && !tile_int(op, TA_volatile, 0);
    bool plain = flags & (TILE_PURE | TILE_TERM) && !op->nregions;
    bool store = op->code == TILE_STORE && (x->f->cluster || tile_attr(op, TA_part));
    if (!plain && !load && !store && op->code != TILE_REDUCE) return false;
    if (op->code == TILE_DOT) return false;
  }
  return true;
}

/* Does a launch know that nothing is at addresses of both parameters? */
static bool is_apart(const TileFunc *f, const TileValue *a, const TileValue *b) {
  if (f->options.alias == NEREID_ALIAS_DISJOINT) return a != b;
  for (const TileOp *op = f->body->first; op && a && b; op = op->next) {
    const TileAttr *pair = op->code == TILE_NOALIAS ? tile_attr(op, TA_params) : NULL;
    if (!pair || tile_int(op, TA_or_same, 0)) continue;
    bool ab = pair->list[0] == a->index && pair->list[1] == b->index;
    if (ab || (pair->list[0] == b->index && pair->list[1] == a->index)) return true;
  }
  return false;
}

/* Does the loop write nothing that the load could read? */
static bool is_unwritten(const Ahead *x, const TileOp *load) {
  for (const TileOp *op = x->body->first; op; op = op->next)
    if (op->code == TILE_STORE &&
        !is_apart(x->f, tile_address_root(op->args[0]), tile_address_root(load->args[0])))
      return false;
  return true;
}

/* The loop counts up by a constant from a number that is not negative. */
static bool counts_up(const TileOp *loop) {
  int64_t first, step;
  if (loop->code != TILE_FOR || !tile_const_value(loop->args[2], &step) || step <= 0) return false;
  const TileOp *lo = loop->args[0]->def;
  if (lo && lo->code == TILE_PROGRAM_ID) return true;
  return tile_const_value(loop->args[0], &first) && first >= 0;
}

static bool is_candidate(const Ahead *x, const TileOp *loop) {
  if (!counts_up(loop) || !is_plain(x, loop->regions[0])) return false;
  for (const TileOp *op = loop->regions[0]->first; op; op = op->next)
    if (is_scalar_reduce(op)) return true;
  return false;
}

/* Does the value follow from the loop's index and from values made before the loop? */
static bool follows_from_index(const Ahead *x, const TileValue *v) {
  if (!v || v == x->body->params[0]) return true;
  if (!v->def) return v->block != x->body;
  if (v->def->parent != x->body) return true;
  arena_work(x->u->arena, 1);
  if (!(tile_op_flags(v->def->code) & TILE_PURE) || v->def->nregions) return false;
  for (uint32_t i = 0; i < v->def->nargs; i++)
    if (!follows_from_index(x, v->def->args[i])) return false;
  return true;
}

static bool can_take(const Ahead *x, const TileOp *op) {
  if (op->code != TILE_LOAD || !follows_from_index(x, op->args[0])) return false;
  if (!follows_from_index(x, op->args[1]) || !follows_from_index(x, op->args[2])) return false;
  return is_unwritten(x, op);
}

/* Bytes of a thread. */
static int64_t bytes_of(const Ahead *x, const TileOp *load) {
  const Type *t = &load->results[0]->type;
  int64_t threads = (int64_t)options_warps(&x->f->options) * x->u->machine->lanes;
  return type_numel(*t) * dtype_bytes((DType)t->dtype) / threads;
}

static bool takes(Ahead *x, const TileOp *op) {
  if (!can_take(x, op) || bytes_of(x, op) > x->left) return false;
  x->left -= bytes_of(x, op);
  return true;
}

/* Strips of a row are loaded ahead all or none.  Their loop says by its number of stages whether
 * registers have room for them (strip_loop.c). */
static int64_t bytes_ahead(const Ahead *x) {
  int64_t bytes = 0;
  bool strips = false;
  for (const TileOp *op = x->body->first; op; op = op->next) {
    strips |= op->code == TILE_STORE && !x->f->cluster;
    if (can_take(x, op)) bytes += bytes_of(x, op);
  }
  if (!strips) return AHEAD_THREAD_BYTES;
  return tile_int(x->loop, TA_num_stages, 0) == 1 ? 0 : bytes;
}

/* ---- copies for another iteration ---- */

/* The value in the iteration of that index, made at the builder. */
static TileValue *at_index(Ahead *x, TileBuilder *b, TileValue *v, TileValue *index) {
  if (v == x->body->params[0]) return index;
  if (!v || !v->def || v->def->parent != x->body) return v;
  if (x->round[v->id] == x->rounds) return x->copy[v->id];
  const TileOp *op = v->def;
  TileValue **args = ARENA_ARRAY(x->u->arena, TileValue *, op->nargs);
  for (uint32_t i = 0; i < op->nargs; i++) args[i] = at_index(x, b, op->args[i], index);
  b->span = op->span;
  TileOp *made = tile_build(b, op->code, args, op->nargs, &v->type, 1);
  made->nattrs = op->nattrs;
  made->attrs = ARENA_ARRAY(x->f->arena, TileAttr, op->nattrs);
  if (op->nattrs) memcpy(made->attrs, op->attrs, op->nattrs * sizeof *made->attrs);
  made->results[0]->name = v->name;
  x->round[v->id] = x->rounds;
  return x->copy[v->id] = made->results[0];
}

/* The load in the iteration of that index, if that `runs`. */
static TileValue *load_at(Ahead *x, TileBuilder *b, const TileOp *load, TileValue *index,
                          TileValue *runs) {
  x->rounds++;
  TileValue *args[3] = {NULL};
  for (uint32_t i = 0; i < load->nargs; i++) args[i] = at_index(x, b, load->args[i], index);
  b->span = load->span;
  Type t = load->results[0]->type, mask = type_like(runs->type, t);
  TileValue *all = t.rank ? tile_build1(b, TILE_SPLAT, mask, runs, NULL, NULL) : runs;
  args[1] = args[1] ? tile_build1(b, TILE_AND, mask, args[1], all, NULL) : all;
  TileOp *made = tile_build(b, TILE_LOAD, args, args[2] ? 3 : 2, &t, 1);
  made->nattrs = load->nattrs;
  made->attrs = ARENA_ARRAY(x->f->arena, TileAttr, load->nattrs);
  if (load->nattrs) memcpy(made->attrs, load->attrs, load->nattrs * sizeof *made->attrs);
  made->results[0]->name = load->results[0]->name;
  return made->results[0];
}

/* ---- the loop ---- */

static TileValue **with_one_more(Ahead *x, TileValue *const *list, uint32_t n, TileValue *last) {
  TileValue **more = ARENA_ARRAY(x->f->arena, TileValue *, n + 1);
  if (n) memcpy(more, list, n * sizeof *more);
  more[n] = last;
  return more;
}

/* The loop carries one more value: the parameter. */
static TileValue *carry(Ahead *x, TileValue *first, TileValue *next) {
  TileOp *loop = x->loop, *yield = x->body->last;
  TileValue *param = tile_block_param(x->f, x->body, first->type, first->name);
  TileValue *result = ARENA_NEW(x->f->arena, TileValue);
  *result = (TileValue){first->type, loop, NULL, loop->nresults, x->f->nvalues++, first->name};
  loop->args = with_one_more(x, loop->args, loop->nargs, first);
  loop->nargs++;
  loop->results = with_one_more(x, loop->results, loop->nresults, result);
  loop->nresults++;
  yield->args = with_one_more(x, yield->args, yield->nargs, next);
  yield->nargs++;
  return param;
}

/* The loop's next reduction; the load, if none follows. */
static TileOp *next_reduce(TileOp *load) {
  for (TileOp *op = load; op; op = op->next)
    if (is_scalar_reduce(op)) return op;
  return load;
}

static void load_ahead(Ahead *x, TileOp *load) {
  TileOp *loop = x->loop;
  TileBuilder before = {x->f, loop->parent, loop, load->span};
  TileBuilder here = {x->f, x->body, next_reduce(load), load->span};
  TileValue *index = x->body->params[0], *lo = loop->args[0], *hi = loop->args[1];
  TileValue *step = loop->args[2];
  Type i1 = type_scalar(DT_I1), t = index->type;
  TileValue *any = tile_build1(&before, TILE_LT, i1, lo, hi, NULL);
  TileValue *first = load_at(x, &before, load, lo, any);
  /* The sum of index and step might wrap; a difference of numbers that are not negative can't. */
  TileValue *left = tile_build1(&here, TILE_SUB, t, hi, index, NULL);
  TileValue *more = tile_build1(&here, TILE_LT, i1, step, left, NULL);
  TileValue *later = tile_build1(&here, TILE_ADD, t, index, step, NULL);
  TileValue *next = load_at(x, &here, load, later, more);
  x->map[load->results[0]->id] = carry(x, first, next);
  x->changed = true;
}

static void visit_loop(TileOp *loop, void *ctx) {
  Ahead *x = ctx;
  if (!is_candidate(x, loop)) return;
  x->loop = loop;
  x->body = loop->regions[0];
  x->left = bytes_ahead(x);
  for (TileOp *op = x->body->first, *next; op; op = next) {
    next = op->next;
    if (op->nresults && op->results[0]->id < x->nvalues && takes(x, op)) load_ahead(x, op);
  }
}

bool pass_load_ahead(Unit *u) {
  Arena *scratch = arena_child(u->arena);
  Ahead x = {.u = u, .f = u->tile, .nvalues = u->tile->nvalues};
  if (u->tile->options.num_stages > 1 && options_warps(&u->tile->options) > 1) {
    x.map = ARENA_ARRAY(scratch, TileValue *, x.nvalues);
    x.copy = ARENA_ARRAY(scratch, TileValue *, x.nvalues);
    x.round = ARENA_ARRAY(scratch, uint32_t, x.nvalues);
    tile_walk(u->tile->body, visit_loop, &x);
  }
  if (x.changed) {
    x.map = arena_grow(scratch, x.map, x.nvalues * sizeof *x.map,
                       u->tile->nvalues * sizeof *x.map);
    tile_substitute(u->tile, x.map);
  }
  arena_free(scratch);
  return true;
}
