/* The axis analysis over control flow; axis.h defines its facts. */
#include "lower/analysis/axis.h"

#include <string.h>

#define AXIS_DIV_MAX (INT64_C(1) << 30)

static inline int64_t min64(int64_t a, int64_t b) { return a < b ? a : b; }
static inline int64_t max64(int64_t a, int64_t b) { return a > b ? a : b; }
static inline unsigned value_axes(const TileValue *v) { return v->type.rank ? v->type.rank : 1; }

/* ======== the lattice: facts on one value, and how two of them meet ======== */

static int64_t axis_gcd(int64_t a, int64_t b) {
  while (b) {
    int64_t t = a % b;
    a = b;
    b = t;
  }
  return a < 0 ? -a : a;
}

/* The largest power of two that divides v; AXIS_DIV_MAX for 0. */
static int64_t axis_low_bit(int64_t v) {
  if (!v) return AXIS_DIV_MAX;
  int64_t b = (int64_t)((uint64_t)v & -(uint64_t)v);
  return b > AXIS_DIV_MAX || b < 0 ? AXIS_DIV_MAX : b;
}

static int64_t axis_extent(const TileValue *v, unsigned axis) {
  return v->type.rank ? v->type.shape[axis] : 1;
}

static void axis_type_bounds(Type t, int64_t *lo, int64_t *hi) {
  unsigned bits = dtype_bits((DType)t.dtype);
  DKind k = dtype_kind((DType)t.dtype);
  *lo = INT64_MIN;
  *hi = INT64_MAX;
  if (k == DK_BOOL) *lo = 0, *hi = 1;
  else if (k == DK_UINT) *lo = 0, *hi = bits < 63 ? (INT64_C(1) << bits) - 1 : INT64_MAX;
  else if (k == DK_INT && bits < 64) *hi = (INT64_C(1) << (bits - 1)) - 1, *lo = -*hi - 1;
}

static AxisInfo axis_unknown(const TileValue *v) {
  AxisInfo x;
  memset(&x, 0, sizeof x);
  for (unsigned a = 0; a < MAX_RANK; a++) x.contig[a] = x.div[a] = x.constancy[a] = 1;
  axis_type_bounds(v->type, &x.lo, &x.hi);
  return x;
}

static AxisInfo axis_constant(const TileValue *v, int64_t c) {
  AxisInfo x = axis_unknown(v);
  for (unsigned a = 0; a < value_axes(v); a++) {
    x.div[a] = axis_low_bit(c);
    x.constancy[a] = axis_extent(v, a);
  }
  x.lo = x.hi = c;
  x.known = true;
  return x;
}

/* The meet: facts that hold of a value that is one or the other. */
static AxisInfo axis_meet(const AxisInfo *a, const AxisInfo *b) {
  AxisInfo x = *a;
  for (unsigned i = 0; i < MAX_RANK; i++) {
    x.contig[i] = axis_gcd(a->contig[i], b->contig[i]);
    x.div[i] = axis_gcd(a->div[i], b->div[i]);
    x.constancy[i] = axis_gcd(a->constancy[i], b->constancy[i]);
  }
  x.lo = min64(a->lo, b->lo);
  x.hi = max64(a->hi, b->hi);
  x.known = a->known && b->known && a->lo == b->lo;
  x.assumed = a->assumed || b->assumed;
  return x;
}

/* Clamps an interval that left the dtype's range: the value may have wrapped. */
static void axis_settle(AxisInfo *x, const TileValue *v) {
  int64_t lo, hi;
  axis_type_bounds(v->type, &lo, &hi);
  if (x->lo < lo || x->hi > hi || x->lo > x->hi) {
    x->lo = lo;
    x->hi = hi;
    x->known = false;
  }
}

/* ======== transfer functions of ops ======== */

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

static AxisInfo sum_rule(const TileValue *v, const AxisInfo *a, const AxisInfo *b, bool sub,
                         int64_t scale) {
  AxisInfo x = axis_unknown(v);
  for (unsigned i = 0; i < value_axes(v); i++) {
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
  for (unsigned i = 0; i < value_axes(v); i++) {
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
 * multiple of it.  The remainder by a run-time b wraps at multiples of b's known divisor.  What
 * divides both numbers divides the remainder, of either sign. */
static void rem_groups(AxisInfo *x, const TileValue *v, const AxisInfo *a, const AxisInfo *b) {
  for (unsigned i = 0; i < value_axes(v); i++) {
    x->contig[i] = axis_gcd(axis_gcd(a->contig[i], b->div[i]), a->contig[i] > 1 ? a->div[i] : 1);
    x->div[i] = axis_gcd(a->div[i], b->div[i]);
    x->assumed |= a->lo < 0 && x->contig[i] > 1;
  }
}

/* a / b, of which a may be negative: in groups that divide b the quotient is the same, unless they
 * hold a negative multiple of it. */
static void quotient_groups(AxisInfo *x, const TileValue *v, const AxisInfo *a, const AxisInfo *b) {
  for (unsigned i = 0; i < value_axes(v); i++) {
    int64_t groups = a->contig[i] > 1 ? axis_gcd(axis_gcd(a->contig[i], b->div[i]), a->div[i]) : 1;
    if (groups <= x->constancy[i] || b->constancy[i] < groups) continue;
    x->constancy[i] = groups;
    x->assumed |= a->lo < 0;
  }
}

/* a / c and a % c for a known c > 0 and a >= 0: groups survive where they divide c. */
static AxisInfo div_rule(const TileValue *v, const AxisInfo *a, const AxisInfo *b, bool rem) {
  AxisInfo x = axis_unknown(v);
  if (!b->known || b->lo <= 0 || a->lo < 0) {
    for (unsigned i = 0; i < value_axes(v); i++)
      x.constancy[i] = axis_gcd(a->constancy[i], b->constancy[i]);
    if (rem && a->lo >= 0 && b->lo > 0) x.lo = 0, x.hi = min64(a->hi, b->hi - 1);
    else if (!rem && a->lo >= 0 && b->lo > 0) x.lo = 0, x.hi = a->hi / b->lo;
    if (rem) rem_groups(&x, v, a, b);
    else quotient_groups(&x, v, a, b);
    return x;
  }
  int64_t c = b->lo;
  for (unsigned i = 0; i < value_axes(v); i++) {
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
  for (unsigned i = 0; i < value_axes(v); i++) {
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
  for (unsigned i = 0; i < value_axes(v); i++) {
    int64_t both = sure ? axis_gcd(a->constancy[i], b->constancy[i]) : 1;
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
  for (unsigned i = 0; i < value_axes(v); i++) {
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
  for (unsigned i = 0; i < value_axes(op->results[0]); i++) {
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

/* If a float is among the operands, the only known fact is equality of elements. */
static AxisInfo float_rule(const TileOp *op, const AxisInfo *info) {
  const TileValue *v = op->results[0];
  AxisInfo x = axis_unknown(v);
  for (unsigned i = 0; op->nargs && i < value_axes(v); i++) {
    x.constancy[i] = axis_extent(v, i);
    for (uint32_t k = 0; k < op->nargs; k++)
      x.constancy[i] = axis_gcd(x.constancy[i], info[op->args[k]->id].constancy[i]);
  }
  return x;
}

static AxisInfo select_rule(const TileValue *v, const AxisInfo *cond, const AxisInfo *a,
                            const AxisInfo *b) {
  AxisInfo x = axis_meet(a, b);
  for (unsigned i = 0; i < value_axes(v); i++) {
    x.constancy[i] = axis_gcd(x.constancy[i], cond->constancy[i]);
    x.contig[i] = axis_gcd(x.contig[i], cond->constancy[i]);
  }
  return x;
}

/* Pointers to elements of as many bytes are where they were, as those to truth values, which are
 * read as bytes. */
static AxisInfo bitcast_rule(const TileValue *v, const TileValue *from, const AxisInfo *a) {
  AxisInfo x = axis_unknown(v);
  bool pointers = v->type.dtype == DT_PTR || from->type.dtype == DT_PTR;
  bool both = v->type.dtype == DT_PTR && from->type.dtype == DT_PTR;
  if (both && pointee_bytes(v) == pointee_bytes(from)) return *a;
  for (unsigned i = 0; pointers && i < value_axes(v); i++) x.div[i] = div_each(a, i);
  return x;
}

/* Adds the constancy of the operands (a, and b or NULL): equal operands give equal results. */
static AxisInfo with_constancy(AxisInfo x, const TileValue *v, const AxisInfo *a,
                               const AxisInfo *b) {
  for (unsigned i = 0; a && i < value_axes(v); i++)
    x.constancy[i] = b ? axis_gcd(a->constancy[i], b->constancy[i]) : a->constancy[i];
  return x;
}

static AxisInfo axis_elementwise(const TileOp *op, const AxisInfo *info) {
  const TileValue *v = op->results[0];
  const AxisInfo *a = op->nargs > 0 ? &info[op->args[0]->id] : NULL;
  const AxisInfo *b = op->nargs > 1 ? &info[op->args[1]->id] : NULL;
  if (dtype_is_float((DType)v->type.dtype) || (a && dtype_is_float((DType)op->args[0]->type.dtype)))
    return float_rule(op, info);
  switch (op->code) {
    case TILE_ADD: return sum_rule(v, a, b, false, 1);
    case TILE_SUB: return sum_rule(v, a, b, true, 1);
    case TILE_PTR_ADD: return sum_rule(v, a, b, false, pointee_bytes(v));
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

static AxisInfo axis_shape_rule(const TileOp *op, const AxisInfo *info) {
  const TileValue *v = op->results[0];
  const AxisInfo *a = op->nargs ? &info[op->args[0]->id] : NULL;
  AxisInfo x = axis_unknown(v);
  if (tile_is_same_scalar(op)) return *a;
  if (a && dtype_is_int((DType)v->type.dtype)) x.lo = a->lo, x.hi = a->hi, x.known = a->known;
  unsigned n = value_axes(v);
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

static AxisInfo axis_arange(const TileOp *op) {
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

/* ======== control flow: the fixed point over blocks ======== */

/* Loops are evaluated until nothing changes; intervals are given up after this many rounds. */
enum { ROUNDS_BEFORE_WIDENING = 2 };

typedef struct {
  AxisInfo *info;
  Arena *arena;
  bool *entered;  /* by a parameter of a loop: the loop was evaluated before */
  uint32_t depth; /* branches and loops around */
} Axis;

static void flow_ops_of_block(Axis *s, const TileBlock *b);

static void set_info(Axis *s, const TileValue *v, AxisInfo x) {
  if (dtype_is_int((DType)v->type.dtype)) axis_settle(&x, v);
  else x.lo = INT64_MIN, x.hi = INT64_MAX, x.known = false;
  s->info[v->id] = x;
}

static bool join_info(Axis *s, const TileValue *into, const TileValue *from, bool widen) {
  AxisInfo *old = &s->info[into->id];
  AxisInfo x = axis_meet(old, &s->info[from->id]);
  if (!memcmp(&x, old, sizeof x)) return false;
  if (widen && (x.lo != old->lo || x.hi != old->hi)) axis_type_bounds(into->type, &x.lo, &x.hi);
  if (x.lo != x.hi) x.known = false;
  *old = x;
  return true;
}

static void flow_loop_index(Axis *s, const TileOp *op) {
  const TileValue *i = op->regions[0]->params[0];
  const AxisInfo *lo = &s->info[op->args[0]->id], *hi = &s->info[op->args[1]->id],
                 *st = &s->info[op->args[2]->id];
  AxisInfo x = axis_unknown(i);
  x.div[0] = axis_gcd(lo->div[0], st->div[0]);
  if (st->lo > 0 && hi->hi > INT64_MIN) {
    x.lo = lo->lo;
    x.hi = max64(lo->hi, hi->hi - 1);
  }
  set_info(s, i, x);
}

/* A loop within one that is evaluated again goes on from the facts that it had, which only get
 * weaker: from the start each time, loops in loops would take a number of rounds that is
 * exponential in their depth. */
static void flow_into_param(Axis *s, const TileValue *param, const TileValue *init) {
  if (s->entered[param->id]) join_info(s, param, init, false);
  else s->info[param->id] = s->info[init->id];
  s->entered[param->id] = true;
}

static void loop(Axis *s, const TileOp *op) {
  bool is_for = op->code == TILE_FOR;
  uint32_t first = is_for ? 3 : 0, skip = is_for ? 1 : 0;
  const TileBlock *head = op->regions[0], *body = op->regions[is_for ? 0 : 1];
  if (is_for) flow_loop_index(s, op);
  for (uint32_t i = first; i < op->nargs; i++)
    flow_into_param(s, head->params[i - first + skip], op->args[i]);
  for (int round = 0;; round++) {
    flow_ops_of_block(s, head);
    if (!is_for) {
      for (uint32_t i = 0; i < body->nparams; i++)
        s->info[body->params[i]->id] = s->info[head->last->args[i + 1]->id];
      flow_ops_of_block(s, body);
    }
    bool changed = false;
    for (uint32_t i = 0; i + first < op->nargs; i++)
      changed |= join_info(s, head->params[i + skip], body->last->args[i],
                           round >= ROUNDS_BEFORE_WIDENING);
    if (!changed) break;
  }
  for (uint32_t i = 0; i < op->nresults; i++)
    s->info[op->results[i]->id] =
        is_for ? s->info[head->params[i + 1]->id] : s->info[head->last->args[i + 1]->id];
}

static void flow_branch(Axis *s, const TileOp *op) {
  flow_ops_of_block(s, op->regions[0]);
  flow_ops_of_block(s, op->regions[1]);
  for (uint32_t i = 0; i < op->nresults; i++) {
    const AxisInfo *a = &s->info[op->regions[0]->last->args[i]->id];
    const AxisInfo *b = &s->info[op->regions[1]->last->args[i]->id];
    s->info[op->results[i]->id] = axis_meet(a, b);
  }
}

/* A value made from an assumption is assumed as well. */
static void pass_on(Axis *s, const TileOp *op) {
  for (uint32_t i = 0; i < op->nargs; i++)
    if (op->args[i] && s->info[op->args[i]->id].assumed) s->info[op->results[0]->id].assumed = true;
}

/* The bound of a scalar by an assume.  An assume within a branch or a loop holds only for the
 * programs that enter it, so it is ignored.  Values computed from the scalar before keep their
 * facts. */
static void flow_assume(Axis *s, const TileOp *op) {
  const TileOp *compare = op->args[0]->def;
  if (s->depth || !compare || compare->nargs != 2) return;
  AxisInfo *a = &s->info[compare->args[0]->id];
  const AxisInfo *b = &s->info[compare->args[1]->id];
  if (!dtype_is_int((DType)compare->args[0]->type.dtype) || a->known || !b->known) return;
  AxisInfo x = *a;
  switch (compare->code) {
    case TILE_LT: x.hi = min64(x.hi, b->lo - (b->lo > INT64_MIN)); break;
    case TILE_LE: x.hi = min64(x.hi, b->lo); break;
    case TILE_GT: x.lo = max64(x.lo, b->lo + (b->lo < INT64_MAX)); break;
    case TILE_GE: x.lo = max64(x.lo, b->lo); break;
    default: break;
  }
  if (x.lo <= x.hi) *a = x; /* a promise that can't hold says nothing */
}

static void flow_op(Axis *s, const TileOp *op) {
  arena_work(s->arena, 1);
  if (op->code == TILE_FOR || op->code == TILE_WHILE || op->code == TILE_IF) {
    s->depth++;
    if (op->code == TILE_IF) flow_branch(s, op);
    else loop(s, op);
    s->depth--;
    return;
  }
  if (op->code == TILE_ASSUME) flow_assume(s, op);
  int64_t c;
  for (uint32_t i = 0; i < op->nresults; i++)
    set_info(s, op->results[i], axis_unknown(op->results[i]));
  if (!op->nresults) return;
  const TileValue *v = op->results[0];
  if (op->code == TILE_CONST && tile_const_value(v, &c)) set_info(s, v, axis_constant(v, c));
  else if (op->code == TILE_CONST) {
    for (unsigned i = 0; i < value_axes(v); i++) s->info[v->id].constancy[i] = axis_extent(v, i);
  } else if (op->code == TILE_ARANGE) set_info(s, v, axis_arange(op));
  else if (op->code == TILE_PROGRAM_ID || op->code == TILE_CLUSTER_RANK) s->info[v->id].lo = 0;
  else if (op->code == TILE_NUM_PROGRAMS) s->info[v->id].lo = 1;
  else if (tile_op_flags(op->code) & TILE_ELEM && op->nargs)
    set_info(s, v, axis_elementwise(op, s->info));
  else if (op->code == TILE_SPLAT || op->code == TILE_EXPAND_DIMS || op->code == TILE_BROADCAST ||
           op->code == TILE_TRANS || op->code == TILE_RESHAPE)
    set_info(s, v, axis_shape_rule(op, s->info));
  pass_on(s, op);
}

static void flow_ops_of_block(Axis *s, const TileBlock *b) {
  for (const TileOp *op = b->first; op; op = op->next) flow_op(s, op);
}

AxisInfo *axis_analyze(const TileFunc *f, Arena *a) {
  Axis s = {ARENA_ARRAY(a, AxisInfo, f->nvalues), a, ARENA_ARRAY(a, bool, f->nvalues), 0};
  for (uint32_t i = 0; i < f->nparams; i++) {
    const TileValue *v = f->params[i].value;
    AxisInfo x = axis_unknown(v);
    x.div[0] = axis_low_bit(f->params[i].div);
    set_info(&s, v, x);
  }
  flow_ops_of_block(&s, f->body);
  return s.info;
}

int64_t axis_vector(const AxisInfo *info, const TileValue *ptr, const TileValue *mask, int axis,
                    unsigned elem_bytes, int64_t max) {
  const AxisInfo *p = &info[ptr->id];
  if (axis < 0) return 1;
  int64_t n = min64(p->contig[axis], max64(1, p->div[axis] / elem_bytes));
  if (mask) n = axis_gcd(n, info[mask->id].constancy[axis]);
  n = min64(n, max);
  return n & -n;
}
