/* The functions that kernels call.  Those of planner/kernels/templates/header.py stand in each
 * kernel file; the other files of them are there if a kernel names one of their functions. */
#ifndef NEREID_PLANNER_KERNELS_HELPERS_H
#define NEREID_PLANNER_KERNELS_HELPERS_H

#include "planner/kernels/source_functions.h"

/* The beginning of a kernel file: imports, and what `f` needs. */
void helpers_print(Text *out, const Functions *f);

#endif
