#include "import/onnx/ops/onnx_shared.h"

#include <string.h>

#include "graph/messages.h"
#include "import/messages.h"

/* The part of an axis that one window spans. */
static int64_t span_of(const OnnxWindow *w, uint32_t i) {
  return (w->kernel[i] - 1) * w->dilation[i] + 1;
}

int64_t onnx_window_size(OnnxCall *c, const Node *x, uint32_t i) {
  Dim size = x->type.shape[i + 2];
  if (!dim_is_int(size)) onnx_want_input(c, 0);
  if (!dim_is_int(size)) onnx_fail(c, E_GRAPH_FIXED, i + 2, infer_type_text(&c->b.in, &x->type));
  if (size->value > INT32_MAX) onnx_lack(c, "windows along an axis of 2^31 elements");
  return size->value;
}

/* The axis holds as many windows as strides fit; the larger half of an odd padding comes after it,
 * or before it if `lower`. */
static void pad_auto(OnnxCall *c, const Node *x, OnnxWindow *w, bool lower) {
  for (uint32_t i = 0; i < w->n; i++) {
    int64_t rest = 0;
    if (w->stride[i] != 1) {
      int64_t size = onnx_window_size(c, x, i);
      rest = size % w->stride[i] ? size % w->stride[i] : w->stride[i];
    } else {
      rest = 1;
    }
    int64_t total = span_of(w, i) - rest;
    if (total < 0) total = 0;
    w->before[i] = lower ? (total + 1) / 2 : total / 2;
    w->after[i] = total - w->before[i];
  }
}

/* Pads the end so that the last window is whole, if it begins before the padding there. */
static void pad_to_ceil(OnnxCall *c, const Node *x, OnnxWindow *w) {
  for (uint32_t i = 0; i < w->n; i++) {
    int64_t size = onnx_window_size(c, x, i) + w->before[i];
    int64_t room = size + w->after[i] - span_of(w, i);
    int64_t rest = room >= 0 ? room % w->stride[i] : 0;
    if (rest && room - rest + w->stride[i] < size) w->extra[i] = w->stride[i] - rest;
  }
}

static void check_window(OnnxCall *c, const OnnxWindow *w) {
  for (uint32_t i = 0; i < w->n; i++) {
    int64_t values[] = {w->kernel[i], w->stride[i], w->dilation[i]};
    for (int k = 0; k < 3; k++)
      if (values[k] < 1 || values[k] > INT32_MAX) onnx_fail(c, E_GRAPH_STEP, (long long)values[k]);
    if (w->before[i] < 0 || w->after[i] < 0 || w->before[i] > INT32_MAX || w->after[i] > INT32_MAX)
      onnx_lack(c, "padding that is negative or above 2^31");
  }
}

OnnxWindow onnx_window(OnnxCall *c, const Node *x, const Dim *kernel) {
  OnnxWindow w = {.n = rank_of(x) - 2};
  int64_t pads[2 * ONNX_AXES_MAX];
  if (rank_of(x) < 3 || w.n > ONNX_AXES_MAX)
    onnx_lack(c, "windows over a tensor of %u axes", rank_of(x));
  for (uint32_t i = 0; kernel && i < w.n; i++) {
    if (!dim_is_int(kernel[i])) onnx_lack(c, "a kernel of symbolic size");
    w.kernel[i] = kernel[i]->value;
  }
  if (!kernel && !onnx_has_attr(c, "kernel_shape"))
    onnx_fail(c, E_ONNX_ATTR_MISSING, "kernel_shape");
  onnx_ints_of(c, "kernel_shape", w.n, 1, kernel ? pads : w.kernel);
  onnx_ints_of(c, "strides", w.n, 1, w.stride);
  onnx_ints_of(c, "dilations", w.n, 1, w.dilation);
  onnx_ints_of(c, "pads", 2 * w.n, 0, pads);
  memcpy(w.before, pads, w.n * sizeof *pads);
  memcpy(w.after, pads + w.n, w.n * sizeof *pads);
  check_window(c, &w);
  Name how = onnx_string(c, "auto_pad", "NOTSET");
  w.same = !strncmp(how, "SAME_", 5);
  if (w.same) pad_auto(c, x, &w, !strcmp(how, "SAME_LOWER"));
  else if (!strcmp(how, "VALID")) memset(w.before, 0, sizeof w.before * 2);
  else if (strcmp(how, "NOTSET")) onnx_fail(c, E_ONNX_ATTR_VALUE, "auto_pad", how);
  if (onnx_flag(c, "ceil_mode", false)) pad_to_ceil(c, x, &w);
  return w;
}

bool onnx_window_is_even(const OnnxWindow *w) {
  for (uint32_t i = 0; i < w->n; i++)
    if (w->before[i] != w->after[i] || w->extra[i]) return false;
  return true;
}

bool onnx_is_empty(const Node *x) {
  for (uint32_t i = 0; i < rank_of(x); i++)
    if (dim_is(x->type.shape[i], 0)) return true;
  return false;
}

Node *onnx_window_pad(OnnxCall *c, const OnnxWindow *w, Node *x, Arg value, bool extra) {
  Dim pad[2 * ONNX_AXES_MAX];
  bool any = false;
  for (uint32_t i = 0; i < w->n; i++) {
    uint32_t axis = w->n - 1 - i;
    int64_t after = w->after[axis] + (extra ? w->extra[axis] : 0);
    pad[2 * i] = build_const(&c->b, w->before[axis]);
    pad[2 * i + 1] = build_const(&c->b, after);
    any |= w->before[axis] || after;
  }
  if (!any) return x;
  Arg args[] = {arg_node(x), arg_dims(c->b.in.g, 2 * w->n, pad), value};
  return build(&c->b, OP_aten_constant_pad_nd_default, 3, args);
}

Arg onnx_window_arg(OnnxCall *c, const OnnxWindow *w, const int64_t *values) {
  Dim dims[ONNX_AXES_MAX];
  for (uint32_t i = 0; i < w->n; i++) dims[i] = build_const(&c->b, values[i]);
  return arg_dims(c->b.in.g, w->n, dims);
}

Node *onnx_move_channels(OnnxCall *c, Node *x, bool back) {
  uint32_t axes[GRAPH_RANK_MAX], rank = rank_of(x);
  if (rank < 3) return x;
  for (uint32_t i = 0; i < rank; i++)
    axes[i] = !i ? 0 : back ? (i + 1 < rank ? i + 1 : 1) : i == 1 ? rank - 1 : i - 1;
  return build_permute(&c->b, x, axes);
}
