/* Ranges of the values of sizes. */
#include "graph/ir/dim_state.h"

/* ---- ranges ---- */

static const DimRange ANY = {INT64_MIN, INT64_MAX};

static int64_t clamp_int128(__int128 x) {
  return x < INT64_MIN ? INT64_MIN : x > INT64_MAX ? INT64_MAX : (int64_t)x;
}

/* Ends that stand for infinity stay where they are. */
static bool unbounded(int64_t x) { return x == INT64_MIN || x == INT64_MAX; }

static int64_t add_end(int64_t a, int64_t b) {
  return unbounded(a) ? a : unbounded(b) ? b : clamp_int128((__int128)a + b);
}

static DimRange range_add(DimRange a, DimRange b) {
  return (DimRange){add_end(a.lo, b.lo), add_end(a.hi, b.hi)};
}

static int64_t mul_end(int64_t a, int64_t b) {
  if (a == 0 || b == 0) return 0;
  if (unbounded(a) || unbounded(b)) return (a < 0) == (b < 0) ? INT64_MAX : INT64_MIN;
  return clamp_int128((__int128)a * b);
}

static DimRange range_hull(const int64_t *x, int n) {
  DimRange r = {x[0], x[0]};
  for (int i = 1; i < n; i++) {
    if (x[i] < r.lo) r.lo = x[i];
    if (x[i] > r.hi) r.hi = x[i];
  }
  return r;
}

static DimRange range_mul(DimRange a, DimRange b) {
  int64_t ends[] = {mul_end(a.lo, b.lo), mul_end(a.lo, b.hi), mul_end(a.hi, b.lo),
                    mul_end(a.hi, b.hi)};
  return range_hull(ends, 4);
}

/* The range for a number that is not negative by one that is positive; otherwise nothing is
 * known. */
static DimRange range_floordiv(DimRange a, DimRange b) {
  if (b.lo <= 0 || a.lo < 0) return ANY;
  int64_t hi = a.hi == INT64_MAX ? INT64_MAX : a.hi / b.lo;
  return (DimRange){b.hi == INT64_MAX ? 0 : a.lo / b.hi, hi};
}

static DimRange range_mod(DimRange b) {
  if (b.lo <= 0) return ANY;
  return (DimRange){0, b.hi == INT64_MAX ? INT64_MAX : b.hi - 1};
}

DimRange dim_range_of(const DimRange *symbols, Dim x) {
  DimRange r, a, b;
  switch (x->kind) {
    case DIM_INT: return (DimRange){x->value, x->value};
    case DIM_SYMBOL: return symbols[x->symbol];
    case DIM_HUGE: return ANY;
    case DIM_SUM:
      r = (DimRange){x->value, x->value};
      for (uint32_t i = 0; i < x->n; i++) r = range_add(r, dim_range_of(symbols, x->args[i]));
      return r;
    case DIM_PRODUCT:
      r = (DimRange){x->value, x->value};
      for (uint32_t i = 0; i < x->n; i++) r = range_mul(r, dim_range_of(symbols, x->args[i]));
      return r;
    default: break;
  }
  a = dim_range_of(symbols, x->args[0]);
  b = dim_range_of(symbols, x->args[1]);
  if (x->kind == DIM_FLOORDIV) return range_floordiv(a, b);
  if (x->kind == DIM_MOD) return range_mod(b);
  bool max = x->kind == DIM_MAX;
  return (DimRange){(a.lo > b.lo) == max ? a.lo : b.lo, (a.hi > b.hi) == max ? a.hi : b.hi};
}

DimRange dim_range(const Dims *d, Dim x) { return dim_range_of(d->ranges.data, x); }

bool dim_mentions(Dim x, Dim symbol) {
  if (x == symbol) return true;
  for (uint32_t i = 0; i < x->n; i++)
    if (dim_mentions(x->args[i], symbol)) return true;
  return false;
}

bool dim_divisible(Dim x, int64_t n) {
  if (x->kind == DIM_INT || x->kind == DIM_PRODUCT) return x->value % n == 0;
  if (x->kind != DIM_SUM || x->value % n != 0) return n == 1;
  for (uint32_t i = 0; i < x->n; i++)
    if (!dim_divisible(x->args[i], n)) return false;
  return true;
}

/* ---- values ---- */

bool dim_eval(Dim x, const int64_t *values, int64_t *out) {
  int64_t v[2] = {0, 0};
  switch (x->kind) {
    case DIM_HUGE: return false;
    case DIM_INT: *out = x->value; return true;
    case DIM_SYMBOL: *out = values[x->symbol]; return true;
    case DIM_SUM:
    case DIM_PRODUCT:
      *out = x->value;
      for (uint32_t i = 0; i < x->n; i++) {
        if (!dim_eval(x->args[i], values, v)) return false;
        if (x->kind == DIM_SUM ? __builtin_add_overflow(*out, v[0], out)
                               : __builtin_mul_overflow(*out, v[0], out))
          return false;
      }
      return true;
    default: break;
  }
  for (int i = 0; i < 2; i++)
    if (!dim_eval(x->args[i], values, &v[i])) return false;
  if (x->kind == DIM_MAX || x->kind == DIM_MIN) {
    *out = (v[0] > v[1]) == (x->kind == DIM_MAX) ? v[0] : v[1];
    return true;
  }
  if (v[1] == 0 || (v[0] == INT64_MIN && v[1] == -1)) return false;
  *out = x->kind == DIM_FLOORDIV ? floor_div(v[0], v[1]) : floor_mod(v[0], v[1]);
  return true;
}
