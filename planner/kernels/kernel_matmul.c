/* Kernels of GROUP_MATMUL: one product of matrices, with the pointwise nodes after it computed on
 * its tiles.  Operands are read through views, whatever their strides. */
#include "planner/kernels/kernel_product.h"
#include "planner/tiling/panels.h"

/* ---- right operands in panels: see panels.h ---- */

/* Terms that depend on the row alone come first: so each row has one address in all steps. */
static const char *left_pointers(Kernel *k, Node *left, Dim row, Dim column) {
  Dims *d = k->graph->dims;
  ConcatSource p = {.operand = left, .index = {row, column}};
  product_source(k, &p);
  const ValueType *t = &p.operand->type;
  Dim offset = linear_of_index(d, p.index, t->shape, t->rank);
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
  ConcatSource p = {.operand = right, .index = {row, column}};
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

/* The kernel of a product whose right operand is packed in panels (panels.h). */
static void kernel_panels(Text *out, Kernel *k) {
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

void product_source(Kernel *k, ConcatSource *p) {
  Dim from[GRAPH_RANK_MAX];
  while (!k->f->of[p->operand->id] && p->operand->kind != NODE_INPUT) {
    view_index(k->graph, p->operand, p->index, from);
    p->operand = view_operand(p->operand);
    for (uint32_t i = 0; i < p->operand->type.rank; i++) p->index[i] = from[i];
  }
}

const char *product_pointers(Kernel *k, const char *pointers, unsigned axes, const char *first,
                             const char *second) {
  if (!(axes & AXIS_M)) pointers = arena_printf(k->arena, "%s + %s * 0", pointers, first);
  if (!(axes & AXIS_N)) pointers = arena_printf(k->arena, "%s + %s * 0", pointers, second);
  return pointers;
}

Access kernel_access(Kernel *k, ConcatSource *p, const char *first, const char *second) {
  product_source(k, p);
  const Node *n = p->operand;
  Dim offset = linear_of_index(k->graph->dims, p->index, n->type.shape, n->type.rank);
  unsigned axes = 0;
  const char *index = kernel_index(k, offset, &axes);
  const char *text = arena_printf(k->arena, "%s + %s", kernel_buffer(k, p->operand), index);
  text = product_pointers(k, text, axes, first, second);
  const char *limits = kernel_limits(k, p);
  return (Access){text, *limits ? arena_printf(k->arena, " & %s", limits) : ""};
}

/* Element (batch, row, column) of an operand of mm or bmm. */
static Access matrix(Kernel *k, Node *n, Dim batch, Dim row, Dim column, bool left) {
  ConcatSource p = {.operand = n, .index = {batch, row, column}};
  if (n->type.rank == 2) {
    p.index[0] = row;
    p.index[1] = column;
  }
  return kernel_access(k, &p, left ? "m" : "kb", left ? "ka" : "n");
}

/* ---- the kernel ---- */

void product_bind(Kernel *k) {
  const Group *g = k->group;
  kernel_bind(k, g->index[0], "batch", AXIS_B);
  kernel_bind(k, g->index[1], "m", AXIS_M);
  kernel_bind(k, g->index[2], "n", AXIS_N);
  static const char *const masks[] = {NULL, "mmask", "nmask", "mmask & nmask"};
  for (unsigned axes = 0; axes < 8; axes++) k->masks[axes] = masks[axes & 3];
}

void product_epilogue(Kernel *k) {
  const Group *g = k->group;
  Dim index[GRAPH_RANK_MAX];
  for (size_t i = 0; i < g->nodes.len; i++) {
    Node *n = g->nodes.data[i];
    if (prim_kind(n->op) == PRIM_PART) continue;
    group_index(k->f, g, n, index);
    if (i == 0) kernel_remember(k, n, index, (Value){"acc", DT_F32});
    Value v = kernel_value(k, n, index);
    if (k->f->stored[n->id]) kernel_store(k, n, v);
  }
}

/* Rounded as the libraries round: cut operands are all too small, by which errors add up over a
 * model's layers to ten times theirs. */
const char *product_precision(const Graph *g, DType t, ProductRounding rounds) {
  if (t != DT_F32) return "";
  return graph_rounds(g, rounds) ? ", input_precision=\"tf32_rounded\""
                                 : ", input_precision=\"ieee\"";
}

void kernel_matmul(Text *out, Kernel *k) {
  const Group *g = k->group;
  Dims *d = k->graph->dims;
  Node *n = g->nodes.data[0], *left = n->args[0].node, *right = n->args[1].node;
  if (panels_are(right)) {
    kernel_panels(out, k);
    return;
  }
  Dim left_k = dim_shared_index(d, "ka", g->extent[3]);
  Dim right_k = dim_shared_index(d, "kb", g->extent[3]);
  product_bind(k);
  kernel_bind(k, left_k, "ka", AXIS_N);
  kernel_bind(k, right_k, "kb", AXIS_M);
  Access a = matrix(k, left, g->index[0], g->index[1], left_k, true);
  Access b = matrix(k, right, g->index[0], right_k, g->index[2], false);
  Slot slots[] = {{"m", kernel_extent(k, g->extent[1])},
                  {"n", kernel_extent(k, g->extent[2])},
                  {"k", kernel_index(k, g->extent[3], NULL)},
                  {"left", a.pointers},
                  {"left_condition", a.condition},
                  {"right", b.pointers},
                  {"precision", product_precision(k->graph, left->type.dtype, n->rounds)}};
  product_epilogue(k);
  kernel_emit(out, k, "matmul.py", slots, sizeof slots / sizeof *slots);
}
