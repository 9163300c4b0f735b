/* Rows of a table that are put together by bags: embedding_bag. */
#include "decompose/decompose.h"
#include "decompose/scatter.h"

typedef enum { BAG_SUM, BAG_MEAN, BAG_MAX } BagMode;

typedef struct {
  Node *index; /* of rows, a vector */
  Node *bag;   /* of each of them */
  Node *keep;  /* which of them count; NULL: all */
  Node *table, *weights; /* of each row; weights may be NULL */
  Node *rows;  /* [of the index, columns], NULL: not chosen yet */
  Node *starts; /* of bags among the rows, and the end of the last; NULL: on GPUs */
  Dim bags, columns;
} Bags;

static Node *where_kept(Build *b, Node *keep, Node *x, int64_t otherwise) {
  return keep ? build_where(b, keep, arg_node(x), build_int(b, otherwise)) : x;
}

/* Each segment's number goes to its places. */
static Node *segment_numbers(Build *b, Dim n, Node *starts, Dim bags) {
  Dim one = build_const(b, 1);
  return scatter_rows(b, &(ScatteredRows){.to = build_full(b, 1, &n, build_int(b, -1), DT_I64),
                                          .index = build_arange(b, n),
                                          .src = build_arange(b, bags),
                                          .starts = starts,
                                          .outer = one,
                                          .rows = n,
                                          .columns = one,
                                          .count = n,
                                          .reduce = "put"});
}

Node *decompose_bag_of(Build *b, Dim n, Node *offsets, Dim bags) {
  if (b->in.g->host) return segment_numbers(b, n, decompose_bag_starts(b, n, offsets, bags), bags);
  offsets = build_slice(b, build_to(b, offsets, DT_I64), 0, build_const(b, 0), bags, 1);
  Arg args[] = {arg_node(offsets), arg_node(build_arange(b, n))};
  Node *begun = build_with_named(b, OP_aten_searchsorted_Tensor, 2, args, "right", arg_bool(true));
  return build_with(b, OP_aten_sub_Tensor, begun, build_int(b, 1));
}

Node *decompose_bag_starts(Build *b, Dim n, Node *offsets, Dim bags) {
  Dim one = build_const(b, 1);
  offsets = build_slice(b, build_to(b, offsets, DT_I64), 0, build_const(b, 0), bags, 1);
  Arg among[] = {arg_node(offsets), build_int(b, 0), arg_dim(n)};
  Node *begin = build(b, OP_aten_clamp_default, 3, among);
  return build_cat(b, 2, (Node *[]){begin, build_full(b, 1, &one, arg_dim(n), DT_I64)}, 0);
}

Node *decompose_bag_lengths(Build *b, Node *starts, Dim bags) {
  Dim one = build_const(b, 1), all = starts->type.shape[0];
  Node *end = build_slice(b, starts, 0, one, all, 1);
  return build_op2(b, OP_aten_sub_Tensor, end,
                   build_slice(b, starts, 0, build_const(b, 0), bags, 1));
}

Node *decompose_bag_counts(Build *b, Node *keep, Node *starts, Dim bags) {
  Dim n = keep->type.shape[0];
  Node *count = build_view(b, build_to(b, keep, DT_F64), 2, (Dim[]){n, build_const(b, 1)});
  count = build(b, OP_nereid_segment_sum_default,
                ARGS(arg_node(count), arg_node(build_arange(b, n)), arg_node(starts)));
  return build_view(b, build_to(b, count, DT_I64), 1, &bags);
}

/* Rows of the index `padding` count nothing. */
static Node *is_not_padding(Build *b, Node *index, Dim rows) {
  if (!infer_takes(&b->in, "padding_idx") || !infer_has(&b->in, "padding_idx")) return NULL;
  int64_t padding = infer_int(&b->in, "padding_idx");
  bool counts_back = graph_is(b->in.n, OP_aten_embedding_bag_padding_idx);
  if (padding < 0 && !counts_back) return NULL;
  Arg none = build_int(b, padding);
  if (padding < 0) none = arg_dim(dim_add(b->in.g->dims, rows, build_const(b, padding)));
  return build_with(b, OP_aten_ne_Scalar, index, none);
}

static Bags bags_of(Build *b) {
  Bags x = {.index = build_to(b, build_input(b, "indices"), DT_I64)};
  x.table = build_input(b, "weight");
  x.weights = build_input(b, "per_sample_weights");
  x.bags = b->in.n->type.items[0].shape[0];
  x.columns = x.table->type.shape[1];
  x.bag = decompose_bag_of(b, x.index->type.shape[0], build_input(b, "offsets"), x.bags);
  x.keep = is_not_padding(b, x.index, x.table->type.shape[0]);
  if (b->in.g->host)
    x.starts =
        decompose_bag_starts(b, x.index->type.shape[0], build_input(b, "offsets"), x.bags);
  return x;
}

static Node *rows_of(Build *b, Bags *x) {
  if (x->rows) return x->rows;
  x->rows = build(b, OP_aten_index_select_default,
                  ARGS(arg_node(x->table), build_int(b, 0), arg_node(x->index)));
  if (x->weights) x->rows = build_mul(b, x->rows, build_unsqueeze(b, x->weights, 1));
  return x->rows;
}

/* The result's index, in row-major order, of each element of the rows; -1: none. */
static Node *bag_elements(Build *b, const Bags *x) {
  Node *first = build_with(b, OP_aten_mul_Tensor, x->bag, arg_dim(x->columns));
  Node *index = build_add(b, build_unsqueeze(b, first, 1), build_arange(b, x->columns));
  return where_kept(b, x->keep ? build_unsqueeze(b, x->keep, 1) : NULL, index, -1);
}

static Node *counts(Build *b, const Bags *x) {
  if (x->starts)
    return x->keep ? decompose_bag_counts(b, x->keep, x->starts, x->bags)
                   : decompose_bag_lengths(b, x->starts, x->bags);
  Node *zeros = build_full(b, 1, &x->bags, build_int(b, 0), DT_I64);
  Node *one = build_full(b, 1, x->bag->type.shape, build_int(b, 1), DT_I64);
  return scatter_add_up(b, zeros, where_kept(b, x->keep, x->bag, -1), one);
}

/* On a CPU, where an atomic operation takes the time of ten sums: a bag's rows are neighbours, and
 * are read where they are in the table if all of them count as they are. */
static Node *sums_in_order(Build *b, Bags *x) {
  Node *table = x->table, *order;
  Dim rows = table->type.shape[0];
  if (x->weights || x->keep || dim_range(build_dims(b), rows).lo < 1) {
    table = where_kept(b, x->keep ? build_unsqueeze(b, x->keep, 1) : NULL, rows_of(b, x), 0);
    order = build_arange(b, x->index->type.shape[0]);
  } else {
    /* An index out of range is found after the run, which reads in the table meanwhile. */
    Dim last = dim_sub(build_dims(b), rows, build_const(b, 1));
    Arg among[] = {arg_node(x->index), build_int(b, 0), arg_dim(last)};
    if (!b->in.g->unchecked)
      build_check_index(b, x->index, rows, false, arg_none(), b->in.n->name);
    order = build(b, OP_aten_clamp_default, 3, among);
  }
  return build(b, OP_nereid_segment_sum_default,
               ARGS(arg_node(table), arg_node(order), arg_node(x->starts)));
}

static Node *sums(Build *b, Bags *x) {
  if (x->starts) return sums_in_order(b, x);
  Node *rows = rows_of(b, x);
  Dim shape[] = {x->bags, x->columns};
  Node *zeros = build_full(b, 2, shape, arg_float(0), rows->type.dtype);
  return scatter_add_up(b, zeros, bag_elements(b, x), rows);
}

/* Rows that do not count go to one more bag after the others. */
static Node *bag_maximum(Build *b, Bags *x) {
  rows_of(b, x);
  Dim more = dim_add(b->in.g->dims, x->bags, build_const(b, 1)), shape[] = {more, x->columns};
  Node *zeros = build_full(b, 2, shape, arg_float(0), x->rows->type.dtype), *bag = x->bag;
  if (x->keep) bag = build_where(b, x->keep, arg_node(bag), arg_dim(x->bags));
  bag = build_expand(b, build_unsqueeze(b, bag, 1), 2, x->rows->type.shape);
  Arg how = {.kind = ARG_STRING, .name = pool_name(b->in.g->names, "amax")};
  Arg args[] = {arg_node(zeros), build_int(b, 0), arg_node(bag), arg_node(x->rows), how};
  Node *y =
      build_with_named(b, OP_aten_scatter_reduce_two, 5, args, "include_self", arg_bool(false));
  return build_slice(b, y, 0, build_const(b, 0), x->bags, 1);
}

/* The number of the first row for which `is_best` holds, for each element of the result; n where
 * there is none. */
static Node *first_best(Build *b, const Bags *x, Node *is_best, Node *number) {
  Dim n = x->index->type.shape[0], all = dim_mul(b->in.g->dims, x->bags, x->columns);
  Node *none = build_full(b, 1, &all, arg_dim(n), DT_I64);
  if (!x->starts) {
    Arg how = {.kind = ARG_STRING, .name = "amin"};
    Node *index = where_kept(b, is_best, bag_elements(b, x), -1);
    return build(b, OP_nereid_scatter_default,
                 ARGS(arg_node(none), arg_node(index), arg_node(number), how));
  }
  Node *bag = where_kept(b, x->keep, x->bag, -1);
  bag = build_where(b, is_best, arg_node(build_unsqueeze(b, bag, 1)), build_int(b, -1));
  return scatter_rows(b, &(ScatteredRows){.to = none,
                                          .index = bag,
                                          .src = number,
                                          .outer = build_const(b, 1),
                                          .rows = x->bags,
                                          .columns = x->columns,
                                          .count = n,
                                          .each = true,
                                          .reduce = "amin"});
}

/* The index of the first row that has the largest element of its bag; 0 for an empty bag. */
static Node *largest_index(Build *b, const Bags *x, Node *result) {
  Node *best = build(b, OP_aten_index_select_default,
                     ARGS(arg_node(result), build_int(b, 0), arg_node(x->bag)));
  Node *is_best = build_op2(b, OP_aten_eq_Tensor, x->rows, best);
  Node *number = build_unsqueeze(b, build_arange(b, x->index->type.shape[0]), 1);
  number = build_expand(b, number, 2, x->rows->type.shape);
  Node *first = first_best(b, x, is_best, number);
  Node *zero = build_full(b, 1, (Dim[]){build_const(b, 1)}, build_int(b, 0), DT_I64);
  Node *table = build_cat(b, 2, (Node *[]){x->index, zero}, 0);
  Node *found = build(b, OP_aten_index_select_default,
                      ARGS(arg_node(table), build_int(b, 0), arg_node(first)));
  return build_view(b, found, 2, result->type.shape);
}

static Node *mean(Build *b, Node *sum, Node *count) {
  count = build_with(b, OP_aten_clamp_min_default, count, build_int(b, 1));
  return build_div(b, sum, build_unsqueeze(b, count, 1));
}

/* The results are rows, the bag of each index, how many each bag has, and for the largest elements
 * from which rows they are.  Sums count nothing, and means return the counts twice, which is what
 * eager mode does on a CPU. */
Node *decompose_embedding_bag(Build *b) {
  Bags x = bags_of(b);
  BagMode mode = (BagMode)infer_int(&b->in, "mode");
  const ValueType *t = b->in.n->type.items;
  Node *count = counts(b, &x), *y = mode == BAG_MAX ? bag_maximum(b, &x) : sums(b, &x);
  if (mode == BAG_MEAN) y = mean(b, y, count);
  b->items = ARENA_ARRAY(b->in.g->arena, Node *, 4);
  b->nitems = 4;
  b->items[0] = build_to(b, y, t[0].dtype);
  b->items[1] = x.bag;
  b->items[2] = mode == BAG_SUM ? build_full(b, 1, &x.bags, build_int(b, 0), DT_I64) : count;
  b->items[3] = mode == BAG_MAX ? largest_index(b, &x, y) : b->items[2];
  for (int i = 1; i < 4; i++) b->items[i] = build_to(b, b->items[i], t[i].dtype);
  return NULL;
}
