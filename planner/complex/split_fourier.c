/* Rules of Fourier transforms: which axes, of which lengths, and how sums are scaled. */
#include <math.h>
#include <string.h>

#include "graph/infer/transform_axes.h"
#include "planner/complex/complex.h"
#include "planner/messages.h"

/* ---- scaling ---- */

typedef enum { SCALE_NONE, SCALE_ROOT, SCALE_WHOLE } Scaling;

/* `norm` is a word, `normalization` the number of one of these. */
static Scaling scaling_of(Split *s, bool inverse) {
  Infer *in = &s->b.in;
  if (infer_takes(in, "normalization")) return (Scaling)infer_int(in, "normalization");
  const char *word = infer_string(in, "norm");
  if (!strcmp(word, "ortho")) return SCALE_ROOT;
  bool forward = !strcmp(word, "forward");
  if (!forward && *word && strcmp(word, "backward") != 0)
    infer_fail(in, E_GRAPH_TRANSFORM_NORM, word);
  return forward != inverse ? SCALE_WHOLE : SCALE_NONE;
}

static double scale_of(int64_t n, Scaling scaling) {
  return 1 / (scaling == SCALE_ROOT ? sqrt((double)n) : (double)n);
}

static Node *divided(Build *b, Node *x, Dim n, Scaling scaling) {
  if (!x || scaling == SCALE_NONE) return x;
  if (!dim_is_int(n)) {
    if (scaling == SCALE_WHOLE) return build_with(b, OP_aten_div_Tensor, x, arg_dim(n));
    Node *count = build_full(b, 0, NULL, arg_dim(n), x->type.dtype);
    return build_mul(b, x, build_op1(b, OP_aten_rsqrt_default, count));
  }
  return build_with(b, OP_aten_mul_Tensor, x, arg_float(scale_of(n->value, scaling)));
}

/* A transform's result, scaled by its kernel where it can be. */
static Parts scaled(Split *s, Parts x, const TransformAxes *t, Scaling scaling) {
  Dim n = infer_product(&s->b.in, t->sizes, t->n);
  bool known = t->n && scaling != SCALE_NONE && dim_is_int(n) && n->value > 0;
  if (known && fourier_scale(x, scale_of(n->value, scaling))) return x;
  return (Parts){divided(&s->b, x.re, n, scaling), divided(&s->b, x.im, n, scaling)};
}

static Parts operand(Split *s) {
  Parts x = split_self(s);
  return (Parts){build_to_result(&s->b, x.re), x.im ? build_to_result(&s->b, x.im) : NULL};
}

static Parts complete(Split *s, Parts x) { return (Parts){x.re, split_imaginary(s, x)}; }

/* ---- transforms ---- */

static Parts along_all(Split *s, Parts x, const TransformAxes *t, uint32_t n, bool inverse) {
  for (uint32_t i = 0; i < n; i++) x = fourier_fit(&s->b, x, t->axes[i], t->sizes[i]);
  for (uint32_t i = n; i-- > 0;) x = fourier_along(&s->b, x, t->axes[i], inverse);
  return x;
}

static Parts complex_transform(Split *s, bool inverse) {
  TransformAxes t = infer_transform_axes(&s->b.in);
  Parts x = along_all(s, operand(s), &t, t.n, inverse);
  return complete(s, scaled(s, x, &t, scaling_of(s, inverse)));
}

Parts split_fft(Split *s) { return complex_transform(s, false); }
Parts split_ifft(Split *s) { return complex_transform(s, true); }
Parts split_fft_c2c(Split *s) { return complex_transform(s, !infer_bool(&s->b.in, "forward")); }

static Parts half_spectrum(Split *s, bool half, Scaling scaling) {
  TransformAxes t = infer_transform_axes(&s->b.in);
  Parts x = operand(s);
  if (!t.n) return complete(s, x);
  uint32_t last = t.n - 1;
  for (uint32_t i = 0; i < t.n; i++) x = fourier_fit(&s->b, x, t.axes[i], t.sizes[i]);
  x = half ? fourier_half_along(&s->b, x.re, t.axes[last])
           : fourier_along(&s->b, x, t.axes[last], false);
  for (uint32_t i = last; i-- > 0;) x = fourier_along(&s->b, x, t.axes[i], false);
  return complete(s, scaled(s, x, &t, scaling));
}

Parts split_rfft(Split *s) { return half_spectrum(s, true, scaling_of(s, false)); }

Parts split_fft_r2c(Split *s) {
  return half_spectrum(s, infer_bool(&s->b.in, "onesided"), scaling_of(s, false));
}

static Parts conjugated(Build *b, Parts x) {
  if (x.im) x.im = build_op1(b, OP_aten_neg_default, x.im);
  return x;
}

/* The conjugate of the transform, scaled as an inverse. */
Parts split_ihfft(Split *s) {
  return conjugated(&s->b, half_spectrum(s, true, scaling_of(s, true)));
}

static Parts real_transform(Split *s, Parts x, Scaling scaling) {
  TransformAxes t = infer_transform_axes(&s->b.in);
  uint32_t last = t.n - 1;
  x = along_all(s, x, &t, last, true);
  Node *y = fourier_real_along(&s->b, x, t.axes[last], t.sizes[last]);
  return scaled(s, (Parts){y, NULL}, &t, scaling);
}

Parts split_irfft(Split *s) { return real_transform(s, operand(s), scaling_of(s, true)); }

Parts split_hfft(Split *s) {
  return real_transform(s, conjugated(&s->b, operand(s)), scaling_of(s, false));
}

/* ---- short-time transforms ---- */

/* The window in the middle of a transform's length; NULL: none is given. */
static Node *window_of(Split *s, const ShortTransform *t) {
  Build *b = &s->b;
  Node *window = build_input(b, "window");
  int64_t before = (t->length - t->window) / 2;
  if (!window && t->window == t->length) return NULL;
  Dim size = build_const(b, t->window);
  if (!window) window = build_full(b, 1, &size, arg_float(1), build_result_dtype(b));
  window = build_to_result(b, split_value(s, window).re);
  Dim pad[] = {build_const(b, before), build_const(b, t->length - t->window - before)};
  if (t->window == t->length) return window;
  return build_with(b, OP_aten_constant_pad_nd_default, window, arg_dims(b->in.g, 2, pad));
}

static Node *padded(Split *s, Node *x, const ShortTransform *t) {
  Build *b = &s->b;
  Dim pad[] = {build_const(b, t->length / 2), build_const(b, t->length / 2)};
  if (!t->center) return x;
  bool one = rank_of(x) == 1;
  if (one) x = build_unsqueeze(b, x, 0);
  x = build(b, OP_aten_pad_default,
            ARGS(arg_node(x), arg_dims(b->in.g, 2, pad), build_arg(b, "pad_mode")));
  return one ? build_squeeze(b, x, 1) : x;
}

/* Pieces of the signal, each times the window: [..., pieces, length]. */
static Node *pieces(Split *s, Node *x, const ShortTransform *t, Node *window) {
  Build *b = &s->b;
  if (!x) return NULL;
  x = build_to_result(b, padded(s, x, t));
  x = build(b, OP_aten_unfold_default,
            ARGS(arg_node(x), build_int(b, rank_of(x) - 1), build_int(b, t->length),
                 build_int(b, t->hop)));
  return window ? build_mul(b, x, window) : x;
}

Parts split_stft(Split *s) {
  Build *b = &s->b;
  ShortTransform t = infer_short_transform(&b->in);
  Node *window = window_of(s, &t);
  Parts x = split_self(s);
  Parts y = {pieces(s, x.re, &t, window), pieces(s, x.im, &t, window)};
  uint32_t last = rank_of(y.re) - 1;
  y = t.onesided ? fourier_half_along(b, y.re, last) : fourier_along(b, y, last, false);
  Scaling scaling = infer_bool(&b->in, "normalized") ? SCALE_ROOT : SCALE_NONE;
  Dim n = build_const(b, t.length);
  return (Parts){build_transpose(b, divided(b, y.re, n, scaling), last - 1, last),
                 build_transpose(b, divided(b, y.im, n, scaling), last - 1, last)};
}

/* [batch, pieces, length] added where they overlap: [batch, total]. */
static Node *overlapped(Build *b, Node *x, const ShortTransform *t, Dim total) {
  return build(b, OP_aten_unfold_backward_default,
               ARGS(arg_node(x), arg_dims(b->in.g, 2, (Dim[]){x->type.shape[0], total}),
                    build_int(b, 1), build_int(b, t->length), build_int(b, t->hop)));
}

static Node *pieces_of_spectrum(Split *s, const ShortTransform *t, Node *window) {
  Build *b = &s->b;
  Parts x = operand(s);
  uint32_t rank = rank_of(x.re);
  x = (Parts){build_transpose(b, x.re, rank - 2, rank - 1),
              build_transpose(b, x.im, rank - 2, rank - 1)};
  Dim n = build_const(b, t->length);
  Node *y =
      t->onesided ? fourier_real_along(b, x, rank - 1, n) : fourier_along(b, x, rank - 1, true).re;
  Scaling scaling = infer_bool(&b->in, "normalized") ? SCALE_ROOT : SCALE_WHOLE;
  y = divided(b, y, n, scaling);
  return build_lead(b, window ? build_mul(b, y, window) : y, 3);
}

/* The sum of the squares of the windows. */
static Node *envelope(Build *b, Node *window, const ShortTransform *t, Dim count, Dim total,
                      DType dtype) {
  Dim shape[] = {build_const(b, 1), count, build_const(b, t->length)};
  if (!window) return overlapped(b, build_full(b, 3, shape, arg_float(1), dtype), t, total);
  Node *square = build_mul(b, window, window);
  return overlapped(b, build_expand(b, square, 3, shape), t, total);
}

Parts split_istft(Split *s) {
  Build *b = &s->b;
  Dims *d = build_dims(b);
  ShortTransform t = infer_short_transform(&b->in);
  Node *window = window_of(s, &t);
  Node *x = pieces_of_spectrum(s, &t, window);
  Dim count = x->type.shape[1], one = build_const(b, 1);
  Dim total = dim_add(d, dim_mul(d, dim_sub(d, count, one), build_const(b, t.hop)),
                      build_const(b, t.length));
  Node *sums = envelope(b, window, &t, count, total, x->type.dtype);
  Node *y = build_div(b, overlapped(b, x, &t, total), sums);
  const ValueType *result = &b->in.n->type;
  Dim start = build_const(b, t.center ? t.length / 2 : 0), size = result->shape[result->rank - 1];
  y = build_slice(b, y, 1, start, total, 1);
  return (Parts){build_finished(b, fourier_fit(b, (Parts){y, NULL}, 1, size).re), NULL};
}
