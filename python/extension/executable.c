/* Executables: models on a device.
 *
 * An executable is used by any number of threads: each run takes a session from those that no run
 * has, and the interpreter's lock, which is released while the library works, protects the list. */
#include "python/extension/models.h"

PyObject *executable_wrap(State *s, nereid_executable *e, PyObject *device, PyObject *keep) {
  ExecutableObject *self = (ExecutableObject *)new_object(s->executable_type);
  if (!self) {
    nereid_executable_free(e);
    return NULL;
  }
  self->e = e;
  Py_INCREF(device);
  Py_XINCREF(keep);
  self->device = device;
  self->keep = keep;
  return (PyObject *)self;
}

static void free_sessions(Idle *list) {
  for (Idle *next; list; list = next) {
    next = list->next;
    nereid_session_free(list->session);
    PyMem_Free(list);
  }
}

/* A graph that was captured may run at any time, also after the program's last owner is gone: its
 * kernels, constants and memory stay until the process ends, as PyTorch's kernels do. */
static void executable_dealloc(PyObject *self) {
  ExecutableObject *x = (ExecutableObject *)self;
  free_sessions(x->idle);
  free_sessions(x->lent);
  if (!x->captured) {
    nereid_executable_free(x->e);
    Py_XDECREF(x->device);
    Py_XDECREF(x->keep);
  }
  free_object(self);
}

/* from_bytes(bytes, device, weights, no_choices=False) */
static PyObject *executable_load(PyObject *type, PyObject *args) {
  State *s = state_of_type((PyTypeObject *)type);
  PyObject *bytes, *device;
  nereid_executable_source source = {0};
  if (!PyArg_ParseTuple(args, "O!O!z|p", &PyBytes_Type, &bytes, s->device_type, &device,
                        &source.weights, &source.no_choices))
    return NULL;
  char *data;
  Py_ssize_t size;
  if (PyBytes_AsStringAndSize(bytes, &data, &size)) return NULL;
  source.data = data;
  source.size = (size_t)size;
  nereid_device *d = ((DeviceObject *)device)->device;
  nereid_executable *e = NULL;
  int code;
  Py_BEGIN_ALLOW_THREADS code = nereid_executable_from_bytes(&e, &source, d);
  Py_END_ALLOW_THREADS return code ? raise_failure(s, code) : executable_wrap(s, e, device, bytes);
}

static PyObject *executable_to_bytes(PyObject *self, PyObject *embed) {
  nereid_executable *e = ((ExecutableObject *)self)->e;
  nereid_bytes_options o = {.embed_weights = PyObject_IsTrue(embed)};
  char *data = NULL;
  size_t size = 0;
  int code;
  Py_BEGIN_ALLOW_THREADS code = nereid_executable_bytes(&data, &size, e, &o);
  Py_END_ALLOW_THREADS if (code) return raise_failure(state_of_type(Py_TYPE(self)), code);
  PyObject *out = PyBytes_FromStringAndSize(data, (Py_ssize_t)size);
  nereid_text_free(data);
  return out;
}

typedef int Describe(nereid_graph_value *out, const nereid_executable *e, int i);

/* (name or None, type, dtype, is it a number, place), of each. */
static PyObject *list_values(PyObject *self, Describe *describe, int n) {
  const ExecutableObject *x = (const ExecutableObject *)self;
  PyObject *out = PyList_New(n);
  for (int i = 0; out && i < n; i++) {
    nereid_graph_value v;
    int code = describe(&v, x->e, i);
    PyObject *item = code ? raise_failure(state_of_type(Py_TYPE(self)), code)
                          : Py_BuildValue("(zzzOi)", v.name, v.type, v.dtype,
                                          v.is_number ? Py_True : Py_False, v.place);
    if (!item || PyList_SetItem(out, i, item)) Py_CLEAR(out);
  }
  return out;
}

static PyObject *executable_inputs(PyObject *self, void *unused) {
  (void)unused;
  int n = nereid_executable_ninputs(((ExecutableObject *)self)->e);
  return list_values(self, nereid_executable_input, n);
}

static PyObject *executable_outputs(PyObject *self, void *unused) {
  (void)unused;
  int n = nereid_executable_noutputs(((ExecutableObject *)self)->e);
  return list_values(self, nereid_executable_output, n);
}

static PyObject *executable_places(PyObject *self, void *unused) {
  (void)unused;
  return PyLong_FromLong(nereid_executable_nplaces(((ExecutableObject *)self)->e));
}

static PyObject *executable_set_static(PyObject *self, PyObject *number) {
  long i = PyLong_AsLong(number);
  if (i == -1 && PyErr_Occurred()) return NULL;
  int code = nereid_executable_set_static(((ExecutableObject *)self)->e, (int)i);
  if (code) return raise_failure(state_of_type(Py_TYPE(self)), code);
  Py_RETURN_NONE;
}

static PyObject *executable_info(PyObject *self, void *unused) {
  (void)unused;
  nereid_executable_info i;
  const ExecutableObject *x = (const ExecutableObject *)self;
  const Idle *last = x->idle ? x->idle : x->lent;
  int code =
      last ? nereid_session_get_info(&i, last->session) : nereid_executable_get_info(&i, x->e);
  if (code) return raise_failure(state_of_type(Py_TYPE(self)), code);
  return Py_BuildValue("{s:L,s:L,s:L,s:L,s:L,s:L,s:i,s:i,s:O}", "pool", (long long)i.pool,
                       "temporaries", (long long)i.temporaries, "weights", (long long)i.weights,
                       "mapped", (long long)i.mapped, "inputs", (long long)i.inputs, "outputs",
                       (long long)i.outputs, "kernels", i.kernels, "launches", i.launches, "stored",
                       i.stored ? Py_True : Py_False);
}

/* ---- the type ---- */

static PyMethodDef executable_methods[] = {
    {"run", executable_run, METH_VARARGS,
     "run(inputs, outputs, allocate, workspace, stream): [(tensor, sizes) or (integer, None)]."},
    {"call", (PyCFunction)(void (*)(void))executable_call, METH_FASTCALL,
     "call(inputs, makers, lends, workspace, stream, threads): the tensors; inputs is emptied."},
    {"explain", executable_explain, METH_O, "explain(inputs): a table with measured times."},
    {"set_static", executable_set_static, METH_O, "Input i is the same tensor in all runs."},
    {"bytes", executable_to_bytes, METH_O, "bytes(embed_weights): the executable as bytes."},
    {"from_bytes", executable_load, METH_VARARGS | METH_CLASS,
     "from_bytes(bytes, device, weights, no_choices): an executable from what bytes() gave."},
    {NULL, NULL, 0, NULL}};

static PyGetSetDef executable_members[] = {
    {"inputs", executable_inputs, NULL, "(name, type, dtype, is_number, place) of each.", NULL},
    {"outputs", executable_outputs, NULL, "The same of outputs.", NULL},
    {"nplaces", executable_places, NULL, "How many values the model returns.", NULL},
    {"info", executable_info, NULL, "Memory and kernels of the last run.", NULL},
    {NULL, NULL, NULL, NULL, NULL}};

static PyType_Slot executable_slots[] = {{Py_tp_dealloc, executable_dealloc},
                                         {Py_tp_methods, executable_methods},
                                         {Py_tp_getset, executable_members},
                                         {Py_tp_doc, "A model on a device."},
                                         {0, NULL}};

static PyType_Spec executable_spec = {
    .name = "nereid._nereid.Executable",
    .basicsize = sizeof(ExecutableObject),
    .flags = Py_TPFLAGS_DEFAULT,
    .slots = executable_slots,
};

int add_executables(PyObject *module) {
  State *s = state_of(module);
  s->executable_type = (PyTypeObject *)PyType_FromModuleAndSpec(module, &executable_spec, NULL);
  if (!s->executable_type) return -1;
  return PyModule_AddObjectRef(module, "Executable", (PyObject *)s->executable_type);
}
