/* Ways through tables: DynamicTimeWarping, and BifurcationDetector, which compares tokens that a
 * decoder has guessed at once. */
#include <math.h>

#include "import/messages.h"
#include "import/onnx/ops/onnx_shared.h"

static Node *with_int(Build *b, OpId op, Node *x, int64_t y) {
  return build_with(b, op, x, build_int(b, y));
}

static Node *plus(Build *b, Node *x, int64_t y) { return with_int(b, OP_aten_add_Tensor, x, y); }

static Node *number(Build *b, int64_t v) { return build_full(b, 0, NULL, build_int(b, v), DT_I64); }

static Node *dim_number(Build *b, Dim v) { return build_full(b, 0, NULL, arg_dim(v), DT_I64); }

static Node *chosen(Build *b, Node *x, Node *index) {
  return build(b, OP_aten_index_select_default,
               ARGS(arg_node(x), build_int(b, 0), arg_node(index)));
}

/* The numbers below a count that data decides, of at most `most`. */
static Node *numbers_below(Build *b, Node *count, Dim most) {
  Node *is = build_op2(b, OP_aten_lt_Tensor, build_arange(b, most), count);
  return build_select(b, build_op1(b, OP_aten_nonzero_default, is), 1, build_const(b, 0));
}

/* ---- DynamicTimeWarping ---- */

/* Costs of ways are computed diagonal by diagonal: place i of diagonal d is the field (i, d - i),
 * counted from 1; the fields before the first ones cost infinitely much, but (0, 0). */
typedef struct {
  Build *b;
  Node *cost; /* of fields, in one axis */
  Dim rows, columns, places, turns;
} Warping;

enum { DIAGONAL, BEFORE, LAST, STEPS, WARPED };

/* x[i - 1] at i, infinity at 0. */
static Node *moved(const Warping *w, Node *x) {
  Build *b = w->b;
  Dim one = build_const(b, 1);
  Node *first = build_full(b, 1, &one, arg_float(INFINITY), DT_F32);
  Node *rest = build_slice(b, x, 0, build_const(b, 0), w->rows, 1);
  return build_cat(b, 2, (Node *[]){first, rest}, 0);
}

/* The costs of a diagonal; *step: 0 from the field before both, 1 from the row before, 2. */
static Node *diagonal(const Warping *w, Node *d, Node *before, Node *last, Node **step) {
  Build *b = w->b;
  Node *row = build_arange(b, w->places), *column = build_sub(b, d, row);
  Node *both = moved(w, before), *up = moved(w, last), *left = last;
  Node *is_both = build_and(b, build_op2(b, OP_aten_lt_Tensor, both, up),
                            build_op2(b, OP_aten_lt_Tensor, both, left));
  Node *is_up = build_and(b, build_op2(b, OP_aten_lt_Tensor, up, both),
                          build_op2(b, OP_aten_lt_Tensor, up, left));
  Node *least = build_where(b, is_up, arg_node(up), arg_node(left));
  least = build_where(b, is_both, arg_node(both), arg_node(least));
  *step = build_where(b, is_up, build_int(b, 1), build_int(b, 2));
  *step = build_where(b, is_both, build_int(b, 0), arg_node(*step));
  *step = build_to(b, *step, DT_I64);
  Node *in = build_and(b, with_int(b, OP_aten_ge_Scalar, row, 1),
                       with_int(b, OP_aten_ge_Scalar, column, 1));
  in = build_and(b, in, build_with(b, OP_aten_le_Scalar, column, arg_dim(w->columns)));
  Node *at = build_add(b, build_mul_dim(b, plus(b, row, -1), w->columns), plus(b, column, -1));
  at = build_where(b, in, arg_node(at), build_int(b, 0));
  Node *sum = build_add(b, least, chosen(b, w->cost, at));
  return build_where(b, in, arg_node(sum), arg_float(INFINITY));
}

/* The step to each field, [diagonals, places], in one axis. */
static Node *steps_of(OnnxCall *c, const Warping *w) {
  Build *b = w->b;
  OnnxLoop l = onnx_loop_new(c, WARPED);
  Node *first = with_int(b, OP_aten_eq_Scalar, build_arange(b, w->places), 0);
  Node *none = build_full(b, 1, &w->places, arg_float(INFINITY), DT_F32);
  Dim all[] = {w->turns, w->places};
  l.carried[DIAGONAL] = number(b, 2);
  l.carried[BEFORE] = build_where(b, first, arg_float(0), arg_node(none));
  l.carried[LAST] = none;
  l.carried[STEPS] = build_full(b, 2, all, build_int(b, 0), DT_I64);
  for (int i = 0; i < WARPED; i++) l.carried[i] = onnx_carried(c, l.carried[i]);
  Node *d = l.carried[DIAGONAL], *step;
  Dim end = dim_add(build_dims(b), w->turns, build_const(b, 2));
  Node *test = onnx_loop_test(c, build_with(b, OP_aten_lt_Scalar, d, arg_dim(end)));
  l.next[LAST] = diagonal(w, d, l.carried[BEFORE], l.carried[LAST], &step);
  l.next[BEFORE] = l.carried[LAST];
  Node *is = build_op2(b, OP_aten_eq_Tensor, build_arange(b, w->turns), plus(b, d, -2));
  l.next[STEPS] = build_where(b, build_unsqueeze(b, is, 1), arg_node(build_unsqueeze(b, step, 0)),
                              arg_node(l.carried[STEPS]));
  l.next[DIAGONAL] = plus(b, d, 1);
  onnx_loop_end(c, test, &l);
  return build_flat(b, l.carried[STEPS]);
}

enum { ROW, COLUMN, COUNT, PATH, TRACED };

/* The fields of the best way from its end, [turns, 2], and how many there are. */
static Node *path_of(OnnxCall *c, const Warping *w, Node *steps, Node **count) {
  Build *b = w->b;
  OnnxLoop l = onnx_loop_new(c, TRACED);
  Dim all[] = {w->turns, build_const(b, 2)};
  l.carried[ROW] = dim_number(b, w->rows);
  l.carried[COLUMN] = dim_number(b, w->columns);
  l.carried[COUNT] = number(b, 0);
  l.carried[PATH] = build_full(b, 2, all, build_int(b, 0), DT_I64);
  for (int i = 0; i < TRACED; i++) l.carried[i] = onnx_carried(c, l.carried[i]);
  Node *row = l.carried[ROW], *column = l.carried[COLUMN];
  Node *test = onnx_loop_test(c, build_and(b, with_int(b, OP_aten_gt_Scalar, row, 0),
                                           with_int(b, OP_aten_gt_Scalar, column, 0)));
  Node *turn = plus(b, build_add(b, row, column), -2);
  Node *at = build_add(b, build_mul_dim(b, turn, w->places), row);
  Node *step = build_view(b, chosen(b, steps, build_unsqueeze(b, at, 0)), 0, NULL);
  Node *field = build_cat(b, 2, (Node *[]){build_unsqueeze(b, row, 0),
                                           build_unsqueeze(b, column, 0)}, 0);
  Node *is = build_op2(b, OP_aten_eq_Tensor, build_arange(b, w->turns), l.carried[COUNT]);
  l.next[PATH] = build_where(b, build_unsqueeze(b, is, 1), arg_node(plus(b, field, -1)),
                             arg_node(l.carried[PATH]));
  Node *up = build_to(b, with_int(b, OP_aten_ne_Scalar, step, 2), DT_I64);
  Node *left = build_to(b, with_int(b, OP_aten_ne_Scalar, step, 1), DT_I64);
  l.next[ROW] = build_sub(b, row, up);
  l.next[COLUMN] = build_sub(b, column, left);
  l.next[COUNT] = plus(b, l.carried[COUNT], 1);
  onnx_loop_end(c, test, &l);
  *count = l.carried[COUNT];
  return l.carried[PATH];
}

void onnx_op_time_warping(OnnxCall *c) {
  Build *b = &c->b;
  Node *x = onnx_in(c, 0), *count;
  infer_rank(&b->in, &x->type, 2, 3);
  if (rank_of(x) == 3 && !dim_is(x->type.shape[0], 1)) onnx_lack(c, "several matrices");
  Dim rows = size_from_end(x, 2), columns = size_from_end(x, 1), one = build_const(b, 1);
  Dims *d = onnx_dims(c);
  Warping w = {b, build_flat(b, x), rows, columns, dim_add(d, rows, one),
               dim_sub(d, dim_add(d, rows, columns), one)};
  Node *path = path_of(c, &w, steps_of(c, &w), &count);
  Node *back = build_sub(b, plus(b, count, -1), numbers_below(b, count, w.turns));
  Node *y = build_transpose(b, chosen(b, path, back), 0, 1);
  onnx_set(c, 0, build_to(b, y, DT_I32));
}

/* ---- BifurcationDetector ---- */

enum { SOURCE, CURRENT, MATCHED, GUESSED };

/* How many guessed tokens are taken: those as the source has them after its matched ones, and the
 * first that differs. */
static Node *taken(OnnxCall *c, Node *source, Node *guessed) {
  Build *b = &c->b;
  Dim n = source->type.shape[0], m = guessed->type.shape[0];
  Node *from = build_view(b, onnx_in(c, MATCHED), 0, NULL), *i = build_arange(b, m);
  Node *at = build_add(b, i, from);
  Node *in = build_with(b, OP_aten_lt_Scalar, at, arg_dim(n));
  Node *bad = build_op2(b, OP_aten_ne_Tensor, build_add(b, from, dim_number(b, m)),
                        build_add_dim(b, number(b, 1), n));
  build_check_data(b, bad, "pred_tokens is not as long as the rest of src_tokens and one token",
                   c->stand.name);
  at = build_where(b, in, arg_node(at), build_int(b, 0));
  Node *same = build_op2(b, OP_aten_eq_Tensor, chosen(b, source, at), guessed);
  Node *ends = build_op1(b, OP_aten_logical_not_default, build_and(b, in, same));
  Node *first = build_where(b, ends, arg_node(i), arg_dim(m));
  return plus(b, build_reduce(b, OP_aten_amin_default, first, 1, false), 1);
}

/* The place in the source after the last tokens, of which as few are taken as are there once. */
static Node *matched(OnnxCall *c, Node *source, Node *tokens, Node *count) {
  enum { GRAMS_MAX = 64 };
  Build *b = &c->b;
  int64_t least = onnx_int(c, "min_ngram_size", 1), most = onnx_int(c, "max_ngram_size", 3);
  if (least < 1 || most < least || most > GRAMS_MAX)
    onnx_lack(c, "n-grams of %lld to %lld tokens", (long long)least, (long long)most);
  Node *end = build_arange(b, source->type.shape[0]), *is = NULL;
  Node *found = number(b, -1), *done = build_full(b, 0, NULL, arg_bool(false), DT_I1);
  for (int64_t i = 0; i < most; i++) {
    Node *last = plus(b, count, -1 - i), *at = plus(b, end, -i), *zero = number(b, 0);
    Node *there = build_and(b, with_int(b, OP_aten_ge_Scalar, last, 0),
                            with_int(b, OP_aten_ge_Scalar, at, 0));
    last = build_unsqueeze(b, build_op2(b, OP_aten_maximum_default, last, zero), 0);
    at = build_op2(b, OP_aten_maximum_default, at, zero);
    Node *same = build_op2(b, OP_aten_eq_Tensor, chosen(b, source, at), chosen(b, tokens, last));
    is = build_and(b, is, build_and(b, there, same));
    if (i + 1 < least) continue;
    Node *times = build_sum(b, build_to(b, is, DT_I64), 1, false);
    Node *after = build_where(b, is, arg_node(plus(b, end, 1)), build_int(b, 0));
    Node *once = with_int(b, OP_aten_eq_Scalar, times, 1);
    Node *now = build_and(b, once, build_op1(b, OP_aten_logical_not_default, done));
    found = build_where(b, now, arg_node(build_sum(b, after, 1, false)), arg_node(found));
    done = build_op2(b, OP_aten_logical_or_default, done, once);
  }
  return found;
}

void onnx_op_bifurcation(OnnxCall *c) {
  Build *b = &c->b;
  Node *source = onnx_in(c, SOURCE), *current = onnx_in(c, CURRENT), *tokens = current;
  for (uint32_t i = SOURCE; i <= GUESSED; i++)
    if (i != MATCHED && onnx_has(c, i)) infer_rank(&b->in, onnx_type(c, i), 1, 1);
  Node *count = dim_number(b, current->type.shape[0]);
  if (onnx_has(c, GUESSED)) {
    Node *guessed = onnx_in(c, GUESSED), *n = taken(c, source, guessed);
    tokens = build_cat(b, 2, (Node *[]){current, guessed}, 0);
    count = build_add(b, count, n);
    Node *some = chosen(b, guessed, numbers_below(b, n, guessed->type.shape[0]));
    onnx_set(c, 0, build_cat(b, 2, (Node *[]){current, some}, 0));
  } else {
    onnx_set(c, 0, current);
  }
  if (!onnx_wants(c, 1)) return;
  const ValueType *before = onnx_type(c, MATCHED); /* a number, or a list of one */
  onnx_set(c, 1, build_view(b, matched(c, source, tokens, count), before->rank, before->shape));
}
