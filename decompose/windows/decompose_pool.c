/* Pooling becomes nereid.pool_max and nereid.pool_sum (graph/ops/window.h).
 *
 * Adaptive pooling is plain pooling where all windows have one size; otherwise the elements of the
 * largest window are gathered for each index, and those outside of smaller windows do not count. */
#include <math.h>
#include <string.h>

#include "decompose/windows/pooling.h"

/* ---- shapes of windows ---- */

static inline Node *pool_at_most(Build *b, Node *x, Dim most) {
  return build_with(b, OP_aten_clamp_max_default, x, arg_dim(most));
}

static const ValueType *pool_result(const Build *b) {
  const ValueType *t = &b->in.n->type;
  return t->kind == VALUE_LIST ? t->items : t;
}

static void read_pool_axes(Build *b, const char *param, uint32_t n, Dim *out) {
  Dim given[GRAPH_RANK_MAX];
  uint32_t count = infer_sizes(&b->in, param, given);
  for (uint32_t i = 0; i < n && count; i++) out[i] = given[count == 1 ? 0 : i];
}

/* The padding after the input is as much as the last window needs: with ceil_mode more than before
 * it. */
static void find_after(Build *b, Pooling *p) {
  Dims *d = b->in.g->dims;
  Dim one = build_const(b, 1);
  memcpy(p->after, p->padding, sizeof p->after);
  for (uint32_t i = 0; i < p->n && p->ceil_mode; i++) {
    Dim last = dim_mul(d, dim_sub(d, p->windows[i], one), p->stride[i]);
    Dim end = dim_add(d, last, dim_mul(d, p->dilation[i], dim_sub(d, p->kernel[i], one)));
    Dim size = dim_add(d, p->x->type.shape[p->first + i], p->padding[i]);
    p->after[i] = dim_sub(d, dim_add(d, end, one), size);
  }
}

Pooling pooling_read(Build *b, uint32_t n, const ValueType *pooled) {
  Pooling p = {.x = build_input(b, "self"), .n = n, .ceil_mode = infer_bool(&b->in, "ceil_mode")};
  p.first = rank_of(p.x) - n;
  for (uint32_t i = 0; i < n; i++) p.dilation[i] = build_const(b, 1);
  read_pool_axes(b, "kernel_size", n, p.kernel);
  memcpy(p.stride, p.kernel, sizeof p.stride);
  read_pool_axes(b, "stride", n, p.stride);
  read_pool_axes(b, "padding", n, p.padding);
  if (infer_takes(&b->in, "dilation")) read_pool_axes(b, "dilation", n, p.dilation);
  memcpy(p.windows, pooled->shape + p.first, n * sizeof *p.windows);
  find_after(b, &p);
  return p;
}

/* nereid.pool_max or nereid.pool_sum of x. */
static Node *pool_slide(Build *b, OpId op, Node *x, const Pooling *p) {
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

/* The index at which each window begins; negative in the padding. */
static Node *window_starts(Build *b, const Pooling *p, uint32_t i) {
  Dims *d = b->in.g->dims;
  Node *at = build_mul_dim(b, build_arange(b, p->windows[i]), p->stride[i]);
  return build_add_dim(b, at, dim_sub(d, build_const(b, 0), p->padding[i]));
}

/* ---- averages ---- */

/* The number of elements of each window along axis i; `padded`: with the padding that the op names,
 * without the one that ceil_mode adds. */
static Node *sizes_along(Build *b, const Pooling *p, uint32_t i, bool padded) {
  Dims *d = b->in.g->dims;
  Dim size = p->x->type.shape[p->first + i];
  Node *start = window_starts(b, p, i), *end = build_add_dim(b, start, p->kernel[i]);
  end = pool_at_most(b, end, padded ? dim_add(d, size, p->padding[i]) : size);
  if (!padded) start = build_with(b, OP_aten_clamp_min_default, start, build_int(b, 0));
  return build_sub(b, end, start);
}

Node *pooling_divide(Build *b, const Pooling *p, Node *sum) {
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

static Node *average_pool(Build *b, uint32_t n) {
  Pooling p = pooling_read(b, n, pool_result(b));
  Node *sum = pool_slide(b, OP_nereid_pool_sum_default, build_widen(b, p.x), &p);
  return build_to(b, pooling_divide(b, &p, sum), p.x->type.dtype);
}

Node *decompose_avg_pool1d(Build *b) { return average_pool(b, 1); }
Node *decompose_avg_pool2d(Build *b) { return average_pool(b, 2); }
Node *decompose_avg_pool3d(Build *b) { return average_pool(b, 3); }

/* ---- maxima ---- */

static Node *max_pool(Build *b, uint32_t n) {
  Pooling p = pooling_read(b, n, pool_result(b));
  return pool_slide(b, OP_nereid_pool_max_default, p.x, &p);
}

Node *decompose_max_pool1d(Build *b) { return max_pool(b, 1); }
Node *decompose_max_pool2d(Build *b) { return max_pool(b, 2); }
Node *decompose_max_pool3d(Build *b) { return max_pool(b, 3); }

/* ---- the indices of maxima, position by position ---- */

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
static Node *window_elements(Build *b, const Pooling *p, Node *x, const int64_t *at) {
  Dims *d = b->in.g->dims;
  for (uint32_t i = 0; i < p->n; i++) {
    Dim begin = dim_mul(d, p->dilation[i], build_const(b, at[i]));
    Dim last = dim_mul(d, dim_sub(d, p->windows[i], build_const(b, 1)), p->stride[i]);
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
    Node *along = build_along(b, build_add_dim(b, start[i], by), i, p->n);
    if (number) number = build_mul_dim(b, number, p->x->type.shape[p->first + i]);
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
    inside[i] = build_add(b, start[i], build_mul_dim(b, steps, back));
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

/* Do numbers of elements, and of places in the padding, have 31 bits? */
static bool has_small_planes(Build *b, const Pooling *p) {
  Dim size = infer_product(&b->in, p->x->type.shape + p->first, p->n);
  return dim_is_int(size) && size->value <= INT32_MAX / 4;
}

/* Compares as PyTorch does: an element greater than all before it, or a NaN. */
static Node *indices_of_maxima(Build *b, const Pooling *p) {
  Node *x = padded_input(b, p), *start[WINDOW_AXES], *best = NULL;
  DType wide = has_small_planes(b, p) ? DT_I32 : DT_I64;
  for (uint32_t i = 0; i < p->n; i++) start[i] = build_to(b, window_starts(b, p, i), wide);
  Node *index = first_inside(b, p, start);
  int64_t at[WINDOW_AXES] = {0};
  do {
    Node *v = window_elements(b, p, x, at), *number = numbers_at(b, p, start, at);
    if (!best) {
      best = v;
      continue;
    }
    Node *greater = build_op2(b, OP_aten_gt_Tensor, v, best);
    if (dtype_is_float(v->type.dtype))
      greater =
          build_op2(b, OP_aten_logical_or_default, greater, build_op1(b, OP_aten_isnan_default, v));
    index = build_where(b, greater, arg_node(number), arg_node(index));
    best = build_where(b, greater, arg_node(v), arg_node(best));
  } while (next_position(p, at));
  const ValueType *t = pool_result(b);
  return build_expand(b, build_to(b, index, DT_I64), t->rank, t->shape);
}

/* Are there few enough positions in a window to write out all? */
static bool pool_few_positions(const Pooling *p) {
  int64_t count = 1;
  for (uint32_t i = 0; i < p->n; i++) {
    if (!dim_is_int(p->kernel[i]) || !dim_is_int(p->stride[i])) return false;
    if (p->kernel[i]->value > POSITIONS_MAX) return false;
    count *= p->kernel[i]->value;
  }
  return count <= POSITIONS_MAX;
}

/* ---- windows beside each other ---- */

/* Does each window begin where the one before it ends, the first with the input? */
static bool are_adjacent(const Pooling *p) {
  for (uint32_t i = 0; i < p->n; i++)
    if (p->stride[i] != p->kernel[i] || !dim_is(p->padding[i], 0) || !dim_is(p->after[i], 0) ||
        !dim_is(p->dilation[i], 1))
      return false;
  return true;
}

/* The elements of each window in a last axis of their own. */
static Node *windows_in_rows(Build *b, const Pooling *p) {
  Node *x = p->x;
  Dim shape[GRAPH_RANK_MAX];
  uint32_t axes[GRAPH_RANK_MAX], n = p->n;
  for (uint32_t i = 0; i < p->first; i++) {
    shape[i] = x->type.shape[i];
    axes[i] = i;
  }
  for (uint32_t i = 0; i < n; i++) {
    uint32_t axis = p->first + 2 * i;
    Dim end = dim_mul(b->in.g->dims, p->windows[i], p->kernel[i]);
    x = build_slice(b, x, p->first + i, build_const(b, 0), end, 1);
    shape[axis] = p->windows[i];
    shape[axis + 1] = p->kernel[i];
    axes[p->first + i] = axis;
    axes[p->first + n + i] = axis + 1;
  }
  x = build_permute(b, build_view(b, x, p->first + 2 * n, shape), axes);
  for (uint32_t i = 0; i < n; i++) shape[p->first + i] = p->windows[i];
  shape[p->first + n] = infer_product(&b->in, p->kernel, n);
  return build_view(b, x, p->first + n + 1, shape);
}

/* The maxima of rows, and the index of each: of the last NaN, or of the first largest element. */
static Node *maxima_of_rows(Build *b, Node *x, Node **value) {
  uint32_t last = rank_of(x) - 1;
  Node *both = build_with(b, OP_aten_max_dim, x, build_int(b, last));
  *value = build_item(b, both, 0);
  Node *at = build_item(b, both, 1);
  if (!dtype_is_float(x->type.dtype)) return at;
  Node *nan = build_op1(b, OP_aten_isnan_default, x);
  nan = build_where(b, nan, arg_node(build_arange(b, x->type.shape[last])), build_int(b, -1));
  nan = build_reduce(b, OP_aten_amax_default, nan, 1u << last, false);
  Node *some = build_with(b, OP_aten_ge_Scalar, nan, build_int(b, 0));
  return build_where(b, some, arg_node(nan), arg_node(at));
}

static Node *maxima_of_adjacent(Build *b, const Pooling *p) {
  Node *value, *at = maxima_of_rows(b, windows_in_rows(b, p), &value), *number = NULL;
  for (uint32_t i = p->n; i-- > 0;) {
    Node *own = at;
    if (i) {
      own = build_with(b, OP_aten_remainder_Scalar, at, arg_dim(p->kernel[i]));
      at = build_with(b, OP_aten_floor_divide_Scalar, at, arg_dim(p->kernel[i]));
    }
    own = build_add(b, own, build_along(b, window_starts(b, p, i), i, p->n));
    Dim within = infer_product(&b->in, p->x->type.shape + p->first + i + 1, p->n - 1 - i);
    own = build_mul_dim(b, own, within);
    number = number ? build_add(b, number, own) : own;
  }
  return build_pair(b, value, number);
}

/* The maxima and their indices; NULL, and the node stays, if large windows overlap. */
static Node *max_pool_indices(Build *b, const Pooling *p) {
  if (!pool_few_positions(p)) return are_adjacent(p) ? maxima_of_adjacent(b, p) : NULL;
  return build_pair(b, pool_slide(b, OP_nereid_pool_max_default, p->x, p), indices_of_maxima(b, p));
}

static Node *maximum_with_indices(Build *b, uint32_t n) {
  Pooling p = pooling_read(b, n, pool_result(b));
  return max_pool_indices(b, &p);
}

Node *decompose_max_pool1d_indices(Build *b) { return maximum_with_indices(b, 1); }
Node *decompose_max_pool2d_indices(Build *b) { return maximum_with_indices(b, 2); }
Node *decompose_max_pool3d_indices(Build *b) { return maximum_with_indices(b, 3); }

/* ---- adaptive pooling into windows of one size ---- */

/* A window of each output's own elements, if all have as many. */
static bool equal_windows(Build *b, Pooling *p) {
  Dims *d = b->in.g->dims;
  for (uint32_t i = 0; i < p->n; i++) {
    Dim size = p->x->type.shape[p->first + i], out = p->windows[i];
    if (!dim_is_int(out) || out->value <= 0 || !dim_divisible(size, out->value)) return false;
    p->kernel[i] = p->stride[i] = dim_floordiv(d, size, out);
    p->padding[i] = p->after[i] = build_const(b, 0);
    p->dilation[i] = build_const(b, 1);
  }
  return true;
}

static Pooling read_adaptive(Build *b, uint32_t n) {
  Pooling p = {.x = build_input(b, "self"), .n = n};
  p.first = rank_of(p.x) - n;
  memcpy(p.windows, pool_result(b)->shape + p.first, n * sizeof *p.windows);
  return p;
}

/* ---- into windows of several sizes: [.., windows, elements] for each axis ---- */

typedef struct {
  Node *elements;           /* [.., p1, k1, p2, k2]: those of the largest window */
  Node *numbers;            /* of them in the plane of the pooled axes */
  Node *inside;             /* are they of their window? */
  Node *count[WINDOW_AXES]; /* elements of the windows along each axis */
  uint32_t window;          /* the axes to reduce */
} Uneven;

enum { UNEVEN_MAX = 1 << 20 }; /* windows along an axis, which are gone through */

static bool fixed_sizes(const Pooling *p) {
  for (uint32_t i = 0; i < p->n; i++) {
    Dim size = p->x->type.shape[p->first + i];
    if (!dim_is_int(size) || !dim_is_int(p->windows[i]) || p->windows[i]->value <= 0) return false;
    if (size->value > UNEVEN_MAX || p->windows[i]->value > UNEVEN_MAX) return false;
  }
  return true;
}

static int64_t largest_window(int64_t size, int64_t windows) {
  int64_t most = 0;
  for (int64_t o = 0; o < windows; o++) {
    int64_t n = ((o + 1) * size + windows - 1) / windows - o * size / windows;
    if (n > most) most = n;
  }
  return most;
}

Node *pooling_adaptive_bound(Build *b, Dim size, Dim windows, bool end) {
  Dims *d = build_dims(b);
  Dim more = dim_sub(d, dim_add(d, size, windows), build_const(b, 1));
  Node *at = build_mul_dim(b, build_arange(b, windows), size);
  if (end) at = build_add_dim(b, at, more);
  return build_with(b, OP_aten_floor_divide_Scalar, at, arg_dim(windows));
}

static Node *combine_nodes(Build *b, Node *x, Node *y, OpId op) {
  return x ? build_op2(b, op, x, y) : y;
}

static Uneven uneven_windows(Build *b, const Pooling *p) {
  Uneven u = {0};
  Arg at = arg_list(b->in.g, rank_of(p->x));
  for (uint32_t i = 0; i < p->first; i++) at.items[i] = arg_none();
  for (uint32_t i = 0; i < p->n; i++) {
    Dim size = p->x->type.shape[p->first + i];
    Dim most = build_const(b, largest_window(size->value, p->windows[i]->value));
    Node *start = pooling_adaptive_bound(b, size, p->windows[i], false),
         *end = pooling_adaptive_bound(b, size, p->windows[i], true);
    u.count[i] = build_sub(b, end, start);
    Node *element = build_add(b, build_unsqueeze(b, start, 1), build_arange(b, most));
    Node *inside = build_op2(b, OP_aten_lt_Tensor, element, build_unsqueeze(b, end, 1));
    Dim shape[2 * WINDOW_AXES];
    for (uint32_t k = 0; k < 2 * p->n; k++) shape[k] = build_const(b, 1);
    shape[2 * i] = p->windows[i];
    shape[2 * i + 1] = most;
    element = pool_at_most(b, element, build_const(b, size->value - 1));
    element = build_view(b, element, 2 * p->n, shape);
    at.items[p->first + i] = arg_node(element);
    u.inside = combine_nodes(b, u.inside, build_view(b, inside, 2 * p->n, shape),
                             OP_aten_logical_and_default);
    if (u.numbers) u.numbers = build_mul_dim(b, u.numbers, size);
    u.numbers = combine_nodes(b, u.numbers, element, OP_aten_add_Tensor);
    u.window |= 1u << (p->first + 2 * i + 1);
  }
  u.elements = build_with(b, OP_aten_index_Tensor, p->x, at);
  return u;
}

static Node *uneven_average(Build *b, const Pooling *p) {
  Uneven u = uneven_windows(b, p);
  DType t = build_wide(p->x->type.dtype);
  Node *x = build_where(b, u.inside, arg_node(build_to(b, u.elements, t)), arg_float(0));
  Node *sum = build_sum(b, x, u.window, false), *count = NULL;
  for (uint32_t i = 0; i < p->n; i++)
    count = combine_nodes(b, count, build_along(b, u.count[i], i, p->n), OP_aten_mul_Tensor);
  return build_to(b, build_div(b, sum, build_to(b, count, t)), p->x->type.dtype);
}

/* An index is the first one that holds the maximum, which may be no number. */
static Node *uneven_maximum(Build *b, const Pooling *p) {
  Uneven u = uneven_windows(b, p);
  Node *x = build_where(b, u.inside, arg_node(u.elements), arg_float(-INFINITY));
  Node *most = build_reduce(b, OP_aten_amax_default, x, u.window, true);
  Node *equal = build_op2(b, OP_aten_eq_Tensor, x, most);
  equal =
      combine_nodes(b, equal, build_op1(b, OP_aten_isnan_default, x), OP_aten_logical_or_default);
  equal = combine_nodes(b, equal, u.inside, OP_aten_logical_and_default);
  Node *indices = build_where(b, equal, arg_node(u.numbers), build_int(b, INT64_MAX));
  indices = build_reduce(b, OP_aten_amin_default, indices, u.window, false);
  return build_pair(b, build_squeeze(b, most, u.window), indices);
}

static bool is_integer_pooling(const Pooling *p) {
  bool one = true;
  for (uint32_t i = 0; i < p->n; i++) one &= dim_is(p->windows[i], 1);
  return one;
}

/* Over all elements it is their mean. */
static Node *mean_of_last(Build *b, const Pooling *p) {
  uint32_t set = ((1u << p->n) - 1) << p->first;
  return build_to(b, build_mean(b, build_widen(b, p->x), set, true), p->x->type.dtype);
}

/* ---- windows of sizes that are open ---- */

/* Which of an axis's elements are in each of its windows: [windows, size]; where it begins, and how
 * many they are: [windows, 1]. */
static Node *open_windows(Build *b, Dim size, Dim windows, Node **first, Node **count) {
  Dims *d = build_dims(b);
  Node *i = build_unsqueeze(b, build_arange(b, windows), 1);
  Node *begin = build_with(b, OP_aten_mul_Tensor, i, arg_dim(size));
  Node *end = build_with(b, OP_aten_add_Tensor, begin,
                         arg_dim(dim_add(d, size, dim_sub(d, windows, build_const(b, 1)))));
  begin = build_with(b, OP_aten_floor_divide_default, begin, arg_dim(windows));
  end = build_with(b, OP_aten_floor_divide_default, end, arg_dim(windows));
  Node *h = build_arange(b, size);
  *first = begin;
  *count = build_sub(b, end, begin);
  return build_op2(b, OP_aten_logical_and_default, build_op2(b, OP_aten_ge_Tensor, h, begin),
                   build_op2(b, OP_aten_lt_Tensor, h, end));
}

/* Means along one axis after the other, as products with tables of weights. */
static Node *open_average(Build *b, const Pooling *p) {
  Node *y = build_widen(b, p->x), *first, *count;
  uint32_t last = rank_of(y) - 1;
  for (uint32_t axis = p->first; axis <= last; axis++) {
    Node *inside =
        open_windows(b, y->type.shape[axis], p->windows[axis - p->first], &first, &count);
    Node *weights = build_div(b, build_to(b, inside, y->type.dtype), count);
    y = build_transpose(b, y, axis, last);
    weights = build_transpose(b, weights, 0, 1);
    y = build_product(b, OP_aten_matmul_default, y, weights, ROUNDS_NEVER);
    y = build_transpose(b, y, axis, last);
  }
  return build_to(b, y, p->x->type.dtype);
}

/* Maxima along one axis after the other, from the last; an index is chosen with its maximum, so
 * that the first in row-major order is. */
static Node *open_maximum(Build *b, const Pooling *p) {
  Node *y = p->x, *number = NULL, *first, *count;
  uint32_t last = rank_of(y) - 1;
  for (uint32_t axis = last + 1; axis-- > p->first;) {
    Dim size = y->type.shape[axis], windows = p->windows[axis - p->first];
    Node *inside = open_windows(b, size, windows, &first, &count);
    Node *x = build_unsqueeze(b, build_transpose(b, y, axis, last), last);
    x = build_where(b, inside, arg_node(x), arg_node(build_limit(b, y->type.dtype, true)));
    Node *both = build_with(b, OP_aten_max_dim, x, build_int(b, last + 1));
    /* Where no element is larger than the least number, all are equal, also outside. */
    Node *at = build_op2(b, OP_aten_maximum_default, build_item(b, both, 1),
                         build_select(b, first, 1, build_const(b, 0)));
    y = build_transpose(b, build_item(b, both, 0), axis, last);
    Node *own = build_transpose(b, at, axis, last);
    if (!number) {
      number = own;
      continue;
    }
    Dim within = build_const(b, 1);
    for (uint32_t i = axis + 1; i <= last; i++)
      within = dim_mul(build_dims(b), within, p->x->type.shape[i]);
    number =
        build(b, OP_aten_gather_default, ARGS(arg_node(number), build_int(b, axis), arg_node(own)));
    number = build_add(b, number, build_with(b, OP_aten_mul_Tensor, own, arg_dim(within)));
  }
  return build_pair(b, y, number);
}

static Node *adaptive_average(Build *b, uint32_t n) {
  Pooling p = read_adaptive(b, n);
  if (is_integer_pooling(&p)) return mean_of_last(b, &p);
  if (equal_windows(b, &p)) {
    Node *sum = pool_slide(b, OP_nereid_pool_sum_default, build_widen(b, p.x), &p);
    Arg count = arg_dim(infer_product(&b->in, p.kernel, n));
    return build_to(b, build_with(b, OP_aten_div_Tensor, sum, count), p.x->type.dtype);
  }
  return fixed_sizes(&p) ? uneven_average(b, &p) : open_average(b, &p);
}

Node *decompose_adaptive_avg_pool1d(Build *b) { return adaptive_average(b, 1); }
Node *decompose_adaptive_avg_pool2d(Build *b) { return adaptive_average(b, 2); }
Node *decompose_adaptive_avg_pool3d(Build *b) { return adaptive_average(b, 3); }

static Node *adaptive_maximum(Build *b, uint32_t n) {
  Pooling p = read_adaptive(b, n);
  if (equal_windows(b, &p) && pool_few_positions(&p)) return max_pool_indices(b, &p);
  return fixed_sizes(&p) ? uneven_maximum(b, &p) : open_maximum(b, &p);
}

Node *decompose_adaptive_max_pool1d(Build *b) { return adaptive_maximum(b, 1); }
Node *decompose_adaptive_max_pool2d(Build *b) { return adaptive_maximum(b, 2); }
Node *decompose_adaptive_max_pool3d(Build *b) { return adaptive_maximum(b, 3); }
