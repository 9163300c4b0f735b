/* Pass byte_products: a convolution, or a product with a weight's transpose, of two results of
 * quantized_decomposed's dequantize operators is one of their bytes, with exact sums in i32 that
 * are scaled once.  Let p and q be the zero points.  Sums of (x - p) * (w - q) over k elements are
 *
 *   sum(x * w) - p * (sum(w) - k * q) - sum(x) * q
 *
 * where x is p around an image.  A byte without a sign, and its zero point, are taken less 128. */
#include <setjmp.h>
#include <string.h>

#include "graph/analysis/dce.h"
#include "graph/builders/node_builder.h"
#include "graph/ops/window.h"
#include "planner/passes.h"

enum { HALF = 128, TERMS_MAX = 1 << 15 }; /* sums of so many products of bytes fit in i32 */

/* (bytes - zero) * scale: of a whole tensor, or of each index of its first axis, where `scales` and
 * perhaps `zeros` are vectors. */
typedef struct {
  Node *bytes, *scales, *zeros;
  int64_t zero;
  double scale;
} Dequantized;

static bool find_bytes(Graph *g, const Arg *a, bool weight, Dequantized *d) {
  const Node *n = a->kind == ARG_NODE ? a->node : NULL;
  bool each = n && graph_is(n, OP_quantized_decomposed_dequantize_per_channel_default);
  if (!n || n->type.dtype != DT_F32 || (each && !weight)) return false;
  if (!each && !graph_is(n, OP_quantized_decomposed_dequantize_per_tensor_default)) return false;
  *d = (Dequantized){.bytes = graph_arg(g, n, "input").node};
  DType t = d->bytes->type.dtype;
  if (t != DT_I8 && t != DT_U8) return false;
  Arg scale = graph_arg(g, n, each ? "scales" : "scale");
  Arg zero = graph_arg(g, n, each ? "zero_points" : "zero_point");
  if (each) {
    d->scales = scale.node;
    if (zero.kind == ARG_NODE) d->zeros = zero.node;
    if (d->zeros && d->zeros->type.dtype == t) return false; /* differences wrap */
    return dim_is(graph_arg(g, n, "axis").dim, 0) && scale.node->type.dtype == DT_F32;
  }
  if (scale.kind != ARG_FLOAT || zero.kind != ARG_INT || !dim_is_int(zero.dim)) return false;
  d->scale = scale.number;
  d->zero = zero.dim->value;
  int64_t low = t == DT_I8 ? -HALF : 0;
  return d->zero >= low && d->zero < low + 2 * HALF;
}

/* Makes the bytes signed, and the zero point that of them. */
static void make_signed(Build *b, Dequantized *d) {
  if (d->zeros) d->zeros = build_to(b, d->zeros, DT_I32);
  if (d->bytes->type.dtype != DT_U8) return;
  Node *x = build_with(b, OP_nereid_bits_default, d->bytes, arg_dtype(DT_I8));
  d->bytes = build_with(b, OP_aten_bitwise_xor_Scalar, x, build_int(b, -HALF));
  d->zero -= HALF;
  if (d->zeros) d->zeros = build_with(b, OP_aten_sub_Tensor, d->zeros, build_int(b, HALF));
}

static Node *times(Build *b, Node *x, int64_t n) {
  return n == 1 ? x : build_with(b, OP_aten_mul_Tensor, x, build_int(b, n));
}

/* The weight's zero point, one number or one of each output channel; NULL: it is 0. */
static Node *zero_of_weight(Build *b, const Dequantized *w) {
  if (w->zeros) return w->zeros;
  return w->zero ? build_full(b, 0, NULL, build_int(b, w->zero), DT_I32) : NULL;
}

/* p * (sum(w) - k * q) of each output channel; NULL: p is 0. */
static Node *left_correction(Build *b, const Dequantized *x, const Dequantized *w, int64_t k) {
  if (!x->zero) return NULL;
  uint32_t inner = ((1u << rank_of(w->bytes)) - 1) & ~1u;
  Node *sums = build_sum(b, build_to(b, w->bytes, DT_I32), inner, false);
  sums = build_to(b, sums, DT_I32);
  Node *q = zero_of_weight(b, w);
  if (q) sums = build_sub(b, sums, times(b, q, k));
  return times(b, sums, x->zero);
}

static Node *scale_of(Build *b, const Dequantized *x, const Dequantized *w) {
  if (w->scales) return build_with(b, OP_aten_mul_Tensor, w->scales, arg_float(x->scale));
  return build_full(b, 0, NULL, arg_float((double)((float)x->scale * (float)w->scale)), DT_F32);
}

/* ---- convolutions ---- */

typedef struct {
  Arg stride, padding, dilation; /* of all axes; padding in pairs */
  int64_t groups;
} Windows;

/* A list of as many numbers as axes, each `each` times; false: they are not known. */
static bool list_of(Graph *g, const Node *n, const char *param, uint32_t axes, uint32_t each,
                    Arg *out) {
  Dim list[2 * WINDOW_AXES];
  Arg a = graph_arg(g, n, param);
  for (uint32_t i = 0; i < axes; i++) {
    const Arg *item = a.kind == ARG_LIST && a.n ? &a.items[a.n == 1 ? 0 : i] : &a;
    if (item->kind != ARG_INT || !dim_is_int(item->dim) || item->dim->value < 0) return false;
    for (uint32_t k = 0; k < each; k++) list[each * i + k] = item->dim;
  }
  *out = arg_dims(g, axes * each, list);
  return true;
}

static Node *sums_of_windows(Build *b, Node *x, Node *w, const Windows *s, int64_t fill) {
  Arg args[] = {arg_node(x), arg_node(w), s->stride, s->padding, s->dilation,
                build_int(b, s->groups), build_int(b, fill)};
  return build(b, OP_nereid_int_conv_default, 7, args);
}

static Node *along(Build *b, Node *v, const Node *like) {
  return rank_of(v) ? build_along(b, v, 1, rank_of(like)) : v;
}

/* Sums of what a window of each group meets, for each output channel of it. */
static Node *sums_of_image(Build *b, const Dequantized *x, const Dequantized *w,
                           const Windows *s) {
  Dim shape[GRAPH_RANK_MAX + 1], groups = build_const(b, s->groups);
  uint32_t rank = rank_of(w->bytes);
  memcpy(shape, w->bytes->type.shape, rank * sizeof *shape);
  Dim features = shape[0];
  shape[0] = groups;
  Node *ones = build_full(b, rank, shape, build_int(b, 1), DT_I8);
  Node *y = sums_of_windows(b, x->bytes, ones, s, x->zero);
  if (s->groups == 1) return y;
  memcpy(shape, y->type.shape, 2 * sizeof *shape);
  memcpy(shape + 3, y->type.shape + 2, (rank - 2) * sizeof *shape);
  shape[2] = build_const(b, features->value / s->groups);
  y = build_expand(b, build_unsqueeze(b, y, 2), rank + 1, shape);
  shape[1] = features;
  memcpy(shape + 2, shape + 3, (rank - 2) * sizeof *shape);
  return build_view(b, y, rank, shape);
}

static Node *convolved(Build *b, const Dequantized *x, const Dequantized *w, const Windows *s,
                       int64_t k) {
  Node *y = sums_of_windows(b, x->bytes, w->bytes, s, x->zero);
  Node *left = left_correction(b, x, w, k), *q = zero_of_weight(b, w);
  if (left) y = build_sub(b, y, along(b, left, y));
  return q ? build_sub(b, y, build_mul(b, sums_of_image(b, x, w, s), along(b, q, y))) : y;
}

/* The product of all sizes but the first; 0: they are not known, or it is too large. */
static int64_t terms_of(const Node *w) {
  int64_t n = 1;
  for (uint32_t i = 1; i < rank_of(w); i++) {
    if (!dim_is_int(w->type.shape[i])) return 0;
    n *= w->type.shape[i]->value;
    if (n > TERMS_MAX) return 0;
  }
  return n;
}

/* The node is sums times a scale, and a bias or NULL. */
static void become_scaled(Build *b, Node *sums, Node *scale, Node *bias) {
  Node *y = build_to(b, sums, DT_F32);
  if (!bias) {
    build_become(b, OP_aten_mul_Tensor, 2, (Arg[]){arg_node(y), arg_node(scale)});
    return;
  }
  y = build_mul(b, y, scale);
  build_become(b, OP_aten_add_Tensor, 2, (Arg[]){arg_node(y), arg_node(bias)});
}

static void convolve_bytes(Build *b, Node *n) {
  Graph *g = b->in.g;
  Dequantized x, w;
  Windows s;
  Arg image = graph_arg(g, n, "input"), weight = graph_arg(g, n, "weight");
  if (!find_bytes(g, &image, false, &x) || !find_bytes(g, &weight, true, &w)) return;
  uint32_t rank = rank_of(w.bytes), axes = rank - 2;
  int64_t k = terms_of(w.bytes);
  Arg groups = graph_arg(g, n, "groups"), bias = graph_arg(g, n, "bias");
  bool fits = k && rank_of(x.bytes) == rank && dim_is_int(w.bytes->type.shape[0]) &&
              groups.kind == ARG_INT && dim_is_int(groups.dim) && n->type.dtype == DT_F32;
  if (fits && graph_is(n, OP_aten_convolution_default))
    fits = !graph_arg(g, n, "transposed").flag;
  if (!fits || !list_of(g, n, "stride", axes, 1, &s.stride) ||
      !list_of(g, n, "padding", axes, 2, &s.padding) ||
      !list_of(g, n, "dilation", axes, 1, &s.dilation))
    return;
  s.groups = groups.dim->value;
  make_signed(b, &x);
  make_signed(b, &w);
  Node *sums = convolved(b, &x, &w, &s, k), *scale = along(b, scale_of(b, &x, &w), sums);
  become_scaled(b, sums, scale, bias.kind == ARG_NODE ? along(b, bias.node, sums) : NULL);
}

/* ---- products of matrices ---- */

/* The operands of a product with the transpose of `weight`, or no node. */
typedef struct {
  Arg left, weight, bias;
} Linear;

static Linear linear_of(Graph *g, const Node *n) {
  Linear l = {arg_none(), arg_none(), arg_none()};
  bool adds = graph_is(n, OP_aten_addmm_default);
  if (graph_is(n, OP_aten_linear_default))
    return (Linear){graph_arg(g, n, "input"), graph_arg(g, n, "weight"), graph_arg(g, n, "bias")};
  if (adds && n->nnamed) return l;
  Arg right = graph_arg(g, n, "mat2");
  const Node *turned = right.kind == ARG_NODE ? right.node : NULL;
  bool turns = turned && (graph_is(turned, OP_aten_t_default) ||
                          (graph_is(turned, OP_aten_permute_default) &&
                           dim_is(turned->args[1].items[0].dim, 1)));
  if (!turns) return l;
  l.left = graph_arg(g, n, adds ? "mat1" : "self");
  l.weight = turned->args[0];
  if (adds) l.bias = graph_arg(g, n, "self");
  return l;
}

static void multiply_bytes(Build *b, Node *n) {
  Graph *g = b->in.g;
  Dequantized x, w;
  Linear l = linear_of(g, n);
  const Node *view = l.left.kind == ARG_NODE ? l.left.node : NULL;
  bool viewed = view && graph_is(view, OP_aten_view_default);
  if (!find_bytes(g, viewed ? &view->args[0] : &l.left, false, &x)) return;
  if (!find_bytes(g, &l.weight, true, &w)) return;
  uint32_t rank = rank_of(view);
  int64_t k = terms_of(w.bytes);
  if (!k || rank < 2 || rank_of(w.bytes) != 2 || n->type.dtype != DT_F32) return;
  make_signed(b, &x);
  make_signed(b, &w);
  Dim shape[GRAPH_RANK_MAX];
  memcpy(shape, view->type.shape, rank * sizeof *shape);
  Dim rows[] = {infer_product(&b->in, shape, rank - 1), shape[rank - 1]};
  Node *left = build_view(b, x.bytes, 2, rows);
  Node *y = build_op2(b, OP_aten__int_mm_default, left, build_transpose(b, w.bytes, 0, 1));
  Node *correction = left_correction(b, &x, &w, k), *q = zero_of_weight(b, &w);
  if (correction) y = build_sub(b, y, correction);
  if (q) {
    Node *of_rows = build_sum(b, build_to(b, left, DT_I32), 2, true);
    y = build_sub(b, y, build_mul(b, build_to(b, of_rows, DT_I32), q));
  }
  shape[rank - 1] = w.bytes->type.shape[0];
  y = build_view(b, y, rank, shape);
  become_scaled(b, y, scale_of(b, &x, &w), l.bias.kind == ARG_NODE ? l.bias.node : NULL);
}

static void multiply_node(Graph *g, Node *n) {
  Build b = build_at(g, n);
  if (setjmp(b.in.failed)) return;
  if (graph_is_any(n, OP_aten_linear_default, OP_aten_mm_default, OP_aten_addmm_default))
    multiply_bytes(&b, n);
  else if (graph_is_any(n, OP_aten_convolution_default, OP_aten_conv1d_default,
                        OP_aten_conv2d_default, OP_aten_conv3d_default))
    convolve_bytes(&b, n);
}

bool pass_byte_products(Graph *g) {
  for (Node *n = g->first; n; n = n->next) multiply_node(g, n);
  graph_dce(g);
  return diag_errors(g->diags) == 0;
}
