/* Reading and writing at indices. */
#include <string.h>

#include "graph/messages.h"
#include "graph/ops/infer_rules.h"

static void need_index(Infer *in, const ValueType *index) {
  if (index->dtype != DT_I64 && index->dtype != DT_I32)
    infer_fail(in, E_GRAPH_INDEX_DTYPE, dtype_name(index->dtype));
}

/* ---- x[a, :, b] ---- */

typedef struct {
  Operand indices[GRAPH_RANK_MAX];
  uint32_t n;
  uint32_t first, last; /* axes of x at which indices stand */
  uint32_t axes;        /* bits of them */
} Indices;

/* A mask is what nonzero gives: as many indices as it has axes, of a length that data decides. */
static void take_mask(Infer *in, Indices *s, const ValueType *mask, const Dim *masked) {
  Dim *length = ARENA_NEW(in->g->arena, Dim);
  *length = infer_unknown(in);
  for (uint32_t i = 0; i < mask->rank; i++) {
    infer_same_size(in, mask->shape[i], masked[i], "the axes of a mask and of what it masks");
    s->indices[s->n++] = (Operand){.dtype = DT_I64, .rank = 1, .shape = length};
  }
}

static uint32_t index_axes(const ValueType *index) {
  return index && (index->dtype == DT_I1 || index->dtype == DT_U8) ? index->rank : 1;
}

static Indices take_indices(Infer *in, const ValueType *x) {
  uint32_t n, axis = 0;
  const ValueType **list = infer_tensors(in, "indices", &n);
  Indices s = {.first = UINT32_MAX};
  for (uint32_t i = 0; i < n; i++) {
    uint32_t span = index_axes(list[i]);
    if (!span || axis + span > x->rank) infer_fail(in, E_GRAPH_INDICES, n, infer_type_text(in, x));
    if (list[i]) {
      if (s.first == UINT32_MAX) s.first = axis;
      s.last = axis + span - 1;
      s.axes |= ((1u << span) - 1) << axis;
      if (list[i]->dtype == DT_I1 || list[i]->dtype == DT_U8)
        take_mask(in, &s, list[i], x->shape + axis);
      else need_index(in, list[i]), s.indices[s.n++] = infer_tensor_operand(list[i]);
    }
    axis += span;
  }
  if (!s.axes) infer_fail(in, E_GRAPH_INDICES, n, infer_type_text(in, x));
  return s;
}

/* The axes of the indices stand where the indexed ones stood, if those are neighbours; else in
 * front. */
void infer_index(Infer *in) {
  const ValueType *x = infer_self(in);
  Indices s = take_indices(in, x);
  Dim found[GRAPH_RANK_MAX], shape[2 * GRAPH_RANK_MAX];
  uint32_t nfound = infer_broadcast(in, s.indices, s.n, found), rank = 0;
  uint32_t between = ((2u << s.last) - 1) & ~((1u << s.first) - 1);
  uint32_t position = s.axes == between ? s.first : 0;
  for (uint32_t i = 0; i <= x->rank; i++) {
    if (i == position) memcpy(shape + rank, found, nfound * sizeof *shape), rank += nfound;
    if (i < x->rank && !(s.axes >> i & 1)) shape[rank++] = x->shape[i];
  }
  infer_set(in, x->dtype, rank, shape);
}

/* The values are expanded to the shape that the indices select. */
void infer_index_put(Infer *in) {
  const ValueType *x = infer_self(in), *values = infer_tensor(in, "values");
  Operand from = infer_tensor_operand(values);
  infer_same_dtype(in, x, values);
  infer_index(in);
  infer_fits(in, &from, in->result.shape, in->result.rank);
  in->result = *x;
}

/* ---- along one axis ---- */

static const ValueType *tensor_along_axis(Infer *in, uint32_t *axis) {
  const ValueType *x = infer_self(in);
  *axis = infer_axis_arg(in, "dim", x->rank);
  return x;
}

void infer_index_select(Infer *in) {
  uint32_t axis;
  const ValueType *x = tensor_along_axis(in, &axis), *index = infer_tensor(in, "index");
  infer_rank(in, index, 0, 1);
  need_index(in, index);
  Dim count = infer_axis_size(in, index, 0);
  if (x->rank) {
    infer_set_axis(in, x, axis, count);
    return;
  }
  infer_same_size(in, count, infer_const(in, 1), "the elements of an index and of a scalar");
  infer_set(in, x->dtype, 0, NULL);
}

/* Flags for each index whether it is in range; nothing reads the result. */
void infer_check_index(Infer *in) {
  const ValueType *index = infer_self(in);
  if (!dtype_is_int(index->dtype)) infer_fail(in, E_GRAPH_INDEX_DTYPE, dtype_name(index->dtype));
  infer_set_like(in, DT_I1, index);
}

/* A scalar passes for a tensor of one element. */
static void need_rank_of(Infer *in, const ValueType *x, const ValueType *like) {
  uint32_t rank = x->rank ? x->rank : 1, wanted = like->rank ? like->rank : 1;
  if (rank != wanted) infer_rank(in, x, like->rank, like->rank);
}

static const ValueType *index_of_rank(Infer *in, const ValueType *x) {
  const ValueType *index = infer_tensor(in, "index");
  need_index(in, index);
  need_rank_of(in, index, x);
  return index;
}

/* An index without elements goes along with anything: are there some, if the axis has some? */
static bool has_some_beside(Infer *in, const ValueType *index, uint32_t axis) {
  bool some = true;
  for (uint32_t i = 0; i < index->rank && some; i++)
    some = i == axis || dim_range(in->g->dims, index->shape[i]).lo > 0;
  return some;
}

/* The sizes of an index are at most those of x, except along `axis`. */
static void check_inside(Infer *in, const ValueType *index, const ValueType *x, uint32_t axis) {
  need_rank_of(in, x, index);
  for (uint32_t i = 0; i < x->rank && i < index->rank; i++)
    if (i != axis && has_some_beside(in, index, i) &&
        !infer_at_least(in, x->shape[i], index->shape[i]))
      infer_fail(in, E_GRAPH_FITS, infer_type_text(in, index), infer_type_text(in, x));
}

/* An index that is known to have no elements may be of any dtype and rank, as PyTorch has it. */
static bool has_no_index(Infer *in) {
  const ValueType *index = infer_tensor(in, "index");
  for (uint32_t i = 0; i < index->rank; i++)
    if (dim_is(index->shape[i], 0)) return true;
  return false;
}

static void check_gathered(Infer *in, const ValueType *x, uint32_t axis) {
  check_inside(in, index_of_rank(in, x), x, axis);
}

void infer_gather(Infer *in) {
  uint32_t axis;
  const ValueType *x = tensor_along_axis(in, &axis);
  if (!has_no_index(in)) check_gathered(in, x, axis);
  infer_set_like(in, x->dtype, infer_tensor(in, "index"));
}

static void check_scattered(Infer *in, const ValueType *x, uint32_t axis) {
  const ValueType *index = index_of_rank(in, x);
  check_inside(in, index, x, axis);
  if (infer_takes(in, "src")) check_inside(in, index, infer_tensor(in, "src"), GRAPH_RANK_MAX);
}

void infer_scatter(Infer *in) {
  uint32_t axis;
  const ValueType *x = tensor_along_axis(in, &axis);
  if (infer_takes(in, "src")) infer_same_dtype(in, x, infer_tensor(in, "src"));
  if (!has_no_index(in)) check_scattered(in, x, axis);
  in->result = *x;
}

/* self and mask broadcast; how many elements of source the mask takes, data says. */
void infer_masked_scatter(Infer *in) {
  const ValueType *x = infer_self(in);
  Operand operands[] = {infer_tensor_operand(x), infer_operand(in, "mask")};
  Dim shape[GRAPH_RANK_MAX];
  if (operands[1].dtype != DT_I1)
    infer_fail(in, E_GRAPH_CONDITION, dtype_name(operands[1].dtype));
  infer_same_dtype(in, x, infer_tensor(in, "source"));
  infer_set(in, x->dtype, infer_broadcast(in, operands, 2, shape), shape);
}

/* The mask alone broadcasts in place. */
void infer_masked_scatter_in_place(Infer *in) {
  const ValueType *x = infer_self(in);
  Operand mask = infer_operand(in, "mask");
  infer_fits(in, &mask, x->shape, x->rank);
  infer_masked_scatter(in);
}

void infer_diagonal_scatter(Infer *in) {
  const ValueType *x = infer_self(in), *src = infer_tensor(in, "src");
  infer_same_dtype(in, x, src);
  infer_diagonal(in);
  infer_rank(in, src, in->result.rank, in->result.rank);
  for (uint32_t i = 0; i < src->rank; i++)
    infer_same_size(in, src->shape[i], in->result.shape[i], "sizes of src and the diagonals");
  in->result = *x;
}

void infer_index_fill(Infer *in) {
  uint32_t axis;
  const ValueType *x = tensor_along_axis(in, &axis), *index = infer_tensor(in, "index");
  infer_rank(in, index, 0, 1);
  need_index(in, index);
  if (infer_operand(in, "value").rank) infer_rank(in, infer_tensor(in, "value"), 0, 0);
  in->result = *x;
}

/* index_add and index_copy: `source` has as many slices as there are indices. */
void infer_index_add(Infer *in) {
  uint32_t axis;
  const ValueType *x = tensor_along_axis(in, &axis), *index = infer_tensor(in, "index");
  const ValueType *source = infer_tensor(in, "source");
  infer_rank(in, index, 0, 1);
  need_index(in, index);
  infer_same_dtype(in, x, source);
  if (x->rank) infer_rank(in, source, x->rank, x->rank);
  for (uint32_t i = 0; i < x->rank; i++) {
    Dim n = i != axis ? x->shape[i] : infer_axis_size(in, index, 0);
    infer_same_size(in, n, source->shape[i], "the axes of self and source");
  }
  in->result = *x;
}

/* Sizes broadcast, but for the axis. */
void infer_take_along_dim(Infer *in) {
  const ValueType *x = infer_self(in), *indices = infer_tensor(in, "indices");
  need_index(in, indices);
  if (!infer_has(in, "dim")) {
    Dim n = value_numel(in->g, indices);
    infer_set(in, x->dtype, 1, &n);
    return;
  }
  infer_rank(in, indices, x->rank, x->rank);
  uint32_t axis = infer_axis_arg(in, "dim", x->rank);
  Dim from[GRAPH_RANK_MAX], shape[GRAPH_RANK_MAX];
  if (infer_copy_shape(x, from)) from[axis] = indices->shape[axis];
  Operand operands[] = {{.rank = x->rank, .shape = from}, infer_tensor_operand(indices)};
  infer_set(in, x->dtype, infer_broadcast(in, operands, 2, shape), shape);
}

void infer_embedding(Infer *in) {
  const ValueType *weight = infer_tensor(in, "weight"), *indices = infer_tensor(in, "indices");
  infer_rank(in, weight, 2, 2);
  need_index(in, indices);
  Dim shape[GRAPH_RANK_MAX + 1];
  shape[infer_copy_shape(indices, shape)] = weight->shape[1];
  infer_set(in, weight->dtype, indices->rank + 1, shape);
}

void infer_one_hot(Infer *in) {
  const ValueType *x = infer_self(in);
  need_index(in, x);
  Dim shape[GRAPH_RANK_MAX + 1], classes = infer_size(in, "num_classes");
  shape[infer_copy_shape(x, shape)] = dim_is(classes, -1) ? infer_unknown(in) : classes;
  infer_set(in, DT_I64, x->rank + 1, shape);
}

/* Writes each element of src to the element of self, counted in row-major order, that index names;
 * a negative index writes nothing. */
void infer_nereid_scatter(Infer *in) {
  const ValueType *x = infer_self(in), *index = infer_tensor(in, "index");
  Operand src = infer_operand(in, "src");
  need_index(in, index);
  infer_fits(in, &src, index->shape, index->rank);
  in->result = *x;
}

/* A bag for each offset; the last one may only say where the others end.  Numbers of bags and of
 * rows are of 32 bits where indices and offsets are. */
void infer_embedding_bag(Infer *in) {
  const ValueType *table = infer_tensor(in, "weight"), *index = infer_tensor(in, "indices");
  const ValueType *offsets = infer_tensor(in, "offsets");
  const ValueType *weights = infer_optional_tensor(in, "per_sample_weights");
  need_index(in, index);
  need_index(in, offsets);
  infer_rank(in, table, 2, 2);
  infer_rank(in, index, 1, 1);
  infer_rank(in, offsets, 1, 1);
  if (weights) infer_same_dtype(in, table, weights);
  if (weights) infer_same_size(in, index->shape[0], weights->shape[0], "the weights of indices");
  Dim one = infer_const(in, 1), bags = offsets->shape[0];
  if (infer_bool(in, "include_last_offset")) bags = dim_sub(in->g->dims, bags, one);
  Dim shape[] = {bags, table->shape[1]};
  bool max = infer_int(in, "mode") == 2;
  bool narrow = index->dtype == DT_I32 && offsets->dtype == DT_I32;
  DType t = narrow ? DT_I32 : DT_I64;
  ValueType items[] = {infer_type(in, table->dtype, 2, shape),
                       infer_type(in, t, 1, index->shape), infer_type(in, t, 1, &bags),
                       infer_type(in, t, max ? 2 : 1, shape)};
  infer_set_list(in, 4, items);
}

/* For each row of scores, which boxes of batch row[i] are chosen: self says which may be, by -1,
 * and becomes the number of the choice. */
void infer_suppress(Infer *in) {
  const ValueType *x = infer_self(in), *row = infer_tensor(in, "row");
  const ValueType *scores = infer_tensor(in, "scores"), *boxes = infer_tensor(in, "boxes");
  need_index(in, row);
  infer_rank(in, row, 1, 1);
  infer_rank(in, x, 2, 2);
  infer_rank(in, boxes, 3, 3);
  infer_same_size(in, x->shape[0], row->shape[0], "rows");
  infer_same_size(in, x->shape[1], boxes->shape[1], "boxes");
  infer_same_size(in, boxes->shape[2], infer_const(in, 4), "the corners of a box");
  Operand all = infer_operand(in, "scores");
  infer_fits(in, &all, x->shape, 2);
  infer_same_dtype(in, scores, boxes);
  infer_same_dtype(in, scores, infer_tensor(in, "threshold"));
  in->result = *x;
}

static void infer_searched_indices(Infer *in, const ValueType *rows) {
  Operand x = infer_operand(in, "self");
  infer_rank(in, rows, 1, GRAPH_RANK_MAX);
  if (rows->rank > 1 && x.rank != rows->rank)
    infer_rank(in, infer_tensor(in, "self"), rows->rank, rows->rank);
  for (uint32_t i = 0; i + 1 < rows->rank; i++)
    infer_same_size(in, rows->shape[i], x.shape[i], "the rows that are searched");
  infer_set(in, infer_bool(in, "out_int32") ? DT_I32 : DT_I64, x.rank, x.shape);
}

void infer_searchsorted(Infer *in) {
  const ValueType *rows = infer_tensor(in, "sorted_sequence");
  const ValueType *sorter = infer_optional_tensor(in, "sorter");
  if (sorter) infer_rank(in, sorter, rows->rank, rows->rank);
  infer_searched_indices(in, rows);
}

void infer_bucketize(Infer *in) {
  const ValueType *boundaries = infer_tensor(in, "boundaries");
  infer_rank(in, boundaries, 1, 1);
  infer_searched_indices(in, boundaries);
}

/* Each row of several is searched for the values of that row. */
void infer_search(Infer *in) {
  const ValueType *rows = infer_tensor(in, "sorted_sequence"), *x = infer_tensor(in, "self");
  infer_rank(in, rows, 1, GRAPH_RANK_MAX);
  infer_same_dtype(in, rows, x);
  if (rows->rank > 1) infer_rank(in, x, rows->rank, rows->rank);
  for (uint32_t i = 0; i + 1 < rows->rank; i++)
    infer_same_size(in, rows->shape[i], x->shape[i], "the rows that are searched");
  infer_set_like(in, DT_I64, x);
}

/* The rows order[starts[s]], order[starts[s] + 1], ... up to the next start are added up. */
void infer_segment_sum(Infer *in) {
  const ValueType *rows = infer_tensor(in, "rows"), *order = infer_tensor(in, "order");
  const ValueType *starts = infer_tensor(in, "starts");
  infer_rank(in, rows, 2, 2);
  infer_rank(in, order, 1, 1);
  infer_rank(in, starts, 1, 1);
  infer_need_float(in, rows->dtype);
  need_index(in, order);
  need_index(in, starts);
  Dim shape[] = {dim_sub(in->g->dims, starts->shape[0], infer_const(in, 1)), rows->shape[1]};
  infer_set(in, rows->dtype == DT_F64 ? DT_F64 : DT_F32, 2, shape);
}

/* Tensors of any shape as parts of rows: `sizes` are the parts, the result's rows of one, columns,
 * and the source's rows, each of which goes to the row of the result that the index says, if there
 * is one.  A source of segments has a row for each: `starts` says where these are in the index. */
void infer_scatter_rows(Infer *in) {
  const ValueType *to = infer_self(in), *index = infer_tensor(in, "index");
  const ValueType *starts = infer_optional_tensor(in, "starts");
  const ValueType *scale = infer_optional_tensor(in, "scale"), *src = infer_tensor(in, "src");
  enum { OUTER, ROWS, COLUMNS, COUNT, SIZES };
  Dims *d = in->g->dims;
  Dim s[GRAPH_RANK_MAX],
      all[] = {infer_product(in, to->shape, to->rank), infer_product(in, src->shape, src->rank),
               infer_product(in, index->shape, index->rank)};
  uint32_t n = infer_sizes(in, "sizes", s);
  if (n != SIZES) infer_fail(in, E_GRAPH_TRANSFORM_SIZES, n, SIZES);
  need_index(in, index);
  infer_rank(in, infer_tensor(in, "program"), 1, 1);
  Dim row = dim_mul(d, s[OUTER], s[COLUMNS]), rows = s[COUNT];
  if (starts) need_index(in, starts), rows = dim_sub(d, starts->shape[0], infer_const(in, 1));
  infer_same_size(in, all[0], dim_mul(d, row, s[ROWS]), "elements of the result");
  infer_same_size(in, all[1], dim_mul(d, row, rows), "elements of the source");
  infer_same_size(in, all[2], infer_bool(in, "each") ? dim_mul(d, row, s[COUNT]) : s[COUNT],
                  "elements of the index");
  if (scale)
    infer_same_size(in, infer_product(in, scale->shape, scale->rank), s[COUNT], "factors of rows");
  in->result = *to;
}

/* The leaf of each tree for each row: nodes have 64 bits, thresholds are in them or apart. */
void infer_tree_leaf(Infer *in) {
  const ValueType *x = infer_tensor(in, "self"), *nodes = infer_tensor(in, "nodes");
  const ValueType *values = infer_optional_tensor(in, "values");
  const ValueType *roots = infer_tensor(in, "roots");
  infer_rank(in, x, 2, 2);
  infer_rank(in, nodes, 1, 1);
  infer_rank(in, roots, 1, 1);
  infer_need_float(in, x->dtype);
  need_index(in, nodes);
  need_index(in, roots);
  if (values) infer_same_size(in, values->shape[0], nodes->shape[0], "the nodes of trees");
  if (values) infer_same_dtype(in, values, x);
  infer_set(in, DT_I32, 2, (Dim[]){x->shape[0], roots->shape[0]});
}

/* ---- as many as the data says ---- */

/* The first `size` rows of self, where `count` holds that number. */
void infer_counted(Infer *in) {
  const ValueType *x = infer_self(in), *count = infer_tensor(in, "count");
  infer_rank(in, x, 1, GRAPH_RANK_MAX);
  infer_rank(in, count, 0, 0);
  if (count->dtype != DT_I64) infer_fail(in, E_GRAPH_INDEX_DTYPE, dtype_name(count->dtype));
  infer_set_axis(in, x, 0, infer_size(in, "size"));
}

/* A number that the data decides; 0 where there are no elements. */
static Dim counted_of(Infer *in, Dim most) {
  return dim_is(most, 0) ? most : infer_unknown(in);
}

void infer_masked_select(Infer *in) {
  Operand x[] = {infer_operand(in, "self"), infer_operand(in, "mask")};
  Dim shape[GRAPH_RANK_MAX];
  if (x[1].dtype != DT_I1) infer_fail(in, E_GRAPH_CONDITION, dtype_name(x[1].dtype));
  infer_broadcast(in, x, 2, shape);
  Dim n = infer_unknown(in);
  infer_set(in, x[0].dtype, 1, &n);
}

/* A weight for each element; PyTorch sums up all but f32 in f64. */
void infer_bincount(Infer *in) {
  const ValueType *x = infer_self(in), *weights = infer_optional_tensor(in, "weights");
  infer_rank(in, x, 1, 1);
  if (!dtype_is_int(x->dtype) || x->dtype == DT_I1)
    infer_fail(in, E_GRAPH_DTYPE_WANTED, "integers", dtype_name(x->dtype));
  Dim n = infer_unknown(in);
  DType t = !weights ? DT_I64 : weights->dtype == DT_F32 ? DT_F32 : DT_F64;
  if (weights && (weights->rank != 1 || !infer_may_equal(in->g, weights->shape[0], x->shape[0])))
    infer_fail(in, E_GRAPH_WEIGHTS, infer_type_text(in, weights), infer_type_text(in, x));
  infer_set(in, t, 1, &n);
}

/* Results that were not requested have no elements. */
void infer_unique(Infer *in) {
  const ValueType *x = infer_self(in);
  Dim n = counted_of(in, value_numel(in->g, x)), none = infer_const(in, 0);
  bool inverse = infer_bool(in, "return_inverse"), counts = infer_bool(in, "return_counts");
  ValueType items[] = {
      infer_type(in, x->dtype, 1, &n),
      inverse ? infer_type(in, DT_I64, x->rank, x->shape) : infer_type(in, DT_I64, 1, &none),
      infer_type(in, DT_I64, 1, counts ? &n : &none)};
  infer_set_list(in, 3, items);
}

void infer_nonzero(Infer *in) {
  const ValueType *x = infer_self(in);
  Dim shape[] = {counted_of(in, value_numel(in->g, x)), infer_const(in, x->rank)};
  infer_set(in, DT_I64, 2, shape);
}
