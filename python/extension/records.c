/* Records of measurements, and timers: what tuning in this process needs. */
#include <string.h>

#include "python/extension/extension.h"
#include "runtime/nereid_tune.h"

/* ---- records ---- */

typedef struct {
  nereid_measurement *list;
  Py_ssize_t n;
  nereid_device *device;
} Query;

/* (kernel, signature, problem, config, key, image or None), and of results also
 * (..., status, median, spread, runs). */
static int take_measurement(State *s, nereid_measurement *out, PyObject *item, bool has_result) {
  const char *key;
  Py_ssize_t key_size;
  PyObject *image;
  int status = 0;
  if (!PyTuple_Check(item)) {
    PyErr_SetString(PyExc_TypeError, "a measurement is a tuple");
    return -1;
  }
  if (!PyArg_ParseTuple(item, has_result ? "ssssy#Oiddi" : "ssssy#O", &out->kernel, &out->signature,
                        &out->problem, &out->config, &key, &key_size, &image, &status,
                        &out->median_us, &out->spread_us, &out->runs))
    return -1;
  if (key_size != sizeof out->key) {
    PyErr_SetString(PyExc_ValueError, "a key has 16 bytes");
    return -1;
  }
  memcpy(&out->key, key, sizeof out->key);
  out->status = (nereid_tune_status)status;
  if (image == Py_None) return 0;
  if (!PyObject_TypeCheck(image, s->image_type)) {
    PyErr_SetString(PyExc_TypeError, "a measurement's image is an Image or None");
    return -1;
  }
  out->image = ((ImageObject *)image)->image;
  return 0;
}

/* The texts belong to the tuples in the list, which is a copy that only the caller has. */
static int take_query(State *s, Query *q, PyObject *device, PyObject *list, bool has_result) {
  if (!PyObject_TypeCheck(device, s->device_type)) {
    PyErr_SetString(PyExc_TypeError, "records are those of a Device");
    return -1;
  }
  q->device = ((DeviceObject *)device)->device;
  q->n = PyTuple_Size(list);
  q->list = PyMem_Calloc((size_t)q->n + 1, sizeof *q->list);
  if (!q->list) return PyErr_NoMemory(), -1;
  for (Py_ssize_t i = 0; i < q->n; i++)
    if (take_measurement(s, &q->list[i], PyTuple_GetItem(list, i), has_result)) return -1;
  return 0;
}

static PyObject *results_of(const Query *q) {
  PyObject *out = PyList_New(q->n);
  for (Py_ssize_t i = 0; out && i < q->n; i++) {
    const nereid_measurement *m = &q->list[i];
    PyObject *item =
        m->found ? Py_BuildValue("(iddi)", (int)m->status, m->median_us, m->spread_us, m->runs)
                 : Py_BuildValue("");
    if (!item || PyList_SetItem(out, i, item)) Py_CLEAR(out);
  }
  return out;
}

/* Looks up, or stores. */
static PyObject *use_records(PyObject *module, PyObject *args, bool store) {
  State *s = state_of(module);
  PyObject *device, *given, *out = NULL;
  int replace = 0, code;
  Query q = {0};
  if (!PyArg_ParseTuple(args, store ? "OO|p" : "OO", &device, &given, &replace)) return NULL;
  PyObject *list = PySequence_Tuple(given);
  if (list && !take_query(s, &q, device, list, store)) {
    Py_BEGIN_ALLOW_THREADS code = store ? nereid_records_store(q.list, (int)q.n, q.device, replace)
                                        : nereid_records_find(q.list, (int)q.n, q.device);
    Py_END_ALLOW_THREADS out = code    ? raise_failure(s, code)
                               : store ? Py_BuildValue("")
                                       : results_of(&q);
  }
  PyMem_Free(q.list);
  Py_XDECREF(list);
  return out;
}

PyObject *py_records_find(PyObject *module, PyObject *args) {
  return use_records(module, args, false);
}

PyObject *py_records_store(PyObject *module, PyObject *args) {
  return use_records(module, args, true);
}

/* ---- rounds of a search ---- */

static int take_timing(nereid_tune_timing *t, PyObject *item) {
  return PyArg_ParseTuple(item, "ddip", &t->median_us, &t->spread_us, &t->runs, &t->known);
}

/* tune_round([(median, spread in us, runs, known)], round): ([runs], limit in us), or None: the
 * search is over. */
PyObject *py_tune_round(PyObject *module, PyObject *args) {
  PyObject *list, *out = NULL;
  double limit = 0;
  int round;
  if (!PyArg_ParseTuple(args, "O!i", &PyList_Type, &list, &round)) return NULL;
  Py_ssize_t n = PyList_Size(list);
  nereid_tune_timing *timings = PyMem_Calloc((size_t)n + 1, sizeof *timings);
  int *runs = PyMem_Calloc((size_t)n + 1, sizeof *runs);
  if (!timings || !runs) PyErr_NoMemory();
  for (Py_ssize_t i = 0; !PyErr_Occurred() && i < n; i++)
    take_timing(&timings[i], PyList_GetItem(list, i));
  int code = PyErr_Occurred() ? 0 : nereid_tune_round(runs, &limit, timings, (size_t)n, round);
  if (code < 0) raise_failure(state_of(module), code);
  if (!PyErr_Occurred() && !code) out = Py_BuildValue("");
  if (code > 0) out = Py_BuildValue("(Nd)", PyList_New(n), limit);
  for (Py_ssize_t i = 0; out && code > 0 && i < n; i++) {
    PyObject *number = PyLong_FromLong(runs[i]);
    if (!number || PyList_SetItem(PyTuple_GetItem(out, 0), i, number)) Py_CLEAR(out);
  }
  PyMem_Free(timings);
  PyMem_Free(runs);
  return out;
}

/* ---- timers ---- */

typedef struct {
  PyObject_HEAD nereid_timer *timer;
  nereid_stream *stream;
  PyObject *device; /* outlives both */
} TimerObject;

static PyObject *timer_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
  static char *names[] = {"device", "stream", "keep_l2", NULL};
  State *s = state_of_type(type);
  PyObject *device;
  unsigned long long stream = 0;
  int keep_l2 = 0;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O!|Kp:Timer", names, s->device_type, &device,
                                   &stream, &keep_l2))
    return NULL;
  TimerObject *self = (TimerObject *)new_object(type);
  if (!self) return NULL;
  Py_INCREF(device);
  self->device = device;
  nereid_device *d = ((DeviceObject *)device)->device;
  int code = nereid_timer_new(&self->timer, d, keep_l2);
  if (!code && stream) code = nereid_stream_wrap(&self->stream, d, (void *)(uintptr_t)stream);
  if (!code) return (PyObject *)self;
  Py_DECREF(self);
  return raise_failure(s, code);
}

static void timer_dealloc(PyObject *self) {
  TimerObject *t = (TimerObject *)self;
  nereid_timer_free(t->timer);
  nereid_stream_free(t->stream);
  Py_XDECREF(t->device);
  free_object(self);
}

static PyObject *result_of(PyObject *self, int code) {
  return code ? raise_failure(state_of_type(Py_TYPE(self)), code) : Py_BuildValue("");
}

static PyObject *timer_begin(PyObject *self, PyObject *unused) {
  (void)unused;
  const TimerObject *t = (const TimerObject *)self;
  return result_of(self, nereid_timer_begin(t->timer, t->stream));
}

static PyObject *timer_end(PyObject *self, PyObject *unused) {
  (void)unused;
  const TimerObject *t = (const TimerObject *)self;
  return result_of(self, nereid_timer_end(t->timer, t->stream));
}

static PyObject *timer_read(PyObject *self, PyObject *unused) {
  (void)unused;
  const TimerObject *t = (const TimerObject *)self;
  const double *us;
  int n, code;
  Py_BEGIN_ALLOW_THREADS code = nereid_timer_read(&us, &n, t->timer);
  Py_END_ALLOW_THREADS if (code) return result_of(self, code);
  PyObject *out = PyList_New(n);
  for (int i = 0; out && i < n; i++) {
    PyObject *time = PyFloat_FromDouble(us[i]);
    if (!time || PyList_SetItem(out, i, time)) Py_CLEAR(out);
  }
  return out;
}

static PyMethodDef timer_methods[] = {
    {"begin", timer_begin, METH_NOARGS, "Flushes the L2 cache, and starts the clock."},
    {"end", timer_end, METH_NOARGS, "Stops the clock."},
    {"read", timer_read, METH_NOARGS, "Waits; the times so far in microseconds, and forgets them."},
    {NULL, NULL, 0, NULL}};

static PyType_Slot timer_slots[] = {
    {Py_tp_new, timer_new},
    {Py_tp_dealloc, timer_dealloc},
    {Py_tp_methods, timer_methods},
    {Py_tp_doc, "Timer(device, stream=0, keep_l2=False): times what runs on a stream."},
    {0, NULL}};

static PyType_Spec timer_spec = {
    .name = "nereid._nereid.Timer",
    .basicsize = sizeof(TimerObject),
    .flags = Py_TPFLAGS_DEFAULT,
    .slots = timer_slots,
};

/* ---- the module ---- */

int add_records(PyObject *module) {
  const struct {
    const char *name;
    nereid_tune_status status;
  } statuses[] = {{"TUNE_OK", NEREID_TUNE_OK},
                  {"TUNE_COMPILE", NEREID_TUNE_COMPILE},
                  {"TUNE_RESOURCES", NEREID_TUNE_RESOURCES}};
  for (size_t i = 0; i < sizeof statuses / sizeof *statuses; i++)
    if (PyModule_AddIntConstant(module, statuses[i].name, statuses[i].status)) return -1;
  PyObject *type = PyType_FromModuleAndSpec(module, &timer_spec, NULL);
  int code = type ? PyModule_AddObjectRef(module, "Timer", type) : -1;
  Py_XDECREF(type);
  return code;
}
