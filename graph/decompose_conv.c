/* Convolutions become aten.convolution with all its arguments; pooling over one axis becomes
 * pooling over two, and adaptive pooling into equal windows plain pooling. */
#include <string.h>

#include "graph/decompose.h"

enum { SPATIAL_MAX = 3 };

/* ---- convolution ---- */

typedef struct {
  Node *x, *weight, *bias;
  uint32_t n; /* spatial axes */
  Dim stride[SPATIAL_MAX], padding[SPATIAL_MAX], dilation[SPATIAL_MAX], more[SPATIAL_MAX];
  bool transposed;
} Conv;

static void read_axes(Build *b, const char *param, uint32_t n, Dim *out) {
  Dim given[GRAPH_RANK_MAX];
  uint32_t count = infer_sizes(&b->in, param, given);
  for (uint32_t i = 0; i < n; i++) out[i] = given[count == 1 ? 0 : i];
}

static Conv read_conv(Build *b) {
  Conv c = {build_input(b, "input"),
            build_input(b, "weight"),
            build_input(b, "bias"),
            0,
            {0},
            {0},
            {0},
            {0},
            false};
  c.n = rank_of(c.weight) - 2;
  read_axes(b, "stride", c.n, c.stride);
  read_axes(b, "dilation", c.n, c.dilation);
  for (uint32_t i = 0; i < c.n; i++) c.padding[i] = c.more[i] = build_const(b, 0);
  return c;
}

static Node *convolve(Build *b, const Conv *c) {
  Graph *g = b->in.g;
  Arg args[] = {arg_node(c->x),
                arg_node(c->weight),
                c->bias ? arg_node(c->bias) : arg_none(),
                arg_dims(g, c->n, c->stride),
                arg_dims(g, c->n, c->padding),
                arg_dims(g, c->n, c->dilation),
                arg_bool(c->transposed),
                arg_dims(g, c->n, c->more),
                arg_dim(infer_size(&b->in, "groups"))};
  enum { NARGS = sizeof args / sizeof *args };
  if (rank_of(c->x) == c->n + 2 && c->x == build_input(b, "input"))
    return build_become(b, "aten.convolution.default", NARGS, args);
  bool batched = rank_of(c->x) == c->n + 2;
  if (!batched) args[0] = arg_node(build_unsqueeze(b, c->x, 0));
  Node *y = build(b, "aten.convolution.default", NARGS, args);
  return batched ? y : build_squeeze(b, y, 1);
}

Node *decompose_conv(Build *b) {
  Conv c = read_conv(b);
  read_axes(b, "padding", c.n, c.padding);
  return convolve(b, &c);
}

Node *decompose_conv_transpose(Build *b) {
  Conv c = read_conv(b);
  c.transposed = true;
  read_axes(b, "padding", c.n, c.padding);
  read_axes(b, "output_padding", c.n, c.more);
  return convolve(b, &c);
}

/* "same": dilation * (kernel - 1) in all; of an odd number the larger half is behind. */
static void pad_same(Build *b, Conv *c) {
  Dims *d = b->in.g->dims;
  Arg pads = arg_list(b->in.g, 2 * c->n);
  bool even = true;
  for (uint32_t i = 0; i < c->n; i++) {
    Dim less = dim_sub(d, c->weight->type.shape[i + 2], build_const(b, 1));
    Dim all = dim_mul(d, c->dilation[i], less);
    c->padding[i] = dim_floordiv(d, all, build_const(b, 2));
    Dim rest = dim_sub(d, all, dim_add(d, c->padding[i], c->padding[i]));
    even &= dim_is(rest, 0);
    Arg *at = &pads.items[2 * (c->n - 1 - i)]; /* from the last axis on */
    at[0] = build_int(b, 0);
    at[1] = arg_dim(rest);
  }
  if (!even) c->x = build_with(b, "aten.constant_pad_nd.default", c->x, pads);
}

Node *decompose_conv_padding(Build *b) {
  Conv c = read_conv(b);
  if (!strcmp(infer_string(&b->in, "padding"), "same")) pad_same(b, &c);
  return convolve(b, &c);
}

/* ---- pooling ---- */

static Arg list_of(Build *b, const char *param, uint32_t n, Arg otherwise) {
  Dim dims[GRAPH_RANK_MAX];
  Arg given = build_arg(b, param);
  if (given.kind == ARG_LIST && !given.n) return otherwise;
  read_axes(b, param, n, dims);
  return arg_dims(b->in.g, n, dims);
}

/* The list of one axis as that of two, with `lead` for the axis of size 1. */
static Arg with_axis(Build *b, Arg list, int64_t lead) {
  Arg two = arg_list(b->in.g, 2);
  two.items[0] = build_int(b, lead);
  two.items[1] = list.items[0];
  return two;
}

typedef struct {
  Arg args[7];
  uint32_t n;
} PoolArgs;

/* kernel, stride, padding, then what the op has beside. */
static PoolArgs pool_args(Build *b, uint32_t axes, const char *const *more) {
  PoolArgs p = {.n = 4};
  Arg kernel = list_of(b, "kernel_size", axes, arg_none());
  p.args[1] = kernel;
  p.args[2] = list_of(b, "stride", axes, kernel);
  p.args[3] = list_of(b, "padding", axes, kernel);
  bool max = infer_takes(&b->in, "dilation");
  if (max) p.args[p.n++] = list_of(b, "dilation", axes, kernel);
  for (; *more; more++)
    if (infer_takes(&b->in, *more)) p.args[p.n++] = build_arg(b, *more);
  return p;
}

static const char *const pool_flags[] = {"ceil_mode", "count_include_pad", "divisor_override",
                                         NULL};

static Node *pool(Build *b, const char *target, uint32_t axes) {
  PoolArgs p = pool_args(b, axes, pool_flags);
  p.args[0] = arg_node(build_input(b, "self"));
  return build_become(b, target, p.n, p.args);
}

static Node *pool_1d(Build *b, const char *target) {
  PoolArgs p = pool_args(b, 1, pool_flags);
  Node *x = build_input(b, "self");
  p.args[0] = arg_node(build_unsqueeze(b, x, rank_of(x) - 1));
  p.args[1] = with_axis(b, p.args[1], 1);
  p.args[2] = with_axis(b, p.args[2], 1);
  p.args[3] = with_axis(b, p.args[3], 0);
  if (infer_takes(&b->in, "dilation")) p.args[4] = with_axis(b, p.args[4], 1);
  Node *y = build(b, target, p.n, p.args);
  return build_view(b, y, b->in.n->type.rank, b->in.n->type.shape);
}

Node *decompose_avg_pool1d(Build *b) { return pool_1d(b, "aten.avg_pool2d.default"); }
Node *decompose_avg_pool2d(Build *b) { return pool(b, "aten.avg_pool2d.default", 2); }
Node *decompose_avg_pool3d(Build *b) { return pool(b, "aten.avg_pool3d.default", 3); }
Node *decompose_max_pool1d(Build *b) { return pool_1d(b, "aten.max_pool2d.default"); }
Node *decompose_max_pool2d(Build *b) { return pool(b, "aten.max_pool2d.default", 2); }
Node *decompose_max_pool3d(Build *b) { return pool(b, "aten.max_pool3d.default", 3); }

/* ---- adaptive pooling ---- */

/* A window of each output's own elements, if all have as many. */
static bool equal_windows(Build *b, const Node *x, uint32_t n, Dim *window) {
  Dims *d = b->in.g->dims;
  for (uint32_t i = 0; i < n; i++) {
    uint32_t back = n - i;
    Dim size = x->type.shape[rank_of(x) - back];
    Dim out = b->in.n->type.shape[b->in.n->type.rank - back];
    if (!dim_is_int(out) || out->value <= 0 || !dim_divisible(size, out->value)) return false;
    window[i] = dim_floordiv(d, size, out);
  }
  return true;
}

static bool is_whole(const Build *b, uint32_t n) {
  const ValueType *t = &b->in.n->type;
  for (uint32_t i = 0; i < n; i++)
    if (!dim_is(t->shape[t->rank - 1 - i], 1)) return false;
  return true;
}

/* Over all elements it is their mean. */
static Node *mean_of_last(Build *b, Node *x, uint32_t n) {
  uint32_t set = ((1u << n) - 1) << (rank_of(x) - n);
  return build_to(b, build_mean(b, build_widen(b, x), set, true), x->type.dtype);
}

static Node *adaptive(Build *b, uint32_t n, const char *target) {
  Node *x = build_input(b, "self");
  Dim window[SPATIAL_MAX];
  if (is_whole(b, n)) return mean_of_last(b, x, n);
  if (!equal_windows(b, x, n, window)) return NULL;
  Arg sizes = arg_dims(b->in.g, n, window);
  return build(b, target, ARGS(arg_node(x), sizes, sizes));
}

Node *decompose_adaptive_avg_pool1d(Build *b) { return adaptive(b, 1, "aten.avg_pool1d.default"); }

Node *decompose_adaptive_avg_pool2d(Build *b) { return adaptive(b, 2, "aten.avg_pool2d.default"); }

Node *decompose_adaptive_avg_pool3d(Build *b) { return adaptive(b, 3, "aten.avg_pool3d.default"); }
