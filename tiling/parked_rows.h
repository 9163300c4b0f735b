/* Rows that a GPU's shared memory keeps while a kernel goes over them several times: pass
 * strip_rows of kernels makes loops over strips of a row that is one tile (decision 469). */
#ifndef NEREID_TILING_PARKED_ROWS_H
#define NEREID_TILING_PARKED_ROWS_H

#include "graph/ir/graph.h"

/* Enough rows for all processors, none longer than gains. */
bool rows_park(const Graph *g, Dim rows, Dim row);

#endif
