/* Inputs of a model that are numbers, on the command line: n=5. */
#ifndef NEREID_CLI_ARGUMENTS_NUMBERS_H
#define NEREID_CLI_ARGUMENTS_NUMBERS_H

#include <stdbool.h>

#include "runtime/nereid.h"

/* Is it a name, an equals sign and an integer? */
bool number_is(const char *text);
/* Is the name that one? */
bool number_is_for(const char *text, const char *name);
/* The integer, as an i64 array without axes.  Returns a status, after a message if it is not
 * STATUS_OK. */
int number_make(nereid_value **out, const char *text);
int number_of(nereid_value **out, int64_t value);

#endif
