/* Findings of a warp, and the launch's end at a limit. */
#include "lang/messages.h"
#include "lower/interp/nest_interp_run.h"

bool nest_found(Warp *w, NestFinding kind, Span at, const void *subject) {
  return findings_add(w->prog->run->findings, kind, at, subject, w->prog->index);
}

void nest_found_poison(Warp *w, const Inst *in, const Inst *why, const char *what) {
  Findings *f = w->prog->run->findings;
  if (!nest_found(w, FOUND_POISON, in->stmt->span, what)) return;
  findings_text(f, E_INTERP_UNDEF, what);
  if (why) findings_note(f, why->stmt->span, N_INTERP_UNDEF);
}

void nest_stop(Run *r, Span at, const char *message, uint64_t count) {
  diag_error(r->diags, at, message, (unsigned long long)count);
  longjmp(r->stop, 1);
}
