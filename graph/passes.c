#include "graph/passes.h"

#include <string.h>

/* Decomposing leaves equal nodes and casts to the dtype that is there. */
const GraphPass graph_passes[] = {
    {"functionalize", pass_functionalize, ALWAYS},
    {"simplify", pass_simplify, ALWAYS},
    {"rewrite", pass_rewrite, ALWAYS},
    {"merge", pass_merge, FUSED_ON_GPU},
    {"check_indices", pass_check_indices, ALWAYS},
    {"reinplace", pass_reinplace, ALWAYS},
    {"decompose", pass_decompose, ALWAYS},
    {"layout", pass_layout, ALWAYS},
    {"vectors", pass_vectors, FUSED},
    {"products", pass_products, FUSED_ON_GPU},
    {"simplify", pass_simplify, ALWAYS},
    {"freeze", pass_freeze, FROZEN},
    {"pack", pass_pack, FROZEN_ON_CPU},
};
const uint32_t graph_passes_count = sizeof graph_passes / sizeof *graph_passes;

const GraphPass *graph_pass_find(const char *name) {
  for (uint32_t i = 0; i < graph_passes_count; i++)
    if (!strcmp(graph_passes[i].name, name)) return &graph_passes[i];
  return NULL;
}
