/* WordConvEmbedding: words of characters, [words, characters], as vectors: the largest of the
 * windows over the vectors of a word's characters. */
#include <math.h>

#include "import/messages.h"
#include "import/onnx/ops/onnx_shared.h"

/* Characters of each word, [words, 1]: numbers above 0; one that begins with another has none. */
static Node *lengths_of(Build *b, Node *words) {
  Node *is = build_with(b, OP_aten_gt_Scalar, words, build_int(b, 0));
  Node *first = build_slice(b, is, 1, build_const(b, 0), build_const(b, 1), 1);
  Node *n = build_sum(b, build_to(b, build_and(b, is, first), DT_I64), 1u << 1, true);
  return n;
}

/* An attribute that repeats a size. */
static void check_size(OnnxCall *c, const char *name, Dim size) {
  int64_t given = onnx_int(c, name, -1);
  if (given >= 0 && dim_is_int(size) && size->value != given)
    onnx_fail(c, E_ONNX_ATTR_VALUE, name, "not the size of the weights");
}

void onnx_op_word_convolution(OnnxCall *c) {
  Build *b = &c->b;
  Graph *g = b->in.g;
  Node *words = onnx_in(c, 0), *weight = onnx_in(c, 1), *bias = onnx_in(c, 2);
  Node *table = onnx_in(c, 3);
  infer_rank(&b->in, &words->type, 2, 2);
  infer_rank(&b->in, &weight->type, 4, 4);
  infer_rank(&b->in, &table->type, 2, 2);
  Dim width = weight->type.shape[2], one[] = {build_const(b, 1), build_const(b, 1)};
  Dim none[] = {build_const(b, 0), build_const(b, 0)};
  check_size(c, "embedding_size", weight->type.shape[0]);
  check_size(c, "conv_window_size", width);
  check_size(c, "char_embedding_size", table->type.shape[1]);
  Node *x = build_op2(b, OP_aten_embedding_default, table, words);
  x = build(b, OP_aten_conv2d_default,
            ARGS(arg_node(build_unsqueeze(b, x, 1)), arg_node(weight), arg_node(bias),
                 arg_dims(g, 2, one), arg_dims(g, 2, none), arg_dims(g, 2, one), arg_dim(*one)));
  x = build_squeeze(b, build_op1(b, OP_aten_tanh_default, x), 1u << 3);
  Node *length = lengths_of(b, words), *window = build_arange(b, x->type.shape[2]);
  Node *last = build_sub(b, length, build_full(b, 0, NULL, arg_dim(width), DT_I64));
  last = build_with(b, OP_aten_clamp_min_default, last, build_int(b, 0));
  Node *in = build_unsqueeze(b, build_op2(b, OP_aten_le_Tensor, window, last), 1);
  x = build_where(b, in, arg_node(x), arg_float(-INFINITY));
  x = build_reduce(b, OP_aten_amax_default, x, 1u << 2, false);
  Node *is_word = build_with(b, OP_aten_gt_Scalar, length, build_int(b, 0));
  onnx_set(c, 0, build_where(b, is_word, arg_node(x), arg_float(0)));
}
