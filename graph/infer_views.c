/* Ops that move, split and join elements. */
#include <string.h>

#include "graph/infer_rules.h"

/* A copy of x's sizes to change. */
static uint32_t copy_shape(const ValueType *x, Dim *shape) {
  if (x->rank) memcpy(shape, x->shape, x->rank * sizeof *shape);
  return x->rank;
}

/* x with another size along one axis. */
static void set_axis(Infer *in, const ValueType *x, uint32_t axis, Dim size) {
  Dim shape[GRAPH_RANK_MAX];
  copy_shape(x, shape);
  if (x->rank) shape[axis] = size;
  infer_set(in, x->dtype, x->rank, shape);
}

static void insert_axis(Infer *in, const ValueType *x, uint32_t axis, Dim size) {
  Dim shape[GRAPH_RANK_MAX + 1];
  for (uint32_t i = 0; i < x->rank; i++) shape[i + (i >= axis)] = x->shape[i];
  shape[axis] = size;
  infer_set(in, x->dtype, x->rank + 1, shape);
}

static void remove_axes(Infer *in, const ValueType *x, uint32_t set) {
  Dim shape[GRAPH_RANK_MAX];
  uint32_t n = 0;
  for (uint32_t i = 0; i < x->rank; i++)
    if (!(set >> i & 1)) shape[n++] = x->shape[i];
  infer_set(in, x->dtype, n, shape);
}

static Dim axis_size(Infer *in, const ValueType *x, uint32_t axis) {
  return x->rank ? x->shape[axis] : infer_const(in, 1);
}

/* ---- reshaping ---- */

/* Drops sizes that are in both lists: s0*64 over s0*4 is 16 even where s0 could be 0. */
static void cancel(Infer *in, Dim *a, uint32_t na, Dim *b, uint32_t nb) {
  for (uint32_t i = 0; i < na; i++)
    for (uint32_t k = 0; k < nb; k++)
      if (a[i] == b[k] && !dim_is_int(a[i])) {
        a[i] = b[k] = infer_const(in, 1);
        break;
      }
}

static void fill_one(Infer *in, const Dim *from, uint32_t nfrom, Dim *sizes, uint32_t n,
                     uint32_t hole) {
  Dim a[GRAPH_RANK_MAX], b[GRAPH_RANK_MAX];
  if (nfrom) memcpy(a, from, nfrom * sizeof *a);
  memcpy(b, sizes, n * sizeof *b);
  b[hole] = infer_const(in, 1);
  cancel(in, a, nfrom, b, n);
  Dim all = infer_product(in, a, nfrom), rest = infer_product(in, b, n);
  bool fits = !dim_is(rest, 0);
  if (fits) sizes[hole] = dim_floordiv(in->g->dims, all, rest);
  if (!fits || (dim_is_int(all) && dim_is_int(rest) && all->value % rest->value))
    infer_fail(in, E_GRAPH_RESHAPE, infer_shape_text(in, from, nfrom), infer_shape_text(in, b, n));
}

void infer_fill_size(Infer *in, const Dim *from, uint32_t nfrom, Dim *sizes, uint32_t n) {
  uint32_t holes = 0, hole = 0;
  for (uint32_t i = 0; i < n; i++)
    if (dim_is(sizes[i], -1)) holes++, hole = i;
  if (holes > 1) infer_fail(in, E_GRAPH_HOLES, infer_shape_text(in, sizes, n));
  if (holes) {
    fill_one(in, from, nfrom, sizes, n, hole);
  } else if (!infer_may_equal(in->g, infer_product(in, from, nfrom), infer_product(in, sizes, n))) {
    infer_fail(in, E_GRAPH_RESHAPE, infer_shape_text(in, from, nfrom),
               infer_shape_text(in, sizes, n));
  }
}

static void reshape(Infer *in, Dim *sizes, uint32_t n) {
  const ValueType *x = infer_self(in);
  infer_fill_size(in, x->shape, x->rank, sizes, n);
  infer_set(in, x->dtype, n, sizes);
}

void infer_view(Infer *in) {
  Dim sizes[GRAPH_RANK_MAX];
  uint32_t n = infer_sizes(in, infer_takes(in, "size") ? "size" : "shape", sizes);
  reshape(in, sizes, n);
}

void infer_view_as(Infer *in) {
  Dim sizes[GRAPH_RANK_MAX];
  reshape(in, sizes, copy_shape(infer_tensor(in, "other"), sizes));
}

void infer_view_dtype(Infer *in) {
  const ValueType *x = infer_self(in);
  DType to = infer_dtype(in, "dtype", x->dtype);
  Dims *d = in->g->dims;
  if (dtype_bytes(to) == dtype_bytes(x->dtype)) {
    infer_set_like(in, to, x);
    return;
  }
  infer_rank(in, x, 1, GRAPH_RANK_MAX);
  Dim bytes = dim_mul(d, x->shape[x->rank - 1], infer_const(in, dtype_bytes(x->dtype)));
  set_axis(in, x, x->rank - 1, dim_floordiv(d, bytes, infer_const(in, dtype_bytes(to))));
  in->result.dtype = to;
}

void infer_flatten(Infer *in) {
  const ValueType *x = infer_self(in);
  uint32_t first = infer_axis_arg(in, "start_dim", x->rank);
  uint32_t last = infer_axis_arg(in, "end_dim", x->rank);
  if (first > last) infer_fail(in, E_GRAPH_FLATTEN, first, last);
  if (!x->rank) {
    insert_axis(in, x, 0, infer_const(in, 1));
    return;
  }
  Dim shape[GRAPH_RANK_MAX];
  memcpy(shape, x->shape, first * sizeof *shape);
  shape[first] = infer_product(in, x->shape + first, last - first + 1);
  memcpy(shape + first + 1, x->shape + last + 1, (x->rank - last - 1) * sizeof *shape);
  infer_set(in, x->dtype, x->rank - (last - first), shape);
}

void infer_unflatten(Infer *in) {
  const ValueType *x = infer_self(in);
  infer_rank(in, x, 1, GRAPH_RANK_MAX);
  uint32_t axis = infer_axis_arg(in, "dim", x->rank);
  Dim sizes[GRAPH_RANK_MAX], shape[2 * GRAPH_RANK_MAX];
  uint32_t n = infer_sizes(in, "sizes", sizes);
  infer_fill_size(in, &x->shape[axis], 1, sizes, n);
  memcpy(shape, x->shape, axis * sizeof *shape);
  memcpy(shape + axis, sizes, n * sizeof *shape);
  memcpy(shape + axis + n, x->shape + axis + 1, (x->rank - axis - 1) * sizeof *shape);
  infer_set(in, x->dtype, x->rank - 1 + n, shape);
}

/* ---- expanding ---- */

void infer_expand(Infer *in) {
  const ValueType *x = infer_self(in);
  Dim sizes[GRAPH_RANK_MAX];
  uint32_t n = infer_sizes(in, "size", sizes);
  for (uint32_t i = 0; i < x->rank && i < n; i++) {
    Dim *size = &sizes[n - 1 - i], have = x->shape[x->rank - 1 - i];
    if (dim_is(*size, -1)) *size = have;
  }
  Operand from = infer_tensor_operand(x);
  infer_fits(in, &from, sizes, n);
  infer_set(in, x->dtype, n, sizes);
}

void infer_expand_as(Infer *in) {
  const ValueType *x = infer_self(in), *other = infer_tensor(in, "other");
  Operand from = infer_tensor_operand(x);
  infer_fits(in, &from, other->shape, other->rank);
  infer_set_like(in, x->dtype, other);
}

void infer_broadcast_tensors(Infer *in) {
  uint32_t n;
  const ValueType **x = infer_tensors(in, "tensors", &n);
  Operand *operands = ARENA_ARRAY(in->g->arena, Operand, n);
  ValueType *out = ARENA_ARRAY(in->g->arena, ValueType, n);
  Dim shape[GRAPH_RANK_MAX];
  for (uint32_t i = 0; i < n; i++) operands[i] = infer_tensor_operand(x[i]);
  uint32_t rank = infer_broadcast(in, operands, n, shape);
  for (uint32_t i = 0; i < n; i++) out[i] = infer_type(in, x[i]->dtype, rank, shape);
  infer_set_list(in, n, out);
}

void infer_meshgrid(Infer *in) {
  uint32_t n;
  const ValueType **x = infer_tensors(in, "tensors", &n);
  bool swap = infer_takes(in, "indexing") && !strcmp(infer_string(in, "indexing"), "xy") && n > 1;
  Dim shape[GRAPH_RANK_MAX];
  if (n > GRAPH_RANK_MAX) infer_fail(in, E_GRAPH_RANK, (int)GRAPH_RANK_MAX);
  for (uint32_t i = 0; i < n; i++) {
    infer_rank(in, x[i], 0, 1);
    shape[swap && i < 2 ? 1 - i : i] = axis_size(in, x[i], 0);
  }
  ValueType out[GRAPH_RANK_MAX];
  for (uint32_t i = 0; i < n; i++) out[i] = infer_type(in, x[i]->dtype, n, shape);
  infer_set_list(in, n, out);
}

void infer_repeat(Infer *in) {
  const ValueType *x = infer_self(in);
  Dim times[GRAPH_RANK_MAX], shape[GRAPH_RANK_MAX];
  bool tile = infer_takes(in, "dims");
  uint32_t n = infer_sizes(in, tile ? "dims" : "repeats", times);
  if (n < x->rank && !tile) infer_fail(in, E_GRAPH_REPEAT, n, infer_type_text(in, x));
  uint32_t rank = n > x->rank ? n : x->rank;
  for (uint32_t i = 0; i < rank; i++) {
    Dim size = i < rank - x->rank ? infer_const(in, 1) : x->shape[i - (rank - x->rank)];
    Dim count = i < rank - n ? infer_const(in, 1) : times[i - (rank - n)];
    shape[i] = dim_mul(in->g->dims, size, count);
  }
  infer_set(in, x->dtype, rank, shape);
}

void infer_repeat_interleave(Infer *in) {
  const ValueType *x = infer_self(in);
  Dim times = infer_size(in, "repeats");
  if (!infer_has(in, "dim")) {
    Dim n = dim_mul(in->g->dims, value_numel(in->g, x), times);
    infer_set(in, x->dtype, 1, &n);
    return;
  }
  uint32_t axis = infer_axis_arg(in, "dim", x->rank);
  set_axis(in, x, axis, dim_mul(in->g->dims, axis_size(in, x, axis), times));
}

/* ---- the order of axes ---- */

static void permute(Infer *in, const ValueType *x, const uint32_t *axes) {
  Dim shape[GRAPH_RANK_MAX];
  for (uint32_t i = 0; i < x->rank; i++) shape[i] = x->shape[axes[i]];
  infer_set(in, x->dtype, x->rank, shape);
}

void infer_permute(Infer *in) {
  const ValueType *x = infer_self(in);
  int64_t dims[GRAPH_RANK_MAX];
  uint32_t axes[GRAPH_RANK_MAX], n = infer_ints(in, "dims", dims), set = 0;
  if (n != x->rank) infer_fail(in, E_GRAPH_PERMUTE, n, infer_type_text(in, x));
  for (uint32_t i = 0; i < n; i++) {
    axes[i] = infer_axis(in, dims[i], n);
    if (set >> axes[i] & 1) infer_fail(in, E_GRAPH_AXIS_TWICE, (long long)dims[i]);
    set |= 1u << axes[i];
  }
  permute(in, x, axes);
}

static void swap(Infer *in, const ValueType *x, uint32_t a, uint32_t b) {
  Dim shape[GRAPH_RANK_MAX];
  copy_shape(x, shape);
  if (x->rank) shape[a] = x->shape[b], shape[b] = x->shape[a];
  infer_set(in, x->dtype, x->rank, shape);
}

void infer_transpose(Infer *in) {
  const ValueType *x = infer_self(in);
  const char *first = in->schema->params[1].name, *second = in->schema->params[2].name;
  swap(in, x, infer_axis_arg(in, first, x->rank), infer_axis_arg(in, second, x->rank));
}

void infer_t(Infer *in) {
  const ValueType *x = infer_self(in);
  infer_rank(in, x, 0, 2);
  swap(in, x, 0, x->rank == 2);
}

void infer_swap_last(Infer *in) {
  const ValueType *x = infer_self(in);
  infer_rank(in, x, 2, GRAPH_RANK_MAX);
  swap(in, x, x->rank - 2, x->rank - 1);
}

void infer_reverse(Infer *in) {
  const ValueType *x = infer_self(in);
  uint32_t axes[GRAPH_RANK_MAX];
  for (uint32_t i = 0; i < x->rank; i++) axes[i] = x->rank - 1 - i;
  permute(in, x, axes);
}

/* The axes that are not moved keep their order in the places that are left. */
void infer_movedim(Infer *in) {
  const ValueType *x = infer_self(in);
  int64_t from[GRAPH_RANK_MAX], to[GRAPH_RANK_MAX];
  bool one = graph_arg(in->g, in->n, "source").kind != ARG_LIST;
  if (one) from[0] = infer_int(in, "source"), to[0] = infer_int(in, "destination");
  uint32_t n = one ? 1 : infer_ints(in, "source", from);
  uint32_t nto = one ? 1 : infer_ints(in, "destination", to);
  uint32_t axes[GRAPH_RANK_MAX], taken = 0, used = 0;
  if (n != nto || n > x->rank) infer_fail(in, E_GRAPH_PERMUTE, n, infer_type_text(in, x));
  for (uint32_t i = 0; i < n; i++) {
    uint32_t a = infer_axis(in, from[i], x->rank), b = infer_axis(in, to[i], x->rank);
    if (used >> a & 1 || taken >> b & 1)
      infer_fail(in, E_GRAPH_AXIS_TWICE, (long long)(used >> a & 1 ? from[i] : to[i]));
    axes[b] = a;
    used |= 1u << a;
    taken |= 1u << b;
  }
  for (uint32_t i = 0, next = 0; i < x->rank; i++) {
    if (taken >> i & 1) continue;
    while (used >> next & 1) next++;
    axes[i] = next++;
  }
  permute(in, x, axes);
}

void infer_unsqueeze(Infer *in) {
  const ValueType *x = infer_self(in);
  insert_axis(in, x, infer_axis_arg(in, "dim", x->rank + 1), infer_const(in, 1));
}

/* An axis of a symbolic size stays: it was not 1 when the graph was traced. */
void infer_squeeze(Infer *in) {
  const ValueType *x = infer_self(in);
  uint32_t set = 0;
  if (!infer_takes(in, "dim") || graph_arg(in->g, in->n, "dim").kind != ARG_LIST ||
      graph_arg(in->g, in->n, "dim").n)
    set = infer_axes_arg(in, "dim", x->rank);
  for (uint32_t i = 0; i < x->rank; i++)
    if (!dim_is(x->shape[i], 1)) set &= ~(1u << i);
  remove_axes(in, x, set);
}

/* ---- parts ---- */

/* start or end of a slice, between 0 and size. */
static Dim clamp_index(Infer *in, Dim i, Dim size) {
  Dims *d = in->g->dims;
  Dim zero = infer_const(in, 0);
  if (dim_is_int(i) && i->value < 0) return dim_max(d, dim_add(d, i, size), zero);
  return dim_min(d, dim_max(d, i, zero), size);
}

static Dim slice_size(Infer *in, Dim size) {
  Dims *d = in->g->dims;
  Dim zero = infer_const(in, 0);
  Dim start = infer_has(in, "start") ? infer_size(in, "start") : zero;
  Dim end = infer_has(in, "end") ? infer_size(in, "end") : size;
  int64_t step = infer_int(in, "step");
  if (step <= 0) infer_fail(in, E_GRAPH_STEP, (long long)step);
  start = clamp_index(in, start, size);
  end = dim_is(end, INT64_MAX) ? size : clamp_index(in, end, size);
  Dim n = dim_max(d, dim_sub(d, end, start), zero);
  return step == 1 ? n : infer_ceil_div(in, n, infer_const(in, step));
}

void infer_slice(Infer *in) {
  const ValueType *x = infer_self(in);
  infer_rank(in, x, 1, GRAPH_RANK_MAX);
  uint32_t axis = infer_axis_arg(in, "dim", x->rank);
  set_axis(in, x, axis, slice_size(in, x->shape[axis]));
}

/* src has the shape of the part that it replaces. */
static void check_part(Infer *in) {
  Operand src = infer_tensor_operand(infer_tensor(in, "src"));
  infer_fits(in, &src, in->result.shape, in->result.rank);
  in->result = *infer_self(in);
}

void infer_slice_scatter(Infer *in) {
  infer_slice(in);
  check_part(in);
}

void infer_select(Infer *in) {
  const ValueType *x = infer_self(in);
  infer_rank(in, x, 1, GRAPH_RANK_MAX);
  uint32_t axis = infer_axis_arg(in, "dim", x->rank);
  Dim i = infer_size(in, "index"), size = x->shape[axis];
  if (dim_is_int(i) && dim_is_int(size) && (i->value < -size->value || i->value >= size->value))
    infer_fail(in, E_GRAPH_INDEX, (long long)i->value, axis, infer_type_text(in, x));
  remove_axes(in, x, 1u << axis);
}

void infer_select_scatter(Infer *in) {
  infer_select(in);
  check_part(in);
}

void infer_narrow(Infer *in) {
  const ValueType *x = infer_self(in);
  infer_rank(in, x, 1, GRAPH_RANK_MAX);
  set_axis(in, x, infer_axis_arg(in, "dim", x->rank), infer_size(in, "length"));
}

void infer_as_strided(Infer *in) {
  Dim sizes[GRAPH_RANK_MAX];
  uint32_t n = infer_sizes(in, "size", sizes);
  infer_set(in, infer_self(in)->dtype, n, sizes);
}

/* The length of a diagonal `offset` to the right of the main one. */
static Dim diagonal_size(Infer *in, Dim rows, Dim columns, int64_t offset) {
  Dims *d = in->g->dims;
  if (offset >= 0) columns = dim_sub(d, columns, infer_const(in, offset));
  else rows = dim_add(d, rows, infer_const(in, offset));
  return dim_max(d, dim_min(d, rows, columns), infer_const(in, 0));
}

void infer_diagonal(Infer *in) {
  const ValueType *x = infer_self(in);
  infer_rank(in, x, 2, GRAPH_RANK_MAX);
  uint32_t a = infer_axis_arg(in, "dim1", x->rank), b = infer_axis_arg(in, "dim2", x->rank);
  if (a == b) infer_fail(in, E_GRAPH_AXIS_TWICE, (long long)a);
  Dim n = diagonal_size(in, x->shape[a], x->shape[b], infer_int(in, "offset"));
  remove_axes(in, x, 1u << a | 1u << b);
  ValueType rest = in->result;
  insert_axis(in, &rest, rest.rank, n);
}

void infer_diag_embed(Infer *in) {
  const ValueType *x = infer_self(in);
  infer_rank(in, x, 1, GRAPH_RANK_MAX - 1);
  uint32_t rank = x->rank + 1;
  uint32_t a = infer_axis_arg(in, "dim1", rank), b = infer_axis_arg(in, "dim2", rank);
  int64_t offset = infer_int(in, "offset");
  if (a == b) infer_fail(in, E_GRAPH_AXIS_TWICE, (long long)a);
  Dims *d = in->g->dims;
  Dim by =
      dim_max(d, infer_const(in, offset), dim_sub(d, infer_const(in, 0), infer_const(in, offset)));
  Dim n = dim_add(d, x->shape[x->rank - 1], by);
  Dim shape[GRAPH_RANK_MAX];
  for (uint32_t i = 0, k = 0; i < rank; i++) shape[i] = i == a || i == b ? n : x->shape[k++];
  infer_set(in, x->dtype, rank, shape);
}

void infer_unfold(Infer *in) {
  const ValueType *x = infer_self(in);
  infer_rank(in, x, 1, GRAPH_RANK_MAX - 1);
  Dims *d = in->g->dims;
  uint32_t axis = infer_axis_arg(in, "dimension", x->rank);
  int64_t size = infer_int(in, "size"), step = infer_int(in, "step");
  if (step <= 0) infer_fail(in, E_GRAPH_STEP, (long long)step);
  Dim last = dim_sub(d, x->shape[axis], infer_const(in, size));
  if (dim_is_int(last) && last->value < 0)
    infer_fail(in, E_GRAPH_WINDOW, infer_dim_text(in, infer_const(in, size)),
               infer_dim_text(in, x->shape[axis]));
  Dim n = dim_add(d, dim_floordiv(d, last, infer_const(in, step)), infer_const(in, 1));
  set_axis(in, x, axis, n);
  ValueType windows = in->result;
  insert_axis(in, &windows, x->rank, infer_const(in, size));
}

/* ---- splitting ---- */

enum { MAX_PARTS = 1 << 14 };

static void set_parts(Infer *in, const ValueType *x, uint32_t axis, uint32_t n, const Dim *sizes) {
  ValueType *parts = ARENA_ARRAY(in->g->arena, ValueType, n);
  for (uint32_t i = 0; i < n; i++) {
    set_axis(in, x, axis, sizes[i]);
    parts[i] = in->result;
  }
  infer_set_list(in, n, parts);
}

/* n parts of `size`, the last of what is left. */
static void set_equal_parts(Infer *in, const ValueType *x, uint32_t axis, int64_t n, Dim size) {
  Dims *d = in->g->dims;
  if (n > MAX_PARTS) infer_fail(in, E_GRAPH_PARTS, (long long)n, (int)MAX_PARTS);
  Dim *sizes = ARENA_ARRAY(in->g->arena, Dim, (size_t)n);
  for (int64_t i = 0; i + 1 < n; i++) sizes[i] = size;
  Dim before = dim_mul(d, size, infer_const(in, n - 1));
  if (n) sizes[n - 1] = dim_sub(d, x->shape[axis], before);
  set_parts(in, x, axis, (uint32_t)n, sizes);
}

static int64_t fixed_size(Infer *in, const ValueType *x, uint32_t axis) {
  if (!dim_is_int(x->shape[axis])) infer_fail(in, E_GRAPH_FIXED, axis, infer_type_text(in, x));
  return x->shape[axis]->value;
}

static const ValueType *split_axis(Infer *in, uint32_t *axis) {
  const ValueType *x = infer_self(in);
  infer_rank(in, x, 1, GRAPH_RANK_MAX);
  *axis = infer_axis_arg(in, "dim", x->rank);
  return x;
}

void infer_split(Infer *in) {
  uint32_t axis;
  const ValueType *x = split_axis(in, &axis);
  int64_t size = fixed_size(in, x, axis), part = infer_int(in, "split_size");
  if (part <= 0) infer_fail(in, E_GRAPH_STEP, (long long)part);
  int64_t n = size ? (size - 1) / part + 1 : 1;
  set_equal_parts(in, x, axis, n, infer_const(in, part));
}

void infer_split_sizes(Infer *in) {
  uint32_t axis;
  const ValueType *x = split_axis(in, &axis);
  const char *param = in->schema->params[1].name;
  Arg list = graph_arg(in->g, in->n, param);
  Dim sum = infer_const(in, 0), *sizes = ARENA_ARRAY(in->g->arena, Dim, list.n);
  for (uint32_t i = 0; i < list.n; i++) {
    sizes[i] = infer_dim_of(in, &list.items[i]);
    sum = dim_add(in->g->dims, sum, sizes[i]);
  }
  infer_same_size(in, x->shape[axis], sum, "the axis and the sum of its parts");
  set_parts(in, x, axis, list.n, sizes);
}

/* Of a symbolic size there are as many chunks as were asked for. */
void infer_chunk(Infer *in) {
  uint32_t axis;
  const ValueType *x = split_axis(in, &axis);
  int64_t n = infer_int(in, "chunks");
  if (n <= 0) infer_fail(in, E_GRAPH_STEP, (long long)n);
  Dim size = infer_ceil_div(in, x->shape[axis], infer_const(in, n));
  if (dim_divisible(x->shape[axis], n))
    size = dim_floordiv(in->g->dims, x->shape[axis], infer_const(in, n));
  if (dim_is_int(x->shape[axis]) && dim_is_int(size) && size->value > 0)
    n = x->shape[axis]->value ? (x->shape[axis]->value - 1) / size->value + 1 : n;
  set_equal_parts(in, x, axis, n, size);
}

void infer_unbind(Infer *in) {
  uint32_t axis;
  const ValueType *x = split_axis(in, &axis);
  int64_t n = fixed_size(in, x, axis);
  if (n > MAX_PARTS) infer_fail(in, E_GRAPH_PARTS, (long long)n, (int)MAX_PARTS);
  remove_axes(in, x, 1u << axis);
  ValueType part = in->result, *parts = ARENA_ARRAY(in->g->arena, ValueType, (size_t)n);
  for (int64_t i = 0; i < n; i++) parts[i] = part;
  infer_set_list(in, (uint32_t)n, parts);
}

/* ---- joining ---- */

static DType promote_all(Infer *in, const ValueType **x, uint32_t n) {
  Operand *operands = ARENA_ARRAY(in->g->arena, Operand, n);
  for (uint32_t i = 0; i < n; i++) operands[i] = infer_tensor_operand(x[i]);
  return infer_promote(in, operands, n);
}

static const ValueType **joined(Infer *in, uint32_t *n) {
  const ValueType **x = infer_tensors(in, "tensors", n);
  if (!*n) infer_fail(in, E_GRAPH_EMPTY_LIST);
  return x;
}

/* A tensor of shape [0] may be joined with any, as it always could. */
static bool is_nothing(const ValueType *x) { return x->rank == 1 && dim_is(x->shape[0], 0); }

static const ValueType *first_real(const ValueType **x, uint32_t n) {
  for (uint32_t i = 0; i < n; i++)
    if (!is_nothing(x[i])) return x[i];
  return x[0];
}

static void add_part(Infer *in, Dim *shape, uint32_t rank, const ValueType *x, uint32_t axis) {
  if (x->rank != rank)
    infer_fail(in, E_GRAPH_CAT, infer_shape_text(in, shape, rank), infer_type_text(in, x), axis);
  for (uint32_t i = 0; i < rank; i++) {
    if (i == axis) continue;
    if (!infer_may_equal(in->g, shape[i], x->shape[i]))
      infer_fail(in, E_GRAPH_CAT, infer_shape_text(in, shape, rank), infer_type_text(in, x), axis);
    if (dim_is_int(x->shape[i])) shape[i] = x->shape[i];
  }
  shape[axis] = dim_add(in->g->dims, shape[axis], x->shape[axis]);
}

static void cat(Infer *in, const ValueType **x, uint32_t n, int64_t dim) {
  const ValueType *first = first_real(x, n);
  infer_rank(in, first, 1, GRAPH_RANK_MAX);
  uint32_t axis = infer_axis(in, dim, first->rank);
  Dim shape[GRAPH_RANK_MAX];
  copy_shape(first, shape);
  shape[axis] = infer_const(in, 0);
  for (uint32_t i = 0; i < n; i++)
    if (!is_nothing(x[i])) add_part(in, shape, first->rank, x[i], axis);
  infer_set(in, promote_all(in, x, n), first->rank, shape);
}

void infer_cat(Infer *in) {
  uint32_t n;
  const ValueType **x = joined(in, &n);
  cat(in, x, n, infer_int(in, "dim"));
}

/* Each tensor with axes put in front until it has `rank`. */
static const ValueType **with_rank(Infer *in, const ValueType **x, uint32_t n, uint32_t rank) {
  ValueType *types = ARENA_ARRAY(in->g->arena, ValueType, n);
  for (uint32_t i = 0; i < n; i++) {
    types[i] = *x[i];
    while (types[i].rank < rank) {
      insert_axis(in, &types[i], 0, infer_const(in, 1));
      types[i] = in->result;
    }
    x[i] = &types[i];
  }
  return x;
}

void infer_hstack(Infer *in) {
  uint32_t n;
  const ValueType **x = joined(in, &n);
  x = with_rank(in, x, n, 1);
  cat(in, x, n, x[0]->rank > 1);
}

void infer_vstack(Infer *in) {
  uint32_t n;
  const ValueType **x = joined(in, &n);
  cat(in, with_rank(in, x, n, 2), n, 0);
}

void infer_stack(Infer *in) {
  uint32_t n;
  const ValueType **x = joined(in, &n);
  uint32_t axis = infer_axis_arg(in, "dim", x[0]->rank + 1);
  for (uint32_t i = 0, rank = x[0]->rank; i < n; i++) {
    infer_rank(in, x[i], rank, rank);
    insert_axis(in, x[i], axis, infer_const(in, 1));
    ValueType *one = ARENA_NEW(in->g->arena, ValueType);
    *one = in->result;
    x[i] = one;
  }
  cat(in, x, n, axis);
}

/* ---- padding and pixels ---- */

/* `pad` has pairs of sizes before and after, of the last axis first. */
static void pad(Infer *in, const char *param, uint32_t pairs) {
  const ValueType *x = infer_self(in);
  Arg list = graph_arg(in->g, in->n, param);
  if (list.n % 2 || list.n / 2 > x->rank || (pairs && list.n != 2 * pairs))
    infer_fail(in, E_GRAPH_PAD, list.n, infer_type_text(in, x));
  Dim shape[GRAPH_RANK_MAX];
  copy_shape(x, shape);
  for (uint32_t i = 0; i < list.n; i++) {
    Dim *size = &shape[x->rank - 1 - i / 2];
    *size = dim_add(in->g->dims, *size, infer_dim_of(in, &list.items[i]));
  }
  infer_set(in, x->dtype, x->rank, shape);
}

void infer_pad(Infer *in) { pad(in, "pad", 0); }

/* Of an image with or without a batch: `int[2*n]` pads n axes. */
void infer_pad_nd(Infer *in) {
  uint32_t pairs = in->schema->params[1].repeat / 2;
  infer_rank(in, infer_self(in), pairs + 1, pairs + 2);
  pad(in, "padding", pairs);
}

static void set_pixels(Infer *in, const ValueType *x, Dim channels, Dim height, Dim width) {
  Dim shape[GRAPH_RANK_MAX];
  copy_shape(x, shape);
  shape[x->rank - 3] = channels;
  shape[x->rank - 2] = height;
  shape[x->rank - 1] = width;
  infer_set(in, x->dtype, x->rank, shape);
}

static Dim pixel_factor(Infer *in, const ValueType *x, const char *param) {
  infer_rank(in, x, 3, GRAPH_RANK_MAX);
  int64_t factor = infer_int(in, param);
  if (factor <= 0) infer_fail(in, E_GRAPH_STEP, (long long)factor);
  return infer_const(in, factor);
}

void infer_pixel_shuffle(Infer *in) {
  const ValueType *x = infer_self(in);
  Dims *d = in->g->dims;
  Dim f = pixel_factor(in, x, "upscale_factor");
  const Dim *s = x->shape + x->rank - 3;
  set_pixels(in, x, dim_floordiv(d, s[0], dim_mul(d, f, f)), dim_mul(d, s[1], f),
             dim_mul(d, s[2], f));
}

void infer_pixel_unshuffle(Infer *in) {
  const ValueType *x = infer_self(in);
  Dims *d = in->g->dims;
  Dim f = pixel_factor(in, x, "downscale_factor");
  const Dim *s = x->shape + x->rank - 3;
  set_pixels(in, x, dim_mul(d, s[0], dim_mul(d, f, f)), dim_floordiv(d, s[1], f),
             dim_floordiv(d, s[2], f));
}
