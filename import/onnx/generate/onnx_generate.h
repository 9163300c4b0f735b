/* A decoder that is written out for each token, since its caches are longer after each: what
 * GreedySearch, Sampling and BeamSearch of com.microsoft share. */
#ifndef NEREID_IMPORT_ONNX_GENERATE_ONNX_GENERATE_H
#define NEREID_IMPORT_ONNX_GENERATE_ONNX_GENERATE_H

#include "import/onnx/onnx_read.h"

/* Which of the operator's inputs are these; input 0 is the prompt, or what an encoder takes, 1
 * max_length, 2 min_length. */
typedef struct {
  uint32_t penalty, allowed, allowed_first, mask;
  uint32_t prompt; /* of a decoder that has an encoder; 0: it is a start token */
} SearchInputs;

/* Attribute model_type. */
typedef enum { SEARCH_DECODER, SEARCH_TEXT, SEARCH_SPEECH } SearchKind;

typedef struct {
  OnnxCall *c;
  const Onnx__Graph *decoder;
  const SearchInputs *inputs;
  SearchKind kind;
  Node *sequence;        /* [rows, length], i32 */
  Node *count;           /* tokens of each row that are none of padding, [rows, 1] */
  OnnxValue **in, **out; /* of the decoder */
  uint32_t feeds;        /* its inputs before the caches */
  uint32_t ncaches;      /* that grow; after them are an encoder's */
  uint32_t row_axis;     /* of caches */
  bool whole;            /* it takes all tokens, not the last one */
  Node *first;           /* an encoder's scores of the first token, [rows, tokens]; NULL: none */
  int64_t rows; /* of each of the batch */
  int64_t eos, pad;
  int64_t begin, most; /* lengths of the prompt and of the result */
} Search;

/* Reads the operator's prompt and attributes; each of the batch has so many rows. */
Search onnx_search_begin(OnnxCall *c, const SearchInputs *inputs, int64_t rows);
/* Runs the decoder: the scores of each token after the last one, [rows, tokens], f32. */
Node *onnx_search_scores(Search *s);
/* Scores by the operator's penalty, masks, n-grams and least length. */
Node *onnx_search_filtered(Search *s, Node *scores);
/* Scores by Whisper's rules for tokens of times. */
Node *onnx_search_timed(Search *s, Node *scores);
/* The next token of each row, [rows, 1], i32.  Before it rows become those of that number,
 * [rows]; NULL: they stay. */
void onnx_search_append(Search *s, Node *from, Node *token);

/* ---- shared by its files ---- */

/* Each row of x so many times, one after the other. */
Node *onnx_search_rows(Build *b, Node *x, int64_t times);
/* The logits after the last token, f32. */
Node *onnx_search_last(Search *s, OnnxValue *logits);
void onnx_search_lengths(Search *s);
/* Reads the prompt of a decoder without an encoder, its places and its mask, and makes caches of no
 * tokens. */
void onnx_search_begin_alone(Search *s);

#endif
