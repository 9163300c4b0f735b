/* Quantized tensors: small integers that stand for (integer - zero point) * scale.
 *
 * Sums of their products are exact, in i32. */
#include <string.h>

#include "graph/messages.h"
#include "import/onnx/ops/onnx_shared.h"

enum { INT8_SPAN = 255, BYTE_HALF = 128 };

/* ---- scales and zero points ---- */

/* The parameter is one value for the whole tensor, or one for each index along an axis. */
static Node *align_to_axis(OnnxCall *c, Node *v, uint32_t axis, const Node *x) {
  if (rank_of(v) == 0) return v;
  infer_rank(&c->b.in, &v->type, 1, 1);
  if (dim_is(v->type.shape[0], 1)) return build_view(&c->b, v, 0, NULL);
  return build_along(&c->b, v, axis, rank_of(x));
}

/* Scales x times y, by z unless its call is NULL, where they are written in the file: one number,
 * or one for each of y.  Else NULL. */
static Node *known_factor(OnnxCall *c, OnnxPlace x, OnnxPlace y, OnnxPlace z) {
  const OnnxKnown *a = onnx_known(x.call, x.i), *v = onnx_known(y.call, y.i), *by = NULL;
  if (z.call && !(by = onnx_known(z.call, z.i))) return NULL;
  if (!a || !v || a->n != 1 || !v->n || v->rank > 1 || (by && by->n != 1)) return NULL;
  if (a->dtype != DT_F32 || v->dtype != DT_F32 || (by && by->dtype != DT_F32)) return NULL;
  float *factors = ARENA_ARRAY(c->b.in.g->arena, float, v->n);
  for (uint32_t i = 0; i < v->n; i++) {
    factors[i] = (float)a->at[0].number * (float)v->at[i].number;
    if (by) factors[i] /= (float)by->at[0].number;
  }
  if (v->n == 1) return onnx_scalar(c, (double)factors[0], DT_F32);
  return onnx_table(c, DT_F32, 1, &(int64_t){v->n}, factors);
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

/* A zero point that is written in the file. */
static bool is_literal(const Node *zero, int64_t *value) {
  *value = 0;
  if (!zero) return true;
  if (!graph_is(zero, OP_aten_full_default) || zero->nargs != 2) return false;
  const Arg *a = &zero->args[1];
  if (rank_of(zero) || a->kind != ARG_INT || !dim_is_int(a->dim)) return false;
  *value = a->dim->value;
  return true;
}

/* A number less the zero point. */
static Node *from_point(OnnxCall *c, double number, Node *zero) {
  Build *b = &c->b;
  int64_t point;
  if (is_literal(zero, &point)) return onnx_scalar(c, number - (double)point, DT_F32);
  return build_sub(b, onnx_scalar(c, number, DT_F32), build_to(b, zero, DT_F32));
}

/* x in units of `scale`, of 1 if that is NULL, rounded to nearest even, from the zero point on,
 * within dtype t, of which integers have the lowest `few` bits, if that is not 0.  NaN is the
 * least, as in ONNX Runtime.  Numbers of so many bits are rounded where they are added to one whose
 * last bit is 1, and are the lowest bits of the sum; the zero point is added to these, since halves
 * would go to the other neighbor with an odd one. */
static Node *quantize_elements(OnnxCall *c, Node *x, Node *scale, Node *zero, DType t,
                               unsigned few) {
  const double LAST_BIT_1 = 0x1.8p23;
  Build *b = &c->b;
  unsigned bits = few ? few : dtype_bits(t);
  if (scale) x = build_div(b, x, scale);
  if (t == DT_F8E4NV || t == DT_F8E5)
    return onnx_cast(c, zero ? build_add(b, x, build_to(b, zero, DT_F32)) : x, t);
  if (!dtype_is_int(t) || t == DT_I1 || bits > 16) onnx_lack(c, "zero points of %s", dtype_name(t));
  double span = 1 << bits, low = dtype_is_signed(t) ? -span / 2 : 0;
  x = build_op2(b, OP_aten_fmax_default, build_to(b, x, DT_F32), from_point(c, low, zero));
  x = build_op2(b, OP_aten_fmin_default, x, from_point(c, low + span - 1, zero));
  x = build_add(b, x, onnx_scalar(c, LAST_BIT_1, DT_F32));
  x = build_with(b, OP_nereid_bits_default, x, arg_dtype(DT_I32));
  return build_to(b, zero ? build_add(b, x, build_to(b, zero, DT_I32)) : x, t);
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

/* Is the scale known to be positive, and such that 255 times it is no infinity or denormal? */
static bool is_usual_scale(OnnxCall *c, uint32_t i) {
  const OnnxKnown *k = onnx_known(c, i);
  for (uint32_t n = 0; k && n < k->n; n++)
    if (!dtype_is_float(k->dtype) || !(k->at[n].number > 0x1p-90) || k->at[n].number > 0x1p90)
      return false;
  return k != NULL;
}

/* The call of which a value is a view of the result. */
static OnnxCall *viewed_call(const OnnxValue *v) {
  OnnxCall *m = v->maker;
  while (m && m->nin && m->in[0]) {
    OnnxOpId id = m->op->id;
    if (id != ONNX_Reshape && id != ONNX_Transpose && id != ONNX_Flatten && id != ONNX_Squeeze &&
        id != ONNX_Unsqueeze)
      break;
    m = m->in[0]->maker;
  }
  return m;
}

/* Are both inputs left out, or known to be one and the same number? */
static bool same_number(OnnxCall *a, OnnxCall *b, uint32_t i) {
  if (!onnx_has(a, i) || !onnx_has(b, i)) return !onnx_has(a, i) && !onnx_has(b, i);
  if (a->in[i] == b->in[i] && a->in[i]->type.rank == 0) return true;
  const OnnxKnown *x = onnx_known(a, i), *y = onnx_known(b, i);
  if (!x || !y || x->n != 1 || y->n != 1 || x->dtype != y->dtype) return false;
  return dtype_is_float(x->dtype) ? x->at[0].number == y->at[0].number
                                  : x->at[0].dim == y->at[0].dim;
}

/* x, made by views of `of`, by the same views of another node; NULL: it is made otherwise. */
static Node *view_again(Build *b, Node *x, const Node *of, Node *other) {
  enum { ARGS = 8 };
  if (x == of) return other;
  bool view = graph_is_any(x, OP_aten_view_default, OP_aten_permute_default) && x->nargs <= ARGS &&
              !x->nnamed && x->args[0].kind == ARG_NODE;
  Node *y = view ? view_again(b, x->args[0].node, of, other) : NULL;
  if (!y) return NULL;
  Arg args[ARGS];
  memcpy(args, x->args, x->nargs * sizeof *args);
  args[0] = arg_node(y);
  return build(b, x->op->id, x->nargs, args);
}

/* The integers of which input 0 is the numbers, quantized alike and viewed since; NULL: there are
 * none.  An integer times its scale, divided by that, rounds to it. */
static Node *same_integers(OnnxCall *c) {
  OnnxCall *m = viewed_call(c->in[0]);
  if (!m || m->op->translate != onnx_op_dequantize || m->nin < 2 || m->in[0]->form) return NULL;
  const ValueType *x = &m->in[0]->type;
  if (!onnx_has(c, 2) || c->in[2]->form || x->dtype != c->in[2]->type.dtype) return NULL;
  if (m->out[0]->type.dtype != DT_F32) return NULL;
  if (!same_number(c, m, 1) || !same_number(c, m, 2)) return NULL;
  if (!is_usual_scale(c, 1) || (x->dtype != DT_I8 && x->dtype != DT_U8)) return NULL;
  return view_again(&c->b, onnx_in(c, 0), onnx_node_of(c, m->out[0]), onnx_node_of(c, m->in[0]));
}

/* The sums of which input 0 is the floats, or NULL; `relu`: less negative ones. */
static const OnnxScaled *scaled_input(OnnxCall *c, bool *relu) {
  const OnnxValue *v = c->in[0];
  *relu = v->maker && v->maker->op->id == ONNX_Relu;
  if (*relu) v = v->maker->in[0];
  return *relu && !is_usual_scale(c, 1) ? NULL : v->scaled;
}

/* The bias in units of `scale`, input 1: computed here where the file has both as numbers. */
static Node *more_in_units(OnnxCall *c, const OnnxScaled *s, Node *scale) {
  Build *b = &c->b;
  const OnnxKnown *bias = onnx_known(s->bias.call, s->bias.i), *by = onnx_known(c, 1);
  if (!bias || !by || bias->dtype != DT_F32 || by->dtype != DT_F32 || by->n != 1 || bias->rank != 1)
    return build_div(b, s->more, scale);
  float *units = ARENA_ARRAY(b->in.g->arena, float, bias->n);
  for (uint32_t i = 0; i < bias->n; i++)
    units[i] = (float)bias->at[i].number / (float)by->at[0].number;
  Node *table = onnx_table(c, DT_F32, 1, &(int64_t){bias->n}, units);
  return build_view(b, table, rank_of(s->more), s->more->type.shape);
}

/* Input 0 in units of `scale`.  Sums of products have one factor, as in ONNX Runtime, where a
 * scale is that of the whole: a division of each would take longer than the product. */
static Node *in_units(OnnxCall *c, Node *x, Node *scale) {
  Build *b = &c->b;
  bool relu;
  const OnnxScaled *s = scaled_input(c, &relu);
  if (!s || rank_of(scale)) return build_div(b, build_to(b, x, DT_F32), scale);
  Node *factor = known_factor(c, s->left, s->right, (OnnxPlace){c, 1});
  if (factor && rank_of(factor))
    factor = build_view(b, factor, rank_of(s->scale), s->scale->type.shape);
  if (!factor) factor = build_div(b, s->scale, scale);
  x = build_mul(b, build_to(b, s->sums, DT_F32), factor);
  if (s->more) x = build_add(b, x, more_in_units(c, s, scale));
  return relu ? build_op1(b, OP_aten_relu_default, x) : x;
}

/* x from the zero point on, NULL where that is 0, as elements of a form. */
static Node *quantize_floats(OnnxCall *c, Node *x, Node *zero, OnnxForm form) {
  if (zero) x = build_add(&c->b, x, onnx_decoded(c, zero, form));
  return onnx_encoded(c, x, form);
}

void onnx_op_quantize(OnnxCall *c) {
  Node *x = onnx_in(c, 0), *zero = expand_scale(c, onnx_optional(c, 2), x);
  Node *scale = build_to(&c->b, expand_scale(c, onnx_in(c, 1), x), DT_F32);
  onnx_ignore(c, "precision");
  OnnxForm form;
  DType t = onnx_narrow_attr(c, "output_dtype", DT_U8, &form);
  onnx_ignore(c, "saturate"); /* of 8-bit floats alone */
  if (zero) t = zero->type.dtype, form = c->in[2]->form;
  Node *y = same_integers(c);
  if (!y && onnx_form_is_float(form)) y = quantize_floats(c, in_units(c, x, scale), zero, form);
  if (!y)
    y = quantize_elements(c, in_units(c, x, scale), NULL, zero, t, onnx_form_bits(form));
  onnx_set(c, 0, y);
  onnx_set_form(c, 0, form);
}

void onnx_op_dequantize(OnnxCall *c) {
  Build *b = &c->b;
  Node *x = onnx_in(c, 0), *zero = expand_scale(c, onnx_optional(c, 2), x);
  Node *scale = expand_scale(c, onnx_in(c, 1), x);
  DType t = onnx_dtype_attr(c, "output_dtype", scale->type.dtype), wide = build_wide(t);
  OnnxForm form = c->in[0]->form;
  if (onnx_form_is_float(form)) {
    x = onnx_decoded(c, x, form);
    zero = zero ? onnx_decoded(c, zero, form) : NULL;
  }
  x = build_to(b, from_zero(c, x, zero), wide);
  onnx_set(c, 0, build_to(b, build_mul(b, x, build_to(b, scale, wide)), t));
}

typedef struct {
  Node *elements, *scale, *point;
} Quantized;

/* An extreme of all elements: of rows first, which processors share. */
static Node *extreme(Build *b, OpId op, Node *x) {
  if (rank_of(x) > 1) x = build_reduce(b, op, x, 1u << (rank_of(x) - 1), false);
  return build_reduce(b, op, x, all_axes(x), false);
}

/* The range of x with zero in it becomes 0 to 255.  If all of x is 0, the scale is 1. */
static Quantized quantize_range(OnnxCall *c, Node *x) {
  Build *b = &c->b;
  Node *zero = onnx_scalar(c, 0, DT_F32);
  Node *low = extreme(b, OP_aten_amin_default, x), *high = extreme(b, OP_aten_amax_default, x);
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

/* 128 less is the other sign. */
static Node *signed_bytes(Build *b, Node *x) {
  if (x->type.dtype != DT_U8) return x;
  x = build_with(b, OP_nereid_bits_default, x, arg_dtype(DT_I8));
  return build_with(b, OP_aten_bitwise_xor_Scalar, x, build_int(b, -BYTE_HALF));
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

/* Sums of a weight's elements, with a byte's sign, that share an index of its axis `kept`, times a
 * number, and those of `more` unless that is NULL, where both are of the file: no kernel has to be
 * compiled for them.  Else NULL. */
static Node *sums_of_file(OnnxCall *c, const Node *y, uint32_t kept, int64_t times,
                          const Node *more) {
  if (graph_is(y, OP_aten_permute_default) && rank_of(y) == 2 &&
      dim_is(y->args[1].items[0].dim, 1)) {
    y = y->args[0].node;
    kept = 1 - kept;
  }
  const Weight *v = more ? onnx_weight_of(c, more) : NULL;
  const Weight *w = onnx_weight_of(c, y);
  if (!w || !weight_is_dense(w) || !w->data || !is_byte(y)) return NULL;
  int64_t n = w->shape[kept], inner = 1, outer = 1;
  for (uint32_t i = 0; i < kept; i++) outer *= w->shape[i];
  for (uint32_t i = kept + 1; i < w->rank; i++) inner *= w->shape[i];
  const uint8_t *data = w->data, half = y->type.dtype == DT_U8 ? 0 : BYTE_HALF;
  uint32_t *sums = ARENA_ARRAY(c->b.in.g->arena, uint32_t, n);
  for (int64_t o = 0; o < outer; o++)
    for (int64_t i = 0; i < n; i++)
      for (int64_t k = 0; k < inner; k++)
        sums[i] += (uint8_t)(*data++ ^ half) - (uint32_t)BYTE_HALF;
  bool adds = v && v->rank == 1 && v->shape[0] == n && v->dtype == DT_I32 && weight_is_dense(v);
  if (more && !adds) return NULL;
  for (int64_t i = 0; i < n; i++) {
    sums[i] *= (uint32_t)times;
    if (adds) sums[i] += ((const uint32_t *)v->data)[i];
  }
  return onnx_table(c, DT_I32, 1, &n, sums);
}

/* The zero point with a byte's sign, where it is written in the file. */
static bool has_literal_zero(const OnnxFactor *f, int64_t *zero) {
  bool literal = is_literal(f->zero, zero);
  if (f->x->type.dtype == DT_U8) *zero -= BYTE_HALF;
  return literal;
}

/* p times the sums of columns of y less k times q, or NULL. */
static Node *left_correction(OnnxCall *c, const OnnxFactor *left, const OnnxFactor *right) {
  Build *b = &c->b;
  Node *p = signed_zero(c, left), *q = signed_zero(c, right), *y = right->x;
  int64_t point;
  if (!p) return NULL;
  bool literal = !q && has_literal_zero(left, &point);
  Node *columns = sums_of_file(c, y, 1, literal ? point : 1, NULL);
  if (columns && literal) return columns;
  if (!columns) columns = sum_along(b, signed_bytes(b, y), 0);
  if (q) columns = build_sub(b, columns, build_mul_dim(b, q, y->type.shape[0]));
  return build_mul(b, p, columns);
}

/* Signed bytes [m, k] times [k, n], less the correction for the left one's zero point, or NULL; the
 * right one's, q, broadcasts to it; NULL is 0. */
static Node *product_of_bytes(Build *b, Node *x, Node *y, Node *correction, Node *q) {
  Node *sums = build_op2(b, OP_aten__int_mm_default, x, y);
  if (correction) sums = build_sub(b, sums, correction);
  return q ? build_sub(b, sums, build_mul(b, sum_along(b, x, 1), q)) : sums;
}

static Node *product_in_f32(Build *b, Node *x, Node *y) {
  y = build_op2(b, OP_aten_matmul_default, build_to(b, x, DT_F32), build_to(b, y, DT_F32));
  return build_to(b, y, DT_I32);
}

/* Sums of bytes that f32 holds are products of f32; the left one's upper bits and its lowest four
 * by themselves have smaller ones. */
static Node *product_of_integers(Build *b, Node *x, Node *y, bool bytes) {
  enum { EXACT = 1 << 24, DIGIT = 1 << 4 };
  uint32_t rank = rank_of(x);
  Dim terms = rank ? x->type.shape[rank - 1] : NULL;
  int64_t n = bytes && terms && dim_is_int(terms) ? terms->value : INT64_MAX;
  if (n <= EXACT / (INT8_SPAN * INT8_SPAN)) return product_in_f32(b, x, y);
  if (n > EXACT / (DIGIT * INT8_SPAN)) return build_op2(b, OP_aten_matmul_default, x, y);
  Node *high = build_with(b, OP_aten_bitwise_right_shift_Tensor_Scalar, x, build_int(b, 4));
  Node *low = build_with(b, OP_aten_bitwise_and_Scalar, x, build_int(b, DIGIT - 1));
  high = build_with(b, OP_aten_mul_Tensor, product_in_f32(b, high, y), build_int(b, DIGIT));
  return build_add(b, high, product_in_f32(b, low, y));
}

Node *onnx_integer_product(OnnxCall *c, OnnxFactor left, OnnxFactor right) {
  Build *b = &c->b;
  uint32_t rank = rank_of(left.x), zeros = left.zero ? rank_of(left.zero) : 0;
  bool fits = rank_of(right.x) == 2 && rank >= 2 && (zeros == 0 || rank == 2) &&
              (!right.zero || rank_of(right.zero) <= 2);
  if (!is_byte(left.x) || !is_byte(right.x) || !fits)
    return product_of_integers(b, onnx_integers(c, left.x, left.zero),
                               onnx_integers(c, right.x, right.zero),
                               is_byte(left.x) && is_byte(right.x));
  Dim shape[GRAPH_RANK_MAX];
  memcpy(shape, left.x->type.shape, rank * sizeof *shape);
  Dim k = shape[rank - 1], rows[] = {infer_product(&b->in, shape, rank - 1), k};
  Node *x = build_view(b, signed_bytes(b, left.x), 2, rows);
  Node *correction = left_correction(c, &left, &right);
  Node *q = signed_zero(c, &right);
  Node *sums = product_of_bytes(b, x, signed_bytes(b, right.x), correction, q);
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
  OnnxCall *maker;
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
  if (x->form || (t != DT_I8 && t != DT_U8) || scale->type.dtype != DT_F32) return false;
  if (onnx_int(m, "block_size", 0) || !is_along(m, scale, &x->type, axis)) return false;
  if (zero && (zero->type.dtype != t || !is_along(m, zero, &x->type, axis))) return false;
  found->factor.x = onnx_node_of(c, x);
  found->factor.zero = zero ? parameter_of(c, zero) : NULL;
  found->factor.from_zero = onnx_is_from_zero(m, 2);
  found->scale = parameter_of(c, scale);
  found->maker = m;
  return true;
}

enum { TERMS_MAX = 1 << 15 }; /* sums of so many products of bytes fit in i32 */

static float known_float(const OnnxKnown *k, uint32_t i) {
  return (float)k->at[k->n == 1 ? 0 : i].number;
}

/* Input i as i32 where it is integers in units of the product's scale, one for each column; NULL:
 * that is not known. */
static Node *bias_of_sums(OnnxCall *c, uint32_t i, const Dequantized *x, const Dequantized *y) {
  if (!onnx_has(c, i)) return NULL;
  OnnxCall *m = c->in[i]->maker;
  if (!m || m->op->translate != onnx_op_dequantize || m->nin < 2 || !onnx_is_from_zero(m, 2))
    return NULL;
  const OnnxKnown *own = onnx_known(m, 1), *left = onnx_known(x->maker, 1),
                  *right = onnx_known(y->maker, 1);
  if (m->in[0]->type.dtype != DT_I32 || m->in[0]->type.rank != 1) return NULL;
  if (!own || !left || !right || left->n != 1 || own->dtype != DT_F32) return NULL;
  uint32_t n = own->n > right->n ? own->n : right->n;
  if ((own->n != 1 && own->n != n) || (right->n != 1 && right->n != n)) return NULL;
  for (uint32_t k = 0; k < n; k++)
    if (known_float(own, k) != known_float(left, 0) * known_float(right, k)) return NULL;
  return onnx_node_of(c, m->in[0]);
}

static Node *product_of_scales(OnnxCall *c, const OnnxScaled *s, const Dequantized *x,
                               const Dequantized *y) {
  Node *known = known_factor(c, s->left, s->right, (OnnxPlace){NULL, 0});
  return known ? known : build_mul(&c->b, x->scale, y->scale);
}

/* Sets result 0 to the sums in those units, plus the bias. */
static void set_scaled(OnnxCall *c, const OnnxScaled *scaled) {
  Build *b = &c->b;
  Node *y = build_mul(b, build_to(b, scaled->sums, DT_F32), scaled->scale);
  onnx_set(c, 0, scaled->more ? build_add(b, y, scaled->more) : y);
  if (!c->out[0]) return;
  OnnxScaled *s = ARENA_NEW(b->in.g->arena, OnnxScaled);
  *s = *scaled;
  c->out[0]->scaled = s;
}

bool onnx_set_dequantized_product(OnnxCall *c, bool turned, bool biased) {
  Build *b = &c->b;
  Dequantized x, y;
  const ValueType *left = onnx_type(c, 0), *right = onnx_type(c, 1);
  if (left->rank < 2 || right->rank != 2) return false;
  Dim k = right->shape[turned];
  if (!dim_is_int(k) || k->value > TERMS_MAX || k != left->shape[left->rank - 1]) return false;
  if (!find_dequantized(c, c->in[0], GRAPH_RANK_MAX, &x)) return false;
  if (!find_dequantized(c, c->in[1], !turned, &y)) return false;
  if (turned) y.factor.x = build_transpose(b, y.factor.x, 0, 1);
  Node *sums = onnx_integer_product(c, x.factor, y.factor);
  Node *bias = biased ? bias_of_sums(c, 2, &x, &y) : NULL;
  if (bias) sums = build_add(b, sums, bias);
  OnnxScaled scaled = {sums, NULL, NULL, {x.maker, 1}, {y.maker, 1}, {c, 2}};
  scaled.scale = product_of_scales(c, &scaled, &x, &y);
  if (biased && !bias) scaled.more = onnx_optional(c, 2);
  set_scaled(c, &scaled);
  return true;
}

/* Rescales in f32, by one factor, as ONNX Runtime does: the scale of the result is a fraction of
 * those of the factors. */
static Node *rescaled(OnnxCall *c, Node *sums, Node *x, Node *y, uint32_t axis) {
  Build *b = &c->b;
  Node *zero = onnx_in(c, 7), *scale = build_to(b, onnx_in(c, 6), DT_F32);
  Node *factor = known_factor(c, (OnnxPlace){c, 1}, (OnnxPlace){c, 4}, (OnnxPlace){c, 6});
  if (factor) factor = align_to_axis(c, factor, axis, sums);
  else factor = build_div(b, build_to(b, build_mul(b, x, y), DT_F32), scale);
  Node *units = build_mul(b, build_to(b, sums, DT_F32), factor);
  return quantize_elements(c, units, NULL, zero, zero->type.dtype, 0);
}

/* Inputs are three of each factor and two of the result: tensor, scale, zero point. */
void onnx_op_qlinear_matmul(OnnxCall *c) {
  Node *x_scale = row_zero(c, onnx_in(c, 1)), *y_scale = onnx_in(c, 4);
  Node *sums = integer_product(c, 0, 2, 3, 5);
  onnx_set(c, 0, rescaled(c, sums, x_scale, y_scale, rank_of(sums) - 1));
}

/* ---- convolutions ----
 *
 * The sums are those of matrices with zero points p and q:
 *
 *   sum(x * y) - p * (sum(y) - k * q) - sum(x) * q
 *
 * where x is p around the image. */

/* The zero point's byte, input i of a call, where it is known; false: it is not one number. */
static bool known_zero(OnnxCall *c, uint32_t i, DType t, int64_t *zero) {
  const OnnxKnown *k = onnx_has(c, i) ? onnx_known(c, i) : NULL;
  *zero = t == DT_U8 ? -BYTE_HALF : 0;
  if (!onnx_has(c, i)) return true;
  if (!k || k->n != 1 || !dim_is_int(k->at[0].dim)) return false;
  *zero += k->at[0].dim->value;
  return true;
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

static Node *sums_of_windows(OnnxCall *c, const OnnxWindow *w, Node *x, Node *y, int64_t groups,
                             int64_t fill) {
  Build *b = &c->b;
  Dim pads[2 * ONNX_AXES_MAX];
  for (uint32_t i = 0; i < w->n; i++) {
    pads[2 * i] = build_const(b, w->before[i]);
    pads[2 * i + 1] = build_const(b, w->after[i]);
  }
  Arg args[] = {arg_node(x),
                arg_node(y),
                onnx_window_arg(c, w, w->stride),
                arg_dims(b->in.g, 2 * w->n, pads),
                onnx_window_arg(c, w, w->dilation),
                build_int(b, groups),
                build_int(b, fill)};
  return build(b, OP_nereid_int_conv_default, 7, args);
}

/* Sums of the elements that a window of each group meets: [N, O or 1, sizes]. */
static Node *sums_of_image(OnnxCall *c, const OnnxWindow *w, Node *x, const Node *y,
                           int64_t groups, int64_t fill) {
  Build *b = &c->b;
  Dim shape[GRAPH_RANK_MAX];
  memcpy(shape, y->type.shape, rank_of(y) * sizeof *shape);
  Dim each = dim_quotient(onnx_dims(c), shape[0], build_const(b, groups));
  shape[0] = build_const(b, groups);
  Node *ones = build_full(b, rank_of(y), shape, build_int(b, 1), DT_I8);
  Node *sums = sums_of_windows(c, w, x, ones, groups, fill);
  if (groups == 1) return sums;
  uint32_t rank = rank_of(sums);
  memcpy(shape, sums->type.shape, 2 * sizeof *shape);
  memcpy(shape + 3, sums->type.shape + 2, (rank - 2) * sizeof *shape);
  shape[2] = each;
  sums = build_expand(b, build_unsqueeze(b, sums, 2), rank + 1, shape);
  shape[1] = y->type.shape[0];
  memcpy(shape + 2, sums->type.shape + 3, (rank - 2) * sizeof *shape);
  return build_view(b, sums, rank, shape);
}

static Node *along_channels(OnnxCall *c, Node *v, const Node *like) {
  return rank_of(v) == 1 ? build_along(&c->b, v, 1, rank_of(like)) : v;
}

/* A convolution's sums of bytes, with `bias` of each channel, in i32 or NULL. */
static Node *convolution_of_bytes(OnnxCall *c, const OnnxFactor *left, const OnnxFactor *right,
                                  OnnxPlace zero, Node *bias) {
  Build *b = &c->b;
  OnnxWindow w = onnx_window(c, left->x, right->x->type.shape + 2);
  int64_t groups = onnx_int(c, "group", 1), fill = 0;
  Node *p = signed_zero(c, left), *q = signed_zero(c, right);
  Node *x = signed_bytes(b, left->x), *y = signed_bytes(b, right->x);
  Node *of_weight = NULL;
  bool known = known_zero(zero.call, zero.i, left->x->type.dtype, &fill);
  if (!known) {
    x = padded_bytes(c, &w, x, p);
    memset(w.before, 0, sizeof w.before);
    memset(w.after, 0, sizeof w.after);
  }
  Node *sums = sums_of_windows(c, &w, x, y, groups, fill);
  if (p && known && !q) of_weight = sums_of_file(c, right->x, 0, -fill, bias);
  if (of_weight) {
    bias = of_weight;
  } else if (p) {
    of_weight = build_sum(b, build_to(b, y, DT_I32), all_axes(y) & ~1u, false);
    of_weight = build_to(b, of_weight, DT_I32);
    Dim terms = infer_product(&b->in, y->type.shape + 1, rank_of(y) - 1);
    if (q) of_weight = build_sub(b, of_weight, build_mul_dim(b, q, terms));
    of_weight = build_mul(b, p, of_weight);
    bias = bias ? build_sub(b, bias, of_weight) : build_op1(b, OP_aten_neg_default, of_weight);
  }
  if (bias) sums = build_add(b, sums, along_channels(c, bias, sums));
  if (!q) return sums;
  Node *of_image = sums_of_image(c, &w, x, y, groups, fill);
  return build_sub(b, sums, build_mul(b, of_image, along_channels(c, q, sums)));
}
/* Other integers are multiplied as such. */
static Node *convolution_of_integers(OnnxCall *c, const OnnxFactor *left, const OnnxFactor *right) {
  static const int64_t zeros[ONNX_AXES_MAX];
  Build *b = &c->b;
  OnnxWindow w = onnx_window(c, left->x, right->x->type.shape + 2);
  Node *x = onnx_integers(c, left->x, left->zero), *y = right->x;
  Node *q = right->zero ? align_to_axis(c, right->zero, 0, y) : NULL;
  Arg args[] = {arg_node(onnx_window_pad(c, &w, x, build_int(b, 0), false)),
                arg_node(onnx_integers(c, y, q)),
                arg_none(),
                onnx_window_arg(c, &w, w.stride),
                onnx_window_arg(c, &w, zeros),
                onnx_window_arg(c, &w, w.dilation),
                arg_bool(false),
                onnx_window_arg(c, &w, zeros),
                build_int(b, onnx_int(c, "group", 1))};
  return build(b, OP_aten_convolution_default, 9, args);
}

static void check_quantized_weight(OnnxCall *c, const ValueType *x, const ValueType *weight) {
  if (weight->rank != x->rank || x->rank < 3)
    onnx_fail(c, E_GRAPH_AXES, 3, 5, infer_type_text(&c->b.in, weight));
}

static Node *integer_convolution(OnnxCall *c, const OnnxFactor *x, const OnnxFactor *weight,
                                 uint32_t zero, Node *bias) {
  check_quantized_weight(c, &x->x->type, &weight->x->type);
  bool bytes = is_byte(x->x) && is_byte(weight->x) && (!x->zero || !rank_of(x->zero));
  if (bytes) return convolution_of_bytes(c, x, weight, (OnnxPlace){c, zero}, bias);
  Node *sums = convolution_of_integers(c, x, weight);
  return bias ? build_add(&c->b, sums, along_channels(c, bias, sums)) : sums;
}

void onnx_op_conv_integer(OnnxCall *c) {
  OnnxFactor x = {onnx_in(c, 0), onnx_columns(c, 2, true), onnx_is_from_zero(c, 2)};
  OnnxFactor weight = {onnx_in(c, 1), onnx_columns(c, 3, true), onnx_is_from_zero(c, 3)};
  onnx_set(c, 0, integer_convolution(c, &x, &weight, 2, NULL));
}

void onnx_op_qlinear_conv(OnnxCall *c) {
  OnnxFactor x = {onnx_in(c, 0), onnx_columns(c, 2, false), onnx_is_from_zero(c, 2)};
  OnnxFactor weight = {onnx_in(c, 3), onnx_columns(c, 5, false), onnx_is_from_zero(c, 5)};
  bool last = onnx_flag(c, "channels_last", false);
  if (last) x.x = onnx_move_channels(c, x.x, false);
  Node *sums = integer_convolution(c, &x, &weight, 2, onnx_optional(c, 8));
  Node *weight_scale = align_to_axis(c, onnx_in(c, 4), 1, sums);
  Node *y = rescaled(c, sums, onnx_in(c, 1), weight_scale, 1);
  onnx_set(c, 0, last ? onnx_move_channels(c, y, true) : y);
}

bool onnx_set_dequantized_convolution(OnnxCall *c) {
  Build *b = &c->b;
  Dequantized x, y;
  const ValueType *image = onnx_type(c, 0), *weight = onnx_type(c, 1);
  if (image->rank < 3 || weight->rank != image->rank) return false;
  Dim terms = infer_product(&b->in, weight->shape + 1, weight->rank - 1);
  if (!dim_is_int(terms) || terms->value > TERMS_MAX) return false;
  if (!find_dequantized(c, c->in[0], GRAPH_RANK_MAX, &x)) return false;
  if (!find_dequantized(c, c->in[1], 0, &y)) return false;
  Node *bias = bias_of_sums(c, 2, &x, &y), *more = bias ? NULL : onnx_optional(c, 2);
  Node *sums = convolution_of_bytes(c, &x.factor, &y.factor, (OnnxPlace){x.maker, 2}, bias);
  OnnxScaled scaled = {sums, NULL, NULL, {x.maker, 1}, {y.maker, 1}, {c, 2}};
  scaled.scale = along_channels(c, product_of_scales(c, &scaled, &x, &y), sums);
  if (more) scaled.more = along_channels(c, more, sums);
  set_scaled(c, &scaled);
  return true;
}
