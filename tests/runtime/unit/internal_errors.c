/* Internal errors where nothing guards an arena: in threads that share a piece of work, and in
 * functions on values.  Each becomes NEREID_E_INTERNAL in the caller, and the process lives. */
#include <stdlib.h>

#include "runtime/launch/argument_value.h"
#include "runtime/support/array.h"
#include "runtime/support/error.h"
#include "runtime/support/parallel.h"
#include "tests/support/calls.h"

enum { PIECES = 1000, WRONG = 700, ELEMENTS = 1 << 21 };

static int done[PIECES];

static void fail_at_one(void *wrong, size_t i) {
  done[i]++;
  if ((int)i == *(int *)wrong) BUG("piece %zu", i);
}

static int all_pieces(void *wrong) {
  parallel_for(PIECES, fail_at_one, wrong);
  return 0;
}

static void fail_in_range(void *wrong, int64_t begin, int64_t end) {
  int64_t at = *(int *)wrong;
  if (begin <= at && at < end) BUG("element %lld", (long long)at);
}

static int all_elements(void *wrong) {
  array_for(ELEMENTS, fail_in_range, wrong);
  return 0;
}

static int twice(void *wrong) {
  int code = error_guard_bare(all_pieces, wrong);
  return code ? code : error_guard_bare(all_elements, wrong);
}

static void test_threads(void) {
  int wrong = WRONG, none = -1, last = ELEMENTS - 1;
  X(error_guard_bare(all_pieces, &wrong), NEREID_E_INTERNAL, "error: internal error*piece 700\n*");
  X(error_guard_bare(all_elements, &last), NEREID_E_INTERNAL, "*element 2097151\n*");
  X(error_guard_bare(twice, &wrong), NEREID_E_INTERNAL, "*piece 700\n*");
  for (int i = 0; i < PIECES; i++) done[i] = 0;
  bool all = !error_guard_bare(twice, &none);
  for (int i = 0; i < PIECES; i++) all &= done[i] == 1;
  check(all, "the same work without an error, after it");
}

static void test_values(void) {
  nereid_value *v;
  char text[64];
  X(nereid_value_parse(&v, "ones:i32[4]"), 0, "*");
  v->array.dtype = DT_NONE; /* as only a fault of ours can leave it */
  X(nereid_value_element_text(text, sizeof text, v, 1), NEREID_E_INTERNAL, "*internal error*");
  check(nereid_value_element(v, 1) == 0, "an element that can't be read");
  v->array.dtype = DT_I32;
  X(nereid_value_element_text(text, sizeof text, v, 1), 0, "*");
  check(text[0] == '1' && !text[1], "an element after that");
  nereid_value_free(v);
}

int main(void) {
  test_threads();
  test_values();
  return report();
}
