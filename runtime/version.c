#include "runtime/version.h"

#include <stdio.h>
#include <string.h>

#include "build_id.h"
#include "lower/machine.h"
#include "runtime/error.h"

const char *nereid_version(void) { return NEREID_VERSION; }
const char *release_date(void) { return NEREID_RELEASED; }
const char *nereid_build_id(void) { return NEREID_BUILD_ID; }

const char *nereid_target(int i) {
  int n = 0;
  const Machine *list = machine_list(&n);
  return i >= 0 && i < n ? list[i].name : NULL;
}

/* A GPU's name without its last letter is the one that most people mean. */
static const char *longer_target(const char *name) {
  int n = 0;
  const Machine *list = machine_list(&n);
  for (int i = 0; i < n; i++)
    if (*name && !strncmp(list[i].name, name, strlen(name))) return list[i].name;
  return NULL;
}

int error_target(const char *name) {
  enum { MOST = 64 };
  const char *names[MOST], *longer = longer_target(name);
  size_t n = 0;
  char hint[128];
  for (; n < MOST && nereid_target((int)n); n++) names[n] = nereid_target((int)n);
  if (longer) snprintf(hint, sizeof hint, " (did you mean %s?)", longer);
  else error_suggest(hint, sizeof hint, name, names, n);
  return error_set(NEREID_E_USAGE, E_RUN_UNKNOWN_TARGET, name, hint);
}
