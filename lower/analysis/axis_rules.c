/* What the axis analysis knows of an op's result, by what it knows of the operands. */
#include "lower/analysis/axis_rules.h"

/* ---- elementwise ops ---- */

/* Contiguity of a sum: one side counts up, the other stays constant over the same groups. */
static int64_t sum_contig(const AxisInfo *a, const AxisInfo *b, unsigned i, bool sub) {
  int64_t left = axis_gcd(a->contig[i], b->constancy[i]);
  int64_t right = sub ? 1 : axis_gcd(b->contig[i], a->constancy[i]);
  return max64(left, right);
}

static void add_interval(AxisInfo *x, const AxisInfo *a, const AxisInfo *b, bool sub) {
  int64_t blo = b->lo, bhi = b->hi;
  bool over =
      sub ? __builtin_sub_overflow(a->lo, bhi, &x->lo) | __builtin_sub_overflow(a->hi, blo, &x->hi)
          : __builtin_add_overflow(a->lo, blo, &x->lo) | __builtin_add_overflow(a->hi, bhi, &x->hi);
  if (over) x->lo = INT64_MIN, x->hi = INT64_MAX;
  x->known = !over && a->known && b->known;
}

static AxisInfo add_rule(const TileValue *v, const AxisInfo *a, const AxisInfo *b, bool sub,
                         int64_t scale) {
  AxisInfo x = axis_unknown(v);
  for (unsigned i = 0; i < axes_of(v); i++) {
    x.contig[i] = sum_contig(a, b, i, sub);
    x.constancy[i] = axis_gcd(a->constancy[i], b->constancy[i]);
    int64_t bdiv = b->div[i] > AXIS_DIV_MAX / scale ? AXIS_DIV_MAX : b->div[i] * scale;
    x.div[i] = axis_gcd(a->div[i], bdiv);
  }
  if (scale == 1) add_interval(&x, a, b, sub);
  return x;
}

static int64_t product_div(int64_t a, int64_t b) {
  return a > AXIS_DIV_MAX / b ? AXIS_DIV_MAX : a * b;
}

/* Divisibility of every element, not only of each group's first. */
static int64_t div_each(const AxisInfo *x, unsigned i) { return x->contig[i] > 1 ? 1 : x->div[i]; }

static AxisInfo mul_rule(const TileValue *v, const AxisInfo *a, const AxisInfo *b) {
  AxisInfo x = axis_unknown(v);
  for (unsigned i = 0; i < axes_of(v); i++) {
    bool one_a = a->known && a->lo == 1, one_b = b->known && b->lo == 1;
    x.contig[i] = one_a ? b->contig[i] : one_b ? a->contig[i] : 1;
    x.constancy[i] = axis_gcd(a->constancy[i], b->constancy[i]);
    x.div[i] = one_a ? b->div[i] : one_b ? a->div[i] : product_div(div_each(a, i), div_each(b, i));
  }
  int64_t c[4];
  bool over =
      __builtin_mul_overflow(a->lo, b->lo, &c[0]) | __builtin_mul_overflow(a->lo, b->hi, &c[1]) |
      __builtin_mul_overflow(a->hi, b->lo, &c[2]) | __builtin_mul_overflow(a->hi, b->hi, &c[3]);
  if (over) return x;
  x.lo = min64(min64(c[0], c[1]), min64(c[2], c[3]));
  x.hi = max64(max64(c[0], c[1]), max64(c[2], c[3]));
  x.known = a->known && b->known;
  return x;
}

/* a % b, of which a may be negative: groups that divide b survive unless they hold a negative
 * multiple of it.  A run-time b wraps at multiples of what divides it. */
static void rem_groups(AxisInfo *x, const TileValue *v, const AxisInfo *a, const AxisInfo *b) {
  for (unsigned i = 0; i < axes_of(v); i++) {
    x->contig[i] = axis_gcd(axis_gcd(a->contig[i], b->div[i]), a->contig[i] > 1 ? a->div[i] : 1);
    x->div[i] = axis_gcd(a->div[i], b->div[i]);
  }
  x->assumed = a->lo < 0;
}

/* a / c and a % c for a known c > 0 and a >= 0: groups survive where they divide c. */
static AxisInfo div_rule(const TileValue *v, const AxisInfo *a, const AxisInfo *b, bool rem) {
  AxisInfo x = axis_unknown(v);
  if (!b->known || b->lo <= 0 || a->lo < 0) {
    for (unsigned i = 0; i < axes_of(v); i++)
      x.constancy[i] = axis_gcd(a->constancy[i], b->constancy[i]);
    if (rem && a->lo >= 0 && b->lo > 0) x.lo = 0, x.hi = min64(a->hi, b->hi - 1);
    else if (!rem && a->lo >= 0 && b->lo > 0) x.lo = 0, x.hi = a->hi / b->lo;
    if (rem) rem_groups(&x, v, a, b);
    return x;
  }
  int64_t c = b->lo;
  for (unsigned i = 0; i < axes_of(v); i++) {
    if (rem) {
      x.contig[i] = axis_gcd(axis_gcd(a->contig[i], c), a->contig[i] > 1 ? a->div[i] : 1);
      x.constancy[i] = a->constancy[i];
      x.div[i] = axis_gcd(a->div[i], axis_low_bit(c));
    } else {
      int64_t groups = a->contig[i] > 1 ? axis_gcd(axis_gcd(a->contig[i], c), a->div[i]) : 1;
      x.constancy[i] = max64(a->constancy[i], groups);
      x.div[i] = a->contig[i] == 1 && a->div[i] % c == 0 ? a->div[i] / c : 1;
    }
  }
  x.lo = rem ? (a->hi < c ? a->lo : 0) : a->lo / c;
  x.hi = rem ? min64(a->hi, c - 1) : a->hi / c;
  x.known = a->known;
  if (x.known) x.lo = x.hi = rem ? a->lo % c : a->lo / c;
  return x;
}

static AxisInfo shift_rule(const TileValue *v, const AxisInfo *a, const AxisInfo *b, bool left) {
  if (!b->known || b->lo < 0 || b->lo > 62) return axis_unknown(v);
  AxisInfo c = *b;
  c.lo = c.hi = INT64_C(1) << b->lo;
  for (unsigned i = 0; i < MAX_RANK; i++) c.div[i] = axis_low_bit(c.lo);
  return left ? mul_rule(v, a, &c) : div_rule(v, a, &c, false);
}

static AxisInfo and_rule(const TileValue *v, const AxisInfo *a, const AxisInfo *b) {
  AxisInfo x = axis_unknown(v);
  for (unsigned i = 0; i < axes_of(v); i++) {
    x.constancy[i] = axis_gcd(a->constancy[i], b->constancy[i]);
    if (b->known && b->lo >= 0) x.div[i] = axis_low_bit(b->lo);
  }
  if (b->known && b->lo >= 0) x.lo = 0, x.hi = b->lo;
  return x;
}

/* A comparison of a contiguous group with a bound is constant over parts that the bound's and the
 * group's divisibility cut. */
static AxisInfo compare_rule(const TileValue *v, TileCode code, const AxisInfo *a,
                             const AxisInfo *b) {
  AxisInfo x = axis_unknown(v);
  bool sure = !a->assumed && !b->assumed;
  bool ordered = sure && (code == TILE_LT || code == TILE_GE);
  bool swapped = sure && (code == TILE_GT || code == TILE_LE);
  for (unsigned i = 0; i < axes_of(v); i++) {
    int64_t both = axis_gcd(a->constancy[i], b->constancy[i]);
    int64_t up = ordered && b->constancy[i] > 1 ? axis_gcd(axis_gcd(a->contig[i], a->div[i]),
                                                           axis_gcd(b->div[i], b->constancy[i]))
                                                : 1;
    int64_t down = swapped && a->constancy[i] > 1 ? axis_gcd(axis_gcd(b->contig[i], b->div[i]),
                                                             axis_gcd(a->div[i], a->constancy[i]))
                                                  : 1;
    x.constancy[i] = max64(both, max64(up, down));
  }
  return x;
}

static AxisInfo minmax_rule(const TileValue *v, const AxisInfo *a, const AxisInfo *b, bool max) {
  AxisInfo x = axis_meet(a, b);
  for (unsigned i = 0; i < axes_of(v); i++) {
    x.contig[i] = 1;
    x.div[i] = axis_gcd(div_each(a, i), div_each(b, i));
  }
  x.lo = max ? max64(a->lo, b->lo) : min64(a->lo, b->lo);
  x.hi = max ? max64(a->hi, b->hi) : min64(a->hi, b->hi);
  x.known = x.lo == x.hi;
  axis_settle(&x, v);
  return x;
}

static AxisInfo cast_rule(const TileValue *v, const TileValue *from, const AxisInfo *a) {
  if (!dtype_is_int((DType)v->type.dtype) || !dtype_is_int((DType)from->type.dtype))
    return axis_unknown(v);
  AxisInfo x = *a;
  int64_t lo, hi;
  axis_type_bounds(v->type, &lo, &hi);
  if (a->lo < lo || a->hi > hi) { /* it may wrap; powers of two still divide it */
    x.lo = lo;
    x.hi = hi;
    x.known = false;
    if (dtype_bits((DType)v->type.dtype) < 32)
      for (unsigned i = 0; i < MAX_RANK; i++) x.contig[i] = x.div[i] = 1;
  }
  return x;
}

static AxisInfo hint_rule(const TileOp *op, const AxisInfo *a) {
  AxisInfo x = *a;
  const TileAttr *d = tile_attr(op, TA_div), *c = tile_attr(op, TA_contig),
                 *k = tile_attr(op, TA_constancy);
  for (unsigned i = 0; i < axes_of(op->results[0]); i++) {
    if (d && i < d->len) x.div[i] = max64(x.div[i], axis_low_bit(d->list[i]));
    if (c && i < c->len) x.contig[i] = max64(x.contig[i], c->list[i]);
    if (k && i < k->len) x.constancy[i] = max64(x.constancy[i], k->list[i]);
  }
  return x;
}

static int64_t pointee_bytes(const TileValue *v) {
  int64_t n = dtype_bytes((DType)v->type.elem);
  return n ? n : 1;
}

/* Of a value with a float among its operands only equal elements are known. */
static AxisInfo float_rule(const TileOp *op, const AxisInfo *info) {
  const TileValue *v = op->results[0];
  AxisInfo x = axis_unknown(v);
  for (unsigned i = 0; op->nargs && i < axes_of(v); i++) {
    x.constancy[i] = axis_extent(v, i);
    for (uint32_t k = 0; k < op->nargs; k++)
      x.constancy[i] = axis_gcd(x.constancy[i], info[op->args[k]->id].constancy[i]);
  }
  return x;
}

static AxisInfo select_rule(const TileValue *v, const AxisInfo *cond, const AxisInfo *a,
                            const AxisInfo *b) {
  AxisInfo x = axis_meet(a, b);
  for (unsigned i = 0; i < axes_of(v); i++) {
    x.constancy[i] = axis_gcd(x.constancy[i], cond->constancy[i]);
    x.contig[i] = axis_gcd(x.contig[i], cond->constancy[i]);
  }
  return x;
}

static AxisInfo bitcast_rule(const TileValue *v, const TileValue *from, const AxisInfo *a) {
  AxisInfo x = axis_unknown(v);
  bool pointers = v->type.dtype == DT_PTR || from->type.dtype == DT_PTR;
  for (unsigned i = 0; pointers && i < axes_of(v); i++) x.div[i] = div_each(a, i);
  return x;
}

/* Adds to what is known that equal operands (a, and b or NULL) give equal results. */
static AxisInfo with_constancy(AxisInfo x, const TileValue *v, const AxisInfo *a,
                               const AxisInfo *b) {
  for (unsigned i = 0; a && i < axes_of(v); i++)
    x.constancy[i] = b ? axis_gcd(a->constancy[i], b->constancy[i]) : a->constancy[i];
  return x;
}

AxisInfo axis_elementwise(const TileOp *op, const AxisInfo *info) {
  const TileValue *v = op->results[0];
  const AxisInfo *a = op->nargs > 0 ? &info[op->args[0]->id] : NULL;
  const AxisInfo *b = op->nargs > 1 ? &info[op->args[1]->id] : NULL;
  if (dtype_is_float((DType)v->type.dtype) || (a && dtype_is_float((DType)op->args[0]->type.dtype)))
    return float_rule(op, info);
  switch (op->code) {
    case TILE_ADD: return add_rule(v, a, b, false, 1);
    case TILE_SUB: return add_rule(v, a, b, true, 1);
    case TILE_PTR_ADD: return add_rule(v, a, b, false, pointee_bytes(v));
    case TILE_MUL: return mul_rule(v, a, b);
    case TILE_DIV: return div_rule(v, a, b, false);
    case TILE_REM: return div_rule(v, a, b, true);
    case TILE_SHL: return shift_rule(v, a, b, true);
    case TILE_SHR: return shift_rule(v, a, b, false);
    case TILE_AND: return with_constancy(and_rule(v, a, b), v, a, b);
    case TILE_LT:
    case TILE_LE:
    case TILE_GT:
    case TILE_GE:
    case TILE_EQ:
    case TILE_NE: return compare_rule(v, op->code, a, b);
    case TILE_MIN: return minmax_rule(v, a, b, false);
    case TILE_MAX: return minmax_rule(v, a, b, true);
    case TILE_CAST: return cast_rule(v, op->args[0], a);
    case TILE_HINT: return hint_rule(op, a);
    case TILE_SELECT: return select_rule(v, a, b, &info[op->args[2]->id]);
    case TILE_BITCAST: return bitcast_rule(v, op->args[0], a);
    default: return with_constancy(axis_unknown(v), v, a, b);
  }
}

/* ---- shape ops ---- */

AxisInfo axis_shape_rule(const TileOp *op, const AxisInfo *info) {
  const TileValue *v = op->results[0];
  const AxisInfo *a = op->nargs ? &info[op->args[0]->id] : NULL;
  AxisInfo x = axis_unknown(v);
  if (tile_is_same_scalar(op)) return *a;
  if (a && dtype_is_int((DType)v->type.dtype)) x.lo = a->lo, x.hi = a->hi, x.known = a->known;
  unsigned n = axes_of(v);
  switch (op->code) {
    case TILE_SPLAT:
      for (unsigned i = 0; i < n; i++) x.constancy[i] = axis_extent(v, i), x.div[i] = a->div[0];
      break;
    case TILE_EXPAND_DIMS: {
      unsigned axis = (unsigned)tile_int(op, TA_axis, 0);
      for (unsigned i = 0, k = 0; i < n; i++) {
        if (i == axis) {
          x.div[i] = a->contig[0] > 1 || op->args[0]->type.rank != 1 ? 1 : a->div[0];
          continue;
        }
        x.contig[i] = a->contig[k], x.div[i] = a->div[k], x.constancy[i] = a->constancy[k];
        k++;
      }
      break;
    }
    case TILE_BROADCAST:
      for (unsigned i = 0; i < n; i++) {
        bool grown = op->args[0]->type.shape[i] == 1 && v->type.shape[i] != 1;
        x.contig[i] = grown ? 1 : a->contig[i];
        x.div[i] = a->div[i];
        x.constancy[i] = grown ? v->type.shape[i] : a->constancy[i];
      }
      break;
    case TILE_TRANS: {
      const TileAttr *perm = tile_attr(op, TA_perm);
      for (unsigned i = 0; i < n; i++) {
        unsigned k = (unsigned)perm->list[i];
        x.contig[i] = a->contig[k], x.div[i] = a->div[k], x.constancy[i] = a->constancy[k];
      }
      break;
    }
    case TILE_RESHAPE:
      if (op->args[0]->type.rank == 1 && n && v->type.rank) {
        unsigned last = n - 1;
        x.contig[last] = axis_gcd(a->contig[0], v->type.shape[last]);
        x.constancy[last] = axis_gcd(a->constancy[0], v->type.shape[last]);
        x.div[last] = a->contig[0] == 1 ? a->div[0] : axis_gcd(a->div[0], x.contig[last]);
      }
      break;
    default: break;
  }
  return x;
}

AxisInfo axis_arange(const TileOp *op) {
  const TileValue *v = op->results[0];
  AxisInfo x = axis_unknown(v);
  int64_t lo = tile_int(op, TA_start, 0), hi = tile_int(op, TA_end, 1);
  x.contig[0] = hi - lo;
  x.div[0] = axis_low_bit(lo);
  x.lo = lo;
  x.hi = hi - 1;
  x.known = hi - lo == 1;
  return x;
}
