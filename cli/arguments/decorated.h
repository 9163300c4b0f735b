/* Configurations and constants that a file's decorators give for the arguments. */
#ifndef NEREID_CLI_ARGUMENTS_DECORATED_H
#define NEREID_CLI_ARGUMENTS_DECORATED_H

#include "cli/arguments/request_args.h"

/* Adds to the request what heuristics give and nobody has given.  Returns a status. */
int decorated_heuristics(Request *r, Arguments *args, const nereid_device *d);
/* The same of autotune's first configuration, with a note that says so. */
int decorated_first(Request *r, Arguments *args, const nereid_device *d);
/* Are all constexprs known, but options to be chosen? */
bool decorated_options_open(Request *r, Arguments *args, const nereid_device *d);
/* Where all constexprs are known: adds the options of the configuration that has them, and notes
 * which arrays its pre_hook zeroes. */
int decorated_rest(Request *r, Arguments *args, const nereid_device *d);

#endif
