/* Windows of signal processing, and normalization over neighbours. */
#include <math.h>
#include <string.h>

#include "graph/onnx_op.h"

/* a - b * cos(2 pi i / n) + c * cos(4 pi i / n) for i below size; n is the size, or one less for a
 * symmetric one. */
static void cosine_window(OnnxCall *c, double a, double b, double d) {
  Build *at = &c->b;
  Dim size = onnx_need_dim(c, 0);
  bool periodic = onnx_flag(c, "periodic", true);
  DType t = onnx_dtype_attr(c, "output_datatype", DT_F32);
  Dim n = periodic ? size : dim_sub(onnx_dims(c), size, build_const(at, 1));
  Node *i = build_to(at, build_arange(at, size), DT_F64);
  i = build_with(at, "aten.mul.Tensor", i, arg_float(2 * M_PI));
  i = build_with(at, "aten.div.Tensor", i, arg_dim(n));
  Node *y = build_op1(at, "aten.cos.default", i);
  y = build_with(at, "aten.mul.Tensor", y, arg_float(-b));
  y = build_with(at, "aten.add.Tensor", y, arg_float(a));
  if (d != 0) {
    Node *twice = build_with(at, "aten.mul.Tensor", i, arg_float(2));
    twice = build_op1(at, "aten.cos.default", twice);
    twice = build_with(at, "aten.mul.Tensor", twice, arg_float(d));
    y = build_add(at, y, twice);
  }
  onnx_set(c, 0, build_to(at, y, t));
}

void onnx_op_hann(OnnxCall *c) { cosine_window(c, 0.5, 0.5, 0); }
void onnx_op_hamming(OnnxCall *c) { cosine_window(c, 25.0 / 46, 21.0 / 46, 0); }
void onnx_op_blackman(OnnxCall *c) { cosine_window(c, 0.42, 0.5, 0.08); }
