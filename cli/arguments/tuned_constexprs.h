/* Constexprs that heuristics and a tuner choose for the arguments at hand. */
#ifndef NEREID_CLI_ARGUMENTS_TUNED_CONSTEXPRS_H
#define NEREID_CLI_ARGUMENTS_TUNED_CONSTEXPRS_H

#include "cli/arguments/request.h"

typedef struct {
  Request *request; /* to be completed */
  const Settings *values;
  Arguments *args; /* as they were read of the values */
  const nereid_module *module;
  const nereid_device *device;
  const char *grid;
  bool tune;  /* measure what no run has measured */
  bool first; /* take the first configuration that the file gives, where none was measured */
} Tuned;

/* If a constexpr has no value yet, adds those that the file's heuristics give, and then the
 * recorded best, or finds it, or takes a configuration of the file.  Returns a status, after a
 * message. */
int tuned_add(const Tuned *t);

#endif
