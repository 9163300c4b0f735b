/* Results whose number of elements depends on data: the indices where a mask holds.  Their tensor
 * has room for all of them; nereid.counted says that the first `count` rows are what is meant, a
 * size that is read when the count is there. */
#include <string.h>

#include "decompose/decompose.h"
#include "decompose/scatter.h"
#include "graph/builders/mask_builder.h"

static Node *nonzero_mask(Build *b, Node *x) {
  return x->type.dtype == DT_I1 ? x : build_with(b, OP_aten_ne_Tensor, x, build_int(b, 0));
}

/* The elements of src in new memory of n elements, each where `index` says; -1: nowhere.  Other
 * elements of it have no value. */
static Node *put_in_memory(Build *b, Dim n, Node *index, Node *src) {
  NamedArg named[] = {{pool_name(b->in.g->names, "dtype"), arg_dtype(src->type.dtype)},
                      {pool_name(b->in.g->names, "once"), arg_bool(false)}};
  Node *memory =
      build_with_all(b, OP_nereid_empty_default, ARGS(arg_dims(b->in.g, 1, &n)), 2, named);
  Arg how = {.kind = ARG_STRING, .name = "put"};
  return build(b, OP_nereid_scatter_default,
               ARGS(arg_node(memory), arg_node(index), arg_node(src), how));
}

/* The indices where the mask (of one axis) holds, in order. */
static Node *true_indices(Build *b, Node *mask, Dim size) {
  Dims *d = b->in.g->dims;
  Dim all = mask->type.shape[0];
  if (size->kind == DIM_SYMBOL) {
    dim_limit(d, size, (DimRange){0, dim_range(d, all).hi});
    dim_set_likely(d, size, (dim_likely(d, all) + 1) / 2);
  }
  MaskParts m = build_mask_parts(b, mask);
  DType t = m.number->type.dtype;
  Node *to = build_where(b, m.mask, arg_node(m.number), build_int(b, -1));
  Node *place = build_view(b, build_arange(b, value_numel(b->in.g, &to->type)), 2, to->type.shape);
  Node *indices = put_in_memory(b, all, to, build_to(b, place, t));
  return build(b, OP_nereid_counted_default,
               ARGS(arg_node(indices), arg_node(m.count), arg_dim(size)));
}

/* Coordinates, a row for each element. */
Node *decompose_nonzero(Build *b) {
  Node *x = build_self(b);
  const ValueType *t = &b->in.n->type;
  if (!rank_of(x)) return NULL;
  if (scatter_empty(b, x)) return build_full(b, 2, t->shape, build_int(b, 0), DT_I64);
  Node *index = true_indices(b, nonzero_mask(b, build_flat(b, x)), t->shape[0]);
  index = build_to(b, index, DT_I64);
  Node *columns[GRAPH_RANK_MAX];
  for (uint32_t i = rank_of(x); i-- > 0;) {
    Dim size = x->type.shape[i];
    columns[i] = i ? build_with(b, OP_aten_remainder_Tensor, index, arg_dim(size)) : index;
    columns[i] = build_unsqueeze(b, columns[i], 1);
    if (i) index = build_with(b, OP_aten_floor_divide_default, index, arg_dim(size));
  }
  return build_cat(b, rank_of(x), columns, 1);
}

/* ---- each element once ---- */

/* The same of any number of elements, maybe none. */
static Node *run_begins_of_any(Build *b, Node *sorted) {
  Node *at = build_arange(b, sorted->type.shape[0]);
  Node *last = build_with(b, OP_aten_sub_Tensor, at, build_int(b, 1));
  last = build_with(b, OP_aten_clamp_min_default, last, build_int(b, 0));
  last = build(b, OP_aten_index_select_default,
               ARGS(arg_node(sorted), build_int(b, 0), arg_node(last)));
  Node *is_first = build_with(b, OP_aten_eq_Scalar, at, build_int(b, 0));
  return build_op2(b, OP_aten_logical_or_default, is_first,
                   build_op2(b, OP_aten_ne_Tensor, sorted, last));
}

/* True where an element is another than the one before it. */
static Node *run_begins(Build *b, Node *sorted) {
  Dim n = sorted->type.shape[0], zero = build_const(b, 0), one = build_const(b, 1);
  if (!dim_range(build_dims(b), n).lo) return run_begins_of_any(b, sorted);
  Node *next = build_slice(b, sorted, 0, one, n, 1);
  Node *last = build_slice(b, sorted, 0, zero, dim_sub(b->in.g->dims, n, one), 1);
  Node *parts[] = {build_full(b, 1, &one, build_int(b, 1), DT_I1),
                   build_op2(b, OP_aten_ne_Tensor, next, last)};
  return build_cat(b, 2, parts, 0);
}

static Node *scatter_reduce(Build *b, Node *indices, Node *src, const char *reduce) {
  Node *zeros = build_full(b, 1, &indices->type.shape[0], build_int(b, 0), DT_I64);
  Arg how = {.kind = ARG_STRING, .name = reduce};
  return build(b, OP_nereid_scatter_default,
               ARGS(arg_node(zeros), arg_node(indices), arg_node(src), how));
}

/* Elements in order; those that are equal make a group, whose first stays. */
Node *decompose_unique(Build *b) {
  Node *x = build_flat(b, build_self(b));
  const ValueType *t = b->in.n->type.items;
  Node *list = build_op1(b, OP_aten_sort_default, x), *sorted = build_item(b, list, 0);
  Node *order = build_item(b, list, 1), *first = run_begins(b, sorted);
  Node *group = build_mask_number(b, first), *index = true_indices(b, first, t[0].shape[0]);
  b->items = ARENA_ARRAY(b->in.g->arena, Node *, 3);
  b->nitems = 3;
  b->items[0] =
      build(b, OP_aten_index_select_default,
            ARGS(arg_node(sorted), build_int(b, 0), arg_node(build_to(b, index, DT_I64))));
  if (infer_bool(&b->in, "return_inverse"))
    b->items[1] = build_view(b, scatter_reduce(b, order, group, "amax"), t[1].rank, t[1].shape);
  else b->items[1] = build_full(b, 1, t[1].shape, build_int(b, 0), DT_I64);
  if (!infer_bool(&b->in, "return_counts")) {
    b->items[2] = build_full(b, 1, t[2].shape, build_int(b, 0), DT_I64);
  } else {
    Node *one = build_full(b, 0, NULL, build_int(b, 1), DT_I64);
    Node *counts = scatter_reduce(b, group, one, "sum");
    Node *count = build_sum(b, build_to(b, first, DT_I64), 1, false);
    b->items[2] = build(b, OP_nereid_counted_default,
                        ARGS(arg_node(counts), arg_node(count), arg_dim(t[0].shape[0])));
  }
  return NULL;
}

/* ---- where a mask holds ---- */

static Node *take_rows(Build *b, Node *rows, Node *mask, Dim size) {
  Node *index = build_to(b, true_indices(b, mask, size), DT_I64);
  return build(b, OP_aten_index_select_default,
               ARGS(arg_node(rows), build_int(b, 0), arg_node(index)));
}

Node *decompose_masked_select(Build *b) {
  Operand both[] = {infer_operand(&b->in, "self"), infer_operand(&b->in, "mask")};
  Dim shape[GRAPH_RANK_MAX];
  uint32_t rank = infer_broadcast(&b->in, both, 2, shape);
  Node *x = build_expand(b, build_input(b, "self"), rank, shape);
  Node *mask = build_expand(b, build_input(b, "mask"), rank, shape);
  if (scatter_empty(b, x)) return NULL;
  return take_rows(b, build_flat(b, x), build_flat(b, mask), b->in.n->type.shape[0]);
}

/* A single mask, with all of the other axes: the slices where it is true. */
Node *decompose_index(Build *b) {
  uint32_t n, first = 0;
  Node *x = build_self(b), **index = build_inputs(b, "indices", &n), *mask = NULL;
  for (uint32_t i = 0; i < n; i++) {
    if (!index[i]) continue;
    bool is_mask = index[i]->type.dtype == DT_I1 || index[i]->type.dtype == DT_U8;
    if (mask || !is_mask || !rank_of(index[i])) return NULL;
    mask = index[i];
    first = i;
  }
  if (!mask || scatter_empty(b, x)) return NULL;
  uint32_t span = rank_of(mask), axes[GRAPH_RANK_MAX], next = 0;
  Dim rows[GRAPH_RANK_MAX + 1];
  for (uint32_t i = 0; i < span; i++) axes[next++] = first + i;
  rows[0] = value_numel(b->in.g, &mask->type);
  for (uint32_t i = 0; i < rank_of(x); i++) {
    if (i >= first && i < first + span) continue;
    rows[next - span + 1] = x->type.shape[i];
    axes[next++] = i;
  }
  Node *y = build_view(b, build_permute(b, x, axes), next - span + 1, rows);
  y = take_rows(b, y, nonzero_mask(b, build_flat(b, mask)), b->in.n->type.shape[first]);
  uint32_t back[GRAPH_RANK_MAX]; /* the chosen axis from the front to where the mask was */
  for (uint32_t i = 0; i < rank_of(y); i++) back[i] = i < first ? i + 1 : i == first ? 0 : i;
  return build_permute(b, y, back);
}

/* ---- how often each number occurs ---- */

/* Numbers that there is room for beyond `minlength`, where the model has no bound for the size. */
enum { BINS = 1 << 16 };

static Dim bins_most(Build *b, Dim size) {
  Dims *d = build_dims(b);
  Dim most = dim_add(d, infer_size(&b->in, "minlength"), dim_int(d, BINS));
  int64_t bound = dim_range(d, size).hi;
  return bound <= INT32_MAX ? dim_int(d, bound) : most;
}

/* How many bins there are, as an i64 scalar; a negative number where x has one, which is refused
 * when it is read. */
static Node *bins_count(Build *b, Node *x, Dim minlength) {
  Dim one = build_const(b, 1);
  Node *least = build_full(b, 1, &one, arg_dim(minlength), DT_I64);
  Node *last = build_with(b, OP_aten_clamp_max_default, x, build_int(b, INT64_MAX - 1));
  Node *highs[] = {build_with(b, OP_aten_add_Tensor, last, build_int(b, 1)), least};
  Node *lows[] = {x, build_full(b, 1, &one, build_int(b, 0), DT_I64)};
  Node *most = build_reduce(b, OP_aten_amax_default, build_cat(b, 2, highs, 0), 1, false);
  Node *low = build_reduce(b, OP_aten_amin_default, build_cat(b, 2, lows, 0), 1, false);
  Node *negative = build_with(b, OP_aten_lt_Scalar, low, build_int(b, 0));
  return build_where(b, negative, arg_node(low), arg_node(most));
}

Node *decompose_bincount(Build *b) {
  Node *x = build_to(b, build_self(b), DT_I64), *weights = NULL;
  const ValueType *t = &b->in.n->type;
  Dim size = t->shape[0], most = bins_most(b, size);
  Dims *d = build_dims(b);
  if (build_arg(b, "weights").kind == ARG_NODE) weights = build_input(b, "weights");
  if (size->kind == DIM_SYMBOL) dim_limit(d, size, (DimRange){0, dim_range(d, most).hi});
  Node *each =
      weights ? build_to(b, weights, t->dtype) : build_full(b, 0, NULL, build_int(b, 1), DT_I64);
  Node *none = build_full(b, 1, &most, build_int(b, 0), t->dtype);
  Node *count = bins_count(b, x, infer_size(&b->in, "minlength"));
  return build(b, OP_nereid_counted_default,
               ARGS(arg_node(scatter_add_up(b, none, x, each)), arg_node(count), arg_dim(size)));
}

/* ---- a size that is an element of a tensor ---- */

static bool is_read(const Node *n) {
  return graph_is_any(n, OP_aten_item_default, OP_aten__local_scalar_dense_default);
}

/* The tensor whose element is the size; NULL: none is. */
static Node *tensor_of_size(Build *b, const char *param, Dim size) {
  Arg a = build_arg(b, param);
  if (a.kind == ARG_NODE && is_read(a.node)) return a.node->args[0].node;
  for (Node *n = b->in.n->prev; n; n = n->prev)
    if (is_read(n) && n->type.kind == VALUE_INT && n->type.value == size) return n->args[0].node;
  return NULL;
}

/* The symbol of min(symbol, n), and of itself. */
static Dim read_symbol(Dim size) {
  if (size->kind == DIM_MIN)
    for (uint32_t i = 0; i < size->n; i++)
      if (size->args[i]->kind == DIM_SYMBOL) return size->args[i];
  return size->kind == DIM_SYMBOL ? size : NULL;
}

Node *scatter_counted_slice(Build *b, Node *x, uint32_t axis, const char *param) {
  Dims *d = build_dims(b);
  Dim all = x->type.shape[axis], size = b->in.n->type.shape[axis], symbol = read_symbol(size);
  Node *count = !symbol || size == all ? NULL : tensor_of_size(b, param, symbol);
  if (!count || !dim_limit(d, symbol, (DimRange){0, dim_range(d, all).hi})) return NULL;
  count = build_to(b, build_view(b, count, 0, NULL), DT_I64);
  Node *first = build_transpose(b, x, 0, axis);
  Node *part =
      build(b, OP_nereid_counted_default, ARGS(arg_node(first), arg_node(count), arg_dim(symbol)));
  return build_transpose(b, part, 0, axis);
}
