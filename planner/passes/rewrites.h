/* The built-in rewrite rules: planner/passes/rewrites/NAME.py. */
#ifndef NEREID_PLANNER_PASSES_REWRITES_H
#define NEREID_PLANNER_PASSES_REWRITES_H

#include "lang/base/embedded.h"

extern const EmbeddedFile rewrite_files[];

#endif
