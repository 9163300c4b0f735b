#include "cli/terminal/diagnostics.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/terminal/progress.h"
#include "lang/base/strings.h"
#include "runtime/support/log.h"
#include "runtime/support/message_text.h"

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

static void show_colored(Slice line, const MessageHead *h) {
  const char *severity = diag_severity_name(h->severity);
  fprintf(stderr, BOLD "%.*s" RESET "%s%s:" RESET "%.*s", (int)(h->len - strlen(severity) - 2),
          line.data, color_of(severity), severity, (int)(line.len - h->len) + 1,
          line.data + h->len - 1);
}

bool message_has_id(void) {
  const char *form = getenv("NEREID_DIAGNOSTICS");
  return form && !strcmp(form, "ids");
}

/* " [E_SEMA_UNDEFINED]" after the first line of a message. */
static void put_id(const char *id) {
  if (*id && message_has_id()) fprintf(stderr, " [%s]", id);
}

static void show_line(Slice line, bool colored, MessageId *id_of, size_t *part) {
  MessageHead h;
  int len = (int)line.len;
  bool head = message_head(&h, line);
  if (head && !h.location.len && line.data[0] != ' ')
    fputs(colored ? BOLD "nereid: " RESET : "nereid: ", stderr);
  if (head && colored) show_colored(line, &h);
  else if (colored && message_is_caret(line))
    fprintf(stderr, "\033[1;32m%.*s" RESET, len, line.data);
  else fprintf(stderr, "%.*s", len, line.data);
  if (head) put_id(id_of((*part)++, h.severity));
  putc('\n', stderr);
}

static void show_text(const char *text, MessageId *id_of) {
  bool colored = is_colored();
  for (size_t part = 0; *text;) show_line(message_line(&text), colored, id_of, &part);
}

/* ---- as JSON (docs/diagnostics.md) ---- */

static void put_string(const char *key, Slice s) {
  fprintf(stderr, "\"%s\":", key);
  json_print_string(stderr, s.data, s.len);
}

static void put_severity(const char *severity, const char *id) {
  put_string("severity", (Slice){severity, strlen(severity)});
  putc(',', stderr);
  if (!*id) return;
  put_string("id", (Slice){id, strlen(id)});
  putc(',', stderr);
}

static void put_message(const Message *m, const char *id) {
  const char *severity = diag_severity_name(m->severity);
  putc('{', stderr);
  if (m->file.len) {
    put_string("file", m->file);
    if (m->line) fprintf(stderr, ",\"line\":%d,\"column\":%d", m->line, m->column);
    putc(',', stderr);
  }
  if (m->source.data) {
    fprintf(stderr, "\"length\":%d,", m->length);
    put_string("source", m->source);
    putc(',', stderr);
  }
  put_severity(severity, id);
  put_string("message", m->text);
}

static bool is_attached(const Message *m) {
  return m->severity == DIAG_NOTE || m->severity == DIAG_HINT;
}

/* An object a line; notes and hints are in the object of the error or warning before them. */
static void show_json(const char *text, MessageId *id_of) {
  for (size_t part = 0; *text;) {
    Message m = message_next(&text);
    bool owner = !is_attached(&m);
    put_message(&m, id_of(part++, m.severity));
    fputs(",\"notes\":[", stderr);
    for (int n = 0; owner && *text; n++) {
      const char *after = text;
      m = message_next(&after);
      if (!is_attached(&m)) break;
      if (n) putc(',', stderr);
      put_message(&m, id_of(part++, m.severity));
      putc('}', stderr);
      text = after;
    }
    fputs("]}\n", stderr);
  }
}

/* ---- printing ---- */

static void show_json_line(const char *severity, const char *id, const char *text) {
  putc('{', stderr);
  put_severity(severity, id);
  put_string("message", (Slice){text, strlen(text)});
  fputs(",\"notes\":[]}\n", stderr);
}

static void show_text_line(const char *severity, const char *id, const char *text) {
  int first = (int)strcspn(text, "\n");
  if (is_colored())
    fprintf(stderr, BOLD "nereid: " RESET "%s%s:" RESET, color_of(severity), severity);
  else fprintf(stderr, "nereid: %s:", severity);
  fprintf(stderr, " %.*s", first, text);
  put_id(id);
  fprintf(stderr, "%s\n", text + first);
}

static void show_one(const char *severity, const char *id, const char *text) {
  progress_end(); /* the message takes its line */
  flockfile(stderr);
  (message_is_json() ? show_json_line : show_text_line)(severity, id, text);
  funlockfile(stderr);
}

void message_show(const char *severity, const char *text, MessageId *id_of) {
  size_t n = strlen(text);
  if (!n || text[n - 1] != '\n') {
    show_one(severity, id_of(0, *severity == 'e' ? DIAG_ERROR : DIAG_NOTE), text);
    return;
  }
  progress_end();
  flockfile(stderr);
  (message_is_json() ? show_json : show_text)(text, id_of);
  funlockfile(stderr);
}

void message_vprint(const char *severity, const char *fmt, va_list ap) {
  char *text;
  int n = vasprintf(&text, fmt, ap);
  show_one(severity, message_id(fmt), n < 0 ? fmt : text);
  if (n >= 0) free(text);
}

void message_print(const char *severity, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  message_vprint(severity, fmt, ap);
  va_end(ap);
}
