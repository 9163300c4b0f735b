/* Files of models: E_GRAPH_ and, of one format, E_GRAPH_PT2_, E_JSON_, E_PICKLE_ and E_ONNX_. */
#ifndef NEREID_IMPORT_MESSAGES_H
#define NEREID_IMPORT_MESSAGES_H

/* graphs as text, and what is not supported */
#define E_GRAPH_UNDEFINED "no input and no earlier node defines `%s`"
#define E_ONNX_TREE "tree %lld: node %lld %s"
#define E_GRAPH_NO_FORWARD \
  "the file is no model: neither a .pt2 file nor ONNX's, and as text it defines no function " \
  "'forward', as graphs that FX prints do"
#define E_GRAPH_NO_RETURN "'%s' ends without a return"
#define E_GRAPH_AFTER_RETURN "a statement after the return"
#define E_GRAPH_STATEMENT \
  "a graph consists of assignments of one call to one name, and a return at its end"
#define E_GRAPH_PARAMETER "'forward' of a graph has plain parameters only, no * or **"
#define E_GRAPH_SELF "in a graph, 'self' is the module: give this value another name"
#define E_GRAPH_NAME "no earlier node has the name '%s'"
#define E_GRAPH_SUBMODULE "no class in the file with a forward() is meant by that"
#define E_GRAPH_SUBMODULE_INPUTS "the function takes %u values, and is given %u"
#define E_GRAPH_ELEMENTS "%s: a function of scores has operators of single elements only"
#define E_GRAPH_FLEX \
  "flex_attention takes tensors whose types are known, two graphs, a block mask and a scale"
#define E_GRAPH_FLEX_READ \
  "a function of scores has gradients of tensors that it reads at an index of each axis, no others"
#define E_GRAPH_ARGUMENT "'%s' is not allowed here: a graph's values are calls, x[0], or a + b"

/* archives and the tensors in them */
#define E_GRAPH_OPEN "the file can't be read: %s"
#define E_GRAPH_ZIP \
  "the file is not a zip archive, or is truncated; copy it again, or save the model again"
#define E_GRAPH_ZIP_ENTRY \
  "archive entry %s: %s; pack the files again with `zip -0`, or save the model again"
#define E_GRAPH_WEIGHT_MISSING "the file has no tensor %s for parameter %s; save the model again"

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
#define E_GRAPH_PT2_AUTOCAST \
  "node %s: under autocast %s computes products in %s, and other values in its operands' dtype, " \
  "which no node of the file says; export the module without autocast, in the dtype that it " \
  "shall have"
#define E_GRAPH_PT2_TARGET "`%s` is not the name of an operator"
#define E_GRAPH_PT2_TWICE "the name `%s` is defined twice"
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
#define E_GRAPH_PT2_PICKLE "its pickle can't be read, of which nothing is ever run: %s"
#define E_GRAPH_PT2_PICKLED_FILE "its pickle is in no archive of torch.save"
#define E_GRAPH_PT2_PICKLED_TENSOR "%s has a tensor whose record is malformed"
#define E_GRAPH_PT2_PICKLED_KIND "it is a %s, which is no tensor of a known kind"
#define E_GRAPH_PT2_WHOLE \
  "the model uses %s as a whole, a tensor subclass; save its run_decompositions(), which unwraps it"
#define E_GRAPH_PT2_PART "%s has no tensor `%s`"
#define E_GRAPH_PT2_NO_BYTES "the archive has no entry %s"

/* pickles of tensors: the reasons in E_GRAPH_PT2_PICKLE */
#define E_PICKLE_BROKEN "it is malformed"
#define E_PICKLE_NAME "it names %s, which is no part of a tensor"
#define E_PICKLE_OPCODE "it has opcode %d, which no tensor needs"

/* files of tensors alone */
#define E_TENSORS_FILE "the %s file can't be used: %s; copy it again, or save it again"
#define E_TENSORS_ENTRY "tensor %s of the %s file: %s; copy the file again, or save it again"
#define E_TENSORS_DTYPE "tensor %s has the type %s, which is not supported: save it in another one"

/* ONNX models; the prefix of most is "FILE: error: PATH IN IT: ". */
#define E_ONNX_FILE "the file is not an ONNX model: %s; copy it again, or export it again"
#define E_ONNX_EXTERNAL "tensor %s: its file %s can't be used: %s"
#define E_ONNX_EXTERNAL_NUMBER "its external_data has no valid %s"
#define E_ONNX_TWICE "two values have this name"
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
#define E_ONNX_NO_ITEMS "`%s`, whose items are stated, is no sequence and no optional input"
#define E_ONNX_INPUT "input %u is missing"
#define E_ONNX_NEEDS_VALUE \
  "`%s` determines a shape and depends on input %s: give its value with the model, as " \
  "INPUT.npy or inputs={...} of nereid.load"
#define E_ONNX_UNKNOWN "`%s` determines a shape, but has its value at run time only"
#define E_ONNX_FLAGS "`%s` must be a vector of booleans"
#define E_ONNX_VECTOR "`%s` must be a vector of integers"
#define E_ONNX_SYMBOLIC "`%s` must be literal numbers, not %s"
#define E_ONNX_SINGLE "`%s` must have one element"
#define E_ONNX_ATTR_TYPE "attribute %s does not have its type in ONNX"
#define E_ONNX_ATTR_COUNT "attribute %s has %u items, not %u"
#define E_ONNX_ATTR_MISSING "attribute %s is missing"
#define E_ONNX_ATTR_VALUE "attribute %s is %s, which ONNX does not define"
#define E_ONNX_SPARSE "a sparse tensor has an element outside of it"
#define E_ONNX_LACKS "unsupported operators, attributes and types: %zu"
#define N_ONNX_RANK "an unknown number of axes (give their values with the model)"
#define E_ONNX_LACK_DTYPE "tensors of %s"
#define H_ONNX_STRINGS \
  "keep the part of the model that computes numbers (onnx.utils.extract_model), and look its " \
  "results up in strings outside of it"
#define H_ONNX_LACKS \
  "export the model without them (of another opset, or decomposed), give them as functions of " \
  "the model, or keep the part before them (onnx.utils.extract_model)"
#define E_ONNX_LACK_LIST "a list of more than %d items"
#define M_ONNX_CATEGORY "an element is none of OneHotEncoder's categories"
#define M_ONNX_WINDOW "the caches have fewer rows than local_window_size"
#define E_ONNX_LACK_PARTS "parts of strings that other nodes have chosen"
#define E_ONNX_LACK_STRINGS "strings"
#define N_ONNX_NODE "while translating %s"

#endif
