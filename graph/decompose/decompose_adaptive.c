/* Adaptive pooling: plain pooling where all windows have one size; else the elements of the largest
 * window are gathered for each place, and those of other windows do not count. */
#include <math.h>
#include <string.h>

#include "graph/decompose/decompose_pool.h"

/* ---- adaptive pooling into windows of one size ---- */

/* A window of each output's own elements, if all have as many. */
static bool equal_windows(Build *b, Pooling *p) {
  Dims *d = b->in.g->dims;
  for (uint32_t i = 0; i < p->n; i++) {
    Dim size = p->x->type.shape[p->first + i], out = p->places[i];
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
  memcpy(p.places, pool_result(b)->shape + p.first, n * sizeof *p.places);
  return p;
}

/* ---- into windows of several sizes: [.., places, elements] for each axis ---- */

typedef struct {
  Node *elements;           /* [.., p1, k1, p2, k2]: those of the largest window */
  Node *numbers;            /* of them in the plane of the pooled axes */
  Node *inside;             /* are they of their window? */
  Node *count[WINDOW_AXES]; /* elements of the windows along each axis */
  uint32_t window;          /* the axes to reduce */
} Uneven;

enum { UNEVEN_MAX = 1 << 20 }; /* places along an axis, which are gone through */

static bool fixed_sizes(const Pooling *p) {
  for (uint32_t i = 0; i < p->n; i++) {
    Dim size = p->x->type.shape[p->first + i];
    if (!dim_is_int(size) || !dim_is_int(p->places[i]) || p->places[i]->value <= 0) return false;
    if (size->value > UNEVEN_MAX || p->places[i]->value > UNEVEN_MAX) return false;
  }
  return true;
}

static int64_t largest_window(int64_t size, int64_t places) {
  int64_t most = 0;
  for (int64_t o = 0; o < places; o++) {
    int64_t n = ((o + 1) * size + places - 1) / places - o * size / places;
    if (n > most) most = n;
  }
  return most;
}

/* floor(place * size / places), or of the next place, rounded up: where windows begin and end. */
static Node *bound(Build *b, Dim size, Dim places, bool end) {
  Node *at = pool_times(b, build_arange(b, places), size);
  if (end) at = pool_plus(b, at, build_const(b, size->value + places->value - 1));
  return build_with(b, OP_aten_floor_divide_Scalar, at, arg_dim(places));
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
    Dim most = build_const(b, largest_window(size->value, p->places[i]->value));
    Node *start = bound(b, size, p->places[i], false), *end = bound(b, size, p->places[i], true);
    u.count[i] = build_sub(b, end, start);
    Node *element = build_add(b, build_unsqueeze(b, start, 1), build_arange(b, most));
    Node *inside = build_op2(b, OP_aten_lt_Tensor, element, build_unsqueeze(b, end, 1));
    Dim shape[2 * WINDOW_AXES];
    for (uint32_t k = 0; k < 2 * p->n; k++) shape[k] = build_const(b, 1);
    shape[2 * i] = p->places[i];
    shape[2 * i + 1] = most;
    element = pool_at_most(b, element, build_const(b, size->value - 1));
    element = build_view(b, element, 2 * p->n, shape);
    at.items[p->first + i] = arg_node(element);
    u.inside = combine_nodes(b, u.inside, build_view(b, inside, 2 * p->n, shape),
                             OP_aten_logical_and_default);
    if (u.numbers) u.numbers = pool_times(b, u.numbers, size);
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

/* A place is the first one that holds the maximum, which may be no number. */
static Node *uneven_maximum(Build *b, const Pooling *p) {
  Uneven u = uneven_windows(b, p);
  Node *x = build_where(b, u.inside, arg_node(u.elements), arg_float(-INFINITY));
  Node *most = build_reduce(b, OP_aten_amax_default, x, u.window, true);
  Node *equal = build_op2(b, OP_aten_eq_Tensor, x, most);
  equal =
      combine_nodes(b, equal, build_op1(b, OP_aten_isnan_default, x), OP_aten_logical_or_default);
  equal = combine_nodes(b, equal, u.inside, OP_aten_logical_and_default);
  Node *places = build_where(b, equal, arg_node(u.numbers), build_int(b, INT64_MAX));
  places = build_reduce(b, OP_aten_amin_default, places, u.window, false);
  return pool_set_pair(b, build_squeeze(b, most, u.window), places);
}

static bool is_whole(const Pooling *p) {
  bool one = true;
  for (uint32_t i = 0; i < p->n; i++) one &= dim_is(p->places[i], 1);
  return one;
}

/* Over all elements it is their mean. */
static Node *mean_of_last(Build *b, const Pooling *p) {
  uint32_t set = ((1u << p->n) - 1) << p->first;
  return build_to(b, build_mean(b, build_widen(b, p->x), set, true), p->x->type.dtype);
}

static Node *adaptive_average(Build *b, uint32_t n) {
  Pooling p = read_adaptive(b, n);
  if (is_whole(&p)) return mean_of_last(b, &p);
  if (equal_windows(b, &p)) {
    Node *sum = pool_slide(b, OP_nereid_pool_sum_default, build_widen(b, p.x), &p);
    Arg count = arg_dim(infer_product(&b->in, p.kernel, n));
    return build_to(b, build_with(b, OP_aten_div_Tensor, sum, count), p.x->type.dtype);
  }
  return fixed_sizes(&p) ? uneven_average(b, &p) : NULL;
}

Node *decompose_adaptive_avg_pool1d(Build *b) { return adaptive_average(b, 1); }
Node *decompose_adaptive_avg_pool2d(Build *b) { return adaptive_average(b, 2); }
Node *decompose_adaptive_avg_pool3d(Build *b) { return adaptive_average(b, 3); }

static Node *adaptive_maximum(Build *b, uint32_t n) {
  Pooling p = read_adaptive(b, n);
  if (equal_windows(b, &p) && pool_few_positions(&p)) return pool_with_places(b, &p);
  return fixed_sizes(&p) ? uneven_maximum(b, &p) : NULL;
}

Node *decompose_adaptive_max_pool1d(Build *b) { return adaptive_maximum(b, 1); }
Node *decompose_adaptive_max_pool2d(Build *b) { return adaptive_maximum(b, 2); }
Node *decompose_adaptive_max_pool3d(Build *b) { return adaptive_maximum(b, 3); }
