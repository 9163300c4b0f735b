/* Convolution, pooling, resampling: ops on images of one to three spatial axes. */
#include <math.h>
#include <string.h>

#include "graph/messages.h"
#include "graph/ops/infer_rules.h"

enum { SPATIAL_MAX = 3 };

/* How a window moves along each spatial axis. */
typedef struct {
  uint32_t n; /* spatial axes */
  Dim kernel[SPATIAL_MAX], stride[SPATIAL_MAX], padding[SPATIAL_MAX], dilation[SPATIAL_MAX];
} Window;

/* n integers; a single one holds for all axes. */
static void conv_per_axis(Infer *in, const char *param, uint32_t n, Dim *out) {
  Dim list[GRAPH_RANK_MAX];
  uint32_t given = infer_sizes(in, param, list);
  if (given != n && given != 1) infer_fail(in, E_GRAPH_PER_AXIS, param, given, n);
  for (uint32_t i = 0; i < n; i++) out[i] = list[given == 1 ? 0 : i];
}

static void positive_per_axis(Infer *in, const char *param, uint32_t n, Dim *out) {
  conv_per_axis(in, param, n, out);
  for (uint32_t i = 0; i < n; i++)
    if (dim_is_int(out[i]) && out[i]->value <= 0)
      infer_fail(in, E_GRAPH_STEP, (long long)out[i]->value);
}

/* How many elements a window spans: dilation * (kernel - 1) + 1. */
static Dim conv_reach(Infer *in, const Window *w, uint32_t i) {
  Dims *d = in->g->dims;
  Dim one = infer_const(in, 1);
  return dim_add(d, dim_mul(d, w->dilation[i], dim_sub(d, w->kernel[i], one)), one);
}

/* The last index where the window fits: size + 2 * padding - reach. */
static Dim last_window_begin(Infer *in, const Window *w, uint32_t i, Dim size) {
  Dims *d = in->g->dims;
  Dim padded = dim_add(d, size, dim_mul(d, w->padding[i], infer_const(in, 2)));
  return dim_sub(d, padded, conv_reach(in, w, i));
}

static Dim check_window_count(Infer *in, const Window *w, uint32_t i, Dim size, Dim count) {
  if (dim_is_int(count) && count->value <= 0)
    infer_fail(in, E_GRAPH_WINDOW, infer_dim_text(in, conv_reach(in, w, i)),
               infer_dim_text(in, size));
  return count;
}

static Dim count_windows(Infer *in, const Window *w, uint32_t i, Dim size) {
  Dims *d = in->g->dims;
  Dim steps = dim_floordiv(d, last_window_begin(in, w, i, size), w->stride[i]);
  return check_window_count(in, w, i, size, dim_add(d, steps, infer_const(in, 1)));
}

/* ---- convolution ---- */

typedef struct {
  const ValueType *x, *w;
  Window window;
  uint32_t axis; /* of channels: 0 if there is no batch */
  int64_t groups;
} Conv;

static Conv conv_start(Infer *in) {
  Conv c = {.x = infer_tensor(in, "input"), .w = infer_tensor(in, "weight")};
  infer_rank(in, c.w, 3, 2 + SPATIAL_MAX);
  c.window.n = c.w->rank - 2;
  infer_rank(in, c.x, c.w->rank - 1, c.w->rank);
  infer_same_dtype(in, c.x, c.w);
  c.axis = c.x->rank - c.window.n - 1;
  c.groups = infer_int(in, "groups");
  if (c.groups <= 0) infer_fail(in, E_GRAPH_STEP, (long long)c.groups);
  for (uint32_t i = 0; i < c.window.n; i++) c.window.kernel[i] = c.w->shape[2 + i];
  positive_per_axis(in, "stride", c.window.n, c.window.stride);
  positive_per_axis(in, "dilation", c.window.n, c.window.dilation);
  return c;
}

static void conv_set(Infer *in, const Conv *c, Dim channels, const Dim *sizes) {
  const ValueType *bias = infer_optional_tensor(in, "bias");
  if (bias) {
    Operand b = infer_tensor_operand(bias);
    infer_same_dtype(in, c->x, bias);
    infer_fits(in, &b, &channels, 1);
  }
  Dim shape[2 + SPATIAL_MAX];
  if (c->axis) shape[0] = c->x->shape[0];
  shape[c->axis] = channels;
  memcpy(shape + c->axis + 1, sizes, c->window.n * sizeof *sizes);
  infer_set(in, c->x->dtype, c->x->rank, shape);
}

static void check_conv_channels(Infer *in, const Conv *c) {
  Dim wanted = dim_mul(in->g->dims, c->w->shape[1], infer_const(in, c->groups));
  infer_same_size(in, c->x->shape[c->axis], wanted, "the channels of input and weight");
  infer_exact_div(in, c->w->shape[0], c->groups);
}

static void infer_conv_shape(Infer *in, Conv *c) {
  Dim sizes[SPATIAL_MAX];
  for (uint32_t i = 0; i < c->window.n; i++)
    sizes[i] = count_windows(in, &c->window, i, c->x->shape[c->axis + 1 + i]);
  conv_set(in, c, c->w->shape[0], sizes);
}

void infer_conv(Infer *in) {
  Conv c = conv_start(in);
  conv_per_axis(in, "padding", c.window.n, c.window.padding);
  check_conv_channels(in, &c);
  infer_conv_shape(in, &c);
}

/* padding "valid" is none, "same" keeps the sizes. */
void infer_conv_padding(Infer *in) {
  Conv c = conv_start(in);
  Name padding = infer_string(in, "padding");
  check_conv_channels(in, &c);
  if (!strcmp(padding, "same")) {
    for (uint32_t i = 0; i < c.window.n; i++)
      if (!dim_is(c.window.stride[i], 1)) infer_fail(in, E_GRAPH_SAME_STRIDE);
    conv_set(in, &c, c.w->shape[0], c.x->shape + c.axis + 1);
    return;
  }
  if (strcmp(padding, "valid")) infer_fail(in, E_GRAPH_PADDING, padding);
  for (uint32_t i = 0; i < c.window.n; i++) c.window.padding[i] = infer_const(in, 0);
  infer_conv_shape(in, &c);
}

/* (size - 1) * stride - 2 * padding + dilation * (kernel - 1) + output_padding + 1 */
static Dim transposed_size(Infer *in, const Window *w, uint32_t i, Dim size, Dim extra) {
  Dims *d = in->g->dims;
  Dim one = infer_const(in, 1);
  Dim n = dim_mul(d, dim_sub(d, size, one), w->stride[i]);
  n = dim_sub(d, n, dim_mul(d, w->padding[i], infer_const(in, 2)));
  n = dim_add(d, n, dim_mul(d, w->dilation[i], dim_sub(d, w->kernel[i], one)));
  return dim_add(d, dim_add(d, n, extra), one);
}

static void transpose_convolve(Infer *in) {
  Conv c = conv_start(in);
  Dim sizes[SPATIAL_MAX], extra[SPATIAL_MAX], groups = infer_const(in, c.groups);
  conv_per_axis(in, "padding", c.window.n, c.window.padding);
  conv_per_axis(in, "output_padding", c.window.n, extra);
  infer_same_size(in, c.x->shape[c.axis], c.w->shape[0], "the channels of input and weight");
  infer_exact_div(in, c.w->shape[0], c.groups);
  for (uint32_t i = 0; i < c.window.n; i++)
    sizes[i] = transposed_size(in, &c.window, i, c.x->shape[c.axis + 1 + i], extra[i]);
  conv_set(in, &c, dim_mul(in->g->dims, c.w->shape[1], groups), sizes);
}

void infer_conv_transpose(Infer *in) { transpose_convolve(in); }

void infer_convolution(Infer *in) {
  if (infer_bool(in, "transposed")) transpose_convolve(in);
  else infer_conv(in);
}

/* ---- pooling ---- */

/* The number of spatial axes is that of the op's integer lists. */
static uint32_t spatial(Infer *in) { return in->schema->params[1].repeat; }

/* A window may extend past the end under ceil_mode, if it begins inside. */
static Dim count_pool_windows(Infer *in, const Window *w, uint32_t i, Dim size, bool ceil_mode) {
  Dims *d = in->g->dims;
  if (!ceil_mode) return count_windows(in, w, i, size);
  Dim one = infer_const(in, 1);
  Dim n = dim_add(d, infer_ceil_div(in, last_window_begin(in, w, i, size), w->stride[i]), one);
  Dim last = dim_sub(d, dim_add(d, size, w->padding[i]), one);
  n = dim_min(d, n, dim_add(d, dim_floordiv(d, last, w->stride[i]), one));
  return check_window_count(in, w, i, size, n);
}

/* So that each window has an element that is no padding. */
static void check_padding(Infer *in, const Window *w) {
  for (uint32_t i = 0; i < w->n; i++) {
    Dim p = w->padding[i], k = w->kernel[i];
    if (dim_is_int(p) && dim_is_int(k) && (p->value < 0 || p->value > k->value / 2))
      infer_fail(in, E_GRAPH_POOL_PADDING, infer_dim_text(in, p), infer_dim_text(in, k));
  }
}

static Window pool_window(Infer *in) {
  Window w = {.n = spatial(in)};
  Dim list[GRAPH_RANK_MAX];
  positive_per_axis(in, "kernel_size", w.n, w.kernel);
  if (infer_sizes(in, "stride", list)) positive_per_axis(in, "stride", w.n, w.stride);
  else memcpy(w.stride, w.kernel, sizeof w.stride);
  conv_per_axis(in, "padding", w.n, w.padding);
  check_padding(in, &w);
  for (uint32_t i = 0; i < w.n; i++) w.dilation[i] = infer_const(in, 1);
  if (infer_takes(in, "dilation")) positive_per_axis(in, "dilation", w.n, w.dilation);
  return w;
}

/* x with other sizes along its last n axes. */
static void set_last(Infer *in, const ValueType *x, uint32_t n, const Dim *sizes) {
  Dim shape[GRAPH_RANK_MAX];
  infer_copy_shape(x, shape);
  memcpy(shape + x->rank - n, sizes, n * sizeof *shape);
  infer_set(in, x->dtype, x->rank, shape);
}

static const ValueType *image(Infer *in, uint32_t n) {
  const ValueType *x = infer_self(in);
  infer_rank(in, x, n + 1, n + 2);
  return x;
}

static void pool(Infer *in) {
  Window w = pool_window(in);
  const ValueType *x = image(in, w.n);
  bool ceil_mode = infer_bool(in, "ceil_mode");
  Dim sizes[SPATIAL_MAX];
  for (uint32_t i = 0; i < w.n; i++)
    sizes[i] = count_pool_windows(in, &w, i, x->shape[x->rank - w.n + i], ceil_mode);
  set_last(in, x, w.n, sizes);
}

void infer_pool_max(Infer *in) { pool(in); }

static void add_indices(Infer *in) {
  ValueType values = in->result, indices = values;
  indices.dtype = DT_I64;
  infer_set_pair(in, values, indices);
}

void infer_pool_max_indices(Infer *in) {
  pool(in);
  add_indices(in);
}

void infer_pool_average(Infer *in) { pool(in); }

void infer_pool_adaptive(Infer *in) {
  uint32_t n = spatial(in);
  Dim sizes[SPATIAL_MAX];
  conv_per_axis(in, "output_size", n, sizes);
  infer_some(in, image(in, n), n, sizes);
  set_last(in, image(in, n), n, sizes);
}

void infer_pool_adaptive_max(Infer *in) {
  infer_pool_adaptive(in);
  add_indices(in);
}

/* The operands are results of max pooling: indices count the elements of a plane of that size. */
void infer_max_unpool(Infer *in) {
  uint32_t n = infer_takes(in, "stride") ? 3 : 2;
  const ValueType *x = image(in, n), *indices = infer_tensor(in, "indices");
  Dim sizes[SPATIAL_MAX];
  conv_per_axis(in, "output_size", n, sizes);
  if (indices->dtype != DT_I64) infer_fail(in, E_GRAPH_INDEX_DTYPE, dtype_name(indices->dtype));
  infer_rank(in, indices, x->rank, x->rank);
  for (uint32_t i = 0; i < x->rank; i++)
    infer_same_size(in, x->shape[i], indices->shape[i], "self and indices");
  set_last(in, x, n, sizes);
}

/* ---- resampling ---- */

/* floor(size * scale).  Expressions of a symbolic size exist for whole factors and whole parts of
 * it. */
static Dim scale_size(Infer *in, Dim size, double scale) {
  Dims *d = in->g->dims;
  double limit = 1 << 24, part = 1 / scale;
  if (!(scale > 0) || scale > limit) infer_fail(in, E_GRAPH_SCALE, scale);
  if (scale == floor(scale)) return dim_mul(d, size, infer_const(in, (int64_t)scale));
  if (dim_is_int(size)) {
    double n = floor((double)size->value * scale);
    return n < 0x1p62 ? infer_const(in, (int64_t)n) : dim_huge(d);
  }
  if (part != floor(part) || part > limit) return infer_unknown(in);
  return dim_floordiv(d, size, infer_const(in, (int64_t)part));
}

static void scale_sizes(Infer *in, const ValueType *x, uint32_t n, Dim *sizes) {
  Arg list = graph_arg(in->g, in->n, "scale_factors");
  if (list.n != n) infer_fail(in, E_GRAPH_PER_AXIS, "scale_factors", list.n, n);
  for (uint32_t i = 0; i < n; i++) {
    const Arg *a = &list.items[i];
    bool number = a->kind == ARG_FLOAT || (a->kind == ARG_INT && dim_is_int(a->dim));
    if (!number) infer_fail(in, E_GRAPH_LITERAL, "scale_factors", "a symbol");
    double scale = a->kind == ARG_FLOAT ? a->number : (double)a->dim->value;
    sizes[i] = scale_size(in, x->shape[x->rank - n + i], scale);
  }
}

/* [N, C, ...]: either the sizes are given, or factors. */
static void upsample(Infer *in, uint32_t n) {
  const ValueType *x = infer_self(in);
  infer_rank(in, x, n + 2, n + 2);
  Dim sizes[SPATIAL_MAX];
  bool scales = infer_takes(in, "scale_factors") && infer_has(in, "scale_factors");
  if (infer_has(in, "output_size") == scales) infer_fail(in, E_GRAPH_RESIZE);
  if (!scales) conv_per_axis(in, "output_size", n, sizes);
  else scale_sizes(in, x, n, sizes);
  infer_some(in, x, n, sizes);
  set_last(in, x, n, sizes);
}

void infer_upsample_1d(Infer *in) { upsample(in, 1); }
void infer_upsample_2d(Infer *in) { upsample(in, 2); }
void infer_upsample_3d(Infer *in) { upsample(in, 3); }

/* Sizes in the middle are those of the grid, whose last axis has coordinates. */
void infer_grid_sampler(Infer *in) {
  const ValueType *x = infer_tensor(in, "input"), *grid = infer_tensor(in, "grid");
  infer_rank(in, x, 4, 5);
  infer_rank(in, grid, x->rank, x->rank);
  infer_same_dtype(in, x, grid);
  infer_same_size(in, x->shape[0], grid->shape[0], "the batches of input and grid");
  infer_same_size(in, grid->shape[x->rank - 1], infer_const(in, x->rank - 2),
                  "the last axis of the grid and the spatial axes");
  set_last(in, x, x->rank - 2, grid->shape + 1);
}

void infer_affine_grid(Infer *in) {
  const ValueType *theta = infer_tensor(in, "theta");
  Dim size[GRAPH_RANK_MAX];
  uint32_t n = infer_sizes(in, "size", size);
  if (n < 4 || n > 5) infer_fail(in, E_GRAPH_PER_AXIS, "size", n, 4);
  memmove(size + 1, size + 2, (n - 2) * sizeof *size);
  size[n - 1] = infer_const(in, n - 2);
  infer_set(in, theta->dtype, n, size);
}

static Window block_window(Infer *in) {
  Window w = {.n = 2};
  positive_per_axis(in, "kernel_size", 2, w.kernel);
  positive_per_axis(in, "stride", 2, w.stride);
  positive_per_axis(in, "dilation", 2, w.dilation);
  conv_per_axis(in, "padding", 2, w.padding);
  return w;
}

/* [N, C, H, W] to [N, C * kernel, windows] */
void infer_im2col(Infer *in) {
  const ValueType *x = image(in, 2);
  Window w = block_window(in);
  Dims *d = in->g->dims;
  const Dim *s = x->shape + x->rank - 3;
  Dim rows = count_windows(in, &w, 0, s[1]), columns = count_windows(in, &w, 1, s[2]);
  Dim shape[3] = {x->shape[0]};
  shape[x->rank - 3] = dim_mul(d, s[0], infer_product(in, w.kernel, 2));
  shape[x->rank - 2] = dim_mul(d, rows, columns);
  infer_set(in, x->dtype, x->rank - 1, shape);
}

void infer_col2im(Infer *in) {
  const ValueType *x = infer_self(in);
  infer_rank(in, x, 2, 3);
  Window w = block_window(in);
  Dim shape[4] = {x->shape[0]}, *at = &shape[x->rank - 2], block = infer_product(in, w.kernel, 2);
  *at = dim_is_int(block) ? infer_exact_div(in, x->shape[x->rank - 2], block->value)
                          : dim_floordiv(in->g->dims, x->shape[x->rank - 2], block);
  conv_per_axis(in, "output_size", 2, at + 1);
  infer_set(in, x->dtype, x->rank + 1, shape);
}
