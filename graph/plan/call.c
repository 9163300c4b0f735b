#include "graph/plan/call.h"

#include <string.h>

static const char *const names[] = {
#define X(id, name) [CALL_##id] = name,
    CALL_ARGUMENTS(X)
#undef X
};

const char *call_arg_name(CallArg a) { return names[a]; }

CallArg call_arg_find(const char *name) {
  CallArg a = 0;
  while (a < CALL_ARGS && strcmp(names[a], name)) a++;
  return a;
}

bool call_is_complete(const PlanStep *s) {
  uint32_t seen = 0, optional = 1u << CALL_BIAS | 1u << CALL_WORKSPACE;
  if (library_workspace(s->library)) optional &= ~(1u << CALL_WORKSPACE);
  for (uint32_t i = 0; i < s->nargs; i++) {
    CallArg a = call_arg_find(s->args[i].name);
    StepArgKind kind = a < CALL_BUFFERS ? STEP_BUFFER : STEP_INT;
    if (a == CALL_ARGS || s->args[i].kind != kind || seen >> a & 1) return false;
    seen |= 1u << a;
  }
  return (seen | optional) == (1u << CALL_ARGS) - 1;
}
