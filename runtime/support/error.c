#include "runtime/support/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/messages.h"

enum { MESSAGE_MAX = 1 << 16 };

static _Thread_local struct {
  int code;
  char text[MESSAGE_MAX];
} last;

const char *nereid_error_message(void) { return last.text; }
int nereid_error_code(void) { return last.code; }

int error_set(int code, const char *fmt, ...) {
  /* An argument may be the message before this one. */
  char text[MESSAGE_MAX];
  va_list ap;
  va_start(ap, fmt);
  int n = vsnprintf(text, sizeof text, fmt, ap);
  va_end(ap);
  if (n >= MESSAGE_MAX) memcpy(text + MESSAGE_MAX - 5, "...\n", 5);
  memcpy(last.text, text, n < 0 ? 1 : n >= MESSAGE_MAX ? MESSAGE_MAX : (size_t)n + 1);
  last.code = code;
  return code;
}

int error_out_of_memory(void) { return error_set(NEREID_E_MEMORY, E_RUN_OUT_OF_MEMORY); }

int error_null(const char *function, const char *name) {
  return error_set(NEREID_E_USAGE, E_RUN_NULL, function, name);
}

int error_guard(Arena *a, int (*body)(void *), void *arg) {
  jmp_buf place;
  jmp_buf *volatile outer = arena_on_oom(a, &place);
  int code = setjmp(place) ? error_out_of_memory() : body(arg);
  arena_on_oom(a, outer);
  return code;
}

/* Edit distance, up to `limit`; names longer than the row never match. */
static unsigned edit_distance(const char *a, const char *b) {
  enum { LONGEST = 63 };
  size_t n = strlen(a), m = strlen(b);
  if (n > LONGEST || m > LONGEST) return LONGEST;
  unsigned row[LONGEST + 1];
  for (size_t j = 0; j <= m; j++) row[j] = (unsigned)j;
  for (size_t i = 1; i <= n; i++) {
    unsigned diagonal = row[0];
    row[0] = (unsigned)i;
    for (size_t j = 1; j <= m; j++) {
      unsigned best = diagonal + (a[i - 1] != b[j - 1]);
      diagonal = row[j];
      if (row[j] + 1 < best) best = row[j] + 1;
      if (row[j - 1] + 1 < best) best = row[j - 1] + 1;
      row[j] = best;
    }
  }
  return row[m];
}

const char *error_nearest(const char *name, const char *const *names, size_t n) {
  const char *best = NULL;
  unsigned limit = strlen(name) < 4 ? 1 : strlen(name) < 8 ? 2 : 3;
  for (size_t i = 0; i < n; i++) {
    unsigned d = edit_distance(name, names[i]);
    if (d > limit || (best && d >= limit + 1)) continue;
    if (!best || d < edit_distance(name, best)) best = names[i];
  }
  return best;
}

const char *error_suggest(char *out, size_t size, const char *name, const char *const *names,
                          size_t n) {
  const char *near = error_nearest(name, names, n);
  if (near) snprintf(out, size, " (did you mean %s?)", near);
  else out[0] = 0;
  return out;
}

const char *error_suggest_or_list(char *out, size_t size, const char *name,
                                  const char *const *names, size_t n) {
  size_t at = 0;
  if (*error_suggest(out, size, name, names, n) || !n) return out;
  for (size_t i = 0; i < n; i++) {
    int len = snprintf(out + at, size - at, "%s%s", i ? ", " : " (there are ", names[i]);
    if (len < 0 || at + (size_t)len + sizeof " ...)" > size) {
      snprintf(out + at, size - at, " ...");
      break;
    }
    at += (size_t)len;
  }
  at = strlen(out);
  if (at + 1 < size) memcpy(out + at, ")", 2);
  return out;
}

/* ---- texts for the caller ---- */

void nereid_text_free(char *text) { free(text); }

int owned_copy(char **out, size_t *size, const char *from, size_t len) {
  *out = malloc(len + 1);
  if (!*out) return error_out_of_memory();
  memcpy(*out, from, len);
  (*out)[len] = 0;
  *size = len;
  return 0;
}
