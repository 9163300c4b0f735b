#include "runtime/support/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "build_id.h"
#include "runtime/messages.h"
#include "runtime/support/message_text.h"

enum { MESSAGE_MAX = 1 << 16, KERNEL_NAME_MAX = 256 };

static _Thread_local struct {
  int code;
  Resource resource;
  char text[MESSAGE_MAX];
  char parts[MESSAGE_MAX]; /* the text, cut into strings */
  char kernel[KERNEL_NAME_MAX];
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
  last.resource = (Resource){0};
  last.kernel[0] = 0;
  return code;
}

int error_resource(Resource need) {
  last.resource = need;
  return last.code;
}

int error_of_kernel(const char *name) {
  snprintf(last.kernel, sizeof last.kernel, "%s", name);
  return last.code;
}

int error_set_diags(int code, Arena *a, const Diags *d) {
  Text text = text_new(a);
  diag_print(d, &text);
  error_set(code, "%s", text.data);
  for (size_t i = diag_count(d); i-- > 0;)
    if (diag_get(d, i)->resource.name) error_resource(diag_get(d, i)->resource);
  return code;
}

int error_out_of_memory(void) { return error_set(NEREID_E_MEMORY, E_RUN_OUT_OF_MEMORY); }

int error_internal(void) {
  const BugReport *r = bug_report();
  error_set(NEREID_E_INTERNAL, "error: " E_RUN_INTERNAL "\n", *r->stage ? " in stage " : "",
            r->stage, r->file, r->line, r->text);
  error_add("note: %s\n", N_RUN_INTERNAL);
  return error_add("note: " N_RUN_VERSION "\n", NEREID_VERSION, NEREID_BUILD_ID);
}

int error_add(const char *fmt, ...) {
  size_t n = strlen(last.text);
  va_list ap;
  va_start(ap, fmt);
  vsnprintf(last.text + n, sizeof last.text - n, fmt, ap);
  va_end(ap);
  return last.code;
}

int error_null(const char *function, const char *name) {
  return error_set(NEREID_E_USAGE, E_RUN_NULL, function, name);
}

int error_guard(Arena *a, int (*body)(void *), void *arg) {
  return error_guard_stage(a, NULL, body, arg);
}

int error_guard_stage(Arena *a, const char *stage, int (*body)(void *), void *arg) {
  JumpPlace place;
  int code;
  arena_catch(a, &place);
  switch (setjmp(place.jump)) {
    case 0:
      if (stage) bug_stage(stage);
      code = body(arg);
      break;
    case JUMP_BUG: code = error_internal(); break;
    default: code = error_out_of_memory();
  }
  arena_release(a, &place);
  return code;
}

/* ---- the last failure as data ---- */

_Static_assert((int)NEREID_SEVERITY_ERROR == (int)DIAG_ERROR &&
                   (int)NEREID_SEVERITY_HINT == (int)DIAG_HINT,
               "severities of the API are those of diagnostics");

/* The byte after a slice ends a part of the text: it may become a NUL. */
static const char *cut(char *text, Slice s) {
  if (!s.data || !s.len) return "";
  char *begin = text + (s.data - text);
  begin[s.len] = 0;
  return begin;
}

int nereid_message_next(nereid_diagnostic *out, char **text) {
  REQUIRE(out);
  *out = (nereid_diagnostic){.file = "", .text = "", .source = ""};
  REQUIRE(text);
  if (!*text || !**text) return 0;
  const char *rest = *text;
  Message m = message_next(&rest);
  char *begin = *text;
  *text += rest - begin;
  *out = (nereid_diagnostic){.severity = (nereid_severity)m.severity,
                             .file = cut(begin, m.file),
                             .line = m.line,
                             .column = m.column,
                             .text = cut(begin, m.text),
                             .source = cut(begin, m.source),
                             .caret = m.caret,
                             .length = m.length};
  return 1;
}

/* Finds part `at` and returns their number.  Each call cuts the text at the same bytes, so that
 * earlier results stay as they are. */
static int read_parts(nereid_diagnostic *found, int at) {
  nereid_diagnostic d;
  int n = 0;
  memcpy(last.parts, last.text, strlen(last.text) + 1);
  for (char *text = last.parts; nereid_message_next(&d, &text) > 0; n++)
    if (n == at) *found = d;
  return n;
}

int nereid_error_count(void) { return read_parts(NULL, -1); }

int nereid_error_diagnostic(nereid_diagnostic *out, int i) {
  REQUIRE_OUT(out);
  int n = read_parts(out, i);
  return i >= 0 && i < n ? 0 : error_set(NEREID_E_USAGE, E_RUN_NO_DIAGNOSTIC, i, n);
}

const char *nereid_error_kernel(void) { return last.kernel; }

int nereid_error_resource(nereid_resource *out) {
  REQUIRE_OUT(out);
  const Resource *r = &last.resource;
  *out = (nereid_resource){r->name ? r->name : "", r->required, r->limit};
  return 0;
}

/* ---- names that are near ---- */

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
