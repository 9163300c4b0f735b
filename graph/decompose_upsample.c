/* Images resized, one axis at a time: each element of the result is a sum of one, two or four
 * elements of the operand, whose places and weights are computed as PyTorch's kernels do. */
#include <string.h>

#include "graph/decompose.h"

typedef enum { NEAREST, NEAREST_EXACT, LINEAR, CUBIC } Kernel;

typedef struct {
  Build *b;
  Kernel kernel;
  bool align_corners;
  DType compute;
} Resize;

static Node *plus(Build *b, Node *x, double y) {
  return y == 0 ? x : build_with(b, "aten.add.Tensor", x, arg_float(y));
}

static Node *times(Build *b, Node *x, double y) {
  return y == 1 ? x : build_with(b, "aten.mul.Tensor", x, arg_float(y));
}

/* number - x */
static Node *from_number(Build *b, double number, Node *x) {
  return build(b, "aten.sub.Tensor", ARGS(arg_float(number), arg_node(x)));
}

/* ---- places ---- */

/* The factor that was given for spatial axis i; 0: none was. */
static double given_factor(Build *b, uint32_t i) {
  static const char *const named[] = {"scales_h", "scales_w"};
  if (infer_takes(&b->in, "scale_factors")) {
    Arg list = build_arg(b, "scale_factors");
    if (list.kind != ARG_LIST || i >= list.n) return 0;
    const Arg *a = &list.items[i];
    return a->kind == ARG_FLOAT                       ? a->number
           : a->kind == ARG_INT && dim_is_int(a->dim) ? (double)a->dim->value
                                                      : 0;
  }
  return i < 2 && infer_has(&b->in, named[i]) ? infer_number(&b->in, named[i]) : 0;
}

static double fixed(Build *b, Dim size, uint32_t axis) {
  if (!dim_is_int(size))
    infer_fail(&b->in, E_GRAPH_FIXED, axis, infer_type_text(&b->in, &b->in.n->type));
  return (double)size->value;
}

/* How far apart in the operand are neighbours of the result. */
static double stride_of(const Resize *r, Dim from, Dim to, uint32_t i, uint32_t axis) {
  double factor = given_factor(r->b, i);
  if (!r->align_corners && factor > 0) return 1 / factor;
  double n = fixed(r->b, from, axis), m = fixed(r->b, to, axis);
  if (!r->align_corners) return n / m;
  return m > 1 ? (n - 1) / (m - 1) : 0;
}

/* The place in the operand of each element of the result, not rounded. */
static Node *places(const Resize *r, Dim to, double stride) {
  Build *b = r->b;
  bool nearest = r->kernel <= NEAREST_EXACT;
  Node *i = build_to(b, build_arange(b, to), nearest ? DT_F32 : r->compute);
  if (r->kernel == NEAREST || r->align_corners) return times(b, i, stride);
  Node *x = times(b, plus(b, i, 0.5), stride);
  if (r->kernel == NEAREST_EXACT) return x;
  x = plus(b, x, -0.5);
  return r->kernel == CUBIC ? x
                            : build(b, "aten.clamp.default", ARGS(arg_node(x), build_int(b, 0)));
}

/* x's elements at floor + offset, as far as there are any, along the axis. */
static Node *tap(Build *b, Node *x, uint32_t axis, Node *floor, int64_t offset) {
  Dim last = dim_sub(b->in.g->dims, x->type.shape[axis], build_const(b, 1));
  Node *i = floor;
  if (offset) i = build_with(b, "aten.add.Tensor", i, build_int(b, offset));
  i = build(b, "aten.clamp.default", ARGS(arg_node(i), build_int(b, 0), arg_dim(last)));
  return build(b, "aten.index_select.default", ARGS(arg_node(x), build_int(b, axis), arg_node(i)));
}

/* ---- weights ---- */

/* ((p*t + q)*t + s)*t + u */
static Node *cubic(Build *b, Node *t, double p, double q, double s, double u) {
  Node *y = build_mul(b, plus(b, times(b, t, p), q), t);
  return plus(b, build_mul(b, plus(b, y, s), t), u);
}

/* Keys' kernel with a = -0.75, at distances up to 1, and from 1 to 2. */
static Node *near_weight(Build *b, Node *t) { return cubic(b, t, 1.25, -2.25, 0, 1); }
static Node *far_weight(Build *b, Node *t) { return cubic(b, t, -0.75, 3.75, -6, 3); }

static Node *weight(const Resize *r, int64_t offset, Node *t) {
  Build *b = r->b;
  if (r->kernel == LINEAR) return offset ? t : from_number(b, 1, t);
  switch (offset) {
    case -1: return far_weight(b, plus(b, t, 1));
    case 0: return near_weight(b, t);
    case 1: return near_weight(b, from_number(b, 1, t));
    default: return far_weight(b, from_number(b, 2, t));
  }
}

/* ---- an axis ---- */

static Node *weighted_taps(const Resize *r, Node *x, uint32_t axis, Node *place) {
  Build *b = r->b;
  Node *floor = build_op1(b, "aten.floor.default", place), *sum = NULL;
  Node *t = build_sub(b, place, floor);
  floor = build_to(b, floor, DT_I64);
  int64_t first = r->kernel == CUBIC ? -1 : 0, last = r->kernel == CUBIC ? 2 : 1;
  for (int64_t i = first; i <= last; i++) {
    Node *w = build_along(b, weight(r, i, t), axis, rank_of(x));
    Node *term = build_mul(b, tap(b, x, axis, floor, i), w);
    sum = sum ? build_add(b, sum, term) : term;
  }
  return sum;
}

/* A whole number of times as many elements: each stands that often. */
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

static Node *nearest(const Resize *r, Node *x, uint32_t axis, Dim to, double stride) {
  Dim from = x->type.shape[axis];
  Dim times = dim_is_int(from) && dim_is_int(to) && from->value && to->value % from->value == 0
                  ? build_const(r->b, to->value / from->value)
                  : NULL;
  if (times && stride == 1 / (double)times->value) return repeat_each(r->b, x, axis, times);
  Node *floor = build_op1(r->b, "aten.floor.default", places(r, to, stride));
  return tap(r->b, x, axis, build_to(r->b, floor, DT_I64), 0);
}

static Node *resize_axis(const Resize *r, Node *x, uint32_t axis, uint32_t i) {
  Dim from = x->type.shape[axis], to = r->b->in.n->type.shape[axis];
  double stride = stride_of(r, from, to, i, axis);
  if (from == to && stride == 1) return x;
  if (r->kernel <= NEAREST_EXACT) return nearest(r, x, axis, to, stride);
  return weighted_taps(r, x, axis, places(r, to, stride));
}

/* ---- all axes, the last one first ---- */

static Node *resize(Build *b, Kernel kernel) {
  Node *x = build_input(b, b->in.schema->params[0].name);
  Resize r = {.b = b, .kernel = kernel, .compute = build_wide(x->type.dtype)};
  r.align_corners = infer_takes(&b->in, "align_corners") && infer_bool(&b->in, "align_corners");
  if (kernel > NEAREST_EXACT) x = build_to(b, x, r.compute);
  for (uint32_t axis = rank_of(x); axis-- > 2;) x = resize_axis(&r, x, axis, axis - 2);
  return build_to(b, x, b->in.n->type.dtype);
}

Node *decompose_upsample_nearest(Build *b) { return resize(b, NEAREST); }
Node *decompose_upsample_nearest_exact(Build *b) { return resize(b, NEAREST_EXACT); }
Node *decompose_upsample_linear(Build *b) { return resize(b, LINEAR); }
Node *decompose_upsample_cubic(Build *b) { return resize(b, CUBIC); }
