/* kernel[grid](arguments): from a call to the driver's launch.
 *
 * A Dispatcher is what a jit function is made of: its parameters, and a dict from keys to
 * specializations, which are loaded kernels.  A call whose key is there never runs Python code,
 * unless its grid or a hook is a function.  Another one asks the method _specialize() of the class
 * that is derived from it. */
#include "python/extension/call.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <structmember.h>

#include "python/extension/dlpack.h"

/* A specialization that a call found lately, with the bytes of its key. */
typedef struct {
  PyObject *key, *found;
  const char *bytes;
  size_t size;
} Recent;

enum { RECENT = 4 };

typedef struct {
  PyObject_HEAD State *state;
  Param *params;
  int nparams;
  PyObject *names;           /* a tuple, which has the names of the params */
  PyObject *declared;        /* a tuple of their declared types */
  PyObject *defaults;        /* a tuple */
  PyObject *index;           /* {name: number} */
  PyObject *specializations; /* {key: Specialization} */
  Recent recent[RECENT];     /* of these those that calls found last, in no order */
  int oldest;                /* which of them the next one replaces */
  PyObject *hooks; /* a list of functions that are called with the arguments before each launch */
} Dispatcher;

typedef struct {
  PyObject_HEAD PyObject *kernel; /* Kernel */
  PyObject *compiled;             /* what a call returns: the kernel as Python sees it */
  /* A tuple of (container, key, value, name): the values of names that the code was compiled for.
   * A container is a dict, or has `key` as an attribute: a closure's cell, a class. */
  PyObject *globals;
  nereid_kernel *loaded;
  nereid_run_options options;
  int nargs;
  int *leaves;   /* of each argument of the kernel: the leaf that it is */
  bool *written; /* of each: does the kernel write through it? */
} Specialization;

/* A function that Python's vectorcall protocol calls. */
typedef PyObject *VectorCall(PyObject *, PyObject *const *, size_t, PyObject *);

typedef struct {
  PyObject_HEAD PyObject *dispatcher, *grid;
  VectorCall *call;
} Launcher;

/* ---- specializations ---- */

/* [(leaf, is it written?)] */
static int take_leaves(Specialization *s, PyObject *list) {
  Py_ssize_t n = PyList_Size(list);
  if (n < 0) return -1;
  s->leaves = calloc((size_t)n + 1, sizeof *s->leaves);
  s->written = calloc((size_t)n + 1, sizeof *s->written);
  if (!s->leaves || !s->written) return PyErr_NoMemory(), -1;
  s->nargs = (int)n;
  for (Py_ssize_t i = 0; i < n; i++) {
    int written;
    if (!PyArg_ParseTuple(PyList_GetItem(list, i), "ip", &s->leaves[i], &written)) return -1;
    s->written[i] = written;
  }
  return 0;
}

/* Specialization(kernel, compiled, leaves, globals, flags) */
static PyObject *specialization_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
  static char *names[] = {"kernel", "compiled", "leaves", "globals", "flags", NULL};
  State *state = state_of_type(type);
  PyObject *kernel, *compiled, *leaves, *globals;
  unsigned flags = 0;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O!OO!O!|I:Specialization", names,
                                   state->kernel_type, &kernel, &compiled, &PyList_Type, &leaves,
                                   &PyTuple_Type, &globals, &flags))
    return NULL;
  Specialization *s = (Specialization *)new_object(type);
  if (!s) return NULL;
  Py_INCREF(kernel);
  Py_INCREF(compiled);
  Py_INCREF(globals);
  s->kernel = kernel;
  s->compiled = compiled;
  s->globals = globals;
  s->loaded = ((KernelObject *)kernel)->kernel;
  s->options.flags = flags;
  if (take_leaves(s, leaves)) Py_CLEAR(s);
  return (PyObject *)s;
}

static int specialization_traverse(PyObject *self, visitproc visit, void *arg) {
  Specialization *s = (Specialization *)self;
  Py_VISIT(Py_TYPE(self));
  Py_VISIT(s->kernel);
  Py_VISIT(s->compiled);
  Py_VISIT(s->globals);
  return 0;
}

static int specialization_clear(PyObject *self) {
  Specialization *s = (Specialization *)self;
  Py_CLEAR(s->compiled);
  Py_CLEAR(s->globals);
  return 0;
}

static void specialization_dealloc(PyObject *self) {
  Specialization *s = (Specialization *)self;
  PyObject_GC_UnTrack(self);
  specialization_clear(self);
  Py_CLEAR(s->kernel);
  free(s->leaves);
  free(s->written);
  free_object(self);
}

static PyObject *specialization_compiled(PyObject *self, void *unused) {
  (void)unused;
  PyObject *compiled = ((Specialization *)self)->compiled;
  return Py_NewRef(compiled ? compiled : Py_None);
}

static PyGetSetDef specialization_members[] = {
    {"compiled", specialization_compiled, NULL, "The kernel as calls return it.", NULL},
    {NULL, NULL, NULL, NULL, NULL}};

static PyType_Slot specialization_slots[] = {
    {Py_tp_getset, specialization_members},
    {Py_tp_new, specialization_new},
    {Py_tp_dealloc, specialization_dealloc},
    {Py_tp_traverse, specialization_traverse},
    {Py_tp_clear, specialization_clear},
    {Py_tp_doc,
     "Specialization(kernel, compiled, leaves, globals, flags=0): a kernel that calls "
     "with one key run."},
    {0, NULL}};

static PyType_Spec specialization_spec = {
    .name = "nereid._nereid.Specialization",
    .basicsize = sizeof(Specialization),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
    .slots = specialization_slots,
};

/* ---- grids ---- */

static int take_extent(PyObject *v, int axis, uint32_t *out) {
  PyObject *number = v ? PyNumber_Index(v) : NULL;
  long long n = number ? PyLong_AsLongLong(number) : -1;
  Py_XDECREF(number);
  if (n == -1 && PyErr_Occurred()) {
    bool no_integer =
        PyErr_ExceptionMatches(PyExc_TypeError) || PyErr_ExceptionMatches(PyExc_OverflowError);
    if (!no_integer) return -1;
    PyErr_Clear();
    PyErr_Format(PyExc_TypeError, "axis %d of the grid is %R, which is no integer of 64 bits", axis,
                 v);
    return -1;
  }
  if (n < 0 || n > UINT32_MAX) {
    PyErr_Format(PyExc_ValueError, "axis %d of the grid is %lld: it must be 0 to %u", axis, n,
                 UINT32_MAX);
    return -1;
  }
  *out = (uint32_t)n;
  return 0;
}

static int take_extents(PyObject *grid, uint32_t out[3]) {
  bool sequence = PyTuple_Check(grid) || PyList_Check(grid);
  out[0] = out[1] = out[2] = 1;
  if (!sequence) return take_extent(grid, 0, &out[0]);
  Py_ssize_t n = PySequence_Size(grid);
  if (n < 1 || n > 3) {
    PyErr_Format(PyExc_ValueError, "a grid has one to three axes, not %zd", n);
    return -1;
  }
  for (Py_ssize_t i = 0; i < n; i++) {
    PyObject *v = PySequence_GetItem(grid, i);
    int code = v ? take_extent(v, (int)i, &out[i]) : -1;
    Py_XDECREF(v);
    if (code) return -1;
  }
  return 0;
}

static int find_grid(const Call *c, PyObject *grid, uint32_t out[3]) {
  if (!PyCallable_Check(grid)) return take_extents(grid, out);
  PyObject *bound = call_bound(c);
  PyObject *made = bound ? PyObject_CallFunctionObjArgs(grid, bound, NULL) : NULL;
  int code = made ? take_extents(made, out) : -1;
  Py_XDECREF(made);
  Py_XDECREF(bound);
  return code;
}

/* ---- calls ---- */

/* What Python makes of a call whose key is new. */
static PyObject *specialize(Dispatcher *d, const Call *c, bool launches) {
  PyObject *described = call_describe(c), *bound = described ? call_bound(c) : NULL;
  PyObject *made = bound ? PyObject_CallMethod((PyObject *)d, "_specialize", "iiOOOO",
                                               (int)c->device.device_type, (int)c->device.device_id,
                                               described, bound, c->options ? c->options : Py_None,
                                               launches ? Py_False : Py_True)
                         : NULL;
  Py_XDECREF(bound);
  Py_XDECREF(described);
  if (made && made != Py_None && !PyObject_TypeCheck(made, d->state->specialization_type)) {
    PyErr_SetString(PyExc_TypeError, "_specialize() must give a Specialization");
    Py_CLEAR(made);
  }
  return made;
}

/* A new reference; NULL, with or without an exception, if the name is not bound any more. */
static PyObject *value_now(PyObject *container, PyObject *key) {
  if (!PyDict_Check(container)) return PyObject_GetAttr(container, key);
  PyObject *value = PyDict_GetItemWithError(container, key);
  Py_XINCREF(value);
  return value;
}

/* The values that the code was compiled for may have changed: the method decides whether that is an
 * error (-1), of no account, or makes the code stale (1). */
static int check_globals(Dispatcher *d, const Specialization *s) {
  Py_ssize_t n = PyTuple_Size(s->globals);
  int stale = 0;
  for (Py_ssize_t i = 0; i < n && stale == 0; i++) {
    PyObject *entry = PyTuple_GetItem(s->globals, i), *value = PyTuple_GetItem(entry, 2);
    PyObject *now = value_now(PyTuple_GetItem(entry, 0), PyTuple_GetItem(entry, 1));
    if (now != value) {
      PyErr_Clear();
      PyObject *done = PyObject_CallMethod((PyObject *)d, "_global_changed", "OOO",
                                           PyTuple_GetItem(entry, 3), value, now ? now : Py_None);
      stale = done ? PyObject_IsTrue(done) : -1;
      Py_XDECREF(done);
    }
    Py_XDECREF(now);
  }
  return stale;
}

/* ---- keys to specializations ---- */

static void forget_recent(Dispatcher *d) {
  for (int i = 0; i < RECENT; i++) {
    Recent old = d->recent[i];
    d->recent[i] = (Recent){0};
    Py_XDECREF(old.key);
    Py_XDECREF(old.found);
  }
}

/* Keeps a key that is bytes alone: keys with objects compare them by their own methods. */
static void keep_recent(Dispatcher *d, PyObject *key, PyObject *found) {
  if (!PyBytes_CheckExact(key)) return;
  Recent *r = &d->recent[d->oldest], old = *r;
  d->oldest = (d->oldest + 1) % RECENT;
  Py_INCREF(key);
  Py_INCREF(found);
  *r = (Recent){key, found, PyBytes_AsString(key), (size_t)PyBytes_Size(key)};
  Py_XDECREF(old.key);
  Py_XDECREF(old.found);
}

/* Without an object for the key; borrowed, or NULL. */
static PyObject *find_recent(const Dispatcher *d, const Call *c) {
  for (int i = 0; i < RECENT && !c->others; i++) {
    const Recent *r = &d->recent[i];
    if (r->size == c->key_size && !memcmp(r->bytes, c->key, r->size)) return r->found;
  }
  return NULL;
}

/* Borrowed; NULL with or without an exception. */
static PyObject *find_known(Dispatcher *d, const Call *c) {
  PyObject *found = find_recent(d, c);
  if (found) return found;
  PyObject *key = call_key(c);
  found = key ? PyDict_GetItemWithError(d->specializations, key) : NULL;
  if (found) keep_recent(d, key, found);
  Py_XDECREF(key);
  return found;
}

/* Any that was kept for the key is replaced. */
static int keep_specialization(Dispatcher *d, PyObject *key, PyObject *made) {
  forget_recent(d);
  return PyDict_SetItem(d->specializations, key, made);
}

/* A new reference; None: somebody wants no kernel for this call. */
static PyObject *find_specialization(Dispatcher *d, const Call *c, bool launches) {
  PyObject *found = find_known(d, c);
  if (!found && PyErr_Occurred()) return NULL;
  Py_XINCREF(found);
  int stale = found ? check_globals(d, (Specialization *)found) : 0;
  if (stale) Py_CLEAR(found);
  if (found || stale < 0) return found;
  found = specialize(d, c, launches);
  if (!found || found == Py_None) return found;
  PyObject *key = call_key(c);
  if (!key || keep_specialization(d, key, found)) Py_CLEAR(found);
  Py_XDECREF(key);
  return found;
}

/* The name of the argument that is leaf `i`: a new reference, or NULL. */
static PyObject *leaf_name(const Call *c, int i) {
  PyObject *described = call_describe(c), *name = NULL;
  Py_ssize_t n = described ? PyList_Size(described) : 0;
  for (Py_ssize_t k = 0; k < n && !name; k++) {
    PyObject *item = PyList_GetItem(described, k);
    if (PyTuple_GetItem(item, 1) == Py_None || i--) continue; /* a constant is no leaf */
    name = PyTuple_GetItem(item, 0);
  }
  Py_XINCREF(name);
  Py_XDECREF(described);
  return name;
}

/* Raises `text`, whose %S is the name of the argument that is leaf `i`. */
static int refuse_leaf(const Call *c, int i, const char *text) {
  PyObject *name = leaf_name(c, i);
  if (name) PyErr_Format(PyExc_ValueError, text, name);
  Py_XDECREF(name);
  return -1;
}

/* What no kernel may be given, whatever it does with it. */
static int check_leaves(const Specialization *s, const Call *c) {
  for (int i = 0; i < s->nargs; i++) {
    int at = s->leaves[i];
    if (at < 0 || at >= c->nleaves) {
      PyErr_SetString(PyExc_RuntimeError, "a Specialization has an argument that the call lacks");
      return -1;
    }
    const Leaf *leaf = &c->leaves[at];
    if (leaf->kind != LEAF_POINTER) continue;
    if (leaf->read_only && s->written[i])
      return refuse_leaf(c, at,
                         "array `%S` is read-only, and the kernel writes to it: pass a copy");
    if (!leaf->bits && leaf->extent.lo < leaf->extent.hi)
      return refuse_leaf(c, at,
                         "tensor `%S` has no memory: its storage was freed, or it is none of "
                         "numbers, such as a tensor of device `meta`");
  }
  return 0;
}

/* What a launch asks of the interpreter. */
typedef struct {
  PyObject *allocate, *kept; /* the function that set_allocator() was given; what it gave: a list */
  const Specialization *of;
  const Call *call;
} Asked;

/* Called with the interpreter's lock released.  An exception stays set. */
static void *allocate_scratch(void *context, size_t size, size_t alignment, void *stream) {
  const Asked *s = context;
  PyGILState_STATE lock = PyGILState_Ensure();
  unsigned long long sizes[] = {size, alignment}, at = (uintptr_t)stream;
  PyObject *memory = PyObject_CallFunction(s->allocate, "KKK", sizes[0], sizes[1], at);
  PyObject *address = NULL;
  if (memory && !PyList_Append(s->kept, memory))
    address = PyObject_CallMethod(memory, "data_ptr", NULL);
  void *out = address ? PyLong_AsVoidPtr(address) : NULL;
  Py_XDECREF(address);
  Py_XDECREF(memory);
  PyGILState_Release(lock);
  return out;
}

static DeviceObject *device_of(const Specialization *s) {
  return (DeviceObject *)((KernelObject *)s->kernel)->device;
}

/* Callback of a launch: has argument `i` so few bytes, even with those around a view? */
static int is_outside(void *context, int i, int64_t bytes) {
  const Asked *s = context;
  PyGILState_STATE lock = PyGILState_Ensure();
  PyObject *name = leaf_name(s->call, s->of->leaves[i]);
  PyObject *bound = name ? call_bound(s->call) : NULL;
  PyObject *value = bound ? PyDict_GetItem(bound, name) : NULL; /* borrowed */
  PyObject *module = value ? PyImport_ImportModule("nereid.runtime.arguments") : NULL;
  PyObject *holds =
      module ? PyObject_CallMethod(module, "holds", "OL", value, (long long)bytes) : NULL;
  int outside = holds == Py_False;
  PyErr_Clear(); /* then nothing is known */
  Py_XDECREF(holds);
  Py_XDECREF(module);
  Py_XDECREF(bound);
  Py_XDECREF(name);
  PyGILState_Release(lock);
  return outside;
}

/* Callback of a launch whose programs wait for each other: was it Ctrl-C?  Messages are printed at
 * once. */
static int is_interrupted(void *context) {
  const Asked *s = context;
  PyGILState_STATE lock = PyGILState_Ensure();
  int code = PyErr_Occurred() ? -1 : PyErr_CheckSignals();
  PyObject *messages =
      code ? NULL : queue_messages(&device_of(s->of)->messages);
  for (Py_ssize_t i = 0; messages && i < PyList_Size(messages); i++)
    PySys_FormatStderr("nereid: %S\n", PyList_GetItem(messages, i));
  Py_XDECREF(messages);
  PyGILState_Release(lock);
  return code;
}

static int run_loaded(State *state, const Specialization *s, void *stream, const uint32_t grid[3],
                      const uint64_t *args, const nereid_extent *extents, const Call *c) {
  Asked asked = {state->allocator, NULL, s, c};
  nereid_run_options options = s->options;
  options.context = &asked;
  options.interrupted = is_interrupted;
  options.outside = is_outside;
  int code;
  if (asked.allocate) {
    asked.kept = PyList_New(0);
    if (!asked.kept) return NEREID_E_MEMORY;
    Py_INCREF(asked.allocate); /* which another thread may replace */
    options.scratch = allocate_scratch;
  }
  Py_BEGIN_ALLOW_THREADS code = nereid_kernel_run(s->loaded, stream, grid, args, extents, &options);
  Py_END_ALLOW_THREADS if (asked.kept) Py_DECREF(asked.allocate);
  Py_XDECREF(asked.kept);
  return code;
}

static int run_kernel(State *state, const Specialization *s, const Call *c, void *stream,
                      const uint32_t grid[3]) {
  enum { FEW = 64 };
  uint64_t few_args[FEW], *args = few_args;
  nereid_extent few_extents[FEW], *extents = few_extents;
  if (s->nargs > FEW) {
    args = malloc((size_t)s->nargs * (sizeof *args + sizeof *extents));
    if (!args) return PyErr_NoMemory(), NEREID_E_MEMORY;
    extents = (nereid_extent *)(args + s->nargs);
  }
  for (int i = 0; i < s->nargs; i++) {
    const Leaf *leaf = &c->leaves[s->leaves[i]];
    args[i] = leaf->bits;
    extents[i] = leaf->extent;
  }
  int code = run_loaded(state, s, stream, grid, args, extents, c);
  if (args != few_args) free(args);
  return code;
}

static int call_hook(PyObject *hook, const Specialization *s, const Call *c, void *stream,
                     const uint32_t grid[3]) {
  PyObject *bound = call_bound(c);
  PyObject *done =
      bound ? PyObject_CallFunction(hook, "O(III)KO", s->compiled, grid[0], grid[1], grid[2],
                                    (unsigned long long)(uintptr_t)stream, bound)
            : NULL;
  Py_XDECREF(bound);
  Py_XDECREF(done);
  return done ? 0 : -1;
}

static int launch_between_hooks(State *state, const Specialization *s, const Call *c, void *stream,
                                const uint32_t grid[3], PyObject *enter, PyObject *leave) {
  if (enter && call_hook(enter, s, c, stream, grid)) return -1;
  int code = run_kernel(state, s, c, stream, grid);
  if (code) raise_failure(state, code);
  DeviceObject *device = (DeviceObject *)((const KernelObject *)s->kernel)->device;
  if (queue_print(&device->printed) || code) return -1;
  return leave ? call_hook(leave, s, c, stream, grid) : 0;
}

/* Finds the stream: `given` has it, or NULL: the current one. */
static int find_stream(State *state, const Call *c, void *const *given, void **out) {
  *out = given ? *given : NULL;
  return given || c->device.device_type == DL_CPU ? 0 : current_stream(state, c->device, out);
}

static int launch(Dispatcher *d, const Specialization *s, const Call *c, PyObject *how,
                  void *const *given) {
  State *state = d->state;
  uint32_t grid[3];
  void *stream;
  if (find_grid(c, how, grid) || find_stream(state, c, given, &stream)) return -1;
  if (!grid[0] || !grid[1] || !grid[2]) return 0;
  if (check_leaves(s, c)) return -1;
  PyObject *enter = state->enter_hook, *leave = state->exit_hook; /* which a hook may replace */
  Py_XINCREF(enter);
  Py_XINCREF(leave);
  int code = launch_between_hooks(state, s, c, stream, grid, enter, leave);
  Py_XDECREF(enter);
  Py_XDECREF(leave);
  return code;
}

static int call_hooks_with(const Dispatcher *d, PyObject *args, PyObject *kwargs) {
  /* A hook may take hooks away. */
  for (Py_ssize_t i = 0; d->hooks && i < PyList_Size(d->hooks); i++) {
    PyObject *hook = PyList_GetItem(d->hooks, i);
    Py_INCREF(hook);
    PyObject *done = PyObject_Call(hook, args, kwargs);
    Py_DECREF(hook);
    if (!done) return -1;
    Py_DECREF(done);
  }
  return 0;
}

/* A tuple of the values by position, and a dict of those by name. */
static int values_as_objects(const Given *g, PyObject **args, PyObject **kwargs) {
  Py_ssize_t named = g->names ? PyTuple_Size(g->names) : 0;
  *args = PyTuple_New(g->n);
  *kwargs = *args ? PyDict_New() : NULL;
  for (Py_ssize_t i = 0; *kwargs && i < g->n; i++) {
    Py_INCREF(g->values[i]);
    PyTuple_SetItem(*args, i, g->values[i]);
  }
  for (Py_ssize_t i = 0; *kwargs && i < named; i++)
    if (PyDict_SetItem(*kwargs, PyTuple_GetItem(g->names, i), g->values[g->n + i]))
      Py_CLEAR(*kwargs);
  return *kwargs ? 0 : -1;
}

static int call_hooks(const Dispatcher *d, const Given *g) {
  if (!d->hooks || !PyList_Size(d->hooks)) return 0;
  if (!g->values) return call_hooks_with(d, g->args, g->kwargs);
  PyObject *args = NULL, *kwargs = NULL;
  int code = values_as_objects(g, &args, &kwargs);
  if (!code) code = call_hooks_with(d, args, kwargs);
  Py_XDECREF(args);
  Py_XDECREF(kwargs);
  return code;
}

/* If `grid` is NULL nothing is launched; if `stream` is NULL the launch is in the current one. */
static PyObject *dispatch(Dispatcher *d, PyObject *grid, const Given *given, void *const *stream) {
  Call c;
  PyObject *out = NULL, *found = NULL;
  if (!d->params) {
    PyErr_SetString(PyExc_RuntimeError, "the kernel was not initialized");
    return NULL;
  }
  if (grid && call_hooks(d, given)) return NULL;
  if (!call_bind(&c, d->state, d->params, d->nparams, d->index, (PyObject *)d, given) &&
      !call_read(&c))
    found = find_specialization(d, &c, grid != NULL);
  Specialization *s = found == Py_None ? NULL : (Specialization *)found;
  if (found == Py_None) out = found, Py_INCREF(out);
  if (s && (!grid || !launch(d, s, &c, grid, stream))) {
    out = s->compiled;
    Py_INCREF(out);
  }
  Py_XDECREF(found);
  call_close(&c);
  return out;
}

/* ---- dispatchers ---- */

static int fill_params(Dispatcher *d, const char *flags) {
  for (int i = 0; i < d->nparams; i++) {
    Param *p = &d->params[i];
    PyObject *declared = PyTuple_GetItem(d->declared, i), *value = PyTuple_GetItem(d->defaults, i);
    if (!declared || !value) return -1;
    p->name = PyTuple_GetItem(d->names, i);
    p->flags = (unsigned char)flags[i];
    p->value = p->flags & PARAM_HAS_DEFAULT ? value : NULL;
    if (declared != Py_None) p->declared = PyUnicode_AsUTF8AndSize(declared, NULL);
    PyObject *number = PyErr_Occurred() ? NULL : PyLong_FromLong(i);
    int code = number ? PyDict_SetItem(d->index, p->name, number) : -1;
    Py_XDECREF(number);
    if (code) return -1;
  }
  return 0;
}

/* Dispatcher(names, flags, declared, defaults, hooks) */
static int dispatcher_init(PyObject *self, PyObject *args, PyObject *kwargs) {
  static char *names[] = {"names", "flags", "declared", "defaults", "hooks", NULL};
  Dispatcher *d = (Dispatcher *)self;
  PyObject *params, *declared, *defaults, *hooks;
  const char *flags;
  Py_ssize_t nflags;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O!y#O!O!O!:Dispatcher", names, &PyTuple_Type,
                                   &params, &flags, &nflags, &PyTuple_Type, &declared,
                                   &PyTuple_Type, &defaults, &PyList_Type, &hooks))
    return -1;
  if (d->params) {
    PyErr_SetString(PyExc_RuntimeError, "a Dispatcher is initialized once");
    return -1;
  }
  if (nflags != PyTuple_Size(params) || PyTuple_Size(declared) != nflags ||
      PyTuple_Size(defaults) != nflags) {
    PyErr_SetString(PyExc_ValueError, "names, flags, declared and defaults must be equally long");
    return -1;
  }
  Py_INCREF(params);
  Py_INCREF(declared);
  Py_INCREF(defaults);
  Py_INCREF(hooks);
  d->names = params;
  d->declared = declared;
  d->defaults = defaults;
  d->hooks = hooks;
  d->index = PyDict_New();
  d->specializations = PyDict_New();
  d->state = state_of_type(Py_TYPE(self));
  d->nparams = (int)nflags;
  d->params = calloc((size_t)nflags + 1, sizeof *d->params);
  if (!d->params || !d->index || !d->specializations || !d->state) {
    if (!PyErr_Occurred()) PyErr_NoMemory();
    return -1;
  }
  if (!fill_params(d, flags)) return 0;
  free(d->params); /* it can't be called */
  d->params = NULL;
  d->nparams = 0;
  return -1;
}

static int dispatcher_traverse(PyObject *self, visitproc visit, void *arg) {
  Dispatcher *d = (Dispatcher *)self;
  Py_VISIT(Py_TYPE(self));
  Py_VISIT(d->defaults);
  Py_VISIT(d->specializations);
  Py_VISIT(d->hooks);
  for (int i = 0; i < RECENT; i++) Py_VISIT(d->recent[i].found);
  return 0;
}

static int dispatcher_clear(PyObject *self) {
  Dispatcher *d = (Dispatcher *)self;
  forget_recent(d);
  if (d->specializations) PyDict_Clear(d->specializations);
  return 0;
}

static void dispatcher_dealloc(PyObject *self) {
  Dispatcher *d = (Dispatcher *)self;
  PyObject_GC_UnTrack(self);
  forget_recent(d);
  Py_CLEAR(d->specializations);
  Py_CLEAR(d->index);
  Py_CLEAR(d->names);
  Py_CLEAR(d->declared);
  Py_CLEAR(d->defaults);
  Py_CLEAR(d->hooks);
  free(d->params);
  free_object(self);
}

static PyObject *dispatcher_launch(PyObject *self, PyObject *args) {
  PyObject *grid, *given, *named, *number = Py_None;
  if (!PyArg_ParseTuple(args, "OO!O!|O", &grid, &PyTuple_Type, &given, &PyDict_Type, &named,
                        &number))
    return NULL;
  void *stream = number == Py_None ? NULL : PyLong_AsVoidPtr(number);
  if (PyErr_Occurred()) return NULL;
  return dispatch((Dispatcher *)self, grid == Py_None ? NULL : grid,
                  &(Given){.args = given, .kwargs = named}, number == Py_None ? NULL : &stream);
}

/* ---- launchers: kernel[grid] ---- */

static PyObject *call_launcher(const Launcher *l, const Given *given) {
  if (l->grid) return dispatch((Dispatcher *)l->dispatcher, l->grid, given, NULL);
  PyErr_SetString(PyExc_RuntimeError, "the launcher is being deleted");
  return NULL;
}

static PyObject *launcher_call(PyObject *self, PyObject *args, PyObject *kwargs) {
  return call_launcher((const Launcher *)self, &(Given){.args = args, .kwargs = kwargs});
}

/* Calls without a tuple and a dict.  The top bit of `n` is no part of the number. */
static PyObject *launcher_vectorcall(PyObject *self, PyObject *const *values, size_t n,
                                     PyObject *names) {
  static PyObject *const none[1];
  Py_ssize_t count = (Py_ssize_t)(n & (SIZE_MAX >> 1));
  return call_launcher((const Launcher *)self,
                       &(Given){.values = values ? values : none, .n = count, .names = names});
}

/* A grid function may lead back to an object that keeps the launcher. */
static int launcher_traverse(PyObject *self, visitproc visit, void *arg) {
  Launcher *l = (Launcher *)self;
  Py_VISIT(Py_TYPE(self));
  Py_VISIT(l->dispatcher);
  Py_VISIT(l->grid);
  return 0;
}

static int launcher_clear(PyObject *self) {
  Py_CLEAR(((Launcher *)self)->grid);
  return 0;
}

/* Most launchers live for one call: the memory of the last one is used again. */
static PyObject *use_spare(State *s) {
  PyObject *self = s->spare_launcher;
  s->spare_launcher = NULL;
  PyObject_Init(self, s->launcher_type);
  ((Launcher *)self)->dispatcher = ((Launcher *)self)->grid = NULL;
  PyObject_GC_Track(self);
  return self;
}

static void launcher_dealloc(PyObject *self) {
  Launcher *l = (Launcher *)self;
  State *s = l->dispatcher ? ((Dispatcher *)l->dispatcher)->state : NULL;
  PyTypeObject *type = Py_TYPE(self);
  PyObject_GC_UnTrack(self);
  Py_CLEAR(l->dispatcher);
  Py_CLEAR(l->grid);
  if (!s || s->spare_launcher || type != s->launcher_type) {
    free_object(self);
    return;
  }
  s->spare_launcher = self;
  Py_DECREF(type);
}

static PyObject *dispatcher_subscript(PyObject *self, PyObject *grid) {
  State *s = ((Dispatcher *)self)->state;
  if (!s) {
    PyErr_SetString(PyExc_RuntimeError, "the kernel was not initialized");
    return NULL;
  }
  Launcher *l = (Launcher *)(s->spare_launcher ? use_spare(s) : new_object(s->launcher_type));
  if (!l) return NULL;
  Py_INCREF(self);
  Py_INCREF(grid);
  l->dispatcher = self;
  l->grid = grid;
  l->call = launcher_vectorcall;
  return (PyObject *)l;
}

static PyObject *dispatcher_specializations(PyObject *self, void *unused) {
  (void)unused;
  PyObject *all = ((Dispatcher *)self)->specializations;
  return all ? PyDict_Values(all) : PyList_New(0);
}

static PyObject *dispatcher_clear_cache(PyObject *self, PyObject *unused) {
  (void)unused;
  dispatcher_clear(self);
  Py_RETURN_NONE;
}

/* (key, compiled kernel or None, device type, index, described, bound, options) */
static PyObject *describe_call(Dispatcher *d, const Call *c) {
  PyObject *key = call_key(c), *described = key ? call_describe(c) : NULL;
  PyObject *bound = described ? call_bound(c) : NULL, *out = NULL;
  PyObject *found = bound ? PyDict_GetItemWithError(d->specializations, key) : NULL;
  if (bound && !PyErr_Occurred())
    out = Py_BuildValue("(OOiiOOO)", key, found ? ((Specialization *)found)->compiled : Py_None,
                        (int)c->device.device_type, (int)c->device.device_id, described, bound,
                        c->options ? c->options : Py_None);
  Py_XDECREF(key);
  Py_XDECREF(described);
  Py_XDECREF(bound);
  return out;
}

static PyObject *dispatcher_describe(PyObject *self, PyObject *args) {
  Dispatcher *d = (Dispatcher *)self;
  PyObject *given, *named, *out = NULL;
  Call c;
  if (!PyArg_ParseTuple(args, "O!O!", &PyTuple_Type, &given, &PyDict_Type, &named)) return NULL;
  if (!d->params) {
    PyErr_SetString(PyExc_RuntimeError, "the kernel was not initialized");
    return NULL;
  }
  if (!call_bind(&c, d->state, d->params, d->nparams, d->index, self,
                 &(Given){.args = given, .kwargs = named}) &&
      !call_read(&c))
    out = describe_call(d, &c);
  call_close(&c);
  return out;
}

static PyObject *dispatcher_keep(PyObject *self, PyObject *args) {
  Dispatcher *d = (Dispatcher *)self;
  PyObject *key, *made;
  if (!d->state || !d->specializations) {
    PyErr_SetString(PyExc_RuntimeError, "the kernel was not initialized");
    return NULL;
  }
  if (!PyArg_ParseTuple(args, "OO!", &key, d->state->specialization_type, &made)) return NULL;
  if (keep_specialization(d, key, made)) return NULL;
  Py_RETURN_NONE;
}

static PyMethodDef dispatcher_methods[] = {
    {"_describe", dispatcher_describe, METH_VARARGS,
     "_describe(args, kwargs): a call's key, its compiled kernel or None, and what _specialize() "
     "gets."},
    {"_keep", dispatcher_keep, METH_VARARGS, "_keep(key, Specialization): for calls of that key."},
    {"_launch", dispatcher_launch, METH_VARARGS,
     "_launch(grid, args, kwargs, stream=None): calls the kernel, in the current stream unless one "
     "is given; with grid None it is only made ready."},
    {"_forget", dispatcher_clear_cache, METH_NOARGS, "Forgets all specializations."},
    {NULL, NULL, 0, NULL}};

static PyGetSetDef dispatcher_members[] = {
    {"_specializations", dispatcher_specializations, NULL, "All that were made.", NULL},
    {NULL, NULL, NULL, NULL, NULL}};

static PyType_Slot dispatcher_slots[] = {
    {Py_tp_init, dispatcher_init},
    {Py_tp_dealloc, dispatcher_dealloc},
    {Py_tp_traverse, dispatcher_traverse},
    {Py_tp_clear, dispatcher_clear},
    {Py_tp_methods, dispatcher_methods},
    {Py_tp_getset, dispatcher_members},
    {Py_mp_subscript, dispatcher_subscript},
    {Py_tp_doc,
     "Dispatcher(names, flags, declared, defaults, hooks): what jit functions are made "
     "of."},
    {0, NULL}};

static PyType_Spec dispatcher_spec = {
    .name = "nereid._nereid.Dispatcher",
    .basicsize = sizeof(Dispatcher),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC,
    .slots = dispatcher_slots,
};

/* The limited API of 3.10 has the protocol's offset without a name for its flag. */
enum { HAVE_VECTORCALL = 1 << 11 };

static PyMemberDef launcher_members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(Launcher, call), READONLY, NULL},
    {NULL, 0, 0, 0, NULL}};

static PyType_Slot launcher_slots[] = {{Py_tp_dealloc, launcher_dealloc},
                                       {Py_tp_traverse, launcher_traverse},
                                       {Py_tp_clear, launcher_clear},
                                       {Py_tp_call, launcher_call},
                                       {Py_tp_members, launcher_members},
                                       {Py_tp_doc, "A kernel with its grid."},
                                       {0, NULL}};

static PyType_Spec launcher_spec = {
    .name = "nereid._nereid.Launcher",
    .basicsize = sizeof(Launcher),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | HAVE_VECTORCALL,
    .slots = launcher_slots,
};

/* ---- the module ---- */

static PyObject *add_type(PyObject *module, PyType_Spec *spec, const char *name) {
  PyObject *type = PyType_FromModuleAndSpec(module, spec, NULL);
  if (type && PyModule_AddObjectRef(module, name, type)) Py_CLEAR(type);
  return type;
}

int add_dispatch(PyObject *module) {
  State *s = state_of(module);
  PyObject *dispatcher = add_type(module, &dispatcher_spec, "Dispatcher");
  Py_XDECREF(dispatcher); /* the module has it */
  s->launcher_type = (PyTypeObject *)add_type(module, &launcher_spec, "Launcher");
  s->specialization_type = (PyTypeObject *)add_type(module, &specialization_spec, "Specialization");
  return dispatcher && s->launcher_type && s->specialization_type ? 0 : -1;
}

static void keep(PyObject **slot, PyObject *value) {
  PyObject *old = *slot;
  *slot = value == Py_None ? NULL : value;
  Py_XINCREF(*slot);
  Py_XDECREF(old);
}

PyObject *py_set_launch_hooks(PyObject *module, PyObject *args) {
  State *s = state_of(module);
  PyObject *enter, *leave;
  if (!PyArg_ParseTuple(args, "OO", &enter, &leave)) return NULL;
  keep(&s->enter_hook, enter);
  keep(&s->exit_hook, leave);
  Py_RETURN_NONE;
}

PyObject *py_set_debug(PyObject *module, PyObject *flag) {
  state_of(module)->debug = PyObject_IsTrue(flag) == 1;
  if (PyErr_Occurred()) return NULL;
  Py_RETURN_NONE;
}

PyObject *py_set_allocator(PyObject *module, PyObject *allocator) {
  keep(&state_of(module)->allocator, allocator);
  Py_RETURN_NONE;
}

PyObject *py_register(PyObject *module, PyObject *args) {
  State *s = state_of(module);
  const char *what;
  PyObject *type;
  if (!PyArg_ParseTuple(args, "sO", &what, &type)) return NULL;
  if (!strcmp(what, "constexpr")) keep(&s->constexpr_, type);
  else if (!strcmp(what, "descriptor")) keep(&s->descriptor, type);
  else return PyErr_Format(PyExc_ValueError, "there is no class `%s` to register", what);
  Py_RETURN_NONE;
}
