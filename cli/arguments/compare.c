#include "cli/arguments/compare.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static bool tensors_have_same_shape(const nereid_tensor *a, const nereid_tensor *b) {
  if (a->ndim != b->ndim) return false;
  for (int32_t i = 0; i < a->ndim; i++)
    if (a->shape[i] != b->shape[i]) return false;
  return true;
}

static double relative_distance(double got, double expected) {
  if (got == expected || (isnan(got) && isnan(expected))) return 0;
  double d = fabs(got - expected);
  return isnan(d) ? INFINITY : d;
}

bool compare_arrays(Difference *out, const nereid_value *got, const nereid_value *expected) {
  nereid_tensor a, b;
  *out = (Difference){.exact = true};
  if (nereid_value_tensor(&a, got) || nereid_value_tensor(&b, expected) ||
      !tensors_have_same_shape(&a, &b))
    return false;
  int64_t n = 1;
  for (int32_t i = 0; i < a.ndim; i++) n *= a.shape[i];
  double error = 0, whole = 0;
  for (int64_t i = 0; i < n; i++) {
    double e = nereid_value_element(expected, i),
           d = relative_distance(nereid_value_element(got, i), e);
    if (d == 0 && !isfinite(e)) continue;
    if (d > out->absolute) out->absolute = d;
    if (e != 0 && d / fabs(e) > out->relative) out->relative = d / fabs(e);
    if (d != 0) out->exact = false;
    error += d * d;
    whole += e * e;
  }
  out->norm = error == 0 ? 0 : whole > 0 ? sqrt(error / whole) : INFINITY;
  if (isnan(out->norm)) out->norm = INFINITY;
  return true;
}

void compare_shape(char out[COMPARE_SHAPE_SIZE], const nereid_value *v) {
  nereid_tensor t = {0};
  int n = 0;
  if (nereid_value_tensor(&t, v)) t.ndim = 0;
  for (int32_t i = 0; i < t.ndim && n < COMPARE_SHAPE_SIZE - 30; i++)
    n += snprintf(out + n, 30, i ? ", %lld" : "[%lld", (long long)t.shape[i]);
  snprintf(out + n, 30, n ? "]" : "[]");
}
