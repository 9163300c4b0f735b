/* Checks of calls of the C API, by their status and message. */
#ifndef NEREID_TESTS_SUPPORT_CALLS_H
#define NEREID_TESTS_SUPPORT_CALLS_H

#include "runtime/nereid.h"
#include "tests/support/tally.h"

/* What fails is told with the last message. */
static inline void check_call(bool ok, const char *what) {
  check(ok, what);
  if (!ok) printf("  last message: %s\n", nereid_error_message());
}

/* Is `text` this; * stands for any text. */
static inline bool matches(const char *pattern, const char *text) {
  while (*pattern && *pattern != '*' && *pattern == *text) pattern++, text++;
  if (*pattern != '*') return *pattern == *text;
  for (; *text; text++)
    if (matches(pattern + 1, text)) return true;
  return matches(pattern + 1, text);
}

/* The call returned `code`, and its message is this. */
#define X(call, code, message) \
  check_call((call) == (code) && matches(message, nereid_error_message()), #call)

#endif
