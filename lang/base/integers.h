/* Division of integers as Python's // and % do it: b is not 0, and -1 only where a is not
 * INT64_MIN. */
#ifndef NEREID_LANG_BASE_INTEGERS_H
#define NEREID_LANG_BASE_INTEGERS_H

#include <stdint.h>

static inline int64_t floor_div(int64_t a, int64_t b) {
  return a / b - (a % b != 0 && (a < 0) != (b < 0));
}

/* The remainder has b's sign; it isn't a - floor_div(a, b) * b, which may overflow. */
static inline int64_t floor_mod(int64_t a, int64_t b) {
  int64_t r = a % b;
  return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}

#endif
