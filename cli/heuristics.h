/* Constexprs that a file's heuristics give for the arguments at hand. */
#ifndef NEREID_CLI_HEURISTICS_H
#define NEREID_CLI_HEURISTICS_H

#include "cli/request_args.h"

/* Adds to the request what can be computed and is not given.  Returns a status. */
int heuristics_add(Request *r, const Arguments *args, const nereid_device *d);

#endif
