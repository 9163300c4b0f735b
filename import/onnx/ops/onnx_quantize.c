/* Quantized tensors: small integers that stand for (integer - zero point) * scale.
 *
 * Sums of their products are exact.  Products of matrices are computed in i32, and so are
 * convolutions of many products, by patches; others in f32, which holds all integers up to 2^24:
 * where groups' sums may be larger, the left factor is cut into its digits of 4 bits. */
#include <string.h>

#include "graph/messages.h"
#include "import/onnx/ops/onnx_shared.h"

enum { INT8_SPAN = 255, BYTE_HALF = 128, EXACT = 1 << 24 };

/* ---- scales and zero points ---- */

/* The parameter is one value for the whole tensor, or one for each index along an axis. */
static Node *align_to_axis(OnnxCall *c, Node *v, uint32_t axis, const Node *x) {
  if (rank_of(v) == 0) return v;
  infer_rank(&c->b.in, &v->type, 1, 1);
  if (dim_is(v->type.shape[0], 1)) return build_view(&c->b, v, 0, NULL);
  return build_along(&c->b, v, axis, rank_of(x));
}

/* Sums and differences with zero points are exact in i32; 8-bit floats are no integers. */
static Node *from_zero(OnnxCall *c, Node *x, Node *zero) {
  DType t = dtype_is_float(x->type.dtype) ? DT_F32 : DT_I32;
  x = build_to(&c->b, x, t);
  return zero ? build_sub(&c->b, x, build_to(&c->b, zero, t)) : x;
}

Node *onnx_columns(OnnxCall *c, uint32_t i, bool optional) {
  if (optional && !onnx_has(c, i)) return NULL;
  Node *v = onnx_in(c, i);
  return rank_of(v) == 1 && dim_is(v->type.shape[0], 1) ? build_view(&c->b, v, 0, NULL) : v;
}

Node *onnx_integers(OnnxCall *c, Node *x, Node *zero) {
  x = build_to(&c->b, x, DT_I32);
  return zero ? build_sub(&c->b, x, build_to(&c->b, zero, DT_I32)) : x;
}

/* x in units of `scale`, rounded to nearest even, from the zero point on, within dtype t, of which
 * integers have the lowest `few` bits, if that is not 0. */
static Node *quantize_elements(OnnxCall *c, Node *x, Node *scale, Node *zero, DType t,
                               unsigned few) {
  Build *b = &c->b;
  unsigned bits = few ? few : dtype_bits(t);
  if (t == DT_F8E4NV || t == DT_F8E5) {
    x = build_div(b, x, scale);
    return onnx_cast(c, zero ? build_add(b, x, build_to(b, zero, DT_F32)) : x, t);
  }
  if (!dtype_is_int(t) || t == DT_I1 || bits > 16) onnx_lack(c, "zero points of %s", dtype_name(t));
  x = build_op1(b, OP_aten_round_default, build_div(b, x, scale));
  if (zero) x = build_add(b, x, build_to(b, zero, DT_F32));
  double span = 1 << bits, low = dtype_is_signed(t) ? -span / 2 : 0;
  Arg limits[] = {arg_node(x), arg_float(low), arg_float(low + span - 1)};
  return build_to(b, build(b, OP_aten_clamp_default, 3, limits), t);
}

Node *onnx_quantized(OnnxCall *c, Node *x, Node *scale, Node *zero, DType t) {
  return quantize_elements(c, x, scale, zero, t, 0);
}

/* Each element of v belongs to `size` elements of x along the axis. */
static Node *repeat_blocks(OnnxCall *c, Node *v, uint32_t axis, int64_t size, const Node *x) {
  Build *b = &c->b;
  Dim shape[GRAPH_RANK_MAX + 1], times = build_const(b, size);
  uint32_t rank = rank_of(v);
  infer_rank(&b->in, &v->type, rank_of(x), rank_of(x));
  memcpy(shape, v->type.shape, (axis + 1) * sizeof *shape);
  memcpy(shape + axis + 2, v->type.shape + axis + 1, (rank - axis - 1) * sizeof *shape);
  shape[axis + 1] = times;
  v = build_expand(b, build_unsqueeze(b, v, axis + 1), rank + 1, shape);
  shape[axis] = dim_mul(onnx_dims(c), shape[axis], times);
  memmove(shape + axis + 1, shape + axis + 2, (rank - axis - 1) * sizeof *shape);
  return build_slice(b, build_view(b, v, rank, shape), axis, build_const(b, 0), x->type.shape[axis],
                     1);
}

/* Scales or zero points as they broadcast to x: one, one for each index of an axis (of an attribute
 * from opset 13 on), or one for each block of it. */
static Node *expand_scale(OnnxCall *c, Node *v, const Node *x) {
  int64_t size = onnx_int(c, "block_size", 0), axis = onnx_int(c, "axis", 1);
  if (!v) return NULL;
  bool single = rank_of(v) == 0 || (rank_of(v) == 1 && dim_is(v->type.shape[0], 1));
  if (size < 0) onnx_lack(c, "block_size %lld", (long long)size);
  uint32_t at = single ? 0 : onnx_axis(c, axis, rank_of(x));
  return size && !single ? repeat_blocks(c, v, at, size, x) : align_to_axis(c, v, at, x);
}

void onnx_op_quantize(OnnxCall *c) {
  Node *x = onnx_in(c, 0), *zero = expand_scale(c, onnx_optional(c, 2), x);
  Node *scale = build_to(&c->b, expand_scale(c, onnx_in(c, 1), x), DT_F32);
  onnx_ignore(c, "precision");
  uint8_t bits;
  DType t = onnx_narrow_attr(c, "output_dtype", DT_U8, &bits);
  onnx_ignore(c, "saturate"); /* of 8-bit floats alone */
  x = build_to(&c->b, x, DT_F32);
  if (zero) t = zero->type.dtype, bits = c->in[2]->bits;
  onnx_set(c, 0, quantize_elements(c, x, scale, zero, t, bits));
  onnx_set_bits(c, 0, bits);
}

void onnx_op_dequantize(OnnxCall *c) {
  Build *b = &c->b;
  Node *x = onnx_in(c, 0), *zero = expand_scale(c, onnx_optional(c, 2), x);
  Node *scale = expand_scale(c, onnx_in(c, 1), x);
  DType t = onnx_dtype_attr(c, "output_dtype", scale->type.dtype), wide = build_wide(t);
  x = build_to(b, from_zero(c, x, zero), wide);
  onnx_set(c, 0, build_to(b, build_mul(b, x, build_to(b, scale, wide)), t));
}

typedef struct {
  Node *elements, *scale, *point;
} Quantized;

/* The range of x with zero in it becomes 0 to 255.  If all of x is 0, the scale is 1. */
static Quantized quantize_range(OnnxCall *c, Node *x) {
  Build *b = &c->b;
  Node *zero = onnx_scalar(c, 0, DT_F32);
  Node *low = build_reduce(b, OP_aten_amin_default, x, all_axes(x), false);
  Node *high = build_reduce(b, OP_aten_amax_default, x, all_axes(x), false);
  low = build_op2(b, OP_aten_minimum_default, low, zero);
  high = build_op2(b, OP_aten_maximum_default, high, zero);
  Node *span = build_sub(b, high, low);
  Node *scale = build_with(b, OP_aten_div_Tensor, span, arg_float(INT8_SPAN));
  Node *flat = build_with(b, OP_aten_eq_Scalar, span, arg_float(0));
  scale = build_where(b, flat, arg_float(1), arg_node(scale));
  Node *point = quantize_elements(c, build_op1(b, OP_aten_neg_default, low), scale, NULL, DT_U8, 0);
  return (Quantized){quantize_elements(c, x, scale, point, DT_U8, 0), scale, point};
}

/* Results 1 and 2 are scale and zero point. */
void onnx_op_dynamic_quantize(OnnxCall *c) {
  Quantized q = quantize_range(c, onnx_in(c, 0));
  onnx_set(c, 0, q.elements);
  onnx_set(c, 1, q.scale);
  onnx_set(c, 2, q.point);
}

/* ---- products of matrices ----
 *
 * Let p and q be the zero points.  Sums of (x - p) * (y - q) over k elements are
 *
 *   sum(x * y) - p * (sum(y) - k * q) - sum(x) * q
 *
 * which is exact in i32, that wraps.  Of x * y the units multiply signed bytes; sums over y, a
 * weight, are computed once.  A byte without a sign, and its zero point, are taken less 128. */

bool onnx_is_from_zero(OnnxCall *c, uint32_t i) {
  if (!onnx_has(c, i)) return true;
  const OnnxKnown *k = onnx_known(c, i);
  int64_t zero = k && k->dtype == DT_U8 ? BYTE_HALF : 0;
  for (uint32_t n = 0; k && n < k->n; n++)
    if (!dim_is(k->at[n].dim, zero)) return false;
  return k && dtype_is_int(k->dtype);
}

static bool is_byte(const Node *x) { return x->type.dtype == DT_I8 || x->type.dtype == DT_U8; }

/* An element, or a zero point, in i32, with a byte's sign. */
static Node *signed_number(Build *b, Node *x) {
  bool half = x->type.dtype == DT_U8;
  x = build_to(b, x, DT_I32);
  return half ? build_with(b, OP_aten_sub_Tensor, x, build_int(b, BYTE_HALF)) : x;
}

static Node *signed_bytes(Build *b, Node *x) {
  return x->type.dtype == DT_U8 ? build_to(b, signed_number(b, x), DT_I8) : x;
}

/* The zero point of elements of that dtype; NULL: it is 0. */
static Node *signed_zero(OnnxCall *c, const OnnxFactor *f) {
  if (f->zero) return f->from_zero ? NULL : signed_number(&c->b, f->zero);
  return f->x->type.dtype == DT_U8 ? onnx_scalar(c, -BYTE_HALF, DT_I32) : NULL;
}

/* Sums along an axis, which stays. */
static Node *sum_along(Build *b, Node *x, uint32_t axis) {
  return build_to(b, build_sum(b, build_to(b, x, DT_I32), 1u << axis, true), DT_I32);
}

/* Signed bytes [m, k] times [k, n]; their zero points broadcast to them, NULL is 0. */
static Node *product_of_bytes(Build *b, Node *x, Node *p, Node *y, Node *q) {
  Node *sums = build_op2(b, OP_aten__int_mm_default, x, y);
  if (p) {
    Node *columns = sum_along(b, y, 0);
    if (q) columns = build_sub(b, columns, build_mul_dim(b, q, y->type.shape[0]));
    sums = build_sub(b, sums, build_mul(b, p, columns));
  }
  return q ? build_sub(b, sums, build_mul(b, sum_along(b, x, 1), q)) : sums;
}

Node *onnx_integer_product(OnnxCall *c, OnnxFactor left, OnnxFactor right) {
  Build *b = &c->b;
  uint32_t rank = rank_of(left.x), zeros = left.zero ? rank_of(left.zero) : 0;
  bool fits = rank_of(right.x) == 2 && rank >= 2 && (zeros == 0 || rank == 2) &&
              (!right.zero || rank_of(right.zero) <= 2);
  if (!is_byte(left.x) || !is_byte(right.x) || !fits)
    return build_op2(b, OP_aten_matmul_default, onnx_integers(c, left.x, left.zero),
                     onnx_integers(c, right.x, right.zero));
  Dim shape[GRAPH_RANK_MAX];
  memcpy(shape, left.x->type.shape, rank * sizeof *shape);
  Dim k = shape[rank - 1], rows[] = {infer_product(&b->in, shape, rank - 1), k};
  Node *p = signed_zero(c, &left), *q = signed_zero(c, &right);
  Node *x = build_view(b, signed_bytes(b, left.x), 2, rows);
  Node *sums = product_of_bytes(b, x, p, signed_bytes(b, right.x), q);
  shape[rank - 1] = sums->type.shape[1];
  return build_view(b, sums, rank, shape);
}

/* A zero point of each row of the left factor, of each column of the right one. */
static Node *row_zero(OnnxCall *c, Node *zero) {
  return zero && rank_of(zero) == 1 && !dim_is(zero->type.shape[0], 1)
             ? build_unsqueeze(&c->b, zero, 1)
             : zero;
}

static Node *integer_product(OnnxCall *c, uint32_t x, uint32_t xzero, uint32_t y, uint32_t yzero) {
  OnnxFactor left = {onnx_in(c, x), row_zero(c, onnx_columns(c, xzero, true)),
                     onnx_is_from_zero(c, xzero)};
  OnnxFactor right = {onnx_in(c, y), onnx_optional(c, yzero), onnx_is_from_zero(c, yzero)};
  return onnx_integer_product(c, left, right);
}

void onnx_op_matmul_integer(OnnxCall *c) { onnx_set(c, 0, integer_product(c, 0, 2, 1, 3)); }

Node *onnx_quantized_product(OnnxCall *c, Node *x, OnnxFactor operand, Node *scale) {
  Build *b = &c->b;
  Quantized q = quantize_range(c, x);
  Node *sums = onnx_integer_product(c, (OnnxFactor){q.elements, q.point, false}, operand);
  return build_mul(b, build_to(b, sums, DT_F32), build_mul(b, q.scale, scale));
}

/* A result of DequantizeLinear, of bytes: with one scale and zero point, or one for each index
 * along the last axis of a matrix, of which a product may take the transpose. */
typedef struct {
  OnnxFactor factor;
  Node *scale;
} Dequantized;

static bool is_along(OnnxCall *maker, const OnnxValue *v, const ValueType *x, uint32_t axis) {
  uint32_t rank = v->type.rank;
  if (rank == 0 || (rank == 1 && dim_is(v->type.shape[0], 1))) return true;
  return rank == 1 && axis < x->rank &&
         onnx_axis(maker, onnx_int(maker, "axis", 1), x->rank) == axis;
}

static Node *parameter_of(OnnxCall *c, OnnxValue *v) {
  Node *x = onnx_node_of(c, v);
  return rank_of(x) && dim_is(x->type.shape[0], 1) ? build_view(&c->b, x, 0, NULL) : x;
}

/* Its scale may have that axis; GRAPH_RANK_MAX: none. */
static bool find_dequantized(OnnxCall *c, const OnnxValue *v, uint32_t axis, Dequantized *found) {
  OnnxCall *m = v->maker;
  if (!m || m->op->translate != onnx_op_dequantize || m->nin < 2 || v->type.dtype != DT_F32)
    return false;
  OnnxValue *x = m->in[0], *scale = m->in[1], *zero = onnx_has(m, 2) ? m->in[2] : NULL;
  DType t = x->type.dtype;
  if (x->bits || (t != DT_I8 && t != DT_U8) || scale->type.dtype != DT_F32) return false;
  if (onnx_int(m, "block_size", 0) || !is_along(m, scale, &x->type, axis)) return false;
  if (zero && (zero->type.dtype != t || !is_along(m, zero, &x->type, axis))) return false;
  found->factor.x = onnx_node_of(c, x);
  found->factor.zero = zero ? parameter_of(c, zero) : NULL;
  found->factor.from_zero = onnx_is_from_zero(m, 2);
  found->scale = parameter_of(c, scale);
  return true;
}

enum { TERMS_MAX = 1 << 15 }; /* sums of so many products of bytes fit in i32 */

Node *onnx_dequantized_product(OnnxCall *c, uint32_t i, uint32_t j, bool turned) {
  Build *b = &c->b;
  Dequantized x, y;
  const ValueType *left = onnx_type(c, i), *right = onnx_type(c, j);
  if (left->rank < 2 || right->rank != 2) return NULL;
  Dim k = right->shape[turned];
  if (!dim_is_int(k) || k->value > TERMS_MAX || k != left->shape[left->rank - 1]) return NULL;
  if (!find_dequantized(c, c->in[i], GRAPH_RANK_MAX, &x)) return NULL;
  if (!find_dequantized(c, c->in[j], !turned, &y)) return NULL;
  if (turned) y.factor.x = build_transpose(b, y.factor.x, 0, 1);
  Node *sums = build_to(b, onnx_integer_product(c, x.factor, y.factor), DT_F32);
  return build_mul(b, sums, build_mul(b, x.scale, y.scale));
}

/* Rescales in f32: the scale of the result is a fraction of those of the factors. */
static Node *rescaled(OnnxCall *c, Node *sums, Node *x, Node *y, Node *scale, Node *zero) {
  Build *b = &c->b;
  Node *real = build_mul(b, build_to(b, sums, DT_F32), build_mul(b, x, y));
  return quantize_elements(c, real, scale, zero, zero->type.dtype, 0);
}

/* Inputs are three of each factor and two of the result: tensor, scale, zero point. */
void onnx_op_qlinear_matmul(OnnxCall *c) {
  Node *x_scale = row_zero(c, onnx_in(c, 1)), *y_scale = onnx_in(c, 4);
  Node *sums = integer_product(c, 0, 2, 3, 5);
  onnx_set(c, 0, rescaled(c, sums, x_scale, y_scale, onnx_in(c, 6), onnx_in(c, 7)));
}

/* ---- convolutions ---- */

static Node *quantized_convolution(OnnxCall *c, const OnnxWindow *w, Node *x, Node *weight) {
  static const int64_t zeros[ONNX_AXES_MAX];
  Build *b = &c->b;
  Arg args[] = {arg_node(build_to(b, x, DT_F32)),
                arg_node(build_to(b, weight, DT_F32)),
                arg_none(),
                onnx_window_arg(c, w, w->stride),
                onnx_window_arg(c, w, zeros),
                onnx_window_arg(c, w, w->dilation),
                arg_bool(false),
                onnx_window_arg(c, w, zeros),
                build_int(b, onnx_int(c, "group", 1))};
  return build_to(b, build(b, OP_aten_convolution_default, 9, args), DT_I32);
}

/* Integers from -255 to 255, multiplied as floats. */
static Node *convolution_in_f32(OnnxCall *c, const OnnxWindow *window, Node *x, Node *weight) {
  Build *b = &c->b;
  OnnxWindow w = *window;
  x = onnx_window_pad(c, &w, x, build_int(b, 0), false);
  Dim terms = infer_product(&b->in, weight->type.shape + 1, rank_of(weight) - 1);
  int64_t n = dim_is_int(terms) ? terms->value : INT64_MAX;
  if (n <= EXACT / (INT8_SPAN * INT8_SPAN)) return quantized_convolution(c, &w, x, weight);
  if (n > EXACT / (16 * INT8_SPAN)) onnx_lack(c, "sums of more than %d", EXACT / (16 * INT8_SPAN));
  Node *high = build_with(b, OP_aten_bitwise_right_shift_Tensor_Scalar, x, build_int(b, 4));
  Node *low = build_with(b, OP_aten_bitwise_and_Scalar, x, build_int(b, 15));
  Node *sums = build_with(b, OP_aten_mul_Tensor, quantized_convolution(c, &w, high, weight),
                          build_int(b, 16));
  return build_add(b, sums, quantized_convolution(c, &w, low, weight));
}

/* Signed bytes, with the zero point around them where the window begins before them. */
static Node *padded_bytes(OnnxCall *c, const OnnxWindow *w, Node *x, Node *p) {
  Build *b = &c->b;
  const ValueType *t = &x->type;
  Node *padded = onnx_window_pad(c, w, x, build_int(b, 0), false);
  if (padded == x || !p) return padded;
  Node *inside = build_full(b, w->n, t->shape + t->rank - w->n, build_int(b, 1), DT_I8);
  inside = onnx_window_pad(c, w, inside, build_int(b, 0), false);
  inside = build_with(b, OP_aten_gt_Scalar, inside, build_int(b, 0));
  return build_where(b, inside, arg_node(padded), arg_node(build_to(b, p, DT_I8)));
}

/* The windows of x[N, sizes, C] as views: [N, sizes of the result, window, C]. */
static Node *patches_of(Build *b, const OnnxWindow *w, Node *x) {
  uint32_t rank = rank_of(x), axes[GRAPH_RANK_MAX];
  for (uint32_t i = 0; i < w->n; i++) {
    int64_t reach = (w->kernel[i] - 1) * w->dilation[i] + 1;
    if (reach == 1) {
      x = build_slice(b, x, i + 1, build_const(b, 0), x->type.shape[i + 1], w->stride[i]);
      x = build_unsqueeze(b, x, rank + i);
      continue;
    }
    Arg args[] = {arg_node(x), build_int(b, i + 1), build_int(b, reach),
                  build_int(b, w->stride[i])};
    x = build(b, OP_aten_unfold_default, 4, args);
    x = build_slice(b, x, rank + i, build_const(b, 0), build_const(b, reach), w->dilation[i]);
  }
  for (uint32_t i = 0; i < rank + w->n; i++)
    axes[i] = i + 1 < rank ? i : i + 1 < rank + w->n ? i + 1 : rank - 1;
  return build_permute(b, x, axes);
}

enum { TAPS_MAX = 64 };

/* A product of patches, whose elements are in the order [window, C]. */
static Node *convolution_of_bytes(OnnxCall *c, const OnnxWindow *w, const OnnxFactor *left,
                                  const OnnxFactor *right) {
  Build *b = &c->b;
  Node *p = signed_zero(c, left), *q = signed_zero(c, right);
  uint32_t rank = w->n + 2, last[GRAPH_RANK_MAX], first[GRAPH_RANK_MAX], window[GRAPH_RANK_MAX];
  for (uint32_t i = 0; i < rank; i++) {
    last[i] = !i ? 0 : i + 1 < rank ? i + 1 : 1;
    first[i] = !i ? 0 : i == 1 ? rank - 1 : i - 1;
    window[i] = i < w->n ? i + 2 : i == w->n ? 1 : 0;
  }
  Node *x = build_permute(b, padded_bytes(c, w, signed_bytes(b, left->x), p), last);
  x = patches_of(b, w, x);
  Dim shape[GRAPH_RANK_MAX], columns = right->x->type.shape[0];
  memcpy(shape, x->type.shape, rank * sizeof *shape);
  Dim k = infer_product(&b->in, x->type.shape + rank - 1, w->n + 1);
  shape[rank - 1] = columns;
  Arg rows = arg_dims(b->in.g, 2, (Dim[]){infer_product(&b->in, shape, rank - 1), k});
  x = build_with(b, OP_aten_reshape_default, x, rows);
  Node *y = build_permute(b, signed_bytes(b, right->x), window);
  y = build_view(b, y, 2, (Dim[]){k, columns});
  return build_permute(b, build_view(b, product_of_bytes(b, x, p, y, q), rank, shape), first);
}

/* Few products are exact in f32, and no patches are written; channels that are joined to groups
 * are as well. */
static Node *integer_convolution(OnnxCall *c, const OnnxFactor *x, const OnnxFactor *weight) {
  Build *b = &c->b;
  OnnxWindow w = onnx_window(c, x->x, weight->x->type.shape + 2);
  Dim terms = infer_product(&b->in, weight->x->type.shape + 1, w.n + 1);
  int64_t taps = 1;
  bool inside = true;
  for (uint32_t i = 0; i < w.n && taps <= TAPS_MAX; i++) {
    Dim size = x->x->type.shape[i + 2];
    int64_t reach = (w.kernel[i] - 1) * w.dilation[i] + 1 - w.before[i] - w.after[i];
    inside &= !dim_is_int(size) || size->value >= reach;
    taps *= w.kernel[i];
  }
  bool fits = inside && is_byte(x->x) && is_byte(weight->x) && onnx_int(c, "group", 1) == 1 &&
              (!x->zero || !rank_of(x->zero)) && taps >= 1 && taps <= TAPS_MAX;
  bool few = dim_is_int(terms) && terms->value <= EXACT / (INT8_SPAN * INT8_SPAN) && taps > 1;
  if (fits && !few) return convolution_of_bytes(c, &w, x, weight);
  Node *right = weight->zero ? align_to_axis(c, weight->zero, 0, weight->x) : NULL;
  return convolution_in_f32(c, &w, onnx_integers(c, x->x, x->zero),
                            onnx_integers(c, weight->x, right));
}

static void check_quantized_weight(OnnxCall *c, const Node *x, const Node *weight) {
  if (rank_of(weight) != rank_of(x) || rank_of(x) < 3)
    onnx_fail(c, E_GRAPH_AXES, 3, 5, infer_type_text(&c->b.in, &weight->type));
}

void onnx_op_conv_integer(OnnxCall *c) {
  OnnxFactor x = {onnx_in(c, 0), onnx_columns(c, 2, true), onnx_is_from_zero(c, 2)};
  OnnxFactor weight = {onnx_in(c, 1), onnx_columns(c, 3, true), onnx_is_from_zero(c, 3)};
  check_quantized_weight(c, x.x, weight.x);
  onnx_set(c, 0, integer_convolution(c, &x, &weight));
}

void onnx_op_qlinear_conv(OnnxCall *c) {
  OnnxFactor x = {onnx_in(c, 0), onnx_columns(c, 2, false), onnx_is_from_zero(c, 2)};
  OnnxFactor weight = {onnx_in(c, 3), onnx_columns(c, 5, false), onnx_is_from_zero(c, 5)};
  Node *bias = onnx_optional(c, 8);
  bool last = onnx_flag(c, "channels_last", false);
  if (last) x.x = onnx_move_channels(c, x.x, false);
  check_quantized_weight(c, x.x, weight.x);
  Node *sums = integer_convolution(c, &x, &weight);
  if (bias) sums = build_add(&c->b, sums, build_along(&c->b, bias, 1, rank_of(sums)));
  Node *weight_scale = align_to_axis(c, onnx_in(c, 4), 1, sums);
  Node *y = rescaled(c, sums, onnx_in(c, 1), weight_scale, onnx_in(c, 6), onnx_in(c, 7));
  onnx_set(c, 0, last ? onnx_move_channels(c, y, true) : y);
}
