/* Graphs: models that were read. */
#include <string.h>

#include "python/extension/models.h"

/* ---- options ---- */

/* What nereid_graph_options points to while it is used. */
typedef struct {
  nereid_graph_options options;
  nereid_graph_range *ranges;
  int *released, *overwritten;
  const char **rewrites;
} Options;

/* None is NULL. */
static int read_text(PyObject *o, const char **out) {
  *out = o == Py_None ? NULL : PyUnicode_AsUTF8AndSize(o, NULL);
  return o == Py_None || *out ? 0 : -1;
}

static int read_number(PyObject *o, int *out) {
  *out = (int)PyLong_AsLong(o);
  return PyErr_Occurred() ? -1 : 0;
}

static int read_replay(PyObject *o, nereid_graph_replay *out) {
  int number;
  if (read_number(o, &number)) return -1;
  *out = (nereid_graph_replay)number;
  return 0;
}

/* (name, lo, hi), or with a fourth item, what is likely */
static int read_range(PyObject *o, nereid_graph_range *r) {
  long long lo, hi, likely = 0;
  if (!PyArg_ParseTuple(o, "sLL|L", &r->symbol, &lo, &hi, &likely)) return -1;
  *r = (nereid_graph_range){r->symbol, lo, hi, likely};
  return 0;
}

/* A sequence as an array of items, which `read` reads one by one. */
#define READ_LIST(list, read)                                                    \
  do {                                                                           \
    Py_ssize_t n = PySequence_Size(value);                                       \
    if (n < 0) return -1;                                                        \
    o->list = PyMem_Calloc((size_t)n + 1, sizeof *o->list);                      \
    if (!o->list) return PyErr_NoMemory(), -1;                                   \
    for (Py_ssize_t i = 0; i < n; i++) {                                         \
      PyObject *item = PySequence_GetItem(value, i);                             \
      int code = item ? read(item, &o->list[i]) : -1;                            \
      Py_XDECREF(item); /* the list has it, too */                               \
      if (code) return -1;                                                       \
    }                                                                            \
    o->options.list = o->list;                                                   \
    o->options.n##list = (int)n;                                                 \
    return 0;                                                                    \
  } while (0)

#define READ_WORD(name) return read_text(value, &o->options.name)
#define READ_TEXT(name) return read_text(value, &o->options.name)
#define READ_FLAG(name) return (o->options.name = PyObject_IsTrue(value)) < 0 ? -1 : 0
#define READ_BITS(name) return read_number(value, &o->options.name)
#define READ_REPLAY(name) return read_replay(value, &o->options.name)
#define READ_RANGES(name) READ_LIST(name, read_range)
#define READ_PLACES(name) READ_LIST(name, read_number)
#define READ_FILES(name) READ_LIST(name, read_text)
/* Functions of C. */
#define READ_PASS_CALL(name) break
#define READ_TUNE_CALL(name) break
#define READ_COMPILE_CALL(name) break

static int read_option(Options *o, const char *option, PyObject *value) {
  do {
#define X(kind, name, ...) \
  if (!strcmp(option, #name)) READ_##kind(name);
    NEREID_GRAPH_OPTIONS(X, X, X)
#undef X
  } while (0);
  return PyErr_Format(PyExc_TypeError, "there is no option `%s`", option), -1;
}

/* A dict by the names of nereid_graph_options.h, which keeps the texts and lists. */
static int read_options(Options *o, PyObject *dict) {
  PyObject *key, *value;
  Py_ssize_t at = 0;
  *o = (Options){0};
  while (PyDict_Next(dict, &at, &key, &value)) {
    const char *name = PyUnicode_AsUTF8AndSize(key, NULL);
    if (!name || read_option(o, name, value)) return -1;
  }
  return 0;
}

static void close_options(Options *o) {
  PyMem_Free(o->ranges);
  PyMem_Free(o->released);
  PyMem_Free(o->overwritten);
  PyMem_Free(o->rewrites);
}

static PyObject *words_of(const char *choices) {
  return PyUnicode_FromString(choices ? choices : "");
}

PyObject *py_graph_options(PyObject *module, PyObject *none) {
  PyObject *dict = PyDict_New(), *words;
#define X(kind, name, uses, flag, value, choices, meaning)                       \
  words = dict ? words_of(choices) : NULL;                                      \
  if (!words || PyDict_SetItemString(dict, #name, words)) Py_CLEAR(dict);        \
  Py_XDECREF(words);
  NEREID_GRAPH_OPTIONS(X, X, X)
#undef X
  (void)module, (void)none;
  return dict;
}

/* ---- graphs ---- */

/* Values of inputs: names (texts or None) and tensors. */
typedef struct {
  WholeTensor *whole;
  nereid_tensor *tensors;
  const char **names;
  int n;
  nereid_graph_items *items;
} Values;

/* The graph reads its model again when it is needed: what it was read from is kept. */
typedef struct {
  PyObject_HEAD nereid_graph *graph;
  PyObject *keep; /* the model's bytes and the values of its inputs */
  Values values;
} GraphObject;

typedef struct {
  PyObject *list;
} Messages;

/* Called with the interpreter's lock released. */
static void add_message(void *context, const char *text) {
  Messages *m = context;
  PyGILState_STATE lock = PyGILState_Ensure();
  PyObject *o = PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "replace");
  if (!o || PyList_Append(m->list, o)) PyErr_Clear(); /* a note is lost for lack of memory */
  Py_XDECREF(o);
  PyGILState_Release(lock);
}

static int open_graph(GraphObject *self, State *s, const nereid_graph_source *source,
                      PyObject *messages) {
  Messages m = {messages};
  int code;
  Py_BEGIN_ALLOW_THREADS code = nereid_graph_open(&self->graph, source, add_message, &m);
  Py_END_ALLOW_THREADS if (code) raise_failure(s, code);
  return code ? -1 : 0;
}

static int read_values(State *s, Values *v, PyObject *names, PyObject *tensors) {
  Py_ssize_t n = PyList_Size(tensors);
  v->n = (int)n;
  v->whole = read_all(s, tensors, n);
  v->tensors = PyMem_Calloc((size_t)n + 1, sizeof *v->tensors);
  v->names = PyMem_Calloc((size_t)n + 1, sizeof *v->names);
  if (!v->whole) return -1;
  if (!v->tensors || !v->names) return PyErr_NoMemory(), -1;
  for (Py_ssize_t i = 0; i < n; i++) {
    PyObject *name = PyList_GetItem(names, i);
    v->tensors[i] = v->whole[i].t;
    if (!name) return -1;
    if (name == Py_None) continue;
    v->names[i] = PyUnicode_AsUTF8AndSize(name, NULL);
    if (!v->names[i]) return -1;
  }
  return 0;
}

static void free_values(Values *v) {
  PyMem_Free(v->whole);
  PyMem_Free(v->tensors);
  PyMem_Free(v->names);
  PyMem_Free(v->items);
}

/* From a list of (name, number); NULL: there are none. */
static int read_items(Values *v, PyObject *list) {
  Py_ssize_t n = list ? PyList_Size(list) : 0;
  v->items = PyMem_Calloc((size_t)n + 1, sizeof *v->items);
  if (!v->items) return PyErr_NoMemory(), -1;
  for (Py_ssize_t i = 0; i < n; i++) {
    long long count;
    PyObject *item = PyList_GetItem(list, i);
    if (!item || !PyArg_ParseTuple(item, "sL", &v->items[i].input, &count)) return -1;
    v->items[i].n = count;
  }
  return 0;
}

/* Graph(path, data, weights, names, tensors, messages, items = []) */
static PyObject *graph_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
  static char *words[] = {"path", "data", "weights", "names", "tensors", "messages", "items", NULL};
  State *s = state_of_type(type);
  nereid_graph_source source = {0};
  PyObject *data, *names, *tensors, *messages, *items = NULL;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "zOzO!O!O!|O!:Graph", words, &source.path, &data,
                                   &source.weights, &PyList_Type, &names, &PyList_Type, &tensors,
                                   &PyList_Type, &messages, &PyList_Type, &items))
    return NULL;
  if (data != Py_None) {
    char *bytes;
    Py_ssize_t size;
    if (PyBytes_AsStringAndSize(data, &bytes, &size)) return NULL;
    source.data = bytes;
    source.size = (size_t)size;
  }
  GraphObject *self = (GraphObject *)new_object(type);
  if (!self) return NULL;
  Values *v = &self->values;
  self->keep = Py_BuildValue("(OOOO)", data, names, tensors, items ? items : Py_None);
  int code = self->keep ? read_values(s, v, names, tensors) : -1;
  source.inputs = v->tensors;
  source.input_names = v->names;
  source.ninputs = code ? 0 : v->n;
  if (!code) code = read_items(v, items);
  source.items = v->items;
  source.nitems = code || !items ? 0 : (int)PyList_Size(items);
  if (!code) code = open_graph(self, s, &source, messages);
  if (code) Py_CLEAR(self);
  return (PyObject *)self;
}

static void graph_dealloc(PyObject *self) {
  GraphObject *g = (GraphObject *)self;
  nereid_graph_free(g->graph);
  free_values(&g->values);
  Py_XDECREF(g->keep);
  free_object(self);
}

/* emit(options, kind): kinds are those of nereid_graph_kind, in their order. */
static PyObject *graph_emit(PyObject *self, PyObject *args) {
  PyObject *dict;
  int kind, code;
  Options o;
  char *text = NULL;
  size_t size = 0;
  if (!PyArg_ParseTuple(args, "O!i", &PyDict_Type, &dict, &kind)) return NULL;
  nereid_graph *g = ((GraphObject *)self)->graph;
  if (read_options(&o, dict)) return close_options(&o), NULL;
  Py_BEGIN_ALLOW_THREADS code =
      nereid_graph_emit(&text, &size, g, &o.options, (nereid_graph_kind)kind);
  Py_END_ALLOW_THREADS close_options(&o);
  if (code) return raise_failure(state_of_type(Py_TYPE(self)), code);
  return text_and_free(text, size);
}

/* memory(options): a dict of bytes. */
static PyObject *graph_memory(PyObject *self, PyObject *dict) {
  int code;
  Options o;
  nereid_planned_memory m;
  nereid_graph *g = ((GraphObject *)self)->graph;
  if (!PyDict_Check(dict)) return PyErr_SetString(PyExc_TypeError, "options are a dict"), NULL;
  if (read_options(&o, dict)) return close_options(&o), NULL;
  Py_BEGIN_ALLOW_THREADS code = nereid_graph_memory(&m, g, &o.options);
  Py_END_ALLOW_THREADS close_options(&o);
  if (code) return raise_failure(state_of_type(Py_TYPE(self)), code);
  return Py_BuildValue("{s:L,s:L,s:L}", "inputs", (long long)m.inputs, "outputs",
                       (long long)m.outputs, "peak", (long long)m.peak);
}

/* build(options, dir, targets, name, embed_weights, ptx_only, messages) */
static PyObject *graph_build(PyObject *self, PyObject *args) {
  PyObject *dict, *messages;
  nereid_build_options b = {0};
  Options o;
  if (!PyArg_ParseTuple(args, "O!szzppO!", &PyDict_Type, &dict, &b.dir, &b.targets, &b.name,
                        &b.embed_weights, &b.ptx_only, &PyList_Type, &messages))
    return NULL;
  Messages m = {messages};
  b.on_message = add_message;
  b.context = &m;
  nereid_graph *g = ((GraphObject *)self)->graph;
  if (read_options(&o, dict)) return close_options(&o), NULL;
  int code;
  Py_BEGIN_ALLOW_THREADS code = nereid_graph_build(g, &o.options, &b);
  Py_END_ALLOW_THREADS close_options(&o);
  if (code) return raise_failure(state_of_type(Py_TYPE(self)), code);
  Py_RETURN_NONE;
}

/* compile(device, options): an Executable. */
static PyObject *graph_compile(PyObject *self, PyObject *args) {
  State *s = state_of_type(Py_TYPE(self));
  PyObject *device, *dict;
  Options o;
  if (!PyArg_ParseTuple(args, "O!O!", s->device_type, &device, &PyDict_Type, &dict)) return NULL;
  nereid_graph *g = ((GraphObject *)self)->graph;
  nereid_device *d = ((DeviceObject *)device)->device;
  nereid_executable *e = NULL;
  if (read_options(&o, dict)) return close_options(&o), NULL;
  int code;
  Py_BEGIN_ALLOW_THREADS code = nereid_executable_new(&e, g, d, &o.options);
  Py_END_ALLOW_THREADS close_options(&o);
  return code ? raise_failure(s, code) : executable_wrap(s, e, device, NULL);
}

/* ---- the type ---- */

static PyMethodDef graph_methods[] = {
    {"emit", graph_emit, METH_VARARGS, "emit(options, kind): the text of a stage."},
    {"memory", graph_memory, METH_O, "memory(options): bytes of a run, by its plan."},
    {"build", graph_build, METH_VARARGS, "build(options, dir, ...): writes a C project."},
    {"compile", graph_compile, METH_VARARGS, "compile(device, options): an Executable."},
    {NULL, NULL, 0, NULL}};

static PyType_Slot graph_slots[] = {{Py_tp_new, graph_new},
                                    {Py_tp_dealloc, graph_dealloc},
                                    {Py_tp_methods, graph_methods},
                                    {Py_tp_doc, "A model that was read."},
                                    {0, NULL}};

static PyType_Spec graph_spec = {
    .name = "nereid._nereid.Graph",
    .basicsize = sizeof(GraphObject),
    .flags = Py_TPFLAGS_DEFAULT,
    .slots = graph_slots,
};

int add_graphs(PyObject *module) {
  PyObject *graph = PyType_FromModuleAndSpec(module, &graph_spec, NULL);
  if (!graph || PyModule_AddObjectRef(module, "Graph", graph)) return -1;
  Py_DECREF(graph);
  return add_executables(module);
}
