/* Vectors of words and tokens: WordConvEmbedding, the largest of the windows over the vectors of a
 * word's characters, and GatherPacked, rows of a table in GGUF's blocks. */
#include <math.h>
#include <string.h>

#include "import/archives/gguf_blocks.h"
#include "import/messages.h"
#include "import/onnx/onnx_read.h"
#include "import/onnx/ops/onnx_shared.h"

/* ---- WordConvEmbedding ---- */

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

/* ---- GatherPacked ---- */

/* The table's bytes in the file, [rows, bytes]. */
static const Weight *packed_table(OnnxCall *c) {
  const Weight *w = onnx_weight_of(c, onnx_in(c, 0));
  if (!w || !w->data || !weight_is_dense(w))
    onnx_lack(c, "a table that is not the file's own");
  if (w->rank != 2 || w->dtype != DT_U8) onnx_lack(c, "a table that is no matrix of bytes");
  return w;
}

/* A table of floats of that type: f32 for 0, f16 for 1; NULL: they are blocks. */
static Node *float_table(OnnxCall *c, int64_t type, int64_t columns) {
  enum { F32, F16 };
  DType t = type == F32 ? DT_F32 : DT_F16;
  if (type != F32 && type != F16) return NULL;
  const Weight *w = packed_table(c);
  if (columns < 1 || columns > w->shape[1] || w->shape[1] != columns * dtype_bytes(t))
    onnx_fail(c, E_ONNX_ATTR_VALUE, "K", "not that of the table");
  return onnx_table(c, t, 2, (int64_t[]){w->shape[0], columns}, w->data);
}

/* A table of blocks, which are decoded when the file is read. */
static Node *block_table(OnnxCall *c, int64_t type, int64_t columns) {
  enum { ELEMENTS_MAX = 1 << 28 };
  const BlockKind *k = type >= 0 && type <= UINT32_MAX ? gguf_block_kind((uint32_t)type) : NULL;
  if (!k) onnx_lack(c, "packed_type %lld", (long long)type);
  const Weight *w = packed_table(c);
  int64_t rows = w->shape[0], shape[] = {rows, columns};
  bool whole = columns > 0 && columns <= ELEMENTS_MAX && columns % k->elements == 0;
  if (!whole || w->shape[1] != columns / k->elements * k->bytes)
    onnx_fail(c, E_ONNX_ATTR_VALUE, "K", "not that of the table");
  if (rows < 1 || rows > ELEMENTS_MAX / columns) onnx_lack(c, "so large a table");
  float *all = ARENA_ARRAY(c->r->scratch, float, (size_t)(rows * columns));
  gguf_decode(k, w->data, (size_t)(rows * columns / k->elements), all);
  return onnx_table(c, DT_F32, 2, shape, all);
}

void onnx_op_gather_packed(OnnxCall *c) {
  Build *b = &c->b;
  int64_t type = onnx_int(c, "packed_type", -1), columns = onnx_int(c, "K", 0);
  DType t = onnx_dtype_attr(c, "output_dtype", DT_BF16);
  Node *table = float_table(c, type, columns), *index = build_to(b, onnx_in(c, 1), DT_I64);
  if (!table) table = block_table(c, type, columns);
  Node *in = build_with(b, OP_aten_ge_Scalar, index, build_int(b, 0));
  in = build_and(b, in, build_with(b, OP_aten_lt_Scalar, index, arg_dim(table->type.shape[0])));
  index = build_where(b, in, arg_node(index), build_int(b, 0)); /* others read the first row */
  onnx_set(c, 0, build_to(b, build_op2(b, OP_aten_embedding_default, table, index), t));
}
