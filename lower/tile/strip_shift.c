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
  return strip_has_limit(s, s->limit, mask);
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

static bool is_before(const TileOp *op, const TileOp *other) {
  while (op && op != other) op = op->next;
  return op;
}

/* Do the block's ops take columns for addresses and masks alone, and is each access masked? */
static bool hides_columns(const Strips *s, const TileBlock *block) {
  for (const TileOp *op = block->first; op; op = op->next)
    if (strip_touches_rows(s, op) && (counts_columns(s, op) || !is_masked(s, op))) return false;
  return true;
}

/* The pointer of a load of rows whose words are aligned where their offset is even. */
static bool loads_words(const AxisInfo *axis, const Strips *s, const TileOp *op, RowPointer *p) {
  if (op->code != TILE_LOAD || dtype_bytes((DType)op->results[0]->type.dtype) != 2) return false;
  return is_row_pointer(s, op->args[0], p) && has_words(axis, p);
}

/* The offset of a row that the body loads. */
static TileValue *find_offset(const Strips *s, const AxisInfo *axis) {
  const TileOp *first = NULL; /* that accesses rows or reduces them: loops begin there */
  for (const TileOp *op = s->body->first; op; op = op->next) {
    RowPointer p;
    if (!strip_touches_rows(s, op)) continue;
    if (!first && (op->code == TILE_LOAD || op->code == TILE_STORE || op->code == TILE_REDUCE))
      first = op;
    if (loads_words(axis, s, op, &p) && p.offset->def->parent == s->body &&
        is_before(p.offset->def, first))
      return p.offset;
  }
  return NULL;
}

/* ---- rows of a loop ---- */

/* A constant, or what the launch gives. */
static bool is_given(const TileValue *v) {
  int64_t n;
  return (v->block && !v->block->owner) || tile_const_value(v, &n);
}

/* The number by which the iteration's number is multiplied; NULL: the offset is no such product. */
static TileValue *stride_of(const Strips *s, const TileValue *offset) {
  const TileOp *times = op_of(offset, TILE_MUL);
  for (int i = 0; times && i < 2; i++)
    if (times->args[i] == s->loop->regions[0]->params[0] && is_given(times->args[1 - i]))
      return times->args[1 - i];
  return NULL;
}

bool strip_stores_apart(const Strips *s, const TileOp *store) {
  RowPointer p;
  int64_t columns, n;
  if (store->parent == s->body) return true;
  TileValue *stride = is_row_pointer(s, store->args[0], &p) ? stride_of(s, p.offset) : NULL;
  TileValue *limit = store->nargs > 2 && store->args[2] ? strip_limit(s, store->args[2]) : NULL;
  if (!stride || !limit) return false;
  if (!tile_const_value(limit, &columns)) return limit == stride;
  return tile_const_value(stride, &n) && columns <= n;
}

static bool same_number(const TileValue *a, const TileValue *b) {
  int64_t m, n;
  return a == b || (tile_const_value(a, &m) && tile_const_value(b, &n) && m == n);
}

static TileOp *first_of_rows(const Strips *s) {
  TileOp *op = s->body->first;
  while (op && !strip_touches_rows(s, op)) op = op->next;
  return op;
}

/* All rows of a program begin at odd elements, or all at even ones, where the loop's step is even.
 * Then columns of all of them, and of what they share, are shifted alike. */
static TileValue *find_loop_stride(const Strips *s, const AxisInfo *axis) {
  int64_t step;
  const TileValue *lo = s->loop->args[0];
  const TileBlock *inner = s->loop->regions[0];
  if (!tile_const_value(s->loop->args[2], &step) || step % 2 || lo->type.dtype != DT_I32)
    return NULL;
  bool early = is_given(lo) ||
               (lo->def && lo->def->parent == s->body && is_before(lo->def, first_of_rows(s)));
  if (!early || !hides_columns(s, inner)) return NULL;
  for (const TileOp *op = inner->first; op; op = op->next) {
    RowPointer p;
    if (!loads_words(axis, s, op, &p) || p.offset->type.rank) continue;
    TileValue *stride = stride_of(s, p.offset);
    if (stride) return stride;
  }
  return NULL;
}

bool strip_find_shift(Strips *s) {
  const AxisInfo *axis = axis_analyze(s->f, s->scratch);
  if (!hides_columns(s, s->body)) return false;
  if (s->loop) s->stride = find_loop_stride(s, axis);
  s->shift = !s->loop ? find_offset(s, axis) : s->stride ? s->loop->args[0] : NULL;
  return s->shift;
}

/* ---- what is made ---- */

/* The rest of an offset without its remainder. */
static TileValue *even_offset(const Strips *s, TileBuilder *b, TileValue *offset) {
  const int64_t two[2] = {2, 2};
  Type t = offset->type;
  TileValue *even = tile_build1(b, TILE_SUB, t, offset, s->odd, NULL);
  even = tile_build1(b, TILE_HINT, t, even, NULL, NULL);
  tile_set_ints(s->f, even->def, TA_div, two, t.rank ? 2 : 1);
  return even;
}

/* The offset of the loop's first row, before all ops on rows. */
static TileValue *first_offset(const Strips *s, TileBuilder *b) {
  Type t = type_scalar(DT_I32);
  TileValue *factors[] = {s->loop->args[0], s->stride};
  for (int i = 0; i < 2; i++) {
    int64_t n;
    if (tile_const_value(factors[i], &n)) factors[i] = tile_const_int(b, t, n);
  }
  return tile_build1(b, TILE_MUL, t, factors[0], factors[1], NULL);
}

void strip_build_shift(Strips *s) {
  TileOp *place = s->loop ? first_of_rows(s) : s->shift->def->next;
  TileBuilder b = {s->f, s->body, place, s->f->span};
  if (s->loop) s->shift = first_offset(s, &b);
  Type t = s->shift->type, line = type_scalar(DT_I32);
  s->odd = tile_build1(&b, TILE_AND, t, s->shift, tile_const_int(&b, t, 1), NULL);
  if (!s->loop) s->even = even_offset(s, &b, s->shift);
  s->before = tile_build1(&b, TILE_SUB, t, tile_const_int(&b, t, 0), s->odd, NULL);
  if (!t.rank) return;
  line.rank = line.shape[0] = 1;
  s->odd = tile_build1(&b, TILE_RESHAPE, line, s->odd, NULL, NULL);
}

/* The address of the even element where a row begins; NULL: it is no such pointer. */
static TileValue *even_start(const Strips *s, TileBuilder *b, const TileValue *pointer, Type row) {
  RowPointer p;
  ValueComparison same = {-1, -1, STEPS_MOST};
  if (!is_row_pointer(s, pointer, &p) || !has_words(s->axis, &p)) return NULL;
  TileValue *stride = s->loop ? stride_of(s, p.offset) : NULL;
  if (s->loop ? !stride || !same_number(stride, s->stride)
              : !values_alike(p.offset, s->shift, &same))
    return NULL;
  TileValue *param = p.param, *even = s->loop ? even_offset(s, b, p.offset) : s->even;
  if (row.rank) param = tile_build1(b, TILE_SPLAT, row, param, NULL, NULL);
  return tile_build1(b, TILE_PTR_ADD, row, param, even, NULL);
}

/* The address of the element before the first column's, where columns begin early.  Columns are
 * added to it as they are to a row's, so that addresses of strips differ by constants. */
static TileValue *early_start(const Strips *s, TileBuilder *b, const TileValue *pointer, Type row) {
  const TileOp *all = op_of(pointer->def->args[0], TILE_SPLAT);
  if (!all || (row.rank && row.rank != pointer->type.rank)) return NULL;
  TileValue *first = all->args[0];
  if (row.rank) first = tile_build1(b, TILE_SPLAT, row, first, NULL, NULL);
  return tile_build1(b, TILE_PTR_ADD, row, first, s->before, NULL);
}

TileValue *strip_row_start(const Strips *s, TileBuilder *b, const TileValue *pointer, Type t,
                           const TileOp **columns) {
  const TileOp *op = s->shift ? op_of(pointer, TILE_PTR_ADD) : NULL;
  if (!op || !strip_is_row(s, pointer)) return NULL;
  Type row = type_like(t, s->before->type);
  TileValue *first = even_start(s, b, pointer, row);
  if (first && t.rank > 1) op = op->args[0]->def; /* the offset is added last */
  *columns = op->args[1]->def;
  const TileOp *range = *columns;
  if (range && range->code == TILE_EXPAND_DIMS) range = range->args[0]->def;
  if (!range || range->code != TILE_ARANGE) return NULL;
  if (!first) first = early_start(s, b, pointer, row);
  if (!first) return NULL;
  return tile_build1(b, row.rank ? TILE_BROADCAST : TILE_SPLAT, t, first, NULL, NULL);
}
