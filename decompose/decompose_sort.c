/* Sorting, searching in sorted sequences, and counting.
 *
 * Sorts work on *keys*: integers whose upper part has the order of the elements, and whose lower
 * part is the element's index.  No two are equal, so sorting them is stable, and the order of the
 * elements is what is left without the upper parts.  Keys have 64 bits, half of them for the index;
 * elements of 8 and 16 bits have keys of 32, where the rest holds the index: a network sorts them
 * with half of the registers and a third of the instructions.
 *
 * A row that fits a tile is sorted by one kernel.  A longer one is padded to whole runs that do;
 * runs are sorted, and merged by twos in a step each.  If only the first few are wanted, runs keep
 * no more than that, and are sorted together.
 *
 * The first k of a long row are in those k of its groups whose first elements come first: any other
 * element comes after the first one of its group, and so after k elements.  Of a row all that is
 * read whole are the first elements of groups, which a reduction finds, at the speed of memory.
 *
 * Else a program selects them, of rows that it holds: a search by bits finds the last one, so
 * that only these are sorted.  One element of a rank, as a median, is found without a sort.  A
 * CPU's networks take longer: it selects the groups, too, and of them.
 *
 * Elements of 64 bits are sorted by their lower halves first, then by the upper ones, unless they
 * are known to fit 32. */
#include <string.h>

#include "decompose/decompose.h"
#include "decompose/scatter.h"
#include "graph/analysis/index_range.h"
#include "graph/builders/mask_builder.h"
#include "graph/ops/matrix_functions.h"

/* GROUPED_ROW: on an H200 the first 8 of 32768 rows of 1,024 took 1,055 us sorted whole. */
enum { INDEX_BITS = 30, GROUPED_ROW = 1024, GROUP_MIN = 16, GROUP_MAX = 256 };

/* Elements of a row that one program sorts if only the first ones are kept. */
static int64_t run_of(const Build *b) {
  enum { RUN = 4096, RUN_OF_HOST = 2048 };
  return b->in.g->host ? RUN_OF_HOST : RUN;
}

/* Elements of a row that one program sorts: as many as threads exchange through shared memory.  A
 * merge takes longer than the steps of a network that it saves. */
static int64_t sorted_run(const Build *b, const Node *keys) {
  enum { SHARED = 1 << 16 };
  if (b->in.g->host) return run_of(b);
  return SHARED / dtype_bytes(keys->type.dtype);
}

static Node *gather_along(Build *b, Node *x, uint32_t axis, Node *indices) {
  return build(b, OP_aten_gather_default, ARGS(arg_node(x), build_int(b, axis), arg_node(indices)));
}

static uint32_t last_of(const Node *x) { return rank_of(x) - 1; }
static Dim row_length(const Node *x) { return x->type.shape[last_of(x)]; }

static Node *first_of(Build *b, Node *x, Dim n) {
  return build_slice(b, x, last_of(x), build_const(b, 0), n, 1);
}

/* Arguments by their positions, as kernels take them. */
Node *decompose_arguments(Build *b) {
  const OpSchema *s = b->in.schema;
  Arg *args = ARENA_ARRAY(b->in.g->arena, Arg, s->nparams);
  for (uint32_t i = 0; i < s->nparams; i++) args[i] = build_arg(b, s->params[i].name);
  return build_become(b, b->in.n->op->id, s->nparams, args);
}

/* ---- keys ---- */

static Node *halves(Build *b, OpId op, Node *x, int64_t number) {
  return build_with(b, op, x, build_int(b, number));
}

typedef struct {
  DType dtype;
  int index_bits;
} KeyForm;

static const KeyForm whole_keys = {DT_I64, 32};

static Arg largest_key(Build *b, const Node *keys) {
  return build_int(b, keys->type.dtype == DT_I64 ? INT64_MAX : INT32_MAX);
}

/* The key of the element that has the order of `upper` and that index. */
static Node *key_of(Build *b, KeyForm form, Node *upper, Node *index) {
  upper = build_to(b, upper, form.dtype);
  upper = halves(b, OP_aten_bitwise_left_shift_Tensor, upper, form.index_bits);
  return build_op2(b, OP_aten_bitwise_or_Tensor, upper, build_to(b, index, form.dtype));
}

/* The keys of elements in the order of `upper` along the last axis. */
static Node *keys_of(Build *b, KeyForm form, Node *upper) {
  return key_of(b, form, upper, build_arange(b, row_length(upper)));
}

static Node *key_indices(Build *b, KeyForm form, Node *keys) {
  int64_t mask = ((int64_t)1 << form.index_bits) - 1;
  return build_to(b, halves(b, OP_aten_bitwise_and_Tensor, keys, mask), DT_I64);
}

/* ---- sorting keys along the last axis ---- */

static Node *sort_key_rows(Build *b, Node *keys) {
  return build_with(b, OP_nereid_sort_default, keys, build_int(b, last_of(keys)));
}

/* Rows as runs of so many elements: [.., runs, elements], the last one filled up with the largest
 * key. */
static Node *runs_of(Build *b, Node *keys, int64_t each) {
  Dims *d = b->in.g->dims;
  Dim n = row_length(keys), run = build_const(b, each), shape[GRAPH_RANK_MAX + 1];
  Dim runs = dim_floordiv(d, dim_add(d, n, build_const(b, each - 1)), run);
  uint32_t rank = rank_of(keys);
  memcpy(shape, keys->type.shape, rank * sizeof *shape);
  shape[rank - 1] = runs;
  shape[rank] = run;
  Arg pads = arg_list(b->in.g, 2);
  pads.items[0] = build_int(b, 0);
  pads.items[1] = arg_dim(dim_sub(d, dim_mul(d, runs, run), n));
  if (!dim_is(pads.items[1].dim, 0))
    keys = build(b, OP_aten_constant_pad_nd_default,
                 ARGS(arg_node(keys), pads, largest_key(b, keys)));
  return build_view(b, keys, rank + 1, shape);
}

/* The last two axes as one. */
static Node *merge_blocks(Build *b, Node *x) {
  Dim shape[GRAPH_RANK_MAX + 1];
  uint32_t rank = rank_of(x);
  memcpy(shape, x->type.shape, rank * sizeof *shape);
  shape[rank - 2] = dim_mul(b->in.g->dims, shape[rank - 2], shape[rank - 1]);
  return build_view(b, x, rank - 1, shape);
}

static int64_t largest_size(Build *b, Dim n) { return dim_range(b->in.g->dims, n).hi; }

static Node *sort_keys(Build *b, Node *keys) {
  Dim n = row_length(keys);
  int64_t each = sorted_run(b, keys);
  if (largest_size(b, n) <= each && dim_is_int(n)) return sort_key_rows(b, keys);
  Node *x = merge_blocks(b, sort_key_rows(b, runs_of(b, keys, each)));
  int64_t longest = largest_size(b, row_length(x)), end = (int64_t)1 << INDEX_BITS;
  if (longest < end) end = longest;
  for (int64_t run = each; run < end; run *= 2)
    x = build_with(b, OP_nereid_merge_default, x, build_int(b, run));
  return first_of(b, x, n);
}

/* The first k of each row, in order. */
static Node *first_keys(Build *b, Node *keys, Dim k) {
  if (!dim_is_int(k) || !dim_is_int(row_length(keys)) || k->value > run_of(b) / 4)
    return first_of(b, sort_keys(b, keys), k);
  while (row_length(keys)->value > run_of(b))
    keys = merge_blocks(b, first_of(b, sort_key_rows(b, runs_of(b, keys, run_of(b))), k));
  return first_of(b, sort_key_rows(b, keys), k);
}

/* ---- the first of long rows, by groups ---- */

/* Elements of a group, for the least to sort: the first of n / size groups, and k groups.  0: a
 * quarter of the row, or more, would be sorted. */
static int64_t group_size(Dim n, Dim k) {
  if (!k || !dim_is_int(n) || !dim_is_int(k) || n->value < GROUPED_ROW) return 0;
  int64_t size = GROUP_MIN;
  while (size < GROUP_MAX && size * size * k->value * 2 < n->value) size *= 2;
  return k->value * size * 4 <= n->value ? size : 0;
}

/* Rows as groups: [.., groups, size], the last one filled up with the largest key. */
static Node *groups_of(Build *b, Node *keys, int64_t size) {
  Dim n = row_length(keys), shape[GRAPH_RANK_MAX + 1];
  int64_t groups = (n->value + size - 1) / size, rest = groups * size - n->value;
  uint32_t rank = rank_of(keys);
  memcpy(shape, keys->type.shape, rank * sizeof *shape);
  shape[rank - 1] = build_const(b, groups);
  shape[rank] = build_const(b, size);
  Arg pads = arg_list(b->in.g, 2);
  pads.items[0] = build_int(b, 0);
  pads.items[1] = build_int(b, rest);
  if (rest)
    keys = build(b, OP_aten_constant_pad_nd_default,
                 ARGS(arg_node(keys), pads, largest_key(b, keys)));
  return build_view(b, keys, rank + 1, shape);
}

/* The places of the elements of groups, each of which is known by one of its places. */
static Node *places_of_groups(Build *b, Node *place, int64_t size) {
  uint32_t rank = rank_of(place);
  Dim shape[GRAPH_RANK_MAX + 1];
  memcpy(shape, place->type.shape, rank * sizeof *shape);
  shape[rank] = build_const(b, 1);
  Node *first = build_view(b, halves(b, OP_aten_bitwise_and_Tensor, place, -size), rank + 1, shape);
  return merge_blocks(b, build_add(b, first, build_arange(b, build_const(b, size))));
}

/* The keys of the first k elements in the order of `upper` along the last axis. */
static Node *first_keys_by_groups(Build *b, KeyForm form, Node *upper, Dim k, int64_t size) {
  Node *groups = groups_of(b, keys_of(b, form, upper), size);
  Node *first = build_reduce(b, OP_aten_amin_default, groups, 1u << last_of(groups), false);
  Node *place = places_of_groups(b, key_indices(b, form, first_keys(b, first, k)), size);
  int64_t last = row_length(upper)->value - 1;
  Node *at = build_with(b, OP_aten_clamp_max_default, place, build_int(b, last));
  Node *keys = key_of(b, form, gather_along(b, upper, last_of(upper), at), place);
  Node *inside = build_with(b, OP_aten_le_Scalar, place, build_int(b, last));
  keys = build_where(b, inside, arg_node(keys), largest_key(b, keys));
  return first_keys(b, keys, k);
}

/* ---- orders of elements ---- */

Node *decompose_sortable_bits(Build *b, Node *x, bool descending) {
  DType t = x->type.dtype;
  if (dtype_bits(t) < 32 || t == DT_I1) x = build_to(b, x, dtype_is_float(t) ? DT_F32 : DT_I32);
  if (dtype_is_float(x->type.dtype)) x = build_op1(b, OP_nereid_sort_key_default, x);
  return descending ? build_op1(b, OP_aten_bitwise_not_default, x) : x;
}

static bool is_among(Build *b, const Node *x, int64_t lo, int64_t hi) {
  return index_is_inside(b->in.g, x, build_const(b, lo), build_const(b, hi));
}

/* Elements of 64 bits as 32 in the same order, if what is known of them allows that, as of indices:
 * then they are sorted once, not by halves. */
static Node *narrowed(Build *b, Node *x) {
  const int64_t half = (int64_t)1 << 31;
  if (x->type.dtype != DT_I64) return x;
  if (is_among(b, x, -half, half)) return build_to(b, x, DT_I32);
  if (!is_among(b, x, 0, 2 * half)) return x;
  return build_to(b, halves(b, OP_aten_sub_Tensor, x, half), DT_I32);
}

/* Bits of integers in x's order, at most 16; 0: they have more. */
static int short_bits(Build *b, const Node *x) {
  DType t = x->type.dtype;
  if (dtype_is_float(t)) return dtype_bits(t) <= 16 ? 16 : 0;
  if (dtype_bits(t) <= 16) return dtype_bits(t) <= 8 ? 8 : 16;
  return is_among(b, x, INT16_MIN, INT16_MAX + 1) ? 16 : 0;
}

/* Integers of that many bits and of type i32 in x's order; NaN is above all, both zeros are one. */
static Node *short_order(Build *b, Node *x, int bits, bool descending) {
  DType t = x->type.dtype;
  Node *y = x;
  if (dtype_is_float(t)) {
    if (dtype_bits(t) < 16) x = build_to(b, x, DT_BF16);
    y = build(b, OP_nereid_bits_default, ARGS(arg_node(x), arg_dtype(DT_I16)));
    y = build_to(b, y, DT_I32);
    Node *sign = halves(b, OP_aten_bitwise_right_shift_Tensor, y, 15);
    Node *flipped = halves(b, OP_aten_bitwise_and_Tensor, sign, INT16_MAX);
    y = build_op2(b, OP_aten_bitwise_xor_Tensor, y, flipped);
    Node *zero = build_with(b, OP_aten_eq_Scalar, x, build_int(b, 0));
    y = build_where(b, zero, build_int(b, 0), arg_node(y));
    Node *nan = build_op1(b, OP_aten_isnan_default, x);
    y = build_where(b, nan, build_int(b, INT16_MAX), arg_node(y));
  }
  y = build_to(b, y, DT_I32);
  bool lifted = !dtype_is_float(t) && (t == DT_I1 || !dtype_is_signed(t)) && dtype_bits(t) <= 16;
  if (lifted) y = halves(b, OP_aten_sub_Tensor, y, (int64_t)1 << (bits - 1));
  return descending ? build_op1(b, OP_aten_bitwise_not_default, y) : y;
}

/* The length of rows of keys, which fill whole runs and groups. */
static int64_t padded_length(Build *b, const Node *x) {
  int64_t n = largest_size(b, row_length(x)), run = run_of(b);
  return n > INT32_MAX ? n : (n + run - 1) / run * run;
}

static Node *order_by_keys(Build *b, KeyForm form, Node *upper, Dim k) {
  int64_t group = group_size(row_length(upper), k);
  if (group) return key_indices(b, form, first_keys_by_groups(b, form, upper, k, group));
  Node *keys = keys_of(b, form, upper);
  return key_indices(b, form, k ? first_keys(b, keys, k) : sort_keys(b, keys));
}

/* Integers in the order of elements, and the form of keys that have those of at most 32 bits. */
typedef struct {
  Node *upper;
  KeyForm form;
  int bits;
} Order;

static Order order_of(Build *b, Node *x, bool descending) {
  int bits = short_bits(b, x);
  if (bits && padded_length(b, x) <= (int64_t)1 << (32 - bits))
    return (Order){short_order(b, x, bits, descending), {DT_I32, 32 - bits}, bits};
  x = decompose_sortable_bits(b, narrowed(b, x), descending);
  return (Order){x, whole_keys, x->type.dtype == DT_I64 ? 64 : 32};
}

/* ---- selecting ---- */

/* The longest row that a CPU sorts as fast as it selects elements. */
enum { SORTED_BY_HOST = 12 };

/* Does a program have room for a row, and select its elements faster than it sorts them?  `least`
 * is the longest row that a GPU's program sorts as fast. */
static bool row_is_held(const Build *b, const Node *x, int64_t least) {
  Dim n = row_length(x);
  if (b->in.g->host) least = SORTED_BY_HOST;
  return dim_is_int(n) && n->value > least && n->value <= SELECT_ROW_MAX;
}

/* A call of nereid.matrix for each row of x, whose result has `count` elements a row. */
static Node *select_of_rows(Build *b, const char *function, Node *x, Node *rank, int64_t count,
                            Arg sizes) {
  uint32_t last = last_of(x);
  Dim shape[GRAPH_RANK_MAX], rows = infer_product(&b->in, x->type.shape, last);
  memcpy(shape, x->type.shape, last * sizeof *shape);
  shape[last] = build_const(b, count);
  Node *to = build_full(b, 2, (Dim[]){rows, shape[last]}, build_int(b, 0), DT_I32);
  Node *keys = build_view(b, x, 2, (Dim[]){rows, row_length(x)});
  rank = rank ? build_view(b, rank, 2, (Dim[]){rows, build_const(b, 1)}) : keys;
  Arg name = {.kind = ARG_STRING, .name = pool_name(b->in.g->names, function)};
  to = build(b, OP_nereid_matrix_default,
             ARGS(arg_node(to), arg_node(build_arange(b, rows)), arg_node(keys), arg_node(rank),
                  name, sizes));
  return build_view(b, to, last + 1, shape);
}

/* The places of the first k elements, in the order of places, which a search by bits finds. */
static Node *first_places(Build *b, const Order *o, Dim k) {
  Arg sizes = arg_dims(b->in.g, 3, (Dim[]){row_length(o->upper), k, build_const(b, o->bits)});
  Node *place = select_of_rows(b, "first_places", o->upper, NULL, k->value, sizes);
  return build_to(b, place, DT_I64);
}

/* Likewise for long rows, by groups (above).  No keys are needed: the earlier group's of equal
 * first elements comes first.  What fills the last group up has the last places. */
static Node *first_places_by_groups(Build *b, const Order *o, Dim k, int64_t size) {
  Node *groups = groups_of(b, o->upper, size);
  Order first = *o, part = *o;
  first.upper = build_reduce(b, OP_aten_amin_default, groups, 1u << last_of(groups), false);
  Node *at = halves(b, OP_aten_mul_Tensor, first_places(b, &first, k), size);
  at = places_of_groups(b, at, size);
  part.upper = gather_along(b, merge_blocks(b, groups), last_of(o->upper), at);
  return gather_along(b, at, last_of(at), first_places(b, &part, k));
}

/* Only the keys of the first k are sorted, whose places are known. */
static Node *order_of_places(Build *b, const Order *o, Node *place, Dim k) {
  Node *upper = gather_along(b, o->upper, last_of(o->upper), place);
  return key_indices(b, o->form, first_keys(b, key_of(b, o->form, upper, place), k));
}

/* A CPU's program holds the first elements of groups, and the groups of k. */
static bool groups_are_held(const Build *b, const Order *o, Dim k, int64_t size) {
  int64_t n = row_length(o->upper)->value;
  return b->in.g->host && o->bits < 64 && (n + size - 1) / size <= SELECT_ROW_MAX &&
         k->value * size <= SELECT_ROW_MAX;
}

static bool selects(Build *b, const Order *o, Dim k) {
  if (o->bits == 64 || !k || !dim_is_int(k) || !row_is_held(b, o->upper, run_of(b))) return false;
  return 2 * k->value <= row_length(o->upper)->value;
}

/* The first of each row: a reduction of keys. */
static Node *first_index(Build *b, const Order *o) {
  Node *keys = keys_of(b, o->form, o->upper);
  keys = build_reduce(b, OP_aten_amin_default, keys, 1u << last_of(keys), true);
  return key_indices(b, o->form, keys);
}

/* The indices of the first k in order, along the last axis; all for k NULL. */
static Node *order_of_rows(Build *b, Node *x, bool descending, Dim k) {
  Order o = order_of(b, x, descending);
  int64_t group = group_size(row_length(x), k);
  if (k && dim_is(k, 1) && o.bits < 64) return first_index(b, &o);
  if (group && groups_are_held(b, &o, k, group))
    return order_of_places(b, &o, first_places_by_groups(b, &o, k, group), k);
  if (!group && selects(b, &o, k)) return order_of_places(b, &o, first_places(b, &o, k), k);
  if (o.bits < 64) return order_by_keys(b, o.form, o.upper, k);
  x = o.upper;
  /* The lower halves have no sign: they are moved to where signed ones have their order. */
  Node *low = halves(b, OP_aten_bitwise_and_Tensor, x, 0xffffffff);
  low = halves(b, OP_aten_sub_Tensor, low, (int64_t)1 << 31);
  Node *first = key_indices(b, whole_keys, sort_keys(b, keys_of(b, whole_keys, low)));
  Node *high = halves(b, OP_aten_bitwise_right_shift_Tensor, x, 32);
  Node *keys = keys_of(b, whole_keys, gather_along(b, high, last_of(x), first));
  Node *order = key_indices(b, whole_keys, k ? first_keys(b, keys, k) : sort_keys(b, keys));
  return gather_along(b, first, last_of(x), order);
}

/* Sorts along any axis. */
static Node *order_along(Build *b, Node *x, uint32_t axis, bool descending, Dim k) {
  if (!rank_of(x)) return build_full(b, 0, NULL, build_int(b, 0), DT_I64);
  uint32_t last = last_of(x);
  if (dim_is(x->type.shape[axis], 0) || (k && dim_is(k, 0))) {
    Dim shape[GRAPH_RANK_MAX];
    memcpy(shape, x->type.shape, rank_of(x) * sizeof *shape);
    if (k) shape[axis] = k;
    return build_full(b, rank_of(x), shape, build_int(b, 0), DT_I64);
  }
  Node *order = order_of_rows(b, build_transpose(b, x, axis, last), descending, k);
  return build_transpose(b, order, axis, last);
}

static bool descends(Build *b) { return infer_bool(&b->in, "descending"); }

Node *decompose_argsort(Build *b) {
  Node *x = build_self(b);
  uint32_t axis = infer_axis_arg(&b->in, "dim", rank_of(x));
  return order_along(b, x, axis, descends(b), NULL);
}

Node *decompose_sort(Build *b) {
  Node *x = build_self(b);
  uint32_t axis = infer_axis_arg(&b->in, "dim", rank_of(x));
  Node *order = order_along(b, x, axis, descends(b), NULL);
  return build_pair(b, rank_of(x) ? gather_along(b, x, axis, order) : x, order);
}

Node *decompose_msort(Build *b) {
  Node *x = build_self(b);
  return rank_of(x) ? gather_along(b, x, 0, order_along(b, x, 0, false, NULL)) : x;
}

Node *decompose_topk(Build *b) {
  Node *x = build_self(b);
  uint32_t axis = infer_axis_arg(&b->in, "dim", rank_of(x));
  Dim k = infer_size(&b->in, "k");
  Node *order = order_along(b, x, axis, infer_bool(&b->in, "largest"), k);
  return build_pair(b, rank_of(x) ? gather_along(b, x, axis, order) : x, order);
}

/* ---- the largest so far ---- */

static Node *extremes_so_far(Build *b, OpId op) {
  Node *x = build_self(b), *index;
  uint32_t axis = infer_axis_arg(&b->in, "dim", rank_of(x));
  if (rank_of(x)) index = build_with(b, op, x, build_int(b, axis));
  else index = build_full(b, 0, NULL, build_int(b, 0), DT_I64);
  return build_pair(b, rank_of(x) ? gather_along(b, x, axis, index) : x, index);
}

Node *decompose_cummax(Build *b) { return extremes_so_far(b, OP_nereid_cummax_place_default); }
Node *decompose_cummin(Build *b) { return extremes_so_far(b, OP_nereid_cummin_place_default); }

/* ---- one of an order ---- */

/* RANKED_ROW: longer rows are searched by bits, shorter ones sorted. */
enum { RANKED_ROW = 1024 };

/* The index of the element of that rank, from 0, for each row along the axis; NULL: rows are
 * sorted, not searched. */
static Node *index_of_rank(Build *b, Node *x, uint32_t axis, Node *rank) {
  if (!rank_of(x)) return NULL;
  uint32_t last = last_of(x);
  Node *rows = build_transpose(b, x, axis, last);
  if (!row_is_held(b, rows, RANKED_ROW)) return NULL;
  Order o = order_of(b, rows, false);
  if (o.bits == 64) return NULL;
  rank = build_transpose(b, build_add_dim(b, rank, build_const(b, 1)), axis, last);
  Arg sizes = arg_dims(b->in.g, 2, (Dim[]){row_length(rows), build_const(b, o.bits)});
  Node *place = select_of_rows(b, "place_of_rank", o.upper, rank, 1, sizes);
  return build_transpose(b, build_to(b, place, DT_I64), axis, last);
}

/* A number for each row along the axis. */
static Node *number_of_rows(Build *b, const Node *x, uint32_t axis, Dim number) {
  Dim shape[GRAPH_RANK_MAX];
  memcpy(shape, x->type.shape, rank_of(x) * sizeof *shape);
  if (rank_of(x)) shape[axis] = build_const(b, 1);
  return build_full(b, rank_of(x), shape, arg_dim(number), DT_I64);
}

/* The index of the element of that rank of each row. */
static Node *ranked(Build *b, Node *x, uint32_t axis, Node *rank) {
  Node *index = index_of_rank(b, x, axis, rank);
  return index ? index : gather_along(b, order_along(b, x, axis, false, NULL), axis, rank);
}

/* The element at `index` (of one element along the axis) of x, and the index; without the axis
 * unless keepdim. */
static void set_chosen(Build *b, Node *x, uint32_t axis, Node *index) {
  Node *value = rank_of(x) ? gather_along(b, x, axis, index) : x;
  const ValueType *t = b->in.n->type.items;
  value = build_view(b, value, t[0].rank, t[0].shape);
  build_pair(b, value, build_view(b, index, t[1].rank, t[1].shape));
}

Node *decompose_kthvalue(Build *b) {
  Node *x = build_self(b), *index = NULL;
  uint32_t axis = infer_axis_arg(&b->in, "dim", rank_of(x));
  Dim k = infer_size(&b->in, "k"), one = build_const(b, 1), rank = dim_sub(b->in.g->dims, k, one);
  bool few = rank_of(x) && group_size(x->type.shape[axis], k);
  if (!few) index = index_of_rank(b, x, axis, number_of_rows(b, x, axis, rank));
  if (!index) {
    index = order_along(b, x, axis, false, k);
    if (rank_of(x)) index = build_slice(b, index, axis, rank, k, 1);
  }
  set_chosen(b, x, axis, index);
  return NULL;
}

/* The lower of two in the middle; of rows with NaN the first NaN, or with `skip_nan` the median of
 * the other elements. */
static Node *median_index(Build *b, Node *x, uint32_t axis, bool skip_nan) {
  if (!rank_of(x)) return order_along(b, x, axis, false, NULL);
  Dim n = x->type.shape[axis], one = build_const(b, 1);
  Dim middle = dim_floordiv(b->in.g->dims, dim_sub(b->in.g->dims, n, one), build_const(b, 2));
  if (!dtype_is_float(x->type.dtype))
    return ranked(b, x, axis, number_of_rows(b, x, axis, middle));
  Node *nan = build_to(b, build_op1(b, OP_aten_isnan_default, x), DT_I64);
  Node *left =
      build(b, OP_aten_sub_Tensor, ARGS(arg_dim(n), arg_node(build_sum(b, nan, 1u << axis, true))));
  if (skip_nan) {
    left = build_with(b, OP_aten_clamp_default, left, build_int(b, 1));
    left = halves(b, OP_aten_bitwise_right_shift_Tensor, halves(b, OP_aten_sub_Tensor, left, 1), 1);
    return ranked(b, x, axis, left);
  }
  Node *whole = build_with(b, OP_aten_eq_Tensor, left, arg_dim(n));
  return ranked(b, x, axis, build_where(b, whole, arg_dim(middle), arg_node(left)));
}

static Node *median(Build *b, bool skip_nan) {
  Node *x = build_self(b);
  if (infer_takes(&b->in, "dim")) {
    uint32_t axis = infer_axis_arg(&b->in, "dim", rank_of(x));
    set_chosen(b, x, axis, median_index(b, x, axis, skip_nan));
    return NULL;
  }
  Dim all = value_numel(b->in.g, &x->type);
  x = build_view(b, x, 1, &all);
  return build_view(b, gather_along(b, x, 0, median_index(b, x, 0, skip_nan)), 0, NULL);
}

Node *decompose_median(Build *b) { return median(b, false); }
Node *decompose_nanmedian(Build *b) { return median(b, true); }

/* ---- what is met most often ---- */

/* True where an element along the axis is another than the one before it. */
static Node *starts_of_runs(Build *b, Node *sorted, uint32_t axis) {
  Dim shape[GRAPH_RANK_MAX], one = build_const(b, 1), zero = build_const(b, 0);
  Dim n = sorted->type.shape[axis];
  memcpy(shape, sorted->type.shape, rank_of(sorted) * sizeof *shape);
  shape[axis] = one;
  Node *next = build_slice(b, sorted, axis, one, n, 1);
  Node *last = build_slice(b, sorted, axis, zero, dim_sub(b->in.g->dims, n, one), 1);
  Node *parts[] = {build_full(b, rank_of(sorted), shape, arg_bool(true), DT_I1),
                   build_op2(b, OP_aten_ne_Tensor, next, last)};
  return build_cat(b, 2, parts, axis);
}

/* Equal elements are neighbours after sorting: the mode is at the end of the first of the longest
 * such runs, where the smallest of those values is met last. */
Node *decompose_mode(Build *b) {
  Node *x = build_self(b);
  uint32_t axis = infer_axis_arg(&b->in, "dim", rank_of(x));
  Node *order = order_along(b, x, axis, false, NULL);
  if (rank_of(x)) {
    Node *first = starts_of_runs(b, gather_along(b, x, axis, order), axis);
    Node *at = build_along(b, build_arange(b, x->type.shape[axis]), axis, rank_of(x));
    Node *start = build_where(b, first, arg_node(at), build_int(b, 0));
    start = build_item(b, build_with(b, OP_aten_cummax_default, start, build_int(b, axis)), 0);
    Arg args[] = {arg_node(build_sub(b, at, start)), build_int(b, axis), arg_bool(true)};
    order = gather_along(b, order, axis, build(b, OP_aten_argmax_default, 3, args));
  }
  set_chosen(b, x, axis, order);
  return NULL;
}

/* ---- searchsorted, bucketize ---- */

static bool is_right(Build *b) {
  if (infer_takes(&b->in, "side") && infer_has(&b->in, "side"))
    return !strcmp(infer_string(&b->in, "side"), "right");
  return infer_bool(&b->in, "right");
}

/* A number becomes a tensor of one element. */
static Node *search_values(Build *b) {
  Arg value = build_arg(b, "self");
  Operand x = infer_operand(&b->in, "self");
  return x.number ? build_full(b, 0, NULL, value, x.dtype) : value.node;
}

static Node *build_search(Build *b, Node *sequence) {
  Node *x = search_values(b);
  Operand both[] = {infer_tensor_operand(&sequence->type), infer_tensor_operand(&x->type)};
  DType t = infer_promote(&b->in, both, 2);
  sequence = build_to(b, sequence, t);
  Arg args[] = {arg_node(sequence), arg_node(build_to(b, x, t)), arg_bool(is_right(b))};
  return build_to(b, build(b, OP_nereid_search_default, 3, args), b->in.n->type.dtype);
}

Node *decompose_searchsorted(Build *b) {
  Node *sequence = build_input(b, "sorted_sequence"), *sorter = build_input(b, "sorter");
  if (sorter) {
    Arg last = build_int(b, rank_of(sequence) - 1);
    sequence = build(b, OP_aten_gather_default, ARGS(arg_node(sequence), last, arg_node(sorter)));
  }
  return build_search(b, sequence);
}

Node *decompose_bucketize(Build *b) { return build_search(b, build_input(b, "boundaries")); }

/* ---- bins ---- */

/* Both ends of the bins: given, or if they are equal those of the data, a little apart. */
static void ends_of(Build *b, Node *x, Node **low, Node **high) {
  DType t = x->type.dtype;
  double lo = infer_number(&b->in, "min"), hi = infer_number(&b->in, "max");
  *low = build_full(b, 0, NULL, arg_float(lo), t);
  *high = build_full(b, 0, NULL, arg_float(hi), t);
  if (lo != hi || scatter_empty(b, x)) return;
  *low = build_reduce(b, OP_aten_amin_default, x, 1, false);
  *high = build_reduce(b, OP_aten_amax_default, x, 1, false);
  Node *same = build_op2(b, OP_aten_eq_Tensor, *low, *high);
  same = build_to(b, same, t);
  *low = build_sub(b, *low, same);
  *high = build_add(b, *high, same);
}

/* The last bin has both of its ends; what is in none is not counted. */
Node *decompose_histc(Build *b) {
  Node *x = build_flat(b, build_input(b, "self")), *low, *high;
  x = build_widen(b, x);
  DType t = x->type.dtype;
  Dim bins = infer_size(&b->in, "bins");
  ends_of(b, x, &low, &high);
  Node *none = build_full(b, 1, &bins, build_int(b, 0), DT_I32);
  Node *index = build_with(b, OP_aten_mul_Tensor, build_sub(b, x, low), arg_dim(bins));
  index = build_op1(b, OP_aten_floor_default, build_div(b, index, build_sub(b, high, low)));
  Dim last = dim_sub(b->in.g->dims, bins, build_const(b, 1));
  index = build_with(b, OP_aten_clamp_max_default, index, arg_dim(last));
  Node *in = build_op2(b, OP_aten_logical_and_default, build_op2(b, OP_aten_ge_Tensor, x, low),
                       build_op2(b, OP_aten_le_Tensor, x, high));
  Node *outside = build_full(b, 0, NULL, build_int(b, -1), t);
  index = build_to(b, build_where(b, in, arg_node(index), arg_node(outside)), DT_I64);
  Node *one = build_full(b, 0, NULL, build_int(b, 1), DT_I32);
  return build_to(b, scatter_add_up(b, none, index, one), b->in.n->type.dtype);
}

/* ---- distances of all pairs of rows, the first before the second ---- */

Node *decompose_pdist(Build *b) {
  Node *x = build_input(b, "self");
  Dim rows = x->type.shape[0], shape[] = {rows, rows};
  if (!dim_is_int(rows)) return NULL;
  Node *row = build_along(b, build_arange(b, rows), 0, 2), *column = build_arange(b, rows);
  Node *upper =
      build_flat(b, build_expand(b, build_op2(b, OP_aten_lt_Tensor, row, column), 2, shape));
  Node *all = build(b, OP_aten_cdist_default,
                    ARGS(arg_node(x), arg_node(x), arg_float(infer_number(&b->in, "p"))));
  /* The n-th that is wanted goes to index n, as far as there are so many. */
  Dim count = b->in.n->type.shape[0];
  if (dim_is(count, 0)) return build_full(b, 1, &count, build_int(b, 0), x->type.dtype);
  Node *index = build_where(b, upper, arg_node(build_mask_number(b, upper)), build_int(b, -1));
  Node *none = build_full(b, 1, &count, build_int(b, 0), x->type.dtype);
  return scatter_take(b, none, scatter_writers(b, count, index), build_flat(b, all));
}
