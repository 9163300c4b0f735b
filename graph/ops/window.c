#include "graph/ops/window.h"

#include <string.h>

static Dim size_of_arg(const Arg *a) { return a->kind == ARG_NODE ? a->node->type.value : a->dim; }

static bool has_param(Graph *g, const Node *n, const char *param) {
  return ops_param(ops_schema(g, n->op), param) >= 0;
}

/* Every `step`th number of a list. */
static void read_param_list(Graph *g, const Node *n, const char *param, uint32_t step, Dim *out) {
  Arg a = graph_arg(g, n, param);
  for (uint32_t i = 0; i * step < a.n; i++) out[i] = size_of_arg(&a.items[i * step]);
}

static uint32_t first_window_axis(Graph *g, const Node *n) {
  int64_t axis = graph_arg(g, n, "first").dim->value;
  return (uint32_t)(axis < 0 ? axis + n->type.rank : axis);
}

/* The window of a gradient of a depthwise convolution's weight: of images, and of the gradient. */
static Window window_of_images(Graph *g, const Node *n) {
  Dim zero = dim_int(g->dims, 0), one = dim_int(g->dims, 1);
  Window w = {.input = graph_arg(g, n, "input").node, .of_images = true};
  w.weight = graph_arg(g, n, "grad").node;
  w.n = graph_arg(g, n, "stride").n + 1;
  w.channels = n->type.rank - 1;
  memcpy(w.size, w.weight->type.shape, w.n * sizeof *w.size);
  w.size[0] = dim_quotient(g->dims, w.size[0], graph_arg(g, n, "parts").dim);
  w.stride[0] = w.size[0];
  w.before[0] = zero;
  w.dilation[0] = one;
  for (uint32_t i = 0; i < w.n; i++) w.spread[i] = one;
  read_param_list(g, n, "stride", 1, w.dilation + 1);
  read_param_list(g, n, "dilation", 1, w.stride + 1);
  read_param_list(g, n, "padding", 1, w.before + 1);
  return w;
}

Window window_of(Graph *g, const Node *n) {
  if (graph_is(n, OP_nereid_conv_depthwise_weight_default)) return window_of_images(g, n);
  Window w = {.input = graph_arg(g, n, "input").node, .first = 1};
  bool pool = has_param(g, n, "kernel"), of_weight = has_param(g, n, "window");
  w.n = graph_arg(g, n, "stride").n;
  if (!pool && !of_weight) w.weight = graph_arg(g, n, "weight").node;
  if (has_param(g, n, "first")) w.first = first_window_axis(g, n);
  w.channels = w.first > 1 ? 1 : n->type.rank - 1;
  if (pool) read_param_list(g, n, "kernel", 1, w.size);
  else if (of_weight) read_param_list(g, n, "window", 1, w.size);
  else memcpy(w.size, w.weight->type.shape, w.n * sizeof *w.size);
  for (uint32_t i = 0; i < w.n; i++) w.spread[i] = dim_int(g->dims, 1);
  if (has_param(g, n, "spread")) read_param_list(g, n, "spread", 1, w.spread);
  read_param_list(g, n, "stride", 1, w.stride);
  read_param_list(g, n, "padding", of_weight ? 1 : 2, w.before);
  read_param_list(g, n, "dilation", 1, w.dilation);
  return w;
}

static bool meets_box(const Window *w, uint32_t i) {
  Dim stride = w->stride[i], spread = w->spread[i], size = w->input->type.shape[i + 1];
  if (dim_is(stride, 1) && dim_is(spread, 1)) return true;
  bool known = dim_is_int(stride) && dim_is_int(spread) && dim_is_int(w->before[i]) &&
               dim_is_int(w->dilation[i]) && dim_is_int(w->size[i]) && dim_is_int(size);
  if (!known || w->before[i]->value < 0) return false;
  if (dim_is(spread, 1)) return size->value % stride->value == 0;
  return dim_is(stride, 1) && dim_is(w->dilation[i], 1);
}

bool window_outputs_last(Graph *g, const Node *n) {
  return graph_arg(g, n, "outputs_last").flag;
}

bool window_meets_boxes(const Window *w) {
  for (uint32_t i = 0; i < w->n; i++)
    if (!meets_box(w, i)) return false;
  return true;
}

bool window_rounded(Graph *g, const Node *n) { return graph_arg(g, n, "rounded").flag; }

int64_t window_joined(Graph *g, const Node *n) { return graph_arg(g, n, "joined").dim->value; }

Dim window_count(Graph *g, const Window *w) {
  Dim n = dim_int(g->dims, 1);
  for (uint32_t i = 0; i < w->n; i++) n = dim_mul(g->dims, n, w->size[i]);
  return n;
}

enum { BLOCK_MIN = 16 };

int64_t window_block(const Node *n) {
  const ValueType *w = &n->args[1].node->type;
  Dim channels = w->shape[w->rank - 2];
  int64_t block = 1;
  while (dim_is_int(channels) && channels->value && channels->value % (2 * block) == 0) block *= 2;
  return block < BLOCK_MIN ? 0 : block;
}

/* The index of spread elements: only every spread'th position has one. */
static Dim spread_index(Graph *g, ConcatSource *p, Dim at, Dim size, Dim spread) {
  Dims *d = g->dims;
  Dim one = dim_int(d, 1), end = dim_mul(d, dim_sub(d, size, one), spread);
  source_limit(g, p, at, dim_int(d, 0), dim_add(d, end, one));
  if (dim_is(spread, 1)) return at;
  source_limit(g, p, dim_mod(d, at, spread), NULL, one);
  return dim_floordiv(d, at, spread);
}

void window_piece(Graph *g, const Window *w, const Dim *index, const Dim *at, ConcatSource *p) {
  Dims *d = g->dims;
  p->operand = w->input;
  p->nlimits = 0;
  memcpy(p->index, index, w->input->type.rank * sizeof *index);
  for (uint32_t i = 0; i < w->n; i++) {
    uint32_t axis = w->first + i;
    Dim x = dim_mul(d, index[axis], w->stride[i]);
    x = dim_sub(d, dim_add(d, x, dim_mul(d, at[i], w->dilation[i])), w->before[i]);
    p->index[axis] = spread_index(g, p, x, w->input->type.shape[axis], w->spread[i]);
    if (i < w->inside) p->nlimits = 0;
  }
}

void window_weight_index(const Window *w, const ConcatSource *p, const Dim *at, Dim channel,
                         Dim *index) {
  memcpy(index, at, w->n * sizeof *index);
  if (w->of_images) index[0] = p->index[0];
  index[w->n] = channel;
}
