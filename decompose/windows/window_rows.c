/* Windows of few channels as windows of rows.  See decompose.h.
 *
 * Units that multiply matrices sum up blocks of channels, and an image has three.  But the elements
 * of a row of a window are next to each other in memory.  In a copy of the image that has its
 * padding in it, and as many channels that rows begin at multiples of 16 bytes, those of all
 * windows are one box of tensor copies, whose windows overlap. */
#include <string.h>

#include "decompose/decompose.h"
#include "lower/target/device_peaks.h"

static bool has_known_axes(const WindowRows *r, const Node *x) {
  bool known = true;
  for (uint32_t i = 0; i < r->n; i++)
    known &= dim_within(x->type.shape[i + 2], 1, INT32_MAX) &&
             dim_within(r->size[i], 1, INT32_MAX) && dim_within(r->stride[i], 1, INT32_MAX) &&
             dim_within(r->dilation[i], 1, INT32_MAX) && dim_within(r->before[i], 0, INT32_MAX) &&
             dim_within(r->after[i], 0, INT32_MAX);
  return known;
}

/* Windows of fewer elements are faster as they are: 27 took 14.9 us, of 16 images of 224x224, and
 * 24 by rows, with the copy; 147 took 87 and 41. */
enum { ELEMENTS_LEAST = 64 };

static bool has_many_elements(const Node *x, const WindowRows *r) {
  int64_t n = x->type.shape[1]->value;
  for (uint32_t i = 0; i < r->n; i++) n *= r->size[i]->value;
  return n >= ELEMENTS_LEAST;
}

bool decompose_has_rows(const Graph *g, const Node *x, WindowRows *r) {
  enum { COPY_BYTES = 16, BOX_BYTES = 128, FEW = 16, LEAST = 8, AXES = 2 };
  uint32_t last = r->n - 1;
  int64_t bytes = dtype_bits(x->type.dtype) / 8;
  if (g->host || !g->gpu || !device_has_warpgroups(g->gpu) || r->n > AXES) return false;
  bool half = dtype_is_half(x->type.dtype) && build_wide(x->type.dtype) == DT_F32;
  if (!half || !has_known_axes(r, x)) return false;
  if (!dim_within(x->type.shape[1], 1, FEW - 1) || !dim_is(r->dilation[last], 1)) return false;
  r->channels = x->type.shape[1]->value;
  while (r->channels * r->stride[last]->value * bytes % COPY_BYTES) r->channels++;
  int64_t row = r->size[last]->value * r->channels;
  return row >= LEAST && row * bytes <= BOX_BYTES && has_many_elements(x, r);
}

static int64_t rounded_up(int64_t n, int64_t to) { return (n + to - 1) / to * to; }

/* The elements of an axis with its padding. */
static int64_t padded_size(const WindowRows *r, const Node *x, uint32_t i) {
  return x->type.shape[i + 2]->value + r->before[i]->value + r->after[i]->value;
}

/* Channels of x[.., channels, ..] filled up with zeros. */
static Node *with_channels(Build *b, const WindowRows *r, Node *x, uint32_t axis, Arg pads) {
  uint32_t at = 2 * (rank_of(x) - 1 - axis);
  pads.items[at] = build_int(b, 0);
  pads.items[at + 1] = build_int(b, r->channels - x->type.shape[axis]->value);
  return build(b, OP_aten_constant_pad_nd_default, ARGS(arg_node(x), pads, build_int(b, 0)));
}

/* x[N, sizes, channels] with whole strides along each axis. */
static Node *copied(Build *b, const WindowRows *r, Node *x) {
  Arg pads = arg_list(b->in.g, 2 * (r->n + 1));
  Node *image = decompose_channels_last(b, x);
  for (uint32_t i = 0; i < r->n; i++) {
    Arg *at = &pads.items[2 * (r->n - i)]; /* from the last axis on */
    int64_t size = padded_size(r, x, i), whole = rounded_up(size, r->stride[i]->value);
    at[0] = arg_dim(r->before[i]);
    at[1] = build_int(b, whole - size + r->after[i]->value);
  }
  return with_channels(b, r, image, r->n + 1, pads);
}

Node *decompose_rows(Build *b, const WindowRows *r, Node *x) {
  uint32_t axes[GRAPH_RANK_MAX], last = r->n - 1, rank = r->n + 2;
  Dim shape[GRAPH_RANK_MAX], size = r->size[last], stride = r->stride[last];
  int64_t windows = (padded_size(r, x, last) - size->value) / stride->value + 1;
  x = build(b, OP_aten_unfold_default,
            ARGS(arg_node(copied(b, r, x)), build_int(b, r->n), arg_dim(size), arg_dim(stride)));
  x = build_slice(b, x, r->n, build_const(b, 0), build_const(b, windows), 1);
  for (uint32_t i = 0; i <= rank; i++) axes[i] = i == rank - 1 ? rank : i == rank ? rank - 1 : i;
  x = build_permute(b, x, axes);
  memcpy(shape, x->type.shape, rank * sizeof *shape);
  shape[rank - 1] = build_const(b, size->value * r->channels);
  return build_view(b, x, rank, shape);
}

Node *decompose_weight_rows(Build *b, const WindowRows *r, Node *w) {
  Dim shape[GRAPH_RANK_MAX], one = build_const(b, 1);
  Arg pads = arg_list(b->in.g, 4);
  pads.items[0] = pads.items[1] = build_int(b, 0);
  w = with_channels(b, r, w, r->n, pads);
  memcpy(shape, w->type.shape, r->n * sizeof *shape);
  shape[r->n - 1] = one;
  shape[r->n] = build_const(b, r->size[r->n - 1]->value * r->channels);
  shape[r->n + 1] = w->type.shape[r->n + 1];
  return build_view(b, w, r->n + 2, shape);
}

Node *decompose_of_rows(Build *b, const WindowRows *r, Node *y) {
  Dim shape[GRAPH_RANK_MAX];
  uint32_t rank = r->n + 2;
  shape[0] = y->type.shape[0];
  memcpy(shape + 1, r->size, r->n * sizeof *shape);
  shape[rank - 1] = build_const(b, r->channels);
  return build_view(b, y, rank, shape);
}
