/* Models: graphs that were read, and executables, which run on the caller's tensors.
 *
 * An executable is used by any number of threads: each run takes a session from those that no run
 * has, and the interpreter's lock, which is released while the library works, protects the list. */
#include <string.h>

#include "model/nereid_graph.h"
#include "python/extension/extension.h"

enum { RANK_MAX = 16 };

/* ---- options ---- */

/* What nereid_graph_options points to while it is used. */
typedef struct {
  nereid_graph_options options;
  nereid_graph_range *ranges;
  int *released;
} Options;

/* ranges: [(name, lo, hi)], or with a fourth item, what is likely */
static int read_ranges(Options *o, PyObject *list) {
  Py_ssize_t n = PyList_Size(list);
  if (n < 0) return -1;
  o->ranges = PyMem_Calloc((size_t)n + 1, sizeof *o->ranges);
  if (!o->ranges) return PyErr_NoMemory(), -1;
  for (Py_ssize_t i = 0; i < n; i++) {
    long long lo, hi, likely = 0;
    nereid_graph_range *r = &o->ranges[i];
    if (!PyArg_ParseTuple(PyList_GetItem(list, i), "sLL|L", &r->symbol, &lo, &hi, &likely))
      return -1;
    *r = (nereid_graph_range){r->symbol, lo, hi, likely};
  }
  o->options.ranges = o->ranges;
  o->options.nranges = (int)n;
  return 0;
}

/* released: (position, ...) */
static int read_released(Options *o, PyObject *tuple) {
  Py_ssize_t n = PyTuple_Size(tuple);
  if (n < 0) return -1;
  o->released = PyMem_Calloc((size_t)n + 1, sizeof *o->released);
  if (!o->released) return PyErr_NoMemory(), -1;
  for (Py_ssize_t i = 0; i < n; i++) {
    o->released[i] = (int)PyLong_AsLong(PyTuple_GetItem(tuple, i));
    if (PyErr_Occurred()) return -1;
  }
  o->options.saves_memory = 1;
  o->options.released = o->released;
  o->options.nreleased = (int)n;
  return 0;
}

/* (mode, dtype, ranges, device, no_checks, libraries, tf32, keep, assert_indices, deterministic,
 * replay, released), whose texts the tuple keeps; the last seven may be left out;
 * released None: memory matters less than time. */
static int read_options(Options *o, PyObject *tuple) {
  PyObject *ranges, *released = NULL;
  int replay = NEREID_REPLAY_BY_MODE;
  *o = (Options){0};
  nereid_graph_options *g = &o->options;
  if (!PyArg_ParseTuple(tuple, "zzO!zp|zipppiO", &g->mode, &g->dtype, &PyList_Type, &ranges,
                        &g->device, &g->no_checks, &g->libraries, &g->tf32, &g->keep,
                        &g->assert_indices, &g->deterministic, &replay, &released))
    return -1;
  g->replay = (nereid_graph_replay)replay;
  if (released && released != Py_None && read_released(o, released)) return -1;
  return read_ranges(o, ranges);
}

static void close_options(Options *o) {
  PyMem_Free(o->ranges);
  PyMem_Free(o->released);
}

/* ---- tensors ---- */

/* A tensor with its sizes, which other objects may own. */
typedef struct {
  nereid_tensor t;
  int64_t sizes[2 * RANK_MAX]; /* where they are not the object's own */
  int64_t number;
} WholeTensor;

static int copy_sizes(PyObject *from, int64_t *to, int32_t n) {
  for (int32_t i = 0; i < n; i++) {
    to[i] = PyLong_AsLongLong(PyTuple_GetItem(from, i));
    if (to[i] == -1 && PyErr_Occurred()) return -1;
  }
  return 0;
}

/* (address, sizes, strides in elements or None, (device type, index), (dtype's code, bits)) */
static int read_described_tensor(PyObject *d, WholeTensor *out) {
  unsigned long long address;
  PyObject *shape, *strides;
  int type, index, code, bits;
  if (!PyArg_ParseTuple(d, "KO!O(ii)(ii)", &address, &PyTuple_Type, &shape, &strides, &type, &index,
                        &code, &bits))
    return -1;
  Py_ssize_t n = PyTuple_Size(shape);
  if (n > RANK_MAX) return PyErr_SetString(PyExc_ValueError, "a tensor has too many axes"), -1;
  bool strided = PyTuple_Check(strides) && PyTuple_Size(strides) == n;
  out->t = (nereid_tensor){.data = (void *)(uintptr_t)address,
                           .device = {type, index},
                           .ndim = (int32_t)n,
                           .dtype = {(uint8_t)code, (uint8_t)bits, 1},
                           .shape = out->sizes};
  if (copy_sizes(shape, out->sizes, (int32_t)n)) return -1;
  if (!strided) return 0;
  out->t.strides = out->sizes + RANK_MAX;
  return copy_sizes(strides, out->t.strides, (int32_t)n);
}

static int read_number(PyObject *v, WholeTensor *out) {
  out->number = PyLong_AsLongLong(v);
  if (out->number == -1 && PyErr_Occurred()) return -1;
  out->t = (nereid_tensor){.data = &out->number, .device = {1, 0}, .dtype = {0, 64, 1}};
  return 0;
}

/* A tensor, a description of one as a tuple, or an integer.  The object must outlive `out`. */
static int read_whole(State *s, PyObject *v, WholeTensor *out) {
  if (PyTuple_Check(v)) return read_described_tensor(v, out);
  if (PyLong_Check(v)) return read_number(v, out);
  int found = read_exchanged_tensor(s, v, &out->t);
  if (found > 0) return 0;
  if (!found) PyErr_SetString(PyExc_TypeError, "an input is no tensor");
  return -1;
}

static WholeTensor *read_all(State *s, PyObject *list, Py_ssize_t n) {
  WholeTensor *all = PyMem_Calloc((size_t)n + 1, sizeof *all);
  if (!all) return (WholeTensor *)PyErr_NoMemory();
  for (Py_ssize_t i = 0; i < n; i++) {
    if (!read_whole(s, PyList_GetItem(list, i), &all[i])) continue;
    PyMem_Free(all);
    return NULL;
  }
  return all;
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

static PyObject *text_and_free(char *text, size_t size) {
  PyObject *out = PyUnicode_DecodeUTF8(text, (Py_ssize_t)size, "replace");
  nereid_text_free(text);
  return out;
}

/* emit(options, kind): kinds are those of nereid_graph_kind, in their order. */
static PyObject *graph_emit(PyObject *self, PyObject *args) {
  PyObject *tuple;
  int kind, code;
  Options o;
  char *text = NULL;
  size_t size = 0;
  if (!PyArg_ParseTuple(args, "O!i", &PyTuple_Type, &tuple, &kind)) return NULL;
  nereid_graph *g = ((GraphObject *)self)->graph;
  if (read_options(&o, tuple)) return close_options(&o), NULL;
  Py_BEGIN_ALLOW_THREADS code =
      nereid_graph_emit(&text, &size, g, &o.options, (nereid_graph_kind)kind);
  Py_END_ALLOW_THREADS close_options(&o);
  if (code) return raise_failure(state_of_type(Py_TYPE(self)), code);
  return text_and_free(text, size);
}

/* build(options, dir, targets, name, embed_weights, ptx_only, messages) */
static PyObject *graph_build(PyObject *self, PyObject *args) {
  PyObject *tuple, *messages;
  nereid_build_options b = {0};
  Options o;
  if (!PyArg_ParseTuple(args, "O!szzppO!", &PyTuple_Type, &tuple, &b.dir, &b.targets, &b.name,
                        &b.embed_weights, &b.ptx_only, &PyList_Type, &messages))
    return NULL;
  Messages m = {messages};
  b.on_message = add_message;
  b.context = &m;
  nereid_graph *g = ((GraphObject *)self)->graph;
  if (read_options(&o, tuple)) return close_options(&o), NULL;
  int code;
  Py_BEGIN_ALLOW_THREADS code = nereid_graph_build(g, &o.options, &b);
  Py_END_ALLOW_THREADS close_options(&o);
  if (code) return raise_failure(state_of_type(Py_TYPE(self)), code);
  Py_RETURN_NONE;
}

/* ---- executables ---- */

/* A session that no run has, and the stream of its last run. */
typedef struct Idle {
  struct Idle *next;
  nereid_session *session;
  void *stream;
  struct Running *lender; /* whose memory its run takes */
} Idle;

typedef struct {
  PyObject_HEAD nereid_executable *e;
  PyObject *device; /* outlives it */
  PyObject *keep;   /* bytes that it was loaded from */
  Idle *idle;
  Idle *lent;     /* the same, of runs that take memory step by step */
  Idle *captured; /* graphs of the caller's have their memory: no run takes these again */
} ExecutableObject;

static PyObject *executable_wrap(State *s, nereid_executable *e, PyObject *device, PyObject *keep) {
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

static void executable_dealloc(PyObject *self) {
  ExecutableObject *x = (ExecutableObject *)self;
  free_sessions(x->idle);
  free_sessions(x->lent);
  free_sessions(x->captured);
  nereid_executable_free(x->e);
  Py_XDECREF(x->device);
  Py_XDECREF(x->keep);
  free_object(self);
}

/* compile(device, options): an Executable. */
static PyObject *graph_compile(PyObject *self, PyObject *args) {
  State *s = state_of_type(Py_TYPE(self));
  PyObject *device, *tuple;
  Options o;
  if (!PyArg_ParseTuple(args, "O!O!", s->device_type, &device, &PyTuple_Type, &tuple)) return NULL;
  nereid_graph *g = ((GraphObject *)self)->graph;
  nereid_device *d = ((DeviceObject *)device)->device;
  nereid_executable *e = NULL;
  if (read_options(&o, tuple)) return close_options(&o), NULL;
  int code;
  Py_BEGIN_ALLOW_THREADS code = nereid_executable_new(&e, g, d, &o.options);
  Py_END_ALLOW_THREADS close_options(&o);
  return code ? raise_failure(s, code) : executable_wrap(s, e, device, NULL);
}

/* from_bytes(bytes, device, weights) */
static PyObject *executable_load(PyObject *type, PyObject *args) {
  State *s = state_of_type((PyTypeObject *)type);
  PyObject *bytes, *device;
  nereid_executable_source source = {0};
  if (!PyArg_ParseTuple(args, "O!O!z", &PyBytes_Type, &bytes, s->device_type, &device,
                        &source.weights))
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

/* ---- running ---- */

typedef struct Running {
  ExecutableObject *x;
  State *state;
  Idle *idle;
  const nereid_run_memory *memory; /* it is taken step by step; NULL: from the beginning on */
  bool capturing;                  /* the stream is */
  WholeTensor *in, *given;         /* `given`: outputs of the caller's; NULL: none */
  nereid_tensor *inputs, *outputs;
  int64_t *numbers; /* of outputs */
  int ninputs, noutputs;
  nereid_session_options options;
  PyObject *results; /* a list */
  PyObject *copies;  /* a list: of inputs */
  PyObject *workspace;
  PyObject *given_inputs;  /* a list, which a run that lends empties */
  PyObject *empty, *forms; /* what makes a tensor, and its arguments for each output */
  PyObject *bytes;         /* the dtype of memory for temporaries */
} Running;

static bool is_capturing(const Running *r) {
  nereid_device *d = ((DeviceObject *)r->x->device)->device;
  return nereid_device_is_capturing(d, r->options.native_stream) > 0;
}

static int lend_memory(Running *r);

/* Takes a session whose last run was on the stream; a new one where there is none, or for a graph
 * that is captured, which runs whenever its owner likes. */
static int take_session(Running *r) {
  r->capturing = is_capturing(r);
  Idle **list = r->memory ? &r->x->lent : &r->x->idle;
  for (Idle **link = list; *link && !r->capturing; link = &(*link)->next) {
    if ((*link)->stream != r->options.native_stream) continue;
    r->idle = *link;
    *link = r->idle->next;
    return 0;
  }
  r->idle = PyMem_Calloc(1, sizeof *r->idle);
  if (!r->idle) return PyErr_NoMemory(), -1;
  r->idle->stream = r->options.native_stream;
  nereid_executable *e = r->x->e;
  int code;
  Py_BEGIN_ALLOW_THREADS code = nereid_session_new(&r->idle->session, e);
  Py_END_ALLOW_THREADS if (!code) return r->memory ? lend_memory(r) : 0;
  PyMem_Free(r->idle);
  r->idle = NULL;
  return raise_failure(r->state, code), -1;
}

static void give_session(Running *r) {
  if (!r->idle) return;
  Idle **list = r->capturing ? &r->x->captured : r->memory ? &r->x->lent : &r->x->idle;
  r->idle->next = *list;
  *list = r->idle;
  r->idle = NULL;
}

static int prepare(Running *r) {
  nereid_session *session = r->idle->session;
  int code;
  Py_BEGIN_ALLOW_THREADS code =
      nereid_session_prepare(session, r->inputs, r->ninputs, r->outputs, r->noutputs);
  Py_END_ALLOW_THREADS if (code) raise_failure(r->state, code);
  return code ? -1 : 0;
}

static bool is_compact(const nereid_tensor *t) {
  int64_t stride = 1;
  for (int32_t i = t->ndim - 1; i >= 0 && t->strides; i--) {
    if (t->shape[i] > 1 && t->strides[i] != stride) return false;
    stride *= t->shape[i];
  }
  return true;
}

/* On a GPU the library takes tensors without gaps: copies of others, which the model only reads. */
static int compact_inputs(Running *r, PyObject *inputs) {
  enum { CUDA = 2 };
  for (int i = 0; i < r->ninputs; i++) {
    PyObject *object = PyList_GetItem(inputs, i), *copy;
    bool strided = r->inputs[i].device.device_type == CUDA && !is_compact(&r->inputs[i]);
    if (!strided || nereid_session_writes(r->idle->session, i) ||
        !PyObject_HasAttrString(object, "contiguous"))
      continue;
    copy = PyObject_CallMethod(object, "contiguous", NULL);
    int code = copy ? read_whole(r->state, copy, &r->in[i]) : -1;
    if (!code) code = PyList_Append(r->copies, copy);
    Py_XDECREF(copy);
    if (code) return -1;
    r->inputs[i] = r->in[i].t;
  }
  return 0;
}

static PyObject *sizes_of(const nereid_tensor *t) {
  PyObject *out = PyTuple_New(t->ndim);
  for (int32_t i = 0; out && i < t->ndim; i++) {
    PyObject *n = PyLong_FromLongLong(t->shape[i]);
    if (!n || PyTuple_SetItem(out, i, n)) Py_CLEAR(out);
  }
  return out;
}

/* The memory that allocate(sizes, code, bits) gives: an object, and the address of its elements. */
static PyObject *allocate_tensor(Running *r, PyObject *allocate, PyObject *sizes, nereid_dl_dtype t,
                                 WholeTensor *out) {
  PyObject *pair =
      sizes ? PyObject_CallFunction(allocate, "Oii", sizes, (int)t.code, (int)t.bits) : NULL;
  Py_XDECREF(sizes);
  PyObject *object = NULL, *tensor = NULL;
  if (pair && PyArg_ParseTuple(pair, "OO", &object, &tensor)) {
    Py_INCREF(object);
    if (read_whole(r->state, tensor, out)) Py_CLEAR(object);
  }
  Py_XDECREF(pair);
  return object;
}

/* Output i has memory: a number a field here, others what is given or what allocate() makes. */
static int provide_output(Running *r, int i, PyObject *given, PyObject *allocate) {
  nereid_graph_value v;
  nereid_tensor *t = &r->outputs[i];
  PyObject *item = given ? PyList_GetItem(given, i) : Py_None;
  if (!item || nereid_executable_output(&v, r->x->e, i)) return -1;
  if (v.is_number) {
    t->data = &r->numbers[i];
    Py_INCREF(Py_None);
    return PyList_SetItem(r->results, i, Py_None);
  }
  if (item != Py_None) {
    if (read_whole(r->state, item, &r->given[i])) return -1;
    *t = r->given[i].t;
    Py_INCREF(item);
    return PyList_SetItem(r->results, i, item);
  }
  WholeTensor made;
  PyObject *object = allocate_tensor(r, allocate, sizes_of(t), t->dtype, &made);
  if (!object) return -1;
  t->data = made.t.data;
  t->byte_offset = made.t.byte_offset;
  t->device = made.t.device;
  return PyList_SetItem(r->results, i, object);
}

static int provide_workspace(Running *r, PyObject *workspace) {
  nereid_executable_info info;
  int code = nereid_session_get_info(&info, r->idle->session);
  if (code) return raise_failure(r->state, code), -1;
  if (workspace == Py_None || info.pool <= 0) return 0;
  WholeTensor made;
  PyObject *sizes = Py_BuildValue("(L)", (long long)info.pool);
  r->workspace = allocate_tensor(r, workspace, sizes, (nereid_dl_dtype){1, 8, 1}, &made);
  if (!r->workspace) return -1;
  r->options.workspace = (char *)made.t.data + made.t.byte_offset;
  if ((uintptr_t)r->options.workspace % 256) r->options.workspace = NULL;
  r->options.workspace_size = info.pool;
  return 0;
}

static int run_session(Running *r) {
  nereid_session *session = r->idle->session;
  int code;
  Py_BEGIN_ALLOW_THREADS code =
      nereid_session_run(session, r->inputs, r->ninputs, r->outputs, r->noutputs, &r->options);
  Py_END_ALLOW_THREADS if (code && !PyErr_Occurred()) raise_failure(r->state, code);
  return queue_print(&((DeviceObject *)r->x->device)->printed) || code ? -1 : 0;
}

/* [(object, sizes)], or of a number [(integer, None)]. */
static PyObject *results_of(Running *r) {
  PyObject *out = PyList_New(r->noutputs);
  for (int i = 0; out && i < r->noutputs; i++) {
    PyObject *object = PyList_GetItem(r->results, i), *item;
    if (object == Py_None) item = Py_BuildValue("(LO)", (long long)r->numbers[i], Py_None);
    else item = Py_BuildValue("(ON)", object, sizes_of(&r->outputs[i]));
    if (!item || PyList_SetItem(out, i, item)) Py_CLEAR(out);
  }
  return out;
}

static int start_running(Running *r, PyObject *inputs) {
  r->ninputs = (int)PyList_Size(inputs);
  r->noutputs = nereid_executable_noutputs(r->x->e);
  size_t n = (size_t)r->ninputs + 1, m = (size_t)r->noutputs + 1;
  r->in = read_all(r->state, inputs, r->ninputs);
  if (!r->in) return -1;
  r->given = PyMem_Calloc(m, sizeof *r->given);
  r->inputs = PyMem_Calloc(n, sizeof *r->inputs);
  r->outputs = PyMem_Calloc(m, sizeof *r->outputs);
  r->numbers = PyMem_Calloc(m, sizeof *r->numbers);
  r->results = PyList_New(r->noutputs);
  r->copies = PyList_New(0);
  if (!r->given || !r->inputs || !r->outputs || !r->numbers) PyErr_NoMemory();
  if (PyErr_Occurred()) return -1;
  for (int i = 0; i < r->ninputs; i++) r->inputs[i] = r->in[i].t;
  return take_session(r);
}

static void end_running(Running *r) {
  give_session(r);
  PyMem_Free(r->in);
  PyMem_Free(r->given);
  PyMem_Free(r->inputs);
  PyMem_Free(r->outputs);
  PyMem_Free(r->numbers);
  Py_XDECREF(r->results);
  Py_XDECREF(r->copies);
  Py_XDECREF(r->workspace);
}

/* run(inputs, outputs or None, allocate, workspace or None, stream); without allocate, which
 * outputs need that are not given, there are no results. */
static PyObject *executable_run(PyObject *self, PyObject *args) {
  PyObject *inputs, *given, *allocate, *workspace, *out = NULL;
  unsigned long long stream;
  Running r = {.x = (ExecutableObject *)self, .state = state_of_type(Py_TYPE(self))};
  if (!PyArg_ParseTuple(args, "O!OOOK", &PyList_Type, &inputs, &given, &allocate, &workspace,
                        &stream))
    return NULL;
  if (given == Py_None) given = NULL;
  r.options.native_stream = (void *)(uintptr_t)stream;
  int code = start_running(&r, inputs);
  if (!code && given && PyList_Size(given) != r.noutputs) {
    PyErr_Format(PyExc_ValueError, "the model has %d outputs, not %zd", r.noutputs,
                 PyList_Size(given));
    code = -1;
  }
  if (!code) code = prepare(&r);
  if (!code) code = compact_inputs(&r, inputs);
  for (int i = 0; i < r.noutputs && !code; i++) code = provide_output(&r, i, given, allocate);
  if (!code) code = provide_workspace(&r, workspace);
  if (!code) code = run_session(&r);
  if (!code) out = allocate == Py_None ? Py_NewRef(Py_None) : results_of(&r);
  end_running(&r);
  return out;
}

/* ---- memory of a run's, step by step: called without the interpreter's lock ---- */

static Running *lender_of(void *idle) { return ((Idle *)idle)->lender; }

/* The object is a tensor that `empty` makes. */
static PyObject *make_tensor(const Running *r, PyObject *arguments, WholeTensor *out) {
  PyObject *made = arguments ? PyObject_CallObject(r->empty, arguments) : NULL;
  if (made && read_whole(r->state, made, out)) Py_CLEAR(made);
  return made;
}

static void *take_memory(void *idle, int64_t bytes, void **handle) {
  PyGILState_STATE lock = PyGILState_Ensure();
  const Running *r = lender_of(idle);
  WholeTensor made;
  PyObject *arguments = Py_BuildValue("((L)(i)O)", (long long)bytes, 1, r->bytes);
  *handle = make_tensor(r, arguments, &made);
  Py_XDECREF(arguments);
  PyGILState_Release(lock);
  return *handle ? (char *)made.t.data + made.t.byte_offset : NULL;
}

static void give_memory_back(void *idle, void *handle) {
  (void)idle;
  PyGILState_STATE lock = PyGILState_Ensure();
  Py_DECREF((PyObject *)handle);
  PyGILState_Release(lock);
}

static int make_lent_output(void *idle, int i, nereid_tensor *out) {
  PyGILState_STATE lock = PyGILState_Ensure();
  Running *r = lender_of(idle);
  WholeTensor made;
  PyObject *tensor = make_tensor(r, PyTuple_GetItem(r->forms, i), &made);
  int code = tensor ? PyList_SetItem(r->results, i, tensor) : -1;
  if (!code) {
    out->data = made.t.data;
    out->byte_offset = made.t.byte_offset;
    out->device = made.t.device;
  }
  PyGILState_Release(lock);
  return code;
}

static void drop_input(void *idle, int i) {
  PyGILState_STATE lock = PyGILState_Ensure();
  PyList_SetItem(lender_of(idle)->given_inputs, i, Py_NewRef(Py_None));
  PyGILState_Release(lock);
}

static int lend_memory(Running *r) {
  nereid_run_memory m = *r->memory;
  m.context = r->idle;
  return nereid_session_set_memory(r->idle->session, &m);
}

/* run_lent(inputs, forms, empty, bytes, workspace, stream): a list of tensors.  Output i is
 * empty(*forms[i]), made when a step writes it; large temporaries are empty((n,), (1,), bytes); the
 * list of inputs loses each that no later step reads, and is empty in the end. */
static PyObject *executable_run_lent(PyObject *self, PyObject *args) {
  static const nereid_run_memory memory = {NULL, take_memory, give_memory_back, make_lent_output,
                                           drop_input};
  PyObject *workspace, *out = NULL;
  unsigned long long stream;
  Running r = {
      .x = (ExecutableObject *)self, .state = state_of_type(Py_TYPE(self)), .memory = &memory};
  if (!PyArg_ParseTuple(args, "O!O!OOOK", &PyList_Type, &r.given_inputs, &PyTuple_Type, &r.forms,
                        &r.empty, &r.bytes, &workspace, &stream))
    return NULL;
  r.options.native_stream = (void *)(uintptr_t)stream;
  int code = start_running(&r, r.given_inputs);
  if (!code && PyTuple_Size(r.forms) != r.noutputs) {
    PyErr_Format(PyExc_ValueError, "the model has %d outputs, not %zd", r.noutputs,
                 PyTuple_Size(r.forms));
    code = -1;
  }
  if (!code) r.idle->lender = &r;
  if (!code) code = prepare(&r);
  if (!code) code = compact_inputs(&r, r.given_inputs);
  if (!code) code = provide_workspace(&r, workspace);
  if (!code) code = run_session(&r);
  if (!code) code = PyList_SetSlice(r.given_inputs, 0, PyList_Size(r.given_inputs), NULL);
  if (!code) out = Py_NewRef(r.results);
  end_running(&r);
  return out;
}

/* explain(inputs): a table with the time of each kernel.  Only one thread at a time may call it. */
static PyObject *executable_explain(PyObject *self, PyObject *inputs) {
  Running r = {.x = (ExecutableObject *)self, .state = state_of_type(Py_TYPE(self))};
  char *text = NULL;
  size_t size = 0;
  if (!PyList_Check(inputs)) {
    PyErr_SetString(PyExc_TypeError, "explain() takes a list");
    return NULL;
  }
  int code = start_running(&r, inputs);
  if (!code) {
    Py_BEGIN_ALLOW_THREADS code = nereid_executable_explain(&text, &size, r.x->e, r.inputs,
                                                            r.ninputs, r.outputs, r.noutputs, NULL);
    Py_END_ALLOW_THREADS if (code) raise_failure(r.state, code);
  }
  end_running(&r);
  return code ? NULL : text_and_free(text, size);
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

/* ---- the types ---- */

static PyMethodDef graph_methods[] = {
    {"emit", graph_emit, METH_VARARGS, "emit(options, kind): the text of a stage."},
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

static PyMethodDef executable_methods[] = {
    {"run", executable_run, METH_VARARGS,
     "run(inputs, outputs, allocate, workspace, stream): [(tensor, sizes) or (integer, None)]."},
    {"run_lent", executable_run_lent, METH_VARARGS,
     "run_lent(inputs, forms, empty, bytes, workspace, stream): the tensors; inputs is emptied."},
    {"explain", executable_explain, METH_O, "explain(inputs): a table with measured times."},
    {"set_static", executable_set_static, METH_O, "Input i is the same tensor in all runs."},
    {"bytes", executable_to_bytes, METH_O, "bytes(embed_weights): the executable as bytes."},
    {"from_bytes", executable_load, METH_VARARGS | METH_CLASS,
     "from_bytes(bytes, device, weights): an executable from what bytes() gave."},
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

int add_graphs(PyObject *module) {
  State *s = state_of(module);
  PyObject *graph = PyType_FromModuleAndSpec(module, &graph_spec, NULL);
  s->executable_type = (PyTypeObject *)PyType_FromModuleAndSpec(module, &executable_spec, NULL);
  if (!graph || !s->executable_type) return -1;
  if (PyModule_AddObjectRef(module, "Graph", graph)) return -1;
  Py_DECREF(graph);
  return PyModule_AddObjectRef(module, "Executable", (PyObject *)s->executable_type);
}
