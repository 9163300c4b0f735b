/* Expansions of histograms, and of reductions of segments of an axis. */
#include <math.h>
#include <string.h>

#include "graph/expand/arithmetic.h"
#include "graph/messages.h"

static Node *right_search(Build *b, Node *sorted, Node *x) {
  return build_with_named(b, OP_aten_searchsorted_Tensor, ARGS(arg_node(sorted), arg_node(x)),
                          "right", arg_bool(true));
}

static Node *first_along(Build *b, Node *x, Dim n) {
  return build_slice(b, x, rank_of(x) - 1, build_const(b, 0), n, 1);
}

/* ---- edges ---- */

/* From the least to the largest element, or of `range`; never of no width. */
static void span_of(Build *b, Node *x, uint32_t axis, Node **low, Node **high) {
  DType t = x->type.dtype;
  if (infer_has(&b->in, "range")) {
    Arg list = build_arg(b, "range");
    if (list.n < 2 * axis + 2) infer_fail(&b->in, E_GRAPH_PER_AXIS, "range", list.n, 2 * axis + 2);
    *low = build_full(b, 0, NULL, list.items[2 * axis], t);
    *high = build_full(b, 0, NULL, list.items[2 * axis + 1], t);
  } else if (is_empty(x)) {
    *low = zeros(b, 0, NULL, t);
    *high = build_full(b, 0, NULL, build_int(b, 1), t);
  } else {
    *low = build_reduce(b, OP_aten_amin_default, x, 1, false);
    *high = build_reduce(b, OP_aten_amax_default, x, 1, false);
  }
  Node *flat = build_op2(b, OP_aten_eq_Tensor, *low, *high);
  *low = choose(b, flat, plus(b, *low, -0.5), *low);
  *high = choose(b, flat, plus(b, *high, 0.5), *high);
}

/* n + 1 edges of the elements of a vector, from the end that is nearer, as linspace. */
static Node *edges_of(Build *b, Node *x, uint32_t axis, int64_t n) {
  Node *low, *high;
  if (n < 1) infer_fail(&b->in, E_GRAPH_STEP, (long long)n);
  if (n > 1 << 24) infer_fail(&b->in, E_GRAPH_PARTS, (long long)n, 1 << 24);
  span_of(b, x, axis, &low, &high);
  DType t = x->type.dtype;
  Node *i = build_arange(b, build_const(b, n + 1));
  Node *width = build_full(b, 0, NULL, build_int(b, n), t);
  Node *step = build_div(b, build_sub(b, high, low), width);
  Node *near = build_with(b, OP_aten_lt_Scalar, i, build_int(b, (n + 1) / 2));
  Node *left = build(b, OP_aten_rsub_Scalar, ARGS(arg_node(i), build_int(b, n)));
  return choose(b, near, build_add(b, low, build_mul(b, step, build_to(b, i, t))),
                build_sub(b, high, build_mul(b, step, build_to(b, left, t))));
}

/* ---- counts ---- */

typedef struct {
  Node *points; /* [n, axes] */
  uint32_t axes;
  Node *edges[GRAPH_RANK_MAX];
} Bins;

static Dim bins_along(Build *b, const Node *edges) {
  return dim_sub(build_dims(b), edges->type.shape[0], build_const(b, 1));
}

static Node *column(Build *b, const Bins *h, uint32_t axis) {
  return build_select(b, h->points, 1, build_const(b, axis));
}

/* The flat bin of each point, and one after the last for those that are outside. */
static Node *bin_of_points(Build *b, const Bins *h, Dim total) {
  Node *place = NULL, *inside = NULL;
  for (uint32_t i = 0; i < h->axes; i++) {
    Node *x = column(b, h, i), *edges = h->edges[i];
    Dim n = bins_along(b, edges);
    Node *first = build_select(b, edges, 0, build_const(b, 0));
    Node *last = build_select(b, edges, 0, n);
    Node *at = plus_int(b, right_search(b, edges, x), -1);
    Dim before = dim_sub(build_dims(b), n, build_const(b, 1));
    Node *end = build_full(b, 0, NULL, arg_dim(before), DT_I64);
    at = choose(b, build_op2(b, OP_aten_eq_Tensor, x, last), end, at);
    inside = build_and(b, inside, build_and(b, build_op2(b, OP_aten_ge_Tensor, x, first),
                                            build_op2(b, OP_aten_le_Tensor, x, last)));
    place = place ? build_add(b, build_with(b, OP_aten_mul_Tensor, place, arg_dim(n)), at) : at;
  }
  return choose(b, inside, place, build_full(b, 0, NULL, arg_dim(total), DT_I64));
}

static Node *divided_by_widths(Build *b, const Bins *h, Node *counts) {
  counts = build_div(b, counts, build_sum(b, counts, all_axes(counts), false));
  for (uint32_t i = 0; i < h->axes; i++) {
    Dim n = bins_along(b, h->edges[i]), one = build_const(b, 1);
    Node *above = build_slice(b, h->edges[i], 0, one, h->edges[i]->type.shape[0], 1);
    Node *width = build_sub(b, above, first_along(b, h->edges[i], n));
    counts = build_div(b, counts, build_along(b, width, i, h->axes));
  }
  return counts;
}

static Node *counts_of(Build *b, const Bins *h) {
  Dim sizes[GRAPH_RANK_MAX], one = build_const(b, 1), count = h->points->type.shape[0];
  for (uint32_t i = 0; i < h->axes; i++) sizes[i] = bins_along(b, h->edges[i]);
  Dim total = infer_product(&b->in, sizes, h->axes), room = dim_add(build_dims(b), total, one);
  DType t = h->points->type.dtype;
  Node *weight = infer_has(&b->in, "weight") ? build_flat(b, build_input(b, "weight"))
                                             : build_full(b, 1, &count, build_int(b, 1), t);
  infer_same_size(&b->in, weight->type.shape[0], count, "points and weights");
  Node *counts = zeros(b, 1, &room, t);
  counts = build(b, OP_aten_scatter_add_default,
                 ARGS(arg_node(counts), build_int(b, 0), arg_node(bin_of_points(b, h, total)),
                      arg_node(build_to(b, weight, t))));
  counts = build_view(b, first_along(b, counts, total), h->axes, sizes);
  return infer_bool(&b->in, "density") ? divided_by_widths(b, h, counts) : counts;
}

/* ---- of one axis ---- */

static Bins of_elements(Build *b) {
  Node *x = build_flat(b, build_self(b));
  infer_need_float(&b->in, x->type.dtype);
  return (Bins){.points = build_unsqueeze(b, x, 1), .axes = 1};
}

Node *expand_histogram(Build *b) {
  Bins h = of_elements(b);
  h.edges[0] = edges_of(b, build_flat(b, h.points), 0, infer_int(&b->in, "bins"));
  return build_pair(b, counts_of(b, &h), h.edges[0]);
}

static void need_bins(Build *b, const Node *edges) {
  infer_rank(&b->in, &edges->type, 1, 1);
  Dim n = edges->type.shape[0];
  if (dim_is_int(n) && n->value < 2) infer_fail(&b->in, E_GRAPH_STEP, (long long)n->value - 1);
}

Node *expand_histogram_of_edges(Build *b) {
  Bins h = of_elements(b);
  h.edges[0] = build_input(b, "bins");
  need_bins(b, h.edges[0]);
  return build_pair(b, counts_of(b, &h), build_op1(b, OP_aten_clone_default, h.edges[0]));
}

/* ---- of several axes: those of the last one are a point ---- */

static Bins of_points(Build *b) {
  Node *x = build_self(b);
  infer_need_float(&b->in, x->type.dtype);
  infer_rank(&b->in, &x->type, 2, GRAPH_RANK_MAX);
  Dim axes = size_from_end(x, 1);
  if (!dim_is_int(axes) || axes->value > GRAPH_RANK_MAX || !axes->value)
    infer_fail(&b->in, E_GRAPH_FIXED, rank_of(x) - 1, infer_type_text(&b->in, &x->type));
  Dim shape[] = {infer_product(&b->in, x->type.shape, rank_of(x) - 1), axes};
  return (Bins){.points = build_view(b, x, 2, shape), .axes = (uint32_t)axes->value};
}

/* The edges along an axis: those that are given, or made for a number of bins. */
static Node *edges_along(Build *b, const Bins *h, uint32_t axis, const Arg *bins) {
  if (bins->kind == ARG_NODE && bins->node->type.kind == VALUE_TENSOR) {
    need_bins(b, bins->node);
    return bins->node;
  }
  Dim n = infer_dim_of(&b->in, bins);
  if (!dim_is_int(n)) infer_fail(&b->in, E_GRAPH_LITERAL, "bins", infer_dim_text(&b->in, n));
  return edges_of(b, column(b, h, axis), axis, n->value);
}

/* A single number of bins serves all axes. */
static Bins with_edges(Build *b) {
  Bins h = of_points(b);
  Arg bins = build_arg(b, "bins");
  bool one = bins.kind != ARG_LIST;
  if (!one && bins.n != h.axes) infer_fail(&b->in, E_GRAPH_PER_AXIS, "bins", bins.n, h.axes);
  for (uint32_t i = 0; i < h.axes; i++)
    h.edges[i] = edges_along(b, &h, i, one ? &bins : &bins.items[i]);
  return h;
}

Node *expand_histogramdd_edges(Build *b) {
  Bins h = with_edges(b);
  b->nitems = h.axes;
  b->items = ARENA_ARRAY(b->in.g->arena, Node *, h.axes);
  memcpy(b->items, h.edges, h.axes * sizeof *h.edges);
  return NULL;
}

Node *expand_histogramdd_counts(Build *b) {
  Bins h = with_edges(b);
  return counts_of(b, &h);
}

Node *expand_histogramdd(Build *b) {
  Bins h = with_edges(b);
  Arg list = arg_list(b->in.g, h.axes);
  for (uint32_t i = 0; i < h.axes; i++) list.items[i] = arg_node(h.edges[i]);
  return build_pair(b, counts_of(b, &h), build(b, OP_nereid_list_default, ARGS(list)));
}

/* ---- segments ---- */

typedef struct {
  Build *b;
  Node *data, *lengths; /* [.., segments] */
  Node *of;             /* which segment each element is in; `count` for none */
  uint32_t axis;
  Dim count;
} Segments;

static Node *spread(const Segments *s, Node *x) {
  while (rank_of(x) < rank_of(s->data)) x = build_unsqueeze(s->b, x, rank_of(x));
  return x;
}

static Segments segments_of(Build *b) {
  bool offsets = infer_has(&b->in, "offsets"), lengths = infer_has(&b->in, "lengths");
  if (offsets == lengths || (infer_takes(&b->in, "indices") && infer_has(&b->in, "indices")))
    infer_fail(&b->in, E_GRAPH_SEGMENTS);
  Segments s = {.b = b, .data = build_input(b, "data")};
  Node *x = build_to(b, build_input(b, offsets ? "offsets" : "lengths"), DT_I64), *ends, *first;
  s.axis = infer_axis_arg(&b->in, "axis", rank_of(s.data));
  infer_rank(&b->in, &s.data->type, s.axis + 1, GRAPH_RANK_MAX);
  infer_rank(&b->in, &x->type, s.axis + 1, s.axis + 1);
  if (offsets) {
    Dim all = x->type.shape[s.axis];
    ends = build_slice(b, x, s.axis, build_const(b, 1), all, 1);
    first = first_along(b, x, build_const(b, 1));
    s.lengths = build_sub(b, ends, first_along(b, x, ends->type.shape[s.axis]));
  } else {
    ends = build(b, OP_aten_cumsum_default, ARGS(arg_node(x), build_int(b, s.axis)));
    first = build_full(b, 0, NULL, build_int(b, 0), DT_I64);
    s.lengths = x;
  }
  s.count = ends->type.shape[s.axis];
  Node *at = build_expand(b, build_arange(b, s.data->type.shape[s.axis]), s.axis + 1,
                          s.data->type.shape);
  Node *none = build_full(b, 0, NULL, arg_dim(s.count), DT_I64);
  at = choose(b, build_op2(b, OP_aten_lt_Tensor, at, first), none, right_search(b, ends, at));
  s.of = build_expand(b, spread(&s, at), rank_of(s.data), s.data->type.shape);
  return s;
}

static Node *reduce_segments(const Segments *s, Node *x, const char *how, double start) {
  Build *b = s->b;
  Dim shape[GRAPH_RANK_MAX];
  infer_copy_shape(&x->type, shape);
  shape[s->axis] = dim_add(build_dims(b), s->count, build_const(b, 1));
  Node *total = build_full(b, rank_of(x), shape, arg_float(start), x->type.dtype);
  Arg name = {.kind = ARG_STRING, .name = pool_name(b->in.g->names, how)};
  if (!is_empty(x))
    total = build(b, OP_aten_scatter_reduce_two,
                  ARGS(arg_node(total), build_int(b, s->axis), arg_node(s->of), arg_node(x), name));
  return build_slice(b, total, s->axis, build_const(b, 0), s->count, 1);
}

/* The value of each element's segment; 0 for an element of none. */
static Node *each(const Segments *s, Node *x) {
  Build *b = s->b;
  Node *inside = build_with(b, OP_aten_lt_Tensor, s->of, arg_dim(s->count));
  Node *place = masked(b, inside, s->of);
  x = build(b, OP_aten_gather_default, ARGS(arg_node(x), build_int(b, s->axis), arg_node(place)));
  return masked(b, inside, x);
}

typedef struct {
  const char *name, *how;
  double start;
} SegmentReduction;

static const SegmentReduction reductions[] = {{"sum", "sum", 0},
                                              {"mean", "sum", 0},
                                              {"prod", "prod", 1},
                                              {"max", "amax", -INFINITY},
                                              {"min", "amin", INFINITY}};
enum { REDUCTIONS = sizeof reductions / sizeof *reductions };

static const SegmentReduction *reduction_of(Build *b) {
  const char *name = infer_string(&b->in, "reduce");
  for (int i = 0; i < REDUCTIONS; i++)
    if (!strcmp(reductions[i].name, name)) return &reductions[i];
  infer_fail(&b->in, E_GRAPH_SEGMENTS);
}

static double start_of(Build *b, double otherwise) {
  return infer_has(&b->in, "initial") ? infer_number(&b->in, "initial") : otherwise;
}

static Node *sizes_of(const Segments *s, Node *like) {
  return build_to(s->b, spread(s, s->lengths), like->type.dtype);
}

Node *expand_segment_reduce(Build *b) {
  const SegmentReduction *r = reduction_of(b);
  Segments s = segments_of(b);
  double start = start_of(b, r->start);
  Node *total = reduce_segments(&s, s.data, r->how, start);
  if (strcmp(r->name, "mean")) return total;
  Node *sizes = sizes_of(&s, total);
  Node *none = build_full(b, 0, NULL, arg_float(start_of(b, NAN)), total->type.dtype);
  return choose(b, compared(b, OP_aten_gt_Scalar, sizes, 0), build_div(b, total, sizes), none);
}

/* Equal elements share a positive gradient; of a negative one PyTorch gives each the whole. */
static Node *extreme_gradient(const Segments *s, Node *grad, Node *output) {
  Build *b = s->b;
  Node *equal = build_op2(b, OP_aten_eq_Tensor, s->data, each(s, output));
  Node *chosen = build_op2(b, OP_aten_bitwise_or_Tensor, equal,
                           build_op1(b, OP_aten_isnan_default, s->data));
  Node *ties = reduce_segments(s, build_to(b, chosen, s->data->type.dtype), "sum", 0);
  Node *pull = each(s, grad), *share = build_div(b, pull, each(s, ties));
  return masked(b, chosen, choose(b, compared(b, OP_aten_gt_Scalar, pull, 0), share, pull));
}

/* How many elements of that kind are in the segment beside each. */
static Node *others_of(const Segments *s, Node *which) {
  Node *one = build_to(s->b, which, s->data->type.dtype);
  return build_sub(s->b, each(s, reduce_segments(s, one, "sum", 0)), one);
}

/* The gradient of a product is the product of the other elements. */
static Node *product_gradient(const Segments *s, Node *grad, Node *output) {
  Build *b = s->b;
  DType t = s->data->type.dtype;
  Node *zero = compared(b, OP_aten_eq_Scalar, s->data, 0);
  Node *undefined = build_op1(b, OP_aten_isnan_default, s->data);
  Node *zeros_beside = others_of(s, zero), *undefined_beside = others_of(s, undefined);
  Node *special = build_op2(b, OP_aten_bitwise_or_Tensor, zero, undefined);
  Node *plain = choose(b, special, build_full(b, 0, NULL, build_int(b, 1), t), s->data);
  Node *others = each(s, reduce_segments(s, plain, "prod", start_of(b, 1)));
  others = choose(b, compared(b, OP_aten_gt_Scalar, zeros_beside, 0), zeros(b, 0, NULL, t), others);
  others = choose(b, compared(b, OP_aten_gt_Scalar, undefined_beside, 0),
                  build_full(b, 0, NULL, arg_float(NAN), t), others);
  others = choose(b, special, others, build_div(b, each(s, output), s->data));
  return build_mul(b, each(s, grad), others);
}

Node *expand_segment_reduce_backward(Build *b) {
  const SegmentReduction *r = reduction_of(b);
  Segments s = segments_of(b);
  Node *grad = build_input(b, "grad"), *output = build_input(b, "output");
  if (is_empty(s.data)) return zeros_like(b, s.data);
  if (!strcmp(r->name, "sum")) return each(&s, grad);
  if (!strcmp(r->name, "mean")) return each(&s, build_div(b, grad, sizes_of(&s, grad)));
  bool product = !strcmp(r->name, "prod");
  return product ? product_gradient(&s, grad, output) : extreme_gradient(&s, grad, output);
}
