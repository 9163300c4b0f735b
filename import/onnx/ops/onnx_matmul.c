/* Products of matrices. */
#include "import/onnx/ops/onnx_shared.h"

void onnx_op_matmul(OnnxCall *c) {
  if (onnx_set_dequantized_product(c, false, false)) return;
  onnx_set(c, 0, build_op2(&c->b, OP_aten_matmul_default, onnx_in(c, 0), onnx_in(c, 1)));
}

static Node *scale_product(OnnxCall *c, Node *x, double factor) {
  if (factor == 1) return x;
  return build_to(&c->b, build_with(&c->b, OP_aten_mul_Tensor, x, arg_float(factor)),
                  x->type.dtype);
}

/* alpha * A' * B' + beta * C, where A' is A or its transpose. */
Node *onnx_gemm(OnnxCall *c, Node *x, Node *y, Node *z) {
  Build *b = &c->b;
  infer_rank(&b->in, &x->type, 2, 2);
  infer_rank(&b->in, &y->type, 2, 2);
  bool left = onnx_flag(c, "transA", false), right = onnx_flag(c, "transB", false);
  double alpha = onnx_float(c, "alpha", 1), beta = onnx_float(c, "beta", 1);
  if (left) x = build_transpose(b, x, 0, 1);
  if (right && z && alpha == 1 && beta == 1 && rank_of(z) == 1) {
    Arg args[] = {arg_node(x), arg_node(y), arg_node(z)};
    return build(b, OP_aten_linear_default, 3, args);
  }
  if (right) y = build_transpose(b, y, 0, 1);
  Node *product = scale_product(c, build_op2(b, OP_aten_mm_default, x, y), alpha);
  return z && beta != 0 ? build_add(b, product, scale_product(c, z, beta)) : product;
}

static bool set_dequantized_gemm(OnnxCall *c) {
  bool scaled = onnx_float(c, "alpha", 1) != 1 || onnx_float(c, "beta", 1) != 1;
  if (scaled || onnx_flag(c, "transA", false)) return false;
  return onnx_set_dequantized_product(c, onnx_flag(c, "transB", false), true);
}

void onnx_op_gemm(OnnxCall *c) {
  onnx_ignore(c, "broadcast"); /* before opset 7; C broadcasts always */
  if (set_dequantized_gemm(c)) return;
  Node *x = onnx_in(c, 0), *y = onnx_in(c, 1);
  onnx_set(c, 0, onnx_gemm(c, x, y, onnx_optional(c, 2)));
}

/* SparseToDenseMatMul: a sparse matrix is a dense one here. */
void onnx_op_sparse_product(OnnxCall *c) {
  Build *b = &c->b;
  Node *x = onnx_in(c, 0), *y = onnx_in(c, 1);
  infer_rank(&b->in, &x->type, 2, 2);
  infer_rank(&b->in, &y->type, 2, GRAPH_RANK_MAX);
  if (onnx_flag(c, "transA", false)) x = build_transpose(b, x, 0, 1);
  if (onnx_flag(c, "transB", false)) y = build_transpose(b, y, rank_of(y) - 2, rank_of(y) - 1);
  Node *product = build_op2(b, OP_aten_matmul_default, x, y);
  onnx_set(c, 0, scale_product(c, product, onnx_float(c, "alpha", 1)));
}
