/* Models as they are read from files: a graph or a plan, and the weights. */
#ifndef NEREID_MODEL_API_MODEL_API_H
#define NEREID_MODEL_API_MODEL_API_H

#include "graph/ir/weight_list.h"
#include "import/archives/archive.h"
#include "import/archives/tensor_file.h"
#include "import/onnx/onnx.h"
#include "model/nereid_graph.h"
#include "planner/compile/compile_plan.h"

typedef struct {
  Arena *arena; /* of all that is here but the mappings */
  Pool *names;
  Diags *diags;
  Archive *file, *weights_file; /* NULL: there is none */
  OnnxFile *onnx, *weights_onnx; /* the same for models of ONNX's */
  TensorFile *tensors;           /* weights of a file of tensors alone; NULL: there is none */
  Weights *weights;
  Graph *graph;   /* NULL: the file is a plan.  Planning changes it */
  Plan *plan;     /* NULL: not made yet */
  Stages *stages; /* what was done, in order */
  ArenaUse limits; /* what passes may take, and again the plan: bytes and steps */
  const char *lacks; /* kept (runtime/support/error.h): the message about operators that are not
                        supported; NULL: none is missing */
  const char *refused; /* the graph has the inputs alone, as the model was refused with this
                          message; NULL: it has all */
  OnnxFindings found;  /* of a model of ONNX's */
} Model;

/* Codes and messages are those of nereid.h. */
int model_read(Model **out, const nereid_graph_source *source);
/* Values of an ONNX model that are computed before the rest of it is read: inputs after its own, in
 * the order of the nodes that ask for them. */
typedef struct {
  OnnxWish of[ONNX_STAGES_MAX];
  uint32_t n;
  uint64_t absent; /* bits of those of branches that are not taken */
  bool has_result; /* the model returns the one after these alone; false: what the file returns */
} ModelStages;

/* Reads the ONNX model of `of` again, which must outlive it, for the sizes that the source's inputs
 * have.  *wanted: after an error a value, in memory of the caller, without which the rest cannot be
 * read; NULL: there is none. */
int model_read_sized(Model **out, const nereid_graph_source *source, const ModelStages *stages,
                     const Model *of, OnnxWish *wanted);
/* Reads the ONNX model of `of` again, which must outlive it, for the one value that the range of
 * each open size leaves.  *out is NULL, without an error, if one leaves more. */
int model_read_narrowed(Model **out, const nereid_graph_source *source, const Model *of);
/* A model of ONNX's that was refused, as sizes or values of inputs are open: its inputs alone.
 * After an error the message is that of the refusal. */
int model_read_inputs(Model **out, const nereid_graph_source *source, int code);
/* Can it be that for sizes and values of a run the plan is another? */
bool model_is_open(const Model *m);
/* The model may be NULL. */
void model_free(Model *m);
/* Runs passes, comma-separated, on the graph. */
int model_run_passes(Model *m, const char *passes);
/* Makes the plan, unless the model is one. */
int model_plan(Model *m, const CompileOptions *o);
/* The work of the plan's kernels on such a device, by name, with chosen sizes where the model
 * leaves them open. */
int model_explain(Model *m, const char *device, const char *mode, Text *out);
/* The plan's memory, with chosen sizes where the model leaves them open. */
int model_memory(Model *m, const nereid_graph_options *o, nereid_planned_memory *out);
/* The graph or the plan as text, in the model's arena. */
int model_print(Model *m, nereid_graph_kind kind, Text *out);

#endif
