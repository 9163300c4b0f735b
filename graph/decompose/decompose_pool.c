/* Pooling becomes nereid.pool_max and nereid.pool_sum (graph/ops/window.h). */
#include <math.h>
#include <string.h>

#include "graph/decompose/decompose_pool.h"

const ValueType *pool_result(const Build *b) {
  const ValueType *t = &b->in.n->type;
  return t->kind == VALUE_LIST ? t->items : t;
}

static void read_axes(Build *b, const char *param, uint32_t n, Dim *out) {
  Dim given[GRAPH_RANK_MAX];
  uint32_t count = infer_sizes(&b->in, param, given);
  for (uint32_t i = 0; i < n && count; i++) out[i] = given[count == 1 ? 0 : i];
}

/* Behind the input lies as much padding as the last window needs: more than in front with
 * ceil_mode. */
static void find_after(Build *b, Pooling *p) {
  Dims *d = b->in.g->dims;
  Dim one = build_const(b, 1);
  memcpy(p->after, p->padding, sizeof p->after);
  for (uint32_t i = 0; i < p->n && p->ceil_mode; i++) {
    Dim last = dim_mul(d, dim_sub(d, p->places[i], one), p->stride[i]);
    Dim end = dim_add(d, last, dim_mul(d, p->dilation[i], dim_sub(d, p->kernel[i], one)));
    Dim size = dim_add(d, p->x->type.shape[p->first + i], p->padding[i]);
    p->after[i] = dim_sub(d, dim_add(d, end, one), size);
  }
}

static Pooling read_pool(Build *b, uint32_t n) {
  Pooling p = {.x = build_input(b, "self"), .n = n, .ceil_mode = infer_bool(&b->in, "ceil_mode")};
  p.first = rank_of(p.x) - n;
  for (uint32_t i = 0; i < n; i++) p.dilation[i] = build_const(b, 1);
  read_axes(b, "kernel_size", n, p.kernel);
  memcpy(p.stride, p.kernel, sizeof p.stride);
  read_axes(b, "stride", n, p.stride);
  read_axes(b, "padding", n, p.padding);
  if (infer_takes(&b->in, "dilation")) read_axes(b, "dilation", n, p.dilation);
  memcpy(p.places, pool_result(b)->shape + p.first, n * sizeof *p.places);
  find_after(b, &p);
  return p;
}

Node *pool_slide(Build *b, OpId op, Node *x, const Pooling *p) {
  Graph *g = b->in.g;
  Dim pads[2 * WINDOW_AXES];
  for (uint32_t i = 0; i < p->n; i++) {
    pads[2 * i] = p->padding[i];
    pads[2 * i + 1] = p->after[i];
  }
  return build(
      b, op,
      ARGS(arg_node(x), arg_dims(g, p->n, p->kernel), arg_dims(g, p->n, p->stride),
           arg_dims(g, 2 * p->n, pads), arg_dims(g, p->n, p->dilation), build_int(b, p->first)));
}

/* Where each window begins; before 0 in padding. */
static Node *starts(Build *b, const Pooling *p, uint32_t i) {
  Dims *d = b->in.g->dims;
  Node *at = pool_times(b, build_arange(b, p->places[i]), p->stride[i]);
  return pool_plus(b, at, dim_sub(d, build_const(b, 0), p->padding[i]));
}

/* ---- averages ---- */

/* How many elements each window along axis i has; `padded`: with the padding that was asked for,
 * but not with what ceil_mode adds. */
static Node *sizes_along(Build *b, const Pooling *p, uint32_t i, bool padded) {
  Dims *d = b->in.g->dims;
  Dim size = p->x->type.shape[p->first + i];
  Node *start = starts(b, p, i), *end = pool_plus(b, start, p->kernel[i]);
  end = pool_at_most(b, end, padded ? dim_add(d, size, p->padding[i]) : size);
  if (!padded) start = build_with(b, OP_aten_clamp_min_default, start, build_int(b, 0));
  return build_sub(b, end, start);
}

static Node *divide(Build *b, const Pooling *p, Node *sum) {
  bool padded = infer_bool(&b->in, "count_include_pad");
  if (infer_takes(&b->in, "divisor_override") && infer_has(&b->in, "divisor_override"))
    return build_with(b, OP_aten_div_Tensor, sum, build_arg(b, "divisor_override"));
  bool all_whole = !p->ceil_mode;
  for (uint32_t i = 0; i < p->n && !padded; i++) all_whole &= dim_is(p->padding[i], 0);
  if (all_whole)
    return build_with(b, OP_aten_div_Tensor, sum, arg_dim(infer_product(&b->in, p->kernel, p->n)));
  Node *count = NULL;
  for (uint32_t i = 0; i < p->n; i++) {
    Node *sizes = build_along(b, sizes_along(b, p, i, padded), i, p->n);
    count = count ? build_mul(b, count, sizes) : sizes;
  }
  return build_div(b, sum, build_to(b, count, sum->type.dtype));
}

static Node *average(Build *b, uint32_t n) {
  Pooling p = read_pool(b, n);
  Node *sum = pool_slide(b, OP_nereid_pool_sum_default, build_widen(b, p.x), &p);
  return build_to(b, divide(b, &p, sum), p.x->type.dtype);
}

Node *decompose_avg_pool1d(Build *b) { return average(b, 1); }
Node *decompose_avg_pool2d(Build *b) { return average(b, 2); }
Node *decompose_avg_pool3d(Build *b) { return average(b, 3); }

/* ---- maxima ---- */

static Node *maximum(Build *b, uint32_t n) {
  Pooling p = read_pool(b, n);
  return pool_slide(b, OP_nereid_pool_max_default, p.x, &p);
}

Node *decompose_max_pool1d(Build *b) { return maximum(b, 1); }
Node *decompose_max_pool2d(Build *b) { return maximum(b, 2); }
Node *decompose_max_pool3d(Build *b) { return maximum(b, 3); }

/* ---- the places of maxima, position by position ---- */

enum { POSITIONS_MAX = 64 };

/* x with -inf, or the least integer, where windows reach over its edges. */
static Node *padded_input(Build *b, const Pooling *p) {
  Arg pads = arg_list(b->in.g, 2 * p->n);
  bool none = true;
  for (uint32_t i = 0; i < p->n; i++) {
    Arg *at = &pads.items[2 * (p->n - 1 - i)]; /* from the last axis on */
    at[0] = arg_dim(p->padding[i]);
    at[1] = arg_dim(p->after[i]);
    none &= dim_is(p->padding[i], 0) && dim_is(p->after[i], 0);
  }
  if (none) return p->x;
  DType t = p->x->type.dtype;
  Arg least = dtype_is_float(t)
                  ? arg_float(-INFINITY)
                  : build_int(b, dtype_is_signed(t) ? INT64_MIN >> (64 - dtype_bits(t)) : 0);
  return build(b, OP_aten_constant_pad_nd_default, ARGS(arg_node(p->x), pads, least));
}

/* The elements that stand at one position of the windows. */
static Node *elements_at(Build *b, const Pooling *p, Node *x, const int64_t *at) {
  Dims *d = b->in.g->dims;
  for (uint32_t i = 0; i < p->n; i++) {
    Dim begin = dim_mul(d, p->dilation[i], build_const(b, at[i]));
    Dim last = dim_mul(d, dim_sub(d, p->places[i], build_const(b, 1)), p->stride[i]);
    Dim end = dim_add(d, dim_add(d, begin, last), build_const(b, 1));
    x = build_slice(b, x, p->first + i, begin, end, p->stride[i]->value);
  }
  return x;
}

/* Their numbers in the plane of the pooled axes of the input. */
static Node *numbers_at(Build *b, const Pooling *p, Node *const *start, const int64_t *at) {
  Dims *d = b->in.g->dims;
  Node *number = NULL;
  for (uint32_t i = 0; i < p->n; i++) {
    Dim by = dim_mul(d, p->dilation[i], build_const(b, at[i]));
    Node *along = build_along(b, pool_plus(b, start[i], by), i, p->n);
    if (number) number = pool_times(b, number, p->x->type.shape[p->first + i]);
    number = number ? build_add(b, number, along) : along;
  }
  return number;
}

/* The first position in each window that is no padding. */
static Node *first_inside(Build *b, const Pooling *p, Node *const *start) {
  Node *inside[WINDOW_AXES];
  for (uint32_t i = 0; i < p->n; i++) {
    Dims *d = b->in.g->dims;
    Node *before = build_with(b, OP_aten_clamp_max_default, start[i], build_int(b, 0));
    /* start - floor(before / dilation) * dilation */
    Node *steps = build_with(b, OP_aten_floor_divide_Scalar, before, arg_dim(p->dilation[i]));
    Dim back = dim_sub(d, build_const(b, 0), p->dilation[i]);
    inside[i] = build_add(b, start[i], pool_times(b, steps, back));
  }
  static const int64_t begin[WINDOW_AXES];
  return numbers_at(b, p, inside, begin);
}

static bool next_position(const Pooling *p, int64_t *at) {
  for (uint32_t i = p->n; i-- > 0;) {
    if (++at[i] < p->kernel[i]->value) return true;
    at[i] = 0;
  }
  return false;
}

/* As PyTorch: what is greater than all before it, or no number. */
static Node *places_of_maxima(Build *b, const Pooling *p) {
  Node *x = padded_input(b, p), *start[WINDOW_AXES], *best = NULL;
  for (uint32_t i = 0; i < p->n; i++) start[i] = starts(b, p, i);
  Node *place = first_inside(b, p, start);
  int64_t at[WINDOW_AXES] = {0};
  do {
    Node *v = elements_at(b, p, x, at), *number = numbers_at(b, p, start, at);
    if (!best) {
      best = v;
      continue;
    }
    Node *greater = build_op2(b, OP_aten_gt_Tensor, v, best);
    if (dtype_is_float(v->type.dtype))
      greater =
          build_op2(b, OP_aten_logical_or_default, greater, build_op1(b, OP_aten_isnan_default, v));
    place = build_where(b, greater, arg_node(number), arg_node(place));
    best = build_where(b, greater, arg_node(v), arg_node(best));
  } while (next_position(p, at));
  const ValueType *t = pool_result(b);
  return build_expand(b, place, t->rank, t->shape);
}

bool pool_few_positions(const Pooling *p) {
  int64_t count = 1;
  for (uint32_t i = 0; i < p->n; i++) {
    if (!dim_is_int(p->kernel[i]) || !dim_is_int(p->stride[i])) return false;
    if (p->kernel[i]->value > POSITIONS_MAX) return false;
    count *= p->kernel[i]->value;
  }
  return count <= POSITIONS_MAX;
}

Node *pool_set_pair(Build *b, Node *values, Node *places) {
  b->nitems = 2;
  b->items = ARENA_ARRAY(b->in.g->arena, Node *, 2);
  b->items[0] = values;
  b->items[1] = places;
  return NULL;
}

Node *pool_with_places(Build *b, const Pooling *p) {
  if (!pool_few_positions(p)) return NULL;
  return pool_set_pair(b, pool_slide(b, OP_nereid_pool_max_default, p->x, p),
                       places_of_maxima(b, p));
}

static Node *maximum_with_places(Build *b, uint32_t n) {
  Pooling p = read_pool(b, n);
  return pool_with_places(b, &p);
}

Node *decompose_max_pool1d_places(Build *b) { return maximum_with_places(b, 1); }
Node *decompose_max_pool2d_places(Build *b) { return maximum_with_places(b, 2); }
Node *decompose_max_pool3d_places(Build *b) { return maximum_with_places(b, 3); }
