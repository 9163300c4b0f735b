#include "planner/passes.h"

static const Pass rows[] = {
#define X(name, takes, gives, function, needs, without, doc) \
  {#name, LEVEL_##takes, LEVEL_##gives, {.on_graph = function}, needs, without, doc},
    GRAPH_PASSES(X)
#undef X
#define X(name, takes, gives, function, needs, without, doc) \
  {#name, LEVEL_##takes, LEVEL_##gives, {.on_plan = function}, needs, without, doc},
    PLAN_PASSES(X)
#undef X
};

PassList planner_passes(void) { return (PassList){rows, (int)(sizeof rows / sizeof *rows)}; }

PassList graph_passes(void) {
  PassList list = planner_passes();
  while (list.rows[list.n - 1].gives > LEVEL_PRIMS) list.n--;
  return list;
}
