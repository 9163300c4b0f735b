#include "lang/base/diag.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct Diags {
  Arena *arena;
  VEC(Source) files;
  VEC(Diag) list;
  size_t errors, resource_limits;
  bool dropping; /* the last error was past the limit: its notes go too */
};

Diags *diags_new(Arena *a) {
  Diags *d = ARENA_NEW(a, Diags);
  d->arena = a;
  return d;
}

uint32_t diag_source(Diags *d, Name name, const char *text, size_t len) {
  for (size_t i = 0; i < d->files.len; i++) {
    Source *s = &d->files.data[i];
    if (strcmp(s->name, name)) continue;
    if (!s->text) s->text = text, s->len = len;
    return (uint32_t)i + 1;
  }
  return diag_part(d, name, text, len, 1, 0);
}

/* The text with line - 1 empty lines before it, and `margin` blanks at the start of each line. */
static const char *at_its_place(Arena *a, const char *text, size_t *len, uint32_t line,
                                uint32_t margin) {
  size_t lines = 1, n = line - 1;
  for (size_t i = 0; i < *len; i++) lines += text[i] == '\n';
  char *out = arena_alloc(a, n + *len + lines * margin + 1);
  memset(out, '\n', n);
  for (size_t i = 0; i < *len; i++) {
    if (!i || text[i - 1] == '\n') {
      memset(out + n, ' ', margin);
      n += margin;
    }
    out[n++] = text[i];
  }
  out[n] = 0;
  *len = n;
  return out;
}

uint32_t diag_part(Diags *d, Name name, const char *text, size_t len, uint32_t line,
                   uint32_t margin) {
  bool moved = text && (line > 1 || margin);
  if (moved) text = at_its_place(d->arena, text, &len, line, margin);
  Source s = {arena_strndup(d->arena, name, strlen(name)), text, len, margin};
  vec_push(d->arena, &d->files, s);
  return (uint32_t)d->files.len;
}

const Source *diag_file(const Diags *d, uint32_t file) {
  return file && file <= d->files.len ? &d->files.data[file - 1] : NULL;
}

void diag_set_text(Diags *d, uint32_t file, const char *text) {
  if (file && file <= d->files.len) d->files.data[file - 1].text = text;
}

uint32_t diag_file_count(const Diags *d) { return (uint32_t)d->files.len; }

const MessageRow *message_of(const char *format) {
  const MessageRow *m = message_rows;
  while (m->id && strcmp(m->format, format)) m++;
  return m->id ? m : NULL;
}

const char *message_id(const char *format) {
  const MessageRow *m = message_of(format);
  return m ? m->id : "";
}

static void add_diag(Diags *d, Diag m, const char *fmt, va_list ap) {
  if (m.severity == DIAG_ERROR) d->dropping = d->errors++ >= DIAG_LIMIT;
  else if (m.severity == DIAG_WARNING) d->dropping = false;
  d->resource_limits += m.resource.name != NULL;
  if (d->dropping) return;
  m.id = message_id(fmt);
  m.text = arena_vprintf(d->arena, fmt, ap);
  vec_push(d->arena, &d->list, m);
}

#define FORWARD(...)                           \
  do {                                         \
    va_list ap;                                \
    va_start(ap, fmt);                         \
    add_diag(d, (Diag){__VA_ARGS__}, fmt, ap); \
    va_end(ap);                                \
  } while (0)

void diag_error(Diags *d, Span at, const char *fmt, ...) {
  FORWARD(.severity = DIAG_ERROR, .span = at);
}

void diag_resource_limit(Diags *d, Span at, Resource need, const char *fmt, ...) {
  FORWARD(.severity = DIAG_ERROR, .resource = need, .span = at);
}

void diag_warning(Diags *d, Span at, const char *fmt, ...) {
  FORWARD(.severity = DIAG_WARNING, .span = at);
}

void diag_note(Diags *d, Span at, const char *fmt, ...) {
  FORWARD(.severity = DIAG_NOTE, .span = at);
}

void diag_hint(Diags *d, const char *fmt, ...) { FORWARD(.severity = DIAG_HINT); }

void diag_format(Diags *d, const char *format) {
  if (!d->dropping && d->list.len) vec_last(&d->list).id = message_id(format);
}

void diag_rewind(Diags *d, size_t count) {
  d->list.len = count < d->list.len ? count : d->list.len;
  d->errors = d->resource_limits = 0;
  for (size_t i = 0; i < d->list.len; i++) {
    d->errors += d->list.data[i].severity == DIAG_ERROR;
    d->resource_limits += d->list.data[i].resource.name != NULL;
  }
  d->dropping = false;
}

size_t diag_errors(const Diags *d) { return d->errors; }

bool diag_only_resource_limits(const Diags *d) {
  return d->errors && d->resource_limits == d->errors;
}

size_t diag_count(const Diags *d) { return d->list.len; }

const Diag *diag_get(const Diags *d, size_t i) { return &d->list.data[i]; }

/* The text of line `line`, without its end; false if the source has no such line. */
static bool line_of(const Source *s, uint32_t line, const char **begin, size_t *len) {
  if (!s->text || !line) return false;
  const char *p = s->text, *end = s->text + s->len;
  while (--line) {
    p = memchr(p, '\n', (size_t)(end - p));
    if (!p) return false;
    p++;
  }
  const char *stop = memchr(p, '\n', (size_t)(end - p));
  if (!stop) stop = end;
  while (stop > p && stop[-1] == '\r') stop--;
  *begin = p;
  *len = (size_t)(stop - p);
  return true;
}

/* A source line may be hostile: control characters are shown as spaces, long lines are cut. */
static void print_excerpt(Text *out, const Source *s, Span at) {
  enum { WIDEST = 160 };
  const char *p;
  size_t n;
  if (!line_of(s, at.line, &p, &n) || !at.col || at.col > n + 1) return;
  size_t first = at.col > WIDEST ? at.col - WIDEST / 2 : 0;
  size_t shown = n - first > WIDEST ? WIDEST : n - first;
  text_puts(out, "    ");
  for (size_t i = 0; i < shown; i++) {
    char c = p[first + i];
    text_putn(out, (unsigned char)c < 32 ? " " : &c, 1);
  }
  text_puts(out, "\n    ");
  for (size_t i = first; i + 1 < at.col; i++)
    if (((unsigned char)p[i] & 0xc0) != 0x80)
      text_puts(out, " "); /* one column a UTF-8 character */
  text_puts(out, "^");
  for (size_t i = at.col; i + 1 < at.col + at.len && i < first + shown; i++)
    if (((unsigned char)p[i] & 0xc0) != 0x80) text_puts(out, "~");
  text_puts(out, "\n");
}

const char *diag_severity_name(Severity s) {
  static const char *const names[] = {"error", "warning", "note", "hint"};
  return names[s];
}

void diag_print(const Diags *d, Text *out) {
  for (size_t i = 0; i < d->list.len; i++) {
    const Diag *m = &d->list.data[i];
    const Source *s = diag_file(d, m->span.file);
    if (s && m->span.line) text_printf(out, "%s:%u:%u: ", s->name, m->span.line, m->span.col);
    else if (s) text_printf(out, "%s: ", s->name);
    else if (m->severity == DIAG_HINT) text_puts(out, "  ");
    text_printf(out, "%s: %s\n", diag_severity_name(m->severity), m->text);
    if (s && m->span.line) print_excerpt(out, s, m->span);
  }
  if (d->errors > DIAG_LIMIT)
    text_printf(out, "note: %zu further errors are not shown\n", d->errors - DIAG_LIMIT);
}
