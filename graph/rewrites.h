/* The built-in rewrite rules, graph/rewrites/NAME.py, as text made at build time. */
#ifndef NEREID_GRAPH_REWRITES_H
#define NEREID_GRAPH_REWRITES_H

#include "graph/templates.h"

extern const GraphTemplate graph_rewrites[]; /* ends in a NULL name */

#endif
