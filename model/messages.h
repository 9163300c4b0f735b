/* Running and writing models: E_GRAPH_ and E_BUILD_. */
#ifndef NEREID_MODEL_MESSAGES_H
#define NEREID_MODEL_MESSAGES_H

/* ONNX models; the prefix of most is "FILE: error: PATH IN IT: ". */
#define E_GRAPH_NO_ITEMS "%s: items of `%s` are stated, but models of ONNX's alone have sequences"

/* types of results */
#define E_GRAPH_NOT_WRITTEN "no step of the plan writes %s"

/* plans, and running them */
#define E_GRAPH_STEP_LARGE \
  "kernel %s: %s has %lld elements, 2^31 or more, and its sizes may be smaller: " \
  "give them a range (--range SIZE=LO..HI) in which it always has as many"
#define E_GRAPH_UPDATE_SIZE \
  "%s has %lld bytes, and %s, which it is updated from, %lld for inputs of these shapes"
#define E_GRAPH_STEP_GRID "kernel %s: the grid's axis %d is %lld for inputs of these shapes"
#define N_BUILD_SIZES \
  "a project has one plan, which can't hold these open sizes: give each one value, as with " \
  "--range s0=16..16"
#define N_BUILD_ELSEWHERE \
  "no GPU of %s is here to measure on: tile sizes come from records, or from guesses without " \
  "them"
#define E_BUILD_TWICE "target %s is named twice"
#define E_BUILD_MIXED \
  "targets %s: a project is for GPUs, for one CPU, or for several of cpu:4, cpu:8 and cpu:16"
#define E_BUILD_NAME "`%s` is not a name: take a letter, then a-z, 0-9 and _, %d of them at most"
#define E_BUILD_NAME_TAKEN "`%s` is a header or a target of each project: take another name"
#define E_BUILD_NO_FOLDER "%s is not a folder"
#define E_BUILD_DOT "can't build in %s: name a folder that can be created"
#define E_BUILD_FOREIGN "%s contains %s, which is not from a build: move it, or name another folder"
#define E_BUILD_SYMBOL "no input determines size %s: the plan cannot run"
#define E_BUILD_READ \
  "size %s depends on data (%%%s), which a built project does not support: run the model with " \
  "`nereid graph`, or export a model whose sizes depend on its inputs' sizes only"
#define E_BUILD_SIZES "sizes of the model do not fit 64 bits, even if all that are open are small"
#define E_BUILD_CONSTEXPR \
  "kernel %s has a constexpr that depends on sizes: it must be compiled at run time"
#define E_BUILD_CONSTANT "constant %%%s has no fixed size, though it depends on weights alone"
#define E_BUILD_OUTPUT "%%%s is an output, but the plan does not return it"
#define E_GRAPH_POOL "temporary %s is outside of the plan's pool"
#define E_GRAPH_DEVICE_MEMORY \
  "%s; the model takes %lld MiB on %s: %lld of weights, %lld of temporaries, and %lld of " \
  "inputs and outputs"
#define E_GRAPH_LENT "the caller lends no memory for '%s'"
#define E_GRAPH_TEMPORARIES "the temporaries are too large: more than 2^48 bytes at once"
#define E_GRAPH_OUTPUT_COUNT "the model has %u outputs, not %d"
#define E_GRAPH_OUTPUT_TENSOR "output %u (%s) is %s; the tensor for it has another dtype or shape"
#define E_GRAPH_INPUT_VALUE \
  "input %u (%s) determines shapes, and had another value when the model was read: read it " \
  "again"
#define E_GRAPH_DATA "%s refuses its data: %s%s%s"
#define E_GRAPH_INDEX_RANGE \
  "%s: index %lld at %s of %s is out of range: %lld to %lld, for an axis of %lld elements"
#define E_GRAPH_INPUT_DATA "input %u (%s) has no data"
#define E_GRAPH_INPUT_DEVICE "input %u (%s) is in the memory of another device"
#define E_GRAPH_INPUT_STRIDES \
  "input %u (%s) is strided, which is read from host memory only; pass a contiguous tensor"
#define E_GRAPH_CAPTURE_INPUT \
  "input %u (%s) is in host memory, which a captured stream does not copy; pass a tensor on the " \
  "device"
#define E_GRAPH_CAPTURE_FIXED \
  "input %u (%s) decides sizes, and the host can't read it while the stream is captured; pass it " \
  "in host memory"
#define E_GRAPH_CAPTURE_OUTPUT \
  "output %d (%s) is in host memory, to which a captured stream does not copy; pass a tensor on " \
  "the device"
#define E_GRAPH_CAPTURE_READS \
  "the model can't run in a stream that is captured: its data ('%s') decides sizes, which the " \
  "host reads between its kernels"
#define E_GRAPH_CAPTURE_LOOPS \
  "the model can't run in a stream that is captured: its data ('%s') decides how often a loop " \
  "runs, which the host reads in each iteration"
#define E_GRAPH_INPUT_WRITTEN "input %u (%s) is written by the model; pass a contiguous tensor"
#define E_GRAPH_OUTPUT_STRIDES "output %u (%s) is strided; pass a contiguous tensor"
#define E_GRAPH_NO_SOURCE "the source of a graph has neither a path nor data"
#define E_GRAPH_NPY "%s is a NumPy array: name the model first, then its inputs"
#define E_GRAPH_TENSORS_ONLY \
  "%s has tensors alone: name the model first, and this file as its weights"
#define E_GRAPH_ONNX_WEIGHTS \
  "%s is an ONNX model, which has its weights: leave %s out, or name a graph or a .pt2 file"
#define E_GRAPH_WEIGHTS_FILE \
  "%s has no weights: name the file of the model that the graph was printed from (.pt2, .onnx), " \
  "or of its tensors (.safetensors, .gguf)"
#define E_GRAPH_WEIGHTS_LACK \
  "%s has no tensor for %s: name the file that the graph was printed from, or one that has a " \
  "tensor of that name"
#define E_GRAPH_PLAN_ONLY "the file is a plan, which does not contain its graph"
#define E_GRAPH_PLAN_REWRITE "the file is a plan: give the rules when it is made"
#define E_GRAPH_LIMIT_MEMORY \
  "the %s of this model would take more than %zu MiB: it has too many nodes, split it into several"
#define E_GRAPH_LIMIT_STEPS \
  "the %s of this model would take more than %g million steps: it has too many nodes, split it " \
  "into several"
#define E_GRAPH_PLAN_DTYPE \
  "the file is a plan, whose dtypes are fixed; give --dtype where the plan is made from the model"
#define E_GRAPH_DTYPE "models can't run in dtype `%s`%s; choose fp32, bf16 or fp16"
#define E_GRAPH_RANGE_FIXED \
  "the range of %s: all sizes are fixed in the model's file; export it again with dynamic sizes"
#define E_GRAPH_RANGE_SYMBOL "the range of %s: the model has no such size; its dynamic sizes are %s"
#define E_GRAPH_RANGE_DERIVED "the range of %s, which is %s: give that of a dynamic size, %s"
#define E_GRAPH_RANGE \
  "the range of %s: %lld..%lld is not part of the file's, %s; export the model again"
#define E_GRAPH_RELEASED "nereid_graph_options.%s: there is no input %d; the model has %d"
#define E_GRAPH_MODE \
  "unknown mode %s%s; modes are default, eager, reduce-overhead and max-autotune"
#define N_GRAPH_STRINGS \
  "strings are numbers here, of the list that `--emit strings` prints; nereid.load in Python " \
  "takes and gives strings"
#define N_GRAPH_NO_REPLAY \
  "the driver has no CUDA graphs, so mode reduce-overhead runs as default; update it"
#define N_GRAPH_UNMEASURED \
  "some kernels could not be measured, and run in the shapes of mode default: %s"
#define E_GRAPH_BYTES_CHOICE \
  "this machine may choose another plan than these bytes have: compile the model again"
#define E_GRAPH_BYTES "these bytes are no executable, or are damaged; make the executable again"
#define E_GRAPH_BYTES_BUILD \
  "the executable was made by another build of Nereid (%s); make it again with this one (%s)"
#define E_GRAPH_BYTES_DEVICE "the executable was made for %s, not for %s; make it again there"
#define E_GRAPH_BYTES_WEIGHTS \
  "%s has changed since the executable was made, which has its weights there; make it again"
#define N_GRAPH_LIBRARIES_UNMEASURED \
  "libraries could not be measured against kernels, and compute what records say: %s"
#define E_GRAPH_CALL_DEVICE \
  "the plan calls %s, which device %s has not: make the plan for this device, or with " \
  "--no-libraries"
#define E_GRAPH_LIBRARIES "unknown libraries %s%s; choose records, always or none"
#define E_BUILD_LIBRARY \
  "the plan calls the library function %s, which projects do not have: make it with --no-libraries"
#define E_GRAPH_NUMBER "there is no %s %d; the model has %u, counted from 0"

#endif
