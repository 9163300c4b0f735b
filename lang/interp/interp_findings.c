/* Findings of a program: what is said of them, at their first place. */
#include "lang/interp/interp_run.h"
#include "lang/messages.h"

bool interp_found(Prog *p, FoundKind kind, Span at, const void *subject) {
  return findings_add(p->run->findings, kind, at, subject, p->index);
}

void interp_found_undef(Prog *p, const Inst *in, const Val *v, const char *what) {
  Findings *f = p->run->findings;
  if (!interp_found(p, FOUND_UNDEF, in->op->span, what)) return;
  findings_text(f, E_INTERP_UNDEF, what);
  if (!v->undef) return;
  bool loaded = tile_op_flags(v->undef->code) & TILE_READ;
  if (loaded) findings_note(f, v->undef->span, N_INTERP_UNDEF_LOAD);
  else findings_note(f, v->undef->span, N_INTERP_UNDEF);
}

void interp_found_wrap(Prog *p, const Inst *in, const Val *v) {
  Findings *f = p->run->findings;
  if (!interp_found(p, FOUND_WRAP, in->op->span, NULL)) return;
  const TileOp *op = v->wrapped;
  const char *type = op ? dtype_name((DType)op->results[0]->type.dtype) : "integer";
  findings_text(f, E_INTERP_WRAP, type);
  findings_hint(f, H_INTERP_WRAP);
  if (op) findings_note(f, op->span, N_INTERP_WRAP, tile_op_name(op->code), type);
}
