/* Images resized, one axis at a time: each element of the result is a sum of one, two or four
 * elements of the operand, whose indices and weights are computed as PyTorch's kernels do; with
 * antialias of as many as an element covers, by a product with a matrix of weights. */
#include <string.h>

#include "decompose/decompose.h"

typedef enum { NEAREST, NEAREST_EXACT, LINEAR, CUBIC } Kernel;

typedef struct {
  Build *b;
  Kernel kernel;
  bool align_corners, antialias;
  DType compute;
} Resize;

/* How far apart in the operand are neighbours of the result. */
typedef struct {
  double number;
  Node *open; /* where sizes are open: a tensor without axes instead */
} Stride;

static Node *plus_number(Build *b, Node *x, double y) {
  return y == 0 ? x : build_with(b, OP_aten_add_Tensor, x, arg_float(y));
}

static Node *times_number(Build *b, Node *x, double y) {
  return y == 1 ? x : build_with(b, OP_aten_mul_Tensor, x, arg_float(y));
}

/* number - x */
static Node *from_number(Build *b, double number, Node *x) {
  return build(b, OP_aten_sub_Tensor, ARGS(arg_float(number), arg_node(x)));
}

/* ---- coordinates ---- */

/* The parameter that has the factor of spatial axis i of n. */
static const char *factor_param(uint32_t i, uint32_t n) {
  static const char *const named[] = {"scales_d", "scales_h", "scales_w"};
  return n == 1 ? "scales" : named[i + 3 - n];
}

/* The factor that was given for spatial axis i; 0: none was. */
static double given_factor(Build *b, uint32_t i) {
  if (infer_takes(&b->in, "scale_factors")) {
    Arg list = build_arg(b, "scale_factors");
    if (list.kind != ARG_LIST || i >= list.n) return 0;
    const Arg *a = &list.items[i];
    return a->kind == ARG_FLOAT                       ? a->number
           : a->kind == ARG_INT && dim_is_int(a->dim) ? (double)a->dim->value
                                                      : 0;
  }
  const char *param = factor_param(i, rank_of(build_self(b)) - 2);
  return infer_takes(&b->in, param) && infer_has(&b->in, param) ? infer_number(&b->in, param) : 0;
}

/* n / m, where a division by zero makes no difference. */
static Stride ratio(const Resize *r, Dim n, Dim m) {
  if (n == m) return (Stride){.number = 1};
  if (dim_is_int(n) && dim_is_int(m))
    return (Stride){.number = m->value ? (double)n->value / (double)m->value : 0};
  Node *x = build_full(r->b, 0, NULL, arg_dim(n), r->compute);
  Node *y = build_full(r->b, 0, NULL, arg_dim(m), r->compute);
  y = build_with(r->b, OP_aten_clamp_min_default, y, build_int(r->b, 1));
  return (Stride){.open = build_div(r->b, x, y)};
}

static Stride stride_of(const Resize *r, Dim from, Dim to, uint32_t i) {
  double factor = given_factor(r->b, i);
  if (!r->align_corners && factor > 0) return (Stride){.number = 1 / factor};
  if (!r->align_corners) return ratio(r, from, to);
  Dim one = build_const(r->b, 1);
  Dims *d = r->b->in.g->dims;
  return ratio(r, dim_sub(d, from, one), dim_sub(d, to, one));
}

static Node *times_stride(Build *b, Node *x, const Stride *s) {
  return s->open ? build_mul(b, x, s->open) : times_number(b, x, s->number);
}

/* The coordinate in the operand of each element of the result, not rounded. */
static Node *source_coordinates(const Resize *r, Dim to, const Stride *stride) {
  Build *b = r->b;
  bool nearest = r->kernel <= NEAREST_EXACT;
  Node *i = build_to(b, build_arange(b, to), nearest ? DT_F32 : r->compute);
  if (r->kernel == NEAREST || r->align_corners) return times_stride(b, i, stride);
  Node *x = times_stride(b, plus_number(b, i, 0.5), stride);
  if (r->kernel == NEAREST_EXACT) return x;
  x = plus_number(b, x, -0.5);
  return r->kernel == CUBIC ? x
                            : build(b, OP_aten_clamp_default, ARGS(arg_node(x), build_int(b, 0)));
}

/* x's elements at floor + offset, as far as there are any, along the axis. */
static Node *tap(Build *b, Node *x, uint32_t axis, Node *floor, int64_t offset) {
  Dim last = dim_sub(b->in.g->dims, x->type.shape[axis], build_const(b, 1));
  Node *i = floor;
  if (offset) i = build_with(b, OP_aten_add_Tensor, i, build_int(b, offset));
  i = build(b, OP_aten_clamp_default, ARGS(arg_node(i), build_int(b, 0), arg_dim(last)));
  return build(b, OP_aten_index_select_default, ARGS(arg_node(x), build_int(b, axis), arg_node(i)));
}

/* ---- weights ---- */

/* ((p*t + q)*t + s)*t + u */
static Node *cubic_kernel(Build *b, Node *t, double p, double q, double s, double u) {
  Node *y = build_mul(b, plus_number(b, times_number(b, t, p), q), t);
  return plus_number(b, build_mul(b, plus_number(b, y, s), t), u);
}

/* Keys' kernel with a = -0.75, at distances up to 1, and from 1 to 2. */
static Node *near_weight(Build *b, Node *t) { return cubic_kernel(b, t, 1.25, -2.25, 0, 1); }
static Node *far_weight(Build *b, Node *t) { return cubic_kernel(b, t, -0.75, 3.75, -6, 3); }

static Node *weight(const Resize *r, int64_t offset, Node *t) {
  Build *b = r->b;
  if (r->kernel == LINEAR) return offset ? t : from_number(b, 1, t);
  switch (offset) {
    case -1: return far_weight(b, plus_number(b, t, 1));
    case 0: return near_weight(b, t);
    case 1: return near_weight(b, from_number(b, 1, t));
    default: return far_weight(b, from_number(b, 2, t));
  }
}

/* ---- an axis ---- */

static Node *weighted_taps(const Resize *r, Node *x, uint32_t axis, Node *index) {
  Build *b = r->b;
  Node *floor = build_op1(b, OP_aten_floor_default, index), *sum = NULL;
  Node *t = build_sub(b, index, floor);
  floor = build_to(b, floor, DT_I64);
  int64_t first = r->kernel == CUBIC ? -1 : 0, last = r->kernel == CUBIC ? 2 : 1;
  for (int64_t i = first; i <= last; i++) {
    Node *w = build_along(b, weight(r, i, t), axis, rank_of(x));
    Node *term = build_mul(b, tap(b, x, axis, floor, i), w);
    sum = sum ? build_add(b, sum, term) : term;
  }
  return sum;
}

/* An integer scale factor: each element is repeated that often. */
static Node *repeat_each(Build *b, Node *x, uint32_t axis, Dim times) {
  Dim shape[GRAPH_RANK_MAX];
  x = build_unsqueeze(b, x, axis + 1);
  memcpy(shape, x->type.shape, rank_of(x) * sizeof *shape);
  shape[axis + 1] = times;
  x = build_expand(b, x, rank_of(x), shape);
  shape[axis] = dim_mul(b->in.g->dims, shape[axis], times);
  memmove(shape + axis + 1, shape + axis + 2, (rank_of(x) - axis - 2) * sizeof *shape);
  return build_view(b, x, rank_of(x) - 1, shape);
}

static Node *nearest_along(const Resize *r, Node *x, uint32_t axis, Dim to, const Stride *stride) {
  Dim from = x->type.shape[axis];
  Dim times = dim_is_int(from) && dim_is_int(to) && from->value && to->value % from->value == 0
                  ? build_const(r->b, to->value / from->value)
                  : NULL;
  if (times && stride->number == 1 / (double)times->value) return repeat_each(r->b, x, axis, times);
  Node *floor = build_op1(r->b, OP_aten_floor_default, source_coordinates(r, to, stride));
  return tap(r->b, x, axis, build_to(r->b, floor, DT_I64), 0);
}

/* ---- antialias ---- */

/* The weight at a distance, which is not negative: as above, but with a = -0.5. */
static Node *smooth_weight(const Resize *r, Node *t) {
  Build *b = r->b;
  if (r->kernel == LINEAR)
    return build_with(b, OP_aten_clamp_min_default, from_number(b, 1, t), build_int(b, 0));
  Node *near = cubic_kernel(b, t, 1.5, -2.5, 0, 1), *far = cubic_kernel(b, t, -0.5, 2.5, -4, 2);
  Node *within = build_with(b, OP_aten_lt_Tensor, t, build_int(b, 2));
  far = build_where(b, within, arg_node(far), build_int(b, 0));
  within = build_with(b, OP_aten_lt_Tensor, t, build_int(b, 1));
  return build_where(b, within, arg_node(near), arg_node(far));
}

/* [from, to]: how much each element of the operand counts for each of the result.  Distances are
 * in elements of whichever of the two has the larger ones. */
static Node *smooth_weights(const Resize *r, Dim from, Dim to, const Stride *stride) {
  Build *b = r->b;
  Node *x = plus_number(b, build_to(b, build_arange(b, from), r->compute), 0.5);
  Node *y = plus_number(b, build_to(b, build_arange(b, to), r->compute), 0.5);
  Node *t = build_sub(b, build_unsqueeze(b, x, 1), times_stride(b, y, stride));
  t = build_op1(b, OP_aten_abs_default, t);
  if (stride->open)
    t = build_div(b, t, build_with(b, OP_aten_clamp_min_default, stride->open, build_int(b, 1)));
  else if (stride->number > 1) t = times_number(b, t, 1 / stride->number);
  Node *w = smooth_weight(r, t);
  return build_div(b, w, build_sum(b, w, 1u << 0, true));
}

static Node *smooth(const Resize *r, Node *x, uint32_t axis, Dim to, const Stride *stride) {
  uint32_t last = rank_of(x) - 1;
  Node *w = smooth_weights(r, x->type.shape[axis], to, stride);
  Node *y = decompose_matmul_of(r->b, build_transpose(r->b, x, axis, last), w);
  return build_transpose(r->b, y, axis, last);
}

static Node *upsample_axis(const Resize *r, Node *x, uint32_t axis, uint32_t i) {
  Dim from = x->type.shape[axis], to = r->b->in.n->type.shape[axis];
  Stride stride = stride_of(r, from, to, i);
  if (from == to && stride.number == 1) return x;
  if (r->kernel <= NEAREST_EXACT) return nearest_along(r, x, axis, to, &stride);
  if (r->antialias) return smooth(r, x, axis, to, &stride);
  return weighted_taps(r, x, axis, source_coordinates(r, to, &stride));
}

/* ---- all axes, the last one first ---- */

static Node *resize(Build *b, Kernel kernel, bool antialias) {
  Node *x = build_self(b);
  Resize r = {.b = b, .kernel = kernel, .antialias = antialias};
  r.compute = build_wide(x->type.dtype);
  r.align_corners = infer_takes(&b->in, "align_corners") && infer_bool(&b->in, "align_corners");
  if (kernel > NEAREST_EXACT) x = build_to(b, x, r.compute);
  for (uint32_t axis = rank_of(x); axis-- > 2;) x = upsample_axis(&r, x, axis, axis - 2);
  return build_to(b, x, b->in.n->type.dtype);
}

Node *decompose_upsample_nearest(Build *b) { return resize(b, NEAREST, false); }
Node *decompose_upsample_nearest_exact(Build *b) { return resize(b, NEAREST_EXACT, false); }
Node *decompose_upsample_linear(Build *b) { return resize(b, LINEAR, false); }
Node *decompose_upsample_cubic(Build *b) { return resize(b, CUBIC, false); }
Node *decompose_upsample_linear_smooth(Build *b) { return resize(b, LINEAR, true); }
Node *decompose_upsample_cubic_smooth(Build *b) { return resize(b, CUBIC, true); }
