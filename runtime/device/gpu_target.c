#include "runtime/device/gpu_target.h"

#include <stdlib.h>
#include <string.h>

int gpu_target_sm(const char *target, bool *exact) {
  char *end;
  *exact = false;
  if (strncmp(target, "sm_", 3)) return 0;
  long sm = strtol(target + 3, &end, 10);
  *exact = *end == 'a';
  return (int)sm;
}

bool gpu_target_runs_on(const char *target, int sm) {
  bool exact;
  int of = gpu_target_sm(target, &exact);
  return of && (exact ? of == sm : of <= sm);
}
