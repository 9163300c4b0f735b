#include "cli/arguments/model_values.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/terminal/args.h"
#include "lang/base/bug.h"
#include "runtime/launch/argument_value.h"
#include "runtime/support/error.h"

static size_t name_length(const char *text) {
  size_t n = 0;
  if (isdigit((unsigned char)*text)) return 0;
  while (text_is_name_char(text[n])) n++;
  return text[n] == '=' ? n : 0;
}

bool number_is(const char *text) {
  size_t n = name_length(text);
  char *end;
  if (!n) return false;
  errno = 0;
  strtoll(text + n + 1, &end, 10);
  return end > text + n + 1 && !*end && !errno;
}

bool number_is_for(const char *text, const char *name) {
  size_t n = name_length(text);
  return strlen(name) == n && !memcmp(text, name, n);
}

int number_of(nereid_value **out, int64_t value) {
  nereid_tensor t;
  int code = nereid_value_parse(out, "zeros:i64[]");
  if (!code) code = nereid_value_tensor(&t, *out);
  if (code) return args_failed(code);
  memcpy(t.data, &value, sizeof value);
  return STATUS_OK;
}

int number_make(nereid_value **out, const char *text) {
  return number_of(out, strtoll(text + name_length(text) + 1, NULL, 10));
}

/* ---- comparison ---- */

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

typedef struct {
  Difference *out;
  const nereid_value *got, *expected;
} Comparison;

static void compare_body(void *arg) {
  const Comparison *c = arg;
  Difference *out = c->out;
  nereid_tensor a, b;
  if (nereid_value_tensor(&a, c->got) || nereid_value_tensor(&b, c->expected) ||
      !tensors_have_same_shape(&a, &b)) {
    out->of_shapes = true;
    return;
  }
  int64_t n = 1;
  for (int32_t i = 0; i < a.ndim; i++) n *= a.shape[i];
  double error = 0, whole = 0;
  for (int64_t i = 0; i < n; i++) {
    double e = array_get(&c->expected->array, i),
           d = relative_distance(array_get(&c->got->array, i), e);
    if (d == 0 && !isfinite(e)) continue;
    if (d > out->absolute) out->absolute = d;
    if (e != 0 && d / fabs(e) > out->relative) out->relative = d / fabs(e);
    if (d != 0) out->exact = false;
    error += d * d;
    whole += e * e;
  }
  out->norm = error == 0 ? 0 : whole > 0 ? sqrt(error / whole) : INFINITY;
  if (isnan(out->norm)) out->norm = INFINITY;
}

int compare_arrays(Difference *out, const nereid_value *got, const nereid_value *expected) {
  *out = (Difference){.exact = true};
  return bug_guard(compare_body, &(Comparison){out, got, expected}) ? 0 : error_internal();
}

void compare_shape(char out[COMPARE_SHAPE_SIZE], const nereid_value *v) {
  nereid_tensor t = {0};
  int n = 0;
  if (nereid_value_tensor(&t, v)) t.ndim = 0;
  for (int32_t i = 0; i < t.ndim && n < COMPARE_SHAPE_SIZE - 30; i++)
    n += snprintf(out + n, 30, i ? ", %lld" : "[%lld", (long long)t.shape[i]);
  snprintf(out + n, 30, n ? "]" : "[]");
}
