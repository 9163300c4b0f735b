/* BeamSearch: of each of the batch some rows are kept, those of the best sums of logarithms of
 * probabilities, and as many sequences that have ended, by their sums over a power of their length.
 *
 * ONNX Runtime stops when no row can give a better one; here rows of the batch for which that holds
 * go on without effect. */
#include <math.h>
#include <string.h>

#include "import/messages.h"
#include "import/onnx/generate/onnx_generate.h"

enum { STEPS = 2, SILENCE = 4 /* results */, BEAMS_MAX = 64 };
enum { BEAMS = 3, RETURNED = 4, LENGTH_PENALTY = 5, FORCED = 10, PROCESSOR = 11, PAIRS = 12,
       EXTRA = 13, TEMPERATURE = 14 };

static const double LEAST_SUM = -1e9; /* of rows that are copies of the first */

typedef struct {
  Search s;
  Dim batch, beams, both; /* twice as many candidates as beams */
  Node *sums;             /* [batch, beams] */
  Node *done;             /* [batch, 1] */
  Node *ended;            /* sequences, [batch, beams, most] */
  Node *scores;           /* of these, the best one first, [batch, beams] */
  Node **steps; /* for each length sums with each token, [1, batch, beams, tokens]; 0 when all of
                 * the batch are done, where ONNX Runtime leaves memory as it was */
  bool early, timed;
} Beams;

/* The best ones of twice as many rows as beams, which are kept, in order. */
typedef struct {
  Node *score, *token, *beam; /* [batch, both]; tokens and beams in i64 */
  Node *is_end;
} Candidates;

static Node *with_int(Build *b, OpId op, Node *x, int64_t y) {
  return build_with(b, op, x, build_int(b, y));
}

static Node *gathered(Build *b, Node *x, Node *index) {
  return build(b, OP_aten_gather_default, ARGS(arg_node(x), build_int(b, 1), arg_node(index)));
}

/* Rows of [batch, n, length] by numbers, [batch, beams]. */
static Node *gathered_rows(Build *b, Node *x, Node *index) {
  const Dim *i = index->type.shape;
  Dim shape[] = {i[0], i[1], x->type.shape[2]};
  return gathered(b, x, build_expand(b, build_unsqueeze(b, index, 2), 3, shape));
}

static Node *first_columns(Build *b, Node *x, Dim n) {
  return build_slice(b, x, 1, build_const(b, 0), n, 1);
}

static Node *largest(Build *b, Node *x, Dim n, bool most, uint32_t item) {
  return build_item(b,
                    build(b, OP_aten_topk_default,
                          ARGS(arg_node(x), arg_dim(n), build_int(b, 1), arg_bool(most))),
                    item);
}

static Node *build_sums(Beams *m, double first, double others) {
  Build *b = &m->s.c->b;
  Dim shape[] = {m->batch, m->beams};
  Node *at = build_arange(b, m->beams);
  Node *is_first = with_int(b, OP_aten_eq_Scalar, at, 0);
  Node *row = build_where(b, is_first, arg_float(first), arg_float(others));
  return build_expand(b, build_to(b, row, DT_F32), 2, shape);
}

static void check_beams(OnnxCall *c, int64_t beams) {
  if (beams < 1 || beams > BEAMS_MAX) onnx_lack(c, "%lld beams", (long long)beams);
  bool attends = onnx_flag(c, "decoder_output_cross_qk", false);
  if (attends || onnx_has(c, PAIRS) || onnx_has(c, EXTRA) || onnx_wants(c, 3))
    onnx_lack(c, "cross_qk, which ONNX Runtime has for CUDA alone");
}

static Beams begin_beams(OnnxCall *c) {
  static const SearchInputs inputs = {
      .penalty = 6, .allowed = 7, .allowed_first = 8, .mask = 9, .prompt = 10};
  Build *b = &c->b;
  int64_t beams = onnx_need_int(c, BEAMS);
  check_beams(c, beams);
  Beams m = {.s = onnx_search_begin(c, &inputs, beams),
             .beams = build_const(b, beams),
             .both = build_const(b, 2 * beams),
             .early = onnx_flag(c, "early_stopping", false)};
  int64_t processor = onnx_has(c, PROCESSOR) ? onnx_need_int(c, PROCESSOR) : 0;
  m.timed = processor == 1 && m.s.kind == SEARCH_SPEECH;
  if (processor && !m.timed) onnx_lack(c, "logits_processor %lld", (long long)processor);
  m.batch = onnx_in(c, 0)->type.shape[0];
  if (m.s.kind == SEARCH_DECODER && onnx_has(c, FORCED))
    onnx_lack(c, "decoder_input_ids without an encoder");
  Dim one[] = {m.batch, build_const(b, 1)}, two[] = {m.batch, m.beams};
  Dim three[] = {m.batch, m.beams, build_const(b, m.s.most)};
  m.sums = build_sums(&m, 0, LEAST_SUM);
  m.done = build_full(b, 2, one, arg_bool(false), DT_I1);
  m.ended = build_full(b, 3, three, build_int(b, m.s.pad), DT_I32);
  m.scores = build_full(b, 2, two, arg_float(-INFINITY), DT_F32);
  m.steps = ARENA_ARRAY(c->r->scratch, Node *, m.s.most);
  return m;
}

static Candidates candidates_of(Beams *m) {
  OnnxCall *c = m->s.c;
  Build *b = &c->b;
  Node *x = build_with(b, OP_aten_log_softmax_int, onnx_search_scores(&m->s), build_int(b, 1));
  x = onnx_search_filtered(&m->s, x);
  if (onnx_has(c, TEMPERATURE)) {
    Node *by = build_to(b, build_view(b, onnx_in(c, TEMPERATURE), 0, NULL), DT_F32);
    x = build_div(b, x, by);
  }
  if (m->timed) x = onnx_search_timed(&m->s, x);
  Dim tokens = x->type.shape[1];
  Dim rows[] = {m->batch, m->beams, tokens};
  Dim all[] = {m->batch, dim_mul(onnx_dims(c), m->beams, tokens)};
  x = build_add(b, build_view(b, x, 3, rows), build_unsqueeze(b, m->sums, 2));
  int64_t length = m->s.sequence->type.shape[1]->value;
  if (onnx_wants(c, STEPS)) m->steps[length] = build_unsqueeze(b, x, 0);
  x = build_view(b, x, 2, all);
  Candidates k = {.score = largest(b, x, m->both, true, 0)};
  Node *at = largest(b, x, m->both, true, 1);
  k.token = build_with(b, OP_aten_remainder_Tensor, at, arg_dim(tokens));
  k.beam = build_with(b, OP_aten_floor_divide_default, at, arg_dim(tokens));
  k.is_end = with_int(b, OP_aten_eq_Scalar, k.token, m->s.eos);
  return k;
}

/* Sums over a power of the length. */
static Node *per_length(Beams *m, Node *sums, int64_t length) {
  OnnxCall *c = m->s.c;
  Build *b = &c->b;
  Node *n = onnx_scalar(c, (double)length, DT_F32);
  if (onnx_has(c, LENGTH_PENALTY)) {
    Node *power = build_to(b, build_view(b, onnx_in(c, LENGTH_PENALTY), 0, NULL), DT_F32);
    n = build_op2(b, OP_aten_pow_Tensor_Tensor, n, power);
  }
  return build_div(b, sums, n);
}

/* Is it true of any of the batch?  [1, 1] */
static Node *any_of(Build *b, Node *x) {
  Node *n = build_sum(b, build_to(b, x, DT_I64), 3, true);
  return with_int(b, OP_aten_gt_Scalar, n, 0);
}

/* The best of the sequences that have ended, and of new ones, [batch, beams, length], where these
 * are, by their scores. */
static void keep_ended(Beams *m, Node *sequence, Node *score, Node *is) {
  Build *b = &m->s.c->b;
  Arg pads[] = {arg_node(sequence), arg_none(), build_int(b, m->s.pad)};
  Dim more[] = {build_const(b, 0),
                dim_sub(b->in.g->dims, m->ended->type.shape[2], sequence->type.shape[2])};
  pads[1] = arg_dims(b->in.g, 2, more);
  if (!dim_is(more[1], 0)) sequence = build(b, OP_aten_constant_pad_nd_default, 3, pads);
  score = build_where(b, is, arg_node(score), arg_float(-INFINITY));
  Node *all = build_cat(b, 2, (Node *[]){m->scores, score}, 1);
  Node *sequences = build_cat(b, 2, (Node *[]){m->ended, sequence}, 1);
  m->scores = largest(b, all, m->beams, true, 0);
  m->ended = gathered_rows(b, sequences, largest(b, all, m->beams, true, 1));
}

static Node *as_rows(Beams *m) {
  Dim shape[] = {m->batch, m->beams, m->s.sequence->type.shape[1]};
  return build_view(&m->s.c->b, m->s.sequence, 3, shape);
}

static void end_sequences(Beams *m, const Candidates *k, Node *going) {
  Build *b = &m->s.c->b;
  int64_t length = m->s.sequence->type.shape[1]->value;
  Node *beam = first_columns(b, k->beam, m->beams);
  Node *score = per_length(m, first_columns(b, k->score, m->beams), length);
  Node *is = build_and(b, first_columns(b, k->is_end, m->beams), going);
  keep_ended(m, gathered_rows(b, as_rows(m), beam), score, is);
}

/* The largest score by which ONNX Runtime decides: that of the candidates whose numbers begin with
 * the batch's number times the beams, not the candidates, so that others' are among them. */
static Node *deciding_score(Beams *m, const Candidates *k) {
  Build *b = &m->s.c->b;
  Node *at = build_with(b, OP_aten_mul_Tensor, build_arange(b, m->batch), arg_dim(m->beams));
  at = build_add(b, build_unsqueeze(b, at, 1), build_arange(b, m->both));
  Node *x = build_op2(b, OP_aten_take_default, k->score, at);
  return build_reduce(b, OP_aten_amax_default, x, 1u << 1, true);
}

/* Is the batch done: has it enough sequences, of which none can become better? */
static void decide(Beams *m, const Candidates *k, int64_t length) {
  Build *b = &m->s.c->b;
  Dim last = dim_sub(b->in.g->dims, m->beams, build_const(b, 1));
  Node *worst = build_slice(b, m->scores, 1, last, m->beams, 1);
  Node *full = build_with(b, OP_aten_gt_Scalar, worst, arg_float(-INFINITY));
  if (!m->early) {
    Node *best = per_length(m, deciding_score(m, k), length);
    full = build_and(b, full, build_op2(b, OP_aten_ge_Tensor, worst, best));
  }
  m->done = build_op2(b, OP_aten_logical_or_default, m->done, full);
}

/* The next rows are the first candidates that are no ends. */
static void go_on(Beams *m, const Candidates *k, Node *going) {
  OnnxCall *c = m->s.c;
  Build *b = &c->b;
  Node *at = build_arange(b, m->both);
  Node *late = build_with(b, OP_aten_add_Tensor, at, arg_dim(m->both));
  Node *key = build_where(b, k->is_end, arg_node(late), arg_node(at));
  Node *index = largest(b, key, m->beams, false, 1);
  Node *batch = build_with(b, OP_aten_mul_Tensor, build_arange(b, m->batch), arg_dim(m->beams));
  Node *row = build_add(b, gathered(b, k->beam, index), build_unsqueeze(b, batch, 1));
  Node *token = gathered(b, k->token, index), *sums = gathered(b, k->score, index);
  m->sums = build_where(b, going, arg_node(sums), arg_float(0));
  token = build_where(b, going, arg_node(token), build_int(b, m->s.pad));
  row = build_where(b, going, arg_node(row), build_int(b, 0));
  Dim flat[] = {dim_mul(onnx_dims(c), m->batch, m->beams), build_const(b, 1)};
  token = build_to(b, build_view(b, token, 2, flat), DT_I32);
  onnx_search_append(&m->s, build_flat(b, row), token);
}

/* How probable it is that nobody speaks: that token's share after the first tokens. */
static void set_silence(Search *s) {
  OnnxCall *c = s->c;
  Build *b = &c->b;
  int64_t token = onnx_int(c, "no_speech_token_id", -1);
  if (!onnx_wants(c, SILENCE)) return;
  if (!s->first || token < 0) onnx_lack(c, "non_speech_probs without scores of the encoder");
  Node *share = build_with(b, OP_aten_softmax_int, s->first, build_int(b, 1));
  share = build_select(b, share, 1, build_const(b, token));
  onnx_set(c, SILENCE, build_slice(b, share, 0, build_const(b, 0), share->type.shape[0], s->rows));
}

/* Tokens that only rules for times ask for (onnx_times.c). */
static void ignore_time_tokens(OnnxCall *c) {
  static const char *const names[] = {"translate_token_id",           "transcribe_token_id",
                                      "start_of_lm_token_id",         "no_timestamps_token_id",
                                      "beginning_timestamp_token_id", "no_speech_token_id"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) onnx_ignore(c, names[i]);
}

void onnx_op_beam_search(OnnxCall *c) {
  Build *b = &c->b;
  Beams m = begin_beams(c);
  int64_t returned = onnx_need_int(c, RETURNED);
  ignore_time_tokens(c);
  set_silence(&m.s);
  if (returned < 1 || returned > m.s.rows)
    onnx_fail(c, E_ONNX_ATTR_VALUE, "num_return_sequences", "less than 1, or more than the beams");
  for (int64_t i = m.s.begin; i < m.s.most; i++) {
    Candidates k = candidates_of(&m);
    Node *going = build_op1(b, OP_aten_logical_not_default, m.done);
    if (m.steps[i])
      m.steps[i] = build_where(b, any_of(b, going), arg_node(m.steps[i]), arg_float(0));
    end_sequences(&m, &k, going);
    decide(&m, &k, i);
    go_on(&m, &k, going);
  }
  Node *going = build_op1(b, OP_aten_logical_not_default, m.done);
  keep_ended(&m, as_rows(&m), per_length(&m, m.sums, m.s.most), going);
  Dim n = build_const(b, returned);
  onnx_set(c, 0, first_columns(b, m.ended, n));
  onnx_set(c, 1, first_columns(b, m.scores, n));
  if (!onnx_wants(c, STEPS)) return;
  onnx_set(c, STEPS, build_cat(b, (uint32_t)(m.s.most - m.s.begin), m.steps + m.s.begin, 0));
}
