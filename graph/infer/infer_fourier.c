/* Fourier transforms.  Rules give the dtype of the parts of complex numbers. */
#include "graph/infer/places.h"
#include "graph/infer/transform_axes.h"
#include "graph/messages.h"
#include "graph/ops/fourier_form.h"

Dim infer_half_size(Infer *in, Dim n) {
  Dims *d = in->g->dims;
  return dim_add(d, dim_floordiv(d, n, infer_const(in, 2)), infer_const(in, 1));
}

/* ---- axes ---- */

/* Its transform is real: of half a spectrum. */
static bool gives_real(const Infer *in) { return ops_complex_result(in->n->op) == COMPLEX_NEVER; }

/* The size that is said; without one, that of the operand. */
static Dim length_of(Infer *in, Dim said, Dim own, bool half) {
  Dims *d = in->g->dims;
  Dim n = said && !dim_is(said, -1) ? said : own;
  if (n == own && half) n = dim_mul(d, infer_const(in, 2), dim_sub(d, own, infer_const(in, 1)));
  if (dim_range(d, n).hi < 1) infer_fail(in, E_GRAPH_TRANSFORM, infer_dim_text(in, n));
  return n;
}

static void one_axis(Infer *in, const ValueType *x, TransformAxes *t) {
  t->n = 1;
  t->axes[0] = infer_axis_arg(in, "dim", x->rank);
  Dim said = infer_has(in, "n") ? infer_size(in, "n") : NULL;
  t->sizes[0] = length_of(in, said, x->shape[t->axes[0]], gives_real(in));
}

static void list_axes(Infer *in, const ValueType *x, TransformAxes *t, uint32_t nsizes) {
  int64_t dims[GRAPH_RANK_MAX];
  bool given = infer_has(in, "dim");
  t->n = given ? infer_ints(in, "dim", dims) : nsizes ? nsizes : x->rank;
  if (nsizes && nsizes != t->n) infer_fail(in, E_GRAPH_TRANSFORM_SIZES, nsizes, t->n);
  if (t->n > x->rank) infer_fail(in, E_GRAPH_AXIS, (long long)-(int64_t)t->n, x->rank);
  uint32_t seen = 0;
  for (uint32_t i = 0; i < t->n; i++) {
    t->axes[i] = given ? infer_axis(in, dims[i], x->rank) : x->rank - t->n + i;
    if (seen >> t->axes[i] & 1) infer_fail(in, E_GRAPH_AXIS_TWICE, (long long)dims[i]);
    seen |= 1u << t->axes[i];
  }
}

TransformAxes infer_transform_axes(Infer *in) {
  const ValueType *x = infer_self(in);
  TransformAxes t = {0};
  Dim said[GRAPH_RANK_MAX];
  infer_rank(in, x, 1, GRAPH_RANK_MAX);
  if (infer_takes(in, "n")) {
    one_axis(in, x, &t);
    return t;
  }
  bool sizes = infer_takes(in, "s") && infer_has(in, "s");
  uint32_t nsizes = sizes ? infer_sizes(in, "s", said) : 0;
  list_axes(in, x, &t, nsizes);
  bool last_size = infer_takes(in, "last_dim_size");
  for (uint32_t i = 0; i < t.n; i++) {
    bool half = i + 1 == t.n && gives_real(in);
    Dim size = half && last_size ? infer_size(in, "last_dim_size") : nsizes ? said[i] : NULL;
    t.sizes[i] = length_of(in, size, x->shape[t.axes[i]], half);
  }
  return t;
}

/* ---- results ---- */

/* Integers become f32; transforms are of f32 and f64. */
static DType part_dtype(Infer *in, const ValueType *x) {
  DType t = infer_to_float(x->dtype);
  if (t != DT_F32 && t != DT_F64) infer_fail(in, E_GRAPH_COMPLEX_PARTS, infer_type_text(in, x));
  return t;
}

static void set_transformed(Infer *in, bool half) {
  const ValueType *x = infer_self(in);
  TransformAxes t = infer_transform_axes(in);
  Dim shape[GRAPH_RANK_MAX];
  infer_copy_shape(x, shape);
  for (uint32_t i = 0; i < t.n; i++) shape[t.axes[i]] = t.sizes[i];
  if (half && t.n) {
    Dim *last = &shape[t.axes[t.n - 1]];
    *last = infer_half_size(in, *last);
  }
  infer_set(in, part_dtype(in, x), x->rank, shape);
}

void infer_fft(Infer *in) { set_transformed(in, false); }

/* The transform of real numbers: half of the spectrum. */
void infer_rfft(Infer *in) {
  const ValueType *x = infer_self(in);
  if (x->is_complex) infer_fail(in, E_GRAPH_COMPLEX);
  set_transformed(in, !infer_takes(in, "onesided") || infer_bool(in, "onesided"));
}

/* The inverse transform of half a spectrum: real numbers. */
void infer_irfft(Infer *in) {
  const ValueType *x = infer_self(in);
  if (!x->is_complex) infer_fail(in, E_GRAPH_COMPLEX_WANTED, infer_type_text(in, x));
  set_transformed(in, false);
}

void infer_fftshift(Infer *in) {
  const ValueType *x = infer_self(in);
  infer_axes_arg(in, "dim", x->rank);
  in->result = *x;
}

void infer_fftfreq(Infer *in) {
  Dim n = infer_size(in, "n");
  bool half = in->n->op->id == OP_aten_fft_rfftfreq_default;
  DType t = infer_dtype(in, "dtype", DT_F32);
  infer_set(in, t, 1, (Dim[]){half ? infer_half_size(in, n) : n});
}

void infer_signal_window(Infer *in) {
  DType t = infer_dtype(in, "dtype", DT_F32);
  infer_need_float(in, t);
  infer_set(in, t, 1, (Dim[]){infer_size(in, "window_length")});
}

/* ---- short-time transforms ---- */

ShortTransform infer_short_transform(Infer *in) {
  ShortTransform s = {.length = infer_int(in, "n_fft")};
  const ValueType *window = infer_optional_tensor(in, "window");
  bool is_complex = infer_self(in)->is_complex || (window && window->is_complex);
  s.hop = infer_has(in, "hop_length") ? infer_int(in, "hop_length") : s.length / 4;
  s.window = infer_has(in, "win_length") ? infer_int(in, "win_length") : s.length;
  bool inverse = infer_takes(in, "length");
  s.onesided = infer_has(in, "onesided") ? infer_bool(in, "onesided") : inverse || !is_complex;
  s.center = infer_takes(in, "center") && infer_bool(in, "center");
  if (s.length < 1 || s.hop < 1 || s.window < 1 || s.window > s.length)
    infer_fail(in, E_GRAPH_SHORT_TRANSFORM, (long long)s.length, (long long)s.hop,
               (long long)s.window);
  if (window) infer_rank(in, window, 1, 1);
  if (window && !infer_equal(in, window->shape[0], infer_const(in, s.window)))
    infer_fail(in, E_GRAPH_SIZES, "the window and win_length", infer_dim_text(in, window->shape[0]),
               infer_dim_text(in, infer_const(in, s.window)));
  return s;
}

void infer_stft(Infer *in) {
  Dims *d = in->g->dims;
  const ValueType *x = infer_self(in);
  infer_rank(in, x, 1, 2);
  ShortTransform s = infer_short_transform(in);
  if (!infer_bool(in, "return_complex") || infer_bool(in, "align_to_window"))
    infer_fail(in, E_GRAPH_STFT);
  if (x->is_complex && s.onesided) infer_fail(in, E_GRAPH_COMPLEX);
  Dim length = x->shape[x->rank - 1], size = infer_const(in, s.length);
  if (s.center) length = dim_add(d, length, infer_const(in, s.length / 2 * 2));
  if (!infer_at_least(in, length, size))
    infer_fail(in, E_GRAPH_NEGATIVE, infer_dim_text(in, dim_sub(d, length, size)));
  Dim frames = dim_floordiv(d, dim_sub(d, length, size), infer_const(in, s.hop));
  Dim shape[3] = {x->shape[0], s.onesided ? infer_half_size(in, size) : size,
                  dim_add(d, frames, infer_const(in, 1))};
  uint32_t lead = x->rank == 1;
  infer_set(in, part_dtype(in, x), 3 - lead, shape + lead);
}

void infer_istft(Infer *in) {
  Dims *d = in->g->dims;
  const ValueType *x = infer_self(in);
  infer_rank(in, x, 2, 3);
  ShortTransform s = infer_short_transform(in);
  if (!x->is_complex) infer_fail(in, E_GRAPH_COMPLEX_WANTED, infer_type_text(in, x));
  if (infer_bool(in, "return_complex")) infer_fail(in, E_GRAPH_COMPLEX);
  Dim size = infer_const(in, s.length);
  infer_same_size(in, x->shape[x->rank - 2], s.onesided ? infer_half_size(in, size) : size,
                  "the spectrum and n_fft");
  Dim steps = dim_sub(d, x->shape[x->rank - 1], infer_const(in, 1));
  Dim length = dim_add(d, dim_mul(d, steps, infer_const(in, s.hop)), size);
  if (s.center) length = dim_sub(d, length, infer_const(in, s.length / 2 * 2));
  if (infer_has(in, "length")) length = infer_size(in, "length");
  Dim shape[2] = {x->shape[0], length};
  uint32_t lead = x->rank == 2;
  infer_set(in, part_dtype(in, x), 2 - lead, shape + lead);
}

/* ---- transforms by a kernel of their own (graph/ops/fourier_form.h) ---- */

enum { FOURIER_AXES = 3 };

static FourierForm form_of(Infer *in, const Dim *size, DType t) {
  int64_t radices[GRAPH_RANK_MAX];
  FourierForm f = {.n = infer_ints(in, "radices", radices),
                   .half = infer_bool(in, "half"),
                   .inverse = infer_bool(in, "inverse"),
                   .along = infer_int(in, "along")};
  for (uint32_t i = 0; i < f.n && i < FOURIER_RADICES_MAX; i++) f.radix[i] = radices[i];
  f.size = dim_is_int(size[1]) ? size[1]->value : 0;
  if (!fourier_form(&f, t) || !dim_is(size[1], f.size))
    infer_fail(in, E_GRAPH_TRANSFORM, infer_dim_text(in, size[1]));
  return f;
}

/* A spectrum has two parts of each element, along the first axis or the last. */
static void check_result(Infer *in, const FourierForm *f, const Dim *size) {
  const ValueType *to = infer_self(in);
  bool pairs = infer_bool(in, "pairs"), real = f->half && f->inverse;
  Dims *d = in->g->dims;
  Dim parts = infer_const(in, real ? 1 : 2), lanes = dim_mul(d, size[0], size[2]);
  infer_rank(in, to, 1, GRAPH_RANK_MAX);
  if (!real)
    infer_same_size(in, to->shape[pairs ? to->rank - 1 : 0], parts, "the parts of a spectrum");
  infer_same_size(in, infer_product(in, to->shape, to->rank),
                  dim_mul(d, dim_mul(d, lanes, infer_const(in, f->result)), parts),
                  "a transform and its memory");
}

/* An element for each of a signal. */
static void check_window(Infer *in, const FourierForm *f, const ValueType *to) {
  const ValueType *window = infer_tensor(in, "window");
  infer_rank(in, window, 1, 1);
  infer_same_size(in, window->shape[0], infer_const(in, f->operand), "a window and its signals");
  if (window->dtype != to->dtype || (f->half && f->inverse))
    infer_fail(in, E_GRAPH_COMPLEX_PARTS, infer_type_text(in, window));
}

/* Both parts of a convolution's spectrum. */
static void check_filter(Infer *in, const FourierForm *f, const ValueType *to) {
  const ValueType *filter = infer_tensor(in, "filter");
  infer_same_size(in, infer_product(in, filter->shape, filter->rank),
                  infer_const(in, 2 * f->points), "a filter and its transform");
  if (filter->dtype != to->dtype)
    infer_fail(in, E_GRAPH_COMPLEX_PARTS, infer_type_text(in, filter));
}

void infer_fourier_rows(Infer *in) {
  const ValueType *to = infer_self(in), *row = infer_tensor(in, "row");
  Dim size[GRAPH_RANK_MAX];
  uint32_t n = infer_sizes(in, "size", size);
  if (n != FOURIER_AXES) infer_fail(in, E_GRAPH_TRANSFORM_SIZES, n, FOURIER_AXES);
  FourierForm f = form_of(in, size, to->dtype);
  infer_rank(in, row, 1, 1);
  const ValueType *re = infer_tensor(in, "re"), *im = infer_tensor(in, "im");
  const ValueType *factors = infer_tensor(in, "factors"), *scratch = infer_tensor(in, "scratch");
  infer_rank(in, factors, 1, 1);
  infer_rank(in, scratch, 1, 1);
  check_result(in, &f, size);
  size[1] = infer_const(in, f.operand);
  infer_places(in, "re_at", re, FOURIER_AXES, size);
  infer_places(in, "im_at", im, FOURIER_AXES, size);
  if (f.factors)
    infer_same_size(in, factors->shape[0], infer_const(in, f.factors), "factors of a transform");
  if (infer_has(in, "window")) check_window(in, &f, to);
  if (f.chirps) check_filter(in, &f, to);
  Dim each = infer_const(in, f.scratch);
  infer_same_size(in, scratch->shape[0], dim_mul(in->g->dims, each, row->shape[0]),
                  "elements of a transform's scratch");
  const ValueType *all[] = {re, im, factors, scratch};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++)
    if (all[i]->dtype != to->dtype || part_dtype(in, to) != to->dtype)
      infer_fail(in, E_GRAPH_COMPLEX_PARTS, infer_type_text(in, all[i]));
  in->result = *to;
}
