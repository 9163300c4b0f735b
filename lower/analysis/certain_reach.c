/* Certain reach: bytes that a launch accesses through a parameter whatever the data are, as an
 * expression over its arguments and the grid.  Where they are more than an array has, the launch is
 * wrong; where they are not, nothing is said (lower/analysis/pointer_bounds.h bounds from above).
 *
 * It knows the accesses that most kernels have: outside of branches and loops, at the elements
 * pid * B + arange(0, B), or arange(0, B), of a parameter, with no mask or with the mask that these
 * numbers are less than a scalar argument or a constant. */
#include "lower/analysis/pointer_bounds.h"

#include "lower/analysis/values.h"

typedef struct {
  const TileFunc *f;
  const char *const *names;
  Arena *arena;
  const char **out;
} Reach;

/* Numbers from 0 on without a gap. */
typedef struct {
  int64_t each; /* of a program; 0: none are known */
  int axis;     /* of the grid, for programs one after the other; -1: all programs have the same */
} Numbers;

static const TileOp *op_of(const TileValue *v, TileCode code) {
  const TileOp *op = tile_root_value(v)->def;
  return op && op->code == code ? op : NULL;
}

static int64_t arange_end(const TileValue *v) {
  const TileOp *op = op_of(v, TILE_ARANGE);
  return op && tile_int(op, TA_start, 0) == 0 ? tile_int(op, TA_end, 0) : 0;
}

/* pid * B, where B is `each`. */
static int axis_of_product(const TileValue *v, int64_t each) {
  const TileOp *mul = op_of(v, TILE_MUL);
  for (int i = 0; mul && i < 2; i++) {
    const TileOp *pid = op_of(mul->args[i], TILE_PROGRAM_ID);
    int64_t by;
    if (pid && tile_const_value(tile_root_value(mul->args[!i]), &by) && by == each)
      return (int)tile_int(pid, TA_axis, 0);
  }
  return -1;
}

static Numbers numbers_of(const TileValue *v) {
  int64_t alone = arange_end(v);
  if (alone) return (Numbers){alone, -1};
  const TileOp *add = op_of(v, TILE_ADD);
  for (int i = 0; add && i < 2; i++) {
    int64_t each = arange_end(add->args[i]);
    int axis = each ? axis_of_product(add->args[!i], each) : -1;
    if (axis >= 0) return (Numbers){each, axis};
  }
  return (Numbers){0, -1};
}

static const char *scalar_text(const Reach *r, const TileValue *v) {
  int64_t c;
  v = tile_root_value(v);
  if (tile_const_value(v, &c)) return arena_printf(r->arena, "%lld", (long long)(c > 0 ? c : 0));
  for (uint32_t i = 0; i < r->f->nparams; i++)
    if (r->f->params[i].value == v && dtype_is_int((DType)v->type.dtype)) return r->names[i];
  return NULL;
}

/* The scalar that the numbers are less than where the mask holds, and nowhere else. */
static const char *limit_text(const Reach *r, const TileValue *mask, const TileValue *numbers) {
  const TileOp *op = tile_root_value(mask)->def;
  if (!op || (op->code != TILE_LT && op->code != TILE_GT)) return NULL;
  int less = op->code == TILE_GT;
  if (tile_root_value(op->args[less]) != tile_root_value(numbers)) return NULL;
  return scalar_text(r, op->args[!less]);
}

static const TileValue *mask_of(const TileOp *op, bool *known) {
  *known = op->code == TILE_LOAD || op->code == TILE_STORE;
  return op->code == TILE_LOAD ? op->args[1] : op->code == TILE_STORE ? op->args[2] : NULL;
}

static void note_access(TileOp *op, void *context) {
  Reach *r = context;
  bool known;
  const TileValue *mask = mask_of(op, &known);
  const TileOp *at = known && !op->parent->owner ? op_of(op->args[0], TILE_PTR_ADD) : NULL;
  if (!at) return;
  Numbers numbers = numbers_of(at->args[1]);
  const TileValue *base = tile_root_value(at->args[0]);
  const char *limit = mask && numbers.each ? limit_text(r, mask, at->args[1]) : NULL;
  if (!numbers.each || (mask && !limit)) return;
  const char *n = arena_printf(r->arena, "%lld", (long long)numbers.each);
  if (numbers.axis >= 0)
    n = arena_printf(r->arena, "grid_%c * %s", "xyz"[numbers.axis % 3], n);
  if (limit) n = arena_printf(r->arena, "min(%s, %s)", limit, n);
  n = arena_printf(r->arena, "%u * %s", dtype_bytes((DType)op->args[0]->type.elem), n);
  for (uint32_t i = 0; i < r->f->nparams; i++) {
    if (r->f->params[i].value != base) continue;
    const char *before = r->out[i];
    r->out[i] = before ? arena_printf(r->arena, "max(%s, %s)", before, n) : n;
  }
}

void certain_reach(const char **out, const TileFunc *f, const char *const *names, Arena *a) {
  Reach r = {f, names, a, out};
  for (uint32_t i = 0; i < f->nparams; i++) out[i] = NULL;
  tile_walk(f->body, note_access, &r);
}
