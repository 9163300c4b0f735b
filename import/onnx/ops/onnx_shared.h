/* Parts that rules of several files share. */
#ifndef NEREID_IMPORT_ONNX_OPS_ONNX_SHARED_H
#define NEREID_IMPORT_ONNX_OPS_ONNX_SHARED_H

#include "import/onnx/onnx_op.h"

/* ---- attention (onnx_attention.c) ---- */

typedef struct {
  Node *query, *key, *value; /* [batch, heads, length, size]; key and value with the past */
  Node *keep;                /* which keys a query sees; NULL: all */
  Node *bias;                /* what is added to the products; NULL: nothing */
  Node *valid;               /* how many keys of each batch count; NULL: all */
  Node *sink;                /* of each head a score without a value; NULL: none */
  Dim past;                  /* keys that were there before */
  double scale, cap;         /* cap 0: products have no limit */
  int64_t products;          /* result 3: scores, capped, with mask, probabilities; -1: none */
} OnnxHeads;

/* [batch, length, heads * size] as [batch, heads, length, size] */
Node *onnx_heads_of(OnnxCall *c, Node *x, int64_t heads);
Node *onnx_join_heads(Build *b, Node *x);
/* Attribute `scale`, or what heads of that size have. */
double onnx_heads_scale(OnnxCall *c, const Node *query);
Node *onnx_attend(OnnxCall *c, const OnnxHeads *h);

typedef struct {
  Node *cosine, *sine; /* as they broadcast to half the elements of a head */
  Dim size;            /* of a head, how many elements are rotated */
  bool interleaved;
} OnnxRotation;

/* x, [batch, heads, length, size], with the first elements rotated by pairs. */
Node *onnx_rotate(OnnxCall *c, Node *x, const OnnxRotation *r);
/* The rows of a table for these positions, [batch, length]: [batch, 1, length, ...]. */
Node *onnx_angles(Build *b, Node *table, Node *positions);

/* ---- weights of few bits (onnx_fused.c) ---- */

/* Rows of blocks that are quantized alike. */
typedef struct {
  Node *rows;   /* [..., elements], u8 or i8, one an element */
  Node *scale;  /* [..., blocks] */
  Node *zero;   /* the same, of any dtype; NULL: `usual` */
  int64_t size; /* of a block */
  double usual;
} OnnxBlocks;

/* Bytes of 8 / bits elements each, the first in the lowest bits, as so many times as many. */
Node *onnx_unpacked(Build *b, Node *x, int64_t bits);
/* The elements as floats. */
Node *onnx_dequantized(OnnxCall *c, const OnnxBlocks *q);

/* ---- windows that slide over the axes after the first two (onnx_window.c) ---- */

enum { ONNX_AXES_MAX = 3 }; /* that windows slide along */

typedef struct {
  uint32_t n; /* axes */
  int64_t kernel[ONNX_AXES_MAX], stride[ONNX_AXES_MAX], dilation[ONNX_AXES_MAX];
  int64_t before[ONNX_AXES_MAX], after[ONNX_AXES_MAX]; /* padding */
  int64_t extra[ONNX_AXES_MAX]; /* further padding at the end, for windows that ceil_mode adds */
  bool same;                    /* auto_pad: as many windows as strides */
} OnnxWindow;

/* Attributes strides, dilations, pads, auto_pad and ceil_mode; the kernel is `kernel`, or if that
 * is NULL attribute kernel_shape. */
OnnxWindow onnx_window(OnnxCall *c, const Node *x, const Dim *kernel);
/* The size of the i-th axis along which windows slide: it must be known, and not huge. */
int64_t onnx_window_size(OnnxCall *c, const Node *x, uint32_t i);
/* Can ATen express it: is padding the same before and after all axes? */
bool onnx_window_is_even(const OnnxWindow *w);
/* x with the window's padding, which is filled with `value`; `extra` too if it says so. */
Node *onnx_window_pad(OnnxCall *c, const OnnxWindow *w, Node *x, Arg value, bool extra);
Arg onnx_window_arg(OnnxCall *c, const OnnxWindow *w, const int64_t *values);
/* Is an axis known to have no elements?  ATen's windows take none along which they slide. */
bool onnx_is_empty(const Node *x);
/* Channels between the first axis and the others, where they come last, or back. */
Node *onnx_move_channels(OnnxCall *c, Node *x, bool back);

/* ---- convolutions and pools (onnx_conv.c, onnx_pool.c) ---- */

/* These read strides, pads and the rest from the node's attributes. */
Node *onnx_convolution(OnnxCall *c, Node *x, Node *weight, Node *bias);
Node *onnx_max_pool(OnnxCall *c, Node *x);
Node *onnx_average_pool(OnnxCall *c, Node *x);

/* ---- products (onnx_matmul.c) ---- */

/* The result of Gemm for its three inputs. */
Node *onnx_gemm(OnnxCall *c, Node *x, Node *y, Node *z);

/* ---- tokens (onnx_streams.c) ---- */

/* Which of so many tokens would complete an n-gram that the sequence, [batch, length], has already:
 * [batch, tokens]; NULL: it is too short. */
Node *onnx_completing(OnnxCall *c, Node *ids, Dim tokens, int64_t n);

/* The operands of n-grams' numbers, of n from 2 to `most`, of so many heads each. */
typedef struct {
  Node *factors, *sizes;
  Node *offset; /* NULL: none */
  Node *end;    /* the token that ends a text; NULL: none */
  bool resets;  /* tokens as far as an end before the last one count as ends */
  int64_t most, heads, pad;
} OnnxGrams;

/* Reads attributes, inputs 1 and 2, and these two; `at_most` is the most that `most` may be. */
OnnxGrams onnx_grams(OnnxCall *c, int64_t at_most, uint32_t end, uint32_t offset);
/* The numbers, along a further axis: tokens[i] are those i before each token, and so are segments,
 * which may be NULL, or end where these numbers change. */
Node *onnx_gram_hashes(OnnxCall *c, const OnnxGrams *g, Node *const *tokens,
                       Node *const *segments);

/* ---- states (onnx_state.c) ---- */

/* Attribute `activation`: is it SiLU, not none? */
bool onnx_is_silu(OnnxCall *c);

/* ---- models of scikit-learn's (onnx_ml.c) ---- */

/* Scores, [rows, columns], as attribute post_transform says; a single column stays as it is, as in
 * ONNX Runtime. */
Node *onnx_transformed(OnnxCall *c, Node *s);
Node *onnx_transformed_by(OnnxCall *c, Node *s, const char *how);

/* ---- quantized tensors (onnx_quantize.c) ---- */

/* x in units of `scale`, rounded to nearest even, from the zero point on, within dtype t. */
Node *onnx_quantized(OnnxCall *c, Node *x, Node *scale, Node *zero, DType t);
/* Input i, a scale or a zero point: columns have one each, or share one, which may be a vector of
 * one.  NULL if it is optional and left out. */
Node *onnx_columns(OnnxCall *c, uint32_t i, bool optional);
/* x as i32 without its zero point, which may be NULL. */
Node *onnx_integers(OnnxCall *c, Node *x, Node *zero);

/* Integers that stand for those less their zero point. */
typedef struct {
  Node *x, *zero; /* the zero point as it broadcasts to x; NULL: 0 */
  bool from_zero; /* the zero point is known to be 0, or 128 of bytes without a sign */
} OnnxFactor;

/* Is the zero point that input i is known to be that of no correction (from_zero)? */
bool onnx_is_from_zero(OnnxCall *c, uint32_t i);
/* matmul of them, exact in i32, which wraps. */
Node *onnx_integer_product(OnnxCall *c, OnnxFactor left, OnnxFactor right);
/* x, whose range becomes 0 to 255 as with DynamicQuantizeLinear, times a matrix whose elements, or
 * columns, are `scale` times as much. */
Node *onnx_quantized_product(OnnxCall *c, Node *x, OnnxFactor operand, Node *scale);
/* Sets result 0 to the product of inputs 0 and 1, a matrix, or its transpose, and with input 2, if
 * `biased`, to the sum with it, where both are results of DequantizeLinear: exact sums of their
 * bytes, times their scales.  False: they are not. */
bool onnx_set_dequantized_product(OnnxCall *c, bool turned, bool biased);
/* Sets result 0 to a convolution with a bias where operands are such results. */
bool onnx_set_dequantized_convolution(OnnxCall *c);

#endif
