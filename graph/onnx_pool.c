/* Pools: reductions over windows. */
#include <math.h>
#include <string.h>

#include "graph/onnx_window.h"

static const char *const max_targets[] = {"aten.max_pool1d.default", "aten.max_pool2d.default",
                                          "aten.max_pool3d.default"};
static const char *const average_targets[] = {"aten.avg_pool1d.default", "aten.avg_pool2d.default",
                                              "aten.avg_pool3d.default"};

/* ATen pads at most half a window, on both sides alike. */
static bool aten_pads(const OnnxWindow *w) {
  for (uint32_t i = 0; i < w->n; i++)
    if (w->before[i] > w->kernel[i] / 2) return false;
  return onnx_window_is_even(w);
}

static Arg least_of(OnnxCall *c, DType t) {
  if (dtype_is_float(t)) return arg_float(-INFINITY);
  unsigned bits = dtype_bits(t);
  return build_int(&c->b, dtype_is_signed(t) ? -(INT64_C(1) << (bits - 1)) : 0);
}

void onnx_op_max_pool(OnnxCall *c) {
  Node *x = onnx_in(c, 0);
  OnnxWindow w = onnx_window(c, x, NULL);
  onnx_ignore(c, "storage_order");
  if (onnx_wants(c, 1)) onnx_lack(c, "the result Indices");
  if (!aten_pads(&w)) {
    x = onnx_window_pad(c, &w, x, least_of(c, x->type.dtype), true);
    memset(w.before, 0, sizeof w.before);
  }
  Arg args[] = {arg_node(x), onnx_window_arg(c, &w, w.kernel), onnx_window_arg(c, &w, w.stride),
                onnx_window_arg(c, &w, w.before), onnx_window_arg(c, &w, w.dilation)};
  onnx_set(c, 0, build(&c->b, max_targets[w.n - 1], 5, args));
}

static Node *average(OnnxCall *c, const OnnxWindow *w, Node *x, const int64_t *pads, bool all) {
  Arg args[] = {arg_node(x),
                onnx_window_arg(c, w, w->kernel),
                onnx_window_arg(c, w, w->stride),
                onnx_window_arg(c, w, pads),
                arg_bool(false),
                arg_bool(all)};
  return build(&c->b, average_targets[w->n - 1], 6, args);
}

/* The mean of what windows have of the tensor is their mean with zeros around it, divided by the
 * same of ones; `all`: ones in the padding too, but not where only ceil_mode put it. */
static Node *average_of_rest(OnnxCall *c, const OnnxWindow *w, Node *x, bool all) {
  static const int64_t none[ONNX_AXES_MAX];
  Build *b = &c->b;
  OnnxWindow behind = {.n = w->n};
  memcpy(behind.after, w->extra, sizeof behind.after);
  Node *padded = onnx_window_pad(c, w, x, arg_float(0), true);
  Node *ones = build_full(b, rank_of(x), x->type.shape, arg_float(1), x->type.dtype);
  ones = onnx_window_pad(c, w, ones, arg_float(all), false);
  ones = onnx_window_pad(c, &behind, ones, arg_float(0), false);
  return build_div(b, average(c, w, padded, none, true), average(c, w, ones, none, true));
}

void onnx_op_average_pool(OnnxCall *c) {
  Node *x = onnx_in(c, 0);
  OnnxWindow w = onnx_window(c, x, NULL);
  bool all = onnx_flag(c, "count_include_pad", false);
  for (uint32_t i = 0; i < w.n; i++)
    if (w.dilation[i] != 1) onnx_lack(c, "dilations");
  if (aten_pads(&w)) onnx_set(c, 0, average(c, &w, x, w.before, all));
  else onnx_set(c, 0, average_of_rest(c, &w, x, all));
}

/* Over all axes behind the first two. */
void onnx_op_global_pool(OnnxCall *c) {
  Node *x = onnx_in(c, 0);
  if (rank_of(x) < 3)
    onnx_fail(c, E_GRAPH_AXES, 3, GRAPH_RANK_MAX, infer_type_text(&c->b.in, &x->type));
  onnx_set(c, 0, build_reduce(&c->b, c->op->target, x, all_axes(x) & ~3u, true));
}
