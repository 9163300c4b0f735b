/* Decoders that follow an encoder: BeamSearch of texts, as T5 has it, and WhisperBeamSearch.
 *
 * The encoder runs once.  It gives keys and values of its own for the decoder's attention to it,
 * and in the older of two forms also what the decoder makes of the first tokens: their scores, the
 * encoder's states, and the caches after them.  The decoder of the newer one begins with the start
 * token and empty caches. */
#include <string.h>

#include "import/messages.h"
#include "import/onnx/generate/onnx_generate.h"
#include "import/onnx/ops/onnx_shared.h"

enum { PER_LAYER = 2 /* keys and values */, GIVEN = 2 /* scores and states, before caches */ };

typedef struct {
  const Onnx__Graph *graph;
  OnnxValue *in[3], **out;
  bool scores; /* the older form */
} Encoder;

/* Which tokens of the batch are not padding before the first, as ONNX Runtime has it. */
static Node *text_mask(Search *s, Node *tokens) {
  OnnxCall *c = s->c;
  Build *b = &c->b;
  if (onnx_has(c, s->inputs->mask)) return onnx_in(c, s->inputs->mask);
  Node *is = build_with(b, OP_aten_ne_Scalar, tokens, build_int(b, s->pad));
  Node *before = build_with(b, OP_aten_cumsum_default, build_to(b, is, DT_I64), build_int(b, 1));
  return build_to(b, build_with(b, OP_aten_gt_Scalar, before, build_int(b, 0)), DT_I32);
}

/* The decoder's first tokens, [batch, length]. */
static Node *prompt_of(Search *s, Dim batch) {
  OnnxCall *c = s->c;
  Build *b = &c->b;
  int64_t start = onnx_int(c, "decoder_start_token_id", -1);
  Dim shape[] = {batch, build_const(b, 1)};
  if (onnx_has(c, s->inputs->prompt)) {
    if (s->kind == SEARCH_TEXT)
      onnx_lack(c, "decoder_input_ids of texts, which ONNX Runtime does not use");
    return onnx_in(c, s->inputs->prompt);
  }
  if (start < 0) onnx_fail(c, E_ONNX_ATTR_VALUE, "decoder_start_token_id", "less than 0");
  return build_full(b, 2, shape, build_int(b, start), DT_I32);
}

static bool is_named(const Onnx__Graph *g, uint32_t i, const char *name) {
  return i < g->n_input && !strcmp(onnx_text(g->input[i]->name), name);
}

/* Tokens, their mask if it is a text, and the encoder's states if the decoder takes them. */
static void check_decoder(Search *s) {
  OnnxCall *c = s->c;
  size_t n = s->decoder->n_input, outputs = s->decoder->n_output;
  s->feeds = s->kind == SEARCH_TEXT ? 2 : 1;
  if (is_named(s->decoder, s->feeds, "encoder_hidden_states")) s->feeds++;
  if (n <= s->feeds || outputs < 1 + PER_LAYER || (outputs - 1) % PER_LAYER)
    onnx_fail(c, E_ONNX_BODY, n, outputs);
  s->ncaches = (uint32_t)outputs - 1;
  if (n != s->feeds + 2 * s->ncaches)
    onnx_lack(c, "a decoder whose caches are shared, which ONNX Runtime has for CUDA alone");
  const Onnx__ValueInfo *v = s->decoder->input[0];
  const Onnx__TensorType *t = v->type ? v->type->tensor_type : NULL;
  bool last = t && t->shape && t->shape->n_dim == 2 && t->shape->dim[1]->has_dim_value &&
              t->shape->dim[1]->dim_value == 1;
  s->whole = !last;
}

static void check_encoder(Search *s, Encoder *e) {
  size_t n = e->graph->n_input, outputs = e->graph->n_output, fewest = s->kind == SEARCH_TEXT;
  e->scores = n == fewest + 2;
  bool fits = e->scores ? outputs == GIVEN + 2 * s->ncaches : outputs == s->ncaches;
  if ((n != fewest + 1 && !e->scores) || !fits) onnx_fail(s->c, E_ONNX_BODY, n, outputs);
  if (!e->scores && s->feeds > (s->kind == SEARCH_TEXT ? 2 : 1))
    onnx_fail(s->c, E_ONNX_BODY, n, outputs);
}

/* Runs the encoder on the batch; its results are the decoder's inputs, a row for each beam. */
static Encoder encoder_of(Search *s, Node *x, Node *mask, Node *prompt) {
  OnnxCall *c = s->c;
  Encoder e = {.graph = onnx_graph(c, "encoder")};
  uint32_t n = 0;
  check_encoder(s, &e);
  e.out = ARENA_ARRAY(c->r->scratch, OnnxValue *, e.graph->n_output);
  e.in[n++] = onnx_value_of_node(c, x);
  if (mask) e.in[n++] = onnx_value_of_node(c, mask);
  if (e.scores) e.in[n++] = onnx_value_of_node(c, prompt);
  onnx_read_body(c, e.graph, e.in, n, e.out, e.graph->n_output);
  for (size_t i = 0; i < e.graph->n_output; i++) {
    Node *y = onnx_node_of(c, e.out[i]);
    e.out[i] = onnx_value_of_node(c, onnx_search_rows(&c->b, y, s->rows));
  }
  return e;
}

/* A cache of no tokens, [rows, heads, 0, size], beside the encoder's of that number. */
static OnnxValue *empty_cache(Search *s, OnnxValue *beside) {
  Build *b = &s->c->b;
  Node *x = onnx_node_of(s->c, beside);
  infer_rank(&b->in, &x->type, 4, 4);
  Dim shape[] = {x->type.shape[0], x->type.shape[1], build_const(b, 0), x->type.shape[3]};
  return onnx_value_of_node(s->c, build_full(b, 4, shape, build_int(b, 0), x->type.dtype));
}

/* The decoder's inputs for the tokens after the prompt, or for the prompt. */
static void feed_decoder(Search *s, const Encoder *e, Node *mask) {
  OnnxCall *c = s->c;
  Build *b = &c->b;
  uint32_t at = 0, own = e->scores ? GIVEN + s->ncaches : 0;
  s->in[at++] = onnx_value_of_node(c, s->sequence);
  if (mask) s->in[at++] = onnx_value_of_node(c, onnx_search_rows(b, mask, s->rows));
  if (at < s->feeds) s->in[at++] = e->out[1];
  for (uint32_t i = 0; i < s->ncaches; i++) {
    if (e->scores) s->out[1 + i] = e->out[GIVEN + i];
    else s->in[at + i] = empty_cache(s, e->out[i]);
    s->in[at + s->ncaches + i] = e->out[own + i];
  }
  if (e->scores) s->first = onnx_search_last(s, e->out[0]);
}

static void begin_encoded(Search *s) {
  OnnxCall *c = s->c;
  Build *b = &c->b;
  Node *x = onnx_in(c, 0), *mask = NULL;
  check_decoder(s);
  if (s->kind == SEARCH_TEXT) {
    infer_rank(&b->in, &x->type, 2, 2);
    mask = text_mask(s, x);
  } else if (onnx_has(c, s->inputs->mask)) {
    onnx_lack(c, "attention_mask of such a model");
  }
  Node *prompt = prompt_of(s, x->type.shape[0]);
  infer_rank(&b->in, &prompt->type, 2, 2);
  Encoder e = encoder_of(s, x, mask, prompt);
  s->sequence = prompt;
  onnx_search_lengths(s);
  s->sequence = onnx_search_rows(b, prompt, s->rows);
  feed_decoder(s, &e, mask);
}

/* ---- all searches ---- */

Search onnx_search_begin(OnnxCall *c, const SearchInputs *inputs, int64_t rows) {
  Arena *a = c->r->scratch;
  Search s = {.c = c, .decoder = onnx_graph(c, "decoder"), .inputs = inputs, .rows = rows};
  s.kind = (SearchKind)onnx_int(c, "model_type", 0);
  s.eos = onnx_int(c, "eos_token_id", 0);
  s.pad = onnx_int(c, "pad_token_id", 0);
  s.in = ARENA_ARRAY(a, OnnxValue *, s.decoder->n_input);
  s.out = ARENA_ARRAY(a, OnnxValue *, s.decoder->n_output);
  bool encoded = s.kind == SEARCH_TEXT || s.kind == SEARCH_SPEECH;
  if (inputs->prompt && encoded) begin_encoded(&s);
  else onnx_search_begin_alone(&s);
  return s;
}
