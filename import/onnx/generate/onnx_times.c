/* Whisper's rules for tokens of times, a logits_processor of WhisperBeamSearch: such tokens, the
 * largest ones, come in pairs but for the first one, do not decrease, and are chosen where they are
 * together more probable than any other token. */
#include <math.h>

#include "import/messages.h"
#include "import/onnx/generate/onnx_generate.h"

enum { FIRST_MOST = 50 /* how much later than the first token the first one may be */ };

typedef struct {
  int64_t begin; /* the first token of times */
  Node *tokens;  /* their numbers, [tokens] */
  Node *times;   /* which of the sequence are, [rows, length] */
  Node *last;    /* is the last token one? [rows, 1] */
  Node *later;   /* is one before it? */
  Node *paired;  /* is the token before the last one too, or the last one the first? */
} Times;

static Node *with_int(Build *b, OpId op, Node *x, int64_t y) {
  return build_with(b, op, x, build_int(b, y));
}

static Node *without(Build *b, Node *scores, Node *tokens) {
  return build_where(b, tokens, arg_float(-dtype_largest_finite(DT_F32)), arg_node(scores));
}

static Node *any_of(Build *b, Node *x) {
  Node *n = build_sum(b, build_to(b, x, DT_I64), 1u << 1, true);
  return with_int(b, OP_aten_gt_Scalar, n, 0);
}

static Node *columns(Build *b, Node *x, int64_t from, int64_t to) {
  return build_slice(b, x, 1, build_const(b, from), build_const(b, to), 1);
}

static Times times_of(Search *s, Dim tokens) {
  Build *b = &s->c->b;
  int64_t n = s->sequence->type.shape[1]->value;
  Times t = {.begin = onnx_int(s->c, "beginning_timestamp_token_id", -1)};
  if (t.begin < 0) onnx_fail(s->c, E_ONNX_ATTR_MISSING, "beginning_timestamp_token_id");
  t.tokens = build_arange(b, tokens);
  t.times = with_int(b, OP_aten_ge_Scalar, s->sequence, t.begin);
  t.last = columns(b, t.times, n - 1, n);
  t.later = any_of(b, columns(b, t.times, 0, n - 1));
  t.paired = build_op1(b, OP_aten_logical_not_default, t.later);
  if (n > 1)
    t.paired =
        build_op2(b, OP_aten_logical_or_default, t.paired, columns(b, t.times, n - 2, n - 1));
  return t;
}

/* Scores without a token, if the file has it, where that holds, NULL: everywhere. */
static Node *without_one(Search *s, const Times *t, Node *scores, const char *name, Node *where) {
  Build *b = &s->c->b;
  int64_t token = onnx_int(s->c, name, -1);
  if (token < 0) return scores;
  Node *is = with_int(b, OP_aten_eq_Scalar, t->tokens, token);
  return without(b, scores, where ? build_and(b, is, where) : is);
}

/* The least token of times that may follow, [rows, 1]: the last one, and after a pair the next. */
static Node *least_time(Search *s, const Times *t) {
  Build *b = &s->c->b;
  Node *at = build_where(b, t->times, arg_node(build_arange(b, s->sequence->type.shape[1])),
                         build_int(b, -1));
  at = build_reduce(b, OP_aten_amax_default, at, 1u << 1, true);
  Node *none = with_int(b, OP_aten_lt_Scalar, at, 0);
  at = build_with(b, OP_aten_clamp_min_default, at, build_int(b, 0));
  Node *time =
      build(b, OP_aten_gather_default, ARGS(arg_node(s->sequence), build_int(b, 1), arg_node(at)));
  Node *alone = build_and(b, t->last, build_op1(b, OP_aten_logical_not_default, t->paired));
  time = build_to(b, time, DT_I64);
  time = build_where(b, alone, arg_node(time), arg_node(with_int(b, OP_aten_add_Tensor, time, 1)));
  return build_where(b, none, build_int(b, t->begin), arg_node(time));
}

/* Are tokens of times together more probable than each other one? [rows, 1] */
static Node *are_likely(Search *s, const Times *t, Node *scores) {
  Build *b = &s->c->b;
  Dim tokens = scores->type.shape[1], begin = build_const(b, t->begin);
  Node *text = build_slice(b, scores, 1, build_const(b, 0), begin, 1);
  Node *x = build_slice(b, scores, 1, begin, tokens, 1);
  Node *most = build_reduce(b, OP_aten_amax_default, x, 1u << 1, true);
  Node *is = build_with(b, OP_aten_gt_Scalar, x, arg_float(-dtype_largest_finite(DT_F32)));
  Node *share = build_op1(b, OP_aten_exp_default, build_sub(b, x, most));
  Node *sum = build_sum(b, build_where(b, is, arg_node(share), arg_float(0)), 1u << 1, true);
  Node *all = build_add(b, build_op1(b, OP_aten_log_default, sum), most);
  text = build_reduce(b, OP_aten_amax_default, text, 1u << 1, true);
  return build_and(b, any_of(b, is), build_op2(b, OP_aten_gt_Tensor, all, text));
}

Node *onnx_search_timed(Search *s, Node *scores) {
  static const char *const never[] = {"no_timestamps_token_id", "start_of_lm_token_id"};
  static const char *const first[] = {"decoder_start_token_id", "translate_token_id",
                                      "transcribe_token_id"};
  Build *b = &s->c->b;
  Dim tokens = scores->type.shape[1];
  Times t = times_of(s, tokens);
  if (!dim_is_int(tokens) || t.begin >= tokens->value)
    onnx_fail(s->c, E_ONNX_ATTR_VALUE, "beginning_timestamp_token_id", "no token");
  for (int i = 0; i < 2; i++) scores = without_one(s, &t, scores, never[i], NULL);
  for (int i = 0; i < 3; i++) scores = without_one(s, &t, scores, first[i], t.later);
  Node *is = with_int(b, OP_aten_ge_Scalar, t.tokens, t.begin);
  Node *text = with_int(b, OP_aten_lt_Scalar, t.tokens, s->eos);
  scores = without(b, scores, build_and(b, build_and(b, t.last, t.paired), is));
  Node *alone = build_and(b, t.last, build_op1(b, OP_aten_logical_not_default, t.paired));
  scores = without(b, scores, build_and(b, alone, text));
  Node *early = build_op2(b, OP_aten_lt_Tensor, t.tokens, least_time(s, &t));
  scores = without(b, scores, build_and(b, early, is));
  Node *late = with_int(b, OP_aten_gt_Scalar, t.tokens, t.begin + FIRST_MOST);
  scores =
      without(b, scores, build_and(b, late, build_op1(b, OP_aten_logical_not_default, t.later)));
  Node *other = with_int(b, OP_aten_lt_Scalar, t.tokens, t.begin);
  return without(b, scores, build_and(b, are_likely(s, &t, scores), other));
}
