/* Ops that cut tensors, join them, and pad them. */
#include <string.h>

#include "graph/messages.h"
#include "graph/ops/infer_rules.h"

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
  infer_set_axis(in, x, axis, slice_size(in, x->shape[axis]));
}

/* src has the shape of the part that it replaces. */
static void check_part(Infer *in) {
  const ValueType *src = infer_tensor(in, "src"), *part = &in->result;
  infer_rank(in, src, part->rank, part->rank);
  for (uint32_t i = 0; i < src->rank; i++)
    infer_same_size(in, src->shape[i], part->shape[i], "the axes of src and of what it replaces");
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
  if (dim_is_int(i) &&
      !infer_at_least(in, size, infer_const(in, i->value < 0 ? -i->value : i->value + 1)))
    infer_fail(in, E_GRAPH_INDEX, (long long)i->value, axis, infer_type_text(in, x));
  infer_remove_axes(in, x, 1u << axis);
}

/* The slice of the memory that is written; the result is the whole memory. */
void infer_insert_slice(Infer *in) {
  infer_axis_arg(in, "dim", infer_self(in)->rank);
  infer_size(in, "start");
  in->result = *infer_tensor(in, "src");
}

void infer_inserted(Infer *in) {
  uint32_t n;
  infer_tensors(in, "slices", &n);
  in->result = *infer_self(in);
}

void infer_select_scatter(Infer *in) {
  infer_select(in);
  check_part(in);
}

/* length elements from start on are between 0 and size, as far as that is known. */
static void check_narrow(Infer *in, const ValueType *x, uint32_t axis, Dim start, Dim length) {
  Dims *d = in->g->dims;
  Dim size = x->shape[axis];
  if (!dim_is_int(start)) return;
  bool back = start->value < 0;
  Dim least = back ? dim_sub(d, infer_const(in, 0), start) : dim_add(d, start, length);
  bool within = infer_at_least(in, size, least);
  if (back) within &= infer_at_least(in, least, length);
  if (!within)
    infer_fail(in, E_GRAPH_NARROW, infer_dim_text(in, length), (long long)start->value, axis,
               infer_type_text(in, x));
}

void infer_narrow(Infer *in) {
  const ValueType *x = infer_self(in);
  infer_rank(in, x, 1, GRAPH_RANK_MAX);
  uint32_t axis = infer_axis_arg(in, "dim", x->rank);
  Dim length = infer_size(in, "length");
  check_narrow(in, x, axis, infer_size(in, "start"), length);
  infer_set_axis(in, x, axis, length);
}

/* All elements must be within the operand, whatever its symbols are: no later check follows. */
static void check_strides(Infer *in, const ValueType *x, const Dim *sizes, uint32_t n) {
  Dims *d = in->g->dims;
  Dim strides[GRAPH_RANK_MAX], last = infer_const(in, 0);
  uint32_t nstrides = infer_sizes(in, "stride", strides);
  if (nstrides != n) infer_fail(in, E_GRAPH_STRIDES, nstrides, n);
  if (infer_has(in, "storage_offset")) last = infer_size(in, "storage_offset");
  bool inside = dim_range(d, last).lo >= 0;
  for (uint32_t i = 0; i < n; i++) {
    if (dim_is(sizes[i], 0)) return;
    inside &= dim_range(d, strides[i]).lo >= 0;
    last = dim_add(d, last, dim_mul(d, dim_sub(d, sizes[i], infer_const(in, 1)), strides[i]));
  }
  Dim behind = dim_sub(d, last, value_numel(in->g, x));
  if (!inside || behind->kind == DIM_HUGE || dim_range(d, behind).hi >= 0)
    infer_fail(in, E_GRAPH_OUTSIDE, infer_dim_text(in, last), infer_type_text(in, x));
}

void infer_as_strided(Infer *in) {
  const ValueType *x = infer_self(in);
  Dim sizes[GRAPH_RANK_MAX];
  uint32_t n = infer_sizes(in, "size", sizes);
  check_strides(in, x, sizes, n);
  infer_set(in, x->dtype, n, sizes);
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
  infer_remove_axes(in, x, 1u << a | 1u << b);
  ValueType rest = in->result;
  infer_insert_axis(in, &rest, rest.rank, n);
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

/* A tensor without axes has one window: none of its elements, or the one. */
void infer_unfold(Infer *in) {
  const ValueType *x = infer_self(in);
  infer_rank(in, x, 0, GRAPH_RANK_MAX - 1);
  Dims *d = in->g->dims;
  uint32_t axis = infer_axis_arg(in, "dimension", x->rank);
  int64_t size = infer_int(in, "size"), step = infer_int(in, "step");
  if (step <= 0) infer_fail(in, E_GRAPH_STEP, (long long)step);
  Dim of = infer_axis_size(in, x, axis), window = infer_const(in, size);
  Dim last = dim_sub(d, of, window);
  if (dim_is_int(last) && last->value < 0)
    infer_fail(in, E_GRAPH_WINDOW, infer_dim_text(in, window), infer_dim_text(in, of));
  if (!x->rank) {
    infer_set(in, x->dtype, 1, &window);
    return;
  }
  Dim n = dim_add(d, dim_floordiv(d, last, infer_const(in, step)), infer_const(in, 1));
  infer_set_axis(in, x, axis, n);
  ValueType windows = in->result;
  infer_insert_axis(in, &windows, x->rank, infer_const(in, size));
}

/* The gradient has the shape of the windows, or 1 for other axes than theirs. */
void infer_unfold_backward(Infer *in) {
  Dim shape[GRAPH_RANK_MAX];
  Dims *d = in->g->dims;
  const ValueType *grad = infer_self(in);
  uint32_t rank = infer_sizes(in, "input_sizes", shape);
  int64_t size = infer_int(in, "size"), step = infer_int(in, "step");
  if (step <= 0) infer_fail(in, E_GRAPH_STEP, (long long)step);
  infer_rank(in, grad, rank + 1, rank + 1);
  Dim window = infer_const(in, size);
  infer_same_size(in, grad->shape[rank], window, "the last axis and size");
  if (rank) {
    uint32_t axis = infer_axis_arg(in, "dim", rank);
    Dim last = dim_sub(d, shape[axis], window);
    Dim count = dim_add(d, dim_floordiv(d, last, infer_const(in, step)), infer_const(in, 1));
    infer_same_size(in, grad->shape[axis], count, "windows");
    for (uint32_t i = 0; i < rank; i++)
      if (i != axis && !dim_is(grad->shape[i], 1))
        infer_same_size(in, grad->shape[i], shape[i], "the axes of both");
  }
  infer_set(in, grad->dtype, rank, shape);
}

/* ---- splitting ---- */

enum { MAX_PARTS = 1 << 14 };

static void set_parts(Infer *in, const ValueType *x, uint32_t axis, uint32_t n, const Dim *sizes) {
  ValueType *parts = ARENA_ARRAY(in->g->arena, ValueType, n);
  for (uint32_t i = 0; i < n; i++) {
    infer_set_axis(in, x, axis, sizes[i]);
    parts[i] = in->result;
  }
  infer_set_list(in, n, parts);
}

/* n parts of `size`, the last of the remaining elements. */
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

static const ValueType *split_operand(Infer *in, uint32_t *axis) {
  const ValueType *x = infer_self(in);
  infer_rank(in, x, 1, GRAPH_RANK_MAX);
  *axis = infer_axis_arg(in, "dim", x->rank);
  return x;
}

void infer_split(Infer *in) {
  uint32_t axis;
  const ValueType *x = split_operand(in, &axis);
  int64_t size = fixed_size(in, x, axis), part = infer_int(in, "split_size");
  if (part <= 0) infer_fail(in, E_GRAPH_STEP, (long long)part);
  int64_t n = size ? (size - 1) / part + 1 : 1;
  set_equal_parts(in, x, axis, n, infer_const(in, part));
}

void infer_split_sizes(Infer *in) {
  uint32_t axis;
  const ValueType *x = split_operand(in, &axis);
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

/* A symbolic size gives as many chunks as were requested. */
void infer_chunk(Infer *in) {
  uint32_t axis;
  const ValueType *x = split_operand(in, &axis);
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
  const ValueType *x = split_operand(in, &axis);
  int64_t n = fixed_size(in, x, axis);
  if (n > MAX_PARTS) infer_fail(in, E_GRAPH_PARTS, (long long)n, (int)MAX_PARTS);
  infer_remove_axes(in, x, 1u << axis);
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

static const ValueType **joined_tensors(Infer *in, uint32_t *n) {
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

static void add_joined_part(Infer *in, Dim *shape, uint32_t rank, const ValueType *x,
                            uint32_t axis) {
  if (x->rank != rank)
    infer_fail(in, E_GRAPH_CAT, infer_shape_text(in, shape, rank), infer_type_text(in, x), axis);
  for (uint32_t i = 0; i < rank; i++) {
    if (i == axis) continue;
    if (!infer_equal(in, shape[i], x->shape[i]))
      infer_fail(in, E_GRAPH_CAT, infer_shape_text(in, shape, rank), infer_type_text(in, x), axis);
    if (dim_is_int(x->shape[i])) shape[i] = x->shape[i];
  }
  shape[axis] = dim_add(in->g->dims, shape[axis], x->shape[axis]);
}

static void infer_joined(Infer *in, const ValueType **x, uint32_t n, int64_t dim) {
  const ValueType *first = first_real(x, n);
  infer_rank(in, first, 1, GRAPH_RANK_MAX);
  uint32_t axis = infer_axis(in, dim, first->rank);
  Dim shape[GRAPH_RANK_MAX];
  infer_copy_shape(first, shape);
  shape[axis] = infer_const(in, 0);
  for (uint32_t i = 0; i < n; i++)
    if (!is_nothing(x[i])) add_joined_part(in, shape, first->rank, x[i], axis);
  infer_set(in, promote_all(in, x, n), first->rank, shape);
}

void infer_cat(Infer *in) {
  uint32_t n;
  const ValueType **x = joined_tensors(in, &n);
  infer_joined(in, x, n, infer_int(in, "dim"));
}

/* Each tensor with axes put in front until it has `rank`. */
static const ValueType **with_rank(Infer *in, const ValueType **x, uint32_t n, uint32_t rank) {
  ValueType *types = ARENA_ARRAY(in->g->arena, ValueType, n);
  for (uint32_t i = 0; i < n; i++) {
    types[i] = *x[i];
    while (types[i].rank < rank) {
      infer_insert_axis(in, &types[i], 0, infer_const(in, 1));
      types[i] = in->result;
    }
    x[i] = &types[i];
  }
  return x;
}

void infer_hstack(Infer *in) {
  uint32_t n;
  const ValueType **x = joined_tensors(in, &n);
  x = with_rank(in, x, n, 1);
  infer_joined(in, x, n, x[0]->rank > 1);
}

void infer_vstack(Infer *in) {
  uint32_t n;
  const ValueType **x = joined_tensors(in, &n);
  infer_joined(in, with_rank(in, x, n, 2), n, 0);
}

void infer_stack(Infer *in) {
  uint32_t n;
  const ValueType **x = joined_tensors(in, &n);
  uint32_t axis = infer_axis_arg(in, "dim", x[0]->rank + 1);
  for (uint32_t i = 0, rank = x[0]->rank; i < n; i++) {
    infer_rank(in, x[i], rank, rank);
    infer_insert_axis(in, x[i], axis, infer_const(in, 1));
    ValueType *one = ARENA_NEW(in->g->arena, ValueType);
    *one = in->result;
    x[i] = one;
  }
  infer_joined(in, x, n, axis);
}

/* ---- padding and pixels ---- */

/* `pad` has pairs of sizes before and after, of the last axis first. */
static void pad_sizes(Infer *in, const char *param, uint32_t pairs) {
  const ValueType *x = infer_self(in);
  Arg list = graph_arg(in->g, in->n, param);
  if (list.n % 2 || list.n / 2 > x->rank || (pairs && list.n != 2 * pairs))
    infer_fail(in, E_GRAPH_PAD, list.n, infer_type_text(in, x));
  Dim shape[GRAPH_RANK_MAX];
  infer_copy_shape(x, shape);
  for (uint32_t i = 0; i < list.n; i++) {
    Dim *size = &shape[x->rank - 1 - i / 2];
    *size = dim_add(in->g->dims, *size, infer_dim_of(in, &list.items[i]));
  }
  if (pairs || (infer_takes(in, "mode") && strcmp(infer_string(in, "mode"), "constant") != 0))
    infer_some(in, x, x->rank, shape); /* it is made of x's elements */
  infer_set(in, x->dtype, x->rank, shape);
}

void infer_pad(Infer *in) { pad_sizes(in, "pad", 0); }

/* Pads an image with or without a batch: `int[2*n]` pads n axes. */
void infer_pad_nd(Infer *in) {
  uint32_t pairs = in->schema->params[1].repeat / 2;
  infer_rank(in, infer_self(in), pairs + 1, pairs + 2);
  pad_sizes(in, "padding", pairs);
}

/* A reflected padding is smaller than the axis. */
void infer_reflect(Infer *in) {
  const ValueType *x = infer_self(in);
  infer_pad_nd(in);
  Arg list = graph_arg(in->g, in->n, "padding");
  for (uint32_t i = 0; i < list.n; i++) {
    Dim pad = infer_dim_of(in, &list.items[i]), size = x->shape[x->rank - 1 - i / 2];
    if (dim_is_int(pad) && dim_is_int(size) && pad->value >= size->value)
      infer_fail(in, E_GRAPH_REFLECT, infer_dim_text(in, pad), infer_dim_text(in, size));
  }
}

static void set_pixels(Infer *in, const ValueType *x, Dim channels, Dim height, Dim width) {
  Dim shape[GRAPH_RANK_MAX];
  infer_copy_shape(x, shape);
  shape[x->rank - 3] = channels;
  shape[x->rank - 2] = height;
  shape[x->rank - 1] = width;
  infer_set(in, x->dtype, x->rank, shape);
}

static int64_t pixel_factor(Infer *in, const ValueType *x, const char *param) {
  enum { MOST = 1 << 15 };
  infer_rank(in, x, 3, GRAPH_RANK_MAX);
  int64_t factor = infer_int(in, param);
  if (factor <= 0 || factor > MOST) infer_fail(in, E_GRAPH_STEP, (long long)factor);
  return factor;
}

void infer_pixel_shuffle(Infer *in) {
  const ValueType *x = infer_self(in);
  Dims *d = in->g->dims;
  int64_t f = pixel_factor(in, x, "upscale_factor");
  const Dim *s = x->shape + x->rank - 3;
  Dim by = infer_const(in, f);
  set_pixels(in, x, infer_exact_div(in, s[0], f * f), dim_mul(d, s[1], by), dim_mul(d, s[2], by));
}

void infer_pixel_unshuffle(Infer *in) {
  const ValueType *x = infer_self(in);
  int64_t f = pixel_factor(in, x, "downscale_factor");
  const Dim *s = x->shape + x->rank - 3;
  set_pixels(in, x, dim_mul(in->g->dims, s[0], infer_const(in, f * f)),
             infer_exact_div(in, s[1], f), infer_exact_div(in, s[2], f));
}
