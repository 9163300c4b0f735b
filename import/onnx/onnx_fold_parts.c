/* Operators that take parts of vectors that shapes are computed with, or put parts together, on
 * elements that are known while a model is read. */
#include <string.h>

#include "import/onnx/onnx_op.h"

static int64_t *indices_new(OnnxCall *c, uint32_t n) {
  return ARENA_ARRAY(c->b.in.g->arena, int64_t, n);
}

/* The tensor as [outer, size of the axis, inner]. */
typedef struct {
  uint32_t outer, size, inner;
} Split;

static Split split_at(const OnnxKnown *x, uint32_t axis) {
  Split s = {1, (uint32_t)x->shape[axis], 1};
  for (uint32_t i = 0; i < axis; i++) s.outer *= (uint32_t)x->shape[i];
  for (uint32_t i = axis + 1; i < x->rank; i++) s.inner *= (uint32_t)x->shape[i];
  return s;
}

/* The elements at `indices` along an axis, whose position in the result `shape` has. */
static bool set_picked(OnnxCall *c, uint32_t result, const OnnxKnown *x, uint32_t axis,
                       const int64_t *indices, uint32_t n, uint32_t rank, const int64_t *shape) {
  OnnxKnown *out = onnx_known_new(c, x->dtype, rank, shape);
  Split s = split_at(x, axis);
  if (!out) return false;
  OnnxElement *to = out->at;
  for (uint32_t o = 0; o < s.outer; o++)
    for (uint32_t i = 0; i < n; i++)
      for (uint32_t k = 0; k < s.inner; k++)
        *to++ = x->at[(o * s.size + (uint32_t)indices[i]) * s.inner + k];
  onnx_set_known(c, result, out);
  return true;
}

bool onnx_fold_gather(OnnxCall *c) {
  const OnnxKnown *x = onnx_known(c, 0), *index = onnx_known(c, 1);
  int64_t shape[GRAPH_RANK_MAX];
  if (!x || !index || !x->rank || x->rank + index->rank > GRAPH_RANK_MAX) return false;
  uint32_t axis = onnx_axis_attr(c, "axis", 0, x->rank), rank = 0;
  int64_t size = x->shape[axis], *indices = indices_new(c, index->n);
  for (uint32_t i = 0; i < index->n; i++) {
    if (dtype_is_float(index->dtype) || !dim_is_int(index->at[i].dim)) return false;
    indices[i] = index->at[i].dim->value;
    if (indices[i] < 0) indices[i] += size;
    if (indices[i] < 0 || indices[i] >= size) return false;
  }
  for (uint32_t i = 0; i < axis; i++) shape[rank++] = x->shape[i];
  for (uint32_t i = 0; i < index->rank; i++) shape[rank++] = index->shape[i];
  for (uint32_t i = axis + 1; i < x->rank; i++) shape[rank++] = x->shape[i];
  return set_picked(c, 0, x, axis, indices, index->n, rank, shape);
}

/* The indices of start, start + step, ... before end, which count as in Python, but that a start
 * before the axis is its first element. */
static uint32_t slice_indices(int64_t size, int64_t start, int64_t end, int64_t step,
                              int64_t *indices) {
  uint32_t n = 0;
  if (start < 0) start = start < -size ? 0 : start + size;
  if (end < 0) end = end < -size ? -1 : end + size;
  if (step > 0) {
    for (; start < end && start < size; start += step < size ? step : size) indices[n++] = start;
  } else {
    if (start >= size) start = size - 1;
    for (; start > end && start >= 0; start -= step > -size ? -step : size) indices[n++] = start;
  }
  return n;
}

typedef struct {
  uint32_t axis;
  int64_t start, end, step;
} Slice;

/* Before opset 10 the numbers are attributes; false if they aren't of one axis. */
static bool read_attributes(OnnxCall *c, uint32_t rank, Slice *s) {
  uint32_t n, naxes = 0;
  const int64_t *starts = onnx_ints(c, "starts", &n), *ends = onnx_ints(c, "ends", &n);
  const int64_t *axes = onnx_ints(c, "axes", &naxes);
  if (!starts || !ends || n != 1) return false;
  *s = (Slice){axes && naxes ? onnx_axis(c, axes[0], rank) : 0, *starts, *ends, 1};
  return true;
}

static bool read_slice(OnnxCall *c, uint32_t rank, Slice *s) {
  enum { START = 1, END, AXES, STEPS };
  if (onnx_slices_by_attributes(c)) return read_attributes(c, rank, s);
  for (uint32_t i = START; i < c->nin; i++)
    if (onnx_has(c, i) && (!onnx_known(c, i) || onnx_known(c, i)->n != 1)) return false;
  Dim first = onnx_need_dim(c, START), last = onnx_need_dim(c, END);
  if (!dim_is_int(first) || !dim_is_int(last)) return false;
  uint32_t axis = onnx_has(c, AXES) ? onnx_axis(c, onnx_need_int(c, AXES), rank) : 0;
  int64_t step = onnx_has(c, STEPS) ? onnx_need_int(c, STEPS) : 1;
  *s = (Slice){axis, first->value, last->value, step};
  return true;
}

/* Along one axis. */
bool onnx_fold_slice(OnnxCall *c) {
  const OnnxKnown *x = onnx_known(c, 0);
  int64_t shape[GRAPH_RANK_MAX];
  Slice s;
  if (!x || !x->rank || !read_slice(c, x->rank, &s) || s.step == 0 || s.step == INT64_MIN)
    return false;
  int64_t size = x->shape[s.axis], *indices = indices_new(c, (uint32_t)size);
  uint32_t n = slice_indices(size, s.start, s.end, s.step, indices);
  memcpy(shape, x->shape, x->rank * sizeof *shape);
  shape[s.axis] = n;
  return set_picked(c, 0, x, s.axis, indices, n, x->rank, shape);
}

/* How many elements of an axis each result takes; false: that is not known, or wrong. */
static bool read_parts(OnnxCall *c, int64_t size, int64_t *parts) {
  uint32_t n = c->nout;
  const int64_t *list = c->opset < 13 ? onnx_ints(c, "split", &n) : NULL;
  const OnnxKnown *k = c->opset >= 13 && onnx_has(c, 1) ? onnx_known(c, 1) : NULL;
  int64_t sum = 0, even = n ? (size + n - 1) / n : 0;
  if (c->opset >= 13 && onnx_has(c, 1) && !k) return false;
  if (k) n = k->n;
  if (!n || n != c->nout || (k && dtype_is_float(k->dtype))) return false;
  for (uint32_t i = 0; i < n; i++) {
    if (k && !dim_is_int(k->at[i].dim)) return false;
    parts[i] = list ? list[i] : k ? k->at[i].dim->value : even < size - sum ? even : size - sum;
    if (parts[i] < 0 || parts[i] > size - sum) return false;
    sum += parts[i];
  }
  return sum == size;
}

bool onnx_fold_split(OnnxCall *c) {
  const OnnxKnown *x = onnx_known(c, 0);
  int64_t shape[GRAPH_RANK_MAX], *parts = indices_new(c, c->nout), first = 0;
  if (!x || !x->rank) return false;
  uint32_t axis = onnx_axis_attr(c, "axis", 0, x->rank);
  if (!read_parts(c, x->shape[axis], parts)) return false;
  onnx_ignore(c, "num_outputs");
  memcpy(shape, x->shape, x->rank * sizeof *shape);
  for (uint32_t i = 0; i < c->nout; first += parts[i++]) {
    int64_t *indices = indices_new(c, (uint32_t)parts[i]);
    for (int64_t k = 0; k < parts[i]; k++) indices[k] = first + k;
    shape[axis] = parts[i];
    if (!set_picked(c, i, x, axis, indices, (uint32_t)parts[i], x->rank, shape)) return false;
  }
  return true;
}

/* The axes of the operand in the result's order. */
static bool read_order(OnnxCall *c, uint32_t rank, uint32_t *order) {
  uint32_t n = 0, set = 0;
  const int64_t *perm = onnx_ints(c, "perm", &n);
  if (perm && n != rank) return false;
  for (uint32_t i = 0; i < rank; i++) {
    order[i] = perm ? onnx_axis(c, perm[i], rank) : rank - 1 - i;
    set |= 1u << order[i];
  }
  return set == (1u << rank) - 1;
}

bool onnx_fold_transpose(OnnxCall *c) {
  const OnnxKnown *x = onnx_known(c, 0);
  uint32_t order[GRAPH_RANK_MAX], step[GRAPH_RANK_MAX];
  int64_t shape[GRAPH_RANK_MAX];
  if (!x || !read_order(c, x->rank, order)) return false;
  for (uint32_t i = x->rank, n = 1; i--; n *= (uint32_t)x->shape[i]) step[i] = n;
  for (uint32_t i = 0; i < x->rank; i++) shape[i] = x->shape[order[i]];
  OnnxKnown *out = onnx_known_new(c, x->dtype, x->rank, shape);
  if (!out) return false;
  for (uint32_t at = 0; at < out->n; at++) {
    uint32_t from = 0, rest = at;
    for (uint32_t i = x->rank; i--; rest /= (uint32_t)shape[i])
      from += step[order[i]] * (rest % (uint32_t)shape[i]);
    out->at[at] = x->at[from];
  }
  onnx_set_known(c, 0, out);
  return true;
}

/* Scalars count as vectors of one, in the oldest files. */
bool onnx_fold_concat(OnnxCall *c) {
  int64_t total = 0;
  DType t = DT_NONE;
  for (uint32_t i = 0; i < c->nin; i++) {
    const OnnxKnown *x = onnx_known(c, i);
    if (!x || x->rank != 1 || (t && x->dtype != t)) return false;
    total += x->n;
    t = x->dtype;
  }
  OnnxKnown *out = t ? onnx_known_new(c, t, 1, &total) : NULL;
  if (!out) return false;
  onnx_ignore(c, "axis");
  OnnxElement *to = out->at;
  for (uint32_t i = 0; i < c->nin; i++) {
    const OnnxKnown *x = onnx_known(c, i);
    for (uint32_t k = 0; k < x->n; k++) *to++ = x->at[k];
  }
  onnx_set_known(c, 0, out);
  return true;
}
