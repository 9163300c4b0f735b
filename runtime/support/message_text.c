#include "runtime/support/message_text.h"

#include <stdio.h>
#include <string.h>

Slice message_line(const char **text) {
  size_t len = strcspn(*text, "\n");
  Slice line = {*text, len};
  *text += len + ((*text)[len] == '\n');
  return line;
}

/* ---- heads ---- */

/* The severity at the beginning of a text, with a colon and a blank after it. */
static bool severity_at(Severity *out, const char *text, size_t len) {
  for (Severity s = DIAG_ERROR; s <= DIAG_HINT; s++) {
    const char *name = diag_severity_name(s);
    size_t n = strlen(name);
    if (len < n + 2 || memcmp(text, name, n) || memcmp(text + n, ": ", 2)) continue;
    *out = s;
    return true;
  }
  return false;
}

bool message_head(MessageHead *out, Slice line) {
  const char *end = line.data + line.len, *at = line.data;
  if (line.len > 2 && !memcmp(at, "  ", 2) && at[2] != ' ') at += 2; /* of a hint */
  else if (line.len && *at == ' ') return false;
  MessageHead h = {.location = {at, 0}};
  bool found = severity_at(&h.severity, at, (size_t)(end - at));
  for (const char *p = at; !found && p + 2 < end; p++) {
    if (p[0] != ':' || p[1] != ' ') continue;
    found = severity_at(&h.severity, p + 2, (size_t)(end - p - 2));
    h.location.len = (size_t)(p - at);
  }
  if (!found) return false;
  h.len = (size_t)(at - line.data) + h.location.len + (h.location.len ? 2 : 0) +
          strlen(diag_severity_name(h.severity)) + 2;
  *out = h;
  return true;
}

bool message_is_caret(Slice line) {
  size_t at = 0;
  while (at < line.len && line.data[at] == ' ') at++;
  if (at < 4 || at == line.len || line.data[at] != '^') return false;
  while (++at < line.len)
    if (line.data[at] != '~') return false;
  return true;
}

/* ---- messages ---- */

/* FILE:LINE:COL, or FILE alone. */
static void read_location(Message *m, Slice location) {
  unsigned line = 0, column = 0;
  size_t at = location.len;
  int colons = 0;
  while (at && colons < 2 && strchr("0123456789:", location.data[at - 1]))
    colons += location.data[--at] == ':';
  m->file = location;
  if (colons < 2 || sscanf(location.data + at, ":%u:%u", &line, &column) != 2) return;
  m->file.len = at;
  m->line = (int)line;
  m->column = (int)column;
}

static void read_caret(Message *m, Slice line) {
  enum { MARGIN = 4 };
  size_t at = 0;
  while (line.data[at] == ' ') at++;
  m->caret = (int)at - MARGIN;
  m->length = (int)(line.len - at);
}

/* The lines below the head: more of the text, then an excerpt with its caret. */
static void read_body(Message *m, const char **text) {
  while (**text && !m->source.data) {
    const char *after = *text, *second;
    MessageHead h;
    Slice line = message_line(&after);
    if (message_head(&h, line)) return;
    second = after;
    Slice caret = message_line(&second);
    if (line.len >= 4 && message_is_caret(caret)) {
      m->source = (Slice){line.data + 4, line.len - 4};
      read_caret(m, caret);
      after = second;
    } else {
      m->text.len = (size_t)(line.data + line.len - m->text.data);
    }
    *text = after;
  }
}

Message message_next(const char **text) {
  Slice line = message_line(text);
  MessageHead h = {.severity = DIAG_ERROR};
  Message m = {.severity = DIAG_ERROR};
  if (message_head(&h, line)) {
    m.severity = h.severity;
    if (h.location.len) read_location(&m, h.location);
  }
  m.text = (Slice){line.data + h.len, line.len - h.len};
  read_body(&m, text);
  return m;
}
