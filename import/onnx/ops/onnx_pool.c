/* Pools: reductions over windows. */
#include <math.h>
#include <string.h>

#include "graph/messages.h"
#include "import/onnx/ops/onnx_shared.h"

static const OpId max_targets[] = {OP_aten_max_pool1d_default, OP_aten_max_pool2d_default,
                                   OP_aten_max_pool3d_default};
static const OpId average_targets[] = {OP_aten_avg_pool1d_default, OP_aten_avg_pool2d_default,
                                       OP_aten_avg_pool3d_default};

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

/* From this version of ONNX's operators on, averages never count what is behind the padding. */
enum { LESS_COUNTED = 19 };

/* A window that the padded axis is too short for is whole where it begins by less than a stride
 * too late, as ONNX Runtime has it; by two strides there is none.  A bit for each axis where the
 * result has no elements. */
static uint32_t fit_windows(OnnxCall *c, const Node *x, OnnxWindow *w) {
  bool ceil_mode = onnx_flag(c, "ceil_mode", false);
  bool ceils = ceil_mode || c->opset >= LESS_COUNTED;
  bool no_images = dim_is(x->type.shape[0], 0); /* of which axes may be empty */
  uint32_t none = 0;
  for (uint32_t i = 0; i < w->n; i++) {
    int64_t span = (w->kernel[i] - 1) * w->dilation[i] + 1, least = span - w->before[i];
    Dim size = x->type.shape[i + 2];
    least -= w->after[i] + w->extra[i];
    if (infer_at_least(&c->b.in, size, build_const(&c->b, least))) continue;
    int64_t lacking = least - size->value;
    if (!no_images && (size->value < 1 || lacking >= 2 * w->stride[i]))
      continue; /* inference reports it */
    bool begins_after = ceil_mode && size->value + w->before[i] < 1;
    bool empty = w->same && size->value < 1;
    if (lacking >= w->stride[i] || empty || begins_after) none |= 1u << (i + 2);
    if (ceils) w->extra[i] += lacking;
    else w->after[i] += lacking;
  }
  return none;
}

static Node *without(Build *b, Node *x, uint32_t axes) {
  Dim zero = build_const(b, 0);
  for (uint32_t i = 0; i < rank_of(x); i++)
    if (axes >> i & 1) x = build_slice(b, x, i, zero, zero, 1);
  return x;
}

static void pool_args(OnnxCall *c, const OnnxWindow *w, Node *x, Arg *out) {
  out[0] = arg_node(x);
  out[1] = onnx_window_arg(c, w, w->kernel);
  out[2] = onnx_window_arg(c, w, w->stride);
  out[3] = onnx_window_arg(c, w, w->before);
  out[4] = onnx_window_arg(c, w, w->dilation);
}

/* ATen counts the elements of a plane, ONNX those of the tensor; with storage_order 1 it takes a
 * plane column by column. */
static Node *indices_in_tensor(OnnxCall *c, Node *indices, const Node *x) {
  Build *b = &c->b;
  Dims *d = b->in.g->dims;
  uint32_t spatial = all_axes(x) & ~3u, rank = rank_of(x);
  Dim size = build_count(b, x, spatial), planes = build_count(b, x, 3), shape[GRAPH_RANK_MAX];
  if (onnx_flag(c, "storage_order", false)) {
    if (rank != 4) onnx_lack(c, "storage_order 1 of %u axes", rank - 2);
    Arg width = arg_dim(x->type.shape[3]), height = arg_dim(x->type.shape[2]);
    Node *row = build_with(b, OP_aten_floor_divide_default, indices, width);
    Node *column = build_with(b, OP_aten_remainder_Tensor, indices, width);
    indices = build_add(b, build_with(b, OP_aten_mul_Tensor, column, height), row);
  }
  for (uint32_t i = 0; i < rank; i++) shape[i] = i < 2 ? x->type.shape[i] : dim_int(d, 1);
  Node *first = build_with(b, OP_aten_mul_Tensor, build_arange(b, planes), arg_dim(size));
  return build_add(b, indices, build_view(b, first, rank, shape));
}

static void pool_with_indices(OnnxCall *c, const OnnxWindow *w, Node *x) {
  static const OpId targets[] = {OP_aten_max_pool1d_with_indices_default,
                                 OP_aten_max_pool2d_with_indices_default,
                                 OP_aten_max_pool3d_with_indices_default};
  Arg args[5];
  if (!aten_pads(w)) onnx_lack(c, "the result Indices with such padding");
  pool_args(c, w, x, args);
  Node *both = build(&c->b, targets[w->n - 1], 5, args);
  onnx_set(c, 0, build_item(&c->b, both, 0));
  onnx_set(c, 1, indices_in_tensor(c, build_item(&c->b, both, 1), x));
}

static Node *pool_largest(OnnxCall *c, OnnxWindow w, Node *x) {
  uint32_t none = fit_windows(c, x, &w);
  if (!aten_pads(&w) || onnx_is_empty(x)) {
    x = onnx_window_pad(c, &w, x, least_of(c, x->type.dtype), true);
    memset(w.before, 0, sizeof w.before);
  }
  Arg args[5];
  pool_args(c, &w, x, args);
  return without(&c->b, build(&c->b, max_targets[w.n - 1], 5, args), none);
}

/* ---- MaxpoolWithMask ---- */

/* Elements of the i-th place of all windows, of x with its padding. */
static Node *window_place(Build *b, const OnnxWindow *w, Node *x, const int64_t *at,
                          const Dim *windows) {
  Dims *d = build_dims(b);
  for (uint32_t i = 0; i < w->n; i++) {
    Dim from = build_const(b, at[i] * w->dilation[i]), one = build_const(b, 1);
    Dim last = dim_mul(d, dim_sub(d, windows[i], one), build_const(b, w->stride[i]));
    Dim end = dim_add(d, dim_add(d, from, last), one);
    x = build_slice(b, x, i + 2, from, end, w->stride[i]);
  }
  return x;
}

static Dim window_count(Build *b, const OnnxWindow *w, const Node *padded, uint32_t i) {
  Dims *d = build_dims(b);
  Dim free = dim_sub(d, padded->type.shape[i + 2],
                     build_const(b, (w->kernel[i] - 1) * w->dilation[i] + 1));
  return dim_add(d, dim_floordiv(d, free, build_const(b, w->stride[i])), build_const(b, 1));
}

/* The next place of a window, the last axis first; false: there is none. */
static bool next_place(const OnnxWindow *w, int64_t *at) {
  for (uint32_t i = w->n; i-- > 0; at[i] = 0)
    if (++at[i] < w->kernel[i]) return true;
  return false;
}

/* The mask of each channel as ONNX Runtime reads it: from an element on whose number is the
 * channel's first element modulo the channels of the mask.  The very first element of several axes
 * is never masked. */
static Node *mask_of(OnnxCall *c, const Node *x, Node *mask) {
  Build *b = &c->b;
  Dims *d = onnx_dims(c);
  uint32_t spatial = all_axes(x) & ~3u;
  Dim size = build_count(b, x, spatial), planes = build_count(b, x, 3);
  Node *first = build_mul_dim(b, build_arange(b, planes), size);
  first = build_with(b, OP_aten_remainder_Tensor, first, arg_dim(build_count(b, mask, 3)));
  Node *place = build_arange(b, size), *at = build_add(b, build_unsqueeze(b, first, 1), place);
  Dim all = dim_mul(d, planes, size);
  Node *y = build(b, OP_aten_index_select_default,
                  ARGS(arg_node(build_flat(b, mask)), build_int(b, 0),
                       arg_node(build_view(b, at, 1, &all))));
  y = build_with(b, OP_aten_ne_Scalar, y, build_int(b, 0));
  y = build_view(b, y, 2, (Dim[]){planes, size});
  Node *is_first = build_with(b, OP_aten_eq_Scalar, place, build_int(b, 0));
  if (rank_of(x) > 3) y = build_op2(b, OP_aten_logical_or_default, y, is_first);
  return build_view(b, y, rank_of(x), x->type.shape);
}

/* A window's row ends where the mask is 0. */
void onnx_op_masked_max_pool(OnnxCall *c) {
  enum { PLACES_MAX = 1024 };
  Build *b = &c->b;
  Node *x = onnx_in(c, 0), *mask = onnx_in(c, 1), *most = NULL, *open = NULL;
  OnnxWindow w = onnx_window(c, x, NULL);
  int64_t at[ONNX_AXES_MAX] = {0}, places = 1;
  Dim windows[ONNX_AXES_MAX];
  infer_rank(&b->in, &mask->type, rank_of(x), rank_of(x));
  onnx_ignore(c, "storage_order");
  for (uint32_t i = 0; i < w.n; i++) places *= w.kernel[i];
  if (places > PLACES_MAX) onnx_lack(c, "windows of %lld elements", (long long)places);
  double lowest = -dtype_largest_finite(DT_F32);
  Node *padded = onnx_window_pad(c, &w, x, arg_float(lowest), true);
  Node *keeps = onnx_window_pad(c, &w, mask_of(c, x, mask), arg_bool(true), true);
  for (uint32_t i = 0; i < w.n; i++) windows[i] = window_count(b, &w, padded, i);
  do {
    Node *kept = window_place(b, &w, keeps, at, windows);
    open = at[w.n - 1] ? build_and(b, open, kept) : kept;
    Node *y = window_place(b, &w, padded, at, windows);
    y = build_where(b, open, arg_node(y), arg_float(lowest));
    most = most ? build_op2(b, OP_aten_maximum_default, most, y) : y;
  } while (next_place(&w, at));
  onnx_set(c, 0, most);
}

Node *onnx_max_pool(OnnxCall *c, Node *x) { return pool_largest(c, onnx_window(c, x, NULL), x); }

void onnx_op_max_pool(OnnxCall *c) {
  Node *x = onnx_in(c, 0);
  OnnxWindow w = onnx_window(c, x, NULL);
  if (onnx_wants(c, 1)) {
    pool_with_indices(c, &w, x);
    return;
  }
  onnx_ignore(c, "storage_order");
  onnx_set(c, 0, pool_largest(c, w, x));
}

/* Elements go to their indices in a tensor of the size that the windows covered; zeros fill it, and
 * what output_shape has beyond it. */
void onnx_op_max_unpool(OnnxCall *c) {
  Build *b = &c->b;
  Node *x = onnx_in(c, 0), *index = onnx_in(c, 1);
  uint32_t rank = rank_of(x);
  OnnxWindow w = onnx_window(c, x, NULL);
  Dims *d = b->in.g->dims;
  Dim shape[GRAPH_RANK_MAX], wanted[GRAPH_RANK_MAX], count = value_numel(b->in.g, &x->type);
  for (uint32_t i = 0; i < rank; i++) {
    Dim size = x->type.shape[i], one = build_const(b, 1);
    if (i >= 2) {
      size = dim_mul(d, dim_sub(d, size, one), build_const(b, w.stride[i - 2]));
      int64_t more = w.kernel[i - 2] - w.before[i - 2] - w.after[i - 2];
      size = dim_add(d, size, build_const(b, more));
    }
    shape[i] = wanted[i] = size;
  }
  if (onnx_has(c, 2) && onnx_need_dims(c, 2, wanted) != rank) onnx_lack(c, "such an output_shape");
  Dim all = build_const(b, 1);
  for (uint32_t i = 0; i < rank; i++) all = dim_mul(d, all, shape[i]);
  Node *zeros = build_full(b, 1, &all, build_int(b, 0), x->type.dtype);
  Arg args[] = {arg_node(zeros), build_int(b, 0), arg_node(build_view(b, index, 1, &count)),
                arg_node(build_view(b, x, 1, &count))};
  Node *y = build_view(b, build(b, OP_aten_scatter_src, 4, args), rank, shape);
  Arg more = arg_list(b->in.g, 2 * rank);
  for (uint32_t i = 0; i < rank; i++) {
    more.items[2 * (rank - 1 - i)] = build_int(b, 0);
    more.items[2 * (rank - 1 - i) + 1] = arg_dim(dim_sub(d, wanted[i], shape[i]));
  }
  onnx_set(c, 0, build_with(b, OP_aten_constant_pad_nd_default, y, more));
}

static Node *pool_average(OnnxCall *c, const OnnxWindow *w, Node *x, bool all) {
  Arg args[] = {arg_node(x),
                onnx_window_arg(c, w, w->kernel),
                onnx_window_arg(c, w, w->stride),
                onnx_window_arg(c, w, w->before),
                arg_bool(false),
                arg_bool(all)};
  return build(&c->b, average_targets[w->n - 1], 6, args);
}

/* The sums of windows of x, which has the padding. */
static Node *window_sum(OnnxCall *c, const OnnxWindow *w, Node *x) {
  static const int64_t none[ONNX_AXES_MAX];
  Build *b = &c->b;
  Dim shape[GRAPH_RANK_MAX] = {x->type.shape[1], build_const(b, 1)};
  for (uint32_t i = 0; i < w->n; i++) shape[i + 2] = build_const(b, w->kernel[i]);
  Node *ones = build_full(b, rank_of(x), shape, arg_float(1), x->type.dtype);
  Arg padding = onnx_window_arg(c, w, none);
  Arg args[] = {arg_node(x),      arg_node(ones),
                arg_none(),       onnx_window_arg(c, w, w->stride),
                padding,          onnx_window_arg(c, w, w->dilation),
                arg_bool(false),  padding,
                arg_dim(shape[0])};
  return build(b, OP_aten_convolution_default, 9, args);
}

/* The mean over a window's elements inside the tensor is the window's sum, with zeros around the
 * tensor, divided by the same sum of ones; `all`: ones in the padding too, but not where only
 * ceil_mode put it. */
static Node *average_of_rest(OnnxCall *c, const OnnxWindow *w, Node *x, bool all) {
  Build *b = &c->b;
  OnnxWindow behind = {.n = w->n};
  memcpy(behind.after, w->extra, sizeof behind.after);
  Node *padded = onnx_window_pad(c, w, x, arg_float(0), true);
  Node *ones = build_full(b, rank_of(x), x->type.shape, arg_float(1), x->type.dtype);
  ones = onnx_window_pad(c, w, ones, arg_float(all), false);
  ones = onnx_window_pad(c, &behind, ones, arg_float(0), false);
  return build_div(b, window_sum(c, w, padded), window_sum(c, w, ones));
}

static bool is_dilated(const OnnxWindow *w) {
  for (uint32_t i = 0; i < w->n; i++)
    if (w->dilation[i] != 1) return true;
  return false;
}

Node *onnx_average_pool(OnnxCall *c, Node *x) {
  OnnxWindow w = onnx_window(c, x, NULL);
  bool all = onnx_flag(c, "count_include_pad", false);
  uint32_t none = fit_windows(c, x, &w);
  bool plain = aten_pads(&w) && !is_dilated(&w) && !onnx_is_empty(x);
  Node *y = plain ? pool_average(c, &w, x, all) : average_of_rest(c, &w, x, all);
  return without(&c->b, y, none);
}

void onnx_op_average_pool(OnnxCall *c) { onnx_set(c, 0, onnx_average_pool(c, onnx_in(c, 0))); }

/* ---- norms: the p-th root of the sum of p-th powers ---- */

static Node *powers(OnnxCall *c, Node *x, double p) {
  x = build_op1(&c->b, OP_aten_abs_default, x);
  return build_with(&c->b, OP_aten_pow_Tensor_Scalar, x, arg_float(p));
}

static double pool_norm(OnnxCall *c) {
  int64_t p = onnx_int(c, "p", 2);
  if (p < 1) onnx_lack(c, "p %lld", (long long)p);
  return (double)p;
}

void onnx_op_lp_pool(OnnxCall *c) {
  Node *x = onnx_in(c, 0);
  OnnxWindow w = onnx_window(c, x, NULL);
  double p = pool_norm(c);
  uint32_t none = fit_windows(c, x, &w);
  Node *sum = window_sum(c, &w, onnx_window_pad(c, &w, powers(c, x, p), arg_float(0), true));
  sum = build_with(&c->b, OP_aten_pow_Tensor_Scalar, sum, arg_float(1 / p));
  onnx_set(c, 0, without(&c->b, sum, none));
}

/* ---- over all axes after the first two ---- */

static Node *pooled_input(OnnxCall *c) {
  Node *x = onnx_in(c, 0);
  if (rank_of(x) < 3)
    onnx_fail(c, E_GRAPH_AXES, 3, GRAPH_RANK_MAX, infer_type_text(&c->b.in, &x->type));
  return x;
}

void onnx_op_global_lp_pool(OnnxCall *c) {
  Node *x = pooled_input(c);
  double p = pool_norm(c);
  Node *sum = build_sum(&c->b, powers(c, x, p), all_axes(x) & ~3u, true);
  onnx_set(c, 0, build_with(&c->b, OP_aten_pow_Tensor_Scalar, sum, arg_float(1 / p)));
}

void onnx_op_global_pool(OnnxCall *c) {
  Node *x = pooled_input(c);
  onnx_set(c, 0, build_reduce(&c->b, c->op->aten, x, all_axes(x) & ~3u, true));
}
