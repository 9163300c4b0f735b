/* A kernel measured over sizes: what the command line says, with a name that takes value after
 * value.
 *
 * The name is an argument, a constexpr, or a new one.  In NAME=VALUE and -D NAME=VALUE what stands
 * in braces is an expression over it and over settings that are integers; so are sizes in brackets,
 * and the grid (cli/arguments/substitute.h).  Functions that return an int return a status, after a
 * message. */
#ifndef NEREID_CLI_COMMANDS_SWEEP_H
#define NEREID_CLI_COMMANDS_SWEEP_H

#include "cli/arguments/request.h"
#include "cli/report/series.h"

typedef struct {
  Arena *arena;
  Request *request; /* without arguments: they are made for each size */
  const Settings *values, *defines;
  const char *x_name, *grid;
  const char *bytes, *flops; /* one at most is given: a rate is measured, not a time */
  nereid_device *device;
  nereid_module *module;
  const nereid_kernel_info *kernel;
  bool tune; /* measure what no run has measured of constexprs without a value */
} Sweep;

/* Does anything depend on the name? */
int sweep_check(const Sweep *s);
int sweep_measure(Sweep *s, int64_t x, SeriesPoint *out);

/* Is all of the text an integer? */
bool sweep_integer(const char *text, int64_t *out);

#endif
