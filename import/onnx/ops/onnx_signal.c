/* Fourier transforms, determinants; windows and weights of signal processing.
 *
 * Transforms are computed in f64: what cancels out is small beside the sums that it comes from. */
#include <math.h>

#include "graph/messages.h"
#include "import/messages.h"
#include "import/onnx/onnx_op.h"

static Node *complex_of(Build *b, Node *re, Node *im) {
  if (!im) im = build_full(b, rank_of(re), re->type.shape, build_int(b, 0), re->type.dtype);
  return build_op2(b, OP_aten_complex_default, re, im);
}

/* The transform along the last axis of the real and imaginary parts (which may be NULL): its first
 * m elements, and a last axis of the two parts. */
static Node *transform(OnnxCall *c, Node *re, Node *im, Dim m, bool inverse) {
  Build *b = &c->b;
  uint32_t last = rank_of(re) - 1;
  Dim n = re->type.shape[last];
  if (dim_range(onnx_dims(c), n).hi < 1) onnx_fail(c, E_GRAPH_TRANSFORM, infer_dim_text(&b->in, n));
  bool half = !im && m != n && !inverse;
  OpId op = half      ? OP_aten_fft_rfft_default
            : inverse ? OP_aten_fft_ifft_default
                      : OP_aten_fft_fft_default;
  Node *y = build_op1(b, op, im ? complex_of(b, re, im) : re);
  y = build_op1(b, OP_aten_view_as_real_default, y);
  return m == y->type.shape[last] ? y : build_slice(b, y, last, build_const(b, 0), m, 1);
}

/* Part i of the last axis, NULL if there is none. */
static Node *complex_part(OnnxCall *c, Node *x, int64_t i) {
  uint32_t last = rank_of(x) - 1;
  Dim size = x->type.shape[last];
  if (!dim_is(size, 1) && !dim_is(size, 2)) onnx_fail(c, E_GRAPH_STEP, (long long)size->value);
  return i && dim_is(size, 1) ? NULL : build_select(&c->b, x, last, build_const(&c->b, i));
}

static Dim half_length(OnnxCall *c, Dim n) {
  Dims *d = onnx_dims(c);
  return dim_add(d, dim_floordiv(d, n, dim_int(d, 2)), dim_int(d, 1));
}

/* Cut, or filled with zeros, to n elements along an axis. */
static Node *fit(OnnxCall *c, Node *x, uint32_t axis, Dim n) {
  Build *b = &c->b;
  Dim size = x->type.shape[axis], pad[2 * GRAPH_RANK_MAX];
  if (size == n) return x;
  if (!dim_is_int(size) || !dim_is_int(n)) onnx_lack(c, "a length that is symbolic");
  if (size->value > n->value) return build_slice(b, x, axis, build_const(b, 0), n, 1);
  uint32_t pairs = rank_of(x) - axis;
  for (uint32_t i = 0; i < 2 * pairs; i++) pad[i] = build_const(b, 0);
  pad[2 * pairs - 1] = build_const(b, n->value - size->value);
  Arg args[] = {arg_node(x), arg_dims(b->in.g, 2 * pairs, pad)};
  return build(b, OP_aten_constant_pad_nd_default, 2, args);
}

/* Real numbers, of which x is one side of the spectrum; their number is given, or even. */
static void set_inverse_of_half(OnnxCall *c, Node *x, uint32_t axis) {
  Build *b = &c->b;
  DType t = x->type.dtype;
  uint32_t rank = rank_of(x);
  Dim given = dim_sub(onnx_dims(c), x->type.shape[axis], build_const(b, 1));
  Dim n = onnx_has(c, 1) ? onnx_need_dim(c, 1) : dim_mul(onnx_dims(c), given, build_const(b, 2));
  x = fit(c, x, axis, half_length(c, n));
  x = build_transpose(b, build_to(b, x, DT_F64), axis, rank - 2);
  Node *y = complex_of(b, complex_part(c, x, 0), complex_part(c, x, 1));
  y = build_with(b, OP_aten_fft_irfft_default, y, arg_dim(n));
  y = build_unsqueeze(b, y, rank - 1);
  onnx_set(c, 0, build_to(b, build_transpose(b, y, axis, rank - 2), t));
}

void onnx_op_dft(OnnxCall *c) {
  Build *b = &c->b;
  Node *x = onnx_in(c, 0);
  bool inverse = onnx_flag(c, "inverse", false), half = onnx_flag(c, "onesided", false);
  uint32_t rank = rank_of(x);
  int64_t along = c->opset < 20    ? onnx_int(c, "axis", 1)
                  : onnx_has(c, 2) ? onnx_need_int(c, 2)
                                   : -2;
  uint32_t axis = onnx_axis(c, along, rank);
  if (rank < 2 || axis == rank - 1) onnx_fail(c, E_GRAPH_AXIS, (long long)along, rank);
  if (inverse && half) {
    set_inverse_of_half(c, x, axis);
    return;
  }
  DType t = x->type.dtype;
  if (onnx_has(c, 1)) x = fit(c, x, axis, onnx_need_dim(c, 1));
  Dim n = x->type.shape[axis];
  x = build_transpose(b, build_to(b, x, DT_F64), axis, rank - 2);
  Node *y = transform(c, complex_part(c, x, 0), complex_part(c, x, 1), half ? half_length(c, n) : n,
                      inverse);
  onnx_set(c, 0, build_to(b, build_transpose(b, y, axis, rank - 2), t));
}

/* Frames of the signal, each times the window, transformed. */
void onnx_op_stft(OnnxCall *c) {
  Build *b = &c->b;
  Node *x = onnx_in(c, 0), *window = onnx_optional(c, 2);
  bool half = onnx_flag(c, "onesided", true);
  infer_rank(&b->in, &x->type, 2, 3);
  if (window) infer_rank(&b->in, &window->type, 1, 1);
  if (!window && !onnx_has(c, 3)) onnx_fail(c, E_ONNX_INPUT, 4);
  Dims *d = onnx_dims(c);
  Dim step = onnx_need_dim(c, 1), n = onnx_has(c, 3) ? onnx_need_dim(c, 3) : window->type.shape[0];
  Dim length = x->type.shape[1];
  if (dim_range(d, step).lo < 1) onnx_fail(c, E_GRAPH_STEP, (long long)dim_range(d, step).lo);
  Dim frames = dim_add(d, dim_floordiv(d, dim_sub(d, length, n), step), dim_int(d, 1));
  if (dim_range(d, frames).hi < 1) onnx_fail(c, E_GRAPH_NEGATIVE, infer_dim_text(&b->in, frames));
  DType t = x->type.dtype;
  Node *start = build_with(b, OP_aten_mul_Tensor, build_arange(b, frames), arg_dim(step));
  Node *at = build_add(b, build_along(b, start, 0, 2), build_arange(b, n));
  x = build_to(b, x, DT_F64);
  Node *parts[2] = {rank_of(x) == 3 ? complex_part(c, x, 0) : x,
                    rank_of(x) == 3 ? complex_part(c, x, 1) : NULL};
  for (int i = 0; i < 2; i++) {
    Arg list = arg_list(b->in.g, 2);
    list.items[0] = arg_none();
    list.items[1] = arg_node(at);
    if (!parts[i]) continue;
    parts[i] = build_with(b, OP_aten_index_Tensor, parts[i], list);
    if (window) parts[i] = build_mul(b, parts[i], build_to(b, window, DT_F64));
  }
  Node *y = transform(c, parts[0], parts[1], half ? half_length(c, n) : n, false);
  onnx_set(c, 0, build_to(b, y, t));
}

/* ---- determinants ---- */

enum { MATRIX_MAX = 6 };

/* The minor of rows from `row` on and the columns of `set`, by the elements of its first row;
 * minors are kept by their columns. */
static Node *minor(OnnxCall *c, Node *x, uint32_t row, uint32_t set, Node **known) {
  Build *b = &c->b;
  uint32_t rank = rank_of(x), position = 0;
  if (known[set]) return known[set];
  Node *line = build_select(b, x, rank - 2, build_const(b, row)), *sum = NULL;
  for (uint32_t i = 0; i < MATRIX_MAX; i++) {
    if (!(set >> i & 1)) continue;
    Node *term = build_select(b, line, rank - 2, build_const(b, i));
    uint32_t rest = set & ~(1u << i);
    if (rest) term = build_mul(b, term, minor(c, x, row + 1, rest, known));
    if (!sum) sum = term;
    else sum = position % 2 ? build_sub(b, sum, term) : build_add(b, sum, term);
    position++;
  }
  return known[set] = sum;
}

void onnx_op_det(OnnxCall *c) {
  Node *x = onnx_in(c, 0), *known[1 << MATRIX_MAX] = {0};
  infer_rank(&c->b.in, &x->type, 2, GRAPH_RANK_MAX);
  Dim n = x->type.shape[rank_of(x) - 1];
  if (n != x->type.shape[rank_of(x) - 2])
    onnx_fail(c, E_GRAPH_SIZES, "both axes of a matrix", infer_dim_text(&c->b.in, n), "another");
  if (!dim_is_int(n) || n->value < 1 || n->value > MATRIX_MAX)
    onnx_lack(c, "matrices of more than %d rows", MATRIX_MAX);
  onnx_set(c, 0, minor(c, x, 0, (1u << n->value) - 1, known));
}

/* ---- windows ---- */

/* a - b * cos(2 pi i / n) + c * cos(4 pi i / n) for i below size; n is the size, or one less for a
 * symmetric one. */
static void cosine_window(OnnxCall *c, double a, double b, double d) {
  Build *at = &c->b;
  Dim size = onnx_need_dim(c, 0);
  bool periodic = onnx_flag(c, "periodic", true);
  DType t = onnx_dtype_attr(c, "output_datatype", DT_F32);
  Dim n = periodic ? size : dim_sub(onnx_dims(c), size, build_const(at, 1));
  Node *i = build_to(at, build_arange(at, size), DT_F64);
  i = build_with(at, OP_aten_mul_Tensor, i, arg_float(2 * M_PI));
  i = build_with(at, OP_aten_div_Tensor, i, arg_dim(n));
  Node *y = build_op1(at, OP_aten_cos_default, i);
  y = build_with(at, OP_aten_mul_Tensor, y, arg_float(-b));
  y = build_with(at, OP_aten_add_Tensor, y, arg_float(a));
  if (d != 0) {
    Node *twice = build_with(at, OP_aten_mul_Tensor, i, arg_float(2));
    twice = build_op1(at, OP_aten_cos_default, twice);
    twice = build_with(at, OP_aten_mul_Tensor, twice, arg_float(d));
    y = build_add(at, y, twice);
  }
  onnx_set(c, 0, build_to(at, y, t));
}

void onnx_op_hann(OnnxCall *c) { cosine_window(c, 0.5, 0.5, 0); }
void onnx_op_hamming(OnnxCall *c) { cosine_window(c, 25.0 / 46, 21.0 / 46, 0); }
void onnx_op_blackman(OnnxCall *c) { cosine_window(c, 0.42, 0.5, 0.08); }

/* ---- MelWeightMatrix ---- */

/* The bins of the spectrum where `bands` triangles begin, have their peak, or end: that many and
 * two, at equal distances on the scale of mel. */
static OnnxKnown *mel_frequencies(OnnxCall *c, int64_t bands) {
  double size = onnx_need_number(c, 1), rate = onnx_need_number(c, 2);
  double low = 2595 * log10(1 + onnx_need_number(c, 3) / 700);
  double high = 2595 * log10(1 + onnx_need_number(c, 4) / 700);
  OnnxKnown *k = onnx_known_new(c, DT_F32, 1, (int64_t[]){bands + 2});
  if (!k) onnx_lack(c, "so many bands");
  for (uint32_t i = 0; i < k->n; i++) {
    double mel = low + (high - low) / (double)k->n * i;
    k->at[i].number = floor((size + 1) * (700 * (pow(10, mel / 2595) - 1)) / rate);
  }
  return k;
}

/* How far from an end of the triangle, in parts of that side's length. */
static Node *mel_slope(Build *b, Node *distance, Node *length) {
  return build_div(b, distance, build_with(b, OP_aten_clamp_min_default, length, arg_float(1)));
}

/* A column for each band: a triangle over the bins of a spectrum. */
void onnx_op_mel_weights(OnnxCall *c) {
  Build *b = &c->b;
  int64_t bands = onnx_need_int(c, 0), bins = onnx_need_int(c, 1) / 2 + 1;
  DType t = onnx_dtype_attr(c, "output_datatype", DT_F32);
  if (bands > ONNX_KNOWN_MAX) onnx_lack(c, "more than %d bands", ONNX_KNOWN_MAX);
  if (bands < 1 || bins < 1) onnx_lack(c, "a matrix without elements");
  Node *edges = onnx_constant(c, mel_frequencies(c, bands)), *at[3];
  for (int64_t i = 0; i < 3; i++)
    at[i] = build_slice(b, edges, 0, build_const(b, i), build_const(b, bands + i), 1);
  Node *bin = build_to(b, build_arange(b, build_const(b, bins)), DT_F32);
  bin = build_unsqueeze(b, bin, 1);
  Node *rise = build_sub(b, at[1], at[0]), *fall = build_sub(b, at[2], at[1]);
  Node *up = mel_slope(b, build_sub(b, bin, at[0]), rise);
  Node *down = mel_slope(b, build_sub(b, at[2], bin), fall);
  Node *peak = build_op2(b, OP_aten_eq_Tensor, bin, at[1]), *zero = onnx_scalar(c, 0, DT_F32);
  Node *y = build_op2(b, OP_aten_minimum_default, up, down);
  y = build_op2(b, OP_aten_maximum_default, y, zero);
  onnx_set(c, 0, build_to(b, build_where(b, peak, arg_float(1), arg_node(y)), t));
}
