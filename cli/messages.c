#include "cli/messages.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/progress.h"

/* ---- diagnostics as text ---- */

typedef struct {
  const char *data;
  size_t len;
} Slice;

/* What a line begins with: the place, if there is one, and the severity. */
typedef struct {
  Slice place; /* "FILE:LINE:COL", "FILE" or "" */
  const char *severity;
  size_t len; /* of both, with their colons */
} Head;

static const char *const severities[] = {"error", "warning", "note", "hint"};
enum { SEVERITIES = sizeof severities / sizeof *severities };

/* The severity at the beginning of a text, with a colon and a blank after it. */
static const char *severity_at(const char *text, size_t len) {
  for (int i = 0; i < SEVERITIES; i++) {
    size_t n = strlen(severities[i]);
    if (len >= n + 2 && !memcmp(text, severities[i], n) && !memcmp(text + n, ": ", 2))
      return severities[i];
  }
  return NULL;
}

/* False: the line goes on with the message before it, or is an excerpt of the source. */
static bool read_head(Head *h, Slice line) {
  const char *end = line.data + line.len, *at = line.data;
  if (line.len > 2 && !memcmp(at, "  ", 2) && at[2] != ' ') at += 2; /* of a hint */
  else if (line.len && *at == ' ') return false;
  *h = (Head){.place = {at, 0}, .severity = severity_at(at, (size_t)(end - at))};
  for (const char *p = at; !h->severity && p + 2 < end; p++) {
    if (p[0] != ':' || p[1] != ' ') continue;
    h->severity = severity_at(p + 2, (size_t)(end - p - 2));
    h->place.len = (size_t)(p - at);
  }
  if (!h->severity) return false;
  h->len =
      (size_t)(at - line.data) + h->place.len + (h->place.len ? 2 : 0) + strlen(h->severity) + 2;
  return true;
}

static Slice next_line(const char **text) {
  const char *end = strchrnul(*text, '\n');
  Slice line = {*text, (size_t)(end - *text)};
  *text = *end ? end + 1 : end;
  return line;
}

static void show_line(Slice line) {
  Head h;
  if (read_head(&h, line) && !h.place.len && line.data[0] != ' ') fputs("nereid: ", stderr);
  fprintf(stderr, "%.*s\n", (int)line.len, line.data);
}

/* ---- printing ---- */

void message_show(const char *severity, const char *text) {
  size_t n = strlen(text);
  progress_end(); /* the message takes its line */
  if (n && text[n - 1] == '\n')
    while (*text) show_line(next_line(&text));
  else fprintf(stderr, "nereid: %s: %s\n", severity, text);
}

void message_vprint(const char *severity, const char *fmt, va_list ap) {
  char *text;
  int n = vasprintf(&text, fmt, ap);
  message_show(severity, n < 0 ? fmt : text);
  if (n >= 0) free(text);
}

void message_print(const char *severity, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  message_vprint(severity, fmt, ap);
  va_end(ap);
}
