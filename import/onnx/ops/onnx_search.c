/* Unique.  How many results it has depends on values: of known ones they are made when the model is
 * read. */
#include <stdlib.h>
#include <string.h>

#include "graph/builders/mask_builder.h"
#include "import/onnx/onnx_op.h"

/* Rows along an axis: the elements of each are `width`, in `outer` runs of `inner`. */
typedef struct {
  const OnnxKnown *k;
  uint32_t outer, rows, inner;
} Rows;

static OnnxElement row_element(const Rows *r, uint32_t row, uint32_t i) {
  return r->k->at[(i / r->inner * r->rows + row) * r->inner + i % r->inner];
}

static int compare_elements(DType t, OnnxElement a, OnnxElement b) {
  if (dtype_is_float(t)) return (a.number > b.number) - (a.number < b.number);
  return (a.dim->value > b.dim->value) - (a.dim->value < b.dim->value);
}

static int compare_rows(const Rows *r, uint32_t a, uint32_t b) {
  for (uint32_t i = 0; i < r->outer * r->inner; i++) {
    int order = compare_elements(r->k->dtype, row_element(r, a, i), row_element(r, b, i));
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

/* An insertion sort, as there are few: order[i] is the number of the i-th smallest. */
static void sort_row_order(const Rows *r, const uint32_t *first, uint32_t n, uint32_t *order) {
  for (uint32_t i = 0; i < n; i++) {
    uint32_t at = i;
    for (; at && compare_rows(r, first[order[at - 1]], first[i]) > 0; at--)
      order[at] = order[at - 1];
    order[at] = i;
  }
}

static void set_known_ints(OnnxCall *c, uint32_t result, const uint32_t *values, uint32_t n) {
  OnnxKnown *k = onnx_known_new(c, DT_I64, 1, (int64_t[]){n});
  for (uint32_t i = 0; i < n; i++) k->at[i].dim = build_const(&c->b, values[i]);
  onnx_set_known(c, result, k);
}

static uint32_t *numbers(OnnxCall *c, uint32_t n) {
  return ARENA_ARRAY(c->b.in.g->arena, uint32_t, n);
}

static Rows known_rows(OnnxCall *c, const OnnxKnown *k, uint32_t *axis) {
  Rows r = {k, 1, k->n, 1};
  *axis = k->rank;
  if (!onnx_has_attr(c, "axis")) return r;
  *axis = onnx_axis_attr(c, "axis", 0, k->rank);
  r.rows = (uint32_t)k->shape[*axis];
  for (uint32_t i = 0; i < *axis; i++) r.outer *= (uint32_t)k->shape[i];
  for (uint32_t i = *axis + 1; i < k->rank; i++) r.inner *= (uint32_t)k->shape[i];
  return r;
}

static void set_row_result(OnnxCall *c, const Rows *r, uint32_t axis, const uint32_t *rows,
                           uint32_t n) {
  int64_t shape[GRAPH_RANK_MAX] = {n};
  bool flat = axis == r->k->rank;
  for (uint32_t i = 0; i < r->k->rank && !flat; i++) shape[i] = i == axis ? n : r->k->shape[i];
  OnnxKnown *out = onnx_known_new(c, r->k->dtype, flat ? 1 : r->k->rank, shape);
  Rows to = {out, r->outer, n, r->inner};
  for (uint32_t row = 0; row < n; row++)
    for (uint32_t i = 0; i < r->outer * r->inner; i++)
      out->at[(i / to.inner * n + row) * to.inner + i % to.inner] = row_element(r, rows[row], i);
  onnx_set_known(c, 0, out);
}

/* ---- of elements that only data decides ---- */

static Node *gathered(Build *b, Node *x, Node *index) {
  return build(b, OP_aten_index_select_default,
               ARGS(arg_node(x), build_int(b, 0), arg_node(index)));
}

/* For each number what `how` makes of the elements of src where `of` is that number. */
static Node *by_number(Build *b, Node *of, Node *src, const char *how, Dim otherwise) {
  Node *none = build_full(b, 1, of->type.shape, arg_dim(otherwise), DT_I64);
  Arg reduce = {.kind = ARG_STRING, .name = how};
  return build(b, OP_nereid_scatter_default,
               ARGS(arg_node(none), arg_node(of), arg_node(src), reduce));
}

static Node *first_rows(Build *b, Node *x, Dim n) {
  return build_slice(b, x, 0, build_const(b, 0), n, 1);
}

/* Per value its first index (`at`) and its count; per element the number of its value (`of`). */
typedef struct {
  Node *at, *of, *counts;
} Found;

/* Values are numbered in their order. */
static Found found_sorted(Build *b, Node *list, Node *first) {
  Dim n = build_item(b, list, 0)->type.shape[0];
  return (Found){first_rows(b, first, n), build_item(b, list, 1), build_item(b, list, 2)};
}

/* Values are numbered in the order in which they are met: a number counts those met before. */
static Found found_as_met(Build *b, Node *of, Node *first) {
  Node *at = build_arange(b, of->type.shape[0]), *first_of = gathered(b, first, of);
  Node *is_first = build_op2(b, OP_aten_eq_Tensor, first_of, at);
  Node *met =
      build_select(b, build_op1(b, OP_aten_nonzero_default, is_first), 1, build_const(b, 0));
  Node *number = gathered(b, build_mask_number(b, is_first), first_of);
  Node *one = build_full(b, 0, NULL, build_int(b, 1), DT_I64);
  Node *counts = by_number(b, number, one, "sum", build_const(b, 0));
  return (Found){met, number, first_rows(b, counts, met->type.shape[0])};
}

/* The number of rows before each row of a matrix, in the order of their first elements that
 * differ: the same number for rows that are the same. */
static Node *row_ranks(Build *b, Node *x) {
  Dim n = x->type.shape[0], one[] = {n, build_const(b, 1)};
  if (x->type.dtype == DT_I1) x = build_to(b, x, DT_I32);
  Node *last = build_full(b, 2, one, build_int(b, 0), x->type.dtype); /* a row has an element */
  x = build_cat(b, 2, (Node *[]){x, last}, 1);
  Dim shape[] = {n, n, x->type.shape[1]}, zero = build_const(b, 0);
  Node *pair[] = {build_expand(b, build_unsqueeze(b, x, 0), 3, shape),
                  build_expand(b, build_unsqueeze(b, x, 1), 3, shape)};
  Node *differs = build_to(b, build_op2(b, OP_aten_ne_Tensor, pair[0], pair[1]), DT_I32);
  Node *at = build_with(b, OP_aten_argmax_default, differs, build_int(b, 2));
  at = build_unsqueeze(b, at, 2);
  for (int i = 0; i < 2; i++) {
    Arg args[] = {arg_node(pair[i]), build_int(b, 2), arg_node(at)};
    pair[i] = build_select(b, build(b, OP_aten_gather_default, 3, args), 2, zero);
  }
  Node *before = build_to(b, build_op2(b, OP_aten_lt_Tensor, pair[0], pair[1]), DT_I64);
  return build_sum(b, before, 1u << 1, false);
}

/* The rows along an axis as those of a matrix. */
static Node *rows_along(Build *b, Node *x, uint32_t axis) {
  uint32_t axes[GRAPH_RANK_MAX] = {axis};
  for (uint32_t i = 0, n = 1; i < rank_of(x); i++)
    if (i != axis) axes[n++] = i;
  x = build_permute(b, x, axes);
  Dim shape[] = {x->type.shape[0], infer_product(&b->in, x->type.shape + 1, rank_of(x) - 1)};
  return build_with(b, OP_aten_reshape_default, x, arg_dims(b->in.g, 2, shape));
}

/* Elements of x, or with an axis rows of it; *x becomes those that were found. */
static Found found_at_run_time(OnnxCall *c, Node **x, bool along, bool sorted) {
  Build *b = &c->b;
  uint32_t axis = along ? onnx_axis_attr(c, "axis", 0, rank_of(*x)) : 0;
  if (!along) *x = build_flat(b, *x);
  Node *keys = along ? row_ranks(b, rows_along(b, *x, axis)) : *x;
  Arg args[] = {arg_node(keys), arg_bool(true), arg_bool(true), arg_bool(true)};
  Node *list = build(b, OP_aten__unique2_default, 4, args), *of = build_item(b, list, 1);
  Dim n = keys->type.shape[0];
  Node *first = by_number(b, of, build_arange(b, n), "amin", n);
  Found f = sorted ? found_sorted(b, list, first) : found_as_met(b, of, first);
  *x = build(b, OP_aten_index_select_default,
             ARGS(arg_node(*x), build_int(b, axis), arg_node(f.at)));
  if (sorted && !along) *x = build_item(b, list, 0);
  return f;
}

static void unique_at_run_time(OnnxCall *c) {
  Node *x = onnx_in(c, 0);
  bool along = onnx_has_attr(c, "axis");
  Found f = found_at_run_time(c, &x, along, onnx_flag(c, "sorted", true));
  onnx_set(c, 0, x);
  onnx_set(c, 1, f.at);
  onnx_set(c, 2, f.of);
  onnx_set(c, 3, f.counts);
}

/* com.microsoft's, without where elements are met. */
void onnx_op_unique_as_met(OnnxCall *c) {
  Node *x = onnx_in(c, 0);
  infer_rank(&c->b.in, &x->type, 1, 1);
  Found f = found_at_run_time(c, &x, false, false);
  onnx_set(c, 0, x);
  onnx_set(c, 1, f.of);
  onnx_set(c, 2, f.counts);
}

/* Results are the rows, where each is met first, which one each row is, and how often it is met. */
void onnx_op_unique(OnnxCall *c) {
  const OnnxKnown *k = onnx_known(c, 0);
  if (!k) {
    unique_at_run_time(c);
    return;
  }
  uint32_t axis;
  Rows r = known_rows(c, k, &axis);
  for (uint32_t i = 0; i < k->n && !dtype_is_float(k->dtype); i++)
    if (!dim_is_int(k->at[i].dim)) onnx_lack(c, "symbolic sizes");
  uint32_t *first = numbers(c, r.rows), *of = numbers(c, r.rows), *order = numbers(c, r.rows);
  uint32_t *position = numbers(c, r.rows), *rows = numbers(c, r.rows), *count = numbers(c, r.rows);
  uint32_t n = find_first(&r, first, of);
  for (uint32_t i = 0; i < n; i++) order[i] = i;
  if (onnx_flag(c, "sorted", true)) sort_row_order(&r, first, n, order);
  for (uint32_t i = 0; i < n; i++) position[order[i]] = i, rows[i] = first[order[i]];
  for (uint32_t i = 0; i < r.rows; i++) count[of[i] = position[of[i]]]++;
  set_row_result(c, &r, axis, rows, n);
  set_known_ints(c, 1, rows, n);
  set_known_ints(c, 2, of, r.rows);
  set_known_ints(c, 3, count, n);
}
