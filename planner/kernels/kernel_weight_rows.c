/* Kernels of GROUP_MATMUL: one nereid.conv_weight on a CPU, by rows of images
 * (tiling/weight_rows.h). */
#include <string.h>

#include "graph/analysis/strided.h"
#include "planner/kernels/kernel_product.h"
#include "tiling/weight_rows.h"

typedef struct {
  Kernel *k;
  const Node *node;
  Window w;
  bool last;                  /* columns are output channels, and rows elements of a window's row;
                               * else the other way around */
  Dim place[WINDOW_AXES + 1]; /* of a step: the image, and all but the last of a row's sizes */
  Dim begin;                  /* its first window in the row */
  Dim ka, kb, element, output, above;
} RowsOfImages;

static Dim bound(Kernel *k, const char *name, Dim extent, unsigned axes) {
  Dim x = dim_shared_index(k->graph->dims, name, extent);
  kernel_bind(k, x, name, axes);
  return x;
}

/* Terms of a tile's rows come first, so that each has one address in all steps. */
static const char *pointers(RowsOfImages *c, Node *n, const Dim *index, unsigned first) {
  Kernel *k = c->k;
  Dims *d = k->graph->dims;
  Strided s;
  BUG_IF(!strided_of(k->graph, n, &s), "an operand is not in memory");
  Dim own = dim_int(d, 0), rest = s.offset;
  for (uint32_t i = 0; i < n->type.rank; i++) {
    unsigned axes = 0;
    bool one = dim_is(s.stride[i], 0) && i + 1 == n->type.rank; /* channel */
    Dim term = dim_mul(d, index[i], one ? dim_int(d, 1) : s.stride[i]);
    kernel_index(k, term, &axes);
    Dim *to = axes == first ? &own : &rest;
    *to = dim_add(d, *to, term);
  }
  unsigned axes = 0;
  kernel_index(k, dim_add(d, own, rest), &axes);
  const char *text = arena_printf(k->arena, "%s + %s + (%s)", kernel_buffer(k, s.memory),
                                  kernel_index(k, own, NULL), kernel_index(k, rest, NULL));
  bool left = first == AXIS_M;
  const char *row = c->last ? "element" : "output", *column = c->last ? "n" : "element";
  return product_pointers(k, text, axes, left ? row : "kb", left ? "ka" : column);
}

static const char *gradient(RowsOfImages *c) {
  Dim index[GRAPH_RANK_MAX];
  memcpy(index, c->place, c->w.n * sizeof *index);
  index[c->w.n] = dim_add(c->k->graph->dims, c->begin, c->last ? c->kb : c->ka);
  index[c->w.n + 1] = c->output;
  return pointers(c, c->node->args[0].node, index, c->last ? AXIS_N : AXIS_M);
}

static const char *input(RowsOfImages *c) {
  Dims *d = c->k->graph->dims;
  Dim index[GRAPH_RANK_MAX], at[WINDOW_AXES];
  uint32_t last = c->w.n - 1;
  bool whole = weight_row_is_whole(&c->w);
  index_of_linear(d, c->above, c->w.size, whole ? last : c->w.n, at);
  index[0] = c->place[0];
  for (uint32_t i = 0; i < last; i++)
    index[i + 1] = dim_add(d, dim_mul(d, c->place[i + 1], c->w.stride[i]),
                           dim_mul(d, at[i], c->w.dilation[i]));
  index[c->w.n] = dim_mul(d, dim_add(d, c->begin, c->last ? c->ka : c->kb), c->w.stride[last]);
  if (!whole)
    index[c->w.n] = dim_add(d, index[c->w.n], dim_mul(d, at[last], c->w.dilation[last]));
  index[c->w.n + 1] = c->element;
  return pointers(c, c->w.input, index, c->last ? AXIS_M : AXIS_N);
}

void kernel_weight_rows(Text *out, Kernel *k) {
  RowsOfImages c = {.k = k, .node = k->group->nodes.data[0]};
  Dims *d = k->graph->dims;
  const Dim *extent = k->group->extent;
  c.w = window_of(k->graph, c.node);
  c.last = window_outputs_last(k->graph, c.node);
  const ValueType *grad = &c.node->args[0].node->type;
  Dim windows = dim_int(d, weight_rows_step(grad, &c.w)), row = dim_int(d, weight_row(&c.w));
  Dim of_step[WINDOW_AXES + 2], at[WINDOW_AXES + 2], steps = dim_int(d, 1);
  memcpy(of_step, grad->shape, c.w.n * sizeof *of_step);
  of_step[c.w.n] = dim_floordiv(d, grad->shape[c.w.n], windows);
  for (uint32_t i = 0; i <= c.w.n; i++) steps = dim_mul(d, steps, of_step[i]);
  static const char *const names[] = {"columns", "down", "place", "above", "element", "output",
                                      "steps", "each", "first", "last", "step"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    kernel_take(k, pool_name(k->graph->names, names[i]));
  product_bind(k);
  c.ka = bound(k, "ka", windows, AXIS_N);
  c.kb = bound(k, "kb", windows, AXIS_M);
  c.element = bound(k, "element", row, c.last ? AXIS_M : AXIS_N);
  c.output = c.last ? k->group->index[2] : bound(k, "output", extent[1], AXIS_M);
  c.above = bound(k, "above", dim_floordiv(d, extent[c.last ? 1 : 2], row), 0);
  index_of_linear(d, bound(k, "step", steps, 0), of_step, c.w.n + 1, at);
  memcpy(c.place, at, c.w.n * sizeof *at);
  c.begin = dim_mul(d, at[c.w.n], windows);
  const char *left = c.last ? input(&c) : gradient(&c);
  const char *right = c.last ? gradient(&c) : input(&c);
  product_epilogue(k);
  Slot slots[] = {{"outputs", kernel_extent(k, extent[c.last ? 2 : 1])},
                  {"row", kernel_index(k, row, NULL)},
                  {"steps", kernel_extent(k, steps)},
                  {"parts", kernel_extent(k, extent[0])},
                  {"left", left},
                  {"right", right}};
  const char *text = c.last ? "rows_of_images.py" : "outputs_of_images.py";
  kernel_emit(out, k, text, slots, sizeof slots / sizeof *slots);
}
