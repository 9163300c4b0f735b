/* Gradients of convolutions.
 *
 * The input's gradient is the transposed convolution of the gradient, or the plain one if the
 * convolution itself is transposed.  The weight's gradient is a product of matrices: at each
 * position of a window the weight meets as many elements of the input as there are windows, those
 * of the gradient:
 *
 *   dweight[o, c, k] = sum over n, q of grad[n, o, q] * x[n, c, q * stride + k * dilation - pad]
 *
 * For a transposed convolution input and gradient change places. */
#include <string.h>

#include "decompose/decompose.h"
#include "decompose/windows/library_conv.h"
#include "graph/ops/window.h"
#include "lower/target/device_peaks.h"
#include "tiling/tiling.h"
#include "tiling/weight_rows.h"

typedef struct {
  Node *x, *grad, *weight;
  uint32_t n; /* spatial axes */
  Dim stride[WINDOW_AXES], padding[WINDOW_AXES], dilation[WINDOW_AXES];
  Dim groups;
  bool transposed;
} ConvGradient;

static void read_axes(Build *b, const char *param, uint32_t n, Dim *out) {
  Dim given[GRAPH_RANK_MAX];
  uint32_t count = infer_sizes(&b->in, param, given);
  for (uint32_t i = 0; i < n; i++) out[i] = given[count == 1 ? 0 : i];
}

static ConvGradient read_gradient(Build *b) {
  ConvGradient c = {.x = build_input(b, "input"),
                    .grad = build_input(b, "grad_output"),
                    .weight = build_input(b, "weight"),
                    .groups = infer_size(&b->in, "groups"),
                    .transposed = infer_bool(&b->in, "transposed")};
  c.n = rank_of(c.weight) - 2;
  read_axes(b, "stride", c.n, c.stride);
  read_axes(b, "padding", c.n, c.padding);
  read_axes(b, "dilation", c.n, c.dilation);
  return c;
}

/* The elements between the first and the last that a window reads along axis i, and both. */
static Dim window_span(Build *b, const ConvGradient *c, uint32_t i) {
  Dims *d = build_dims(b);
  Dim one = build_const(b, 1), gaps = dim_sub(d, c->weight->type.shape[i + 2], one);
  return dim_add(d, dim_mul(d, c->dilation[i], gaps), one);
}

/* Has each group one channel on either side? */
static bool is_depthwise(const ConvGradient *c) {
  return c->x->type.shape[1] == c->groups && c->grad->type.shape[1] == c->groups;
}

/* ---- by a library ---- */

/* A convolution of two axes that is no product of matrices; NULL: no library is to do it.  cuDNN
 * takes several times as long as our kernels for the weight of a depthwise one. */
static Node *library_gradient(Build *b, const ConvGradient *c, LibraryWork work) {
  if (work == LIBRARY_WEIGHT_GRADIENT && is_depthwise(c)) return NULL;
  const Dim *w = c->weight->type.shape;
  bool fits = b->in.g->libraries && c->n == 2 && rank_of(c->x) == 4 && !c->transposed;
  bool window = fits && !(dim_is(w[2], 1) && dim_is(w[3], 1));
  bool strided = fits && !(dim_is(c->stride[0], 1) && dim_is(c->stride[1], 1));
  if (!window && !strided) return NULL;
  LibraryWindows windows = {.groups = c->groups};
  memcpy(windows.stride, c->stride, sizeof windows.stride);
  memcpy(windows.padding, c->padding, sizeof windows.padding);
  memcpy(windows.dilation, c->dilation, sizeof windows.dilation);
  bool input = work == LIBRARY_INPUT_GRADIENT;
  const Dim *s = input ? c->x->type.shape : w;
  Dim size[] = {s[0], s[2], s[3], s[1]};
  return library_conv(b, work, input ? c->grad : c->x, input ? c->weight : c->grad, size, &windows);
}

/* ---- of the input ---- */

static Node *input_gradient(Build *b, const ConvGradient *c) {
  Graph *g = b->in.g;
  Dims *d = build_dims(b);
  Dim rest[WINDOW_AXES]; /* elements after the last window, which the result has, too */
  for (uint32_t i = 0; i < c->n; i++) {
    Dim windows = dim_sub(d, c->grad->type.shape[i + 2], build_const(b, 1));
    Dim pads = dim_mul(d, build_const(b, 2), c->padding[i]);
    Dim read = dim_add(d, dim_mul(d, windows, c->stride[i]), window_span(b, c, i));
    rest[i] = dim_sub(d, dim_add(d, c->x->type.shape[i + 2], pads), read);
    if (c->transposed) rest[i] = build_const(b, 0);
  }
  return build(
      b, OP_aten_convolution_default,
      ARGS(arg_node(c->grad), arg_node(c->weight), arg_none(), arg_dims(g, c->n, c->stride),
           arg_dims(g, c->n, c->padding), arg_dims(g, c->n, c->dilation), arg_bool(!c->transposed),
           arg_dims(g, c->n, rest), arg_dim(c->groups)));
}

/* ---- of the weight ---- */

/* x's spatial axes are from `first` on. */
static Node *padded(Build *b, const ConvGradient *c, Node *x, uint32_t first) {
  uint32_t behind = rank_of(x) - first - c->n; /* axes that follow them */
  Arg pads = arg_list(b->in.g, 2 * (c->n + behind));
  bool none = true;
  for (uint32_t i = 0; i < 2 * behind; i++) pads.items[i] = build_int(b, 0);
  for (uint32_t i = 0; i < c->n; i++) {
    Arg *at = &pads.items[2 * (behind + c->n - 1 - i)]; /* from the last axis on */
    at[0] = at[1] = arg_dim(c->padding[i]);
    none &= dim_is(c->padding[i], 0);
  }
  if (none) return x;
  return build(b, OP_aten_constant_pad_nd_default, ARGS(arg_node(x), pads, build_int(b, 0)));
}

/* x[.., sizes, ..] as [.., windows, .., window]: a view of the padded tensor. */
static Node *window_elements(Build *b, const ConvGradient *c, Node *x, uint32_t first,
                             const Dim *windows) {
  x = padded(b, c, x, first);
  for (uint32_t i = 0; i < c->n; i++) {
    Dim zero = build_const(b, 0), span = window_span(b, c, i);
    x = build(b, OP_aten_unfold_default,
              ARGS(arg_node(x), build_int(b, first + i), arg_dim(span), arg_dim(c->stride[i])));
    x = build_slice(b, x, first + i, zero, windows[i], 1);
    x = build_slice(b, x, rank_of(x) - 1, zero, span, c->dilation[i]->value);
  }
  return x;
}

/* [n, groups * c, rest] as [groups, n, rest, c]: the channels of a group last. */
static Node *by_groups(Build *b, const ConvGradient *c, Node *x) {
  Dim shape[GRAPH_RANK_MAX];
  uint32_t axes[GRAPH_RANK_MAX], rank = rank_of(x) + 1;
  shape[0] = x->type.shape[0];
  shape[1] = c->groups;
  shape[2] = dim_floordiv(build_dims(b), x->type.shape[1], c->groups);
  memcpy(shape + 3, x->type.shape + 2, (rank_of(x) - 2) * sizeof *shape);
  x = build_view(b, x, rank, shape);
  axes[0] = 1;
  axes[1] = 0;
  for (uint32_t i = 3; i < rank; i++) axes[i - 1] = i;
  axes[rank - 1] = 2;
  return build_permute(b, x, axes);
}

/* Some axes of x are put together. */
static Node *merged(Build *b, Node *x, uint32_t first, uint32_t count) {
  Dim shape[GRAPH_RANK_MAX];
  uint32_t rank = rank_of(x) - count + 1;
  memcpy(shape, x->type.shape, first * sizeof *shape);
  shape[first] = infer_product(&b->in, x->type.shape + first, count);
  memcpy(shape + first + 1, x->type.shape + first + count, (rank - first - 1) * sizeof *shape);
  return build_view(b, x, rank, shape);
}

/* Each channel meets one channel: sums of products, for which a matrix would have rows of one
 * element. Channels come last, as in memory: programs of a GPU read those next to each other at
 * once. */
static Node *channel_sums(Build *b, const ConvGradient *c, Node *slid, Node *other) {
  Dim shape[GRAPH_RANK_MAX]; /* of `other`, with axes for the window */
  uint32_t axes[GRAPH_RANK_MAX], rank = 2 * c->n + 2;
  Node *x = window_elements(b, c, decompose_channels_last(b, slid), 1, other->type.shape + 2);
  for (uint32_t i = 0; i <= c->n; i++) axes[i] = i;
  for (uint32_t i = 0; i < c->n; i++) axes[c->n + 1 + i] = c->n + 2 + i;
  axes[rank - 1] = c->n + 1;
  x = build_permute(b, x, axes);
  other = decompose_channels_last(b, other);
  for (uint32_t i = 0; i < rank; i++)
    shape[i] = i <= c->n ? other->type.shape[i] : build_const(b, 1);
  shape[rank - 1] = other->type.shape[c->n + 1];
  other = build_widen(b, build_view(b, other, rank, shape));
  return build_sum(b, build_mul(b, other, build_widen(b, x)), (2u << c->n) - 1, false);
}

/* So many parts of whole images, of which one channel's vectors fit a cache, and which are programs
 * enough, of some vectors each. */
static int64_t parts_of_images(Build *b, const ConvGradient *c, const Node *other) {
  enum { WINDOWS = 1 << 12, CHANNELS = 64, PROGRAMS = 16 };
  Dim images = other->type.shape[0], channels = other->type.shape[1];
  int64_t windows = 1, parts = 1;
  for (uint32_t i = 0; i < c->n; i++)
    windows *= dim_likely(b->in.g->dims, other->type.shape[i + 2]);
  if (!dim_is_int(images) || images->value < 1 || !dim_is_int(channels)) return 1;
  int64_t wanted = (CHANNELS * PROGRAMS + channels->value - 1) / channels->value;
  while (parts < images->value &&
         (windows * (images->value / parts) > WINDOWS || parts < wanted))
    parts++;
  while (images->value % parts) parts++;
  return parts;
}

/* Do vectors of channels, with sums in registers for a row of the window, suit a CPU? */
static bool has_channel_windows(Build *b, const ConvGradient *c, const Node *slid,
                                const Node *other) {
  enum { VECTOR = 16 };
  Graph *g = b->in.g;
  const Dim *w = c->weight->type.shape;
  Dim channels = slid->type.shape[1];
  bool suits = g->host && c->n < WINDOW_AXES && slid->type.dtype == DT_F32 &&
               dim_is_int(channels) && channels->value >= VECTOR && !dim_is(w[c->n + 1], 1) &&
               dim_is_int(other->type.shape[c->n + 1]);
  for (uint32_t i = 0; i < c->n; i++)
    suits = suits && dim_is_int(w[i + 2]) && dim_is_int(c->stride[i]) &&
            dim_is_int(c->dilation[i]) && dim_is_int(c->padding[i]);
  return suits;
}

/* [window, c] by these; both operands have their channels last. */
static Node *channel_windows(Build *b, const ConvGradient *c, Node *slid, Node *other,
                             int64_t parts) {
  Graph *g = b->in.g;
  Node *y = build(b, OP_nereid_conv_depthwise_weight_default,
                  ARGS(arg_node(other), arg_node(slid),
                       arg_dims(g, c->n, c->weight->type.shape + 2), arg_dims(g, c->n, c->stride),
                       arg_dims(g, c->n, c->padding), arg_dims(g, c->n, c->dilation),
                       build_int(b, parts)));
  return parts > 1 ? build_sum(b, y, 1, false) : build_squeeze(b, y, 1);
}

/* The groups to join to one whose results fill a vector, half of whose products are then of one
 * channel with another group's result; 1: none. */
static int64_t groups_of_vector(const ConvGradient *c, const Node *other) {
  enum { VECTOR = 16, JOINED = 2 };
  Dim results = other->type.shape[1];
  if (!dim_is_int(c->groups) || !dim_is_int(results) || c->groups->value < 1) return 1;
  bool half = results->value / c->groups->value == VECTOR / JOINED;
  return half && c->groups->value % JOINED == 0 ? JOINED : 1;
}

/* [window, channels of a group, o] for groups of a few channels; NULL: they do not suit. */
static Node *small_groups_gradient(Build *b, const ConvGradient *c, Node *slid, Node *other) {
  enum { MOST = 8 };
  Node *y[MOST];
  bool along = !c->transposed && dim_is_int(other->type.shape[c->n + 1]) &&
               slid->type.shape[1] == other->type.shape[1];
  int64_t each = along ? decompose_small_groups(b->in.g, &slid->type, c->weight->type.shape,
                                                c->groups)
                       : 0;
  if (!each || each > MOST || !has_channel_windows(b, c, slid, other)) return NULL;
  if (groups_of_vector(c, other) > 1) return NULL; /* groups_by_rows */
  int64_t parts = parts_of_images(b, c, other);
  slid = decompose_channels_last(b, slid);
  other = decompose_channels_last(b, other);
  for (int64_t i = 0; i < each; i++) {
    y[i] = channel_windows(b, c, decompose_channel_of_groups(b, slid, each, i), other, parts);
    y[i] = build_unsqueeze(b, y[i], c->n);
  }
  return build_cat(b, (uint32_t)each, y, c->n);
}

/* [window, c] as [c, 1, window] */
static Node *as_channel_weight(Build *b, const ConvGradient *c, Node *y) {
  uint32_t axes[GRAPH_RANK_MAX];
  axes[0] = c->n;
  for (uint32_t i = 0; i < c->n; i++) axes[i + 1] = i;
  return build_unsqueeze(b, build_permute(b, y, axes), 1);
}

/* The gradient where several results are of one channel: [o, 1, window]; NULL: they do not suit. */
static Node *multiplied_gradient(Build *b, const ConvGradient *c, Node *slid, Node *other) {
  Dim results = other->type.shape[1], shape[GRAPH_RANK_MAX];
  bool lone = slid->type.shape[1] == c->groups && dim_is_int(c->groups) && dim_is_int(results);
  if (!lone || !has_channel_windows(b, c, other, other)) return NULL;
  int64_t parts = parts_of_images(b, c, other);
  Node *x = decompose_channels_last(b, slid);
  uint32_t rank = rank_of(x);
  memcpy(shape, x->type.shape, rank * sizeof *shape);
  shape[rank] = build_const(b, results->value / c->groups->value);
  x = build_expand(b, build_unsqueeze(b, x, rank), rank + 1, shape);
  shape[rank - 1] = results;
  x = build_view(b, x, rank, shape);
  Node *y = channel_windows(b, c, x, decompose_channels_last(b, other), parts);
  return as_channel_weight(b, c, y);
}

/* Are both operands rows in memory, for sums along them?  A window of 31 took 0.9 ms so, and 0.2 by
 * vectors of channels, one of three 0.3 for 3. */
static bool has_row_sums(Build *b, const ConvGradient *c, Node *slid, Node *other) {
  enum { POSITIONS_MOST = 8, ROW_LEAST = 64 };
  Graph *g = b->in.g;
  const Dim *w = c->weight->type.shape;
  return g->host && c->n == 1 && slid->type.dtype == DT_F32 && dim_is(c->stride[0], 1) &&
         dim_within(w[2], 2, POSITIONS_MOST) && dim_within(c->dilation[0], 1, INT16_MAX) &&
         dim_within(c->padding[0], 0, INT16_MAX) && dim_within(slid->type.shape[2], 1, INT32_MAX) &&
         dim_within(other->type.shape[2], ROW_LEAST, INT32_MAX) && view_stride(g, slid, 2) == 1 &&
         view_stride(g, other, 2) == 1;
}

/* [c, 1, window]: at each position the sum of the gradient times the signal, moved. */
static Node *row_sums(Build *b, const ConvGradient *c, Node *slid, Node *other) {
  uint32_t count = (uint32_t)c->weight->type.shape[2]->value;
  Node **parts = ARENA_ARRAY(b->in.g->arena, Node *, count);
  int64_t size = slid->type.shape[2]->value, places = other->type.shape[2]->value;
  for (uint32_t i = 0; i < count; i++) {
    int64_t before = c->padding[0]->value - i * c->dilation[0]->value;
    Dim pads[] = {build_const(b, before), build_const(b, places - size - before)};
    Node *x = build(b, OP_aten_constant_pad_nd_default,
                    ARGS(arg_node(slid), arg_dims(b->in.g, 2, pads), build_int(b, 0)));
    parts[i] = build_sum(b, build_mul(b, other, x), 1u << 2, true);
  }
  Node *y = count > 1 ? build_cat(b, count, parts, 2) : parts[0];
  return build_unsqueeze(b, build_sum(b, y, 1, false), 1);
}

/* The gradient for one channel a group: [c, 1, window]. */
static Node *channel_gradient(Build *b, const ConvGradient *c, Node *slid, Node *other) {
  if (has_row_sums(b, c, slid, other)) return row_sums(b, c, slid, other);
  Node *y = has_channel_windows(b, c, slid, other)
                ? channel_windows(b, c, decompose_channels_last(b, slid),
                                  decompose_channels_last(b, other), parts_of_images(b, c, other))
                : channel_sums(b, c, slid, other); /* [window, c] */
  return as_channel_weight(b, c, y);
}

/* Are x's channels rows of boxes? */
static bool has_channels(const Node *x) {
  enum { ROW = 8, LEAST = 16 };
  Dim channels = x->type.shape[1];
  return dim_is_int(channels) && channels->value >= LEAST && channels->value % ROW == 0;
}

/* Are the operands' parts of images boxes for a GPU's tensor copies? */
static bool has_boxes(Build *b, const ConvGradient *c, Node *slid, Node *other) {
  const Graph *g = b->in.g;
  bool fits = !g->host && g->gpu && device_has_warpgroups(g->gpu) && dim_is(c->groups, 1) &&
              dtype_is_half(slid->type.dtype) && has_channels(slid) && has_channels(other);
  for (uint32_t i = 0; i < c->n && fits; i++) {
    Dim size = slid->type.shape[i + 2], windows = other->type.shape[i + 2];
    Dim numbers[] = {size, windows, c->weight->type.shape[i + 2], c->stride[i], c->padding[i],
                     c->dilation[i]};
    for (size_t k = 0; k < sizeof numbers / sizeof *numbers; k++) fits &= dim_is_int(numbers[k]);
    fits = fits && c->padding[i]->value >= 0 && windows->value > 0 &&
           size->value % c->stride[i]->value == 0;
  }
  return fits && !(dim_is(infer_product(&b->in, c->weight->type.shape + 2, c->n), 1) &&
                   dim_is(infer_product(&b->in, c->stride, c->n), 1));
}

/* [o, window, c], of boxes of the gradient and of x[N, sizes, c]. */
static Node *sum_of_boxes(Build *b, const WindowRows *r, Node *x, Node *other) {
  enum { OPEN_IMAGES = 32 };
  Graph *g = b->in.g;
  Dim windows = infer_product(&b->in, other->type.shape + 2, r->n);
  int64_t images = dim_likely(g->dims, other->type.shape[0]), taps = 1;
  for (uint32_t i = 0; i < r->n; i++) taps *= r->size[i]->value;
  if (images < 1) images = OPEN_IMAGES;
  int parts = tiling_weight_parts(g->gpu, x->type.dtype, other->type.shape[1]->value,
                                  x->type.shape[r->n + 1]->value, images * windows->value, taps);
  Node *y = build(b, OP_nereid_conv_weight_default,
                  ARGS(arg_node(decompose_channels_last(b, other)), arg_node(x),
                       arg_dims(g, r->n, r->size), arg_dims(g, r->n, r->stride),
                       arg_dims(g, r->n, r->before), arg_dims(g, r->n, r->dilation),
                       build_int(b, parts)));
  return parts > 1 ? build_sum(b, y, 1, false) : build_squeeze(b, y, 1);
}

static WindowRows window_of_gradient(const ConvGradient *c) {
  WindowRows r = {.n = c->n};
  memcpy(r.size, c->weight->type.shape + 2, c->n * sizeof *r.size);
  memcpy(r.stride, c->stride, sizeof r.stride);
  memcpy(r.before, c->padding, sizeof r.before);
  memcpy(r.after, c->padding, sizeof r.after);
  memcpy(r.dilation, c->dilation, sizeof r.dilation);
  return r;
}

/* The gradient where channels of the input are few. */
static bool has_rows(Build *b, const ConvGradient *c, Node *slid, Node *other, WindowRows *r) {
  bool known = has_channels(other) && dim_is(c->groups, 1);
  for (uint32_t i = 0; i < c->n; i++)
    known &= dim_is_int(other->type.shape[i + 2]) && other->type.shape[i + 2]->value > 0;
  return known && decompose_has_rows(b->in.g, slid, r);
}

static Node *boxes_gradient(Build *b, const ConvGradient *c, Node *slid, Node *other) {
  WindowRows r = window_of_gradient(c);
  Node *y = sum_of_boxes(b, &r, decompose_channels_last(b, slid), other);
  return build_to(b, y, c->weight->type.dtype);
}

/* Few channels: rows of windows are columns of the product. */
static Node *rows_gradient(Build *b, const ConvGradient *c, const WindowRows *r, Node *slid,
                           Node *other) {
  WindowRows one = *r;
  Node *x = decompose_rows(b, r, slid);
  for (uint32_t i = 0; i < c->n; i++) one.before[i] = build_const(b, 0);
  one.size[c->n - 1] = one.stride[c->n - 1] = one.dilation[c->n - 1] = build_const(b, 1);
  Node *y = decompose_of_rows(b, r, sum_of_boxes(b, &one, x, other));
  y = build_slice(b, y, c->n + 1, build_const(b, 0), c->weight->type.shape[1], 1);
  return build_to(b, y, c->weight->type.dtype);
}

/* Is the input copied to have its padding, or its groups apart? */
static bool copies_input(const ConvGradient *c) {
  bool copied = !dim_is(c->groups, 1);
  for (uint32_t i = 0; i < c->n; i++) copied |= !dim_is(c->padding[i], 0);
  return copied;
}

/* The node nereid.conv_weight: [parts, window, c, o] or [parts, o, window, c].  Parts are whole
 * images where these can be divided so. */
static Node *weight_parts(Build *b, const ConvGradient *c, Node *slid, Node *other, int parts,
                          bool last) {
  Graph *g = b->in.g;
  return build(b, OP_nereid_conv_weight_default,
               ARGS(arg_node(decompose_channels_last(b, other)),
                    arg_node(decompose_channels_last(b, slid)),
                    arg_dims(g, c->n, c->weight->type.shape + 2), arg_dims(g, c->n, c->stride),
                    arg_dims(g, c->n, c->padding), arg_dims(g, c->n, c->dilation),
                    build_int(b, parts), arg_bool(last)));
}

/* Into how many parts the sum of such a gradient, of so many groups, is cut. */
static int parts_by_rows(Build *b, const ConvGradient *c, const Node *y, const Window *w,
                         int64_t groups, bool last) {
  enum { OPEN_IMAGES = 8 };
  const ValueType *grad = &y->args[0].node->type;
  Dims *d = build_dims(b);
  Dim outputs = grad->shape[c->n + 1];
  int64_t images = dim_likely(d, grad->shape[0]), windows = 1, result = 1;
  for (uint32_t i = 1; i <= c->n; i++) windows *= dim_likely(d, grad->shape[i]);
  for (uint32_t i = 1; i < y->type.rank; i++) result *= y->type.shape[i]->value;
  if (images < 1) images = OPEN_IMAGES;
  images = (images + groups - 1) / groups;
  Tile t = weight_rows_tile(outputs->value, w, weight_rows_step(grad, w), last);
  int64_t channels = outputs->value + size_from_end(w->input, 1)->value;
  int64_t read = images * windows * channels, size = (int64_t)dtype_bytes(grad->dtype);
  int64_t tiles = groups * (result / (t.bm * t.bn) + 1);
  return weight_rows_parts(read * size, tiles, result * size);
}

/* Are strides known, and do they divide the sizes of images? */
static bool has_whole_strides(const ConvGradient *c, const Node *slid) {
  for (uint32_t i = 0; i < c->n; i++)
    if (!dim_is_int(c->stride[i]) || !dim_divisible(slid->type.shape[i + 2], c->stride[i]->value))
      return false;
  return true;
}

/* Every stride'th element of x[N, C, sizes] along each of its sizes. */
static Node *elements_hit(Build *b, const ConvGradient *c, Node *x) {
  for (uint32_t i = 0; i < c->n; i++)
    if (!dim_is(c->stride[i], 1))
      x = build_slice(b, x, i + 2, build_const(b, 0), x->type.shape[i + 2], c->stride[i]->value);
  return x;
}

/* x[N, C, sizes] as `rows` images of one axis. */
static Node *as_rows(Build *b, Node *x, Dim rows, Dim row) {
  Dim shape[] = {rows, row, x->type.shape[1]};
  Node *y = build_view(b, decompose_channels_last(b, x), 3, shape);
  return build_permute(b, y, (uint32_t[]){0, 2, 1});
}

/* The most elements of all images, or of each if these are open, that a step can sum up evenly, of
 * two operands in the nearest cache. */
static int64_t row_of_elements(const Node *x) {
  enum { ROW_MOST = 64 };
  int64_t all = dim_is_int(x->type.shape[0]) ? x->type.shape[0]->value : 1;
  for (uint32_t i = 2; i < x->type.rank; i++) all *= x->type.shape[i]->value;
  int64_t row = all < ROW_MOST ? all : ROW_MOST;
  while (row > 1 && all % row) row--;
  return row;
}

static Node *gradient_by_rows(Build *b, const ConvGradient *c, Node *slid, Node *other);

/* Is a sum over few elements, for many channels of both, a product?  Rows of images copy a tile of
 * either for each tile of the other.  784 elements of 1,024 by 256 channels took 2.98 ms so and
 * 2.39 as a product, 12,544 of 256 by 64 2.87 and 3.35. */
static bool is_product_of_elements(const Node *slid, const Node *other, int64_t elements) {
  enum { RESULTS_OF_ELEMENT = 128 };
  Dim channels = slid->type.shape[1], results = other->type.shape[1];
  return slid->type.dtype == DT_F32 && dim_is_int(channels) && dim_is_int(results) &&
         channels->value * results->value >= RESULTS_OF_ELEMENT * elements;
}

/* [o, 1, .., c] of x[rows, c, row] and the gradient. */
static Node *product_of_elements(Build *b, const ConvGradient *c, Node *slid, Node *other) {
  uint32_t n = rank_of(slid) - 1;
  Dim shape[GRAPH_RANK_MAX];
  slid = merged(b, decompose_channels_last(b, slid), 0, n);
  other = build_transpose(b, merged(b, decompose_channels_last(b, other), 0, n), 0, 1);
  Node *y = build_product(b, OP_aten_mm_default, other, slid, ROUNDS_AS_CONVOLUTION);
  shape[0] = y->type.shape[0];
  for (uint32_t i = 0; i < c->n; i++) shape[i + 1] = build_const(b, 1);
  shape[c->n + 1] = y->type.shape[1];
  return build_view(b, y, c->n + 2, shape);
}

/* Has the window one element, which moves over no padding? */
static bool is_of_elements(const ConvGradient *c) {
  bool is = true;
  for (uint32_t i = 0; i < c->n; i++)
    is = is && dim_is(c->weight->type.shape[i + 2], 1) && dim_is(c->padding[i], 0) &&
         dim_is_int(c->stride[i]);
  return is;
}

/* Elements in a row, as many as images of these sizes divide into; of open sizes all are one row.
 * NULL: not more than a row of an image has. */
static Dim row_for_elements(Build *b, const ConvGradient *c, const Node *other) {
  Dim images = other->type.shape[0], width = other->type.shape[c->n + 1];
  Dim all = infer_product(&b->in, other->type.shape + 2, c->n);
  if (!dim_is_int(all))
    return c->n == 1 && dim_is(images, 1) ? NULL : dim_mul(build_dims(b), images, all);
  if (c->n == 1) return NULL;
  int64_t row = row_of_elements(other);
  return row > width->value ? build_const(b, row) : NULL;
}

/* Windows of one element have any elements in a row, not those of a row of an image alone; NULL:
 * they are others. */
static Node *gradient_of_elements(Build *b, const ConvGradient *c, Node *slid, Node *other) {
  ConvGradient one = *c;
  Dim elements = infer_product(&b->in, other->type.shape + 2, c->n);
  elements = dim_mul(build_dims(b), other->type.shape[0], elements);
  if (!is_of_elements(c) || dim_is(elements, 0)) return NULL;
  bool product = dim_is_int(elements) && is_product_of_elements(slid, other, elements->value);
  Dim row = product ? elements : row_for_elements(b, c, other);
  if (!row) return NULL;
  slid = elements_hit(b, c, slid);
  for (uint32_t i = 0; i < c->n; i++)
    slid = build_slice(b, slid, i + 2, build_const(b, 0), other->type.shape[i + 2], 1);
  if (product) return product_of_elements(b, c, slid, other);
  Dim rows = dim_floordiv(build_dims(b), elements, row);
  one.n = 1;
  one.stride[0] = one.dilation[0] = build_const(b, 1);
  one.weight = build_view(b, c->weight, 3, c->weight->type.shape);
  return gradient_by_rows(b, &one, as_rows(b, slid, rows, row), as_rows(b, other, rows, row));
}

/* [o, window, c] on a CPU, by rows of images; NULL: they do not suit. */
static Node *gradient_by_rows(Build *b, const ConvGradient *c, Node *slid, Node *other) {
  if (!b->in.g->host || !dim_is(c->groups, 1)) return NULL;
  Node *elements = gradient_of_elements(b, c, slid, other);
  if (elements) return elements;
  if (!has_whole_strides(c, slid)) return NULL;
  Node *y = weight_parts(b, c, slid, other, 1, true);
  Window w = window_of(b->in.g, y);
  if (!weight_rows_suit(&y->args[0].node->type, &w)) return NULL;
  bool last = weight_outputs_last(other->type.shape[1]->value, &w, copies_input(c));
  int parts = parts_by_rows(b, c, y, &w, 1, last);
  if (!last || parts > 1) y = weight_parts(b, c, slid, other, parts, last);
  y = parts > 1 ? build_sum(b, y, 1, false) : build_squeeze(b, y, 1);
  if (!last) return y;
  uint32_t axes[GRAPH_RANK_MAX];
  axes[0] = c->n + 1;
  for (uint32_t i = 0; i <= c->n; i++) axes[i + 1] = i;
  return build_permute(b, y, axes);
}

/* [n, groups * c, sizes] as images of one group each: the first group's before the others', or the
 * groups of the first image before the others'. */
static Node *images_of_groups(Build *b, const ConvGradient *c, Node *x, bool by_image) {
  uint32_t axes[GRAPH_RANK_MAX];
  Node *y = by_groups(b, c, x); /* [groups, n, sizes, c] */
  if (by_image) y = build_transpose(b, y, 0, 1);
  y = merged(b, y, 0, 2);
  for (uint32_t i = 0; i < rank_of(y); i++) axes[i] = i == 0 ? 0 : i == 1 ? rank_of(y) - 1 : i - 1;
  return build_permute(b, y, axes);
}

/* y[joined groups, window, all channels, all results] without those of different groups:
 * [groups, window, channels of a group, results of a group]. */
static Node *of_own_group(Build *b, Node *y, int64_t joined) {
  enum { JOINED_MOST = 2 };
  Node *own[JOINED_MOST];
  uint32_t last = rank_of(y) - 1;
  if (joined == 1) return y;
  int64_t channels = y->type.shape[last - 1]->value / joined;
  int64_t results = y->type.shape[last]->value / joined;
  for (int64_t i = 0; i < joined; i++) {
    Node *x = build_slice(b, y, last - 1, build_const(b, i * channels),
                          build_const(b, (i + 1) * channels), 1);
    x = build_slice(b, x, last, build_const(b, i * results), build_const(b, (i + 1) * results), 1);
    own[i] = build_unsqueeze(b, x, 1);
  }
  return merged(b, build_cat(b, (uint32_t)joined, own, 1), 0, 2);
}

/* The most parts of whole images up to `most`. */
static int even_parts(int64_t images, int most) {
  while (most > 1 && images % most) most--;
  return most;
}

/* Is each image a part of the sum?  Then groups are copied apart image by image, where a cache
 * holds one: a line has several groups'.  Not where weights are as large as images. */
static bool sums_by_image(const ConvGradient *c, const Node *slid, const Node *other) {
  enum { IMAGE = 4 };
  int64_t image = other->type.shape[1]->value, input = slid->type.shape[1]->value, weight = 1;
  for (uint32_t i = 0; i < rank_of(c->weight); i++) weight *= c->weight->type.shape[i]->value;
  for (uint32_t i = 0; i < c->n; i++) {
    image *= other->type.shape[i + 2]->value;
    input *= slid->type.shape[i + 2]->value;
  }
  bool near = input * (int64_t)sizeof(float) <= tiling_near_bytes();
  return near && IMAGE * weight <= image + input;
}

/* y[parts of the sum of each of so many groups, ..], or of each image's groups, added up. */
static Node *sum_of_parts(Build *b, Node *y, int64_t groups, int64_t parts, bool by_image) {
  Dim shape[GRAPH_RANK_MAX];
  if (parts == 1) return y;
  shape[by_image] = build_const(b, groups);
  shape[!by_image] = build_const(b, parts);
  memcpy(shape + 2, y->type.shape + 1, (rank_of(y) - 1) * sizeof *shape);
  return build_sum(b, build_view(b, y, rank_of(y) + 1, shape), by_image ? 1 : 2, false);
}

/* [groups, o, window, c] on a CPU: images of groups follow each other in memory, and parts of the
 * sum are those of groups, so many of which are joined; NULL: they do not suit. */
static Node *joined_by_rows(Build *b, const ConvGradient *c, Node *slid, Node *other,
                            int64_t joined) {
  ConvGradient all = *c;
  int64_t groups = c->groups->value / joined, images = other->type.shape[0]->value;
  all.groups = build_const(b, groups);
  Node *x = images_of_groups(b, &all, slid, false), *grad = images_of_groups(b, &all, other, false);
  Node *y = weight_parts(b, c, x, grad, (int)groups, true);
  Window w = window_of(b->in.g, y);
  if (!weight_rows_suit(&y->args[0].node->type, &w)) return NULL;
  bool last = joined > 1 || weight_outputs_last(grad->type.shape[1]->value, &w, copies_input(c));
  bool by_image = sums_by_image(c, slid, other);
  int parts = even_parts(images, parts_by_rows(b, c, y, &w, groups, last));
  if (by_image) {
    parts = (int)images;
    x = images_of_groups(b, &all, slid, true);
    grad = images_of_groups(b, &all, other, true);
  }
  y = sum_of_parts(b, weight_parts(b, c, x, grad, parts * (int)groups, last), groups, parts,
                   by_image);
  if (!last) return y;
  y = of_own_group(b, y, joined);
  uint32_t axes[GRAPH_RANK_MAX], end = rank_of(y) - 1;
  for (uint32_t i = 0; i <= end; i++) axes[i] = i == 0 ? 0 : i == 1 ? end : i - 1;
  return build_permute(b, y, axes);
}

static Node *groups_by_rows(Build *b, const ConvGradient *c, Node *slid, Node *other) {
  Dim images = other->type.shape[0];
  if (!b->in.g->host || !dim_is_int(c->groups) || c->groups->value < 2) return NULL;
  if (!dim_is_int(images) || images->value < 1 || !has_whole_strides(c, slid)) return NULL;
  return joined_by_rows(b, c, slid, other, groups_of_vector(c, other));
}

/* [groups, o, window, c] */
static Node *channel_products(Build *b, const ConvGradient *c, Node *rows, Node *elements) {
  rows = merged(b, rows, 1, c->n + 1);                                 /* [groups, windows, o] */
  elements = merged(b, merged(b, elements, 1, c->n + 1), 2, c->n + 1); /* [.., windows, k * c] */
  rows = build_transpose(b, rows, 1, 2);
  OpId op = dim_is(c->groups, 1) ? OP_aten_mm_default : OP_aten_bmm_default;
  if (op == OP_aten_mm_default) {
    rows = build_squeeze(b, rows, 1);
    elements = build_squeeze(b, elements, 1);
  }
  return build_product(b, op, rows, elements, ROUNDS_AS_CONVOLUTION);
}

/* [window, c, o] as [o, c, window]. */
static Node *outputs_first(Build *b, const ConvGradient *c, Node *y) {
  uint32_t axes[GRAPH_RANK_MAX];
  axes[0] = c->n + 1;
  axes[1] = c->n;
  for (uint32_t i = 0; i < c->n; i++) axes[i + 2] = i;
  return build_permute(b, y, axes);
}

static Node *weight_gradient(Build *b, const ConvGradient *c) {
  const Dim *w = c->weight->type.shape;
  Node *slid = c->transposed ? c->grad : c->x, *other = c->transposed ? c->x : c->grad;
  if (is_depthwise(c)) return channel_gradient(b, c, slid, other);
  Node *few = small_groups_gradient(b, c, slid, other);
  if (few) return outputs_first(b, c, few);
  Node *many = multiplied_gradient(b, c, slid, other);
  if (many) return many;
  Node *y = gradient_by_rows(b, c, slid, other);
  if (!y) y = groups_by_rows(b, c, slid, other);
  WindowRows rows = window_of_gradient(c);
  if (y) {
    y = build_to(b, y, c->weight->type.dtype);
  } else if (has_boxes(b, c, slid, other)) {
    y = boxes_gradient(b, c, slid, other);
  } else if (has_rows(b, c, slid, other, &rows)) {
    y = rows_gradient(b, c, &rows, slid, other);
  } else {
    Node *elements = by_groups(b, c, window_elements(b, c, slid, 2, other->type.shape + 2));
    y = channel_products(b, c, by_groups(b, c, other), elements);
  }
  Dim shape[GRAPH_RANK_MAX]; /* [all o, window, c] */
  shape[0] = w[0];
  memcpy(shape + 1, w + 2, c->n * sizeof *shape);
  shape[c->n + 1] = w[1];
  uint32_t axes[GRAPH_RANK_MAX];
  axes[0] = 0;
  axes[1] = c->n + 1;
  for (uint32_t i = 0; i < c->n; i++) axes[i + 2] = i + 1;
  return build_permute(b, build_view(b, y, c->n + 2, shape), axes);
}

/* ---- the op ---- */

Node *decompose_convolution_backward(Build *b) {
  ConvGradient c = read_gradient(b);
  Node *items[3] = {NULL};
  if (build_flag(b, "output_mask", 0)) {
    items[0] = library_gradient(b, &c, LIBRARY_INPUT_GRADIENT);
    if (!items[0]) items[0] = input_gradient(b, &c);
  }
  if (build_flag(b, "output_mask", 1)) {
    items[1] = library_gradient(b, &c, LIBRARY_WEIGHT_GRADIENT);
    if (!items[1]) items[1] = weight_gradient(b, &c);
  }
  if (build_flag(b, "output_mask", 2))
    items[2] = build_sum(b, c.grad, all_axes(c.grad) & ~(1u << 1), false);
  return build_results(b, 3, items);
}
