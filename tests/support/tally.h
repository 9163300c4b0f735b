/* What a unit test counts: checks that hold, and those that don't, which are told at once. */
#ifndef NEREID_TESTS_SUPPORT_TALLY_H
#define NEREID_TESTS_SUPPORT_TALLY_H

#include <stdbool.h>
#include <stdio.h>

static int passed, failed;

static inline void check(bool ok, const char *what) {
  if (ok) passed++;
  else failed++, printf("FAIL %s\n", what);
}

/* Checks, and prints what was found instead. */
static inline void check_got(bool ok, const char *what, const char *got) {
  if (ok) passed++;
  else failed++, printf("FAIL %s: %s\n", what, got);
}

/* Says how many checks there were; the exit status. */
static inline int report(void) {
  printf("%d passed, %d failed\n", passed, failed);
  return failed > 0;
}

#endif
