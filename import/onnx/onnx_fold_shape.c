/* Operators that shapes are computed with, on elements that are known while a model is read. */
#include <string.h>

#include "import/onnx/onnx_op.h"
#include "lang/interp/interp.h"

/* ---- sizes ---- */

static bool fold_set_ints(OnnxCall *c, uint32_t rank, uint32_t n, const Dim *dims) {
  OnnxKnown *out = onnx_known_new(c, DT_I64, rank, (int64_t[]){n});
  if (!out) return false;
  for (uint32_t i = 0; i < n; i++) out->at[i].dim = dims[i];
  onnx_set_known(c, 0, out);
  return true;
}

static int64_t clamped(int64_t at, int64_t n) {
  if (at < 0) at += n;
  return at < 0 ? 0 : at > n ? n : at;
}

bool onnx_fold_shape(OnnxCall *c) {
  const ValueType *t = onnx_type(c, 0);
  int64_t start = clamped(onnx_int(c, "start", 0), t->rank);
  int64_t end = clamped(onnx_int(c, "end", t->rank), t->rank);
  return fold_set_ints(c, 1, end > start ? (uint32_t)(end - start) : 0, t->shape + start);
}

bool onnx_fold_size(OnnxCall *c) {
  const ValueType *t = onnx_type(c, 0);
  Dim n = infer_product(&c->b.in, t->shape, t->rank);
  return n->kind != DIM_HUGE && fold_set_ints(c, 0, 1, &n);
}

/* Their results are known always, but for those of too many elements. */
void onnx_op_shape(OnnxCall *c) { onnx_lack(c, "of a tensor of too many elements"); }

/* ---- the same elements in another shape ---- */

static bool set_shape(OnnxCall *c, const OnnxKnown *x, uint32_t rank, const int64_t *shape) {
  OnnxKnown *out = onnx_known_new(c, x->dtype, rank, shape);
  if (!out || out->n != x->n) return false;
  if (x->n) memcpy(out->at, x->at, x->n * sizeof *x->at);
  onnx_set_known(c, 0, out);
  return true;
}

/* Axes of an attribute before opset 13, of an input from then on; false if they are not known. */
static bool find_axes(OnnxCall *c, uint32_t rank, uint32_t *set) {
  int64_t list[GRAPH_RANK_MAX];
  uint32_t n;
  if (c->opset < 13) {
    const int64_t *axes = onnx_ints(c, "axes", &n);
    if (!axes) return false;
    *set = onnx_axis_set(c, axes, n, rank);
    return true;
  }
  if (!onnx_known(c, 1)) return false;
  n = onnx_need_ints(c, 1, list);
  *set = onnx_axis_set(c, list, n, rank);
  return true;
}

bool onnx_fold_unsqueeze(OnnxCall *c) {
  const OnnxKnown *x = onnx_known(c, 0), *axes = c->opset < 13 ? NULL : onnx_known(c, 1);
  int64_t shape[GRAPH_RANK_MAX];
  uint32_t set, n;
  if (!x || (c->opset >= 13 && !axes)) return false;
  if (axes) n = axes->n;
  else if (!onnx_ints(c, "axes", &n)) return false;
  uint32_t rank = x->rank + n;
  if (rank > GRAPH_RANK_MAX || !find_axes(c, rank, &set)) return false;
  for (uint32_t i = 0, from = 0; i < rank; i++) shape[i] = set >> i & 1 ? 1 : x->shape[from++];
  return set_shape(c, x, rank, shape);
}

bool onnx_fold_squeeze(OnnxCall *c) {
  const OnnxKnown *x = onnx_known(c, 0);
  int64_t shape[GRAPH_RANK_MAX];
  uint32_t set = 0, rank = 0, n;
  if (!x) return false;
  bool given = c->opset < 13 ? onnx_ints(c, "axes", &n) != NULL : onnx_has(c, 1);
  if (given && !find_axes(c, x->rank, &set)) return false;
  for (uint32_t i = 0; i < x->rank; i++) {
    if (given && (set >> i & 1) && x->shape[i] != 1) return false;
    if (given ? !(set >> i & 1) : x->shape[i] != 1) shape[rank++] = x->shape[i];
  }
  return set_shape(c, x, rank, shape);
}

bool onnx_fold_reshape(OnnxCall *c) {
  const OnnxKnown *x = onnx_known(c, 0);
  int64_t shape[GRAPH_RANK_MAX], hole = -1, n = 1;
  if (!x || c->opset < 5 || !onnx_known(c, 1)) return false;
  uint32_t rank = onnx_need_ints(c, 1, shape);
  bool zero = onnx_flag(c, "allowzero", false);
  for (uint32_t i = 0; i < rank; i++) {
    if (shape[i] == 0 && !zero && i >= x->rank) return false;
    if (shape[i] == 0 && !zero) shape[i] = x->shape[i];
    if (shape[i] == -1) hole = i;
    else if (shape[i] < 0 || shape[i] > ONNX_KNOWN_MAX || (n *= shape[i]) > ONNX_KNOWN_MAX)
      return false;
  }
  if (hole >= 0) shape[hole] = n ? x->n / n : 0;
  return set_shape(c, x, rank, shape);
}

/* ---- new tensors ---- */

static bool literal_shape(OnnxCall *c, uint32_t i, uint32_t *rank, int64_t *shape) {
  const OnnxKnown *k = onnx_known(c, i);
  if (!k || k->n > GRAPH_RANK_MAX || k->rank > 1 || dtype_is_float(k->dtype)) return false;
  for (uint32_t j = 0; j < k->n; j++) {
    if (!dim_is_int(k->at[j].dim)) return false;
    shape[j] = k->at[j].dim->value;
  }
  *rank = k->n;
  return true;
}

bool onnx_fold_constant_of_shape(OnnxCall *c) {
  int64_t shape[GRAPH_RANK_MAX];
  uint32_t rank;
  if (!literal_shape(c, 0, &rank, shape)) return false;
  OnnxElement e = {.number = 0};
  const OnnxKnown *value = onnx_has_attr(c, "value") ? onnx_tensor_known_attr(c, "value") : NULL;
  OnnxKnown *out = onnx_known_new(c, value ? value->dtype : DT_F32, rank, shape);
  if (!out || (value && value->n != 1)) return false;
  if (value) e = value->at[0];
  for (uint32_t i = 0; i < out->n; i++) out->at[i] = e;
  onnx_set_known(c, 0, out);
  if (value) onnx_set_form(c, 0, onnx_tensor(c, "value")->form);
  return true;
}

/* Numbers that are all alike, or a vector, which becomes rows. */
bool onnx_fold_expand(OnnxCall *c) {
  int64_t shape[GRAPH_RANK_MAX];
  uint32_t rank;
  const OnnxKnown *x = onnx_known(c, 0);
  if (!x || x->n != 1 || !literal_shape(c, 1, &rank, shape) || rank < x->rank) return false;
  OnnxKnown *out = onnx_known_new(c, x->dtype, rank, shape);
  if (!out) return false;
  for (uint32_t i = 0; i < out->n; i++) out->at[i] = x->at[0];
  onnx_set_known(c, 0, out);
  return true;
}

bool onnx_fold_range(OnnxCall *c) {
  const OnnxKnown *x[3];
  int64_t v[3];
  for (uint32_t i = 0; i < 3; i++) {
    x[i] = onnx_known(c, i);
    if (!x[i] || x[i]->n != 1 || dtype_is_float(x[i]->dtype)) return false;
    if (!dim_is_int(x[i]->at[0].dim)) return false;
    v[i] = x[i]->at[0].dim->value;
  }
  if (!v[2]) return false;
  __int128 distance = (__int128)v[1] - v[0], step = v[2];
  __int128 n = (distance + step + (step > 0 ? -1 : 1)) / step;
  if (n > ONNX_KNOWN_MAX) return false;
  OnnxKnown *out = onnx_known_new(c, x[0]->dtype, 1, (int64_t[]){n > 0 ? (int64_t)n : 0});
  for (uint32_t i = 0; i < out->n; i++)
    out->at[i].dim = build_const(&c->b, (int64_t)(v[0] + i * step));
  onnx_set_known(c, 0, out);
  return true;
}

/* ---- reductions of vectors ---- */

/* A size that has symbols is taken to fit. */
static bool dim_fits_dtype(DType t, Dim d) {
  Scalar x = {.i = d->value};
  return !dim_is_int(d) || scalar_op(TILE_CAST, DT_I64, t, &x, false).i == d->value;
}

bool onnx_fold_reduce(OnnxCall *c) {
  const OnnxKnown *x = onnx_known(c, 0);
  Dims *d = onnx_dims(c);
  if (!x || x->rank > 1 || !x->n || dtype_is_float(x->dtype)) return false;
  bool noop = onnx_flag(c, "noop_with_empty_axes", false);
  if (noop || (onnx_has(c, 1) && !onnx_known(c, 1))) return false;
  onnx_ignore(c, "axes");
  OnnxOpId id = c->op->id;
  Dim (*combine)(Dims *, Dim, Dim) = id == ONNX_ReduceProd  ? dim_mul
                                     : id == ONNX_ReduceSum ? dim_add
                                     : id == ONNX_ReduceMax ? dim_max
                                                            : dim_min;
  Dim value = x->at[0].dim;
  for (uint32_t i = 1; i < x->n; i++) value = combine(d, value, x->at[i].dim);
  uint32_t rank = onnx_flag(c, "keepdims", true) ? x->rank : 0;
  OnnxKnown *out = onnx_known_new(c, x->dtype, rank, (int64_t[]){1});
  if (value->kind == DIM_HUGE || !dim_fits_dtype(x->dtype, value)) return false;
  out->at[0].dim = value;
  onnx_set_known(c, 0, out);
  return true;
}
