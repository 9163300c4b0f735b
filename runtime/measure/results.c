#include "runtime/measure/results.h"

#include <math.h>
#include <string.h>

#include "lang/interp/interp.h"
#include "runtime/support/array.h"

enum { BLOCK = 256, SAMPLES = 1 << 16 };

static double tolerance(DType t) {
  switch (t) {
    case DT_F64: return 1e-9;
    case DT_F32: return 1e-3;
    case DT_F16: return 4e-3;
    case DT_BF16: return 2e-2;
    default: return 0.25;
  }
}

typedef struct {
  DType dtype;
  const char *a, *b;
  double absolute; /* the part of the tolerance that is the same for all elements */
  bool differ;     /* atomic */
} Comparison;

/* Root mean square of finite elements, from evenly spaced ones if there are many. */
static double typical(DType t, const char *b, int64_t n) {
  int64_t step = n > SAMPLES ? n / SAMPLES : 1, used = 0;
  double sum = 0;
  for (int64_t i = 0; i < n; i += step) {
    double x = scalar_load(t, b + (size_t)i * dtype_bytes(t)).f;
    if (!isfinite(x)) continue;
    sum += x * x;
    used++;
  }
  return used ? sqrt(sum / (double)used) : 0;
}

static bool same_elements(const Comparison *c, int64_t begin, int64_t end) {
  size_t size = dtype_bytes(c->dtype);
  for (int64_t i = begin; i < end; i++) {
    double x = scalar_load(c->dtype, c->a + (size_t)i * size).f;
    double y = scalar_load(c->dtype, c->b + (size_t)i * size).f;
    if (x == y || (isnan(x) && isnan(y))) continue;
    if (!(fabs(x - y) <= c->absolute + tolerance(c->dtype) * fabs(y)) || isinf(y)) return false;
  }
  return true;
}

/* Most blocks are the same bit by bit. */
static void compare_range(void *context, int64_t begin, int64_t end) {
  Comparison *c = context;
  size_t size = dtype_bytes(c->dtype);
  for (int64_t i = begin; i < end; i += BLOCK) {
    int64_t stop = i + BLOCK < end ? i + BLOCK : end;
    size_t at = (size_t)i * size, bytes = (size_t)(stop - i) * size;
    if (__atomic_load_n(&c->differ, __ATOMIC_RELAXED)) return;
    if (memcmp(c->a + at, c->b + at, bytes) && !same_elements(c, i, stop))
      __atomic_store_n(&c->differ, true, __ATOMIC_RELAXED);
  }
}

bool results_same(DType t, const void *a, const void *b, int64_t n) {
  if (!dtype_is_float(t)) return !memcmp(a, b, (size_t)n * dtype_bytes(t));
  Comparison c = {t, a, b, tolerance(t) * typical(t, b, n), false};
  array_for(n, compare_range, &c);
  return !c.differ;
}
