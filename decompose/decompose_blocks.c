/* im2col and col2im: the elements of sliding windows as columns of a matrix, and their sum back in
 * the image. */
#include "decompose/decompose.h"

typedef struct {
  Dim kernel[2], dilation[2], padding[2], stride[2];
  Dim size[2], windows[2]; /* of the image, of windows */
} Blocks;

static void read_pair(Build *b, const char *param, Dim *out) {
  Dim given[GRAPH_RANK_MAX];
  uint32_t n = infer_sizes(&b->in, param, given);
  for (uint32_t i = 0; i < 2; i++) out[i] = given[n == 1 ? 0 : i];
}

static Blocks read_blocks(Build *b, const Dim *size) {
  Dims *d = b->in.g->dims;
  Dim one = build_const(b, 1), two = build_const(b, 2);
  Blocks k = {.size = {size[0], size[1]}};
  read_pair(b, "kernel_size", k.kernel);
  read_pair(b, "dilation", k.dilation);
  read_pair(b, "padding", k.padding);
  read_pair(b, "stride", k.stride);
  for (uint32_t i = 0; i < 2; i++) {
    Dim padded = dim_add(d, size[i], dim_mul(d, two, k.padding[i]));
    Dim last = dim_mul(d, k.dilation[i], dim_sub(d, k.kernel[i], one));
    Dim free = dim_sub(d, dim_sub(d, padded, last), one);
    k.windows[i] = dim_add(d, dim_floordiv(d, free, k.stride[i]), one);
  }
  return k;
}

/* 0, by, 2 * by, ... along one axis of four. */
static Node *window_steps(Build *b, Dim count, Dim by, uint32_t axis) {
  Node *x = build_arange(b, count);
  if (!dim_is(by, 1)) x = build_with(b, OP_aten_mul_Tensor, x, arg_dim(by));
  return build_along(b, x, axis, 4);
}

static Node *add_dim(Build *b, Node *x, Dim by) {
  return build_with(b, OP_aten_add_Tensor, x, arg_dim(by));
}

/* The axes in front of the image's are taken as they are. */
static Node *select_blocks(Build *b, Node *x, uint32_t n, Node *const *at) {
  Arg list = arg_list(b->in.g, rank_of(x));
  for (uint32_t i = 0; i < list.n; i++)
    list.items[i] = i + n < list.n ? arg_none() : arg_node(at[i + n - list.n]);
  return build_with(b, OP_aten_index_Tensor, x, list);
}

Node *decompose_im2col(Build *b) {
  Node *x = build_input(b, "self");
  uint32_t rank = rank_of(x);
  Blocks k = read_blocks(b, x->type.shape + rank - 2);
  Arg pads = arg_list(b->in.g, 4);
  for (uint32_t i = 0; i < 4; i++) pads.items[i] = arg_dim(k.padding[i < 2]);
  x = build_with(b, OP_aten_constant_pad_nd_default, x, pads);
  Node *at[2];
  for (uint32_t i = 0; i < 2; i++)
    at[i] = build_add(b, window_steps(b, k.kernel[i], k.dilation[i], i),
                      window_steps(b, k.windows[i], k.stride[i], i + 2));
  Node *y = select_blocks(b, x, 2, at);
  return build_view(b, y, b->in.n->type.rank, b->in.n->type.shape);
}

/* Elements of images, each with its windows: element `offset` of window `window` if `inside`. */
typedef struct {
  Node *offset[2], *window[2], *inside;
} Hits;

static void add_condition(Build *b, Hits *h, Node *x) {
  h->inside = h->inside ? build_op2(b, OP_aten_logical_and_default, h->inside, x) : x;
}

/* Windows that begin at a multiple of the stride: of neighbours, the j-th before the last one that
 * begins at the position or before it has the position at `rest` + j strides. */
static void near_windows(Build *b, const Blocks *k, uint32_t i, Node *at, Hits *h) {
  Dims *d = b->in.g->dims;
  Dim more = dim_sub(d, k->stride[i], build_const(b, 1));
  Dim count = dim_floordiv(d, dim_add(d, k->kernel[i], more), k->stride[i]);
  Arg by = arg_dim(k->stride[i]);
  Node *rest = build_with(b, OP_aten_remainder_Scalar, at, by);
  Node *last = build_with(b, OP_aten_floor_divide_Scalar, at, by);
  h->offset[i] = build_add(b, rest, window_steps(b, count, k->stride[i], i));
  h->window[i] = build_sub(b, last, window_steps(b, count, build_const(b, 1), i));
  add_condition(b, h, build_with(b, OP_aten_lt_Scalar, h->offset[i], arg_dim(k->kernel[i])));
}

/* An element of a window has one window at most. */
static void any_windows(Build *b, const Blocks *k, uint32_t i, Node *at, Hits *h) {
  Dim back = dim_sub(b->in.g->dims, build_const(b, 0), k->dilation[i]);
  Arg by = arg_dim(k->stride[i]);
  h->offset[i] = window_steps(b, k->kernel[i], build_const(b, 1), i);
  at = build_add(b, at, window_steps(b, k->kernel[i], back, i));
  Node *rest = build_with(b, OP_aten_remainder_Scalar, at, by);
  h->window[i] = build_with(b, OP_aten_floor_divide_Scalar, at, by);
  add_condition(b, h, build_with(b, OP_aten_eq_Scalar, rest, build_int(b, 0)));
}

static void find_windows(Build *b, const Blocks *k, uint32_t i, Hits *h) {
  Arg zero = build_int(b, 0);
  Node *at = add_dim(b, window_steps(b, k->size[i], build_const(b, 1), i + 2), k->padding[i]);
  (dim_is(k->dilation[i], 1) ? near_windows : any_windows)(b, k, i, at, h);
  add_condition(b, h, build_with(b, OP_aten_ge_Scalar, h->window[i], zero));
  add_condition(b, h, build_with(b, OP_aten_lt_Scalar, h->window[i], arg_dim(k->windows[i])));
}

Node *decompose_col2im(Build *b) {
  Node *x = build_input(b, "self"), *at[4];
  const ValueType *t = &b->in.n->type;
  uint32_t lead = t->rank - 2;
  Blocks k = read_blocks(b, t->shape + lead);
  Hits h = {0};
  Dim shape[GRAPH_RANK_MAX];
  for (uint32_t i = 0; i < lead; i++) shape[i] = t->shape[i];
  for (uint32_t i = 0; i < 2; i++) {
    shape[lead + i] = k.kernel[i];
    shape[lead + 2 + i] = k.windows[i];
    find_windows(b, &k, i, &h);
  }
  for (uint32_t i = 0; i < 4; i++) {
    Node *index = i < 2 ? h.offset[i] : h.window[i - 2];
    at[i] = build_where(b, h.inside, arg_node(index), build_int(b, 0));
  }
  Node *y = select_blocks(b, build_view(b, x, lead + 4, shape), 4, at);
  y = build_where(b, h.inside, arg_node(build_widen(b, y)), build_int(b, 0));
  return build_to(b, build_sum(b, y, 3u << lead, false), t->dtype);
}
