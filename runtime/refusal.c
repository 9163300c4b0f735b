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

void refusal_keep(Refusal *r, int code) {
  const char *text = nereid_error_message();
  if (refusal_lasts(code)) *r = (Refusal){code, strndup(text, strcspn(text, "\n"))};
}

void refusal_apply(Refusal *r, Arena *a, Candidate *c) {
  if (!r->code) return;
  c->known = true;
  c->status = refusal_status(r->code);
  c->reason = r->message ? arena_strndup(a, r->message, strlen(r->message)) : E_RUN_OUT_OF_MEMORY;
  free(r->message);
  *r = (Refusal){0};
}
