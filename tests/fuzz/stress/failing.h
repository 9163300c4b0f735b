/* Allocations and assertions that fail on demand: `make stress` includes this before every source.
 * The allocation whose number NEREID_FAIL_ALLOC gives (from 1) cannot be had, in whatever room it is
 * made.  An assertion (BUG_IF of lang/base/bug.h) fails where stress_demands, if it is set, says so
 * (internal_errors.c). */
#ifndef NEREID_TESTS_STRESS_FAILING_H
#define NEREID_TESTS_STRESS_FAILING_H

#include <errno.h>
#include <malloc.h> /* whose declarations must come before the macros */
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* All files that include this share the counter. */
__attribute__((weak)) atomic_long stress_allocations;

static inline bool stress_must_fail(void) {
  const char *number = getenv("NEREID_FAIL_ALLOC");
  if (!number || atomic_fetch_add(&stress_allocations, 1) + 1 != atol(number)) return false;
  errno = ENOMEM;
  return true;
}

__attribute__((weak)) bool (*stress_demands)(const char *file, int line);

#define BUG_DEMANDED(file, line) (stress_demands && stress_demands(file, line))

#define malloc(size) (stress_must_fail() ? NULL : malloc(size))
#define calloc(n, size) (stress_must_fail() ? NULL : calloc(n, size))
#define realloc(p, size) (stress_must_fail() ? NULL : realloc(p, size))
#define aligned_alloc(align, size) (stress_must_fail() ? NULL : aligned_alloc(align, size))
#define strdup(s) (stress_must_fail() ? NULL : strdup(s))
#define strndup(s, n) (stress_must_fail() ? NULL : strndup(s, n))

#endif
