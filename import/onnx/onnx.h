/* Models in ONNX's format (`.onnx`) as graphs.
 *
 * import/onnx owns the translation of ONNX's operators, one row each in
 * import/onnx/onnx_table.def.  It takes a file, and gives a graph of ATen's operators and its
 * weights.
 *
 * Each of ONNX's operators is translated to ATen's, the rows of graph/ops/op_table.def, so that all
 * that follows knows one set of operators.  How to add one of ONNX's: import/onnx/onnx_op.h.
 *
 * ONNX computes shapes with tensors (Shape, Gather, Concat, Reshape).  Small tensors are evaluated
 * while the model is read, their elements being sizes (import/onnx/onnx_value.h); no node is
 * left of them.  Where such an element comes from an input of the model, its value must be given
 * when the model is read: the graph is then for this value alone, and a run checks it. */
#ifndef NEREID_IMPORT_ONNX_ONNX_H
#define NEREID_IMPORT_ONNX_ONNX_H

#include "import/onnx/onnx_file.h"
#include "import/onnx/onnx_text.h"
#include "runtime/nereid.h"

/* The number of tensors of an input that is a sequence; 1 or ONNX_ABSENT for an optional one. */
enum { ONNX_ABSENT = -1 };
typedef struct {
  const char *input;
  int64_t n;
} OnnxItems;

/* A value of the file that decides which nodes there are. */
typedef struct {
  const char *value; /* its name, after those of the calls and branches that it is in */
  const char *place; /* of the node that asks for it: places compare in the order of the nodes */
} OnnxWish;

enum { ONNX_STAGES_MAX = 64 };

/* Values of the model's inputs, in its order, in host memory; those that are missing at the end,
 * or have no data, are not known.  Dtypes and shapes that don't fit count as not known: running
 * reports them. */
typedef struct {
  const nereid_tensor *tensors;
  uint32_t n;
  const char *const *names; /* NULL, here or in it: the input at that position */
  const OnnxItems *items;
  uint32_t nitems;
  bool fixes_sizes; /* open sizes become those of the tensors: the graph is for these alone */
  const OnnxWish *stages; /* values of the file that are inputs after its own */
  uint32_t nstages;
  uint64_t absent;        /* bits of those that the run does not have: no value takes their place */
  const OnnxWish *result; /* the graph returns that value alone; NULL: what the file returns */
} OnnxGiven;

/* A result as the file declares it. */
typedef struct {
  const char *name, *type; /* "f32[n, 4]", or "f32" where its axes are not declared */
  DType dtype; /* DT_NONE: not declared */
  int rank;    /* -1: not declared */
} OnnxOutput;

/* What reading found beside the graph. */
typedef struct {
  VEC(OnnxItems) items;          /* of all sequences and optional inputs: how many there are */
  VEC(OnnxOutput) outputs;       /* of onnx_read_inputs */
  OnnxTexts texts;
  bool unknown;                  /* an operator or a dtype that no sizes and values make known */
  bool lacks;                    /* something is not supported */
  bool needs_value;              /* an input's value decides a shape, and is not given */
  OnnxWish wanted;               /* without which nodes could not be read; NULL: there is none */
  bool absent;                   /* the result is of a branch that is not taken: i64[0] */
} OnnxFindings;

/* The graph, with all types inferred.  NULL after an error; what is not supported is named all at
 * once.
 *
 * Tensors of the file go into `w`, each bound to the input that takes it; they are valid until the
 * file is closed.  All else is independent of the file. */
Graph *onnx_read(Arena *a, Pool *names, Diags *d, OnnxFile *f, OnnxGiven given, Weights *w,
                 OnnxFindings *found);

/* A graph that returns the model's inputs, and has none of its nodes; what the model returns is
 * among the findings.  NULL after an error. */
Graph *onnx_read_inputs(Arena *a, Pool *names, Diags *d, OnnxFile *f, OnnxGiven given,
                        OnnxFindings *found);

#endif
