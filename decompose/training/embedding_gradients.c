/* Gradients of tables whose rows are chosen by indices: sums of the gradients' rows of one index,
 * in an order that does not change from run to run. */
#include "decompose/decompose.h"
#include "decompose/scatter.h"

/* The index of the table's row for each row of a gradient; rows that count nowhere have `rows`. */
static Node *counted_rows(Build *b, Dim rows) {
  Node *index = build_to(b, build_flat(b, build_input(b, "indices")), DT_I64);
  Arg padding = build_arg(b, "padding_idx");
  if (arg_is_number(&padding, -1)) return index;
  return build_where(b, build_with(b, OP_aten_eq_Scalar, index, padding), arg_dim(rows),
                     arg_node(index));
}

/* Each row over the number of its indices. */
static Node *by_frequency(Build *b, Dim rows, Node *index, Node *sum) {
  Node *count = scatter_count(b, rows, index);
  count = build_with(b, OP_aten_clamp_min_default, count, build_int(b, 1));
  return build_div(b, sum, build_to(b, build_unsqueeze(b, count, 1), sum->type.dtype));
}

static Node *empty_table(Build *b) {
  const ValueType *t = &b->in.n->type;
  return build_full(b, t->rank, t->shape, build_int(b, 0), t->dtype);
}

static void check_rows(Build *b, Dim rows, Node *index) {
  if (b->in.g->unchecked) return;
  Dim most = dim_add(build_dims(b), rows, build_const(b, 1));
  build_check_index(b, index, most, false, arg_none(), b->in.n->name);
}

static Node *finish_table(Build *b, Dim rows, Node *index, Node *sum) {
  if (infer_bool(&b->in, "scale_grad_by_freq")) sum = by_frequency(b, rows, index, sum);
  return build_to(b, sum, b->in.n->type.dtype);
}

Node *decompose_embedding_backward(Build *b) {
  Node *grad = build_self(b);
  Dim rows = infer_size(&b->in, "num_weights");
  Dim shape[] = {build_count(b, grad, all_axes(grad) & ~(1u << (rank_of(grad) - 1))),
                 size_from_end(grad, 1)};
  Node *index = counted_rows(b, rows), *values = build_view(b, grad, 2, shape);
  if (scatter_empty(b, values)) return empty_table(b);
  check_rows(b, rows, index);
  return finish_table(b, rows, index, scatter_sum_rows(b, rows, index, values));
}

/* ---- bags: what the forward pass gives besides its rows depends on the device, and is not read,
 * but for the rows that maxima are of ---- */

typedef enum { BAG_SUM, BAG_MEAN, BAG_MAX } BagMode;

static Node *choose_rows(Build *b, Node *x, Node *index) {
  return build(b, OP_aten_index_select_default,
               ARGS(arg_node(x), build_int(b, 0), arg_node(build_to(b, index, DT_I64))));
}

/* The bag of each index. */
static Node *bag_numbers(Build *b, const Node *grad) {
  Dim n = build_input(b, "indices")->type.shape[0];
  return decompose_bag_of(b, n, build_input(b, "offsets"), grad->type.shape[0]);
}

static Node *bag_starts(Build *b, const Node *grad) {
  Dim n = build_input(b, "indices")->type.shape[0];
  return decompose_bag_starts(b, n, build_input(b, "offsets"), grad->type.shape[0]);
}

/* How many indices of each bag count; `row` is that of counted_rows. */
static Node *bag_sizes(Build *b, const Node *grad, Node *row, Dim rows) {
  Arg padding = build_arg(b, "padding_idx");
  Dim bags = grad->type.shape[0];
  Node *counts = build_with(b, OP_aten_lt_Scalar, row, arg_dim(rows));
  if (b->in.g->host) {
    Node *starts = bag_starts(b, grad);
    bool all = arg_is_number(&padding, -1);
    return build_to(b,
                    all ? decompose_bag_lengths(b, starts, bags)
                        : decompose_bag_counts(b, counts, starts, bags),
                    DT_I32);
  }
  Node *bag = bag_numbers(b, grad);
  Node *at = build_where(b, counts, arg_node(bag), build_int(b, -1));
  Node *none = build_full(b, 1, &bags, build_int(b, 0), DT_I32);
  return scatter_add_up(b, none, at, build_full(b, 1, row->type.shape, build_int(b, 1), DT_I32));
}

/* The gradient of a maximum goes to the row that it was taken from, element by element. */
static Node *maximum_table(Build *b, Node *grad, Node *sizes, Dim rows) {
  Node *row = build_to(b, build_input(b, "maximum_indices"), DT_I64);
  Dim columns = grad->type.shape[1], all = dim_mul(build_dims(b), rows, columns);
  if (!b->in.g->unchecked) build_check_index(b, row, rows, false, arg_none(), b->in.n->name);
  Node *is_empty = build_with(b, OP_aten_eq_Scalar, build_unsqueeze(b, sizes, 1), build_int(b, 0));
  if (b->in.g->host) {
    Dim shape[] = {rows, columns};
    DType t = build_wide(grad->type.dtype);
    row = build_where(b, is_empty, build_int(b, -1), arg_node(row));
    Node *sum = scatter_rows(b, &(ScatteredRows){.to = build_full(b, 2, shape, build_int(b, 0), t),
                                                 .index = row,
                                                 .src = grad,
                                                 .outer = build_const(b, 1),
                                                 .rows = rows,
                                                 .columns = columns,
                                                 .count = grad->type.shape[0],
                                                 .each = true,
                                                 .reduce = "sum"});
    return build_to_result(b, build_finished(b, sum));
  }
  Node *at = build_add(b, build_mul_dim(b, row, columns), build_arange(b, columns));
  at = build_where(b, is_empty, build_int(b, -1), arg_node(at));
  Node *none = build_full(b, 1, &all, build_int(b, 0), build_wide(grad->type.dtype));
  return build_to_result(b, build_finished(b, scatter_add_up(b, none, at, grad)));
}

/* A bag's gradient is that of all its rows, times their weights. */
static Node *sum_bags(Build *b, Dim rows, Node *row, Node *grad, Node *weights) {
  Dim shape[] = {rows, grad->type.shape[1]};
  DType t = build_wide(grad->type.dtype);
  return scatter_rows(b, &(ScatteredRows){.to = build_full(b, 2, shape, build_int(b, 0), t),
                                          .index = row,
                                          .src = grad,
                                          .starts = bag_starts(b, grad),
                                          .scale = weights,
                                          .outer = build_const(b, 1),
                                          .rows = rows,
                                          .columns = shape[1],
                                          .count = row->type.shape[0],
                                          .reduce = "sum"});
}

Node *decompose_bag_backward(Build *b) {
  Node *grad = build_self(b), *weights = build_input(b, "per_sample_weights");
  Dim rows = infer_size(&b->in, "num_weights");
  Node *row = counted_rows(b, rows), *sizes = bag_sizes(b, grad, row, rows);
  BagMode mode = (BagMode)infer_int(&b->in, "mode");
  if (mode == BAG_MAX) return maximum_table(b, grad, sizes, rows);
  if (mode == BAG_MEAN) {
    Node *count = build_with(b, OP_aten_clamp_min_default, sizes, build_int(b, 1));
    grad = build_div(b, build_widen(b, grad),
                     build_to(b, build_unsqueeze(b, count, 1), build_wide(grad->type.dtype)));
  }
  if (scatter_empty(b, row) || scatter_empty(b, grad)) return empty_table(b);
  if (b->in.g->host) {
    check_rows(b, rows, row);
    return finish_table(b, rows, row, sum_bags(b, rows, row, grad, weights));
  }
  Node *values = choose_rows(b, grad, bag_numbers(b, grad));
  if (weights) values = build_mul(b, values, build_unsqueeze(b, weights, 1));
  check_rows(b, rows, row);
  return finish_table(b, rows, row, scatter_sum_rows(b, rows, row, values));
}

/* Products of a bag's gradient and the row that was weighted. */
Node *decompose_bag_weights_backward(Build *b) {
  Node *grad = build_wide_input(b, "grad"), *table = build_wide_input(b, "weight");
  Node *index = build_to(b, build_input(b, "indices"), DT_I64);
  Node *of_bag = choose_rows(b, grad, bag_numbers(b, grad));
  Node *sum = build_sum(b, build_mul(b, of_bag, choose_rows(b, table, index)), 1u << 1, false);
  Arg padding = build_arg(b, "padding_idx");
  if (!arg_is_number(&padding, -1))
    sum = build_where(b, build_with(b, OP_aten_eq_Scalar, index, padding), build_int(b, 0),
                      arg_node(sum));
  return build_to_result(b, sum);
}
