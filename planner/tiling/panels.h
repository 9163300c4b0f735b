/* Weights of products of matrices as CPUs read them: in panels, each the columns that one block of
 * registers takes, row after row.  A weight y[k, n] is stored as [n / width, k / word, width,
 * word], with words (graph/analysis/strided.h) along the sum, or of one element of 32 bits.  Pass
 * pack makes it, as a clone with views around it that give y back, and the kernel knows it by
 * these. */
#ifndef NEREID_PLANNER_TILING_PANELS_H
#define NEREID_PLANNER_TILING_PANELS_H

#include "graph/builders/node_builder.h"

/* Columns of a panel, on the CPU at hand. */
int panels_width(void);
/* y, constant, as a view of its panels; NULL if its sizes or its dtype do not suit. */
Node *panels_pack(Build *b, Node *y);
/* Is y what panels_pack gave? */
bool panels_are(const Node *y);

#endif
