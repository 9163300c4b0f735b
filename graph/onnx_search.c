/* Unique: how many results it has depends on values, which must be known when the model is read. */
#include <stdlib.h>
#include <string.h>

#include "graph/onnx_op.h"

/* Rows along an axis: the elements of each are `width`, in `outer` runs of `inner`. */
typedef struct {
  const OnnxKnown *k;
  uint32_t outer, rows, inner;
} Rows;

static OnnxElement element(const Rows *r, uint32_t row, uint32_t i) {
  return r->k->at[(i / r->inner * r->rows + row) * r->inner + i % r->inner];
}

static int compare_elements(DType t, OnnxElement a, OnnxElement b) {
  if (dtype_is_float(t)) return (a.number > b.number) - (a.number < b.number);
  return (a.dim->value > b.dim->value) - (a.dim->value < b.dim->value);
}

static int compare_rows(const Rows *r, uint32_t a, uint32_t b) {
  for (uint32_t i = 0; i < r->outer * r->inner; i++) {
    int order = compare_elements(r->k->dtype, element(r, a, i), element(r, b, i));
    if (order) return order;
  }
  return 0;
}

/* The first of each row that is met, in order; `of` says for each row which one it is. */
static uint32_t find_first(const Rows *r, uint32_t *first, uint32_t *of) {
  uint32_t n = 0;
  for (uint32_t row = 0; row < r->rows; row++) {
    uint32_t i = 0;
    while (i < n && compare_rows(r, first[i], row)) i++;
    if (i == n) first[n++] = row;
    of[row] = i;
  }
  return n;
}

/* By insertion, as there are few: order[i] is the number of the i-th smallest. */
static void sort_rows(const Rows *r, const uint32_t *first, uint32_t n, uint32_t *order) {
  for (uint32_t i = 0; i < n; i++) {
    uint32_t at = i;
    for (; at && compare_rows(r, first[order[at - 1]], first[i]) > 0; at--)
      order[at] = order[at - 1];
    order[at] = i;
  }
}

static void set_ints(OnnxCall *c, uint32_t result, const uint32_t *values, uint32_t n) {
  OnnxKnown *k = onnx_known_new(c, DT_I64, 1, (int64_t[]){n});
  for (uint32_t i = 0; i < n; i++) k->at[i].dim = build_const(&c->b, values[i]);
  onnx_set_known(c, result, k);
}

static uint32_t *numbers(OnnxCall *c, uint32_t n) {
  return ARENA_ARRAY(c->b.in.g->arena, uint32_t, n);
}

static Rows rows_of(OnnxCall *c, const OnnxKnown *k, uint32_t *axis) {
  Rows r = {k, 1, k->n, 1};
  *axis = k->rank;
  if (!onnx_has_attr(c, "axis")) return r;
  *axis = onnx_axis_attr(c, "axis", 0, k->rank);
  r.rows = (uint32_t)k->shape[*axis];
  for (uint32_t i = 0; i < *axis; i++) r.outer *= (uint32_t)k->shape[i];
  for (uint32_t i = *axis + 1; i < k->rank; i++) r.inner *= (uint32_t)k->shape[i];
  return r;
}

static void set_rows(OnnxCall *c, const Rows *r, uint32_t axis, const uint32_t *rows, uint32_t n) {
  int64_t shape[GRAPH_RANK_MAX] = {n};
  bool flat = axis == r->k->rank;
  for (uint32_t i = 0; i < r->k->rank && !flat; i++) shape[i] = i == axis ? n : r->k->shape[i];
  OnnxKnown *out = onnx_known_new(c, r->k->dtype, flat ? 1 : r->k->rank, shape);
  Rows to = {out, r->outer, n, r->inner};
  for (uint32_t row = 0; row < n; row++)
    for (uint32_t i = 0; i < r->outer * r->inner; i++)
      out->at[(i / to.inner * n + row) * to.inner + i % to.inner] = element(r, rows[row], i);
  onnx_set_known(c, 0, out);
}

/* Results are the rows, where each is met first, which one each row is, and how often it is met. */
void onnx_op_unique(OnnxCall *c) {
  const OnnxKnown *k = onnx_need(c, 0);
  uint32_t axis;
  Rows r = rows_of(c, k, &axis);
  for (uint32_t i = 0; i < k->n && !dtype_is_float(k->dtype); i++)
    if (!dim_is_int(k->at[i].dim)) onnx_lack(c, "symbolic sizes");
  uint32_t *first = numbers(c, r.rows), *of = numbers(c, r.rows), *order = numbers(c, r.rows);
  uint32_t *place = numbers(c, r.rows), *rows = numbers(c, r.rows), *count = numbers(c, r.rows);
  uint32_t n = find_first(&r, first, of);
  for (uint32_t i = 0; i < n; i++) order[i] = i;
  if (onnx_flag(c, "sorted", true)) sort_rows(&r, first, n, order);
  for (uint32_t i = 0; i < n; i++) place[order[i]] = i, rows[i] = first[order[i]];
  for (uint32_t i = 0; i < r.rows; i++) count[of[i] = place[of[i]]]++;
  set_rows(c, &r, axis, rows, n);
  set_ints(c, 1, rows, n);
  set_ints(c, 2, of, r.rows);
  set_ints(c, 3, count, n);
}
