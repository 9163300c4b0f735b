/* Expansion of the loss of connectionist temporal classification: the sum over all alignments of a
 * target to the steps, by the forward recurrence over the target with blanks between its labels. */
#include <math.h>

#include "graph/expand/arithmetic.h"
#include "graph/messages.h"

enum { CTC_STEPS_MAX = 1024 };

typedef struct {
  Build *b;
  Node *scores;  /* [T, N, 2S + 1]: of the labels of the target, with blanks */
  Node *skips;   /* [N, 2S + 1]: may the blank before a label be left out? */
  Node *steps;   /* [N, 1] */
  Node *lengths; /* [N] of targets */
  Node *never;   /* -inf */
} Ctc;

/* A list of integers, or a tensor of them. */
static Node *lengths_of(Build *b, const char *param, Dim batch) {
  Arg a = build_arg(b, param);
  Node *x = NULL;
  if (a.kind == ARG_NODE && a.node->type.kind == VALUE_TENSOR) {
    x = build_flat(b, build_to(b, a.node, DT_I64));
  } else {
    Dim sizes[1] = {build_const(b, 1)};
    Node **each = ARENA_ARRAY(b->in.g->arena, Node *, a.n + 1);
    if (!a.n) infer_fail(&b->in, E_GRAPH_EMPTY_LIST);
    for (uint32_t i = 0; i < a.n; i++)
      each[i] = build_full(b, 1, sizes, arg_dim(infer_dim_of(&b->in, &a.items[i])), DT_I64);
    x = build_cat(b, a.n, each, 0);
  }
  infer_same_size(&b->in, x->type.shape[0], batch, "the batch and its lengths");
  return x;
}

/* Targets [N, S]; of labels one after the other each target begins where the last one ends. */
static Node *padded_targets(Build *b, Node *targets, Node *lengths) {
  if (rank_of(targets) == 2) return targets;
  infer_rank(&b->in, &targets->type, 1, 1);
  Dim all = targets->type.shape[0], last = dim_sub(build_dims(b), all, build_const(b, 1));
  Node *ends = build(b, OP_aten_cumsum_default, ARGS(arg_node(lengths), build_int(b, 0)));
  Node *first = build_unsqueeze(b, build_sub(b, ends, lengths), 1);
  Node *at = build_add(b, first, build_arange(b, all));
  at = build(b, OP_aten_clamp_default, ARGS(arg_node(at), build_int(b, 0), arg_dim(last)));
  Node *flat = build(b, OP_aten_index_select_default,
                     ARGS(arg_node(targets), build_int(b, 0), arg_node(build_flat(b, at))));
  return build_view(b, flat, 2, at->type.shape);
}

/* [N, 2S + 1]: a blank before and after each label; labels after the target's end are blanks. */
static Node *with_blanks(Build *b, Node *targets, Node *lengths) {
  Dim batch = targets->type.shape[0], count = targets->type.shape[1], one = build_const(b, 1);
  Dim row[] = {batch, count, one}, flat[] = {batch, dim_add(build_dims(b), count, count)};
  Dim end[] = {batch, one};
  Arg blank = build_arg(b, "blank");
  Node *within = build_op2(b, OP_aten_lt_Tensor, build_arange(b, count),
                           build_unsqueeze(b, lengths, 1));
  Node *none = build_full(b, 0, NULL, blank, DT_I64);
  targets = choose(b, within, build_to(b, targets, DT_I64), none);
  Node *blanks = build_full(b, 3, row, blank, DT_I64);
  Node *pairs = build_cat(b, 2, (Node *[]){blanks, build_unsqueeze(b, targets, 2)}, 2);
  pairs = build_view(b, pairs, 2, flat);
  return build_cat(b, 2, (Node *[]){pairs, build_full(b, 2, end, blank, DT_I64)}, 1);
}

/* x[N, L] with `by` columns of `value` before it, and as many fewer at its end. */
static Node *shifted(Build *b, Node *x, int64_t by, Node *value) {
  Dim shape[] = {x->type.shape[0], build_const(b, by)}, zero = build_const(b, 0);
  Dim end = dim_sub(build_dims(b), x->type.shape[1], shape[1]);
  Node *before = build_expand(b, value, 2, shape);
  return build_cat(b, 2, (Node *[]){before, build_slice(b, x, 1, zero, end, 1)}, 1);
}

/* The logarithm of a sum of exponentials, -inf if all are. */
static Node *log_sum(const Ctc *c, Node *const *x, uint32_t n) {
  Build *b = c->b;
  Node *most = x[0], *sum = NULL;
  for (uint32_t i = 1; i < n; i++) most = build_op2(b, OP_aten_maximum_default, most, x[i]);
  Node *none = build_op2(b, OP_aten_eq_Tensor, most, c->never);
  Node *base = choose(b, none, zeros(b, 0, NULL, most->type.dtype), most);
  for (uint32_t i = 0; i < n; i++) {
    Node *part = build_op1(b, OP_aten_exp_default, build_sub(b, x[i], base));
    sum = sum ? build_add(b, sum, part) : part;
  }
  return build_add(b, build_op1(b, OP_aten_log_default, sum), base);
}

static Node *step(const Ctc *c, Node *alpha, int64_t t) {
  Build *b = c->b;
  Node *parts[3] = {alpha, shifted(b, alpha, 1, c->never), NULL};
  uint32_t n = 2;
  if (c->skips) parts[n++] = choose(b, c->skips, shifted(b, alpha, 2, c->never), c->never);
  Node *score = build_select(b, c->scores, 0, build_const(b, t));
  Node *next = build_add(b, log_sum(c, parts, n), score);
  Node *runs = build_with(b, OP_aten_gt_Scalar, c->steps, build_int(b, t));
  return choose(b, runs, next, alpha);
}

/* The log likelihood [N]: paths that end with the last label, or with the blank after it. */
static Node *likelihood(const Ctc *c, Node *alpha) {
  Build *b = c->b;
  Node *end = build_unsqueeze(b, build_with(b, OP_aten_mul_Tensor, c->lengths, build_int(b, 2)), 1);
  Node *column = build_arange(b, alpha->type.shape[1]);
  Node *last[2];
  for (int i = 0; i < 2; i++) {
    Node *is = build_op2(b, OP_aten_eq_Tensor, column, plus_int(b, end, -i));
    last[i] = build_reduce(b, OP_aten_amax_default, choose(b, is, alpha, c->never), 1u << 1, false);
  }
  return log_sum(c, last, 2);
}

static Ctc ctc_of(Build *b, Node *x, Node *targets) {
  Ctc c = {.b = b};
  Dim batch = x->type.shape[1];
  DType t = x->type.dtype;
  c.lengths = lengths_of(b, "target_lengths", batch);
  c.steps = build_unsqueeze(b, lengths_of(b, "input_lengths", batch), 1);
  c.never = build_full(b, 0, NULL, arg_float(-INFINITY), t);
  Node *labels = with_blanks(b, padded_targets(b, targets, c.lengths), c.lengths);
  infer_same_size(&b->in, labels->type.shape[0], batch, "the batches");
  Dim all[] = {x->type.shape[0], batch, labels->type.shape[1]};
  Node *index = build_expand(b, build_unsqueeze(b, labels, 0), 3, all);
  c.scores = build(b, OP_aten_gather_default,
                   ARGS(arg_node(x), build_int(b, 2), arg_node(index)));
  if (dim_is(labels->type.shape[1], 1)) return c;
  Node *blank = build_full(b, 0, NULL, build_arg(b, "blank"), DT_I64);
  c.skips = build_and(b, build_op2(b, OP_aten_ne_Tensor, labels, blank),
                      build_op2(b, OP_aten_ne_Tensor, labels, shifted(b, labels, 2, blank)));
  return c;
}

static Node *reduced_loss(Build *b, Node *loss, Node *lengths) {
  int64_t reduction = infer_int(&b->in, "reduction");
  if (infer_bool(&b->in, "zero_infinity"))
    loss = masked(b, compared(b, OP_aten_ne_Scalar, loss, INFINITY), loss);
  if (reduction == 1) {
    Node *labels = build_with(b, OP_aten_clamp_min_default, lengths, build_int(b, 1));
    return build_mean(b, build_div(b, loss, build_to(b, labels, loss->type.dtype)), 1, false);
  }
  return reduction == 2 ? build_sum(b, loss, 1, false) : loss;
}

Node *expand_ctc_loss(Build *b) {
  Node *x = build_input(b, "log_probs"), *targets = build_input(b, "targets");
  infer_rank(&b->in, &x->type, 2, 3);
  infer_need_float(&b->in, x->type.dtype);
  bool single = rank_of(x) == 2;
  if (single) x = build_unsqueeze(b, x, 1);
  if (single && rank_of(targets) == 1) targets = build_unsqueeze(b, targets, 0);
  Dim steps = x->type.shape[0], zero = build_const(b, 0), batch = x->type.shape[1];
  if (!dim_is_int(steps)) infer_fail(&b->in, E_GRAPH_FIXED, 0, infer_type_text(&b->in, &x->type));
  if (steps->value > CTC_STEPS_MAX)
    infer_fail(&b->in, E_GRAPH_PARTS, (long long)steps->value, (int)CTC_STEPS_MAX);
  Ctc c = ctc_of(b, x, targets);
  Node *column = build_arange(b, c.scores->type.shape[2]);
  Node *first = build_with(b, OP_aten_eq_Scalar, column, arg_dim(zero));
  Node *alpha = choose(b, first, zeros(b, 0, NULL, x->type.dtype), c.never);
  alpha = build_expand(b, alpha, 2, (Dim[]){batch, c.scores->type.shape[2]});
  for (int64_t t = 0; t < steps->value; t++) alpha = step(&c, alpha, t);
  Node *loss = build_op1(b, OP_aten_neg_default, likelihood(&c, alpha));
  loss = reduced_loss(b, loss, c.lengths);
  return single && rank_of(loss) ? build_squeeze(b, loss, 1) : loss;
}
