#include "runtime/support/version.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "build_id.h"
#include "lower/target/machine.h"
#include "runtime/messages.h"
#include "runtime/support/error.h"

const char *nereid_version(void) { return NEREID_VERSION; }
const char *release_date(void) { return NEREID_RELEASED; }
const char *nereid_build_id(void) { return NEREID_BUILD_ID; }

const char *nereid_target(int i) {
  int n = 0;
  const Machine *list = machine_list(&n);
  return i >= 0 && i < n ? list[i].name : NULL;
}

/* The number of sm_90, compute_90, 90a and cpu:8 alike; -1: there is none.  *cpu: of a CPU. */
static int target_number(const char *name, bool *cpu) {
  static const char *const prefixes[] = {"cpu:", "sm_", "sm", "compute_", ""};
  for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++) {
    size_t n = strlen(prefixes[i]);
    if (strncmp(name, prefixes[i], n) != 0 || !isdigit((unsigned char)name[n])) continue;
    *cpu = i == 0;
    return atoi(name + n);
  }
  return -1;
}

/* Among targets of its kind, the one with the nearest number, if that is near: a generation of GPUs
 * is ten numbers away from the next.  The later one of two equally near targets is chosen. */
static const char *nearest_target(const char *name) {
  enum { NEAR = 10 };
  bool cpu = false, other = false;
  int n = 0, number = target_number(name, &cpu), least = cpu ? 1 << 20 : NEAR;
  const Machine *list = machine_list(&n);
  const char *best = NULL;
  for (int i = 0; number >= 0 && i < n; i++) {
    int its = target_number(list[i].name, &other), away = abs(its - number);
    if (its < 0 || other != cpu || away > least) continue;
    best = list[i].name;
    least = away;
  }
  return best;
}

int error_target(const char *name) {
  enum { MOST = 64 };
  const char *names[MOST], *near = nearest_target(name);
  char hint[128], list[512] = "";
  size_t n = 0, at = 0;
  for (; n < MOST - 1 && nereid_target((int)n); n++) names[n] = nereid_target((int)n);
  names[n++] = "cpu"; /* of this machine */
  for (size_t i = 0; i < n && at < sizeof list; i++)
    at += (size_t)snprintf(list + at, sizeof list - at, "%s%s", i ? ", " : "", names[i]);
  if (near) snprintf(hint, sizeof hint, " (did you mean %s?)", near);
  else if (isdigit((unsigned char)*name) || !strncmp(name, "sm", 2)) *hint = 0;
  else error_suggest(hint, sizeof hint, name, names, n);
  return error_set(NEREID_E_USAGE, E_RUN_UNKNOWN_TARGET, name, hint, list);
}
