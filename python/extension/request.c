/* Compiling: a request from keyword arguments, with names that Python looks up. */
#include <string.h>

#include "python/extension/extension.h"
#include "runtime/nereid_tune.h"

/* What a request points to while it is compiled. */
typedef struct {
  State *state;
  nereid_request request;
  nereid_arg *args;
  const char **paths;
  PyObject *keep;     /* a list of the objects whose texts are in use */
  PyObject *lookup;   /* lookup(scope, name) -> None or (kind, text, source); NULL: none */
  PyObject *messages; /* a list that gets warnings and notes; NULL: nobody wants them */
  DeviceObject *device;
  pthread_t owner; /* the thread that compiles, and its state */
  PyThreadState *thread;
  int kind; /* of py_emit and of compiling without a device */
} Call;

/* ---- texts ---- */

/* `o` as UTF-8, which lives as long as the call; NULL for None. */
static int get_text(Call *c, PyObject *o, const char **out) {
  *out = NULL;
  if (!o || o == Py_None) return 0;
  *out = PyUnicode_AsUTF8AndSize(o, NULL);
  if (!*out) return -1;
  return PyList_Append(c->keep, o);
}

static int get_int(PyObject *o, int *out) {
  if (o == Py_None) return 0;
  long v = PyLong_AsLong(o);
  if (v == -1 && PyErr_Occurred()) return -1;
  *out = (int)v;
  if (*out == v) return 0;
  PyErr_SetString(PyExc_OverflowError, "an option is out of range");
  return -1;
}

/* ---- names ---- */

/* (path, text, line, column, scope) */
static int get_source(Call *c, PyObject *o, nereid_source *out) {
  if (!PyTuple_Check(o) || PyTuple_Size(o) != 5) {
    PyErr_SetString(PyExc_TypeError, "a source is (path, text, line, column, scope)");
    return -1;
  }
  PyObject *scope = PyTuple_GetItem(o, 4);
  if (get_text(c, PyTuple_GetItem(o, 0), &out->path)) return -1;
  if (get_text(c, PyTuple_GetItem(o, 1), &out->text)) return -1;
  if (get_int(PyTuple_GetItem(o, 2), &out->line)) return -1;
  if (get_int(PyTuple_GetItem(o, 3), &out->column)) return -1;
  if (PyList_Append(c->keep, scope)) return -1;
  out->scope = scope == Py_None ? NULL : scope;
  return 0;
}

static int read_name(Call *c, PyObject *found, nereid_name *out) {
  if (found == Py_None) {
    out->kind = NEREID_NAME_NONE;
    return 0;
  }
  if (!PyTuple_Check(found) || PyTuple_Size(found) != 3) {
    PyErr_SetString(PyExc_TypeError, "a lookup gives None or (kind, text, source)");
    return -1;
  }
  int kind = 0;
  if (get_int(PyTuple_GetItem(found, 0), &kind)) return -1;
  out->kind = (nereid_name_kind)kind;
  if (get_text(c, PyTuple_GetItem(found, 1), &out->text)) return -1;
  PyObject *source = PyTuple_GetItem(found, 2);
  return source == Py_None ? 0 : get_source(c, source, &out->source);
}

/* ---- the interpreter's lock ---- */

/* The compiler runs without it. */
static void unlock(Call *c) {
  c->owner = pthread_self();
  c->thread = PyEval_SaveThread();
}

static void lock_again(Call *c) { PyEval_RestoreThread(c->thread); }

/* Callbacks take it again, in the thread that compiles as what that thread was: it may belong to
 * another interpreter than the process's first. */
static PyGILState_STATE enter_callback(const Call *c) {
  if (!pthread_equal(pthread_self(), c->owner)) return PyGILState_Ensure();
  PyEval_RestoreThread(c->thread);
  return PyGILState_UNLOCKED;
}

static void leave_callback(const Call *c, PyGILState_STATE state) {
  if (pthread_equal(pthread_self(), c->owner)) PyEval_SaveThread();
  else PyGILState_Release(state);
}

/* ---- callbacks ---- */

/* Called by the compiler, without the interpreter's lock.  An exception stays set. */
static int look_up(void *context, const void *scope, const char *name, nereid_name *out) {
  Call *c = context;
  PyGILState_STATE lock = enter_callback(c);
  int code = 0;
  if (PyErr_Occurred()) code = NEREID_E_USAGE; /* an earlier lookup's */
  PyObject *where = scope ? (PyObject *)scope : Py_None;
  PyObject *found = code ? NULL : PyObject_CallFunction(c->lookup, "Os", where, name);
  *out = (nereid_name){0};
  if (!found || read_name(c, found, out)) code = NEREID_E_USAGE;
  Py_XDECREF(found);
  leave_callback(c, lock);
  return code;
}

static void keep_message(void *context, const char *text) {
  Call *c = context;
  PyGILState_STATE lock = enter_callback(c);
  PyObject *type, *value, *trace;
  PyErr_Fetch(&type, &value, &trace);
  PyObject *o = PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "replace");
  if (!o || PyList_Append(c->messages, o)) PyErr_Clear(); /* a warning is lost for lack of memory */
  Py_XDECREF(o);
  PyErr_Restore(type, value, trace);
  leave_callback(c, lock);
}

/* ---- the request ---- */

/* [(name, type or None, value or None)] */
static int get_args(Call *c, PyObject *list) {
  Py_ssize_t n = PyList_Size(list);
  if (n < 0) return -1;
  c->args = PyMem_Calloc((size_t)n + 1, sizeof *c->args);
  if (!c->args) return PyErr_NoMemory(), -1;
  for (Py_ssize_t i = 0; i < n; i++) {
    PyObject *name, *type, *value;
    nereid_arg *a = &c->args[i];
    if (!PyArg_ParseTuple(PyList_GetItem(list, i), "OOO", &name, &type, &value)) return -1;
    if (get_text(c, name, &a->name) || get_text(c, type, &a->type) || get_text(c, value, &a->value))
      return -1;
  }
  c->request.args = c->args;
  c->request.nargs = (int)n;
  return 0;
}

static int get_paths(Call *c, PyObject *list) {
  if (!list || list == Py_None) return 0;
  Py_ssize_t n = PyList_Size(list);
  if (n < 0) return -1;
  c->paths = PyMem_Calloc((size_t)n + 1, sizeof *c->paths);
  if (!c->paths) return PyErr_NoMemory(), -1;
  for (Py_ssize_t i = 0; i < n; i++)
    if (get_text(c, PyList_GetItem(list, i), &c->paths[i])) return -1;
  c->request.source.import_path = c->paths;
  c->request.source.n_import_path = (int)n;
  return 0;
}

#define GET_INT(to) get_int(value, &(to))
#define GET_FLAG(to) get_int(value, &(to))
#define GET_WORD(to) get_text(c, value, &(to))
#define GET_ALIAS(to) get_alias(value, &(to))

static int get_alias(PyObject *value, nereid_alias *to) {
  int alias = 0;
  if (get_int(value, &alias)) return -1;
  *to = (nereid_alias)alias;
  return 0;
}

/* An option that is no field of its own is an error: options must not be lost. */
static int get_option(Call *c, const char *name, PyObject *value) {
  nereid_request *r = &c->request;
#define X(kind, field, ...) \
  if (!strcmp(name, #field)) return GET_##kind(r->field);
  NEREID_KERNEL_OPTIONS(X, X)
#undef X
  return PyErr_Format(PyExc_TypeError, "there is no option `%s`", name), -1;
}

/* [(name, default)] of those that configurations have, in their order. */
PyObject *py_tuned_options(PyObject *module, PyObject *none) {
  enum { TUNED = 1, SCHEDULE = 2, IR = 4 };
  PyObject *list = PyList_New(0), *item;
#define X(kind, name, dflt, least, most, uses, ...)                                \
  if (list && ((uses) & TUNED)) {                                                  \
    item = Py_BuildValue("(si)", #name, dflt);                                     \
    if (!item || PyList_Append(list, item)) Py_CLEAR(list);                        \
    Py_XDECREF(item);                                                              \
  }
  NEREID_KERNEL_OPTIONS(X, X)
#undef X
  (void)module, (void)none;
  return list;
}

/* (name, value): the message of an option that has no such value, or None. */
PyObject *py_refusal(PyObject *module, PyObject *args) {
  const char *name;
  PyObject *number;
  int overflow;
  (void)module;
  if (!PyArg_ParseTuple(args, "sO!", &name, &PyLong_Type, &number)) return NULL;
  long value = PyLong_AsLongAndOverflow(number, &overflow);
  if (value == -1 && PyErr_Occurred()) return NULL;
  /* A number that is no int is refused as the nearest one is, by a message that ends in it. */
  int near = overflow > 0 || value > INT_MAX   ? INT_MAX
             : overflow < 0 || value < INT_MIN ? INT_MIN
                                               : (int)value;
  if (!nereid_check_option(name, near)) Py_RETURN_NONE;
  const char *why = nereid_error_message(), *end = strrchr(why, ' ');
  PyObject *begin = PyUnicode_FromStringAndSize(why, end ? end + 1 - why : 0);
  PyObject *text = begin ? PyUnicode_FromFormat("%U%S", begin, number) : NULL;
  Py_XDECREF(begin);
  return text;
}

static int get_options(Call *c, PyObject *options) {
  PyObject *key, *value;
  Py_ssize_t at = 0;
  while (options && PyDict_Next(options, &at, &key, &value)) {
    const char *name = PyUnicode_AsUTF8AndSize(key, NULL);
    if (!name) return -1;
    if (get_option(c, name, value)) return -1;
  }
  return 0;
}

/* compile(source, kernel, args, *, options, target, device, kind, lookup, import_path, language,
 * symbol, messages) */
static int read_request(Call *c, PyObject *args, PyObject *kwargs) {
  static char *names[] = {"source", "kernel",   "args",   "options",     "target",
                          "device", "kind",     "lookup", "import_path", "language",
                          "symbol", "messages", NULL};
  PyObject *source, *kernel, *list, *options = NULL, *target = NULL, *device = NULL, *lookup = NULL,
                                    *paths = NULL, *language = NULL, *symbol = NULL,
                                    *messages = NULL;
  nereid_request *r = &c->request;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OOO!|O!OOiOOOOO", names, &source, &kernel,
                                   &PyList_Type, &list, &PyDict_Type, &options, &target, &device,
                                   &c->kind, &lookup, &paths, &language, &symbol, &messages))
    return -1;
  if (get_source(c, source, &r->source) || get_text(c, kernel, &r->kernel) || get_args(c, list) ||
      get_options(c, options) || get_text(c, target, &r->target) || get_paths(c, paths) ||
      get_text(c, language, &r->language) || get_text(c, symbol, &r->symbol))
    return -1;
  if (device && device != Py_None) {
    if (!PyObject_TypeCheck(device, c->state->device_type))
      return PyErr_SetString(PyExc_TypeError, "`device` is no Device"), -1;
    c->device = (DeviceObject *)device;
  }
  if (lookup && lookup != Py_None) {
    c->lookup = lookup;
    r->source.lookup = look_up;
    r->source.lookup_context = c;
  }
  if (messages && messages != Py_None) {
    c->messages = messages;
    r->on_message = keep_message;
    r->context = c;
  }
  return 0;
}

static int open_call(Call *c, PyObject *module, PyObject *args, PyObject *kwargs) {
  *c = (Call){.state = state_of(module), .keep = PyList_New(0), .kind = NEREID_PTX};
  return c->keep ? read_request(c, args, kwargs) : -1;
}

static void close_call(Call *c) {
  PyMem_Free(c->args);
  PyMem_Free(c->paths);
  Py_XDECREF(c->keep);
}

PyObject *py_compile(PyObject *module, PyObject *args, PyObject *kwargs) {
  Call c;
  PyObject *out = NULL;
  if (!open_call(&c, module, args, kwargs)) {
    nereid_image *image;
    int code;
    unlock(&c);
    code = c.device ? nereid_compile_for(&image, c.device->device, &c.request)
                    : nereid_compile(&image, &c.request, (nereid_kind)c.kind);
    lock_again(&c);
    out = code ? raise_failure(c.state, code) : image_wrap(c.state, image);
    if (out && PyErr_Occurred()) Py_CLEAR(out); /* a lookup's */
  }
  close_call(&c);
  return out;
}

PyObject *py_request_key(PyObject *module, PyObject *args, PyObject *kwargs) {
  Call c;
  PyObject *out = NULL;
  if (!open_call(&c, module, args, kwargs)) {
    nereid_key key;
    int code = NEREID_E_USAGE;
    if (c.device) {
      unlock(&c);
      code = nereid_request_key(&key, c.device->device, &c.request);
      lock_again(&c);
      out = code ? raise_failure(c.state, code)
                 : PyBytes_FromStringAndSize((const char *)key.bytes, sizeof key.bytes);
      if (out && PyErr_Occurred()) Py_CLEAR(out); /* a lookup's */
    } else {
      PyErr_SetString(PyExc_TypeError, "request_key() needs a device");
    }
  }
  close_call(&c);
  return out;
}

/* ---- the cost model ---- */

enum { VALUES_MAX = 256 };

typedef struct {
  uint32_t grid[3];
  nereid_binding values[VALUES_MAX];
  int n;
} Launch;

/* grid=(x, y, z) and values={name: integer}, which are no part of the request. */
static int read_launch(Call *c, Launch *l, PyObject *grid, PyObject *values) {
  PyObject *name, *value;
  Py_ssize_t at = 0;
  if (!grid || !PyArg_ParseTuple(grid, "III", &l->grid[0], &l->grid[1], &l->grid[2])) return -1;
  while (values && PyDict_Next(values, &at, &name, &value) && l->n < VALUES_MAX) {
    nereid_binding *b = &l->values[l->n++];
    b->value = PyLong_AsLongLong(value);
    if (PyErr_Occurred() || get_text(c, name, &b->name)) return -1;
  }
  return 0;
}

static PyObject *estimate_dict(const nereid_estimation *e) {
  return Py_BuildValue(
      "{s:s, s:d, s:d, s:d, s:s, s:d, s:d, s:d, s:d, s:i, s:i, s:L, s:i, s:d}", "device", e->device,
      "us", e->us, "low_us", e->low_us, "high_us", e->high_us, "bound", e->bound, "memory_bytes",
      e->memory_bytes, "cache_bytes", e->cache_bytes, "tensor_flops", e->tensor_flops, "f32_flops",
      e->f32_flops, "registers", e->registers, "spilled", e->spilled, "shared_bytes",
      (long long)e->shared_bytes, "occupancy", e->occupancy, "waves", e->waves);
}

static PyObject *estimate_call(Call *c, const Launch *l) {
  nereid_estimation e;
  unlock(c);
  int code = nereid_estimate(&e, c->device ? c->device->device : NULL, &c->request, l->grid,
                             l->values, l->n);
  lock_again(c);
  PyObject *out = code ? raise_failure(c->state, code) : estimate_dict(&e);
  if (out && PyErr_Occurred()) Py_CLEAR(out); /* a lookup's */
  return out;
}

PyObject *py_estimate(PyObject *module, PyObject *args, PyObject *kwargs) {
  PyObject *rest = kwargs ? PyDict_Copy(kwargs) : PyDict_New(), *out = NULL;
  if (!rest) return NULL;
  PyObject *grid = PyDict_GetItemString(rest, "grid");
  PyObject *values = PyDict_GetItemString(rest, "values");
  Py_XINCREF(grid);
  Py_XINCREF(values);
  if (grid) PyDict_DelItemString(rest, "grid");
  if (values) PyDict_DelItemString(rest, "values");
  Call c;
  Launch l = {0};
  if (!grid) PyErr_SetString(PyExc_TypeError, "estimate() needs a grid");
  else if (!open_call(&c, module, args, rest) && !read_launch(&c, &l, grid, values))
    out = estimate_call(&c, &l);
  if (grid) close_call(&c);
  Py_XDECREF(grid);
  Py_XDECREF(values);
  Py_DECREF(rest);
  return out;
}

PyObject *py_emit(PyObject *module, PyObject *args, PyObject *kwargs) {
  Call c;
  PyObject *out = NULL;
  if (!open_call(&c, module, args, kwargs)) {
    char *text;
    size_t size;
    int code;
    unlock(&c);
    code = nereid_emit(&text, &size, &c.request, (nereid_kind)c.kind);
    lock_again(&c);
    if (code) out = raise_failure(c.state, code);
    else if (c.kind == NEREID_CUBIN) out = PyBytes_FromStringAndSize(text, (Py_ssize_t)size);
    else out = PyUnicode_DecodeUTF8(text, (Py_ssize_t)size, "replace");
    if (!code) nereid_text_free(text);
    if (out && PyErr_Occurred()) Py_CLEAR(out);
  }
  close_call(&c);
  return out;
}
