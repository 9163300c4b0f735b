#include "runtime/refusal.h"

#include <stdlib.h>
#include <string.h>

nereid_tune_status refusal_status(int code) {
  return code == NEREID_E_RESOURCES || code == NEREID_E_MEMORY ? NEREID_TUNE_RESOURCES
         : code == NEREID_E_LOST || code == NEREID_E_FINDINGS  ? NEREID_TUNE_FAULT
                                                               : NEREID_TUNE_COMPILE;
}

bool refusal_lasts(int code) {
  return code == NEREID_E_KERNEL || code == NEREID_E_USAGE || code == NEREID_E_RESOURCES ||
         code == NEREID_E_LOST || code == NEREID_E_FINDINGS;
}

/* The line that tells of an error, among those of a tool; else the first of them. */
static const char *telling_line(const char *lines) {
  const char *at = strstr(lines, "error");
  while (at && at > lines && at[-1] != '\n') at--;
  return at ? at : lines;
}

char *refusal_line(const char *message) {
  size_t n = strcspn(message, "\n");
  const char *more = message[n] && n && message[n - 1] == ':' ? telling_line(message + n + 1) : "";
  size_t rest = strcspn(more, "\n");
  char *line = malloc(n + 1 + rest + 1);
  if (!line) return NULL;
  memcpy(line, message, n);
  if (rest) line[n++] = ' ';
  memcpy(line + n, more, rest);
  line[n + rest] = 0;
  return line;
}

void refusal_keep(Refusal *r, int code) {
  if (refusal_lasts(code)) *r = (Refusal){code, refusal_line(nereid_error_message())};
}

void refusal_apply(Refusal *r, Arena *a, Candidate *c) {
  if (!r->code) return;
  c->known = true;
  c->status = refusal_status(r->code);
  c->reason = r->message ? arena_strndup(a, r->message, strlen(r->message)) : E_RUN_OUT_OF_MEMORY;
  free(r->message);
  *r = (Refusal){0};
}
