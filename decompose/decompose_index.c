/* Reads of elements at computed indices: the indices become tensors, and the op one of gather,
 * index_select, index.Tensor, or a choice by a mask. */
#include <string.h>

#include "decompose/decompose.h"
#include "decompose/messages.h"

static Node *select_index(Build *b, Node *x, uint32_t axis, Node *index) {
  return build(b, OP_aten_index_select_default,
               ARGS(arg_node(x), build_int(b, axis), arg_node(index)));
}

/* ---- the same without what inference does not need ---- */

Node *decompose_embedding(Build *b) {
  return build_become(b, OP_aten_embedding_default,
                      ARGS(build_arg(b, "weight"), build_arg(b, "indices")));
}

Node *decompose_gather(Build *b) {
  Node *x = build_self(b);
  Arg axis = build_int(b, infer_axis_arg(&b->in, "dim", rank_of(x)));
  return build_become(b, OP_aten_gather_default, ARGS(arg_node(x), axis, build_arg(b, "index")));
}

Node *decompose_index_select(Build *b) {
  Node *x = build_self(b), *index = build_input(b, "index");
  Arg axis = build_int(b, infer_axis_arg(&b->in, "dim", rank_of(x)));
  Arg args[] = {arg_node(x), axis, arg_node(index)};
  if (rank_of(x)) return build_become(b, OP_aten_index_select_default, 3, args);
  /* A scalar passes for a tensor of one element. */
  Dim one = build_const(b, 1);
  args[0] = arg_node(build_view(b, x, 1, &one));
  args[2] = arg_node(build_view(b, index, 1, &one));
  return build_view(b, build(b, OP_aten_index_select_default, 3, args), 0, NULL);
}

/* Both broadcast along all axes but the one, where an index counts by its remainder. */
Node *decompose_take_along_dim(Build *b) {
  Node *x = build_self(b), *index = build_input(b, "indices");
  uint32_t axis = 0;
  if (infer_has(&b->in, "dim")) {
    axis = infer_axis_arg(&b->in, "dim", rank_of(x));
    Dim size = rank_of(x) ? x->type.shape[axis] : build_const(b, 1);
    index = build_with(b, OP_aten_remainder_Tensor, index, arg_dim(size));
  } else {
    Dim nx = value_numel(b->in.g, &x->type), ni = value_numel(b->in.g, &index->type);
    x = build_view(b, x, 1, &nx);
    index = build_view(b, index, 1, &ni);
  }
  Dim own[GRAPH_RANK_MAX], shape[GRAPH_RANK_MAX];
  uint32_t rank = b->in.n->type.rank;
  memcpy(shape, b->in.n->type.shape, rank * sizeof *shape);
  memcpy(own, shape, rank * sizeof *own);
  if (rank) own[axis] = x->type.shape[axis]; /* a scalar has none */
  x = build_expand(b, x, rank, own);
  index = build_expand(b, index, rank, shape);
  return build(b, OP_aten_gather_default, ARGS(arg_node(x), build_int(b, axis), arg_node(index)));
}

/* ---- writing one value ---- */

/* True at each of `size` indices that occurs in `index`, whose elements may count from the end. */
static Node *named_indices(Build *b, Node *index, Dim size) {
  Dim count = value_numel(b->in.g, &index->type);
  Node *each = build_unsqueeze(b, build_arange(b, size), 1);
  index = build_to(b, build_view(b, index, 1, &count), DT_I64);
  index = build_with(b, OP_aten_remainder_Tensor, index, arg_dim(size));
  Node *equal = build_op2(b, OP_aten_eq_Tensor, each, index);
  return build_with(b, OP_aten_any_dim, equal, build_int(b, 1));
}

Node *decompose_index_fill(Build *b) {
  Node *x = build_self(b), *index = build_input(b, "index");
  Node *one = build_scalar_arg(b, "value", x->type.dtype);
  if (!rank_of(x)) return one;
  uint32_t axis = infer_axis_arg(&b->in, "dim", rank_of(x));
  Node *mask = named_indices(b, index, x->type.shape[axis]);
  mask = build_along(b, mask, axis, rank_of(x));
  return build_where(b, mask, arg_node(one), arg_node(x));
}

/* ---- padding with the tensor's own elements ---- */

typedef enum { PAD_REFLECT, PAD_REPLICATE, PAD_CIRCULAR } PadMode;

/* Source indices of the padded axis's elements: from -left on, brought into 0..size. */
static Node *padded_indices(Build *b, PadMode mode, Dim size, Dim left, Dim right) {
  Dims *d = b->in.g->dims;
  Dim last = dim_sub(d, size, build_const(b, 1));
  Dim count = dim_add(d, size, dim_add(d, left, right));
  Node *i = build_add_dim(b, build_arange(b, count), dim_sub(d, build_const(b, 0), left));
  if (mode == PAD_CIRCULAR) return build_with(b, OP_aten_remainder_Tensor, i, arg_dim(size));
  if (mode == PAD_REPLICATE)
    return build(b, OP_aten_clamp_default, ARGS(arg_node(i), build_int(b, 0), arg_dim(last)));
  Node *up = build_op1(b, OP_aten_abs_default, i);
  Node *over = build(b, OP_aten_sub_Tensor, ARGS(arg_dim(last), arg_node(up)));
  return build(b, OP_aten_sub_Tensor,
               ARGS(arg_dim(last), arg_node(build_op1(b, OP_aten_abs_default, over))));
}

static Node *pad_axes(Build *b, PadMode mode, const char *param) {
  Node *x = build_self(b);
  Dim pads[2 * GRAPH_RANK_MAX];
  uint32_t n = infer_sizes(&b->in, param, pads);
  for (uint32_t i = 0; i + 1 < n; i += 2) {
    uint32_t axis = rank_of(x) - 1 - i / 2;
    if (dim_is(pads[i], 0) && dim_is(pads[i + 1], 0)) continue;
    x = select_index(b, x, axis,
                     padded_indices(b, mode, x->type.shape[axis], pads[i], pads[i + 1]));
  }
  return x;
}

Node *decompose_reflection_pad(Build *b) { return pad_axes(b, PAD_REFLECT, "padding"); }
Node *decompose_replication_pad(Build *b) { return pad_axes(b, PAD_REPLICATE, "padding"); }

Node *decompose_pad(Build *b) {
  Name mode = infer_string(&b->in, "mode");
  if (!strcmp(mode, "reflect")) return pad_axes(b, PAD_REFLECT, "pad");
  if (!strcmp(mode, "replicate")) return pad_axes(b, PAD_REPLICATE, "pad");
  if (!strcmp(mode, "circular")) return pad_axes(b, PAD_CIRCULAR, "pad");
  if (strcmp(mode, "constant")) infer_fail(&b->in, E_GRAPH_PAD_MODE, mode);
  Dim pads[2 * GRAPH_RANK_MAX];
  Arg list = arg_dims(b->in.g, infer_sizes(&b->in, "pad", pads), pads);
  Arg args[] = {arg_node(build_self(b)), list, build_arg(b, "value")};
  return build_become(b, OP_aten_constant_pad_nd_default, args[2].kind == ARG_NONE ? 2 : 3, args);
}

/* ---- diagonals, distances ---- */

static Node *pad_last(Build *b, Node *x, Dim more) {
  Arg pads = arg_list(b->in.g, 2);
  pads.items[0] = build_int(b, 0);
  pads.items[1] = arg_dim(more);
  return dim_is(more, 0) ? x : build_with(b, OP_aten_constant_pad_nd_default, x, pads);
}

/* A matrix with x where the column less the row is `offset`, else 0; its axes then go where they
 * are wanted. */
Node *decompose_diag_embed(Build *b) {
  Node *x = build_self(b);
  const ValueType *t = &b->in.n->type;
  int64_t offset = infer_int(&b->in, "offset");
  uint32_t p = infer_axis_arg(&b->in, "dim1", t->rank), q = infer_axis_arg(&b->in, "dim2", t->rank);
  Dim n = t->shape[p];
  x = pad_last(b, x, dim_sub(b->in.g->dims, n, x->type.shape[rank_of(x) - 1]));
  Node *column = build_arange(b, n), *row = build_unsqueeze(b, column, 1);
  Node *on = build_with(b, OP_aten_eq_Tensor, build_sub(b, column, row), build_int(b, offset));
  x = build_unsqueeze(b, x, offset >= 0 ? rank_of(x) : rank_of(x) - 1);
  Node *zero = build_full(b, 0, NULL, build_int(b, 0), x->type.dtype);
  Node *y = build_where(b, on, arg_node(x), arg_node(zero));
  uint32_t axes[GRAPH_RANK_MAX];
  for (uint32_t i = 0, k = 0; i < t->rank; i++)
    axes[i] = i == p ? t->rank - 2 : i == q ? t->rank - 1 : k++;
  return build_permute(b, y, axes);
}

/* The norms of the differences of all pairs of rows. */
Node *decompose_cdist(Build *b) {
  Node *x = build_input(b, "x1"), *y = build_input(b, "x2");
  const ValueType *t = &b->in.n->type;
  if (dim_is(size_from_end(x, 1), 0)) /* of which linalg_vector_norm refuses the largest */
    return build_full(b, t->rank, t->shape, build_int(b, 0), t->dtype);
  x = build_unsqueeze(b, x, rank_of(x) - 1);
  y = build_unsqueeze(b, y, rank_of(y) - 2);
  Node *gap = build_sub(b, x, y);
  Arg last = arg_axes(b->in.g, 1u << (rank_of(gap) - 1));
  return build(b, OP_aten_linalg_vector_norm_default,
               ARGS(arg_node(gap), arg_float(infer_number(&b->in, "p")), last));
}
