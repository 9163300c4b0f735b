/* Rows and addresses, as the plan of pass strip_rows and its clusters ask for them. */
#include <math.h>

#include "lower/analysis/values.h"
#include "lower/tile/strip.h"

static bool is_row_type(const Strips *s, const Type *t) {
  if (!t->rank || type_numel(*t) != s->row) return false;
  for (int a = 0; a < t->rank; a++)
    if (t->shape[a] == s->row) return true;
  return false;
}

bool strip_is_row(const Strips *s, const TileValue *v) { return v && is_row_type(s, &v->type); }

TileValue *strip_root(TileValue *address) {
  TileValue *v = tile_address_root(address);
  return v && v->block && !v->block->owner ? v : NULL;
}

bool strip_is_injective(const Strips *s, const AxisInfo *axis, const TileValue *pointer) {
  for (int a = 0; a < pointer->type.rank; a++)
    if (axis[pointer->id].contig[a] == s->row) return true;
  return false;
}

bool strip_assume_apart(Strips *s, TileValue *a, TileValue *b, bool or_same) {
  if (s->f->options.alias == NEREID_ALIAS_DISJOINT) return true;
  if (s->f->options.alias == NEREID_ALIAS_ORDERED) return false;
  for (int i = 0; i < s->npairs; i++) {
    StripPair *x = &s->pairs[i];
    if ((x->a != a || x->b != b) && (x->a != b || x->b != a)) continue;
    x->or_same &= or_same;
    return true;
  }
  if (s->npairs == STRIP_PAIRS_MOST) return false;
  s->pairs[s->npairs++] = (StripPair){a, b, or_same};
  return true;
}

/* ---- loops ---- */

static int64_t longest_reduced(const TileOp *loop) {
  int64_t n = 0;
  for (const TileOp *op = loop->regions[0]->first; op; op = op->next)
    if (op->code == TILE_REDUCE && type_numel(op->results[0]->type) == 1 &&
        type_numel(op->args[0]->type) > n)
      n = type_numel(op->args[0]->type);
  return n;
}

TileOp *strip_find_loop(const TileBlock *body) {
  TileOp *loop = NULL;
  for (TileOp *op = body->first; op; op = op->next) {
    if (op->code != TILE_FOR) continue;
    if (loop) return NULL;
    loop = op;
  }
  return loop;
}

int64_t strip_loop_row(const TileBlock *body) {
  const TileOp *loop = strip_find_loop(body);
  return loop ? longest_reduced(loop) : 0;
}

bool strip_touches_rows(const Strips *s, const TileOp *op) {
  for (uint32_t i = 0; i < op->nargs; i++)
    if (op->args[i] && strip_is_row(s, op->args[i])) return true;
  for (uint32_t i = 0; i < op->nresults; i++)
    if (strip_is_row(s, op->results[i])) return true;
  return false;
}

/* ---- masks ---- */

bool strip_is_columns(const Strips *s, const TileValue *v) {
  const TileOp *op = v->def;
  while (op && (op->code == TILE_EXPAND_DIMS || op->code == TILE_RESHAPE ||
                (op->code == TILE_CAST && op->results[0]->type.dtype == DT_I64)))
    op = op->args[0]->def;
  return op && op->code == TILE_ARANGE && !tile_int(op, TA_start, 0) &&
         strip_is_row(s, op->results[0]);
}

TileValue *strip_limit(const Strips *s, const TileValue *mask) {
  const TileOp *op = mask->def;
  if (!op || op->code != TILE_LT || !strip_is_row(s, mask)) return NULL;
  const TileOp *all = op->args[1]->def;
  DType t = (DType)op->args[1]->type.dtype;
  if (!all || (t != DT_I32 && t != DT_I64) || !strip_is_columns(s, op->args[0])) return NULL;
  if (all->code == TILE_CONST && s->ragged) return op->args[1];
  return all->code == TILE_SPLAT ? all->args[0] : NULL;
}

bool strip_has_limit(const Strips *s, const TileValue *limit, const TileValue *mask) {
  const TileOp *op = mask ? mask->def : NULL;
  if (!op) return false;
  if (strip_limit(s, mask) == limit) return true;
  return op->code == TILE_AND && (strip_has_limit(s, limit, op->args[0]) ||
                                  strip_has_limit(s, limit, op->args[1]));
}

typedef struct {
  const Strips *s;
  bool *visited; /* by value id */
} MaskSearch;

static TileValue *limit_of(MaskSearch *m, const TileValue *v) {
  if (!strip_is_row(m->s, v) || m->visited[v->id]) return NULL;
  m->visited[v->id] = true;
  TileValue *limit = strip_limit(m->s, v);
  for (uint32_t i = 0; !limit && v->def && i < v->def->nargs; i++)
    limit = limit_of(m, v->def->args[i]);
  return limit;
}

TileValue *strip_loop_limit(const Strips *s, const StripLoop *l) {
  MaskSearch m = {s, ARENA_ARRAY(s->scratch, bool, s->nvalues)};
  TileValue *limit = NULL;
  for (size_t i = 0; i < l->sinks.len; i++)
    for (uint32_t k = 0; !limit && k < l->sinks.data[i]->nargs; k++)
      limit = limit_of(&m, l->sinks.data[i]->args[k]);
  return limit;
}

/* ---- what strips combine ---- */

static const TileOp *made_by(const TileValue *v) {
  const TileOp *op = v->def;
  while (op && (op->code == TILE_SPLAT || op->code == TILE_BROADCAST)) op = op->args[0]->def;
  return op;
}

bool strip_is_constant(const TileValue *v) {
  const TileOp *op = made_by(v);
  while (op && op->code == TILE_CAST) op = made_by(op->args[0]);
  return op && op->code == TILE_CONST;
}

static bool is_plus_zero(const TileValue *v, int depth) {
  enum { DEPTH_MOST = 8 };
  const TileOp *op = made_by(v);
  if (!op || depth == DEPTH_MOST) return false;
  if (op->code == TILE_CONST) {
    const TileAttr *value = tile_attr(op, TA_value);
    bool negative = value && dtype_is_float((DType)v->type.dtype) && signbit(value->f);
    return tile_is_zero(v) && !negative;
  }
  bool both = op->code == TILE_MUL || op->code == TILE_ADD || op->code == TILE_SUB;
  if (!both && op->code != TILE_CAST) return false;
  return is_plus_zero(op->args[0], depth + 1) && (!both || is_plus_zero(op->args[1], depth + 1));
}

bool strip_is_zero(const TileValue *v) { return is_plus_zero(v, 0); }
