/* Graphs: E_GRAPH_ and, of their files, E_JSON_, E_ONNX_, E_REWRITE_ and E_BUILD_. */
#ifndef NEREID_GRAPH_MESSAGES_H
#define NEREID_GRAPH_MESSAGES_H

/* graphs as text, and what is not supported */
#define E_GRAPH_NO_FORWARD "the file defines no function 'forward': it is not a graph printed by FX"
#define E_GRAPH_NO_RETURN "'%s' ends without a return"
#define E_GRAPH_AFTER_RETURN "a statement after the return"
#define E_GRAPH_STATEMENT \
  "a graph consists of assignments of one call to one name, and a return at its end"
#define E_GRAPH_PARAMETER "'forward' of a graph has plain parameters only, no * or **"
#define E_GRAPH_TWICE "the name '%s' is taken: each name of a graph is assigned once"
#define E_GRAPH_SELF "in a graph, 'self' is the module: give this value another name"
#define E_GRAPH_NAME "no earlier node has the name '%s'"
#define E_GRAPH_ARGUMENT "'%s' is not allowed here: a graph's values are calls, x[0], or a + b"
#define E_GRAPH_ANNOTATION "'%s' is not a type: write \"f32[2, s0]\" or \"Sym(s0)\""
#define E_GRAPH_NO_KERNEL "no kernel can be made yet for torch.ops.%s (node %s)"
#define E_GRAPH_INDEX_SIZE \
  "an index in the kernel of %s overflows 64 bits, or has too long an expression: export with " \
  "smaller sizes, or fixed ones"
#define E_GRAPH_MEMORY "the tensors between the kernels need more than 2^48 bytes"
#define E_GRAPH_UNSUPPORTED "unsupported operators: %u, in %u node%s"
#define N_GRAPH_UNSUPPORTED "%s, in %u node%s, first %s%s"
#define H_GRAPH_OPERATOR "; did you mean %s?"
#define H_GRAPH_NO_ATEN "; torch.export gives graphs of ATen's operators"

/* archives and the tensors in them */
#define E_GRAPH_OPEN "the file can't be read: %s"
#define E_GRAPH_ZIP \
  "the file is not a zip archive, or is truncated; copy it again, or save the model again"
#define E_GRAPH_ZIP_ENTRY \
  "archive entry %s: %s; pack the files again with `zip -0`, or save the model again"
#define E_GRAPH_WEIGHT_TWICE "tensor %s appears twice in the file"
#define E_GRAPH_WEIGHT_LAYOUT "tensor %s: invalid sizes, strides or offset; save the model again"
#define E_GRAPH_WEIGHT_SHORT \
  "tensor %s needs %lld bytes, entry %s has %zu: save the model again, with real tensors"
#define E_GRAPH_WEIGHT_ALIGN \
  "tensor %s: entry %s is not aligned to %u bytes; save the model again with torch.export.save"
#define E_GRAPH_WEIGHT_MISSING "the file has no tensor %s for parameter %s; save the model again"
#define E_GRAPH_WEIGHT_TYPE "tensor %s does not fit parameter %s of type %s; export the model again"

/* exported programs; the prefix is "FILE: error: PATH IN IT: " */
#define H_GRAPH_PT2_AGAIN \
  "save the model again with torch.export.save (PyTorch 2.11 writes what is read here)"
#define E_GRAPH_PT2_OTHER "the file is %s, not an exported program"
#define E_GRAPH_PT2_BYTE_ORDER "the file was written on a big-endian machine"
#define E_GRAPH_PT2_NO_MODEL "the archive has no exported program, MODEL.json, here"
#define E_GRAPH_PT2_MODELS "the archive has several programs here; save each in a file of its own"
#define E_GRAPH_PT2_VERSION "schema version %lld.%lld can't be read, only %d.x"
#define E_GRAPH_PT2_JSON_SIZE "the entry is larger than %d MiB"
#define E_GRAPH_PT2_JSON "line %d, column %d: %s"
#define E_JSON_END "the text ends within a value"
#define E_JSON_MORE "the end of the text is expected after the value"
#define E_JSON_VALUE "a value is expected"
#define E_JSON_STRING "a key in quotes is expected"
#define E_JSON_COLON "`:` is expected after a key"
#define E_JSON_OBJECT "`,` or `}` is expected after a member"
#define E_JSON_ARRAY "`,` or `]` is expected after an item"
#define E_JSON_TWICE "the object that ends here has a key twice"
#define E_JSON_DEPTH "values are nested too deep"
#define E_JSON_NUMBER "a digit is expected"
#define E_JSON_RANGE "the number is out of range"
#define E_JSON_CONTROL "a control character in a string"
#define E_JSON_UTF8 "invalid UTF-8"
#define E_JSON_ESCAPE "invalid escape in a string"
#define E_GRAPH_PT2_ROOT "an object is expected"
#define E_GRAPH_PT2_KEY "`%s` is %s, not %s"
#define E_GRAPH_PT2_NAME "`%s` is empty, longer than %d bytes, or has control characters"
#define E_GRAPH_PT2_UNION "an object of one key is expected"
#define E_GRAPH_PT2_IDENTIFIER "`%s` is not an identifier"
#define E_GRAPH_PT2_TARGET "`%s` is not the name of an operator"
#define E_GRAPH_PT2_TWICE "the name `%s` is defined twice"
#define E_GRAPH_PT2_UNDEFINED "no input and no earlier node defines `%s`"
#define E_GRAPH_PT2_ARG "an argument's value is not %s"
#define E_GRAPH_PT2_ARG_KIND "arguments of kind `%s` are not supported here"
#define E_GRAPH_PT2_POSITION "`%s` is argument %u here, but not in the schema of %s"
#define E_GRAPH_PT2_NO_TYPE "`%s` is missing in %s"
#define E_GRAPH_PT2_DTYPE "dtype %s is not supported; cast it in the model, and export again"
#define E_GRAPH_PT2_LAYOUT "only strided tensors are supported; call to_dense() in the model"
#define E_GRAPH_PT2_SIZE "size `%.100s`: %s"
#define E_GRAPH_PT2_SIZE_KIND "a size of kind `%s`"
#define E_GRAPH_PT2_RANK "a tensor of %zu axes; at most %d are supported"
#define E_GRAPH_PT2_NEGATIVE "a size is negative"
#define E_GRAPH_PT2_STRIDES "sizes and strides are not of one length"
#define E_GRAPH_PT2_RANGE "the range is empty: %lld to %lld"
#define E_GRAPH_PT2_SPECS "%zu %s, but %zu of them in the signature"
#define E_GRAPH_PT2_SPEC "the signature has `%s` where the graph has `%s`"
#define E_GRAPH_PT2_SPEC_KIND \
  "inputs and outputs of kind `%s` are not supported; export a model of tensors, for inference"
#define E_GRAPH_PT2_SPEC_VALUE "the signature has `%s` where the graph has another value"
#define E_GRAPH_PT2_NO_TENSOR "inputs with values in the file must be tensors"
#define E_GRAPH_PT2_REGION "%zu %s, but its subgraph has %zu"
#define E_GRAPH_PT2_STEPS "loops over an axis whose size is open are not supported"
#define E_GRAPH_PT2_STEPS_MAX "a loop of %lld steps is not supported; up to %d are unrolled"
#define E_GRAPH_PT2_WHILE \
  "a while_loop whose data decides how often it runs carries tensors, at least one, and its " \
  "condition is a tensor or compares sizes"
#define E_GRAPH_PT2_MUTATION "no input has the name `%s`"
#define E_GRAPH_PT2_PICKLE \
  "it is pickled, as tensor subclasses are; unwrap it in the model, and save it again"
#define E_GRAPH_PT2_NO_BYTES "the archive has no entry %s"

/* ONNX models; the prefix of most is "FILE: error: PATH IN IT: ". */
#define E_ONNX_FILE "the file is not an ONNX model: %s; copy it again, or export it again"
#define E_ONNX_EXTERNAL "tensor %s: its file %s can't be used: %s"
#define E_ONNX_EXTERNAL_NUMBER "its external_data has no valid %s"
#define E_ONNX_TWICE "two values have this name"
#define E_ONNX_UNDEFINED "no input and no earlier node defines `%s`"
#define E_ONNX_RANK "%zu axes; at most %d are supported"
#define E_ONNX_NEGATIVE "a size is %lld"
#define E_ONNX_TOO_LARGE "it has more than 2^60 elements"
#define E_ONNX_BYTES "its elements take %zu bytes, the file has %zu"
#define E_ONNX_CALLS \
  "with its functions inlined and its loops unrolled, the model has over %d nodes"
#define E_ONNX_NAMES "inlined, they have over %d names"
#define E_ONNX_ELEMENTS "constant folding computes over %d elements"
#define E_ONNX_BODIES "functions and bodies are nested more than %d deep here"
#define E_ONNX_BODY "the body's %zu inputs and %zu outputs do not fit those of the operator"
#define E_ONNX_ITEM "index %lld is out of range for a sequence of %u items"
#define E_ONNX_MAP "input %u is a sequence of %u items, the first one has %u"
#define E_ONNX_ABSENT "its optional value is absent"
#define E_ONNX_ITEMS \
  "its number of items %s; state it, %s, by --items %s=N, or in Python by items={...}"
#define E_GRAPH_NO_ITEMS "%s: items of `%s` are stated, but models of ONNX's alone have sequences"
#define E_ONNX_NO_ITEMS "`%s`, whose items are stated, is no sequence and no optional input"
#define E_ONNX_INPUT "input %u is missing"
#define E_ONNX_NEEDS_VALUE \
  "`%s` determines a shape and depends on input %s: give its value with the model, as INPUT.npy"
#define E_ONNX_UNKNOWN "`%s` determines a shape, but has its value at run time only"
#define E_ONNX_FLAGS "`%s` must be a vector of booleans"
#define E_ONNX_VECTOR "`%s` must be a vector of integers"
#define E_ONNX_SYMBOLIC "`%s` must be literal numbers, not %s"
#define E_ONNX_SINGLE "`%s` must have one element"
#define E_ONNX_ATTR_TYPE "attribute %s does not have its type in ONNX"
#define E_ONNX_ATTR_COUNT "attribute %s has %u items, not %u"
#define E_ONNX_ATTR_MISSING "attribute %s is missing"
#define E_ONNX_ATTR_VALUE "attribute %s is %s, which ONNX does not define"
#define E_ONNX_LACKS "unsupported operators, attributes and types: %zu"
#define N_ONNX_RANK "an unknown number of axes (give their values with the model)"
#define E_ONNX_LACK_DTYPE "tensors of %s"
#define E_ONNX_LACK_LIST "a list of more than %d items"
#define E_ONNX_LACK_STRINGS "strings"
#define N_ONNX_NODE "while translating %s"

/* calls of operators */
#define E_GRAPH_ARG_COUNT "%s takes %u positional arguments at most, not %u"
#define E_GRAPH_ARG_NAME "%s has no argument '%s'"
#define E_GRAPH_ARG_TWICE "argument '%s' of %s is given twice"
#define E_GRAPH_ARG_MISSING "%s lacks its argument '%s'"
#define E_GRAPH_ARG_KIND "argument '%s' of %s must be %s, not %.60s"
#define H_GRAPH_SCHEMA "%s is declared as %s"

/* types of results */
#define E_GRAPH_INFER "%s = %s: %s"
#define E_GRAPH_INPUT_TYPE \
  "input %s has no type: give INPUT.npy for it (--weights for a parameter), or annotate it, as " \
  "in %s: 'f32[2, 3]'"
#define E_GRAPH_TYPE_DIFFERS "%s is annotated %s, but is %s"
#define E_GRAPH_OPEN_SIZE "size %s is unknown: no input and no earlier value has its symbols"
#define E_GRAPH_GETITEM "getitem takes a list and a literal index"
#define E_GRAPH_HUGE \
  "%s overflows 64 bits, or has too long an expression: export with smaller sizes, or fixed " \
  "ones"
#define E_GRAPH_ITEM "index %lld is out of range for %u items"
#define E_GRAPH_NO_TENSOR "'%s' must be a tensor"
#define E_GRAPH_NO_DTYPE "dtype torch.%s is not supported"
#define E_GRAPH_COMPLEX_RANK "%s: complex numbers can't have more than %d axes"
#define E_GRAPH_COMPLEX_LEFT \
  "pass %s takes real numbers only, and %s is complex; run split_complex before it"
#define E_GRAPH_COMPLEX_PARTS "parts of complex numbers are f32 or f64, not %s"
#define E_GRAPH_COMPLEX_WANTED "%s is not complex"
#define E_GRAPH_TRANSFORM "a Fourier transform of %s elements"
#define E_GRAPH_TRANSFORM_SIZES "%u sizes for %u axes"
#define E_GRAPH_TRANSFORM_NORM "norm is forward, backward or ortho, not '%s'"
#define E_GRAPH_SHORT_TRANSFORM "n_fft %lld, hop_length %lld and win_length %lld do not go together"
#define E_GRAPH_STFT "it is supported with return_complex=True, and without align_to_window"
#define E_GRAPH_ROI \
  "sampling_ratio %lld for %lld by %lld elements is not supported; give one of 1 to 1024"
#define E_GRAPH_DEFORM "%lld groups and %lld of offsets do not divide %lld channels"
#define E_GRAPH_MATRIX_ROWS "matrices of %s rows are not supported; up to %d are"
#define E_GRAPH_FACTORS "it is supported without check_errors"
#define E_GRAPH_QR_MODE "mode is reduced, complete or r, not '%s'"
#define E_GRAPH_REFLECTIONS "%s reflections of %s vectors"
#define E_GRAPH_MATRIX_FUNCTION "there is no function '%s' of %u such sizes"
#define E_GRAPH_BLOCKS "a block of %u axes for a tensor of %u"
#define E_GRAPH_ZERO_DOMAIN "zero_point_domain is INT, FLOAT or NONE, not '%s'"
#define E_GRAPH_MAPPING \
  "parameters are chosen SYMMETRIC or ASYMMETRIC and so that 0 stays 0, not %s"
#define E_GRAPH_DTYPE_WANTED "a tensor of %s is expected, not %s"
#define E_GRAPH_COMPLEX "it is not supported for complex numbers"
#define E_GRAPH_LITERAL "'%s' must be a literal number, not %s"
#define E_GRAPH_RANK "more than %d axes"
#define E_GRAPH_AXIS "axis %lld is out of range for rank %u"
#define E_GRAPH_AXIS_TWICE "axis %lld is given twice"
#define E_GRAPH_AXES "a tensor of %u to %u axes is expected, not %s"
#define E_GRAPH_AXES_EXACT "a tensor of rank %u is expected, not %s"
#define E_GRAPH_REDUCTION "reduction must be 0 (none), 1 (mean) or 2 (sum), not %lld"
#define E_GRAPH_NEGATIVE "the result would have a negative size: %s"
#define E_GRAPH_SIZES "%s must be equal, not %s and %s"
#define E_GRAPH_DIVIDE "%s is not a multiple of %lld"
#define E_GRAPH_FIXED "axis %u of %s must have a fixed size: export the model with one"
#define E_GRAPH_BROADCAST "%s does not broadcast with %s: %s is not %s"
#define E_GRAPH_FITS "%s cannot be expanded to %s"
#define E_GRAPH_PROMOTE "%s and %s have no common dtype: cast one of them"
#define E_GRAPH_SAME_DTYPE "both must be of one dtype, not %s and %s"
#define E_GRAPH_NEEDS_FLOAT "floats are needed, not %s"
#define E_GRAPH_OUT_OF_DTYPE "%s: %lld is no number of %s"
#define E_GRAPH_NEEDS_INTEGER "integers are needed, not %s"
#define E_GRAPH_NO_BOOL "it is not defined on bools: use logical_not or logical_xor"
#define E_GRAPH_IN_PLACE "a result of %s cannot be written to a tensor of %s"
#define E_GRAPH_CONDITION "the condition must be of bools, not of %s"
#define E_GRAPH_ROUNDING "rounding_mode is 'floor' or 'trunc', not '%s'"
#define E_GRAPH_STRIDES "%u strides for %u sizes"
#define E_GRAPH_OUTSIDE "element %s may be out of the bounds of %s"
#define E_GRAPH_NARROW "%s elements from index %lld exceed axis %u of %s"
#define E_GRAPH_CLAMP "one of min and max must be given"
#define E_GRAPH_RESHAPE "%s does not have the elements of %s"
#define E_GRAPH_HOLES "more than one size is -1: %s"
#define E_GRAPH_FLATTEN "axis %u is after axis %u"
#define E_GRAPH_REPEAT "%u repetitions for %s, which has more axes"
#define E_GRAPH_PERMUTE "%u axes for %s"
#define E_GRAPH_STEP "a step, a part or a factor must be positive, not %lld"
#define E_GRAPH_INDEX "index %lld is outside of axis %u of %s"
#define E_GRAPH_INDICES "%u indices do not fit %s, or are all None"
#define E_GRAPH_PLAN_LOOP \
  "loop while %%%s: its condition is a bool without axes, its steps are in the plan, and other " \
  "loops are within it or outside of it"
#define E_GRAPH_PLAN_READ "size %s must be read from an i64 scalar, after the sizes that come first"
#define E_GRAPH_READ                                                                       \
  "%s is %lld, out of its range 0 to %lld: the data has numbers that the model allows no " \
  "room for, or the model counts wrong"
#define E_GRAPH_WEIGHTS "weights %s are not one for each element of %s"
#define E_GRAPH_REDUCE "'%s' is not a reduction: sum, prod, mean, amax or amin"
#define E_GRAPH_RANDOM \
  "'%s' is not a distribution of random numbers: uniform, normal, bits or bits64"
#define E_GRAPH_DRAW "seeds and counters of random numbers must be integers, not of %s"
#define E_GRAPH_INDEX_DTYPE "indices must be of i64 or i32, not of %s"
#define E_GRAPH_PARTS "the result has %lld parts: at most %d are supported"
#define E_GRAPH_EMPTY_LIST "the list of tensors is empty"
#define E_GRAPH_CAT "%s and %s differ in axes other than %u"
#define E_GRAPH_PAD "%u sizes of padding do not fit %s"
#define E_GRAPH_REFLECT "a padding of %s is not below the size %s that it reflects"
#define E_GRAPH_NOTHING "no elements to choose from along axis %u of %s"
#define E_GRAPH_TOPK "k = %s is more than %s has along axis %u"
#define E_GRAPH_WEIGHT "%s is %s, but %s is normalized"
#define E_GRAPH_EINSUM "the equation '%s' does not fit the tensors"
#define E_GRAPH_HEADS "the heads of %s are not a multiple of those of %s"
#define E_GRAPH_OFFSETS "two matrices need 'offs', the ends of the groups"
#define E_GRAPH_PER_AXIS "'%s' has %u items: one, or %u are needed"
#define E_GRAPH_PADDING "padding is 'same' or 'valid', not '%s'"
#define E_GRAPH_NOT_WRITTEN "no step of the plan writes %s"
#define E_GRAPH_POOL_PADDING "the padding %s must be from 0 to half of the window, which is %s"
#define E_GRAPH_RNN_PARAMS "%u weights or states are given; %u are needed"
#define E_GRAPH_WINDOW "the window of %s is larger than the padded size of %s"
#define E_GRAPH_SAME_STRIDE "padding 'same' needs strides of 1"
#define E_GRAPH_RESIZE "one of output_size and scale_factors must be given"
#define E_GRAPH_SCALE "a scale must be positive and below 2^24, not %g"
#define E_GRAPH_ARANGE "the range would have %g items"
#define E_GRAPH_ITEM_OF "item() needs one element, not %s"
#define E_GRAPH_ZERO "division by zero"

/* passes on graphs */
#define E_GRAPH_PAD_MODE "padding mode '%s' is none of constant, reflect, replicate, circular"
#define E_GRAPH_LISTS "the lists have %u and %u items, those of '%s'"
#define E_GRAPH_MASK "output_mask has no item %u"
#define E_GRAPH_TRAINING "statistics of the batch would be written: export the model after eval()"
#define E_GRAPH_DROPOUT \
  "attention with dropout has a kernel for f32, f16 and bf16, and for at most 256 columns"
#define E_GRAPH_SEED "dropout of %g needs the seed that the forward pass had"
#define E_GRAPH_PART "its operand must be a %s, whose kernel computes it"
#define E_GRAPH_NOT_FUNCTIONAL \
  "%s: %s writes in place; run pass functionalize before pass %s"
#define E_GRAPH_WRITES \
  "%s: the in-place write of %s is not supported; use the op that returns a value"
#define E_GRAPH_WRITE_VIEW \
  "%s writes through %s, which is not supported; write to the tensor itself"
#define E_GRAPH_MAYBE_VIEW \
  "%s = %s may be a view of %s, to which %s writes, or a copy: " \
  "write .clone() in the model to have a copy"

/* plans, and running them */
#define E_GRAPH_PLAN_SIZE "a size in a plan: %s"
#define E_GRAPH_PLAN_RANGE "symbol %s has an empty range; sizes are never negative"
#define E_GRAPH_PLAN_UPDATE "%%%s cannot be updated from %%%s, which is of another type"
#define E_GRAPH_PLAN_NUMBER "%%%s is a number, so it is of type \"i64[]\""
#define E_GRAPH_PLAN_ONCE_LATE "%s runs once, so it must come before the steps of each run"
#define E_GRAPH_PLAN_ONCE_USE "%s runs once, before the first value of %%%s"
#define E_GRAPH_PLAN_ONCE_SIZE "%s runs once, so its sizes are numbers"
#define E_GRAPH_PLAN_ONCE_GONE \
  "%%%s is written by a step that runs once and read by %s in each run: make it a constant"
#define E_GRAPH_PLAN_BUFFER "no earlier line defines buffer %%%s"
#define E_GRAPH_INPUT_KIND \
  "input %s is neither a tensor nor an integer; export the model with a tensor in its place"
#define E_GRAPH_OPERAND_NUMBER \
  "%s takes the number %s, which %s computes, as an operand; of numbers only literals and " \
  "integers of sizes can be: compute it by tensors in the model, from torch.tensor(...)"
#define E_GRAPH_OUTPUT_KIND \
  "output %s is neither a tensor nor a size; return a tensor from the model in its place"
#define E_GRAPH_INPUT_COUNT "the model takes %u inputs, not %d"
#define E_GRAPH_INPUT_DTYPE "input %u (%s) is of dtype %s, not %s"
#define E_GRAPH_INPUT_RANK "input %u (%s) has %d axes, not %u"
#define E_GRAPH_INPUT_NUMBER \
  "input %u (%s) is a number: pass an i64 tensor without axes, in host memory"
#define E_GRAPH_INPUT_FIXED \
  "%s is %lld, not %lld, which is fixed in the file; " \
  "export the model again with a dynamic size there"
#define E_GRAPH_INPUT_SIZE "%s is %lld, but %s is %lld as %s has it"
#define E_GRAPH_INPUT_EQUAL \
  "node %s takes %s and %s to be equal; for these inputs they are %lld and %lld"
#define E_GRAPH_INPUT_DIFFER \
  "node %s takes %s and %s to differ; for these inputs they are %lld and %lld"
#define E_GRAPH_INPUT_SMALL \
  "node %s takes %s to be at least %s; for these inputs it is %lld, below %lld"
#define E_GRAPH_INPUT_UNDEFINED \
  "node %s takes %s and %s to be %s; for these inputs one of them has no value"
#define E_GRAPH_INPUT_DERIVED "%s is %lld, but %s is %lld"
#define E_GRAPH_INPUT_FOLLOWS "%s is %lld, but %s is %lld, where %s is %lld as %s has it"
#define E_GRAPH_INPUT_RANGE "%s is %lld, but %s is from %lld to %lld"
#define E_GRAPH_INPUT_LEAST "%s is %lld, but %s is at least %lld"
#define E_GRAPH_NO_SIZE "%s: axis %u is %s, which has no value for inputs of these shapes"
#define E_GRAPH_STEP_VALUE "kernel %s: %s has no value for inputs of these shapes"
#define E_GRAPH_STEP_LARGE \
  "kernel %s: %s has %lld elements, 2^31 or more, and its sizes may be smaller: " \
  "give them a range (--range SIZE=LO..HI) in which it always has as many"
#define E_GRAPH_LOOP_TEST "the condition of a loop is a bool without axes, not %s"
#define E_GRAPH_LOOP_COUNT \
  "%u carried values, but %u of the next iteration; a loop has at least one"
#define E_GRAPH_LOOP_CARRIED \
  "carried value %u is %s at first and %s after an iteration; real values of one type are supported"
#define E_GRAPH_LOOP_RANDOM \
  "%s: %s draws the same random numbers in each iteration of a loop that data ends; draw them " \
  "before the loop"
#define E_GRAPH_LOOP_SIZE \
  "%s: %s in a loop that data ends: its data decides a size, which is supported outside of loops"
#define E_GRAPH_UPDATE_SIZE \
  "%s has %lld bytes, and %s, which it is updated from, %lld for inputs of these shapes"
#define E_GRAPH_STEP_GRID "kernel %s: the grid's axis %d is %lld for inputs of these shapes"
#define N_BUILD_ELSEWHERE \
  "no GPU of %s is here to measure on: tile sizes come from records, or from guesses without " \
  "them"
#define E_BUILD_TWICE "target %s is named twice"
#define E_BUILD_MIXED "targets %s: a project is for GPUs, or for one CPU"
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
#define E_GRAPH_NO_WEIGHT "the model needs tensor %s, which no file gives: name one by --weights"
#define E_GRAPH_NOT_WRITTEN "no step of the plan writes %s"
#define E_GRAPH_POOL "temporary %s is outside of the plan's pool"
#define E_GRAPH_DEVICE_MEMORY \
  "%s; the model takes %lld MiB on %s: %lld of weights, %lld of temporaries, and %lld of " \
  "inputs and outputs"
#define E_GRAPH_TOO_LARGE "%s is too large: its %u axes have more than 2^48 bytes"
#define E_GRAPH_LENT "the caller lends no memory for '%s'"
#define E_GRAPH_TEMPORARIES "the temporaries are too large: more than 2^48 bytes at once"
#define E_GRAPH_OUTPUT_COUNT "the model has %u outputs, not %d"
#define E_GRAPH_OUTPUT_TENSOR "output %u (%s) is %s; the tensor for it has another dtype or shape"
#define E_GRAPH_INPUT_VALUE \
  "input %u (%s) determines shapes, and had another value when the model was read: read it " \
  "again"
#define E_GRAPH_PLAN_RECORDS \
  "%%%s must have two i64 numbers for each of its checks, of which it needs one or more"
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
#define E_GRAPH_WEIGHTS_FILE \
  "%s has no weights: name the .pt2 or .onnx file that the graph was printed from"
#define E_GRAPH_WEIGHTS_LACK \
  "%s has no tensor for %s: name the .pt2 file that the graph was printed from"
/* rewrite rules */
#define E_REWRITE_EMPTY \
  "the file has no rules: a rule is a class with functions pattern and replacement"
#define E_REWRITE_RULE "rule %s lacks a function pattern or replacement"
#define E_REWRITE_PARAMETERS "the functions of rule %s must have the same parameters"
#define E_REWRITE_ANNOTATION \
  "parameter %s must be annotated as float, int, bool, list, any, or a type such as \"f32[..., " \
  "D]\""
#define E_REWRITE_EXPRESSION "this cannot be used here in a rule: %s"
#define E_REWRITE_NAME "%s has no value here"
#define E_REWRITE_OP "unknown operator %s"
#define E_REWRITE_BODY "%s may have assignments of one name and asserts, and then returns a value"
#define E_REWRITE_ROOT "%s must return the result of a call"
#define E_REWRITE_UNUSED "the pattern does not use its parameter %s"
#define E_REWRITE_LARGE \
  "rule %s is too large: at most 64 calls, parameters and sizes, 16 asserts and 500 terms are " \
  "supported"
#define N_REWRITE "in the replacement of rule %s"
#define E_REWRITE_TYPE "rule %s replaces %s, which is %s, by a value of type %s"
#define E_REWRITE_ROUNDS "rule %s matches replacements without end"

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
#define E_GRAPH_RELEASED "nereid_graph_options.released: there is no input %d; the model has %d"
#define E_GRAPH_RETYPE_COMPLEX \
  "%s is complex, so the model runs in its own dtype only; leave --dtype out"
#define E_GRAPH_RETYPE_BITS \
  "%s reads the bits of floats, so the model runs in its own dtype only; leave --dtype out"
#define E_GRAPH_MODE \
  "unknown mode %s%s; modes are default, eager, reduce-overhead and max-autotune"
#define N_GRAPH_NO_REPLAY \
  "the driver has no CUDA graphs, so mode reduce-overhead runs as default; update it"
#define N_GRAPH_UNMEASURED \
  "some kernels could not be measured, and run in the shapes of mode default: %s"
#define E_GRAPH_BYTES "these bytes are no executable, or are damaged; make the executable again"
#define E_GRAPH_BYTES_BUILD \
  "the executable was made by another build of Nereid (%s); make it again with this one (%s)"
#define E_GRAPH_BYTES_DEVICE "the executable was made for %s, not for %s; make it again there"
#define E_GRAPH_BYTES_WEIGHTS \
  "%s has changed since the executable was made, which has its weights there; make it again"
#define N_GRAPH_LIBRARIES_UNMEASURED \
  "libraries could not be measured against kernels, and compute what records say: %s"
#define E_GRAPH_NO_LIBRARY "there is no library function %s"
#define E_GRAPH_CALL_STRIDES \
  "%s: a library can't read %s, whose elements are at no fixed distances in memory"
#define E_GRAPH_CALL_ARGS \
  "a call of %s must have the arguments of a product: a, b, out and its numbers"
#define E_GRAPH_CALL_DEVICE \
  "the plan calls %s, which device %s has not: make the plan for this device, or with " \
  "--no-libraries"
#define E_GRAPH_LIBRARIES "unknown libraries %s%s; choose records, always or none"
#define E_BUILD_LIBRARY \
  "the plan calls the library function %s, which projects do not have: make it with --no-libraries"
#define E_GRAPH_NUMBER "there is no %s %d; the model has %u, counted from 0"

#endif
