/* Convolutions become products of matrices where their windows are single elements or do not
 * overlap, else the primitives of graph/ops/window.h.  The primitives have the channels last:
 * operands and results are permuted here, and pass `channels_last` lets permutations meet and
 * vanish. */
#include <math.h>
#include <string.h>

#include "decompose/decompose.h"
#include "decompose/windows/library_conv.h"
#include "graph/analysis/strided.h"
#include "graph/ops/window.h"
#include "lower/target/device_peaks.h"

typedef struct {
  Node *x, *weight, *bias; /* weight: [O, C / groups, window], transposed [C, O / groups, window] */
  uint32_t n;              /* spatial axes */
  Dim stride[WINDOW_AXES], before[WINDOW_AXES], after[WINDOW_AXES], dilation[WINDOW_AXES];
  Dim spread[WINDOW_AXES];
  Dim groups;
} Conv;

/* ---- arguments ---- */

static void read_conv_axes(Build *b, const char *param, uint32_t n, Dim *out) {
  Dim given[GRAPH_RANK_MAX];
  uint32_t count = infer_sizes(&b->in, param, given);
  for (uint32_t i = 0; i < n; i++) out[i] = given[count == 1 ? 0 : i];
}

static Conv read_conv(Build *b) {
  Conv c = {.x = build_input(b, "input"), .weight = build_input(b, "weight")};
  c.bias = build_input(b, "bias");
  c.n = rank_of(c.weight) - 2;
  c.groups = infer_size(&b->in, "groups");
  read_conv_axes(b, "stride", c.n, c.stride);
  read_conv_axes(b, "dilation", c.n, c.dilation);
  for (uint32_t i = 0; i < c.n; i++) {
    c.before[i] = c.after[i] = build_const(b, 0);
    c.spread[i] = build_const(b, 1);
  }
  return c;
}

/* ---- operands ---- */

static Node *channels_first(Build *b, Node *x) {
  uint32_t axes[GRAPH_RANK_MAX], rank = rank_of(x);
  for (uint32_t i = 0; i < rank; i++) axes[i] = i == 0 ? 0 : i == 1 ? rank - 1 : i - 1;
  return build_permute(b, x, axes);
}

/* [O, C, window] as [window, C, O]. */
static Node *window_first(Build *b, Node *w) {
  uint32_t axes[GRAPH_RANK_MAX], rank = rank_of(w);
  for (uint32_t i = 0; i < rank; i++) axes[i] = i + 2 < rank ? i + 2 : i + 2 == rank ? 1 : 0;
  return build_permute(b, w, axes);
}

/* The weight of a transposed convolution as that of the convolution that it is: the window
 * backwards, the output channels of all groups in front. */
static Node *turned(Build *b, const Conv *c) {
  Node *w = c->weight;
  Dims *d = b->in.g->dims;
  uint32_t axes[GRAPH_RANK_MAX], window = ((1u << c->n) - 1) << 2;
  Dim shape[GRAPH_RANK_MAX], groups = c->groups, of_group = w->type.shape[1];
  Dim inputs = dim_floordiv(d, w->type.shape[0], groups);
  w = build_with(b, OP_aten_flip_default, w, arg_axes(b->in.g, window));
  shape[0] = groups;
  shape[1] = inputs;
  memcpy(shape + 2, w->type.shape + 1, (rank_of(w) - 1) * sizeof *shape);
  w = build_view(b, w, rank_of(w) + 1, shape);
  for (uint32_t i = 0; i < rank_of(w); i++) axes[i] = i == 1 ? 2 : i == 2 ? 1 : i;
  w = build_permute(b, w, axes);
  shape[1] = inputs;
  shape[0] = dim_mul(d, groups, of_group);
  memcpy(shape + 2, c->weight->type.shape + 2, c->n * sizeof *shape);
  return build_view(b, w, c->n + 2, shape);
}

/* ---- ways to compute one ---- */

static bool all_are(uint32_t n, const Dim *x, int64_t value) {
  bool all = true;
  for (uint32_t i = 0; i < n; i++) all &= dim_is(x[i], value);
  return all;
}

static bool is_unpadded(const Conv *c) {
  return all_are(c->n, c->before, 0) && all_are(c->n, c->after, 0) && all_are(c->n, c->spread, 1) &&
         dim_is(c->groups, 1);
}

/* x[N, sizes, K] times w[K, O]. */
static Node *channel_product(Build *b, Node *x, Node *w) {
  Dim shape[GRAPH_RANK_MAX];
  uint32_t rank = rank_of(x);
  memcpy(shape, x->type.shape, rank * sizeof *shape);
  shape[rank - 1] = w->type.shape[1];
  Dim rows[] = {infer_product(&b->in, x->type.shape, rank - 1), x->type.shape[rank - 1]};
  x = build_view(b, x, 2, rows);
  Node *y = build_product(b, OP_aten_mm_default, x, w, ROUNDS_AS_CONVOLUTION);
  return build_view(b, y, rank, shape);
}

/* Windows of one element: a product of the elements that are hit with one matrix. */
static Node *of_elements(Build *b, const Conv *c) {
  Node *x = decompose_channels_last(b, c->x), *w = c->weight;
  for (uint32_t i = 0; i < c->n; i++)
    if (!dim_is(c->stride[i], 1))
      x = build_slice(b, x, i + 1, build_const(b, 0), x->type.shape[i + 1], c->stride[i]->value);
  w = build_view(b, w, 2, (Dim[]){w->type.shape[0], w->type.shape[1]});
  return channel_product(b, x, build_transpose(b, w, 0, 1));
}

/* [O, C, window] as [O, window, C]. */
static Node *channels_after_window(Build *b, Node *w) {
  uint32_t axes[GRAPH_RANK_MAX], rank = rank_of(w);
  for (uint32_t i = 0; i < rank; i++) axes[i] = i == 0 ? 0 : i + 1 < rank ? i + 1 : 1;
  return build_permute(b, w, axes);
}

/* [O, window, C] as [window, C, O]. */
static Node *channels_before(Build *b, Node *w) {
  uint32_t axes[GRAPH_RANK_MAX], rank = rank_of(w);
  for (uint32_t i = 0; i < rank; i++) axes[i] = (i + 1) % rank;
  return build_permute(b, w, axes);
}

/* Windows that neither overlap nor leave gaps: a product of the patches with one matrix.  For few
 * channels: of many, a window is better gone through element by element, and on a CPU vectors of
 * results along an image's row (small_groups) need no copy of patches.  A patch has its elements
 * in the order in which memory has them, so that loads are wide. */
static Node *of_patches(Build *b, const Conv *c, const ValueType *result) {
  Dims *d = b->in.g->dims;
  Node *x = c->x, *w = c->weight;
  bool last = view_stride(b->in.g, x, 1) == 1; /* channels are next to each other */
  uint32_t axes[GRAPH_RANK_MAX], rank = 2 * c->n + 2, channels = last ? rank - 1 : c->n + 1;
  Dim cut[GRAPH_RANK_MAX], shape[GRAPH_RANK_MAX];
  cut[0] = x->type.shape[0];
  cut[1] = x->type.shape[1];
  axes[0] = 0;
  axes[channels] = 1;
  for (uint32_t i = 0; i < c->n; i++) {
    Dim windows = result->shape[i + 2], used = dim_mul(d, windows, c->stride[i]);
    x = build_slice(b, x, i + 2, build_const(b, 0), used, 1);
    cut[2 * i + 2] = windows;
    cut[2 * i + 3] = c->stride[i];
    axes[i + 1] = 2 * i + 2;
    axes[c->n + 1 + i + !last] = 2 * i + 3;
  }
  x = build_permute(b, build_view(b, x, rank, cut), axes);
  memcpy(shape, x->type.shape, (c->n + 1) * sizeof *shape);
  shape[c->n + 1] = infer_product(&b->in, x->type.shape + c->n + 1, c->n + 1);
  if (last) w = channels_after_window(b, w);
  w = build_view(b, w, 2, (Dim[]){w->type.shape[0], shape[c->n + 1]});
  return channel_product(b, build_view(b, x, c->n + 2, shape), build_transpose(b, w, 0, 1));
}

static Arg pairs(Build *b, const Conv *c) {
  Dim all[2 * WINDOW_AXES];
  for (uint32_t i = 0; i < c->n; i++) {
    all[2 * i] = c->before[i];
    all[2 * i + 1] = c->after[i];
  }
  return arg_dims(b->in.g, 2 * c->n, all);
}

/* Convolves x[N, sizes, C] with a weight [window, C]. */
static Node *windows_of_channels(Build *b, const Conv *c) {
  Graph *g = b->in.g;
  return build(b, OP_nereid_conv_depthwise_default,
               ARGS(arg_node(c->x), arg_node(c->weight), arg_dims(g, c->n, c->stride), pairs(b, c),
                    arg_dims(g, c->n, c->dilation), arg_dims(g, c->n, c->spread)));
}

/* x[N, C, sizes] as [N, channels, sizes], of which each meets as many as follow each other. */
static Node *repeated_channels(Build *b, const Conv *c, Dim channels) {
  Dim shape[GRAPH_RANK_MAX];
  const Dim *x = c->x->type.shape;
  if (x[1] == channels) return c->x;
  shape[0] = x[0];
  shape[1] = x[1];
  shape[2] = dim_floordiv(b->in.g->dims, channels, x[1]);
  memcpy(shape + 3, x + 2, c->n * sizeof *shape);
  Node *y = build_expand(b, build_unsqueeze(b, c->x, 2), c->n + 3, shape);
  shape[1] = channels;
  memcpy(shape + 2, x + 2, c->n * sizeof *shape);
  return build_view(b, y, c->n + 2, shape);
}

/* Each output channel sees one input channel, whose rows vectors go along: [N, C, sizes]. */
static Node *depthwise_rows(Build *b, const Conv *c) {
  Graph *g = b->in.g;
  Dim shape[GRAPH_RANK_MAX], channels = c->weight->type.shape[0];
  Node *w = window_first(b, c->weight);
  memcpy(shape, w->type.shape, c->n * sizeof *shape);
  shape[c->n] = channels;
  w = build_view(b, w, c->n + 1, shape);
  return build(b, OP_nereid_conv_depthwise_default,
               ARGS(arg_node(repeated_channels(b, c, channels)), arg_node(w),
                    arg_dims(g, c->n, c->stride), pairs(b, c), arg_dims(g, c->n, c->dilation),
                    arg_dims(g, c->n, c->spread), build_int(b, 2)));
}

/* Each output channel sees one input channel. */
static Node *depthwise(Build *b, const Conv *c) {
  Graph *g = b->in.g;
  Conv each = *c;
  Node *x = decompose_channels_last(b, c->x), *w = window_first(b, c->weight);
  Dim shape[GRAPH_RANK_MAX], channels = w->type.shape[c->n + 1];
  memcpy(shape, w->type.shape, c->n * sizeof *shape);
  shape[c->n] = channels;
  w = build_view(b, w, c->n + 1, shape);
  if (channels != x->type.shape[c->n + 1]) {
    Dim times = dim_floordiv(g->dims, channels, x->type.shape[c->n + 1]);
    memcpy(shape, x->type.shape, (c->n + 2) * sizeof *shape);
    shape[c->n + 2] = times;
    x = build_expand(b, build_unsqueeze(b, x, c->n + 2), c->n + 3, shape);
    shape[c->n + 1] = channels;
    x = build_view(b, x, c->n + 2, shape);
  }
  each.x = x;
  each.weight = w;
  return windows_of_channels(b, &each);
}

/* x[N, sizes, C] as [N, sizes, groups, C / groups, O / groups], in order of its last axes one. */
static Node *repeat_per_group(Build *b, const Conv *c, Node *x, Dim per_group, Dim of_group) {
  uint32_t last = rank_of(x) - 1;
  Dim shape[GRAPH_RANK_MAX];
  memcpy(shape, x->type.shape, last * sizeof *shape);
  shape[last] = c->groups;
  shape[last + 1] = per_group;
  shape[last + 2] = build_const(b, 1);
  x = build_view(b, x, last + 3, shape);
  shape[last + 2] = of_group;
  x = build_expand(b, x, last + 3, shape);
  shape[last] = infer_product(&b->in, shape + last, 3);
  return build_view(b, x, last + 1, shape);
}

/* Integers and doubles, which the units that multiply matrices do not sum up: each product of an
 * input and an output channel is a channel by itself, and those of an output channel are added. */
static Node *conv_as_sum(Build *b, const Conv *c) {
  Dims *d = b->in.g->dims;
  Conv all = *c;
  DType t = c->x->type.dtype;
  Node *w = window_first(b, c->weight);
  Dim shape[GRAPH_RANK_MAX], per_group = c->weight->type.shape[1];
  Dim of_group = dim_floordiv(d, c->weight->type.shape[0], c->groups);
  uint32_t axes[GRAPH_RANK_MAX];
  memcpy(shape, w->type.shape, (c->n + 1) * sizeof *shape);
  shape[c->n + 1] = c->groups;
  shape[c->n + 2] = of_group;
  w = build_view(b, w, c->n + 3, shape);
  for (uint32_t i = 0; i < c->n + 3; i++) axes[i] = i == c->n ? c->n + 1 : i == c->n + 1 ? c->n : i;
  w = build_permute(b, w, axes);
  shape[c->n] = infer_product(&b->in, w->type.shape + c->n, 3);
  all.weight = build_view(b, w, c->n + 1, shape);
  all.x = repeat_per_group(b, c, decompose_channels_last(b, c->x), per_group, of_group);
  Node *y = windows_of_channels(b, &all);
  memcpy(shape, y->type.shape, (c->n + 1) * sizeof *shape);
  shape[c->n + 1] = c->groups;
  shape[c->n + 2] = per_group;
  shape[c->n + 3] = of_group;
  y = build_view(b, y, c->n + 4, shape);
  y = build_to(b, build_sum(b, y, 1u << (c->n + 2), false), t);
  shape[c->n + 1] = c->weight->type.shape[0];
  return build_view(b, y, c->n + 2, shape);
}

/* ---- groups of few channels ---- */

/* Do matrix units multiply its operands? */
static bool has_units(Graph *g, DType t) {
  if (g->host || !g->gpu) return false;
  return dtype_is_half(t) || graph_rounds(g, ROUNDS_AS_CONVOLUTION);
}

/* Elements of a CPU's vector, and channels of a group that are worth a step of a sum. */
enum { VECTOR = 16, STEP_CHANNELS = 9 };

/* Groups to join so that a CPU's vectors have whole groups of results; 1: none.  So many times as
 * much is multiplied, by vectors of which a group would fill a part. */
static int64_t groups_of_vector(const Conv *c) {
  enum { MOST = 64 };
  int64_t per = c->weight->type.shape[1]->value, groups = c->groups->value;
  int64_t each = c->weight->type.shape[0]->value / groups;
  for (int64_t n = 1; n <= groups && n * per <= MOST; n++)
    if (groups % n == 0 && n * each % VECTOR == 0 && n * per >= STEP_CHANNELS) return n;
  return 1;
}

/* Zeros that make the results of a group, of more than half a vector, whole vectors of a CPU, where
 * its channels are enough for a step of their own. */
static int64_t results_more(Build *b, const Conv *c) {
  Dim results = c->weight->type.shape[0], channels = c->weight->type.shape[1];
  bool known = b->in.g->host && build_wide(c->x->type.dtype) == DT_F32 && dim_is_int(c->groups) &&
               dim_is_int(results) && dim_is_int(channels);
  if (!known || c->groups->value < 2 || channels->value < STEP_CHANNELS) return 0;
  int64_t each = results->value / c->groups->value;
  return each > VECTOR / 2 ? -each & (VECTOR - 1) : 0;
}

/* How many groups to join to one: units multiply whole blocks of channels, of which groups of a few
 * have none.  1: none. */
static int64_t groups_to_join(Build *b, const Conv *c) {
  /* Channels of a group, of those that are joined, and of a block of them. */
  enum { FEW = 32, WANTED = 64, BLOCK = 16 };
  Dim per = c->weight->type.shape[1];
  bool known = dim_is_int(c->groups) && dim_is_int(per) && dim_is_int(c->weight->type.shape[0]);
  if (!known || per->value < 1 || per->value >= FEW || c->groups->value < 2) return 1;
  if (b->in.g->host) return results_more(b, c) ? 1 : groups_of_vector(c);
  if (!has_units(b->in.g, c->x->type.dtype)) return 1;
  int64_t joined = 1;
  for (int64_t n = 2; n * per->value <= WANTED; n++)
    if (c->groups->value % n == 0 && n * per->value % BLOCK == 0) joined = n;
  return joined;
}

/* A weight [window, C, O] as that of groups that are joined: 0 for channels of different ones. */
static Node *block_diagonal(Build *b, const Conv *c, Node *w, int64_t joined) {
  Graph *g = b->in.g;
  Dim shape[GRAPH_RANK_MAX], one = build_const(b, 1), n = build_const(b, joined);
  uint32_t rank = c->n + 5;
  memcpy(shape, w->type.shape, c->n * sizeof *shape);
  Dim *tail = shape + c->n, channels = w->type.shape[c->n], features = w->type.shape[c->n + 1];
  Dim each = dim_floordiv(g->dims, features, c->groups);
  memcpy(tail, (Dim[]){one, channels, dim_floordiv(g->dims, c->groups, n), n, each},
         5 * sizeof *tail);
  w = build_view(b, w, rank, shape);
  tail[0] = n;
  w = build_expand(b, w, rank, shape);
  Node *of_input = build_view(b, build_arange(b, n), 5, (Dim[]){n, one, one, one, one});
  Node *of_result = build_view(b, build_arange(b, n), 2, (Dim[]){n, one});
  Node *same = build_op2(b, OP_aten_eq_Tensor, of_input, of_result);
  w = build_where(b, same, arg_node(w), build_int(b, 0));
  tail[0] = dim_mul(g->dims, n, channels);
  tail[1] = features;
  return build_view(b, w, c->n + 2, shape);
}

/* x[.., results] with so many more after those of each group, or without them. */
static Node *results_with_more(Build *b, const Conv *c, Node *x, int64_t more, bool has) {
  Dim shape[GRAPH_RANK_MAX], each, zero = build_const(b, 0);
  uint32_t last = rank_of(x) - 1;
  each = build_const(b, c->weight->type.shape[0]->value / c->groups->value);
  memcpy(shape, x->type.shape, last * sizeof *shape);
  shape[last] = c->groups;
  shape[last + 1] = has ? build_const(b, each->value + more) : each;
  x = build_view(b, x, last + 2, shape);
  if (has) {
    x = build_slice(b, x, last + 1, zero, each, 1);
  } else {
    Dim lengths[] = {zero, build_const(b, more)};
    x = build(b, OP_aten_constant_pad_nd_default, 2,
              (Arg[]){arg_node(x), arg_dims(b->in.g, 2, lengths)});
  }
  shape[last] = dim_mul(build_dims(b), c->groups, x->type.shape[last + 1]);
  return build_view(b, x, last + 1, shape);
}

/* ---- products in TF32 ---- */

/* x, of f32, rounded to the 10 bits of the mantissa that units read, halves away from 0.  NaN may
 * be one by a bit that they cut. */
Node *decompose_rounded(Build *b, Node *x) {
  enum { HALF = 0x1000, CUT = -0x2000 };
  Node *bits = build_with(b, OP_nereid_bits_default, x, arg_dtype(DT_I32));
  bits = build_with(b, OP_aten_add_Tensor, bits, build_int(b, HALF));
  bits = build_with(b, OP_aten_bitwise_and_Scalar, bits, build_int(b, CUT));
  Node *y = build_with(b, OP_nereid_bits_default, bits, arg_dtype(DT_F32));
  Node *nan = build_full(b, 0, NULL, arg_float(NAN), DT_F32);
  return build_where(b, build(b, OP_aten_isnan_default, ARGS(arg_node(x))), arg_node(nan),
                     arg_node(y));
}

/* Are operands rounded in memory, so that the units that read shared memory multiply them? */
static bool rounds_before(Build *b, const Conv *c, int64_t joined) {
  enum { BLOCK = 16 };
  const Graph *g = b->in.g;
  const ValueType *w = &c->weight->type;
  bool hopper = !g->host && g->gpu && device_has_warpgroups(g->gpu);
  return hopper && joined == 1 && c->x->type.dtype == DT_F32 && w->dtype == DT_F32 &&
         graph_rounds(g, ROUNDS_AS_CONVOLUTION) && dim_is_int(w->shape[1]) &&
         w->shape[1]->value % BLOCK == 0 && all_are(c->n, c->spread, 1);
}

/* Channels of a group are positions of the window along an axis of its own. */
static Node *of_small_groups(Build *b, const Conv *c, int64_t each) {
  Node *x = decompose_channels_last(b, c->x);
  Conv all = {.x = decompose_channels_of_groups(b, x, each, c->weight->type.shape[0]),
              .n = c->n + 1};
  uint32_t axes[GRAPH_RANK_MAX];
  axes[0] = c->n; /* of the weight [window, channels of a group, O] */
  for (uint32_t i = 0; i < c->n; i++) axes[i + 1] = i;
  axes[c->n + 1] = c->n + 1;
  all.weight = build_permute(b, window_first(b, c->weight), axes);
  all.before[0] = all.after[0] = build_const(b, 0);
  all.stride[0] = all.dilation[0] = all.spread[0] = build_const(b, 1);
  memcpy(all.before + 1, c->before, c->n * sizeof *all.before);
  memcpy(all.after + 1, c->after, c->n * sizeof *all.after);
  memcpy(all.stride + 1, c->stride, c->n * sizeof *all.stride);
  memcpy(all.dilation + 1, c->dilation, c->n * sizeof *all.dilation);
  memcpy(all.spread + 1, c->spread, c->n * sizeof *all.spread);
  Node *y = windows_of_channels(b, &all); /* [N, 1, sizes, O] */
  Dim shape[GRAPH_RANK_MAX];
  shape[0] = y->type.shape[0];
  memcpy(shape + 1, y->type.shape + 2, (c->n + 1) * sizeof *shape);
  return build_view(b, y, c->n + 2, shape);
}

static int64_t small_groups(Build *b, const Conv *c) {
  bool known = c->n < WINDOW_AXES;
  for (uint32_t i = 0; i < c->n; i++)
    known = known && dim_is_int(c->stride[i]) && dim_is_int(c->dilation[i]) &&
            dim_is_int(c->spread[i]);
  if (!known) return 0;
  return decompose_small_groups(b->in.g, &c->x->type, c->weight->type.shape, c->groups);
}

static Node *of_windows(Build *b, const Conv *c) {
  Graph *g = b->in.g;
  DType t = c->x->type.dtype;
  int64_t few = small_groups(b, c);
  if (few) return of_small_groups(b, c, few);
  if (build_wide(t) != DT_F32 && !(g->host && t == DT_I8)) return conv_as_sum(b, c);
  int64_t joined = groups_to_join(b, c);
  bool before = rounds_before(b, c, joined);
  Node *w = before ? channels_before(b, decompose_rounded(b, channels_after_window(b, c->weight)))
                   : window_first(b, c->weight);
  int64_t more = results_more(b, c);
  bool widens = more && dtype_is_half(t); /* sums meet their bias behind a slice */
  if (widens) w = build_to(b, w, DT_F32);
  if (joined > 1) w = block_diagonal(b, c, w, joined);
  if (more) w = results_with_more(b, c, w, more, false);
  Dim groups = dim_floordiv(g->dims, c->groups, build_const(b, joined));
  Node *x = decompose_channels_last(b, c->x);
  if (before) x = decompose_rounded(b, x);
  if (widens) x = build_to(b, x, DT_F32);
  Arg args[] = {arg_node(x),
                arg_node(w),
                arg_dims(g, c->n, c->stride),
                pairs(b, c),
                arg_dims(g, c->n, c->dilation),
                arg_dims(g, c->n, c->spread),
                arg_dim(groups),
                build_int(b, joined),
                arg_bool(before)};
  uint32_t n = sizeof args / sizeof *args;
  Node *y = build(b, OP_nereid_conv_default, before ? n : joined > 1 ? n - 1 : n - 2, args);
  return more ? results_with_more(b, c, y, more, true) : y;
}

/* ---- few channels ---- */

static bool has_rows(Build *b, const Conv *c, WindowRows *r) {
  r->n = c->n;
  memcpy(r->size, c->weight->type.shape + 2, c->n * sizeof *r->size);
  memcpy(r->stride, c->stride, sizeof r->stride);
  memcpy(r->before, c->before, sizeof r->before);
  memcpy(r->after, c->after, sizeof r->after);
  memcpy(r->dilation, c->dilation, sizeof r->dilation);
  bool apart = dim_is(c->groups, 1) && all_are(c->n, c->spread, 1);
  return apart && decompose_has_rows(b->in.g, c->x, r);
}

/* The copy contains the padding.  Zeros that make its sizes multiples of the strides are behind the
 * last window. */
static Node *of_rows(Build *b, const Conv *c, const WindowRows *r) {
  Graph *g = b->in.g;
  Dims *d = g->dims;
  Conv rows = *c;
  Dim zero = build_const(b, 0);
  Node *x = decompose_rows(b, r, c->x);
  Node *w = decompose_weight_rows(b, r, window_first(b, c->weight));
  for (uint32_t i = 0; i < c->n; i++) {
    Dim pads = dim_add(d, c->before[i], c->after[i]), size = x->type.shape[i + 1];
    rows.before[i] = zero;
    rows.after[i] = dim_sub(d, dim_add(d, c->x->type.shape[i + 2], pads), size);
  }
  rows.after[c->n - 1] = zero;
  rows.stride[c->n - 1] = rows.dilation[c->n - 1] = build_const(b, 1);
  return build(b, OP_nereid_conv_default,
               ARGS(arg_node(x), arg_node(w), arg_dims(g, c->n, rows.stride), pairs(b, &rows),
                    arg_dims(g, c->n, rows.dilation), arg_dims(g, c->n, rows.spread),
                    arg_dim(c->groups)));
}

enum { FEW_CHANNELS = 16 };

static bool has_patches(const Conv *c) {
  const ValueType *w = &c->weight->type;
  Dim channels = w->shape[1];
  bool few = dim_is_int(channels) && channels->value < FEW_CHANNELS;
  for (uint32_t i = 0; i < c->n; i++) few &= c->stride[i] == w->shape[i + 2];
  return few && is_unpadded(c) && all_are(c->n, c->dilation, 1);
}

static bool fixed_stride(const Conv *c) {
  bool fixed = true;
  for (uint32_t i = 0; i < c->n; i++) fixed &= dim_is_int(c->stride[i]);
  return fixed;
}

/* A library does two axes that are padded alike on both sides; not windows of one element next to
 * each other, which are products of matrices. */
static bool fits_library(const Conv *c) {
  bool fits = c->n == 2 && rank_of(c->x) == 4 && all_are(c->n, c->spread, 1);
  bool product = all_are(c->n, c->weight->type.shape + 2, 1) && all_are(c->n, c->stride, 1);
  bool images = c->x->type.shape[0]->kind != DIM_INT || c->x->type.shape[0]->value > 0;
  for (uint32_t i = 0; i < c->n; i++) fits &= c->before[i] == c->after[i];
  return fits && images && !product;
}

/* A product of patches takes an eighth of cuDNN's time for ViT's, a quarter for ConvNeXt's. */
static bool is_ours(const Graph *g, const Conv *c) {
  return g->libraries->wants && g->gpu && !g->host && has_patches(c);
}

/* The result has an axis of images, also where the convolution has none. */
static Node *library_windows(Build *b, const Conv *c) {
  if (!b->in.g->libraries || !fits_library(c) || is_ours(b->in.g, c)) return NULL;
  LibraryWindows w = {.groups = c->groups};
  memcpy(w.stride, c->stride, sizeof w.stride);
  memcpy(w.padding, c->before, sizeof w.padding);
  memcpy(w.dilation, c->dilation, sizeof w.dilation);
  const ValueType *t = &b->in.n->type;
  const Dim *y = t->shape + t->rank - 3; /* features, and sizes of an image */
  Dim size[] = {c->x->type.shape[0], y[1], y[2], y[0]};
  return library_conv(b, LIBRARY_CONVOLUTION, c->x, c->weight, size, &w);
}

/* Are the elements that windows of one element hit, some strides apart, boxes for a GPU's tensor
 * copies, and tiles enough that programs make several?  Threads copied rows of a product. */
static bool hits_boxes(Build *b, const Conv *c) {
  enum { BLOCK = 16, ROW = 8, TILE = 128 * 256 };
  const Graph *g = b->in.g;
  const Dim *x = c->x->type.shape, features = c->weight->type.shape[0];
  bool fits = !g->host && g->gpu && device_has_warpgroups(g->gpu) &&
              dtype_is_half(c->x->type.dtype) && dim_is_int(x[0]) && dim_is_int(x[1]) &&
              x[1]->value % BLOCK == 0 && dim_is_int(features) &&
              features->value % ROW == 0;
  double results = fits ? (double)x[0]->value * (double)features->value : 0;
  for (uint32_t i = 0; i < c->n && fits; i++) {
    fits = dim_is_int(x[i + 2]) && x[i + 2]->value % c->stride[i]->value == 0;
    if (fits) results *= (double)(x[i + 2]->value / c->stride[i]->value);
  }
  return fits && !all_are(c->n, c->stride, 1) && results > (double)TILE * g->gpu->processors;
}

/* Is one channel a signal that long windows take to many, as a Fourier transform does?  On CPUs it
 * is a product: vectors of results hold more than one place each. */
static bool is_spectrum(Build *b, const Conv *c) {
  enum { TAPS_LEAST = 64, FEATURES_LEAST = 32 };
  const Dim *w = c->weight->type.shape;
  Dim taps = infer_product(&b->in, w + 2, c->n);
  return b->in.g->host && dim_is(c->x->type.shape[1], 1) && dim_is_int(taps) && dim_is_int(w[0]) &&
         taps->value >= TAPS_LEAST && w[0]->value >= FEATURES_LEAST;
}

/* A signal whose channels are first in memory; NULL: it has them last, or more axes. */
static Node *of_signal(Build *b, const Conv *c) {
  if (c->n != 1 || !dim_is(c->groups, 1) || !dim_is(c->spread[0], 1)) return NULL;
  SignalWindows s = {c->x, c->weight, c->stride[0], c->before[0], c->after[0], c->dilation[0]};
  Node *y = decompose_signal(b, &s);
  return y ? decompose_channels_last(b, y) : NULL;
}

/* The result without a bias, with its channels last; of 16 bits maybe in f32. */
static Node *own_windows(Build *b, const Conv *c, bool patches) {
  const ValueType *w = &c->weight->type;
  bool alone = dim_is(w->shape[1], 1) && c->groups == c->x->type.shape[1];
  bool elements = is_unpadded(c) && all_are(c->n, w->shape + 2, 1);
  Node *signal = patches ? of_signal(b, c) : NULL;
  if (signal) return signal;
  if (elements && fixed_stride(c) && !hits_boxes(b, c)) return of_elements(b, c);
  if (patches && has_patches(c) && !small_groups(b, c)) return of_patches(b, c, &b->in.n->type);
  WindowRows rows;
  if (has_rows(b, c, &rows)) return of_rows(b, c, &rows);
  if (alone && patches && all_are(c->n, c->spread, 1)) {
    SignalWindows s = {c->x, c->weight, c->stride[c->n - 1], NULL, NULL, NULL};
    if (decompose_keeps_rows(b, &s)) return decompose_channels_last(b, depthwise_rows(b, c));
  }
  return alone && !is_spectrum(b, c) ? depthwise(b, c) : of_windows(b, c);
}

/* ---- transposed ones ---- */

/* A transposed convolution along an axis: element o + padding of the result is q * stride + r, and
 * the sum over t of what the window has at t * stride + r and the input at q - t.  So results are
 * those of a convolution of T elements, r being channels. */
typedef struct {
  int64_t stride, taps; /* the number of r and of t */
  Dim from, count;      /* of q */
  Dim cut;              /* of the results of q, those before the first one that is wanted */
} Phase;

/* `taps` is the most, where windows have other numbers of elements in each phase. */
static bool find_phases(Build *b, const Conv *c, const Dim *padding, Phase *p) {
  Dims *d = b->in.g->dims;
  const ValueType *t = &b->in.n->type;
  bool apart = false;
  for (uint32_t i = 0; i < c->n; i++) {
    Dim size = c->weight->type.shape[i + 2], out = t->shape[t->rank - c->n + i];
    if (!dim_is_int(c->stride[i]) || !dim_is_int(padding[i]) || !dim_is_int(size)) return false;
    if (!dim_is(c->dilation[i], 1) || size->value < 1 || padding[i]->value < 0) return false;
    int64_t stride = c->stride[i]->value, from = padding[i]->value / stride;
    Dim last = dim_add(d, out, build_const(b, padding[i]->value - 1 + stride));
    p[i].stride = stride;
    p[i].taps = (size->value + stride - 1) / stride;
    p[i].from = build_const(b, from);
    p[i].count = dim_sub(d, dim_floordiv(d, last, c->stride[i]), p[i].from);
    p[i].cut = build_const(b, padding[i]->value % stride);
    apart |= stride > 1;
  }
  return apart;
}

/* [C, O / groups, window] as [groups, r, O / groups, C / groups, t backwards], the first three as
 * one axis. */
static Node *weight_of_phases(Build *b, const Conv *c, const Phase *p) {
  Graph *g = b->in.g;
  Node *w = c->weight;
  uint32_t n = c->n, axes[GRAPH_RANK_MAX], backwards = 0;
  Dim shape[GRAPH_RANK_MAX], of_group = w->type.shape[1];
  shape[0] = c->groups;
  shape[1] = dim_floordiv(g->dims, c->weight->type.shape[0], c->groups);
  shape[2] = of_group;
  for (uint32_t i = 0; i < n; i++) {
    shape[3 + 2 * i] = build_const(b, p[i].taps);
    shape[4 + 2 * i] = build_const(b, p[i].stride);
    axes[1 + i] = 4 + 2 * i;
    axes[3 + n + i] = 3 + 2 * i;
    if (p[i].taps > 1) backwards |= 1u << (3 + 2 * i);
  }
  axes[0] = 0;
  axes[1 + n] = 2;
  axes[2 + n] = 1;
  w = build_view(b, w, 3 + 2 * n, shape);
  if (backwards) w = build_with(b, OP_aten_flip_default, w, arg_axes(g, backwards));
  w = build_permute(b, w, axes);
  shape[0] = infer_product(&b->in, w->type.shape, 2 + n);
  memcpy(shape + 1, w->type.shape + 2 + n, (1 + n) * sizeof *shape);
  return build_view(b, w, 2 + n, shape);
}

/* y[N, q and r of an axis, .., of O] as [N, sizes, O]. */
static Node *interleaved(Build *b, const Conv *c, const Phase *p, Node *y) {
  Dims *d = b->in.g->dims;
  const ValueType *t = &b->in.n->type;
  uint32_t n = c->n;
  Dim shape[GRAPH_RANK_MAX];
  shape[0] = y->type.shape[0];
  for (uint32_t i = 0; i < n; i++)
    shape[1 + i] = dim_mul(d, p[i].count, build_const(b, p[i].stride));
  shape[n + 1] = dim_mul(d, c->groups, c->weight->type.shape[1]);
  y = build_view(b, y, n + 2, shape);
  for (uint32_t i = 0; i < n; i++) {
    Dim end = dim_add(d, p[i].cut, t->shape[t->rank - n + i]);
    bool whole = dim_is(p[i].cut, 0) && end == y->type.shape[i + 1];
    if (!whole) y = build_slice(b, y, i + 1, p[i].cut, end, 1);
  }
  return y;
}

/* y[N, q, groups, r, O / groups] as [N, q and r of an axis, O], with the bias, cut to the sizes of
 * the result. */
static Node *interleave_phases(Build *b, const Conv *c, const Phase *p, Node *y) {
  uint32_t n = c->n, axes[GRAPH_RANK_MAX];
  Dim shape[GRAPH_RANK_MAX], of_group = c->weight->type.shape[1];
  memcpy(shape, y->type.shape, (n + 1) * sizeof *shape);
  shape[n + 1] = c->groups;
  for (uint32_t i = 0; i < n; i++) shape[n + 2 + i] = build_const(b, p[i].stride);
  shape[2 * n + 2] = of_group;
  y = build_view(b, y, 2 * n + 3, shape);
  for (uint32_t i = 0; i < n; i++) shape[n + 2 + i] = build_const(b, 1);
  if (c->bias) y = build_add(b, y, build_view(b, c->bias, n + 2, shape + n + 1));
  axes[0] = 0;
  for (uint32_t i = 0; i < n; i++) {
    axes[1 + 2 * i] = 1 + i;
    axes[2 + 2 * i] = n + 2 + i;
  }
  axes[2 * n + 1] = n + 1;
  axes[2 * n + 2] = 2 * n + 2;
  return interleaved(b, c, p, build_permute(b, y, axes));
}

/* ---- phases whose windows differ ---- */

/* A window that is filled up with zeros would make NaN of infinities. */
static bool phases_differ(const Conv *c, const Phase *p) {
  bool differ = false;
  for (uint32_t i = 0; i < c->n; i++) differ |= c->weight->type.shape[i + 2]->value % p[i].stride;
  return differ;
}

/* The most phases that are convolved one by one. */
enum { PHASES_MOST = 16 };

static int64_t phases_of(const Conv *c, const Phase *p) {
  int64_t all = 1;
  for (uint32_t i = 0; i < c->n; i++) all *= p[i].stride;
  return all;
}

/* Does a CPU compute more places than images have, since phases begin at several of them?  The
 * results of a phase need vectors of their own.  512x4x4 to 256, 4x4 with stride 2, took 6.0 ms so,
 * and 2.2 phase by phase. */
static bool wastes_places(Build *b, const Conv *c, const Phase *p) {
  Dim results = c->weight->type.shape[1];
  bool cut = false;
  for (uint32_t i = 0; i < c->n; i++) cut |= !dim_is(p[i].cut, 0);
  return b->in.g->host && c->n > 1 && cut && phases_of(c, p) <= PHASES_MOST &&
         dim_is(c->groups, 1) && dim_is_int(results) && results->value % VECTOR == 0 &&
         results->value >= 2 * VECTOR;
}

/* Has each channel vectors of its own?  Strips of rows leave out what is no element. */
static bool goes_along_rows(Build *b, const Conv *c) {
  const Dim *w = c->weight->type.shape;
  bool square = dim_is_int(w[1]) && w[0] == dim_mul(b->in.g->dims, w[1], c->groups);
  if (!dim_is(c->groups, 1) && square && small_groups(b, c)) return true;
  return dim_is(w[1], 1) && w[0] == c->groups && dim_is_int(w[0]) && w[0]->value >= VECTOR;
}

/* Is it done phase by phase, rather than as windows of which each meets some elements? */
static bool has_own_phases(Build *b, const Conv *c, const Phase *p) {
  if (b->in.g->host && goes_along_rows(b, c)) return false;
  return !phases_differ(c, p) || (b->in.g->host && phases_of(c, p) <= PHASES_MOST);
}

/* Results u, u + stride, ... along each axis, with the bias: [N, count, O].  The first of them is
 * q = from of the phase r, and an axis has as many as that of u = 0. */
static Node *of_phase(Build *b, const Conv *c, const Phase *p, const Dim *padding,
                      const int64_t *u) {
  Dims *d = b->in.g->dims;
  Conv inner = *c;
  Dim shape[GRAPH_RANK_MAX];
  bool none = false;
  shape[0] = c->x->type.shape[0];
  shape[c->n + 1] = dim_mul(d, c->groups, c->weight->type.shape[1]);
  for (uint32_t i = 0; i < c->n; i++) {
    Dim size = c->weight->type.shape[i + 2];
    int64_t stride = p[i].stride, first = u[i] + padding[i]->value;
    int64_t r = first % stride, taps = (size->value - r + stride - 1) / stride;
    none |= taps <= 0;
    shape[i + 1] = p[i].count;
    inner.stride[i] = build_const(b, 1);
    inner.before[i] = build_const(b, taps - 1 - first / stride);
    inner.after[i] = dim_add(d, p[i].count, build_const(b, first / stride));
    inner.after[i] = dim_sub(d, inner.after[i], c->x->type.shape[i + 2]);
    if (!none) inner.weight = build_slice(b, inner.weight, i + 2, build_const(b, r), size, stride);
  }
  Node *y = none ? build_full(b, c->n + 2, shape, arg_float(0), c->x->type.dtype) : NULL;
  if (!none) inner.weight = turned(b, &inner);
  if (!none) y = own_windows(b, &inner, false);
  return build_to(b, c->bias ? build_add(b, y, c->bias) : y, c->x->type.dtype);
}

/* The phases' results after each other, then interleaved.  A CPU convolves once a phase; a GPU's
 * programs have a phase each (planner/fuse/image_tiles.c). */
static Node *of_each_phase(Build *b, const Conv *c, const Dim *padding, Phase *p) {
  Dims *d = b->in.g->dims;
  const ValueType *t = &b->in.n->type;
  uint32_t n = c->n, axes[GRAPH_RANK_MAX], count = 1;
  Dim shape[GRAPH_RANK_MAX];
  for (uint32_t i = 0; i < n; i++) {
    count *= (uint32_t)p[i].stride;
    Dim last = dim_add(d, t->shape[t->rank - n + i], build_const(b, p[i].stride - 1));
    p[i].count = dim_floordiv(d, last, c->stride[i]);
    p[i].cut = build_const(b, 0);
  }
  Node **parts = ARENA_ARRAY(b->in.g->arena, Node *, count);
  for (uint32_t k = 0; k < count; k++) {
    int64_t u[WINDOW_AXES];
    uint32_t left = k;
    for (uint32_t i = n; i-- > 0; left /= (uint32_t)p[i].stride) u[i] = left % p[i].stride;
    parts[k] = build_unsqueeze(b, of_phase(b, c, p, padding, u), 0);
  }
  Node *y = build_cat(b, count, parts, 0);
  for (uint32_t i = 0; i < n; i++) {
    shape[i] = build_const(b, p[i].stride);
    axes[1 + 2 * i] = n + 1 + i;
    axes[2 + 2 * i] = i;
  }
  memcpy(shape + n, y->type.shape + 1, (n + 2) * sizeof *shape);
  axes[0] = n;
  axes[2 * n + 1] = 2 * n + 1;
  return interleaved(b, c, p, build_permute(b, build_view(b, y, 2 * n + 2, shape), axes));
}

/* c.stride is that of the transposed convolution. */
static Node *of_phases(Build *b, const Conv *c, const Phase *p) {
  Dims *d = b->in.g->dims;
  Conv inner = *c;
  for (uint32_t i = 0; i < c->n; i++) {
    inner.stride[i] = build_const(b, 1);
    inner.before[i] = dim_sub(d, build_const(b, p[i].taps - 1), p[i].from);
    inner.after[i] = dim_sub(d, dim_add(d, p[i].count, p[i].from), c->x->type.shape[i + 2]);
  }
  inner.weight = weight_of_phases(b, c, p);
  return interleave_phases(b, c, p, own_windows(b, &inner, false));
}

static Node *with_bias(Build *b, const Conv *c, Node *y, bool batched) {
  if (c->bias) y = build_add(b, y, c->bias);
  y = channels_first(b, build_to(b, y, b->in.n->type.dtype));
  return batched ? y : build_squeeze(b, y, 1);
}

static Node *build_conv(Build *b, Conv *c) {
  bool batched = rank_of(c->x) == c->n + 2;
  if (!batched) c->x = build_unsqueeze(b, c->x, 0);
  Node *y = library_windows(b, c);
  if (!y) return with_bias(b, c, own_windows(b, c, batched), batched);
  if (c->bias) y = build_add(b, y, build_along(b, c->bias, 1, 4));
  return batched ? y : build_squeeze(b, y, 1);
}

/* ---- the ops ---- */

Node *decompose_conv(Build *b) {
  Conv c = read_conv(b);
  read_conv_axes(b, "padding", c.n, c.before);
  memcpy(c.after, c.before, sizeof c.after);
  return build_conv(b, &c);
}

/* Elements of the input are `stride` apart, and the first window begins dilation * (size - 1)
 * elements before the first of them, less the padding. */
Node *decompose_conv_transpose(Build *b) {
  Conv c = read_conv(b);
  Dims *d = b->in.g->dims;
  Dim padding[WINDOW_AXES], more[WINDOW_AXES], one = build_const(b, 1);
  read_conv_axes(b, "padding", c.n, padding);
  read_conv_axes(b, "output_padding", c.n, more);
  Phase phases[WINDOW_AXES];
  if (find_phases(b, &c, padding, phases) && has_own_phases(b, &c, phases)) {
    bool batched = rank_of(c.x) == c.n + 2;
    bool differ = phases_differ(&c, phases) || wastes_places(b, &c, phases);
    if (!batched) c.x = build_unsqueeze(b, c.x, 0);
    Conv sums = c, biased = c;
    if (dtype_is_half(c.x->type.dtype)) sums.bias = NULL;
    else biased.bias = NULL;
    Node *y = differ ? of_each_phase(b, &biased, padding, phases) : of_phases(b, &biased, phases);
    return with_bias(b, &sums, y, batched);
  }
  for (uint32_t i = 0; i < c.n; i++) {
    Dim reach = dim_mul(d, c.dilation[i], dim_sub(d, c.weight->type.shape[i + 2], one));
    c.before[i] = dim_sub(d, reach, padding[i]);
    c.after[i] = dim_add(d, c.before[i], more[i]);
    c.spread[i] = c.stride[i];
    c.stride[i] = one;
  }
  c.weight = turned(b, &c);
  return build_conv(b, &c);
}

/* ---- bytes ---- */

/* x[N, C, sizes] with its padding and with `more` channels after those of each group. */
static Node *padded_bytes(Build *b, const Conv *c, int64_t more) {
  Dim lengths[2 * GRAPH_RANK_MAX], shape[GRAPH_RANK_MAX], zero = build_const(b, 0);
  uint32_t rank = c->n + 2, n = 0;
  bool grouped = more && !dim_is(c->groups, 1);
  if (!more && all_are(c->n, c->before, 0) && all_are(c->n, c->after, 0)) return c->x;
  Node *x = decompose_channels_last(b, c->x);
  memcpy(shape, x->type.shape, rank * sizeof *shape);
  lengths[n++] = zero;
  lengths[n++] = build_const(b, more);
  if (grouped) {
    shape[rank - 1] = c->groups;
    shape[rank] = c->weight->type.shape[1];
    x = build_view(b, x, rank + 1, shape);
    lengths[n++] = zero;
    lengths[n++] = zero;
  }
  for (uint32_t i = c->n; i-- > 0;) {
    lengths[n++] = c->before[i];
    lengths[n++] = c->after[i];
  }
  Arg fill = build_int(b, infer_int(&b->in, "fill"));
  Arg args[] = {arg_node(x), arg_dims(b->in.g, n, lengths), fill};
  x = build(b, OP_aten_constant_pad_nd_default, 3, args);
  if (grouped) {
    memcpy(shape, x->type.shape, (rank - 1) * sizeof *shape);
    shape[rank - 1] = dim_mul(b->in.g->dims, c->groups, x->type.shape[rank]);
    x = build_view(b, x, rank, shape);
  }
  return channels_first(b, x);
}

/* A CPU's words have four channels of a group; others meet zeros of the weight. */
static Node *of_words(Build *b, const Conv *c) {
  Conv all = *c;
  int64_t more = -c->weight->type.shape[1]->value & (STRIDED_WORD - 1);
  all.x = padded_bytes(b, c, more);
  if (more) {
    Dim lengths[2 * (WINDOW_AXES + 1)];
    for (uint32_t i = 0; i < 2 * c->n + 1; i++) lengths[i] = build_const(b, 0);
    lengths[2 * c->n + 1] = build_const(b, more);
    Arg args[] = {arg_node(c->weight), arg_dims(b->in.g, 2 * c->n + 2, lengths)};
    all.weight = build(b, OP_aten_constant_pad_nd_default, 2, args);
  }
  for (uint32_t i = 0; i < c->n; i++) all.before[i] = all.after[i] = build_const(b, 0);
  return of_windows(b, &all);
}

/* A product of patches of the padded image, whose elements are in the order [window, C]. */
static Node *of_byte_patches(Build *b, const Conv *c) {
  Node *x = decompose_channels_last(b, padded_bytes(b, c, 0));
  uint32_t rank = rank_of(x), axes[GRAPH_RANK_MAX];
  for (uint32_t i = 0; i < c->n; i++) {
    int64_t stride = c->stride[i]->value, dilation = c->dilation[i]->value;
    int64_t reach = (c->weight->type.shape[i + 2]->value - 1) * dilation + 1;
    if (reach == 1) {
      x = build_slice(b, x, i + 1, build_const(b, 0), x->type.shape[i + 1], stride);
      x = build_unsqueeze(b, x, rank + i);
      continue;
    }
    Arg args[] = {arg_node(x), build_int(b, i + 1), build_int(b, reach), build_int(b, stride)};
    x = build(b, OP_aten_unfold_default, 4, args);
    x = build_slice(b, x, rank + i, build_const(b, 0), build_const(b, reach), dilation);
  }
  for (uint32_t i = 0; i < rank + c->n; i++)
    axes[i] = i + 1 < rank ? i : i + 1 < rank + c->n ? i + 1 : rank - 1;
  x = build_permute(b, x, axes);
  Dim shape[GRAPH_RANK_MAX], columns = c->weight->type.shape[0];
  memcpy(shape, x->type.shape, rank * sizeof *shape);
  Dim k = infer_product(&b->in, x->type.shape + rank - 1, c->n + 1);
  shape[rank - 1] = columns;
  Dim rows[] = {infer_product(&b->in, shape, rank - 1), k};
  x = build_with(b, OP_aten_reshape_default, x, arg_dims(b->in.g, 2, rows));
  Node *w = build_view(b, window_first(b, c->weight), 2, (Dim[]){k, columns});
  return build_view(b, build_op2(b, OP_aten__int_mm_default, x, w), rank, shape);
}

/* Each channel by itself.  What surrounds the image is taken off it, so that zeros do. */
static Node *lone_bytes(Build *b, const Conv *c) {
  Conv each = *c;
  int64_t fill = infer_int(&b->in, "fill");
  each.x = build_to(b, c->x, DT_F32);
  if (fill) each.x = build_with(b, OP_aten_sub_Tensor, each.x, arg_float((double)fill));
  each.weight = build_to(b, c->weight, DT_F32);
  Node *y = build_to(b, depthwise(b, &each), DT_I32);
  if (!fill) return y;
  uint32_t window = ((1u << c->n) - 1) << 2;
  Node *more = build_sum(b, build_to(b, c->weight, DT_I32), window | 2, false);
  more = build_to(b, more, DT_I32);
  return build_add(b, y, build_with(b, OP_aten_mul_Tensor, more, build_int(b, fill)));
}

/* Sums that f32 holds are convolutions of f32; the input's upper and lower halves by themselves
 * have smaller ones. */
static Node *bytes_as_floats(Build *b, const Conv *c) {
  enum { EXACT = 1 << 24, HALF = 1 << 7, DIGIT = 1 << 4 };
  Conv each = *c;
  Dim terms = infer_product(&b->in, c->weight->type.shape + 1, c->n + 1);
  int64_t n = dim_is_int(terms) ? terms->value : INT64_MAX;
  Node *x = padded_bytes(b, c, 0);
  for (uint32_t i = 0; i < c->n; i++) each.before[i] = each.after[i] = build_const(b, 0);
  bool whole = n <= EXACT / (HALF * HALF), halves = n <= EXACT / (HALF * DIGIT);
  if (!whole) x = build_to(b, x, DT_I32);
  each.weight = build_to(b, c->weight, whole || halves ? DT_F32 : DT_I32);
  each.x = x;
  if (!whole && !halves) return own_windows(b, &each, false);
  Node *high = x;
  if (!whole)
    high = build_with(b, OP_aten_bitwise_right_shift_Tensor_Scalar, x, build_int(b, 4));
  each.x = build_to(b, high, DT_F32);
  Node *y = build_to(b, own_windows(b, &each, false), DT_I32);
  if (whole) return y;
  Node *low = build_with(b, OP_aten_bitwise_and_Scalar, x, build_int(b, DIGIT - 1));
  each.x = build_to(b, low, DT_F32);
  y = build_with(b, OP_aten_mul_Tensor, y, build_int(b, DIGIT));
  return build_add(b, y, build_to(b, own_windows(b, &each, false), DT_I32));
}

static bool has_known_windows(const Conv *c) {
  const ValueType *w = &c->weight->type;
  bool known = dim_is_int(c->groups);
  for (uint32_t i = 0; i < w->rank; i++) known &= dim_is_int(w->shape[i]);
  for (uint32_t i = 0; i < c->n; i++)
    known &= dim_is_int(c->stride[i]) && dim_is_int(c->dilation[i]);
  return known;
}

/* Sums of so many products of 255 and 128 are exact in f32. */
enum { LONE_TERMS = 512 };

static int64_t window_terms(const Conv *c) {
  int64_t n = 1;
  for (uint32_t i = 0; i < c->n && n <= LONE_TERMS; i++) n *= c->weight->type.shape[i + 2]->value;
  return n;
}

/* Sums in i32 of products of bytes; see op_table.def. */
Node *decompose_int_conv(Build *b) {
  Conv c = {.x = build_input(b, "input"), .weight = build_input(b, "weight")};
  Dim padding[2 * WINDOW_AXES];
  c.n = rank_of(c.weight) - 2;
  c.groups = infer_size(&b->in, "groups");
  read_conv_axes(b, "stride", c.n, c.stride);
  read_conv_axes(b, "dilation", c.n, c.dilation);
  infer_sizes(&b->in, "padding", padding);
  for (uint32_t i = 0; i < c.n; i++) {
    c.before[i] = padding[2 * i];
    c.after[i] = padding[2 * i + 1];
    c.spread[i] = build_const(b, 1);
  }
  const ValueType *w = &c.weight->type;
  bool known = has_known_windows(&c), one = dim_is(c.groups, 1);
  bool lone = dim_is(w->shape[1], 1) && !one, elements = all_are(c.n, w->shape + 2, 1);
  Node *y;
  if (known && lone && c.groups == c.x->type.shape[1] && window_terms(&c) <= LONE_TERMS)
    y = lone_bytes(b, &c);
  else if (b->in.g->host && known && !lone && !(one && elements) && c.n + 2 <= STRIDED_RANK_MAX)
    y = of_words(b, &c);
  else if (known && one)
    y = of_byte_patches(b, &c);
  else
    y = bytes_as_floats(b, &c);
  return channels_first(b, y);
}

Node *decompose_convolution(Build *b) {
  return infer_bool(&b->in, "transposed") ? decompose_conv_transpose(b) : decompose_conv(b);
}

/* "same": dilation * (size - 1) in all; of an odd number the larger half comes after the input. */
static void find_same_padding(Build *b, Conv *c) {
  Dims *d = b->in.g->dims;
  for (uint32_t i = 0; i < c->n; i++) {
    Dim less = dim_sub(d, c->weight->type.shape[i + 2], build_const(b, 1));
    Dim all = dim_mul(d, c->dilation[i], less);
    c->before[i] = dim_floordiv(d, all, build_const(b, 2));
    c->after[i] = dim_sub(d, all, c->before[i]);
  }
}

Node *decompose_conv_padding(Build *b) {
  Conv c = read_conv(b);
  if (!strcmp(infer_string(&b->in, "padding"), "same")) find_same_padding(b, &c);
  return build_conv(b, &c);
}
