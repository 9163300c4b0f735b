#include "cli/terminal/array_text.h"

#include <math.h>
#include <stdio.h>

#include "lang/base/bug.h"
#include "runtime/launch/argument_value.h"
#include "runtime/support/error.h"

static void print_element(const nereid_value *v, int64_t i) {
  char text[64];
  if (nereid_value_element_text(text, sizeof text, v, i)) bug_raise(bug_report());
  fputs(text, stdout);
}

typedef struct {
  const char *name;
  const nereid_value *array;
} Report;

static void report_body(void *arg) {
  enum { ENDS = 4 };
  const Report *r = arg;
  nereid_tensor t;
  nereid_value_tensor(&t, r->array);
  int64_t n = 1;
  printf("%s %s[", r->name, nereid_value_dtype(r->array));
  for (int i = 0; i < t.ndim; i++) {
    printf("%s%lld", i ? "," : "", (long long)t.shape[i]);
    n *= t.shape[i];
  }
  fputs("] [", stdout);
  double sum = 0;
  for (int64_t i = 0; i < n; i++) {
    sum += array_get(&r->array->array, i);
    if (n > 2 * ENDS && i == ENDS) fputs(", ...", stdout);
    if (n > 2 * ENDS && i >= ENDS && i < n - ENDS) continue;
    if (i) fputs(", ", stdout);
    print_element(r->array, i);
  }
  if (isnan(sum)) fputs("] sum nan\n", stdout);
  else printf("] sum %.15g\n", sum);
}

int report_array(const char *name, const nereid_value *array) {
  return bug_guard(report_body, &(Report){name, array}) ? 0 : error_internal();
}
