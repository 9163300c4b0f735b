/* Runs of executables, on the caller's tensors. */
#include <limits.h>
#include <string.h>

#include "python/extension/models.h"

/* ---- tensors ---- */

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

/* What `__array_struct__` of an array of NumPy's gives (its array interface, version 3). */
typedef struct {
  int two, ndim;
  char kind;
  int bytes, flags;
  intptr_t *shape, *strides;
  void *data;
} ArrayStruct;

/* Numbers in the machine's byte order; strides come in bytes. */
static int read_array(PyObject *capsule, WholeTensor *out) {
  const ArrayStruct *a = PyCapsule_GetPointer(capsule, NULL);
  if (!a) return -1;
  static const char STRIDES[] =
      "an array whose strides are no multiples of its elements: copy it";
  if (a->ndim > RANK_MAX)
    return PyErr_SetString(PyExc_ValueError, "a tensor has too many axes"), -1;
  uint8_t code = a->kind == 'i' ? 0 : a->kind == 'u' ? 1 : a->kind == 'f' ? 2 : 6;
  out->t = (nereid_tensor){.data = a->data,
                           .device = {1, 0},
                           .ndim = a->ndim,
                           .dtype = {code, (uint8_t)(8 * a->bytes), 1},
                           .shape = out->sizes,
                           .strides = out->sizes + RANK_MAX};
  for (int i = 0; i < a->ndim; i++) {
    out->sizes[i] = a->shape[i];
    out->sizes[RANK_MAX + i] = a->strides[i] / a->bytes;
    if (a->strides[i] % a->bytes) return PyErr_SetString(PyExc_TypeError, STRIDES), -1;
  }
  return 0;
}

static int read_number(PyObject *v, WholeTensor *out) {
  out->number = PyLong_AsLongLong(v);
  if (out->number == -1 && PyErr_Occurred()) return -1;
  out->t = (nereid_tensor){.data = &out->number, .device = {1, 0}, .dtype = {0, 64, 1}};
  return 0;
}

/* A tensor, a description of one as a tuple, a capsule of NumPy's, or an integer.  The object, or
 * the array that the capsule is of, must outlive `out`. */
static int read_whole(State *s, PyObject *v, WholeTensor *out) {
  if (PyTuple_Check(v)) return read_described_tensor(v, out);
  if (PyLong_Check(v)) return read_number(v, out);
  if (PyCapsule_CheckExact(v)) return read_array(v, out);
  int found = read_exchanged_tensor(s, v, &out->t);
  if (found > 0) return 0;
  if (!found) PyErr_SetString(PyExc_TypeError, "an input is no tensor");
  return -1;
}

static int read_each(State *s, PyObject *list, Py_ssize_t n, WholeTensor *out) {
  int code = 0;
  for (Py_ssize_t i = 0; i < n && !code; i++)
    code = read_whole(s, PyList_GetItem(list, i), &out[i]);
  return code;
}

WholeTensor *read_all(State *s, PyObject *list, Py_ssize_t n) {
  WholeTensor *all = PyMem_Calloc((size_t)n + 1, sizeof *all);
  if (!all) return (WholeTensor *)PyErr_NoMemory();
  if (!read_each(s, list, n, all)) return all;
  PyMem_Free(all);
  return NULL;
}

/* ---- running ---- */

typedef struct Running {
  ExecutableObject *x;
  State *state;
  Idle *idle;
  const nereid_run_memory *memory; /* it is taken step by step; NULL: from the beginning on */
  bool capturing;                  /* the stream is */
  WholeTensor *in, *given;         /* `given`: outputs that are tensors of the caller's */
  nereid_tensor *inputs, *outputs;
  int64_t *numbers; /* of outputs */
  int ninputs, noutputs;
  nereid_session_options options;
  PyObject *results; /* a list */
  PyObject *copies;  /* a list: of inputs; NULL: none */
  PyObject *workspace;
  PyObject *given_inputs;  /* a list, which a run that lends empties */
  PyObject *makers; /* (function, arguments) that make each output, and bytes for temporaries */
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
    if (!code && !r->copies) r->copies = PyList_New(0);
    if (!code) code = r->copies ? PyList_Append(r->copies, copy) : -1;
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

/* Allocates one block with the arrays of all inputs and outputs. */
static int allocate_arrays(Running *r) {
  size_t n = (size_t)r->ninputs + 1, m = (size_t)r->noutputs + 1;
  size_t zeroed = m * (sizeof *r->outputs + sizeof *r->numbers);
  r->outputs = PyMem_Malloc(zeroed + n * sizeof *r->inputs + (n + m) * sizeof *r->in);
  if (!r->outputs) return PyErr_NoMemory(), -1;
  memset(r->outputs, 0, zeroed);
  r->numbers = (int64_t *)(r->outputs + m);
  r->inputs = (nereid_tensor *)(r->numbers + m);
  r->in = (WholeTensor *)(r->inputs + n);
  r->given = r->in + n;
  return 0;
}

static int start_running(Running *r, PyObject *inputs) {
  r->ninputs = (int)PyList_Size(inputs);
  r->noutputs = nereid_executable_noutputs(r->x->e);
  if (allocate_arrays(r) || read_each(r->state, inputs, r->ninputs, r->in)) return -1;
  r->results = PyList_New(r->noutputs);
  if (!r->results) return -1;
  for (int i = 0; i < r->ninputs; i++) r->inputs[i] = r->in[i].t;
  return take_session(r);
}

static void end_running(Running *r) {
  give_session(r);
  PyMem_Free(r->outputs);
  Py_XDECREF(r->results);
  Py_XDECREF(r->copies);
  Py_XDECREF(r->workspace);
}

PyObject *executable_run(PyObject *self, PyObject *args) {
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

/* The tensor that maker i makes. */
static PyObject *make_tensor(const Running *r, Py_ssize_t i, WholeTensor *out) {
  PyObject *maker = PyTuple_GetItem(r->makers, i);
  PyObject *function = maker ? PyTuple_GetItem(maker, 0) : NULL;
  PyObject *arguments = function ? PyTuple_GetItem(maker, 1) : NULL;
  PyObject *made = arguments ? PyObject_CallObject(function, arguments) : NULL;
  if (made && read_whole(r->state, made, out)) Py_CLEAR(made);
  return made;
}

static void *take_memory(void *idle, int64_t bytes, void **handle) {
  PyGILState_STATE lock = PyGILState_Ensure();
  const Running *r = lender_of(idle);
  WholeTensor made = {0};
  PyObject *maker = PyTuple_GetItem(r->makers, r->noutputs);
  PyObject *tensor = maker ? PyObject_CallFunction(maker, "L", (long long)bytes) : NULL;
  if (tensor && read_whole(r->state, tensor, &made)) Py_CLEAR(tensor);
  *handle = tensor;
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
  PyObject *tensor = make_tensor(r, i, &made);
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

static int make_outputs(Running *r) {
  for (int i = 0; i < r->noutputs; i++) {
    PyObject *tensor = make_tensor(r, i, &r->given[i]);
    if (!tensor || PyList_SetItem(r->results, i, tensor)) return -1;
    r->outputs[i] = r->given[i].t;
  }
  return 0;
}

static int run_on_threads(Running *r, int threads) {
  nereid_device *d = ((DeviceObject *)r->x->device)->device;
  if (threads > 0) nereid_device_set_threads(d, threads);
  int code = run_session(r);
  if (threads > 0) nereid_device_set_threads(d, INT_MAX);
  return code;
}

/* A run prepares itself if it needs no workspace.  To prepare one takes outputs' memory away. */
static int call_session(Running *r, PyObject *inputs, PyObject *workspace, int threads) {
  bool prepares = r->memory || workspace != Py_None;
  if (r->memory) r->idle->lender = r;
  int code = prepares ? prepare(r) : 0;
  if (!code && prepares) code = compact_inputs(r, inputs);
  if (!code && !r->memory) code = make_outputs(r);
  if (!code && prepares) code = provide_workspace(r, workspace);
  return code ? code : run_on_threads(r, threads);
}

/* call(inputs, makers, lends, workspace, stream, threads): a list of tensors, the results.  Output
 * i is function(*arguments) of makers[i]; the list of inputs is empty afterwards.  A run that lends
 * makes an output when a step writes it, and takes each input that no later step reads from the
 * list; one maker more than there are outputs makes memory of so many bytes for temporaries.  The
 * run has at most so many threads on a CPU; 0: no other limit. */
PyObject *executable_call(PyObject *self, PyObject *const *args, Py_ssize_t nargs) {
  static const nereid_run_memory all = {NULL, take_memory, give_memory_back, make_lent_output,
                                        drop_input};
  static const nereid_run_memory tensors = {NULL, NULL, NULL, make_lent_output, drop_input};
  Running r = {.x = (ExecutableObject *)self, .state = state_of_type(Py_TYPE(self))};
  if (nargs != 6 || !PyList_Check(args[0]) || !PyTuple_Check(args[1]))
    return PyErr_SetString(PyExc_TypeError, "call() takes a list, a tuple and four more"), NULL;
  PyObject *inputs = r.given_inputs = args[0], *out = NULL;
  r.makers = args[1];
  Py_ssize_t more = PyTuple_Size(r.makers) - nereid_executable_noutputs(r.x->e);
  if (args[2] == Py_True) r.memory = more == 1 ? &all : &tensors;
  r.options.native_stream = PyLong_AsVoidPtr(args[4]);
  long threads = PyErr_Occurred() ? -1 : PyLong_AsLong(args[5]);
  if (PyErr_Occurred()) return NULL;
  int code = start_running(&r, inputs);
  if (!code && (more < 0 || more > (args[2] == Py_True))) {
    PyErr_Format(PyExc_ValueError, "the model has %d outputs", r.noutputs);
    code = -1;
  }
  if (!code) code = call_session(&r, inputs, args[3], (int)threads);
  if (!code) code = PyList_SetSlice(inputs, 0, PyList_Size(inputs), NULL);
  if (!code) out = Py_NewRef(r.results);
  end_running(&r);
  return out;
}

PyObject *text_and_free(char *text, size_t size) {
  PyObject *out = PyUnicode_DecodeUTF8(text, (Py_ssize_t)size, "replace");
  nereid_text_free(text);
  return out;
}

PyObject *executable_explain(PyObject *self, PyObject *inputs) {
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
