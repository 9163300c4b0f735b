/* Ops that give elements other indices: other sizes of the same order, or another order of axes. */
#include <string.h>

#include "graph/messages.h"
#include "graph/ops/infer_rules.h"

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
  if (fits) sizes[hole] = dim_quotient(in->g->dims, all, rest);
  if (fits) fits = infer_equal(in, all, dim_mul(in->g->dims, rest, sizes[hole]));
  if (!fits)
    infer_fail(in, E_GRAPH_RESHAPE, infer_shape_text(in, from, nfrom), infer_shape_text(in, b, n));
}

/* Sizes with at most one -1, which is computed from the elements of `from`. */
static void infer_fill_size(Infer *in, const Dim *from, uint32_t nfrom, Dim *sizes, uint32_t n) {
  uint32_t holes = 0, hole = 0;
  for (uint32_t i = 0; i < n; i++)
    if (dim_is(sizes[i], -1)) holes++, hole = i;
  if (holes > 1) infer_fail(in, E_GRAPH_HOLES, infer_shape_text(in, sizes, n));
  if (holes) {
    fill_one(in, from, nfrom, sizes, n, hole);
  } else if (!infer_equal(in, infer_product(in, from, nfrom), infer_product(in, sizes, n))) {
    infer_fail(in, E_GRAPH_RESHAPE, infer_shape_text(in, from, nfrom),
               infer_shape_text(in, sizes, n));
  }
}

static void infer_reshape_to(Infer *in, Dim *sizes, uint32_t n) {
  const ValueType *x = infer_self(in);
  infer_fill_size(in, x->shape, x->rank, sizes, n);
  infer_set(in, x->dtype, n, sizes);
}

void infer_view(Infer *in) {
  Dim sizes[GRAPH_RANK_MAX];
  uint32_t n = infer_sizes(in, infer_takes(in, "size") ? "size" : "shape", sizes);
  infer_reshape_to(in, sizes, n);
}

void infer_view_as(Infer *in) {
  Dim sizes[GRAPH_RANK_MAX];
  infer_reshape_to(in, sizes, infer_copy_shape(infer_tensor(in, "other"), sizes));
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
  Dim size = infer_exact_div(in, bytes, dtype_bytes(to));
  infer_set_axis(in, x, x->rank - 1, size);
  in->result.dtype = to;
}

void infer_flatten(Infer *in) {
  const ValueType *x = infer_self(in);
  uint32_t first = infer_axis_arg(in, "start_dim", x->rank);
  uint32_t last = infer_axis_arg(in, "end_dim", x->rank);
  if (first > last) infer_fail(in, E_GRAPH_FLATTEN, first, last);
  if (!x->rank) {
    infer_insert_axis(in, x, 0, infer_const(in, 1));
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
    shape[swap && i < 2 ? 1 - i : i] = infer_axis_size(in, x[i], 0);
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
  infer_set_axis(in, x, axis, dim_mul(in->g->dims, infer_axis_size(in, x, axis), times));
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

static void swap_type_axes(Infer *in, const ValueType *x, uint32_t a, uint32_t b) {
  Dim shape[GRAPH_RANK_MAX];
  infer_copy_shape(x, shape);
  if (x->rank) shape[a] = x->shape[b], shape[b] = x->shape[a];
  infer_set(in, x->dtype, x->rank, shape);
}

void infer_transpose(Infer *in) {
  const ValueType *x = infer_self(in);
  const char *first = in->schema->params[1].name, *second = in->schema->params[2].name;
  swap_type_axes(in, x, infer_axis_arg(in, first, x->rank), infer_axis_arg(in, second, x->rank));
}

void infer_t(Infer *in) {
  const ValueType *x = infer_self(in);
  infer_rank(in, x, 0, 2);
  swap_type_axes(in, x, 0, x->rank == 2);
}

void infer_swap_last(Infer *in) {
  const ValueType *x = infer_self(in);
  infer_rank(in, x, 2, GRAPH_RANK_MAX);
  swap_type_axes(in, x, x->rank - 2, x->rank - 1);
}

void infer_reverse(Infer *in) {
  const ValueType *x = infer_self(in);
  uint32_t axes[GRAPH_RANK_MAX];
  for (uint32_t i = 0; i < x->rank; i++) axes[i] = x->rank - 1 - i;
  permute(in, x, axes);
}

/* The axes that are not moved keep their order in the positions that are left. */
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

void infer_flip(Infer *in) {
  const ValueType *x = infer_self(in);
  infer_axes_arg(in, "dims", x->rank);
  in->result = *x;
}

void infer_triangle(Infer *in) {
  infer_rank(in, infer_self(in), 2, GRAPH_RANK_MAX);
  in->result = *infer_self(in);
}

void infer_unsqueeze(Infer *in) {
  const ValueType *x = infer_self(in);
  infer_insert_axis(in, x, infer_axis_arg(in, "dim", x->rank + 1), infer_const(in, 1));
}

/* An axis of a symbolic size stays, and is not 1 in any run. */
void infer_squeeze(Infer *in) {
  const ValueType *x = infer_self(in);
  uint32_t set = 0;
  if (!infer_takes(in, "dim") || graph_arg(in->g, in->n, "dim").kind != ARG_LIST ||
      graph_arg(in->g, in->n, "dim").n)
    set = infer_axes_arg(in, "dim", x->rank);
  for (uint32_t i = 0; i < x->rank; i++)
    if ((set >> i & 1) && infer_differs(in, x->shape[i], infer_const(in, 1))) set &= ~(1u << i);
  infer_remove_axes(in, x, set);
}

void infer_channel_shuffle(Infer *in) {
  const ValueType *x = infer_self(in);
  int64_t groups = infer_int(in, "groups");
  infer_rank(in, x, 3, GRAPH_RANK_MAX - 1);
  if (groups <= 0) infer_fail(in, E_GRAPH_STEP, (long long)groups);
  infer_exact_div(in, x->shape[1], groups);
  in->result = *x;
}
