/* Strings of ONNX's models, which in tensors are numbers.
 *
 * A string is its place in a list, an i64: first the strings of the file, then those that a run
 * brings, in any order.  So operators that move strings or compare them are those of integers.
 * The caller's tasks are here: turn strings of inputs into numbers, numbers of results into
 * strings, and fill tables.  A table is an input of the graph with a row for each string of the
 * list: what a function of strings gives for it.  A function of a tensor of strings is rows of a
 * table.  No later stage knows of strings. */
#ifndef NEREID_IMPORT_ONNX_ONNX_TEXT_H
#define NEREID_IMPORT_ONNX_ONNX_TEXT_H

#include "lang/base/arena.h"
#include "lang/base/strings.h"

/* The keys of the maps that ZipMap makes, one of each column: integers, or numbers of strings. */
typedef struct OnnxKeys {
  uint32_t n;
  bool is_text;
  const int64_t *at;
} OnnxKeys;

/* A result of strings or of maps: its place among all. */
typedef struct {
  uint32_t place;
  bool is_text;
  const OnnxKeys *keys; /* NULL: no maps */
} OnnxTextOutput;

typedef struct {
  Name input;            /* the input of the graph */
  const char *function;  /* "case", "tokens", "matches", ...: python/nereid/strings.py */
  const char *arguments; /* members of an object of JSON, ", \"pads\": 3" */
  VEC(Name) of;          /* the inputs and tables whose strings it must have */
  bool of_file;          /* and those of the file */
} OnnxTextTable;

typedef struct {
  VEC(Name) list; /* the file's strings */
  VEC(Name) inputs;
  VEC(OnnxTextOutput) outputs;
  VEC(OnnxTextTable) tables;
} OnnxTexts;

/* Are there any? */
static inline bool onnx_has_texts(const OnnxTexts *t) {
  return t->inputs.len || t->outputs.len || t->tables.len;
}

/* The facts that a caller must know, as an object of JSON; {} where no tensor has strings. */
void onnx_print_texts(Text *out, const OnnxTexts *t);

#endif
