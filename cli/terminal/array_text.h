/* Arrays as text. */
#ifndef NEREID_CLI_TERMINAL_ARRAY_TEXT_H
#define NEREID_CLI_TERMINAL_ARRAY_TEXT_H

#include "runtime/nereid.h"

/* NAME dtype[shape] [first four, ..., last four] sum S.  Not 0: an internal error. */
int report_array(const char *name, const nereid_value *array);

#endif
