/* Convolutions. */
#include <string.h>

#include "graph/messages.h"
#include "import/messages.h"
#include "import/onnx/ops/onnx_shared.h"

static Node *build_convolution(OnnxCall *c, const OnnxWindow *w, Node *x, Node *weight, Node *bias,
                               bool transposed, const int64_t *more) {
  static const int64_t zeros[ONNX_AXES_MAX];
  Arg groups = build_int(&c->b, onnx_int(c, "group", 1));
  Arg args[] = {arg_node(x),
                arg_node(weight),
                bias ? arg_node(bias) : arg_none(),
                onnx_window_arg(c, w, w->stride),
                onnx_window_arg(c, w, w->before),
                onnx_window_arg(c, w, w->dilation),
                arg_bool(transposed),
                onnx_window_arg(c, w, more ? more : zeros),
                groups};
  return build(&c->b, OP_aten_convolution_default, 9, args);
}

Node *onnx_convolution(OnnxCall *c, Node *x, Node *weight, Node *bias) {
  if (rank_of(weight) != rank_of(x) || rank_of(x) < 3)
    onnx_fail(c, E_GRAPH_AXES, 3, 5, infer_type_text(&c->b.in, &weight->type));
  OnnxWindow w = onnx_window(c, x, weight->type.shape + 2);
  if (!onnx_window_is_even(&w) || onnx_is_empty(x)) {
    x = onnx_window_pad(c, &w, x, arg_float(0), false);
    memset(w.before, 0, sizeof w.before);
  }
  return build_convolution(c, &w, x, weight, bias, false, NULL);
}

void onnx_op_conv(OnnxCall *c) {
  if (onnx_set_dequantized_convolution(c)) return;
  Node *x = onnx_in(c, 0), *weight = onnx_in(c, 1), *bias = onnx_optional(c, 2);
  onnx_set(c, 0, onnx_convolution(c, x, weight, bias));
}

/* The output's size is strides * (size - 1) + the window's span + output_padding - pads; where
 * the size is given, or `auto_pad` says that it is size * stride, the pads follow. */
static void pads_for_size(OnnxCall *c, const Node *x, OnnxWindow *w, int64_t *more) {
  Name how = onnx_string(c, "auto_pad", "NOTSET");
  uint32_t n;
  const int64_t *shape = onnx_ints(c, "output_shape", &n);
  bool same = !strncmp(how, "SAME_", 5);
  if (!shape && !same) return;
  if (shape && n == w->n + 2) shape += 2;
  else if (shape && n != w->n) onnx_fail(c, E_ONNX_ATTR_COUNT, "output_shape", n, w->n);
  for (uint32_t i = 0; i < w->n; i++) {
    int64_t size = onnx_window_size(c, x, i);
    int64_t whole = w->stride[i] * (size - 1) + (w->kernel[i] - 1) * w->dilation[i] + 1;
    int64_t wanted = shape ? shape[i] : size * w->stride[i];
    if (wanted < 0 || wanted > INT32_MAX) onnx_lack(c, "an output_shape above 2^31");
    int64_t total = whole + more[i] - wanted;
    if (total < 0) { /* windows do not reach that far: the result is padded with zeros */
      more[i] -= total;
      total = 0;
    }
    w->before[i] = !strcmp(how, "SAME_UPPER") ? total / 2 : total - total / 2;
    w->after[i] = total - w->before[i];
  }
}

/* An axis without elements gets one of zeros, whose windows are cropped. */
static Node *fill_empty_axes(OnnxCall *c, Node *x, OnnxWindow *w) {
  OnnxWindow zeros = {.n = w->n};
  for (uint32_t i = 0; i < w->n; i++) {
    zeros.after[i] = dim_is(x->type.shape[i + 2], 0);
    if (zeros.after[i]) w->after[i] += w->stride[i];
  }
  return onnx_window_pad(c, &zeros, x, arg_float(0), false);
}

/* Padding that is input 2, which must be known. */
static void take_pads(OnnxCall *c, OnnxWindow *w) {
  int64_t pads[GRAPH_RANK_MAX];
  uint32_t n = onnx_need_ints(c, 2, pads);
  if (n != 2 * w->n) onnx_fail(c, E_ONNX_ATTR_COUNT, "Pads", n, 2 * w->n);
  for (uint32_t i = 0; i < n; i++) {
    if (pads[i] < 0 || pads[i] > INT32_MAX) onnx_lack(c, "padding that is negative or above 2^31");
    *(i < w->n ? &w->before[i] : &w->after[i - w->n]) = pads[i];
  }
}

/* ATen crops both ends alike, and adds output_padding at the end: a difference is cropped or padded
 * there. */
static void set_transposed(OnnxCall *c, Node *bias, bool given) {
  Node *x = onnx_in(c, 0), *weight = onnx_in(c, 1);
  int64_t more[ONNX_AXES_MAX];
  if (rank_of(weight) != rank_of(x) || rank_of(x) < 3)
    onnx_fail(c, E_GRAPH_AXES, 3, 5, infer_type_text(&c->b.in, &weight->type));
  OnnxWindow w = onnx_window(c, x, weight->type.shape + 2);
  if (given) take_pads(c, &w);
  onnx_ints_of(c, "output_padding", w.n, 0, more);
  for (uint32_t i = 0; i < w.n; i++)
    if (more[i] < 0 || more[i] > INT32_MAX) onnx_lack(c, "an output_padding above 2^31");
  pads_for_size(c, x, &w, more);
  x = fill_empty_axes(c, x, &w);
  OnnxWindow whole = w;
  memset(whole.before, 0, sizeof whole.before);
  Node *y = build_convolution(c, &whole, x, weight, bias, true, more);
  for (uint32_t i = 0; i < w.n; i++) {
    Dim size = y->type.shape[i + 2];
    Dim end = dim_sub(onnx_dims(c), size, build_const(&c->b, w.after[i]));
    y = build_slice(&c->b, y, i + 2, build_const(&c->b, w.before[i]), end, 1);
  }
  onnx_set(c, 0, y);
}

void onnx_op_conv_transpose(OnnxCall *c) { set_transposed(c, onnx_optional(c, 2), false); }

void onnx_op_conv_transpose_padded(OnnxCall *c) {
  set_transposed(c, onnx_optional(c, 3), onnx_has(c, 2));
}
