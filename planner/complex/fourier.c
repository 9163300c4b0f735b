/* Discrete Fourier transforms.
 *
 *   X[k] = sum over t of x[t] w^(t k),  w = exp(-+2 pi i / n)
 *
 * Short ones are a product with the table of powers of w.  Longer ones are cut into two (Cooley and
 * Tukey 1965): with t = n2 t1 + t2 and k = k1 + n1 k2 the power is
 *
 *   w_n1^(t1 k1) w_n^(t2 k1) w_n2^(t2 k2)
 *
 * so they are a product along t1, factors, and transforms of length n2 along t2.  Lengths without a
 * small factor are convolutions with chirps (Bluestein 1970), by transforms of a power of 2. */
#include "planner/complex/complex.h"

#include <string.h>

enum { SHORT_MOST = 128, FACTOR_MOST = 64, DIRECT_MOST = 2048, DIRECT_MOST_HOST = 256 };

/* ---- along the last axis ---- */

static Dim last_size(Parts x) { return size_from_end(x.re, 1); }

static Node *first_columns(Build *b, Node *x, Dim from, Dim to) {
  return build_slice(b, x, rank_of(x) - 1, from, to, 1);
}

static Node *exact_product(Build *b, Node *x, Node *table) {
  return build_product(b, OP_aten_matmul_default, x, table, ROUNDS_NEVER);
}

/* Products with both parts of the table at once. */
static Parts by_table(Build *b, Parts x, Parts table) {
  Dim m = size_from_end(table.re, 1), twice = dim_mul(build_dims(b), m, build_const(b, 2));
  Node *both = build_cat(b, 2, (Node *[]){table.re, table.im}, 1), *y;
  Node *turned[] = {x.im ? build_op1(b, OP_aten_neg_default, table.im) : NULL, table.re};
  if (x.im && b->in.g->host) {
    /* Both parts are one sum: what computes them writes them next to each other. */
    Node *whole = build_cat(b, 2, (Node *[]){x.re, x.im}, rank_of(x.re) - 1);
    Node *rows[] = {both, build_cat(b, 2, turned, 1)};
    y = exact_product(b, whole, build_cat(b, 2, rows, 0));
  } else {
    y = exact_product(b, x.re, both);
    if (x.im) y = build_add(b, y, exact_product(b, x.im, build_cat(b, 2, turned, 1)));
  }
  return (Parts){first_columns(b, y, build_const(b, 0), m), first_columns(b, y, m, twice)};
}

/* The first m elements. */
static Parts by_product(Build *b, Parts x, Dim m, bool inverse) {
  Dim n = last_size(x);
  return by_table(b, x, fourier_powers(b, n, m, n, inverse, x.re->type.dtype));
}

static Parts transform_last(Build *b, Parts x, int64_t wanted, bool inverse);

static Node *cut_last(Build *b, Node *x, int64_t n1, int64_t n2) {
  Dim shape[GRAPH_RANK_MAX];
  uint32_t rank = rank_of(x);
  if (rank == GRAPH_RANK_MAX) infer_rank(&b->in, &x->type, 0, rank - 1);
  for (uint32_t i = 0; i + 1 < rank; i++) shape[i] = x->type.shape[i];
  shape[rank - 1] = build_const(b, n1);
  shape[rank] = build_const(b, n2);
  return build_transpose(b, build_view(b, x, rank + 1, shape), rank - 1, rank);
}

static Node *swap_last_two(Build *b, Node *x) {
  return build_transpose(b, x, rank_of(x) - 2, rank_of(x) - 1);
}

static Node *join_last(Build *b, Node *x, Dim n) {
  Dim shape[GRAPH_RANK_MAX];
  uint32_t rank = rank_of(x) - 1;
  Node *y = swap_last_two(b, x);
  for (uint32_t i = 0; i + 1 < rank; i++) shape[i] = x->type.shape[i];
  shape[rank - 1] = n;
  return build(b, OP_aten_reshape_default, ARGS(arg_node(y), arg_dims(b->in.g, rank, shape)));
}

static Parts of_both_parts(Build *b, Parts x, Node *(*f)(Build *, Node *)) {
  return (Parts){f(b, x.re), x.im ? f(b, x.im) : NULL};
}

/* The first `wanted` elements, or more. */
static Parts in_two_steps(Build *b, Parts x, int64_t n1, int64_t wanted, bool inverse) {
  Dim n = last_size(x), size1 = build_const(b, n1), size2 = build_const(b, n->value / n1);
  int64_t columns = (wanted + n1 - 1) / n1;
  Parts y = {cut_last(b, x.re, n1, n->value / n1),
             x.im ? cut_last(b, x.im, n1, n->value / n1) : NULL};
  y = by_product(b, y, size1, inverse);
  y = complex_mul(b, y, fourier_powers(b, size2, size1, n, inverse, x.re->type.dtype));
  y = transform_last(b, of_both_parts(b, y, swap_last_two), columns, inverse);
  Dim given = dim_mul(build_dims(b), size1, last_size(y));
  return (Parts){join_last(b, y.re, given), join_last(b, y.im, given)};
}

static Node *cut_in_rows(Build *b, Node *x, Dim n1, Dim n2) {
  Dim shape[GRAPH_RANK_MAX];
  uint32_t rank = rank_of(x);
  if (rank == GRAPH_RANK_MAX) infer_rank(&b->in, &x->type, 0, rank - 1);
  memcpy(shape, x->type.shape, (rank - 1) * sizeof *shape);
  shape[rank - 1] = n1;
  shape[rank] = n2;
  return build_view(b, x, rank + 1, shape);
}

/* Two steps by kernels: along n1, then along the rest. */
static Parts in_kernels(Build *b, Parts x, int64_t n1, bool inverse) {
  Dim n = last_size(x), size1 = build_const(b, n1), size2 = build_const(b, n->value / n1);
  Parts y = {cut_in_rows(b, x.re, size1, size2), cut_in_rows(b, x.im, size1, size2)};
  uint32_t last = rank_of(y.re) - 1;
  y = fourier_along(b, y, last - 1, inverse);
  y = complex_mul(b, y, fourier_powers(b, size1, size2, n, inverse, x.re->type.dtype));
  y = fourier_along(b, y, last, inverse);
  return (Parts){join_last(b, y.re, n), join_last(b, y.im, n)};
}

/* Rows k1 above n1 / 2 are the conjugates of the others, columns in reverse order. */
static Node *with_conjugates(Build *b, Node *x, int64_t n1, bool negated) {
  uint32_t last = rank_of(x) - 1;
  Dim end = build_const(b, (n1 + 1) / 2);
  Node *tail = build_slice(b, x, last - 1, build_const(b, 1), end, 1);
  tail = build_with(b, OP_aten_flip_default, tail, arg_axes(b->in.g, 3u << (last - 1)));
  if (negated) tail = build_op1(b, OP_aten_neg_default, tail);
  return n1 > 2 ? build_cat(b, 2, (Node *[]){x, tail}, last - 1) : x;
}

/* in_kernels for the first half of the spectrum of real elements. */
static Parts half_in_kernels(Build *b, Node *x, int64_t n1) {
  Dim n = size_from_end(x, 1), size1 = build_const(b, n1), size2 = build_const(b, n->value / n1);
  Node *cut = cut_in_rows(b, x, size1, size2);
  uint32_t last = rank_of(cut) - 1;
  Parts y = fourier_half_along(b, cut, last - 1);
  Dim rows = y.re->type.shape[last - 1], half = infer_half_size(&b->in, n);
  y = complex_mul(b, y, fourier_powers(b, rows, size2, n, false, x->type.dtype));
  y = fourier_along(b, y, last, false);
  y = (Parts){join_last(b, with_conjugates(b, y.re, n1, false), n),
              join_last(b, with_conjugates(b, y.im, n1, true), n)};
  return fourier_fit(b, y, last - 1, half);
}

/* c[0] ... c[n - 1], zeros, c[n - 1] ... c[1]: for a circular convolution of `length` elements. */
static Node *both_sides(Build *b, Node *c, int64_t n, int64_t length) {
  Dim zeros = build_const(b, length - 2 * n + 1);
  Node *tail = build_slice(b, c, 0, build_const(b, 1), build_const(b, n), 1);
  Node *parts[] = {c, build_full(b, 1, &zeros, build_int(b, 0), c->type.dtype),
                   build_with(b, OP_aten_flip_default, tail, arg_axes(b->in.g, 1))};
  return build_cat(b, 3, parts, 0);
}

static Parts by_chirps(Build *b, Parts x, bool inverse) {
  Dim n = last_size(x);
  uint32_t last = rank_of(x.re) - 1;
  int64_t length = power_of_2(2 * n->value - 1, 1);
  Parts c = fourier_chirp(b, n, inverse, x.re->type.dtype);
  Parts turned = {c.re, build_op1(b, OP_aten_neg_default, c.im)};
  Parts filter = {both_sides(b, turned.re, n->value, length),
                  both_sides(b, turned.im, n->value, length)};
  filter = fourier_along(b, filter, 0, false);
  Parts y = fourier_fit(b, complex_mul(b, x, c), last, build_const(b, length));
  y = complex_mul(b, fourier_along(b, y, last, false), filter);
  y = fourier_fit(b, fourier_along(b, y, last, true), last, n);
  y = complex_mul(b, y, c);
  Arg scale = arg_float(1 / (double)length);
  return (Parts){build_with(b, OP_aten_mul_Tensor, y.re, scale),
                 build_with(b, OP_aten_mul_Tensor, y.im, scale)};
}

static int64_t factor_of(int64_t n) {
  int64_t i = FACTOR_MOST;
  while (n % i) i--;
  return i;
}

/* Gives the first `wanted` elements of the spectrum, or more. */
static Parts transform_last(Build *b, Parts x, int64_t wanted, bool inverse) {
  Dim n = last_size(x), m = build_const(b, wanted);
  if (!dim_is_int(n)) return by_product(b, x, n, inverse);
  if (n->value <= SHORT_MOST) return by_product(b, x, m, inverse);
  int64_t factor = factor_of(n->value);
  if (factor > 1) return in_two_steps(b, x, factor, wanted, inverse);
  return n->value <= (b->in.g->host ? DIRECT_MOST_HOST : DIRECT_MOST) ? by_product(b, x, m, inverse)
                                                                      : by_chirps(b, x, inverse);
}

static Parts transform_all(Build *b, Parts x, bool inverse) {
  Dim n = last_size(x);
  return transform_last(b, x, dim_is_int(n) ? n->value : 0, inverse);
}

/* ---- along any axis ---- */

static Parts swap_to_last(Build *b, Parts x, uint32_t axis) {
  uint32_t last = rank_of(x.re) - 1;
  return (Parts){build_transpose(b, x.re, axis, last),
                 x.im ? build_transpose(b, x.im, axis, last) : NULL};
}

static Dim half_of(Build *b, Dim n) { return infer_half_size(&b->in, n); }

static bool is_short(Dim n) { return !dim_is_int(n) || n->value <= SHORT_MOST; }

/* The rest of the spectrum are the conjugates of elements 1 ... n - m. */
static Node *mirrored(Build *b, Node *x, uint32_t axis, Dim n, bool negated) {
  Dim end =
      dim_add(build_dims(b), dim_sub(build_dims(b), n, x->type.shape[axis]), build_const(b, 1));
  Node *tail = build_slice(b, x, axis, build_const(b, 1), end, 1);
  tail = build_with(b, OP_aten_flip_default, tail, arg_axes(b->in.g, 1u << axis));
  if (negated) tail = build_op1(b, OP_aten_neg_default, tail);
  return build_cat(b, 2, (Node *[]){x, tail}, axis);
}

/* Is there a kernel for rows of x, whose last axis comes from another place? */
static bool has_kernel_last(Build *b, const Node *x, uint32_t axis, Dim n, bool half) {
  uint32_t last = rank_of(x) - 1;
  return axis != last && fourier_has_kernel(b, x, last, n, half);
}

Parts fourier_along(Build *b, Parts x, uint32_t axis, bool inverse) {
  Dim n = x.re->type.shape[axis];
  int64_t n1 = fourier_kernels_factor(b, x.re, axis, !x.im);
  if (!x.im && n1) {
    Parts half = fourier_half_along(b, x.re, axis);
    if (inverse) half.im = build_op1(b, OP_aten_neg_default, half.im);
    return (Parts){mirrored(b, half.re, axis, n, false), mirrored(b, half.im, axis, n, true)};
  }
  if (n1 == 1) return fourier_by_kernel(b, x, axis, inverse);
  x = swap_to_last(b, x, axis);
  if (!n1 && has_kernel_last(b, x.re, axis, n, !x.im))
    return swap_to_last(b, fourier_along(b, x, rank_of(x.re) - 1, inverse), axis);
  return swap_to_last(b, n1 ? in_kernels(b, x, n1, inverse) : transform_all(b, x, inverse), axis);
}

Parts fourier_half_along(Build *b, Node *x, uint32_t axis) {
  int64_t n1 = fourier_kernels_factor(b, x, axis, true);
  if (n1 == 1) return fourier_by_kernel(b, (Parts){x, NULL}, axis, false);
  Parts y = swap_to_last(b, (Parts){x, NULL}, axis);
  Dim n = last_size(y), m = half_of(b, n);
  if (!n1 && has_kernel_last(b, y.re, axis, n, true))
    return swap_to_last(b, fourier_half_along(b, y.re, rank_of(x) - 1), axis);
  if (n1) return swap_to_last(b, half_in_kernels(b, y.re, n1), axis);
  if (is_short(n)) return swap_to_last(b, by_product(b, y, m, false), axis);
  Parts some = transform_last(b, y, m->value, false);
  return swap_to_last(b, fourier_fit(b, some, rank_of(x) - 1, m), axis);
}

/* 1 for the first of m elements and, if n is even, for the last, which have no conjugates among
 * the rest of the spectrum; 2 for the others: [m, 1]. */
static Node *counts(Build *b, Dim m, Dim n) {
  Node *k = build_arange(b, m);
  Node *mirror = build_with(b, OP_aten_remainder_Scalar,
                            build_with(b, OP_aten_mul_Tensor, k, build_int(b, 2)), arg_dim(n));
  Node *alone = build_with(b, OP_aten_eq_Scalar, mirror, build_int(b, 0));
  return build_unsqueeze(b, build_where(b, alone, arg_float(1), arg_float(2)), 1);
}

static Node *real_by_product(Build *b, Parts x, Dim n) {
  Dim m = last_size(x);
  DType t = x.re->type.dtype;
  Parts table = fourier_powers(b, m, n, n, true, t);
  Node *count = build_to(b, counts(b, m, n), t);
  Node *y = exact_product(b, x.re, build_mul(b, table.re, count));
  if (!x.im) return y;
  return build_sub(b, y, exact_product(b, x.im, build_mul(b, table.im, count)));
}

Node *fourier_real_along(Build *b, Parts x, uint32_t axis, Dim n) {
  uint32_t last = rank_of(x.re) - 1;
  Parts y = fourier_fit(b, x, axis, half_of(b, n));
  if (y.im && fourier_has_kernel(b, y.re, axis, n, true))
    return fourier_real_by_kernel(b, y, axis, n);
  y = swap_to_last(b, y, axis);
  Node *real;
  if (y.im && has_kernel_last(b, y.re, axis, n, true)) {
    real = fourier_real_by_kernel(b, y, last, n);
  } else if (is_short(n)) {
    real = real_by_product(b, y, n);
  } else {
    Parts whole = {mirrored(b, y.re, last, n, false),
                   y.im ? mirrored(b, y.im, last, n, true) : NULL};
    real = fourier_along(b, whole, last, true).re;
  }
  return build_transpose(b, real, axis, last);
}

static Node *fit_part(Build *b, Node *x, uint32_t axis, Dim n) {
  Dims *d = build_dims(b);
  Dim size = x->type.shape[axis], pad[2 * GRAPH_RANK_MAX], more = dim_sub(d, n, size);
  if (dim_range(d, more).hi <= 0) return build_slice(b, x, axis, build_const(b, 0), n, 1);
  uint32_t pairs = rank_of(x) - axis;
  for (uint32_t i = 0; i < 2 * pairs; i++) pad[i] = build_const(b, 0);
  pad[2 * pairs - 1] = more; /* negative: cut */
  return build_with(b, OP_aten_constant_pad_nd_default, x, arg_dims(b->in.g, 2 * pairs, pad));
}

Parts fourier_fit(Build *b, Parts x, uint32_t axis, Dim n) {
  if (x.re->type.shape[axis] == n) return x;
  return (Parts){fit_part(b, x.re, axis, n), x.im ? fit_part(b, x.im, axis, n) : NULL};
}
