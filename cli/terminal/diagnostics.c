#include "cli/terminal/diagnostics.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/terminal/progress.h"
#include "lang/base/strings.h"

/* ---- diagnostics as text ---- */

typedef struct {
  const char *data;
  size_t len;
} Slice;

/* The head of a message's line: the location, if there is one, and the severity. */
typedef struct {
  Slice location; /* "FILE:LINE:COL", "FILE" or "" */
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
static bool read_message_head(Head *h, Slice line) {
  const char *end = line.data + line.len, *at = line.data;
  if (line.len > 2 && !memcmp(at, "  ", 2) && at[2] != ' ') at += 2; /* of a hint */
  else if (line.len && *at == ' ') return false;
  *h = (Head){.location = {at, 0}, .severity = severity_at(at, (size_t)(end - at))};
  for (const char *p = at; !h->severity && p + 2 < end; p++) {
    if (p[0] != ':' || p[1] != ' ') continue;
    h->severity = severity_at(p + 2, (size_t)(end - p - 2));
    h->location.len = (size_t)(p - at);
  }
  if (!h->severity) return false;
  h->len = (size_t)(at - line.data) + h->location.len + (h->location.len ? 2 : 0) +
           strlen(h->severity) + 2;
  return true;
}

static Slice next_line(const char **text) {
  const char *end = strchrnul(*text, '\n');
  Slice line = {*text, (size_t)(end - *text)};
  *text = *end ? end + 1 : end;
  return line;
}

/* ---- as text ---- */

#define BOLD "\033[1m"
#define RESET "\033[0m"

static bool is_colored(void) {
  const char *when = getenv("NEREID_COLOR"), *none = getenv("NO_COLOR"), *term = getenv("TERM");
  if (when && !strcmp(when, "always")) return true;
  if ((when && !strcmp(when, "never")) || (none && *none)) return false;
  return isatty(STDERR_FILENO) && term && strcmp(term, "dumb") != 0;
}

static const char *color_of(const char *severity) {
  return !strcmp(severity, "error")     ? "\033[1;31m"
         : !strcmp(severity, "warning") ? "\033[1;35m"
         : !strcmp(severity, "note")    ? "\033[1;36m"
                                        : "\033[1;32m";
}

/* Blanks, ^ and ~ below an excerpt. */
static bool is_caret(Slice line) {
  size_t at = 0;
  while (at < line.len && line.data[at] == ' ') at++;
  if (at < 4 || at == line.len || line.data[at] != '^') return false;
  while (++at < line.len)
    if (line.data[at] != '~') return false;
  return true;
}

static void show_line(Slice line, bool colored) {
  Head h;
  int len = (int)line.len;
  bool head = read_message_head(&h, line);
  if (head && !h.location.len && line.data[0] != ' ')
    fputs(colored ? BOLD "nereid: " RESET : "nereid: ", stderr);
  if (head && colored)
    fprintf(stderr, BOLD "%.*s" RESET "%s%s:" RESET "%.*s\n", (int)(h.len - strlen(h.severity) - 2),
            line.data, color_of(h.severity), h.severity, len - (int)h.len + 1,
            line.data + h.len - 1);
  else if (colored && is_caret(line)) fprintf(stderr, "\033[1;32m%.*s" RESET "\n", len, line.data);
  else fprintf(stderr, "%.*s\n", len, line.data);
}

static void show_text(const char *text) {
  bool colored = is_colored();
  while (*text) show_line(next_line(&text), colored);
}

/* ---- as JSON (docs/diagnostics.md) ---- */

typedef struct {
  Head head;
  Slice text;   /* of several lines, perhaps */
  Slice source; /* the line that it is about; no data: there is none */
  size_t length;
} Diagnostic;

/* A text begins with a head, and each head begins a diagnostic. */
static Diagnostic next_diagnostic(const char **text) {
  Diagnostic d = {.head = {.severity = NULL}};
  Slice line = next_line(text);
  if (!read_message_head(&d.head, line)) d.head.severity = severities[0];
  d.text = (Slice){line.data + d.head.len, line.len - d.head.len};
  while (**text) {
    const char *after = *text;
    Head h;
    line = next_line(&after);
    if (read_message_head(&h, line)) break;
    const char *second = after;
    Slice caret = next_line(&second);
    if (line.len >= 4 && is_caret(caret)) {
      d.source = (Slice){line.data + 4, line.len - 4};
      d.length = caret.len - strcspn(caret.data, "^");
      *text = second;
      continue;
    }
    d.text.len = (size_t)(line.data + line.len - d.text.data);
    *text = after;
  }
  return d;
}

static void put_string(const char *key, Slice s) {
  fprintf(stderr, "\"%s\":", key);
  json_print_string(stderr, s.data, s.len);
}

/* FILE:LINE:COL, or FILE alone. */
static void put_location(Slice location) {
  unsigned line = 0, column = 0;
  size_t at = location.len;
  int colons = 0;
  while (at && colons < 2 && strchr("0123456789:", location.data[at - 1]))
    colons += location.data[--at] == ':';
  bool numbered = colons == 2 && sscanf(location.data + at, ":%u:%u", &line, &column) == 2;
  if (numbered) location.len = at;
  put_string("file", location);
  if (numbered) fprintf(stderr, ",\"line\":%u,\"column\":%u,", line, column);
  else putc(',', stderr);
}

static void put_diagnostic(const Diagnostic *d) {
  putc('{', stderr);
  if (d->head.location.len) put_location(d->head.location);
  if (d->source.data) {
    fprintf(stderr, "\"length\":%zu,", d->length);
    put_string("source", d->source);
    putc(',', stderr);
  }
  put_string("severity", (Slice){d->head.severity, strlen(d->head.severity)});
  putc(',', stderr);
  put_string("message", d->text);
}

static bool is_attached(const Diagnostic *d) {
  return !strcmp(d->head.severity, "note") || !strcmp(d->head.severity, "hint");
}

/* An object a line; notes and hints are in the object of the error or warning before them. */
static void show_json(const char *text) {
  while (*text) {
    Diagnostic d = next_diagnostic(&text);
    bool owner = !is_attached(&d);
    put_diagnostic(&d);
    fputs(",\"notes\":[", stderr);
    for (int n = 0; owner && *text; n++) {
      const char *after = text;
      d = next_diagnostic(&after);
      if (!is_attached(&d)) break;
      if (n) putc(',', stderr);
      put_diagnostic(&d);
      putc('}', stderr);
      text = after;
    }
    fputs("]}\n", stderr);
  }
}

/* ---- printing ---- */

bool message_is_json(void) {
  const char *form = getenv("NEREID_DIAGNOSTICS");
  return form && !strcmp(form, "json");
}

static void show_json_line(const char *severity, const char *text) {
  Diagnostic d = {.head.severity = severity, .text = {text, strlen(text)}};
  put_diagnostic(&d);
  fputs(",\"notes\":[]}\n", stderr);
}

static void show_text_line(const char *severity, const char *text) {
  if (is_colored())
    fprintf(stderr, BOLD "nereid: " RESET "%s%s:" RESET " %s\n", color_of(severity), severity,
            text);
  else fprintf(stderr, "nereid: %s: %s\n", severity, text);
}

void message_show(const char *severity, const char *text) {
  size_t n = strlen(text);
  bool several = n && text[n - 1] == '\n', json = message_is_json();
  progress_end(); /* the message takes its line */
  flockfile(stderr);
  if (several && json) show_json(text);
  else if (several) show_text(text);
  else if (json) show_json_line(severity, text);
  else show_text_line(severity, text);
  funlockfile(stderr);
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
