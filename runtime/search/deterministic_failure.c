#include "runtime/search/deterministic_failure.h"
#include "lang/messages.h"
#include "runtime/messages.h"

#include <stdlib.h>
#include <string.h>

nereid_tune_status failure_tune_status(int code) {
  return code == NEREID_E_RESOURCES || code == NEREID_E_MEMORY ? NEREID_TUNE_RESOURCES
         : code == NEREID_E_LOST || code == NEREID_E_FINDINGS  ? NEREID_TUNE_FAULT
                                                               : NEREID_TUNE_COMPILE;
}

bool failure_is_deterministic(int code) {
  return code == NEREID_E_KERNEL || code == NEREID_E_USAGE || code == NEREID_E_RESOURCES ||
         code == NEREID_E_LOST || code == NEREID_E_FINDINGS;
}

/* The first line of a tool's output that names an error; else its first line. */
static const char *telling_line(const char *lines) {
  const char *at = strstr(lines, "error");
  while (at && at > lines && at[-1] != '\n') at--;
  return at ? at : lines;
}

/* The hint at the end of the first error of a message; "": it has none. */
static const char *first_error_hint(const char *message) {
  static const char mark[] = "hint: ";
  const char *line = strchr(message, '\n'), *end = line ? strstr(line, ": error: ") : NULL;
  while (line && (!end || line < end)) {
    const char *text = line + 1 + strspn(line + 1, " ");
    if (!strncmp(text, mark, sizeof mark - 1)) return text + sizeof mark - 1;
    line = strchr(text, '\n');
  }
  return "";
}

/* Adds a separator and a text's first line; nothing if that is empty. */
static char *add_line(char *end, const char *separator, const char *text) {
  size_t n = strcspn(text, "\n");
  if (!n) return end;
  return mempcpy(mempcpy(end, separator, strlen(separator)), text, n);
}

char *failure_first_line(const char *message) {
  size_t n = strcspn(message, "\n");
  bool tool = message[n] && n && message[n - 1] == ':';
  char *line = malloc(strlen(message) + 1); /* separators are shorter than the omitted text */
  if (!line) return NULL;
  memcpy(line, message, n);
  char *end = tool ? add_line(line + n, " ", telling_line(message + n + 1))
                   : add_line(line + n, "; ", first_error_hint(message));
  *end = 0;
  return line;
}

void deterministic_failure_keep(DeterministicFailure *r, int code) {
  if (failure_is_deterministic(code))
    *r = (DeterministicFailure){code, failure_first_line(nereid_error_message())};
}

void deterministic_failure_apply(DeterministicFailure *r, Arena *a, Candidate *c) {
  if (!r->code) return;
  c->known = true;
  c->status = failure_tune_status(r->code);
  c->reason = r->message ? arena_strndup(a, r->message, strlen(r->message)) : E_LANG_OUT_OF_MEMORY;
  free(r->message);
  *r = (DeterministicFailure){0};
}
