/* Kernels of GROUP_MATMUL: one product of matrices, with the pointwise nodes behind it computed on
 * its tiles.  Operands are read through views, whatever their strides. */
#include "graph/kernel.h"

/* ptr + offset of the operand's element (batch, row, column). */
static const char *operand(Kernel *k, Node *n, Dim batch, Dim row, Dim column) {
  Dim place[GRAPH_RANK_MAX] = {batch, row, column}, from[GRAPH_RANK_MAX];
  if (n->type.rank == 2) {
    place[0] = row;
    place[1] = column;
  }
  while (!k->f->of[n->id] && n->kind != NODE_INPUT) {
    view_place(k->graph, n, place, from);
    n = view_operand(n);
    for (uint32_t i = 0; i < n->type.rank; i++) place[i] = from[i];
  }
  Dim offset = linear_of_place(k->graph->dims, place, n->type.shape, n->type.rank);
  return arena_printf(k->arena, "%s + %s", kernel_buffer(k, n), kernel_index(k, offset, NULL));
}

void kernel_matmul(Text *out, Kernel *k) {
  const Group *g = k->group;
  Dims *d = k->graph->dims;
  Node *product = g->nodes.data[0], *left = product->args[0].node, *right = product->args[1].node;
  uint32_t rank = product->type.rank;
  Dim size = left->type.shape[rank - 1];
  Dim left_k = dim_index(d, "ka", size), right_k = dim_index(d, "kb", size);
  kernel_bind(k, g->index[0], "batch", AXIS_B);
  kernel_bind(k, g->index[1], "m", AXIS_M);
  kernel_bind(k, g->index[2], "n", AXIS_N);
  kernel_bind(k, left_k, "ka", AXIS_N);
  kernel_bind(k, right_k, "kb", AXIS_M);
  for (unsigned axes = 0; axes < 8; axes++)
    k->masks[axes] = (axes & 3) == 3 ? "mmask & nmask"
                     : axes & 1      ? "mmask"
                     : axes & 2      ? "nmask"
                                     : NULL;
  bool exact = left->type.dtype == DT_F32;
  Slot slots[] = {{"m", kernel_index(k, product->type.shape[rank - 2], NULL)},
                  {"n", kernel_index(k, product->type.shape[rank - 1], NULL)},
                  {"k", kernel_index(k, size, NULL)},
                  {"left", operand(k, left, g->index[0], g->index[1], left_k)},
                  {"right", operand(k, right, g->index[0], right_k, g->index[2])},
                  {"precision", exact ? ", input_precision=\"ieee\"" : ""}};
  Dim place[GRAPH_RANK_MAX];
  group_place(k->f, g, product, place);
  kernel_remember(k, product, place, (Value){"acc", DT_F32}, AXIS_M | AXIS_N);
  for (size_t i = 0; i < g->nodes.len; i++) {
    Node *n = g->nodes.data[i];
    group_place(k->f, g, n, place);
    Value v = kernel_value(k, n, place);
    if (k->f->stored[n->id]) kernel_store(k, n, v);
  }
  kernel_emit(out, k, "matmul.py", slots, sizeof slots / sizeof *slots);
}
