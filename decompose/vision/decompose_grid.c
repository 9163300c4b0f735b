/* Images sampled at points: grid_sampler and the grids it takes.  A point's coordinates are -1 and
 * 1 at the image's edges: the middles of its outer elements (align_corners), or their outsides. */
#include <string.h>

#include "decompose/decompose.h"

typedef enum { INTERPOLATE_LINEAR, INTERPOLATE_NEAREST, INTERPOLATE_CUBIC } Interpolation;
typedef enum { PADDING_ZEROS, PADDING_BORDER, PADDING_REFLECTION } Padding;

typedef struct {
  Node *x;    /* [N, C, ..] */
  uint32_t n; /* axes that are sampled */
  Interpolation how;
  Padding padding;
  bool corners;
  Node *at[3]; /* in elements, by axis: [N, 1, ..] */
} Sampler;

static Node *op_with_number(Build *b, OpId op, Node *x, double y) {
  return build_with(b, op, x, arg_float(y));
}

static Node *scale(Build *b, Node *x, double factor) {
  return op_with_number(b, OP_aten_mul_Tensor, x, factor);
}
static Node *add_offset(Build *b, Node *x, double by) {
  return op_with_number(b, OP_aten_add_Tensor, x, by);
}
static Node *times_size(Build *b, Node *x, Dim size) {
  return build_with(b, OP_aten_mul_Tensor, x, arg_dim(size));
}

/* From -1..1 to elements. */
static Node *unnormalized(Build *b, Node *at, Dim size, bool corners) {
  Dim last = dim_sub(b->in.g->dims, size, build_const(b, 1));
  if (corners) return times_size(b, scale(b, add_offset(b, at, 1), 0.5), last);
  return scale(b, add_offset(b, times_size(b, add_offset(b, at, 1), size), -1), 0.5);
}

/* NaN becomes 0, the first element, as PyTorch promises. */
static Node *clip_to_size(Build *b, Node *at, Dim size) {
  Dim last = dim_sub(b->in.g->dims, size, build_const(b, 1));
  at = build_with(b, OP_aten_fmax_default, at, build_int(b, 0));
  return build_with(b, OP_aten_fmin_default, at, arg_dim(last));
}

/* Brought between two mirrors: the outer elements, or their outsides. */
static Node *reflected(Build *b, Node *at, Dim size, bool corners) {
  double first = corners ? 0 : -0.5;
  Dim span = corners ? dim_sub(b->in.g->dims, size, build_const(b, 1)) : size;
  if (dim_is(span, 0)) return scale(b, at, 0);
  at = build_op1(b, OP_aten_abs_default, add_offset(b, at, -first));
  Node *times = build_with(b, OP_aten_div_Tensor, at, arg_dim(span));
  times = build_op1(b, OP_aten_floor_default, times);
  Node *over = build_sub(b, at, times_size(b, times, span));
  Node *pairs = build_op1(b, OP_aten_floor_default, scale(b, times, 0.5));
  Node *odd = build_op2(b, OP_aten_ne_Tensor, scale(b, pairs, 2), times);
  Node *back = build(b, OP_aten_rsub_Scalar, ARGS(arg_node(over), arg_dim(span)));
  return add_offset(b, build_where(b, odd, arg_node(back), arg_node(over)), first);
}

static Node *pad_coordinate(Build *b, const Sampler *s, uint32_t i, Node *at) {
  Dim size = s->x->type.shape[2 + i];
  if (s->padding == PADDING_REFLECTION) at = reflected(b, at, size, s->corners);
  return s->padding == PADDING_ZEROS ? at : clip_to_size(b, at, size);
}

/* A whole coordinate as an index within the axis; of 32 bits if they can count x's elements. */
static Node *index_within(Build *b, const Sampler *s, uint32_t i, Node *at) {
  bool small = dim_range(b->in.g->dims, value_numel(b->in.g, &s->x->type)).hi <= INT32_MAX;
  return build_to(b, clip_to_size(b, at, s->x->type.shape[2 + i]), small ? DT_I32 : DT_I64);
}

/* The elements at whole coordinates [N, 1, ..], 0 outside. */
static Node *sample_elements(Build *b, const Sampler *s, Node *const *at) {
  uint32_t rank = rank_of(at[0]);
  Node *inside = NULL;
  Arg list = arg_list(b->in.g, rank_of(s->x));
  for (uint32_t axis = 0; axis < 2; axis++) {
    Node *all = build_arange(b, s->x->type.shape[axis]);
    list.items[axis] = arg_node(build_along(b, all, axis, rank));
  }
  for (uint32_t i = 0; i < s->n; i++) {
    Dim size = s->x->type.shape[2 + i];
    Node *low = build_with(b, OP_aten_ge_Tensor, at[i], build_int(b, 0));
    Node *in = build_op2(b, OP_aten_bitwise_and_Tensor, low,
                         build_with(b, OP_aten_lt_Tensor, at[i], arg_dim(size)));
    inside = inside ? build_op2(b, OP_aten_bitwise_and_Tensor, inside, in) : in;
    list.items[2 + i] = arg_node(index_within(b, s, i, at[i]));
  }
  Node *v = build_with(b, OP_aten_index_Tensor, s->x, list);
  v = build_widen(b, v);
  Node *zero = build_full(b, 0, NULL, build_int(b, 0), v->type.dtype);
  return build_where(b, inside, arg_node(v), arg_node(zero));
}

static Node *sample_nearest(Build *b, const Sampler *s) {
  Node *at[3];
  for (uint32_t i = 0; i < s->n; i++)
    at[i] = build_op1(b, OP_aten_round_default, pad_coordinate(b, s, i, s->at[i]));
  return sample_elements(b, s, at);
}

/* The sum over the neighbours along all axes: `taps` of them along each, with weights. */
static Node *weighted_samples(Build *b, const Sampler *s, Node *(*at)[4], Node *(*weight)[4],
                              uint32_t taps) {
  Node *sum = NULL;
  uint32_t count = 1;
  for (uint32_t i = 0; i < s->n; i++) count *= taps;
  for (uint32_t k = 0; k < count; k++) {
    Node *neighbour[3], *product = NULL;
    for (uint32_t i = s->n, rest = k; i-- > 0; rest /= taps) {
      neighbour[i] = at[i][rest % taps];
      Node *w = weight[i][rest % taps];
      product = product ? build_mul(b, product, w) : w;
    }
    Node *term = build_mul(b, sample_elements(b, s, neighbour), product);
    sum = sum ? build_add(b, sum, term) : term;
  }
  return sum;
}

static Node *sample_linear(Build *b, const Sampler *s) {
  Node *at[3][4], *weight[3][4];
  for (uint32_t i = 0; i < s->n; i++) {
    Node *x = pad_coordinate(b, s, i, s->at[i]);
    at[i][0] = build_op1(b, OP_aten_floor_default, x);
    at[i][1] = add_offset(b, at[i][0], 1);
    weight[i][1] = build_sub(b, x, at[i][0]);
    weight[i][0] = build(b, OP_aten_rsub_Scalar, ARGS(arg_node(weight[i][1]), build_int(b, 1)));
  }
  return weighted_samples(b, s, at, weight, 2);
}

/* Keys' kernel with a = -0.75, at distance t from a neighbour: within 1, and from 1 to 2. */
static Node *cubic_near(Build *b, Node *t) {
  Node *p = add_offset(b, scale(b, t, 1.25), -2.25);
  return add_offset(b, build_mul(b, build_mul(b, p, t), t), 1);
}

static Node *cubic_far(Build *b, Node *t) {
  Node *p = add_offset(b, scale(b, t, -0.75), 3.75);
  p = add_offset(b, build_mul(b, p, t), -6);
  return add_offset(b, build_mul(b, p, t), 3);
}

/* The neighbours of points [N, 1, ..] along axis i are elements of an axis of their own, the i-th
 * of those appended for all axes.  Padding moves the neighbours here, not the point. */
static Node *cubic_taps(Build *b, const Sampler *s, uint32_t i, Node **weight) {
  Node *at = s->at[i];
  uint32_t axis = rank_of(at) + i, rank = rank_of(at) + s->n;
  Node *taps = build_to(b, build_arange(b, build_const(b, 4)), at->type.dtype);
  taps = build_along(b, add_offset(b, taps, -1), axis, rank);
  while (rank_of(at) < rank) at = build_unsqueeze(b, at, rank_of(at));
  Node *first = build_op1(b, OP_aten_floor_default, at);
  Node *t = build_op1(b, OP_aten_abs_default, build_sub(b, build_sub(b, at, first), taps));
  Node *near = op_with_number(b, OP_aten_le_Tensor, t, 1);
  *weight = build_where(b, near, arg_node(cubic_near(b, t)), arg_node(cubic_far(b, t)));
  return pad_coordinate(b, s, i, build_add(b, first, taps));
}

/* A loop over the 16 neighbours: written one by one, they take C compilers a minute. */
static Node *sample_cubic(Build *b, const Sampler *s) {
  uint32_t rank = rank_of(s->x);
  Node *at[3], *weight[3];
  for (uint32_t i = 0; i < s->n; i++) at[i] = cubic_taps(b, s, i, &weight[i]);
  Node *terms = build_mul(b, sample_elements(b, s, at), build_mul(b, weight[0], weight[1]));
  return build_sum(b, terms, 3u << rank, false);
}

/* The last coordinate of a point is along the first axis that is sampled. */
Node *decompose_grid_sampler(Build *b) {
  Sampler s = {.x = build_input(b, "input"), .corners = infer_bool(&b->in, "align_corners")};
  Node *grid = build_widen(b, build_input(b, "grid"));
  int64_t how = infer_int(&b->in, "interpolation_mode"),
          padding = infer_int(&b->in, "padding_mode");
  s.n = rank_of(s.x) - 2;
  if (how < 0 || how > 2 || padding < 0 || padding > 2 || (how == 2 && s.n != 2)) return NULL;
  s.how = (Interpolation)how;
  s.padding = (Padding)padding;
  for (uint32_t i = 0; i < s.n; i++) {
    Node *at = build_select(b, grid, rank_of(grid) - 1, build_const(b, s.n - 1 - i));
    s.at[i] = unnormalized(b, build_unsqueeze(b, at, 1), s.x->type.shape[2 + i], s.corners);
  }
  Node *y = s.how == INTERPOLATE_NEAREST ? sample_nearest(b, &s)
            : s.how == INTERPOLATE_CUBIC ? sample_cubic(b, &s)
                                         : sample_linear(b, &s);
  return build_to(b, y, b->in.n->type.dtype);
}

/* ---- grids ---- */

/* From -1 to 1 in `size` steps, whose middles or ends they are. */
static Node *grid_steps(Build *b, Dim size, DType t, bool corners) {
  Dim last = dim_sub(b->in.g->dims, size, build_const(b, 1));
  Node *i = build_to(b, build_arange(b, size), t);
  if (dim_is(last, 0)) return scale(b, i, 0);
  Node *twice = add_offset(b, scale(b, i, 2), corners ? 0 : 1);
  return add_offset(b, build_with(b, OP_aten_div_Tensor, twice, arg_dim(corners ? last : size)),
                    -1);
}

/* theta [N, n, n + 1] maps the points of an image of that size. */
Node *decompose_affine_grid(Build *b) {
  Node *theta = build_widen(b, build_input(b, "theta"));
  bool corners = infer_bool(&b->in, "align_corners");
  const ValueType *t = &b->in.n->type;
  uint32_t n = t->rank - 2, rank = t->rank;
  Node *sum = NULL;
  for (uint32_t k = 0; k <= n; k++) {
    /* column k: [N, 1, .., n] */
    Node *column = build_select(b, theta, 2, build_const(b, k));
    for (uint32_t i = 0; i < n; i++) column = build_unsqueeze(b, column, 1);
    if (k < n) {
      uint32_t axis = n - 1 - k;
      Node *at = grid_steps(b, t->shape[1 + axis], theta->type.dtype, corners);
      column = build_mul(b, column, build_along(b, at, 1 + axis, rank));
    }
    sum = sum ? build_add(b, sum, column) : column;
  }
  return build_to(b, build_expand(b, sum, rank, t->shape), t->dtype);
}
