/* Expansions of gradients of sampled images.  A point's neighbours are elements of axes of their
 * own, one after all others for each axis of the image: a point with its weights and slopes along
 * axis i is [N, P, .., taps, ..]. */
#include "graph/expand/arithmetic.h"
#include "graph/messages.h"

typedef enum { SAMPLE_LINEAR, SAMPLE_NEAREST, SAMPLE_CUBIC } SampleMode;
typedef enum { PAD_ZEROS, PAD_BORDER, PAD_REFLECTION } PadMode;

typedef struct {
  Build *b;
  uint32_t n; /* axes of the image */
  SampleMode mode;
  PadMode pad;
  bool corners;
  Dim sizes[3];
  /* by axis */
  Node *scale[3]; /* [N, P]: of an element to the grid's coordinate */
  Node *weight[3], *slope[3];
  Node *place, *inside; /* of neighbours: in the flat image, and whether they are in it */
} Sampling;

typedef struct {
  Node *at, *slope;
} Moved;

static Node *constant(Build *b, double v, DType t) {
  return build_full(b, 0, NULL, arg_float(v), t);
}

static double extent(const Sampling *s, uint32_t i) {
  return (double)s->sizes[i]->value - s->corners;
}

static Node *floor_of(Build *b, Node *x) { return build_op1(b, OP_aten_floor_default, x); }

/* Between two mirrors. */
static Moved reflected(const Sampling *s, Node *at, uint32_t i) {
  Build *b = s->b;
  double low = s->corners ? 0 : -0.5, span = extent(s, i);
  if (span == 0) return (Moved){times(b, at, 0), times(b, at, 0)};
  at = plus(b, at, -low);
  Node *size = build_op1(b, OP_aten_abs_default, at);
  Node *turns = floor_of(b, build_div(b, size, constant(b, span, at->type.dtype)));
  Node *over = build_sub(b, size, times(b, turns, span));
  Node *pairs = times(b, floor_of(b, times(b, turns, 0.5)), 2);
  Node *odd = build_op2(b, OP_aten_ne_Tensor, turns, pairs);
  Node *turned = build_op2(b, OP_aten_ne_Tensor, compared(b, OP_aten_lt_Scalar, at, 0), odd);
  DType t = at->type.dtype;
  return (Moved){plus(b, choose(b, odd, minus_from(b, span, over), over), low),
                 choose(b, turned, constant(b, -1, t), constant(b, 1, t))};
}

/* A coordinate where padding moves it to, with the slope. */
static Moved padded(const Sampling *s, Node *at, uint32_t i) {
  Build *b = s->b;
  double last = (double)s->sizes[i]->value - 1;
  Moved m = {at, constant(b, 1, at->type.dtype)};
  if (s->pad == PAD_REFLECTION) m = reflected(s, at, i);
  if (s->pad == PAD_ZEROS) return m;
  Node *inside = build_and(b, compared(b, OP_aten_gt_Scalar, m.at, 0),
                           compared(b, OP_aten_lt_Scalar, m.at, last));
  m.slope = masked(b, inside, m.slope);
  m.at = build(b, OP_aten_clamp_default, ARGS(arg_node(m.at), arg_float(0), arg_float(last)));
  return m;
}

/* ---- weights ---- */

static Node *polynomial(Build *b, Node *d, const double *c, int n) {
  Node *y = NULL;
  for (int k = 0; k < n; k++)
    y = y ? plus(b, build_mul(b, y, d), c[k]) : constant(b, c[k], d->type.dtype);
  return y;
}

/* Keys' kernel with a = -0.75 and its slope, at distances t - offset of taps -1 to 2. */
static void cubic_weights(Sampling *s, Node *t, Node *offset, uint32_t i) {
  static const double near[] = {1.25, -2.25, 0, 1}, far[] = {-0.75, 3.75, -6, 3};
  static const double near_slope[] = {3.75, -4.5, 0}, far_slope[] = {-2.25, 7.5, -6};
  Build *b = s->b;
  Node *d = build_op1(b, OP_aten_abs_default, build_sub(b, t, offset));
  Node *inner = build_and(b, compared(b, OP_aten_ge_Scalar, offset, 0),
                          compared(b, OP_aten_le_Scalar, offset, 1));
  s->weight[i] = choose(b, inner, polynomial(b, d, near, 4), polynomial(b, d, far, 4));
  Node *slope = choose(b, inner, polynomial(b, d, near_slope, 3), polynomial(b, d, far_slope, 3));
  Node *before = compared(b, OP_aten_le_Scalar, offset, 0);
  s->slope[i] = choose(b, before, slope, build_op1(b, OP_aten_neg_default, slope));
}

static void linear_weights(Sampling *s, Node *t, Node *offset, uint32_t i) {
  Build *b = s->b;
  Node *first = compared(b, OP_aten_eq_Scalar, offset, 0);
  s->weight[i] = choose(b, first, minus_from(b, 1, t), t);
  s->slope[i] = choose(b, first, constant(b, -1, t->type.dtype), constant(b, 1, t->type.dtype));
}

/* The neighbours of points [N, P] along axis i. */
static Node *taps(Sampling *s, Node *at, uint32_t i) {
  Build *b = s->b;
  uint32_t rank = 2 + s->n;
  while (rank_of(at) < rank) at = build_unsqueeze(b, at, rank_of(at));
  if (s->mode == SAMPLE_NEAREST) {
    s->weight[i] = s->slope[i] = constant(b, 1, at->type.dtype);
    return build_op1(b, OP_aten_round_default, at);
  }
  bool cubic = s->mode == SAMPLE_CUBIC;
  Node *offset = build_to(b, build_arange(b, build_const(b, cubic ? 4 : 2)), at->type.dtype);
  offset = build_along(b, plus(b, offset, cubic ? -1 : 0), 2 + i, rank);
  Node *base = floor_of(b, at), *t = build_sub(b, at, base);
  if (cubic) cubic_weights(s, t, offset, i);
  else linear_weights(s, t, offset, i);
  return build_add(b, base, offset);
}

static void add_axis(Sampling *s, Node *at, uint32_t i) {
  Build *b = s->b;
  double last = (double)s->sizes[i]->value - 1;
  at = taps(s, at, i);
  if (s->mode == SAMPLE_CUBIC) at = padded(s, at, i).at;
  Node *within = build_and(b, compared(b, OP_aten_ge_Scalar, at, 0),
                           compared(b, OP_aten_le_Scalar, at, last));
  Node *place = build_to(b, masked(b, within, at), DT_I64);
  s->inside = build_and(b, s->inside, within);
  s->place = s->place ? build_add(b, build_with(b, OP_aten_mul_Tensor, s->place,
                                                arg_dim(s->sizes[i])), place)
                      : place;
}

/* From -1..1 to elements; the last coordinate of a point is along the first axis. */
static void add_points(Sampling *s, Node *grid) {
  Build *b = s->b;
  uint32_t last = rank_of(grid) - 1;
  for (uint32_t i = 0; i < s->n; i++) {
    Node *at = build_select(b, grid, last, build_const(b, s->n - 1 - i));
    Dim points = infer_product(&b->in, at->type.shape + 1, s->n);
    at = build_view(b, at, 2, (Dim[]){at->type.shape[0], points});
    double span = extent(s, i);
    at = times(b, times(b, plus(b, at, 1), span), 0.5);
    if (!s->corners) at = plus(b, at, -0.5);
    Moved m = {at, constant(b, 1, at->type.dtype)};
    if (s->mode != SAMPLE_CUBIC) m = padded(s, at, i);
    s->scale[i] = times(b, m.slope, span * 0.5);
    add_axis(s, m.at, i);
  }
  s->place = masked(b, s->inside, s->place);
}

/* ---- gradients ---- */

/* The product of weights, with the slope in the place of that of one axis; -1: of none. */
static Node *product(const Sampling *s, int32_t of) {
  Node *y = NULL;
  for (uint32_t i = 0; i < s->n; i++) {
    Node *w = (int32_t)i == of ? s->slope[i] : s->weight[i];
    y = y ? build_mul(s->b, y, w) : w;
  }
  return y;
}

typedef struct {
  Node *x;      /* [N, C, elements] */
  Node *grad;   /* [N, C, P, 1..] */
  Node *places; /* [N, C, P * taps] */
  Node *inside; /* [N, 1, P, taps..] */
  Dim wide[GRAPH_RANK_MAX];
  uint32_t rank;
} Sampled;

static Sampled sampled(const Sampling *s, Node *x, Node *grad) {
  Build *b = s->b;
  Sampled v = {.rank = 3 + s->n};
  Dim batch = x->type.shape[0], channels = x->type.shape[1];
  v.wide[0] = batch;
  v.wide[1] = channels;
  for (uint32_t i = 0; i < 1 + s->n; i++) v.wide[2 + i] = s->place->type.shape[1 + i];
  Dim flat[] = {batch, channels, infer_product(&b->in, x->type.shape + 2, s->n)};
  Dim all[] = {batch, channels, infer_product(&b->in, v.wide + 2, 1 + s->n)};
  Dim points[GRAPH_RANK_MAX] = {batch, channels, v.wide[2]};
  for (uint32_t i = 0; i < s->n; i++) points[3 + i] = build_const(b, 1);
  v.x = build_view(b, x, 3, flat);
  v.grad = build_view(b, grad, v.rank, points);
  v.places = build_expand(b, build_unsqueeze(b, s->place, 1), v.rank, v.wide);
  v.places = build_view(b, v.places, 3, all);
  v.inside = build_unsqueeze(b, s->inside, 1);
  return v;
}

static Node *image_gradient(const Sampling *s, const Sampled *v, const Node *x) {
  Build *b = s->b;
  Node *part = build_mul(b, v->grad, build_unsqueeze(b, build_expand(b, product(s, -1), 2 + s->n,
                                                                     s->place->type.shape), 1));
  part = build_expand(b, masked(b, v->inside, part), v->rank, v->wide);
  part = build_view(b, part, 3, v->places->type.shape);
  Node *y = build(b, OP_aten_scatter_add_default,
                  ARGS(arg_node(zeros_like(b, v->x)), build_int(b, 2), arg_node(v->places),
                       arg_node(part)));
  return build_view(b, y, rank_of(x), x->type.shape);
}

static Node *grid_gradient(const Sampling *s, const Sampled *v, const Node *grid) {
  Build *b = s->b;
  Node *columns[3];
  Dim shape[GRAPH_RANK_MAX];
  uint32_t last = infer_copy_shape(&grid->type, shape) - 1;
  shape[last] = build_const(b, 1);
  Node *values = build(b, OP_aten_gather_default,
                       ARGS(arg_node(v->x), build_int(b, 2), arg_node(v->places)));
  values = masked(b, v->inside, build_view(b, values, v->rank, v->wide));
  Node *pull = build_sum(b, build_mul(b, values, v->grad), 1u << 1, false);
  for (uint32_t i = 0; i < s->n; i++) {
    Node *y = build_mul(b, pull, product(s, (int32_t)i));
    y = build_mul(b, build_sum(b, y, all_axes(y) & ~3u, false), s->scale[i]);
    columns[s->n - 1 - i] = build_view(b, y, last + 1, shape);
  }
  return build_cat(b, s->n, columns, last);
}

static Sampling sampling_of(Build *b, const Node *x, int64_t mode, int64_t pad, bool corners) {
  Sampling s = {.b = b, .n = rank_of(x) - 2, .corners = corners};
  if (mode < 0 || mode > 2 || pad < 0 || pad > 2 || (mode == 2 && s.n != 2))
    infer_fail(&b->in, E_GRAPH_PARTS, (long long)(mode < 0 || mode > 2 ? mode : pad), 2);
  s.mode = (SampleMode)mode;
  s.pad = (PadMode)pad;
  for (uint32_t i = 0; i < s.n; i++) {
    s.sizes[i] = x->type.shape[2 + i];
    if (!dim_is_int(s.sizes[i]))
      infer_fail(&b->in, E_GRAPH_FIXED, 2 + i, infer_type_text(&b->in, &x->type));
  }
  return s;
}

static Node *sample_gradients(Build *b, Node *grad, Node *x, Node *grid, Sampling s) {
  Node *results[2] = {zeros_like(b, x), zeros_like(b, grid)};
  infer_rank(&b->in, &grid->type, rank_of(x), rank_of(x));
  if (is_empty(x) || is_empty(grid)) return build_pair(b, results[0], results[1]);
  add_points(&s, build_widen(b, grid));
  Sampled v = sampled(&s, build_widen(b, x), build_widen(b, grad));
  bool wants_image = !infer_takes(&b->in, "output_mask") || build_flag(b, "output_mask", 0);
  bool wants_grid = !infer_takes(&b->in, "output_mask") || build_flag(b, "output_mask", 1);
  if (wants_image) results[0] = build_to(b, image_gradient(&s, &v, x), x->type.dtype);
  if (wants_grid && s.mode != SAMPLE_NEAREST)
    results[1] = build_to(b, grid_gradient(&s, &v, grid), grid->type.dtype);
  return build_pair(b, results[0], results[1]);
}

Node *expand_grid_sampler_backward(Build *b) {
  Node *x = build_input(b, "input");
  infer_rank(&b->in, &x->type, 4, 5);
  Sampling s = sampling_of(b, x, infer_int(&b->in, "interpolation_mode"),
                           infer_int(&b->in, "padding_mode"), infer_bool(&b->in, "align_corners"));
  return sample_gradients(b, build_input(b, "grad_output"), x, build_input(b, "grid"), s);
}

/* ---- cuDNN's: linear, with zeros outside, from corner to corner ---- */

Node *expand_cudnn_grid_sampler(Build *b) {
  return build(b, OP_aten_grid_sampler_2d_default,
               ARGS(arg_node(build_self(b)), build_arg(b, "grid"), build_int(b, SAMPLE_LINEAR),
                    build_int(b, PAD_ZEROS), arg_bool(true)));
}

Node *expand_cudnn_grid_sampler_backward(Build *b) {
  Node *x = build_self(b);
  infer_rank(&b->in, &x->type, 4, 4);
  Sampling s = sampling_of(b, x, SAMPLE_LINEAR, PAD_ZEROS, true);
  return sample_gradients(b, build_input(b, "grad_output"), x, build_input(b, "grid"), s);
}
