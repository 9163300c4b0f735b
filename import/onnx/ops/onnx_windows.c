/* Windows and weights of signal processing. */
#include <math.h>
#include <string.h>

#include "import/onnx/onnx_op.h"

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
