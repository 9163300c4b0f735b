/* Configurations and constants that a file's decorators give for the arguments. */
#ifndef NEREID_CLI_DECORATED_H
#define NEREID_CLI_DECORATED_H

#include "cli/request_args.h"

/* Adds to the request what heuristics give and nobody has given.  Returns a status. */
int decorated_heuristics(Request *r, const Arguments *args, const nereid_device *d);
/* The same of autotune's first configuration, with a note that says so. */
int decorated_first(Request *r, const Arguments *args, const nereid_device *d);

#endif
