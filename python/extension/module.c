/* The module's functions, its state, and its beginning. */
#include "model/nereid_graph.h"
#include "python/extension/extension.h"

static PyObject *py_build_id(PyObject *module, PyObject *unused) {
  (void)module, (void)unused;
  return PyUnicode_FromString(nereid_build_id());
}

static PyObject *py_device_count(PyObject *module, PyObject *kind) {
  (void)module;
  const char *name = PyUnicode_AsUTF8AndSize(kind, NULL);
  return name ? PyLong_FromLong(nereid_device_count(name)) : NULL;
}

static PyObject *py_targets(PyObject *module, PyObject *unused) {
  (void)module, (void)unused;
  PyObject *out = PyList_New(0);
  for (int i = 0; out && nereid_target(i); i++) {
    PyObject *name = PyUnicode_FromString(nereid_target(i));
    if (!name || PyList_Append(out, name)) Py_CLEAR(out);
    Py_XDECREF(name);
  }
  return out;
}

static PyObject *py_has_operator(PyObject *module, PyObject *arg) {
  (void)module;
  const char *name = PyUnicode_AsUTF8AndSize(arg, NULL);
  return name ? PyBool_FromLong(nereid_graph_has_operator(name)) : NULL;
}

static PyObject *py_attention_widths(PyObject *module, PyObject *args) {
  (void)module;
  int capability, gradients;
  unsigned bits;
  int64_t keys, values;
  if (!PyArg_ParseTuple(args, "iIp", &capability, &bits, &gradients)) return NULL;
  nereid_graph_attention_widths(&keys, &values, capability, bits, gradients);
  return Py_BuildValue("LL", (long long)keys, (long long)values);
}

static PyObject *py_find_tool(PyObject *module, PyObject *tool) {
  (void)module;
  char path[4096];
  const char *name = PyUnicode_AsUTF8AndSize(tool, NULL);
  if (!name) return NULL;
  nereid_find_tool(path, sizeof path, name);
  return PyUnicode_FromString(path);
}

static PyMethodDef functions[] = {
    {"build_id", py_build_id, METH_NOARGS, "Differs with any change of the compiler."},
    {"device_count", py_device_count, METH_O, "How many of \"cuda\", \"cpu\", ... there are."},
    {"targets", py_targets, METH_NOARGS, "The GPUs that code can be compiled for."},
    {"has_operator", py_has_operator, METH_O, "Does a graph's operator have that name?"},
    {"attention_widths", py_attention_widths, METH_VARARGS,
     "attention_widths(compute capability, bits, with gradients): the most columns of keys, and of "
     "values, of a kernel."},
    {"compile", (PyCFunction)(void (*)(void))py_compile, METH_VARARGS | METH_KEYWORDS,
     "compile(source, kernel, args, ...): an Image."},
    {"tuned_options", py_tuned_options, METH_NOARGS,
     "[(name, default)] of options that configurations have."},
    {"refusal", py_refusal, METH_VARARGS,
     "refusal(name, value): why an option of configurations has no such value, or None."},
    {"graph_options", py_graph_options, METH_NOARGS,
     "{name: words with blanks between, or ''} of a graph's options, nereid_graph_options.h."},
    {"emit", (PyCFunction)(void (*)(void))py_emit, METH_VARARGS | METH_KEYWORDS,
     "emit(source, kernel, args, ..., kind=): the text of a stage."},
    {"estimate", (PyCFunction)(void (*)(void))py_estimate, METH_VARARGS | METH_KEYWORDS,
     "estimate(source, kernel, args, ..., grid=, values=): what the cost model expects, a dict."},
    {"request_key", (PyCFunction)(void (*)(void))py_request_key, METH_VARARGS | METH_KEYWORDS,
     "request_key(source, kernel, args, ..., device=): 16 bytes, the key of what it computes."},
    {"tune_round", py_tune_round, METH_VARARGS,
     "tune_round([(median, spread in us, runs, known)], round): ([runs], limit in us); None: the "
     "search is over."},
    {"records_find", py_records_find, METH_VARARGS,
     "records_find(device, [(kernel, signature, problem, config, key, image or None)]): of each "
     "None or (status, median, spread, runs), in microseconds."},
    {"records_store", py_records_store, METH_VARARGS,
     "records_store(device, [(..., status, median, spread, runs)], replace=False)."},
    {"find_tool", py_find_tool, METH_O, "find_tool(\"ptxas\" or \"cc\"): its path, or \"\"."},
    {"set_launch_hooks", py_set_launch_hooks, METH_VARARGS,
     "set_launch_hooks(enter, exit): called around each launch; None: nobody is."},
    {"set_debug", py_set_debug, METH_O,
     "set_debug(flag): calls need kernels that were compiled with knobs.runtime.debug as it is."},
    {"set_allocator", py_set_allocator, METH_O,
     "set_allocator(f): f(size, alignment, stream) gives the scratch memory of launches."},
    {"register", py_register, METH_VARARGS,
     "register(\"constexpr\" or \"descriptor\", class): what arguments are told by."},
    {NULL, NULL, 0, NULL}};

static int start_module(PyObject *module) {
  State *s = state_of(module);
  struct {
    PyObject **slot;
    const char *text;
  } names[] = {{&s->s_base, "base"},       {&s->s_shape, "shape"},
               {&s->s_strides, "strides"}, {&s->s_block_shape, "block_shape"},
               {&s->s_padding, "padding"}, {&s->s_value, "value"}};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    *names[i].slot = PyUnicode_InternFromString(names[i].text);
    if (!*names[i].slot) return -1;
  }
  for (int kind = 0; kind < NEREID_KIND_COUNT; kind++) {
    PyObject *name = PyUnicode_FromFormat("KIND_%s", nereid_kind_name((nereid_kind)kind));
    const char *text = name ? PyUnicode_AsUTF8AndSize(name, NULL) : NULL;
    int code = text ? PyModule_AddIntConstant(module, text, kind) : -1;
    Py_XDECREF(name);
    if (code) return -1;
  }
  return add_objects(module) || add_memory(module) || add_dispatch(module) || add_records(module) ||
                 add_graphs(module)
             ? -1
             : 0;
}

static PyModuleDef_Slot slots[] = {{Py_mod_exec, start_module}, {0, NULL}};

struct PyModuleDef module_definition = {
    .m_base = PyModuleDef_HEAD_INIT,
    .m_name = "nereid._nereid",
    .m_doc = "Nereid's C API.",
    .m_size = sizeof(State),
    .m_methods = functions,
    .m_slots = slots,
};

PyMODINIT_FUNC PyInit__nereid(void) { return PyModuleDef_Init(&module_definition); }
