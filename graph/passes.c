#include "graph/passes.h"

#include <string.h>

/* Decomposing leaves equal nodes and casts to the dtype that is there. */
const GraphPass graph_passes[] = {
    {"functionalize", pass_functionalize, false},
    {"simplify", pass_simplify, false},
    {"decompose", pass_decompose, false},
    {"products", pass_products, true},
    {"simplify", pass_simplify, false},
};
const uint32_t graph_passes_count = sizeof graph_passes / sizeof *graph_passes;

const GraphPass *graph_pass_find(const char *name) {
  for (uint32_t i = 0; i < graph_passes_count; i++)
    if (!strcmp(graph_passes[i].name, name)) return &graph_passes[i];
  return NULL;
}
