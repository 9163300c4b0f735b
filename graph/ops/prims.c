#include "graph/ops/prims.h"

#include <string.h>

bool prim_reads_size(const Node *n) { return graph_is(n, OP_nereid_counted_default); }

Name prim_check_fault(Graph *g, const Node *n) {
  Arg fault = graph_arg(g, n, "fault");
  return fault.kind == ARG_STRING ? fault.name : NULL;
}

bool prim_does_rows(const Node *n) {
  return graph_is_any(n, OP_nereid_suppress_default, OP_nereid_matrix_default,
                      OP_nereid_fourier_default, OP_nereid_turned_pairs_default,
                      OP_nereid_scatter_rows_default);
}

bool prim_puts(const Node *n) {
  enum { REDUCE = 3 };
  return graph_is(n, OP_nereid_scatter_default) && !strcmp(n->args[REDUCE].name, "put");
}

Node *prim_of_kernel(const Node *n) {
  if (n->kind != NODE_CALL) return NULL;
  if (graph_is_any(n, OP_nereid_attention_grad_read_default,
                   OP_nereid_attention_grad_added_default))
    return n->args[1].node;
  return prim_kind(n->op) == PRIM_PART ? n->args[0].node : NULL;
}

static bool is_written(const Node *n) {
  PrimKind k = n->kind == NODE_CALL ? prim_kind(n->op) : PRIM_NONE;
  return k == PRIM_SCATTER || k == PRIM_INSERT || k == PRIM_INSERTED;
}

Node *prim_memory(Node *n) {
  while (is_written(n)) n = n->args[0].node;
  return n;
}

uint32_t prim_in_memory(const Node *n) {
  enum {
    STATE = 1,
    OF = 2,
    SCORES = 4,
    BOXES = 8,
    THRESHOLD = 16,
    ALL = 7,
    MATRICES = 12,
    SIGNALS = 60,
    ROWS = 60,       /* their index, segments and factors */
    WINDOW = 3 << 15 /* and a filter */
  };
  switch (n->op->id) {
    case OP_nereid_attention_grad_added_default:
    case OP_nereid_attention_grad_read_default: return STATE | OF;
    case OP_nereid_segment_sum_default: return ALL;
    case OP_nereid_tree_leaf_default: return n->args[2].kind == ARG_NODE ? ALL : STATE | OF;
    case OP_nereid_suppress_default: return STATE | SCORES | BOXES | THRESHOLD;
    case OP_nereid_matrix_default: return STATE | MATRICES;
    case OP_nereid_fourier_default: return STATE | SIGNALS | WINDOW;
    case OP_nereid_turned_pairs_default: return STATE | SCORES;
    case OP_nereid_scatter_rows_default: return STATE | ROWS;
    default: return STATE;
  }
}

ProductGroups prim_groups(const Node *n) {
  if (graph_is(n, OP_nereid_parted_mm_default)) return GROUPS_OF_SUM;
  if (!graph_is_any(n, OP_nereid_grouped_mm_default, OP_nereid_packed_grouped_mm_default))
    return GROUPS_NONE;
  uint32_t rank = n->args[0].node->type.rank;
  if (n->type.rank == 3) return GROUPS_OF_SUM;
  return rank == 2 ? GROUPS_OF_ROWS : GROUPS_OF_COLUMNS;
}

bool prim_scales_blocks(const Node *n) {
  return graph_is(n, OP_nereid_float8_mm_default) && n->nargs > 2 && n->args[2].kind == ARG_NODE;
}

bool prim_is_product(PrimKind k) {
  return k == PRIM_MATMUL || k == PRIM_CONVOLUTION || k == PRIM_CONVOLUTION_WEIGHT ||
         k == PRIM_LIBRARY;
}

bool prim_has_template(PrimKind k) {
  return prim_is_product(k) || k == PRIM_ATTENTION || k == PRIM_PART;
}

bool prim_is_view(const Node *n) {
  return n->kind == NODE_GETITEM || (n->kind == NODE_CALL && prim_kind(n->op) == PRIM_VIEW);
}
