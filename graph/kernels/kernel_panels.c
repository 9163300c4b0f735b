/* Kernels of products whose right operand lies in panels: see panels.h. */
#include "graph/kernels/kernel_product.h"
#include "graph/tiling/panels.h"

/* What depends on the row alone comes first: so each row has one address in all steps. */
static const char *left_pointers(Kernel *k, Node *left, Dim row, Dim column) {
  Dims *d = k->graph->dims;
  ConcatSource p = {.operand = left, .place = {row, column}};
  product_source(k, &p);
  const ValueType *t = &p.operand->type;
  Dim offset = linear_of_place(d, p.place, t->shape, t->rank);
  Dim of_row = dim_int(d, 0), rest = of_row;
  uint32_t terms = offset->kind == DIM_SUM ? offset->n : 1;
  for (uint32_t i = 0; i < terms; i++) {
    Dim term = offset->kind == DIM_SUM ? offset->args[i] : offset;
    unsigned axes = 0;
    kernel_index(k, term, &axes);
    Dim *to = axes == AXIS_M ? &of_row : &rest;
    *to = dim_add(d, *to, term);
  }
  if (offset->kind == DIM_SUM) rest = dim_add(d, rest, dim_int(d, offset->value));
  unsigned axes = 0;
  kernel_index(k, offset, &axes);
  const char *text = arena_printf(k->arena, "%s + %s + (%s)", kernel_buffer(k, p.operand),
                                  kernel_index(k, of_row, NULL), kernel_index(k, rest, NULL));
  return product_pointers(k, text, axes, "row", "ka");
}

static const char *right_pointers(Kernel *k, Node *right, Dim row, Dim column) {
  ConcatSource p = {.operand = right, .place = {row, column}};
  return kernel_access(k, &p, "kb", "column").pointers;
}

/* Rows of the left operand.  Where tiles divide them, the index stays a plain one. */
static const char *row_lines(Kernel *k) {
  Dim m = k->group->extent[1];
  const char *rows = kernel_index(k, m, NULL);
  if (!dim_is_int(m)) return arena_printf(k->arena, "    row = tl.minimum(m, %s - 1)\n", rows);
  return arena_printf(k->arena,
                      "    row = m\n"
                      "    if %s %% BM != 0:\n"
                      "        row = tl.minimum(m, %s - 1)\n",
                      rows, rows);
}

void kernel_panels(Text *out, Kernel *k) {
  const Group *g = k->group;
  Dims *d = k->graph->dims;
  const Node *n = g->nodes.data[0];
  Dim width = dim_int(d, panels_width());
  Dim count = dim_floordiv(d, dim_add(d, g->extent[2], dim_int(d, panels_width() - 1)), width);
  Dim row = dim_shared_index(d, "row", g->extent[1]);
  Dim left_k = dim_shared_index(d, "ka", g->extent[3]);
  Dim right_k = dim_shared_index(d, "kb", g->extent[3]);
  Dim panel = dim_shared_index(d, "panel", count), column = dim_shared_index(d, "column", width);
  product_bind(k);
  kernel_bind(k, row, "row", AXIS_M);
  kernel_bind(k, left_k, "ka", AXIS_N);
  kernel_bind(k, right_k, "kb", AXIS_M);
  kernel_bind(k, panel, "panel", 0);
  kernel_bind(k, column, "column", AXIS_N);
  Slot slots[] = {{"m", kernel_extent(k, g->extent[1])},
                  {"n", kernel_extent(k, g->extent[2])},
                  {"k", kernel_index(k, g->extent[3], NULL)},
                  {"row", row_lines(k)},
                  {"left", left_pointers(k, n->args[0].node, row, left_k)},
                  {"right", right_pointers(k, n->args[1].node, right_k,
                                           dim_add(d, dim_mul(d, panel, width), column))}};
  product_epilogue(k);
  kernel_emit(out, k, "panels.py", slots, sizeof slots / sizeof *slots);
}
