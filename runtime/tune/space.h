/* The configurations that lists of values span. */
#ifndef NEREID_RUNTIME_TUNE_SPACE_H
#define NEREID_RUNTIME_TUNE_SPACE_H

#include "runtime/tune/problem.h"

enum { SPACE_MOST = 100000 }; /* configurations; more are refused */

/* Names, values and their number. */
int space_check(const Problem *p, const nereid_tune_axis *axes, int n);
/* All combinations of the axes' values, the last axis changing fastest: constexprs in the kernel's
 * order, then options.  They are checked. */
int space_of_axes(Configs *out, const Problem *p, const nereid_tune_axis *axes, int n);

#endif
