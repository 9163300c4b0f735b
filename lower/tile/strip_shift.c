/* Ragged rows whose strips begin at a word, of pass strip_rows.
 *
 * A row of 16-bit elements that begins anywhere is at an odd element or at an even one, which the
 * kernel knows when it is executed.  Its columns are counted from one before the row where it is at
 * an odd one: then two neighbours of a thread are a word of memory in all strips but the first and
 * the last one.  The row's last column is where a column more is; its strips have room for that.
 *
 * What depends on columns is no more than addresses and masks, so that the place before the first
 * column is as one after the last. */
#include "lower/analysis/values.h"
#include "lower/tile/strip.h"

enum { STEPS_MOST = 64 }; /* of a comparison of two offsets */

/* A pointer of a row: a parameter, an offset that all columns share, and the columns. */
typedef struct {
  TileValue *param, *offset;
} RowPointer;

static bool is_row_pointer(const Strips *s, const TileValue *v, RowPointer *out) {
  const TileOp *op = v->def;
  if (!op || op->code != TILE_PTR_ADD || v->type.rank != 1 || !strip_is_row(s, v)) return false;
  const TileOp *all = op->args[0]->def, *columns = op->args[1]->def;
  if (!all || all->code != TILE_SPLAT || !columns || columns->code != TILE_ARANGE) return false;
  const TileOp *row = all->args[0]->def;
  if (!row || row->code != TILE_PTR_ADD) return false;
  *out = (RowPointer){row->args[0], row->args[1]};
  return out->param->block && !out->param->block->owner && out->offset->def &&
         out->offset->type.dtype == DT_I32;
}

/* Are words of two elements aligned where the offset is even? */
static bool has_words(const AxisInfo *axis, const RowPointer *p) {
  return axis[p->param->id].div[0] % (2 * dtype_bytes((DType)p->param->type.elem)) == 0;
}

/* ---- which kernels ---- */

static bool has_limit(const Strips *s, const TileValue *mask) {
  if (!mask) return false;
  const TileOp *op = mask->def;
  if (strip_limit(s, mask) == s->limit) return true;
  return op && op->code == TILE_AND && (has_limit(s, op->args[0]) || has_limit(s, op->args[1]));
}

/* Does the op take columns in another way than for addresses and masks? */
static bool counts_columns(const Strips *s, const TileOp *op) {
  if (op->code == TILE_LT && strip_limit(s, op->results[0]) == s->limit) return false;
  for (uint32_t i = 0; i < op->nargs; i++) {
    if (!op->args[i] || !op->args[i]->def || op->args[i]->def->code != TILE_ARANGE) continue;
    const TileOp *base = op->args[0]->def;
    bool address = op->code == TILE_PTR_ADD && i == 1 && base && base->code == TILE_SPLAT;
    if (!address || !strip_is_columns(s, op->args[i])) return true;
  }
  return false;
}

/* The mask of an access to rows, whose place among the operands that is. */
static bool is_masked(const Strips *s, const TileOp *op) {
  if (op->code == TILE_LOAD) return has_limit(s, op->args[1]);
  return op->code != TILE_STORE || (op->nargs > 2 && has_limit(s, op->args[2]));
}

static bool touches_rows(const Strips *s, const TileOp *op) {
  for (uint32_t i = 0; i < op->nargs; i++)
    if (strip_is_row(s, op->args[i])) return true;
  return op->nresults && strip_is_row(s, op->results[0]);
}

TileValue *strip_find_shift(const Strips *s) {
  const AxisInfo *axis = axis_analyze(s->f, s->scratch);
  TileValue *offset = NULL;
  for (const TileOp *op = s->body->first; op; op = op->next) {
    RowPointer p;
    if (!touches_rows(s, op)) continue;
    if (counts_columns(s, op) || !is_masked(s, op)) return NULL;
    bool reads = op->code == TILE_LOAD && is_row_pointer(s, op->args[0], &p);
    bool found = reads && dtype_bytes((DType)op->results[0]->type.dtype) == 2 && !offset;
    if (found && has_words(axis, &p) && p.offset->def->parent == s->body) offset = p.offset;
  }
  return offset;
}

/* ---- what is made ---- */

void strip_build_shift(Strips *s) {
  const int64_t two = 2;
  TileOp *at = s->shift->def;
  Type t = s->shift->type;
  TileBuilder b = {s->f, s->body, at->next, at->span};
  TileValue *one = tile_const_int(&b, t, 1);
  s->odd = tile_build1(&b, TILE_AND, t, s->shift, one, NULL);
  TileValue *even = tile_build1(&b, TILE_SUB, t, s->shift, s->odd, NULL);
  s->even = tile_build1(&b, TILE_HINT, t, even, NULL, NULL);
  tile_set_ints(s->f, s->even->def, TA_div, &two, 1);
}

TileValue *strip_even_pointer(const Strips *s, TileBuilder *b, const TileValue *pointer) {
  RowPointer p;
  ValueComparison same = {-1, -1, STEPS_MOST};
  if (!s->shift || !is_row_pointer(s, pointer, &p) || !has_words(s->axis, &p)) return NULL;
  if (!values_alike(p.offset, s->shift, &same)) return NULL;
  return tile_build1(b, TILE_PTR_ADD, type_like(pointer->type, p.param->type), p.param, s->even,
                     NULL);
}
