#include "lang/interp/findings.h"

#include "lang/messages.h"

typedef struct {
  int kind;
  Span at;
  const void *subject;
  uint64_t program; /* the first */
  uint64_t count;
  const char *text, *text_format, *note, *note_format, *hint;
  Span note_at;
} Finding;

struct Findings {
  Arena *arena;
  Diags *diags;
  VEC(Finding) list;
  size_t reported;
};

Findings *findings_new(Arena *a, Diags *d) {
  Findings *f = ARENA_NEW(a, Findings);
  f->arena = a;
  f->diags = d;
  return f;
}

static bool is_same_finding(const Finding *x, int kind, Span at, const void *subject) {
  return x->kind == kind && x->at.line == at.line && x->at.file == at.file && x->subject == subject;
}

bool findings_add(Findings *f, int kind, Span at, const void *subject, uint64_t program) {
  for (size_t i = f->reported; i < f->list.len; i++) {
    Finding *x = &f->list.data[i];
    if (is_same_finding(x, kind, at, subject)) return x->count++, false;
  }
  Finding x = {.kind = kind, .at = at, .subject = subject, .program = program, .count = 1};
  vec_push(f->arena, &f->list, x);
  return true;
}

#define FORMAT(field)                           \
  do {                                          \
    va_list ap;                                 \
    va_start(ap, fmt);                          \
    field = arena_vprintf(f->arena, fmt, ap);   \
    field##_format = fmt;                       \
    va_end(ap);                                 \
  } while (0)

void findings_text(Findings *f, const char *fmt, ...) { FORMAT(vec_last(&f->list).text); }

void findings_note(Findings *f, Span at, const char *fmt, ...) {
  vec_last(&f->list).note_at = at;
  FORMAT(vec_last(&f->list).note);
}

void findings_hint(Findings *f, const char *hint) { vec_last(&f->list).hint = hint; }

size_t findings_count(const Findings *f) { return f->list.len; }

static void report_finding(const Findings *f, const Finding *x) {
  diag_error(f->diags, x->at, "%s", x->text);
  diag_format(f->diags, x->text_format);
  if (x->note) {
    diag_note(f->diags, x->note_at, "%s", x->note);
    diag_format(f->diags, x->note_format);
  }
  unsigned long long program = x->program, count = x->count;
  if (count > 1) diag_note(f->diags, x->at, N_INTERP_COUNT, program, count);
  else diag_note(f->diags, x->at, N_INTERP_ONCE, program);
  if (x->hint) {
    diag_hint(f->diags, "%s", x->hint);
    diag_format(f->diags, x->hint);
  }
}

void findings_report(Findings *f) {
  for (; f->reported < f->list.len; f->reported++) report_finding(f, &f->list.data[f->reported]);
}
