#include "planner/plan/call.h"

#include <string.h>

static const struct {
  const char *name;
  bool of_products, of_convolutions, optional;
} arguments[] = {
#define X(id, name, products, convolutions, optional) \
  [CALL_##id] = {name, products, convolutions, optional},
    CALL_ARGUMENTS(X)
#undef X
};

const char *call_arg_name(CallArg a) { return arguments[a].name; }

CallArg call_arg_find(const char *name) {
  CallArg a = 0;
  while (a < CALL_ARGS && strcmp(arguments[a].name, name)) a++;
  return a;
}

static bool has_arg(const PlanStep *s, CallArg a) {
  bool product = library_work(s->library) == LIBRARY_PRODUCT;
  return product ? arguments[a].of_products : arguments[a].of_convolutions;
}

bool call_is_complete(const PlanStep *s) {
  uint64_t seen = 0;
  for (uint32_t i = 0; i < s->nargs; i++) {
    CallArg a = call_arg_find(s->args[i].name);
    StepArgKind kind = a < CALL_BUFFERS ? STEP_BUFFER : STEP_INT;
    if (a == CALL_ARGS || !has_arg(s, a) || s->args[i].kind != kind || seen >> a & 1) return false;
    seen |= (uint64_t)1 << a;
  }
  for (CallArg a = 0; a < CALL_ARGS; a++) {
    bool optional = arguments[a].optional;
    if (a == CALL_WORKSPACE && library_workspace(s->library)) optional = false;
    if (has_arg(s, a) && !optional && !(seen >> a & 1)) return false;
  }
  return true;
}
