/* Values while an ONNX model is read.
 *
 * A value is a named tensor: an input, an initializer, or a node's result.  It has a node of the
 * graph, or elements that are known, or both: a node is made of known elements when something needs
 * it.  A sequence is a list of such values. */
#ifndef NEREID_IMPORT_ONNX_ONNX_VALUE_H
#define NEREID_IMPORT_ONNX_ONNX_VALUE_H

#include "graph/ir/graph.h"

struct Onnx__Tensor;
typedef struct OnnxCall OnnxCall;

/* Tensors of more elements are never evaluated while the model is read. */
enum { ONNX_KNOWN_MAX = 4096 };

typedef union {
  Dim dim;       /* of integers, and of booleans, which are 0 or 1 */
  double number; /* of floats */
} OnnxElement;

/* A tensor with known elements, in row-major order. */
typedef struct {
  DType dtype;
  uint32_t rank;
  const int64_t *shape;
  uint32_t n;
  OnnxElement *at;
} OnnxKnown;

/* Elements of a dtype that no kernel has, in bytes: integers of a few bits, and floats, of which
 * import/onnx/onnx_forms.c knows the numbers. */
typedef enum {
  FORM_PLAIN,
  FORM_INT2,
  FORM_INT4,
  FORM_E2M1,
  FORM_E4M3FNUZ,
  FORM_E5M2FNUZ,
  FORM_E8M0
} OnnxForm;

static inline bool onnx_form_is_float(OnnxForm form) { return form >= FORM_E2M1; }

/* Bits of an element in a file; 0: those of its dtype. */
static inline unsigned onnx_form_bits(OnnxForm form) {
  return form == FORM_INT2 ? 2 : form == FORM_INT4 || form == FORM_E2M1 ? 4 : 0;
}

/* Input i of a call. */
typedef struct {
  OnnxCall *call;
  uint32_t i;
} OnnxPlace;

/* A product's exact sums, in i32, the scale that the value's floats have of them, which is the
 * product of two inputs, and the floats that are added to them, an input in another shape, or
 * NULL. */
typedef struct {
  Node *sums, *scale, *more;
  OnnxPlace left, right, bias;
} OnnxScaled;

typedef struct OnnxValue OnnxValue;
struct OnnxValue {
  Name name;
  ValueType type; /* VALUE_UNKNOWN: depends on something that is not supported */
  Node *node;     /* NULL: not made yet */
  const OnnxKnown *known;
  const struct Onnx__Tensor *tensor; /* an initializer */
  OnnxCall *maker;                   /* what the value is a result of, NULL for inputs */
  Node *input;                       /* the user's input that it is */
  uint32_t number;                   /* which of the maker's results, or of the user's inputs */
  OnnxForm form;                     /* of elements that are bytes */
  bool is_text;                      /* elements are numbers of strings (import/onnx/onnx_text.h) */
  bool is_padded;                    /* text whose last axis may be longer than ONNX's, by pads */
  Name table;                        /* its strings are rows of that table */
  bool is_chosen;                    /* some of these, or strings of the file */
  const struct OnnxKeys *keys;       /* the result of ZipMap: maps of such keys */
  Node *channels; /* an image in blocks of channels, in plain order (onnx_blocks.c), or NULL */
  uint32_t block; /* its channels of a block */
  const OnnxScaled *scaled;          /* its elements are such sums, or NULL */
  bool absent;                       /* an optional value, or an argument that a call leaves out */
  bool evaluated;                    /* whether `known` can be found was tried, in vain */
  OnnxValue **items;                 /* VALUE_LIST: a sequence */
  uint32_t nitems;
};

#endif
