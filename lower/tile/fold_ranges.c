/* Pass fold_ranges: comparisons of integers that ranges decide become true, and masks of nothing
 * else go: a row that a tile has whole, or that blocks of a loop divide, is read without a mask.
 *
 * A range is that of all elements of a value.  A sum or a product that might wrap has none. */
#include "lower/passes.h"

typedef struct {
  int64_t lo, hi;
  bool known;
} Range;

typedef struct {
  TileFunc *f;
  Range *of;       /* by value id */
  TileValue **map; /* by value id: what takes its place */
  bool any;
} Folder;

static Range range(int64_t lo, int64_t hi) { return (Range){lo, hi, true}; }

static Range of_value(const Folder *s, const TileValue *v) { return v ? s->of[v->id] : (Range){0}; }

static bool fits_dtype(DType t, Range r) {
  unsigned bits = dtype_bits(t);
  if (!r.known || bits > 64 || !dtype_is_int(t)) return false;
  if (t == DT_I1) return r.lo >= 0 && r.hi <= 1;
  if (!dtype_is_signed(t)) return r.lo >= 0 && (bits >= 63 || r.hi >> bits == 0);
  return bits == 64 || (r.lo >= -(INT64_C(1) << (bits - 1)) && r.hi < INT64_C(1) << (bits - 1));
}

/* ---- ranges of results ---- */

static Range sum_of(Range a, Range b) {
  Range r = {.known = a.known && b.known};
  r.known = r.known && !__builtin_add_overflow(a.lo, b.lo, &r.lo) &&
            !__builtin_add_overflow(a.hi, b.hi, &r.hi);
  return r;
}

static Range difference_of(Range a, Range b) {
  Range r = {.known = a.known && b.known};
  r.known = r.known && !__builtin_sub_overflow(a.lo, b.hi, &r.lo) &&
            !__builtin_sub_overflow(a.hi, b.lo, &r.hi);
  return r;
}

static Range product_of(Range a, Range b) {
  int64_t p[4];
  if (!a.known || !b.known || __builtin_mul_overflow(a.lo, b.lo, &p[0]) ||
      __builtin_mul_overflow(a.lo, b.hi, &p[1]) || __builtin_mul_overflow(a.hi, b.lo, &p[2]) ||
      __builtin_mul_overflow(a.hi, b.hi, &p[3]))
    return (Range){0};
  Range r = range(p[0], p[0]);
  for (int i = 1; i < 4; i++) {
    if (p[i] < r.lo) r.lo = p[i];
    if (p[i] > r.hi) r.hi = p[i];
  }
  return r;
}

/* The quotient of a number that is not negative by one that is positive. */
static Range quotient_of(Range a, Range b) {
  if (!a.known || !b.known || a.lo < 0 || b.lo <= 0) return (Range){0};
  return range(a.lo / b.hi, a.hi / b.lo);
}

static Range remainder_of(Range a, Range b) {
  if (!a.known || !b.known || a.lo < 0 || b.lo <= 0) return (Range){0};
  if (a.hi < b.lo) return a;
  return range(0, a.hi < b.hi ? a.hi : b.hi - 1);
}

/* a < b, or a <= b, in all elements, or in none. */
static Range less(Range a, Range b, bool equal) {
  if (!a.known || !b.known) return (Range){0};
  if (equal ? a.hi <= b.lo : a.hi < b.lo) return range(1, 1);
  return (equal ? a.lo > b.hi : a.lo >= b.hi) ? range(0, 0) : (Range){0};
}

static Range both(Range a, Range b) {
  bool none = (a.known && a.hi == 0) || (b.known && b.hi == 0);
  if (none) return range(0, 0);
  return a.known && b.known && a.lo == 1 && b.lo == 1 ? range(1, 1) : (Range){0};
}

static bool is_i1(const TileOp *op) { return op->results[0]->type.dtype == DT_I1; }

static bool compares_integers(const TileOp *op) {
  return op->nargs == 2 && dtype_is_int((DType)op->args[0]->type.dtype);
}

static Range of_comparison(const Folder *s, const TileOp *op) {
  Range a = of_value(s, op->args[0]), b = of_value(s, op->args[1]);
  if (!compares_integers(op)) return (Range){0};
  switch (op->code) {
    case TILE_LT: return less(a, b, false);
    case TILE_LE: return less(a, b, true);
    case TILE_GT: return less(b, a, false);
    default: return less(b, a, true);
  }
}

static Range of_source(const Folder *s, const TileOp *op) {
  int64_t value;
  if (tile_const_value(op->results[0], &value)) return range(value, value);
  switch (op->code) {
    case TILE_ARANGE: return range(tile_int(op, TA_start, 0), tile_int(op, TA_end, 0) - 1);
    case TILE_PROGRAM_ID: return range(0, INT32_MAX);
    case TILE_CLUSTER_RANK: return range(0, s->f->cluster - 1);
    default: return (Range){0};
  }
}

static Range of_result(const Folder *s, const TileOp *op) {
  Range a = of_value(s, op->nargs ? op->args[0] : NULL);
  Range b = of_value(s, op->nargs > 1 ? op->args[1] : NULL);
  switch (op->code) {
    case TILE_SPLAT:
    case TILE_EXPAND_DIMS:
    case TILE_BROADCAST:
    case TILE_RESHAPE:
    case TILE_TRANS:
    case TILE_CAST: return a;
    case TILE_ADD: return sum_of(a, b);
    case TILE_SUB: return difference_of(a, b);
    case TILE_MUL: return product_of(a, b);
    case TILE_DIV: return quotient_of(a, b);
    case TILE_REM: return remainder_of(a, b);
    case TILE_AND: return is_i1(op) ? both(a, b) : (Range){0};
    case TILE_LT:
    case TILE_LE:
    case TILE_GT:
    case TILE_GE: return of_comparison(s, op);
    default: return of_source(s, op);
  }
}

/* The values of a loop's index; a loop that never runs has none. */
static void note_loop(Folder *s, const TileOp *op) {
  Range lo = of_value(s, op->args[0]), hi = of_value(s, op->args[1]);
  Range step = of_value(s, op->args[2]);
  if (!lo.known || !hi.known || !step.known || step.lo <= 0 || hi.hi <= lo.lo) return;
  int64_t last = hi.hi - 1;
  if (lo.lo == lo.hi && step.lo == step.hi) last = lo.lo + (last - lo.lo) / step.lo * step.lo;
  s->of[op->regions[0]->params[0]->id] = range(lo.lo, last);
}

/* An assume bounds an integer for the ops after it.  Within a branch or a loop it holds only for
 * the programs that enter it, so it is ignored there.  A promise that can't hold says nothing. */
static void note_assume(Folder *s, const TileOp *op) {
  const TileOp *compare = op->args[0]->def;
  if (op->parent->owner || !compare || !compares_integers(compare)) return;
  Range *a = &s->of[compare->args[0]->id], by = of_value(s, compare->args[1]), most = by;
  if (!a->known || !by.known) return;
  switch (compare->code) {
    case TILE_LT: most = difference_of(by, range(1, 1)); break;
    case TILE_LE: break;
    default: return;
  }
  if (most.known && a->lo <= most.hi && most.hi < a->hi) a->hi = most.hi;
}

/* ---- what a true mask leaves ---- */

static bool is_true(const Folder *s, const TileValue *v) {
  Range r = of_value(s, v);
  return v && v->type.dtype == DT_I1 && r.known && r.lo == 1;
}

static void replace(Folder *s, const TileOp *op, TileValue *by) {
  if (!type_eq(op->results[0]->type, by->type)) return;
  s->map[op->results[0]->id] = by;
  s->any = true;
}

static void simplify_op(Folder *s, TileOp *op) {
  if (op->code == TILE_LOAD && is_true(s, op->args[1])) op->args[1] = op->args[2] = NULL;
  if (op->code == TILE_STORE && is_true(s, op->args[2])) op->args[2] = NULL;
  if (op->code == TILE_SELECT && is_true(s, op->args[0])) replace(s, op, op->args[1]);
  if (op->code != TILE_AND || !is_i1(op)) return;
  if (is_true(s, op->args[0])) replace(s, op, op->args[1]);
  else if (is_true(s, op->args[1])) replace(s, op, op->args[0]);
}

static void visit(TileOp *op, void *ctx) {
  Folder *s = ctx;
  if (op->code == TILE_FOR) note_loop(s, op);
  if (op->code == TILE_ASSUME) note_assume(s, op);
  if (op->nresults == 1 && !op->nregions) {
    Range r = of_result(s, op);
    if (fits_dtype((DType)op->results[0]->type.dtype, r)) s->of[op->results[0]->id] = r;
  }
  simplify_op(s, op);
}

bool pass_fold_ranges(Unit *u) {
  Arena *scratch = arena_child(u->arena);
  Folder s = {.f = u->tile, .of = ARENA_ARRAY(scratch, Range, u->tile->nvalues)};
  s.map = ARENA_ARRAY(scratch, TileValue *, u->tile->nvalues);
  tile_walk(u->tile->body, visit, &s);
  if (s.any) tile_substitute(u->tile, s.map);
  arena_free(scratch);
  return true;
}
