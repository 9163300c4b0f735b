/* Facts on one value, and how two of them become one. */
#include <string.h>

#include "lower/analysis/axis_rules.h"

int64_t axis_gcd(int64_t a, int64_t b) {
  while (b) {
    int64_t t = a % b;
    a = b;
    b = t;
  }
  return a < 0 ? -a : a;
}

int64_t axis_low_bit(int64_t v) {
  if (!v) return AXIS_DIV_MAX;
  int64_t b = (int64_t)((uint64_t)v & -(uint64_t)v);
  return b > AXIS_DIV_MAX || b < 0 ? AXIS_DIV_MAX : b;
}

int64_t axis_extent(const TileValue *v, unsigned axis) {
  return v->type.rank ? v->type.shape[axis] : 1;
}

void axis_type_bounds(Type t, int64_t *lo, int64_t *hi) {
  unsigned bits = dtype_bits((DType)t.dtype);
  DKind k = dtype_kind((DType)t.dtype);
  *lo = INT64_MIN;
  *hi = INT64_MAX;
  if (k == DK_BOOL) *lo = 0, *hi = 1;
  else if (k == DK_UINT) *lo = 0, *hi = bits < 63 ? (INT64_C(1) << bits) - 1 : INT64_MAX;
  else if (k == DK_INT && bits < 64) *hi = (INT64_C(1) << (bits - 1)) - 1, *lo = -*hi - 1;
}

AxisInfo axis_unknown(const TileValue *v) {
  AxisInfo x;
  memset(&x, 0, sizeof x);
  for (unsigned a = 0; a < MAX_RANK; a++) x.contig[a] = x.div[a] = x.constancy[a] = 1;
  axis_type_bounds(v->type, &x.lo, &x.hi);
  return x;
}

AxisInfo axis_constant(const TileValue *v, int64_t c) {
  AxisInfo x = axis_unknown(v);
  for (unsigned a = 0; a < axes_of(v); a++) {
    x.div[a] = axis_low_bit(c);
    x.constancy[a] = axis_extent(v, a);
  }
  x.lo = x.hi = c;
  x.known = true;
  return x;
}

AxisInfo axis_meet(const AxisInfo *a, const AxisInfo *b) {
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

void axis_settle(AxisInfo *x, const TileValue *v) {
  int64_t lo, hi;
  axis_type_bounds(v->type, &lo, &hi);
  if (x->lo < lo || x->hi > hi || x->lo > x->hi) {
    x->lo = lo;
    x->hi = hi;
    x->known = false;
  }
}
