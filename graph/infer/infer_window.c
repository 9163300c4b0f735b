/* The primitives of windows that slide over some axes (graph/ops/window.h): nereid.conv,
 * nereid.conv_depthwise, their weights' gradients, nereid.pool_max and nereid.pool_sum. */
#include <string.h>

#include "graph/messages.h"
#include "graph/ops/infer_rules.h"
#include "graph/ops/window.h"

typedef struct {
  const ValueType *x;
  uint32_t n, first; /* the axes first .. first + n */
  Dim size[WINDOW_AXES];
} Sliding;

/* An integer for each axis, at least 1. */
static void window_per_axis(Infer *in, const char *param, uint32_t n, Dim *out) {
  Dim list[GRAPH_RANK_MAX];
  uint32_t given = infer_sizes(in, param, list);
  if (given != n) infer_fail(in, E_GRAPH_PER_AXIS, param, given, n);
  for (uint32_t i = 0; i < n; i++) {
    out[i] = list[i];
    if (dim_is_int(out[i]) && out[i]->value <= 0)
      infer_fail(in, E_GRAPH_STEP, (long long)out[i]->value);
  }
}

/* dilation * (size - 1) + 1 */
static Dim window_reach(Infer *in, Dim size, Dim dilation) {
  Dims *d = in->g->dims;
  Dim one = infer_const(in, 1);
  return dim_add(d, dim_mul(d, dilation, dim_sub(d, size, one)), one);
}

/* How often each window fits, into the sizes of the result. */
static void slide(Infer *in, const Sliding *s, Dim *shape) {
  Dims *d = in->g->dims;
  Dim stride[WINDOW_AXES], dilation[WINDOW_AXES], spread[WINDOW_AXES], padding[GRAPH_RANK_MAX];
  window_per_axis(in, "stride", s->n, stride);
  window_per_axis(in, "dilation", s->n, dilation);
  bool spreads = infer_takes(in, "spread");
  if (spreads) window_per_axis(in, "spread", s->n, spread);
  uint32_t given = infer_sizes(in, "padding", padding);
  if (given != 2 * s->n) infer_fail(in, E_GRAPH_PER_AXIS, "padding", given, 2 * s->n);
  for (uint32_t i = 0; i < s->n; i++) {
    Dim size = s->x->shape[s->first + i], all = window_reach(in, s->size[i], dilation[i]);
    if (spreads) size = window_reach(in, size, spread[i]);
    size = dim_add(d, size, dim_add(d, padding[2 * i], padding[2 * i + 1]));
    Dim windows = dim_floordiv(d, dim_sub(d, size, all), stride[i]);
    windows = dim_add(d, windows, infer_const(in, 1));
    if (dim_is_int(windows) && windows->value <= 0)
      infer_fail(in, E_GRAPH_WINDOW, infer_dim_text(in, all), infer_dim_text(in, size));
    shape[s->first + i] = windows;
  }
}

/* ---- convolutions: [N, sizes, C] ---- */

static Sliding filters(Infer *in, const ValueType *w, uint32_t behind) {
  Sliding s = {.x = infer_tensor(in, "input"), .first = 1};
  infer_rank(in, w, 1 + behind, WINDOW_AXES + behind);
  s.n = w->rank - behind;
  infer_rank(in, s.x, s.n + 2, s.n + 2);
  infer_same_dtype(in, s.x, w);
  memcpy(s.size, w->shape, s.n * sizeof *s.size);
  return s;
}

/* The weight is [window, channels of a group, channels of the result]. */
void infer_window_conv(Infer *in) {
  const ValueType *w = infer_tensor(in, "weight");
  Sliding s = filters(in, w, 2);
  Dim shape[GRAPH_RANK_MAX];
  infer_copy_shape(s.x, shape);
  slide(in, &s, shape);
  int64_t groups = infer_int(in, "groups");
  if (groups <= 0) infer_fail(in, E_GRAPH_STEP, (long long)groups);
  Dim wanted = dim_mul(in->g->dims, w->shape[s.n], infer_const(in, groups));
  infer_same_size(in, s.x->shape[s.n + 1], wanted, "the channels of input and weight");
  int64_t joined = infer_int(in, "joined");
  if (joined <= 0) infer_fail(in, E_GRAPH_STEP, (long long)joined);
  infer_exact_div(in, w->shape[s.n], joined);
  infer_exact_div(in, infer_exact_div(in, w->shape[s.n + 1], groups), joined);
  shape[s.n + 1] = w->shape[s.n + 1];
  infer_set(in, s.x->dtype == DT_I8 ? DT_I32 : s.x->dtype, s.x->rank, shape);
}

/* Images [N, C, sizes] and a weight [O, C / groups, window], of bytes. */
void infer_int_conv(Infer *in) {
  const ValueType *w = infer_tensor(in, "weight");
  Sliding s = {.x = infer_tensor(in, "input"), .first = 2};
  Dim shape[GRAPH_RANK_MAX];
  infer_rank(in, w, 3, WINDOW_AXES + 2);
  infer_rank(in, s.x, w->rank, w->rank);
  infer_same_dtype(in, s.x, w);
  if (w->dtype != DT_I8)
    infer_fail(in, E_GRAPH_DTYPE_WANTED, dtype_name(DT_I8), infer_type_text(in, w));
  s.n = w->rank - 2;
  memcpy(s.size, w->shape + 2, s.n * sizeof *s.size);
  infer_copy_shape(s.x, shape);
  slide(in, &s, shape);
  int64_t groups = infer_int(in, "groups"), fill = infer_int(in, "fill");
  if (groups <= 0) infer_fail(in, E_GRAPH_STEP, (long long)groups);
  if (fill < INT8_MIN || fill > INT8_MAX)
    infer_fail(in, E_GRAPH_DTYPE_WANTED, dtype_name(DT_I8), "a fill");
  Dim wanted = dim_mul(in->g->dims, w->shape[1], infer_const(in, groups));
  infer_same_size(in, s.x->shape[1], wanted, "the channels of input and weight");
  infer_exact_div(in, w->shape[0], groups);
  shape[1] = w->shape[0];
  infer_set(in, DT_I32, s.x->rank, shape);
}

/* Axes of images are [N, windows, O] and [N, sizes, C], of `most` sizes at most.  It sets the
 * parts, and the window of as many sizes as the result. */
static uint32_t gradient_of_weight(Infer *in, uint32_t most, Dim *parts, Dim *window) {
  const ValueType *y = infer_tensor(in, "grad"), *x = infer_tensor(in, "input");
  Dim list[GRAPH_RANK_MAX];
  infer_rank(in, x, 3, most + 2);
  infer_rank(in, y, x->rank, x->rank);
  infer_same_dtype(in, x, y);
  infer_same_size(in, y->shape[0], x->shape[0], "the images of gradient and input");
  uint32_t n = x->rank - 2;
  window_per_axis(in, "window", n, window);
  window_per_axis(in, "stride", n, list);
  window_per_axis(in, "dilation", n, list);
  uint32_t given = infer_sizes(in, "padding", list);
  if (given != n) infer_fail(in, E_GRAPH_PER_AXIS, "padding", given, n);
  int64_t count = infer_int(in, "parts");
  if (count <= 0) infer_fail(in, E_GRAPH_STEP, (long long)count);
  *parts = infer_const(in, count);
  return n;
}

void infer_window_weight(Infer *in) {
  Dim shape[GRAPH_RANK_MAX];
  bool last = infer_bool(in, "outputs_last");
  uint32_t n = gradient_of_weight(in, WINDOW_AXES, shape, shape + (last ? 1 : 2));
  shape[last ? n + 2 : 1] = infer_tensor(in, "grad")->shape[n + 1];
  shape[last ? n + 1 : n + 2] = infer_tensor(in, "input")->shape[n + 1];
  infer_set(in, DT_F32, n + 3, shape);
}

/* Images are an axis of the window. */
void infer_window_depthwise_weight(Infer *in) {
  Dim shape[GRAPH_RANK_MAX];
  const ValueType *y = infer_tensor(in, "grad"), *x = infer_tensor(in, "input");
  uint32_t n = gradient_of_weight(in, WINDOW_AXES - 1, shape, shape + 1);
  infer_same_size(in, y->shape[n + 1], x->shape[n + 1], "the channels of gradient and input");
  infer_exact_div(in, x->shape[0], shape[0]->value);
  shape[n + 1] = x->shape[n + 1];
  infer_set(in, DT_F32, n + 2, shape);
}

/* The weight is [window, channels]. */
void infer_window_depthwise(Infer *in) {
  enum { FIRST_MOST = 2 };
  const ValueType *w = infer_tensor(in, "weight");
  Sliding s = filters(in, w, 1);
  Dim shape[GRAPH_RANK_MAX];
  infer_copy_shape(s.x, shape);
  s.first = infer_axis_arg(in, "first", s.x->rank);
  if (s.first < 1 || s.first > FIRST_MOST)
    infer_fail(in, E_GRAPH_AXIS, (long long)s.first, s.x->rank);
  slide(in, &s, shape);
  uint32_t channels = s.first > 1 ? 1 : s.n + 1;
  infer_same_size(in, s.x->shape[channels], w->shape[s.n], "the channels of input and weight");
  infer_set(in, s.x->dtype, s.x->rank, shape);
}

/* ---- pooling: over any axes that stand together ---- */

void infer_window_pool(Infer *in) {
  Sliding s = {.x = infer_tensor(in, "input")};
  Dim kernel[GRAPH_RANK_MAX], shape[GRAPH_RANK_MAX];
  s.n = infer_sizes(in, "kernel", kernel);
  if (s.n == 0 || s.n > WINDOW_AXES) infer_fail(in, E_GRAPH_PER_AXIS, "kernel", s.n, 1);
  infer_rank(in, s.x, s.n, GRAPH_RANK_MAX);
  window_per_axis(in, "kernel", s.n, s.size);
  s.first = infer_axis_arg(in, "first", s.x->rank);
  infer_rank(in, s.x, s.first + s.n, GRAPH_RANK_MAX);
  infer_copy_shape(s.x, shape);
  slide(in, &s, shape);
  infer_set(in, s.x->dtype, s.x->rank, shape);
}
