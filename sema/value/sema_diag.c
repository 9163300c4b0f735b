/* Errors, and the calls that led to them. */
#include <string.h>

#include "lang/messages.h"
#include "sema/messages.h"
#include "sema/value/context.h"
#include "sema/value/python_host.h"

Span sema_place(const Sema *S, Span at) {
  for (const Frame *f = S->frame; f && f->is_std; f = f->caller)
    if (f->call.file) at = f->call;
  return at;
}

/* An unrolled loop or a helper that is called often says everything once; of a function of the
 * standard library only the first error counts, what follows from it would be about its insides. */
static bool seen_before(Sema *S, Span at, const char *text, size_t len) {
  for (size_t i = 0; i < diag_count(S->diags); i++) {
    const Diag *d = diag_get(S->diags, i);
    if (d->severity == DIAG_ERROR && d->span.file == at.file && d->span.line == at.line &&
        d->span.col == at.col && !strncmp(d->text, text, len))
      return true;
  }
  return false;
}

static void note_calls(Sema *S) {
  enum { SHOWN_MAX = 8 };
  int shown = 0;
  Span last = {0};
  for (const Frame *f = S->frame; f && f->func; f = f->caller) {
    if (f->is_std || !f->call.file) continue;
    Span at = f->call;
    for (const Frame *c = f->caller; c && c->is_std; c = c->caller) at = c->call;
    if (at.file == last.file && at.line == last.line && at.col == last.col) continue;
    if (shown++ == SHOWN_MAX) break;
    last = at;
    diag_note(S->diags, at, N_SEMA_CALLED, f->name);
  }
}

/* A failure of host code is reported by its caller. */
static void remember_failure(Sema *S, Span at, const char *fmt, const char *text) {
  static const char *const exceptions[] = {E_SEMA_KEY, E_SEMA_INDEX, E_SEMA_RAISE, E_SEMA_ASSERT,
                                           E_LANG_DIVISION_BY_ZERO};
  S->host->raised = false;
  for (size_t i = 0; i < sizeof exceptions / sizeof *exceptions; i++)
    S->host->raised |= !strcmp(fmt, exceptions[i]);
  if (S->host->why) return;
  S->host->why = text;
  S->host->why_at = sema_place(S, at);
}

void sema_warning(Sema *S, Span at, const char *fmt, ...) {
  if (S->quiet || S->host) return;
  va_list ap;
  va_start(ap, fmt);
  const char *text = arena_vprintf(S->arena, fmt, ap);
  va_end(ap);
  at = sema_place(S, at);
  for (size_t i = 0; i < diag_count(S->diags); i++) {
    const Diag *d = diag_get(S->diags, i);
    bool here = d->span.file == at.file && d->span.line == at.line && d->span.col == at.col;
    if (here && d->severity == DIAG_WARNING && !strcmp(d->text, text)) return;
  }
  diag_warning(S->diags, at, "%s", text);
  diag_format(S->diags, fmt);
}

void sema_error(Sema *S, Span at, const char *fmt, ...) {
  S->failed = true;
  S->muted = true;
  if (S->quiet && !S->host) return;
  va_list ap;
  va_start(ap, fmt);
  const char *text = arena_vprintf(S->arena, fmt, ap);
  va_end(ap);
  if (S->quiet) { /* and so there is a host */
    remember_failure(S, at, fmt, text);
    return;
  }
  const Frame *std = NULL;
  for (const Frame *f = S->frame; f && f->is_std; f = f->caller)
    if (f->func && f->func->def) std = f;
  size_t same = std ? strlen("in : ") + strlen(std->name) : strlen(text) + 1;
  if (std) text = arena_printf(S->arena, "in %s: %s", std->name, text);
  at = sema_place(S, at);
  if (seen_before(S, at, text, same)) return;
  S->muted = false;
  diag_error(S->diags, at, "%s", text);
  diag_format(S->diags, fmt);
  note_calls(S);
}

void sema_note(Sema *S, Span at, const char *fmt, ...) {
  if (S->muted || !at.file) return;
  va_list ap;
  va_start(ap, fmt);
  diag_note(S->diags, at, "%s", arena_vprintf(S->arena, fmt, ap));
  diag_format(S->diags, fmt);
  va_end(ap);
}

void sema_hint(Sema *S, const char *fmt, ...) {
  if (S->muted) return;
  va_list ap;
  va_start(ap, fmt);
  diag_hint(S->diags, "%s", arena_vprintf(S->arena, fmt, ap));
  diag_format(S->diags, fmt);
  va_end(ap);
}

/* A program that has many decorators to evaluate would else take as much for each of them. */
bool memory_spent(Sema *S, Span at) {
  bool said = S->spent && S->out_of_depth;
  bool many = S->p->spent >= EVAL_SPENT_MAX;
  if (!S->spent && !many && arena_size(S->arena) - S->memory <= (size_t)EVAL_MB_MAX << 20)
    return false;
  if (!S->spent) S->p->spent++;
  S->spent = S->failed = true;
  S->unrolled = UNROLL_MAX;
  if (!said) sema_error(S, at, E_SEMA_MEMORY, EVAL_MB_MAX);
  S->out_of_depth = S->out_of_depth || !S->quiet;
  return true;
}

bool unrolled_too_much(Sema *S, Span at) {
  if (memory_spent(S, at)) return true;
  if (S->unrolled < UNROLL_MAX && ++S->unrolled == UNROLL_MAX)
    sema_error(S, at, E_SEMA_UNROLL_MAX, UNROLL_MAX);
  S->failed = S->failed || S->unrolled == UNROLL_MAX; /* it may have been said before */
  return S->unrolled >= UNROLL_MAX;
}

bool count_items(Sema *S, uint64_t n, Span at) {
  S->p->items += n;
  if (S->p->items <= ITEMS_MAX) return true;
  sema_error(S, at, E_SEMA_ITEMS_MAX, ITEMS_MAX);
  return false;
}

bool has_leaves(Sema *S, Value v, Span at) {
  bool yes = value_fits(v);
  if (!yes) sema_error(S, at, E_SEMA_VALUE_MAX, VALUE_ITEMS_MAX, VALUE_DEPTH_MAX);
  return yes;
}

/* The number of letters to add, drop, change or swap; names that are far apart give a large one. */
static uint32_t name_distance(const char *a, const char *b) {
  enum { LONGEST = 40 };
  uint32_t n = (uint32_t)strlen(a), m = (uint32_t)strlen(b);
  if (n > LONGEST || m > LONGEST) return LONGEST;
  uint32_t rows[3][LONGEST + 1];
  uint32_t *before = rows[0], *last = rows[1], *now = rows[2];
  for (uint32_t j = 0; j <= m; j++) last[j] = j;
  for (uint32_t i = 1; i <= n; i++) {
    now[0] = i;
    for (uint32_t j = 1; j <= m; j++) {
      uint32_t best = last[j - 1] + (a[i - 1] != b[j - 1]);
      if (last[j] + 1 < best) best = last[j] + 1;
      if (now[j - 1] + 1 < best) best = now[j - 1] + 1;
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
          before[j - 2] + 1 < best)
        best = before[j - 2] + 1;
      now[j] = best;
    }
    uint32_t *spare = before;
    before = last, last = now, now = spare;
  }
  return last[m];
}

/* The letters of a name, a bit each. */
static uint32_t letters(const char *s) {
  uint32_t set = 0;
  for (; *s; s++) set |= 1u << (*s & 31);
  return set;
}

void nearest_offer(Nearest *n, const char *name, const char *candidate) {
  uint32_t len = (uint32_t)strlen(name), limit = len < 4 ? 1 : len < 8 ? 2 : 3;
  uint32_t other = (uint32_t)strlen(candidate);
  if (other > len + limit || len > other + limit) return;
  /* A change of one letter takes one out of the set and puts one in. */
  if (__builtin_popcount(letters(name) ^ letters(candidate)) > 2 * (int)limit) return;
  if (candidate[0] == '<' || (len < 2 && candidate[0] != name[0])) return;
  uint32_t d = name_distance(name, candidate);
  if (d > limit || d >= len || (n->best && d >= n->distance)) return;
  n->best = candidate;
  n->distance = d;
}
