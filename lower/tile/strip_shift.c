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

/* A pointer of a row: a parameter, an offset that all columns share, and the columns.  The offset
 * is a number, added first, or a tile of one element, which is added last. */
typedef struct {
  TileValue *param, *offset;
} RowPointer;

static const TileOp *op_of(const TileValue *v, TileCode code) {
  return v->def && v->def->code == code ? v->def : NULL;
}

/* splat(param + offset) + columns */
static bool adds_columns_last(const TileOp *op, RowPointer *out) {
  const TileOp *all = op_of(op->args[0], TILE_SPLAT);
  const TileOp *row = all ? op_of(all->args[0], TILE_PTR_ADD) : NULL;
  if (!row || !op_of(op->args[1], TILE_ARANGE)) return false;
  *out = (RowPointer){row->args[0], row->args[1]};
  return true;
}

/* splat(param) + columns + broadcast(offset), of the shape [1, columns] */
static bool adds_offset_last(const TileOp *op, RowPointer *out) {
  const TileOp *before = op_of(op->args[0], TILE_PTR_ADD);
  const TileOp *offset = op_of(op->args[1], TILE_BROADCAST);
  const TileOp *all = before ? op_of(before->args[0], TILE_SPLAT) : NULL;
  const TileOp *columns = before ? op_of(before->args[1], TILE_EXPAND_DIMS) : NULL;
  if (!offset || !all || !columns || !op_of(columns->args[0], TILE_ARANGE)) return false;
  const Type *t = &op->results[0]->type, *one = &offset->args[0]->type;
  *out = (RowPointer){all->args[0], offset->args[0]};
  return t->rank == 2 && t->shape[0] == 1 && one->rank == 2 && type_numel(*one) == 1;
}

static bool is_row_pointer(const Strips *s, const TileValue *v, RowPointer *out) {
  const TileOp *op = op_of(v, TILE_PTR_ADD);
  if (!op || !strip_is_row(s, v)) return false;
  if (!adds_columns_last(op, out) && !adds_offset_last(op, out)) return false;
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
    TileValue *x = op->args[i];
    bool range = x && x->def && x->def->code == TILE_ARANGE && strip_is_row(s, x);
    bool columns = x && x->def && strip_is_row(s, x) && strip_is_columns(s, x);
    if (range && !columns) return true;
    bool address = op->code == TILE_PTR_ADD && i == 1 && op_of(op->args[0], TILE_SPLAT);
    if (columns && !address && !strip_is_columns(s, op->results[0])) return true;
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

static bool is_before(const TileOp *op, const TileOp *other) {
  while (op && op != other) op = op->next;
  return op;
}

TileValue *strip_find_shift(const Strips *s) {
  const AxisInfo *axis = axis_analyze(s->f, s->scratch);
  TileValue *offset = NULL;
  const TileOp *first = NULL; /* that accesses rows or reduces them: loops begin there */
  for (const TileOp *op = s->body->first; op; op = op->next) {
    RowPointer p;
    if (!touches_rows(s, op)) continue;
    if (counts_columns(s, op) || !is_masked(s, op)) return NULL;
    bool load = op->code == TILE_LOAD;
    if (!first && (load || op->code == TILE_STORE || op->code == TILE_REDUCE)) first = op;
    if (offset || !load || dtype_bytes((DType)op->results[0]->type.dtype) != 2) continue;
    bool found = is_row_pointer(s, op->args[0], &p) && has_words(axis, &p);
    if (found && p.offset->def->parent == s->body && is_before(p.offset->def, first))
      offset = p.offset;
  }
  return offset;
}

/* ---- what is made ---- */

void strip_build_shift(Strips *s) {
  const int64_t two[2] = {2, 2};
  TileOp *at = s->shift->def;
  Type t = s->shift->type, line = type_scalar(DT_I32);
  TileBuilder b = {s->f, s->body, at->next, at->span};
  s->odd = tile_build1(&b, TILE_AND, t, s->shift, tile_const_int(&b, t, 1), NULL);
  TileValue *even = tile_build1(&b, TILE_SUB, t, s->shift, s->odd, NULL);
  s->even = tile_build1(&b, TILE_HINT, t, even, NULL, NULL);
  tile_set_ints(s->f, s->even->def, TA_div, two, t.rank ? 2 : 1);
  if (!t.rank) return;
  line.rank = line.shape[0] = 1;
  s->odd = tile_build1(&b, TILE_RESHAPE, line, s->odd, NULL, NULL);
}

TileValue *strip_even_row(const Strips *s, TileBuilder *b, const TileValue *pointer, Type t) {
  RowPointer p;
  ValueComparison same = {-1, -1, STEPS_MOST};
  if (!s->shift || !is_row_pointer(s, pointer, &p) || !has_words(s->axis, &p)) return NULL;
  if (!values_alike(p.offset, s->shift, &same)) return NULL;
  Type row = type_like(t, s->even->type);
  TileValue *param = p.param;
  if (row.rank) param = tile_build1(b, TILE_SPLAT, row, param, NULL, NULL);
  TileValue *first = tile_build1(b, TILE_PTR_ADD, row, param, s->even, NULL);
  return tile_build1(b, row.rank ? TILE_BROADCAST : TILE_SPLAT, t, first, NULL, NULL);
}
