/* Loops whose data decides how often they run.
 *
 *     carried   = nereid.carried(initial, 0)        for each value that an iteration gives the next
 *     test      = nereid.loop_test(condition, 1)    made of carried values, read by the host
 *     end       = nereid.loop_end(test, [carried], [next])
 *     result    = nereid.loop_result(carried, end)  a carried value when the condition was false
 *
 * A graph stays a list: the nodes of a loop are those between its last `carried` and its
 * `loop_end`.  The nodes up to `loop_test` run before the condition is read, and the others if it
 * is true; then the next values are copied to the memory of the carried ones, and the loop begins
 * again.  The nodes of an inner loop belong to both.  Carried values and their results are in one
 * memory. */
#ifndef NEREID_GRAPH_ANALYSIS_LOOPS_H
#define NEREID_GRAPH_ANALYSIS_LOOPS_H

#include "graph/ir/graph.h"

typedef struct Loop Loop;
struct Loop {
  Node *begin; /* the last carried value: the loop's nodes come after it */
  Node *test, *end;
  const Loop *outer; /* NULL: there is none */
};

typedef struct {
  Loop *list; /* inner loops come before outer ones */
  uint32_t n;
  const Loop **of; /* by node id, of those that there were: the innermost loop; NULL: none */
  uint32_t *order; /* by node id: positions in the graph, from 1 */
} Loops;

/* `n` is 0 where a graph has no loops, and then there are no tables. */
Loops loops_find(const Graph *g, Arena *a);
/* Moves what is the same in each iteration before the loop; reports what no loop can contain. */
bool loops_hoist(Graph *g);

#endif
