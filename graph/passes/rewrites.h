/* The built-in rewrite rules: graph/passes/rewrites/NAME.py. */
#ifndef NEREID_GRAPH_PASSES_REWRITES_H
#define NEREID_GRAPH_PASSES_REWRITES_H

#include "lang/base/embedded.h"

extern const EmbeddedFile rewrite_files[];

#endif
