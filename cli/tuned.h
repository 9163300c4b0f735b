/* Constexprs that a tuner chooses for the arguments at hand. */
#ifndef NEREID_CLI_TUNED_H
#define NEREID_CLI_TUNED_H

#include "cli/arguments.h"

typedef struct {
  Request *request; /* to be completed */
  const Settings *values;
  const nereid_kernel_info *kernel;
  const char *grid, *device;
  bool tune; /* measure what no run has measured */
} Tuned;

/* Adds the recorded best, or finds it, where a constexpr has no value yet.  Returns a status, after
 * a message. */
int tuned_add(const Tuned *t);

#endif
