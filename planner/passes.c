#include "planner/passes.h"

PassList graph_passes(void) {
#define X(name, takes, gives, function, needs, without, doc) \
  {#name, LEVEL_##takes, LEVEL_##gives, {.on_graph = function}, needs, without, doc},
  static const Pass rows[] = {GRAPH_PASSES(X)};
#undef X
  return (PassList){rows, (int)(sizeof rows / sizeof *rows)};
}
