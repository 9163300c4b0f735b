/* Expansions of operators that cut, join and repeat tensors. */
#include <string.h>

#include "graph/expand/expansion.h"
#include "graph/messages.h"

/* ---- parts along an axis ---- */

static Node *items_of(Build *b, uint32_t n) {
  b->nitems = n;
  b->items = ARENA_ARRAY(b->in.g->arena, Node *, n ? n : 1);
  return NULL;
}

/* self[start:end] along an axis, as Python counts. */
static Node *part(Build *b, Node *x, uint32_t axis, Arg start, Arg end) {
  return build(b, OP_aten_slice_Tensor, ARGS(arg_node(x), build_int(b, axis), start, end));
}

static Node *split_at(Build *b, uint32_t axis, const Arg *indices) {
  Node *x = build_self(b);
  items_of(b, indices->n + 1);
  for (uint32_t i = 0; i <= indices->n; i++)
    b->items[i] = part(b, x, axis, i ? indices->items[i - 1] : build_int(b, 0),
                       i < indices->n ? indices->items[i] : arg_none());
  return NULL;
}

enum { MAX_PARTS = 1 << 14 };

static void need_multiple(Build *b, bool is_multiple, Dim size, int64_t n) {
  if (!is_multiple) infer_fail(&b->in, E_GRAPH_DIVIDE, infer_dim_text(&b->in, size), (long long)n);
}

/* The first parts have an element more, if they can't be equal. */
static Node *split_evenly(Build *b, uint32_t axis, int64_t n) {
  Dims *d = build_dims(b);
  Dim size = infer_axis_size(&b->in, infer_self(&b->in), axis), count = build_const(b, n);
  need_multiple(b, n > 0, size, n);
  if (n > MAX_PARTS) infer_fail(&b->in, E_GRAPH_PARTS, (long long)n, (int)MAX_PARTS);
  Dim least = dim_floordiv(d, size, count), more = dim_mod(d, size, count);
  Arg at = arg_list(b->in.g, (uint32_t)n - 1);
  for (int64_t i = 1; i < n; i++) {
    Dim index = build_const(b, i);
    at.items[i - 1] = arg_dim(dim_add(d, dim_mul(d, index, least), dim_min(d, index, more)));
  }
  return split_at(b, axis, &at);
}

static Node *split_along(Build *b, uint32_t axis, const char *param) {
  Arg a = build_arg(b, param);
  if (a.kind == ARG_LIST) return split_at(b, axis, &a);
  return split_evenly(b, axis, infer_int(&b->in, param));
}

Node *expand_tensor_split(Build *b) {
  infer_rank(&b->in, infer_self(&b->in), 1, GRAPH_RANK_MAX);
  uint32_t axis = infer_axis_arg(&b->in, "dim", rank_of(build_self(b)));
  return split_along(b, axis, infer_takes(&b->in, "sections") ? "sections" : "indices");
}

static Node *split_equally(Build *b, uint32_t axis) {
  infer_rank(&b->in, infer_self(&b->in), axis + 1, GRAPH_RANK_MAX);
  if (!infer_takes(&b->in, "sections")) return split_along(b, axis, "indices");
  int64_t n = infer_int(&b->in, "sections");
  Dim size = infer_axis_size(&b->in, infer_self(&b->in), axis);
  need_multiple(b, n > 0 && (!dim_is_int(size) || size->value % n == 0), size, n);
  return split_along(b, axis, "sections");
}

Node *expand_hsplit(Build *b) { return split_equally(b, rank_of(build_self(b)) > 1); }
Node *expand_vsplit(Build *b) { return split_equally(b, 0); }
Node *expand_dsplit(Build *b) { return split_equally(b, 2); }

/* ---- lists ---- */

static Node *each_tensor(Build *b, OpId op) {
  uint32_t n;
  Node **x = build_inputs(b, "tensors", &n);
  items_of(b, n);
  for (uint32_t i = 0; i < n; i++) b->items[i] = build_op1(b, op, x[i]);
  return NULL;
}

Node *expand_atleast_1d(Build *b) { return each_tensor(b, OP_aten_atleast_1d_default); }
Node *expand_atleast_2d(Build *b) { return each_tensor(b, OP_aten_atleast_2d_default); }
Node *expand_atleast_3d(Build *b) { return each_tensor(b, OP_aten_atleast_3d_default); }

static Node *grids(Build *b) {
  Arg indexing = {.kind = ARG_STRING, .name = "ij"};
  return build_with_named(b, OP_aten_meshgrid_indexing, ARGS(build_arg(b, "tensors")), "indexing",
                          indexing);
}

Node *expand_meshgrid(Build *b) {
  Node *list = grids(b);
  items_of(b, list->type.nitems);
  for (uint32_t i = 0; i < b->nitems; i++) b->items[i] = build_item(b, list, i);
  return NULL;
}

/* ---- joining ---- */

static Node *flat(Build *b, Node *x) {
  Dim n = value_numel(b->in.g, &x->type);
  return build_view(b, x, 1, &n);
}

static Node *stack(Build *b, uint32_t n, Node *const *x, int64_t axis) {
  Arg list = arg_list(b->in.g, n);
  for (uint32_t i = 0; i < n; i++) list.items[i] = arg_node(x[i]);
  return build(b, OP_aten_stack_default, ARGS(list, build_int(b, axis)));
}

/* All choices of an element of each. */
Node *expand_cartesian_prod(Build *b) {
  uint32_t n;
  Node **x = build_inputs(b, "tensors", &n);
  for (uint32_t i = 0; i < n; i++) infer_rank(&b->in, &x[i]->type, 1, 1);
  if (n == 1) return x[0];
  Node *list = grids(b), **columns = ARENA_ARRAY(b->in.g->arena, Node *, n);
  for (uint32_t i = 0; i < n; i++) columns[i] = flat(b, build_item(b, list, i));
  return stack(b, n, columns, -1);
}

/* Vectors and scalars are columns. */
Node *expand_column_stack(Build *b) {
  uint32_t n;
  Node **x = build_inputs(b, "tensors", &n);
  for (uint32_t i = 0; i < n; i++)
    if (rank_of(x[i]) < 2) x[i] = build_unsqueeze(b, flat(b, x[i]), 1);
  return build_cat(b, n, x, 1);
}

Node *expand_dstack(Build *b) {
  uint32_t n;
  Node **x = build_inputs(b, "tensors", &n);
  for (uint32_t i = 0; i < n; i++) x[i] = build_op1(b, OP_aten_atleast_3d_default, x[i]);
  return build_cat(b, n, x, 2);
}

static Node *pad_zeros(Build *b, Node *x, uint32_t n, const Dim *sides, Arg value) {
  Arg pads = arg_dims(b->in.g, n, sides);
  return build(b, OP_aten_constant_pad_nd_default, ARGS(arg_node(x), pads, value));
}

/* x[..., n, ...] as [..., parts, elements of a part], with zeros in the last parts. */
static Node *flat_parts(Build *b, Node *x, uint32_t axis, int64_t parts) {
  Dims *d = build_dims(b);
  Dim count = build_const(b, parts), size = x->type.shape[axis];
  Dim each = infer_ceil_div(&b->in, size, count), sides[2 * GRAPH_RANK_MAX];
  uint32_t after = rank_of(x) - axis;
  for (uint32_t i = 0; i < 2 * after; i++) sides[i] = build_const(b, 0);
  sides[2 * after - 1] = dim_sub(d, dim_mul(d, each, count), size);
  x = pad_zeros(b, x, 2 * after, sides, build_int(b, 0));
  Dim shape[GRAPH_RANK_MAX + 1];
  for (uint32_t i = 0; i < axis; i++) shape[i] = x->type.shape[i];
  for (uint32_t i = axis + 1; i < rank_of(x); i++) each = dim_mul(d, each, x->type.shape[i]);
  shape[axis] = count;
  shape[axis + 1] = each;
  return build_view(b, x, axis + 2, shape);
}

/* Each tensor is cut into as many parts, and part i of the result has part i of each. */
Node *expand_chunk_cat(Build *b) {
  uint32_t n;
  Node **x = build_inputs(b, "tensors", &n);
  int64_t parts = infer_int(&b->in, "num_chunks");
  if (!n) infer_fail(&b->in, E_GRAPH_EMPTY_LIST);
  if (parts < 1) infer_fail(&b->in, E_GRAPH_STEP, (long long)parts);
  uint32_t axis = infer_axis_arg(&b->in, "dim", rank_of(x[0]));
  for (uint32_t i = 0; i < n; i++) {
    infer_rank(&b->in, &x[i]->type, axis + 1, GRAPH_RANK_MAX - 1);
    infer_same_dtype(&b->in, &x[0]->type, &x[i]->type);
    x[i] = flat_parts(b, x[i], axis, parts);
  }
  return build_cat(b, n, x, axis + 1);
}

/* Matrices along the diagonal; vectors and scalars are rows. */
Node *expand_block_diag(Build *b) {
  uint32_t n;
  Node **x = build_inputs(b, "tensors", &n);
  Dim zero = build_const(b, 0), width = zero, before = zero;
  for (uint32_t i = 0; i < n; i++) {
    x[i] = build_lead(b, x[i], 2);
    infer_rank(&b->in, &x[i]->type, 2, 2);
    width = dim_add(build_dims(b), width, x[i]->type.shape[1]);
  }
  for (uint32_t i = 0; i < n; i++) {
    Dim end = dim_add(build_dims(b), before, x[i]->type.shape[1]);
    Dim sides[] = {before, dim_sub(build_dims(b), width, end)};
    x[i] = pad_zeros(b, x[i], 2, sides, build_int(b, 0));
    before = end;
  }
  return build_cat(b, n, x, 0);
}

/* Sequences of different lengths, each filled up to the longest. */
Node *expand_pad_sequence(Build *b) {
  uint32_t n;
  Node **x = build_inputs(b, "sequences", &n);
  if (!n) infer_fail(&b->in, E_GRAPH_EMPTY_LIST);
  for (uint32_t i = 0; i < n; i++) infer_rank(&b->in, &x[i]->type, 1, GRAPH_RANK_MAX - 1);
  Dims *d = build_dims(b);
  Dim longest = infer_axis_size(&b->in, &x[0]->type, 0), zero = build_const(b, 0);
  bool left = !strcmp(infer_string(&b->in, "padding_side"), "left");
  for (uint32_t i = 0; i < n; i++) longest = dim_max(d, longest, x[i]->type.shape[0]);
  for (uint32_t i = 0; i < n; i++) {
    Dim sides[2 * GRAPH_RANK_MAX], more = dim_sub(d, longest, x[i]->type.shape[0]);
    uint32_t rank = rank_of(x[i]);
    for (uint32_t k = 0; k < 2 * rank; k++) sides[k] = zero;
    sides[2 * rank - (left ? 2 : 1)] = more;
    x[i] = pad_zeros(b, x[i], 2 * rank, sides, build_arg(b, "padding_value"));
  }
  return stack(b, n, x, infer_bool(&b->in, "batch_first") ? 0 : 1);
}

/* ---- diagonals ---- */

static Node *on_diagonal(Build *b, Node *x, const char *offset) {
  return build(b, OP_aten_diag_embed_default, ARGS(arg_node(x), build_arg(b, offset)));
}

Node *expand_diag(Build *b) {
  Node *x = build_self(b);
  infer_rank(&b->in, &x->type, 1, 2);
  if (rank_of(x) == 1) return on_diagonal(b, x, "diagonal");
  return build(b, OP_aten_diagonal_default, ARGS(arg_node(x), build_arg(b, "diagonal")));
}

Node *expand_diagflat(Build *b) { return on_diagonal(b, flat(b, build_self(b)), "offset"); }

Node *expand_linalg_diagonal(Build *b) {
  return build(
      b, OP_aten_diagonal_default,
      ARGS(build_arg(b, "A"), build_arg(b, "offset"), build_arg(b, "dim1"), build_arg(b, "dim2")));
}

Node *expand_trace(Build *b) {
  Node *x = build_self(b);
  infer_rank(&b->in, &x->type, 2, 2);
  return build_op1(b, OP_aten_sum_default, build_op1(b, OP_aten_diagonal_default, x));
}

Node *expand_matrix_h(Build *b) {
  Node *x = build_self(b);
  if (!rank_of(x)) return x;
  infer_rank(&b->in, &x->type, 2, 2);
  return build_op1(b, OP_aten_conj_default, build_transpose(b, x, 0, 1));
}

/* ---- other orders and shapes ---- */

/* Quarter turns of a plane from the first of two axes to the second. */
Node *expand_rot90(Build *b) {
  Node *x = build_self(b);
  int64_t k = ((infer_int(&b->in, "k") % 4) + 4) % 4, dims[GRAPH_RANK_MAX];
  uint32_t n = infer_ints(&b->in, "dims", dims);
  if (n != 2) infer_rank(&b->in, &x->type, GRAPH_RANK_MAX, 0);
  uint32_t from = infer_axis(&b->in, dims[0], rank_of(x));
  uint32_t to = infer_axis(&b->in, dims[1], rank_of(x));
  if (from == to) infer_fail(&b->in, E_GRAPH_AXIS_TWICE, (long long)to);
  uint32_t turned = k == 2 ? 1u << from | 1u << to : 1u << (k == 1 ? to : from);
  if (k) x = build_with(b, OP_aten_flip_default, x, arg_axes(b->in.g, turned));
  return k % 2 ? build_transpose(b, x, from, to) : x;
}

/* Blocks of the second tensor, one for each element of the first. */
Node *expand_kron(Build *b) {
  Node *x = build_self(b), *y = build_input(b, "other");
  uint32_t rank = rank_of(x) > rank_of(y) ? rank_of(x) : rank_of(y);
  x = build_lead(b, x, rank);
  y = build_lead(b, y, rank);
  Dim outer[2 * GRAPH_RANK_MAX], inner[2 * GRAPH_RANK_MAX], shape[GRAPH_RANK_MAX];
  if (2 * rank > GRAPH_RANK_MAX) infer_rank(&b->in, &x->type, 0, GRAPH_RANK_MAX / 2);
  for (uint32_t i = 0; i < rank; i++) {
    outer[2 * i] = x->type.shape[i];
    inner[2 * i + 1] = y->type.shape[i];
    outer[2 * i + 1] = inner[2 * i] = build_const(b, 1);
    shape[i] = dim_mul(build_dims(b), x->type.shape[i], y->type.shape[i]);
  }
  x = build_view(b, x, 2 * rank, outer);
  y = build_view(b, y, 2 * rank, inner);
  return build_view(b, build_mul(b, x, y), rank, shape);
}

/* The sum of what expanding from that size would copy. */
Node *expand_sum_to_size(Build *b) {
  Node *x = build_self(b);
  Dim size[GRAPH_RANK_MAX];
  uint32_t n = infer_sizes(&b->in, "size", size), more = rank_of(x) - n, set = 0;
  Operand small = {.rank = n, .shape = size};
  infer_fits(&b->in, &small, x->type.shape, rank_of(x));
  for (uint32_t i = 0; i < rank_of(x); i++)
    if (i < more || (dim_is(size[i - more], 1) && !dim_is(x->type.shape[i], 1))) set |= 1u << i;
  if (set) x = build_sum(b, x, set, true);
  return build_view(b, x, n, size);
}

/* ---- dtypes ---- */

static Node *in_dtype(Build *b, DType t) { return build_to(b, build_self(b), t); }

Node *expand_cast_byte(Build *b) { return in_dtype(b, DT_U8); }
Node *expand_cast_char(Build *b) { return in_dtype(b, DT_I8); }
Node *expand_cast_short(Build *b) { return in_dtype(b, DT_I16); }
Node *expand_cast_int(Build *b) { return in_dtype(b, DT_I32); }
Node *expand_cast_long(Build *b) { return in_dtype(b, DT_I64); }
Node *expand_cast_half(Build *b) { return in_dtype(b, DT_F16); }
Node *expand_cast_float(Build *b) { return in_dtype(b, DT_F32); }
Node *expand_cast_double(Build *b) { return in_dtype(b, DT_F64); }

/* Powers in f64, whatever the dtypes. */
Node *expand_float_power(Build *b) {
  Arg x = build_arg(b, "self"), y = build_arg(b, "exponent");
  if (x.kind == ARG_NODE) x = arg_node(build_to(b, x.node, DT_F64));
  if (y.kind == ARG_NODE) y = arg_node(build_to(b, y.node, DT_F64));
  OpId op = x.kind != ARG_NODE   ? OP_aten_pow_Scalar
            : y.kind != ARG_NODE ? OP_aten_pow_Tensor_Scalar
                                 : OP_aten_pow_Tensor_Tensor;
  return build(b, op, ARGS(x, y));
}

Node *expand_round(Build *b) {
  Arg args[] = {build_arg(b, "self")};
  return build_with_named(b, OP_aten_round_decimals, 1, args, "decimals", build_arg(b, "decimals"));
}

/* ---- lists of tensors as one ---- */

Node *expand_flatten_dense_tensors(Build *b) {
  uint32_t n;
  Node **x = build_inputs(b, "tensors", &n);
  if (!n) infer_fail(&b->in, E_GRAPH_EMPTY_LIST);
  for (uint32_t i = 0; i < n; i++) x[i] = flat(b, x[i]);
  return build_cat(b, n, x, 0);
}

Node *expand_unflatten_dense_tensors(Build *b) {
  uint32_t n;
  Node *x = build_input(b, "flat"), **like = build_inputs(b, "tensors", &n);
  Dim start = build_const(b, 0);
  items_of(b, n);
  for (uint32_t i = 0; i < n; i++) {
    Dim end = dim_add(build_dims(b), start, value_numel(b->in.g, &like[i]->type));
    Node *piece = build_slice(b, x, 0, start, end, 1);
    b->items[i] = build_view(b, piece, rank_of(like[i]), like[i]->type.shape);
    start = end;
  }
  return NULL;
}

/* ---- writes along the diagonal ---- */

/* Elements whose indices are all equal; in a tall matrix with `wrap` the diagonal begins anew, a
 * row after its end. */
Node *expand_fill_diagonal(Build *b) {
  Node *x = build_self(b);
  infer_rank(&b->in, &x->type, 2, GRAPH_RANK_MAX);
  Dims *d = build_dims(b);
  Dim step = build_const(b, 1), width = size_from_end(x, 1);
  for (uint32_t i = 1; i < rank_of(x); i++) {
    if (rank_of(x) > 2) infer_same_size(&b->in, x->type.shape[0], x->type.shape[i], "all sizes");
    step = dim_add(d, dim_mul(d, step, x->type.shape[rank_of(x) - i]), build_const(b, 1));
  }
  Node *place = build_arange(b, value_numel(b->in.g, &x->type));
  Node *on = build_with(b, OP_aten_remainder_Tensor, place, arg_dim(step));
  on = build_with(b, OP_aten_eq_Scalar, on, build_int(b, 0));
  if (rank_of(x) == 2 && !infer_bool(&b->in, "wrap"))
    on = build_and(b, on, build_with(b, OP_aten_lt_Tensor, place,
                                     arg_dim(dim_mul(d, width, width))));
  on = build_view(b, on, rank_of(x), x->type.shape);
  Node *y = build(b, OP_aten_masked_fill_Scalar,
                  ARGS(arg_node(x), arg_node(on), build_arg(b, "fill_value")));
  return build_op2(b, OP_aten_copy__default, x, y);
}

/* ---- padding ---- */

static Node *pad(Build *b, const char *mode, Arg value) {
  Arg name = {.kind = ARG_STRING, .name = pool_name(b->in.g->names, mode)};
  return build(b, OP_aten_pad_default,
               ARGS(arg_node(build_self(b)), build_arg(b, "pad"), name, value));
}

Node *expand_pad_circular(Build *b) { return pad(b, "circular", arg_none()); }

/* The mode is a number. */
Node *expand_pad_enum(Build *b) {
  static const char *const modes[] = {"reflect", "replicate", "circular", "constant"};
  int64_t mode = infer_int(&b->in, "mode");
  if (mode < 0 || mode > 3) infer_fail(&b->in, E_GRAPH_PARTS, (long long)mode, 3);
  return pad(b, modes[mode], build_arg(b, "value"));
}
