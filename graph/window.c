#include "graph/window.h"

#include <string.h>

static Dim size_of_arg(const Arg *a) { return a->kind == ARG_NODE ? a->node->type.value : a->dim; }

/* An argument of one number for each axis, or one for all; `empty` stands for an empty list. */
static void read_axes(Graph *g, const Node *n, const char *param, uint32_t axes, const Dim *empty,
                      Dim *out) {
  Arg a = graph_arg(g, n, param);
  for (uint32_t i = 0; i < axes; i++) {
    if (a.kind == ARG_LIST && a.n == 0) out[i] = empty[i];
    else if (a.kind == ARG_LIST) out[i] = size_of_arg(&a.items[a.n == 1 ? 0 : i]);
    else out[i] = size_of_arg(&a);
  }
}

static bool has_param(Graph *g, const Node *n, const char *param) {
  return ops_param(ops_schema(g, n->op), param) >= 0;
}

Window window_of(Graph *g, const Node *n) {
  Window w = {.input = n->args[0].node};
  bool pool = has_param(g, n, "kernel_size");
  uint32_t rank = w.input->type.rank;
  const Node *weight = pool ? NULL : graph_arg(g, n, "weight").node;
  Arg kernel = pool ? graph_arg(g, n, "kernel_size") : arg_none();
  w.n = pool ? (kernel.kind == ARG_LIST && kernel.n > 1 ? kernel.n
                                                        : (uint32_t)(n->op->target[13] - '0'))
             : weight->type.rank - 2;
  w.lead = rank - w.n;
  Dim one[WINDOW_AXES];
  for (uint32_t i = 0; i < w.n; i++) one[i] = dim_int(g->dims, 1);
  if (pool) read_axes(g, n, "kernel_size", w.n, one, w.size);
  else memcpy(w.size, weight->type.shape + 2, w.n * sizeof(Dim));
  read_axes(g, n, "stride", w.n, w.size, w.stride);
  read_axes(g, n, "padding", w.n, one, w.padding);
  memcpy(w.dilation, one, sizeof one);
  if (has_param(g, n, "dilation")) read_axes(g, n, "dilation", w.n, one, w.dilation);
  return w;
}

void window_piece(Graph *g, const Window *w, const Dim *lead, const Dim *out, const Dim *in,
                  Piece *p) {
  Dims *d = g->dims;
  p->operand = w->input;
  p->nlimits = 0;
  memcpy(p->place, lead, w->lead * sizeof *lead);
  for (uint32_t i = 0; i < w->n; i++) {
    Dim at = dim_add(d, dim_mul(d, out[i], w->stride[i]), dim_mul(d, in[i], w->dilation[i]));
    at = dim_sub(d, at, w->padding[i]);
    p->place[w->lead + i] = at;
    piece_limit(g, p, at, dim_int(d, 0), w->input->type.shape[w->lead + i]);
  }
}

uint32_t pool_shape(Graph *g, const Node *n, Dim *shape) {
  Window w = window_of(g, n);
  memcpy(shape, n->type.shape, n->type.rank * sizeof *shape);
  memcpy(shape + n->type.rank, w.size, w.n * sizeof *shape);
  return n->type.rank + w.n;
}

void pool_piece(Graph *g, const Node *n, const Dim *place, Piece *p) {
  Window w = window_of(g, n);
  window_piece(g, &w, place, place + w.lead, place + w.lead + w.n, p);
}
