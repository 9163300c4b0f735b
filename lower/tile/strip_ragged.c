/* Rows that begin anywhere, of pass strip_rows.  No vector loads them, so a tile longer than the
 * row costs a masked load and all that follows for each element after the row's end.  The kernel
 * gets a version for each number of strips that have columns of the row:
 *
 *   if n <= 4 strips { all masked }
 *   else if n <= 5 strips { four strips without masks, a masked one; three of constants }
 *   ...
 *
 * Versions of strips of words are two strips apart, so that there are no more.
 *
 * Registers keep the strips.  A version has no branches, so its loads are in flight together. */
#include <string.h>

#include "lower/tile/strip.h"

enum {
  WORD_BYTES = 4,
  STRIPS_MOST = 8,
  SHIFTED_STRIPS = 32, /* at most; words are in all but two */
  EACH_LEAST = 16, /* elements of a thread: fewer are little work to leave out */
  EACH_MOST = 32,  /* ... and more fill registers and text */
  LOOP_EACH_MOST = 64, /* ... but for few warps, whose loops have most of the registers each */
  OPS_MOST = 200   /* of the kernel, which versions repeat */
};

/* The kernel's ops but for its end, of which versions are copies. */
typedef VEC(TileOp *) OpList;

typedef struct {
  Strips *s;
  TileValue **copy; /* by value id of the kernel's ops: the version's */
} Cloner;

/* ---- which kernels ---- */

/* The limit of a mask, or of a part of it. */
static TileValue *limit_within(const Strips *s, const TileValue *mask) {
  TileValue *limit = strip_limit(s, mask);
  const TileOp *op = mask->def;
  for (int i = 0; !limit && op && op->code == TILE_AND && i < 2; i++)
    limit = strip_limit(s, op->args[i]);
  return limit;
}

/* The limit of a load of neighbours in memory that begin anywhere; NULL: it is no such load. */
static TileValue *ragged_limit(const Strips *s, const AxisInfo *axis, const TileOp *op) {
  if (op->code != TILE_LOAD || !strip_is_row(s, op->results[0]) || !op->args[1]) return NULL;
  unsigned bytes = dtype_bytes((DType)op->results[0]->type.dtype);
  const TileValue *at = op->args[0];
  for (int a = 0; bytes < WORD_BYTES && a < at->type.rank; a++) {
    if (at->type.shape[a] != s->row || axis[at->id].contig[a] != s->row) continue;
    bool words = axis_vector(axis, at, NULL, a, bytes, s->row) * bytes >= WORD_BYTES;
    return words ? NULL : limit_within(s, op->args[1]);
  }
  return NULL;
}

/* Rows are loaded in the loop, if there is one. */
static TileValue *find_limit(const Strips *s) {
  const AxisInfo *axis = axis_analyze(s->f, s->scratch);
  const TileBlock *body = s->loop ? s->loop->regions[0] : s->f->body;
  TileValue *limit = NULL;
  for (const TileOp *op = body->first; op && !limit; op = op->next)
    limit = ragged_limit(s, axis, op);
  return limit;
}

/* The constant limit of a load, if a quarter of the row and more is after it. */
static TileValue *find_constant_limit(const Strips *s) {
  int64_t columns;
  for (const TileOp *op = s->f->body->first; op; op = op->next) {
    if (op->code != TILE_LOAD || !strip_is_row(s, op->results[0]) || !op->args[1]) continue;
    TileValue *limit = limit_within(s, op->args[1]);
    if (limit && tile_const_value(limit, &columns) && 4 * columns <= 3 * s->row) return limit;
  }
  return NULL;
}

/* Strips of words. */
static void shift_strips(Strips *s) {
  int64_t threads = (int64_t)options_warps(&s->f->options) * s->u->machine->lanes;
  s->shifted = true;
  int64_t strips = s->row / (2 * threads);
  if (strips > STRIPS_MOST && strips <= SHIFTED_STRIPS) s->strip = 2 * threads;
}

/* Finds the limit, and the strips: of elements, of words, or of vectors. */
static bool find_strips(Strips *s) {
  enum { VECTOR = 8 }; /* elements of 16 bits that a thread loads at once */
  int64_t threads = (int64_t)options_warps(&s->f->options) * s->u->machine->lanes;
  int64_t each = s->row / threads;
  int64_t most = s->loop ? LOOP_EACH_MOST : EACH_MOST;
  if (each < EACH_LEAST || each > most || s->row % (STRIPS_MOST * threads)) return false;
  s->limit = find_limit(s);
  s->by_elements = s->limit != NULL;
  if (!s->limit && each == EACH_MOST) s->limit = find_constant_limit(s);
  s->strip = s->row / STRIPS_MOST;
  if (!s->by_elements && s->strip < VECTOR * threads) s->strip = VECTOR * threads;
  if (s->by_elements && strip_find_shift(s)) s->by_elements = false, shift_strips(s);
  return s->limit && s->row % s->strip == 0;
}

/* Everything but the kernel's end can be inside of an `if`. */
static bool can_move(const Strips *s) {
  int n = 0;
  for (const TileOp *op = s->loop ? s->loop->regions[0]->first : NULL; op; op = op->next) n++;
  for (const TileOp *op = s->f->body->first; op; op = op->next) {
    if (++n > OPS_MOST) return false;
    if (op->code == TILE_NOALIAS || op->code == TILE_ASSUME || op->code == TILE_GRID_DEPENDENCY)
      return false;
    if (op->code == TILE_RETURN && op->next) return false;
  }
  return true;
}

/* ---- versions ---- */

static void clone_op(Cloner *c, TileBuilder *b, const TileOp *op);

static void clone_block(Cloner *c, TileBlock *to, const TileBlock *from) {
  Strips *s = c->s;
  TileBuilder b = {s->f, to, NULL, s->f->span};
  for (uint32_t i = 0; i < from->nparams; i++) {
    TileValue *p = from->params[i];
    c->copy[p->id] = tile_block_param(s->f, to, p->type, p->name);
  }
  for (const TileOp *op = from->first; op; op = op->next) clone_op(c, &b, op);
}

static void clone_op(Cloner *c, TileBuilder *b, const TileOp *op) {
  Arena *a = b->fn->arena;
  TileValue **args = ARENA_ARRAY(c->s->scratch, TileValue *, op->nargs);
  Type *types = ARENA_ARRAY(c->s->scratch, Type, op->nresults);
  for (uint32_t i = 0; i < op->nargs; i++) {
    TileValue *v = op->args[i], *copy = v ? c->copy[v->id] : NULL;
    args[i] = copy ? copy : v;
  }
  for (uint32_t i = 0; i < op->nresults; i++) types[i] = op->results[i]->type;
  b->span = op->span;
  TileOp *made = tile_build(b, op->code, args, op->nargs, types, op->nresults);
  made->nattrs = op->nattrs;
  made->attrs = ARENA_ARRAY(a, TileAttr, op->nattrs);
  if (op->nattrs) memcpy(made->attrs, op->attrs, op->nattrs * sizeof *made->attrs);
  for (uint32_t i = 0; i < op->nresults; i++) {
    made->results[i]->name = op->results[i]->name;
    c->copy[op->results[i]->id] = made->results[i];
  }
  for (uint32_t r = 0; r < op->nregions; r++)
    clone_block(c, tile_add_region(b->fn, made), op->regions[r]);
}

/* Plans the strips of one version.  Columns of whole rows are not shifted: the last one would have
 * no room. */
static bool plan_version(const Strips *s, TileBlock *body, int64_t full, int64_t live,
                         Strips *out) {
  *out = (Strips){.u = s->u, .f = s->f, .scratch = s->scratch, .nvalues = s->f->nvalues};
  out->row = s->row;
  out->strip = s->strip;
  out->cluster = 1;
  out->body = body;
  out->ragged = true;
  out->limit = s->limit;
  out->full = full;
  out->live = live;
  out->versions = s->versions;
  out->by_elements = s->by_elements;
  out->loop = s->loop ? strip_find_loop(body) : NULL;
  out->shifted = s->shifted && full < strip_count(s);
  if (out->shifted && !strip_find_shift(out)) return false;
  return out->loop ? strip_loop_plan(out) : strip_plan(out);
}

static void build_version(Strips *plan) {
  if (plan->loop) strip_loop_build(plan);
  else strip_build(plan);
}

typedef struct {
  TileBlock *body;
  int64_t full, live;
} Version;

typedef struct {
  OpList ops;
  Version all[STRIPS_MOST];
  int n;
} Versions;

/* A copy of the kernel in the block. */
static void put_version(Strips *s, Versions *v, TileBlock *to, int64_t full, int64_t live) {
  Cloner c = {s, ARENA_ARRAY(s->scratch, TileValue *, s->f->nvalues)};
  TileBuilder b = {s->f, to, NULL, s->f->span};
  for (size_t i = 0; i < v->ops.len; i++) clone_op(&c, &b, v->ops.data[i]);
  tile_build(&b, TILE_YIELD, NULL, 0, NULL, 0);
  v->all[v->n++] = (Version){to, full, live};
}

/* Versions for `live` strips and more, an eighth of the tile apart; the first one is for fewer,
 * too, and after the last one of shifted columns is that for whole rows. */
static void put_versions(Strips *s, Versions *v, TileBuilder *b, int64_t live) {
  int64_t all = strip_count(s), step = all / STRIPS_MOST, full = v->n ? live - step : 0;
  int64_t last = s->shifted ? all + step : all;
  if (live > all) full = live = all;
  if (full == all || live == last) {
    put_version(s, v, b->block, full, live);
    return;
  }
  TileValue *end = tile_const_int(b, s->limit->type, live * s->strip - s->shifted);
  TileValue *within = tile_build1(b, TILE_LE, type_scalar(DT_I1), s->limit, end, NULL);
  TileOp *either = tile_build(b, TILE_IF, &within, 1, NULL, 0);
  put_version(s, v, tile_add_region(s->f, either), full, live);
  TileBuilder rest = {s->f, tile_add_region(s->f, either), NULL, s->f->span};
  put_versions(s, v, &rest, live + step);
  if (live + step < last) tile_build(&rest, TILE_YIELD, NULL, 0, NULL, 0);
}

static void replace_by_versions(Strips *s) {
  Versions v = {.n = 0};
  TileBuilder end = {s->f, s->f->body, s->f->body->last, s->f->span};
  for (TileOp *op = s->f->body->first; op != end.before; op = op->next)
    vec_push(s->scratch, &v.ops, op);
  put_versions(s, &v, &end, strip_count(s) / 2);
  for (size_t i = v.ops.len; i; i--) tile_remove(v.ops.data[i - 1]);
  for (int i = 0; i < v.n; i++) {
    Strips plan;
    const Version *x = &v.all[i];
    BUG_IF(!plan_version(s, x->body, x->full, x->live, &plan), "a version of %s has another plan",
           s->f->name);
    build_version(&plan);
  }
}

/* Plans the kernel with all columns or, if they are a constant, with so many. */
static bool plan_row(Strips *s, bool known, int64_t columns, Strips *plan) {
  int64_t all = s->row / s->strip;
  int64_t full = known && columns > 0 ? columns / s->strip : 0;
  int64_t end = columns + s->shifted;
  int64_t live = known ? (columns > 0 ? (end + s->strip - 1) / s->strip : 0) : all;
  if (full > all) full = all;
  s->versions = !known;
  if (known && s->shifted && end > s->row) return false;
  return plan_version(s, s->f->body, full, live > all ? all : live, plan);
}

bool strip_ragged(Strips *s) {
  int64_t columns = 0;
  s->ragged = true;
  s->body = s->f->body;
  if (!s->row) s->row = strip_loop_row(s->body), s->loop = strip_find_loop(s->body);
  if (!find_strips(s)) return false;
  bool known = tile_const_value(s->limit, &columns);
  bool given = s->limit->block && !s->limit->block->owner;
  Strips plan;
  if (!(known || (given && can_move(s))) || !plan_row(s, known, columns, &plan)) return false;
  s->u->ordered = text_new(s->u->arena);
  tile_print(&s->u->ordered, s->f, s->u->diags);
  if (known) build_version(&plan);
  else replace_by_versions(s);
  return true;
}
